"""What is wrong with an answer, in words, and the exact arithmetic of the judges."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rosenblatt.exercises.formulas import Formula, parse
from rosenblatt.exercises.table import Exercise, Points

Values = Mapping[str, Any]
"""The value of each field of an answer."""
_CLOSE = 1e-9
"""Two values of formulas are equal up to this, relative to the larger of 1 and the expected value."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with an answer: the field, a sentence, and a counterexample."""

    field: str
    text: str
    counterexample: dict[str, Any]


# Numbers and words.


def plain(value: Any) -> Any:
    """Return a copy of a value with its Fractions, at any depth, as ints or floats.

    >>> plain({"x": (Fraction(2), Fraction(1, 2))})
    {'x': (2, 0.5)}
    """
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(plain(item) for item in value)
    return value


def words(value: Any) -> str:
    """Return a number, or a vector, as text.

    >>> words((Fraction(3), Fraction(1, 3))), words(-math.inf), words("a")
    ('(3, 0.333333)', '−∞', 'a')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return f"({', '.join(map(words, value))})"
    if value != value:
        return "undefined"
    if value in (math.inf, -math.inf):
        return "∞" if value > 0 else "−∞"
    text = str(int(value)) if abs(value) < 10**9 and value == int(value) else f"{float(value):.6g}"
    return text.replace("-", "−")


def dot(w: Iterable[Any], x: Iterable[Any]) -> Any:
    """Return w·x."""
    return sum(w_d * x_d for w_d, x_d in zip(w, x, strict=True))


def activation(weights: Sequence[Any], x: Sequence[Any]) -> Any:
    """Return the activation of x for weights whose last number is the bias."""
    return dot(weights[:-1], x) + weights[-1]


def prediction(a: Any) -> int:
    """Return the prediction for an activation: only those above 0 are positive."""
    return 1 if a > 0 else -1


def signed(label: int) -> str:
    """Return a label as +1 or −1."""
    return "+1" if label > 0 else "−1"


def norm(w: Iterable[Any]) -> float:
    """Return the length of a vector."""
    return math.hypot(*map(float, w))


def points_of(rows: Sequence[Sequence[int]]) -> Points:
    """Return the points that the table gives as lists of features and a label."""
    return [(tuple(map(Fraction, row[:-1])), int(row[-1])) for row in rows]


def grid(reach: int, step: Fraction = Fraction(1)) -> list[tuple[Fraction, Fraction]]:
    """Return the points of a grid around the origin, the nearest first."""
    marks = [k * step for k in range(-int(reach / step), int(reach / step) + 1)]
    return sorted(itertools.product(marks, marks), key=lambda x: (x[0] ** 2 + x[1] ** 2, x))


# Formulas and numbers that are compared.


def _differs(got: float, expected: float) -> bool:
    return not abs(got - expected) <= _CLOSE * max(1, abs(expected))  # NaN differs


def formula_fault(part: Mapping[str, Any], formula: Formula) -> Fault | None:
    """Return where a formula differs from that of its field."""
    names = part["variables"]
    right = parse(part["expected"], tuple(names))
    for sample in part["samples"]:
        at = dict(zip(names, map(float, sample), strict=True))
        got, expected = formula(at), right(at)
        if _differs(got, expected):
            where = ", ".join(f"{name} = {words(value)}" for name, value in at.items())
            text = f"{part['label']}: for {where} it is {words(got)}, expected {words(expected)}."
            return Fault(part["name"], text, {**at, "expected": expected, "got": got})
    return None


def fields_of(exercise: Exercise) -> dict[str, dict[str, Any]]:
    """Return the fields of an exercise by their names."""
    return {part["name"]: part for part in exercise.fields}


def option_of(exercise: Exercise, name: str, chosen: str) -> dict[str, Any]:
    """Return the option of a field that was chosen."""
    return next(option for option in fields_of(exercise)[name]["options"] if option["id"] == chosen)
