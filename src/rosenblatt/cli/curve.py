"""Whether a line is enough: a linear model and a kernel perceptron, compared on rows that neither has learned from."""

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
"""The largest number of rows that the kernel perceptron learns from, and of those that it predicts."""
_PASSES, _CACHE_MB = 5, 100
_LEAST_GAIN = 0.03
"""The least gain in accuracy that is worth a sentence."""
_LEAST_DEVIATIONS = 3.0
"""The gain has to exceed this multiple of its standard deviation by chance."""


def may_gain(accuracy: float, learner: str) -> bool:
    """Return whether a kernel perceptron can be better than a model of this accuracy by `_LEAST_GAIN`."""
    return learner != "KernelPerceptron" and accuracy <= 1.0 - _LEAST_GAIN


def compare_with_kernel(
    model: TrainedModel, options: RunOptions, trained: tuple[Stream, int], tested: tuple[Stream, int], seed: int
) -> JsonObject | None:
    """Train a kernel perceptron on a sample, and return its accuracy on rows held out beside that of the model.

    ``options`` are those of the model, and ``trained`` and ``tested`` are its training rows and the rows held out, each
    with their number. The kernel is a Gaussian (rbf). It learns from at most 5,000 rows, and from fewer if there are
    more than two classes: 5,000 times the root of 2 / classes. None is returned if these are of one class.
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
    """Return at most ``most`` of the ``rows`` rows of a stream, or None if there are none."""
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
    """Return whether a model that is right on ``gained`` more of n rows, and wrong on ``lost`` more, is much better.

    If two models are equally good, the rows on which only one is right are each as likely to be gained as lost
    (McNemar's test).

    >>> _much_better(60, 20, 1000), _much_better(30, 20, 1000), _much_better(9, 1, 100)
    (True, False, False)
    """
    gain = gained - lost
    return gain >= _LEAST_GAIN * n and gain > _LEAST_DEVIATIONS * math.sqrt(gained + lost)


def curve_advice(found: JsonObject | None) -> list[str]:
    """Return a sentence if the kernel perceptron is much better.

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
