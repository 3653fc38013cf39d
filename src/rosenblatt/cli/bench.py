"""``rosenblatt bench``: the benchmarks of a checkout."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def bench(words: Sequence[str]) -> int:
    """Run the benchmarks with these options; return their exit code."""
    root = Path(__file__).resolve().parents[3]
    if not (root / "benchmarks" / "__main__.py").is_file():
        raise ValueError("The benchmarks are not installed with the library: run this in a checkout of the repository.")
    return subprocess.run([sys.executable, "-m", "benchmarks", *words], cwd=root, check=False).returncode
