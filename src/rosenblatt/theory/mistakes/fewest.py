"""How many rows must go until a hyperplane separates the rest? A bracket, with the rows and the proof."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.parameters import check_seconds
from rosenblatt.progress import Progress
from rosenblatt.theory.inputs import Matrix, MatrixLike, Signs, two_classes
from rosenblatt.theory.mistakes.answers import FewestMistakes
from rosenblatt.theory.mistakes.brackets import Bracket
from rosenblatt.theory.mistakes.hyperplanes import Points
from rosenblatt.theory.ties import representatives


def fewest_mistakes(X: MatrixLike, y: ArrayLike, max_seconds: float | None = None, verbose: int = 0) -> FewestMistakes:
    """Bracket the least number of rows whose removal leaves data that a hyperplane separates, and prove both ends.

    This is the least number of mistakes that any hyperplane makes, a row on it counted as one. It is NP-hard (Johnson
    and Preparata 1978, as the densest hemisphere), so it is found exactly for small data and for few mistakes, and
    otherwise bracketed. From above, a hyperplane: the pocket of a perceptron, then line searches over the number of
    mistakes, then rows put back as long as the rest stays separable. From below, cores: sets of at most d + 2 rows
    (fewer on ties) that nothing separates, so that each must lose a row. They are looked for one by one in the
    rows that are left when all cores known so far are hit; what proves that no fewer rows hit them all is found by
    branch and bound, and is part of the answer.

    It stops when both ends meet, or after a fixed amount of work, some half a minute; or at ``max_seconds``. In high
    dimensions the lower end is weak, as it cannot exceed n / (d + 2) for points in general position.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Finite numbers, as for `separability`. There may be no columns.
    y : array of shape (n,)
        Labels of at most two classes; ask about one class of several against the rest as ``y == name``.
    max_seconds : float, optional
        Stop after about so long, with the bracket reached.
    verbose : int
        If not 0, a long search says on standard error how far it is.

    Returns
    -------
    FewestMistakes
        ``low``, ``high``, the ``rows`` to remove and the hyperplane (w, b) that then separates. It prints in words,
        ``check(X, y)`` recomputes all of it from the data, ``save`` and ``Certificate.load`` keep it as JSON.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> found = fewest_mistakes(X, [0, 1, 1, 0])
    >>> print(found)
    Exactly 1 of the 4 rows must be removed so that a hyperplane separates the rest.
    Without row 0 it does.
    1 set of rows, which no hyperplane separates, proves that one must go.
    >>> found.low, found.high, found.rows, found.check(X, [0, 1, 1, 0])
    (1, 1, array([0]), True)
    """
    check_seconds("max_seconds", max_seconds)
    start = time.monotonic()
    matrix, signs, positive = two_classes(X, y)
    progress = Progress(verbose)
    firsts, copies = _equal_rows(matrix, signs)
    counts = np.ones(len(firsts), dtype=np.int64)
    counts[np.searchsorted(firsts, [*copies])] = [len(group) for group in copies.values()]
    points = Points(matrix[firsts], signs[firsts], counts)
    seconds = None if max_seconds is None else max(0.0, start + max_seconds - time.monotonic())
    bracket = Bracket(points, seconds, progress)
    low, tree = bracket.close()
    progress.close()
    best, cores = bracket.best, bracket.cores
    named = sorted({int(firsts[row]) for core in cores for row in core.rows})
    wrong = firsts[best.wrong].tolist()
    return FewestMistakes(
        low=low,
        rows=np.array(sorted(row for first in wrong for row in copies.get(first, [first])), dtype=np.intp),
        w=best.w,
        b=best.b,
        n=len(signs),
        cores=tuple(core._replace(rows=firsts[core.rows]) for core in cores),
        copies=tuple(np.array(copies[first]) for first in named if first in copies),
        tree=tuple(int(firsts[node]) if isinstance(node, int) else node for node in tree),
        positive=positive,
    )


def _equal_rows(X: Matrix, signs: Signs) -> tuple[NDArray[np.intp], dict[int, list[int]]]:
    """Return the first of each set of equal rows with equal signs; and these sets by their first, where it has copies.

    Most rows of most data have none.
    """
    like = representatives(X, signs, np.arange(len(signs)), np.arange(X.shape[1]))
    firsts, counts = np.unique(like, return_counts=True)
    copies: dict[int, list[int]] = {first: [] for first in firsts[counts > 1].tolist()}
    for row in np.flatnonzero(np.isin(like, [*copies])).tolist():
        copies[int(like[row])].append(row)
    return firsts, copies
