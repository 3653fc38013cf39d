"""The theorems of the seeds, stated for the learners on whole numbers, where every figure is exact."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.naive import run, vote
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, textbook

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

many = settings(max_examples=25, deadline=None)
small = st.integers(-4, 4)


@st.composite
def separable(draw, bias):
    """Whole-number points that a drawn whole-number separator (w, b) puts strictly on their sides."""
    d = draw(st.integers(1, 4))
    w = draw(st.lists(small, min_size=d, max_size=d).filter(any))
    b = draw(small) if bias else 0
    points = draw(st.lists(st.lists(small, min_size=d, max_size=d), min_size=2, max_size=25))
    signs = [np.sign(sum(p * q for p, q in zip(w, x, strict=True)) + b) for x in points]
    kept = [(x, int(y)) for x, y in zip(points, signs, strict=True) if y != 0]
    assume({y for _, y in kept} == {-1, 1})
    X, y = np.array([x for x, _ in kept]), np.array([y for _, y in kept])
    return X, y, np.array(w), b


@st.composite
def labelled(draw, classes=2):
    """Whole-number points with any labels, all classes present."""
    d = draw(st.integers(1, 4))
    rows = st.tuples(st.lists(small, min_size=d, max_size=d), st.integers(0, classes - 1))
    D = draw(st.lists(rows, min_size=classes, max_size=25))
    assume({y for _, y in D} == set(range(classes)))
    return np.array([x for x, _ in D]), np.array([y for _, y in D])


@pytest.mark.parametrize("bias", [True, False])
@many
@given(drawn=st.data(), seed=st.integers(0, 2**32), shuffle=st.sampled_from([True, False, "once"]))
def test_novikoff_in_any_order(bias, drawn, seed, shuffle):
    X, y, w, b = drawn.draw(separable(bias))
    model = Perceptron(fit_intercept=bias, max_iter=100_000, random_state=seed, shuffle=shuffle).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0
    # k <= R^2 |w*|^2 / gamma^2 in the space of (x, 1) or x, for any separator w* with margin gamma there
    gamma = min(y * (X @ w + b))
    assert model.n_updates_ * gamma**2 <= max((X**2).sum(axis=1) + bias) * (w @ w + b * b)
    assert model.n_updates_ <= model.report_.bound


@many
@given(separable(bias=True), st.booleans())
def test_the_report_brackets_the_margin_of_every_separator(case, weighted):
    X, y, w, b = case
    steps = np.random.default_rng(len(y)).choice([0.25, 1.0, 3.0], len(y)) if weighted else None
    model = Perceptron(max_iter=100_000, shuffle=False).fit(X, y, sample_weight=steps)
    report = model.report_
    known = float(min(y * (X @ w + b))) / np.sqrt(w @ w + b * b)
    assert known <= report.margin_high * (1 + 1e-12)
    v, c = [Fraction(t) for t in model.coef_[0]], Fraction(model.intercept_[0])
    attained = min(int(s) * (sum(p * int(q) for p, q in zip(v, x, strict=True)) + c) for s, x in zip(y, X, strict=True))
    assert report.margin_low > 0
    assert Fraction(report.margin_low) ** 2 * (sum(t * t for t in v) + c * c) <= attained**2
    assert report.margin_low <= report.margin_high
    assert report.radius == pytest.approx(np.sqrt(max((X**2).sum(axis=1) + 1)))
    assert report.updates == model.n_updates_ <= report.bound


@many
@given(labelled(), st.integers(1, 5), st.booleans())
def test_the_weights_grow_slowly(case, passes, bias):
    X, y = case
    model = Perceptron(max_iter=passes, fit_intercept=bias, random_state=0).fit(X, y)
    length = model.coef_[0] @ model.coef_[0] + model.intercept_[0] ** 2
    assert length <= model.n_updates_ * max((X**2).sum(axis=1) + bias)  # |w|^2 <= k R^2


@many
@given(labelled(), st.integers(-300, 300), st.integers(1, 5))
def test_scaling_by_a_power_of_two_changes_nothing_without_a_bias(case, power, passes):
    X, y = case
    one = Perceptron(max_iter=passes, fit_intercept=False, random_state=1).fit(X, y)
    other = Perceptron(max_iter=passes, fit_intercept=False, random_state=1).fit(X * 2.0**power, y)
    assert (one.coef_ * 2.0**power).tobytes() == other.coef_.tobytes()
    assert one.history_.tolist() == other.history_.tolist()


@many
@given(labelled())
def test_an_update_raises_the_activation_by_the_squared_length_and_one(case):
    X, y = case
    model = Perceptron()
    for row, label in zip(X, y, strict=True):
        before = model.decision_function([row])[0] if hasattr(model, "classes_") else 0.0
        updates = getattr(model, "n_updates_", 0)
        model.partial_fit([row], [label], classes=[0, 1])
        rise = (1 if label == 1 else -1) * (model.decision_function([row])[0] - before)
        assert rise == (row @ row + 1 if model.n_updates_ > updates else 0)


@many
@given(labelled(), st.integers(1, 4))
def test_lazy_average_is_the_naive_average(case, passes):
    X, y = case
    model = AveragedPerceptron(max_iter=passes, shuffle=False).fit(X, y)
    naive = run(X, 2 * y - 1, passes)
    assert model.coef_[0] == pytest.approx([float(v) for v in naive.average_w], rel=1e-12, abs=1e-12)
    assert model.intercept_[0] == pytest.approx(float(naive.average_b), rel=1e-12, abs=1e-12)


@many
@given(labelled(), st.integers(1, 4))
def test_voted_is_the_naive_vote(case, passes):
    X, y = case
    model = VotedPerceptron(max_iter=passes, shuffle=False).fit(X, y)
    naive = run(X, 2 * y - 1, passes)
    votes = [vote(naive.voters, row) for row in X.tolist()]
    assert model.predict(X).tolist() == [int(total > 0) for total in votes]
    assert (model.decision_function(X) * sum(c for *_, c in naive.voters)).tolist() == pytest.approx(votes)
    D = [(x, int(s)) for x, s in zip(X.tolist(), 2 * y - 1, strict=True)]
    if model.n_iter_ == passes:  # the textbook does not stop after a clean pass
        voters = textbook.voted_perceptron_train(D, passes)
        expected = [textbook.voted_perceptron_test(voters, x) for x in X.tolist()]
        assert (2 * model.predict(X) - 1).tolist() == expected


@many
@given(labelled(classes=3), st.integers(1, 5), st.integers(0, 100))
def test_lockstep_is_separate_runs(case, passes, seed):
    X, y = case
    together = Perceptron(max_iter=passes, random_state=seed, n_jobs=2).fit(X, y)
    for k in range(3):
        alone = Perceptron(max_iter=passes, random_state=seed).fit(X, y == k)
        assert together.coef_[k].tobytes() == alone.coef_[0].tobytes()
        assert together.average_coef_[k].tobytes() == alone.average_coef_[0].tobytes()
        assert together.report_.by_class[k].updates == alone.n_updates_


@many
@given(labelled(), st.lists(st.integers(0, 25), max_size=5))
def test_any_chunking_is_one_pass(case, cuts):
    X, y = case
    whole = Perceptron(max_iter=1, shuffle=False).fit(X, y)
    bounds = sorted({0, len(y), *(cut for cut in cuts if cut < len(y))})
    model = Perceptron()
    for start, stop in itertools.pairwise(bounds):
        model.partial_fit(X[start:stop], y[start:stop])
    assert model.coef_.tobytes() == whole.coef_.tobytes()
    assert model.average_coef_.tobytes() == whole.average_coef_.tobytes()


@many
@given(separable(bias=True))
def test_integers_until_no_mistakes_are_the_textbooks(case):
    X, y, *_ = case
    S = [(x, int(s)) for x, s in zip(X.tolist(), y, strict=True)]
    w, k = textbook.perceptron_until_no_mistakes(textbook.with_dummy_feature(S))
    model = Perceptron(shuffle=False, max_iter=100_000).fit(X, y)
    assert [model.intercept_[0], *model.coef_[0]] == w
    assert model.n_updates_ == k
