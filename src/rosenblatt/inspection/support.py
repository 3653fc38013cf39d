"""A kernel perceptron seen through its support rows: their coefficients, and what each adds to one prediction."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from rosenblatt.inspection.geometry import extremes, largest_parts, title_by_side, verdict
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


def class_columns(
    numbers: np.ndarray, names: Sequence[Any], classes: list[Any], label: Any, top: int, item: str, what: str
) -> tuple[dict[str, list[Any]], list[tuple[int, np.ndarray]]]:
    """Return columns with the largest and the smallest ``numbers`` of each class, and which of them are shown.

    ``numbers`` has a line for each class, or one in all for two. Classes that were not asked for by ``label`` come in
    one line each where they are many: then nothing is said of what is shown.
    """
    check_integer("top", top, 1)
    several = len(numbers) > 1
    asked = find_classes(label, classes)
    places = asked if several else [0]
    if several and label is None and len(places) > FULL_UP_TO:
        return short_columns(classes, [f"row {name}" if item == "row" else name for name in names], numbers, top), []
    shown = []
    for k in places:
        own = np.flatnonzero(numbers[k]) if item == "row" else np.arange(len(names))  # rows of other classes have 0
        shown.append((k, own[extremes(numbers[k][own], top)]))
    columns = {"class": [plain_label(classes[k]) for k, at in shown for _ in at]} if several else {}
    columns[item] = [names[i] for _, at in shown for i in at]
    columns[what] = [number for k, at in shown for number in numbers[k][at].tolist()]
    return columns, shown


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


def explain_support(learner: Any, feature_names: Sequence[str] | None, top: int, label: Any, words: Words) -> Table:
    """Return the support rows with the largest and the smallest coefficients: `explain` for a kernel perceptron."""
    rule = support_rule(learner)
    _refuse_names(feature_names)
    classes = np.asarray(learner.classes_).tolist()
    columns, shown = class_columns(rule.coefficients, rule.rows.tolist(), classes, label, top, "row", "coefficient")
    notes = [f"Kernel: {kernel_words(learner)}; {count_of(len(rule.rows), 'support row')}."]
    if not shown:
        notes.append(f"One class in full: {words.one_class(plain_label(classes[0]))}.")
    title = title_by_side("Coefficients of support rows", classes, len(rule.coefficients) > 1)
    return Table(columns, title, notes + [_VOTE_NOTE] * rule.averaged)


def contributions_by_support(learner: Any, row: Any, feature_names: Sequence[str] | None, top: int | None) -> Table:
    """Return what each support row adds to the score of one row: `contributions` for a kernel perceptron."""
    rule = support_rule(learner)
    _refuse_names(feature_names)
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
    shown, others, zeros = largest_parts(parts, top, "support rows")
    lines: list[tuple[Any, ...]] = [(rule.rows[i], coefficients[i], value[i], parts[i]) for i in shown]
    if len(others):
        lines.append((f"({len(others):,} more)", None, None, math.fsum(parts[others])))
    names = ("row", "coefficient", "kernel", "contribution")
    columns = {name: [line[place] for line in lines] for place, name in enumerate(names)}
    averaged = "coefficients" if rule.averaged else ""
    found = verdict(learner, row, answer, math.fsum(parts), k=k, several=several, averaged=averaged)
    return Table(columns, found.title, notes + zeros)


def _refuse_names(feature_names: Sequence[str] | None) -> None:
    if feature_names is not None:
        raise ValueError(
            "a kernel perceptron is explained by support rows, which feature_names does not name: leave it out."
        )
