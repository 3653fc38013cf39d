"""The allowed values of each field of a state, and functions that raise a ValueError for other values."""

from __future__ import annotations

from typing import Any

from rosenblatt.messages import shorten

MOST_POINTS = 1000
MOST_PICKS = 500
MOST_UPDATES = 2000
MOST_VISITS = 50_000
LARGEST = 1e6  # coordinates: their squares, summed over all updates, stay exact enough to be drawn
NARROWEST = 1e-6  # half the width of the square that is shown
LEARNERS = ("perceptron", "averaged", "voted", "pocket", "restart", "margin", "pa", "arow", "circle", "kernel")
BY_MARGIN = ("margin", "pa", "arow")  # these also update where a point is right by too little
ORDERS = ("fixed", "once", "each", "pick")
FEATURES = ("x", "y", "xy", "x2", "y2", "r2")
KERNELS = ("poly", "rbf")
LOSSES = ("hinge", "squared_hinge", "plain")  # of passive-aggressive steps; plain ones have no limit C
PANELS = ("bound", "projection", "error", "weights", "lift", "verdict", "vc")
LOWER_PANELS = ("code", "table")
SHOWN = ("regions", "arrow", "ghosts", "margins", "radius", "strip", "average", "vote", "hulls")
HIDDEN = ("lessons", "learner", "order", "panels", "transport", "share")
FAMILIES = ("halfspaces", "discs", "rectangles")


def _wrong(name: str, expected: str, value: object) -> ValueError:
    return ValueError(f"{name!r} must be {expected}, got {shorten(value)}.")


def _number(name: str, value: object, least: float, most: float) -> float:
    if type(value) not in (int, float) or not least <= value <= most:  # type: ignore[operator]
        raise _wrong(name, f"a number from {least:g} to {most:g}", value)
    return float(value)  # type: ignore[arg-type]


def _integer(name: str, value: object, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise _wrong(name, f"an integer from {least} to {most}", value)
    return value


def _word(name: str, value: object, allowed: tuple[str, ...]) -> str:
    if type(value) is not str or value not in allowed:
        raise _wrong(name, " or ".join(map(repr, allowed)), value)
    return value


def _flag(name: str, value: object) -> bool:
    if type(value) is not bool:
        raise _wrong(name, "true or false", value)
    return value


def _items(name: str, value: object, most: int) -> list[Any]:
    if type(value) is not list or len(value) > most:
        raise _wrong(name, f"a list of at most {most:,}", value if type(value) is not list else f"{len(value):,}")
    return value


def _words(name: str, value: object, allowed: tuple[str, ...]) -> tuple[str, ...]:
    words = [_word(name, word, allowed) for word in _items(name, value, len(allowed))]
    if len(set(words)) < len(words):
        raise _wrong(name, "words that differ", value)
    return tuple(words)


def _point(value: object) -> tuple[float, float, int, bool]:
    if type(value) is not list or len(value) not in (3, 4):
        raise _wrong("points", "lists [x, y, label] or [x, y, label, held_out]", value)
    label, test = value[2], value[3] if len(value) == 4 else False
    if type(label) is not int or label not in (1, -1) or type(test) is not bool:
        raise _wrong("points", "lists with a label of 1 or -1, and true or false after it", value)
    return (_number("points", value[0], -LARGEST, LARGEST), _number("points", value[1], -LARGEST, LARGEST), label, test)


def _view(name: str, value: object) -> tuple[float, float, float]:
    numbers = _items(name, value, 3)
    if len(numbers) != 3:
        raise _wrong(name, "the middle and half the width of a square", value)
    middle = _number(name, numbers[0], -LARGEST, LARGEST), _number(name, numbers[1], -LARGEST, LARGEST)
    return (*middle, _number(name, numbers[2], NARROWEST, 4 * LARGEST))


def _name(name: str, value: object) -> str:
    if type(value) is not str or len(value) > 40:
        raise _wrong(name, "a short name", value)
    return value


READERS: dict[str, Any] = {
    "points": lambda name, value: tuple(_point(point) for point in _items(name, value, MOST_POINTS)),
    "learner": lambda name, value: _word(name, value, LEARNERS),
    "features": lambda name, value: _words(name, value, FEATURES),
    "bias": _flag,
    "order": lambda name, value: _word(name, value, ORDERS),
    "seed": lambda name, value: _integer(name, value, 0, 2**31 - 1),
    "picks": lambda name, value: tuple(_integer(name, i, 0, MOST_POINTS) for i in _items(name, value, MOST_PICKS)),
    "kernel": lambda name, value: _word(name, value, KERNELS),
    "degree": lambda name, value: _integer(name, value, 1, 9),
    "gamma": lambda name, value: _number(name, value, 1e-6, 1e6),
    "coef0": lambda name, value: _number(name, value, 0.0, 1e6),
    "margin": lambda name, value: _number(name, value, 0.0, 1e6),
    "C": lambda name, value: _number(name, value, 1e-6, 1e6),
    "loss": lambda name, value: _word(name, value, LOSSES),
    "r": lambda name, value: _number(name, value, 1e-6, 1e6),
    "passes": lambda name, value: _integer(name, value, 1, 10_000),
    "updates": lambda name, value: _integer(name, value, 1, MOST_UPDATES),
    "view": _view,
    "at": lambda name, value: None if value is None else _integer(name, value, 0, MOST_VISITS),
    "panel": lambda name, value: _word(name, value, PANELS),
    "lower": lambda name, value: _word(name, value, LOWER_PANELS),
    "family": lambda name, value: _word(name, value, FAMILIES),
    "lesson": _name,
    "show": lambda name, value: _words(name, value, SHOWN),
    "hide": lambda name, value: _words(name, value, HIDDEN),
}
