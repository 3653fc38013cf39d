"""Random states of the lab: all learners, orders and features, on points with ties, duplicates and decimals."""

import numpy as np

from helpers.lab_state import FEATURES, KERNELS, LEARNERS, LOSSES, ORDERS, LabState


def random_state(rng):
    """Return a state drawn with a NumPy generator."""
    X = random_points(
        rng, int(rng.choice([2, 3, 4, 6, 10, 20, 40, 90], p=[0.08, 0.1, 0.14, 0.2, 0.2, 0.16, 0.1, 0.02]))
    )
    w, b = rng.normal(size=2), rng.normal() * float(rng.integers(0, 2))
    y = np.where(X @ w + b + rng.choice([0, 0, 0.3, 2]) * rng.normal(size=len(X)) > 0, 1, -1)
    if rng.random() < 0.1:
        y = rng.choice([-1, 1], len(X))
    if rng.random() < 0.9 and len(set(y.tolist())) < 2:
        y[0] = -y[-1]
    held = rng.random(len(X)) < rng.choice([0, 0, 0.3])
    learner = str(rng.choice(LEARNERS))
    chosen = rng.permutation(FEATURES)[: rng.integers(1, 7)] if rng.random() < 0.5 else FEATURES[:2]
    orders = ORDERS[:3] if learner in ("restart", "pocket") else ORDERS
    order = str(rng.choice(orders))
    state = LabState(
        learner=learner,
        features=tuple(map(str, chosen)),
        bias=bool(rng.random() < 0.7),
        order=order,
        seed=int(rng.integers(0, 2**31)) if rng.random() < 0.3 else int(rng.integers(0, 9)),
        picks=tuple(rng.integers(0, len(X), rng.integers(1, 30)).tolist()) if order == "pick" else (),
        kernel=str(rng.choice(KERNELS)),
        degree=int(rng.integers(1, 6)),
        gamma=float(rng.choice([1.0, 0.5, 0.1, 3.0, 100.0])),
        coef0=float(rng.choice([0.0, 1.0, 0.1])),
        margin=float(rng.choice([0.0, 0.1, 1.0, 5.0])),
        C=float(rng.choice([0.1, 1.0, 10.0])),
        loss=str(rng.choice(LOSSES)),
        r=float(rng.choice([0.1, 1.0, 10.0])),
        passes=int(rng.choice([1, 3, 10, 30, 100], p=[0.15, 0.2, 0.3, 0.25, 0.1])),
        updates=int(rng.choice([1, 7, 60, 300], p=[0.05, 0.15, 0.4, 0.4])),
    )
    return state.with_points(X, y, held)


def random_points(rng, n):
    """Return n points of the plane: on lattices, where ties and duplicates are common, as decimals, and far apart."""
    X = rng.normal(size=(n, 2)) * 3
    match int(rng.integers(0, 8)):
        case 0 | 1:
            X = rng.integers(-3, 4, (n, 2)).astype(float)
        case 2:
            X = np.round(X * 8) / 8
        case 3 | 4:
            X = X.round(int(rng.integers(1, 4)))
        case 5:
            X = X * rng.choice([1e-6, 1e3, 1e5], (n, 2))
        case 6:
            X = np.outer(X[:, 0], rng.integers(-2, 3, 2)).round(1)
    if rng.random() < 0.3:
        X = X[rng.integers(0, n, n)]
    return np.clip(X, -1e6, 1e6) + 0.0
