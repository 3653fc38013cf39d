"""The state of the lab, as tests make it and read it from the page."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_POINTS = 1000
MOST_VISITS = 50_000
LARGEST = 1e6
LEARNERS = ("perceptron", "averaged", "voted", "pocket", "restart", "margin", "pa", "arow", "circle", "kernel")
BY_MARGIN = ("margin", "pa", "arow")  # these also update where a point is right by too little
ORDERS = ("fixed", "once", "each", "pick")
FEATURES = ("x", "y", "xy", "x2", "y2", "r2")
KERNELS = ("poly", "rbf")
LOSSES = ("hinge", "squared_hinge", "plain")
PANELS = (
    "algorithm",
    "own",
    "projection",
    "weights",
    "error",
    "verdict",
    "lift",
    "vc",
    "table",
    "code",
    "bound",
    "exercise",
)


@dataclass(frozen=True)
class LabState:
    """The points and all settings that determine what the page shows.

    Each of ``points`` is (x, y, label, held_out). Labels are 1 or -1, and held-out points are used only for testing.
    ``picks`` contains indices of points. If ``order`` is "pick", the run visits these points in this order.
    ``margin`` is a parameter of the margin perceptron, ``r`` of AROW, and ``C`` and ``loss`` of passive-aggressive
    updates. If ``loss`` is "plain", ``C`` does not limit the step size.
    ``view`` is a square, given by the coordinates of its middle and half its width. ``at`` is the number of visits
    shown so far; None means the end of the run. ``own`` is the line that the user drags: two weights and the bias.
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
    panel: str = "algorithm"
    own: tuple[float, float, float] = (1, 1, 0)
    family: str = "halfspaces"
    lesson: str = ""
    exercise: str = ""
    show: tuple[str, ...] = ("regions", "arrow", "ghosts")
    hide: tuple[str, ...] = ()

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> LabState:
        """Return the state in the page's own data."""
        given = {name: _tuple(value) for name, value in data.items() if name != "version"}
        points = given.get("points", ())
        given["points"] = tuple((float(x), float(y), label, bool(held)) for x, y, label, *held in points)
        if "view" in given:
            given["view"] = tuple(map(float, given["view"]))
        return cls(**given)

    @classmethod
    def from_json(cls, text: str | bytes) -> LabState:
        """Return the state in a JSON text."""
        return cls.from_plain(json.loads(text))

    @classmethod
    def from_fragment(cls, fragment: str) -> LabState:
        """Return the state in the fragment of an address, the part after the #."""
        return cls.from_json(base64.urlsafe_b64decode(fragment + "=" * (-len(fragment) % 4)))

    def to_plain(self) -> dict[str, Any]:
        """Return the state as a dictionary that can be written as JSON."""
        out: dict[str, Any] = {"version": 1}
        for field in fields(self):
            value = getattr(self, field.name)
            out[field.name] = list(value) if isinstance(value, tuple) else value
        out["points"] = [[x, y, label, *([True] if test else [])] for x, y, label, test in self.points]
        return out

    def to_json(self) -> str:
        """Return the state as JSON."""
        return json.dumps(self.to_plain(), allow_nan=False, separators=(",", ":"))

    def to_fragment(self) -> str:
        """Return the state encoded as the fragment of an address, the part after the #."""
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
        """Return a copy of the state with these points, and with a view that shows all of them."""
        tests = np.zeros(len(X), dtype=bool) if held_out is None else held_out
        points = zip(X[:, 0].tolist(), X[:, 1].tolist(), y.tolist(), tests.tolist(), strict=True)
        return replace(self, points=tuple(points), view=view_of(X))


def view_of(X: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return a square that contains all points and some space around them, as (x, y, half the width)."""
    if not len(X):
        return LabState.view
    low, high = X.min(axis=0), X.max(axis=0)
    half = max(1.25 * float((high - low).max()) / 2 or 1.0, 1e-6)
    middle = (low + high) / 2
    return (float(middle[0]), float(middle[1]), half)


def feature_columns(X: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the features ``names`` of points of the plane, with a column for each feature."""
    x, y = X[:, 0], X[:, 1]
    columns = {"x": x, "y": y, "xy": x * y, "x2": x * x, "y2": y * y, "r2": x * x + y * y}
    return np.column_stack([columns[name] for name in names]) if names else np.empty((len(X), 0))


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list) else value
