"""Training and test error after each pass of a run."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from helpers.examples import small_set
from rosenblatt import AveragedPerceptron, Perceptron

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@quiet
def test_score_by_pass_is_what_fits_of_that_many_passes_score():
    X, y = small_set("gauss", n=90, seed=3)
    tests, labels = small_set("gauss", n=40, seed=4)
    learner = AveragedPerceptron(max_iter=5, random_state=2)
    table = learner.score_by_pass(X, y, tests, labels)
    assert not hasattr(learner, "classes_")
    for p in range(5):
        model = AveragedPerceptron(max_iter=p + 1, random_state=2).fit(X, y)
        assert table["training_error"][p] == pytest.approx(1 - model.score(X, y))
        assert table["test_error"][p] == pytest.approx(1 - model.score(tests, labels))
        assert table["mistakes"][p] == model.history_["mistakes"][-1]


@quiet
@pytest.mark.parametrize("names", [[-1, 1], ["no", "yes"]])
def test_score_by_pass_checks_labels_once_and_counts_as_score_does(names, monkeypatch):
    X, y = small_set("gauss", n=90, seed=3)
    labels = np.array(names)[(y > 0).astype(int)]
    calls = []
    score = Perceptron.score
    monkeypatch.setattr(Perceptron, "score", lambda self, *pair: calls.append(1) or score(self, *pair))
    table = Perceptron(max_iter=6, random_state=2).score_by_pass(X.tolist(), labels.tolist(), X[::2], labels[::2])
    assert len(table) == 6
    assert len(calls) == 2  # of training rows, and of test rows
    monkeypatch.undo()
    for p in range(6):
        model = Perceptron(max_iter=p + 1, random_state=2).fit(X, labels)
        assert table["training_error"][p] == 1 - model.score(X, labels)
        assert table["test_error"][p] == 1 - model.score(X[::2], labels[::2])
    for wrong in (labels[:5], ["maybe"] * 90 if names == [-1, 1] else [0] * 90):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples|[Mm]ix of label"):
            Perceptron(max_iter=6).score_by_pass(X, labels, X, wrong)


def test_score_by_pass_knows_every_way_to_stop():
    X, y = small_set("gauss", n=90, seed=3)
    limited = Perceptron(max_updates=20, random_state=0)
    with pytest.warns(ConvergenceWarning):
        fitted = Perceptron(max_updates=20, random_state=0).fit(X, y)
    assert limited.score_by_pass(X, y)["mistakes"] == fitted.history_["mistakes"].tolist()
    early = AveragedPerceptron(early_stopping=True, random_state=0, max_iter=50)
    assert (
        len(early.score_by_pass(X, y))
        == AveragedPerceptron(early_stopping=True, random_state=0, max_iter=50).fit(X, y).n_iter_
    )
    with pytest.raises(ValueError, match="X_test and y_test come together"):
        early.score_by_pass(X, y, X)
