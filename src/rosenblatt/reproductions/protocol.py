"""Freund and Schapire's protocol: one run for each degree, looked at after so many epochs.

Rows are permuted once, and every epoch visits them in that order. There is a machine for each digit against the rest,
K(x, x') = (1 + x . x')^d, which starts at zero and learns from each row whose score is on the wrong side or 0. Nothing
is trained twice: what a run would have been after fewer visits is read from the log of its updates.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.orders import visiting_order
from rosenblatt.reproductions.idx import Bytes
from rosenblatt.reproductions.images import Images
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.rows import RowMatrix, as_rows

Floats = NDArray[np.float64]
EPOCHS: tuple[float, ...] = (0.1, 1, 2, 3, 4, 10)
"""When the paper looks at its runs; a tenth is that of the first epoch."""


class ScoresOfRows(Protocol):
    """Scores of some rows at one moment, by each hypothesis, a column for each machine."""

    @property
    def last(self) -> Floats:
        """Of the weights after the last visit."""

    @property
    def average(self) -> Floats:
        """Of the mean of the weights after each visit."""

    @property
    def vote(self) -> Floats:
        """Votes of all weights, by the visits that each survived."""


Train = Callable[[Floats, NDArray[np.int64], int], DualState]
"""Makes a run of some degree over rows in the order that they are in."""
Score = Callable[[DualState, RowMatrix, Sequence[int]], Sequence[ScoresOfRows]]
"""Returns the scores of rows after each of some numbers of visits."""


@dataclass(frozen=True)
class Moment:
    """What a run was after some epochs: test errors in percent, mistakes of all machines, support vectors in all."""

    epoch: float
    last: float
    average: float
    vote: float
    mistakes: int
    supports: int


@dataclass(frozen=True)
class DegreeRun:
    """A run with the kernel of one degree."""

    degree: int
    moments: list[Moment]
    training_seconds: float
    evaluation_seconds: float


def degree_runs(
    images: Images, degrees: Sequence[int], epochs: int, seed: int, train: Train, score: Score
) -> Iterator[DegreeRun]:
    """Yield the run of each degree, by the protocol: degree 1 on the pixels as they are, others on pixels from 0 to 1.

    ``train`` is given the rows in the order ``visiting_order(n, seed)``, for so many epochs; ``score`` the run.
    """
    order = visiting_order(len(images.X_train), seed)
    X, y = images.X_train[order], images.y_train[order]
    classes = np.unique(y)
    looks = [(epoch, visits_of(epoch, len(X))) for epoch in epochs_up_to(epochs)]
    for degree in degrees:
        started = time.perf_counter()
        state = train(scaled(X, images.brightest, degree), y, degree)
        trained = time.perf_counter()
        rows = as_rows(scaled(images.X_test, images.brightest, degree))
        found = score(state, rows, [visits for _, visits in looks])
        moments = [
            Moment(epoch, *_errors(scores, classes, images.y_test), *_counts(state, visits))
            for (epoch, visits), scores in zip(looks, found, strict=True)
        ]
        yield DegreeRun(degree, moments, trained - started, time.perf_counter() - trained)


def epochs_up_to(epochs: int) -> list[float]:
    """Return the epochs after which the paper looks at a run, up to so many, and the last.

    >>> epochs_up_to(3), epochs_up_to(7)
    ([0.1, 1, 2, 3], [0.1, 1, 2, 3, 4, 7])
    """
    return [epoch for epoch in EPOCHS if epoch < epochs] + [epochs]


def visits_of(epoch: float, n: int) -> int:
    """Return how many rows have been visited after an epoch, or a tenth of one, over ``n`` rows.

    >>> visits_of(0.1, 60000), visits_of(10, 60000)
    (6000, 600000)
    """
    return max(1, round(epoch * n))


def scaled(pixels: Bytes, brightest: int, degree: int) -> Floats:
    """Return pixels as they are for degree 1, divided by the brightest for the others.

    >>> import numpy as np
    >>> scaled(np.array([[0, 255]], np.uint8), 255, 1), scaled(np.array([[0, 255]], np.uint8), 255, 2)
    (array([[  0., 255.]]), array([[0., 1.]]))
    """
    numbers = pixels.astype(np.float64)
    if degree > 1:
        numbers /= brightest
    return numbers


def _errors(scores: ScoresOfRows, classes: NDArray[np.int64], y: NDArray[np.int64]) -> tuple[float, float, float]:
    """Return the errors in percent of last, average and vote; the class is that of the largest score, the first."""
    wrong = [classes[np.argmax(one, axis=1)] != y for one in (scores.last, scores.average, scores.vote)]
    last, average, vote = (100 * int(np.count_nonzero(one)) / len(y) for one in wrong)
    return last, average, vote


def _counts(state: DualState, visits: int) -> tuple[int, int]:
    """Return the mistakes of all machines within so many visits, and on how many rows they were made."""
    members: list[Any] = []
    for k in range(len(state.counters)):
        made = state.updates_of(k)
        members.append(made.members[made.visits < visits])
    together = np.concatenate(members)
    return len(together), len(np.unique(together))
