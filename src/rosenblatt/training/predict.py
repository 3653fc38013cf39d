"""Predictions with linear weights: activations, predicted classes and votes. The sign of every activation is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.kernels import predict as kernels
from rosenblatt.kernels.exact import LIMBS, LONG_LIMBS
from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.rows import (
    Matrix,
    RowMatrix,
    as_rows,
    check_finite,
    check_numbers,
    check_width,
    pad_columns,
)
from rosenblatt.training.state import UpdateLog, Updates

if TYPE_CHECKING:
    from rosenblatt.training.linear import LinearState

Floats = NDArray[np.float64]
_PRODUCT_BYTES = 32 * 1024 * 1024


def _lengths(w: Floats, b: Floats) -> Floats:
    """Return, for each class, an upper bound on the norm of its weights and bias; infinite if a square overflows."""
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", w, w) + b * b
    return np.sqrt(squares) * (1 + 4 * (w.shape[1] + 8) * HALF_ULP) + 1e-150


def _check_part(rows: RowMatrix, w: Floats, b: Floats, start: int, stop: int) -> None:
    """Raise a ValueError if, with this range of rows or these weights, compiled code would read out of bounds."""
    check_width(rows, w.shape[1])
    if not 0 <= start <= stop <= rows.n:
        raise ValueError(f"expected a range of rows within 0 to {rows.n:,}, got {start:,} to {stop:,}.")
    if len(b) != len(w):
        raise ValueError(f"expected one bias for each of the {len(w)} classes, got {len(b)}.")


def activations(rows: RowMatrix, w: Floats, b: Floats, start: int = 0, stop: int | None = None) -> Floats:
    """Return ``w[k] . x_i + b[k]`` for each class k and each row ``start <= i < stop``, by default for all rows.

    The signs are exact.
    """
    stop = rows.n if stop is None else stop
    _check_part(rows, w, b, start, stop)
    out = np.empty((stop - start, len(w)))
    scratch = np.zeros(LIMBS, np.int64), np.empty(len(w))
    kernels.activations(rows.parts, start, stop, np.ascontiguousarray(w), b, _lengths(w, b), rows.terms, *scratch, out)
    return out


def rounded_activations(rows: RowMatrix, w: Floats, b: Floats) -> Floats:
    """Return ``w[k] . x_i + b[k]`` for each class k and each row i, computed exactly and rounded once.

    So the numbers are the same for dense and sparse rows, and on every machine.
    """
    _check_part(rows, w, b, 0, rows.n)
    out = np.empty((rows.n, len(w)))
    w, total = np.ascontiguousarray(w), np.zeros(LONG_LIMBS, np.int64)
    kernels.rounded_activations(rows.parts, w, b, _lengths(w, b), rows.terms, total, out)
    return out


def best_classes(
    rows: RowMatrix, w: Floats, b: Floats, start: int = 0, stop: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return, for each row, the number of the class with the largest activation, and whether several classes tie.

    If several classes tie, the first of them is returned.
    """
    stop = rows.n if stop is None else stop
    _check_part(rows, w, b, start, stop)
    out, tied = np.empty(stop - start, np.int64), np.empty(stop - start, bool)
    scratch = np.zeros(LIMBS, np.int64), np.empty(len(w)), np.empty(len(w))
    w = np.ascontiguousarray(w)
    kernels.winners(rows.parts, start, stop, w, b, _lengths(w, b), rows.terms, *scratch, out, tied)
    return out, tied


_FEW_VALUES = 3
"""For sparse rows, the number of stored values per column below which copying the weights takes longer than it saves.

The copy has the weights of all classes for a column side by side.
"""


def predicted(rows: RowMatrix, w: Floats, b: Floats) -> NDArray[np.int64]:
    """Return the predicted class of each row: of two classes the second if the activation is positive, or the largest.

    Float64 rows may have several entries for a column, which stand for their sum, and rows may hold NaN or infinity;
    if they do, NotFinite is raised.
    """
    _check_part(rows, w, b, 0, rows.n)
    two, out = len(w) == 1, np.empty(rows.n, np.int64)
    largest = max(float(w.max(initial=0.0)), -float(w.min(initial=0.0)))
    if two:
        kernels.sides(rows.parts, np.ascontiguousarray(w[0]), float(b[0]), largest, rows.terms, out)
    elif rows.is_sparse and rows.parts[0].size < _FEW_VALUES * w.shape[1]:
        out[:] = len(w)
    else:
        stored = np.ascontiguousarray(w.T if rows.is_sparse else w)
        largest = max(largest, float(np.abs(b).max()))
        kernels.first_places(rows.parts, stored, b, largest, rows.terms, np.arange(len(w)), np.empty(len(w)), out)
    doubtful = np.flatnonzero(out == (2 if two else len(w)))
    if len(doubtful):
        matrix = rows.matrix if len(doubtful) == rows.n else rows.matrix[doubtful]
        check_finite(matrix)
        exact = _whole_activations(matrix, w, b)
        if exact is not None:
            out[doubtful] = exact[:, 0] > 0 if two else np.argmax(exact, axis=1)
        else:
            some = as_rows(matrix)
            out[doubtful] = activations(some, w, b)[:, 0] > 0 if two else best_classes(some, w, b)[0]
    return out


def _whole_activations(X: Matrix, w: Floats, b: Floats) -> Floats | None:
    """Return the activations of rows if these are sums of integers that are not rounded, as for counts of words."""
    values = X.data if sp.issparse(X) else X
    used = w[:, X.indices] if sp.issparse(X) and len(values) < w.shape[1] else w
    if not all(map(_whole_numbers, (values, used, b))):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(values).sum(dtype=np.float64) * np.abs(used).max(initial=0.0) + np.abs(b).max()
    return np.asarray(X @ w.T + b) if size < 2.0**52 else None


# Votes of all weight vectors of a run, counted from the log of its updates.


def votes(state: LinearState, log: UpdateLog, rows: RowMatrix) -> Floats:
    """Return the votes for each row and each classifier, from -1 to 1, or for each competing class, from 0 to 1.

    A voter is a weight vector of the run. It has one vote for each visited row that left it unchanged. Votes are
    divided by the number of all visits (Eq 4.17 of CIML). The activations of all voters on a row are running sums, over
    the updates, of the step times the dot product of the row with the stored row. If rounding errors could change the
    sign of an activation, the voter's weights are computed again from the log, and the sign is computed exactly. A
    voter whose activation is exactly zero abstains.
    """
    out = np.zeros((rows.n, len(state.w)))
    log.store()
    runs = [log.updates(k) for k in range(len(state.counters))]
    first = log.start_weights(rows.d)
    if first is not None:
        _add_first_votes(state, runs, first, rows, out)
    if log.blocks:
        _add_votes(state, log, runs, first, rows, out)
    return out / np.maximum(state.visits, 1.0)


def _add_first_votes(
    state: LinearState, runs: list[Updates], first: tuple[Floats, Floats], rows: RowMatrix, out: Floats
) -> None:
    """Add the votes of the initial weights: one for each row that was visited before the first update."""
    counts = np.array([run.before_first(visits) for run, visits in zip(runs, state.counters["visits"], strict=True)])
    if state.direct:
        best, tied = best_classes(rows, *first)
        out[~tied, best[~tied]] += counts[0]
    else:
        out += np.sign(activations(rows, *first)) * counts


def _add_votes(
    state: LinearState,
    log: UpdateLog,
    runs: list[Updates],
    first: tuple[Floats, Floats] | None,
    rows: RowMatrix,
    out: Floats,
) -> None:
    """Add the votes of the weights after each update: one for each row visited before the next update."""
    stored = log.rows()
    if sp.issparse(stored):
        stored = pad_columns(stored, rows.d)  # columns may have been added after the last update
    whole = all(map(_whole_numbers, (stored, rows.matrix, *(first or ()))))
    bias_value = float(state.fit_intercept)
    stored_lengths, row_lengths = _row_lengths(stored, bias_value), _row_lengths(rows.matrix, bias_value)
    chunk = max(1, _PRODUCT_BYTES // (8 * stored.shape[0]))
    for start in range(0, rows.n, chunk):
        stop = min(start + chunk, rows.n)
        part = rows.matrix[start:stop].astype(np.float64)
        firsts = np.zeros((stop - start, len(state.w)))
        if first is not None:
            firsts = activations(rows, *first, start, stop)
        products = np.ascontiguousarray(_products(part, stored))
        lengths = row_lengths[start:stop]
        for k, run in enumerate(runs):
            check_numbers("stored rows", run.members, stored.shape[0])
            if state.direct:
                check_numbers("class numbers", run.trues, len(state.w))
                check_numbers("class numbers", run.rivals, len(state.w))
            counts = run.survival(float(state.counters["visits"][k]))
            slack = _slack(run, stored_lengths, rows.d, float(np.sqrt(state.counters["start2"][k])))
            exact = whole and _whole_numbers(run.steps) and _exactly_summed(slack, lengths)
            slack = np.zeros_like(slack) if exact else slack
            target = out[start:stop] if state.direct else out[start:stop, k]
            began = firsts if state.direct else np.ascontiguousarray(firsts[:, k])
            uncertain = _add_certain(
                state, run, counts, products, began, slack, lengths, bias_value, target, keep=not exact
            )
            if len(uncertain):
                own = None if first is None else first if state.direct else (first[0][k : k + 1], first[1][k : k + 1])
                _add_uncertain(state, run, counts, stored, own, part, bias_value, uncertain, target)


def _products(X: Matrix, stored: Matrix) -> Floats:
    """Return the dot product of each row of ``X`` and each stored row."""
    products = X @ stored.T
    return products.toarray() if sp.issparse(products) else np.asarray(products)


def _slack(run: Updates, lengths: Floats, d: int, start: float) -> Floats:
    """Return, for each voter v, twice a bound on the rounding error of its activation on a row of norm 1.

    ``lengths`` are the norms of the stored rows, ``d`` is the number of features, and ``start`` is an upper bound on
    the norm of the initial weights. Products, running sums and the updates of the weights are rounded at most
    ``d + 2 v + 6`` times. Each error is at most half an ulp of the sum of the norms of all vectors added.
    """
    sizes = start + np.cumsum(np.abs(run.steps) * lengths[run.members])
    roundings = d + 2.0 * np.arange(len(sizes)) + 6.0
    return 2.02 * HALF_ULP * roundings * sizes + 1e-290


def _exactly_summed(slack: Floats, lengths: Floats) -> bool:
    """Return whether all activations, which are sums of integers here, stay below 2**53 and so are not rounded."""
    return len(slack) == 0 or float(slack[-1]) * float(lengths.max(initial=0.0)) < 1.0


def _whole_numbers(X: Matrix) -> bool:
    values = X.data if sp.issparse(X) else X
    return bool(np.all(values == np.rint(values)))


def _row_lengths(X: Matrix, bias_value: float) -> Floats:
    """Return an upper bound on the norm of each row, including the bias coordinate."""
    with np.errstate(over="ignore"):
        if sp.issparse(X):
            squares = np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
        else:
            squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return np.sqrt(squares + bias_value) * (1 + 1e-9) + 1e-150


def _add_certain(
    state: LinearState,
    run: Updates,
    counts: Floats,
    products: Floats,
    firsts: Floats,
    slack: Floats,
    lengths: Floats,
    bias_value: float,
    target: Floats,
    keep: bool,
) -> NDArray[np.int64]:
    """Add to ``target`` the votes whose sign cannot be wrong by rounding; return the other (row, voter) pairs.

    The pairs are ordered by voter. Set ``keep`` to False to return no pairs. This is done only if activations are
    exact: then the other pairs have an activation of exactly zero, which gives no vote.
    """
    capacity = products.size // 64 + 1024 if keep else 0
    while True:
        uncertain = np.empty((capacity, 2), np.int64)
        added = np.zeros_like(target)
        shared = (firsts, run.steps, counts, slack, lengths, bias_value)
        if state.direct:
            scores = np.empty(len(state.w))
            found = kernels.count_direct_votes(
                products, run.members, run.trues, run.rivals, *shared, scores, added, uncertain
            )
        else:
            found = kernels.count_votes(products, run.members, *shared, added, uncertain)
        if not keep or found <= capacity:
            target += added
            uncertain = uncertain[: min(found, capacity)]
            return uncertain[np.argsort(uncertain[:, 1], kind="stable")]
        capacity = found  # the buffer was too small: repeat with a buffer that is large enough


def _add_uncertain(
    state: LinearState,
    run: Updates,
    counts: Floats,
    stored: Matrix,
    first: tuple[Floats, Floats] | None,
    part: Matrix,
    bias_value: float,
    uncertain: NDArray[np.int64],
    target: Floats,
) -> None:
    """Add the votes of the ``uncertain`` pairs (row, voter), whose signs rounding errors could change.

    The updates are replayed, and each sign is computed exactly from the voter's weights.
    """
    w = np.zeros((len(state.w) if state.direct else 1, stored.shape[1]))
    b = np.zeros(len(w))
    if first is not None:
        w[:, : first[0].shape[1]], b[:] = first
    voters, starts = np.unique(uncertain[:, 1], return_index=True)
    groups = dict(zip(voters.tolist(), np.split(uncertain[:, 0], starts[1:]), strict=True))
    for v in range(int(voters[-1]) + 1):
        # invariant: after this update w and b are equal, bit for bit, to those of the run
        row = stored[[int(run.members[v])]]
        columns, values = (row.indices, row.data) if sp.issparse(row) else (slice(None), row[0])
        moves = [(0, run.steps[v])]
        if state.direct:
            moves = [(run.trues[v], run.steps[v]), (run.rivals[v], -run.steps[v])]
        for k, step in moves:
            w[k, columns] += step * values
            b[k] += step * bias_value
        if v in groups:
            which = groups[v]
            rows = as_rows(part[which])
            if state.direct:
                best, tied = best_classes(rows, w, b)
                np.add.at(target, (which[~tied], best[~tied]), counts[v])
            else:
                target[which] += counts[v] * np.sign(activations(rows, w, b)[:, 0])
