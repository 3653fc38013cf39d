"""Validation of input: a matrix of finite float64 and a sign for each row."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from rosenblatt.parameters import shorten
from rosenblatt.theory.equal_places import unrounded_sums
from rosenblatt.theory.given_numbers import refuse_masked, unrounded

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[Any]  # floats, or Python's integers or Fractions where no floats do
Matrix: TypeAlias = Any  # a C-ordered array or a CSR array of float64
MatrixLike: TypeAlias = ArrayLike | sp.sparray | sp.spmatrix  # as users pass it
Signs: TypeAlias = Floats  # +1 or -1 for each row

SAFE = 2.0**200  # squares of such numbers neither overflow nor vanish


def check_matrix(X: MatrixLike, name: str = "X", least_rows: int = 1) -> Matrix:
    """Return ``X`` as a C-ordered or CSR matrix of finite float64, of any width, with at least ``least_rows`` rows.

    Numbers that float64 would round are refused.
    """
    if _is_ready(X):
        return X
    given = unrounded_matrix(X, name)
    with np.errstate(over="ignore", invalid="ignore"):  # it adds all numbers up
        X = check_array(
            given,
            accept_sparse="csr",
            dtype=np.float64,
            order="C",
            ensure_min_samples=least_rows,
            ensure_min_features=0,
            input_name=name,
            copy=False,
        )
    return sp.csr_array(X) if sp.issparse(X) else X


def unrounded_matrix(X: MatrixLike, name: str = "X") -> Any:
    """Return ``X`` if its conversion to float64 changes no number; else raise a ValueError.

    What is sparse becomes CSR with one number in a place.
    """
    return unrounded_sums(X, name) if sp.issparse(X) else unrounded(X, name)


def _is_ready(X: object) -> bool:
    """Return whether ``X`` is already what ``check_matrix`` returns, as in most calls."""
    if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or len(X) == 0 or not X.flags.c_contiguous:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.sum(X)))


def check_labels(y: ArrayLike, n: int) -> NDArray[Any]:
    """Return ``y`` as an array of ``n`` labels of any type that can be compared: all words, or all numbers."""
    refuse_masked(y, "y")
    given, y = y, np.asarray(y)
    if isinstance(given, list | tuple):
        if y.dtype.kind in "SU":
            _check_label_objects(np.array(given, dtype=object))  # numbers beside words would become words
        elif y.dtype == np.float64 and np.max(np.abs(y), initial=0.0) >= 2.0**53:
            y = np.array(given, dtype=object)  # integers beside floats would be rounded, and two classes become one
    if y.ndim == 2 and 1 in y.shape:
        y = y.ravel()
    if y.shape != (n,):
        raise ValueError(f"expected one label for each of the {n} rows, got an array of shape {y.shape}.")
    if y.dtype.kind in "mM":
        raise ValueError("labels must not be dates: turn them into words or numbers.")
    if y.dtype.kind == "O":
        _check_label_objects(y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("labels must not be NaN or infinite: leave out the rows that have no label.")
    return y


def _check_label_objects(y: NDArray[Any]) -> None:
    """Raise a ValueError where one of the labels is missing, or where they are not all words or all numbers."""
    labels = y.ravel().tolist()
    if any(map(_is_missing, labels)):
        raise ValueError("labels must not be None or NaN: leave out the rows that have no label.")
    words = [isinstance(label, str) for label in labels]
    if any(words) and not all(words):
        word, other = labels[words.index(True)], labels[words.index(False)]
        raise ValueError(
            f"labels must be all words or all numbers, got {shorten(word)} and {shorten(other)}: "
            "turn them into words, with str(...), or into numbers."
        )
    try:
        np.unique(y)
    except (TypeError, ValueError):  # no order, or several numbers in one
        raise ValueError(
            f"labels must be all words or all numbers, got {shorten(labels[0])}: "
            "turn them into words, with str(...), or into numbers."
        ) from None


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA is neither equal nor unequal
        return True
    except ValueError:  # an array
        return False


def check_rows(X: MatrixLike, y: ArrayLike) -> tuple[Matrix, NDArray[Any]]:
    """Return the matrix, and a label for each of its rows."""
    X = check_matrix(X)
    return X, check_labels(y, X.shape[0])


def positive_label(classes: NDArray[Any]) -> Any:
    """Return the label that counts as +1 of the one or two sorted ``classes``: the last.

    A single class counts as +1 too, unless it is a number that is not positive, such as -1 or 0: then there is none.
    """
    if len(classes) == 1 and classes.dtype.kind in "biuf" and not classes[0] > 0:
        return None
    return classes[-1].item() if isinstance(classes[-1], np.generic) else classes[-1]


def signs_of(y: NDArray[Any], positive: object) -> Signs:
    """Return +1 where ``y`` is the ``positive`` label, -1 elsewhere."""
    if positive is None:
        return np.full(len(y), -1.0)
    try:
        same = np.asarray(y == positive, dtype=bool)
    except OverflowError:  # a number too large for the type of y
        return np.full(len(y), -1.0)
    return np.where(same, 1.0, -1.0)


def certified_signs(y: NDArray[Any], positive: object) -> Signs | None:
    """Return the signs of rows for a certificate.

    None where its positive label does not occur, or where it has none and there are several labels.
    """
    signs = signs_of(y, positive)
    if positive is None:
        return signs if bool(np.all(y == y[0])) else None
    return signs if (signs > 0).any() else None


def two_classes(X: MatrixLike, y: ArrayLike) -> tuple[Matrix, Signs, Any]:
    """Return the matrix, a sign for each row, and the label that counts as +1 (of two sorted labels, the second)."""
    X, y = check_rows(X, y)
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            f"expected two classes, got {len(classes)}: "
            f"ask about one class against the rest, as in y == {classes.tolist()[0]!r}."
        )
    positive = positive_label(classes)
    return X, signs_of(y, positive), positive


def entries(X: Matrix) -> Floats:
    """Return the numbers of ``X``, of a sparse matrix those that are stored."""
    return X.data if sp.issparse(X) else X


def dense_rows(X: Matrix, rows: NDArray[np.intp]) -> Floats:
    """Return some rows as a dense matrix."""
    return X[rows].toarray() if sp.issparse(X) else X[rows]


def spread(rows: NDArray[np.intp], weights: ArrayLike, n: int) -> Floats:
    """Return the weights of some rows as one weight for each of n."""
    alpha = np.zeros(n)
    alpha[rows] = weights
    return alpha


def squared_lengths(X: Matrix) -> Floats:
    """Return the squared length of each row, in floats."""
    return np.ravel(X.multiply(X).sum(axis=1)) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)


def largest_entry(X: Matrix) -> float:
    """Return the largest absolute value in ``X``, without a copy of it."""
    values = entries(X)
    return max(float(np.max(values, initial=0.0)), -float(np.min(values, initial=0.0)))


def longest_row(X: Matrix) -> float:
    """Return the length of the longest row, up to rounding; infinite only where it is above the largest float."""
    X, exponent = safe(X)
    try:
        return math.ldexp(math.sqrt(float(np.max(squared_lengths(X), initial=0.0))), exponent)
    except OverflowError:
        return math.inf


def safe(X: Matrix, constant: float = 0.0) -> tuple[Matrix, int]:
    """Return ``X / 2**e`` and e: 0, unless squares of the largest numbers would overflow or vanish."""
    largest = max(largest_entry(X), constant)
    if largest == 0 or 1 / SAFE < largest < SAFE:
        return X, 0
    exponent = math.frexp(largest)[1]
    with np.errstate(under="ignore"):  # in two steps, since 2**-exponent may not be a float
        return X * 2.0 ** -(exponent // 2) * 2.0 ** -(exponent - exponent // 2), exponent
