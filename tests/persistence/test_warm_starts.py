"""Models that went on training, on other rows or wider ones, as files."""

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.forging import alike
from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, VotedPerceptron
from rosenblatt.persistence.files import load, save

EARLY = {"early_stopping": True, "validation_fraction": 0.3, "max_iter": 5, "random_state": 0, "warm_start": True}
LEARNERS = [
    Perceptron(**EARLY),
    AveragedPerceptron(**EARLY),
    VotedPerceptron(**EARLY),
    KernelPerceptron(**EARLY),
    KernelPerceptron("rbf", gamma=0.5, **EARLY),
]


def separable_rows(classes, n=120):
    X = np.random.default_rng(0).standard_normal((n, 3))
    return X, np.digitize(X[:, 0], [0.0] if classes == 2 else [-0.4, 0.4])


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_best_pass_on_narrow_rows_is_kept_on_wide_ones(path, learner, classes):
    """It was judged by weights beyond the end of its own, and a model of it could not be saved."""
    X, y = separable_rows(classes)
    learner.set_params(warm_start=False).fit_stream([(sp.csr_array(X), y)])
    before, earlier = learner.predict(X).tolist(), learner._early_stopping_state[1].state
    wide = np.zeros((len(X), 5000))
    wide[:, :3], wide[:, 4000] = X, np.random.default_rng(1).standard_normal(len(X)) * 1000
    learner.set_params(warm_start=True).fit_stream([(sp.csr_array(wide), y)])
    assert learner.n_features_in_ == learner.state_.n_features == 5000
    last, best = learner._early_stopping_state
    assert (last.n_features, best.state.n_features) == (5000, 5000)
    assert earlier.n_features == 3  # it is left alone
    if learner.best_iter_ <= 5:  # else a pass on the wide rows was better
        assert learner.predict(sp.csr_array(wide)).tolist() == before
    save(learner, path)
    again, rows = load(path), sp.csr_array(wide)
    assert again.decision_function(rows).tobytes() == learner.decision_function(rows).tobytes()
    first = path.read_bytes()
    save(again, path)
    assert path.read_bytes() == first
    for model in (again, learner):
        model.fit_stream([(rows, y)])
    assert again.decision_function(rows).tobytes() == learner.decision_function(rows).tobytes()


@pytest.mark.parametrize("early", [False, True])
def test_a_kernel_perceptron_that_went_on_with_other_rows_can_be_saved(path, early):
    X, y = separable_rows(3)
    for learn in (KernelPerceptron.fit, lambda model, X, y: model.fit_stream([(X, y)])):
        model = KernelPerceptron("rbf", gamma=0.5, **EARLY | {"early_stopping": early})
        learn(model, X, y)
        for _ in range(2):
            X = X[::-1] * 1.5
            learn(model, X, np.roll(y, 1))
            save(model, path)
            again = load(path)
            alike(again, model)
        alike(again.partial_fit(X, y).state_, model.partial_fit(X, y).state_)
