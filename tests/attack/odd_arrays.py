"""Arrays of any type, shape and value, given to the learners: results, or a sentence."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from rosenblatt import (
    AveragedPerceptron,
    KernelPerceptron,
    Perceptron,
    RescaledPerceptron,
    VotedPerceptron,
    separability,
)

NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.1, 1e308, -1e308, 5e-324, 2.0**53, np.nan, np.inf)
TYPES = (float, np.float32, np.float16, int, np.int8, np.uint64, bool, complex, object, "U5", "M8[s]", np.longdouble)


def attack(rng: random.Random) -> str | None:
    """Call some methods with odd arguments."""
    learner: Any = rng.choice(
        [Perceptron, AveragedPerceptron, VotedPerceptron, RescaledPerceptron, KernelPerceptron, KernelPerceptron]
    )
    model: Any = learner()
    if learner is not RescaledPerceptron:
        model.set_params(max_iter=rng.randrange(1, 4), multi_class=rng.choice(["ovr", "direct"]), random_state=0)
    if learner is KernelPerceptron:
        kernels = ["poly", "rbf", "laplacian", "linear", "sigmoid", "precomputed"]
        model.set_params(kernel=rng.choice(kernels), gamma=rng.choice(["scale", "auto", 0.5, 1e308, 0.0]))
        model.set_params(hypothesis=rng.choice(["last", "average", "vote"]), max_support=rng.choice([None, 2]))
    n, d = rng.randrange(8), rng.randrange(5)
    try:
        for _ in range(rng.randrange(1, 4)):
            X, y = _matrix(rng, n, d), _labels(rng, n)
            choice = rng.randrange(6)
            if choice < 2 or learner is RescaledPerceptron:
                model.fit(X, y)
            elif choice == 2:
                model.partial_fit(X, y, classes=rng.choice([None, _labels(rng, 3)]))
            elif choice == 3:
                model.fit(X, y, sample_weight=rng.choice([None, _numbers(rng, (n,)), 2.0]))
            elif choice == 4:
                model.fit_stream([(X, y), (_matrix(rng, n, d), _labels(rng, n))])
            else:
                separability(X, y)
            labels = model.predict(_matrix(rng, rng.randrange(1, 4), d))
            if not set(labels.tolist()) <= set(model.classes_.tolist()):
                return f"predicted {labels.tolist()} of the classes {model.classes_.tolist()}"
            if not np.isfinite(getattr(model, "last_coef_", getattr(model, "last_dual_coef_", 0.0))).all():
                return "weights that are not finite"
    except (ValueError, TypeError, AttributeError) as refusal:  # scikit-learn's checks raise these
        file, function = _raised_by(refusal)
        is_slip = isinstance(refusal, TypeError | AttributeError) and "rosenblatt" in file
        if is_slip and function != "__get__":  # a method that a learner does not have with these parameters says so
            raise
        return None if str(refusal).strip() else f"an error without words: {refusal!r}"
    return None


def _raised_by(fault: BaseException) -> tuple[str, str]:
    """Return the file and the function that raised."""
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = None if trace is None else trace.tb_frame.f_code
    return ("", "") if code is None else (code.co_filename, code.co_name)


def _numbers(rng: random.Random, shape: tuple[int, ...]) -> Any:
    odd = rng.random() < 0.5
    values = [rng.choice(NUMBERS) if odd and rng.random() < 0.3 else float(rng.randrange(-2, 3)) for _ in range(8 * 5)]
    array = np.resize(np.array(values), shape)
    with np.errstate(all="ignore"):
        return array.astype(rng.choice(TYPES)) if rng.random() < 0.3 else array


def _matrix(rng: random.Random, n: int, d: int) -> Any:
    shape = rng.choice([(n, d)] * 8 + [(n,), (d, n), (n, d, 2), (), (n + 1, d)])
    array = _numbers(rng, shape)
    choice = rng.randrange(10)
    if choice == 0 and array.ndim:
        return array.tolist()
    if array.ndim == 2 and array.dtype.kind in "fiub" and array.dtype.itemsize <= 8 and array.dtype != np.float16:
        if choice == 1:
            return rng.choice([sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array])(array)
        if choice == 2:
            return pd.DataFrame(array, columns=[f"x{j % 3}" for j in range(array.shape[1])])
    if choice == 3 and array.ndim == 2:
        return [[rng.choice([1, "a", None, Fraction(1, 3), 2**70, [1]]) for _ in row] for row in array]
    if choice == 4:
        return rng.choice([None, "text", 3, {}, {"a": [1]}, range(3), object()])
    return array


def _labels(rng: random.Random, n: int) -> Any:
    choice = rng.randrange(9)
    if choice == 0:
        return [rng.choice(["a", "b", "", "é"]) for _ in range(n)]
    if choice == 1:
        return [rng.choice([0, 1, "a", None, 1.5, np.nan, True]) for _ in range(n)]
    if choice == 2:
        return _numbers(rng, rng.choice([(n,), (n, 1), (n, 2), (n + 1,), ()]))
    if choice == 3:
        return pd.Series([rng.choice(["a", "b"]) for _ in range(n)], dtype=rng.choice(["category", "object", "string"]))
    if choice == 4:
        return rng.choice([None, "ab", 3, {}])
    return [rng.randrange(3) for _ in range(n)]
