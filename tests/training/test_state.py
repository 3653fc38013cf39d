"""The state of a run where there is no memory for it."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import Perceptron
from rosenblatt.training.linear import LinearState


def test_weights_without_memory_say_what_they_would_take():
    state = LinearState.zeros(2, 3, direct=False, fit_intercept=True)
    sentence = (
        "the weights of 1,125,899,906,842,624 features take 18,014,398.5 GB, more than there is: use fewer features"
    )
    with pytest.raises(MemoryError, match=sentence):
        LinearState.zeros(2, 2**50, direct=False, fit_intercept=True)
    with pytest.raises(MemoryError, match=sentence):
        state.widen(2**50)
    assert state.n_features == 3, "as it was"
    with pytest.raises(MemoryError, match=re.escape("features for 3 classes take 54,043,195.5 GB")):
        LinearState.zeros(3, 2**50, direct=True, fit_intercept=True)


def test_a_matrix_of_very_many_columns_that_a_user_made():
    entries = np.ones(2), np.array([0, 2**50 - 1]), np.array([0, 1, 2])
    X = sp.csr_array(entries, shape=(2, 2**50))
    with pytest.raises(MemoryError, match="the weights of 1,125,899,906,842,624 features take"):
        Perceptron().fit(X, [0, 1])
