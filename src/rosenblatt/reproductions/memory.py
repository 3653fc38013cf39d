"""How much memory a run may keep kernel values in."""

from __future__ import annotations

import os
from pathlib import Path

_MOST = 8000  # megabytes: the kernel values of degree 2 on MNIST, and some
_MB = 1_000_000
_UNKNOWN = 2000 * _MB


def free_cache_size() -> float:
    """Return how many megabytes of kernel values to keep: 8,000, or half of the memory that is free if that is less.

    >>> 1 <= free_cache_size() <= 8000
    True
    """
    return float(max(1, min(_MOST, free_bytes() // 2 // _MB)))


def free_bytes() -> int:
    """Return how much memory is free, what files are cached in included; no more than the limit of a container."""
    free = _available() or _UNKNOWN
    try:
        return min(free, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no limit
        return free


def _available() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError, IndexError):  # not Linux
        try:
            return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, OSError, ValueError):
            return None
