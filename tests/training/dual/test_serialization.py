"""States of kernel perceptrons as plain data: every bit comes back."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.dual_states import CLASSES, LAYOUTS, back, trained
from helpers.examples import small_set
from helpers.forging import alike
from helpers.naive_dual import dual_run
from rosenblatt.storage.schema import StrictArrays
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.linear import LinearState
from rosenblatt.training.options import KERNELS, Kernel
from rosenblatt.training.serialization import check_states, state_from_plain, state_to_plain


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("classes", "direct"), CLASSES)
@pytest.mark.parametrize("hypothesis", ["last", "pocket"])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_bit_comes_back(name, classes, direct, hypothesis, weighted):
    state = trained(name, classes, direct, hypothesis, weighted=weighted)
    before = copy.deepcopy(state)
    again = back(state)
    alike(again, state)
    alike(state, before)  # and looking changes nothing
    assert again.coefficients("average").tobytes() == state.coefficients("average").tobytes()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["integers", "decimals", "tiny"])
def test_support_rows_are_stored_as_given(layout, kind):
    state = trained("rbf", 3, layout=layout, kind=kind)
    again = back(state)
    alike(again, state)
    rows = again.support_matrix()
    assert rows.dtype == (np.float32 if "32" in layout else np.float64)
    assert sp.issparse(rows) == ("dense" not in layout and layout != "float32")


def test_blocks_of_several_kinds_become_one():
    state = copy.deepcopy(trained("linear", kind="decimals"))
    rows = np.concatenate(state.supports.blocks)
    state.supports.blocks = [rows[:3], sp.csr_array(rows[3:])]
    alike(back(state), state)


def test_columns_that_came_late_are_zero():
    state = copy.deepcopy(trained("linear", layout="csr"))
    state.widen(9)
    again = back(state)
    alike(again, state)
    assert again.support_matrix().shape == (len(state.supports), 9)


def test_states_that_have_seen_little_come_back():
    for classes, direct in ((1, False), *CLASSES):
        state = DualState.zeros(classes, 4, kernel=Kernel(), direct=direct, hypothesis="pocket")
        alike(back(state), state)
    alike(back(dual_run(np.ones((1, 1)), np.zeros(1, int), classes=1)), dual_run(np.ones((1, 1)), [0], classes=1))


def test_steps_of_any_size_come_back():
    X, y = small_set("gauss", n=40, seed=3)
    for size in (1e-200, 1e-160, 1.0, 1e100):
        steps = size * np.random.default_rng(0).uniform(0.1, 1, 40)
        state = dual_run(X, y, Kernel("rbf"), steps=steps)
        alike(back(state), state)
        state.counters["step_square_sum"] += 1e-300 * state.counters["updates"]  # as a pass keeps it from vanishing
        alike(back(state), state)


def test_updates_of_dropped_rows_are_gone():
    state = copy.deepcopy(trained("rbf", 3))
    keep = np.arange(len(state.supports)) >= 5
    state.supports = state.supports.kept(keep, state.width)
    places = np.cumsum(keep) - 1
    for k in range(3):
        made = state.updates_of(k)
        here = keep[made.members]
        made = type(made)(*(part[here] for part in made))
        state.updates[k] = [made._replace(members=places[made.members])]
    alike(back(state), state)


def test_lengths_may_be_rounded_below_zero_and_be_negative_without_a_space():
    state = copy.deepcopy(trained("rbf"))
    state.norm2[:] = -1e-17
    alike(back(state), state)
    state.norm2[:] = -0.1
    with pytest.raises(ValueError, match="squared lengths are out of range"):
        back(state)
    state.kernel = Kernel("sigmoid")
    alike(back(state), state)


def test_rows_are_numbered_from_those_seen_before():
    state = copy.deepcopy(trained("rbf"))
    last = max(state.supports.numbers)
    for seen in (0, 1, last, last + 1):  # before the first of its support rows, as after fit, up to after the last
        state.rows_seen = seen
        again = back(state)
        alike(again, state)
        again.renumber_rows()
        assert again.rows_seen == last + 1


def test_a_kernel_that_is_a_function_has_no_file():
    state = DualState.zeros(2, 4, kernel=Kernel("function", function=np.dot), direct=False)
    with pytest.raises(ValueError, match=r'kernel is a function cannot be saved.*"precomputed".*pickle'):
        state_to_plain(state)


def test_a_state_is_read_as_its_learner_says():
    header, arrays = state_to_plain(trained())
    with pytest.raises(ValueError, match="no array 'w'"):
        state_from_plain(header, StrictArrays(arrays), 2, "Perceptron")
    linear = LinearState.zeros(2, 4, direct=False, fit_intercept=True)
    header, arrays = state_to_plain(linear)
    with pytest.raises(ValueError, match="no field 'kernel'"):
        state_from_plain(header, StrictArrays(arrays), 2, "KernelPerceptron")


def test_the_states_of_one_run_have_one_kernel():
    state, other = trained(), copy.deepcopy(trained())
    check_states([state, other], [0, 1])
    other.kernel = Kernel("rbf")
    with pytest.raises(ValueError, match="another model"):
        check_states([state, other], [0, 1])
    with pytest.raises(ValueError, match="another model"):
        check_states([state, LinearState.zeros(2, 4, direct=False, fit_intercept=True)], [0, 1])
