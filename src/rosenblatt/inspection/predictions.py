"""What explanations by weights and by support rows share: extremes, and classes and verdicts in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.label_text import label_text

_MOST_SCORES = 5  # of other classes in a title


def extremes(w: np.ndarray, top: int) -> np.ndarray:
    """Return the places of the ``top`` largest and the ``top`` smallest weights, from largest to smallest.

    >>> extremes(np.array([0.0, 3.0, -1.0, 2.0]), 1)
    array([1, 2])
    """
    order = np.argsort(-w, kind="stable")
    return order if len(w) <= 2 * top else np.concatenate([order[:top], order[-top:]])


def by_size(parts: np.ndarray) -> np.ndarray:
    """Return the places of the parts of a sum, the largest by size first, without those that are zero.

    >>> by_size(np.array([1.0, 0.0, -3.0]))
    array([2, 0])
    """
    order = np.argsort(-np.abs(parts), kind="stable")
    return order[parts[order] != 0]


def left_out(zero: int, n: int, what: str) -> str:
    """Return the note about parts that are zero.

    >>> left_out(1, 3, "features")
    '1 of 3 features contributes nothing and is left out.'
    """
    verb = "contributes nothing and is" if zero == 1 else "contribute nothing and are"
    return f"{zero:,} of {n:,} {what} {verb} left out."


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


def is_tied(learner: Any, row: Any, total: float) -> bool:
    """Return whether a row lies on the boundary of a classifier, whose activation there is ``total``."""
    if hasattr(learner, "on_boundary"):
        return bool(learner.on_boundary(row)[0])
    return hasattr(learner, "classes_") and total == 0


def verdict(learner: Any, row: Any, answer: Any, total: float, *, k: int, several: bool, averaged: str = "") -> str:
    """Return the title of contributions: the class predicted and the activation, or that the row is on the boundary.

    ``k`` is the place of the score that is explained, of one for each class if ``several``; ``averaged`` says what
    was averaged for a vote, whose score is another.
    """
    if not hasattr(learner, "classes_"):
        return f"Predicted {total:.4g}"
    others = ""
    if not averaged and hasattr(learner, "decision_function"):
        # its sign is exact, where a sum of rounded products may fall on the wrong side of zero
        scores = np.ravel(learner.decision_function(row))
        total = float(scores[k])
        others = _other_scores(list(learner.classes_), scores, k) if several else ""
    tied = is_tied(learner, row, total)
    what = "score of this class" if several else "activation"
    whose = f" of the averaged {averaged}" if averaged else ""
    if tied:
        opening = f"On the boundary, where the label is undefined (predict answers {label_words(answer)})"
    else:
        opening = f"Predicted {label_words(answer)}"
    return f"{opening}: the {what}{whose} is {total + 0.0:.4g}{others}"


def _other_scores(classes: list[Any], scores: np.ndarray, k: int) -> str:
    """Return the scores of the classes but that of number ``k``, the largest first, as the end of a sentence.

    >>> _other_scores(["a", "b", "c"], np.array([-3.0, -1.0, -2.0]), 1)
    ', the largest; c has -2, a has -3'
    """
    order = [place for place in np.argsort(-scores, kind="stable").tolist() if place != k]
    words = [f"{label_text(classes[place])} has {scores[place] + 0.0:.4g}" for place in order[:_MOST_SCORES]]
    more = len(order) - len(words)
    return f", the largest; {', '.join(words)}" + (f" and {more:,} more are smaller" if more else "")
