"""Dask as an engine: shards are futures that hold rows, calls are tasks on them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from threading import Lock
from time import monotonic, sleep
from typing import Any
from uuid import uuid4
from weakref import WeakSet

from rosenblatt.distributed.engines import ClusterError, Handle, WorkLost

_SUBMITTING = Lock()
_POLL = 0.5
"""Seconds between two looks at the workers."""
_IDLE = 10.0
"""For how many seconds, at least, all workers may have nothing to do before calls that have not ended are lost."""


class DaskEngine:
    """A Dask cluster. Nothing is pinned to a worker: a task only says where its shard lies.

    Parameters
    ----------
    client : distributed.Client
    timeout : float
        The most seconds without any worker.
    """

    def __init__(self, client: Any, timeout: float) -> None:
        self.client, self.timeout = client, timeout
        self._loaders: list[Any] = []
        self._rows: list[Any] = []
        self._calls: WeakSet[Any] = WeakSet()
        self._places: dict[Any, Any] = {}
        self._run, self._made = uuid4().hex[:12], 0

    @property
    def shards(self) -> int:
        """How many shards are loaded."""
        return len(self._loaders)

    @property
    def workers(self) -> int:
        """How many workers there are, at least 1."""
        return max(1, len(self._at_work() or ()))

    def _at_work(self) -> dict[str, Any] | None:
        """Return what each worker has to do; None where the scheduler does not answer."""
        if self.client.status != "running":
            return None
        try:
            return self.client.processing()
        except Exception:
            return None

    def load(self, loaders: Sequence[Any]) -> None:
        """Have each shard loaded; a loader is a function, or a delayed shard of Dask's."""
        self._loaders = list(loaders)
        self._rows = [self._load(loader) for loader in loaders]

    def _load(self, loader: Any) -> Any:
        """Return a future of a shard; without a place to prefer, which would be waited for if it died."""
        self._check_client()
        with _large_arguments():
            if hasattr(loader, "__dask_graph__"):
                return self.client.compute(loader)
            return self.client.submit(loader, key=self._key("load"))

    def _key(self, what: str) -> str:
        self._made += 1
        return f"rosenblatt-{what}-{self._run}-{self._made}"

    def share(self, value: Any) -> Handle:
        """Return the future of a task that returns the value: other than scattered data, it can be had again."""
        self._check_client()
        with _large_arguments():
            future = self.client.submit(_itself, value, key=self._key("share"))
        self._calls.add(future)
        return future

    def call(self, function: Callable[..., Any], shard: int, *arguments: Any) -> Handle:
        """Have a function called where its shard lies, or elsewhere if that worker is gone."""
        self._check_client()
        rows = self._rows[shard]
        at = sorted(self._places.get(rows.key, ()))
        hint = {"workers": at, "allow_other_workers": True} if at else {}
        with _large_arguments():
            future = self.client.submit(function, rows, *arguments, key=self._key(function.__name__), **hint)
        self._calls.add(future)
        return future

    def fetch(self, handles: Sequence[Handle], progress: Callable[[int], None] | None = None) -> list[Any]:
        """Return the results in order."""
        self._check_client()
        gathering = asyncio.run_coroutine_threadsafe(
            self.client.gather(list(handles), asynchronous=True), self.client.loop.asyncio_loop
        )
        seen = busy = monotonic()
        while not wait([gathering], timeout=_POLL).done:
            ended = sum(future.done() for future in handles)
            if progress is not None:
                progress(ended)
            self._check_client()
            at_work, now = self._at_work(), monotonic()
            seen = now if at_work else seen
            # where all calls have ended, their results are on the way
            busy = now if ended == len(handles) or (at_work and any(at_work.values())) else busy
            if now - seen > self.timeout:
                raise self._no_scheduler() if at_work is None else self._no_worker()
            if now - busy > max(self.timeout, _IDLE):
                raise WorkLost("no worker had anything to do, and calls had not ended")
        try:
            found = gathering.result()
        except Exception as fault:
            raise self._meaning(fault, handles) from None
        self._places = self._find_shards()
        return found

    def ended(self, handles: Sequence[Handle]) -> list[bool]:
        """Return for each of these calls whether it has ended."""
        return [future.done() for future in handles]

    def _find_shards(self) -> dict[Any, Any]:
        """Return the workers of each shard: a hint, so none will do."""
        try:
            return self.client.who_has(self._rows)
        except Exception:
            return {}

    def _meaning(self, fault: Exception, handles: Sequence[Handle]) -> Exception:
        """Return the error of a call, as it was raised there; `WorkLost` for all that befalls workers."""
        from distributed import KilledWorker

        for future in handles:
            if future.status == "error":
                error = future.exception()
                return WorkLost(f"KilledWorker: {error}") if isinstance(error, KilledWorker) else error
        return WorkLost(f"{type(fault).__name__}: {fault}")

    def _check_client(self) -> None:
        if self.client.status in ("closing", "closed"):
            raise self._no_scheduler()

    def _no_scheduler(self) -> ClusterError:
        return ClusterError(
            "the scheduler of the Dask cluster cannot be reached any more: start it again, make a new Client, and "
            "train again (with a checkpoint, resume=True goes on from it)."
        )

    def _no_worker(self) -> ClusterError:
        return ClusterError(
            f"the cluster has had no worker for {self.timeout:g} seconds: start some, and train again (with a "
            "checkpoint, resume=True goes on from it)."
        )

    def recover(self) -> None:
        """Let go of all calls, and have shards loaded again whose futures have failed or were cancelled."""
        self._release(self._calls)
        until = monotonic() + self.timeout
        while self.client.status == "connecting" and monotonic() < until:
            sleep(_POLL)
        if self.client.status != "running":
            raise self._no_scheduler()
        self._places = {}
        gone = [place for place, future in enumerate(self._rows) if future.status in ("error", "cancelled", "lost")]
        self._release([self._rows[place] for place in gone])
        self.client.sync(asyncio.sleep, 0)  # what is released is forgotten before the same is asked for again
        for place in gone:
            self._rows[place] = self._load(self._loaders[place])

    def _release(self, futures: Any) -> None:
        """Have the scheduler forget results, also where a traceback still refers to them."""
        for future in list(futures):
            future.release()

    def fork(self) -> DaskEngine:
        """Return an engine with the same shards, whose calls are its own."""
        other = DaskEngine(self.client, self.timeout)
        other._loaders, other._rows, other._places = self._loaders, list(self._rows), self._places
        return other

    def close(self) -> None:
        """Let the shards and all calls go."""
        self._release([*self._rows, *self._calls])
        self._rows = []


def _itself(value: Any) -> Any:
    return value


@contextmanager
def _large_arguments() -> Iterator[None]:
    """Keep Dask from warning of large arguments: states travel as such on purpose. One thread at a time."""
    import dask

    with _SUBMITTING, dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        yield
