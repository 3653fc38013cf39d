"""Is it linearly separable? A yes comes with a separator, a no with a proof, and both check themselves."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from rosenblatt.parameters import check_choice
from rosenblatt.progress import Progress
from rosenblatt.theory.claims import margin_from, most_margin
from rosenblatt.theory.exact import least_score
from rosenblatt.theory.inputs import (
    Floats,
    Matrix,
    MatrixLike,
    Numbers,
    Signs,
    check_labels,
    check_matrix,
    check_search,
    longest_row,
    positive_label,
    signs_of,
)
from rosenblatt.theory.search.gordan import Solvable, Unsolvable, conflicting_duplicates, decide_exactly
from rosenblatt.theory.search.hulls import Hull
from rosenblatt.theory.search.wolfe import nearest_point
from rosenblatt.theory.verdicts import Inseparable, Separable, Undecided, Verdicts

__all__ = ["separability"]


def separability(
    X: MatrixLike, y: ArrayLike, method: str = "hull", rtol: float = 1e-6, max_iter: int = 20_000, verbose: int = 0
) -> Separable | Inseparable | Undecided | Verdicts:
    """Decide whether a hyperplane has the two classes strictly on different sides, and prove it.

    The answer is about the numbers as stored, exactly. It is a `Separable` with a hyperplane and a bracket around the
    largest margin; an `Inseparable` with at most d + 2 points whose weighted class means are equal; or, where exact
    arithmetic would take too long, an `Undecided`. Each prints in words, has ``check(X, y)``, which recomputes
    all of it from the data, and ``save`` and ``load`` for JSON. More than two classes: each is asked about against the
    rest, and the answers come as a dictionary by class.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Finite numbers; integers that float64 would round are refused. There may be no columns.
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

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> print(separability(X, [0, 1, 1, 1]))
    Separable: a hyperplane has each of the 4 points strictly on its side.
    The largest margin (distance of the nearest point, bias free) is 0.353553, proved to a relative ...
    >>> xor = separability(X, [0, 1, 1, 0])
    >>> print(xor)
    Not separable: no hyperplane parts the two classes of the 4 points.
    4 of them prove it: with the weights alpha, the mean of one class among rows 0, 1, 2, 3 is the mean of the other.
    >>> xor.alpha, xor.check(X, [0, 1, 1, 0])
    (array([0.25, 0.25, 0.25, 0.25]), True)
    """
    check_choice("method", method, ("hull", "lp"))
    check_search(rtol, max_iter)
    X = check_matrix(X)
    y = check_labels(y, X.shape[0])
    classes = np.unique(y)
    if len(classes) > 2:
        names = classes.tolist()
        return Verdicts({name: _decide(X, signs_of(y, name), name, method, rtol, max_iter, verbose) for name in names})
    positive = positive_label(classes)
    return _decide(X, signs_of(y, positive), positive, method, rtol, max_iter, verbose)


def _decide(
    X: Matrix, signs: Signs, positive: object, method: str, rtol: float, max_iter: int, verbose: int
) -> Separable | Inseparable | Undecided:
    n, d = X.shape
    radius = longest_row(X)
    if abs(signs.sum()) == n:
        return Separable(np.zeros(d), float(signs[0]), math.inf, math.inf, np.zeros(n), radius, positive)
    twins = conflicting_duplicates(X, signs)
    if twins:
        return _inseparable(n, twins, positive)
    progress = Progress(verbose)
    w, alpha = _by_hull(X, signs, rtol, max_iter, progress) if method == "hull" else _by_program(X, signs)
    progress.close()
    b = middle(X, signs, w)
    least = least_score(X, signs, w, b)
    if least > 0:
        return _separable(X, signs, w, b, least, alpha, radius, positive)
    answer = decide_exactly(X, signs, True, alpha, progress)
    progress.close()
    if isinstance(answer, Unsolvable):
        return _inseparable(n, answer, positive)
    if isinstance(answer, Solvable):
        w, b = answer.v[:-1], answer.v[-1] if answer.v.dtype == object else float(answer.v[-1])
        return _separable(X, signs, w, b, least_score(X, signs, w, b), alpha, radius, positive)
    low, high = margin_from(least, w, b, "geometric"), most_margin(X, signs, alpha, "geometric")
    return Undecided(low, high, w, b, alpha, positive)


def _by_hull(X: Matrix, signs: Signs, rtol: float, max_iter: int, progress: Progress) -> tuple[Floats, Floats]:
    """Return the direction of largest margin and the weights of the nearest points, as far as floats tell."""
    hull = Hull(X, signs, "geometric")
    found = nearest_point(hull, rtol, max_iter, progress.search)
    return found.u, hull.spread(found.rows, found.weights)


def _by_program(X: Matrix, signs: Signs) -> tuple[Floats, Floats]:
    """Return a direction and weights from the program: the largest t with y (w . x + b) >= t, no weight above 1."""
    from scipy.optimize import linprog  # slow to import, and for comparison only

    n, d = X.shape
    scale = 2.0 ** -math.frexp(max(1e-300, float(abs(X).max())))[1]
    Z = (sp.csr_array(X) * scale).multiply(signs[:, None]) if sp.issparse(X) else X * scale * signs[:, None]
    columns = [-Z, -signs[:, None], np.ones((n, 1))]
    A = sp.hstack(columns, format="csr") if sp.issparse(X) else np.hstack(columns)
    goal = np.append(np.zeros(d + 1), -1.0)
    result = linprog(goal, A_ub=A, b_ub=np.zeros(n), bounds=[(-1, 1)] * (d + 1) + [(None, None)], method="highs")
    if result.x is None:
        raise RuntimeError(f'the linear program was not solved ({result.message}): use method="hull".')
    duals = np.maximum(-result.ineqlin.marginals, 0.0)
    return result.x[:d], duals / duals.sum() if duals.any() else np.full(n, 1.0 / n)


def middle(X: Matrix, signs: Signs, w: Floats) -> float:
    """Return the bias that puts the boundary halfway between the classes."""
    with np.errstate(over="ignore", invalid="ignore"):
        s = X @ w
        b = float(-0.5 * np.min(s[signs > 0]) - 0.5 * np.max(s[signs < 0]))
    return b if math.isfinite(b) else 0.0  # then exact arithmetic decides


def _separable(
    X: Matrix, signs: Signs, w: Numbers, b: float, least: Fraction, alpha: Floats, radius: float, positive: object
) -> Separable:
    low, high = margin_from(least, w, b, "geometric"), most_margin(X, signs, alpha, "geometric")
    return Separable(w, b, low, high, alpha, radius, positive)


def _inseparable(n: int, proof: Unsolvable, positive: object) -> Inseparable:
    return Inseparable(proof.spread(n), proof.support, proof.weights, positive)
