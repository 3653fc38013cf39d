"""What machines answer: activations, winning classes and votes, with every sign exact."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import safe_sparse_dot

from rosenblatt.kernels import scores as kernels
from rosenblatt.kernels.exact import LIMBS
from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.rows import Rows, as_rows
from rosenblatt.training.state import Machines, Pocket
from rosenblatt.training.updates import Ballots, Updates

_PRODUCT_BYTES = 32 * 1024 * 1024


def kept(machines: Machines, hypothesis: str) -> Pocket | Ballots:
    """Return what a run keeps for the hypothesis "pocket" or "vote"; every run keeps the last and the average."""
    found = machines.pocket if hypothesis == "pocket" else machines.ballots
    if found is None:
        raise ValueError(
            f'this model was trained without keeping what hypothesis="{hypothesis}" needs: '
            "set the hypothesis before fitting, and fit from the start (warm_start=False)."
        )
    return found


def weights(machines: Machines, hypothesis: str) -> tuple[np.ndarray, np.ndarray]:
    """Return ``(w, b)`` of the hypothesis "last", "average" or "pocket"."""
    if hypothesis == "average":
        return machines.average()
    if hypothesis == "pocket":
        pocket = cast(Pocket, kept(machines, hypothesis))
        return pocket.w, pocket.b
    return machines.w, machines.b


def answers(machines: Machines, hypothesis: str, rows: Rows) -> np.ndarray:
    """Return the score of each row for each machine: its activation, or its share of the votes."""
    if hypothesis == "vote":
        return votes(machines, cast(Ballots, kept(machines, hypothesis)), rows)
    return activations(rows, *weights(machines, hypothesis))


def chosen_classes(machines: Machines, hypothesis: str, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return the class number of each row, and whether the row lies on a boundary so that it is arbitrary."""
    if hypothesis == "vote" or len(machines.w) == 1:
        scores = answers(machines, hypothesis, rows)
        if len(machines.w) == 1:
            return (scores[:, 0] > 0).astype(np.int64), scores[:, 0] == 0
        best = scores.max(axis=1, keepdims=True)
        return scores.argmax(axis=1), (scores == best).sum(axis=1) > 1
    return best_classes(rows, *weights(machines, hypothesis))


def _lengths(w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a little more than the length of each ``(w, b)``; infinite where squares overflow."""
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", w, w) + b * b
    return np.sqrt(squares) * (1 + 4 * (w.shape[1] + 8) * HALF_ULP) + 1e-150


def activations(rows: Rows, w: np.ndarray, b: np.ndarray, start: int = 0, stop: int | None = None) -> np.ndarray:
    """Return ``w[k] . x_i + b[k]`` for the rows from ``start`` to ``stop`` and each k."""
    stop = rows.n if stop is None else stop
    out = np.empty((stop - start, len(w)))
    room = np.zeros(LIMBS, np.int64), np.empty(len(w))
    kernels.activations(rows.parts, start, stop, np.ascontiguousarray(w), b, _lengths(w, b), rows.terms, *room, out)
    return out


def best_classes(
    rows: Rows, w: np.ndarray, b: np.ndarray, start: int = 0, stop: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the machine of largest activation for each row, the first of equals, and whether it has an equal."""
    stop = rows.n if stop is None else stop
    out, tied = np.empty(stop - start, np.int64), np.empty(stop - start, bool)
    room = np.zeros(LIMBS, np.int64), np.empty(len(w)), np.empty(len(w))
    w = np.ascontiguousarray(w)
    kernels.winners(rows.parts, start, stop, w, b, _lengths(w, b), rows.terms, *room, out, tied)
    return out, tied


def votes(machines: Machines, ballots: Ballots, rows: Rows) -> np.ndarray:
    """Return each row's votes, for each machine from -1 to 1 (or for each class from 0 to 1), as shares of all visits.

    Eq 4.17 of CIML. All activations of one row come from its products with the stored mistakes, as running sums.
    Where one of them is too small for its sign to be certain, the run is gone through once more and the sign
    is taken from the weights themselves. A voter whose activation is exactly zero abstains.
    """
    columns = len(machines.w)
    out = np.zeros((rows.n, columns))
    if not ballots.blocks:
        return out
    stored = ballots.rows()
    whole = _whole_numbers(stored) and _whole_numbers(rows.matrix)
    one = float(machines.fit_intercept)
    stored_lengths, row_lengths = _row_lengths(stored, one), _row_lengths(rows.matrix, one)
    chunk = max(1, _PRODUCT_BYTES // (8 * stored.shape[0]))
    runs = [ballots.updates(k) for k in range(len(machines.counters))]
    for start in range(0, rows.n, chunk):
        part = rows.matrix[start : start + chunk].astype(np.float64)
        products = np.ascontiguousarray(safe_sparse_dot(part, stored.T, dense_output=True))
        lengths = row_lengths[start : start + chunk]
        for k, run in enumerate(runs):
            counts = run.survival(float(machines.tally["visits"][k]))
            slack = _slack(run, stored_lengths, rows.d)
            exact = whole and _whole_numbers(run.steps) and _exactly_summed(slack, lengths)
            slack = np.zeros_like(slack) if exact else slack
            target = out[start : start + chunk] if machines.direct else out[start : start + chunk, k]
            doubts = _count(machines, run, counts, products, slack, lengths, one, target, keep=not exact)
            if len(doubts):
                _settle(machines, run, counts, stored, part, one, doubts, target)
    return out / np.maximum(machines.visits, 1.0)


def _slack(run: Updates, lengths: np.ndarray, d: int) -> np.ndarray:
    """Return, for each voter, twice the rounding error of its activation on a row of length 1.

    Products, running sums and the updates of the weights themselves round at most ``d + 2 v + 6`` times.
    """
    sizes = np.cumsum(np.abs(run.steps) * lengths[run.members])
    roundings = d + 2.0 * np.arange(len(sizes)) + 6.0
    return 2.02 * HALF_ULP * roundings * sizes + 1e-290


def _exactly_summed(slack: np.ndarray, lengths: np.ndarray) -> bool:
    """Whether sums of whole numbers of these sizes stay below 2**53, so that none of them rounds."""
    return len(slack) == 0 or float(slack[-1]) * float(lengths.max(initial=0.0)) < 1.0


def _whole_numbers(X: Any) -> bool:
    values = X.data if sp.issparse(X) else X
    return bool(np.all(values == np.rint(values)))


def _row_lengths(X: Any, one: float) -> np.ndarray:
    """Return a little more than the length of each row, the bias coordinate included."""
    with np.errstate(over="ignore"):
        if sp.issparse(X):
            squares = np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
        else:
            squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return np.sqrt(squares + one) * (1 + 1e-9) + 1e-150


def _count(
    machines: Machines,
    run: Updates,
    counts: np.ndarray,
    products: np.ndarray,
    slack: np.ndarray,
    lengths: np.ndarray,
    one: float,
    target: np.ndarray,
    keep: bool,
) -> np.ndarray:
    """Add the votes that are certain to ``target``; return the pairs (row, voter) in doubt, ordered by voter."""
    room = products.size // 64 + 1024 if keep else 0
    while True:
        doubts = np.empty((room, 2), np.int64)
        added = np.zeros_like(target)
        shared = (run.steps, counts, slack, lengths, one)
        if machines.direct:
            scores = np.empty(len(machines.w))
            found = kernels.count_direct_votes(
                products, run.members, run.trues, run.rivals, *shared, scores, added, doubts
            )
        else:
            found = kernels.count_votes(products, run.members, *shared, added, doubts)
        if not keep or found <= room:
            target += added
            doubts = doubts[: min(found, room)]
            return doubts[np.argsort(doubts[:, 1], kind="stable")]
        room = found


def _settle(
    machines: Machines,
    run: Updates,
    counts: np.ndarray,
    stored: Any,
    part: Any,
    one: float,
    doubts: np.ndarray,
    target: np.ndarray,
) -> None:
    """Add the votes of the pairs in doubt, by going through the run and asking the weights themselves."""
    w = np.zeros((len(machines.w) if machines.direct else 1, stored.shape[1]))
    b = np.zeros(len(w))
    voters, starts = np.unique(doubts[:, 1], return_index=True)
    groups = dict(zip(voters.tolist(), np.split(doubts[:, 0], starts[1:]), strict=True))
    for v in range(int(voters[-1]) + 1):
        row = stored[[int(run.members[v])]]
        columns, values = (row.indices, row.data) if sp.issparse(row) else (slice(None), row[0])
        moves = [(0, run.steps[v])]
        if machines.direct:
            moves = [(run.trues[v], run.steps[v]), (run.rivals[v], -run.steps[v])]
        for k, step in moves:
            w[k, columns] += step * values
            b[k] += step * one
        if v in groups:
            asked = groups[v]
            some = as_rows(part[asked])
            if machines.direct:
                best, tied = best_classes(some, w, b)
                np.add.at(target, (asked[~tied], best[~tied]), counts[v])
            else:
                target[asked] += counts[v] * np.sign(activations(some, w, b)[:, 0])
