"""The slow twins of the kernel perceptron agree with each other, so that the fast one has something right to equal."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
import pytest

from helpers import naive
from helpers.examples import small_set
from helpers.naive_features import feature_run
from helpers.naive_kernel import Kernel, Update, Values, combine, kernel_value, naive_run, orders_of, sign, to_float
from helpers.naive_kernel_answers import answers


def integers(seed, n=20, d=3, classes=2):
    return small_set("integers", n=n, d=d, classes=classes, seed=seed)


@pytest.mark.parametrize("seed", range(4))
def test_linear_is_the_perceptron_without_bias(seed):
    X, y = integers(seed)
    orders = orders_of(len(y), seed, True)
    steps = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 2.0], len(y))
    (run,) = naive_run(X, y, Kernel("linear"), 2, 5, orders=orders, steps=steps, max_updates=30)
    signs = np.where(y == 1, 1, -1)
    other = naive.run(X, signs, 5, orders=orders, steps=steps, fit_intercept=False, max_updates=30)
    assert run.mistakes == other.mistakes
    w = sum(update.step * X[update.row] for update in run.updates)
    assert w.tolist() == other.w.tolist()
    stops = [update.visits for update in run.updates[1:]] + [run.visits]
    survived = [stop - update.visits for update, stop in zip(run.updates, stops, strict=True)]
    assert survived == [count for *_, count in other.voters]
    tests = np.random.default_rng(9).integers(-2, 3, (15, 3)).astype(float)
    for x, answer in zip(tests, answers([run], "vote", Kernel("linear"), 2, (X, y, steps), tests), strict=True):
        assert answer.scores[0].get(Fraction(0), 0) * run.visits == naive.vote(other.voters, x)
    for x, answer in zip(tests, answers([run], "average", Kernel("linear"), 2, (X, y, steps), tests), strict=True):
        assert answer.scores[0].get(Fraction(0), 0) == naive.activation(other.average_w, 0, x)


@pytest.mark.parametrize("seed", range(3))
def test_linear_classes_that_compete(seed):
    X, y = integers(seed, classes=3)
    orders = orders_of(len(y), seed, "once")
    (run,) = naive_run(X, y, Kernel("linear"), 3, 4, orders=orders, direct=True)
    other = naive.run_direct(X, y, 3, 4, orders=orders, fit_intercept=False)
    assert run.mistakes == other.mistakes
    tests = np.random.default_rng(9).integers(-2, 3, (15, 3)).astype(float)
    for x, answer in zip(tests, answers([run], "vote", Kernel("linear"), 3, (X, y, None), tests), strict=True):
        votes = [score.get(Fraction(0), 0) * run.visits for score in answer.scores]
        assert votes == naive.direct_votes(other.voters, x, 3)
    for x, answer in zip(tests, answers([run], "last", Kernel("linear"), 3, (X, y, None), tests), strict=True):
        scores = [naive.activation(other.w[k], 0, x) for k in range(3)]
        assert [score.get(Fraction(0), 0) for score in answer.scores] == scores
        assert answer.label == scores.index(max(scores))
        assert answer.tied == (scores.count(max(scores)) > 1)


@pytest.mark.parametrize("kind", ["integers", "decimals", "gauss"])
@pytest.mark.parametrize(("degree", "gamma", "coef0"), [(1, 1.0, 1.0), (2, 0.1, 0.1), (2, 1.0, -1.0), (3, 0.5, 1.0)])
def test_polynomials_are_their_products_of_features(kind, degree, gamma, coef0):
    X, y = small_set(kind, n=16, d=3, seed=1)
    orders = orders_of(len(y), 1, True)
    kernel = Kernel("poly", degree, gamma, coef0)
    (run,) = naive_run(X, y, kernel, 2, 3, orders=orders)
    assert feature_run(X, y, kernel, 3, orders=orders) == [(u.row, u.visits) for u in run.updates]


def test_multiplicities_of_products():
    x, z = [Fraction(2), Fraction(-1, 3)], [Fraction(1, 2), Fraction(5)]
    (value,) = kernel_value(Kernel("poly", 3, 0.5, 0.0), x, z).values()
    by_products = Fraction(0)
    for places in combinations_with_replacement(range(2), 3):
        ways = factorial(3) // prod(factorial(count) for count in Counter(places).values())
        by_products += ways * prod(x[j] * z[j] for j in places)
    assert value == by_products / 8


def test_the_sign_of_a_sum_of_exponentials():
    one = Fraction(1)
    assert sign(combine([(one, {one: one}), (-one, {one: one})])) == 0
    e = {Fraction(0): Fraction(271828182845904523536, 10**20), Fraction(-1): -one}  # e = 2.718281828459045235360287...
    assert sign(e) == -1
    more = {Fraction(0): Fraction(271828182845904523537, 10**20), Fraction(-1): -one}
    assert sign(more) == 1
    digits = (
        "2." + "7182818284590452353602874713526624977572470936999595749669676277240766303535475945713821785251664274"
    )
    assert sign({Fraction(0): Fraction(Decimal(digits)), Fraction(-1): -one}) == -1
    assert sign({Fraction(0): Fraction(Decimal(digits)) + Fraction(1, 10**100), Fraction(-1): -one}) == 1
    far = {Fraction(10**400): -one, Fraction(10**500): one * 10**9}
    assert sign(far) == -1
    assert to_float({Fraction(1): Fraction(3)}) == pytest.approx(3 * np.exp(-1), rel=1e-15)


def test_more_digits_are_taken_where_200_do_not_do():
    almost = Fraction(1) - Fraction(1, 10**300)  # (1 - t) exp(0) - exp(-s) with s a little larger or smaller than t
    assert sign({Fraction(0): almost, Fraction(2, 10**300): Fraction(-1)}) == 1
    assert sign({Fraction(0): almost, Fraction(1, 2 * 10**300): Fraction(-1)}) == -1


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
@pytest.mark.parametrize("gamma", [0.5, 0.1, 3.0])
def test_exponentials_are_those_of_numpy(name, gamma):
    X, y = small_set("gauss", n=20, d=3, seed=3)
    kernel = Kernel(name, gamma=gamma)
    distances = np.abs(X[:, None] - X[None])
    G = np.exp(-gamma * (distances**2 if name == "rbf" else distances).sum(axis=2))
    values = Values(kernel, X)
    assert [[to_float(values(i, j)) for j in range(20)] for i in range(20)] == pytest.approx(G, rel=1e-12)
    (run,) = naive_run(X, y, kernel, 2, 3, orders=orders_of(20, 0, True))
    coefficients, visits, found = np.zeros(20), 0, []
    for number in range(len(run.mistakes)):
        for row in orders_of(20, 0, True)(number):
            a = (2 * y[row] - 1) * (G[row] @ coefficients)
            assert abs(a) >= 1e-12 * (G[row] @ abs(coefficients))  # rounding cannot matter
            if a <= 0:
                found.append(Update(row, float(2 * y[row] - 1), visits))
                coefficients[row] += 2 * y[row] - 1
            visits += 1
    assert found == run.updates


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_equal_distances_are_ties(name):
    X, y = np.array([[-1.0], [1.0], [0.0]]), [0, 1, 1]
    (run,) = naive_run(X, y, Kernel(name, gamma=0.1), 2, 1, orders=lambda p: range(3))
    # after -1 at x = -1 comes +1 at x = 1, and at 0 the two are the same
    assert [update.row for update in run.updates] == [0, 1, 2]


def test_what_is_forgotten_was_never_made():
    X, y = np.eye(3), [1, 0, 1]
    options = {"orders": lambda p: [0, 1, 0, 2, 0], "max_support": 2}
    (run,) = naive_run(X, y, Kernel("linear"), 2, 1, **options)
    # row 2 pushes row 0 out, so that row 0 is a mistake again and pushes row 1 out
    assert run.updates == [Update(2, 1.0, 3), Update(0, 1.0, 4)]
    assert (run.made, run.mistakes, run.visits) == (4, [4], 5)
