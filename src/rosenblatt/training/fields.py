"""What the files of all states say, whatever was learned: counters, history, and checks that a run can leave them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.blocks import is_canonical_csr
from rosenblatt.kernels.rules import COUNTERS
from rosenblatt.rounding import HALF_ULP
from rosenblatt.storage.schema import LARGEST, StrictArrays, StrictFields, label_to_json
from rosenblatt.training.state import RunState, Updates

TINY = 1e-280
"""Smaller squares are not accurate."""
COUNTER_TYPES = {name: COUNTERS[name].str[1:] for name in COUNTERS.names or ()}
_IN_FILES = {"step_square_sum": "energy", "max_step_norm2": "reach2"}
"""Names that files have for counters, where they differ."""
_OPTIONAL_COUNTERS = ("pass_updates", "start2", "excess2", "max_step", "epoch")
"""Counters that files have only where they are not 0; for perceptrons the updates of a pass are its mistakes."""


def require(sound: Any, fault: str) -> None:
    """Raise a ValueError with the sentence ``fault`` unless everything is ``sound``."""
    if not np.all(sound):
        raise ValueError(fault)


def are_counts(values: NDArray[Any], most: Any = LARGEST) -> NDArray[np.bool_]:
    """Return whether each is an integer from 0 to ``most``."""
    return (values >= 0) & (values <= np.minimum(most, LARGEST)) & (values == np.floor(values))


def counter_array(name: str) -> str:
    """Return the name of the array that holds a counter."""
    return f"tally.{_IN_FILES.get(name, name)}"


def counters_from_plain(arrays: StrictArrays, records: int, more: Sequence[str] = ()) -> NDArray[np.void]:
    """Return so many records of counters; ``more`` are those that not every file has."""
    counters = np.zeros(records, COUNTERS)
    for name, kind in COUNTER_TYPES.items():
        if name not in _OPTIONAL_COUNTERS or name in more:
            counters[name] = arrays.take(counter_array(name), kind, (records,))
    return counters


def optional_counters(state: RunState) -> list[str]:
    """Return the names of the counters that the file of this state has and others lack."""
    used = [name for name in _OPTIONAL_COUNTERS if state.counters[name].any()]
    return [name for name in used if name != "pass_updates" or state.updates_right_rows]


def optional_counters_from_plain(fields: StrictFields) -> list[str]:
    """Return the names that the header of a state has for ``optional_counters``."""
    names = fields.words("counters") if fields.has("counters") else []
    require(set(names) <= set(_OPTIONAL_COUNTERS), "there are counters that nothing counts.")
    return names


def common_counters() -> list[str]:
    """Return the names of the counters that the files of all states have."""
    return [name for name in COUNTER_TYPES if name not in _OPTIONAL_COUNTERS]


def run_to_plain(state: RunState) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what is known of a run besides its counters and what it has learned."""
    label = state.leading_label
    header = {
        "seed": int(state.seed),
        "radius": float(state.radius),
        "passes": int(state.passes),
        "lead": int(state.leading_run),
        "lead_label": None if label is None else label_to_json(label),
        "spread": state.feature_ranges is not None,
    }
    arrays: dict[str, NDArray[Any]] = {
        "done": state.done,
        "mistakes": np.array(state.mistakes, np.int64).reshape(len(state.mistakes), len(state.counters)),
        "validation_error": np.array(state.validation_error, np.float64),
    }
    if state.updates_right_rows:
        arrays["updates"] = np.array(state.pass_updates, np.int64).reshape(arrays["mistakes"].shape)
    if state.feature_ranges is not None:
        arrays["spread"] = state.feature_ranges
    return header, arrays


def run_from_plain(fields: StrictFields, arrays: StrictArrays, records: int, d: int) -> dict[str, Any]:
    """Return the fields of a state that ``run_to_plain`` wrote, for so many records of counters and features."""
    passes = fields.whole("passes")
    return {
        "done": arrays.take("done", "b1", (records,)),
        "seed": fields.whole("seed", most=2**4096),
        "radius": fields.number("radius", 0.0, sys.float_info.max),
        "leading_run": fields.whole("lead", -1),
        "leading_label": fields.take("lead_label"),
        "feature_ranges": arrays.take("spread", "f8", (d,)) if fields.flag("spread") else None,
        "passes": passes,
        "mistakes": list(arrays.take("mistakes", "i8", (passes, records))),
        "pass_updates": list(arrays.take("updates", "i8", (passes, records))) if arrays.has("updates") else [],
        "validation_error": arrays.take("validation_error", "f8", (None,)).tolist(),
    }


def check_run(state: RunState, n_classes: int) -> None:
    """Raise a ValueError unless counters and history are such as a run may leave behind."""
    _check_counters(state, n_classes)
    counters, ranges, label = state.counters, state.feature_ranges, state.leading_label
    require(state.n_features > 0, "there are no features.")
    require(not state.direct or n_classes > 2, "classes compete directly only where there are more than two.")
    require(label is None or label_to_json(label) == label, "the first label of the stream is no label.")
    require(ranges is None or ranges >= 0, "the ranges of the features are out of range.")
    errors = np.array(state.validation_error)
    require((errors >= 0) & (errors <= 1), "a validation error is out of range.")
    require(len(errors) <= state.passes, "there are more validation errors than passes.")
    history = np.array(state.mistakes, np.int64)
    require((history >= -1) & (history <= LARGEST), "the mistakes by pass are out of range.")
    updates = np.array(state.pass_updates, np.int64)
    require(len(updates) == (len(history) if state.updates_right_rows else 0), "the updates by pass are missing.")
    require((updates >= -1) & (updates <= LARGEST), "the updates by pass are out of range.")
    require(not len(updates) or ((updates < 0) == (history < 0)), "the updates by pass are out of range.")
    clean = (counters["mistakes"] == 0) & (counters["lowest"] > 0)
    require(~state.done | clean, "the counters are out of range.")


def _check_counters(state: RunState, n_classes: int) -> None:
    """Raise a ValueError where a counter is out of its range."""
    counters = state.counters
    require(counters["target"] == (np.arange(len(counters)) if n_classes != 2 else 1), "a class has a wrong number.")
    wrong = "the counters are out of range."
    require(are_counts(counters["visits"]), wrong)
    for name in ("updates", "mistakes", "pass_updates", "last_change", "longest"):
        require(are_counts(counters[name], counters["visits"]), wrong)
    require(counters["pass_updates" if state.updates_right_rows else "mistakes"] <= counters["updates"], wrong)
    require(are_counts(counters["epoch"], counters["visits"]), wrong)
    for name in ("start2", "excess2", "max_step"):
        require((counters[name] >= 0) & np.isfinite(counters[name]), wrong)
    require(counters["excess2"] >= counters["start2"], wrong)
    require(counters["limit"] >= -1, wrong)
    for name in ("step_sum", "step_square_sum", "radius2", "max_step_norm2"):
        require(counters[name] >= 0, wrong)
    require(~np.isnan(counters["lowest"]) & ~np.isnan(counters["lowest_step"]), wrong)


def steps_agree(counters: NDArray[np.void], slack: Any, least: float = 0.0) -> NDArray[np.bool_]:
    """Return whether so many steps can have the sum and the sum of squares that the counters say.

    Each square is taken to be at least ``least``.
    """
    with np.errstate(all="ignore"):
        squares = np.maximum(counters["step_square_sum"], least * counters["updates"])
        sound: NDArray[np.bool_] = (counters["updates"] > 0) == (squares > 0)
        return sound & (counters["step_sum"] <= np.sqrt(squares) * np.sqrt(counters["updates"]) * slack)


# Updates and the rows that they were made on, as arrays of a file, and back; what no run can have made is refused.


ROWS = ("none", "dense", "csr")
"""How a file says that rows are stored."""
_TYPES = {"members": "i8", "steps": "f8", "visits": "f8", "trues": "i8", "rivals": "i8"}
Arrays = dict[str, NDArray[Any]]


def updates_to_plain(runs: list[Updates], prefix: str) -> Arrays:
    """Return the updates of all classifiers as arrays whose names start with ``prefix``."""
    arrays = {f"{prefix}{name}": np.concatenate([getattr(run, name) for run in runs]) for name in Updates._fields}
    arrays[f"{prefix}lengths"] = np.array([len(run.members) for run in runs], np.int64)
    return arrays


def updates_from_plain(arrays: StrictArrays, prefix: str, classifiers: int) -> list[Updates]:
    """Return the updates of each classifier, of the right types and lengths and not checked otherwise."""
    lengths = arrays.take(f"{prefix}lengths", "i8", (classifiers,))
    require(lengths >= 0, "the updates have a wrong number.")
    total = sum(lengths.tolist())
    parts = [arrays.take(f"{prefix}{name}", _TYPES[name], (total,)) for name in Updates._fields]
    stops = np.cumsum(lengths)[:-1]
    return [Updates(*pieces) for pieces in zip(*(np.split(part, stops) for part in parts), strict=True)]


def check_updates(runs: list[Updates], state: RunState, n_rows: int, n_classes: int, words: str) -> None:
    """Raise a ValueError, where updates are called ``words``, unless those of each classifier agree with its counters.

    The counters may speak of more updates. Each of the rows, so many, has to be one that an update was made on.
    """
    wrong = f"the {words} are not valid."
    used = np.zeros(n_rows, bool)
    for run, counters in zip(runs, state.counters, strict=True):
        require(len(run.members) <= counters["updates"], f"there are more {words} than the counters say.")
        require((run.members >= 0) & (run.members < n_rows), wrong)
        require(np.isfinite(run.steps) & ((run.steps > 0) if state.direct else (run.steps != 0)), wrong)
        require(are_counts(run.visits, counters["visits"] - 1), wrong)
        require(np.diff(run.visits) > 0, wrong)
        for classes in (run.trues, run.rivals):
            require((classes >= 0) & (classes < n_classes), wrong)
        require(not state.direct or run.trues != run.rivals, wrong)
        sizes, slack = np.abs(run.steps), sum_slack(len(run.steps))
        with np.errstate(all="ignore"):
            require(sizes.sum() <= counters["step_sum"] * slack, wrong)
            require((sizes * sizes).sum() <= counters["step_square_sum"] * slack, wrong)
        used[run.members] = True
    require(used, "a row is stored that no update needs.")


def sum_slack(terms: int) -> float:
    """Return a factor above 1 that covers the rounding of sums of so many terms."""
    return 1.0 + 32.0 * HALF_ULP * (terms + 8.0)


# rows


def rows_to_plain(rows: Any, prefix: str) -> tuple[str, Arrays]:
    """Return how rows are stored, one of ``ROWS``, and their arrays; nothing is rounded."""
    if not sp.issparse(rows):
        return "dense", {f"{prefix}values": np.ascontiguousarray(rows)}
    rows = rows if rows.has_sorted_indices else rows.sorted_indices()
    return "csr", {f"{prefix}values": rows.data, f"{prefix}indices": rows.indices, f"{prefix}starts": rows.indptr}


def rows_from_plain(kind: str, arrays: StrictArrays, prefix: str, d: int) -> Any:
    """Return the stored rows as a matrix of ``d`` columns; a ValueError where a number is not finite."""
    rows: Any
    if kind == "dense":
        values = rows = arrays.take(f"{prefix}values", "f4 f8", (None, d))
    else:
        rows = _sparse_rows(arrays, prefix, d)
        values = rows.data
    require(np.isfinite(values), "the stored rows are not finite.")
    return rows


def _sparse_rows(arrays: StrictArrays, prefix: str, d: int) -> sp.csr_array:
    """Return the stored rows of a CSR matrix of ``d`` columns; indices in order, none twice in a row."""
    values = arrays.take(f"{prefix}values", "f4 f8", (None,))
    indices = arrays.take(f"{prefix}indices", "i4 i8", (len(values),))
    starts = arrays.take(f"{prefix}starts", "i4 i8", (None,))
    require(len(starts) > 1 and is_canonical_csr(starts, indices, d), "the stored rows are no valid CSR matrix.")
    return sp.csr_array((values, indices, starts), shape=(len(starts) - 1, d))
