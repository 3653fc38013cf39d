"""Small data sets that sit on ties, for tests of bits."""

from __future__ import annotations

import numpy as np

from rosenblatt.training.options import RunOptions

KINDS = ("integers", "decimals", "halves", "gauss", "huge", "tiny", "mixed")


def small_set(kind: str, n: int = 40, d: int = 5, classes: int = 2, seed: int = 0):
    """Return (X, labels) of a kind that is hard to decide in floating point, labels from 0 to classes - 1."""
    rng = np.random.default_rng(seed)
    if kind == "integers":
        X = rng.integers(-2, 3, (n, d)).astype(float)
    elif kind == "decimals":
        X = rng.choice([-0.1, 0.0, 0.1], (n, d))
    elif kind == "halves":
        X = rng.choice([-0.3, -0.1, 0.0, 0.2, 0.7], (n, d))
    elif kind == "gauss":
        X = rng.standard_normal((n, d))
    elif kind == "huge":
        X = rng.choice([-1e200, 0.0, 1e200, 3e199], (n, d))
    elif kind == "tiny":
        X = rng.choice([-1e-200, 0.0, 1e-200, 3e-201, 5e-324], (n, d))
    else:
        X = rng.choice([-1e300, 1e-300, 0.1, -0.1, 0.0, 1e16, 1.0], (n, d))
    labels = rng.integers(0, classes, n)
    labels[:classes] = np.arange(classes)
    return X, labels


def held_out(y, seed, share=0.1):
    """Return a mask of the rows with the labels ``y`` that early stopping holds out."""
    (mask,) = RunOptions(early_stopping=True, validation_fraction=share).validation_split(seed).held_out([np.array(y)])
    return mask
