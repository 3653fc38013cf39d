"""The state of the lab: points, learner and view, as the page keeps it in its address and writes it to files."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.parameters import shorten

VERSION = 1
MOST_POINTS = 1000
MOST_PICKS = 500
MOST_UPDATES = 2000
MOST_VISITS = 50_000
LARGEST = 1e6  # coordinates: their squares, summed over all updates, stay exact enough to be drawn
LEARNERS = ("perceptron", "averaged", "voted", "pocket", "restart", "circle", "kernel")
ORDERS = ("fixed", "once", "each", "pick")
FEATURES = ("x", "y", "xy", "x2", "y2", "r2")
KERNELS = ("poly", "rbf")
PANELS = ("bound", "projection", "error", "weights", "lift", "verdict", "vc")
LOWER_PANELS = ("code", "table")
SHOWN = ("regions", "arrow", "ghosts", "margins", "radius", "strip", "average", "vote", "hulls")
HIDDEN = ("lessons", "learner", "order", "panels", "transport", "share")
FAMILIES = ("halfspaces", "discs", "rectangles")


@dataclass(frozen=True)
class LabState:
    """All that a view of the lab depends on.

    ``points`` are [x, y, label, held_out]: a label is 1 or -1, and points held out are for testing alone.
    ``picks`` are numbers of points, visited one after the other where ``order`` is "pick".
    ``view`` is the middle of the square that is shown and half its width. ``at`` counts the visits that have been made;
    None is the end of the run.
    """

    points: tuple[tuple[float, float, int, bool], ...] = ()
    learner: str = "perceptron"
    features: tuple[str, ...] = ("x", "y")
    bias: bool = True
    order: str = "each"
    seed: int = 0
    picks: tuple[int, ...] = ()
    kernel: str = "rbf"
    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0
    passes: int = 100
    updates: int = 1000
    view: tuple[float, float, float] = (0.0, 0.0, 5.0)
    at: int | None = 0
    panel: str = "bound"
    lower: str = "code"
    family: str = "halfspaces"
    lesson: str = ""
    show: tuple[str, ...] = ("regions", "arrow", "ghosts")
    hide: tuple[str, ...] = ()

    # from the page and from files

    @classmethod
    def from_plain(cls, data: object) -> LabState:
        """Return the state that JSON data stands for; what is left out has its default, anything else is a ValueError.

        >>> LabState.from_plain({"version": 1, "points": [[1, 2, 1], [0, 0, -1]]}).points
        ((1.0, 2.0, 1, False), (0.0, 0.0, -1, False))
        """
        if type(data) is not dict:
            raise ValueError(f"a state of the lab must be a dictionary, got {shorten(data)}.")
        given = dict(data)
        version = given.pop("version", None)
        if version != VERSION or type(version) is not int:
            raise ValueError(f"a state of the lab must have 'version': {VERSION}, got {shorten(version)}.")
        unknown = min((str(name) for name in set(given) - set(_READERS)), default=None)
        if unknown is not None:
            raise ValueError(f"a state of the lab has no field {shorten(unknown)}.")
        state = cls(**{name: _READERS[name](name, value) for name, value in given.items()})
        if any(pick >= len(state.points) for pick in state.picks):
            raise ValueError(f"'picks' must be numbers of points, below {len(state.points)}, got {max(state.picks)}.")
        return state

    @classmethod
    def from_json(cls, text: str | bytes) -> LabState:
        """Return the state of a JSON text."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError("a state of the lab must be JSON, as the page's Export writes it.") from None
        return cls.from_plain(data)

    @classmethod
    def from_fragment(cls, fragment: str) -> LabState:
        """Return the state of the part of an address after the #."""
        try:
            text = base64.urlsafe_b64decode(fragment + "=" * (-len(fragment) % 4))
        except (ValueError, binascii.Error):
            raise ValueError(
                "the part of the address after # is no state of the lab: copy the whole address."
            ) from None
        return cls.from_json(text)

    def to_plain(self) -> dict[str, Any]:
        """Return the state as data that JSON holds."""
        out: dict[str, Any] = {"version": VERSION}
        for field in fields(self):
            value = getattr(self, field.name)
            out[field.name] = list(value) if isinstance(value, tuple) else value
        out["points"] = [[x, y, label, *([True] if test else [])] for x, y, label, test in self.points]
        return out

    def to_json(self) -> str:
        """Return the state as JSON."""
        return json.dumps(self.to_plain(), allow_nan=False, separators=(",", ":"))

    def to_fragment(self) -> str:
        """Return the state as the part of an address after the #.

        >>> state = LabState(seed=7)
        >>> LabState.from_fragment(state.to_fragment()) == state
        True
        """
        return base64.urlsafe_b64encode(self.to_json().encode()).decode().rstrip("=")

    # what is trained

    @property
    def rows(self) -> NDArray[np.int64]:
        """The numbers of the points that are trained on."""
        return np.array([i for i, point in enumerate(self.points) if not point[3]], dtype=np.int64)

    @property
    def held_out(self) -> NDArray[np.int64]:
        """The numbers of the points that are held out."""
        return np.array([i for i, point in enumerate(self.points) if point[3]], dtype=np.int64)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that the learner sees; the circle has its own, a kernel sees the coordinates."""
        fixed = {"circle": ("x", "y", "r2"), "kernel": ("x", "y")}
        return fixed.get(self.learner, self.features)

    def coordinates(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the coordinates of some points, of shape (n, 2)."""
        return np.array([point[:2] for point in self.points], dtype=np.float64).reshape(-1, 2)[rows]

    def labels(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the labels of some points."""
        return np.array([point[2] for point in self.points], dtype=np.int64)[rows]

    def with_points(
        self, X: NDArray[np.float64], y: NDArray[np.int64], held_out: NDArray[np.bool_] | None = None
    ) -> LabState:
        """Return the state with these points, and a view that has them all in sight.

        >>> LabState().with_points(np.array([[0.0, 0.0], [4.0, 2.0]]), np.array([1, -1])).view
        (2.0, 1.0, 2.5)
        """
        tests = np.zeros(len(X), dtype=bool) if held_out is None else held_out
        points = zip(X[:, 0].tolist(), X[:, 1].tolist(), y.tolist(), tests.tolist(), strict=True)
        return replace(self, points=tuple(points), view=view_of(X))


def view_of(X: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the middle and half the width of a square that shows the points with room around them."""
    if not len(X):
        return LabState.view
    low, high = X.min(axis=0), X.max(axis=0)
    half = 1.25 * float((high - low).max()) / 2 or 1.0
    middle = (low + high) / 2
    return (float(middle[0]), float(middle[1]), half)


def feature_columns(X: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the features of points of the plane, a column each.

    >>> feature_columns(np.array([[2.0, 3.0]]), ("x", "xy", "r2"))
    array([[ 2.,  6., 13.]])
    """
    x, y = X[:, 0], X[:, 1]
    columns = {"x": x, "y": y, "xy": x * y, "x2": x * x, "y2": y * y, "r2": x * x + y * y}
    return np.column_stack([columns[name] for name in names]) if names else np.empty((len(X), 0))


# readers of fields


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
    return (*middle, _number(name, numbers[2], 1e-6, 4 * LARGEST))


def _name(name: str, value: object) -> str:
    if type(value) is not str or len(value) > 40:
        raise _wrong(name, "a short name", value)
    return value


_READERS: dict[str, Any] = {
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
