"""Updates and the rows that they were made on, as arrays of a file, and back; what no run can have made is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.rounding import HALF_ULP
from rosenblatt.storage.array_fields import StrictArrays
from rosenblatt.training.run_state import RunState
from rosenblatt.training.state_fields import are_counts, require
from rosenblatt.training.updates import Updates

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
    sound = len(starts) > 1 and starts[0] == 0 and starts[-1] == len(values)
    sound = sound and bool(np.all(starts[1:] >= starts[:-1]))
    sound = sound and np.min(indices, initial=0) >= 0 and np.max(indices, initial=0) < d
    if sound:
        rising = np.ones(len(indices) + 1, bool)
        rising[1:-1] = indices[1:] > indices[:-1]
        rising[starts] = True  # a row may start anywhere
        sound = bool(rising.all())
    require(sound, "the stored rows are no valid CSR matrix.")
    return sp.csr_array((values, indices, starts), shape=(len(starts) - 1, d))
