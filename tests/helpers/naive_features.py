"""The perceptron on the products of features that a polynomial kernel stands for, in fractions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import comb, prod

import numpy as np

from helpers.naive_kernel import Kernel, Rational, rational, rationals


def products(x: list[Rational], degree: int) -> list[Rational]:
    """Return all products of k features, k = 0, ..., degree, each as often as it can be ordered."""
    return [prod((x[j] for j in places), start=1) for k in range(degree + 1) for places in _places(x, k)]


def _places(x: list[Rational], k: int):
    return product(range(len(x)), repeat=k)


def product_weights(d: int, kernel: Kernel) -> list[Rational]:
    """Return what each of these products counts in a dot product: binomial times powers of gamma and coef0."""
    gamma, coef0, degree = rational(kernel.gamma), rational(kernel.coef0), kernel.degree
    return [comb(degree, k) * gamma**k * coef0 ** (degree - k) for k in range(degree + 1) for _ in range(d**k)]


def feature_run(X, y, kernel: Kernel, passes: int, *, orders: Callable[[int], list[int]]) -> list[tuple[int, int]]:
    """Run the perceptron without bias on two classes; return the row of each mistake, and the visits before it."""
    rows = [products(x, kernel.degree) for x in rationals(X)]
    weights = product_weights(np.shape(X)[1], kernel)
    w, visits, found = [0] * len(weights), 0, []
    for number in range(passes):
        before = len(found)
        for row in orders(number):
            s = 1 if y[row] == 1 else -1
            if s * sum(c * v * x for c, v, x in zip(weights, w, rows[row], strict=True)) <= 0:
                w = [v + s * x for v, x in zip(w, rows[row], strict=True)]
                found.append((row, visits))
            visits += 1
        if len(found) == before:
            break
    return found
