"""An unhealthy cache of compiled kernels costs time and a warning, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

pytestmark = [pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled"), pytest.mark.slow]

CODE = """
import warnings
import numpy as np
from rosenblatt.kernels.orders import visiting_order
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    order = visiting_order(6, seed=0)
assert order.tolist() == [1, 3, 4, 0, 2, 5]
print(*(str(warning.message) for warning in seen), sep="\\n")
"""


def run(folder):
    ran = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def files(folder):
    return [path for path in Path(folder).rglob("*") if path.suffix in (".nbi", ".nbc")]


@pytest.mark.parametrize("damage", [b"", b"garbage", None], ids=["empty", "garbage", "truncated"])
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_damaged_files_are_compiled_anew(tmp_path, damage, suffix):
    assert run(tmp_path) == ""
    assert run(tmp_path) == ""
    damaged = [path for path in files(tmp_path) if path.suffix == suffix]
    assert damaged
    for path in damaged:
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2] if damage is None else damage)
    words = run(tmp_path)
    assert words.count("could not be read") == 1, words
    assert str(tmp_path) in words
    assert run(tmp_path) == "", "and it is healthy again"


def test_a_cache_that_cannot_be_written(tmp_path):
    code = "from numba.core.caching import IndexDataCacheFile as File\n"
    code += "def full(*_): raise OSError(28, 'No space left on device')\nFile.save = full\n"
    ran = subprocess.run(
        [sys.executable, "-c", code + CODE],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("could not be written (OSError)") == 1
