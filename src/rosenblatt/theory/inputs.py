"""From what users bring to what the theory speaks of: a matrix of finite float64 and a sign for each row."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

__all__ = [
    "Matrix",
    "Signs",
    "check_labels",
    "check_matrix",
    "check_search",
    "positive_label",
    "signs_of",
    "two_classes",
]

Matrix = Any  # a C-ordered array or a CSR array of float64
Signs = NDArray[np.float64]  # +1 or -1 for each row


def check_matrix(X: Any, name: str = "X") -> Matrix:
    """Return ``X`` as a C-ordered or CSR matrix of finite float64, of any width, with at least one row."""
    if sp.issparse(X):
        X = sp.csr_array(X)
    with np.errstate(over="ignore", invalid="ignore"):  # it adds all numbers up
        X = check_array(
            X, accept_sparse="csr", dtype=np.float64, order="C", ensure_min_features=0, input_name=name, copy=False
        )
    if sp.issparse(X):
        X = sp.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        if not np.isfinite(X.data).all():
            raise ValueError(f"{name} holds equal places whose sum is not finite: give finite numbers.")
    return X


def check_labels(y: Any, n: int) -> NDArray[Any]:
    """Return ``y`` as an array of ``n`` labels of any type that can be compared."""
    y = np.asarray(y)
    if y.ndim == 2 and 1 in y.shape:
        y = y.ravel()
    if y.shape != (n,):
        raise ValueError(f"expected one label for each of the {n} rows, got an array of shape {y.shape}.")
    if y.dtype.kind in "mM":
        raise ValueError("labels must not be dates: turn them into words or numbers.")
    if y.dtype.kind == "O" and any(label is None or label != label for label in y.tolist()):
        raise ValueError("labels must not be None or NaN: leave out the rows that have no label.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("labels must not be NaN or infinite: leave out the rows that have no label.")
    return y


def check_search(rtol: Any, max_iter: Any) -> None:
    """Say in one sentence what is wrong with the limits of a search, if anything."""
    if isinstance(rtol, bool) or not isinstance(rtol, Real) or not 0 < float(rtol) < 1:
        raise ValueError(f"rtol must be a number between 0 and 1, got {rtol!r}.")
    if isinstance(max_iter, bool) or not isinstance(max_iter, Integral) or max_iter < 1:
        raise ValueError(f"max_iter must be a whole number of at least 1, got {max_iter!r}.")


def positive_label(classes: NDArray[Any]) -> Any:
    """Return the label that counts as +1 of the one or two sorted ``classes``: the last.

    A single class counts as +1 too, unless it is a number that is not positive, such as -1 or 0: then there is none.
    """
    if len(classes) == 1 and classes.dtype.kind in "biuf" and not classes[0] > 0:
        return None
    return classes[-1].item() if isinstance(classes[-1], np.generic) else classes[-1]


def signs_of(y: NDArray[Any], positive: Any) -> Signs:
    """Return +1 where ``y`` is the ``positive`` label, -1 elsewhere."""
    if positive is None:
        return np.full(len(y), -1.0)
    try:
        same = np.asarray(y == positive, dtype=bool)
    except OverflowError:  # a number too large for the type of y
        return np.full(len(y), -1.0)
    return np.where(same, 1.0, -1.0)


def two_classes(X: Any, y: Any) -> tuple[Matrix, Signs, Any]:
    """Return the matrix, a sign for each row, and the label that counts as +1 (of two sorted labels, the second)."""
    X = check_matrix(X)
    y = check_labels(y, X.shape[0])
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            f"expected two classes, got {len(classes)}: "
            f"ask about one class against the rest, as in y == {classes.tolist()[0]!r}."
        )
    positive = positive_label(classes)
    return X, signs_of(y, positive), positive
