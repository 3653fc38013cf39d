"""The rows of a logistic regression as statements about its coefficients: z . b > 0 for every pair of classes.

An observation with the columns x and the class y is predicted with certainty along b when x . b_y exceeds x . b_l for
every other class l. So there is a row z for each observation and each class l that it does not have: x in the block of
y, less x in the block of l, without the block of the first class, which is the baseline. With two classes it is x or
-x.
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

# A data frame or a matrix as columns of numbers with names: words become a column for each level but the first.


INTERCEPT = "intercept"


class Design(NamedTuple):
    """Columns of finite numbers, the constant first where there is an intercept, and their names."""

    names: tuple[str, ...]
    X: Floats


def read_design(X: Any, fit_intercept: bool) -> Design:
    """Return the columns of a logistic regression on ``X``.

    Columns of words, and categorical ones, become a column of 0 and 1 for each level that occurs but the first, named
    ``name=level``. Levels have the order of the categories in pandas, of a polars Enum and of an ordered Arrow
    dictionary, else their sorted order. Without names columns are called x0, x1 and so on.

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
        raise ValueError(f"expected columns of different names, got {shorten(twice)} twice: rename one of them.")
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
    """Return a column of 0 and 1 for each level but the first."""
    place = {level: k for k, level in enumerate(levels)}
    columns = np.zeros((len(values), len(levels)))
    columns[np.arange(len(values)), [place[value] for value in values.tolist()]] = 1.0
    return columns[:, 1:]


def _read_column(column: Any, values: NDArray[Any], name: str) -> tuple[NDArray[Any], list[Any] | None]:
    """Return the ``values`` of a column as numbers or words, and its levels in order where it is one of words."""
    kind = str(column.dtype if hasattr(column, "dtype") else column.type)
    if _has_missing(column):
        raise ValueError(
            f"column {shorten(name)} has missing values: leave out their rows, fill them, "
            "or give them a level of their own."
        )
    if any(word in kind.lower() for word in ("date", "time", "duration")):
        raise ValueError(f"column {shorten(name)} holds dates or times: turn them into numbers or words first.")
    if values.ndim != 1 or (values.dtype.kind == "O" and any(map(_is_nested, values.tolist()))):
        raise ValueError(
            f"column {shorten(name)} holds lists or other things of several parts: expected one number or word a row, "
            "make a column of each part."
        )
    order = _categories(column, kind)
    words = order is not None or values.dtype.kind in "UT"
    if values.dtype.kind == "O" and not words:
        text = [isinstance(value, str) for value in values.tolist()]
        if any(text) and not all(text):
            raise ValueError(f"column {shorten(name)} holds words and other things: make it all words or all numbers.")
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
    """Return the categories of a categorical column in their order, None for any other column."""
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
    """Observations: columns ``X``, the index of the class ``own``, and the number of the data row each comes from."""

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    X: Floats
    own: Indices
    rows: Indices

    @property
    def blocks(self) -> int:
        """How many classes there are besides the baseline."""
        return len(self.classes) - 1

    def with_columns(self, columns: Sequence[int]) -> Problem:
        """Return the problem with some of its columns."""
        names = tuple(self.names[j] for j in columns)
        X = self.X if len(columns) == self.X.shape[1] else np.ascontiguousarray(self.X[:, list(columns)])
        return Problem(names, self.classes, X, self.own, self.rows)

    def with_observations(self, which: Indices) -> Problem:
        """Return the problem of some of its observations."""
        return Problem(self.names, self.classes, self.X[which], self.own[which], self.rows[which])

    def others(self) -> Indices:
        """Return the classes that each observation does not have, in order: those of its rows z."""
        every = np.broadcast_to(np.arange(len(self.classes)), (len(self.own), len(self.classes)))
        return every[every != self.own[:, None]].reshape(len(self.own), self.blocks)

    def margins(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return z . b for the rows z of each observation, from the scores x . b of each class but the baseline."""
        every = np.column_stack([np.zeros(len(scores), dtype=scores.dtype), scores])
        lead = every[np.arange(len(scores)), self.own][:, None] - every
        kept = np.arange(len(self.classes)) != self.own[:, None]
        return lead[kept].reshape(len(scores), self.blocks)

    def signs(self, b: Numbers) -> NDArray[np.int8]:
        """Return the sign of z . b for the rows z of each observation, exactly; ``b`` are integers, class by class."""
        D = b.reshape(self.blocks, -1).T
        near, error = float_scores(self.X, D)
        with np.errstate(all="ignore"):
            lead = self.margins(near)
            off = np.max(error, axis=1, initial=0.0)[:, None] * 2.01
            found = np.where(np.abs(lead) > off, np.sign(lead), np.nan)
        doubtful = np.flatnonzero(np.isnan(found).any(axis=1))
        if len(doubtful):
            part = self.with_observations(doubtful)
            exact = part.margins(exact_scores(part.X, D))
            found[doubtful] = (exact > 0).astype(np.float64) - (exact < 0)
        return found.astype(np.int8)

    def row_vectors(self, observations: Indices, other: Indices) -> Floats:
        """Return the rows z of some observations and classes that they do not have, as floats, which is exact."""
        return blocks_of(self.X[observations], self.own[observations], other, self.blocks)


def blocks_of(x: NDArray[Any], own: Indices, other: Indices, blocks: int) -> NDArray[Any]:
    """Return the rows z: x in the block of the class ``own``, less x in that of ``other``; class 0 has no block."""
    p = x.shape[1]
    z = np.zeros((len(x), (blocks + 1) * p), dtype=x.dtype)
    for k in range(blocks + 1):
        z[own == k, k * p : (k + 1) * p] = x[own == k]
        z[other == k, k * p : (k + 1) * p] = -x[other == k]
    return z[:, p:]


def read_problem(X: Any, y: ArrayLike, fit_intercept: bool, sample_weight: ArrayLike | None) -> Problem:
    """Return the observations of a logistic regression; rows of weight zero are left out."""
    check_boolean("fit_intercept", fit_intercept)
    names, columns = read_design(X, fit_intercept)
    n = len(columns)
    weighty = _read_weights(sample_weight, n)
    refuse_masked(y, "y")
    if np.shape(y) == (n, 2):
        own, rows = _read_counts(y, weighty)
        classes: tuple[Any, ...] = (0, 1)
    else:
        labels = check_labels(y, n)
        rows = np.flatnonzero(weighty)
        found, own = np.unique(labels[rows], return_inverse=True)
        classes = tuple(found.tolist())
        if len(classes) < 2:
            raise ValueError(
                f"expected at least two classes among the rows with weight, got {len(classes)}: "
                "a logistic regression has nothing to tell apart."
            )
    whole = len(rows) == n and np.array_equal(rows, np.arange(n))
    return Problem(names, classes, columns if whole else columns[rows], own.ravel().astype(np.intp), rows)


def _read_weights(sample_weight: Any, n: int) -> NDArray[np.bool_]:
    """Return which rows have a positive weight, as decided on the exact numbers."""
    if sample_weight is None:
        return np.ones(n, dtype=bool)
    refuse_masked(sample_weight, "sample_weight")
    weights = _numbers(sample_weight, "sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"expected one weight for each of the {n} rows, got an array of shape {weights.shape}.")
    fine = _fine(weights)
    if not fine.all():
        raise ValueError(f"sample_weight must be finite and not negative, got {shorten(weights[~fine].tolist()[0])}.")
    return np.asarray(weights > 0, dtype=bool)


def _numbers(values: Any, name: str) -> NDArray[Any]:
    """Return numbers whose signs are those of the exact values, which float64 might round to 0."""
    array = np.asarray(values)
    return array if array.dtype.kind in "biuf" else exact_numbers(values, name)


def _fine(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which numbers are finite and not negative."""
    return np.asarray((values >= 0) & (values < np.inf), dtype=bool)


def _read_counts(given: Any, weighty: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Return the classes (1 a success, 0 a failure) and the rows of the observations behind binomial counts."""
    try:
        counts = _numbers(given, "y")
    except ValueError:
        counts = np.array([np.nan])
    if not _fine(counts).all():
        raise ValueError(
            "a y of two columns counts successes and failures: expected finite numbers that are not negative."
        )
    rows, which = np.nonzero(np.asarray(counts > 0, dtype=bool) & weighty[:, None])
    if len(rows) == 0:
        raise ValueError("expected at least one success or failure of positive weight, got none.")
    return 1 - which, rows


# Columns far from zero moved near it, exactly: another choice of the intercept, and the same question.
#
# In 1e8 + u only the last digits tell rows apart, and floating point loses them. Where m is near the column x - m is
# exact, and b_0 + x b_1 is (b_0 + m b_1) + (x - m) b_1.


_FAR = 16.0  # columns are moved whose middle is so many times farther from zero than from their ends


@dataclass(frozen=True)
class Shift:
    """A problem with columns moved by ``by``, where vectors for one problem are turned into vectors for the other."""

    problem: Problem
    by: Floats

    def into(self, vectors: Numbers) -> Numbers:
        """Return vectors, one a column, for the moved columns, times a positive integer common to all."""
        return self._moved(vectors, 1)

    def back(self, vectors: Numbers) -> Numbers:
        """Return vectors, one a column, for the columns as they were, times a positive integer common to all."""
        return self._moved(vectors, -1)

    def coefficient(self, j: int) -> Floats:
        """Return the coefficient j of the columns as they were, as a linear function of those of the moved columns."""
        p = len(self.by)
        values = np.zeros(p * self.problem.blocks)
        if j % p == 0:
            values[j : j + p] = -self.by
        values[j] += 1.0
        return values

    def _moved(self, vectors: Numbers, sign: int) -> Numbers:
        if not self.by.any():
            return vectors
        whole, unit = in_common_units(self.by.tolist())
        by = np.array(whole, dtype=object) * sign
        result = vectors * unit.denominator
        p = len(by)
        for start in range(0, len(vectors), p):
            result[start] = result[start] + by @ vectors[start : start + p]
        return result


def shifted(problem: Problem) -> Shift:
    """Return the problem with the columns moved that are far from zero, if the first column is a constant 1."""
    X = problem.X
    by = np.zeros(X.shape[1])
    if X.shape[1] < 2 or not (X[:, 0] == 1).all():
        return Shift(problem, by)
    low, high = X.min(axis=0), X.max(axis=0)
    with np.errstate(all="ignore"):
        middle = low / 2 + high / 2
        far = np.flatnonzero((np.abs(middle) > _FAR * (high - low)) & np.isfinite(middle) & (high > low))
    if len(far) == 0:
        return Shift(problem, by)
    moved = X.copy()
    for j in far.tolist():
        by[j] = X[np.argmin(np.abs(X[:, j] - middle[j])), j]
        moved[:, j] -= by[j]  # within a factor of two of each other, so that nothing is rounded (Sterbenz)
    return Shift(Problem(problem.names, problem.classes, moved, problem.own, problem.rows), by)
