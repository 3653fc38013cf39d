"""From what users bring to what kernels take: rows, class numbers, step sizes, the order of visits."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data


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
