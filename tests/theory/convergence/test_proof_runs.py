import math

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.naive import activation
from rosenblatt import Perceptron
from rosenblatt.theory.convergence.proof import proof

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def planted(kind, seed, bias):
    """Rows that are hard to decide in floats, with signs by a drawn separator, decided exactly."""
    X, _ = small_set(kind, n=30, d=3, seed=seed)
    rng = np.random.default_rng(seed)
    w, b = rng.integers(1, 4, 3) * rng.choice([-1.0, 1.0], 3), float(bias) * float(np.abs(X).max()) / 8
    sides = [activation(w, b, x) for x in X.tolist()]
    kept = [i for i, a in enumerate(sides) if a]
    return X[kept], np.array([1 if sides[i] > 0 else -1 for i in kept]), w, b


@pytest.mark.parametrize("kind", ["integers", "decimals", "halves", "gauss"])
@pytest.mark.parametrize(("bias", "scale"), [(True, 1.0), (False, 1.0), (False, 2.0**700), (False, 2.0**-700)])
@pytest.mark.parametrize("shuffle", [True, False])
def test_the_run_is_the_perceptrons_bit_for_bit(kind, bias, scale, shuffle):
    X, y, w, b = planted(kind, 1, bias)
    X = scale * X  # the squares of some leave the range of floats
    given = {"fit_intercept": bias, "shuffle": shuffle, "random_state": 7}
    for limits in ({"max_iter": 300, "max_updates": None}, {"max_iter": 2}, {"max_updates": 3}):
        model = Perceptron(**given, **limits).fit(X, y)
        for rows in (X, sp.csr_array(X)):
            made = proof(rows, y, **given, **limits, w_star=w, b_star=b)
            assert made.w.tobytes() == model.coef_[0].tobytes()
            assert made.b == model.intercept_[0]
            assert (made.updates, made.passes) == (model.n_updates_, model.n_iter_)
            assert made.converged == model.converged_
            assert made.holds


def test_the_rows_of_the_updates_add_up_to_the_weights():
    X, y, w, b = planted("integers", 5, True)
    for rows in (X, sp.csr_array(X)):
        made = proof(rows, y, max_iter=1000, w_star=w, b_star=b)
        assert made.converged
        assert made.w.tolist() == (y[made.row] @ X[made.row]).tolist()
        assert made.b == y[made.row].sum()


def test_weights_beyond_the_floats_are_an_error():
    X = np.array([[1.7e308, 1e308], [1e308, -1.7e308]])
    with pytest.raises(ValueError, match="beyond the range of floats: scale the features"):
        Perceptron(fit_intercept=False, shuffle=False).fit(np.vstack([X, -X]), [1, 1, -1, -1])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"shuffle": "twice"}, "shuffle must be True or False or 'once', got 'twice'"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1, got 0"),
        ({"max_updates": 0}, "max_updates must be an integer of at least 1 or None, got 0"),
        ({"random_state": -1}, "random_state must be an integer of at least 0, got -1"),
        ({"shuffle": math.nan}, "shuffle must be True or False or 'once', got nan"),
    ],
)
def test_bad_parameters_of_a_run_get_a_sentence(given, words):
    with pytest.raises(ValueError, match=words):
        proof([[1.0], [0.0]], [1, -1], **given)


def test_a_drawn_seed_can_be_used_again():
    X, y, w, b = planted("gauss", 2, True)
    made = proof(X, y, shuffle=True, w_star=w, b_star=b)
    again = proof(X, y, shuffle=True, random_state=made.seed, w_star=w, b_star=b)
    assert made.row.tolist() == again.row.tolist()
    assert proof(X, y, w_star=w, b_star=b).seed is None
