"""Early stopping says what it held out, how each pass did on it, and which one it kept."""

import math

import numpy as np
import pytest

from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, VotedPerceptron, load, save
from rosenblatt.persistence.files import to_trained_model
from rosenblatt.training.early_stopping import EarlyStoppingFacts

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def noisy(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, VotedPerceptron, KernelPerceptron])
def test_the_pass_that_is_kept(learner, tmp_path):
    X, y = noisy()
    options = {"random_state": 0, "max_iter": 30}
    model = learner(early_stopping=True, n_iter_no_change=4, **options).fit(X, y)
    facts, errors = model.report_.early_stopping, model.history_["validation_error"].tolist()
    assert facts.error_by_pass == errors
    assert len(errors) == model.n_iter_
    assert model.best_iter_ == facts.best_pass == 1 + errors.index(min(errors))
    assert facts.least_error == min(errors)
    assert 0.05 * len(y) < facts.held_out_rows < 0.15 * len(y)
    short = learner(early_stopping=True, n_iter_no_change=4, **(options | {"max_iter": model.best_iter_})).fit(X, y)
    assert np.array_equal(short.decision_function(X), model.decision_function(X)), "these are its weights"
    sentence = (
        f"Early stopping held out {facts.held_out_rows} rows; the least error, {100 * min(errors):.3g}%, came after "
        f"pass {model.best_iter_} of {model.n_iter_}: its weights are kept."
    )
    assert str(model.report_).splitlines()[-1] == sentence
    assert sentence in model.report_._repr_html_()
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.report_ == model.report_
    assert again.best_iter_ == model.best_iter_
    plain = to_trained_model(model)
    assert plain.early_stopping == facts
    assert plain.report.to_plain()["early_stopping"] == {
        "held_out_rows": facts.held_out_rows,
        "error_by_pass": errors,
        "best_pass": model.best_iter_,
    }


def test_streams_say_the_same():
    X, y = noisy()
    options = {"early_stopping": True, "random_state": 0}
    model = AveragedPerceptron(**options).fit(X, y)
    stream = AveragedPerceptron(**options).fit_stream([(X[:150], y[:150]), (X[150:], y[150:])])
    assert stream.report_ == model.report_
    assert stream.best_iter_ == model.best_iter_


def test_passes_are_counted_over_warm_starts():
    X, y = noisy()
    whole = AveragedPerceptron(early_stopping=True, random_state=0, max_iter=12).fit(X, y)
    model = AveragedPerceptron(early_stopping=True, random_state=0, max_iter=1, warm_start=True)
    for _ in range(whole.n_iter_):
        model.fit(X, y)
    assert model.best_iter_ == whole.best_iter_
    assert model.report_ == whole.report_


def test_without_early_stopping_the_last_pass_is_kept():
    X, y = noisy()
    model = AveragedPerceptron(random_state=0, max_iter=7).fit(X, y)
    assert model.best_iter_ == model.n_iter_ == 7
    assert model.report_.early_stopping is None
    stopped = AveragedPerceptron(random_state=0, early_stopping=True, max_iter=7).fit(X, y)
    assert stopped.partial_fit(X, y).best_iter_ == stopped.n_iter_ == 8
    assert stopped.report_.early_stopping is None
    with pytest.raises(AttributeError):
        AveragedPerceptron().best_iter_  # noqa: B018


def test_a_model_that_is_called_after_a_pass_says_nothing_of_an_earlier_fit():
    X, y = noisy()
    model = AveragedPerceptron(early_stopping=True, random_state=0, max_iter=3)
    model.fit(X, y)
    seen = []
    model.fit_stream([(X, y)], on_pass=lambda model: seen.append((model.n_iter_, model.best_iter_)))
    assert seen == [(1, 1), (2, 2), (3, 3)]


def test_a_file_that_does_not_say_how_many_rows_were_held_out():
    assert str(EarlyStoppingFacts(None, [math.pi / 10, None], 1)) == (
        "Early stopping held out rows; the least error, 31.4%, came after pass 1 of 2: its weights are kept."
    )
