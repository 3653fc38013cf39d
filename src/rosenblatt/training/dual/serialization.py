"""The state of a kernel perceptron as plain data and arrays, and back; what no run can have left is refused."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.storage.array_fields import StrictArrays
from rosenblatt.storage.json_fields import LARGEST, StrictFields
from rosenblatt.training.dual.state import DualPocket, DualState, SupportRows
from rosenblatt.training.kernel import FUNCTION, KERNELS, MOST_DEGREE, NO_FILE, Kernel
from rosenblatt.training.run_state import new_counters
from rosenblatt.training.state_fields import (
    TINY,
    are_counts,
    check_run,
    common_counters,
    counter_array,
    counters_from_plain,
    require,
    run_from_plain,
    run_to_plain,
    steps_agree,
)
from rosenblatt.training.update_fields import (
    ROWS,
    check_updates,
    rows_from_plain,
    rows_to_plain,
    sum_slack,
    updates_from_plain,
    updates_to_plain,
)

_POCKET = {"updates": "i8", "mistakes": "f8", "candidate": "i8"}


def dual_state_to_plain(state: DualState) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return all that is known of a state as plain data and arrays; nothing about it changes.

    Support rows are stored as they were given, float32 or float64, dense or CSR. A ValueError where the kernel is a
    function.
    """
    if state.kernel.name == FUNCTION:
        raise ValueError(NO_FILE)
    said, arrays = run_to_plain(state)
    rows = "none"
    if state.supports.blocks:
        rows, more = rows_to_plain(state.support_matrix(), "supports.")
        arrays |= more
    header = {
        "direct": bool(state.direct),
        **said,
        "pocket": state.pocket is not None,
        "kernel": {
            "name": state.kernel.name,
            "degree": int(state.kernel.degree),
            "gamma": float(state.kernel.gamma),
            "coef0": float(state.kernel.coef0),
        },
        "width": int(state.width),
        "rows_seen": int(state.rows_seen),
        "rows": rows,
    }
    arrays |= {counter_array(name): state.counters[name] for name in common_counters()}
    arrays |= {"norm2": state.norm2, "supports.numbers": np.array(state.supports.numbers, np.int64)}
    arrays |= updates_to_plain([state.updates_of(k) for k in range(len(state.counters))], "updates.")
    if state.pocket is not None:
        arrays |= {f"pocket.{name}": getattr(state.pocket, name) for name in _POCKET}
    return header, arrays


def dual_state_from_plain(header: Any, arrays: StrictArrays, n_classes: int) -> DualState:
    """Return the state that ``dual_state_to_plain`` described, or raise a ValueError where it is not valid."""
    fields = StrictFields(header, "the state")
    kernel, width = _kernel(fields.part("kernel")), fields.whole("width", 1)
    direct = fields.flag("direct")
    judged = len(new_counters(n_classes, direct)["counters"])
    state = DualState(
        kernel=kernel,
        n_classes=n_classes,
        width=width,
        counters=counters_from_plain(arrays, judged),
        direct=direct,
        norm2=arrays.take("norm2", "f8", (judged,)),
        rows_seen=fields.whole("rows_seen"),
        **run_from_plain(fields, arrays, judged, width),
    )
    state.supports = _supports(fields.word("rows", ROWS), arrays, state)
    runs = updates_from_plain(arrays, "updates.", judged)
    state.updates = [[run] if len(run.members) else [] for run in runs]
    if fields.flag("pocket"):
        state.pocket = DualPocket(
            **{name: arrays.take(f"pocket.{name}", kind, (judged,)) for name, kind in _POCKET.items()}
        )
    fields.end()
    check_dual_state(state, n_classes)
    return state


def _kernel(fields: StrictFields) -> Kernel:
    largest = sys.float_info.max
    kernel = Kernel(
        name=fields.word("name", KERNELS),
        degree=fields.whole("degree"),
        gamma=fields.number("gamma", 0.0, largest),
        coef0=fields.number("coef0", -largest, largest),
    )
    fields.end()
    degree = kernel.degree if kernel.name == "poly" else 0
    require(degree <= MOST_DEGREE, f"the degree of a kernel in a file must be at most {MOST_DEGREE:,}, got {degree:,}.")
    return kernel


def _supports(kind: str, arrays: StrictArrays, state: DualState) -> SupportRows:
    """Return the support rows with their numbers; for a precomputed kernel these alone."""
    numbers = arrays.take("supports.numbers", "i8", (None,))
    stored = len(numbers) > 0 and state.kernel.name != "precomputed"
    require((kind != "none") == stored, "the support rows are not those of the kernel.")
    rows = rows_from_plain(kind, arrays, "supports.", state.width) if stored else None
    require(rows is None or rows.shape[0] == len(numbers), "each support row must have one number.")
    supports = SupportRows()
    supports.append(rows, numbers.tolist())
    return supports


def check_dual_state(state: DualState, n_classes: int) -> None:
    """Raise a ValueError unless the updates and counters are such as a run may leave behind."""
    check_run(state, n_classes)
    numbers = np.array(state.supports.numbers, np.int64)
    limit = state.width if state.kernel.name == "precomputed" else LARGEST
    require(are_counts(numbers, limit - 1), "the numbers of the support rows are out of range.")
    require(len(state.supports.places) == len(numbers), "a support row has the number of another.")
    runs = [state.updates_of(k) for k in range(len(state.counters))]
    check_updates(runs, state, len(numbers), n_classes, "updates")
    require(np.isfinite(state.norm2), "the squared lengths are out of range.")
    for k, run in enumerate(runs):
        counters, sizes, slack = state.counters[k], np.abs(run.steps), sum_slack(int(state.counters["updates"][k]))
        require(steps_agree(counters, slack, TINY), "the counters are not those of the updates.")
        with np.errstate(all="ignore"):
            if len(sizes) == counters["updates"]:  # else rows were dropped, and their updates with them
                sound = counters["step_sum"] <= sizes.sum() * slack
                sound &= counters["step_square_sum"] <= ((sizes * sizes).sum() + TINY * len(sizes)) * slack
                require(sound, "the counters are not those of the updates.")
            length = math.sqrt(2.0) * float(counters["step_sum"]) * state.radius
            rounding = length * length * (slack - 1.0)
        require(not state.kernel.has_space or state.norm2[k] >= -rounding, "the squared lengths are out of range.")
        if state.pocket is not None:
            _check_pocket(state.pocket, k, len(sizes))


def _check_pocket(pocket: DualPocket, k: int, updates: int) -> None:
    for made in (pocket.updates[k], pocket.candidate[k]):
        require(0 <= made <= updates, "the pocket has more updates than were made.")
    require(pocket.mistakes[k] >= 0, "the mistakes of the pocket are out of range.")
