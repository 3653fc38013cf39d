"""States of kernel perceptrons from strangers: nothing that a run could not have left, at no great cost."""

import copy
import json
import tracemalloc

import numpy as np
import pytest

from helpers.dual_states import CLASSES, back, becomes, kernel, put, says, trained
from helpers.forging import alike
from rosenblatt.storage.schema import StrictArrays
from rosenblatt.training.dual.state import MOST_DEGREE, DualState
from rosenblatt.training.options import Kernel
from rosenblatt.training.serialization import state_from_plain, state_to_plain
from rosenblatt.training.state import Updates

COMMON = [
    *(
        put(f"tally.{name}", value, 0)
        for name in ("visits", "last_change", "longest")
        for value in (np.nan, -1, 0.5, 1e300)
    ),
    *(put(f"tally.{name}", value, 0) for name in ("step_sum", "energy", "radius2", "reach2") for value in (np.nan, -1)),
    *(put(f"tally.{name}", np.nan, 0) for name in ("lowest", "lowest_step")),
    *(put("tally.updates", value, 0) for value in (-1, 0, 1, 2**60)),
    *(put("tally.mistakes", value, 0) for value in (-1, 10**6)),
    put("tally.limit", -2, 0),
    put("tally.target", 7, 0),
    *(put(f"tally.{name}", value, 0) for name in ("step_sum", "energy") for value in (0.0, 1.0, 1e12, np.inf)),
    put("done", True),
    *(put("mistakes", value, 0) for value in (-2, 2**60)),
    *(put("spread", value, 0) for value in (-1.0, np.nan)),
    *(put("norm2", value, 0) for value in (np.nan, np.inf, -np.inf, -10.0)),
    *(put("supports.numbers", value, 0) for value in (-1, 2**53, 2**62)),
    put("supports.numbers", 1),
    becomes("supports.numbers", lambda numbers: numbers[:-1]),
    becomes("supports.numbers", lambda numbers: np.append(numbers, 1000)),
    becomes("supports.numbers", lambda numbers: numbers.astype(np.int32)),
    *(put("updates.members", value, 0) for value in (-1, 10**6)),
    put("updates.members", 0),  # so that most rows are needed by none
    *(put("updates.steps", value, 0) for value in (0.0, np.nan, np.inf, 1e308, 10.0, 1e-3)),
    *(put("updates.visits", value, 0) for value in (-1.0, np.nan, 0.5, 1e6)),
    put("updates.visits", 1e6, -1),
    becomes("updates.visits", lambda visits: visits[::-1].copy()),
    *(put(f"updates.{name}", value, 0) for name in ("trues", "rivals") for value in (-1, 3)),
    *(put("updates.lengths", value, 0) for value in (-1, 0, 2**62)),
    becomes("updates.lengths", lambda lengths: lengths[:0]),
    *(
        becomes(f"updates.{name}", change)
        for name in ("members", "steps", "visits", "trues", "rivals", "lengths")
        for change in (lambda a: a[:-1], lambda a: a[None], lambda a: a.astype(np.float32))
    ),
    *(becomes(name, lambda a: a[None]) for name in ("norm2", "done", "mistakes", "spread", "tally.visits")),
    becomes("validation_error", lambda errors: np.array([1.5])),
    becomes("validation_error", lambda errors: np.zeros(4)),
    *(lambda header, arrays, name=name: arrays.pop(name) for name in ("norm2", "supports.numbers", "updates.steps")),
    lambda header, arrays: arrays.update(more=np.zeros(1)),
    lambda header, arrays: header.pop("kernel"),
    lambda header, arrays: header["kernel"].pop("gamma"),
    lambda header, arrays: header.update(more=1),
    *(says("passes", value) for value in (-1, 2, 3.0, None, True, 2**60)),
    *(says("seed", value) for value in (-1, 1.0, None)),
    *(says("radius", value) for value in (-1.0, 1, None)),
    *(says("lead", value) for value in (-2, 2**60, None)),
    *(says("lead_label", value) for value in ([1], {})),
    *(says(name, value) for name in ("direct", "spread", "pocket") for value in (None, 1, "yes")),
    says("pocket", True),
    says("spread", False),
    *(says("width", value) for value in (0, -1, 4, 5.0, None, 2**53 + 1)),
    *(says("rows_seen", value) for value in (-1, 2.0, None, 2**60)),
    *(says("rows", value) for value in ("none", "other", ["dense"], None)),
    says("kernel", "poly"),
    kernel(more=1),
    *(kernel(name=value) for value in ("function", "cubic", None, ["poly"])),
    *(kernel(degree=value) for value in (-1, 3.0, True, 2**60)),
    *(kernel(gamma=value) for value in (-1.0, 1, "scale", None)),
    *(kernel(coef0=value) for value in (1, "1", None)),
    lambda header, arrays: header["kernel"].update(gamma=json.loads("1e999")),
]
ROWS = [
    *(put("supports.values", value, 0) for value in (np.nan, np.inf)),
    becomes("supports.values", lambda values: values[:-1]),
    becomes("supports.values", lambda values: np.concatenate([values, values])),
    becomes("supports.values", lambda values: values.astype(np.int64)),
    becomes("supports.values", lambda values: values[..., None]),
    kernel(name="precomputed"),
]
SPARSE = [
    put("supports.indices", -1, 0),
    put("supports.indices", 5, 0),
    put("supports.indices", 0),
    becomes("supports.indices", lambda indices: indices[::-1].copy()),
    put("supports.starts", 1, 0),
    put("supports.starts", -1, 1),
    put("supports.starts", np.iinfo(np.int32).max, 1),
    put("supports.starts", 0, -1),
    becomes("supports.starts", lambda starts: starts[:0]),
    becomes("supports.starts", lambda starts: np.append(starts, starts[-1])),
    says("rows", "dense"),
]


@pytest.mark.parametrize("edit", COMMON + ROWS)
@pytest.mark.parametrize(("classes", "direct"), CLASSES)
def test_what_no_run_leaves_is_refused(edit, classes, direct):
    with pytest.raises(ValueError, match=r"^[^\n]*\.$"):
        back(trained("poly", classes, direct), edit)


@pytest.mark.parametrize("edit", COMMON + ROWS + SPARSE)
def test_sparse_rows_are_checked(edit):
    with pytest.raises(ValueError, match=r"^[^\n]*\.$"):
        back(trained("rbf", 3, layout="csr", kind="integers"), edit)


def test_direct_updates_move_two_classes_by_a_positive_step():
    state = trained("poly", 3, True)
    for edit in (put("updates.steps", -1.0, 0), put("updates.trues", 1), says("direct", False)):
        with pytest.raises(ValueError, match=r"\.$"):
            back(state, edit)

    def equal(header, arrays):
        arrays["updates.rivals"][0] = arrays["updates.trues"][0]

    with pytest.raises(ValueError, match="the updates are not valid"):
        back(state, equal)


def test_classes_are_those_of_the_model():
    with pytest.raises(ValueError, match="more than two"):
        back(trained(), says("direct", True))
    with pytest.raises(ValueError, match="wrong number"):
        back(trained(), classes=1)
    with pytest.raises(ValueError, match="not as expected"):
        back(trained(), classes=3)


@pytest.mark.parametrize("name", ["updates", "candidate", "mistakes"])
def test_pockets_are_checked(name):
    state = trained(hypothesis="pocket")
    for value in (-1, 10**6) if name != "mistakes" else (-1.0, np.nan):
        with pytest.raises(ValueError, match="pocket"):
            back(state, put(f"pocket.{name}", value))
    with pytest.raises(ValueError, match="not as expected"):
        back(state, becomes(f"pocket.{name}", lambda array: array[None]))
    with pytest.raises(ValueError, match="not as expected"):
        back(state, becomes(f"pocket.{name}", lambda array: array.astype(np.int32)))


def test_precomputed_rows_are_columns_of_the_kernel():
    state = trained("precomputed")
    last = max(state.supports.numbers)
    with pytest.raises(ValueError, match="numbers of the support rows"):
        back(state, lambda header, arrays: (header.update(width=last, spread=False), arrays.pop("spread")))
    with pytest.raises(ValueError, match="not those of the kernel"):
        back(state, kernel(name="rbf"))

    def rows(header, arrays):
        header["rows"], arrays["supports.values"] = "dense", np.ones((len(state.supports), state.width))

    with pytest.raises(ValueError, match="not those of the kernel"):
        back(state, rows)


def test_a_degree_has_a_limit_where_it_counts():
    with pytest.raises(ValueError, match="degree of a kernel in a file must be at most 1,000, got 1,001"):
        back(trained("poly"), kernel(degree=MOST_DEGREE + 1))
    assert back(trained("rbf"), kernel(degree=MOST_DEGREE + 1)).kernel.degree == MOST_DEGREE + 1


def test_a_huge_width_costs_nothing():
    state = copy.deepcopy(trained("linear", layout="csr"))
    state.widen(2**50)
    tracemalloc.start()
    try:
        alike(back(state).supports, state.supports)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["precomputed", "linear"])
def test_memory_is_in_proportion_to_the_file(name):
    n = 50_000
    state = DualState.zeros(2, n if name == "precomputed" else 1, kernel=Kernel(name), direct=False)
    state.supports.append(None if name == "precomputed" else np.ones((n, 1), np.float32), range(n))
    none = np.zeros(n, np.int64)
    state.updates = [[Updates(np.arange(n), np.ones(n), np.arange(float(n)), none, none)]]
    state.counters["visits"] = state.counters["updates"] = state.counters["step_sum"] = n
    state.counters["step_square_sum"] = n
    header, arrays = state_to_plain(state)
    tracemalloc.start()
    try:
        state_from_plain(header, StrictArrays(arrays), 2, "KernelPerceptron")
        assert tracemalloc.get_traced_memory()[1] < 8 * sum(array.nbytes for array in arrays.values())
    finally:
        tracemalloc.stop()
