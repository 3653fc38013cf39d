"""`contributions`: the contribution of each feature to a single prediction (CIML 4.4)."""

from __future__ import annotations

import contextlib
import importlib
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from rosenblatt.blocks import Block
from rosenblatt.estimators.online import record_features
from rosenblatt.estimators.prepared import prepare, rows_of_tables
from rosenblatt.estimators.validation import MatrixLike
from rosenblatt.inspection.explain import (
    VOTE_NOTE,
    Transformer,
    Units,
    feature_labels,
    find_units,
    split_pipeline,
    through_steps,
)
from rosenblatt.inspection.geometry import Classifier, largest_parts, linear_rule, verdict
from rosenblatt.inspection.support import contributions_by_support, is_kernel_model
from rosenblatt.messages import did_you_mean, name_some, shorten
from rosenblatt.tables import Table

Row: TypeAlias = MatrixLike
"""One row to explain: a list, an array, a sparse row, a row of a data frame, a dictionary or a text."""


def one_row(x: Row, steps: Transformer | None) -> MatrixLike:
    """Return ``x`` as a matrix or data frame of one row, transformed by the steps of a pipeline if there are any."""
    if isinstance(x, str) or (isinstance(x, list | tuple) and len(x) == 1 and isinstance(x[0], str)):
        row = np.array(
            [x] if isinstance(x, str) else x, dtype=object
        )  # a text, for a pipeline that starts with a vectorizer
    elif isinstance(x, Mapping):
        row = _row_for_steps(x, steps)
    elif hasattr(x, "iloc") and x.ndim == 1:  # a row of a pandas data frame keeps its column names
        row = x.to_frame().T
    elif sp.issparse(x):
        row = x.reshape(1, -1).tocsr() if x.ndim == 1 else x
    elif hasattr(x, "columns"):
        row = x
    else:
        row = np.asarray(x)
        row = row.reshape(1, -1) if row.ndim == 1 else row
    if isinstance(row, list):  # a record, for a pipeline that starts with a DictVectorizer
        return through_steps(steps, row)
    if len(row.shape) == 0:
        raise ValueError(f"expected one row of numbers, got {shorten(x)}: give a list or an array.")
    if row.shape[0] != 1:
        raise ValueError(f"expected one row, got {row.shape[0]}: pick one, for instance X[0] or X.iloc[[0]].")
    return through_steps(steps, row)


def row_of_names(
    x: Mapping[str, object],
    names: list[str],
    units: Units | None,
    any_name: bool = False,
) -> tuple[np.ndarray, list[str]]:
    """Return (row, unknown): a record as a row for the learner, and those of its feature names that have no weight.

    The record is a dictionary of values by feature name. A string value sets the feature "name=string" to 1. A missing
    feature is 0. The row is then scaled by ``units``. An unknown string value of a known feature is ignored. An unknown
    name raises a ValueError, or is ignored if ``any_name`` is True.

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
    for name in features.keys() & places.keys():
        row[places[name]] = features[name]
    return (row if units is None else units.scaled(row)).reshape(1, -1), [
        name for name in features if name not in places
    ]


def _row_for_steps(x: Mapping[str, object], steps: Transformer | None) -> MatrixLike:
    """Return a dictionary as the input of a pipeline's first step: a data frame, an array, or a list of records."""
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


def _no_feature(name: object, names: list[str]) -> ValueError:
    """Return the ValueError for an unknown feature name."""
    guess = did_you_mean(str(name), names) or f"its features are {shorten(names)}."
    return ValueError(f"the model has no feature {name!r}: {guess}")


def contributions(
    model: Classifier, x: Row, feature_names: Sequence[str] | None = None, top: int | None = None
) -> Table:
    """Return a table of how much each feature and the bias contribute to the prediction for one row.

    A contribution is weight times value. The contributions add up to the activation, whose sign decides the class. For
    more than two classes they add up to the score of the predicted class. The table is sorted by absolute value and
    omits features that contribute nothing.

    If the features were scaled (see `explain`), ``value`` is the scaled value, and ``raw value`` is the value before
    scaling, rounded to 12 digits. ``raw value`` is None for a feature that was not scaled. For a `KernelPerceptron` the
    table shows the contribution of each support row: its coefficient times its kernel value with ``x``.

    Parameters
    ----------
    model : fitted linear estimator, KernelPerceptron, or pipeline that ends in one
        The earlier steps of a pipeline are applied to ``x``; the table shows the transformed values.
    x : array-like, sparse row, data frame, dict or str
        One row of shape (d,) or (1, d), in a form that ``predict`` accepts. For a pipeline that takes text, one string.
        A dictionary maps feature names to values before scaling. A feature that is not in it counts as 0. As in
        ``learn_one``, ``{"colour": "red"}`` is the feature ``colour=red``. Features that the model does not have are
        listed in a note. If the model was trained from a table, pass a row with the columns of that table.
    feature_names : sequence of str, default=None
        A name for each weight, as in `explain`.
    top : int, default=None
        Number of features or support rows to show. The others are summed in one row of the table. None shows all.

    Returns
    -------
    table : Table
        A row for each contribution. The title gives the prediction and the activation.

    See Also
    --------
    explain : The largest weights of the model.

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
    columns: dict[str, list[object]] = {"feature": [linear.names[i] for i in shown]}
    units = find_units(steps, learner, len(linear.names))
    if units is not None:
        columns["raw value"] = list(units.at(shown).raw_or_none(linear.values[shown]))
    columns["value"] = linear.values[shown].tolist()
    columns["weight"] = linear.weights[shown].tolist()
    columns["contribution"] = linear.products[shown].tolist()
    last: list[dict[str, object]] = [
        {"feature": "(bias)", "value": 1.0, "weight": linear.bias, "contribution": linear.bias}
    ]
    if len(others):
        last.insert(0, {"feature": f"({len(others):,} more)", "contribution": math.fsum(linear.products[others])})
    for name, column in columns.items():
        column += [line.get(name) for line in last]
    return Table(columns, linear.title, [*linear.notes, *zeros])


@dataclass(frozen=True)
class LinearParts:
    """The terms of a linear prediction; for more than two classes, the terms of the predicted class's score."""

    names: list[str]
    values: np.ndarray
    weights: np.ndarray
    products: np.ndarray
    bias: float
    activation: float
    prediction: object
    tied: bool
    """Whether the row lies on the boundary, where the label is undefined."""
    scores: int
    """Number of scores: 1 for two classes, otherwise the number of classes."""
    title: str
    notes: tuple[str, ...]


def linear_parts(model: Classifier, x: Row, feature_names: Sequence[str] | None = None) -> LinearParts:
    """Return the terms of the prediction for one row: the value, the weight and their product for each feature.

    The parameters are those of `contributions`.

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
        prediction = np.asarray(learner.predict(row)).tolist()[0]  # this also checks names and number of features
        matrix = check_array(row.X if isinstance(row, Block) else row, accept_sparse="csr", dtype=np.float64)
        value = (matrix.toarray() if sp.issparse(matrix) else matrix)[0]
        k = rule.classes.index(prediction) if len(rule.w) > 1 else 0
        w, b = rule.w[k], float(rule.b[k])
        with np.errstate(over="ignore", under="ignore"):
            parts = w * value
        if not np.isfinite(parts).all():
            raise ValueError("weight times value overflows float64: scale the features.")
        total, averaged = math.fsum([*parts, b]), "weights" if rule.averaged else ""
        title, total, tied = verdict(learner, row, prediction, total, k=k, several=len(rule.w) > 1, averaged=averaged)
    notes = [VOTE_NOTE] * rule.averaged + unknown
    return LinearParts(names, value, w, parts, b, total, prediction, tied, len(rule.w), title, tuple(notes))


@contextmanager
def _names_are_known(x: Row) -> Iterator[None]:
    """Suppress the warning about missing feature names if ``x`` is a dictionary, which has names."""
    with warnings.catch_warnings():
        if isinstance(x, Mapping):
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield


def _row(x: Row, steps: Transformer | None, learner: Any, names: list[str] | None) -> tuple[MatrixLike, list[str]]:
    """Return (row, notes): the row in the learner's input format, and a note if some features are unknown."""
    rows = None if steps is not None else rows_of_tables(learner)
    if isinstance(x, Block) or rows is not None:
        row: MatrixLike
        if rows is not None and isinstance(x, Mapping):
            row = Block(rows.features(x, warn=False), is_validated=True)  # the note names what is unseen
        else:
            row = prepare(learner, x.to_frame().T if hasattr(x, "iloc") and x.ndim == 1 else x)
        record = {name: cells[0] for name, cells in (x.passthrough or {}).items()} if isinstance(x, Block) else x
        unseen = rows.unseen(record) if rows is not None and isinstance(record, Mapping) and record else []
        return _checked_block(row), _note_on(unseen)
    if steps is not None or not isinstance(x, Mapping):
        return prepare(learner, one_row(x, None)) if steps is None else one_row(x, steps), []
    d = int(learner.n_features_in_) if names is None else len(names)
    names = feature_labels(learner, d) if names is None else names
    any_name = getattr(learner, "_learns_by_name", False)
    row, unknown = row_of_names(x, names, find_units(None, learner, d), any_name)
    return Block(row) if hasattr(learner, "preparation_") else row, _note_on(unknown)


def _note_on(unknown: list[str]) -> list[str]:
    return [f"Not known to the model and ignored: {name_some(unknown)}."] if unknown else []


def _checked_block(row: Block) -> Block:
    if len(row) != 1:
        raise ValueError(f"expected one row, got {len(row)}: pick one, for instance X.iloc[[0]].")
    return row
