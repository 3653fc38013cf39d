"""The learners of the family beside their rational twins, and small sets that are hard to add up in floating point."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

import rosenblatt
from helpers import rational_family as twins


class Case(NamedTuple):
    """A learner's name, and parameters that its twin has too."""

    name: str
    parameters: dict[str, Any]

    def learner(self, **options):
        """Return the library's learner."""
        return getattr(rosenblatt, self.name)(**self.parameters, **options)

    def rule(self):
        """Return the twin's rule."""
        return getattr(twins, self.name)(**self.parameters)

    def __str__(self) -> str:
        return "-".join([self.name, *(f"{name}={value}" for name, value in self.parameters.items())])


CASES = [
    Case("Perceptron", {}),
    Case("MarginPerceptron", {"margin": 0.0}),
    Case("MarginPerceptron", {"margin": 0.1}),
    Case("MarginPerceptron", {"margin": 2.0}),
    Case("PassiveAggressive", {"C": 1.0}),
    Case("PassiveAggressive", {"C": 0.05}),
    Case("PassiveAggressive", {"C": inf}),
    Case("PassiveAggressive", {"C": 0.3, "loss": "squared_hinge"}),
    Case("PassiveAggressive", {"C": inf, "loss": "squared_hinge"}),
    Case("AROW", {"r": 1.0}),
    Case("AROW", {"r": 0.1}),
    Case("AROW", {"r": 10.0}),
]
"""Every rule, with parameters that lead it through each of its branches."""

FEW = [CASES[0], CASES[3], CASES[4], CASES[7], CASES[9]]
"""One case for each rule."""

LEARNERS = [
    rosenblatt.Perceptron,
    rosenblatt.AveragedPerceptron,
    rosenblatt.VotedPerceptron,
    rosenblatt.KernelPerceptron,
    rosenblatt.RescaledPerceptron,
    rosenblatt.MarginPerceptron,
    rosenblatt.PassiveAggressive,
    rosenblatt.AROW,
]
"""Every learner of the library."""

KINDS = ("integers", "decimals", "powers", "gauss", "float32", "wide", "zeros", "duplicates")


def family_set(kind: str, n: int = 20, d: int = 4, classes: int = 2, seed: int = 0):
    """Return (X, labels); labels from 0 to classes - 1, each of which occurs."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    labels[:classes] = np.arange(classes)
    if kind == "integers":
        X = rng.integers(-2, 3, (n, d)).astype(float)
    elif kind == "decimals":
        X = rng.choice([-0.3, -0.1, 0.0, 0.1, 0.2, 0.7], (n, d))
    elif kind == "powers":  # steps without rounding, so that margins are met exactly
        X = rng.choice([-1.0, 1.0], (n, d)) * 2.0 ** rng.integers(-1, 2, (n, 1))
        X[:, 1:] *= rng.random((n, d - 1)) < 0.5
    elif kind == "float32":
        X = rng.standard_normal((n, d)).astype(np.float32)
    elif kind == "wide":
        X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-60, 60, (n, d))
    elif kind == "tiny":  # squares that are subnormal or vanish
        X = rng.choice([-1e-161, -3e-170, 0.0, 1e-155, 7e-160, 5e-324], (n, d))
    else:
        X = rng.standard_normal((n, d))
    if kind == "zeros":
        X[rng.random(n) < 0.3] = 0.0
    if kind == "duplicates":  # some of them with another label
        X[n // 2 :] = X[: n - n // 2]
    return X, labels


def row_weights(n: int, classes: int, seed: int = 0):
    """Return a weight for each row, some of them 0, but not those of the first row of each class."""
    weights = np.random.default_rng(seed).choice([0.0, 0.3, 1.0, 2.5], n)
    weights[:classes] = 0.7
    return weights


def assert_same_bits(one, other) -> None:
    """Check that two models have learned the same, to the last bit."""
    assert one.classes_.tolist() == other.classes_.tolist()
    for name in ("last_coef_", "last_intercept_", "average_coef_", "average_intercept_"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    for name in ("variance_", "intercept_variance_"):
        assert hasattr(one, name) == hasattr(other, name)
        if hasattr(one, name):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    assert one.n_updates_ == other.n_updates_


def assert_is_twin(model, twin: twins.Run) -> None:
    """Check that a model is what its twin is, to the last bit."""
    average_w, average_b = twin.average
    pairs = {
        "last_coef_": twin.w,
        "last_intercept_": twin.b,
        "average_coef_": average_w,
        "average_intercept_": average_b,
    }
    if hasattr(model, "variance_"):
        pairs |= {"variance_": twin.variance, "intercept_variance_": twin.bias_variance}
    for name, expected in pairs.items():
        found = getattr(model, name)
        assert found.shape == expected.shape, name
        assert found.tobytes() == expected.tobytes(), (name, found, expected)
    assert model.state_.u.tobytes() == twin.u.tobytes()
    assert model.state_.beta.tobytes() == twin.beta.tobytes()
    assert model.state_.counters["visits"].tolist() == [count.visits for count in twin.counts]
    assert model.state_.counters["updates"].tolist() == [sum(count.updates) for count in twin.counts]
    assert model.history_["mistakes"].tolist() == twin.by_pass("mistakes")
    if "updates" in model.history_.dtype.names:
        assert model.history_["updates"].tolist() == twin.by_pass("updates")
    assert model.n_updates_ == sum(twin.by_pass("updates"))
    assert model.n_iter_ == len(twin.by_pass("updates"))
    assert model.converged_ == twin.converged
