"""Geometry of linear models: unit weights, distances to the decision boundary, and points on it (CIML 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from rosenblatt.blocks import Block
from rosenblatt.estimators.prepared import prepare
from rosenblatt.estimators.validation import MatrixLike
from rosenblatt.messages import check_integer, count_of, label_text
from rosenblatt.training.rows import VectorLike

_EXTREME = 450  # with weights above 2**450 or below 2**-450, activations may overflow or lose digits


class Classifier(Protocol):
    """A fitted classifier."""

    def predict(self, X: MatrixLike) -> VectorLike:
        """Return the class of each row."""

    def decision_function(self, X: MatrixLike) -> VectorLike:
        """Return the score of each row; for more than two classes, a score for each class."""


@dataclass(frozen=True)
class LinearRule:
    """The weights and biases that a linear model predicts with.

    ``w`` has a row and ``b`` an entry for each class. For two classes there is a single row and a single entry.
    """

    w: np.ndarray
    b: np.ndarray
    classes: list[object]
    averaged: bool
    """Whether the model predicts by a vote, which has no single weight vector; ``w`` and ``b`` are then averages."""


def linear_rule(model: object) -> LinearRule:
    """Return the weights that a fitted linear model predicts with; for a vote, return its averaged weights.

    Raises a TypeError if the model is not linear, and a ValueError if it does not have one row of weights for each
    class.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> rule = linear_rule(Perceptron(shuffle=False).fit([[3], [-3]], ["yes", "no"]))
    >>> rule.w, rule.b, rule.classes
    (array([[3.]]), array([1.]), ['no', 'yes'])
    """
    averaged = not (hasattr(model, "coef_") and hasattr(model, "intercept_"))
    prefix = "average_" if averaged else ""
    w, b = getattr(model, f"{prefix}coef_", None), getattr(model, f"{prefix}intercept_", None)
    if w is None or b is None:
        if hasattr(model, "fit"):
            check_is_fitted(model)
        raise TypeError(
            f"expected a fitted linear model, with coef_ and intercept_ after fit, got {type(model).__name__}."
        )
    w = np.atleast_2d(w.toarray() if sp.issparse(w) else np.asarray(w, dtype=np.float64))
    b = np.broadcast_to(np.asarray(b, dtype=np.float64).ravel(), len(w))
    classes = np.asarray(getattr(model, "classes_", np.arange(len(w)))).tolist()
    # An SVC has one row for each pair of classes. Three classes have three pairs, so the number of rows is ambiguous.
    if len(classes) > 2 and (len(w) != len(classes) or hasattr(model, "n_support_")):
        raise ValueError(
            f"expected one row of weights for each of the {len(classes)} classes, which "
            f"{type(model).__name__} does not have: use a one-vs-rest model."
        )
    return LinearRule(w, b, classes, averaged)


def unit_weights(model: object) -> tuple[np.ndarray, float]:
    """Return the weights and bias of a two-class model, scaled so that the weights have norm 1.

    Scaling does not move the boundary. With these w and b, ``w @ x + b`` is the signed distance of x from the boundary.
    The signed distance of the boundary from the origin, in the direction of w, is -b.

    Parameters
    ----------
    model : fitted linear model of two classes
        A model with ``coef_`` and ``intercept_``.

    Returns
    -------
    w : array of shape (d,)
        Weights of norm 1.
    b : float
        The bias, scaled by the same factor.

    See Also
    --------
    distance : The signed distance of each row from the boundary.

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


def distance(model: Classifier, X: MatrixLike) -> np.ndarray:
    """Return the signed distance of each row from the boundary of a two-class model: its activation divided by |w|.

    The distance is positive on the side of the second class and zero on the boundary. Each sign equals the sign of
    ``decision_function``, which is exact for this library's models unless activations overflow or underflow.

    Parameters
    ----------
    model : fitted linear model of two classes
        A model with ``coef_``, ``intercept_`` and ``decision_function``.
    X : {array-like, sparse matrix, data frame} of shape (n, d)
        Rows to measure.

    Returns
    -------
    distances : array of shape (n,)
        Signed Euclidean distances.

    See Also
    --------
    unit_weights : The weights scaled to norm 1.
    boundary : Points on the boundary, for two features.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[3, 4], [-3, -4]], [1, -1])
    >>> distance(model, [[3, 4], [-3, -4], [1, -1]])
    array([ 5.2, -4.8,  0. ])
    """
    w, b, exponent, length = _scaled(model)
    X = prepare(model, X)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        activation = np.ravel(model.decision_function(X))
        if abs(exponent) < _EXTREME and np.isfinite(activation).all():
            return np.ldexp(activation, -exponent) / length
        X = X.X if isinstance(X, Block) else X
        X = X if sp.issparse(X) else np.asarray(X, dtype=np.float64)
        return np.ravel(safe_sparse_dot(X, w / length, dense_output=True)) + b / length


def boundary(model: object, x1: ArrayLike | None = None) -> np.ndarray:
    """Return points on the decision boundary of a model with two classes and two features.

    ``ax.axline(*boundary(model))`` draws the boundary with matplotlib, even if it is vertical.

    Parameters
    ----------
    model : fitted linear model of two classes and two features
        A model with ``coef_`` and ``intercept_``.
    x1 : array-like, default=None
        First coordinates of points on the boundary. A ValueError is raised if the boundary is vertical. None returns
        two points.

    Returns
    -------
    points : array
        Without ``x1``, two points on the boundary, of shape (2, 2): the point nearest to the origin, and a point at
        distance 1 from it. The second class lies to the right of the direction from the first point to the second.
        With ``x1``, the second coordinate for each first coordinate, in the shape of ``x1``.

    See Also
    --------
    distance : The signed distance of each row from the boundary.

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
        raise ValueError(f"boundary returns a line in the plane, so it needs a model with 2 features, got {len(w)}.")
    if x1 is None:
        unit = w / length
        nearest = -(b / length) * unit + 0.0
        return np.array([nearest, nearest + [-unit[1], unit[0]]])
    if w[1] == 0:
        at = f"{0.0 - b / w[0]:.6g}"
        raise ValueError(
            f"the boundary is the vertical line x1 = {at}, so x1 does not determine x2: "
            f"draw it with ax.axvline({at}), or through the two points that boundary(model) returns."
        )
    with np.errstate(over="ignore", under="ignore"):
        return -(w[0] * np.asarray(x1, dtype=np.float64) + b) / w[1]


def check_two_classes(model: object, rule: LinearRule) -> None:
    """Raise a ValueError unless the model has two classes, separated by a single hyperplane."""
    if rule.averaged:
        raise ValueError(
            "the boundary of a vote is not a hyperplane, so distances to it are not defined: "
            'use hypothesis="average", or AveragedPerceptron.'
        )
    labelled = hasattr(model, "classes_")
    if not labelled or len(rule.classes) != 2:
        found = count_of(len(rule.classes), "class") if labelled else "no classes"
        raise ValueError(f"a single boundary needs exactly two classes, got a model with {found}.")


def _scaled(model: object) -> tuple[np.ndarray, float, int, float]:
    """Return ``(w, b, e, length)``: the model's w and b divided by 2**e, the exponent e, and the norm of the scaled w.

    Division by the power of two is exact and brings the largest weight near 1, so that squares neither overflow nor
    underflow.
    """
    rule = linear_rule(model)
    check_two_classes(model, rule)
    w = rule.w[0]
    largest = float(np.max(np.abs(w), initial=0.0))
    if largest == 0.0:
        raise ValueError("all weights are zero, so there is no boundary: the model predicts one class everywhere.")
    exponent = int(np.frexp(largest)[1])
    with np.errstate(over="ignore", under="ignore"):
        w = np.ldexp(w, -exponent)
        return w, float(np.ldexp(rule.b[0], -exponent)), exponent, float(np.linalg.norm(w))


# Helpers for explanations of linear and kernel models: selection of the largest terms, and predictions as text.


_MOST_SCORES = 5  # maximum number of other classes for which a title lists the score


def extremes(w: np.ndarray, top: int) -> np.ndarray:
    """Return the indices of the ``top`` largest and the ``top`` smallest weights, ordered from largest to smallest.

    >>> extremes(np.array([0.0, 3.0, -1.0, 2.0]), 1)
    array([1, 2])
    """
    order = np.argsort(-w, kind="stable")
    return order if len(w) <= 2 * top else np.concatenate([order[:top], order[-top:]])


def largest_parts(parts: np.ndarray, top: int | None, what: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Find the ``top`` terms of a sum with the largest absolute values, or all terms for None.

    Returns the indices of these terms, the indices of the remaining non-zero terms, and a list with a note if some
    terms are zero.

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


def label_words(label: object) -> str:
    """Return a label as text for a sentence: strings in quotes, integers without a decimal point.

    >>> label_words("spam"), label_words(7.0)
    ("'spam'", '7')
    """
    return repr(label) if isinstance(label, str) else label_text(label)


def title_by_side(what: str, classes: Sequence[object], several: bool) -> str:
    """Return a table title that explains the meaning of positive and negative numbers.

    >>> title_by_side("Weights", ["blame", "praise"], several=False)
    "Weights: positive for 'praise', negative for 'blame'"
    """
    if len(classes) == 2:
        return f"{what}: positive for {label_words(classes[1])}, negative for {label_words(classes[0])}"
    return f"{what}: positive for the class, negative against it" if several else what


class Verdict(NamedTuple):
    """A prediction as text, its activation, and whether the row lies on the boundary, where the label is undefined."""

    title: str
    activation: float
    tied: bool


def verdict(
    learner: object,
    row: MatrixLike,
    prediction: object,
    total: float,
    *,
    k: int,
    several: bool,
    averaged: str = "",
) -> Verdict:
    """Return the prediction for one row as text.

    ``total`` is the sum of the contributions to score ``k``. ``several`` is True if there is a score for each class,
    that is, for more than two classes. For a vote, ``averaged`` names the averaged numbers that ``total`` was computed
    from, since the score of a vote differs from ``total``.
    """
    if not hasattr(learner, "classes_"):
        return Verdict(f"Predicted {total:.4g}", total, False)
    others = ""
    if not averaged and hasattr(learner, "decision_function"):
        # The sign of decision_function is exact, whereas a sum of rounded products may have the wrong sign.
        scores = np.ravel(learner.decision_function(row))
        total = float(scores[k])
        others = _other_scores(list(learner.classes_), scores, k) if several else ""
    tied = bool(learner.on_boundary(row)[0]) if hasattr(learner, "on_boundary") else total == 0
    what = "score of this class" if several else "activation"
    whose = f" of the averaged {averaged}" if averaged else ""
    if tied:
        opening = f"On the boundary, where the label is undefined (predict returns {label_words(prediction)})"
    else:
        opening = f"Predicted {label_words(prediction)}"
    return Verdict(f"{opening}: the {what}{whose} is {total + 0.0:.4g}{others}", total, tied)


def _other_scores(classes: Sequence[object], scores: np.ndarray, k: int) -> str:
    """Return the end of a sentence that compares score ``k`` with the scores of the other classes, largest first.

    >>> _other_scores(["a", "b", "c"], np.array([-3.0, -1.0, -2.0]), 1)
    ', the largest; c has -2, a has -3'
    """
    order = [place for place in np.argsort(-scores, kind="stable").tolist() if place != k]
    words = [f"{label_text(classes[place])} has {scores[place] + 0.0:.4g}" for place in order[:_MOST_SCORES]]
    more = len(order) - len(words)
    return f", the largest; {', '.join(words)}" + (f" and {more:,} more are smaller" if more else "")
