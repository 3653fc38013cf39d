"""States of the lab that the tests share."""

from itertools import product

import numpy as np

from helpers.lab_state import LabState

FOUR = ((1.0, 1.0, 1, False), (2.0, 0.0, 1, False), (-1.0, 0.0, -1, False), (0.0, -2.0, -1, False))
"""Points that a line separates, as a state has them; visited as listed, two updates give w = (2, 1) and b = 0."""


def state_of(X, y, held_out=None, **chosen):
    """Return a state with these points and settings."""
    held = None if held_out is None else np.asarray(held_out, dtype=bool)
    return LabState(**chosen).with_points(np.asarray(X, dtype=float), np.asarray(y), held)


def cloud(n=24, noise=0.0, seed=0):
    """Return n points around the origin, labelled by a line, or by the line and noise."""
    rng = np.random.default_rng(seed)
    X = (3 * rng.standard_normal((n, 2))).round(3)
    y = np.where(X @ [1.0, -0.7] + 0.8 + noise * rng.standard_normal(n) > 0, 1, -1)
    y[:2] = 1, -1
    X[:2] = [[3.0, -2.0], [-3.0, 2.0]]
    return X, y


DATA = {
    "separable": cloud(),
    "noisy": cloud(30, noise=3.0, seed=1),
    "duplicates": ([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, -1.0], [0.0, -1.0]], [1, 1, -1, -1, -1]),
    "zero": ([[0.0, 0.0], [2.0, 1.0], [-0.5, 0.25], [0.1, 0.2]], [-1, 1, -1, 1]),
    "collinear": ([[float(i), 0.3 * i] for i in range(6)], [1, 1, 1, -1, -1, -1]),
    "wide": ([[1e6, 1e-6], [-1e6, 1e-6], [1e-6, -1e6], [3.0, 1e6], [0.1, 0.2]], [1, -1, -1, 1, 1]),
}

LINEAR = ("perceptron", "averaged", "voted", "pocket", "circle")
ORDERS = ("fixed", "once", "each")
FEATURES = (("x", "y"), ("x",), ("y", "x"), ("xy", "r2"), ("x", "y", "xy", "x2", "y2", "r2"))


def many_states():
    """Return states of all learners, orders, biases and features on all data."""
    for data, (X, y) in DATA.items():
        held = [i % 5 == 4 for i in range(len(y))] if data == "noisy" else None
        common = {"seed": 3, "passes": 12, "updates": 60}
        for learner, order, bias in product(LINEAR, ORDERS, (True, False)):
            for features in FEATURES if learner == "perceptron" else FEATURES[-1:]:
                yield state_of(X, y, held, learner=learner, order=order, bias=bias, features=features, **common)
        for bias, features in product((True, False), FEATURES):
            yield state_of(X, y, held, learner="restart", bias=bias, features=features, **common)
        for order, kernel in product(ORDERS, ("poly", "rbf")):
            yield state_of(X, y, held, learner="kernel", order=order, kernel=kernel, gamma=0.5, degree=2, **common)
        picks = tuple(i % len(y) for i in (0, 3, 1, 3, 2, 4, 1, 1, 0))
        for learner, bias in (("perceptron", True), ("averaged", False), ("voted", True), ("circle", True)):
            yield state_of(X, y, held, learner=learner, bias=bias, order="pick", picks=picks, **common)
        yield state_of(X, y, held, learner="kernel", order="pick", picks=picks, **common)


BY_MARGIN = (
    {"learner": "margin", "margin": 4.0},
    {"learner": "margin", "margin": 0.0},
    {"learner": "pa", "C": 0.25},
    {"learner": "pa", "loss": "squared_hinge", "C": 0.5},
    {"learner": "pa", "loss": "plain"},
    {"learner": "arow", "r": 0.5},
)
"""Learners that also update where a point is right by too little, with parameters."""


def margin_states():
    """Return states of these learners: by passes in all orders on all data, and with points that are picked."""
    common = {"seed": 3, "passes": 12, "updates": 60}
    for data, (X, y) in DATA.items():
        held = [i % 5 == 4 for i in range(len(y))] if data == "noisy" else None
        for chosen, (order, bias) in product(BY_MARGIN, (("fixed", True), ("each", True), ("once", False))):
            features = FEATURES[-1] if order == "once" else FEATURES[0]
            yield state_of(X, y, held, order=order, bias=bias, features=features, **chosen, **common)
    picks = (0, 3, 1, 3, 2, 4, 1, 1, 0)
    for chosen in BY_MARGIN:
        yield state_of(*cloud(6), order="pick", picks=picks, **chosen, **common)


def name_of(state):
    """Return a name of a test of this state."""
    parts = [state.learner, state.order, "bias" if state.bias else "none", "-".join(state.feature_names)]
    if state.learner in ("margin", "pa"):
        parts.append(f"{state.margin:g}-{state.loss}")
    return "/".join([*parts, str(len(state.points)), state.kernel])
