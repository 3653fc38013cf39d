"""The kernel perceptron one row after the other, in plain floats: states to store and to forge."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rosenblatt.training.dual.state import DualState
from rosenblatt.training.options import Kernel
from rosenblatt.training.state import Updates


def kernel_values(kernel, X):
    """Return the kernel's value for each pair of rows of ``X``; of a precomputed kernel, ``X`` itself."""
    X = (X.toarray() if sp.issparse(X) else X).astype(np.float64)
    if kernel.name == "precomputed":
        return X
    between, inner = X[:, None] - X[None], kernel.gamma * (X @ X.T) + kernel.coef0
    return {
        "linear": X @ X.T,
        "poly": inner**kernel.degree,
        "rbf": np.exp(-kernel.gamma * (between**2).sum(axis=2)),
        "laplacian": np.exp(-kernel.gamma * np.abs(between).sum(axis=2)),
        "sigmoid": np.tanh(inner),
    }[kernel.name]


def dual_run(X, y, kernel=Kernel(), classes=2, direct=False, hypothesis="last", passes=2, steps=None):  # noqa: B008
    """Return the state after some passes in the order given; updates are cut into two parts."""
    state = DualState.zeros(classes, X.shape[1], kernel=kernel, direct=direct, hypothesis=hypothesis, seed=7)
    K, counters, made = kernel_values(kernel, X), state.counters, [[] for _ in state.counters]
    factors, steps = np.zeros((state.n_scores, len(y))), np.ones(len(y)) if steps is None else steps
    for _ in range(passes):
        counters["mistakes"], counters["lowest"], counters["lowest_step"] = 0, np.inf, np.inf
        for i, k in [(i, k) for i in range(len(y)) if steps[i] > 0 for k in range(len(counters))]:
            scores, true, rival = factors @ K[:, i], 0, 0
            sign, step, c = 1.0 if y[i] == counters["target"][k] else -1.0, steps[i], counters[k]
            if state.direct:
                true, rival = y[i], int(np.argmax(np.where(np.arange(classes) == y[i], -np.inf, scores)))
            a = scores[true] - scores[rival] if state.direct else sign * scores[k]
            if a <= 0:
                if i not in state.supports.places:
                    state.supports.append(None if kernel.name == "precomputed" else X[[i]], [i])
                for t, change in ((true, step), (rival, -step)) if state.direct else ((k, sign * step),):
                    factors[t, i] += change
                change = step if state.direct else sign * step
                made[k].append((state.supports.places[i], change, c["visits"], true, rival))
                state.norm2[k] += (1 + state.direct) * step * step * K[i, i] + 2 * step * a
                c["updates"], c["mistakes"] = c["updates"] + 1, c["mistakes"] + 1
                c["step_sum"], c["step_square_sum"] = c["step_sum"] + step, c["step_square_sum"] + step * step
            c["lowest"], c["lowest_step"] = min(c["lowest"], max(a, 0)), min(c["lowest_step"], step * max(a, 0))
            c["visits"], c["radius2"] = c["visits"] + 1, max(c["radius2"], K[i, i])
        state.mistakes, state.passes = [*state.mistakes, counters["mistakes"].copy()], state.passes + 1
    state.done, state.radius = counters["mistakes"] == 0, float(np.sqrt(counters["radius2"].max()))
    for k, run in enumerate(made):
        columns = np.array(run).reshape(-1, 5).T
        whole = Updates(*(column.astype(np.float64 if 0 < j < 3 else np.int64) for j, column in enumerate(columns)))
        state.updates[k] = [Updates(*parts) for parts in zip(*(np.array_split(p, 2) for p in whole), strict=True)]
        if state.pocket is not None:
            state.pocket.updates[k], state.pocket.candidate[k], state.pocket.mistakes[k] = len(run) // 2, len(run), 3.0
    return state
