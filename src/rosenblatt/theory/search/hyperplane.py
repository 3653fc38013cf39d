"""Search for the hyperplane of largest margin, in floating point and, if that does not decide, in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from rosenblatt.messages import check_integer, check_share
from rosenblatt.progress import Limits
from rosenblatt.theory.certificates import margin_from
from rosenblatt.theory.inputs import Floats, Matrix, Numbers, Signs, scatter
from rosenblatt.theory.scores import least_score
from rosenblatt.theory.search.gordan import conflicting_duplicates, decide_exactly
from rosenblatt.theory.search.presolve import Solvable, Unsolvable
from rosenblatt.theory.search.wide import WideSearch
from rosenblatt.theory.search.wolfe import Hull, nearest_point

NARROW = 64  # up to this number of columns the hull method is as fast as `WideSearch`, and its proofs use fewer rows


class Hyperplane(NamedTuple):
    """The best hyperplane (w, b) found, with bounds on the largest margin.

    ``least`` is the lowest score y (w . x + b) of a row. If it is positive, the hyperplane separates the classes.
    Otherwise it is not known whether any hyperplane separates them. ``alpha`` contains weights of the rows that prove
    an upper bound on the margin.
    """

    w: Numbers
    b: float
    least: Fraction
    alpha: Floats


def check_search(rtol: float, max_iter: int) -> None:
    """Raise a ParameterError if ``rtol`` or ``max_iter`` is not valid."""
    check_share("rtol", rtol)
    check_integer("max_iter", max_iter, 1)


def find_hyperplane(
    X: Matrix,
    signs: Signs,
    kind: str,
    rtol: float | None,
    max_iter: int,
    limits: Limits,
    program: bool = False,
    known: Numbers | None = None,
) -> Hyperplane | Unsolvable:
    """Return a hyperplane of nearly the largest margin of this ``kind``, or a proof that the classes are not separable.

    If ``rtol`` is None, the first hyperplane that separates the classes is returned. If ``program`` is true, a linear
    program replaces the hull method. Its hyperplane separates the classes, but with a smaller margin. ``known`` is a
    weight vector that is known to separate the classes, or None. Its last entry is the bias, unless ``kind`` is
    homogeneous.
    """
    bias = kind != "homogeneous"
    limits.low, limits.high, limits.history = -math.inf, math.inf, []
    if known is None and limits.expired():
        return _with_bound(X, signs, np.zeros(X.shape[1]), 0.0)
    answer: Solvable | Unsolvable | None = Solvable(known) if known is not None else conflicting_duplicates(X, signs)
    if answer is None and X.shape[1] > NARROW and not program:
        answer = _decide(X, signs, bias, limits)
    if isinstance(answer, Unsolvable):
        return answer
    if isinstance(answer, Solvable) and (rtol is None or limits.expired()):
        return _with_bound(X, signs, *_parts(answer.v, bias), answer.least)
    if isinstance(answer, Solvable):
        limits.low = _margin(X, signs, answer, kind)
    if program:
        found_by_program = _by_program(X, signs, limits.seconds)
        if found_by_program is None:
            return _with_bound(X, signs, np.zeros(X.shape[1]), 0.0)
        u, alpha = found_by_program
    else:
        found = nearest_point(Hull(X, signs, kind), 1.0 if rtol is None else rtol, max_iter, limits.bracket)
        u, alpha = found.u, scatter(found.rows, found.weights, X.shape[0])
    w, b = (u, _middle(X, signs, u)) if kind == "geometric" else _parts(u, bias)
    least = least_score(X, signs, w, b)
    if least <= 0 and answer is None and not limits.expired():
        narrow = X.shape[1] <= NARROW or program  # otherwise `_decide` was called above
        first = partial(_decide, X, signs, bias, limits) if narrow else lambda: None
        answer = decide_exactly(X, signs, bias, alpha, limits, search_first=first)
    if isinstance(answer, Unsolvable):
        return answer
    if isinstance(answer, Solvable) and (
        least <= 0 or margin_from(least, w, b, kind) < _margin(X, signs, answer, kind)
    ):
        w, b = _parts(answer.v, bias)
        least = least_score(X, signs, w, b)
    return Hyperplane(w, b, least, alpha)


def _margin(X: Matrix, signs: Signs, answer: Solvable, kind: str) -> float:
    w, b = _parts(answer.v, kind != "homogeneous")
    return margin_from(answer.least or least_score(X, signs, w, b), w, b, kind)


def _decide(X: Matrix, signs: Signs, bias: bool, limits: Limits) -> Solvable | Unsolvable | None:
    return WideSearch(X, signs, bias, limits).decide()


def _parts(v: Numbers, bias: bool) -> tuple[Numbers, float]:
    """Split ``v`` into weights and a bias; the bias is 0 if ``bias`` is false."""
    return (v[:-1], v.tolist()[-1]) if bias else (v, 0.0)


def _with_bound(X: Matrix, signs: Signs, w: Floats, b: float, least: Fraction | None = None) -> Hyperplane:
    """Return (w, b) as a `Hyperplane`, with equal weights ``alpha`` for the lowest-scoring row of each class."""
    least = least_score(X, signs, w, b) if least is None else least
    with np.errstate(over="ignore", invalid="ignore"):
        s = signs * (X @ w + b)
    closest = [
        int(side[np.argmin(s[side])]) for side in (np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)) if len(side)
    ]
    return Hyperplane(w, b, least, scatter(np.array(closest), 1.0 / len(closest), X.shape[0]))


def _by_program(X: Matrix, signs: Signs, seconds: float) -> tuple[Floats, Floats] | None:
    """Return the pair (w, alpha) from a linear program, or None if solving it takes longer than ``seconds``.

    The program maximises t subject to y (w . x + b) >= t for every row, with b and every w_j between -1 and 1.
    ``alpha`` is its dual solution, scaled to sum to 1.
    """
    from scipy.optimize import linprog  # slow to import, and for comparison only

    n, d = X.shape
    scale = 2.0 ** -math.frexp(max(1e-300, float(abs(X).max())))[1]
    Z = (sp.csr_array(X) * scale).multiply(signs[:, None]) if sp.issparse(X) else X * scale * signs[:, None]
    columns = [-Z, -signs[:, None], np.ones((n, 1))]
    A = sp.hstack(columns, format="csr") if sp.issparse(X) else np.hstack(columns)
    goal = np.append(np.zeros(d + 1), -1.0)
    bounds = [(-1, 1)] * (d + 1) + [(None, None)]
    limit = {"time_limit": seconds} if math.isfinite(seconds) else {}
    result = linprog(goal, A_ub=A, b_ub=np.zeros(n), bounds=bounds, method="highs", options=limit)
    if result.status == 1 and limit:
        return None
    if result.x is None:
        raise RuntimeError(f'the linear program was not solved ({result.message}): use method="hull".')
    duals = np.maximum(-result.ineqlin.marginals, 0.0)
    return result.x[:d], duals / duals.sum() if duals.any() else np.full(n, 1.0 / n)


def _middle(X: Matrix, signs: Signs, w: Floats) -> float:
    """Return the bias for which the boundary with the weights ``w`` is halfway between the classes."""
    with np.errstate(over="ignore", invalid="ignore"):
        s = X @ w
        b = float(-0.5 * np.min(s[signs > 0]) - 0.5 * np.max(s[signs < 0]))
    return b if math.isfinite(b) else 0.0  # after an overflow exact arithmetic decides
