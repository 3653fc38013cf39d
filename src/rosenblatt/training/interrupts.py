"""Ctrl-C that waits for work to be done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_deferred() -> Iterator[list[tuple[int, FrameType | None]]]:
    """Put off SIGINT until the end of the block, where its handler is called as if it came then.

    The list that the block gets has an entry for each that came, so that it can end early. In other threads than the
    main one nothing is done: interrupts do not reach them.
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
