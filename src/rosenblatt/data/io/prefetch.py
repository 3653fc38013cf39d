"""Work done ahead by threads and handed over in order."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any


def processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def in_order(
    items: Generator[Any, None, None], work: Callable[[Any], Any], threads: int, spare: int = 2
) -> Generator[Any, None, None]:
    """Yield ``work(item)`` for each of ``items``, in their order.

    Each thread in turn takes the next item and works on it, ``spare`` items ahead of what is asked for and no more, so
    memory is bounded. Without threads everything happens when it is asked for. An error stops the threads and is
    raised in its turn; so does closing the generator. A thread that waits for input which may never come is left
    behind, and does not keep the process alive.

    Examples
    --------
    >>> list(in_order((n for n in range(5)), lambda n: n * n, threads=2))
    [0, 1, 4, 9, 16]
    """
    if threads < 1:
        try:
            for item in items:
                yield work(item)
        finally:
            items.close()
        return
    crew = _Crew(items, work, threads, spare)
    try:
        yield from crew.results()
    finally:
        crew.dismiss()


class _Crew:
    """Threads that share one generator: whoever holds the lock takes the next item, and with it a place in line."""

    def __init__(self, items: Generator[Any, None, None], work: Callable[[Any], Any], threads: int, spare: int) -> None:
        self.items, self.work = items, work
        self.lock = threading.Lock()
        self.room = threading.Semaphore(threads + spare)
        self.line: queue.SimpleQueue[Future[Any] | None] = queue.SimpleQueue()
        self.stopped = False
        self.threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for thread in self.threads:
            thread.start()

    def _work(self) -> None:
        while True:
            self.room.acquire()
            result: Future[Any] = Future()
            with self.lock:
                if self.stopped:
                    self.items.close()
                    return
                try:
                    item = next(self.items)
                except StopIteration:
                    self.stopped = True
                    self.line.put(None)
                    return
                except BaseException as error:  # whatever it is, it is raised where the results are read
                    self.stopped = True
                    result.set_exception(error)
                    self.line.put(result)
                    return
                self.line.put(result)
            try:
                result.set_result(self.work(item))
            except BaseException as error:
                self.stopped = True
                result.set_exception(error)
                return

    def results(self) -> Generator[Any, None, None]:
        while (result := self.line.get()) is not None:
            value = result.result()
            self.room.release()
            yield value

    def dismiss(self) -> None:
        self.stopped = True
        for _ in self.threads:
            self.room.release()
        patience = time.monotonic() + 0.5
        for thread in self.threads:
            thread.join(timeout=max(0.0, patience - time.monotonic()))
        if not any(thread.is_alive() for thread in self.threads):
            self.items.close()
