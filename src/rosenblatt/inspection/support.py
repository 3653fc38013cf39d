"""Explanations of kernel perceptrons by their support rows: coefficients, and contributions to one prediction.

A support row, or support vector, is a training row on which the perceptron made an update.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from rosenblatt.estimators.validation import MatrixLike
from rosenblatt.inspection.geometry import Classifier, extremes, label_words, largest_parts, title_by_side, verdict
from rosenblatt.messages import ParameterError, check_integer, count_of, label_text, plain_label, shorten
from rosenblatt.tables import Table
from rosenblatt.training.options import PARAMETERS

# The classes that an explanation shows, and the short table for many classes.


FULL_UP_TO = 3
"""Maximum number of classes that are shown in full; with more classes, each class is summarized in one row."""
_SHORT_TOP = 3  # maximum number of features for each sign in a row of the short table
_WIDTH = 80
_SHORTEST = 12  # names that do not fit are truncated, but never to fewer than 12 characters


@dataclass(frozen=True)
class Words:
    """The wording of advice to the user: Python code by default, or options of the command line."""

    scale: str = "scale the features first, for instance with StandardScaler or ExactScaler in a pipeline."
    one_class: Callable[[object], str] = lambda label: f"label={label!r}"


def find_classes(label: object, classes: Sequence[object]) -> list[int]:
    """Return the indices of the classes in ``label``: a single label, a list of labels, or None for all classes.

    A numeric label may be given as a string: "7" selects the class 7.0.

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
    texts = [label_text(name) for name in classes]
    found = []
    for requested in list(label) if isinstance(label, list | tuple | set | np.ndarray) else [label]:
        requested = requested.item() if hasattr(requested, "item") else requested
        if requested in classes:
            found.append(list(classes).index(requested))
        elif isinstance(requested, str) and requested in texts:
            found.append(texts.index(requested))
        else:
            known = ", ".join(map(label_words, classes[:20])) + (", ..." if len(classes) > 20 else "")
            raise ParameterError(
                "{label} must be one of the classes {known}, got {got}.", known=known, got=shorten(requested)
            )
    return list(dict.fromkeys(found))


def short_columns(
    labels: Sequence[object], names: Sequence[str], numbers: np.ndarray, top: int
) -> dict[str, list[object]]:
    """Return the columns of a table with a row for each class: its largest positive and negative numbers, with names.

    A row has at most three names for each sign, and fewer if they do not fit in 80 characters.

    >>> short_columns([0, 1], ["a", "b", "c"], np.array([[2.0, 0.0, -1.0], [0.5, 3.0, 0.0]]), top=10)
    {'class': [0, 1], 'for it': ['a: 2', 'b: 3, a: 0.5'], 'against it': ['c: -1', None]}
    """
    shown = [plain_label(label) for label in labels]
    width = (_WIDTH - 4 - max(len("class"), *(len(str(label)) for label in shown))) // 2
    columns: dict[str, list[object]] = {"class": list(shown), "for it": [], "against it": []}
    for line in numbers:
        order = np.argsort(-line, kind="stable")
        for column, places in (("for it", order), ("against it", order[::-1])):
            sign = 1 if column == "for it" else -1
            chosen = [place for place in places[: min(top, _SHORT_TOP)] if sign * line[place] > 0]
            columns[column].append(_fit_pairs([(names[place], f"{line[place]:.4g}") for place in chosen], width))
    return columns


def _fit_pairs(pairs: list[tuple[str, str]], width: int) -> str | None:
    """Return as text as many (name, number) pairs as fit in ``width`` characters, or None if there are no pairs.

    The first pair is always included, with its name truncated if necessary.
    """
    if not pairs:
        return None
    (name, number), *others = pairs
    most = max(_SHORTEST, width - len(number) - 2)
    words = f"{name if len(name) <= most else name[: most - 3] + '...'}: {number}"
    for name, number in others:
        longer = f"{words}, {name}: {number}"
        if len(longer) > width:
            break
        words = longer
    return words


def class_columns(
    numbers: np.ndarray,
    names: Sequence[object],
    classes: Sequence[object],
    label: object,
    top: int,
    item: str,
    what: str,
) -> tuple[dict[str, list[object]], list[tuple[int, np.ndarray]]]:
    """Return (columns, shown): the ``top`` largest and smallest ``numbers`` of each class, and their indices.

    ``numbers`` has a row for each class, or a single row for two classes. ``shown`` is a list of pairs: the index of a
    class, and the indices of the numbers shown for that class. If ``label`` is None and there are more than three
    classes, each class is summarized in one row, and ``shown`` is empty.
    """
    check_integer("top", top, 1)
    several = len(numbers) > 1
    requested = find_classes(label, classes)
    places = requested if several else [0]
    if several and label is None and len(places) > FULL_UP_TO:
        return short_columns(
            classes, [f"row {name}" if item == "row" else str(name) for name in names], numbers, top
        ), []
    shown = []
    for k in places:
        own = (
            np.flatnonzero(numbers[k]) if item == "row" else np.arange(len(names))
        )  # rows that support only other classes have coefficient 0 here
        shown.append((k, own[extremes(numbers[k][own], top)]))
    columns: dict[str, list[object]] = (
        {"class": [plain_label(classes[k]) for k, at in shown for _ in at]} if several else {}
    )
    columns[item] = [names[i] for _, at in shown for i in at]
    columns[what] = [number for k, at in shown for number in numbers[k][at].tolist()]
    return columns, shown


_VOTE_NOTE = "A vote has no coefficients of its own: these are averaged coefficients."


@dataclass(frozen=True)
class SupportRule:
    """The support rows that a model predicts with, and their coefficients for each score."""

    rows: np.ndarray
    """The indices of the support rows in the training data."""
    coefficients: np.ndarray
    """The coefficients, of shape (scores, support rows)."""
    averaged: bool
    """Whether the model predicts by a vote, which has no single coefficients; ``coefficients`` are then averages."""


class KernelModel(Classifier, Protocol):
    """A fitted classifier that predicts with support rows."""

    classes_: np.ndarray

    def kernel_values(self, X: MatrixLike) -> np.ndarray:
        """Return the kernel value of each row of ``X`` with each support row."""


def is_kernel_model(learner: object) -> TypeGuard[KernelModel]:
    """Return whether a learner is explained by its support rows instead of feature weights."""
    return callable(getattr(learner, "kernel_values", None))


def support_rule(model: object) -> SupportRule:
    """Return the support rows of a fitted model and their coefficients; for a vote, return averaged coefficients.

    The model needs ``support_``, and ``dual_coef_`` or ``average_dual_coef_``; scikit-learn's SVC works, too. Raises a
    TypeError for other models.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> support_rule(SVC(kernel="linear").fit([[-1.0], [1.0]], [0, 1]))
    SupportRule(rows=array([0, 1]..., coefficients=array([[-0.5,  0.5]]), averaged=False)
    """
    averaged = not hasattr(model, "dual_coef_")
    rows = getattr(model, "support_", None)
    found = getattr(model, "average_dual_coef_" if averaged else "dual_coef_", None)
    if rows is None or found is None:
        if hasattr(model, "fit"):
            check_is_fitted(model)
        raise TypeError(
            f"expected a model that fit gives support_ and dual_coef_, such as KernelPerceptron or SVC, got "
            f"{type(model).__name__}."
        )
    coefficients = found.toarray() if sp.issparse(found) else np.asarray(found, dtype=np.float64)
    return SupportRule(np.asarray(rows), np.atleast_2d(coefficients), averaged)


def kernel_words(model: object) -> str:
    """Return the name of a model's kernel and its parameters as text.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> kernel_words(SVC(kernel="poly", gamma=0.5)), kernel_words(SVC(kernel="linear"))
    ('poly with degree 3, gamma 0.5, coef0 0', 'linear')
    """
    trained = getattr(getattr(model, "state_", None), "kernel", None)  # as trained; ignores parameters set later
    kernel = getattr(model, "kernel", "not known") if trained is None else trained.function or trained.name
    if callable(kernel):
        return f"the function {getattr(kernel, '__name__', type(kernel).__name__)}"
    used = []
    for name in PARAMETERS.get(kernel, ()):
        value = getattr(model if trained is None else trained, name)
        used.append(f"{name} {value}" if isinstance(value, str) else f"{name} {float(value):.4g}")
    return f"{kernel} with {', '.join(used)}" if used else str(kernel)


def explain_support(
    learner: KernelModel, feature_names: Sequence[str] | None, top: int, label: object, words: Words
) -> Table:
    """Return the table of `explain` for a kernel perceptron: the support rows with the most extreme coefficients."""
    rule = support_rule(learner)
    _refuse_names(feature_names)
    classes = np.asarray(learner.classes_).tolist()
    columns, shown = class_columns(rule.coefficients, rule.rows.tolist(), classes, label, top, "row", "coefficient")
    notes = [f"Kernel: {kernel_words(learner)}; {count_of(len(rule.rows), 'support vector')}."]
    if not shown:
        notes.append(f"One class in full: {words.one_class(plain_label(classes[0]))}.")
    title = title_by_side("Coefficients of support vectors", classes, len(rule.coefficients) > 1)
    return Table(columns, title, notes + [_VOTE_NOTE] * rule.averaged)


def contributions_by_support(
    learner: KernelModel, row: MatrixLike, feature_names: Sequence[str] | None, top: int | None
) -> Table:
    """Return the table of `contributions` for a kernel perceptron: each support row's contribution to the score."""
    rule = support_rule(learner)
    _refuse_names(feature_names)
    prediction = np.asarray(learner.predict(row)).tolist()[0]  # this also checks names and number of features
    several = len(rule.coefficients) > 1
    k = np.asarray(learner.classes_).tolist().index(prediction) if several else 0
    coefficients = rule.coefficients[k]
    value = np.asarray(learner.kernel_values(row), dtype=np.float64)[0] if len(rule.rows) else np.empty(0)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        parts = coefficients * value
    if not np.isfinite(parts).all():
        raise ValueError("coefficient times kernel value overflows float64: scale the features.")
    notes = [f"Kernel: {kernel_words(learner)}."] + [_VOTE_NOTE] * rule.averaged
    shown, others, zeros = largest_parts(parts, top, "support vectors")
    lines: list[tuple[object, ...]] = [(rule.rows[i], coefficients[i], value[i], parts[i]) for i in shown]
    if len(others):
        lines.append((f"({len(others):,} more)", None, None, math.fsum(parts[others])))
    names = ("row", "coefficient", "kernel", "contribution")
    columns = {name: [line[place] for line in lines] for place, name in enumerate(names)}
    averaged = "coefficients" if rule.averaged else ""
    found = verdict(learner, row, prediction, math.fsum(parts), k=k, several=several, averaged=averaged)
    return Table(columns, found.title, notes + zeros)


def _refuse_names(feature_names: Sequence[str] | None) -> None:
    if feature_names is not None:
        raise ValueError(
            "a kernel perceptron is explained by support vectors, which have no feature names: leave out feature_names."
        )
