"""A run of the perceptron that remembers which rows it was wrong on, for proofs about runs."""

from __future__ import annotations

import math
import secrets
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.kernels.exact import LIMBS
from rosenblatt.kernels.orders import visiting_order
from rosenblatt.kernels.passes import TALLY, one_vs_rest_pass
from rosenblatt.theory.inputs import Matrix, Signs

__all__ = ["Run", "check_run", "run", "seed_of"]


class Run(NamedTuple):
    """What a run leaves: the row of each update in order, the weights at its end, and how it ended."""

    rows: NDArray[np.int64]
    w: NDArray[np.float64]
    b: float
    passes: int
    converged: bool


def run(
    X: Matrix,
    signs: Signs,
    bias: bool,
    shuffle: bool | str = False,
    seed: int | None = None,
    max_iter: int = 100,
    max_updates: int | None = None,
) -> Run:
    """Run the perceptron from zero until a pass without a mistake, ``max_iter`` passes or ``max_updates`` updates.

    The same kernel in the same order as ``Perceptron`` has: the same mistakes and the same bits.

    >>> run(np.array([[1.0], [0.0]]), np.array([1.0, -1.0]), bias=True)
    Run(rows=array([0, 1, 1, 0, 1]), w=array([2.]), b=-1.0, passes=4, converged=True)
    """
    n, d = X.shape
    rows, terms = _parts(X)
    examples = (rows, (signs > 0).astype(np.int32), np.empty(0))
    tally = np.zeros(1, TALLY)
    tally["target"], tally["limit"] = 1, -1 if max_updates is None else max_updates
    w = np.zeros((1, d))
    machines = (w, np.zeros((1, d)), tally, np.zeros(LIMBS, np.int64))
    log = (np.empty((1, n), np.uint32), np.empty((1, n)))
    no_pocket = (np.empty((0, 0)), np.empty(0))
    order = np.arange(n, dtype=np.uint32)
    made: list[NDArray[np.int64]] = []
    converged = False
    while not converged and len(made) < max_iter and tally["updates"][0] != tally["limit"][0]:
        if shuffle:
            order = visiting_order(n, seed or 0, 0 if shuffle == "once" else len(made))
        tally["mistakes"], tally["lowest"], tally["lowest_step"] = 0, math.inf, math.inf
        which, first = np.arange(1), not made
        one_vs_rest_pass(examples, order, 0, n, machines, which, None, float(bias), terms, 0, n, first, log, no_pocket)
        made.append(log[0][0, : tally["mistakes"][0]].astype(np.int64))
        converged = len(made[-1]) == 0
        if not np.isfinite(w).all():
            raise ValueError("the weights have grown beyond the range of floats: scale the features.")
    return Run(np.concatenate(made), w[0], float(tally["b"][0]), len(made), converged)


def check_run(shuffle: Any, random_state: Any, max_iter: Any, max_updates: Any) -> None:
    """Raise a ValueError for the first of these that a run cannot have."""
    if not (isinstance(shuffle, bool | np.bool_) or (isinstance(shuffle, str) and shuffle == "once")):
        raise ValueError(f"shuffle must be True, False or 'once', got {shuffle!r}.")
    for name, value, least in (
        ("max_iter", max_iter, 1),
        ("max_updates", 1 if max_updates is None else max_updates, 1),
        ("random_state", 0 if random_state is None else random_state, 0),
    ):
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            none = "" if name == "max_iter" else " or None"
            raise ValueError(f"{name} must be a whole number of at least {least}{none}, got {value!r}.")


def seed_of(shuffle: bool | str, random_state: int | None) -> int | None:
    """Return the seed of shuffled orders, drawn where there is none; None where nothing is shuffled."""
    if not shuffle:
        return None
    return secrets.randbits(63) if random_state is None else int(random_state)


def _parts(X: Matrix) -> tuple[tuple[Any, ...], int]:
    """Return ``X`` as kernels take it, and the most entries in a row."""
    if not sp.issparse(X):
        return (_read_only(np.require(X, requirements=["C", "A"]).reshape(-1)), X.shape[1]), X.shape[1]
    narrow = X.indices.dtype.itemsize == X.indptr.dtype.itemsize == 4
    signed, unsigned = (np.int32, np.uint32) if narrow else (np.int64, np.uint64)
    indices, indptr = (part.astype(signed, copy=False).view(unsigned) for part in (X.indices, X.indptr))
    parts = tuple(_read_only(np.ascontiguousarray(part)) for part in (X.data, indices, indptr))
    return parts, int(np.max(np.diff(X.indptr), initial=0))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
