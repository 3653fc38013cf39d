"""A quick start and a quick end, for a process that runs one command.

Most of what such a process does in its first second is import what it never uses.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["begin", "hurry", "leave_after"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # the numbers that glibc's malloc.h has for these


class Later(ModuleType):
    """Stands for a module until something of it is used."""

    def __getattr__(self, name: str) -> Any:
        """Import the module, and return what is asked for."""
        if name.startswith("__") and name != "__path__":  # the import system looks whether these are there
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class NoFrames:
    """Tells the import system that pandas is not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Refuse pandas, and leave all else to others."""
        if name == "pandas":
            raise ModuleNotFoundError("the command does without pandas", name=name)


def hurry() -> None:
    """Put off what takes long and is hardly ever needed.

    scikit-learn imports all of ``scipy.stats`` for one function, which we do not call, and pandas where it is
    installed, to know a data frame when it sees one; commands have none. Garbage is looked for from ``begin`` on.
    Memory of blocks that are done with is kept for those to come, where the C library can be told to.
    """
    sys.modules.setdefault("scipy.stats", Later("scipy.stats"))
    sys.meta_path.insert(0, NoFrames())
    gc.disable()
    with suppress(AttributeError, OSError, TypeError):  # not glibc
        tell = ctypes.CDLL(None).mallopt
        tell(_MMAP_THRESHOLD, 1 << 26)
        tell(_TRIM_THRESHOLD, 1 << 28)


def begin() -> None:
    """Look for garbage from here on, though not among what was imported."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def leave_after(command: Callable[[], Any]) -> None:
    """Run a command and end the process with its status, without taking everything apart first."""
    status: Any = 0
    try:
        command()
    except SystemExit as ended:
        status = ended.code if ended.code is not None else 0
    if not isinstance(status, int):
        sys.exit(status)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # who reads has gone
        status = status or 1
    os._exit(status)
