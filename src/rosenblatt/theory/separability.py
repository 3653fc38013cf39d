"""Is it linearly separable? A yes comes with a separator, a no with a proof, and both check themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.parameters import check_boolean, check_choice, check_seconds
from rosenblatt.theory.claims import margin_from, most_margin, nearest_rows
from rosenblatt.theory.inputs import (
    Matrix,
    MatrixLike,
    Signs,
    check_rows,
    longest_row,
    positive_label,
    signs_of,
    spread,
)
from rosenblatt.theory.search.alternatives import Unsolvable
from rosenblatt.theory.search.limits import Limits
from rosenblatt.theory.search.separators import check_search, find_hyperplane
from rosenblatt.theory.verdicts import Inseparable, Separable, Undecided, Verdicts


def separability(
    X: MatrixLike,
    y: ArrayLike,
    method: str = "hull",
    rtol: float = 1e-6,
    max_iter: int = 20_000,
    verbose: int = 0,
    margin: bool = True,
    max_seconds: float | None = None,
) -> Separable | Inseparable | Undecided | Verdicts:
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
) -> Iterator[Separable | Inseparable | Undecided | Verdicts]:
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
    before: Separable | Inseparable | Undecided | None,
) -> Separable | Inseparable | Undecided:
    n, d = X.shape
    if abs(signs.sum()) == n:
        return Separable(np.zeros(d), float(signs[0]), math.inf, math.inf, np.zeros(n), longest_row(X), positive)
    if isinstance(before, Inseparable | Undecided):
        return before
    known = None if before is None else np.append(before.w, before.b)
    found = find_hyperplane(X, signs, "geometric", rtol, max_iter, limits, method == "lp", known)
    if isinstance(found, Unsolvable):
        alpha = spread(found.support, found.alpha, n)
        return Inseparable(alpha, found.support, found.weights, positive, found.basis)
    w, b, least, alpha = found
    low, high = margin_from(least, w, b, "geometric"), most_margin(X, signs, alpha, "geometric")
    if least > 0:
        nearest = nearest_rows(X, signs, w, b, "geometric", high)
        verdict = Separable(w, b, low, high, alpha, longest_row(X), positive, nearest)
        return verdict.with_history(limits.history)
    return Undecided(low, high, w, b, alpha, positive)
