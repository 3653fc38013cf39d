"""When a run ends and what it leaves out: clean passes, limits of updates, rows held out."""

import numpy as np
import pytest

from rosenblatt import AROW, AveragedPerceptron, MarginPerceptron, PassiveAggressive, Perceptron


def noisy_rows(n=120, d=4, classes=2, seed=0):
    """Return rows of small whole numbers with labels that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    return rng.integers(-2, 3, (n, d)).astype(float), rng.integers(0, classes, n)


@pytest.mark.parametrize("learner", [MarginPerceptron, PassiveAggressive, AROW])
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_pass_with_updates_is_not_clean_though_no_row_was_wrong(learner, multi_class, classes):
    y = np.arange(30) % classes
    X = 0.5 * np.eye(3)[y] + np.random.default_rng(5).uniform(-0.1, 0.1, (30, 3))
    kept = []
    for passes in range(1, 12):
        model = learner(shuffle=False, max_iter=passes, multi_class=multi_class).fit(X, y)
        last = model.history_[-1]
        assert model.converged_ == (last["updates"] == 0)
        assert model.n_iter_ == passes or model.converged_
        kept.append(last["mistakes"] == 0 and last["updates"] > 0)
    assert any(kept)  # or this shows nothing


def test_a_clean_pass_of_a_margin_perceptron_has_the_margin():
    X, y = np.array([[1.0, 1.0], [2.0, 0.0], [-1.0, 0.0], [0.0, -2.0]]), np.array([1, 1, 0, 0])
    for margin in (5.0, 20.0):
        model = MarginPerceptron(margin=margin, shuffle=False, max_iter=1000).fit(X, y)
        assert model.converged_
        assert (np.where(y == 1, 1, -1) * model.decision_function(X) > margin).all()


@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
@pytest.mark.parametrize("classes", [2, 3])
def test_max_updates_limits_each_fit_and_all_calls_of_partial_fit_together(classes, multi_class):
    X, y = noisy_rows(classes=classes)
    classifiers = classes if classes > 2 and multi_class == "ovr" else 1
    warm = Perceptron(max_updates=5, warm_start=True, random_state=0, multi_class=multi_class)
    assert [warm.fit(X, y).n_updates_ for _ in range(3)] == [5 * classifiers, 10 * classifiers, 15 * classifiers]
    online = Perceptron(max_updates=5, multi_class=multi_class)
    made = [online.partial_fit(X[i : i + 40], y[i : i + 40], classes=range(classes)).n_updates_ for i in (0, 40, 80)]
    assert made == [5 * classifiers] * 3


@pytest.mark.parametrize("shuffle", [True, False])
def test_rows_are_held_out_by_their_numbers_however_a_stream_is_cut(shuffle):
    X, y = noisy_rows(n=300)
    options = {"early_stopping": True, "validation_fraction": 0.3, "shuffle": shuffle, "random_state": 3, "max_iter": 4}
    whole = AveragedPerceptron(**options).fit(X, y)
    for size in (300, 100, 7):
        blocks = [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]
        model = AveragedPerceptron(**options).fit_stream(blocks)
        assert model.history_.tobytes() == whole.history_.tobytes()
        assert model.coef_.tobytes() == whole.coef_.tobytes()


def test_a_row_without_a_number_is_refused_after_many_good_ones():
    X, y = noisy_rows(n=3000)
    X[-1, -1] = np.nan
    for learner in (Perceptron, AveragedPerceptron, MarginPerceptron):
        with pytest.raises(ValueError, match="NaN"):
            learner(max_iter=3, random_state=0).fit(X, y)
