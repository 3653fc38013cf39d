"""Machines as plain data: every bit comes back, and nothing comes back that a run could not have left."""

import contextlib
import copy
import functools
import json

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.forging import alike, state_from_plain, state_to_plain
from rosenblatt import Perceptron


@functools.cache
def trained(hypothesis="last", classes=2, kind="gauss", layout=np.asarray, **options):
    X, y = small_set(kind, n=60, classes=classes, seed=3)
    return Perceptron(hypothesis, max_iter=3, random_state=1, **options).fit(layout(X), y).state_


def back(machines, classes, edit=lambda state, arrays: None):
    state, arrays = state_to_plain(machines)
    arrays = {name: array.copy() for name, array in arrays.items()}
    edit(state, arrays)
    return state_from_plain(json.loads(json.dumps(state)), arrays, classes)


@pytest.mark.parametrize("hypothesis", ["last", "pocket", "vote"])
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
@pytest.mark.parametrize("kind", ["integers", "decimals", "gauss", "huge", "tiny"])
@pytest.mark.parametrize("bias", [True, False])
def test_every_bit_comes_back(hypothesis, classes, multi_class, kind, bias):
    machines = trained(hypothesis, classes, kind, multi_class=multi_class, fit_intercept=bias)
    before = copy.deepcopy(machines)
    alike(back(machines, classes), machines)
    alike(machines, before)  # and looking changes nothing


@pytest.mark.parametrize(
    "layout", [sp.csr_array, lambda X: sp.csr_matrix(X.astype(np.float32)), lambda X: X.astype(np.float32)]
)
def test_voters_keep_their_rows(layout):
    machines = trained("vote", 3, "decimals", layout)
    again = back(machines, 3)
    alike(again, machines)
    assert {block.dtype for block in again.log.blocks} == {block.dtype for block in machines.log.blocks}


def test_blocks_of_several_kinds_become_one():
    X, y = small_set("decimals", n=60, classes=3)
    model = Perceptron("vote")
    for rows, labels in ((X[:20], y[:20]), (X[20:40].astype(np.float32), y[20:40]), (sp.csr_array(X[40:]), y[40:])):
        model.partial_fit(rows, labels, classes=[0, 1, 2])
    alike(back(model.state_, 3), model.state_)


def test_machines_that_have_seen_little_come_back():
    for model in (Perceptron("vote").partial_fit([[1.0]], ["a"]), Perceptron().partial_fit([[0.0]], [0])):
        alike(back(model.state_, 1), model.state_)
    model = Perceptron("vote", fit_intercept=False).partial_fit([[1.0]], [0], sample_weight=[0.0])
    assert not model.state_.log.blocks
    alike(back(model.state_, 1), model.state_)


def test_steps_of_any_size_come_back():
    X, y = small_set("gauss", n=60)
    for size in (1e-200, 1e-160, 1.0, 1e100, 1e160):
        for scale in (1e-200, 1.0, 1e100):
            for bias in (True, False):
                model = Perceptron(max_iter=3, fit_intercept=bias, random_state=0)
                weights = size * np.random.default_rng(0).uniform(0.1, 1, 60)
                try:
                    model.fit(scale * X, y, sample_weight=weights)
                except ValueError:
                    continue  # beyond the floats
                alike(back(model.state_, 2), model.state_)


# what is not believed; the rest is in persistence/test_mutations.py


def put(name, value):
    def edit(state, arrays):
        arrays[functools.reduce(lambda part, key: part[key], name.split("."), state)].flat[0] = value

    return edit


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_whatever_indexes_an_array_is_within_it(layout, multi_class):
    state = trained("vote", 3, layout=layout, multi_class=multi_class)
    for name, value in (("members", -1), ("members", 10**6), ("trues", 3), ("rivals", -1), ("lengths", 2**62)):
        with pytest.raises(ValueError, match=f"'log.updates.{name}' must be"):
            back(state, 3, put(f"log.updates.{name}", value))
    for name, value in (("indices", -1), ("indices", 5), ("starts", 1), ("starts", 2**31 - 1)):
        if layout is sp.csr_array:
            with pytest.raises(ValueError, match=r"'log.rows"):
                back(state, 3, put(f"log.rows.{name}", value))


def test_classes_and_numbers_are_those_of_a_run():
    with pytest.raises(ValueError, match="fewer than three classes"):
        back(trained(), 2, lambda state, arrays: state.update(direct=True))
    for classes, name in ((3, "counters.visits"), (1, None)):
        with pytest.raises(ValueError, match=name) if name else contextlib.nullcontext():
            back(trained(), classes)
    for name, value in (("w", np.nan), ("b", np.inf), ("counters.visits", 0.5), ("counters.updates", -1)):
        with pytest.raises(ValueError, match=f"the state: '{name}' must be an array of finite"):
            back(trained(), 2, put(name, value))


def test_exact_decisions_do_not_rest_on_what_a_file_claims():
    """A file that says that its weights are short is read as if they had been there from the start."""
    X, y = small_set("decimals", n=60, classes=2, seed=3)
    state = trained(kind="decimals")
    for name, value in (("counters.step_square_sum", 0.0), ("counters.radius2", 1e-300), ("w", 1e6)):
        forged = back(state, 2, put(name, value))
        square = float((forged.w**2).sum() + (forged.b**2).sum())
        counters = forged.counters[0]
        assert counters["step_square_sum"] * counters["radius2"] + counters["excess2"] >= square
    start = Perceptron("vote", max_iter=2, random_state=0).fit(X, y, coef_init=np.ones((1, X.shape[1]))).state_
    forged = back(start, 2, put("counters.start2", 0.0))
    assert forged.counters["start2"][0] >= X.shape[1]
    assert back(start, 2).counters["start2"] == start.counters["start2"]
