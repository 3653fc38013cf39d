"""What loads shards, on workers: of pairs, of functions that return them, and of several partitions as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rosenblatt.distributed.shards import Shard, join_shards, make_shard, number_errors


def shard_loaders(loaders: Sequence[Any], mode: str, n_shards: int, join: Callable[[Sequence[Any]], Any]) -> list[Any]:
    """Return a loader for each shard: for ``mode="mix"`` there are ``n_shards``, of partitions that follow each other.

    ``join`` makes one loader of several.
    """
    if mode == "exact":
        return list(loaders)
    parts = np.array_split(np.arange(len(loaders)), min(n_shards, len(loaders)))
    return [join([loaders[k] for k in part]) for part in parts]


class ShardOf:
    """Loads a shard from what a user gave: a pair, or a function that returns one."""

    def __init__(self, given: Any, number: int) -> None:
        self.given, self.number = given if callable(given) else _pair(given), number

    def __call__(self) -> Shard:
        """Return the shard."""
        given = self.given() if callable(self.given) else self.given
        if isinstance(given, Shard):
            return given
        with number_errors(f"shard {self.number}"):
            return make_shard(*_pair(given))


def _pair(given: Any) -> Any:
    """Return what a user gave as a shard; a ValueError unless it is rows and labels."""
    if not (isinstance(given, tuple | list) and len(given) in (2, 3)):
        raise ValueError(
            "expected shards of the form (X, y) or (X, y, sample_weight), or functions that return them, got "
            f"{type(given).__name__}."
        )
    return given


def joined_loader(loaders: Sequence[Any]) -> Any:
    """Return a loader of the rows of several."""
    return loaders[0] if len(loaders) == 1 else JoinedShard(loaders)


class JoinedShard:
    """Loads several shards as one."""

    def __init__(self, loaders: Sequence[Callable[[], Shard]]) -> None:
        self.loaders = list(loaders)

    def __call__(self) -> Shard:
        """Return the shard."""
        return join_shards([loader() for loader in self.loaders])
