"""The slow twin of the kernel perceptron: one row at a time, every decision exact.

A number is a dictionary from exponents e to coefficients c, all of them fractions: it stands for the sum of c exp(-e).
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
from rosenblatt.training.dual.kernel import Kernel

Number = dict[Fraction, Fraction]
DIGITS = 200
BEYOND_DIGITS = 10**7
"""An exponent so much larger than the smallest one of a sum that its term has no influence on the sign."""


# numbers


def combine(terms: Iterable[tuple[Fraction, Number]]) -> Number:
    """Return the sum of factors times numbers; coefficients that are zero are left out."""
    total: Number = {}
    for factor, number in terms:
        for exponent, coefficient in number.items():
            total[exponent] = total.get(exponent, Fraction(0)) + factor * coefficient
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


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


@lru_cache(maxsize=100_000)
def _exponential(exponent: Fraction, digits: int) -> Decimal:
    context = Context(prec=digits, Emin=-(10**17), Emax=10**17)
    return context.exp(context.minus(_decimal(exponent, context)))


# kernel values


def fractions(X) -> list[list[Fraction]]:
    """Return the numbers of a matrix, dense or sparse, exactly."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    return [[Fraction(value) for value in row] for row in X.astype(np.float64).tolist()]


def kernel_value(kernel: Kernel, x: Sequence[Fraction], z: Sequence[Fraction]) -> Number:
    """Return the kernel value of two rows, as if it were computed in real numbers."""
    gamma, coef0 = Fraction(kernel.gamma), Fraction(kernel.coef0)
    if kernel.name in ("linear", "poly"):
        product = sum((a * b for a, b in zip(x, z, strict=True)), Fraction(0))
        value = product if kernel.name == "linear" else (gamma * product + coef0) ** kernel.degree
        return {Fraction(0): value} if value else {}
    differences = [a - b for a, b in zip(x, z, strict=True)]
    squared = kernel.name == "rbf"
    assert squared or kernel.name == "laplacian", kernel.name
    return {gamma * sum((v * v if squared else abs(v) for v in differences), Fraction(0)): Fraction(1)}


class Values:
    """Kernel values of the rows of ``Z``, or of others, with the training rows ``X``; each is computed once."""

    def __init__(self, kernel: Kernel, X, Z=None) -> None:
        self.kernel, self.training = kernel, None if kernel.name == "precomputed" else fractions(X)
        self.rows = fractions(X if Z is None else Z)
        self.known: dict[tuple[int, int], Number] = {}

    def __call__(self, row: int, member: int) -> Number:
        """Return the kernel value of ``Z[row]`` and ``X[member]``."""
        if (row, member) not in self.known:
            if self.training is None:
                value = self.rows[row][member]
                self.known[row, member] = {Fraction(0): value} if value else {}
            else:
                self.known[row, member] = kernel_value(self.kernel, self.rows[row], self.training[member])
        return self.known[row, member]

    def score(self, row: int, coefficients: dict[int, Fraction]) -> Number:
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


Judge = Callable[[int, list[Update]], tuple[bool, Update]]
"""Says of a row, and all updates so far, whether it is a mistake, and what the update is (without its visits)."""


def run_one(judge: Judge, passes: int, *, orders, steps=None, max_updates=None, max_support=None) -> Classifier:
    """Visit rows one at a time, until a pass is clean, there are so many passes, or so many updates."""
    out = Classifier()
    for number in range(passes):
        before = out.made
        for row in orders(number):
            if (steps is not None and steps[row] == 0) or out.made == max_updates:
                continue
            wrong, update = judge(row, out.updates)
            if wrong:
                out.updates.append(update._replace(visits=out.visits))
                out.made += 1
                out.forget_oldest(max_support)
            out.visits += 1
        out.mistakes.append(out.made - before)
        out.ends.append((len(out.updates), out.visits))
        if out.clean[-1] or out.made == max_updates:
            break
    return out


def against_rest(values: Values, signs: Sequence[int], steps=None) -> Judge:
    """Return the rule of one classifier: a mistake is a score that is zero or has the wrong sign."""

    def judge(row: int, updates: list[Update]) -> tuple[bool, Update]:
        step = signs[row] * (1.0 if steps is None else float(steps[row]))
        return signs[row] * sign(values.score(row, summed(updates))) <= 0, Update(row, step, 0)

    return judge


def competing(values: Values, y: Sequence[int], classes: int, steps=None) -> Judge:
    """Return the rule of classes that compete: a mistake is a score that does not exceed every other."""

    def judge(row: int, updates: list[Update]) -> tuple[bool, Update]:
        scores = [values.score(row, summed(updates, k)) for k in range(classes)]
        true = int(y[row])
        rival = first_best(scores, [k for k in range(classes) if k != true])
        step = 1.0 if steps is None else float(steps[row])
        return exceeds(scores[true], scores[rival]) <= 0, Update(row, step, 0, true, rival)

    return judge


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


def summed(updates: Iterable[Update], k: int | None = None) -> dict[int, Fraction]:
    """Return the coefficient of each row after some updates: of one classifier, or of class k among competing ones."""
    out: dict[int, Fraction] = {}
    for update in updates:
        factor = 1 if k is None else (update.true == k) - (update.rival == k)
        if factor:
            out[update.row] = out.get(update.row, Fraction(0)) + factor * Fraction(update.step)
    return out


def exceeds(one: Number, other: Number) -> int:
    """Return the sign of the difference of two numbers."""
    return sign(combine([(Fraction(1), one), (Fraction(-1), other)]))


def first_best(scores: Sequence[Number], candidates: Sequence[int]) -> int:
    """Return the first candidate whose score no other exceeds."""
    best = candidates[0]
    for k in candidates[1:]:
        if exceeds(scores[k], scores[best]) > 0:
            best = k
    return best
