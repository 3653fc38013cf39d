"""gamma="scale" is the exact value rounded once, the same for every layout; what cannot know it asks for a number."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.kernel_sets import LAYOUTS, assert_same_updates, tied_set
from helpers.naive_kernel import rationals
from rosenblatt import KernelPerceptron

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def exact_scale(X) -> float:
    """Return 1 / (columns times variance of all numbers), rounded once; 1.0 where all numbers are the same."""
    rows = rationals(X)
    values = [value for row in rows for value in row]
    mean = sum(values, Fraction(0)) / len(values)
    variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)
    return float(1 / (len(rows[0]) * variance)) if variance else 1.0


@pytest.mark.parametrize("kind", ["integers", "decimals", "halves", "gauss"])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_scale_is_rounded_once(kind, seed, layout, kernel):
    X, y = small_set(kind, n=30, d=4, seed=seed)
    X = LAYOUTS[layout](X)
    model = KernelPerceptron(kernel=kernel, max_iter=1, random_state=0).fit(X, y)
    assert model.gamma_ == exact_scale(X)


@pytest.mark.parametrize("offset", [1e8, -1e6, 0.1])
def test_scale_of_numbers_far_from_zero(offset):
    X, y = small_set("gauss", n=30, d=4)
    X = X + offset
    for layout in ("C", "Fortran", "CSR"):
        model = KernelPerceptron(kernel="rbf", max_iter=1, random_state=0).fit(LAYOUTS[layout](X), y)
        assert model.gamma_ == exact_scale(X)


def test_numbers_that_are_all_the_same_have_the_scale_of_scikit_learn():
    model = KernelPerceptron(kernel="rbf", max_iter=1, random_state=0).fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert model.gamma_ == 1.0


def test_auto_is_one_over_the_columns():
    X, y = tied_set("gauss", d=3)
    assert KernelPerceptron(gamma="auto", max_iter=1, random_state=0).fit(X, y).gamma_ == 1 / 3


def test_explicit_zeros_change_nothing():
    X, y = tied_set("ties", d=3)
    full = sp.csr_array((X.ravel(), np.tile(np.arange(3), len(X)), np.arange(0, X.size + 1, 3)), shape=X.shape)
    assert KernelPerceptron(max_iter=1, random_state=0).fit(full, y).gamma_ == exact_scale(X)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_nan_is_refused_as_such_before_a_scale_is_looked_for(bad, layout):
    X, y = small_set("gauss", n=30, d=4)
    X[7, 2] = bad
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        KernelPerceptron().fit(layout(X), y)


def test_blocks_that_can_be_read_again_have_the_scale_of_all_rows():
    X, y = tied_set("gauss", n=40)
    whole = KernelPerceptron(max_iter=2, random_state=0).fit(X, y)
    for size in (3, 40):
        blocks = [(X[i : i + size], y[i : i + size]) for i in range(0, 40, size)]
        model = KernelPerceptron(max_iter=2, random_state=0).fit_stream(blocks)
        assert model.gamma_ == whole.gamma_ == exact_scale(X)
        assert_same_updates(model, whole)


def refusal(call) -> str:
    """Return the sentence of an error."""
    with pytest.raises((ValueError, AttributeError)) as error:
        call()
    return str(error.value)


def assert_asks_for_a_number(sentence: str) -> None:
    assert "gamma" in sentence
    assert "scale" in sentence
    assert "number" in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_chunks_ask_for_a_number():
    X, y = tied_set("ties")
    for kernel in ("poly", "rbf", "laplacian", "sigmoid"):
        model = KernelPerceptron(kernel=kernel)
        assert_asks_for_a_number(refusal(lambda model=model: model.partial_fit(X, y)))


def test_blocks_that_can_be_read_only_once_ask_for_a_number():
    X, y = tied_set("ties")
    assert_asks_for_a_number(refusal(lambda: KernelPerceptron(max_iter=1).fit_stream(iter([(X, y)]))))
    KernelPerceptron(max_iter=1, gamma=0.5).fit_stream(iter([(X, y)]))


def test_kernels_without_gamma_ask_for_nothing():
    X, y = tied_set("ties")
    assert KernelPerceptron(kernel="linear").partial_fit(X, y).n_iter_ == 1
    assert KernelPerceptron(kernel=lambda A, B: A @ B.T).partial_fit(X, y).n_iter_ == 1
    assert KernelPerceptron(kernel="linear", max_iter=1).fit_stream(iter([(X, y)])).n_iter_ == 1
    assert KernelPerceptron(gamma="auto").partial_fit(X, y).gamma_ == 1 / 3
