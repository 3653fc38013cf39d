"""`contributions`: what each feature adds to one prediction (CIML 4.4)."""

from __future__ import annotations

import contextlib
import importlib
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from rosenblatt.data.preparation import is_preparation
from rosenblatt.estimators.online import record_features
from rosenblatt.inspection.explain import VOTE_NOTE, Units, feature_labels, find_units, split_pipeline, through_steps
from rosenblatt.inspection.geometry import largest_parts, linear_rule, verdict
from rosenblatt.inspection.support import contributions_by_support, is_kernel_model
from rosenblatt.messages import did_you_mean, name_some, shorten
from rosenblatt.tables import Table

# One row to be explained, in any of the forms that people have it in.


def one_row(x: Any, steps: Any) -> Any:
    """Return ``x`` as a matrix or frame of one row, sent through the steps of a pipeline."""
    if isinstance(x, str) or (isinstance(x, list | tuple) and len(x) == 1 and isinstance(x[0], str)):
        row = np.array([x] if isinstance(x, str) else x, dtype=object)  # a text, for a pipeline that starts with words
    elif isinstance(x, Mapping):
        row = _row_for_steps(x, steps)
    elif hasattr(x, "iloc") and x.ndim == 1:  # a row of a pandas frame keeps its names
        row = x.to_frame().T
    elif sp.issparse(x):
        row = x.reshape(1, -1).tocsr() if x.ndim == 1 else x
    elif hasattr(x, "columns"):
        row = x
    else:
        row = np.asarray(x)
        row = row.reshape(1, -1) if row.ndim == 1 else row
    if isinstance(row, list):  # a record, for a pipeline that starts with records
        return steps.transform(row)
    if len(row.shape) == 0:
        raise ValueError(f"expected one row of numbers, got {shorten(x)}: give a list or an array.")
    if row.shape[0] != 1:
        raise ValueError(f"expected one row, got {row.shape[0]}: pick one, for instance X[0] or X.iloc[[0]].")
    return through_steps(steps, row)


def row_of_names(
    x: Mapping[str, Any],
    names: list[str],
    units: Units | None,
    any_name: bool = False,
    fills: Mapping[str, float] | None = None,
) -> tuple[np.ndarray, list[str]]:
    """Return a record as a row that the learner can see, and the features of it that the model does not know.

    A string is the feature "name=string"; the row is scaled, and where a feature is absent it is what ``fills`` says,
    else 0. A string that is new under a name that is known has no feature, and nor has a name that is new where that
    may be (``any_name``).

    >>> row_of_names({"sun": 3, "wind": "west"}, ["rain", "sun", "wind=east", "wind=west"], None)
    (array([[0., 3., 0., 1.]]), [])
    >>> row_of_names({"wind": "north"}, ["rain", "wind=east"], None)
    (array([[0., 0.]]), ['wind=north'])
    >>> row_of_names({"snu": 3}, ["rain", "sun"], None)
    Traceback (most recent call last):
    ValueError: the model has no feature 'snu': did you mean 'sun'?
    """
    places = {name: place for place, name in enumerate(names)}
    for name, value in x.items():
        if isinstance(value, str) and name in places:
            raise ValueError(f"expected a number for the feature {name!r}, got {shorten(value)}.")
        known = isinstance(value, str) and any(other.startswith(f"{name}=") for other in names)
        if not any_name and not known and name not in places:
            raise _no_feature(name, names)
    features = record_features(x)
    row = np.zeros(len(names))
    given = {**(fills or {}), **features}
    for name in given.keys() & places.keys():
        row[places[name]] = given[name]
    return (row if units is None else units.scaled(row)).reshape(1, -1), [
        name for name in features if name not in places
    ]


def _row_for_steps(x: Mapping[str, Any], steps: Any) -> Any:
    """Return a dictionary as what the first step of a pipeline takes: a frame, an array, or a list of records."""
    width = getattr(steps, "n_features_in_", None)
    if width is None:
        return [dict(x)]
    names = feature_labels(steps, width)
    for name in x:
        if name not in names:
            raise _no_feature(name, names)
    values = [x.get(name, 0) for name in names]
    if hasattr(steps, "feature_names_in_"):
        for library in ("pandas", "polars"):
            with contextlib.suppress(ImportError):
                frame = importlib.import_module(library).DataFrame
                return frame({name: [value] for name, value in zip(names, values, strict=True)})
    return np.array([values])


def _no_feature(name: Any, names: list[str]) -> ValueError:
    """Return the error about a name that is none of those of the features."""
    guess = did_you_mean(str(name), names) or f"they are called {shorten(names)}."
    return ValueError(f"the model has no feature {name!r}: {guess}")


def contributions(model: Any, x: Any, feature_names: Sequence[str] | None = None, top: int | None = None) -> Table:
    """Return why one row is predicted as it is: what each feature, and the bias, adds to the activation.

    A contribution is weight times value. They are sorted by size and add up to the activation, whose sign is
    the answer; with more than two classes, to the score of the class predicted. Features that contribute nothing are
    left out. Where features were scaled (see `explain`), ``value`` is the scaled one that the learner sees, and
    ``raw value`` the number before scaling, to 12 digits, None for a feature that was not scaled. For a
    `KernelPerceptron` it is what each support row adds: its coefficient times the kernel value of it and ``x``.

    Parameters
    ----------
    model, feature_names
        As for `explain`. A pipeline's earlier steps are applied to ``x``; values are what they make of it.
    x : one row
        Of shape (d,) or (1, d): a list, an array, a sparse row, a row of a data frame or a frame of one row, as
        ``predict`` takes it; for a pipeline that starts from text, one string. Or a dictionary of values by the name of
        their feature, 0 where one is absent (in a model of files, what their preparation fills a gap with): numbers
        before scaling, also for a model that was trained on files with ``scale`` and whose ``predict`` takes scaled
        rows. It may be a record of ``learn_one``: ``{"colour": "red"}`` is the feature ``colour=red``, and a note names
        what the model does not know.
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
    (bias)       1       0             0
    1 of 3 features contributes nothing and is left out.
    >>> contributions(model, {"good": 2}, ["bad", "good", "film"]).title
    "Predicted 'praise': the activation is 2"
    """
    steps, learner = split_pipeline(model)
    if is_kernel_model(learner):
        with _names_are_known(x):
            row, notes = _row(x, steps, learner, None)
            table = contributions_by_support(learner, row, feature_names, top)
        return Table(table.to_dict(), table.title, (*table.notes, *notes)) if notes else table
    linear = linear_parts(model, x, feature_names)
    shown, others, zeros = largest_parts(linear.products, top, "features")
    columns: dict[str, list[Any]] = {"feature": [linear.names[i] for i in shown]}
    units = find_units(steps, learner, len(linear.names))
    if units is not None:
        columns["raw value"] = units.at(shown).raw_or_none(linear.values[shown])
    columns["value"] = linear.values[shown].tolist()
    columns["weight"] = linear.weights[shown].tolist()
    columns["contribution"] = linear.products[shown].tolist()
    last = [{"feature": "(bias)", "value": 1.0, "weight": linear.bias, "contribution": linear.bias}]
    if len(others):
        last.insert(0, {"feature": f"({len(others):,} more)", "contribution": math.fsum(linear.products[others])})
    for name, column in columns.items():
        column += [line.get(name) for line in last]
    return Table(columns, linear.title, [*linear.notes, *zeros])


@dataclass(frozen=True)
class LinearParts:
    """The parts of one prediction by weights: of the class predicted, where there are more than two."""

    names: list[str]
    values: np.ndarray
    weights: np.ndarray
    products: np.ndarray
    bias: float
    activation: float
    answer: Any
    tied: bool
    """Whether the row lies on the boundary, where the label is undefined."""
    scores: int
    """How many scores there are: one for each class if there are more than two, otherwise one."""
    title: str
    notes: tuple[str, ...]


def linear_parts(model: Any, x: Any, feature_names: Sequence[str] | None = None) -> LinearParts:
    """Return the value, the weight and their product for every feature of one row; parameters as for `contributions`.

    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[0, 1, 1], [1, 0, 1]], ["praise", "blame"])
    >>> parts = linear_parts(model, [3, 1, 1])
    >>> parts.products, parts.activation
    (array([-3.,  1.,  0.]), -2.0)
    """
    steps, learner = split_pipeline(model)
    rule = linear_rule(learner)
    names = feature_labels(learner, rule.w.shape[1], feature_names, steps)
    with _names_are_known(x):
        row, unknown = _row(x, steps, learner, names)
        answer = np.asarray(learner.predict(row)).tolist()[0]  # it checks names and the number of features
        matrix = check_array(row, accept_sparse="csr", dtype=np.float64)
        value = (matrix.toarray() if sp.issparse(matrix) else matrix)[0]
        k = rule.classes.index(answer) if len(rule.w) > 1 else 0
        w, b = rule.w[k], float(rule.b[k])
        with np.errstate(over="ignore", under="ignore"):
            parts = w * value
        if not np.isfinite(parts).all():
            raise ValueError("weight times value goes beyond the range of floats: scale the features.")
        total, averaged = math.fsum([*parts, b]), "weights" if rule.averaged else ""
        title, total, tied = verdict(learner, row, answer, total, k=k, several=len(rule.w) > 1, averaged=averaged)
    notes = [VOTE_NOTE] * rule.averaged + unknown
    return LinearParts(names, value, w, parts, b, total, answer, tied, len(rule.w), title, tuple(notes))


@contextmanager
def _names_are_known(x: Any) -> Iterator[None]:
    """Ignore the warning that a row has no names where it was made of a record of names."""
    with warnings.catch_warnings():
        if isinstance(x, Mapping):
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield


def _row(x: Any, steps: Any, learner: Any, names: list[str] | None) -> tuple[Any, list[str]]:
    """Return one row as the learner sees it, and notes; a record by the names of features, or of a pipeline's input."""
    if steps is not None or not isinstance(x, Mapping):
        return one_row(x, steps), []
    d = int(learner.n_features_in_) if names is None else len(names)
    names = feature_labels(learner, d) if names is None else names
    any_name = getattr(learner, "_learns_by_name", False)
    row, unknown = row_of_names(x, names, find_units(None, learner, d), any_name, _fills(learner))
    if not unknown:
        return row, []
    return row, [f"Unknown to the model, which counts them as nothing: {name_some(unknown)}."]


def _fills(learner: Any) -> dict[str, float]:
    """Return what the preparation of a model of files puts where a number of a table is missing, by column."""
    prepared = getattr(learner, "preparation_", None)
    columns = prepared.get("columns", ()) if isinstance(prepared, dict) and is_preparation(prepared) else ()
    return {column["name"]: column["fill"] for column in columns if "fill" in column}
