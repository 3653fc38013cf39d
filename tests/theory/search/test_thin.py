"""Margins near rounding: what stays open of a bracket is some 1e-15 of the longest row."""

import math

import numpy as np
import pytest

from helpers.separable_sets import facet, planted
from rosenblatt.data import make_separable
from rosenblatt.theory.separability import dataset_margin
from rosenblatt.theory.verdicts import KINDS

ROUNDING = 1e-14


def tied(n, d, gamma, seed):
    """Points at gamma from a hyperplane, all of them."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    X, y = rng.standard_normal((n, d)), np.where(rng.random(n) < 0.5, 1, -1)
    return X + np.outer(y * gamma - X @ w, w), y


SETS = {
    "a hyperplane that many rows touch": lambda n, d, gamma, seed: planted(n, d, gamma, seed),
    "a hyperplane that all rows touch": tied,
    "two rows that decide": lambda n, d, gamma, seed: make_separable(n, d, gamma, random_state=seed),
    "whole numbers that tie": lambda n, d, gamma, seed: facet(d, n, seed, lift=gamma),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETS)
def test_brackets_close_as_far_as_rounding_lets_them(name, kind):
    for n, d in ((30, 2), (500, 3), (300, 10), (2000, 10), (300, 40)):
        for gamma in (1e-6, 1e-8, 1e-11, 1e-12, 1e-13):
            X, y = SETS[name](n, d, gamma, seed=d)
            found = dataset_margin(X, y, kind)
            assert found.check(X, y)
            if found.high == -math.inf:  # the facet is not homogeneous
                continue
            R = math.hypot(np.max(np.linalg.norm(X, axis=1)), kind == "augmented")
            assert 0 < found.low <= found.high
            assert found.high - found.low <= max(1e-6 * found.high, ROUNDING * R), (n, d, gamma)


@pytest.mark.parametrize(("n", "d", "seed"), [(500, 3, 591), (500, 3, 368), (500, 3, 280), (20, 2, 365)])
def test_points_of_hardly_any_weight(n, d, seed):
    """Here a row counts with a weight below rounding; keeping or dropping it decides about the direction."""
    for gamma in (1e-6, 1e-7, 1e-8):
        X, y = facet(d, n, seed, lift=gamma)
        assert dataset_margin(X, y).gap < 1e-6
