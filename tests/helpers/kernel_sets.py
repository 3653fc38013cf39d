"""Data full of ties, kernels, and how a kernel perceptron is compared with its slow twin."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.naive_kernel import Classifier, Kernel, naive_run, orders_of
from rosenblatt import KernelPerceptron

POLYNOMIALS = [
    Kernel("poly", degree=degree, gamma=gamma, coef0=coef0)
    for degree, gamma, coef0 in (
        (0, 1.0, 1.0),
        (1, 1.0, 1.0),
        (1, 0.1, -1.0),
        (2, 1.0, 0.0),
        (2, 0.5, 1.0),
        (2, 1.0, -1.0),
        (3, 0.1, 0.1),
        (3, 1.0, -1.0),
        (4, 0.5, 0.1),
        (5, 3.0, 1.0),
        (5, 1.0, 0.0),
    )
]
EXPONENTIALS = [Kernel(name, gamma=gamma) for name in ("rbf", "laplacian") for gamma in (0.5, 0.1, 3.0)]
KERNELS = [Kernel("linear"), *POLYNOMIALS, *EXPONENTIALS]
SOME_KERNELS = [Kernel("linear"), Kernel("poly", degree=2, coef0=0.1), Kernel("rbf", gamma=0.5)]
SETS = ("ties", "duplicates", "mirrored", "decimals", "gauss")
LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "CSR": sp.csr_array,
    "float32": lambda X: X.astype(np.float32),
    "CSR float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


def kernel_name(kernel: Kernel) -> str:
    """Return the name of a kernel in the list of tests."""
    if kernel.name == "poly":
        return f"poly-{kernel.degree}-{kernel.gamma}-{kernel.coef0}"
    return kernel.name if kernel.name == "linear" else f"{kernel.name}-{kernel.gamma}"


@lru_cache
def tied_set(kind: str, n: int = 24, d: int = 3, classes: int = 2, seed: int = 0):
    """Return (X, labels) of a kind that makes scores of exactly zero, or of nearly zero, common.

    ties: integers with a row of zeros; duplicates: few rows, each with several labels; mirrored: x and -x with labels
    of all classes, then with the same ones; others as in ``small_set``. All numbers but those of "gauss" and
    "decimals" are float32 numbers, too.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    if kind == "ties":
        X = rng.integers(-2, 3, (n, d)).astype(float)
        X[[n // 2, n - 1]] = 0.0
    elif kind == "duplicates":
        X = rng.integers(-1, 2, (max(2, n // 4), d)).astype(float)[rng.integers(0, max(2, n // 4), n)]
    elif kind == "mirrored":
        half = rng.integers(-2, 3, (n // 2, d)) / 2
        X = np.concatenate([half, -half, half])[:n]
        y[n // 2 : 2 * (n // 2)] = (classes - 1 - y[: n // 2]) if seed % 2 == 0 else y[: n // 2]
    else:
        return small_set(kind, n=n, d=d, classes=classes, seed=seed)
    return X, y


def model_for(kernel: Kernel, computing: dict | None = None, **options) -> KernelPerceptron:
    """Return a learner that has not been trained; ``computing`` says in what pieces and types it computes."""
    learner = KernelPerceptron
    if computing:
        learner = type("KernelPerceptron", (KernelPerceptron,), {"_computing": computing})
    parameters = {"degree": kernel.degree, "gamma": kernel.gamma, "coef0": kernel.coef0}
    return learner(kernel=kernel.function or kernel.name, **parameters, **options)


def twin_of(kernel: Kernel, X, y, classes: int, *, seed=0, shuffle=True, passes=4, skipped=(), **limits):
    """Return the naive run that a fit with these options has to equal."""
    orders = orders_of(len(y), seed, shuffle, skipped)
    return naive_run(X, y, kernel, classes, passes, orders=orders, **limits)


def assert_same_run(model: KernelPerceptron, twin: list[Classifier]) -> None:
    """Compare every update, the counters and the history of a trained model with its twin, without tolerance."""
    state = model.state_
    assert len(state.counters) == len(twin)
    for k, classifier in enumerate(twin):
        made = state.updates_of(k)
        rows = np.asarray(model.support_)[made.members].tolist()
        assert rows == [update.row for update in classifier.updates], f"rows of classifier {k}"
        assert made.steps.tolist() == [update.step for update in classifier.updates]
        assert made.visits.tolist() == [update.visits for update in classifier.updates]
        if state.direct:
            assert made.trues.tolist() == [update.true for update in classifier.updates]
            assert made.rivals.tolist() == [update.rival for update in classifier.updates]
        assert state.counters["visits"][k] == classifier.visits
        assert state.counters["updates"][k] == classifier.made
        assert [int(counts[k]) for counts in state.mistakes if counts[k] >= 0] == classifier.mistakes
        assert bool(state.done[k]) == classifier.clean[-1]
    assert model.n_iter_ == max(len(classifier.mistakes) for classifier in twin)
    assert model.n_updates_ == sum(classifier.made for classifier in twin) == model.history_["mistakes"].sum()
    assert model.converged_ == all(classifier.clean[-1] for classifier in twin)


def assert_same_updates(one: KernelPerceptron, other: KernelPerceptron) -> None:
    """Compare the updates, counters and history of two trained models, without tolerance."""
    assert one.classes_.tolist() == other.classes_.tolist()
    assert np.asarray(one.support_).tolist() == np.asarray(other.support_).tolist()
    for k in range(max(len(one.state_.counters), len(other.state_.counters))):
        for ours, theirs in zip(one.state_.updates_of(k), other.state_.updates_of(k), strict=True):
            assert ours.tolist() == theirs.tolist()
    for name in ("visits", "updates"):
        assert one.state_.counters[name].tolist() == other.state_.counters[name].tolist()
    assert one.history_["mistakes"].tolist() == other.history_["mistakes"].tolist()
