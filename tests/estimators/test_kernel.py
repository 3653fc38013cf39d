"""The kernel perceptron: what it learns, predicts and reports."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from helpers.examples import small_set
from helpers.kernel_sets import (
    KERNELS,
    LAYOUTS,
    SOME_KERNELS,
    assert_same_run,
    assert_same_updates,
    kernel_name,
    model_for,
    tied_set,
    twin_of,
)
from helpers.naive_kernel import Kernel, Values, rationals, sign, summed, to_float
from helpers.naive_kernel_answers import answers, coefficients
from rosenblatt import KernelPerceptron, Perceptron, load, save
from rosenblatt.training.observers import UpdateTrace

# The kernel perceptron equals other roads to the same model, and says what it has learned.


some_kernels = pytest.mark.parametrize("kernel", SOME_KERNELS, ids=kernel_name)


# other roads to the same model


@pytest.mark.parametrize("shuffle", [True, False, "once"])
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (4, "ovr"), (4, "direct")])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_linear_kernel_is_the_perceptron_without_intercept(shuffle, classes, multi_class, layout):
    X, y = tied_set("ties", n=90, d=4, classes=classes)
    X = layout(X)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], len(y))
    weights[:classes] = 1.0
    options = {"max_iter": 6, "random_state": 2, "shuffle": shuffle, "multi_class": multi_class}
    trace = UpdateTrace()
    linear = Perceptron(fit_intercept=False, **options)._fit(X, y, weights, [trace])
    model = KernelPerceptron(kernel="linear", hypothesis="last", **options).fit(X, y, weights)
    for k in range(len(linear.state_.counters)):
        ours, theirs = model.state_.updates_of(k), trace.updates(k)
        assert model.support_[ours.members].tolist() == theirs.rows.tolist()
        assert ours.steps.tolist() == theirs.steps.tolist()
        assert ours.visits.tolist() == theirs.visits.tolist()
        if model.state_.direct:
            assert ours.trues.tolist() == theirs.trues.tolist()
            assert ours.rivals.tolist() == theirs.rivals.tolist()
    assert model.history_.tolist() == linear.history_.tolist()
    for hypothesis in ("last", "average"):
        model.set_params(hypothesis=hypothesis)
        linear.set_params(hypothesis=hypothesis)
        assert model.predict(X).tolist() == linear.predict(X).tolist()
        w = model.dual_coef_ @ X[model.support_]
        assert w == pytest.approx(linear.coef_, rel=1e-12, abs=1e-12)


PAIRS = [
    (Kernel("linear"), lambda A, B: A @ B.T),
    (Kernel("poly", degree=3, gamma=0.5, coef0=1.0), lambda A, B: polynomial_kernel(A, B, 3, 0.5, 1.0)),
    (Kernel("poly", degree=2, gamma=1.0, coef0=-1.0), lambda A, B: (A @ B.T - 1.0) ** 2),
]


@pytest.mark.parametrize(("kernel", "function"), PAIRS, ids=["linear", "cubic", "indefinite"])
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
@pytest.mark.parametrize("hypothesis", ["last", "average", "vote", "pocket"])
def test_values_given_or_from_a_function_are_those_of_the_named_kernel(
    kernel, function, classes, multi_class, hypothesis
):
    X, y = tied_set("ties", n=30, classes=classes, seed=1)
    tests = np.random.default_rng(2).integers(-3, 4, (40, X.shape[1])).astype(float)
    options = {"max_iter": 4, "random_state": 0, "multi_class": multi_class, "hypothesis": hypothesis}
    named = model_for(kernel, **options).fit(X, y)
    own = KernelPerceptron(kernel=function, **options).fit(X, y)
    given = KernelPerceptron(kernel="precomputed", **options).fit(function(X, X), y)
    for other, rows in ((own, tests), (given, function(tests, X))):
        assert_same_updates(other, named)
        assert other.predict(rows).tolist() == named.predict(tests).tolist()
        assert other.on_boundary(rows).tolist() == named.on_boundary(tests).tolist()
        assert other.decision_function(rows) == pytest.approx(named.decision_function(tests), rel=1e-9)


@pytest.mark.parametrize(
    ("kernel", "function"),
    [
        (Kernel("rbf", gamma=0.5), lambda A, B: rbf_kernel(A, B, 0.5)),
        (Kernel("laplacian", gamma=0.5), lambda A, B: laplacian_kernel(A, B, 0.5)),
        (Kernel("sigmoid", gamma=0.5, coef0=-0.25), lambda A, B: np.tanh(0.5 * (A @ B.T) - 0.25)),
    ],
    ids=["rbf", "laplacian", "sigmoid"],
)
def test_values_of_other_kernels_where_nothing_is_close(kernel, function):
    X, y = tied_set("gauss", n=40, classes=3, seed=6)
    named = model_for(kernel, max_iter=4, random_state=0).fit(X, y)
    assert_same_updates(KernelPerceptron(kernel=function, max_iter=4, random_state=0).fit(X, y), named)
    given = KernelPerceptron(kernel="precomputed", max_iter=4, random_state=0).fit(function(X, X), y)
    assert_same_updates(given, named)
    assert given.predict(function(X, X)).tolist() == named.predict(X).tolist()


# what it says


@some_kernels
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
def test_counts_and_support_rows(kernel, classes, multi_class):
    X, y = tied_set("mirrored", classes=classes)
    direct = multi_class == "direct"
    twin = twin_of(kernel, X, y, classes, seed=1, direct=direct)
    model = model_for(kernel, max_iter=4, random_state=1, multi_class=multi_class).fit(X, y)
    assert_same_run(model, twin)
    scores = classes if classes > 2 else 1
    assert sorted(model.support_.tolist()) == sorted({u.row for c in twin for u in c.updates})
    assert model.support_vectors_.tolist() == X[model.support_].tolist()
    assert model.n_support_.tolist() == np.bincount(y[model.support_], minlength=classes).tolist()
    assert model.gamma_ == kernel.gamma
    assert model.dual_coef_.tolist() == model.average_dual_coef_.tolist()
    for k in range(scores):
        classifier, number = (twin[0], k) if direct and classes > 2 else (twin[k], None)
        last, average = summed(classifier.updates, number), coefficients(classifier, "average", number)
        assert model.last_dual_coef_[k].tolist() == [float(last.get(row, 0)) for row in model.support_.tolist()]
        expected = [float(average.get(row, 0)) for row in model.support_.tolist()]
        assert model.average_dual_coef_[k] == pytest.approx(expected, rel=1e-12)
    assert model.last_dual_coef_.shape == (scores, len(model.support_))
    model.set_params(hypothesis="last")
    assert model.dual_coef_.tolist() == model.last_dual_coef_.tolist()


@pytest.mark.parametrize("shuffle", [True, False])
def test_support_rows_stand_in_the_order_of_their_first_update(shuffle):
    X, y = tied_set("gauss", n=40)
    model = model_for(SOME_KERNELS[1], {"block": 7}, max_iter=4, random_state=1, shuffle=shuffle).fit(X, y)
    made = model.support_[model.state_.updates_of(0).members].tolist()
    assert model.support_.tolist() == list(dict.fromkeys(made))


def test_sparse_support_rows():
    X, y = tied_set("ties", n=30)
    model = KernelPerceptron(gamma=1.0, max_iter=3, random_state=0).fit(sp.csr_array(X), y)
    assert sp.issparse(model.support_vectors_)
    assert model.support_vectors_.toarray().tolist() == X[model.support_].tolist()


def test_a_vote_has_no_coefficients():
    X, y = tied_set("gauss")
    model = KernelPerceptron(hypothesis="vote", gamma=1.0, random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match="vote"):
        _ = model.dual_coef_
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "fit_intercept")
    assert model.average_dual_coef_.shape == model.last_dual_coef_.shape


# gamma="scale" is the exact value rounded once, the same for every layout; what cannot know it asks for a number.


def test_scale_is_exact_and_rounded_once_for_every_layout():
    zeros = np.where(np.random.default_rng(0).random((30, 3)) < 0.5, 0.0, 0.1)
    explicit = sp.csr_array((zeros.ravel(), np.tile(np.arange(3), 30), np.arange(0, 91, 3)), shape=zeros.shape)
    y = np.arange(30) % 2
    far = small_set("gauss", n=30, d=4)[0] + 1e8
    for X in (small_set("decimals", n=30, d=4)[0], far, zeros, explicit, np.ones((30, 2))):
        for layout in LAYOUTS.values():
            rows = layout(X) if X is not explicit else X
            expected = scale_by_definition(rows)
            for kernel in ("poly", "rbf"):
                assert KernelPerceptron(kernel, max_iter=1, random_state=0).fit(rows, y).gamma_ == expected
    whole = KernelPerceptron(max_iter=2, random_state=0).fit(zeros, y)
    for size in (3, 40):
        blocks = [(zeros[i : i + size], y[i : i + size]) for i in range(0, 30, size)]
        model = KernelPerceptron(max_iter=2, random_state=0).fit_stream(blocks)
        assert model.gamma_ == whole.gamma_
        assert_same_updates(model, whole)


def scale_by_definition(X) -> float:
    """Return 1 / (columns times variance of all numbers), rounded once; 1.0 where all numbers are the same."""
    rows = rationals(X)
    values = [value for row in rows for value in row]
    mean = sum(values, Fraction(0)) / len(values)
    variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)
    return float(1 / (len(rows[0]) * variance)) if variance else 1.0


def test_what_cannot_be_read_twice_asks_for_a_number():
    X, y = tied_set("ties")
    for kernel in ("poly", "rbf", "laplacian", "sigmoid"):
        model = KernelPerceptron(kernel=kernel, max_iter=1)
        with pytest.raises(AttributeError, match=r'^gamma="scale" depends on all rows, .* give gamma as a number, '):
            model.partial_fit(X, y)
        with pytest.raises(ValueError, match=r"^[^\n]*gamma[^\n]*scale[^\n]*number[^\n]*\.$"):
            model.fit_stream(iter([(X, y)]))
    assert KernelPerceptron(max_iter=1, gamma=0.5).fit_stream(iter([(X, y)])).gamma_ == 0.5
    assert KernelPerceptron(gamma="auto").partial_fit(X, y).gamma_ == 1 / 3
    for kernel in ("linear", lambda A, B: A @ B.T):  # which have no gamma
        assert KernelPerceptron(kernel=kernel).partial_fit(X, y).n_iter_ == 1
        assert KernelPerceptron(kernel=kernel, max_iter=1).fit_stream(iter([(X, y)])).n_iter_ == 1


# Chunks of several layouts in one model, and numbers near the ends of the floats.


PLAIN_KERNELS = [Kernel("linear"), Kernel("poly", degree=2), Kernel("rbf", gamma=0.5), Kernel("laplacian", gamma=0.5)]


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("kernel", PLAIN_KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
@pytest.mark.parametrize("computing", [{}, {"block": 2, "cache_bytes": 300}, {"dtype": "float32"}])
def test_dense_and_sparse_chunks_make_one_run(kernel, multi_class, computing):
    X, y = tied_set("ties", n=40, classes=3)
    twin = twin_of(kernel, X, y, 3, shuffle=False, passes=1, direct=multi_class == "direct")
    for layouts in ([np.asarray, sp.csr_array], [sp.csr_array, np.asarray], [np.asarray, np.asarray, sp.csr_array]):
        model = model_for(kernel, computing, multi_class=multi_class, hypothesis="last")
        for (i, j), layout in zip(itertools.pairwise(range(0, 41, 5)), itertools.cycle(layouts), strict=False):
            model.partial_fit(layout(X[i:j]), y[i:j], classes=[0, 1, 2])
        state = model.state_
        counted = np.array(state.mistakes).sum(axis=0)
        state.mistakes, state.passes, state.done = [counted], 1, counted == 0  # of one pass, as the twin makes
        assert_same_run(model, twin)
        assert model.predict(sp.csr_array(X)).tolist() == model.predict(X).tolist()


def test_fits_go_on_with_rows_of_another_layout():
    X, y = tied_set("gauss", n=40)
    options = {"shuffle": False, "warm_start": True, "max_iter": 1}
    for kernel in PLAIN_KERNELS:
        one, two = model_for(kernel, **options), model_for(kernel, **options)
        for layout in (np.asarray, sp.csr_array, np.asarray):
            one.fit(layout(X), y)
            two.fit(X, y)
        assert one.support_.tolist() == two.support_.tolist()
        assert one.last_dual_coef_.tolist() == two.last_dual_coef_.tolist()


def test_an_average_too_small_for_floats_has_its_sign():
    """A score of 5e-324 times a number of visits is the smallest that there is, and was divided by them."""
    X, y = [[1e-170], [-1e-170], [2e-170]], [1, 0, 1]
    model = model_for(Kernel("linear"), shuffle=False, max_iter=3).fit(X, y)
    assert model.predict(X).tolist() == y
    assert not model.on_boundary(X).any()


def test_a_row_of_zeros_after_rows_beyond_float32():
    X = np.array([[1e200, 0], [0, 1e200], [0, 0], [-1e200, 0]] * 2)
    y = np.array([0, 1, 2, 1] * 2)
    kernel = Kernel("poly", degree=2, coef0=0.0)
    options = {"shuffle": False, "multi_class": "direct", "max_iter": 2}
    model = model_for(kernel, {"dtype": "float32", "block": 1}, **options).fit(X, y)
    assert_same_run(model, twin_of(kernel, X, y, 3, shuffle=False, passes=2, direct=True))


def test_degree_0_is_1_of_any_rows(tmp_path):
    X, y = [[1e200], [-1e200], [3e200]], [0, 1, 1]
    model = model_for(Kernel("poly", degree=0), shuffle=False, max_iter=2).fit(X, y)
    assert model.kernel_values(X).tolist() == [[1.0] * len(model.support_)] * 3
    assert model.report_.radius == 1
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").predict(X).tolist() == model.predict(X).tolist()


# Predictions of each hypothesis are those of the exact twin, on rows that lie on boundaries.


HYPOTHESES = ("last", "average", "vote", "pocket")
CASES = [(2, "ovr"), (3, "ovr"), (3, "direct")]
HALVES, DECIMALS = (0.0, 0.5, 1.0, 2.0), (0.1, 1 / 3, 0.3, 1.0)
QUADRATIC = Kernel("poly", 2, 0.5, 1.0)
PREDICTED = [
    *((kernel, "ties", (2, "ovr"), {}) for kernel in KERNELS),
    *((QUADRATIC, "ties", classes, {"weights": HALVES}) for classes in CASES),
    *((QUADRATIC, kind, classes, {}) for kind in ("duplicates", "mirrored") for classes in CASES),
    *(
        (Kernel(name, gamma=0.1), "mirrored", one, {"weights": HALVES})
        for name in ("rbf", "laplacian")
        for one in CASES
    ),
    (Kernel("poly", 2, 0.1, 0.1), "mirrored", (2, "ovr"), {"weights": DECIMALS}),
    *((QUADRATIC, "ties", classes, {"max_support": 4}) for classes in CASES),
    *(
        (Kernel("poly", 3, 0.1, 0.1), "ties", (3, "ovr"), {"weights": HALVES, "computing": computing, "layout": layout})
        for computing in ({"block": 1}, {"block": 7, "dtype": "float32"}, {"cache_bytes": 8 * 18})
        for layout in (sp.csr_array, np.asfortranarray)
    ),
]
"""Kernel, kind of rows, classes with their way to compete, and what else is not as usual."""


def case(kernel, kind, classes, multi_class, weights=None, passes=3, max_support=None):
    """Return a data set, rows to predict that hold its own, and the twin's run."""
    X, y = tied_set(kind, n=18, classes=classes)
    steps = None
    if weights:
        steps = np.random.default_rng(5).choice(weights, len(y))
        steps[:classes] = 1.0
    rng = np.random.default_rng(6)
    tests = np.concatenate([X, -X[:6], np.zeros((1, X.shape[1])), rng.integers(-4, 5, (8, X.shape[1])) / 2])
    limits = {"steps": steps, "direct": multi_class == "direct", "max_support": max_support}
    return X, y, steps, tests, twin_of(kernel, X, y, classes, seed=3, passes=passes, **limits)


@pytest.mark.quick_cases(7)
@pytest.mark.parametrize(("kernel", "kind", "competition", "more"), PREDICTED)
def test_predictions_are_those_of_the_twin(kernel, kind, competition, more):
    classes, multi_class = competition
    limits = {name: more[name] for name in ("max_support",) if name in more}
    computing, layout = more.get("computing"), more.get("layout", np.asarray)
    X, y, steps, tests, twin = case(kernel, kind, classes, multi_class, more.get("weights"), **limits)
    for hypothesis in HYPOTHESES[: 3 if limits else 4]:
        expected = answers(twin, hypothesis, kernel, classes, (X, y, steps), tests)
        options = {"hypothesis": hypothesis, "max_iter": 3, "random_state": 3, "multi_class": multi_class, **limits}
        model = model_for(kernel, computing, **options).fit(layout(X), y, sample_weight=steps)
        assert model.predict(layout(tests)).tolist() == [answer.label for answer in expected]
        assert model.on_boundary(layout(tests)).tolist() == [answer.tied for answer in expected]
        scores = np.array([[to_float(score) for score in answer.scores] for answer in expected])
        found = model.decision_function(layout(tests))
        assert found.shape == ((len(scores), classes) if classes > 2 else (len(scores),))
        found = found.reshape(scores.shape)
        if hypothesis == "vote":
            assert found.tolist() == scores.tolist()
        else:
            near = 1e-4 if computing and computing.get("dtype") == "float32" else 1e-9
            assert found == pytest.approx(scores, rel=near, abs=near * (np.abs(scores).max() + 1e-300))
        if classes == 2:
            assert np.sign(found[:, 0]).tolist() == [sign(answer.scores[0]) for answer in expected]


@pytest.mark.parametrize(("classes", "multi_class"), CASES)
def test_one_run_has_three_hypotheses(classes, multi_class):
    kernel = QUADRATIC
    X, y, _, tests, twin = case(kernel, "ties", classes, multi_class)
    model = model_for(kernel, max_iter=3, random_state=3, multi_class=multi_class).fit(X, y)
    for hypothesis in ("vote", "last", "average", "vote"):
        expected = answers(twin, hypothesis, kernel, classes, (X, y, None), tests)
        model.set_params(hypothesis=hypothesis)
        assert model.predict(tests).tolist() == [answer.label for answer in expected]
    with pytest.raises(ValueError, match='hypothesis="pocket" needs'):
        model.set_params(hypothesis="pocket").predict(tests)


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


# What a run proves of its data, in the space of the kernel: computed again from the exact kernel values.


SPACES = [
    Kernel("linear"),
    Kernel("poly", 2, 0.5, 1.0),
    Kernel("poly", 3, 0.1, 0.1),
    Kernel("rbf", gamma=0.5),
    Kernel("laplacian", gamma=0.1),
]


def separable(kernel, seed=0, n=20):
    """Return a set that a kernel of this kind separates: labels by a plane, no row twice."""
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(-3, 4, (n, 3)), axis=0).astype(float)
    a = X @ [2.0, 1.0, -1.0]
    return X[a != 0], (a[a != 0] > 0).astype(int)


def gram(kernel, X):
    values = Values(kernel, X)
    return np.array([[to_float(values(i, j)) for j in range(len(X))] for i in range(len(X))])


@pytest.mark.parametrize("kernel", SPACES, ids=kernel_name)
@pytest.mark.parametrize("weighted", [False, True])
def test_radius_margins_and_bound(kernel, weighted):
    X, y = separable(kernel)
    steps = np.random.default_rng(1).choice([0.5, 1.0, 2.0], len(y)) if weighted else np.ones(len(y))
    model = model_for(kernel, hypothesis="last", max_iter=2000, random_state=0)
    report = model.fit(X, y, sample_weight=steps).report_
    (twin,) = twin_of(kernel, X, y, 2, seed=0, passes=2000, steps=steps)
    assert report.converged
    assert report.converged == twin.clean[-1]
    assert (report.passes, report.updates, report.mistakes_by_pass) == (len(twin.mistakes), twin.made, twin.mistakes)

    G, s = gram(kernel, X), 2.0 * y - 1.0
    last = summed(twin.updates)
    alpha = np.array([float(last.get(row, 0)) for row in range(len(y))])
    length = math.sqrt(alpha @ G @ alpha)
    margin = (s * (G @ alpha)).min() / length
    assert report.radius == pytest.approx(math.sqrt(G.diagonal().max()), rel=1e-9)
    assert 0.5 * margin <= report.margin_low <= margin * (1 + 1e-12)
    assert report.margin_high >= margin * (1 - 1e-12)
    assert report.margin_high == pytest.approx(length / sum(abs(u.step) for u in twin.updates), rel=1e-6)
    reach2 = (steps**2 * G.diagonal()).max()
    low_step = (steps * s * (G @ alpha)).min() / length
    assert (1 - 1e-9) * reach2 / low_step**2 <= report.bound <= 4.5 * reach2 / low_step**2
    for seed in range(1, 6):
        other = model_for(kernel, hypothesis="last", max_iter=2000, random_state=seed).fit(X, y, sample_weight=steps)
        assert other.n_updates_ <= report.bound
        assert other.report_.margin_high >= report.margin_low
    assert "Separated" in str(report)


@pytest.mark.parametrize("kernel", SPACES, ids=kernel_name)
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_several_classes(kernel, multi_class):
    X, y = separable(kernel, n=14)
    y = y + (X[:, 0] + 0.5 * X[:, 1] + 0.25 > 2)
    direct = multi_class == "direct"
    model = model_for(kernel, hypothesis="last", max_iter=3000, random_state=0, multi_class=multi_class)
    if kernel.name in ("linear", "poly"):
        model.set_params(max_iter=300, hypothesis="average")  # not every one of these is separated
    report = model.fit(X, y).report_
    assert report.radius == pytest.approx(math.sqrt(gram(kernel, X).diagonal().max()), rel=1e-9)
    assert report.updates == model.n_updates_ == sum(report.mistakes_by_pass)
    assert direct or sorted(report.by_class) == [0, 1, 2]
    if not report.converged:
        assert (report.margin_low, report.bound) == (-math.inf, math.inf)
        return
    for seed in range(1, 4):
        other = model_for(kernel, max_iter=3000, random_state=seed, multi_class=multi_class).fit(X, y)
        assert other.n_updates_ <= report.bound
        if not direct:
            for label, part in report.by_class.items():
                assert other.report_.by_class[label].updates <= part.bound


def test_before_a_clean_pass_nothing_is_proved():
    X, y = tied_set("duplicates")
    kernel = Kernel("poly", 2, 1.0, 1.0)
    with pytest.warns(ConvergenceWarning, match="training has not converged"):
        model = model_for(kernel, hypothesis="last", max_iter=3, random_state=0).fit(X, y)
    report = model.report_
    (twin,) = twin_of(kernel, X, y, 2, seed=0, passes=3)
    assert (report.converged, report.margin_low, report.bound) == (False, -math.inf, math.inf)
    G, alpha = gram(kernel, X), np.zeros(len(y))
    for row, value in summed(twin.updates).items():
        alpha[row] = float(value)
    assert report.margin_high == pytest.approx(math.sqrt(alpha @ G @ alpha) / twin.made, rel=1e-6)
    model_for(kernel, max_iter=3, random_state=0).fit(X, y)  # an average is not warned about


def test_rows_that_are_not_visited_have_no_radius():
    X, y = separable(SPACES[0])
    X = np.concatenate([X, [[100.0, 100.0, 100.0]]])
    y, steps = np.append(y, 0), np.append(np.ones(len(y)), 0.0)
    model = model_for(Kernel("poly", 2, 1.0, 1.0), max_iter=50, random_state=0).fit(X, y, sample_weight=steps)
    assert model.report_.radius == (X[:-1] ** 2).sum(axis=1).max() + 1.0


def test_a_kernel_without_a_space_proves_no_bound():
    X, y = [[1.0], [-1.0], [0.5], [-0.5]], [1, 0, 1, 0]
    model = model_for(Kernel("poly", 1, 1.0, -2.0), hypothesis="last", max_iter=50, random_state=0).fit(X, y)
    assert model.report_.bound == math.inf
    assert str(model.report_)
