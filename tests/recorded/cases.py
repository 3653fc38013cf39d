"""What the recorded cases share: sets that are hard to decide, learners, and digests of what they say.

A case is a function that returns a `Digest`: what must stay the same to the last bit, and numbers that may differ by
rounding (sums in which only the sign is promised, such as margins). Nothing depends on the bytes of a file: a model
that was saved, or a run that was interrupted, is asked what it says after it was loaded or resumed. Only public names
are used.
"""

from __future__ import annotations

import hashlib
import itertools
import json

import numpy as np
import scipy.sparse as sp

from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.data import Block

KINDS = ("integers", "decimals", "gauss", "huge", "tiny", "mixed")
LAYOUTS = ("c", "fortran", "float32", "csr", "csc", "csr64", "unsorted")


def rows(kind, n=60, d=6, classes=2, seed=0):
    """Return rows and labels of a kind that is hard to decide in floating point; the same on every machine."""
    rng = np.random.RandomState(seed)
    if kind == "integers":
        X = rng.randint(-2, 3, (n, d)).astype(float)
    elif kind == "decimals":
        X = rng.choice([-0.1, 0.0, 0.1, 0.3], (n, d))
    elif kind == "gauss":
        X = rng.standard_normal((n, d))
    elif kind == "huge":
        X = rng.choice([-1e200, 0.0, 1e200, 3e199], (n, d))
    elif kind == "tiny":
        X = rng.choice([-1e-200, 0.0, 1e-200, 3e-201, 5e-324], (n, d))
    else:
        X = rng.choice([-1e300, 1e-300, 0.1, -0.1, 0.0, 1e16, 1.0], (n, d))
    y = rng.randint(0, classes, n)
    y[:classes] = np.arange(classes)
    return X, y


def separable(n=80, d=5, seed=0, classes=2):
    """Return rows that a perceptron separates, with whole numbers."""
    rng = np.random.RandomState(seed)
    X = rng.randint(-5, 6, (n, d)).astype(float)
    scores = X @ rng.randint(-3, 4, (d, classes)) + rng.randint(-2, 3, classes)
    best = np.sort(scores, axis=1)
    clear = best[:, -1] > best[:, -2]
    return X[clear], scores.argmax(axis=1)[clear]


def laid_out(X, layout):
    if layout == "fortran":
        return np.asfortranarray(X)
    if layout == "float32":
        return np.clip(X, -1e30, 1e30).astype(np.float32)
    if layout.startswith("cs"):
        S = sp.csc_array(X) if layout == "csc" else sp.csr_array(X)
        if layout == "csr64":
            S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
        return S
    if layout == "unsorted":
        S = sp.csr_array(X)
        for i in range(X.shape[0]):
            part = slice(S.indptr[i], S.indptr[i + 1])
            S.indices[part], S.data[part] = S.indices[part][::-1].copy(), S.data[part][::-1].copy()
        S.has_sorted_indices = S.has_canonical_format = False
        return S
    return X


class Cases(dict):
    """Functions that return a `Digest`, by the name of their case; the part before the first slash is its group."""

    def add(self, name):
        """Return a decorator that adds a function under a name."""

        def adder(function):
            assert name not in self, name
            self[name] = function
            return function

        return adder


class Digest:
    """A digest of arrays, numbers and words, by their bits."""

    def __init__(self):
        self.sha = hashlib.sha256()
        self.near = []

    def add(self, *values):
        for value in values:
            if isinstance(value, np.ndarray):
                kind = value.dtype.str if value.dtype.names is None else str(value.dtype.names)
                self.sha.update(f"{kind}{value.shape}".encode())
                self.sha.update(repr(value.tolist()).encode() if value.dtype.hasobject else value.tobytes())
            elif isinstance(value, dict):
                self.add(json.dumps(value, sort_keys=True, default=str))
            elif isinstance(value, list | tuple):
                self.add(len(value), *value)
            else:
                self.sha.update(repr(value).encode())
        return self

    def floats(self, *values):
        self.near += [float(value) for value in values]
        return self

    def model(self, model, X=None):
        """Add all that a fitted learner says of itself."""
        hypothesis = getattr(model, "hypothesis", None)
        if hypothesis != "vote":
            self.add(model.coef_, model.intercept_)
        self.add(model.last_coef_, model.last_intercept_, model.average_coef_, model.average_intercept_)
        self.add(
            model.classes_, model.n_iter_, model.n_updates_, model.converged_, model.history_, model.n_features_in_
        )
        report = model.report_
        self.add(report.passes, report.updates, report.mistakes_by_pass, report.converged)
        self.floats(report.radius, report.margin_low, report.margin_high, report.bound)
        if X is not None:
            if getattr(model, "preparation_", None) is not None:
                X = Block(X)  # rows as the learner has them, prepared already
            self.add(model.predict(X), model.on_boundary(X))
            scores = model.decision_function(X)
            if hypothesis == "vote":
                self.add(scores)
            else:
                self.add(np.sign(scores))
        return self

    def kernel(self, model, X=None):
        """Add all that a fitted kernel perceptron says of itself."""
        if model.hypothesis != "vote":
            self.add(model.dual_coef_)
        self.add(model.last_dual_coef_, model.average_dual_coef_, model.support_, model.n_support_)
        if model.kernel != "precomputed":
            self.matrix(model.support_vectors_)
        self.add(
            model.classes_, model.n_iter_, model.n_updates_, model.converged_, model.history_, model.n_features_in_
        )
        report = model.report_
        self.add(report.passes, report.updates, report.mistakes_by_pass, report.converged)
        self.floats(model.gamma_, report.radius, report.margin_low, report.margin_high, report.bound)
        if X is not None:
            self.add(model.predict(X), model.on_boundary(X), np.sign(model.decision_function(X)))
            self.vector(model.kernel_values(X)[:3])
        return self

    def matrix(self, X):
        """Add a matrix, and whether it is sparse."""
        return self.add(sp.issparse(X), X.toarray() if sp.issparse(X) else np.asarray(X))

    def vector(self, values):
        """Add numbers that may differ by rounding, and of which some may be rounded to zero: their size and a sum."""
        values = np.ravel(np.asarray(values, dtype=float))
        return self.floats(np.linalg.norm(values), values @ np.cos(np.arange(len(values))))

    def result(self):
        return {"sha": self.sha.hexdigest()[:20]} | ({"near": self.near} if self.near else {})


LEARNERS = {
    "last": lambda **p: Perceptron(**({"max_iter": 8} | p)),
    "average": lambda **p: AveragedPerceptron(**({"max_iter": 5} | p)),
    "pocket": lambda **p: Perceptron("pocket", **({"max_iter": 5} | p)),
    "vote": lambda **p: VotedPerceptron(**({"max_iter": 4} | p)),
}
STREAMED = ("last", "average", "vote")


def cut(X, y, sizes, weights=None):
    """Return the rows in blocks of these sizes, over and over."""
    start, out = 0, []
    for size in itertools.cycle(sizes):
        if start >= len(y):
            return out
        part = slice(start, start + size)
        out.append((X[part], y[part]) if weights is None else (X[part], y[part], weights[part]))
        start += size
