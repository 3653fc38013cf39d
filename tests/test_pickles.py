"""Pickles of this version come back."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.forging import alike
from rosenblatt import KernelPerceptron

X, Y = [[1.0, 2.0], [2.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], ["a", "b", "c", "a"]


def dot(A, B):
    """Return dot products; a function in a module can be pickled."""
    return np.asarray(A) @ np.asarray(B).T


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({"degree": 2}, X),
        ({"kernel": "rbf", "hypothesis": "vote"}, sp.csr_array(X)),
        ({"kernel": "precomputed"}, dot(X, X)),
        ({"kernel": dot, "hypothesis": "last"}, X),
        ({"kernel": "laplacian", "early_stopping": True, "validation_fraction": 0.4}, X),
        ({"hypothesis": "pocket", "multi_class": "direct"}, X),
    ],
    ids=["poly", "CSR", "precomputed", "function", "early", "pocket"],
)
def test_a_pickled_kernel_perceptron_goes_on_with_the_same_counts(options, rows):
    rows, labels = (sp.vstack([rows] * 4) if sp.issparse(rows) else np.tile(rows, (4, 1))), Y * 4
    if options.get("kernel") == "precomputed":
        rows = np.tile(rows, (1, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelPerceptron(random_state=0, max_iter=3, warm_start=True, **options).fit(rows, labels)
        again = pickle.loads(pickle.dumps(model)).set_params(max_iter=6)
        model.set_params(max_iter=6).fit(rows, labels)
        again.fit(rows, labels)
    alike(again.state_, model.state_)
    assert again.predict(rows).tolist() == model.predict(rows).tolist()
