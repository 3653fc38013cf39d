"""Pickles of this version come back; those of 0.1 name the way."""

import pickle
import warnings

import pytest

from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron

X, Y = [[1.0, 2.0], [2.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], ["a", "b", "c", "a"]


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, VotedPerceptron])
def test_a_pickle_goes_on_with_the_same_bits(learner):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = learner(random_state=0, max_iter=3).fit(X, Y)
        again = pickle.loads(pickle.dumps(model)).partial_fit(X, Y)
        model.partial_fit(X, Y)
    assert again.last_coef_.tobytes() == model.last_coef_.tobytes()
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_a_pickle_of_version_0_1_names_save_and_load():
    with pytest.raises(ImportError, match=r"rosenblatt\.save, and read that file with rosenblatt\.load"):
        pickle.loads(b"crosenblatt.learners.perceptron\nPerceptron\n.")
