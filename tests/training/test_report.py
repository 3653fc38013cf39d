"""Reports: what a run proves, and what early stopping kept."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, VotedPerceptron, load, save
from rosenblatt.persistence.files import to_trained_model
from rosenblatt.training.early_stopping import EarlyStoppingFacts
from rosenblatt.training.report import Report

# Reports in words: for two classes and for many, for people and for notebooks.


XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), ["same", "differ", "differ", "same"]


def ten_classes():
    """Return a set in which the classes 0, 1 and 2 stand apart, and the others are noise."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 10
    X = rng.normal(size=(300, 4))
    X[y < 3] = 0.01 * X[y < 3]
    X[np.arange(300), np.minimum(y, 3)] += np.where(y < 3, 100.0, 0.0)
    return X, y


def test_two_classes_in_one_line():
    model = Perceptron(shuffle=False).fit([[1], [0]], [1, -1])
    assert repr(model.report_) == "<Report: 4 passes, 5 updates; separated, margin 0.4472 to 0.4472>"
    assert str(model.report_).splitlines()[:2] == ["4 passes, 5 updates.", "Separated: the last pass made no mistake."]
    assert model.report_._repr_html_().count("<p>") == 4
    assert "<table>" not in model.report_._repr_html_()


def test_several_classes_say_which_are_separated():
    X, y = ten_classes()
    model = Perceptron(max_iter=20, random_state=0).fit(X, y)
    report = model.report_
    separated = [label for label, part in report.by_class.items() if part.converged]
    assert separated == [0, 1, 2]
    which = "separated: 0, 1, 2; not: 3, 4, 5, 6, 7 and 2 more"
    assert repr(report) == f"<Report: 20 passes, {report.updates:,} updates of 10 one-vs-rest classifiers; {which}>"
    lines = str(report).splitlines()
    assert lines[0] == f"20 passes, {report.updates:,} updates, summed over 10 one-vs-rest classifiers."
    last = report.mistakes_by_pass[-1]
    assert lines[1] == f"Not separated: {last:,} mistakes in the last pass, summed over these classifiers."
    assert lines[2] == "Separated: 0, 1 and 2. Not separated: 3, 4, 5, 6, 7 and 2 more."
    html = report._repr_html_()
    assert html.count("<tr>") == 11
    assert "summed over 10" in html


def test_where_no_class_is_separated_one_sentence_says_so():
    X, y = np.zeros((9, 1)), ["a", "b", "c"] * 3
    model = Perceptron(max_iter=2, random_state=0).fit(X, y)
    assert repr(model.report_).endswith("one-vs-rest classifiers; no class separated>")
    assert str(model.report_).splitlines()[2] == "None of the classes was separated from the rest."


def test_one_of_a_thing_is_called_one():
    model = Perceptron(max_iter=1, shuffle=False, fit_intercept=False).fit([[1], [-1]], [1, -1])
    assert str(model.report_).startswith("1 pass, 1 update.\nNot separated: 1 mistake in the last pass.")
    model = Perceptron(shuffle=False, fit_intercept=False).fit([[1], [-1]], [1, -1])
    assert "a run that starts from zero makes at most 1 update." in str(model.report_)


def test_a_kernel_without_a_space_proves_nothing():
    model = KernelPerceptron(kernel="sigmoid", max_iter=3, random_state=0).fit(*XOR)
    assert repr(model.report_).startswith("<KernelReport: 3 passes, ")
    assert len(str(model.report_).splitlines()) == 2


# weights that come back to zero


@pytest.mark.parametrize("scale", [1.0, 0.5, 3.0, 2.0**-40])
@pytest.mark.parametrize("layout", [np.array, sp.csr_array])
def test_weights_that_return_to_zero_prove_that_nothing_separates(scale, layout, tmp_path):
    X, y = XOR
    model = Perceptron(max_iter=20, shuffle=False).fit(layout(scale * X), y)
    assert not model.coef_.any()
    assert not model.intercept_.any()
    report = model.report_
    assert report.proved_inseparable
    assert "No separator exists: the weights returned to exactly zero" in str(report)
    assert "at most" not in str(report)
    assert report.margin_high < 1e-10, "still a number"
    assert "proved inseparable" in repr(report)
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").report_ == report
    stream = Perceptron(max_iter=20, shuffle=False).fit_stream([(layout(scale * X), y)])
    assert stream.report_ == report


def test_a_class_whose_weights_come_back_to_zero():
    X, y = XOR
    X = np.column_stack([np.vstack([X, X[:1]]), [0, 0, 0, 0, 1]])
    model = Perceptron(max_iter=20, shuffle=False).fit(X, [*y, "third"])
    proved = [label for label, part in model.report_.by_class.items() if part.proved_inseparable]
    assert model.report_.proved_inseparable == bool(proved)
    for label in proved:
        k = model.classes_.tolist().index(label)
        assert not model.coef_[k].any()
        assert not model.intercept_[k]


def test_zero_by_rounding_proves_nothing():
    """The weights are 1, then 1e16 (1 is lost), then 0: all three rows are on one side, so 1 separates them."""
    X, y = [[1.0], [1e16], [-1e16]], [1, 1, -1]
    state = Perceptron(shuffle=False, fit_intercept=False, max_iter=1).fit(X, y)
    assert not state.report_.proved_inseparable
    rng = np.random.default_rng(0)
    for _ in range(300):
        X = rng.choice([1.0, -1.0, 1e16, -1e16, 2.0**53], (5, 2))
        w = rng.normal(size=2)
        scores = X @ w
        if (scores == 0).any() or len(set(np.sign(scores))) < 2:
            continue
        model = Perceptron(max_iter=3, fit_intercept=False, random_state=0).fit(X, np.sign(scores))
        assert not model.report_.proved_inseparable, "a separator is known"


@pytest.mark.parametrize("going_on", ["warm", "partial"])
def test_weights_made_from_other_data_prove_nothing(going_on):
    X, y = XOR
    model = Perceptron(max_iter=1, shuffle=False, warm_start=True).fit(X, y)
    assert model.report_.proved_inseparable
    if going_on == "warm":
        model.fit(X, y)
    else:
        model.partial_fit(X, y)
    assert not model.coef_.any()
    assert not model.report_.proved_inseparable
    assert "at most" in str(model.report_)


def test_weights_of_rows_that_are_no_integers_prove_nothing():
    X, y = XOR
    model = Perceptron(max_iter=20, shuffle=False).fit(X, y, sample_weight=[0.1] * 4)
    assert not model.report_.proved_inseparable
    assert Perceptron(max_iter=20, shuffle=False).fit(X, y, sample_weight=[2.0] * 4).report_.proved_inseparable


def test_plain_data_leaves_out_facts_that_are_not_there():
    plain = Perceptron(shuffle=False).fit([[1], [0]], [1, -1]).report_.to_plain()
    assert list(plain) == [
        "passes", "updates", "mistakes_by_pass", "converged", "radius", "margin_low", "margin_high", "bound",
        "fit_intercept", "by_class",
    ]  # fmt: skip
    assert isinstance(Report(**(plain | {"by_class": {}})).to_dict(), dict)


# Early stopping says what it held out, how each pass did on it, and which one it kept.


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
    assert model.n_iter_ == min(model.best_iter_ + 4, 30), "it waits for four passes"
    assert len(errors) == model.n_iter_
    assert model.best_iter_ == facts.best_pass == 1 + errors.index(min(errors))
    assert facts.least_error == min(errors)
    assert 0.05 * len(y) < facts.held_out_rows < 0.15 * len(y)
    short = learner(early_stopping=True, n_iter_no_change=4, **(options | {"max_iter": model.best_iter_})).fit(X, y)
    assert np.array_equal(short.decision_function(X), model.decision_function(X)), "these are its weights"
    sentence = (
        f"Early stopping held out {facts.held_out_rows} rows. The lowest error on them, {100 * min(errors):.3g}%, came "
        f"after pass {model.best_iter_} of {model.n_iter_}, whose weights are kept."
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
        "Early stopping held out rows. The lowest error on them, 31.4%, came after pass 1 of 2, whose weights are kept."
    )
