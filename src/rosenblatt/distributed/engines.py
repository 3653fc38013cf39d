"""The interface between training and a cluster: load shards, call functions on shards, and fetch the results in order.

A shard is a part of the training rows that stays on the worker that loaded it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

Handle: TypeAlias = Any
"""A reference to the result of a call on the cluster, which may not have finished. Its type depends on the engine."""
Function: TypeAlias = Callable[..., object]
"""A pure function whose first argument is a shard."""
Progress: TypeAlias = Callable[[int], None]
"""A function that is called from time to time with the number of calls that have finished."""


class WorkLost(Exception):
    """Raised if results were lost with their workers. The calls that returned them can be repeated."""


class ClusterError(RuntimeError):
    """Raised if the cluster cannot be used. The message says why, and what to do."""


class Engine(Protocol):
    """The interface of a cluster, which is also implemented for this process alone (`LocalEngine`)."""

    @property
    def shards(self) -> int:
        """The number of shards that have been loaded."""

    def load(self, loaders: Sequence[Any]) -> None:
        """Load each shard on a worker, where it stays. `call` refers to a shard by its index in ``loaders``."""

    def share(self, value: object) -> Handle:
        """Return a handle for a value that is an argument of several calls, so that the value is sent only once."""

    def call(self, function: Function, shard: int, *arguments: object) -> Handle:
        """Submit ``function(shard, *arguments)`` and return its handle; arguments may be handles of earlier calls.

        Functions are pure, so a call may be repeated.
        """

    def fetch(self, handles: Sequence[Handle], progress: Progress | None = None) -> list[Any]:
        """Wait for the results and return them in order.

        Raises the error that a function raised, or `WorkLost` if workers died.
        """

    def finished(self, handles: Sequence[Handle]) -> list[bool]:
        """Return, for each of these calls, whether it has finished."""

    def recover(self) -> None:
        """Load lost shards again, after `fetch` raised `WorkLost`."""

    @property
    def workers(self) -> int:
        """The number of workers, at least 1."""

    def fork(self) -> Engine:
        """Return an engine with the same shards for a concurrent run. Closing the new engine does not release them."""

    def close(self) -> None:
        """Release the shards."""


class LocalEngine:
    """An engine that makes each call immediately, in this process. Clusters must give the same results."""

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
        """Call the function immediately, and return its result as the handle."""
        return function(self._shards[shard], *arguments)

    def fetch(self, handles: Sequence[Handle], progress: Progress | None = None) -> list[Any]:
        """Return the results."""
        return list(handles)

    def finished(self, handles: Sequence[Handle]) -> list[bool]:
        """Return True for each call."""
        return [True] * len(handles)

    def recover(self) -> None:
        """Raise a ClusterError, because no result can be lost in this process."""
        raise ClusterError("there is nothing to recover: work in this process cannot be lost.")

    def fork(self) -> LocalEngine:
        """Return this engine, since it makes each call immediately."""
        return self

    def close(self) -> None:
        """Release the shards."""
        self._shards = []
