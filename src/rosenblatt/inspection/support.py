"""A kernel perceptron seen through its support rows: their coefficients, and what each adds to one prediction."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from rosenblatt.inspection.geometry import by_size, extremes, left_out, title_by_side, verdict
from rosenblatt.messages import ParameterError, Setting, check_integer, count_of, label_text, plain_label, shorten
from rosenblatt.tables import Table
from rosenblatt.training.options import PARAMETERS

# Which classes an explanation is about, and the short table where there are many.


FULL_UP_TO = 3
"""So many classes are shown in full; more, in one line each."""
_SHORT_TOP = 3  # the features on each side in a line of the short table
_WIDTH = 80
_SHORTEST = 12  # a name that does not fit is cut to so many letters or more


@dataclass(frozen=True)
class Words:
    """What a reader of an explanation can do, as they would write it: in Python here, and otherwise at a command."""

    scale: str = "scale the features first, for instance with StandardScaler or ExactScaler in a pipeline."
    one_class: Callable[[Any], str] = lambda label: f"label={label!r}"


def find_classes(label: Any, classes: Sequence[Any]) -> list[int]:
    """Return the places of the classes that are asked for: one label or a list of them; all where it is None.

    A label may also be given as people write it: "7" is the class 7.0.

    Examples
    --------
    >>> find_classes("7", [3.0, 7.0]), find_classes([7, 3], [3.0, 7.0])
    ([1], [1, 0])
    >>> find_classes("hamm", ["ham", "spam"])
    Traceback (most recent call last):
    rosenblatt.messages.ParameterError: label must be one of the classes 'ham', 'spam', got 'hamm'.
    """
    if label is None:
        return list(range(len(classes)))
    asked = list(label) if isinstance(label, list | tuple | set | np.ndarray) else [label]
    texts = [label_text(one) for one in classes]
    places = []
    for one in asked:
        one = one.item() if hasattr(one, "item") else one
        if one in classes:
            places.append(list(classes).index(one))
        elif isinstance(one, str) and one in texts:
            places.append(texts.index(one))
        else:
            known = ", ".join(repr(name) if isinstance(name, str) else label_text(name) for name in classes[:20])
            more = ", ..." if len(classes) > 20 else ""
            raise ParameterError(Setting("label"), f" must be one of the classes {known}{more}, got {shorten(one)}.")
    return list(dict.fromkeys(places))


def short_columns(labels: Sequence[Any], names: Sequence[str], numbers: np.ndarray, top: int) -> dict[str, list[Any]]:
    """Return a line for each class: the names with the largest numbers, and those with the smallest below zero.

    Lines fit in 80 columns, and have up to three names on each side.

    >>> short_columns([0, 1], ["a", "b", "c"], np.array([[2.0, 0.0, -1.0], [0.5, 3.0, 0.0]]), top=10)
    {'class': [0, 1], 'for it': ['a: 2', 'b: 3, a: 0.5'], 'against it': ['c: -1', None]}
    """
    shown = [plain_label(label) for label in labels]
    room = (_WIDTH - 4 - max(len("class"), *(len(str(label)) for label in shown))) // 2
    columns: dict[str, list[Any]] = {"class": shown, "for it": [], "against it": []}
    for line in numbers:
        order = np.argsort(-line, kind="stable")
        for column, places in (("for it", order), ("against it", order[::-1])):
            sign = 1 if column == "for it" else -1
            chosen = [place for place in places[: min(top, _SHORT_TOP)] if sign * line[place] > 0]
            columns[column].append(_in_room([(names[place], f"{line[place]:.4g}") for place in chosen], room))
    return columns


def _in_room(pairs: list[tuple[str, str]], room: int) -> str | None:
    """Return as many pairs as there is room for, the first with its name cut where it must be; None for none."""
    if not pairs:
        return None
    (name, number), *others = pairs
    most = max(_SHORTEST, room - len(number) - 2)
    words = f"{name if len(name) <= most else name[: most - 3] + '...'}: {number}"
    for name, number in others:
        longer = f"{words}, {name}: {number}"
        if len(longer) > room:
            break
        words = longer
    return words


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
