"""Is it linearly separable? A yes comes with a separator, a no with a proof, and both check themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

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


def separability(
    X: MatrixLike,
    y: ArrayLike,
    method: str = "hull",
    rtol: float = 1e-6,
    max_iter: int = 20_000,
    verbose: int = 0,
    margin: bool = True,
    max_seconds: float | None = None,
) -> Separable | Inseparable | UndecidedSeparability | Verdicts:
    """Decide whether a hyperplane has the two classes strictly on different sides, and prove it.

    The answer is about the numbers as stored, exactly. It is a `Separable` with a hyperplane and a bracket around the
    largest margin; an `Inseparable` with points whose weighted class means are equal; or, where exact arithmetic or
    ``max_seconds`` end before that, an `Undecided`. Each prints in words, has ``check(X, y)``, which recomputes
    all of it from the data, and ``save`` and ``load`` for JSON. More than two classes: each is asked about against the
    rest, and the answers come as a dictionary by class.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Finite numbers; those that float64 would round are refused. There may be no columns.
    y : array of shape (n,)
        Labels. Of two in sorted order, the second counts as +1.
    method : {"hull", "lp"}
        ``"hull"`` looks for the nearest points of the two convex hulls (Wolfe 1976), and so finds the largest margin
        too. ``"lp"`` solves the linear program that has the largest slack (Har-Peled 30.1, with SciPy's HiGHS), for
        comparison: its hyperplane separates, but not by the largest margin. Both are proved in the same way.
    rtol : float
        The hull method stops when the bracket is closed to this share.
    max_iter : int
        The most steps of the hull method.
    verbose : int
        If not 0, a long search says on standard error how far it is.
    margin : bool
        Whether to go on to the largest margin once a hyperplane is found, which can take far longer than finding one.
        If False, the bracket around the margin is as loose as that hyperplane and the two points closest to it prove.
    max_seconds : float, optional
        Stop after about so many seconds with what is proved by then: a wider bracket, or an `Undecided`.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> print(separability(X, [0, 1, 1, 1]))
    Separable: a hyperplane has each of the 4 points strictly on its side.
    The largest margin (distance of the nearest point, bias free) is 0.353553, proved to a relative ...
    >>> xor = separability(X, [0, 1, 1, 0])
    >>> print(xor)
    Not separable: no hyperplane parts the two classes of the 4 points.
    4 of them prove it: among rows 0, 1, 2, 3, a weighted mean of one class is a weighted mean of the other
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
) -> Iterator[Separable | Inseparable | UndecidedSeparability | Verdicts]:
    """Yield the verdict as soon as it is known, then the verdict with the largest margin, as `separability` has it.

    With ``at_once`` the first verdict has the largest margin already.
    """
    check_choice("method", method, ("hull", "lp"))
    check_search(rtol, max_iter)
    X, y = check_rows(X, y)
    classes = np.unique(y)
    names = classes.tolist() if len(classes) > 2 else [positive_label(classes)]
    found: list[Any] = [None] * len(names)
    for share in (rtol,) if at_once else (None, rtol):
        for k, name in enumerate(names):
            found[k] = _decide(X, signs_of(y, name), name, method, share, max_iter, limits, found[k])
        limits.progress.close()
        yield found[0] if len(classes) <= 2 else Verdicts(dict(zip(names, found, strict=True)))


def _decide(
    X: Matrix,
    signs: Signs,
    positive: object,
    method: str,
    rtol: float | None,
    max_iter: int,
    limits: Limits,
    before: Separable | Inseparable | UndecidedSeparability | None,
) -> Separable | Inseparable | UndecidedSeparability:
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


# Margins: of a given hyperplane, and of a data set, for each of the three definitions.


def margin(X: MatrixLike, y: ArrayLike, w: ArrayLike, b: float = 0.0) -> float:
    """Return the distance of the nearest row to the hyperplane ``w . x + b = 0``, if it has all on their sides.

    CIML Eq 4.8 with w scaled to length 1: the least ``y (w . x + b) / |w|``, to the last digit. Minus infinity where
    (w, b) does not separate; a row on the hyperplane is on no side.

    Parameters
    ----------
    X, y : rows and labels of two classes
        The second label in sorted order counts as +1.
    w : array of shape (d,)
        Weights of any length but zero. They and b are taken exactly, also integers of any size, as a verdict may have,
        Fractions and Decimals.
    b : float
        The bias, in the scale of w.

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
        raise ValueError("the weights and the bias must be finite numbers: got NaN or infinity.")
    values = proportional(values.tolist())  # the margin is that of the proportions
    weights, offset = values[:-1], values.tolist()[-1]
    least = least_score(X, signs, weights, offset)
    return margin_from(least, weights, offset, "geometric", nearest=True) if least > 0 else -math.inf


def dataset_margin(
    X: MatrixLike, y: ArrayLike, kind: str = "geometric", rtol: float = 1e-6, max_iter: int = 20_000, verbose: int = 0
) -> MarginBracket:
    """Return the largest margin of any hyperplane, between two proved bounds.

    There are three definitions, and each perceptron's bound belongs to one of them:

    - ``"geometric"``: the largest distance of the nearest point to a hyperplane, b free (CIML Eq 4.9 with ``|w| = 1``).
      It is half the distance of the two classes' convex hulls.
    - ``"augmented"``: the largest ``y (w . x + b)`` with ``|(w, b)| = 1``. The perceptron with a bias makes at most
      (R^2 + 1) / margin^2 mistakes for this one.
    - ``"homogeneous"``: the largest ``y w . x`` with ``|w| = 1``, no bias. The perceptron without a bias makes at most
      R^2 / margin^2 mistakes for this one (Har-Peled 30.1).

    Minus infinity where nothing separates; plus infinity for one class and a free bias. The search (Wolfe 1976) stops
    when the bracket is closed to ``rtol``, or when rounding lets it close no further, or after ``max_iter`` steps, and
    returns the bracket that it has reached, with a lower end of minus infinity where no separator was found by
    then. Rounding leaves open some 1e-15 of the longest row, so margins of 1e-9 of that row and more close to 1e-6.

    Parameters
    ----------
    X, y, rtol, max_iter, verbose
        As for `separability`; the labels are of at most two classes.
    kind : {"geometric", "augmented", "homogeneous"}

    Returns
    -------
    MarginBracket
        ``low``, ``high``, the hyperplane (w, b) that attains ``low``, the weights ``alpha`` that prove ``high``, the
        rows ``support`` that carry weight, and all rows ``nearest`` that may attain the margin. Its ``history`` is how
        the search closed it, which `rosenblatt.plots.plot_bracket` draws.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> found = dataset_margin(X, [0, 1, 1, 1])
    >>> print(found)
    The margin (distance of the nearest point, bias free) is 0.353553, proved to a relative ...
    >>> found.support, found.check(X, [0, 1, 1, 1])
    (array([0, 1, 2]), True)
    >>> print(dataset_margin(X, [0, 1, 1, 0]))
    No margin (distance of the nearest point, bias free): nothing separates the 4 points, and 4 of them prove it.
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
