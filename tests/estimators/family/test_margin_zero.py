"""A margin perceptron whose margin is 0 is the perceptron: every attribute, on every kind of numbers."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.examples import KINDS, small_set
from helpers.family_cases import row_weights
from rosenblatt import MarginPerceptron, Perceptron

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def assert_same(margin, plain):
    """Check each attribute that a perceptron has after training."""
    names = {name for name in dir(plain) if name.endswith("_") and not name.startswith("_")} - {"state_"}
    assert {"coef_", "average_intercept_", "n_iter_", "history_", "report_", "converged_"} <= names
    for name in names - {"history_", "report_"}:
        assert np.asarray(getattr(margin, name)).tobytes() == np.asarray(getattr(plain, name)).tobytes(), name
    for name in ("w", "u", "b", "beta", "done"):
        assert getattr(margin.state_, name).tobytes() == getattr(plain.state_, name).tobytes(), name
    for name in ("visits", "updates", "mistakes"):
        assert margin.state_.counters[name].tolist() == plain.state_.counters[name].tolist(), name
    for name in ("mistakes", "updates"):
        assert margin.history_[name].tolist() == plain.history_["mistakes"].tolist()
    for name in ("radius", "updates", "margin_low", "margin_high", "bound"):
        assert getattr(margin.report_, name) == getattr(plain.report_, name), name


@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_on_every_kind_of_numbers(kind, shuffle, classes, multi_class):
    X, y = small_set(kind, classes=classes, seed=11)
    weights = row_weights(len(y), classes)
    for layout in (np.asarray, sp.csr_array):
        for steps in (None, weights):
            options = {"max_iter": 5, "shuffle": shuffle, "random_state": 2, "multi_class": multi_class}
            plain = Perceptron(**options).fit(layout(X), y, sample_weight=steps)
            assert_same(MarginPerceptron(margin=0, **options).fit(layout(X), y, sample_weight=steps), plain)


def test_until_it_separates():
    X, y = small_set("gauss", n=12, d=12, classes=2, seed=1)
    plain = Perceptron(max_iter=500, random_state=0).fit(X, y)
    assert plain.converged_
    assert_same(MarginPerceptron(margin=0.0, max_iter=500, random_state=0).fit(X, y), plain)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.booleans()), min_size=1, max_size=10))
def test_on_small_integers_in_chunks(rows):
    X, y = np.array([row[:2] for row in rows], dtype=float), np.array([row[2] for row in rows])
    plain, margin = Perceptron(random_state=0), MarginPerceptron(margin=0, random_state=0)
    for model in (plain, margin):
        for i in range(len(y)):
            model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[False, True])
    assert_same(margin, plain)
