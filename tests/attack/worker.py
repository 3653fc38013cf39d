"""A child process that makes trials of one attack: ``python -m attack.worker NAME FIRST SECONDS MOST``."""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from importlib import import_module
from pathlib import Path

MEMORY = 8 << 30
"""The address space of a child, in bytes."""
GROWTH = 1 << 30
"""No trial may take more memory than its process had before, in bytes: the files and arrays of trials are small."""


def trial(name: str, number: int) -> str | None:
    """Make one trial of an attack; return what broke."""
    module = import_module(f"attack.{name}" if "." not in name else name)
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    try:
        with tempfile.TemporaryDirectory(prefix="attack-") as folder:
            tempfile.tempdir = folder
            finding = module.attack(random.Random(f"{name} {number}"))
    except Exception as error:
        finding = f"unexpected {error!r}\n{traceback.format_exc()}"
    finally:
        tempfile.tempdir = None
    grown = _memory("VmHWM") - before
    if finding is None and grown > GROWTH:
        finding = f"memory grew by {grown / 2**30:.1f} GiB"
    return finding


def _memory(name: str) -> int:
    """Return what the system says of this process: its memory now, or at its peak."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) << 10


def main(name: str, first: str, seconds: str, most: str) -> None:
    """Report the start and the result of each trial as lines of JSON on standard output, which is closed to trials."""
    report = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    end = time.monotonic() + float(seconds)
    for trial_number in range(int(first), int(first) + int(most)):
        print(json.dumps({"start": trial_number}), file=report)
        print(json.dumps({"done": trial_number, "finding": trial(name, trial_number)}), file=report)
        if time.monotonic() > end:
            break


if __name__ == "__main__":
    main(*sys.argv[1:])
