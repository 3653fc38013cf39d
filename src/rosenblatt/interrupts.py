"""Deferral of Ctrl-C to the end of a block of code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_deferred() -> Iterator[list[tuple[int, FrameType | None]]]:
    """Defer SIGINT (Ctrl-C) to the end of the ``with`` block, where the signal's handler is called.

    The ``with`` statement yields a list. Each signal appends an entry to this list, so that the block can end early. In
    threads other than the main thread it does nothing, because signals are handled only in the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield []
        return
    came: list[tuple[int, FrameType | None]] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, handler if handler is not None else signal.SIG_DFL)
        if came and callable(handler):
            handler(*came[0])
