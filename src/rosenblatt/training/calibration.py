"""Calibration: map scores to probabilities, with maps that are fitted to rows that the model was not trained on.

The map of each score is a sigmoid (Platt 1999) or an isotonic regression (Zadrozny and Elkan 2002). The maps are
fitted and applied with elementary float64 operations in a fixed order, and with exact sums. Functions of mathematical
libraries are not called, since their results differ in the last digits. So equal scores give the same bits on every
machine.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.messages import check_choice, count_of
from rosenblatt.scaling import ColumnSums
from rosenblatt.storage.schema import Codec, Place, list_of, number, read_fields, record, string, write_fields

Floats: TypeAlias = NDArray[np.float64]

METHODS = ("auto", "sigmoid", "isotonic")
LEAST_FOR_ISOTONIC = 1000
"""With "auto", the least number of rows of the class, and of rows of other classes, for an isotonic map.

With fewer rows an isotonic map would be coarse, so a sigmoid is fitted.
"""
BINS = 10
"""The number of groups of rows, of equal size, over which the calibration error is measured."""


# Elementary functions. Each is a polynomial of float64 operations that round once.


_LOG2_E, _LN2_HIGH, _LN2_LOW = 1.4426950408889634, 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LEAST_EXPONENT = -800.0
"""For arguments below this, the exponential is 0."""
_EXPONENTIAL = [1.0 / math.factorial(k) for k in range(13, -1, -1)]
_ARTANH = [1.0 / (2 * k + 1) for k in range(17, -1, -1)]


def _polynomial(coefficients: list[float], x: Floats) -> Floats:
    """Evaluate a polynomial at ``x`` by Horner's rule; ``coefficients`` begin with that of the highest power."""
    out = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        out *= x
        out += coefficient
    return out


def exponential(x: Floats) -> Floats:
    """Return ``e**x`` for numbers x of at most 0, with a relative error of a few times 2**-53.

    >>> exponential(np.array([0.0, -1.0, -1000.0])).tolist() == [1.0, math.exp(-1.0), 0.0]
    True
    """
    x = np.maximum(x, _LEAST_EXPONENT)
    # x = k ln 2 + r with |r| <= 0.35 (Cody and Waite): _LN2_HIGH has zeros at its end, so that its product with k is
    # exact. The first term left out of Taylor's series, r**14 / 14!, is below 2**-57.
    k = np.rint(x * _LOG2_E)
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    return np.ldexp(_polynomial(_EXPONENTIAL, r), k.astype(np.int32))


def softplus(x: Floats) -> Floats:
    """Return ``log(1 + e**x)``.

    >>> softplus(np.array([-1000.0, 0.0, 1000.0])).round(4).tolist()
    [0.0, 0.6931, 1000.0]
    """
    # log(1 + z) = 2 artanh(z / (2 + z)), whose series converges fast: the square of the argument is at most 1/9
    z = exponential(-np.abs(x))
    u = z / (2.0 + z)
    return np.maximum(x, 0.0) + 2.0 * u * _polynomial(_ARTANH, u * u)


def logistic(x: Floats) -> Floats:
    """Return ``1 / (1 + e**-x)``. Small values are accurate to all their digits.

    >>> logistic(np.array([0.0, -800.0, 800.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    z = exponential(-np.abs(x))
    small = z / (1.0 + z)
    return np.where(x > 0.0, 1.0 - small, small)


# The two kinds of maps.


@dataclass(frozen=True)
class Sigmoid:
    """The map from a score s to the probability ``1 / (1 + exp(-(slope * s + offset)))``."""

    slope: float
    offset: float

    def apply(self, scores: Floats) -> Floats:
        """Return the probability for each score."""
        with np.errstate(over="ignore"):
            return logistic(self.slope * np.clip(scores, -_MAX, _MAX) + self.offset)


@dataclass(frozen=True)
class Isotonic:
    """A non-decreasing map from scores to probabilities. It is linear between its knots, and constant outside them."""

    scores: tuple[float, ...]
    """The scores of the knots, increasing."""
    values: tuple[float, ...]
    """The probability at each knot."""

    def apply(self, scores: Floats) -> Floats:
        """Return the probability for each score."""
        x, y = np.array(self.scores), np.array(self.values)
        right = np.searchsorted(x, scores, side="right")
        low, high = np.maximum(right - 1, 0), np.minimum(right, len(x) - 1)
        width = np.where(high > low, x[high] - x[low], 1.0)
        # invariant: a score is at its left knot or to the right of it, except for scores before the first knot
        share = np.where((high > low) & (right > 0), scores - x[low], 0.0) / width
        return np.minimum(y[low] + share * (y[high] - y[low]), y[high])


_MAX = sys.float_info.max
Map: TypeAlias = Sigmoid | Isotonic


@dataclass(frozen=True)
class Calibration:
    """The maps from the scores of a model to probabilities of its classes.

    With two classes, one map gives the probability of the second class from the score. With more, each class has a map
    from its lead: the score of the class minus the largest score of another class. Leads compare classes, as
    predictions do, and give better probabilities than scores. The probabilities of a row are then divided by their sum.
    If all of them are 0, each becomes 1 / n for n classes.
    """

    hypothesis: str
    """The hypothesis whose scores are mapped."""
    rows: int
    """The number of rows to which the maps are fitted."""
    maps: tuple[Map, ...]

    def check(self, n_classes: int) -> None:
        """Raise a ValueError unless there is a map for each score of a model of ``n_classes`` classes."""
        expected = 1 if n_classes == 2 else n_classes
        if n_classes < 2 or len(self.maps) != expected:
            found = count_of(len(self.maps), "map")
            raise ValueError(
                f"a calibration with {found} from scores to probabilities does not fit a model of {n_classes} classes."
            )

    def check_hypothesis(self, hypothesis: str) -> None:
        """Raise a ValueError unless the model's ``hypothesis`` is the one whose scores are mapped."""
        if hypothesis != self.hypothesis:
            raise ValueError(
                f'the probabilities were fitted to hypothesis="{self.hypothesis}", but the hypothesis is '
                f'"{hypothesis}": set it back, or calibrate the model again.'
            )

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of each class for each row, given the rows' scores from `RunState.rounded_scores`.

        >>> calibration = Calibration("last", 4, (Sigmoid(1.0, 0.0),))
        >>> calibration.probabilities(np.array([[0.0], [1000.0]])).tolist()
        [[0.5, 0.5], [0.0, 1.0]]
        """
        if len(self.maps) == 1:
            p = self.maps[0].apply(scores[:, 0])
            return np.column_stack([1.0 - p, p])
        with np.errstate(invalid="ignore", over="ignore"):
            parts = leads(scores)
        p = np.column_stack([own.apply(parts[:, k]) for k, own in enumerate(self.maps)])
        total = p[:, 0].copy()
        for k in range(1, p.shape[1]):  # in this order, so that the bits are defined
            total += p[:, k]
        p[total == 0.0], total[total == 0.0] = 1.0, p.shape[1]
        return p / total[:, None]


def leads(scores: Floats) -> Floats:
    """Return each class's score minus the largest score of another class.

    >>> leads(np.array([[3.0, 1.0, 2.0]]))
    array([[ 1., -2., -1.]])
    """
    rows = np.arange(len(scores))
    best = scores.argmax(axis=1)
    rivals = np.repeat(scores[rows, best][:, None], scores.shape[1], axis=1)
    others = scores.copy()
    others[rows, best] = -np.inf
    rivals[rows, best] = others.max(axis=1)
    return scores - rivals


# In files.


class _IsotonicFields:
    scores: list[float]
    values: Annotated[list[float], list_of(number(0.0, 1.0))]


def _write_map(value: Map, place: Place) -> dict[str, Any]:
    if isinstance(value, Sigmoid):
        return {"kind": "sigmoid", **write_fields(Sigmoid, value, place)}
    return {"kind": "isotonic", **write_fields(_IsotonicFields, value, place)}


def _read_map(data: object, place: Place) -> Map:
    rest = dict(data) if isinstance(data, dict) else {}
    kind = rest.pop("kind", None)
    if kind == "sigmoid":
        return Sigmoid(**read_fields(Sigmoid, rest, place))
    if kind != "isotonic":
        raise place.error("a map of kind 'sigmoid' or 'isotonic'", data)
    found = Isotonic(**{name: tuple(values) for name, values in read_fields(_IsotonicFields, rest, place).items()})
    rising = all(low < high for low, high in pairwise(found.scores)) and list(found.values) == sorted(found.values)
    if not 0 < len(found.scores) == len(found.values) or not rising:
        raise place.error("knots with increasing scores and values that do not decrease", data)
    return found


MAP = Codec(_write_map, _read_map)
"""The codec of a `Map`."""


class _CalibrationFields:
    hypothesis: Annotated[str, string("last", "average", "pocket", "vote")]
    rows: int
    maps: Annotated[tuple[Map, ...], list_of(MAP)]


CALIBRATION = record(_CalibrationFields, lambda maps, **others: Calibration(maps=tuple(maps), **others))
"""The codec of a `Calibration`."""


# Fitting.


def fit_calibration(
    scores: Floats,
    labels: NDArray[np.integer[Any]],
    n_classes: int,
    *,
    hypothesis: str = "last",
    method: str = "auto",
    weight: Floats | None = None,
) -> Calibration:
    """Fit a calibration to rows that the model was not trained on.

    Parameters
    ----------
    scores : array of shape (n, 1) or (n, n_classes)
        Scores of the rows as `RunState.rounded_scores` returns them.
    labels : array of shape (n,)
        The class number of each row. If there are two classes, both must occur. If there are more, a class that does
        not occur gets probabilities close to 0.
    n_classes : int
        The number of classes of the model.
    hypothesis : str
        The hypothesis that gave the scores, by default "last".
    method : "auto", "sigmoid" or "isotonic"
        The kind of the maps. "auto", the default, fits an isotonic map if there are at least `LEAST_FOR_ISOTONIC` rows
        of the class, and as many of other classes. Otherwise it fits a sigmoid.
    weight : array of shape (n,), optional
        Weights of the rows, at least 0; by default all are 1.
    """
    check_choice("method", method, METHODS)
    with np.errstate(invalid="ignore", over="ignore"):
        parts = scores if n_classes == 2 else leads(scores)
    if not np.isfinite(parts).all():
        raise ValueError("some scores are too large for a float, so they cannot be calibrated: scale the features.")
    maps: list[Map] = []
    for k in range(parts.shape[1]):
        positive = labels == (1 if n_classes == 2 else k)
        few = min(np.count_nonzero(positive), np.count_nonzero(~positive)) < LEAST_FOR_ISOTONIC
        fit = fit_sigmoid if method == "sigmoid" or (method == "auto" and few) else fit_isotonic
        maps.append(fit(parts[:, k], positive, weight))
    return Calibration(hypothesis, len(labels), tuple(maps))


def fit_sigmoid(scores: Floats, positive: NDArray[np.bool_], weight: Floats | None = None) -> Sigmoid:
    """Return the sigmoid with the least log loss, with the targets of Platt (1999).

    The target of positive rows is (P + 1) / (P + 2) instead of 1, and that of negative rows 1 / (N + 2) instead of 0.
    P and N are the numbers of positive and negative rows, or the sums of their weights. So the slope stays finite even
    if the scores separate the rows.

    >>> sigmoid = fit_sigmoid(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([False, False, True, True]))
    >>> sigmoid.apply(np.array([-2.0, 0.0, 2.0])).round(3).tolist()
    [0.206, 0.5, 0.794]
    """
    w = np.ones(len(scores)) if weight is None else weight
    positives, negatives = math.fsum(w[positive].tolist()), math.fsum(w[~positive].tolist())
    target = np.where(positive, (positives + 1.0) / (positives + 2.0), 1.0 / (negatives + 2.0))
    # Newton's method runs on scores whose mean is 0 and whose size is about 1, which keeps the Hessian regular.
    exponent = math.frexp(float(np.max(np.abs(scores))))[1]
    s = np.ldexp(scores, -exponent)
    (centre,) = _means(s).tolist()
    slope, offset = _newton(s - centre, target, w)
    with np.errstate(over="ignore"):
        return Sigmoid(float(np.clip(np.ldexp(slope, -exponent), -_MAX, _MAX)), offset - slope * centre)


def _newton(s: Floats, target: Floats, w: Floats) -> tuple[float, float]:
    """Return the slope and the offset that minimize the mean log loss, which is a convex function.

    This is Newton's method with backtracking (Lin, Lin, Weng 2007). It stops when the next step is expected to lower
    the loss by less than 1e-20, or when no step size lowers it enough.
    """

    def loss_at(slope: float, offset: float) -> float:
        x = slope * s + offset
        (mean,) = _means(w * (softplus(x) - target * x)).tolist()
        return float(mean)

    slope, offset = 0.0, 0.0
    loss = loss_at(slope, offset)
    for _ in range(_MOST_STEPS):
        p = logistic(slope * s + offset)
        g, h = w * (p - target), w * (p * (1.0 - p))
        g_slope, g_offset, h_slope, h_both, h_offset = _means(g * s, g, h * s * s, h * s, h).tolist()
        ridge = 1e-12 * (h_slope + h_offset) + 1e-100  # as in the paper: scores that are all equal have no slope
        h_slope, h_offset = h_slope + ridge, h_offset + ridge
        det = h_slope * h_offset - h_both * h_both
        step = (h_both * g_offset - h_offset * g_slope) / det, (h_both * g_slope - h_slope * g_offset) / det
        fall = -(g_slope * step[0] + g_offset * step[1])
        size = 1.0
        while fall > _LEAST_FALL and size > _LEAST_STEP:
            after = slope + size * step[0], offset + size * step[1]
            new = loss_at(*after)
            if new <= loss - 1e-4 * size * fall:  # Armijo's condition
                break
            size /= 2.0
        else:
            break
        (slope, offset), loss = after, new
    return slope, offset


_MOST_STEPS, _LEAST_FALL, _LEAST_STEP = 100, 1e-20, 1e-10


def _means(*columns: Floats) -> Floats:
    """Return the mean of each column, computed exactly and rounded once."""
    sums = ColumnSums("standard")
    sums.add(np.column_stack(columns))
    return sums.means()


def fit_isotonic(scores: Floats, positive: NDArray[np.bool_], weight: Floats | None = None) -> Isotonic:
    """Return the non-decreasing map with the least squared error, computed by pooling adjacent violators.

    Its values are limited to the range from 1 / (N + 2) to (P + 1) / (P + 2), the targets of `fit_sigmoid`. A finite
    number of rows does not show that a class is certain or impossible.

    >>> fit_isotonic(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, False, True])).values
    (0.25, 0.5, 0.5, 0.75)
    """
    order = np.argsort(scores, kind="stable")
    distinct, group = np.unique(scores[order], return_inverse=True)
    w = np.ones(len(scores)) if weight is None else weight[order]
    sums = np.bincount(group, w * positive[order])  # adds in order, so that the bits are defined; exact for counts
    totals = np.bincount(group, w)
    lowest, highest = 1.0 / (math.fsum(totals - sums) + 2.0), 1.0 - 1.0 / (math.fsum(sums) + 2.0)
    blocks: list[tuple[float, float, int]] = []  # sum, total weight and last place of each block
    for place, (part, total) in enumerate(zip(sums.tolist(), totals.tolist(), strict=True)):
        if total == 0.0:
            continue
        last = place
        # invariant: the means of the blocks increase
        while blocks and blocks[-1][0] * total >= part * blocks[-1][1]:
            before = blocks.pop()
            part, total = before[0] + part, before[1] + total
        blocks.append((part, total, last))
    x, y = [], []
    first = 0
    for part, total, last in blocks:
        value = min(max(part / total, lowest), highest)
        for place in (first, last) if first < last else (last,):
            x.append(float(distinct[place]))
            y.append(value)
        first = last + 1
    return Isotonic(tuple(x), tuple(y))


# How good probabilities are.


@dataclass(frozen=True)
class Reliability:
    """How well predicted probabilities agree with the labels of rows.

    One probability of each row is rated. With two classes, this is the probability of the second class. With more, it
    is the largest probability, that is, the probability of the predicted class. The rows are sorted by this probability
    and divided into ten groups of equal size. Rows with equal probabilities are put into the same group.
    """

    brier: float
    """The Brier score: the mean squared error of the probabilities. With more than two classes, classes are summed."""
    probability: list[float]
    """The mean rated probability in each group."""
    share: list[float]
    """For each group, the share of the rows that belong to the class whose probability is rated."""
    rows: list[int]
    """The number of rows in each group."""
    error: float
    """The expected calibration error: the mean of ``|probability - share|`` over the groups, weighted by their rows."""
    chance: float
    """The calibration error that perfect probabilities would have on average, in the normal approximation."""

    @classmethod
    def of(cls, rated: RatedRows, n_classes: int) -> Self:
        """Compute the reliability from the rows that `rate_rows` returns.

        >>> p = np.array([[0.75, 0.25]] * 4)
        >>> found = Reliability.of(rate_rows(p, np.array([0, 0, 0, 1])), 2)
        >>> found.error, found.chance, found.brier
        (0.0, 0.17274707473566775, 0.1875)
        """
        p, hit, squares = rated
        n = len(p)
        _, group, counts = np.unique(p, return_inverse=True, return_counts=True)
        middle = 2 * np.cumsum(counts) - counts  # twice the middle place of the rows of equal probability
        bins = (BINS * middle // (2 * n))[group]
        found = [bins == k for k in np.unique(bins)]
        totals = [(math.fsum(p[b]), float(hit[b].sum()), int(b.sum()), math.fsum(p[b] * (1.0 - p[b]))) for b in found]
        return cls(
            brier=math.fsum(squares) / n / (2.0 if n_classes == 2 else 1.0),
            probability=[total / count for total, _, count, _ in totals],
            share=[hits / count for _, hits, count, _ in totals],
            rows=[count for _, _, count, _ in totals],
            error=math.fsum(abs(total - hits) for total, hits, _, _ in totals) / n,
            chance=math.fsum(math.sqrt(2.0 / math.pi * variance) for _, _, _, variance in totals) / n,
        )


RatedRows: TypeAlias = tuple[Floats, Floats, Floats]
"""For each row: the rated probability, whether the row is of the rated class (1 or 0), and the squared error.

The squared error is summed over the probabilities of all classes.
"""


def rate_rows(probabilities: Floats, labels: NDArray[np.integer[Any]]) -> RatedRows:
    """Compare the probabilities of each row with its class number, which is -1 for an unknown class."""
    n, n_classes = probabilities.shape
    target = (labels[:, None] == np.arange(n_classes)).astype(np.float64)
    squares = np.zeros(n)
    for k in range(n_classes):
        squares += (probabilities[:, k] - target[:, k]) ** 2
    rows, named = np.arange(n), np.ones(n, np.intp) if n_classes == 2 else probabilities.argmax(axis=1)
    return probabilities[rows, named], target[rows, named], squares
