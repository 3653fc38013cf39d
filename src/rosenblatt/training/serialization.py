"""A state as plain data and arrays, and back: every bit that a run needs to go on, and checks that it can."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.kernels.passes import COUNTERS
from rosenblatt.rounding import HALF_ULP
from rosenblatt.storage.array_fields import StrictArrays
from rosenblatt.storage.json_fields import LARGEST, StrictFields, label_to_json
from rosenblatt.training.state import LinearState, Pocket
from rosenblatt.training.updates import UpdateLog, Updates

_TINY = 1e-280  # smaller squares are not accurate
_COUNTERS = {name: COUNTERS[name].str[1:] for name in COUNTERS.names or ()}
_IN_FILES = {"step_square_sum": "energy", "max_step_norm2": "reach2"}
"""Names that files have for counters, where they differ."""
_POCKET = ("w", "b", "mistakes", "candidate_w", "candidate_b")
_ROWS = ("none", "dense", "csr")


def state_to_plain(state: LinearState) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return all that is known of a state as plain data and arrays; nothing about it changes."""
    label = state.leading_label
    header: dict[str, Any] = {
        "direct": bool(state.direct),
        "fit_intercept": bool(state.fit_intercept),
        "seed": int(state.seed),
        "radius": float(state.radius),
        "passes": int(state.passes),
        "lead": int(state.leading_run),
        "lead_label": None if label is None else label_to_json(label),
        "spread": state.feature_ranges is not None,
        "pocket": state.pocket is not None,
        "ballots": None,
    }
    arrays = {
        "w": state.w,
        "u": state.u,
        "tally.b": state.b,
        "tally.beta": state.beta,
        **{f"tally.{_IN_FILES.get(name, name)}": _for_each_class(state, name) for name in _COUNTERS},
        "done": state.done,
        "mistakes": np.array(state.mistakes, np.int64).reshape(len(state.mistakes), len(state.counters)),
        "validation_error": np.array(state.validation_error, np.float64),
    }
    if state.feature_ranges is not None:
        arrays["spread"] = state.feature_ranges
    if state.pocket is not None:
        arrays |= {f"pocket.{name}": getattr(state.pocket, name) for name in _POCKET}
    if state.log is not None:
        header["ballots"], more = _log_to_plain(state.log)
        arrays |= more
    return header, arrays


def _for_each_class(state: LinearState, name: str) -> np.ndarray:
    """Return a counter as files have it: a number for each class, though only the first counts where they compete."""
    counter = state.counters[name]
    if not state.direct:
        return counter
    out = {"target": np.arange(len(state.w)), "limit": np.full(len(state.w), -1)}.get(name, np.zeros(len(state.w)))
    out = out.astype(counter.dtype)
    out[0] = counter[0]
    return out


def state_from_plain(header: Any, arrays: StrictArrays, n_classes: int) -> LinearState:
    """Return the state that ``state_to_plain`` described, or raise a ValueError where it is not valid."""
    fields = StrictFields(header, "the state")
    w = arrays.take("w", "f8", (n_classes if n_classes > 2 else 1, None))
    k, d = w.shape
    counters = np.zeros(k, COUNTERS)
    for name, kind in _COUNTERS.items():
        counters[name] = arrays.take(f"tally.{_IN_FILES.get(name, name)}", kind, (k,))
    direct = fields.flag("direct")
    c = 1 if direct else k
    for name in _COUNTERS if direct else ():
        unused = counters[name][1:]
        _require(
            (unused == {"target": np.arange(1, k), "limit": -1}.get(name, 0)).all()
            or (name != "target" and (unused == counters[name][0]).all()),  # as 0.1 wrote after a class had come late
            "there are counters for classes that have none.",
        )
    passes = fields.whole("passes")
    state = LinearState(
        w=w,
        u=arrays.take("u", "f8", (k, d)),
        b=arrays.take("tally.b", "f8", (k,)),
        beta=arrays.take("tally.beta", "f8", (k,)),
        counters=counters[:c].copy(),
        direct=direct,
        fit_intercept=fields.flag("fit_intercept"),
        done=arrays.take("done", "b1", (c,)),
        seed=fields.whole("seed", most=2**4096),
        radius=fields.number("radius", 0.0, sys.float_info.max),
        leading_run=fields.whole("lead", -1),
        leading_label=fields.take("lead_label"),
        feature_ranges=arrays.take("spread", "f8", (d,)) if fields.flag("spread") else None,
        passes=passes,
        mistakes=list(arrays.take("mistakes", "i8", (passes, c))),
        validation_error=arrays.take("validation_error", "f8", (None,)).tolist(),
    )
    if fields.flag("pocket"):
        shapes = {"w": (k, d), "b": (k,), "mistakes": (c,), "candidate_w": (k, d), "candidate_b": (k,)}
        state.pocket = Pocket(**{name: arrays.take(f"pocket.{name}", "f8", shapes[name]) for name in _POCKET})
    log = fields.take("ballots")
    fields.end()
    check_state(state, n_classes)
    if log is not None:
        state.log = _log_from_plain(log, arrays, state, n_classes)
    return state


def _require(sound: Any, fault: str) -> None:
    if not np.all(sound):
        raise ValueError(fault)


def _counts(values: np.ndarray, most: Any = LARGEST) -> np.ndarray:
    """Return whether each is an integer from 0 to ``most``."""
    return (values >= 0) & (values <= np.minimum(most, LARGEST)) & (values == np.floor(values))


def _check_counters(counters: np.ndarray, n_classes: int) -> None:
    """Raise a ValueError where a counter is out of its range."""
    _require(counters["target"] == (np.arange(len(counters)) if n_classes != 2 else 1), "a class has a wrong number.")
    wrong = "the counters are out of range."
    _require(_counts(counters["visits"]), wrong)
    for name in ("updates", "mistakes", "last_change", "longest"):
        _require(_counts(counters[name], counters["visits"]), wrong)
    _require(counters["mistakes"] <= counters["updates"], wrong)
    _require(counters["limit"] >= -1, wrong)
    for name in ("step_sum", "step_square_sum", "radius2", "max_step_norm2"):
        _require(counters[name] >= 0, wrong)
    _require(~np.isnan(counters["lowest"]) & ~np.isnan(counters["lowest_step"]), wrong)


def check_state(state: LinearState, n_classes: int) -> None:
    """Raise a ValueError unless the weights and counters are such as a run may leave behind."""
    _check_counters(state.counters, n_classes)
    counters, ranges, label = state.counters, state.feature_ranges, state.leading_label
    _require(state.n_features > 0, "there are no features.")
    _require(not state.direct or n_classes > 2, "classes compete directly only where there are more than two.")
    _require(label is None or label_to_json(label) == label, "the first label of the stream is no label.")
    biases, weights = [state.b, state.beta], [state.w, state.u]
    if state.pocket is not None:
        _require(state.pocket.mistakes >= 0, "the mistakes of the pocket are out of range.")
        weights += [state.pocket.w, state.pocket.candidate_w]
        biases += [state.pocket.b, state.pocket.candidate_b]
    for values in (*weights, *biases):
        _require(np.isfinite(values), "some weights are not finite.")
    _require(state.fit_intercept or not np.any(biases), "there is a bias where none was to be learned.")
    _require(ranges is None or ranges >= 0, "the ranges of the features are out of range.")
    errors = np.array(state.validation_error)
    _require((errors >= 0) & (errors <= 1), "a validation error is out of range.")
    _require(len(errors) <= state.passes, "there are more validation errors than passes.")
    history = np.array(state.mistakes, np.int64)
    _require((history >= -1) & (history <= LARGEST), "the mistakes by pass are out of range.")
    clean = (counters["mistakes"] == 0) & (counters["lowest"] > 0)
    _require(~state.done | clean, "the counters are out of range.")
    _check_lengths(state)


def check_states(states: list[LinearState], labels: list[Any]) -> None:
    """Raise a ValueError unless these can be states of one run on rows of these labels."""
    for state in states:
        _require(_kind(state) == _kind(states[0]), "the state of early stopping is that of another model.")
        known = state.leading_label is None or state.leading_label in labels
        _require(known, "the first label of the stream is none of the classes.")


def _kind(state: LinearState) -> tuple[Any, ...]:
    """Return what all states of one model have in common."""
    return state.w.shape, state.direct, state.fit_intercept, state.seed, state.pocket is None, state.log is None


def _check_lengths(state: LinearState) -> None:
    """Raise a ValueError where weights are longer than the steps and rows in the counters can have made them.

    Exact decisions rest on |w|^2 <= step_square_sum R^2 (times 2 where an update moves two classes).
    """
    counters, pocket = state.counters, state.pocket
    slack = 1.0 + 32.0 * HALF_ULP * (counters["updates"] + state.w.size + 8.0)
    with np.errstate(all="ignore"):
        steps, many = np.sqrt(counters["step_square_sum"]), np.sqrt(counters["updates"])
        reach = np.sqrt(np.maximum(counters["radius2"], _TINY)) * (2.0 if state.direct else 1.0) ** 0.5 * slack
        cached = counters["step_sum"] * counters["visits"] * reach * 2.0
        sound = (counters["updates"] > 0) == (counters["step_square_sum"] > 0)
        sound &= counters["step_sum"] <= steps * many * slack
        sound &= _lengths(state, state.w, state.b) <= steps * reach
        sound &= ~(_lengths(state, state.u, state.beta) > cached)
        if pocket is not None:
            sound &= _lengths(state, pocket.w, pocket.b) <= steps * reach
            sound &= _lengths(state, pocket.candidate_w, pocket.candidate_b) <= steps * reach
    _require(sound, "the weights are longer than their steps can have made them.")


def _lengths(state: LinearState, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the length of each (w, b), of all side by side where classes compete directly."""
    long = np.column_stack([w, b]).reshape(len(state.counters), -1)
    largest = np.maximum(np.abs(long).max(axis=1), sys.float_info.min)
    return largest * np.linalg.norm(long / largest[:, None], axis=1)


def _log_to_plain(log: UpdateLog) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    runs = [log.updates(k) for k in range(len(log.chunks))]
    arrays = {f"ballots.{name}": np.concatenate([getattr(run, name) for run in runs]) for name in Updates._fields}
    arrays["ballots.lengths"] = np.array([len(run.members) for run in runs], np.int64)
    if not log.blocks:
        return {"classes": log.n_classes, "rows": "none"}, arrays
    if not any(sp.issparse(block) for block in log.blocks):
        arrays["ballots.values"] = np.concatenate(log.blocks)
        return {"classes": log.n_classes, "rows": "dense"}, arrays
    rows = log.rows()
    if all(block.dtype == np.float32 for block in log.blocks):
        rows = rows.astype(np.float32)  # as they came: the same numbers in half the room
    rows.sort_indices()
    arrays |= {"ballots.values": rows.data, "ballots.indices": rows.indices, "ballots.starts": rows.indptr}
    return {"classes": log.n_classes, "rows": "csr"}, arrays


def _log_from_plain(header: Any, arrays: StrictArrays, state: LinearState, n_classes: int) -> UpdateLog:
    fields = StrictFields(header, "the state: 'ballots'")
    log = UpdateLog.empty(len(state.counters), fields.whole("classes"))
    rows = fields.word("rows", _ROWS)
    fields.end()
    _require(log.n_classes == (n_classes if state.direct else 0), "the votes are for other classes.")
    d = state.w.shape[1]
    if rows == "dense":
        log.blocks = [arrays.take("ballots.values", "f4 f8", (None, d))]
    elif rows == "csr":
        log.blocks = [_sparse_rows(arrays, d)]
    squares = np.zeros(0)
    if log.blocks:
        squares = _squares(log.rows()) + float(state.fit_intercept)
    lengths = arrays.take("ballots.lengths", "i8", (len(state.counters),))
    total = sum(lengths.tolist())
    types = {"members": "i8", "steps": "f8", "visits": "f8", "trues": "i8", "rivals": "i8"}
    parts = [arrays.take(f"ballots.{name}", types[name], (total,)) for name in Updates._fields]
    _require(_counts(lengths, state.counters["updates"]), "there are more voters than updates.")
    stops = np.cumsum(lengths)[:-1]
    for k, pieces in enumerate(zip(*(np.split(part, stops) for part in parts), strict=True)):
        update = Updates(*pieces)
        _check_updates(update, squares, state, k, n_classes)
        if len(update.members):
            log.chunks[k] = [update]
    used = np.zeros(len(squares), bool)
    used[parts[0]] = True
    _require(used, "a row is stored that no voter needs.")
    return log


def _check_updates(update: Updates, squares: np.ndarray, state: LinearState, k: int, n_classes: int) -> None:
    """Raise a ValueError unless these updates agree with the counters; ``squares`` are those of the rows."""
    wrong = "the voters are not valid."
    counters = state.counters[k]
    _require((update.members >= 0) & (update.members < len(squares)), wrong)
    _require(np.isfinite(update.steps) & ((update.steps > 0) if state.direct else (update.steps != 0)), wrong)
    _require(_counts(update.visits, counters["visits"] - 1), wrong)
    _require(np.diff(update.visits) > 0, wrong)
    for classes in (update.trues, update.rivals):
        _require((classes >= 0) & (classes < n_classes), wrong)
    _require(not state.direct or update.trues != update.rivals, wrong)
    sizes = np.abs(update.steps)
    slack = 1.0 + 32.0 * HALF_ULP * (len(sizes) + state.w.shape[1] + 8.0)
    with np.errstate(all="ignore"):
        _require(sizes.sum() <= counters["step_sum"] * slack, wrong)
        _require((sizes * sizes).sum() <= counters["step_square_sum"] * slack, wrong)
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
    _require(sound, "the stored rows are no valid CSR matrix.")
    return sp.csr_array((values, indices, starts), shape=(len(starts) - 1, d))
