"""Decide linear separability and compute margins, with proofs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.messages import check_boolean, check_choice, check_seconds
from rosenblatt.progress import Limits
from rosenblatt.theory.certificates import KINDS, margin_from, margin_upper_bound, nearest_rows
from rosenblatt.theory.exact import are_finite, proportional
from rosenblatt.theory.inputs import (
    Matrix,
    MatrixLike,
    Signs,
    check_rows,
    exact_numbers,
    longest_row,
    positive_label,
    scatter,
    signs_of,
    two_classes,
)
from rosenblatt.theory.scores import least_score
from rosenblatt.theory.search.hyperplane import check_search, find_hyperplane
from rosenblatt.theory.search.presolve import Unsolvable
from rosenblatt.theory.verdicts import Inseparable, MarginBracket, Separable, UndecidedSeparability, Verdicts

Verdict: TypeAlias = Separable | Inseparable | UndecidedSeparability


def separability(
    X: MatrixLike,
    y: ArrayLike,
    method: str = "hull",
    rtol: float = 1e-6,
    max_iter: int = 20_000,
    verbose: int = 0,
    margin: bool = True,
    max_seconds: float | None = None,
) -> Verdict | Verdicts:
    """Decide whether two classes are linearly separable, and prove it.

    The result is exact for the given numbers. It is one of three certificates:

    - `Separable` has a separating hyperplane, and a lower and an upper bound on the largest margin.
    - `Inseparable` has weights of the rows for which the weighted means of both classes are equal.
    - `Undecided` means that ``max_seconds`` or the work limit of exact arithmetic ended the search.

    The method ``check(X, y)`` of a certificate verifies it from the data. A certificate prints as a summary and can be
    saved as JSON. If there are more than two classes, each class is compared with the rest. The result is then a
    dictionary of certificates.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Finite numbers. A number that float64 would round raises a ValueError. X may have no columns.
    y : array of shape (n,)
        Class labels. Of two classes, the second in sorted order is the positive class.
    method : {"hull", "lp"}, default="hull"
        ``"hull"`` finds the two points, one in the convex hull of each class, that are nearest to each other (Wolfe
        1976). They determine the hyperplane of largest margin. ``"lp"`` is meant for comparison. It solves a linear
        program (Har-Peled 30.1, with SciPy's HiGHS), whose hyperplane separates the classes, but not with the largest
        margin. The results of both methods are proved in the same way.
    rtol : float, default=1e-6
        The hull method stops when the bounds on the margin differ by at most this share of the upper bound.
    max_iter : int, default=20_000
        Maximum number of steps of the hull method.
    verbose : int, default=0
        If not 0, the progress of a long search is shown on standard error.
    margin : bool, default=True
        Whether to search for the largest margin after a separating hyperplane is found, which can take far longer. If
        False, the search stops at the first separating hyperplane. The bounds on the margin then come from this
        hyperplane and the two rows closest to it, so they are less tight.
    max_seconds : float, default=None
        Approximate time limit in seconds. When it is reached, the result is a `Separable` with less tight bounds, or an
        `Undecided`. None means no limit.

    Returns
    -------
    Separable, Inseparable or Undecided
        For more than two classes, a `Verdicts`, which is a dictionary with one of these certificates for each class.

    See Also
    --------
    dataset_margin : The largest margin for three definitions of a margin.
    fewest_mistakes : The minimum number of rows whose removal makes the classes separable.
    RescaledPerceptron : A classifier that returns the same verdict.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> print(separability(X, [0, 1, 1, 1]))
    Separable: a hyperplane strictly separates the two classes of the 4 points.
    The largest margin (distance from the hyperplane to the nearest point) is 0.353553, proved to a relative ...
    >>> xor = separability(X, [0, 1, 1, 0])
    >>> print(xor)
    Not separable: no hyperplane separates the two classes of the 4 points.
    4 of them prove it: among rows 0, 1, 2, 3, a weighted mean of one class equals a weighted mean of the other
    (weights: alpha).
    >>> xor.alpha, xor.check(X, [0, 1, 1, 0])
    (array([0.25, 0.25, 0.25, 0.25]), True)
    """
    check_boolean("margin", margin)
    check_seconds("max_seconds", max_seconds)
    return next(verdict_then_margin(X, y, Limits(verbose, max_seconds), method, rtol, max_iter, at_once=margin))


def verdict_then_margin(
    X: MatrixLike,
    y: ArrayLike,
    limits: Limits,
    method: str = "hull",
    rtol: float = 1e-6,
    max_iter: int = 20_000,
    at_once: bool = False,
) -> Iterator[Verdict | Verdicts]:
    """Yield the result of `separability` twice: first as soon as it is proved, then with the largest margin.

    If ``at_once`` is true, only the second result is yielded.
    """
    check_choice("method", method, ("hull", "lp"))
    check_search(rtol, max_iter)
    X, y = check_rows(X, y)
    classes = np.unique(y)
    names = classes.tolist() if len(classes) > 2 else [positive_label(classes)]
    found: list[Verdict | None] = [None] * len(names)
    for share in (rtol,) if at_once else (None, rtol):
        for k, name in enumerate(names):
            found[k] = _decide(X, signs_of(y, name), name, method, share, max_iter, limits, found[k])
        limits.progress.close()
        verdicts = [verdict for verdict in found if verdict is not None]
        yield verdicts[0] if len(classes) <= 2 else Verdicts(dict(zip(names, verdicts, strict=True)))


def _decide(
    X: Matrix,
    signs: Signs,
    positive: object,
    method: str,
    rtol: float | None,
    max_iter: int,
    limits: Limits,
    before: Verdict | None,
) -> Verdict:
    n, d = X.shape
    if abs(signs.sum()) == n:
        return Separable(np.zeros(d), float(signs[0]), math.inf, math.inf, np.zeros(n), longest_row(X), positive)
    if isinstance(before, Inseparable | UndecidedSeparability):
        return before
    known = None if before is None else np.append(before.w, before.b)
    found = find_hyperplane(X, signs, "geometric", rtol, max_iter, limits, method == "lp", known)
    if isinstance(found, Unsolvable):
        alpha = scatter(found.support, found.alpha, n)
        return Inseparable(alpha, found.support, found.weights, positive, found.basis)
    w, b, least, alpha = found
    low, high = margin_from(least, w, b, "geometric"), margin_upper_bound(X, signs, alpha, "geometric")
    if least > 0:
        nearest = nearest_rows(X, signs, w, b, "geometric", high)
        verdict = Separable(w, b, low, high, alpha, longest_row(X), positive, nearest)
        return verdict.with_history(limits.history)
    return UndecidedSeparability(low, high, w, b, alpha, positive)


# Margins of a hyperplane and of a data set.


def margin(X: MatrixLike, y: ArrayLike, w: ArrayLike, b: float = 0.0) -> float:
    """Return the distance from a separating hyperplane ``w . x + b = 0`` to the nearest row.

    The distance is the minimum of ``y (w . x + b) / |w|`` over all rows (CIML Eq 4.8 with w scaled to norm 1),
    correctly rounded. The result is minus infinity if the hyperplane does not separate the classes. A hyperplane that
    touches a row does not separate them.

    Parameters
    ----------
    X, y : rows and labels of two classes
        The second label in sorted order is the positive class.
    w : array of shape (d,)
        Weights of any nonzero norm. w and b are used without rounding. They may be floats, Fractions, Decimals, or
        integers of any size, such as those in a certificate.
    b : float, default=0.0
        The bias. Multiplying w and b by the same positive factor does not change the margin.

    See Also
    --------
    dataset_margin : The largest margin of any hyperplane.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> margin(X, [0, 1, 1, 1], w=[3, 4], b=-2)
    0.2
    >>> margin(X, [0, 1, 1, 0], w=[3, 4], b=-2)
    -inf
    """
    X, signs, _ = two_classes(X, y)
    weights, bias = exact_numbers(w, "w"), exact_numbers(b, "b")
    if weights.ndim == 2 and 1 in weights.shape:
        weights = weights.ravel()
    if weights.shape != (X.shape[1],):
        raise ValueError(
            f"expected a weight for each of the {X.shape[1]} features, got an array of shape {weights.shape}."
        )
    if bias.size != 1:
        raise ValueError(f"expected a number b, got an array of shape {bias.shape}.")
    values = np.append(weights, bias.ravel())
    if not are_finite(values.tolist()):
        raise ValueError("the weights and the bias must be finite numbers, got NaN or infinity.")
    values = proportional(values.tolist())  # a common factor of w and b does not change the margin
    weights, offset = values[:-1], values.tolist()[-1]
    least = least_score(X, signs, weights, offset)
    return margin_from(least, weights, offset, "geometric", nearest=True) if least > 0 else -math.inf


def dataset_margin(
    X: MatrixLike, y: ArrayLike, kind: str = "geometric", rtol: float = 1e-6, max_iter: int = 20_000, verbose: int = 0
) -> MarginBracket:
    """Return a proved lower and upper bound on the largest margin of any hyperplane.

    There are three definitions of the margin. The mistake bounds of the perceptron use the last two. R is the largest
    norm of a row.

    - ``"geometric"``: the maximum over all hyperplanes, with any bias b, of the distance to the nearest row (CIML Eq
      4.9 with ``|w| = 1``). It is half the distance between the convex hulls of the two classes.
    - ``"augmented"``: the maximum over ``|(w, b)| = 1`` of the smallest ``y (w . x + b)``. The perceptron with a bias
      makes at most (R^2 + 1) / margin^2 mistakes.
    - ``"homogeneous"``: the maximum over ``|w| = 1`` of the smallest ``y w . x``, without a bias. The perceptron
      without a bias makes at most R^2 / margin^2 mistakes (Har-Peled 30.1).

    The margin is minus infinity if no hyperplane separates the classes. The geometric margin of a single class is plus
    infinity. The search (Wolfe 1976) stops when the relative difference of the bounds is at most ``rtol``, when
    rounding prevents progress, or after ``max_iter`` steps. It returns the bounds found so far. The lower bound is
    minus infinity if no separating hyperplane was found. Rounding leaves a difference of about 1e-15 times the largest
    norm of a row. So even a margin of 1e-9 times that norm has a relative error of at most 1e-6.

    Parameters
    ----------
    X, y, rtol, max_iter, verbose
        As for `separability`, with labels of at most two classes. The defaults are the same.
    kind : {"geometric", "augmented", "homogeneous"}, default="geometric"
        The definition of the margin.

    Returns
    -------
    MarginBracket
        A certificate with the bounds ``low`` and ``high`` on the margin. ``low`` is the margin of the hyperplane (w,
        b), and the row weights ``alpha`` prove ``high``. ``support`` lists the rows of nonzero weight, and ``nearest``
        all rows whose distance from the hyperplane is at most ``high``. ``history`` contains the bounds during the
        search, which `rosenblatt.plots.plot_bracket` plots.

    See Also
    --------
    margin : The margin of a given hyperplane.
    mistake_bound : The upper bound on the mistakes of a perceptron, computed from the margin.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> found = dataset_margin(X, [0, 1, 1, 1])
    >>> print(found)
    The margin (distance from the hyperplane to the nearest point) is 0.353553, proved to a relative ...
    >>> found.support, found.check(X, [0, 1, 1, 1])
    (array([0, 1, 2]), True)
    >>> print(dataset_margin(X, [0, 1, 1, 0]))
    No margin (distance from the hyperplane to the nearest point): no hyperplane separates the 4 points, and 4 of them
    prove it.
    """
    check_choice("kind", kind, KINDS)
    check_search(rtol, max_iter)
    X, signs, positive = two_classes(X, y)
    n, d = X.shape
    if kind == "geometric" and abs(signs.sum()) == n:
        return MarginBracket(math.inf, math.inf, np.zeros(d), float(signs[0]), np.zeros(n), kind, positive)
    limits = Limits(verbose)
    found = find_hyperplane(X, signs, kind, rtol, max_iter, limits)
    limits.progress.close()
    if isinstance(found, Unsolvable):
        alpha = scatter(found.support, found.alpha, n)
        return MarginBracket(-math.inf, -math.inf, np.zeros(d), 0.0, alpha, kind, positive, found.weights, found.basis)
    w, b, least, alpha = found
    high = margin_upper_bound(X, signs, alpha, kind)
    if least <= 0:
        return MarginBracket(-math.inf, high, w, b, alpha, kind, positive)
    nearest = nearest_rows(X, signs, w, b, kind, high)
    found_bracket = MarginBracket(margin_from(least, w, b, kind), high, w, b, alpha, kind, positive, nearest=nearest)
    return found_bracket.with_history(limits.history)
