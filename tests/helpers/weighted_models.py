"""Models whose weights are given, and rows of three classes, for what explains them."""

import numpy as np

from rosenblatt import Perceptron

_RNG = np.random.default_rng(0)
X3 = _RNG.integers(-5, 6, (90, 4)).astype(float)
Y3 = np.array(["a", "b", "c"])[np.argmax(X3[:, :3], axis=1)]


def with_weights(w, b=0.0):
    """Return a two-class perceptron that has these weights and this bias."""
    w = np.asarray(w, dtype=float)
    model = Perceptron(shuffle=False).fit(np.vstack([np.ones_like(w), -np.ones_like(w)]), ["yes", "no"])
    model.state_.w[0] = w
    model.state_.b[:] = b
    return model
