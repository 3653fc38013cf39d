"""Machines as plain data and arrays, and back: every bit that a run needs to go on, and checks that it can."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.kernels.passes import TALLY
from rosenblatt.rounding import HALF_ULP
from rosenblatt.storage.array_fields import StrictArrays
from rosenblatt.storage.json_fields import LARGEST, StrictFields, label_to_json
from rosenblatt.training.state import Machines, Pocket
from rosenblatt.training.updates import Ballots, Updates

__all__ = ["machines_from_state", "machines_to_state"]

_TINY = 1e-280  # smaller squares are not accurate
_TALLY = TALLY.names or ()
_POCKET = ("w", "b", "mistakes", "candidate_w", "candidate_b")
_ROWS = ("none", "dense", "csr")


def machines_to_state(machines: Machines) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return all that is known of ``machines`` as plain data and arrays; nothing about them changes."""
    label = machines.lead_label
    state: dict[str, Any] = {
        "direct": bool(machines.direct),
        "fit_intercept": bool(machines.fit_intercept),
        "seed": int(machines.seed),
        "radius": float(machines.radius),
        "passes": int(machines.passes),
        "lead": int(machines.lead),
        "lead_label": None if label is None else label_to_json(label),
        "spread": machines.spread is not None,
        "pocket": machines.pocket is not None,
        "ballots": None,
    }
    arrays = {
        "w": machines.w,
        "u": machines.u,
        **{f"tally.{name}": machines.tally[name] for name in _TALLY},
        "done": machines.done,
        "mistakes": np.array(machines.mistakes, np.int64).reshape(len(machines.mistakes), len(machines.counters)),
        "validation_error": np.array(machines.validation_error, np.float64),
    }
    if machines.spread is not None:
        arrays["spread"] = machines.spread
    if machines.pocket is not None:
        arrays |= {f"pocket.{name}": getattr(machines.pocket, name) for name in _POCKET}
    if machines.ballots is not None:
        state["ballots"], more = _ballots_to_state(machines.ballots)
        arrays |= more
    return state, arrays


def machines_from_state(state: Any, arrays: StrictArrays, n_classes: int) -> Machines:
    """Return the machines that ``machines_to_state`` described, or raise a ValueError where they are not sound."""
    fields = StrictFields(state, "the state")
    w = arrays.take("w", "f8", (n_classes if n_classes > 2 else 1, None))
    k, d = w.shape
    tally = np.zeros(k, TALLY)
    for name in _TALLY:
        tally[name] = arrays.take(f"tally.{name}", TALLY[name].str[1:], (k,))
    direct = fields.flag("direct")
    c = 1 if direct else k
    passes = fields.whole("passes")
    machines = Machines(
        w=w,
        u=arrays.take("u", "f8", (k, d)),
        tally=tally,
        direct=direct,
        fit_intercept=fields.flag("fit_intercept"),
        done=arrays.take("done", "b1", (c,)),
        seed=fields.whole("seed", most=2**4096),
        radius=fields.number("radius", 0.0, sys.float_info.max),
        lead=fields.whole("lead", -1),
        lead_label=fields.take("lead_label"),
        spread=arrays.take("spread", "f8", (d,)) if fields.flag("spread") else None,
        passes=passes,
        mistakes=list(arrays.take("mistakes", "i8", (passes, c))),
        validation_error=arrays.take("validation_error", "f8", (None,)).tolist(),
    )
    if fields.flag("pocket"):
        shapes = {"w": (k, d), "b": (k,), "mistakes": (c,), "candidate_w": (k, d), "candidate_b": (k,)}
        machines.pocket = Pocket(**{name: arrays.take(f"pocket.{name}", "f8", shapes[name]) for name in _POCKET})
    ballots = fields.take("ballots")
    fields.end()
    _check(machines, n_classes)
    if ballots is not None:
        machines.ballots = _ballots_from_state(ballots, arrays, machines, n_classes)
    return machines


def _require(sound: Any, fault: str) -> None:
    if not np.all(sound):
        raise ValueError(fault)


def _counts(values: np.ndarray, most: Any = LARGEST) -> np.ndarray:
    """Whether each is a whole number from 0 to ``most``."""
    return (values >= 0) & (values <= np.minimum(most, LARGEST)) & (values == np.floor(values))


def _check(machines: Machines, n_classes: int) -> None:
    """Raise a ValueError unless the weights and counters are such as a run may leave behind."""
    tally, counters, spread = machines.tally, machines.counters, machines.spread
    _require(machines.w.shape[1] > 0, "there are no features.")
    _require(not machines.direct or n_classes > 2, "classes compete directly only where there are more than two.")
    _require(
        tally["target"] == (np.arange(len(tally)) if n_classes != 2 else 1), "a machine answers for a wrong class."
    )
    label = machines.lead_label
    _require(label is None or label_to_json(label) == label, "the first label of the stream is no label.")
    biases = [tally["b"], tally["beta"]]
    weights = [machines.w, machines.u]
    if machines.pocket is not None:
        _require(machines.pocket.mistakes >= 0, "the mistakes of the pocket are out of range.")
        weights += [machines.pocket.w, machines.pocket.candidate_w]
        biases += [machines.pocket.b, machines.pocket.candidate_b]
    for values in (*weights, *biases):
        _require(np.isfinite(values), "some weights are not finite.")
    _require(machines.fit_intercept or not np.any(biases), "there is a bias where none was to be learned.")
    _require(spread is None or spread >= 0, "the ranges of the features are out of range.")
    errors = np.array(machines.validation_error)
    _require((errors >= 0) & (errors <= 1), "a validation error is out of range.")
    _require(len(errors) <= machines.passes, "there are more validation errors than passes.")
    history = np.array(machines.mistakes, np.int64)
    _require((history >= -1) & (history <= LARGEST), "the mistakes by pass are out of range.")
    wrong = "the counters are out of range."
    _require(_counts(tally["visits"]), wrong)
    for name in ("updates", "mistakes", "last_change", "longest"):
        _require(_counts(tally[name], tally["visits"]), wrong)
    _require(tally["mistakes"] <= tally["updates"], wrong)
    _require(tally["limit"] >= -1, wrong)
    for name in ("step_sum", "energy", "radius2", "reach2"):
        _require(tally[name] >= 0, wrong)
    _require(~np.isnan(tally["lowest"]) & ~np.isnan(tally["lowest_step"]), wrong)
    _require(~machines.done | ((counters["mistakes"] == 0) & (counters["lowest"] > 0)), wrong)
    _check_lengths(machines)


def _check_lengths(machines: Machines) -> None:
    """Raise a ValueError where weights are longer than the steps and rows that the counters tell of can make them.

    Exact decisions rest on |w|^2 <= energy R^2 (times 2 where an update moves two classes).
    """
    counters, pocket = machines.counters, machines.pocket
    slack = 1.0 + 32.0 * HALF_ULP * (counters["updates"] + machines.w.size + 8.0)
    with np.errstate(all="ignore"):
        steps, many = np.sqrt(counters["energy"]), np.sqrt(counters["updates"])
        reach = np.sqrt(np.maximum(counters["radius2"], _TINY)) * (2.0 if machines.direct else 1.0) ** 0.5 * slack
        cached = counters["step_sum"] * counters["visits"] * reach * 2.0
        sound = (counters["updates"] > 0) == (counters["energy"] > 0)
        sound &= counters["step_sum"] <= steps * many * slack
        sound &= _lengths(machines, machines.w, machines.tally["b"]) <= steps * reach
        sound &= ~(_lengths(machines, machines.u, machines.tally["beta"]) > cached)
        if pocket is not None:
            sound &= _lengths(machines, pocket.w, pocket.b) <= steps * reach
            sound &= _lengths(machines, pocket.candidate_w, pocket.candidate_b) <= steps * reach
    _require(sound, "the weights are longer than their steps can have made them.")


def _lengths(machines: Machines, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the length of each (w, b), of all side by side where classes compete directly."""
    long = np.column_stack([w, b]).reshape(len(machines.counters), -1)
    largest = np.maximum(np.abs(long).max(axis=1), sys.float_info.min)
    return largest * np.linalg.norm(long / largest[:, None], axis=1)


def _ballots_to_state(ballots: Ballots) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    runs = [ballots.updates(k) for k in range(len(ballots.chunks))]
    arrays = {f"ballots.{name}": np.concatenate([getattr(run, name) for run in runs]) for name in Updates._fields}
    arrays["ballots.lengths"] = np.array([len(run.members) for run in runs], np.int64)
    if not ballots.blocks:
        return {"classes": ballots.n_classes, "rows": "none"}, arrays
    if not any(sp.issparse(block) for block in ballots.blocks):
        arrays["ballots.values"] = np.concatenate(ballots.blocks)
        return {"classes": ballots.n_classes, "rows": "dense"}, arrays
    rows = ballots.rows()
    if all(block.dtype == np.float32 for block in ballots.blocks):
        rows = rows.astype(np.float32)  # as they came: the same numbers in half the room
    rows.sort_indices()
    arrays |= {"ballots.values": rows.data, "ballots.indices": rows.indices, "ballots.starts": rows.indptr}
    return {"classes": ballots.n_classes, "rows": "csr"}, arrays


def _ballots_from_state(state: Any, arrays: StrictArrays, machines: Machines, n_classes: int) -> Ballots:
    fields = StrictFields(state, "the state: 'ballots'")
    ballots = Ballots.empty(len(machines.counters), fields.whole("classes"))
    rows = fields.word("rows", _ROWS)
    fields.end()
    _require(ballots.n_classes == (n_classes if machines.direct else 0), "the votes are for other classes.")
    d = machines.w.shape[1]
    if rows == "dense":
        ballots.blocks = [arrays.take("ballots.values", "f4 f8", (None, d))]
    elif rows == "csr":
        ballots.blocks = [_sparse_rows(arrays, d)]
    squares = np.zeros(0)
    if ballots.blocks:
        squares = _squares(ballots.rows()) + float(machines.fit_intercept)
    lengths = arrays.take("ballots.lengths", "i8", (len(machines.counters),))
    total = sum(lengths.tolist())
    types = {"members": "i8", "steps": "f8", "visits": "f8", "trues": "i8", "rivals": "i8"}
    parts = [arrays.take(f"ballots.{name}", types[name], (total,)) for name in Updates._fields]
    _require(_counts(lengths, machines.counters["updates"]), "there are more voters than updates.")
    stops = np.cumsum(lengths)[:-1]
    for k, pieces in enumerate(zip(*(np.split(part, stops) for part in parts), strict=True)):
        update = Updates(*pieces)
        _check_updates(update, squares, machines, k, n_classes)
        if len(update.members):
            ballots.chunks[k] = [update]
    used = np.zeros(len(squares), bool)
    used[parts[0]] = True
    _require(used, "a row is stored that no voter needs.")
    return ballots


def _check_updates(update: Updates, squares: np.ndarray, machines: Machines, k: int, n_classes: int) -> None:
    """Raise a ValueError unless these are updates such as the counters tell of; ``squares`` are those of the rows."""
    wrong = "the voters are not sound."
    counters = machines.counters[k]
    _require((update.members >= 0) & (update.members < len(squares)), wrong)
    _require(np.isfinite(update.steps) & ((update.steps > 0) if machines.direct else (update.steps != 0)), wrong)
    _require(_counts(update.visits, counters["visits"] - 1), wrong)
    _require(np.diff(update.visits) > 0, wrong)
    for classes in (update.trues, update.rivals):
        _require((classes >= 0) & (classes < n_classes), wrong)
    _require(not machines.direct or update.trues != update.rivals, wrong)
    sizes = np.abs(update.steps)
    slack = 1.0 + 32.0 * HALF_ULP * (len(sizes) + machines.w.shape[1] + 8.0)
    with np.errstate(all="ignore"):
        _require(sizes.sum() <= counters["step_sum"] * slack, wrong)
        _require((sizes * sizes).sum() <= counters["energy"] * slack, wrong)
        _require(squares[update.members] <= max(counters["radius2"] * slack, _TINY), wrong)


def _squares(rows: Any) -> np.ndarray:
    """Return the squared length of each row; a ValueError where a number is not finite."""
    values = rows.data if sp.issparse(rows) else rows
    _require(np.isfinite(values), "the stored rows are not finite.")
    with np.errstate(over="ignore"):
        return np.asarray(rows.power(2).sum(axis=1)).ravel() if sp.issparse(rows) else np.einsum("ij,ij->i", rows, rows)


def _sparse_rows(arrays: StrictArrays, d: int) -> sp.csr_array:
    """Return the stored rows of a CSR matrix of ``d`` columns; indices in order, none twice in a row."""
    values = arrays.take("ballots.values", "f4 f8", (None,))
    indices = arrays.take("ballots.indices", "i4 i8", (len(values),))
    starts = arrays.take("ballots.starts", "i4 i8", (None,))
    sound = len(starts) > 1 and starts[0] == 0 and starts[-1] == len(values)
    sound = sound and bool(np.all(starts[1:] >= starts[:-1]))
    sound = sound and np.min(indices, initial=0) >= 0 and np.max(indices, initial=0) < d
    if sound:
        rising = np.ones(len(indices) + 1, bool)
        rising[1:-1] = indices[1:] > indices[:-1]
        rising[starts] = True  # a row may start anywhere
        sound = bool(rising.all())
    _require(sound, "the stored rows are no sound CSR matrix.")
    return sp.csr_array((values, indices, starts), shape=(len(starts) - 1, d))
