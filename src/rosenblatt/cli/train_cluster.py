"""One training run of the command on a cluster: workers load the files, and this process keeps the model."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.cluster_options import CLUSTERS
from rosenblatt.cli.clusters import opened_cluster, workers_of
from rosenblatt.cli.progress_bar import ProgressBar
from rosenblatt.cli.startup import enable_gc
from rosenblatt.cli.train_run import Training
from rosenblatt.distributed.engines import ClusterError
from rosenblatt.distributed.runs import checked_options, runs_of
from rosenblatt.distributed.shards import ShardSet, joined_loader, loaders_of, restore_counts, shard_loaders
from rosenblatt.messages import count_of
from rosenblatt.training.observers import Observer

if TYPE_CHECKING:
    from rosenblatt.distributed.engines import Engine
    from rosenblatt.distributed.shards import Shard

_SHARDS = 8
"""Shards for mixing, if nothing is said."""


class ClusterTraining(Training):
    """Training whose rows lie on a cluster; ``opened`` are the options with which the stream was opened."""

    def __init__(self, *arguments: Any, opened: Mapping[str, Any]) -> None:
        super().__init__(*arguments)
        self.opened = opened
        on = self.asked.on
        self.mode, self.n_shards = on.mode or "exact", on.shards or _SHARDS
        self.facts: dict[str, Any] = {"kind": on.cluster, "mode": self.mode}
        self.options = checked_options(self.options, self.mode, self.n_shards)

    def fit(self, label: str = "pass") -> bool:
        """Train on the cluster; return False where Ctrl-C cut it short after something was learned."""
        on = self.asked.on
        shards = len(self.stream.files or ())
        if self.mode == "mix":
            shards = min(shards, self.n_shards)
        enable_gc()
        try:
            with opened_cluster(str(on.cluster), on.address, shards) as engine:
                return self._fit_on(engine)
        except ClusterError as fault:
            raise ValueError(str(fault).replace("resume=True", "--resume")) from fault

    def _fit_on(self, engine: Engine) -> bool:
        """Have the files loaded, and train."""
        with ProgressBar("reading", self.paths) as reading:
            self.stream.fit_scale(self._trained_rows(), reading.set_share)
        loaders = shard_loaders(loaders_of(self.stream, self.opened), self.mode, self.n_shards, joined_loader)
        with ProgressBar("loading", self.paths) as loading:
            engine.load(loaders)
            shards = ShardSet(engine, mode=self.mode, progress=lambda loaded: loading.set_share(loaded / len(loaders)))
        restore_counts(self.stream, shards.facts)
        self.facts |= {"workers": engine.workers, "shards": len(shards.facts)}
        self._say_start(engine, shards)
        self._balance_on(shards)
        bar = ClusterBar(engine, "pass" if self.mode == "exact" else "round", self.paths, self.options.max_iter)
        every = None if self.asked.checkpoint is None else self.asked.every
        return self._learn(shards, bar, self._checkpoints(), make_run=runs_of(self.mode, every))

    def _say_start(self, engine: Engine, shards: ShardSet) -> None:
        kind, found = CLUSTERS[self.facts["kind"]], count_of(shards.rows, "row")
        where = "started here" if self.asked.on.address is None else f"at {self.asked.on.address}"
        of = count_of(len(shards.facts), "shard")
        print(f"{kind} cluster {where}: {workers_of(engine)}, {found} in {of}.", file=sys.stderr)

    def _balance_on(self, shards: ShardSet) -> None:
        """Set the weights of classes, where they are to be balanced, by what the shards count."""
        if self.asked.class_weight is None:
            return
        engine, trained = shards.engine, self._trained_rows()
        places = range(len(shards.facts))
        counts: Counter[Any] = Counter()
        for counted in shards.gather(
            lambda: [engine.call(count_classes, shard, shards.starts[shard], trained) for shard in places]
        ):
            counts.update(counted)
        self._set_class_weight(counts)
        shards.class_weight = self.options.class_weight

    def answer(self, took: float) -> dict[str, Any]:
        """Return the facts of the run for the report."""
        return super().answer(took) | {"cluster": self.facts}


def count_classes(shard: Shard, first: int, trained: Any) -> dict[Any, int]:
    """Return how many rows of a shard that are trained on have each label."""
    import numpy as np

    numbers = shard.numbers if trained is None else shard.numbers[trained(first, len(shard.numbers))]
    counts = np.bincount(numbers, minlength=len(shard.classes)).tolist()
    return {label: count for label, count in zip(shard.classes.tolist(), counts, strict=True) if count}


class ClusterBar(ProgressBar):
    """A bar for training on a cluster: rows a second, mistakes, workers; elsewhere than on a terminal, lines."""

    def __init__(self, engine: Engine, label: str, paths: Any, passes: int) -> None:
        super().__init__(label, paths, passes)
        self.engine, self.speed = engine, 0.0

    @property
    def words(self) -> str:
        """Rows a second, mistakes of the pass before, workers."""
        parts = [f"{self.speed:,.0f} rows/s"] if self.speed else []
        if self.mistakes >= 0:
            parts.append(count_of(self.mistakes, "mistake"))
        return "  ".join([*parts, workers_of(self.engine)])

    def set_visited(self, rows: int, of: int) -> None:
        """Show that so many rows of this pass have been visited."""
        self.rows, self.speed = rows, rows / max(1e-9, time.monotonic() - self._pass_start)
        self.set_share(rows / of)

    def end_pass(self, done: int, mistakes: int) -> None:
        """Show that so many passes are complete, the last with so many mistakes."""
        super().end_pass(done, mistakes)
        if not self.is_shown:
            facts = f"{count_of(mistakes, 'mistake')}, {self.speed:,.0f} rows/s, {workers_of(self.engine)}"
            print(f"{self.label} {done} of at most {self.passes}: {facts}", file=sys.stderr)

    def observer(self) -> Any:
        """Return an observer of a training run that moves this bar."""
        bar = self

        class Bar(Observer):
            def on_start(self, run: Any) -> None:
                bar.done = run.current.passes_done

            def on_slice(self, run: Any, batch: Any, visited: int) -> None:
                bar.set_visited(visited, run.source.rows)

            def on_batch(self, run: Any, batch: Any) -> None:
                bar.set_visited(run.current.row, run.source.rows)

            def on_pass(self, run: Any, active: Any) -> None:
                bar.end_pass(run.state.passes, int(run.state.counters["mistakes"][active].sum()))

        return Bar()
