"""Presets: example data sets with settings, each of which demonstrates one effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.generators import make_circle, make_rings, make_separable, make_sorted, make_spiral, make_xor
from rosenblatt.lab.state import LabState
from rosenblatt.messages import shorten

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
Made = tuple[Floats, Labels, dict[str, Any]]

DIGITS = 3
"""Number of decimals to which coordinates are rounded, so that addresses stay short."""

PRESETS = {
    "separable": "Two clouds",
    "thin": "Thin margin",
    "xor": "XOR of four clusters",
    "rings": "Two rings",
    "circle": "Inside a circle",
    "moons": "Two moons",
    "spiral": "Spiral",
    "noisy": "Noisy clouds, some held out",
    "sorted": "500 of one class, then 500 of the other",
    "worst": "Worst case: half the bound is reached",
    "iris": "Iris: versicolor and virginica by their petals",
    "digits": "Digits 3 and 8, two principal components",
}
"""The title of each preset by its name, in the order in which the page lists the presets."""


def preset_message(body: object) -> dict[str, Any]:
    """Return the fields of a state that a preset sets: the points, the view, and the settings for training.

    >>> found = preset_message({"name": "xor", "seed": 0})
    >>> len(found["points"]), found["learner"], found["features"], found["panel"]
    (40, 'perceptron', ['x', 'y'], 'verdict')
    """
    if type(body) is not dict or set(body) != {"name", "seed"}:
        raise ValueError(f"a preset request must have 'name' and 'seed', got {shorten(body)}.")
    name, seed = body["name"], body["seed"]
    if type(name) is not str or name not in PRESETS:
        raise ValueError(f"'name' must be one of {', '.join(PRESETS)}, got {shorten(name)}.")
    if type(seed) is not int or not 0 <= seed < 2**31:
        raise ValueError(f"'seed' must be an integer from 0 to {2**31 - 1}, got {shorten(seed)}.")
    X, y, chosen = _MAKERS[name](seed)
    held_out, view = chosen.pop("held_out", None), chosen.pop("view", None)
    state = LabState(at=0, **chosen).with_points(X.round(DIGITS) + 0.0, y, held_out)  # no -0
    names = {"points", "view", "learner", "features", "bias", "order", "picks", "at", "panel", *chosen}
    plain = state.to_plain()
    plain["view"] = [round(value, DIGITS) for value in view or state.view]
    return {name: plain[name] for name in plain if name in names}


# made up


def _separable(seed: int) -> Made:
    """Return two clouds in a random direction from each other, which a line separates with a margin of at least 0.3."""
    rng = np.random.default_rng(seed)
    y = np.tile(np.array([1, -1]), 20)
    along = y * (0.3 + 3.2 * rng.beta(1.5, 2.0, len(y)))
    across = 2.4 * np.clip(rng.standard_normal(len(y)) / 2, -1, 1)
    return _turned(along, across, rng) + rng.uniform(-1.5, 1.5, 2), y, {"panel": "bound"}


def _thin(seed: int) -> Made:
    X, y = make_separable(60, 2, 0.04, seed)
    return _stretched(X, 1.5, 4.0, seed), y, {"panel": "bound"}


def _xor(seed: int) -> Made:
    corners, _ = make_xor(40)
    X, y = make_xor(40, 0.3, seed)
    return 2 * (corners + np.clip(X - corners, -0.8, 0.8)), y, {"panel": "verdict"}


def _rings(seed: int) -> Made:
    X, y = make_rings(60, 0.08, seed)
    return 1.6 * X, y, {"features": ("x2", "y2"), "panel": "verdict"}


def _circle(seed: int) -> Made:
    X, y = make_circle(60, radius=2.0, center=[0.5, -0.5], gap=0.25, random_state=seed)
    return X, y, {"learner": "circle", "panel": "lift"}


def _moons(seed: int) -> Made:
    from sklearn.datasets import make_moons  # slow to import

    X, classes = make_moons(60, noise=0.08, random_state=seed)
    chosen = {"learner": "kernel", "kernel": "rbf", "gamma": 1.0, "panel": "verdict"}
    return 2.5 * (X - [0.5, 0.25]), np.where(classes == 1, 1, -1), chosen


def _spiral(seed: int) -> Made:
    X, y = make_spiral(80, 1.5, random_state=seed)
    return 2.5 * X, y, {"learner": "kernel", "kernel": "rbf", "gamma": 1.0, "panel": "verdict"}


def _noisy(seed: int) -> Made:
    rng = np.random.default_rng(seed)
    y = np.tile(np.array([1, -1]), 60)
    along, across = y * 0.9 + rng.standard_normal(len(y)), 1.2 * rng.standard_normal(len(y))
    held_out = np.arange(len(y)) % 3 == 2
    chosen = {"learner": "averaged", "passes": 30, "panel": "error", "held_out": held_out}
    return _turned(along, across, rng), y, chosen


def _sorted(seed: int) -> Made:
    """Return 500 points of one class, then 500 of the other, shifted away from the origin so that the bias matters."""
    X, y = make_sorted(1000, 2, 0.08, seed)
    chosen = {"order": "fixed", "passes": 50, "panel": "projection", "view": (1.5, 1.5, 2.5)}
    return _stretched(X, 0.5, 1.5, seed) + 2, y, chosen


def _worst(seed: int) -> Made:
    """Return three points on which a perceptron without a bias makes about half of the possible updates.

    The updates on the second and the third point cancel, except that each raises the second weight by 0.4. They repeat
    25 times.
    """
    X = np.array([[2.0, 0.4], [4.0, -0.4], [4.0, 0.4]])
    return X, np.array([1, -1, 1]), {"order": "fixed", "bias": False, "panel": "bound", "view": (1.5, 0.0, 3.5)}


def _turned(along: Floats, across: Floats, rng: np.random.Generator) -> Floats:
    """Return points, given their coordinates along a random direction and perpendicular to it."""
    turn = rng.uniform(0, 2 * np.pi)
    u = np.array([np.cos(turn), np.sin(turn)])
    return along[:, None] * u + across[:, None] * np.array([-u[1], u[0]])


def _stretched(X: Floats, low: float, high: float, seed: int) -> Floats:
    """Return unit vectors multiplied by random lengths; each stays on its side of every line through the origin."""
    return X * np.random.default_rng(seed).uniform(low, high, len(X))[:, None]


# measured


def _iris(seed: int) -> Made:
    """Return 100 irises of two kinds. No line separates them, but some line misclassifies only three."""
    from sklearn.datasets import load_iris

    iris = load_iris()
    flowers = iris.target > 0
    y = np.where(iris.target[flowers] == 2, 1, -1)
    return iris.data[flowers][:, 2:], y, {"learner": "pocket", "panel": "verdict"}


def _digits(seed: int) -> Made:
    """Return 120 images of the digits 3 and 8, projected onto their first two principal components.

    The sign of each component is chosen so that its coefficient with the largest absolute value is positive.
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    both = np.isin(digits.target, (3, 8))
    images = digits.data[both] - digits.data[both].mean(axis=0)
    _, _, components = np.linalg.svd(images, full_matrices=False)
    axes = components[:2]
    axes = axes * np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])[:, None]
    y = np.where(digits.target[both] == 3, 1, -1)
    return (images @ axes.T / 6)[:120], y[:120], {"learner": "averaged", "panel": "verdict"}


_MAKERS: dict[str, Callable[[int], Made]] = {
    "separable": _separable,
    "thin": _thin,
    "xor": _xor,
    "rings": _rings,
    "circle": _circle,
    "moons": _moons,
    "spiral": _spiral,
    "noisy": _noisy,
    "sorted": _sorted,
    "worst": _worst,
    "iris": _iris,
    "digits": _digits,
}

_BLUE = "3.6 0.8,1 1.1,1 0.4,3.7 2,1.2 2,1.6 1.9,1.8 1.4,0.4 2.8,1.5 1,0.3 1.2,0.2 1.7,2.2 -0.3"
_ORANGE = (
    "0.4 -0.6,-0.2 -1.5,0.5 -0.3,-1.2 -1.2,-1 -1.7,0.7 -0.7,-2.1 -2.3,1.7 -2.5,-2.4 1.9,-0.2 -0.2,-1.3 -0.8,1.8 -1"
)


def _start() -> LabState:
    X = np.array([[float(value) for value in pair.split()] for pair in f"{_BLUE},{_ORANGE}".split(",")])
    return LabState(seed=6).with_points(X, np.repeat([1, -1], 12))


START = _start()
"""The state with which the page opens: 24 linearly separable points. The run makes 18 updates in 9 passes."""
