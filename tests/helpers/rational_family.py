"""Slow twins of the family: Perceptron, MarginPerceptron, PassiveAggressive and AROW in exact rationals.

Every number that a learner keeps is a float. What is made of floats is a Fraction until ``nearest`` rounds it, so each
call of ``nearest`` is one rounding that the rule has, and there are no others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np


def nearest(number: Fraction) -> float:
    """Return the float nearest to ``number``, of two the even one; infinity beyond the floats."""
    try:
        return float(number)  # Python divides whole numbers with one rounding
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def times(a: float, b: float) -> float:
    """Return the product of two floats, rounded once."""
    return nearest(Fraction(a) * Fraction(b))


def plus(a: float, b: float) -> float:
    """Return the sum of two floats, rounded once."""
    return nearest(Fraction(a) + Fraction(b))


def over(a: float, b: float) -> float:
    """Return the quotient of two floats, rounded once; divided by infinity it is 0."""
    return 0.0 if math.isinf(b) else nearest(Fraction(a) / Fraction(b))


def with_its_sign(number: Fraction) -> float:
    """Return the float nearest to ``number``, but the smallest float instead of a zero that ``number`` is not."""
    rounded = nearest(number)
    if rounded == 0.0 and number != 0:
        return 5e-324 if number > 0 else -5e-324
    return rounded


class Machine:
    """What one class has learned. With an intercept, the last coordinate of each vector belongs to it."""

    def __init__(self, coordinates: int) -> None:
        self.w, self.u = [0.0] * coordinates, [0.0] * coordinates
        self.variance = [1.0] * coordinates

    def score(self, x: list[float]) -> Fraction:
        """Return w·x exactly."""
        return sum((Fraction(w) * Fraction(t) for w, t in zip(self.w, x, strict=True)), Fraction(0))

    def move(self, x: list[float], step: float, before: float) -> None:
        """Add ``step`` times ``x`` to the weights, and what the average needs."""
        late = times(step, before)
        for j, t in enumerate(x):
            self.w[j] = plus(self.w[j], times(step, t))
            self.u[j] = plus(self.u[j], times(late, t))


@dataclass
class Perceptron:
    """The perceptron: a step as long as the row's weight on every mistake."""

    def read(self, activation: Fraction) -> float:
        """Return an activation as the rule reads it: rounded, but with its sign even where it is too small for that."""
        return with_its_sign(activation)

    def step(self, margin: float, x: list[float], weight: float, machines: list[Machine], bias: bool) -> float | None:
        """Return how far to move the ``machines`` for a row whose y a is ``margin``; None if not at all."""
        return weight if margin <= 0.0 else None

    def move(self, moves, x: list[float], step: float, before: float, weight: float) -> None:
        """Move each machine of ``moves`` by ``step`` times the sign beside it."""
        for machine, sign in moves:
            machine.move(x, sign * step, before)


@dataclass
class MarginPerceptron(Perceptron):
    """The perceptron that moves while y a does not exceed ``margin``."""

    margin: float

    def step(self, margin, x, weight, machines, bias):
        return weight if margin <= self.margin else None


@dataclass
class PassiveAggressive(Perceptron):
    """The shortest move that makes y a at least 1, or less of it; the bias moves but is not counted."""

    C: float = 1.0
    loss: str = "hinge"

    def read(self, activation):
        return nearest(activation)

    def step(self, margin, x, weight, machines, bias):
        loss = plus(1.0, -margin)
        if not loss > 0.0:
            return None
        square = nearest(sum((Fraction(t) ** 2 for t in (x[:-1] if bias else x)), Fraction(0)))
        length = len(machines) * square
        if self.loss == "squared_hinge":
            length = plus(length, over(0.5, self.C))
        if length == 0.0:
            return None
        tau = over(loss, length)
        return times(min(self.C, tau) if self.loss == "hinge" else tau, weight)


@dataclass
class AROW(Perceptron):
    """Weights with a variance each, which an update makes smaller."""

    r: float = 1.0

    def read(self, activation):
        return nearest(activation)

    def step(self, margin, x, weight, machines, bias):
        loss = plus(1.0, -margin)
        if not loss > 0.0:
            return None
        return over(loss, plus(self.row_variance(machines, x), over(self.r, weight)))

    def row_variance(self, machines, x) -> float:
        """Return the sum of S x^2 over all coordinates of the machines."""
        terms = (Fraction(s) * Fraction(t) ** 2 for m in machines for s, t in zip(m.variance, x, strict=True))
        return nearest(sum(terms, Fraction(0)))

    def move(self, moves, x, step, before, weight):
        own = over(self.r, weight)
        of_row = self.row_variance([machine for machine, _ in moves], x)
        inverse = over(1.0, plus(of_row, own))
        for machine, sign in moves:
            late = times(sign * step, before)
            for j, t in enumerate(x):
                if t == 0.0:  # it says nothing of this coordinate, and a sparse row does not have it
                    continue
                reach = times(machine.variance[j], t)
                machine.w[j] = plus(machine.w[j], times(sign * step, reach))
                machine.u[j] = plus(machine.u[j], times(late, reach))
                others = max(0.0, plus(of_row, -times(reach, t)))
                machine.variance[j] = times(machine.variance[j], min(1.0, times(plus(others, own), inverse)))


@dataclass
class Counts:
    """What is counted for one classifier, or for all classes together where they compete directly."""

    visits: int = 0
    mistakes: list[int] = field(default_factory=list)
    updates: list[int] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    """y a of every visit, before its update."""

    @property
    def done(self) -> bool:
        """Whether the last pass made no update and no mistake; a row without features may be a mistake for ever."""
        return bool(self.updates) and self.updates[-1] == self.mistakes[-1] == 0


class Run(NamedTuple):
    """What a run leaves: arrays with a line for each class (one line for two classes), and counts."""

    w: np.ndarray
    b: np.ndarray
    u: np.ndarray
    beta: np.ndarray
    variance: np.ndarray
    bias_variance: np.ndarray
    counts: list[Counts]

    @property
    def average(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean of the weights after each visit, and of the biases."""
        visits = np.array([max(c.visits, 1) for c in self.counts], dtype=np.float64)
        return self.w - self.u / visits[:, None], self.b - self.beta / visits

    def by_pass(self, name: str) -> list[int]:
        """Return the "mistakes" or "updates" of all classifiers together, pass by pass."""
        made = [getattr(c, name) for c in self.counts]
        return [sum(line[p] for line in made if p < len(line)) for p in range(max(map(len, made)))]

    @property
    def converged(self) -> bool:
        """Whether every classifier is done."""
        return all(c.done for c in self.counts)


def run(
    rule,
    X,
    labels,
    passes,
    *,
    classes=2,
    direct=False,
    orders=None,
    weights=None,
    fit_intercept=True,
    max_updates=math.inf,
) -> Run:
    """Learn from the rows by ``rule`` until each classifier is done, or ``passes`` passes.

    ``labels`` are 0, 1, ..., classes - 1; two classes are one machine that answers yes to 1. ``orders(p)`` gives the
    rows of pass p in the order of their visits. A row whose weight is 0 is not visited, nor is any by a classifier that
    has made ``max_updates``. Numbers beyond the floats raise OverflowError.
    """
    X = np.asarray(X, dtype=np.float64)
    rows = [[*x, 1.0] if fit_intercept else x for x in X.tolist()]
    labels = [int(label) for label in labels]
    weights = [1.0] * len(rows) if weights is None else [float(c) for c in weights]
    machines = [Machine(X.shape[1] + fit_intercept) for _ in range(classes if classes > 2 else 1)]
    direct = direct and classes > 2
    counts = [Counts() for _ in range(1 if direct else len(machines))]
    for p in range(passes):
        order = range(len(rows)) if orders is None else orders(p)
        order = [i for i in order if weights[i] > 0.0]
        for k, count in enumerate(counts):
            if count.done or sum(count.updates) >= max_updates:
                continue
            count.mistakes.append(0)
            count.updates.append(0)
            for i in order:
                if sum(count.updates) >= max_updates:
                    break
                if direct:
                    _visit_directly(rule, machines, rows[i], labels[i], weights[i], count, fit_intercept)
                else:
                    sign = 1 if labels[i] == (k if classes > 2 else 1) else -1
                    margin = rule.read(sign * machines[k].score(rows[i]))
                    _visit(rule, [(machines[k], sign)], rows[i], margin, weights[i], count, fit_intercept)
    return _result(machines, counts, fit_intercept)


def _visit_directly(rule, machines, x, true, weight, count, bias) -> None:
    """Let the true class compete with the best of the others, the first of equals."""
    scores = [machine.score(x) for machine in machines]
    rival = max((k for k in range(len(scores)) if k != true), key=lambda k: (scores[k], -k))
    margin = rule.read(scores[true] - scores[rival])
    _visit(rule, [(machines[true], 1), (machines[rival], -1)], x, margin, weight, count, bias)


def _visit(rule, moves, x, margin, weight, count, bias) -> None:
    """Visit a row whose y a is ``margin``; ``moves`` are the machines an update moves, each with its sign."""
    step = rule.step(margin, x, weight, [machine for machine, _ in moves], bias)
    if step is not None:
        rule.move(moves, x, step, float(count.visits), weight)
        count.updates[-1] += 1
    count.mistakes[-1] += margin <= 0.0
    count.margins.append(margin)
    count.visits += 1


def _result(machines: list[Machine], counts: list[Counts], bias: bool) -> Run:
    parts = []
    for name in ("w", "u", "variance"):
        vectors = np.array([getattr(machine, name) for machine in machines])
        unmoved = np.full(len(machines), 1.0 if name == "variance" else 0.0)
        parts.append((vectors[:, :-1], vectors[:, -1]) if bias else (vectors, unmoved))
    (w, b), (u, beta), (variance, bias_variance) = parts
    if not all(np.isfinite(part).all() for part in (w, b, u, beta)):
        raise OverflowError("a weight, or a sum of weights, is beyond the floats")
    return Run(*(np.ascontiguousarray(part) for part in (w, b, u, beta, variance, bias_variance)), counts)
