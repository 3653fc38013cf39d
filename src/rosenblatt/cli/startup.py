"""A quick start and a quick end, for a process that runs one command."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rosenblatt.cli.output import complain

_FAILED = 2
"""The exit code of a command that has said what went wrong."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # the numbers that glibc's malloc.h has for these


def prepare_process() -> None:
    """Put off the search for garbage until `enable_gc`, and keep memory of blocks that are done with for others.

    The latter needs glibc. SIGTERM does what Ctrl-C does. A standard stream that the shell has closed is empty, and
    forgets what is written to it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    signal.signal(signal.SIGTERM, _interrupt)
    gc.disable()
    with suppress(AttributeError, OSError, TypeError):  # not glibc
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, 1 << 26)
        mallopt(_TRIM_THRESHOLD, 1 << 28)


def _interrupt(*_: object) -> None:
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as for a process that a shell has put into the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def enable_gc() -> None:
    """Search for garbage from here on, though not among what was imported."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def run_and_exit(command: Callable[[], Any]) -> None:
    """Run a command and end the process with its status, without taking everything apart first."""
    status: Any = 0
    try:
        command()
    except SystemExit as ended:
        status = ended.code if ended.code is not None else 0
    except KeyboardInterrupt:  # while something was imported
        status = 130
    except OSError as fault:  # the help, which no command prints
        status = _failed(fault)
    if not isinstance(status, int):
        sys.exit(status)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # the reader has had enough
        pass
    except OSError as fault:
        status = status if status == _FAILED else _failed(fault)
    os._exit(status)


def _failed(fault: OSError) -> int:
    with suppress(OSError):
        complain(fault)
    return _FAILED
