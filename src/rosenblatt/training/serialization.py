"""Write the state of a training run to files and read it back, so that a resumed run gives the same bits.

What is read is checked: types, shapes, ranges, and all numbers that index an array. Counters are not compared with each
other. In a forged file they may contradict each other; then the report of the file's model is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Annotated

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.blocks import is_canonical_csr
from rosenblatt.kernels.rules import COUNTERS, ArowRule
from rosenblatt.rounding import HALF_ULP
from rosenblatt.storage.schema import (
    LABEL,
    LARGEST,
    PLAIN,
    Codec,
    Floats,
    Place,
    Share,
    Wide,
    array,
    integer,
    number,
    read_fields,
    record,
    string,
    write_fields,
)
from rosenblatt.storage.schema import size as size_of
from rosenblatt.training.dual.state import DualPocket, DualState, SupportRows
from rosenblatt.training.early_stopping import BestPass
from rosenblatt.training.linear import LinearState, Pocket, returned_to_zero
from rosenblatt.training.options import (
    FUNCTION,
    KERNELS,
    MAX_DEGREE,
    NOT_SAVABLE,
    ArowOptions,
    Kernel,
    RunOptions,
)
from rosenblatt.training.rows import Matrix
from rosenblatt.training.state import CutPass, RunState, UpdateLog, Updates, join_updates, new_counters

_TINY = 1e-280
"""Squares below this may have lost digits to underflow."""


# counters and history


def _counter(name: str) -> Codec:
    if name in ("lowest", "lowest_step"):
        return array("f8", "judged", finite=False)
    if name in ("updates", "mistakes", "pass_updates", "limit"):
        return array("i8", "judged", least=-1 if name == "limit" else 0, most=LARGEST)
    if name in ("visits", "last_change", "longest", "epoch"):
        return array("f8", "judged", least=0, most=LARGEST, integral=True)
    return array("f8", "judged", least=0, finite=False)


_COUNTER_CODECS = {name: _counter(name) for name in COUNTERS.names or () if name != "target"}
"""The codecs of counters in files. ``target``, the class of a classifier, is not stored: its index determines it."""


def _write_counters(counters: NDArray[np.void], place: Place) -> dict[str, str]:
    return {name: codec.write(counters[name], place.at(name)) for name, codec in _COUNTER_CODECS.items()}


def _read_counters(data: object, place: Place) -> NDArray[np.void]:
    if type(data) is not dict or data.keys() != _COUNTER_CODECS.keys():
        raise place.error(f"arrays named {', '.join(_COUNTER_CODECS)}", data)
    sizes = place.sizes
    counters = new_counters(sizes["classes"], sizes["judged"] < sizes["classes"])["counters"]
    for name, codec in _COUNTER_CODECS.items():
        counters[name] = codec.read(data[name], place.at(name))
    return counters


_BY_PASS = array("i8", "passes", "judged", least=-1, most=LARGEST)
_ERRORS = array("f8", None, least=0, most=1)
_History = Annotated[
    list[NDArray[np.int64]],
    Codec(
        lambda values, place: _BY_PASS.write(np.array(values), place) if values else None,
        lambda data, place: [] if data is None else list(_BY_PASS.read(data, place)),
    ),
]
_Errors = Annotated[
    list[float],
    Codec(
        lambda values, place: _ERRORS.write(np.array(values, np.float64), place),
        lambda data, place: _ERRORS.read(data, place).tolist(),
    ),
]


class RunFields:
    """The fields in files of every state, named like the attributes of `RunState`."""

    direct: bool
    counters: Annotated[NDArray[np.void], Codec(_write_counters, _read_counters)]
    done: Annotated[NDArray[np.bool_], array("b1", "judged")]
    seed: Annotated[int, integer(0, 2**4096)]
    radius: Annotated[float, number(0.0)]
    leading_run: Annotated[int, integer(-1)]
    leading_label: Annotated[object, LABEL] | None = None
    feature_ranges: Annotated[NDArray[np.float64], array("f8", "features", least=0, finite=False)] | None = None
    mistakes: _History
    pass_updates: _History
    validation_error: _Errors
    held_out_rows: int | None = None
    cut: CutPass | None = None
    mixed_shards: int
    inseparable: Annotated[NDArray[np.bool_], array("b1", "judged")] | None = None


# updates, and the rows on which they were made


class _UpdateFields:
    """The updates of all classifiers, concatenated. ``lengths`` has the number of updates of each classifier."""

    lengths: Annotated[NDArray[np.int64], array("i8", "judged", least=0, most=LARGEST)]
    members: Annotated[NDArray[np.int64], array("i8", "updates", least=0, below="rows")]
    steps: Annotated[NDArray[np.float64], array("f8", "updates")]
    visits: Annotated[NDArray[np.float64], array("f8", "updates", least=0, most=LARGEST, integral=True)]
    trues: Annotated[NDArray[np.int64], array("i8", "updates", least=0, below="classes")]
    rivals: Annotated[NDArray[np.int64], array("i8", "updates", least=0, below="classes")]


def _write_updates(runs: Sequence[Updates], place: Place) -> dict[str, object]:
    parts = {name: np.concatenate([getattr(run, name) for run in runs]) for name in Updates._fields}
    lengths = np.array([len(run.members) for run in runs], np.int64)
    return write_fields(_UpdateFields, SimpleNamespace(lengths=lengths, **parts), place)


def _read_updates(data: object, place: Place) -> list[list[Updates]]:
    """Return, for each classifier, a list with its updates as one `Updates`; the list is empty without updates."""
    found = read_fields(_UpdateFields, data, place)
    lengths = found["lengths"]
    if sum(lengths.tolist()) != place.sizes["updates"]:
        raise place.at("lengths").error(f"numbers that sum to {place.sizes['updates']:,}", lengths.tolist())
    stops = np.cumsum(lengths)[:-1]
    pieces = zip(*(np.split(found[name], stops) for name in Updates._fields), strict=True)
    return [[Updates(*piece)] if len(piece[0]) else [] for piece in pieces]


_DENSE = array("f4 f8", "rows", "features")


class _CsrFields:
    values: Annotated[np.ndarray, array("f4 f8", "entries")]
    indices: Annotated[np.ndarray, array("i4 i8", "entries", least=0, below="features")]
    starts: Annotated[np.ndarray, array("i4 i8", None, least=0)]


def _write_rows(rows: Matrix, place: Place) -> object:
    """Return dense rows as an array and CSR rows as three arrays, without changing their types."""
    if not sp.issparse(rows):
        return _DENSE.write(rows, place)
    rows = rows if rows.has_sorted_indices else rows.sorted_indices()
    return write_fields(_CsrFields, SimpleNamespace(values=rows.data, indices=rows.indices, starts=rows.indptr), place)


def _read_rows(data: object, place: Place) -> Matrix:
    if type(data) is not dict:
        return _DENSE.read(data, place)
    found = read_fields(_CsrFields, data, place)
    values, indices, starts = found["values"], found["indices"], found["starts"]
    sound = len(starts) > 1 and is_canonical_csr(starts, indices, place.sizes["features"])
    if not sound or not place.has_size("rows", len(starts) - 1):
        raise place.error("a valid CSR matrix with sorted indices", "an invalid or unsorted one")
    return sp.csr_array((values, indices, starts), shape=(len(starts) - 1, place.sizes["features"]))


_Rows = Annotated[Matrix, Codec(_write_rows, _read_rows)]
_Updates = Annotated[list[list[Updates]], Codec(_write_updates, _read_updates)]


# linear learners


class _PocketFields:
    w: Wide
    b: Floats
    mistakes: Annotated[NDArray[np.float64], array("f8", "judged", least=0, finite=False)]
    candidate_w: Wide
    candidate_b: Floats


class _LogFields:
    rows: _Rows | None
    updates: _Updates
    start_w: Wide | None = None
    start_b: Floats | None = None


def _write_log(log: UpdateLog, place: Place) -> dict[str, object]:
    updates = [log.updates(k) for k in range(len(log.chunks))]  # first: this also stores their rows
    start_w, start_b = log.start_weights(place.sizes["features"]) or (None, None)
    rows = None
    if any(map(sp.issparse, log.blocks)):
        rows = log.rows()
        if all(block.dtype == np.float32 for block in log.blocks):
            rows = rows.astype(np.float32)  # the same numbers in half the memory
    elif log.blocks:
        rows = np.concatenate(log.blocks)
    return write_fields(
        _LogFields, SimpleNamespace(rows=rows, updates=updates, start_w=start_w, start_b=start_b), place
    )


def _read_log(data: object, place: Place) -> UpdateLog:
    found = read_fields(_LogFields, data, _without_rows(data, place))
    start, sizes = (found["start_w"], found["start_b"]), place.sizes
    if (start[0] is None) != (start[1] is None):
        raise place.error("a log with both initial weights and biases, or neither", "one of them")
    return UpdateLog(
        blocks=[] if found["rows"] is None else [found["rows"]],
        chunks=found["updates"],
        n_classes=sizes["classes"] if sizes["judged"] < sizes["scores"] else 0,
        start=None if start[0] is None else start,
    )


def _without_rows(data: object, place: Place) -> Place:
    """Return ``place``. If no rows are stored, set the number of rows to 0, so that updates cannot refer to a row."""
    if type(data) is dict and data.get("rows") is None:
        place.has_size("rows", 0)
    return place


class LinearFields(RunFields):
    """The fields in files of a linear learner's state, named like the attributes of `LinearState`."""

    fit_intercept: bool
    w: Wide
    u: Wide
    b: Floats
    beta: Floats
    s: Annotated[NDArray[np.float64], array("f8", "scores", "features", least=0, most=1)] | None = None
    s_b: Annotated[NDArray[np.float64], array("f8", "scores", least=0, most=1)] | None = None
    pocket: Annotated[Pocket, record(_PocketFields, Pocket)] | None = None
    log: Annotated[UpdateLog, Codec(_write_log, _read_log)] | None = None
    threshold: float | None = None
    r: Annotated[float, number(math.ulp(0.0))] | None = None


def _restore_bounds(state: LinearState) -> None:
    """Correct the counters that bound the norms of weights, in case a forged file violates the bounds.

    Exact signs depend on these bounds. The first is ``|w|^2 <= step_square_sum R^2 + excess2`` for rows of norm at most
    R, with the first term doubled if an update moves two classes. Votes also depend on a bound on the norm of the
    initial weights. In files that `save` wrote, both bounds hold within rounding, and the counters are not changed. The
    mark of inseparability is removed from classifiers whose weights are not zero.
    """
    counters = state.counters
    if state.inseparable is not None:
        state.inseparable &= returned_to_zero(state)
    slack = 1.0 + 32.0 * HALF_ULP * (counters["updates"] + state.w.size + 8.0)
    with np.errstate(all="ignore"):
        steps2 = counters["step_square_sum"] * np.maximum(counters["radius2"], _TINY) * (2.0 if state.direct else 1.0)
        squares = _squared_lengths(state, state.w, state.b)
        proved = squares <= (steps2 + counters["excess2"]) * slack
        counters["excess2"] = np.where(proved, counters["excess2"], squares)
        if state.log is not None and state.log.start is not None:
            squares = _squared_lengths(state, *state.log.start)
            counters["start2"] = np.where(squares <= counters["start2"] * slack, counters["start2"], squares)


def _squared_lengths(state: LinearState, w: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an upper bound on the squared norm of each classifier's weights and bias.

    If classes compete directly, return one bound for the weights and biases of all classes together.
    """
    long = np.column_stack([w, b]).reshape(len(state.counters), -1)
    return np.einsum("ij,ij->i", long, long) * (1.0 + 8.0 * (long.shape[1] + 8.0) * HALF_ULP)


# kernel perceptrons


class _KernelFields:
    name: Annotated[str, string(*KERNELS)]
    degree: Annotated[int, integer(0)]
    gamma: Annotated[float, number(0.0)]
    coef0: float


def _read_kernel(data: object, place: Place) -> Kernel:
    kernel = Kernel(**read_fields(_KernelFields, data, place))
    if kernel.name == "poly" and kernel.degree > MAX_DEGREE:
        raise place.at("degree").error(f"at most {MAX_DEGREE:,}", kernel.degree)
    return kernel


_NUMBERS = array("i8", "rows", least=0, most=LARGEST)


def _write_supports(supports: SupportRows, place: Place) -> dict[str, object]:
    rows = supports.matrix(place.sizes["features"]) if supports.blocks else None
    numbers = np.array(supports.numbers, np.int64)
    return {
        "numbers": _NUMBERS.write(numbers, place.at("numbers")),
        "rows": None if rows is None else _write_rows(rows, place.at("rows")),
    }


class _SupportFields:
    numbers: Annotated[NDArray[np.int64], _NUMBERS]
    rows: _Rows | None


def _read_supports(data: object, place: Place) -> SupportRows:
    found = read_fields(_SupportFields, data, place)
    supports = SupportRows()
    supports.append(found["rows"], found["numbers"].tolist())
    if len(supports.places) < len(supports.numbers):
        raise place.at("numbers").error("different numbers", "one of them twice")
    return supports


class _DualPocketFields:
    updates: Annotated[NDArray[np.int64], array("i8", "judged", least=0, most=LARGEST)]
    mistakes: Annotated[NDArray[np.float64], array("f8", "judged", least=0, finite=False)]
    candidate: Annotated[NDArray[np.int64], array("i8", "judged", least=0, most=LARGEST)]


def _write_chunks(chunks: list[list[Updates]], place: Place) -> dict[str, object]:
    return _write_updates(list(map(join_updates, chunks)), place)


class DualFields(RunFields):
    """The fields in files of a kernel perceptron's state, named like the attributes of `DualState`."""

    kernel: Annotated[Kernel, Codec(record(_KernelFields).write, _read_kernel)]
    width: Annotated[int, size_of("features", 1)]
    rows_seen: int
    norm2: Annotated[NDArray[np.float64], array("f8", "judged")]
    supports: Annotated[SupportRows, Codec(_write_supports, _read_supports)]
    updates: Annotated[list[list[Updates]], Codec(_write_chunks, _read_updates)]
    pocket: Annotated[DualPocket, record(_DualPocketFields, DualPocket)] | None = None


# all states


def write_state(state: RunState, place: Place) -> dict[str, object]:
    """Return a state as plain data, and store its arrays at ``place``. The state does not change.

    A ValueError is raised if the kernel is a Python function, which cannot be written to a file.
    """
    place = place.alone(features=state.n_features)
    if not isinstance(state, DualState):
        return write_fields(LinearFields, state, place)
    if state.kernel.name == FUNCTION:
        raise ValueError(NOT_SAVABLE)
    return write_fields(DualFields, state, place)


def read_state(data: object, place: Place, n_classes: int, learner: str, options: RunOptions) -> RunState:
    """Return the state that `write_state` wrote; raise a ValueError if it is not valid."""
    direct = type(data) is dict and data.get("direct") is True
    if direct and n_classes <= 2:
        raise place.at("direct").error("false for fewer than three classes", True)
    scores = n_classes if n_classes > 2 else 1
    place = place.alone(classes=n_classes, scores=scores, judged=1 if direct else scores)
    read = _read_dual_state if learner == "KernelPerceptron" else _read_linear_state
    state = read(data, place, learner, options)
    state.passes = len(state.mistakes)
    if len(state.pass_updates) != (state.passes if state.updates_right_rows else 0):
        raise place.at("pass_updates").error(
            "a count for each pass if correct rows can cause updates, else empty", state.pass_updates
        )
    if len(state.validation_error) > state.passes or (state.cut is not None and not state.passes):
        raise place.at("mistakes").error("an array with a row for each pass", f"{state.passes:,} rows")
    return state


def _read_dual_state(data: object, place: Place, learner: str, options: RunOptions) -> RunState:
    state = DualState(n_classes=place.sizes["classes"], **read_fields(DualFields, data, place))
    if (state.supports.blocks == []) != (state.kernel.name == "precomputed" or not len(state.supports)):
        raise place.at("supports.rows").error("present if and only if the kernel needs rows", "the opposite")
    if state.kernel.name == "precomputed" and max(state.supports.numbers, default=0) >= state.width:
        raise place.at("supports.numbers").error(f"numbers below {state.width:,}", max(state.supports.numbers))
    return state


def _read_linear_state(data: object, place: Place, learner: str, options: RunOptions) -> RunState:
    found = read_fields(LinearFields, data, place)
    r, is_arow = found.pop("r"), isinstance(options, ArowOptions)
    variances = 2 if is_arow else 0
    if (found["s"] is not None) + (found["s_b"] is not None) != variances:
        raise place.at("s").error("present for AROW and absent for every other learner", learner)
    if (r is not None and not is_arow) or (r is None and options.needs_data):
        raise place.at("r").error("a number for AROW and absent for every other learner", r)
    rule = options.rule if r is None else ArowRule(1.0, r)
    state = LinearState(rule=rule, decay=float(options.decay), **found)
    if state.threshold is not None and place.sizes["classes"] != 2:
        raise place.at("threshold").error("absent, unless there are two classes", state.threshold)
    if not state.n_features:
        raise place.at("w").error("an array with at least one feature, as records without features teach no weights", 0)
    _restore_bounds(state)
    return state


def check_alike(state: RunState, other: RunState, place: Place) -> RunState:
    """Return the ``other`` state; raise a ValueError unless both states can belong to the same run."""
    known, found = (
        (one.n_features, one.direct, getattr(one, "kernel", None), getattr(one, "rule", None)) for one in (state, other)
    )
    if known != found:
        raise place.error("of the same model as the other states", found)
    return other


# the best pass of early stopping


class _BestFields:
    state: Annotated[object, PLAIN]
    error: Share
    passes_since: int


def write_best(best: BestPass, place: Place) -> dict[str, object]:
    """Return the best pass as plain data, and store its arrays at ``place``. ``best.state`` must not be None."""
    assert best.state is not None
    state = write_state(best.state, place.at("state"))
    return {"state": state, "error": float(best.error), "passes_since": int(best.passes_since)}


def read_best(
    data: object, place: Place, last: RunState, n_classes: int, learner: str, options: RunOptions
) -> BestPass:
    """Return the best pass that `write_best` wrote, for the run whose last state is ``last``.

    A ValueError is raised if the data is not valid.
    """
    found = read_fields(_BestFields, data, place)
    state = read_state(found["state"], place.at("state"), n_classes, learner, options)
    check_alike(last, state, place)
    if not 1 <= state.passes <= last.passes:
        raise place.error(f"a state after 1 to {last.passes:,} passes", f"one after {state.passes:,}")
    return BestPass(state, found["error"], found["passes_since"])
