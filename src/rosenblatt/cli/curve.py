"""Comparison of a linear model with a kernel perceptron on held-out rows, to see whether a linear model is enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rosenblatt.cli.output import JsonObject
from rosenblatt.messages import count_of, evenly_spaced

if TYPE_CHECKING:
    from rosenblatt.blocks import Block
    from rosenblatt.data import Stream
    from rosenblatt.training.model_file import TrainedModel
    from rosenblatt.training.options import RunOptions

_MOST_ROWS = 5000
"""Maximum number of rows on which the kernel perceptron is trained, and of rows on which it is tested."""
_PASSES, _CACHE_MB = 5, 100
_LEAST_GAIN = 0.03
"""The smallest gain in accuracy that is reported."""
_LEAST_DEVIATIONS = 3.0
"""The gain must exceed this multiple of its standard deviation for two equally good models."""


def may_gain(accuracy: float, learner: str) -> bool:
    """Return whether a kernel perceptron could improve this accuracy by `_LEAST_GAIN`; False if ``learner`` is one."""
    return learner != "KernelPerceptron" and accuracy <= 1.0 - _LEAST_GAIN


def compare_with_kernel(
    model: TrainedModel, options: RunOptions, trained: tuple[Stream, int], tested: tuple[Stream, int], seed: int
) -> JsonObject | None:
    """Train a kernel perceptron on a sample, and compare its accuracy on held-out rows with that of the model.

    ``options`` are the options of the model. ``trained`` contains the training rows and their number, and ``tested``
    the held-out rows and their number. The kernel is a Gaussian (rbf). The sample has at most 5,000 rows for two
    classes, and at most 5,000 times sqrt(2 / classes) rows for more. Returns None if there are no rows, or if the
    sample has rows of only one class.
    """
    from rosenblatt.training.batches import InMemory, labelled_batch
    from rosenblatt.training.model_file import trained_state
    from rosenblatt.training.options import RunOptions
    from rosenblatt.training.rows import as_rows
    from rosenblatt.training.run import TrainingRun
    from rosenblatt.training.train import train

    rows = _sample(*trained, int(_MOST_ROWS * math.sqrt(2.0 / max(2, len(model.classes)))), seed)
    others = _sample(*tested, _MOST_ROWS, seed)
    if rows is None or others is None:
        return None
    batch = labelled_batch(rows.X, rows.y, rows.weight, options.class_weight)
    if len(batch.classes) < 2:
        return None
    kept: list[TrainingRun] = []
    kernel = RunOptions.for_learner(
        "KernelPerceptron", kernel="rbf", max_iter=_PASSES, random_state=seed, cache_size=_CACHE_MB
    )
    train(InMemory(batch), kernel.check(), kept.append)
    state, classes = trained_state(kept[-1])[0], kept[-1].classes
    right = classes[state.decide(kernel.hypothesis, as_rows(others.X))[0]] == others.y
    line = model.predict(others.X) == others.y
    return {
        "rows": len(rows),
        "tested": len(others),
        "accuracy": float(right.mean()),
        "accuracy_of_model": float(line.mean()),
        "much_better": _much_better(int((right & ~line).sum()), int((line & ~right).sum()), len(others)),
    }


def _sample(stream: Stream, rows: int, most: int, seed: int) -> Block | None:
    """Return a sample of at most ``most`` rows from a stream of ``rows`` rows, or None if the sample is empty."""
    from rosenblatt.blocks import join_blocks, take_rows
    from rosenblatt.splits import Split

    if rows > most:
        stream = stream.part(Split.of_share(most / rows, seed), held=True, scaled_as=stream)
    blocks = [block for block in stream if len(block)]
    if not blocks:
        return None
    import numpy as np

    block = join_blocks(blocks)
    return take_rows(block, np.array(evenly_spaced(len(block), most)), 0)


def _much_better(gained: int, lost: int, n: int) -> bool:
    """Return whether one model is much better than another on the same ``n`` rows.

    Only the first model is correct on ``gained`` rows, and only the second on ``lost`` rows. If the models are equally
    good, each of these rows is gained or lost with probability 1/2 (McNemar's test).

    >>> _much_better(60, 20, 1000), _much_better(30, 20, 1000), _much_better(9, 1, 100)
    (True, False, False)
    """
    gain = gained - lost
    return gain >= _LEAST_GAIN * n and gain > _LEAST_DEVIATIONS * math.sqrt(gained + lost)


def curve_advice(found: JsonObject | None) -> list[str]:
    """Return a list with one sentence of advice if the kernel perceptron is much better, otherwise an empty list.

    >>> found = {"rows": 5000, "tested": 900, "accuracy": 0.95, "accuracy_of_model": 0.8, "much_better": True}
    >>> curve_advice(found)[0][:93]
    'a line is not enough: a kernel perceptron that learned from 5,000 rows is right on 95.00% of '
    """
    if not found or not found["much_better"]:
        return []
    return [
        f"a line is not enough: a kernel perceptron that learned from {count_of(found['rows'], 'row')} is right on "
        f"{found['accuracy']:.2%} of {found['tested']:,} rows held out, and this model on "
        f"{found['accuracy_of_model']:.2%}: train with --learner kernel --kernel rbf, or add columns, such as products "
        "of others"
    ]
