"""Algorithms 5, 6 and 7 of students, compared with the textbook's on small data sets in order of size.

Features are small integers, so that every correct order of summation gives the same bits; averages are divided once
or twice, and are compared up to a rounding error.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from rosenblatt import textbook
from rosenblatt.exercises.faults import Fault, plain
from rosenblatt.exercises.running import Stopped, run_all
from rosenblatt.exercises.table import Exercise
from rosenblatt.messages import shorten

Examples: TypeAlias = list[tuple[list[int], int]]
Call: TypeAlias = tuple[Any, ...]
"""The arguments of one call."""
_CLOSE = 1e-9


@dataclass(frozen=True)
class Algorithm:
    """A function that students write: its arguments in order of size, and what is right.

    Attributes
    ----------
    parameters : tuple of str
        The names of its arguments.
    calls : function
        Returns the arguments of all calls, the smallest first.
    expected : function
        Returns the result for the arguments of a call, exactly.
    read : function
        Reads what a student's function returned; a TypeError or ValueError says what is wrong with its form.
    agrees : function
        Returns whether the two results agree, for the arguments of a call.
    """

    parameters: tuple[str, ...]
    calls: Callable[[], list[Call]]
    expected: Callable[..., Any]
    read: Callable[[Any, Call], Any]
    agrees: Callable[[Any, Any, Call], bool]


@functools.cache
def data_sets() -> list[Call]:
    """Return data sets with numbers of passes: fewest points first, then fewest features, passes, small numbers.

    All sets of one or two points with small numbers are there, then random ones with up to 12 points, from fixed seeds.
    """
    small: list[Examples] = []
    line = [(0,), (1,), (-1,), (2,), (-2,)]
    for n, values in ((1, line), (2, line), (3, line[:3])):
        small += _all_sets(n, values)
    plane = list(itertools.product((0, 1, -1), repeat=2))
    small += [*_all_sets(1, plane), *_all_sets(2, plane)]
    sets = [(D, passes) for D in small for passes in (1, 2, 3)]
    draw = random.Random(0)
    for _ in range(800):
        n, d, largest = draw.randint(3, 12), draw.randint(1, 3), draw.randint(1, 4)
        D = [([draw.randint(-largest, largest) for _ in range(d)], draw.choice((-1, 1))) for _ in range(n)]
        sets.append((D, draw.choice((1, 2, 3, 5, 10))))
    return sorted(sets, key=_size)


def _all_sets(n: int, points: Sequence[tuple[int, ...]]) -> list[Examples]:
    labelled = list(itertools.product(points, (1, -1)))
    return [[(list(x), y) for x, y in rows] for rows in itertools.product(labelled, repeat=n)]


def _size(case: tuple[Examples, int]) -> tuple[int, int, int, int]:
    D, passes = case
    return len(D), len(D[0][0]), passes, sum(abs(x_d) for x, _ in D for x_d in x)


def _tests() -> list[Call]:
    """Return weights, biases and points of small numbers for algorithm 6."""
    numbers = (0, 1, -1, 2)
    lines = [([w], b, [x]) for w in numbers for b in numbers for x in numbers]
    planes = [
        ([w1, w2], b, [x1, x2])
        for w1, w2, b, x1, x2 in itertools.product((0, 1, -2), (1, -1), (0, 1, -1), (1, 2), (0, 3))
    ]
    return [*lines, *planes]


def _pair(got: Any, call: Call) -> tuple[list[Fraction], Fraction]:
    """Read the weights and the bias that a student's function returned."""
    if not isinstance(got, tuple | list) or len(got) != 2:
        raise TypeError("expected a pair (w, b)")
    w, b = got
    if not hasattr(w, "__iter__"):
        raise TypeError("expected a pair (w, b) with a list w")
    weights = [_number(value) for value in (w.tolist() if hasattr(w, "tolist") else w)]
    if len(weights) != len(call[0][0][0]):
        raise ValueError(f"expected {len(call[0][0][0])} weights, one for each feature")
    return weights, _number(b)


def _label(got: Any, _: Call) -> Fraction:
    return _number(got)


def _number(value: Any) -> Fraction:
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, int | float | Fraction) or value - value != 0:
        raise TypeError("expected numbers")
    return Fraction(value)


def _equal(got: Any, expected: Any, _: Call) -> bool:
    return bool(got == (list(expected[0]), expected[1]))


def _close(got: Any, expected: Any, _: Call) -> bool:
    pairs = zip([*got[0], got[1]], [*expected[0], expected[1]], strict=True)
    return all(abs(mine - theirs) <= _CLOSE * max(1, abs(theirs)) for mine, theirs in pairs)


def _right_label(got: Any, expected: int, call: Call) -> bool:
    """Return whether a label is right; on the boundary SIGN(a) may also be 0."""
    return got == expected or (got == 0 and textbook.activation(*call) == 0)


_TRAINING = ("D", "max_iter")
ALGORITHMS = {
    "algorithm-5": Algorithm(_TRAINING, data_sets, textbook.perceptron_train, _pair, _equal),
    "algorithm-6": Algorithm(("w", "b", "x"), _tests, textbook.perceptron_test, _label, _right_label),
    "algorithm-7": Algorithm(_TRAINING, data_sets, textbook.averaged_perceptron_train, _pair, _close),
}
"""The functions that students write."""


def judge_function(name: str, function: Callable[..., Any], seconds: float) -> Fault | None:
    """Return the smallest call at which a student's function is wrong, with a sentence; None if there is none.

    Points are given as lists. A function that is wrong with lists may be written for arrays, and gets these then.
    """
    algorithm = ALGORITHMS[name]
    calls = algorithm.calls()
    stopped = _first_wrong(algorithm, function, calls, calls, seconds)
    if stopped is not None and stopped.kind != "loops":
        arrays = [tuple(map(_as_array, call)) for call in calls]
        again = _first_wrong(algorithm, function, arrays, calls, seconds)
        if again is None or (stopped.kind in ("raises", "form") and again.kind not in ("raises", "form")):
            stopped = again
    return None if stopped is None else _fault_of(name, stopped, calls[stopped.number])


def _as_array(value: Any) -> Any:
    """Return an argument with its lists of numbers as arrays of floats."""
    if isinstance(value, tuple):
        return tuple(map(_as_array, value))
    if isinstance(value, list):
        return list(map(_as_array, value)) if value and isinstance(value[0], tuple) else np.array(value, dtype=float)
    return value


def _first_wrong(
    algorithm: Algorithm, function: Callable[..., Any], given: list[Call], calls: list[Call], seconds: float
) -> Stopped | None:
    def examine(number: int, got: Any) -> Stopped | None:
        call = calls[number]
        try:
            read = algorithm.read(got, call)
        except (TypeError, ValueError, OverflowError) as fault:
            return Stopped(number, "form", f"{fault}", shorten(got))
        if algorithm.agrees(read, algorithm.expected(*call), call):
            return None
        return Stopped(number, "differs", got=read)

    return run_all(function, given, examine, seconds)


def _fault_of(name: str, stopped: Stopped, call: Call) -> Fault:
    algorithm = ALGORITHMS[name]
    found = _counterexample(algorithm, call, stopped.got)
    where = ", ".join(f"{key} = {plain(found[key])}" for key in algorithm.parameters)
    what = {
        "differs": f"it returns {plain(stopped.got)}, expected {plain(found['expected'])}",
        "form": f"it returns {stopped.got}: {stopped.text}",
        "raises": f"it raises {stopped.text}",
        "changes": "it changes its arguments: work on copies",
        "loops": "it does not end in time: look for a loop without an end",
        "ends": "it ends the whole process: return the result instead",
    }[stopped.kind]
    return Fault(name, f"For {where}, {what}.", found)


def _counterexample(algorithm: Algorithm, call: Call, got: Any) -> dict[str, Any]:
    """Return the arguments of a call by their names, with what was expected and got."""
    return dict(zip(algorithm.parameters, call, strict=True)) | {"expected": algorithm.expected(*call), "got": got}


# Programs that were completed by choices.


def completed_perceptron(chosen: Mapping[str, str]) -> Callable[[Examples, int], tuple[list[Any], Any]]:
    """Return algorithm 5 as completed by the choices of a student."""

    def train(D: Examples, max_iter: int) -> tuple[list[Any], Any]:
        w, b = [0] * len(D[0][0]), 0
        for _ in range(max_iter - 1 if chosen["passes"] == "all-but-one" else max_iter):
            updated = False
            for x, y in D:
                a = textbook.activation(w, b, x)
                if not _MISTAKES[chosen["test"]](y, a):
                    continue
                updated = True
                step = _STEPS[chosen["weights"]](y, a)
                w = [w_d + step * x_d for w_d, x_d in zip(w, x, strict=True)]
                b = b + {"b": 0, "b+y": y, "b+1": 1}[chosen["bias"]]
                if chosen["then"] == "break":
                    break
            if chosen["passes"] == "until-clean" and not updated:
                break
        return w, b

    return train


def completed_test(chosen: Mapping[str, str]) -> Callable[..., int]:
    """Return algorithm 6 as completed by the choice of a student."""

    def test(w: Sequence[int], b: int, x: Sequence[int]) -> int:
        return _PREDICTIONS[chosen["predict"]](textbook.activation(w, b, x))

    return test


def completed_average(chosen: Mapping[str, str]) -> Callable[[Examples, int], tuple[list[Any], Any]]:
    """Return algorithm 7 as completed by the choices of a student. The bias is the weight of a feature that is 1."""

    def train(D: Examples, max_iter: int) -> tuple[list[Any], Any]:
        w = [0] * (len(D[0][0]) + 1)
        u, c, updates = w, int(chosen["start"]), 0
        for _ in range(max_iter):
            for features, y in D:
                x = [*features, 1]
                wrong = y * sum(w_d * x_d for w_d, x_d in zip(w, x, strict=True)) <= 0
                if wrong:
                    w, updates = _plus(w, y, x), updates + 1
                if chosen["cached"] == "u+w":
                    u = _plus(u, 1, w)
                elif wrong:
                    u = _plus(u, {"u+yx": y, "u+ycx": y * c, "u+cx": c}[chosen["cached"]], x)
                if wrong or chosen["count"] == "every":
                    c += 1
        result = {
            "w-u/k": _plus(w, -1 / updates, u),
            "w-u/c": _plus(w, -1 / c, u),
            "u/c": [u_d / c for u_d in u],
            "(cw-u)/c": [(c * w_d - u_d) / c for w_d, u_d in zip(w, u, strict=True)],
        }[chosen["result"]]
        return result[:-1], result[-1]

    return train


def _plus(w: Sequence[Any], step: Any, x: Sequence[Any]) -> list[Any]:
    return [w_d + step * x_d for w_d, x_d in zip(w, x, strict=True)]


def _sign(a: Any) -> int:
    return (a > 0) - (a < 0)


_MISTAKES: dict[str, Callable[[int, Any], bool]] = {
    "ya<0": lambda y, a: y * a < 0,
    "a<=0": lambda _, a: a <= 0,
    "ya<=0": lambda y, a: y * a <= 0,
    "not ya>0": lambda y, a: not y * a > 0,
    "sign(a)!=y": lambda y, a: _sign(a) != y,
}
_STEPS: dict[str, Callable[[int, Any], int]] = {
    "w-yx": lambda y, _: -y,
    "w+x": lambda *_: 1,
    "w+yx": lambda y, _: y,
    "w+px": lambda _, a: _sign(a),
}
_PREDICTIONS: dict[str, Callable[[Any], int]] = {
    "a>=0": lambda a: 1 if a >= 0 else -1,
    "a>0": lambda a: 1 if a > 0 else -1,
    "sign(a)": _sign,
    "a<0": lambda a: 1 if a < 0 else -1,
}


# The judges of completed programs.


def judge_program(values: Mapping[str, str], exercise: Exercise) -> Fault | None:
    """Return the smallest call at which a completed program differs from the textbook; None if there is none."""
    for name, complete in _PROGRAMS[exercise.name].items():
        algorithm, program = ALGORITHMS[name], complete(values)
        for call in algorithm.calls():
            got, expected = program(*call), algorithm.expected(*call)
            if not algorithm.agrees(got, expected, call):
                return _fault_of(name, Stopped(0, "differs", got=got), call)
    return None


_PROGRAMS: dict[str, dict[str, Callable[[Mapping[str, str]], Callable[..., Any]]]] = {
    "algorithm-5": {"algorithm-5": completed_perceptron, "algorithm-6": completed_test},
    "algorithm-7": {"algorithm-7": completed_average},
}
