"""Local copies of distributed learners: they have all that was learned, and keep it."""

import numpy as np

from rosenblatt import Perceptron
from rosenblatt.distributed import DaskPerceptron

RECORDS = [({"a": 1.0, "b": 2.0 - k}, k % 2) for k in range(6)]


def test_what_was_learned_from_records_is_in_the_copy_which_learns_no_further():
    model, expected = DaskPerceptron(), Perceptron()
    for x, y in RECORDS[:5]:
        model.learn_one(x, y)
        expected.learn_one(x, y)
    local = model.to_local()
    model.learn_one(*RECORDS[5])
    assert not np.array_equal(model.coef_, expected.coef_)
    assert np.array_equal(local.coef_, expected.coef_)
    assert np.array_equal(local.intercept_, expected.intercept_)
