"""Online learning from one record at a time, with the same bits as the compiled passes over arrays.

A record is a dictionary with few entries. Building arrays for it takes longer than all arithmetic on it. So a
`RecordLearner` is plain Python: it keeps the weights of the features that occur in dictionaries, and writes them to the
arrays of the state on request. Its decisions are those of ``kernels.passes``, and its formulas those of
``kernels.rules``: signs are exact, and all numbers that a rule reads are rounded once.

The bias is the weight of one more feature, `BIAS`, with the value 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import repeat
from operator import add, itemgetter, mul, neg, sub
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rosenblatt.interrupts import interrupts_deferred
from rosenblatt.kernels.parts import chosen_for
from rosenblatt.kernels.passes import count_update, measure_row, share_measures
from rosenblatt.kernels.rounded import certain
from rosenblatt.kernels.row_ops import sign_threshold
from rosenblatt.kernels.rules import (
    COUNTERS,
    ArowRule,
    MarginRule,
    PassiveAggressiveRule,
    PerceptronRule,
    Update,
    average_share,
    average_weight,
    shrunk,
    step_size,
)
from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.linear import LinearState
from rosenblatt.training.run import TrainingRun

BIAS = None
"""The name of the bias among the weights."""
_SHORTEST, _LONGEST = 1e-100, 1e100
"""The range of the norms of records; only records of zeros are shorter. Others are left to the compiled passes."""
_FAR_FROM_OVERFLOW = 1e250
"""If a bound on the weights is above this, records are left to the compiled passes, which test for overflow."""
_NEGLIGIBLE = 1e-300
"""Above all that products can lose by underflow, and below all other bounds that matter."""
_MOST_ENTRIES = 1 << 16
"""The largest number of entries of a record; longer records are left to the compiled passes."""

_COUNTERS = COUNTERS.names or ()
_ROW = np.int64(0)

Numbers: TypeAlias = tuple[float, ...] | list[float]
Names: TypeAlias = tuple[Any, ...]


class Split(NamedTuple):
    """Numbers as sums of a high part, a multiple of ``unit`` of few bits, and a low part of at most half a unit."""

    numbers: Numbers
    high: Numbers
    low: Numbers
    size: float
    """The Euclidean norm of the numbers."""
    unit: float
    is_exact: bool
    """Whether all low parts are 0."""


def split(numbers: Numbers, size: float, bits: int) -> Split:
    """Split numbers with Euclidean norm ``size`` into high parts of at most ``bits`` bits and low parts, exactly."""
    # As in AccSum (Rump, Ogita and Oishi 2008): w + c is rounded to a multiple of the last bit of c, which is ``unit``.
    # All |w| are at most 2**exponent = 2**bits unit. So a high part is at most 2**bits units, and both differences are
    # exact.
    exponent = math.frexp(size)[1]
    unit = math.ldexp(1.0, exponent - bits)
    c = 0.75 * 2.0**53 * unit
    high = [(w + c) - c for w in numbers]
    low = list(map(sub, numbers, high))
    return Split(numbers, high, low, size, unit, not any(low))


def product_sum(v: Split, w: Split) -> tuple[float, float, float]:
    """Return the sum of the products of two vectors as an exact high part and a low part, and a bound on its error.

    Both are split with the bits of `bits_for`. If several vectors w are split with the same unit, sums and differences
    of up to four high parts are exact, too.
    """
    # With v = v1 + v0 and w = w1 + w0: v w = v1 w1 + v1 w0 + v0 w. The products v1 w1 are integers of at most 2 bits
    # bits, in units of both vectors, so they and their sum are exact. The other products are small. By Cauchy and
    # Schwarz their absolute values add up to at most
    #
    #     |v1| |w0| + |v0| |w| <= sqrt(n) / 2 (|v1| unit of w + |w| unit of v),
    #
    # and a computed sum of n products is off by (n + 1) u times that. 1.2 and n + 4 in place of n + 1 cover the last
    # addition, |v1| > |v|, and the roundings of this bound. Underflow is negligible, because sizes are moderate.
    n = len(v.high)
    high = sum(map(mul, v.high, w.high))
    if v.is_exact and w.is_exact:
        return high, 0.0, 0.0
    low = sum(map(mul, v.high, w.low)) + sum(map(mul, v.low, w.numbers))
    error = 1.2 * (n + 4) * HALF_ULP * 0.5 * math.sqrt(n) * (v.size * w.unit + w.size * v.unit)
    return high, low, error


def bits_for(n: int) -> int:
    """Return how many bits the high parts of vectors of ``n`` numbers have; see `product_sum`."""
    return (51 - n.bit_length()) // 2  # 4 n products of 2 bits bits each add up to less than 2**53 units


class Record:
    """The last record, as names and numbers, with all that decisions need to know about it.

    Records often have the same names, so the object is used again for the next record with these names.
    """

    __slots__ = (
        "_entries",
        "_squares",
        "_unit_slack",
        "activations",
        "bits",
        "getter",
        "given",
        "has_bias",
        "has_new_names",
        "names",
        "norm",
        "reach",
        "slack",
        "values",
        "weights",
    )

    def __init__(self, given: Names, has_bias: bool) -> None:
        self.given, self.has_bias, self.has_new_names = given, has_bias, False
        self.names = names = (*given, BIAS) if has_bias else given
        self.getter: Callable[[Mapping[Any, float]], Numbers] = (
            itemgetter(*names) if len(names) > 1 else lambda weights: [weights[name] for name in names]
        )
        """A function that returns the weights of a classifier for the features of this record."""
        self.bits = bits_for(len(names))
        self._unit_slack = sign_threshold(len(names), 1.0)
        self.weights: list[Numbers] | None = None
        """The last weights of the features for each score; None if they have changed since they were looked up."""
        self.activations: list[float] = []
        """The activations for these weights, as computed."""
        self._entries: Split | None = None
        self._squares: tuple[Split, list[float]] | None = None

    def set(self, values: tuple[float, ...], norm: float) -> None:
        """Set the values, whose Euclidean norm is given."""
        self.norm = self.reach = norm
        """``reach`` is the norm with the constant 1 of the bias."""
        if self.has_bias:
            values, self.reach = (*values, 1.0), math.sqrt(norm * norm + 1.0)
        self.values = values
        self.slack = self._unit_slack * self.reach
        """For weights of norm 1: the absolute value above which the sign of their activation is certain."""
        self._entries = self._squares = None

    @property
    def entries(self) -> Split:
        """The values, split."""
        if self._entries is None:
            self._entries = split(self.values, self.reach, self.bits)
        return self._entries

    @property
    def squares(self) -> tuple[Split, list[float]]:
        """The squares of the values: their main parts, which are exact and split, and the small rests."""
        if self._squares is None:
            x, high, low = self.entries.numbers, self.entries.high, self.entries.low
            main = [h * h for h in high]  # x**2 = h**2 + (x + h) (x - h)
            rest = [(v + h) * rest for v, h, rest in zip(x, high, low, strict=True)]
            self._squares = split(main, math.hypot(*main), self.bits), rest
        return self._squares

    def activation(self, weights: list[Numbers], signed: bool) -> float:
        """Return the sum of the activations for several vectors of weights, rounded once.

        If ``signed``, the result is not 0 unless the sum is exactly 0.
        """
        size = math.hypot(*weights[0]) if len(weights) == 1 else math.hypot(*(math.hypot(*w) for w in weights))
        if size == 0.0:
            return 0.0
        if _SHORTEST < size < _LONGEST and self.reach > _SHORTEST:  # so that nothing underflows that matters
            parts = [product_sum(self.entries, split(w, size, self.bits)) for w in weights]
            a = _rounded(parts)
            if a == a:
                return a
        exact = sum((_exact_product_sum(w, self.values) for w in weights), Fraction(0))
        a = _nearest(exact)
        return math.copysign(5e-324, exact) if signed and a == 0.0 and exact else a

    def square(self) -> float:
        """Return the squared norm, without the constant 1 of the bias, rounded once."""
        if self.norm == 0.0:
            return 0.0
        entries = self.entries
        if self.has_bias:
            entries = Split(entries.numbers[:-1], entries.high[:-1], entries.low[:-1], *entries[3:])
        q = certain(*product_sum(entries, entries))
        return q if q == q else _nearest(_exact_product_sum(entries.numbers, entries.numbers))

    def variance(self, variances: list[Numbers]) -> float:
        """Return the sum of the variances of the activations for several vectors of variances, rounded once."""
        if self.reach == 0.0:
            return 0.0
        main, rest = self.squares
        n, parts = len(self.values), []
        size = math.hypot(*(math.hypot(*s) for s in variances))
        if size > _SHORTEST and size * main.size > _NEGLIGIBLE / _SHORTEST:
            for s in variances:
                high, low, error = product_sum(main, split(s, size, self.bits))
                if not self.entries.is_exact:
                    # The rests add up to at most |x + h| |x - h| <= 2.02 |x| sqrt(n) unit / 2, each times a variance of
                    # at most ``size``, and each has two more roundings.
                    low += sum(map(mul, s, rest))
                    error += (
                        1.2 * (n + 6) * HALF_ULP * 1.01 * math.sqrt(n) * size * self.entries.size * self.entries.unit
                    )
                parts.append((high, low, error))
            v = _rounded(parts)
            if v == v:
                return v
        exact = (Fraction(s_j) * Fraction(x) ** 2 for s in variances for s_j, x in zip(s, self.values, strict=True))
        return _nearest(sum(exact, Fraction(0)))


def _rounded(parts: list[tuple[float, float, float]]) -> float:
    """Return the float64 nearest to the sum of high and low parts with bounds on their errors; NaN if in doubt."""
    high, low, error = parts[0]
    for more in parts[1:]:
        high, low, error = high + more[0], low + more[1], error + more[2] + HALF_ULP * abs(low + more[1])
    return certain(high, low, error)


def _exact_product_sum(v: Numbers, w: Numbers) -> Fraction:
    return sum(map(mul, map(Fraction, v), map(Fraction, w)), Fraction(0))


def _nearest(number: Fraction) -> float:
    """Return the float64 nearest to a number, ties to even; infinity beyond the floats."""
    try:
        return number.numerator / number.denominator  # Python rounds a quotient of integers once
    except OverflowError:  # beyond the floats
        return math.inf if number > 0 else -math.inf


class Weights(NamedTuple):
    """What a classifier has learned about the features that have occurred, by name, the bias included."""

    w: dict[Any, float]
    u: dict[Any, float]
    """The cached sums from which averages are computed."""
    s: dict[Any, float]
    """The variances; empty if the update rule has none."""


Counters: TypeAlias = dict[str, Any]
"""A record of ``COUNTERS``, with two more entries: ``length``, a bound on the norm of the weights of a classifier, or
on the sum of the norms of two competing classes; and ``spread``, a bound on the norm of the last weights minus their
average."""
Change: TypeAlias = tuple[dict[Any, Any], Names | None, Any]
"""A dictionary, names among its keys, and new values for them; or a dictionary, None, and its new items."""


class RecordLearner:
    """Learns from records, and predicts them, with the weights of a linear state.

    The weights of features that occur are copied to dictionaries. `release` writes what was learned to the state, for
    others to read. If they train the state, the dictionaries are out of date: then `is_current` is False.

    Parameters
    ----------
    state : LinearState
        The state to learn with, without a log of updates and without a pocket.
    columns : dict, optional
        The column of each name. New names are added. By default names are column numbers.
    run : TrainingRun, optional
        The run that trains the state and has visited at least one row. `learn` continues its last pass. By default
        records can only be predicted.
    """

    def __init__(
        self, state: LinearState, columns: dict[Any, int] | None = None, run: TrainingRun | None = None
    ) -> None:
        self.state, self.columns, self.run, self.width = state, columns, run, state.n_features
        self._passes, self._has_learned = state.passes, False
        self._changed: set[Any] = set()
        """The names of the features whose weights may have changed since they were written to the state."""
        self._record = Record((), state.fit_intercept)
        self._longest = -1.0
        """The largest squared norm of the records that were measured with weight 1."""
        self._threshold = state.rule.threshold
        self._is_single = len(state.counters) == 1 and not state.direct and int(state.counters["limit"][0]) < 0
        """Whether there is a single classifier, which may make any number of updates."""
        self._step_size, self._average_weight = (
            chosen_for(step_size, state.rule),
            chosen_for(average_weight, state.decays),
        )
        self._decays = state.decays
        self._weights = [Weights({}, {}, {}) for _ in range(state.n_scores)]
        self._w, self._u = [weights.w for weights in self._weights], [weights.u for weights in self._weights]
        self._first_w, self._other_w = self._w[0], self._w[1:]
        if state.fit_intercept:
            biases = [state.b, state.beta, *([] if state.s_b is None else [state.s_b])]
            for k, weights in enumerate(self._weights):
                for known, bias in zip(weights, biases, strict=False):
                    known[BIAS] = float(bias[k])
        self._counters: list[Counters] = [dict(zip(_COUNTERS, line.item(), strict=True)) for line in state.counters]
        self._length = self._spread = 0.0
        """The largest ``length`` and ``spread`` of the counters."""
        for s in self._counters:
            share_measures(s, self._counters[0])
            self._bound(s)

    def is_current(self) -> bool:
        """Return whether nobody else has trained the state."""
        return self.state.passes == self._passes

    # records

    def read(self, names: Names, values: tuple[float, ...]) -> bool:
        """Make a record the one that `decide` and `learn` are about; return False if it is one for compiled passes.

        No name may occur twice. Values may be of any type that Python's floats can be multiplied with, to give a float;
        for other types the result is False, or a TypeError is raised.
        """
        norm = math.hypot(*values)
        if not (_SHORTEST < norm < _LONGEST or norm == 0.0):
            return False
        record = self._record
        if names is not record.given and names != record.given:
            if len(names) > _MOST_ENTRIES:
                return False
            record = self._record = Record(names, self.state.fit_intercept)
        record.set(values, norm)
        record.weights = None
        self._look_up(record)
        return type(record.activations[0]) is float

    def _look_up(self, record: Record) -> list[Numbers]:
        """Return the last weights of the record's features for each score, and compute its activations."""
        if record.weights is not None:
            return record.weights
        values, first = record.values, self._first_w
        try:  # one score is the frequent case
            found = [record.getter(first)]
            if self._other_w:
                found += map(record.getter, self._other_w)
        except KeyError:
            self._cache(record)
            found = list(map(self._find, self._w))
        record.activations = [sum(map(mul, found[0], values))]
        if self._other_w:
            record.activations += [sum(map(mul, w, values)) for w in found[1:]]
        record.weights = found
        return found

    def _find(self, weights: dict[Any, float]) -> Numbers:
        """Return the numbers that belong to the record's features, with 0 for features without a column."""
        record = self._record
        return [weights.get(name, 0.0) for name in record.names] if record.has_new_names else record.getter(weights)

    def _cache(self, record: Record) -> None:
        """Copy the weights of a record's features from the arrays; note whether some features have no column."""
        arrays, known = self.state.weight_arrays(), self._weights[0].w
        for name in record.names:
            if name in known:
                continue
            column = name if self.columns is None else self.columns.get(name)
            if column is None or column >= self.state.n_features:
                record.has_new_names = True
                continue
            for k, weights in enumerate(self._weights):
                for copied, array in zip(weights, arrays, strict=False):
                    copied[name] = array.item(k, column)

    def _add_columns(self, record: Record) -> None:
        """Assign columns to the new names of a record. Their weights are 0."""
        for name in record.names:
            if name in self._weights[0].w:
                continue
            column: Any = name if self.columns is None else self.columns.setdefault(name, len(self.columns))
            self.width = max(self.width, column + 1)
            for weights in self._weights:
                weights.u[name] = 0.0
                if self.state.s is not None:
                    weights.s[name] = 1.0
                weights.w[name] = 0.0
            self._changed.add(name)
        record.has_new_names = False

    # predictions

    def decide(self, hypothesis: str) -> int | None:
        """Return the class number of the record; None if only the state can tell."""
        state, record, average = self.state, self._record, hypothesis == "average"
        if not (average or hypothesis == "last") or state.threshold is not None or (average and state.mixed_shards):
            return None
        if record.weights is None:
            self._look_up(record)
        scores, doubt = record.activations, record.slack * self._length + _NEGLIGIBLE
        if not average and len(scores) == 1 and abs(scores[0]) > doubt:
            return 1 if scores[0] > 0.0 else 0
        if average:
            # The activation of the averages as a difference of two sums: CIML algorithm 7. Both are in ``doubt``.
            doubt += record.slack * self._spread
            shares = map(self._share, self._for_scores(self._counters))
            found = map(self._find, self._u)
            scores = [a - next(shares) * sum(map(mul, u, record.values)) for a, u in zip(scores, found, strict=True)]
            if len(scores) == 1 and abs(scores[0]) > doubt:
                return int(scores[0] > 0.0)
        if len(scores) == 1:
            a = scores[0]
            if not abs(a) > doubt:
                a = record.activation(self._exact_weights(average), signed=True)
            return int(a > 0.0)
        largest = max(scores)
        if sum([largest - a <= 2.0 * doubt for a in scores]) == 1:
            return scores.index(largest)
        exact, best = self._exact_weights(average), 0
        for k in range(1, len(scores)):
            if self._margin(exact, k, best) > 0.0:
                best = k
        return best

    def _exact_weights(self, average: bool) -> list[Numbers]:
        """Return the weights with which the record is predicted, as `LinearState.average` computes them."""
        last = self._look_up(self._record)
        if not average:
            return last
        found: list[Numbers] = []
        for weights, w, s in zip(self._weights, last, self._for_scores(self._counters), strict=True):
            u, visits = self._find(weights.u), max(s["visits"], 1.0)
            if self.state.decay == 0.0:
                found.append([a - b / visits for a, b in zip(w, u, strict=True)])
            else:
                share = self._share(s)
                found.append([a - b * share for a, b in zip(w, u, strict=True)])
        return found

    def _share(self, s: Counters) -> float:
        visits = s["visits"]
        return average_share(self.state.decay, visits, s["epoch"]) if self.state.decay else 1.0 / (visits or 1.0)

    def _for_scores(self, values: list[Any]) -> list[Any]:
        """Return a value for each score. Classes that compete directly share one record of counters."""
        return values * len(self._weights) if self.state.direct else values

    def _margin(self, weights: list[Numbers], k: int, other: int) -> float:
        """Return the activation of the record for class ``k`` minus that for another, rounded once, with its sign."""
        return self._record.activation([weights[k], list(map(neg, weights[other]))], signed=True)

    # learning

    def learn(self, number: int, weight: float | None = None) -> bool:
        """Learn from the record, whose class has this number, as ``partial_fit`` does.

        Return False, with nothing learned, if this record has to be learned by compiled passes.
        """
        record, leader = self._record, self._counters[0]
        if self.run is None:
            return False
        if record.weights is None:
            self._look_up(record)
        if record.has_new_names:
            self._add_columns(record)
        if weight is not None or record.reach * record.reach > 0.999 * self._longest:
            self._measure(1.0 if weight is None else weight)
        self._has_learned = True
        if weight is None and self._is_single:  # the frequent case: a certain activation, and nothing to change
            a = record.activations[0] if number == leader["target"] else -record.activations[0]
            if a > self._threshold + record.slack * self._length + _NEGLIGIBLE:
                leader["visits"] += 1.0
                if a < leader["lowest"]:
                    leader["lowest"] = a
                leader["lowest_step"] = leader["lowest"]
                return True
        elif weight == 0.0:
            return True
        changes: list[Change] = []
        if self.state.direct:
            if not leader["updates"] >= leader["limit"] >= 0:
                rival = self._rival(number)
                margin = record.activations[number] - record.activations[rival]
                if not self._visit(leader, margin, ((number, 1.0), (rival, -1.0)), weight, changes):
                    return False
        else:
            for k, (s, a) in enumerate(zip(self._counters, record.activations, strict=True)):
                if not s["updates"] >= s["limit"] >= 0:
                    y = 1.0 if number == s["target"] else -1.0
                    if not self._visit(s, y * a, ((k, y),), weight, changes):
                        return False
        try:
            self._apply(changes)
        except BaseException:  # an interrupt: all changes are made, which are assignments, so they may be made twice
            self._apply(changes)
            raise
        return True

    def _measure(self, weight: float) -> None:
        """Update the counters that are maxima over rows."""
        leader, norm2 = self._counters[0], self._squared_norm()
        measure_row(leader, norm2, weight, self._threshold)
        for s in self._counters:
            share_measures(s, leader)
        if weight == 1.0:
            self._longest = max(self._longest, norm2)

    def _squared_norm(self) -> float:
        """Return the squared norm of the record with the bias, summed in the order of the columns, as passes do."""
        total, record = 0.0, self._record
        n = len(record.names) - self.state.fit_intercept
        columns = record.names[:n] if self.columns is None else map(self.columns.__getitem__, record.names[:n])
        for _, x in sorted(zip(columns, map(float, record.values[:n]), strict=True)):
            total += x * x
        return total + float(self.state.fit_intercept)

    def _rival(self, y: int) -> int:
        """Return the class other than ``y`` with the largest score, compared exactly; the first of those that tie."""
        record, best = self._record, -1
        doubt = record.slack * self._length + _NEGLIGIBLE
        for k, score in enumerate(record.activations):
            if k == y:
                continue
            margin = math.inf if best < 0 else score - record.activations[best]
            if not abs(margin) > doubt:
                margin = self._margin(self._look_up(record), k, best)
            if margin > 0.0:
                best = k
        return best

    def _visit(
        self,
        s: Counters,
        a: float,
        moves: tuple[tuple[int, float], ...],
        weight: float | None,
        changes: list[Change],
    ) -> bool:
        """Append what a visit of the record changes; return False if only compiled passes can tell.

        ``a`` is the label times the activation, or the margin of the true class, as computed. An update moves the
        weights of each class in ``moves`` by its step, times the sign beside the class.
        """
        record, rule, direct = self._record, self.state.rule, self.state.direct
        threshold, bound = rule.threshold, record.slack * s["length"] + _NEGLIGIBLE
        step, extra, taken, mistake = 1.0 if weight is None else weight, 0.0, -1.0, False
        if not a > threshold + bound:
            a, extra = self._refined(a, bound, moves)
            if math.isinf(a):
                return False
            if not a > threshold:
                mistake = not a > 0.0
                taken = self._step_size(rule, a, extra, step)
        visits, lowest, lowest_step = s["visits"] + 1.0, s["lowest"], s["lowest_step"]
        # as in the passes: one-vs-rest, an update leaves the threshold as the margin that is proved
        lowest = min(lowest, a if direct or taken < 0.0 else threshold)
        lowest_step = min(lowest_step, step * a) if direct or weight is not None else lowest
        mistakes = s["mistakes"] + mistake
        seen = {"visits": visits, "mistakes": mistakes, "lowest": lowest, "lowest_step": lowest_step}
        if taken < 0.0:
            changes.append((s, None, seen))
            return True
        update = Update(_ROW, visits - 1.0, taken, step, a, extra)
        counted, epoch, _ = self._average_weight(self._decays, visits - 1.0, s["epoch"])
        new = s | seen
        count_update(rule, new, update)
        self._bound(new)
        if epoch > s["epoch"] or not new["length"] * visits < _FAR_FROM_OVERFLOW:
            return False
        self._changed.update(record.names)
        changes.append((s, None, new))
        for k, sign in moves:
            changes += self._moved(k, sign, counted, update)
        return True

    def _refined(self, a: float, bound: float, moves: tuple[tuple[int, float], ...]) -> tuple[float, float]:
        """Return the two numbers of ``rules.refined_activation`` or ``rules.refined_margin``."""
        record, rule, last, extra = self._record, self.state.rule, self._look_up(self._record), 0.0
        if not (isinstance(rule, PerceptronRule) and abs(a) > bound):
            signed = [last[k] if sign > 0.0 else list(map(neg, last[k])) for k, sign in moves]
            a = record.activation(signed, signed=isinstance(rule, PerceptronRule | MarginRule))
        if isinstance(rule, PassiveAggressiveRule):
            extra = len(moves) * record.square()
        elif isinstance(rule, ArowRule):
            extra = record.variance([record.getter(self._weights[k].s) for k, _ in moves])
        return a, extra

    def _moved(self, k: int, sign: float, counted: float, update: Update) -> list[Change]:
        """Return what an update changes in the weights of class ``k``; see ``rules.move``."""
        record, rule, weights, w = self._record, self.state.rule, self._weights[k], self._look_up(self._record)[k]
        names, values, step = record.names, record.values, sign * update.step
        late, u = step * counted, record.getter(weights.u)
        if not isinstance(rule, ArowRule):
            return [
                (weights.w, names, list(map(add, w, map(mul, values, repeat(step))))),
                (weights.u, names, list(map(add, u, map(mul, values, repeat(late))))),
            ]
        v, r, s = update.norm2_or_variance, rule.r / update.weight, record.getter(weights.s)
        inverse = 1.0 / (v + r)
        reach = list(map(mul, s, values))
        return [
            (weights.w, names, list(map(add, w, map(mul, reach, repeat(step))))),
            (weights.u, names, list(map(add, u, map(mul, reach, repeat(late))))),
            (weights.s, names, list(map(shrunk, s, reach, values, repeat(v), repeat(r), repeat(inverse)))),
        ]

    def _apply(self, changes: list[Change]) -> None:
        for known, names, new in changes:
            if names is None:
                known.update(new)
            else:
                known.update(zip(names, new, strict=True))
                self._record.weights = None

    def _bound(self, s: Counters) -> None:
        """Compute the entries ``length`` and ``spread`` of counters."""
        # The invariants of ``passes.one_vs_rest_pass`` and, where the factor is 2, of ``passes.direct_pass``.
        factor = 2.0 if self.state.direct else 1.0
        s["length"] = math.sqrt(factor * (factor * s["step_square_sum"] * s["radius2"] + s["excess2"]))
        # An update changes the weights by at most step |x|, and the last weights minus their average by no more. The
        # factor covers the roundings of 2**44 updates.
        s["spread"] = 1.01 * s["step_sum"] * math.sqrt(s["radius2"])
        self._length, self._spread = max(self._length, s["length"]), max(self._spread, s["spread"])

    # the state

    def release(self) -> None:
        """Write what was learned to the arrays of the state, which others may then read."""
        if not self._has_learned or self.run is None:
            return
        with interrupts_deferred():
            state = self.state
            self.run.reopen_pass()
            state.widen(self.width)
            names = [name for name in self._changed if name is not BIAS]
            columns = names if self.columns is None else [self.columns[name] for name in names]
            for k, weights in enumerate(self._weights):
                for known, array in zip(weights, state.weight_arrays(), strict=False):
                    array[k, columns] = [known[name] for name in names]
                if state.fit_intercept:
                    state.b[k], state.beta[k] = weights.w[BIAS], weights.u[BIAS]
                    if state.s_b is not None:
                        state.s_b[k] = weights.s[BIAS]
            for line, s in zip(state.counters, self._counters, strict=True):
                for name in _COUNTERS:
                    line[name] = s[name]
            state.radius = max(state.radius, math.sqrt(float(state.counters["radius2"].max())))
            self.run.close_pass()
            self._passes, self._has_learned = state.passes, False
            self._changed.clear()
