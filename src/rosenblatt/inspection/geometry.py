"""The linear rule as geometry: unit-length weights, distances to the boundary, its line (CIML 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from rosenblatt.messages import check_integer, label_text

_EXTREME = 450  # with weights beyond 2**450 or below 2**-450 activations may overflow or lose digits


@dataclass(frozen=True)
class LinearRule:
    """The weights a model predicts by: a line of ``w`` and a ``b`` for each class, one in all for two."""

    w: np.ndarray
    b: np.ndarray
    classes: list[Any]
    averaged: bool  # whether the model is a vote, which has no weights of its own, so that these are its average


def linear_rule(model: Any) -> LinearRule:
    """Return the weights that a fitted linear model predicts by; for a vote, its averaged weights.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> rule = linear_rule(Perceptron(shuffle=False).fit([[3], [-3]], ["yes", "no"]))
    >>> rule.w, rule.b, rule.classes
    (array([[3.]]), array([1.]), ['no', 'yes'])
    """
    averaged = False
    try:
        w, b = model.coef_, model.intercept_
    except AttributeError:
        try:
            w, b, averaged = model.average_coef_, model.average_intercept_, True
        except AttributeError:
            if hasattr(model, "fit"):
                check_is_fitted(model)
            raise TypeError(
                "expected a fitted linear model, one that has coef_ and intercept_ after fit, "
                f"got {type(model).__name__}."
            ) from None
    w = np.atleast_2d(w.toarray() if sp.issparse(w) else np.asarray(w, dtype=np.float64))
    b = np.broadcast_to(np.asarray(b, dtype=np.float64).ravel(), len(w))
    classes = np.asarray(getattr(model, "classes_", np.arange(len(w)))).tolist()
    # SVC's lines are pairs of classes; with three of each the count alone would not tell
    if len(classes) > 2 and (len(w) != len(classes) or hasattr(model, "n_support_")):
        raise ValueError(
            f"expected one line of weights for each of the {len(classes)} classes, which "
            f"{type(model).__name__} does not have: use a one-vs-rest model."
        )
    return LinearRule(w, b, classes, averaged)


def unit_weights(model: Any) -> tuple[np.ndarray, float]:
    """Return the weights and bias of a two-class model, scaled so that the weights have length 1.

    The boundary stays where it was, since scale does not matter to it. With this w and b, ``w @ x + b`` is
    the signed distance of x, and the boundary lies -b away from the origin in the direction of w.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[3, 4], [-3, -4]], [1, -1])
    >>> model.coef_, model.intercept_
    (array([[3., 4.]]), array([1.]))
    >>> unit_weights(model)
    (array([0.6, 0.8]), 0.2)
    """
    w, b, _, length = _scaled(model)
    return w / length, b / length


def distance(model: Any, X: Any) -> np.ndarray:
    """Return the signed distance of each row to the boundary of a two-class model: its activation over |w|.

    Positive on the side of the second class, zero on the boundary. Signs are those of ``decision_function``,
    so for this library's models they are exact (but for weights so extreme that activations overflow or
    vanish).

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[3, 4], [-3, -4]], [1, -1])
    >>> distance(model, [[3, 4], [-3, -4], [1, -1]])
    array([ 5.2, -4.8,  0. ])
    """
    w, b, exponent, length = _scaled(model)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        activation = np.ravel(model.decision_function(X))
        if abs(exponent) < _EXTREME and np.isfinite(activation).all():
            return np.ldexp(activation, -exponent) / length
        X = X if sp.issparse(X) else np.asarray(X, dtype=np.float64)
        return np.ravel(safe_sparse_dot(X, w / length, dense_output=True)) + b / length


def boundary(model: Any, x1: ArrayLike | None = None) -> np.ndarray:
    """Return the boundary of a model of two classes and two features: two of its points, or the x2 that belong to x1.

    Without ``x1``, an array of shape (2, 2): a line goes through the two points, which matplotlib draws by
    ``ax.axline(*boundary(model))``, vertical or not. The first is the point of the boundary nearest to the origin, and
    the second lies 1 further along, with the second class to its right.

    Parameters
    ----------
    model : fitted linear model of two classes and two features
    x1 : array-like, optional
        First coordinates of points of the boundary; what is returned are their second ones, in the same shape. A
        ValueError where the boundary is vertical.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[3, 4], [-3, -4]], [1, -1])
    >>> boundary(model, [-3, 1])
    array([ 2., -1.])
    >>> boundary(model).round(2)
    array([[-0.12, -0.16],
           [-0.92,  0.44]])
    """
    w, b, _, length = _scaled(model)
    if len(w) != 2:
        raise ValueError(f"boundary gives a line in the plane, for models of 2 features, got one of {len(w)}.")
    if x1 is None:
        unit = w / length
        nearest = -(b / length) * unit + 0.0
        return np.array([nearest, nearest + [-unit[1], unit[0]]])
    if w[1] == 0:
        at = f"{0.0 - b / w[0]:.6g}"
        raise ValueError(
            f"the boundary is the vertical line x1 = {at}, so no x2 belongs to a given x1: "
            f"draw it with ax.axvline({at}), or by the two points that boundary(model) returns."
        )
    with np.errstate(over="ignore", under="ignore"):
        return -(w[0] * np.asarray(x1, dtype=np.float64) + b) / w[1]


def check_two_classes(model: Any, rule: LinearRule) -> None:
    """Raise a ValueError unless there is one straight boundary between two classes."""
    if rule.averaged:
        raise ValueError(
            "a vote's boundary is not straight, so there is no distance to it: "
            'use hypothesis="average", or AveragedPerceptron.'
        )
    if not hasattr(model, "classes_") or len(rule.classes) != 2:
        count = len(rule.classes)
        found = f"{count} class{'' if count == 1 else 'es'}" if hasattr(model, "classes_") else "no classes"
        raise ValueError(f"there is one boundary only between two classes: got a model of {found}.")


def _scaled(model: Any) -> tuple[np.ndarray, float, int, float]:
    """Return ``(w, b, e, length)``: the model's w and b over 2**e, and the length of that w.

    The power of two brings the largest weight near 1 without rounding it, so that no square overflows or
    vanishes.
    """
    rule = linear_rule(model)
    check_two_classes(model, rule)
    w = rule.w[0]
    largest = float(np.max(np.abs(w), initial=0.0))
    if largest == 0.0:
        raise ValueError("all weights are zero, so there is no boundary: every point gets the same answer.")
    exponent = int(np.frexp(largest)[1])
    with np.errstate(over="ignore", under="ignore"):
        w = np.ldexp(w, -exponent)
        return w, float(np.ldexp(rule.b[0], -exponent)), exponent, float(np.linalg.norm(w))


# What explanations by weights and by support rows share: extremes, and classes and verdicts in words.


_MOST_SCORES = 5  # of other classes in a title


def extremes(w: np.ndarray, top: int) -> np.ndarray:
    """Return the places of the ``top`` largest and the ``top`` smallest weights, from largest to smallest.

    >>> extremes(np.array([0.0, 3.0, -1.0, 2.0]), 1)
    array([1, 2])
    """
    order = np.argsort(-w, kind="stable")
    return order if len(w) <= 2 * top else np.concatenate([order[:top], order[-top:]])


def largest_parts(parts: np.ndarray, top: int | None, what: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the places of the ``top`` largest parts of a sum by size, those of the others, and a note on zeros.

    >>> largest_parts(np.array([1.0, 0.0, -3.0]), 1, "features")
    (array([2]), array([0]), ['1 of 3 features contributes nothing and is left out.'])
    """
    if top is not None:
        check_integer("top", top, 1)
    order = np.argsort(-np.abs(parts), kind="stable")
    order = order[parts[order] != 0]
    top = len(order) if top is None else top
    zero = len(parts) - len(order)
    verb = "contributes nothing and is" if zero == 1 else "contribute nothing and are"
    return order[:top], order[top:], [f"{zero:,} of {len(parts):,} {what} {verb} left out."] * (zero > 0)


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


class Verdict(NamedTuple):
    """One prediction in words, its activation, and whether the row lies on the boundary, where it has no label."""

    title: str
    activation: float
    tied: bool


def verdict(learner: Any, row: Any, answer: Any, total: float, *, k: int, several: bool, averaged: str = "") -> Verdict:
    """Return the class predicted and the activation, or that the row is on the boundary.

    ``total`` is the sum of what is explained, ``k`` the place of the score that it explains, of one for each class if
    ``several``; ``averaged`` says what was averaged for a vote, whose score is another.
    """
    if not hasattr(learner, "classes_"):
        return Verdict(f"Predicted {total:.4g}", total, False)
    others = ""
    if not averaged and hasattr(learner, "decision_function"):
        # its sign is exact, where a sum of rounded products may fall on the wrong side of zero
        scores = np.ravel(learner.decision_function(row))
        total = float(scores[k])
        others = _other_scores(list(learner.classes_), scores, k) if several else ""
    tied = bool(learner.on_boundary(row)[0]) if hasattr(learner, "on_boundary") else total == 0
    what = "score of this class" if several else "activation"
    whose = f" of the averaged {averaged}" if averaged else ""
    if tied:
        opening = f"On the boundary, where the label is undefined (predict answers {label_words(answer)})"
    else:
        opening = f"Predicted {label_words(answer)}"
    return Verdict(f"{opening}: the {what}{whose} is {total + 0.0:.4g}{others}", total, tied)


def _other_scores(classes: list[Any], scores: np.ndarray, k: int) -> str:
    """Return the scores of the classes but that of number ``k``, the largest first, as the end of a sentence.

    >>> _other_scores(["a", "b", "c"], np.array([-3.0, -1.0, -2.0]), 1)
    ', the largest; c has -2, a has -3'
    """
    order = [place for place in np.argsort(-scores, kind="stable").tolist() if place != k]
    words = [f"{label_text(classes[place])} has {scores[place] + 0.0:.4g}" for place in order[:_MOST_SCORES]]
    more = len(order) - len(words)
    return f", the largest; {', '.join(words)}" + (f" and {more:,} more are smaller" if more else "")
