"""The state of the lab: points, learner and view. The page stores it in its address and exports it to files."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.lab.state_fields import NARROWEST, READERS
from rosenblatt.messages import shorten

VERSION = 1


@dataclass(frozen=True)
class LabState:
    """The points and all settings that determine what the page shows.

    Each of ``points`` is (x, y, label, held_out). Labels are 1 or -1, and held-out points are used only for testing.
    ``picks`` contains indices of points. If ``order`` is "pick", the run visits these points in this order.
    ``margin`` is a parameter of the margin perceptron, ``r`` of AROW, and ``C`` and ``loss`` of passive-aggressive
    updates. If ``loss`` is "plain", ``C`` does not limit the step size.
    ``view`` is a square, given by the coordinates of its middle and half its width. ``at`` is the number of visits
    shown so far; None means the end of the run.
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
    margin: float = 1.0
    C: float = 1.0
    loss: str = "hinge"
    r: float = 10.0
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
        """Return a state from JSON data, with defaults for missing fields; raise a ValueError if a field is invalid.

        >>> LabState.from_plain({"version": 1, "points": [[1, 2, 1], [0, 0, -1]]}).points
        ((1.0, 2.0, 1, False), (0.0, 0.0, -1, False))
        """
        if type(data) is not dict:
            raise ValueError(f"a state of the lab must be a dictionary, got {shorten(data)}.")
        given = dict(data)
        version = given.pop("version", None)
        if version != VERSION or type(version) is not int:
            raise ValueError(f"a state of the lab must have 'version': {VERSION}, got {shorten(version)}.")
        unknown = min((str(name) for name in set(given) - set(READERS)), default=None)
        if unknown is not None:
            raise ValueError(f"a state of the lab has no field {shorten(unknown)}.")
        state = cls(**{name: READERS[name](name, value) for name, value in given.items()})
        if any(pick >= len(state.points) for pick in state.picks):
            raise ValueError(f"'picks' must be indices of points, below {len(state.points)}, got {max(state.picks)}.")
        return state

    @classmethod
    def from_json(cls, text: str | bytes) -> LabState:
        """Return the state in a JSON text."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError("a state of the lab must be JSON, as the page's Export writes it.") from None
        return cls.from_plain(data)

    @classmethod
    def from_fragment(cls, fragment: str) -> LabState:
        """Return the state encoded in the fragment of an address, the part after the #."""
        try:
            text = base64.urlsafe_b64decode(fragment + "=" * (-len(fragment) % 4))
        except (ValueError, binascii.Error):
            raise ValueError(
                "the part of the address after # is not a state of the lab: copy the whole address."
            ) from None
        return cls.from_json(text)

    def to_plain(self) -> dict[str, Any]:
        """Return the state as a dictionary that can be written as JSON."""
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
        """Return the state encoded as the fragment of an address, the part after the #.

        >>> state = LabState(seed=7)
        >>> LabState.from_fragment(state.to_fragment()) == state
        True
        """
        return base64.urlsafe_b64encode(self.to_json().encode()).decode().rstrip("=")

    # what is trained

    @property
    def rows(self) -> NDArray[np.int64]:
        """The indices of the training points."""
        return np.array([i for i, point in enumerate(self.points) if not point[3]], dtype=np.int64)

    @property
    def held_out(self) -> NDArray[np.int64]:
        """The indices of the held-out points."""
        return np.array([i for i, point in enumerate(self.points) if point[3]], dtype=np.int64)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the learner's features, which are fixed for the circle learner and the kernel perceptron."""
        fixed = {"circle": ("x", "y", "r2"), "kernel": ("x", "y")}
        return fixed.get(self.learner, self.features)

    def coordinates(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the coordinates of the points with the indices ``rows``, as an array of shape (n, 2)."""
        return np.array([point[:2] for point in self.points], dtype=np.float64).reshape(-1, 2)[rows]

    def labels(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the labels of the points with the indices ``rows``."""
        return np.array([point[2] for point in self.points], dtype=np.int64)[rows]

    def with_points(
        self, X: NDArray[np.float64], y: NDArray[np.int64], held_out: NDArray[np.bool_] | None = None
    ) -> LabState:
        """Return a copy of the state with these points, and with a view that shows all of them.

        >>> LabState().with_points(np.array([[0.0, 0.0], [4.0, 2.0]]), np.array([1, -1])).view
        (2.0, 1.0, 2.5)
        """
        tests = np.zeros(len(X), dtype=bool) if held_out is None else held_out
        points = zip(X[:, 0].tolist(), X[:, 1].tolist(), y.tolist(), tests.tolist(), strict=True)
        return replace(self, points=tuple(points), view=view_of(X))


def view_of(X: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return a square that contains all points and some space around them, as (x, y, half the width).

    >>> view_of(np.array([[1e-7, 0.0], [0.0, 0.0]]))[2]
    1e-06
    """
    if not len(X):
        return LabState.view
    low, high = X.min(axis=0), X.max(axis=0)
    half = max(1.25 * float((high - low).max()) / 2 or 1.0, NARROWEST)
    middle = (low + high) / 2
    return (float(middle[0]), float(middle[1]), half)


def feature_columns(X: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the features ``names`` of points of the plane, with a column for each feature.

    >>> feature_columns(np.array([[2.0, 3.0]]), ("x", "xy", "r2"))
    array([[ 2.,  6., 13.]])
    """
    x, y = X[:, 0], X[:, 1]
    columns = {"x": x, "y": y, "xy": x * y, "x2": x * x, "y2": y * y, "r2": x * x + y * y}
    return np.column_stack([columns[name] for name in names]) if names else np.empty((len(X), 0))
