"""What a cluster has to do for training: load shards, call functions where they lie, and hand results back in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Handle = Any
"""A result that lies on the cluster, or will."""


class WorkLost(Exception):
    """Results that workers had are gone with these; what made them can be called again."""


class ClusterError(RuntimeError):
    """A cluster that cannot be worked with: one sentence that says why, and what to do."""


class Engine(Protocol):
    """A cluster, or this process."""

    @property
    def shards(self) -> int:
        """How many shards have been loaded."""

    def load(self, loaders: Sequence[Any]) -> None:
        """Have each shard loaded on some worker, to stay there; `call` names them by their places."""

    def share(self, value: Any) -> Handle:
        """Return a handle of a value that several calls take, so that it is sent once."""

    def call(self, function: Callable[..., Any], shard: int, *arguments: Any) -> Handle:
        """Have ``function(rows of the shard, *arguments)`` called, where arguments may be handles of earlier calls.

        Functions are pure, so a call may be made more than once.
        """

    def fetch(self, handles: Sequence[Handle], progress: Callable[[int], None] | None = None) -> list[Any]:
        """Return the results, in order. An error of the function is raised, and `WorkLost` where workers died.

        ``progress`` is called from time to time with how many calls have ended.
        """

    def ended(self, handles: Sequence[Handle]) -> list[bool]:
        """Return for each of these calls whether it has ended."""

    def recover(self) -> None:
        """After `WorkLost`: have shards that are gone loaded again."""

    @property
    def workers(self) -> int:
        """How many workers there are, at least 1."""

    def fork(self) -> Engine:
        """Return an engine with the same shards, for another run at the same time; closing it leaves them."""

    def close(self) -> None:
        """Let the shards go."""


class InThisProcess:
    """All in this process, one call after the other: what results of clusters are compared with."""

    workers = 1

    def __init__(self) -> None:
        self._rows: list[Any] = []

    @property
    def shards(self) -> int:
        """How many shards have been loaded."""
        return len(self._rows)

    def load(self, loaders: Sequence[Any]) -> None:
        """Load the shards."""
        self._rows = [loader() for loader in loaders]

    def share(self, value: Any) -> Handle:
        """Return the value."""
        return value

    def call(self, function: Callable[..., Any], shard: int, *arguments: Any) -> Handle:
        """Call the function at once; its result is the handle."""
        return function(self._rows[shard], *arguments)

    def fetch(self, handles: Sequence[Handle], progress: Callable[[int], None] | None = None) -> list[Any]:
        """Return the results."""
        return list(handles)

    def ended(self, handles: Sequence[Handle]) -> list[bool]:
        """Return that all have ended."""
        return [True] * len(handles)

    def recover(self) -> None:
        """Raise a ClusterError: nothing is ever lost here."""
        raise ClusterError("work in this process cannot be lost.")

    def fork(self) -> InThisProcess:
        """Return this engine: its calls are made at once."""
        return self

    def close(self) -> None:
        """Let the shards go."""
        self._rows = []
