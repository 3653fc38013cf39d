"""Predictions of each hypothesis are those of the exact twin, on rows that lie on boundaries."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.kernel_sets import KERNELS, kernel_name, model_for, tied_set, twin_of
from helpers.naive_kernel import Kernel, sign, to_float
from helpers.naive_kernel_answers import answers
from rosenblatt import KernelPerceptron

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

HYPOTHESES = ("last", "average", "vote", "pocket")
CASES = [(2, "ovr"), (3, "ovr"), (3, "direct")]


@cache
def case(kernel, kind, classes, multi_class, weighted, passes=3, max_support=None):
    """Return a data set, rows to predict that hold its own, and the twin's run."""
    X, y = tied_set(kind, n=18, classes=classes)
    steps = None
    if weighted:
        steps = np.random.default_rng(5).choice([0.0, 0.5, 1.0, 2.0], len(y))
        steps[:classes] = 1.0
    rng = np.random.default_rng(6)
    tests = np.concatenate([X, -X[:6], np.zeros((1, X.shape[1])), rng.integers(-4, 5, (8, X.shape[1])) / 2])
    limits = {"steps": steps, "direct": multi_class == "direct", "max_support": max_support}
    return X, y, steps, tests, twin_of(kernel, X, y, classes, seed=3, passes=passes, **limits)


def check(kernel, kind, classes, multi_class, weighted, hypothesis, computing=None, layout=np.asarray, **options):
    X, y, steps, tests, twin = case(kernel, kind, classes, multi_class, weighted, **options)
    expected = answers(twin, hypothesis, kernel, classes, (X, y, steps), tests)
    model = model_for(
        kernel, computing, hypothesis=hypothesis, max_iter=3, random_state=3, multi_class=multi_class, **options
    )
    model.fit(layout(X), y, sample_weight=steps)
    tests = layout(tests)
    assert model.predict(tests).tolist() == [answer.label for answer in expected]
    assert model.on_boundary(tests).tolist() == [answer.tied for answer in expected]
    scores = np.array([[to_float(score) for score in answer.scores] for answer in expected])
    found = model.decision_function(tests)
    assert found.shape == ((len(scores), classes) if classes > 2 else (len(scores),))
    found = found.reshape(scores.shape)
    if hypothesis == "vote":
        assert found.tolist() == scores.tolist()
    else:
        near = 1e-4 if computing and computing.get("dtype") == "float32" else 1e-9
        assert found == pytest.approx(scores, rel=near, abs=near * (np.abs(scores).max() + 1e-300))
    if classes == 2:
        assert np.sign(found[:, 0]).tolist() == [sign(answer.scores[0]) for answer in expected]


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("kernel", KERNELS, ids=kernel_name)
def test_every_kernel(kernel, hypothesis):
    check(kernel, "ties", 2, "ovr", False, hypothesis)


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize(("kind", "weighted"), [("ties", True), ("duplicates", False), ("mirrored", False)])
@pytest.mark.parametrize(("classes", "multi_class"), CASES)
def test_every_way_of_having_classes(hypothesis, kind, weighted, classes, multi_class):
    check(Kernel("poly", 2, 0.5, 1.0), kind, classes, multi_class, weighted, hypothesis)


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
@pytest.mark.parametrize(("classes", "multi_class"), CASES)
def test_exponential_kernels(hypothesis, name, classes, multi_class):
    check(Kernel(name, gamma=0.1), "mirrored", classes, multi_class, True, hypothesis)


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize(
    "computing", [{"block": 1}, {"block": 7, "dtype": "float32"}, {"cache_bytes": 8 * 18}], ids=str
)
@pytest.mark.parametrize("layout", [sp.csr_array, np.asfortranarray])
def test_blocks_types_and_layouts(hypothesis, computing, layout):
    check(Kernel("poly", 3, 0.1, 0.1), "ties", 3, "ovr", True, hypothesis, computing, layout)


@pytest.mark.parametrize("hypothesis", ["last", "average", "vote"])
@pytest.mark.parametrize(("classes", "multi_class"), CASES)
def test_what_was_forgotten_does_not_predict(hypothesis, classes, multi_class):
    check(Kernel("poly", 2, 0.5, 1.0), "ties", classes, multi_class, False, hypothesis, max_support=4)


@pytest.mark.parametrize("hypothesis", ["last", "vote"])
@pytest.mark.parametrize("weight", [0.1, 1 / 3])
def test_steps_that_are_no_binary_fractions(hypothesis, weight):
    kernel = Kernel("poly", 2, 0.1, 0.1)
    X, y = tied_set("mirrored", n=18)
    steps = np.where(np.arange(18) % 3 == 0, weight, 3 * weight)
    twin = twin_of(kernel, X, y, 2, seed=3, passes=3, steps=steps)
    model = model_for(kernel, hypothesis=hypothesis, max_iter=3, random_state=3).fit(X, y, sample_weight=steps)
    expected = answers(twin, hypothesis, kernel, 2, (X, y, steps), X)
    assert model.predict(X).tolist() == [answer.label for answer in expected]
    assert model.on_boundary(X).tolist() == [answer.tied for answer in expected]


@pytest.mark.parametrize(("classes", "multi_class"), CASES)
def test_one_run_has_three_hypotheses(classes, multi_class):
    kernel = Kernel("poly", 2, 0.5, 1.0)
    X, y, _, tests, twin = case(kernel, "ties", classes, multi_class, False)
    model = model_for(kernel, max_iter=3, random_state=3, multi_class=multi_class).fit(X, y)
    for hypothesis in ("vote", "last", "average", "vote"):
        expected = answers(twin, hypothesis, kernel, classes, (X, y, None), tests)
        model.set_params(hypothesis=hypothesis)
        assert model.predict(tests).tolist() == [answer.label for answer in expected]
    with pytest.raises(ValueError, match='hypothesis="pocket" needs'):
        model.set_params(hypothesis="pocket").predict(tests)


@pytest.mark.parametrize("kernel", KERNELS[1::2], ids=kernel_name)
@pytest.mark.parametrize(("classes", "multi_class"), CASES)
def test_a_clean_pass_implies_a_score_of_one(kernel, classes, multi_class):
    X, y = tied_set("decimals", n=14, d=4, classes=classes, seed=2)
    max_iter = 300 if kernel.name in ("rbf", "laplacian") else 30
    model = model_for(kernel, hypothesis="last", max_iter=max_iter, random_state=0, multi_class=multi_class)
    model.fit(X, y)
    if model.converged_:
        assert model.score(X, y) == 1.0
        assert not model.on_boundary(X).any()
    else:
        assert model.history_["mistakes"][-1] > 0
    if kernel.name in ("rbf", "laplacian") and len(np.unique(X, axis=0)) == len(X):
        assert model.converged_, "distinct rows are separable in the space of these kernels"


def test_words_as_classes_and_scores_that_are_exactly_zero():
    X, y = [[1.0], [-1.0]], ["yes", "no"]
    model = KernelPerceptron(kernel="rbf", gamma=0.1, hypothesis="last", shuffle=False).fit(X, y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.decision_function([[0.0], [7.0]])[0] == 0.0
    assert model.on_boundary([[0.0], [0.1]]).tolist() == [True, False]
    assert model.predict([[0.0], [1.0], [1e-300]]).tolist() == ["no", "yes", "yes"]


def test_a_score_that_underflows_keeps_its_sign():
    model = KernelPerceptron(kernel="rbf", gamma=1.0, hypothesis="last", shuffle=False).fit([[1.0], [-1.0]], [1, 0])
    assert model.predict([[100.0], [-100.0]]).tolist() == [1, 0]
    assert not model.on_boundary([[100.0], [-100.0]]).any()


def test_many_rows_are_predicted_in_parts():
    X, y = tied_set("gauss", n=60, classes=3)
    model = KernelPerceptron(gamma=0.5, max_iter=2, random_state=0).fit(X, y)
    tests = np.random.default_rng(1).normal(size=(3001, 3))
    for hypothesis in ("last", "average", "vote"):
        model.set_params(hypothesis=hypothesis)
        parts = np.concatenate([model.predict(tests[i : i + 7]) for i in range(0, 3001, 7)])
        assert model.predict(tests).tolist() == parts.tolist()


def test_near_ties_of_values_as_computed_are_decided_as_computed():
    """Classifiers that stop after different passes have averages over different numbers of visits."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 3
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    model = KernelPerceptron("precomputed", random_state=0, max_iter=20).fit(K, y)
    first, second, third = model.average_dual_coef_
    assert model.state_.counters["visits"][0] != model.state_.counters["visits"][1]
    values, lead = first + second - 2 * third, first - second
    row = np.zeros((1, 12))
    row[0, model.support_] = values - lead * (values @ lead) / (lead @ lead)
    scores = model.decision_function(row)[0]
    assert abs(scores[0] - scores[1]) <= 1e-14 * scores[0]
    assert model.predict(row) == [scores.argmax()]
    assert model.on_boundary(row) == [scores[0] == scores[1]]
