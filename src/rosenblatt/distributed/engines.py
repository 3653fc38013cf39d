"""The interface between training and a cluster: load shards, call functions where they lie, fetch results in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

Handle: TypeAlias = Any
"""A result on the cluster, finished or not, in the engine's own type."""
Function: TypeAlias = Callable[..., object]
"""A pure function whose first argument is a shard."""
Progress: TypeAlias = Callable[[int], None]
"""Called from time to time with the number of calls that have finished."""


class WorkLost(Exception):
    """Results were lost with their workers. The calls that made them can be repeated."""


class ClusterError(RuntimeError):
    """The cluster cannot be used. The message says why and what to do."""


class Engine(Protocol):
    """A cluster, or this process."""

    @property
    def shards(self) -> int:
        """The number of shards that have been loaded."""

    def load(self, loaders: Sequence[Any]) -> None:
        """Load each shard on some worker, where it stays; `call` refers to it by its index."""

    def share(self, value: object) -> Handle:
        """Return a handle of a value that several calls take, so that it is sent once."""

    def call(self, function: Function, shard: int, *arguments: object) -> Handle:
        """Submit ``function(shard, *arguments)``, where arguments may be handles of earlier calls.

        Functions are pure, so a call may be repeated.
        """

    def fetch(self, handles: Sequence[Handle], progress: Progress | None = None) -> list[Any]:
        """Return the results, in order. Raises the error of a function, and `WorkLost` if workers died."""

    def finished(self, handles: Sequence[Handle]) -> list[bool]:
        """Return for each of these calls whether it has finished."""

    def recover(self) -> None:
        """Load lost shards again, after `WorkLost`."""

    @property
    def workers(self) -> int:
        """The number of workers, at least 1."""

    def fork(self) -> Engine:
        """Return an engine with the same shards for a concurrent run; closing it leaves them loaded."""

    def close(self) -> None:
        """Release the shards."""


class LocalEngine:
    """This process as an engine, one call after the other: the reference for results of clusters."""

    workers = 1

    def __init__(self) -> None:
        self._shards: list[object] = []

    @property
    def shards(self) -> int:
        """The number of shards that have been loaded."""
        return len(self._shards)

    def load(self, loaders: Sequence[Callable[[], object]]) -> None:
        """Load the shards."""
        self._shards = [loader() for loader in loaders]

    def share(self, value: object) -> Handle:
        """Return the value."""
        return value

    def call(self, function: Function, shard: int, *arguments: object) -> Handle:
        """Call the function now; its result is the handle."""
        return function(self._shards[shard], *arguments)

    def fetch(self, handles: Sequence[Handle], progress: Progress | None = None) -> list[Any]:
        """Return the results."""
        return list(handles)

    def finished(self, handles: Sequence[Handle]) -> list[bool]:
        """Return True for each call."""
        return [True] * len(handles)

    def recover(self) -> None:
        """Raise a ClusterError: nothing can be lost here."""
        raise ClusterError("work in this process cannot be lost.")

    def fork(self) -> LocalEngine:
        """Return this engine, since its calls are made at once."""
        return self

    def close(self) -> None:
        """Release the shards."""
        self._shards = []
