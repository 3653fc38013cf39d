"""A state as plain data and arrays, and back: every bit that a run needs to go on, and checks that it can."""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from rosenblatt.kernels.rules import ArowRule
from rosenblatt.rounding import HALF_ULP
from rosenblatt.storage.schema import StrictArrays, StrictFields
from rosenblatt.training.dual.state import DualState, check_dual_state, dual_state_from_plain, dual_state_to_plain
from rosenblatt.training.fields import (
    COUNTER_TYPES,
    ROWS,
    TINY,
    check_run,
    check_updates,
    common_counters,
    counter_array,
    counters_from_plain,
    optional_counters,
    optional_counters_from_plain,
    require,
    rows_from_plain,
    rows_to_plain,
    run_from_plain,
    run_to_plain,
    steps_agree,
    sum_slack,
    updates_from_plain,
    updates_to_plain,
)
from rosenblatt.training.linear import LinearState, Pocket
from rosenblatt.training.options import RunOptions
from rosenblatt.training.state import UpdateLog

State: TypeAlias = Any
"""A `LinearState`, or a `DualState` for a kernel perceptron."""
_START = ("ballots.start_w", "ballots.start_b")
_POCKET = ("w", "b", "mistakes", "candidate_w", "candidate_b")


def state_to_plain(state: State) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return all that is known of a state as plain data and arrays; nothing about it changes."""
    return dual_state_to_plain(state) if isinstance(state, DualState) else _linear_to_plain(state)


def state_from_plain(
    header: Any, arrays: StrictArrays, n_classes: int, learner: Any = "Perceptron", options: RunOptions | None = None
) -> State:
    """Return the state that ``state_to_plain`` described, or raise a ValueError where it is not valid.

    ``learner`` is the name of the learner whose state it is, with its options; what is no kernel perceptron is linear.
    """
    if learner == "KernelPerceptron":
        return dual_state_from_plain(header, arrays, n_classes)
    return _linear_from_plain(header, arrays, n_classes, RunOptions() if options is None else options)


def check_state(state: State, n_classes: int) -> None:
    """Raise a ValueError unless what was learned and the counters are such as a run may leave behind."""
    if isinstance(state, DualState):
        check_dual_state(state, n_classes)
    else:
        _check_linear(state, n_classes)


def check_states(states: list[State], labels: list[Any]) -> None:
    """Raise a ValueError unless these can be states of one run on rows of these labels."""
    for state in states:
        require(_kind(state) == _kind(states[0]), "the state of early stopping is that of another model.")
        known = state.leading_label is None or state.leading_label in labels
        require(known, "the first label of the stream is none of the classes.")


def _kind(state: State) -> tuple[Any, ...]:
    """Return what all states of one model have in common."""
    shared = state.n_features, state.direct, state.seed, state.pocket is None
    if isinstance(state, DualState):
        return *shared, state.kernel
    return *shared, len(state.w), state.fit_intercept, state.log is None


# linear learners


def _linear_to_plain(state: LinearState) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    said, known = run_to_plain(state)
    more_counters = optional_counters(state)
    header: dict[str, Any] = {
        "direct": bool(state.direct),
        "fit_intercept": bool(state.fit_intercept),
        **said,
        "pocket": state.pocket is not None,
        "ballots": None,
    }
    arrays = {
        "w": state.w,
        "u": state.u,
        "tally.b": state.b,
        "tally.beta": state.beta,
        **{counter_array(name): _for_each_class(state, name) for name in [*common_counters(), *more_counters]},
        **known,
    }
    if more_counters:
        header["counters"] = more_counters
    if state.s is not None and state.s_b is not None:
        arrays |= {"variance": state.s, "tally.variance": state.s_b}
    if state.pocket is not None:
        arrays |= {f"pocket.{name}": getattr(state.pocket, name) for name in _POCKET}
    if state.log is not None:
        header["ballots"], more = _log_to_plain(state.log, state.n_features)
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


def _linear_from_plain(header: Any, arrays: StrictArrays, n_classes: int, options: RunOptions) -> LinearState:
    fields = StrictFields(header, "the state")
    w = arrays.take("w", "f8", (n_classes if n_classes > 2 else 1, None))
    k, d = w.shape
    more_counters = optional_counters_from_plain(fields)
    counters = counters_from_plain(arrays, k, more_counters)
    direct = fields.flag("direct")
    c = 1 if direct else k
    for name in COUNTER_TYPES if direct else ():
        unused = counters[name][1:]
        require(
            (unused == {"target": np.arange(1, k), "limit": -1}.get(name, 0)).all()
            or (name != "target" and (unused == counters[name][0]).all()),  # as 0.1 wrote after a class had come late
            "there are counters for classes that have none.",
        )
    state = LinearState(
        w=w,
        u=arrays.take("u", "f8", (k, d)),
        b=arrays.take("tally.b", "f8", (k,)),
        beta=arrays.take("tally.beta", "f8", (k,)),
        rule=options.rule,
        decay=float(options.decay),
        counters=counters[:c].copy(),
        direct=direct,
        fit_intercept=fields.flag("fit_intercept"),
        **run_from_plain(fields, arrays, c, d),
    )
    require(optional_counters(state) == more_counters, "there are counters that count nothing.")
    if not state.updates_right_rows:
        state.counters["pass_updates"] = state.counters["mistakes"]
    if isinstance(state.rule, ArowRule):
        state.s, state.s_b = arrays.take("variance", "f8", (k, d)), arrays.take("tally.variance", "f8", (k,))
    if fields.flag("pocket"):
        shapes = {"w": (k, d), "b": (k,), "mistakes": (c,), "candidate_w": (k, d), "candidate_b": (k,)}
        state.pocket = Pocket(**{name: arrays.take(f"pocket.{name}", "f8", shapes[name]) for name in _POCKET})
    log = fields.take("ballots")
    fields.end()
    _check_linear(state, n_classes)
    if log is not None:
        state.log = _log_from_plain(log, arrays, state, n_classes)
    return state


def _check_linear(state: LinearState, n_classes: int) -> None:
    check_run(state, n_classes)
    biases, weights = [state.b, state.beta], [state.w, state.u]
    if state.pocket is not None:
        require(state.pocket.mistakes >= 0, "the mistakes of the pocket are out of range.")
        weights += [state.pocket.w, state.pocket.candidate_w]
        biases += [state.pocket.b, state.pocket.candidate_b]
    for values in (*weights, *biases):
        require(np.isfinite(values), "some weights are not finite.")
    require(state.fit_intercept or not np.any(biases), "there is a bias where none was to be learned.")
    for variances in (state.s, state.s_b):
        in_range = variances is None or (variances >= 0) & (variances <= 1)
        require(in_range, "a variance is not between 0 and 1.")
    _check_lengths(state)


def _check_lengths(state: LinearState) -> None:
    """Raise a ValueError where weights are longer than the steps and rows in the counters can have made them.

    Exact decisions rest on |w|^2 <= step_square_sum R^2 + excess2 (the former times 2 where an update moves two
    classes).
    """
    counters, pocket = state.counters, state.pocket
    slack = 1.0 + 32.0 * HALF_ULP * (counters["updates"] + state.w.size + 8.0)
    with np.errstate(all="ignore"):
        steps = np.sqrt(counters["step_square_sum"])
        reach = np.sqrt(np.maximum(counters["radius2"], TINY)) * (2.0 if state.direct else 1.0) ** 0.5 * slack
        cached = counters["step_sum"] * counters["visits"] * reach * 2.0
        sound = steps_agree(counters, slack)
        longest = steps * reach + np.sqrt(counters["excess2"]) * slack
        sound &= _lengths(state, state.w, state.b) <= longest
        if state.decay == 0.0:
            sound &= ~(_lengths(state, state.u, state.beta) > cached)
        if pocket is not None:
            sound &= _lengths(state, pocket.w, pocket.b) <= longest
            sound &= _lengths(state, pocket.candidate_w, pocket.candidate_b) <= longest
    require(sound, "the weights are longer than their steps can have made them.")


def _lengths(state: LinearState, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the length of each (w, b), of all side by side where classes compete directly."""
    long = np.column_stack([w, b]).reshape(len(state.counters), -1)
    largest = np.maximum(np.abs(long).max(axis=1), sys.float_info.min)
    return largest * np.linalg.norm(long / largest[:, None], axis=1)


def _log_to_plain(log: UpdateLog, d: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    arrays = updates_to_plain([log.updates(k) for k in range(len(log.chunks))], "ballots.")
    start = log.start_weights(d)
    if start is not None:
        arrays |= dict(zip(_START, start, strict=True))
    if not log.blocks:
        return {"classes": log.n_classes, "rows": "none"}, arrays
    if any(sp.issparse(block) for block in log.blocks):
        rows = log.rows()
        if all(block.dtype == np.float32 for block in log.blocks):
            rows = rows.astype(np.float32)  # as they came: the same numbers in half the room
    else:
        rows = np.concatenate(log.blocks)
    kind, more = rows_to_plain(rows, "ballots.")
    return {"classes": log.n_classes, "rows": kind}, arrays | more


def _log_from_plain(header: Any, arrays: StrictArrays, state: LinearState, n_classes: int) -> UpdateLog:
    fields = StrictFields(header, "the state: 'ballots'")
    log = UpdateLog.empty(len(state.counters), fields.whole("classes"))
    kind = fields.word("rows", ROWS)
    fields.end()
    require(log.n_classes == (n_classes if state.direct else 0), "the votes are for other classes.")
    log.start = _start_from_plain(arrays, state)
    squares = np.zeros(0)
    if kind != "none":
        log.blocks = [rows_from_plain(kind, arrays, "ballots.", state.n_features)]
        squares = _squares(log.rows()) + float(state.fit_intercept)
    runs = updates_from_plain(arrays, "ballots.", len(state.counters))
    check_updates(runs, state, len(squares), n_classes, "voters")
    log.chunks = [[run] if len(run.members) else [] for run in runs]
    for run, counters in zip(runs, state.counters, strict=True):
        slack = sum_slack(len(run.members) + state.n_features)
        with np.errstate(all="ignore"):
            longest = max(counters["radius2"] * slack, TINY)
        require(squares[run.members] <= longest, "the voters are not valid.")
    return log


def _start_from_plain(arrays: StrictArrays, state: LinearState) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the weights that the first voters began with, None for zero."""
    moved = state.counters["start2"].any()
    require(moved == arrays.has(_START[0]), "the weights at the start are not those of the counters.")
    if not moved:
        return None
    w, b = arrays.take(_START[0], "f8", state.w.shape), arrays.take(_START[1], "f8", state.b.shape)
    require(np.isfinite(w).all() and np.isfinite(b).all(), "some weights are not finite.")
    require(state.fit_intercept or not b.any(), "there is a bias where none was to be learned.")
    slack = 1.0 + 32.0 * HALF_ULP * (w.size + 8.0)
    sound = _lengths(state, w, b) <= np.sqrt(state.counters["start2"]) * slack + sys.float_info.min
    require(sound, "the weights at the start are not those of the counters.")
    return w, b


def _squares(rows: Any) -> np.ndarray:
    """Return the squared length of each row."""
    with np.errstate(over="ignore"):
        return np.asarray(rows.power(2).sum(axis=1)).ravel() if sp.issparse(rows) else np.einsum("ij,ij->i", rows, rows)
