"""The table of exercises (``exercises.json``), and the form of their answers."""

from __future__ import annotations

import functools
import json
import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from typing import Any, TypeAlias

from rosenblatt.exercises.formulas import Formula, FormulaError, parse
from rosenblatt.messages import did_you_mean, shorten

MOST = 10**9
"""The largest number of an answer."""
_WIDTH = 78
GRID, REACH = 8, 100
"""Coordinates of points are multiples of 1 / GRID from -REACH to REACH, so that floats hold their sums exactly."""
Number: TypeAlias = Fraction | float
"""A number of an answer, exactly as it was given; the float is minus infinity."""
Points: TypeAlias = list[tuple[tuple[Fraction, ...], int]]
"""Labelled points: pairs of features and -1 or 1."""


class FormError(ValueError):
    """Raised for an answer that is not of the form that its field asks for; the message is a sentence."""


@dataclass(frozen=True)
class Exercise:
    """One exercise: its texts, its data and the fields of its answer, as in ``exercises.json``.

    Attributes
    ----------
    number, name, title : int, str, str
        Its place in the table, what `check` calls it, and what it is about.
    text, quote : str
        The section of the text that asks, and what it says there.
    question, hint : str
        What to do, and a first step.
    given : dict
        The data of the question.
    fields : list of dict
        The parts of the answer: name, label and kind of each.
    functions : dict
        For each name that `check` takes for a function, the function's signature.
    docs : str
        The page of the documentation that explains it.
    """

    number: int
    name: str
    title: str
    text: str
    docs: str
    quote: str
    question: str
    hint: str
    given: dict[str, Any]
    fields: list[dict[str, Any]]
    functions: dict[str, str]

    def __repr__(self) -> str:
        return f"{self.number:>2}  {self.name:<14} {self.title}"

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.title} ({self.text})", self.question]
        rows = [*map(str, self.given.get("points", []))]
        if rows:
            names = self.given.get("names", [""] * len(rows))
            points = (f"{k} {row} {name}".rstrip() for k, (row, name) in enumerate(zip(rows, names, strict=True)))
            lines.append(f"Points: {', '.join(points)}")
        lines += self.given.get("program", [])
        functions = [f'a function {signature} for "{name}"' for name, signature in self.functions.items()]
        whole = "a dictionary with" if len(self.fields) > 1 else _form(self.fields[0])
        lines.append(f"Answer: {', or '.join([*functions, whole])}")
        for field in self.fields:
            if len(self.fields) > 1:
                lines.append(f'  "{field["name"]}" ({_form(field)}): {field["label"]}')
            lines += [f'    "{option["id"]}": {option["text"]}' for option in field.get("options", [])]
        return "\n".join(map(_wrapped, lines))

    def read(self, answer: object) -> dict[str, Any]:
        """Return the value of each field; raise a FormError if the answer has another form."""
        if len(self.fields) == 1:
            answer = {self.fields[0]["name"]: answer}
        names = [field["name"] for field in self.fields]
        if not isinstance(answer, Mapping) or set(answer) != set(names):
            raise FormError(f"the answer must be a dictionary with {', '.join(names)}, got {shorten(answer)}.")
        return {field["name"]: _KINDS[field["kind"]](field, answer[field["name"]], self) for field in self.fields}


def _wrapped(line: str) -> str:
    indent = " " * (len(line) - len(line.lstrip()) + 2 * line.startswith("  "))
    return textwrap.fill(line, _WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _form(field: Mapping[str, Any]) -> str:
    """Return what the value of a field looks like in Python."""
    forms: dict[str, Callable[[], str]] = {
        "number": lambda: "a number",
        "weights": lambda: f"[{', '.join(field['names'])}]",
        "formula": lambda: f"text, a formula in {', '.join(field['variables'])}",
        "choice": lambda: "one of these",
        "order": lambda: "a list of some of these, in order",
        "subset": lambda: "[row numbers, from 0]",
        "points": lambda: "[[x1, x2, y], ...]",
        "place": lambda: "[x1, x2]",
        "line": lambda: "[[x1, x2], [x1, x2]]",
    }
    return forms[field["kind"]]()


@functools.cache
def table() -> dict[str, Exercise]:
    """Return all exercises by their names, in order."""
    read = json.loads(table_text())["exercises"]
    return {entry["name"]: Exercise(**{"functions": {}, **entry}) for entry in read}


def table_text() -> str:
    """Return the text of ``exercises.json``."""
    return resources.files(__package__).joinpath("exercises.json").read_text(encoding="utf-8")


def exercise_named(name: object) -> Exercise:
    """Return an exercise by its name, or by the name of one of its functions; raise a ValueError for another name."""
    exercises = table()
    found = exercises.get(name) if isinstance(name, str) else None
    if found is None:
        found = next((one for one in exercises.values() if name in one.functions), None)
    if found is None:
        known = [*exercises, *(name for one in exercises.values() for name in one.functions)]
        question = did_you_mean(name, known) if isinstance(name, str) else ""
        raise ValueError(f"there is no exercise {shorten(name)}: " + (question or "list_exercises() has their names."))
    return found


# The kinds of fields. Each function returns a field's value.


def _finite(value: object) -> Fraction:
    """Return a number exactly: of Python or numpy, or a string with a formula without variables."""
    if isinstance(value, str):
        try:
            value = parse(value)({})
        except FormulaError as fault:
            raise FormError(f"{shorten(value)} is not a number: {fault}.") from None
    value = value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise FormError(f"expected a number, got {shorten(value)}.")
    if not -MOST <= value <= MOST:
        raise FormError(f"expected a number of at most {MOST:,} in size, got {shorten(value)}.")
    return Fraction(value)


def _number(field: Mapping[str, Any], value: object, _: Exercise) -> Number:
    whole = field.get("whole")
    if not whole and isinstance(value, str | float) and value in (-math.inf, "-inf", "-∞", "−∞"):
        return -math.inf
    found = _finite(value)
    if whole and not (field["least"] <= found <= field["most"] and found.denominator == 1):
        raise FormError(f"{field['label']}: expected an integer from {field['least']} to {field['most']}, got {value}.")
    return found


def _items(field: Mapping[str, Any], value: object, expected: str, count: int | None = None) -> list[Any]:
    """Return a list, tuple or array as a list; raise a FormError if it is none, or has not ``count`` items."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list | tuple) or count not in (None, len(value)):
        raise FormError(f"{field['label']}: expected {expected}, got {shorten(value)}.")
    return list(value)


def _weights(field: Mapping[str, Any], value: object, _: Exercise) -> list[Fraction]:
    names = field["names"]
    return [_finite(item) for item in _items(field, value, f"{len(names)} numbers {', '.join(names)}", len(names))]


def _formula(field: Mapping[str, Any], value: object, _: Exercise) -> Formula:
    if not isinstance(value, str):
        constant = float(_finite(value))
        return lambda _: constant
    try:
        return parse(value, tuple(field["variables"]))
    except FormulaError as fault:
        raise FormError(f"{field['label']} {shorten(value)} is not a formula: {fault}.") from None


def _choice(field: Mapping[str, Any], value: object, _: Exercise) -> str:
    known = [option["id"] for option in field["options"]]
    if not isinstance(value, str) or value not in known:
        raise FormError(f"{field['label']}: expected one of {', '.join(map(repr, known))}, got {shorten(value)}.")
    return value


def _order(field: Mapping[str, Any], value: object, exercise: Exercise) -> list[str]:
    steps = [_choice(field, item, exercise) for item in _items(field, value, "a list of steps")]
    if len(set(steps)) < len(steps):
        raise FormError(f"{field['label']}: expected each step once, got {shorten(value)}.")
    return steps


def _subset(field: Mapping[str, Any], value: object, exercise: Exercise) -> list[int]:
    n = len(exercise.given["points"])
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    rows = _items(field, value, "a list of row numbers")
    if len(set(map(repr, rows))) < len(rows) or any(type(row) is not int or not 0 <= row < n for row in rows):
        raise FormError(f"{field['label']}: expected different row numbers from 0 to {n - 1}, got {shorten(value)}.")
    return sorted(rows)


def _points(field: Mapping[str, Any], value: object, _: Exercise) -> Points:
    rows = _items(field, value, "a list of points [x1, x2, y]")
    if not field["least"] <= len(rows) <= field["most"]:
        raise FormError(f"{field['label']}: expected {field['least']} to {field['most']} points, got {len(rows)}.")
    points: Points = []
    for row in rows:
        x1, x2, y = map(_finite, _items(field, row, "points [x1, x2, y]", 3))
        if y not in (-1, 1):
            raise FormError(f"{field['label']}: expected labels -1 or 1, got {float(y):g}.")
        for x in (x1, x2):
            if x * GRID != int(x * GRID) or abs(x) > REACH:
                limits = f"multiples of 1/{GRID} from -{REACH} to {REACH}"
                raise FormError(f"{field['label']}: expected coordinates that are {limits}, got {float(x):g}.")
        points.append(((x1, x2), int(y)))
    return points


def _place(field: Mapping[str, Any], value: object, _: Exercise) -> tuple[Fraction, ...]:
    return tuple(_finite(item) for item in _items(field, value, "a point [x1, x2]", 2))


def _line(field: Mapping[str, Any], value: object, exercise: Exercise) -> list[tuple[Fraction, ...]]:
    places = [_place(field, item, exercise) for item in _items(field, value, "two points [x1, x2]", 2)]
    if places[0] == places[1]:
        raise FormError(f"{field['label']}: expected two different points, got {shorten(value)}.")
    return places


_KINDS: dict[str, Callable[[Mapping[str, Any], Any, Exercise], Any]] = {
    "number": _number,
    "weights": _weights,
    "formula": _formula,
    "choice": _choice,
    "order": _order,
    "subset": _subset,
    "points": _points,
    "place": _place,
    "line": _line,
}
