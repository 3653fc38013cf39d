"""What explanations by weights and by support rows share: extremes, and classes and verdicts in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.label_text import label_text

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


def label_words(label: Any) -> str:
    """Return a label as it stands in a sentence: words in quotes, numbers as people write them.

    >>> label_words("spam"), label_words(7.0)
    ("'spam'", '7')
    """
    return repr(label) if isinstance(label, str) else label_text(label)


def title_by_side(what: str, classes: list[Any], several: bool) -> str:
    """Return a title that says what numbers above and below zero speak for.

    >>> title_by_side("Weights", ["blame", "praise"], several=False)
    "Weights: above 0 they speak for 'praise', below 0 for 'blame'"
    """
    if len(classes) == 2:
        return f"{what}: above 0 they speak for {label_words(classes[1])}, below 0 for {label_words(classes[0])}"
    return f"{what}: above 0 they speak for the class, below 0 against it" if several else what


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
        opening = f"On the boundary, where the label is undefined (predict answers {label_words(answer)})"
    else:
        opening = f"Predicted {label_words(answer)}"
    return f"{opening}: the {what}{whose} is {total + 0.0:.4g}"
