"""Runs that begin with weights that are given."""

import pickle

import numpy as np
import pytest

from helpers.forging import state_from_plain, state_to_plain
from helpers.naive import direct_votes, run, run_direct, vote
from helpers.starting_weights import LINEAR, layouts, problem, separable
from rosenblatt import AROW, AveragedPerceptron, MarginPerceptron, Perceptron, VotedPerceptron, load, save

# Weights to begin with: ``coef_init`` and ``intercept_init`` of ``fit``.


@pytest.mark.parametrize("seed", range(4))
def test_two_classes_are_the_slow_loop(seed):
    X, y, w, b = problem(seed)
    slow = run(X, 2 * y - 1, 3, start=(w[0], b[0]))
    for rows in layouts(X):
        model = AveragedPerceptron(max_iter=3, shuffle=False).fit(rows, y, coef_init=w, intercept_init=b)
        assert np.array_equal(model.last_coef_[0], slow.w)
        assert model.last_intercept_[0] == slow.b
        assert model.history_["mistakes"].tolist() == slow.mistakes
        assert model.n_updates_ == slow.updates
        np.testing.assert_allclose(model.coef_[0], [float(v) for v in slow.average_w], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(model.intercept_[0], float(slow.average_b), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("seed", range(2))
def test_one_vs_rest_is_a_slow_loop_for_each_class(seed, n_jobs):
    X, y, w, b = problem(seed, classes=3)
    slow = [run(X, np.where(y == k, 1, -1), 3, start=(w[k], b[k])) for k in range(3)]
    for rows in layouts(X):
        model = Perceptron(max_iter=3, shuffle=False, n_jobs=n_jobs).fit(rows, y, coef_init=w, intercept_init=b)
        assert np.array_equal(model.coef_, [one.w for one in slow])
        assert np.array_equal(model.intercept_, [one.b for one in slow])
        for k in range(3):
            np.testing.assert_allclose(model.average_coef_[k], [float(v) for v in slow[k].average_w], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_direct_is_the_slow_loop(seed):
    X, y, w, b = problem(seed, classes=3)
    slow = run_direct(X, y, 3, 3, start=(w, b))
    for rows in layouts(X):
        model = Perceptron(max_iter=3, shuffle=False, multi_class="direct")
        model.fit(rows, y, coef_init=w, intercept_init=b)
        assert np.array_equal(model.coef_, slow.w)
        assert np.array_equal(model.intercept_, slow.b)
        assert model.history_["mistakes"].tolist() == slow.mistakes


def test_rows_on_the_boundary_of_the_given_weights_are_mistakes():
    X, y = np.array([[0.1, 0.2, 0.3], [-1.0, 0.0, 0.0]]), [1, 0]
    w = np.array([0.3, 0.3, -0.3])  # near 0 on the first row, on which side only exact sums say
    for sign in (1.0, -1.0):
        slow = run(X, [1, -1], 1, start=(sign * w, 0.0))
        model = Perceptron(max_iter=1, shuffle=False).fit(X, y, coef_init=sign * w)
        assert model.history_["mistakes"].tolist() == slow.mistakes
    tie = Perceptron(max_iter=1, shuffle=False).fit([[1.0, 1.0], [-3.0, 1.0]], [1, 0], coef_init=[1, -1])
    assert tie.coef_.tolist() == [[2.0, 0.0]]


@pytest.mark.parametrize("learner", [Perceptron, *LINEAR[3:5]])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_two_fits_of_one_pass_have_the_last_weights_of_one_fit_of_two(learner, classes, multi_class):
    X, y, _, _ = problem(7, classes=classes)
    model = learner(hypothesis="last", max_iter=1, shuffle=False, multi_class=multi_class)
    first = learner(**model.get_params()).fit(X, y)
    second = learner(**model.get_params()).fit(X, y, coef_init=first.coef_, intercept_init=first.intercept_)
    both = learner(**model.get_params() | {"max_iter": 2}).fit(X, y)
    assert np.array_equal(second.coef_, both.coef_)
    assert np.array_equal(second.intercept_, both.intercept_)
    assert second.n_iter_ == 1
    assert second.history_["mistakes"].tolist() == both.history_["mistakes"][1:].tolist()


def test_arow_starts_with_new_variances():
    X, y, w, b = problem(3)
    coef, bias, v, v_b = w[0].copy(), b[0], np.ones(5), 1.0
    for x, sign in zip(X, 2 * y - 1, strict=True):
        short = 1 - sign * (coef @ x + bias)
        if short > 0:
            whole = v @ (x * x) + v_b + 1.0
            coef, bias = coef + sign * short / whole * v * x, bias + sign * short / whole * v_b
            v, v_b = v - (v * x) ** 2 / whole, v_b - v_b**2 / whole
    for rows in layouts(X):
        model = AROW(r=1.0, max_iter=1, shuffle=False).fit(rows, y, coef_init=w, intercept_init=b)
        np.testing.assert_allclose(model.coef_[0], coef, rtol=1e-9)
        np.testing.assert_allclose(model.intercept_[0], bias, rtol=1e-9)
        np.testing.assert_allclose(model.variance_[0], v, rtol=1e-9)


@pytest.mark.parametrize("learner", LINEAR)
def test_zeros_are_a_fit_without_weights_to_begin_with(learner):
    X, y, w, b = problem(1, classes=3)
    zeros = {"coef_init": np.zeros_like(w), "intercept_init": -np.zeros_like(b)}
    plain, given = (learner(max_iter=3, random_state=0).fit(X, y, **start) for start in ({}, zeros))
    assert np.array_equal(plain.decision_function(X), given.decision_function(X))
    assert plain.report_ == given.report_


def test_where_one_is_given_the_other_is_zero():
    X, y, w, b = problem(2)
    one, other = Perceptron(random_state=0), Perceptron(random_state=0)
    one.fit(X, y, coef_init=w[0])
    other.fit(X, y, coef_init=w, intercept_init=0)
    assert np.array_equal(one.coef_, other.coef_)
    one.fit(X, y, intercept_init=b[0])
    other.fit(X, y, coef_init=np.zeros(5), intercept_init=b)
    assert np.array_equal(one.coef_, other.coef_)


def test_they_are_not_changed():
    X, y, w, b = problem(2, classes=3)
    before = w.copy(), b.copy()
    for hypothesis in ("last", "average", "pocket", "vote"):
        model = Perceptron(hypothesis, max_iter=3).fit(X, y, coef_init=w, intercept_init=b)
        if hypothesis != "vote":
            model.partial_fit(X, y) if hypothesis != "pocket" else model.set_params(warm_start=True).fit(X, y)
        assert np.array_equal(before[0], w)
        assert np.array_equal(before[1], b)


def test_a_warm_start_begins_anew_from_them():
    X, y, w, b = problem(5, classes=3)
    start = {"coef_init": w, "intercept_init": b}
    fresh = Perceptron(max_iter=2, random_state=0).fit(X, y, **start)
    warm = Perceptron(max_iter=2, random_state=0, warm_start=True).fit(X[:, :3], y)
    warm.fit(X, y, **start)
    assert np.array_equal(fresh.coef_, warm.coef_)
    assert warm.n_iter_ == 2
    assert warm.history_.tolist() == fresh.history_.tolist()
    warm.fit(X, y)
    assert warm.n_iter_ == 4
    assert np.array_equal(warm.coef_, Perceptron(max_iter=4, random_state=0).fit(X, y, **start).coef_)


# what the run proves


@pytest.mark.parametrize("learner", [Perceptron, MarginPerceptron])
@pytest.mark.parametrize("seed", range(25))
def test_no_run_from_them_makes_more_updates_than_the_bound(learner, seed):
    X, y, w, b = separable(seed)
    model = learner(max_iter=100_000, random_state=seed).fit(X, y, coef_init=w, intercept_init=b)
    other = learner(max_iter=100_000, random_state=seed + 1).fit(X, y, coef_init=w, intercept_init=b)
    report = model.report_
    assert model.converged_
    assert max(model.n_updates_, other.n_updates_) <= report.bound < np.inf
    assert other.report_.margin_low <= report.margin_high
    reached = np.min(np.where(y == 1, 1, -1) * model.decision_function(X))
    length = np.hypot(np.linalg.norm(model.coef_), model.intercept_[0])
    assert report.margin_low <= reached / length * (1 + 1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_the_bound_holds_for_several_classes(fit_intercept, multi_class):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(15, 2)) + c for c in ([9, 0], [-9, 9], [-9, -9])])
    y, w = np.repeat([0, 1, 2], 15), 20 * rng.normal(size=(3, 2))
    model = Perceptron(max_iter=10_000, multi_class=multi_class, fit_intercept=fit_intercept, random_state=0)
    model.fit(X, y, coef_init=w)
    assert model.converged_
    assert 0 < model.n_updates_ <= model.report_.bound < np.inf
    assert 0 < model.report_.margin_low <= model.report_.margin_high


def test_one_update_from_long_weights_does_not_bound_the_margin_by_too_little():
    X, y = np.array([[2.0], [-2.0]]), np.array([1, 0])
    model = Perceptron(max_iter=1000, fit_intercept=False, shuffle=False).fit(X, y, coef_init=[-1.0])
    assert model.coef_.tolist() == [[1.0]]  # 1 update; its length over the steps is 1, but the margin is 2
    assert model.report_.margin_low == pytest.approx(2.0)
    assert model.report_.margin_high == pytest.approx(2.0)
    assert model.n_updates_ == 1 <= model.report_.bound


@pytest.mark.parametrize("hypothesis", ["last", "average", "pocket", "vote"])
def test_weights_that_separate_make_one_pass_without_updates(hypothesis):
    X, y, _, _ = separable(1)
    known = Perceptron(max_iter=100_000).fit(X, y)
    start = {"coef_init": known.coef_, "intercept_init": known.intercept_}
    model = Perceptron(hypothesis).fit(X, y, **start)
    assert model.converged_
    assert (model.n_iter_, model.n_updates_) == (1, 0)
    assert np.array_equal(model.last_coef_, known.coef_)
    assert model.score(X, y) == 1.0
    assert 0 < model.report_.margin_low == pytest.approx(known.report_.margin_low)
    assert model.report_.margin_high == np.inf
    if hypothesis == "vote":
        assert model.decision_function(X).tolist() == (2.0 * y - 1).tolist()
    else:
        assert np.array_equal(model.coef_, known.coef_)


def test_weights_that_end_at_zero_prove_nothing():
    X, y = np.array([[1.0], [-2.0]]), np.array([1, 0])
    model = Perceptron(max_iter=1, max_updates=1, fit_intercept=False, shuffle=False).fit(X, y, coef_init=[-1.0])
    assert model.coef_.tolist() == [[0.0]]
    assert not model.report_.proved_inseparable
    again = model.set_params(max_updates=None, max_iter=10, warm_start=True).fit(X, y)
    assert again.converged_
    assert not again.report_.proved_inseparable


def test_tiny_weights_are_no_zeros():
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), np.array([1, 0, 1])
    for rows in layouts(X):
        model = Perceptron(shuffle=False).fit(rows, y, coef_init=[5e-324, 5e-324])
        assert (model.n_updates_, model.converged_) == (0, True)
        three = Perceptron(multi_class="direct").fit(rows, [0, 1, 2], coef_init=1e-200 * X)
        assert np.array_equal(three.coef_, 1e-200 * X)
        assert (three.n_updates_, three.converged_) == (0, True)


# errors


@pytest.mark.parametrize(
    ("classes", "coef", "intercept", "sentence"),
    [
        (2, np.zeros(4), None, r"coef_init must have shape \(5,\) or \(1, 5\) for two classes and 5 features, got"),
        (2, np.zeros((2, 5)), None, r"got shape \(2, 5\)\.$"),
        (3, np.zeros(5), None, r"coef_init must have shape \(3, 5\) for 3 classes and 5 features, got shape \(5,\)\.$"),
        (3, np.zeros((5, 3)), None, r"got shape \(5, 3\)\.$"),
        (2, None, [1, 2], r"intercept_init must be a number or have shape \(1,\) for two classes, got shape \(2,\)\.$"),
        (3, None, 1.0, r"intercept_init must have shape \(3,\) for 3 classes, got shape \(\)\.$"),
        (2, [0, 0, 0, 0, np.nan], None, r"^coef_init must hold finite numbers, got nan\.$"),
        (2, None, -np.inf, r"^intercept_init must hold finite numbers, got -inf\.$"),
        (2, [0, 0, 0, 0, 1e200], None, r"^coef_init must hold numbers of magnitude at most 1e\+140, got 1e\+200"),
        (2, ["a", "b", "c", "d", "e"], None, r"^coef_init must be an array of numbers, got \['a'"),
        (2, [[1, 2], [3]], None, r"^coef_init must be an array of numbers, got \[\[1, 2\], \[3\]\]\.$"),
    ],
)
@pytest.mark.parametrize("learner", LINEAR)
def test_what_does_not_fit_is_one_sentence(learner, classes, coef, intercept, sentence):
    X, y, _, _ = problem(0, classes=classes)
    model = learner(random_state=0).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, y, coef_init=coef, intercept_init=intercept)
    assert np.array_equal(model.decision_function(X), before), "an error leaves the model as it was"


def test_a_bias_that_is_not_learned_must_be_zero():
    X, y, w, _ = problem(0)
    model = Perceptron(fit_intercept=False)
    with pytest.raises(ValueError, match=r"^intercept_init must be 0 without an intercept, got 2: leave it out"):
        model.fit(X, y, coef_init=w, intercept_init=2)
    model.fit(X, y, coef_init=w, intercept_init=[0.0])
    assert model.intercept_.tolist() == [0.0]


# What keeps the weights that a run began with: the pocket, votes, early stopping, files.


def test_the_pocket_may_keep_the_given_weights():
    X = np.array([[-1.0], [1.0], [2.0], [3.0], [4.0]])
    y = np.array([1, 1, 1, 1, 0])  # x > 0 from the start has two mistakes, the first row and the last
    model = Perceptron("pocket", max_iter=1, shuffle=False, fit_intercept=False)
    pocket = model.fit(X, y, coef_init=[0.5])
    assert pocket.coef_.tolist() == [[0.5]]
    assert pocket.last_coef_[0, 0] != 0.5


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_they_vote_for_the_visits_before_the_first_update(seed, whole, fit_intercept):
    X, y, w, b = problem(seed, whole=whole)
    b = b if fit_intercept else 0 * b
    slow = run(X, 2 * y - 1, 2, start=(w[0], b[0]), fit_intercept=fit_intercept)
    visits = sum(voter[2] for voter in slow.voters)
    for rows in layouts(X):
        model = VotedPerceptron(max_iter=2, shuffle=False, fit_intercept=fit_intercept)
        model.fit(rows, y, coef_init=w, intercept_init=b)
        for asked in layouts(X):
            assert model.decision_function(asked).tolist() == [vote(slow.voters, x) / visits for x in X]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_they_vote_where_there_are_three_classes(seed, whole):
    X, y, w, b = problem(seed, n=25, classes=3, whole=whole)
    runs = [run(X, np.where(y == k, 1, -1), 2, start=(w[k], b[k])) for k in range(3)]
    direct = run_direct(X, y, 3, 2, start=(w, b))
    for rows in layouts(X):
        ovr = VotedPerceptron(max_iter=2, shuffle=False).fit(rows, y, coef_init=w, intercept_init=b)
        visits = [sum(voter[2] for voter in one.voters) for one in runs]
        expected = [[vote(runs[k].voters, x) / visits[k] for k in range(3)] for x in X]
        assert ovr.decision_function(X).tolist() == expected
        both = VotedPerceptron(max_iter=2, shuffle=False, multi_class="direct")
        both.fit(rows, y, coef_init=w, intercept_init=b)
        visits = sum(voter[2] for voter in direct.voters)
        expected = [[count / visits for count in direct_votes(direct.voters, x, 3)] for x in X]
        assert both.decision_function(X).tolist() == expected


def test_votes_near_a_boundary_are_exact():
    w = np.array([1e16, 1.0, -1e16])  # sums lose the middle term, whole numbers though they are
    X, y = np.array([[1.0, 1.0, 1.0], [3.0, -1.0, 3.0], [1.0, 0.0, 1.0]]), np.array([1, 0, 1])
    slow = run(X, 2 * y - 1, 2, start=(w, 0.0))
    visits = sum(voter[2] for voter in slow.voters)
    model = VotedPerceptron(max_iter=2, shuffle=False).fit(X, y, coef_init=w)
    asked = np.vstack([X, -X, [[0.0, 0.0, 0.0], [2.0, 1e-9, 2.0]]])
    assert model.decision_function(asked).tolist() == [vote(slow.voters, x) / visits for x in asked]


@pytest.mark.parametrize("hypothesis", ["last", "average", "vote"])
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_a_class_that_comes_later_has_the_run_that_it_would_have_had(tmp_path, hypothesis, multi_class):
    X, y, w, b = problem(11, whole=True)
    more, labels = np.rint(2 * np.random.default_rng(0).normal(size=(12, 5))), np.array([2, 0, 1] * 4)
    model = Perceptron(hypothesis, max_iter=1, shuffle=False, multi_class=multi_class)
    model.fit(X, y, coef_init=w, intercept_init=b).partial_fit(more, labels)
    three = np.vstack([-w, w, 0 * w]), np.concatenate([-b, b, 0 * b])
    if multi_class == "direct" and hypothesis == "vote":
        first = run(X, 2 * y - 1, 1, start=(w[0], b[0]))
        voters = [([[-v for v in u], u, [0.0] * 5], [-c, c, 0.0], count) for u, c, count in first.voters]
        last = voters[-1]
        then = run_direct(more, labels, 3, 1, start=last[:2]).voters
        voters = [*voters[:-1], (*last[:2], last[2] + then[0][2]), *then[1:]]
        votes = np.array([direct_votes(voters, x, 3) for x in X])
        assert np.array_equal(model.decision_function(X), votes / 52)
    elif hypothesis == "vote":
        signs = np.concatenate([2 * y - 1, np.where(labels == 1, 1, -1)])
        slow = run(np.vstack([X, more]), signs, 1, start=(three[0][1], three[1][1]))
        assert np.array_equal(model.decision_function(X)[:, 1], [vote(slow.voters, x) / 52 for x in X])
    else:
        slow = run(X, 2 * y - 1, 1, start=(w[0], b[0]))
        then = np.vstack([-slow.w, slow.w, 0 * slow.w]), np.array([-slow.b, slow.b, 0.0])
        if multi_class == "direct":
            assert np.array_equal(model.last_coef_, run_direct(more, labels, 3, 1, start=then).w)
        else:
            again = [run(more, np.where(labels == k, 1, -1), 1, start=(then[0][k], then[1][k])).w for k in range(3)]
            assert np.array_equal(model.last_coef_, again)
    save(model, tmp_path / "later")
    assert np.array_equal(load(tmp_path / "later").decision_function(X), model.decision_function(X))


def test_names_that_come_later_begin_with_zero(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, -1.0, 2.0], "b": [0.0, 1.0, -1.0]})
    model = VotedPerceptron(shuffle=False, max_iter=1).fit(frame, [1, 0, 1], coef_init=[-1.0, 2.0])
    model.learn_one({"a": 1.0, "c": -3.0}, 1)
    model.learn_one({"c": 4.0}, 0)
    X = np.array([[1.0, 0, 0], [-1, 1, 0], [2, -1, 0], [1, 0, -3], [0, 0, 4]])
    slow = run(X, [1, -1, 1, 1, -1], 1, start=([-1.0, 2.0, 0.0], 0.0))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert model.decision_function(frame).tolist() == [vote(slow.voters, x) / 5 for x in X]
    save(model, tmp_path / "wider")
    assert np.array_equal(load(tmp_path / "wider").decision_function(frame), model.decision_function(frame))


# early stopping, files


@pytest.mark.parametrize("learner", LINEAR)
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
@pytest.mark.parametrize("early_stopping", [False, True])
def test_files_and_pickles_keep_them(tmp_path, learner, multi_class, early_stopping):
    X, y, w, b = problem(4, n=80, classes=3)
    model = learner(max_iter=4, multi_class=multi_class, early_stopping=early_stopping, random_state=0)
    model.set_params(validation_fraction=0.3, warm_start=True).fit(X, y, coef_init=w, intercept_init=b)
    save(model, tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.decision_function(X), model.decision_function(X))
        assert again.report_ == model.report_
        again.fit(X, y)
        other = learner(**model.get_params()).fit(X, y, coef_init=w, intercept_init=b).fit(X, y)
        assert np.array_equal(again.decision_function(X), other.decision_function(X))


def test_early_stopping_may_keep_a_pass_that_left_them_as_they_are():
    X, y, _, _ = separable(2)
    X, y = np.tile(X, (4, 1)), np.tile(y, 4)
    known = Perceptron(max_iter=100_000).fit(X, y)
    model = Perceptron(early_stopping=True, validation_fraction=0.3, random_state=0)
    model.fit(X, y, coef_init=known.coef_, intercept_init=known.intercept_)
    assert np.array_equal(model.coef_, known.coef_)
    assert (model.best_iter_, model.n_updates_, model.converged_) == (1, 0, True)


def test_a_start_comes_back_and_is_checked():
    X, y, w, _ = problem(4, classes=3)
    state = VotedPerceptron(max_iter=2, fit_intercept=False).fit(X, y, coef_init=w).state_
    header, arrays = state_to_plain(state)
    assert np.array_equal(state_from_plain(header, arrays, 3).log.start[0], w)
    for change in ({"log.start_w": np.nan * w}, {"log.start_w": w[:, :-1]}):
        with pytest.raises(ValueError, match=r"'log.start_w' must be an array"):
            state_from_plain(header, arrays | change, 3)
