"""The kernel perceptron equals other roads to the same model, and says what it has learned."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from helpers.kernel_sets import (
    SOME_KERNELS,
    assert_same_run,
    assert_same_updates,
    kernel_name,
    model_for,
    tied_set,
    twin_of,
)
from helpers.naive_features import feature_run
from helpers.naive_kernel import Kernel, orders_of, summed
from helpers.naive_kernel_answers import coefficients
from rosenblatt import KernelPerceptron, Perceptron
from rosenblatt.training.observers import UpdateTrace

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

some_kernels = pytest.mark.parametrize("kernel", SOME_KERNELS, ids=kernel_name)


# other roads to the same model


@pytest.mark.parametrize("kind", ["ties", "duplicates", "mirrored", "decimals", "gauss"])
@pytest.mark.parametrize(("gamma", "coef0"), [(1.0, 1.0), (1.0, 0.0), (0.1, 0.1), (1.0, -1.0)])
def test_degree_two_makes_the_mistakes_of_the_products_of_features(kind, gamma, coef0):
    X, y = tied_set(kind)
    kernel = Kernel("poly", degree=2, gamma=gamma, coef0=coef0)
    model = model_for(kernel, {"block": 7}, max_iter=3, random_state=4).fit(X, y)
    made = model.state_.updates_of(0)
    found = list(zip(model.support_[made.members].tolist(), made.visits.tolist(), strict=True))
    assert found == feature_run(X, y, kernel, 3, orders=orders_of(len(y), 4, True))


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
    ],
    ids=["rbf", "laplacian"],
)
def test_values_of_exponential_kernels_where_nothing_is_close(kernel, function):
    X, y = tied_set("gauss", n=40, classes=3, seed=6)
    named = model_for(kernel, max_iter=4, random_state=0).fit(X, y)
    assert_same_updates(KernelPerceptron(kernel=function, max_iter=4, random_state=0).fit(X, y), named)
    given = KernelPerceptron(kernel="precomputed", max_iter=4, random_state=0).fit(function(X, X), y)
    assert_same_updates(given, named)
    assert given.predict(function(X, X)).tolist() == named.predict(X).tolist()


def test_the_sigmoid_kernel():
    X, y = tied_set("gauss", n=40, seed=6)
    model = KernelPerceptron(kernel="sigmoid", gamma=0.5, coef0=-0.25, max_iter=4, random_state=0).fit(X, y)
    given = KernelPerceptron(kernel=lambda A, B: np.tanh(0.5 * (A @ B.T) - 0.25), max_iter=4, random_state=0).fit(X, y)
    assert_same_updates(model, given)
    assert model.predict(X).tolist() == given.predict(X).tolist()


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


def test_nothing_is_there_before_fit():
    model = KernelPerceptron()
    for name in ("support_", "support_vectors_", "dual_coef_", "n_support_", "gamma_", "classes_", "n_iter_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]),
        ([[np.cos(t) * r, np.sin(t) * r] for r in (1.0, 3.0) for t in range(12)], [0] * 12 + [1] * 12),
    ],
    ids=["xor", "rings"],
)
@pytest.mark.parametrize("kernel", [Kernel("poly", 2, 1.0, 1.0), Kernel("rbf", gamma=1.0)], ids=kernel_name)
def test_what_no_line_separates_is_learned(X, y, kernel):
    model = model_for(kernel, hypothesis="last", max_iter=500, random_state=0).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0
