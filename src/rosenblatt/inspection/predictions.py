"""What explanations by weights and by support rows share: the learner in a pipeline, one row, extremes, the verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.parameters import shorten

FEW_ROWS = 20
"""A table of contributions up to this long shows those that are zero, too."""


def extremes(w: np.ndarray, top: int) -> np.ndarray:
    """Return the places of the ``top`` largest and the ``top`` smallest weights, from largest to smallest.

    >>> extremes(np.array([0.0, 3.0, -1.0, 2.0]), 1)
    array([1, 2])
    """
    order = np.argsort(-w, kind="stable")
    return order if len(w) <= 2 * top else np.concatenate([order[:top], order[-top:]])


def by_size(parts: np.ndarray, drop_zeros: bool) -> np.ndarray:
    """Return the places of the parts of a sum, the largest by size first, without those that are zero if asked for.

    >>> by_size(np.array([1.0, 0.0, -3.0]), drop_zeros=True)
    array([2, 0])
    """
    order = np.argsort(-np.abs(parts), kind="stable")
    return order[parts[order] != 0] if drop_zeros else order


def title_by_side(what: str, classes: list[Any], several: bool) -> str:
    """Return a title that says what numbers above and below zero speak for.

    >>> title_by_side("Weights", ["blame", "praise"], several=False)
    "Weights: above 0 they speak for 'praise', below 0 for 'blame'"
    """
    if len(classes) == 2:
        return f"{what}: above 0 they speak for {classes[1]!r}, below 0 for {classes[0]!r}"
    return f"{what}: above 0 they speak for the class, below 0 against it" if several else what


def split_pipeline(model: Any) -> tuple[Any, Any]:
    """Return the steps before the learner, None where there are none, and the learner."""
    model = getattr(model, "best_estimator_", model)  # a search over parameters
    if not (hasattr(model, "steps") and hasattr(model, "named_steps")):  # a pipeline, without importing it
        return None, model
    return (model[:-1] if len(model) > 1 else None), model[-1]


def verdict(learner: Any, row: Any, answer: Any, total: float, *, k: int, several: bool, averaged: str = "") -> str:
    """Return the title of contributions: the class predicted and the activation, or that the row is on the boundary.

    ``k`` is the place of the score that is explained, of one for each class if ``several``; ``averaged`` says what
    was averaged for a vote, whose score is another.
    """
    if not hasattr(learner, "classes_"):
        return f"Predicted {total:.4g}"
    if not averaged and hasattr(learner, "decision_function"):
        # its sign is exact, where a sum of rounded products may fall on the wrong side of zero
        total = float(np.ravel(learner.decision_function(row))[k])
    tied = bool(learner.on_boundary(row)[0]) if hasattr(learner, "on_boundary") else total == 0
    what = "score of this class" if several else "activation"
    whose = f" of the averaged {averaged}" if averaged else ""
    if tied:
        opening = f"On the boundary, where the label is undefined (predict answers {answer!r})"
    else:
        opening = f"Predicted {answer!r}"
    return f"{opening}: the {what}{whose} is {total + 0.0:.4g}"


def one_row(x: Any, steps: Any) -> Any:
    """Return ``x`` as a matrix or frame of one row, sent through the steps of a pipeline."""
    if isinstance(x, str) or (isinstance(x, list | tuple) and len(x) == 1 and isinstance(x[0], str)):
        row = np.array([x] if isinstance(x, str) else x, dtype=object)  # a text, for a pipeline that starts with words
    elif hasattr(x, "iloc") and x.ndim == 1:  # a row of a pandas frame keeps its names
        row = x.to_frame().T
    elif sp.issparse(x):
        row = x.reshape(1, -1).tocsr() if x.ndim == 1 else x
    elif hasattr(x, "columns"):
        row = x
    else:
        row = np.asarray(x)
        row = row.reshape(1, -1) if row.ndim == 1 else row
    if len(row.shape) == 0:
        raise ValueError(f"expected one row of numbers, got {shorten(x)}: give a list or an array.")
    if row.shape[0] != 1:
        raise ValueError(f"expected one row, got {row.shape[0]}: pick one, for instance X[0] or X.iloc[[0]].")
    return row if steps is None else steps.transform(row)
