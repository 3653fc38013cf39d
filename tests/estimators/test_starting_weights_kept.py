"""What keeps the weights that a run began with: the pocket, votes, early stopping, files."""

import pickle

import numpy as np
import pytest

from helpers.forging import state_from_plain, state_to_plain
from helpers.naive import direct_votes, run, run_direct, vote
from helpers.starting_weights import LINEAR, layouts, problem, separable
from rosenblatt import Perceptron, VotedPerceptron, load, save

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


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
