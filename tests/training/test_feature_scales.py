"""Features whose sizes differ so much that the small ones hardly count."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import HashingVectorizer

from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.training.rows import as_rows, scale_ratio

LEARNERS = [
    AveragedPerceptron(random_state=0),
    VotedPerceptron(random_state=0, max_iter=3),
    Perceptron("pocket", random_state=0, max_iter=5),
    Perceptron("average", random_state=0, max_iter=5),
]


def drowned(factor=1e4, n=500):
    """Return rows whose last feature says nothing, and is larger than the others, which say all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] > 0
    X[:, 3] *= factor
    return X, y


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda model: model.hypothesis)
@pytest.mark.parametrize("layout", [np.array, sp.csr_array])
def test_drowned_features_are_worth_a_word(learner, layout):
    X, y = drowned()
    with pytest.warns(
        ConvergenceWarning, match="^the last pass made many mistakes, and some features have ranges more than 100 times"
    ):
        learner.fit(layout(X), y)
    with pytest.warns(ConvergenceWarning, match="scale them, for instance with sklearn") as seen:
        learner.fit_stream([(layout(X), y)]) if learner.hypothesis != "pocket" else learner.fit(layout(X), y)
    assert len(seen) == 1


def test_the_last_weights_say_it_with_their_mistakes():
    with pytest.warns(ConvergenceWarning, match="has not converged: .* separable; some features have ranges") as seen:
        Perceptron(max_iter=5, random_state=0).fit(*drowned())
    assert len(seen) == 1
    with pytest.warns(ConvergenceWarning, match="if it may not be separable.$"):
        Perceptron(max_iter=5, random_state=0).fit(drowned(1.0)[0], np.arange(500) % 2)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda model: model.hypothesis)
def test_nothing_is_said_where_it_does_not_matter(learner):
    rng = np.random.default_rng(0)
    X, _ = drowned(1.0)
    text = HashingVectorizer(n_features=2**12, norm=None).fit_transform(
        [" ".join(f"w{int(1 / u)}" for u in rng.random(40)) for _ in range(300)]
    )
    few = rng.normal(size=(500, 4))
    few[:, 3] *= 1e4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.fit(X, np.arange(500) % 2)  # noise, but alike
        learner.fit(text, np.arange(300) % 2)  # rare words
        learner.fit(few, few[:, 3] > 0)  # what is large is what matters


def test_features_that_are_mostly_zero_do_not_count():
    X = np.zeros((100, 3))
    X[:, 0], X[:3, 1] = np.arange(100), 1e9
    assert scale_ratio(as_rows(sp.csr_array(X))) == 1.0
    assert scale_ratio(as_rows(X)) == 1e9 / 99
    assert scale_ratio(as_rows(np.ones((3, 2)))) == 1.0, "nothing changes"
