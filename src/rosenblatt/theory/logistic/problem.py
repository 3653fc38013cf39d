"""Logistic regression as linear inequalities: z . b > 0 for each observation and each class other than its own.

Let the coefficients grow in the direction b. The probability of class y for an observation x then tends to 1 if
x . b_y > x . b_l for every other class l. So each observation gives one row z per other class l: x in the block of y,
-x in the block of l, and 0 elsewhere. The first class is the baseline with b = 0 and has no block. With two classes z
is x or -x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from rosenblatt.messages import check_boolean, shorten
from rosenblatt.theory.exact import in_common_units
from rosenblatt.theory.inputs import (
    Floats,
    Numbers,
    check_labels,
    check_matrix,
    exact_numbers,
    frame_columns,
    refuse_masked,
)
from rosenblatt.theory.logistic.arithmetic import exact_scores, float_scores

# The design matrix: a data frame or a matrix turned into named numeric columns, with treatment (dummy) coding of
# factors.


INTERCEPT = "intercept"


class Design(NamedTuple):
    """A design matrix of finite numbers and the names of its columns, with the intercept first if there is one."""

    names: tuple[str, ...]
    X: Floats


def read_design(X: Any, fit_intercept: bool) -> Design:
    """Return the design matrix of a logistic regression on ``X``.

    A column of strings or of a categorical type becomes one 0/1 column, named ``name=level``, for each level that
    occurs except the first. The order of the levels is the order of the categories in pandas, in a polars Enum and in
    an ordered Arrow dictionary; otherwise levels are sorted. Columns without names are called x0, x1 and so on.

    >>> read_design([[1, 2], [3, 4]], True).names
    ('intercept', 'x0', 'x1')
    """
    if hasattr(X, "columns") and hasattr(X, "shape") and not sp.issparse(X):
        names, parts = _read_frame(X)
    else:
        matrix = check_matrix(X)
        parts = [matrix.toarray() if sp.issparse(matrix) else matrix]
        names = [f"x{j}" for j in range(parts[0].shape[1])]
    if fit_intercept:
        names, parts = [INTERCEPT, *names], [np.ones((len(parts[0]), 1)), *parts]
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise ValueError(f"expected unique column names, got {shorten(twice)} twice: rename one of them.")
    return Design(tuple(names), np.hstack(parts))


def _read_frame(X: Any) -> tuple[list[str], list[Floats]]:
    """Return the names and the columns of a pandas, polars or pyarrow table."""
    given = list(X.column_names if hasattr(X, "column_names") else X.columns)
    if X.shape[0] == 0:
        raise ValueError("expected at least one row, got a table without rows.")
    names: list[str] = []
    parts: list[Floats] = []
    for j, (label, values) in enumerate(zip(given, frame_columns(X) or (), strict=True)):
        name = label if isinstance(label, str) else f"x{label}" if isinstance(label, int | np.integer) else str(label)
        column = X.iloc[:, j] if hasattr(X, "iloc") else X.column(j) if hasattr(X, "column") else X.to_series(j)
        values, levels = _read_column(column, values, name)
        if levels is None:
            names.append(name)
            parts.append(check_matrix(values.reshape(-1, 1), f"column {shorten(name)}"))
        else:
            names += [f"{name}={level}" for level in levels[1:]]
            parts.append(_indicators(values, levels))
    return names, parts or [np.zeros((X.shape[0], 0))]


def _indicators(values: NDArray[Any], levels: list[Any]) -> Floats:
    """Return a 0/1 column for each level except the first."""
    code = {level: k for k, level in enumerate(levels)}
    columns = np.zeros((len(values), len(levels)))
    columns[np.arange(len(values)), [code[value] for value in values.tolist()]] = 1.0
    return columns[:, 1:]


def _read_column(column: Any, values: NDArray[Any], name: str) -> tuple[NDArray[Any], list[Any] | None]:
    """Return the ``values`` of a column as numbers or strings, and its levels in order if it is a factor, else None."""
    kind = str(column.dtype if hasattr(column, "dtype") else column.type)
    if _has_missing(column):
        raise ValueError(
            f"column {shorten(name)} has missing values: drop these rows, impute the values, or treat missing as a "
            "level."
        )
    if any(word in kind.lower() for word in ("date", "time", "duration")):
        raise ValueError(f"column {shorten(name)} holds dates or times: convert them to numbers or strings first.")
    if values.ndim != 1 or (values.dtype.kind == "O" and any(map(_is_nested, values.tolist()))):
        raise ValueError(
            f"column {shorten(name)} holds lists or other nested values: expected one number or string per row; make "
            "each part a column."
        )
    order = _categories(column, kind)
    words = order is not None or values.dtype.kind in "UT"
    if values.dtype.kind == "O" and not words:
        text = [isinstance(value, str) for value in values.tolist()]
        if any(text) and not all(text):
            raise ValueError(
                f"column {shorten(name)} mixes strings with other values: make it all strings or all numbers."
            )
        words = any(text)
    if not words:
        return values.astype(np.float64) if values.dtype.kind == "b" else values, None
    occurring = set(values.tolist())
    return values, [level for level in order or sorted(occurring) if level in occurring]


def _is_nested(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def _has_missing(column: Any) -> bool:
    if hasattr(column, "isna"):
        return bool(column.isna().any())
    count = column.null_count
    return bool(count() if callable(count) else count)


def _categories(column: Any, kind: str) -> list[Any] | None:
    """Return the categories of a categorical column in order, or None for any other column."""
    if kind == "category":
        return list(column.cat.categories)
    if kind.startswith("dictionary"):
        if column.type.ordered and column.num_chunks == 1:
            return column.chunk(0).dictionary.to_pylist()
        return sorted(set(column.to_pylist()), key=_by_type)
    if kind.startswith("Enum"):
        return list(column.dtype.categories)
    return sorted(column.unique().to_list()) if kind.startswith("Categorical") else None


def _by_type(level: Any) -> tuple[bool, Any]:
    return isinstance(level, str), level


Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Problem:
    """The observations of a regression: columns ``X``, class indices ``own_class`` and data row numbers ``rows``."""

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    X: Floats
    own_class: Indices
    rows: Indices

    @property
    def blocks(self) -> int:
        """The number of classes other than the baseline."""
        return len(self.classes) - 1

    def with_columns(self, columns: Sequence[int]) -> Problem:
        """Return the problem restricted to the given columns."""
        names = tuple(self.names[j] for j in columns)
        X = self.X if len(columns) == self.X.shape[1] else np.ascontiguousarray(self.X[:, list(columns)])
        return Problem(names, self.classes, X, self.own_class, self.rows)

    def with_observations(self, which: Indices) -> Problem:
        """Return the problem restricted to the given observations."""
        return Problem(self.names, self.classes, self.X[which], self.own_class[which], self.rows[which])

    def others(self) -> Indices:
        """Return for each observation the other classes in order, one for each of its rows z."""
        every = np.broadcast_to(np.arange(len(self.classes)), (len(self.own_class), len(self.classes)))
        return every[every != self.own_class[:, None]].reshape(len(self.own_class), self.blocks)

    def margins(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return z . b for the rows z of each observation, given the scores x . b_l of all classes but the baseline."""
        every = np.column_stack([np.zeros(len(scores), dtype=scores.dtype), scores])
        margins = every[np.arange(len(scores)), self.own_class][:, None] - every
        others = np.arange(len(self.classes)) != self.own_class[:, None]
        return margins[others].reshape(len(scores), self.blocks)

    def signs(self, b: Numbers) -> NDArray[np.int8]:
        """Return the exact sign of z . b for the rows z of each observation; ``b`` has integers, block by block.

        If a value in floats is larger than its error bound, it decides the sign. The other signs are computed in
        integers.
        """
        D = b.reshape(self.blocks, -1).T
        scores, error = float_scores(self.X, D)
        with np.errstate(all="ignore"):
            margins = self.margins(scores)
            # A margin is a difference of two scores. Rounding this difference does no harm, because it keeps the sign
            # and is monotone.
            bound = np.max(error, axis=1, initial=0.0)[:, None] * 2.01
            signs = np.where(np.abs(margins) > bound, np.sign(margins), np.nan)
        doubtful = np.flatnonzero(np.isnan(signs).any(axis=1))
        if len(doubtful):
            part = self.with_observations(doubtful)
            exact = part.margins(exact_scores(part.X, D))
            signs[doubtful] = (exact > 0).astype(np.float64) - (exact < 0)
        return signs.astype(np.int8)

    def row_vectors(self, observations: Indices, other: Indices) -> Floats:
        """Return the row z, in exact floats, for each observation and the other class that ``other`` gives for it."""
        return blocks_of(self.X[observations], self.own_class[observations], other, self.blocks)


def blocks_of(x: NDArray[Any], own: Indices, other: Indices, blocks: int) -> NDArray[Any]:
    """Return the rows z: x in the block of class ``own``, -x in the block of ``other``; class 0 has no block."""
    p = x.shape[1]
    z = np.zeros((len(x), (blocks + 1) * p), dtype=x.dtype)
    for k in range(blocks + 1):  # block 0 belongs to the baseline and is cut off at the end
        z[own == k, k * p : (k + 1) * p] = x[own == k]
        z[other == k, k * p : (k + 1) * p] = -x[other == k]
    return z[:, p:]


def read_problem(X: Any, y: ArrayLike, fit_intercept: bool, sample_weight: ArrayLike | None) -> Problem:
    """Return the observations of a logistic regression, without rows of weight zero."""
    check_boolean("fit_intercept", fit_intercept)
    names, columns = read_design(X, fit_intercept)
    n = len(columns)
    has_weight = _read_weights(sample_weight, n)
    refuse_masked(y, "y")
    if np.shape(y) == (n, 2):
        own, rows = _read_counts(y, has_weight)
        classes: tuple[Any, ...] = (0, 1)
    else:
        labels = check_labels(y, n)
        rows = np.flatnonzero(has_weight)
        found, own = np.unique(labels[rows], return_inverse=True)
        classes = tuple(found.tolist())
        if len(classes) < 2:
            raise ValueError(
                f"expected at least two classes among the rows of positive weight, got {len(classes)}: "
                "a logistic regression needs two or more."
            )
    in_order = len(rows) == n and np.array_equal(rows, np.arange(n))
    return Problem(names, classes, columns if in_order else columns[rows], own.ravel().astype(np.intp), rows)


def _read_weights(sample_weight: Any, n: int) -> NDArray[np.bool_]:
    """Return a mask of the rows with a positive weight, decided without rounding."""
    if sample_weight is None:
        return np.ones(n, dtype=bool)
    refuse_masked(sample_weight, "sample_weight")
    weights = _numbers(sample_weight, "sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"expected one weight for each of the {n} rows, got an array of shape {weights.shape}.")
    fine = _is_weight(weights)
    if not fine.all():
        raise ValueError(f"sample_weight must be finite and not negative, got {shorten(weights[~fine].tolist()[0])}.")
    return np.asarray(weights > 0, dtype=bool)


def _numbers(values: Any, name: str) -> NDArray[Any]:
    """Return the values as an array without rounding, since float64 might round small values to 0."""
    array = np.asarray(values)
    return array if array.dtype.kind in "biuf" else exact_numbers(values, name)


def _is_weight(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the numbers that are finite and at least 0."""
    return np.asarray((values >= 0) & (values < np.inf), dtype=bool)


def _read_counts(given: Any, has_weight: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Return the classes (1 for success, 0 for failure) and the row numbers of the observations in binomial counts."""
    try:
        counts = _numbers(given, "y")
    except ValueError:
        counts = np.array([np.nan])
    if not _is_weight(counts).all():
        raise ValueError("a y with two columns counts successes and failures: expected finite numbers of at least 0.")
    rows, which = np.nonzero(np.asarray(counts > 0, dtype=bool) & has_weight[:, None])
    if len(rows) == 0:
        raise ValueError("expected at least one success or failure of positive weight, got none.")
    return 1 - which, rows


# Exact centring: a column x far from zero becomes x - m. The model is the same with another intercept, since b_0 + x
# b_1 = (b_0 + m b_1) + (x - m) b_1.
#
# For example, in a column 1e8 + u only the last digits differ between rows, and floating-point products would lose
# them.


_FAR = 16.0  # a column is centred if its midrange is above 16 times its range; from 1.5 on, centring is exact


@dataclass(frozen=True)
class Centring:
    """A problem with ``offsets`` subtracted from its columns, and the map of coefficients to and from the original."""

    problem: Problem
    offsets: Floats

    def to_centred(self, vectors: Numbers) -> Numbers:
        """Return coefficient vectors (columns) for the centred problem, all multiplied by one positive integer."""
        return self._change_intercept(vectors, 1)

    def to_original(self, vectors: Numbers) -> Numbers:
        """Return coefficient vectors (columns) for the original problem, all multiplied by one positive integer."""
        return self._change_intercept(vectors, -1)

    def coefficient(self, j: int) -> Floats:
        """Return coefficient j of the original problem as a linear function of the centred coefficients."""
        p = len(self.offsets)
        values = np.zeros(p * self.problem.blocks)
        if j % p == 0:
            values[j : j + p] = -self.offsets
        values[j] += 1.0
        return values

    def _change_intercept(self, vectors: Numbers, sign: int) -> Numbers:
        if not self.offsets.any():
            return vectors
        whole, unit = in_common_units(self.offsets.tolist())
        offsets = np.array(whole, dtype=object) * sign
        result = vectors * unit.denominator
        p = len(offsets)
        for start in range(0, len(vectors), p):  # the intercept of each block becomes b_0 + sign m . b
            result[start] = result[start] + offsets @ vectors[start : start + p]
        return result


def centred(problem: Problem) -> Centring:
    """Return the problem with columns far from zero centred, or unchanged if its first column is not an intercept."""
    X = problem.X
    offsets = np.zeros(X.shape[1])
    if X.shape[1] < 2 or not (X[:, 0] == 1).all():
        return Centring(problem, offsets)
    low, high = X.min(axis=0), X.max(axis=0)
    with np.errstate(all="ignore"):
        middle = low / 2 + high / 2
        far = np.flatnonzero((np.abs(middle) > _FAR * (high - low)) & np.isfinite(middle) & (high > low))
    if len(far) == 0:
        return Centring(problem, offsets)
    differences = X.copy()
    for j in far.tolist():
        offsets[j] = X[np.argmin(np.abs(X[:, j] - middle[j])), j]
        differences[:, j] -= offsets[j]  # exact by Sterbenz's lemma: both lie within a factor of two
    return Centring(Problem(problem.names, problem.classes, differences, problem.own_class, problem.rows), offsets)
