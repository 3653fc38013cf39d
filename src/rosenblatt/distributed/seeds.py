"""Several runs on the same shards at once, one for each seed: while one is at a shard, others are at the next."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from rosenblatt.training.observers import Observer


class StopTogether(Observer):
    """Ends all runs after the passes in progress, once `should_stop` is set."""


def train_together(train: Callable[[Any, Observer], Any], models: Sequence[Any]) -> None:
    """Call ``train(model, observer)`` for all models at once, and wait for them; an interrupt ends them all.

    Warnings of the runs are given once all have ended, each of them once.
    """
    stop = StopTogether()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with ThreadPoolExecutor(len(models), thread_name_prefix="rosenblatt-seed") as pool:
            runs = [pool.submit(train, model, stop) for model in models]
            try:
                for run in runs:
                    run.result()
            except BaseException:
                stop.should_stop = True
                raise
    for message, kind in dict.fromkeys((str(one.message), one.category) for one in found):
        warnings.warn(message, kind, stacklevel=5)
