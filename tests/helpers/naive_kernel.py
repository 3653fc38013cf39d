"""The slow twin of the kernel perceptron: one row at a time, every decision exact.

A number is a dictionary from exponents e to coefficients c, all of them rational: it stands for the sum of c exp(-e).
Polynomial kernels have the exponent 0 alone. By Lindemann and Weierstrass such a sum is zero only if every coefficient
is, so that more digits settle the sign of any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from rosenblatt.kernels.orders import visiting_order
from rosenblatt.training.options import Kernel

Rational = int | Fraction
Number = dict[Rational, Rational]
DIGITS = 200
BEYOND_DIGITS = 10**7
"""An exponent so much larger than the smallest one of a sum that its term has no influence on the sign."""


# numbers


def rational(value: float) -> Rational:
    """Return the number that a float is; integers are the faster ones."""
    return int(value) if float(value).is_integer() else Fraction(value)


def combine(terms: Iterable[tuple[Rational, Number]]) -> Number:
    """Return the sum of factors times numbers; coefficients that are zero are left out."""
    total: Number = {}
    for factor, number in terms:
        for exponent, coefficient in number.items():
            total[exponent] = total.get(exponent, 0) + factor * coefficient
    return {exponent: coefficient for exponent, coefficient in total.items() if coefficient}


def sign(number: Number) -> int:
    """Return the sign of a number whose coefficients are not zero: 0 if and only if there is none."""
    signs = {1 if coefficient > 0 else -1 for coefficient in number.values()}
    if len(signs) < 2:
        return sum(signs)
    digits = DIGITS
    while True:
        total, size = evaluate(number, digits)
        if abs(total) > size.scaleb(40 - digits):
            return 1 if total > 0 else -1
        digits *= 2


def evaluate(number: Number, digits: int = DIGITS) -> tuple[Decimal, Decimal]:
    """Return a number over its largest exponential, to so many digits of the sum of sizes, which comes with it."""
    context = Context(prec=digits, Emin=-(10**17), Emax=10**17)
    least = min(number)
    total = size = Decimal(0)
    for exponent, coefficient in number.items():
        if exponent - least < BEYOND_DIGITS:
            term = context.multiply(_decimal(coefficient, context), _exponential(exponent - least, digits))
            total, size = context.add(total, term), context.add(size, abs(term))
    return total, size


def to_float(number: Number) -> float:
    """Return the float nearest to a number, or one beside it."""
    if not number:
        return 0.0
    least = min(number)
    return float(evaluate(number)[0] * _exponential(least, DIGITS)) if least < BEYOND_DIGITS else 0.0


def _decimal(value: Rational, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


@lru_cache(maxsize=100_000)
def _exponential(exponent: Rational, digits: int) -> Decimal:
    context = Context(prec=digits, Emin=-(10**17), Emax=10**17)
    return context.exp(context.minus(_decimal(exponent, context)))


# kernel values


def rationals(X) -> list[list[Rational]]:
    """Return the numbers of a matrix, dense or sparse, exactly."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    return [[rational(value) for value in row] for row in X.astype(np.float64).tolist()]


def kernel_value(kernel: Kernel, x: Sequence[Rational], z: Sequence[Rational]) -> Number:
    """Return the kernel value of two rows, as if it were computed in real numbers."""
    gamma, coef0 = rational(kernel.gamma), rational(kernel.coef0)
    if kernel.name in ("linear", "poly"):
        product = sum(a * b for a, b in zip(x, z, strict=True))
        value = product if kernel.name == "linear" else (gamma * product + coef0) ** kernel.degree
        return {0: value} if value else {}
    differences = [a - b for a, b in zip(x, z, strict=True)]
    squared = kernel.name == "rbf"
    assert squared or kernel.name == "laplacian", kernel.name
    return {gamma * sum(v * v if squared else abs(v) for v in differences): 1}


Coefficients = dict[int, Rational]
"""Of rows, by their numbers."""


class Values:
    """Kernel values of the rows of ``Z``, or of others, with the training rows ``X``; each is computed once."""

    def __init__(self, kernel: Kernel, X, Z=None) -> None:
        self.kernel, self.training = kernel, None if kernel.name == "precomputed" else rationals(X)
        self.rows = rationals(X if Z is None else Z)
        self.known: dict[tuple[int, int], Number] = {}

    def __call__(self, row: int, member: int) -> Number:
        """Return the kernel value of ``Z[row]`` and ``X[member]``."""
        if (row, member) not in self.known:
            if self.training is None:
                value = self.rows[row][member]
                self.known[row, member] = {0: value} if value else {}
            else:
                self.known[row, member] = kernel_value(self.kernel, self.rows[row], self.training[member])
        return self.known[row, member]

    def score(self, row: int, coefficients: Coefficients) -> Number:
        """Return the sum of coefficients times kernel values."""
        return combine((factor, self(row, member)) for member, factor in coefficients.items())


# runs


class Update(NamedTuple):
    """One update: its row, its step with the sign of the label, the visits before it.

    Where classes compete directly the step is positive, and the classes that were moved come with it.
    """

    row: int
    step: float
    visits: int
    true: int = 0
    rival: int = 0


@dataclass
class Classifier:
    """What a run leaves of one classifier, or of all where they compete directly."""

    updates: list[Update] = field(default_factory=list)
    made: int = 0
    """Updates made in all, those that were forgotten too."""
    visits: int = 0
    mistakes: list[int] = field(default_factory=list)
    """Of each pass that it took part in."""
    ends: list[tuple[int, int]] = field(default_factory=list)
    """Updates and visits at the end of each of these passes."""

    @property
    def clean(self) -> list[bool]:
        """Whether each pass was without a mistake."""
        return [mistakes == 0 for mistakes in self.mistakes]

    def forget_oldest(self, max_support: int | None) -> None:
        """Forget the row whose first update is oldest, with all its updates, if there are more than so many rows."""
        rows = list(dict.fromkeys(update.row for update in self.updates))
        if max_support is not None and len(rows) > max_support:
            self.updates = [update for update in self.updates if update.row != rows[0]]


def orders_of(n: int, seed: int, shuffle: bool | str, skipped: Iterable[int] = ()) -> Callable[[int], list[int]]:
    """Return the rows that each pass visits, those that are held out left out."""
    skipped = set(skipped)

    def order(number: int) -> list[int]:
        if not shuffle:
            rows = range(n)
        else:
            rows = visiting_order(n, seed, 0 if shuffle == "once" else number).tolist()
        return [row for row in rows if row not in skipped]

    return order


class Rule(NamedTuple):
    """When an update is made, and on what."""

    weights: Callable[[list[Update]], list[Coefficients]]
    """The coefficients that some updates lead to, of each class that has scores of its own."""
    judge: Callable[[int, list[Coefficients]], tuple[bool, Update]]
    """Whether a row is a mistake by these, and the update that it asks for (without its visits)."""


def run_one(rule: Rule, passes: int, *, orders, steps=None, max_updates=None, max_support=None) -> Classifier:
    """Visit rows one at a time, until a pass is clean, there are so many passes, or so many updates."""
    out = Classifier()
    weights = rule.weights([])
    for number in range(passes):
        before = out.made
        for row in orders(number):
            if (steps is not None and steps[row] == 0) or out.made == max_updates:
                continue
            wrong, update = rule.judge(row, weights)
            if wrong:
                out.updates.append(update._replace(visits=out.visits))
                out.made += 1
                out.forget_oldest(max_support)
                weights = rule.weights(out.updates)
            out.visits += 1
        out.mistakes.append(out.made - before)
        out.ends.append((len(out.updates), out.visits))
        if out.clean[-1] or out.made == max_updates:
            break
    return out


def against_rest(values: Values, signs: Sequence[int], steps=None) -> Rule:
    """Return the rule of one classifier: a mistake is a score that is zero or has the wrong sign."""

    def judge(row: int, weights: list[Coefficients]) -> tuple[bool, Update]:
        step = signs[row] * (1.0 if steps is None else float(steps[row]))
        return signs[row] * sign(values.score(row, weights[0])) <= 0, Update(row, step, 0)

    return Rule(lambda updates: [summed(updates)], judge)


def competing(values: Values, y: Sequence[int], classes: int, steps=None) -> Rule:
    """Return the rule of classes that compete: a mistake is a score that does not exceed every other."""

    def judge(row: int, weights: list[Coefficients]) -> tuple[bool, Update]:
        scores = [values.score(row, own) for own in weights]
        true = int(y[row])
        rival = first_best(scores, [k for k in range(classes) if k != true])
        step = 1.0 if steps is None else float(steps[row])
        return exceeds(scores[true], scores[rival]) <= 0, Update(row, step, 0, true, rival)

    return Rule(lambda updates: [summed(updates, k) for k in range(classes)], judge)


def naive_run(
    X,
    y,
    kernel: Kernel,
    classes: int,
    passes: int,
    *,
    orders,
    steps=None,
    direct: bool = False,
    max_updates: int | None = None,
    max_support: int | None = None,
) -> list[Classifier]:
    """Run the kernel perceptron on rows with class numbers ``y``; ``orders(p)`` has the rows that pass p visits.

    Two classes are one classifier that answers yes to the second. Each classifier stops after its own clean pass.
    ``max_updates`` and ``max_support`` hold for each of them.
    """
    values = Values(kernel, X)
    limits = {"orders": orders, "steps": steps, "max_updates": max_updates, "max_support": max_support}
    if direct and classes > 2:
        return [run_one(competing(values, y, classes, steps), passes, **limits)]
    targets = [1] if classes == 2 else range(classes)
    signs = [[1 if label == target else -1 for label in y] for target in targets]
    return [run_one(against_rest(values, own, steps), passes, **limits) for own in signs]


def summed(updates: Iterable[Update], k: int | None = None) -> Coefficients:
    """Return the coefficient of each row after some updates: of one classifier, or of class k among competing ones."""
    out: Coefficients = {}
    for update in updates:
        factor = 1 if k is None else (update.true == k) - (update.rival == k)
        if factor:
            out[update.row] = out.get(update.row, 0) + factor * rational(update.step)
    return out


def exceeds(one: Number, other: Number) -> int:
    """Return the sign of the difference of two numbers."""
    return sign(combine([(1, one), (-1, other)]))


def first_best(scores: Sequence[Number], candidates: Sequence[int]) -> int:
    """Return the first candidate whose score no other exceeds."""
    best = candidates[0]
    for k in candidates[1:]:
        if exceeds(scores[k], scores[best]) > 0:
            best = k
    return best
