"""A kernel perceptron seen through its support rows: their coefficients, and what each adds to one prediction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from rosenblatt.inspection.by_class import FULL_UP_TO, Words, find_classes, short_columns
from rosenblatt.inspection.predictions import by_size, extremes, left_out, title_by_side, verdict
from rosenblatt.label_text import plain_label
from rosenblatt.parameters import check_integer
from rosenblatt.plurals import count_of
from rosenblatt.tables import Table
from rosenblatt.training.kernel import PARAMETERS

_VOTE_NOTE = "A vote has no coefficients of its own: these are its averaged ones."


@dataclass(frozen=True)
class SupportRule:
    """The support rows that a model predicts by, and their coefficients in each score."""

    rows: np.ndarray
    """Their numbers in the training data."""
    coefficients: np.ndarray
    """Of shape (scores, support rows)."""
    averaged: bool
    """Whether the model is a vote, which has no coefficients of its own, so that these are its average."""


def is_kernel_model(learner: Any) -> bool:
    """Return whether a learner is explained by support rows: it computes its kernel for them."""
    return callable(getattr(learner, "kernel_values", None))


def support_rule(model: Any) -> SupportRule:
    """Return the support rows of a fitted model and their coefficients; for a vote, the averaged ones.

    It takes what has ``support_`` and ``dual_coef_`` (or ``average_dual_coef_``), so scikit-learn's SVC, too.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> support_rule(SVC(kernel="linear").fit([[-1.0], [1.0]], [0, 1]))
    SupportRule(rows=array([0, 1]..., coefficients=array([[-0.5,  0.5]]), averaged=False)
    """
    averaged = not hasattr(model, "dual_coef_")
    try:
        rows, found = model.support_, model.average_dual_coef_ if averaged else model.dual_coef_
    except AttributeError:
        if hasattr(model, "fit"):
            check_is_fitted(model)
        raise TypeError(
            "expected a fitted model with support rows, one that has support_ and dual_coef_ after fit, "
            f"got {type(model).__name__}."
        ) from None
    coefficients = found.toarray() if sp.issparse(found) else np.asarray(found, dtype=np.float64)
    return SupportRule(np.asarray(rows), np.atleast_2d(coefficients), averaged)


def kernel_words(model: Any) -> str:
    """Return the kernel of a model with the parameters that it uses.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> kernel_words(SVC(kernel="poly", gamma=0.5)), kernel_words(SVC(kernel="linear"))
    ('poly with degree 3, gamma 0.5, coef0 0', 'linear')
    """
    trained = getattr(getattr(model, "state_", None), "kernel", None)  # it stays in use if parameters are changed
    kernel = getattr(model, "kernel", "not known") if trained is None else trained.function or trained.name
    if callable(kernel):
        return f"the function {getattr(kernel, '__name__', type(kernel).__name__)}"
    used = []
    for name in PARAMETERS.get(kernel, ()):
        value = getattr(model if trained is None else trained, name)
        used.append(f"{name} {value}" if isinstance(value, str) else f"{name} {float(value):.4g}")
    return f"{kernel} with {', '.join(used)}" if used else str(kernel)


def explain_support(
    learner: Any, feature_names: Sequence[str] | None, top: int, label: Any = None, words: Words | None = None
) -> Table:
    """Return the support rows with the largest and the smallest coefficients: `explain` for a kernel perceptron."""
    rule = support_rule(learner)
    _refuse_names(feature_names)
    check_integer("top", top, 1)
    classes = np.asarray(learner.classes_).tolist()
    several = len(rule.coefficients) > 1
    places = find_classes(label, classes)
    places = places if several else [0]
    notes = [f"Kernel: {kernel_words(learner)}; {count_of(len(rule.rows), 'support row')}."]
    if several and label is None and len(places) > FULL_UP_TO:
        rows = [f"row {row}" for row in rule.rows.tolist()]
        columns = short_columns(classes, rows, rule.coefficients, top)
        notes.append(f"One class in full: {(words or Words()).one_class(plain_label(classes[0]))}.")
    else:
        columns = _full_columns(rule, classes, places, top)
    title = title_by_side("Coefficients of support rows", classes, several)
    return Table(columns, title, notes + [_VOTE_NOTE] * rule.averaged)


def _full_columns(rule: SupportRule, classes: list[Any], places: list[int], top: int) -> dict[str, list[Any]]:
    """Return the columns of some classes, with their largest and smallest coefficients."""
    several = len(rule.coefficients) > 1
    columns: dict[str, list[Any]] = {"class": []} if several else {}
    columns |= {"row": [], "coefficient": []}
    for k in places:
        coefficients = rule.coefficients[k]
        own = np.flatnonzero(coefficients)  # the others are support rows of other classes only
        shown = own[extremes(coefficients[own], top)]
        if several:
            columns["class"] += [plain_label(classes[k])] * len(shown)
        columns["row"] += rule.rows[shown].tolist()
        columns["coefficient"] += coefficients[shown].tolist()
    return columns


def contributions_by_support(learner: Any, row: Any, feature_names: Sequence[str] | None, top: int | None) -> Table:
    """Return what each support row adds to the score of one row: `contributions` for a kernel perceptron."""
    rule = support_rule(learner)
    _refuse_names(feature_names)
    if top is not None:
        check_integer("top", top, 1)
    answer = np.asarray(learner.predict(row)).tolist()[0]  # it checks names and the number of features
    several = len(rule.coefficients) > 1
    k = np.asarray(learner.classes_).tolist().index(answer) if several else 0
    coefficients = rule.coefficients[k]
    value = np.asarray(learner.kernel_values(row), dtype=np.float64)[0] if len(rule.rows) else np.empty(0)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        parts = coefficients * value
    if not np.isfinite(parts).all():
        raise ValueError("coefficient times kernel value goes beyond the range of floats: scale the features.")
    notes = [f"Kernel: {kernel_words(learner)}."] + [_VOTE_NOTE] * rule.averaged
    order = by_size(parts)
    zero = len(parts) - len(order)
    notes += [left_out(zero, len(parts), "support rows")] * (zero > 0)
    others = order[len(order) if top is None else top :]
    shown = order[: len(order) - len(others)]
    lines: list[tuple[Any, ...]] = [(rule.rows[i], coefficients[i], value[i], parts[i]) for i in shown]
    if len(others):
        lines.append((f"({len(others):,} more)", None, None, math.fsum(parts[others])))
    names = ("row", "coefficient", "kernel", "contribution")
    columns = {name: [line[place] for line in lines] for place, name in enumerate(names)}
    averaged = "coefficients" if rule.averaged else ""
    total = math.fsum(parts)
    return Table(columns, verdict(learner, row, answer, total, k=k, several=several, averaged=averaged), notes)


def _refuse_names(feature_names: Sequence[str] | None) -> None:
    if feature_names is not None:
        raise ValueError(
            "a kernel perceptron is explained by support rows, which feature_names does not name: leave it out."
        )
