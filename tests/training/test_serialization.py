"""Machines as plain data: every bit comes back, and nothing comes back that a run could not have left."""

import copy
import functools
import json

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.forging import alike
from rosenblatt import Perceptron
from rosenblatt.storage.schema import StrictArrays
from rosenblatt.training.serialization import state_from_plain, state_to_plain

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@functools.cache
def trained(hypothesis="last", classes=2, kind="gauss", layout=np.asarray, **options):
    X, y = small_set(kind, n=60, classes=classes, seed=3)
    return Perceptron(hypothesis, max_iter=3, random_state=1, **options).fit(layout(X), y).state_


def back(machines, classes, edit=lambda state, arrays: None):
    state, arrays = state_to_plain(machines)
    arrays = {name: array.copy() for name, array in arrays.items()}
    edit(state, arrays)
    source = StrictArrays(arrays)
    out = state_from_plain(json.loads(json.dumps(state)), source, classes)
    source.end()
    return out


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
    "layout",
    [
        sp.csr_array,
        lambda X: sp.csr_matrix(X.astype(np.float32)),
        lambda X: X.astype(np.float32),
    ],
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


def put(name, value, place=...):
    def edit(state, arrays):
        assert name in arrays
        arrays[name][place] = value

    return edit


def becomes(name, change):
    def edit(state, arrays):
        arrays[name] = change(arrays[name])

    return edit


def says(name, value):
    def edit(state, arrays):
        assert name in state
        state[name] = value

    return edit


COMMON = [
    *(put(name, value, 0) for name in ("w", "u", "tally.b", "tally.beta") for value in (np.nan, np.inf, -np.inf)),
    *(
        put(f"tally.{name}", value, 0)
        for name in ("visits", "last_change", "longest")
        for value in (np.nan, -1, 0.5, 1e300)
    ),
    *(put(f"tally.{name}", value, 0) for name in ("step_sum", "energy", "radius2", "reach2") for value in (np.nan, -1)),
    *(put(f"tally.{name}", np.nan, 0) for name in ("lowest", "lowest_step")),
    put("tally.updates", -1, 0),
    put("tally.updates", 2**60, 0),
    put("tally.mistakes", 10**6, 0),
    put("tally.mistakes", -1, 0),
    put("tally.limit", -2, 0),
    put("tally.target", 7, 0),
    put("tally.energy", 0.0),  # decisions rest on these three
    put("tally.radius2", 1e-12),
    put("tally.step_sum", 1e12),
    put("w", 1e6),
    put("tally.b", 1e6),
    put("done", True),
    put("mistakes", -2, 0),
    put("mistakes", 2**60, 0),
    put("spread", -1.0, 0),
    put("spread", np.nan, 0),
    becomes("validation_error", lambda errors: np.array([1.5])),
    becomes("validation_error", lambda errors: np.array([np.nan])),
    becomes("validation_error", lambda errors: np.zeros(4)),
    becomes("w", lambda w: w.astype(np.float32)),
    becomes("w", lambda w: w[:, :2]),
    becomes("w", lambda w: w[:0]),
    becomes("w", lambda w: np.vstack([w, w])),
    becomes("w", lambda w: w[:, :, None]),
    becomes("u", lambda u: u.T),
    becomes("done", lambda done: done.astype(np.int8)),
    becomes("mistakes", lambda mistakes: mistakes[:-1]),
    becomes("tally.target", lambda target: target.astype(np.int32)),
    lambda state, arrays: arrays.pop("u"),
    lambda state, arrays: arrays.pop("tally.reach2"),
    lambda state, arrays: arrays.pop("spread"),
    lambda state, arrays: arrays.update(more=np.zeros(1)),
    lambda state, arrays: state.pop("seed"),
    lambda state, arrays: state.update(more=1),
    *(says("passes", value) for value in (-1, 2, 3.0, None, True, 2**60)),
    *(says("seed", value) for value in (-1, 1.0, "1", None)),
    *(says("radius", value) for value in (-1.0, 1, None, "1")),
    *(says("lead", value) for value in (-2, 2**60, None)),
    *(says("lead_label", value) for value in ([1], {}, [[]])),
    *(says(name, value) for name in ("direct", "fit_intercept", "spread", "pocket") for value in (None, 1, "yes")),
    says("spread", False),
    says("pocket", True),
    says("ballots", {"classes": 0, "rows": "none"}),
    says("ballots", []),
]


@pytest.mark.parametrize("edit", COMMON)
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
def test_what_no_run_leaves_is_refused(edit, classes, multi_class):
    with pytest.raises(ValueError, match=r"\.$"):
        back(trained(classes=classes, multi_class=multi_class), classes, edit)


def test_classes_compete_directly_only_where_there_are_three():
    with pytest.raises(ValueError, match="more than two"):
        back(trained(), 2, says("direct", True))
    with pytest.raises(ValueError, match="wrong number"):
        back(trained(), 1)


def test_a_bias_that_was_not_learned_is_refused():
    with pytest.raises(ValueError, match="a bias where none"):
        back(trained(fit_intercept=False), 2, put("tally.b", 0.001))


@pytest.mark.parametrize("name", ["w", "b", "candidate_w", "candidate_b", "mistakes"])
def test_pockets_are_checked(name):
    with pytest.raises(ValueError, match=r"not finite|out of range"):
        back(trained("pocket"), 2, put(f"pocket.{name}", np.nan))
    with pytest.raises(ValueError, match="not as expected"):
        back(trained("pocket"), 2, becomes(f"pocket.{name}", lambda array: array[None]))


VOTERS = [
    put("ballots.members", -1, 0),
    put("ballots.members", 10**6, 0),
    *(put("ballots.steps", value, 0) for value in (0.0, np.nan, np.inf, 1e308, 10.0)),
    put("ballots.members", 0),
    put("ballots.values", 1e308, 0),
    put("ballots.values", 100.0, 0),
    *(put("ballots.visits", value, 0) for value in (-1.0, np.nan, 0.5, 1e6)),
    becomes("ballots.visits", lambda visits: visits[::-1].copy()),
    *(put(f"ballots.{name}", value, 0) for name in ("trues", "rivals") for value in (-1, 3)),
    put("ballots.lengths", -1, 0),
    put("ballots.lengths", 2**62),
    becomes("ballots.lengths", lambda lengths: lengths[:0]),
    becomes("ballots.members", lambda members: members[:-1]),
    put("ballots.values", np.nan, 0),
    lambda state, arrays: state["ballots"].update(rows="none"),
    lambda state, arrays: state["ballots"].update(rows="other"),
    lambda state, arrays: state["ballots"].update(rows=["csr"]),
    lambda state, arrays: state["ballots"].update(classes=7),
    lambda state, arrays: state["ballots"].update(more=1),
]
SPARSE = [
    put("ballots.indices", -1, 0),
    put("ballots.indices", 5, 0),
    put("ballots.indices", 0),
    becomes("ballots.indices", lambda indices: indices[::-1].copy()),
    put("ballots.starts", 1, 0),
    put("ballots.starts", -1, 1),
    put("ballots.starts", np.iinfo(np.int32).max, 1),
    put("ballots.starts", np.iinfo(np.int32).min, 1),
    put("ballots.starts", 0, -1),
    becomes("ballots.starts", lambda starts: starts[:0]),
    becomes("ballots.starts", lambda starts: np.array([len(starts) - 1] * 2, np.int32)),
    becomes("ballots.values", lambda values: values[:-1]),
    lambda state, arrays: state["ballots"].update(rows="dense"),
]


@pytest.mark.parametrize(("multi_class", "edit"), [(m, edit) for m in ("ovr", "direct") for edit in VOTERS])
def test_voters_are_checked(multi_class, edit):
    with pytest.raises(ValueError, match=r"\.$"):
        back(trained("vote", 3, multi_class=multi_class), 3, edit)


@pytest.mark.parametrize("edit", VOTERS + SPARSE)
def test_sparse_voters_are_checked(edit):
    with pytest.raises(ValueError, match=r"\.$"):
        back(trained("vote", 3, layout=sp.csr_array), 3, edit)
