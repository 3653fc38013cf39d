"""The committed history of the benchmarks: ``history.jsonl``, one line for each release."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("history.jsonl")


def append(rows: list[dict[str, Any]], about: dict[str, Any]) -> None:
    """Write one more line: what was measured, where, and the ratio peer / ours of each workload."""
    line = {
        "version": about["rosenblatt"],
        "date": datetime.now(UTC).date().isoformat(),
        **{
            name: about[name]
            for name in ("python", "numpy", "scipy", "scikit-learn", "numba", "system", "cores", "load")
        },
        "cpu": cpu(),
        "ratios": {row["workload"]: round(row["ratio"], 2) for row in rows},
    }
    with PATH.open("a") as file:
        file.write(json.dumps(line) + "\n")


def cpu() -> str:
    """Return the processor's name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"
