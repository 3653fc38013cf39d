"""The features with the largest weights, and the contributions to one prediction (CIML 4.4).

A kernel perceptron has no weights of features: `support` explains it by its support rows.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from rosenblatt.inspection.geometry import LinearRule, linear_rule
from rosenblatt.inspection.predictions import (
    FEW_ROWS,
    by_size,
    extremes,
    one_row,
    split_pipeline,
    title_by_side,
    verdict,
)
from rosenblatt.inspection.support import contributions_by_support, explain_support, is_kernel_model
from rosenblatt.parameters import check_integer
from rosenblatt.tables import Table

_SPREAD_RATIO = 100.0  # where features' ranges differ by more, a weight says more about its unit than about its feature
_VOTE_NOTE = "A vote has no weights of its own: these are its averaged ones."


def explain(model: Any, feature_names: Sequence[str] | None = None, top: int = 10) -> Table:
    """Return the features with the largest and the smallest weights, as a table from largest to smallest.

    A weight is how much the activation grows when its feature grows by one: the largest speak for the
    positive class (the second of ``classes_``), the smallest, far below zero, for the other (CIML 4.4). With
    more than two classes each has its own lines. Equal weights keep the order of their features. Weights tell
    how much features matter only where these range over similar values; where they do not, a warning and a
    note say so.

    A kernel perceptron has no weights of features but coefficients of its support rows, the training rows that it
    was wrong about: those with the largest and the smallest are shown, by their number in the training data.

    Parameters
    ----------
    model : fitted linear estimator, KernelPerceptron, or a pipeline that ends in one
        It has ``coef_`` and ``intercept_``. For a vote the averaged weights are shown.
    feature_names : sequence of str, optional
        A name for each weight. Otherwise ``model.feature_names_in_``, what the earlier steps of a pipeline
        call their output, or x0, x1, ... Not for a KernelPerceptron.
    top : int
        How many of the largest and how many of the smallest. If that covers all features, each is shown once.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[0, 1, 1], [1, 0, 1]], ["praise", "blame"])
    >>> explain(model, ["bad", "good", "film"], top=1)
    Weights: above 0 they speak for 'praise', below 0 for 'blame'
    feature  weight
    ---------------
    good          1
    bad          -1
    Bias: 0
    """
    steps, learner = split_pipeline(model)
    if is_kernel_model(learner):
        return explain_support(learner, feature_names, top)
    rule = linear_rule(learner)
    names = feature_labels(learner, rule.w.shape[1], feature_names, steps)
    check_integer("top", top, 1)
    several = len(rule.w) > 1
    columns: dict[str, list[Any]] = {"class": []} if several else {}
    columns |= {"feature": [], "weight": []}
    for label, w in zip(rule.classes if several else [None], rule.w, strict=True):
        shown = extremes(w, top)
        if several:
            columns["class"] += [label] * len(shown)
        columns["feature"] += [names[i] for i in shown]
        columns["weight"] += w[shown].tolist()
    notes = [_bias_note(rule)] + [_VOTE_NOTE] * rule.averaged
    warning = _scale_warning(learner, names)
    if warning:
        notes.append(warning)
        warnings.warn(warning, UserWarning, stacklevel=2)
    return Table(columns, title_by_side("Weights", rule.classes, several), notes)


def contributions(model: Any, x: Any, feature_names: Sequence[str] | None = None, top: int | None = None) -> Table:
    """Return why one row is predicted as it is: what each feature, and the bias, adds to the activation.

    A contribution is weight times value. They are sorted by size and add up to the activation, whose sign is
    the answer; with more than two classes, to the score of the class predicted. Where there are more than
    twenty rows, features that contribute nothing are left out. For a `KernelPerceptron` it is what each support row
    adds: its coefficient times the kernel value of it and ``x``.

    Parameters
    ----------
    model, feature_names
        As for `explain`. A pipeline's earlier steps are applied to ``x``; values are what they make of it.
    x : one row
        Of shape (d,) or (1, d): a list, an array, a sparse row, a row of a data frame or a frame of one row; or,
        for a pipeline that starts from text, one string.
    top : int, optional
        How many features, or support rows, to show; the others are added up in one line.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[0, 1, 1], [1, 0, 1]], ["praise", "blame"])
    >>> contributions(model, [3, 1, 1], ["bad", "good", "film"])
    Predicted 'blame': the activation is -2
    feature  value  weight  contribution
    ------------------------------------
    bad          3      -1            -3
    good         1       1             1
    film         1       0             0
    (bias)       1       0             0
    """
    steps, learner = split_pipeline(model)
    if is_kernel_model(learner):
        return contributions_by_support(learner, one_row(x, steps), feature_names, top)
    rule = linear_rule(learner)
    names = feature_labels(learner, rule.w.shape[1], feature_names, steps)
    if top is not None:
        check_integer("top", top, 1)
    row = one_row(x, steps)
    answer = np.asarray(learner.predict(row)).tolist()[0]  # it checks names and the number of features
    matrix = check_array(row, accept_sparse="csr", dtype=np.float64)
    value = (matrix.toarray() if sp.issparse(matrix) else matrix)[0]
    k = rule.classes.index(answer) if len(rule.w) > 1 else 0
    w, b = rule.w[k], float(rule.b[k])
    with np.errstate(over="ignore", under="ignore"):
        parts = w * value
    if not np.isfinite(parts).all():
        raise ValueError("weight times value goes beyond the range of floats: scale the features.")
    notes = [_VOTE_NOTE] * rule.averaged
    order = by_size(parts, drop_zeros=sp.issparse(matrix) or len(parts) + 1 > FEW_ROWS)
    zero = len(parts) - len(order)
    notes += [f"{zero:,} of {len(parts):,} features contribute nothing and are left out."] * (zero > 0)
    others = order[len(order) if top is None else top :]
    shown = order[: len(order) - len(others)]
    lines: list[tuple[Any, ...]] = [(names[i], value[i], w[i], parts[i]) for i in shown]
    if len(others):
        lines.append((f"({len(others):,} more)", None, None, math.fsum(parts[others])))
    lines.append(("(bias)", 1.0, b, b))
    columns = dict(zip(("feature", "value", "weight", "contribution"), zip(*lines, strict=True), strict=True))
    averaged = "weights" if rule.averaged else ""
    total = math.fsum([*parts, b])
    return Table(columns, verdict(learner, row, answer, total, k=k, several=len(rule.w) > 1, averaged=averaged), notes)


def feature_labels(learner: Any, d: int, given: Sequence[str] | None = None, steps: Any = None) -> list[str]:
    """Return a name for each of ``d`` features: those given, else those known from training, else x0, x1, ...

    >>> feature_labels(None, 2)
    ['x0', 'x1']
    """
    if given is not None:
        if len(given) != d:
            raise ValueError(f"expected one feature name for each of the {d} weights, got {len(given)}.")
        return [str(name) for name in given]
    found = getattr(learner, "feature_names_in_", None)
    if found is None and steps is not None:
        with contextlib.suppress(AttributeError, ValueError):  # some step has no names
            found = steps.get_feature_names_out()
    return [f"x{i}" for i in range(d)] if found is None or len(found) != d else [str(name) for name in found]


def _bias_note(rule: LinearRule) -> str:
    if len(rule.w) == 1:
        return f"Bias: {rule.b[0] + 0.0:.4g}"
    pairs = [f"{label}: {b + 0.0:.4g}" for label, b in zip(rule.classes, rule.b, strict=True)]
    return "Bias by class: " + ", ".join(pairs[:10] + ["..."] * (len(pairs) > 10))


def _scale_warning(learner: Any, names: list[str]) -> str:
    """Return a sentence where features ranged over so different values in training that weights mislead."""
    spread = getattr(getattr(learner, "state_", None), "feature_ranges", None)
    if spread is None or len(spread) != len(names) or not np.any(spread):
        return ""
    wide, narrow = np.argmax(spread), np.argmin(np.where(spread > 0, spread, np.inf))
    if not spread[wide] > _SPREAD_RATIO * spread[narrow]:
        return ""
    return (
        f"These weights mislead as importance, since {names[wide]!r} ranges over {spread[wide]:.4g} and "
        f"{names[narrow]!r} over {spread[narrow]:.4g}: scale the features first, "
        "for instance with sklearn.preprocessing.StandardScaler."
    )
