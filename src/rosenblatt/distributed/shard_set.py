"""All shards of a data set as one: where each begins, what is called on them, and what happens when workers die."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from rosenblatt.distributed.engines import ClusterError, Engine, Handle, WorkLost
from rosenblatt.distributed.shards import ShardFacts, ShardRows, all_classes, check_facts, shard_facts
from rosenblatt.training.batches import Batch

MOST_LOSSES = 10
"""How often in a row the same calls may be lost before training gives up."""


class ShardSet:
    """The shards that an engine has loaded, as a run sees them: a source of rows that can be read again.

    Parameters
    ----------
    engine : Engine
        What has loaded them.
    classes : array, optional
        Classes that may not occur.
    mode : str
        How they are trained on: a checkpoint of one way is none of another.
    class_weight : mapping, optional
        Step sizes by class.
    progress : callable, optional
        Called from time to time with how many have been loaded.
    """

    in_memory, rereadable = False, True

    def __init__(
        self,
        engine: Engine,
        classes: Any = None,
        mode: str = "exact",
        class_weight: Mapping[Any, float] | str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.engine, self.mode, self.class_weight = engine, mode, class_weight
        self.facts: list[ShardFacts] = self.gather(
            lambda: [engine.call(shard_facts, shard) for shard in range(engine.shards)], progress
        )
        check_facts(self.facts)
        known = [] if classes is None else [np.unique(classes)]
        self.classes = all_classes([*known, *(facts.classes for facts in self.facts)])
        self.width = max(facts.width for facts in self.facts if facts.rows)
        self.starts = np.concatenate([[0], np.cumsum([facts.rows for facts in self.facts])]).tolist()

    @property
    def rows(self) -> int:
        """Rows of all shards."""
        return int(self.starts[-1])

    @property
    def last_filled(self) -> int:
        """The last shard that has rows."""
        return max(shard for shard, facts in enumerate(self.facts) if facts.rows)

    @property
    def names(self) -> list[str] | None:
        """Names of the features, where rows come from data frames."""
        return next((facts.names for facts in self.facts if facts.rows), None)

    @property
    def fingerprint(self) -> str:
        """A digest that identifies these rows and their shards."""
        digest = hashlib.sha256(" ".join([self.mode, *(facts.digest for facts in self.facts)]).encode())
        return digest.hexdigest()

    def fork(self) -> ShardSet:
        """Return the same shards for another run at the same time."""
        other = copy(self)
        other.engine = self.engine.fork()
        return other

    def set_classes(self, classes: Any) -> None:
        """Number the labels by ``classes``, which have those of all shards among them."""
        self.classes = classes

    def check_features(self, width: int, names: list[str] | None) -> None:
        """Raise a ValueError unless a model with these features can go on with the shards."""
        sparse = all(facts.sparse for facts in self.facts if facts.rows)
        if self.width != width and not sparse:
            raise ValueError(f"expected shards with the {width} features that the model has, got {self.width}.")
        if self.names != names and None not in (self.names, names):
            raise ValueError("expected shards with the column names that the model was trained on, got others.")

    def shard_of(self, row: int) -> int:
        """Return the shard that a row is in: the last one for the row after all."""
        return min(int(np.searchsorted(self.starts, row, side="right")) - 1, len(self.facts) - 1)

    def gather(self, calls: Callable[[], Sequence[Handle]], progress: Callable[[int], None] | None = None) -> list[Any]:
        """Make calls and return their results in order; all are made again where workers die with some of them."""
        for _ in range(MOST_LOSSES):
            try:
                return self.engine.fetch(calls(), progress)
            except WorkLost as lost:
                reason = lost
                self.engine.recover()
        raise ClusterError(
            f"work on the same shards was lost {MOST_LOSSES} times in a row ({reason}): do these fit into the memory "
            "of a worker? Cut the data into more shards, or give workers more memory."
        ) from reason

    def batches(self, from_row: int = 0, window: int | None = None) -> Iterator[Batch]:
        """Yield the rows of all shards, brought here one after the other; only what is rarely needed reads them so."""
        for shard, facts in enumerate(self.facts):
            if facts.rows and self.starts[shard + 1] > from_row:
                (rows,) = self.gather(partial(self._fetching, shard))
                of_all = self.classes, self.starts[shard], self.width
                yield from ShardRows(rows, *of_all, class_weight=self.class_weight).batches(from_row)

    def _fetching(self, shard: int) -> list[Handle]:
        return [self.engine.call(_itself, shard)]

    def share(self, batch: Batch | None, visited: int) -> float:
        """Return how much of a pass has been visited, given how many rows have been."""
        return visited / self.rows


def _itself(rows: Any) -> Any:
    return rows
