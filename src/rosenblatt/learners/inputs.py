"""From what users bring to what kernels take: rows, class numbers, step sizes, the order of visits."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

CACHE_BYTES = 64 * 1024
"""Rows that one-vs-rest machines visit in turn while they stay in the cache."""
SLICE_BYTES = 64 * 1024 * 1024
"""Rows visited in one call of a kernel: short enough to hear Ctrl-C and to move the progress bar."""


@dataclass(frozen=True)
class Rows:
    """A matrix as kernels take it; ``matrix`` is the same numbers as numpy or SciPy hold them."""

    matrix: Any
    parts: tuple[Any, ...]
    n: int
    d: int
    terms: int
    """The most entries in a row."""

    @property
    def row_bytes(self) -> int:
        """Bytes of an average row, at least 1."""
        arrays = [part for part in self.parts if isinstance(part, np.ndarray)]
        return max(1, sum(array.nbytes for array in arrays) // max(1, self.n))

    @property
    def ahead(self) -> int:
        """How many rows ahead of a shuffled visit memory should be asked for."""
        if len(self.parts) == 3:
            return 4
        return min(16, max(2, 2048 // self.row_bytes))

    def longest(self, which: np.ndarray) -> float:
        """Return the length of the longest of the rows ``which``, without overflow or underflow on the way."""
        matrix = self.matrix[which].astype(np.float64)
        values = matrix.data if sp.issparse(matrix) else matrix
        largest = float(np.max(np.abs(values), initial=0.0))
        if largest == 0.0:
            return 0.0
        scaled = matrix * (1.0 / 2.0 ** min(math.frexp(largest)[1], 1023))
        squares = scaled.multiply(scaled) if sp.issparse(scaled) else scaled * scaled
        return math.ldexp(math.sqrt(float(np.max(squares.sum(axis=1)))), min(math.frexp(largest)[1], 1023))


def as_rows(X: Any) -> Rows:
    """Return ``X`` (float32 or float64; C-ordered, or CSR) as rows for kernels, without a copy if it can be."""
    n, d = X.shape
    if not sp.issparse(X):
        return Rows(X, (_read_only(X.reshape(-1)), d), n, d, d)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    narrow = X.indices.dtype.itemsize == X.indptr.dtype.itemsize == 4
    signed, unsigned = (np.int32, np.uint32) if narrow else (np.int64, np.uint64)
    indices, indptr = (part.astype(signed, copy=False).view(unsigned) for part in (X.indices, X.indptr))
    sizes = np.diff(X.indptr)  # as unsigned numbers, indices that are negative are far too large
    if (
        indptr[0] != 0
        or indptr[-1] > min(len(indices), len(X.data))
        or np.min(sizes, initial=0) < 0
        or np.max(indices, initial=0) >= max(d, 1)
    ):
        raise ValueError(
            f"X is not a sound CSR matrix of {d} columns: an index or a row pointer lies outside. "
            "Build it again from its coordinates, or find the fault with X.check_format()."
        )
    parts = tuple(_read_only(np.ascontiguousarray(part)) for part in (X.data, indices, indptr))
    return Rows(X, parts, n, d, int(np.max(sizes, initial=0)))


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return a view that cannot be written to, so that kernels are compiled for one type only."""
    view = array.view()
    view.flags.writeable = False
    return view


def checked_matrix(model: Any, X: Any, *, reset: bool) -> Any:
    """Return ``X`` as a C-ordered or CSR matrix of float32 or float64; a copy only where its layout asks for one."""
    return _aligned(validate_data(model, X, reset=reset, **_LAYOUT))


def checked_pair(model: Any, X: Any, y: Any, *, reset: bool, finite: bool = True) -> tuple[Any, np.ndarray]:
    """Return ``X`` as ``checked_matrix`` does, and the labels; unless ``finite``, NaN in ``X`` is looked for later."""
    X, y = validate_data(model, X, y, reset=reset, ensure_all_finite=finite, **_LAYOUT)
    if y.dtype.kind not in "biuUS":  # whole numbers and words are classes; asking would sort them
        check_classification_targets(y)
    return _aligned(X), y


_LAYOUT = {"accept_sparse": "csr", "dtype": (np.float64, np.float32), "order": "C"}


def _aligned(X: Any) -> Any:
    return X if sp.issparse(X) else np.require(np.asarray(X), requirements=["C", "A"])


def feature_spread(X: Any) -> np.ndarray:
    """Return the range of each feature over at most some thousand rows spread over ``X``: its scale, cheaply."""
    sample = X[:: max(1, X.shape[0] // 1000)]
    high, low = sample.max(axis=0), sample.min(axis=0)
    if sp.issparse(X):
        high, low = high.toarray(), low.toarray()
    with np.errstate(over="ignore"):
        return (high.astype(np.float64) - low).ravel()


def class_numbers(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes of ``y`` and the class number of each label."""
    if y.dtype.kind in "biuf" and len(y):
        low, high = y.min(), y.max()
        positive = y == high
        if np.all(positive | (y == low)):  # two numbers: no need to sort
            classes = np.array([low, high] if low != high else [low], dtype=y.dtype)
            return classes, (positive & (low != high)).astype(np.int32)
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, numbers.astype(np.int32)


def step_sizes(
    n: int,
    sample_weight: Any,
    class_weight: Any,
    classes: np.ndarray,
    numbers: np.ndarray,
) -> np.ndarray:
    """Return the step size of each row: sample weight times class weight. Empty where all are 1."""
    steps = np.empty(0)
    if sample_weight is not None:
        steps = np.array(sample_weight, dtype=np.float64)
        if steps.ndim == 0:
            steps = np.full(n, float(steps))
        if steps.shape != (n,):
            raise ValueError(
                f"expected one sample weight for each of the {n} rows, got an array of shape {steps.shape}."
            )
        if not (np.isfinite(steps).all() and (steps >= 0).all()):
            raise ValueError(
                "sample weights must be finite and not negative, since a weight scales a step: "
                f"got {float(steps[~(np.isfinite(steps) & (steps >= 0))][0])}."
            )
    if class_weight is not None:
        weights = _class_weights(class_weight, classes, numbers)
        steps = weights[numbers] if len(steps) == 0 else steps * weights[numbers]
    return np.ascontiguousarray(steps)


def _class_weights(class_weight: Any, classes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    if isinstance(class_weight, str) and class_weight == "balanced":
        return compute_class_weight("balanced", classes=classes, y=classes[numbers])
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f'class_weight must be a dictionary from class to weight, "balanced" or None, got {class_weight!r}.'
        )
    weights = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(f"class weights must be finite and not negative, got {dict(class_weight)!r}.")
    return weights


def leading_run(numbers: np.ndarray) -> int:
    """Return how many rows at the start carry the label of the first."""
    differs = numbers != numbers[0]
    return int(np.argmax(differs)) if differs.any() else len(numbers)


def warn_if_sorted(lead: int, rows: int, stacklevel: int) -> bool:
    """Warn where ``rows`` visited as they come start with a long run of one label (CIML section 4.2)."""
    warn = lead >= max(100, rows // 10)
    if warn:
        warnings.warn(
            f"the first {lead} rows all carry one label and are visited in the given order: after a few of them "
            "the perceptron gives that label to everything, and the others teach it nothing. "
            'Shuffle the rows, or use fit with shuffle=True or shuffle="once".',
            UserWarning,
            stacklevel=stacklevel,
        )
    return warn
