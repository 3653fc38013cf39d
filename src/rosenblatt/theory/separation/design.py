"""A data frame or a matrix as columns of numbers with names: words become a column for each level but the first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.parameters import shorten
from rosenblatt.theory.inputs import Floats, check_matrix

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
    twice = (
        next((name for k, name in enumerate(names) if name in names[:k]), None)
        if len(set(names)) < len(names)
        else None
    )
    if twice is not None:
        raise ValueError(f"expected columns of different names, got {shorten(twice)} twice: rename one of them.")
    return Design(tuple(names), np.hstack(parts))


def _read_frame(X: Any) -> tuple[list[str], list[Floats]]:
    """Return the names and the columns of a pandas, polars or pyarrow table."""
    given = list(X.column_names if hasattr(X, "column_names") else X.columns)
    if X.shape[0] == 0:
        raise ValueError("expected at least one row, got a table without rows.")
    names: list[str] = []
    parts: list[Floats] = []
    for j, label in enumerate(given):
        name = label if isinstance(label, str) else f"x{label}" if isinstance(label, int | np.integer) else str(label)
        values, levels = _read_column(X.iloc[:, j] if hasattr(X, "iloc") else _column(X, j), name)
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


def _column(X: Any, j: int) -> Any:
    return X.column(j) if hasattr(X, "column_names") else X.to_series(j)


def _read_column(column: Any, name: str) -> tuple[NDArray[Any], list[Any] | None]:
    """Return the values of a column, and its levels in order where it is one of words."""
    kind = str(column.dtype if hasattr(column, "dtype") else column.type)
    if _has_missing(column):
        raise ValueError(
            f"column {shorten(name)} has missing values: leave out their rows, fill them, "
            "or give them a level of their own."
        )
    if any(word in kind.lower() for word in ("date", "time", "duration")):
        raise ValueError(f"column {shorten(name)} holds dates or times: turn them into numbers or words first.")
    values = _values(column, kind)
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


def _values(column: Any, kind: str) -> NDArray[Any]:
    """Return the values of a column, as Python's objects where NumPy has no such type."""
    if hasattr(column, "to_pylist") or "Int128" in kind:
        given = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
        values = np.empty(len(given), dtype=object)
        values[:] = given
        return values if any(map(_is_nested, given)) else np.asarray(given)
    return np.asarray(column.to_numpy())


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
