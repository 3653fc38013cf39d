"""An ordered parallel map over a generator: threads work ahead, results are returned in order."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import closing
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def processor_count() -> int:
    """Return the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not available on every system
        return os.cpu_count() or 1


def ordered_map(
    items: Generator[Item, None, None], work: Callable[[Item], Result], threads: int, queue_ahead: int = 2
) -> Generator[Result, None, None]:
    """Yield ``work(item)`` for each item of ``items``, in order.

    The threads take items in turn, at most ``threads + queue_ahead`` items ahead of the consumer, so memory is bounded.
    With ``threads=0``, an item is processed when its result is requested. An error stops the threads, and is raised
    after the results of earlier items have been yielded. Closing the generator also stops the threads. A thread that is
    blocked waiting for input is abandoned after half a second, and does not keep the process alive.

    Examples
    --------
    >>> list(ordered_map((n for n in range(5)), lambda n: n * n, threads=2))
    [0, 1, 4, 9, 16]
    """
    if threads >= 1:
        yield from _WorkerPool(items, work, threads, queue_ahead).results()
        return
    with closing(items):
        yield from map(work, items)


class _WorkerPool(Generic[Item, Result]):
    """Threads that share one generator. The thread that holds the lock takes the next item and queues a future for it.

    Invariant: the queue holds the futures in the order of the items, because an item is taken and its future is queued
    under the same lock. ``slots`` counts the items that may still be taken; the consumer releases a slot for each
    result.
    """

    def __init__(
        self, items: Generator[Item, None, None], work: Callable[[Item], Result], threads: int, queue_ahead: int
    ) -> None:
        self.items, self.work = items, work
        self.lock = threading.Lock()
        self.slots = threading.Semaphore(threads + queue_ahead)
        self.queue: queue.SimpleQueue[Future[Result] | None] = queue.SimpleQueue()
        self.stopped = False
        self.threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for thread in self.threads:
            thread.start()

    def _work(self) -> None:
        while True:
            self.slots.acquire()
            result: Future[Result] = Future()
            with self.lock:
                if self.stopped:
                    self.items.close()
                    return
                try:
                    item = next(self.items)
                except StopIteration:
                    self.stopped = True
                    self.queue.put(None)
                    return
                except BaseException as error:  # raised again in ``results``
                    self.stopped = True
                    result.set_exception(error)
                    self.queue.put(result)
                    return
                self.queue.put(result)
            try:
                result.set_result(self.work(item))
            except BaseException as error:
                self.stopped = True
                result.set_exception(error)
                return

    def results(self) -> Generator[Result, None, None]:
        try:
            while (result := self.queue.get()) is not None:
                value = result.result()
                self.slots.release()
                yield value
        finally:
            self._shut_down()

    def _shut_down(self) -> None:
        self.stopped = True
        for _ in self.threads:
            self.slots.release()
        deadline = time.monotonic() + 0.5
        for thread in self.threads:
            thread.join(timeout=max(0.0, deadline - time.monotonic()))
        if not any(thread.is_alive() for thread in self.threads):
            self.items.close()
