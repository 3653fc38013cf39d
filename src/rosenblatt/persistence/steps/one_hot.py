"""OneHotEncoder as plain data."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder

from rosenblatt.messages import shorten
from rosenblatt.persistence.steps.codec import (
    Codec,
    Parameter,
    Plain,
    StepReader,
    StepWriter,
    choice,
    fixed,
    flag,
    is_value,
    parameters_from_plain,
    parameters_to_plain,
    value_from_plain,
    value_to_plain,
    values_from_plain,
    values_to_plain,
)
from rosenblatt.storage.schema import StrictFields

_DROPS = ("first", "if_binary")
_DTYPES = ("float64", "float32", "int64", "int32", "int8", "uint8", "bool")


def _drop_to_plain(drop: Any) -> Any:
    return drop if drop is None or isinstance(drop, str) else [value_to_plain(value) for value in list(drop)]


def _drop_from_plain(drop: Any) -> Any:
    return np.array([value_from_plain(value) for value in drop], object) if type(drop) is list else drop


def _is_drop(drop: Any) -> bool:
    return drop is None or drop in _DROPS or (type(drop) is list and all(map(is_value, drop)))


_PARAMETERS = {
    # the lists are stored as what was fitted
    "categories": Parameter(
        "auto",
        lambda value: value in ("auto", "given"),
        "'auto' or lists",
        lambda value: value if isinstance(value, str) else "given",
    ),
    "drop": Parameter(None, _is_drop, "'first', 'if_binary', values or None", _drop_to_plain, _drop_from_plain),
    "sparse_output": flag(True),
    "dtype": Parameter(
        np.float64,
        lambda value: value in _DTYPES,
        "a type of numbers",
        lambda value: np.dtype(value).name,
        lambda value: np.dtype(value).type,
    ),
    "handle_unknown": choice("error", "ignore", "infrequent_if_exist", "warn"),
    "min_frequency": fixed(None),
    "max_categories": fixed(None),
    "feature_name_combiner": fixed("concat"),
}


def _write(step: OneHotEncoder, writer: StepWriter) -> Plain:
    parameters = parameters_to_plain(step, _PARAMETERS)
    for values in step.categories_:
        _check_categories(values.tolist(), parameters["categories"] == "auto")
    return {"parameters": parameters, "categories": [values_to_plain(values) for values in step.categories_]}


def _read(fields: StrictFields, reader: StepReader, d: int) -> OneHotEncoder:
    parameters = parameters_from_plain(fields.part("parameters"), OneHotEncoder, _PARAMETERS)
    known = [values_from_plain(one, "the categories of a OneHotEncoder") for one in fields.values("categories")]
    if len(known) != d or any(not len(values) for values in known):
        raise ValueError(f"a OneHotEncoder must have categories for each of its {d} features.")
    found = parameters["categories"] == "auto"
    for values in known:
        _check_categories(values.tolist(), found)
    # what scikit-learn keeps besides the categories differs between its versions, so it is made by fitting a row
    row = np.empty((1, d), object)
    row[0] = [values[:1].tolist()[0] for values in known]
    step = OneHotEncoder(**parameters | {"categories": [values.astype(object) for values in known]})
    try:
        step.fit(row)
    except (TypeError, ValueError) as fault:
        raise ValueError(f"the categories of a OneHotEncoder are not valid: {shorten(str(fault), 200)}.") from None
    if list(map(len, step.categories_)) != list(map(len, known)):
        raise ValueError("the categories of a OneHotEncoder are not those that scikit-learn makes of them.")
    step.categories, step.categories_ = "auto" if found else known, known
    return step


def _check_categories(values: list[Any], found: bool) -> None:
    """Raise a ValueError unless each category is there once, in an order in which scikit-learn can look it up.

    Categories that were found in rows rise, with None and NaN after the others, and so do numbers that were given, as
    scikit-learn writes out of bounds where they do not. Words that were given may have any order.
    """
    present = [value for value in values if not _is_missing(value)]
    missing = [value is None for value in values if _is_missing(value)]
    sound = missing in ([], [True], [False], [True, False])
    if found or not all(type(value) is str for value in present):
        sound = sound and not any(map(_is_missing, values[: len(present)])) and _rises(present)
    if not sound or len(set(present)) != len(present):
        raise ValueError("the categories of a OneHotEncoder must be sorted, none twice.")


def _is_missing(value: Any) -> bool:
    return value is None or (type(value) is float and math.isnan(value))


def _rises(values: list[Any]) -> bool:
    try:
        return all(low < high for low, high in itertools.pairwise(values))
    except TypeError:  # words and numbers
        return False


def _width(step: OneHotEncoder) -> int:
    dropped = 0 if step.drop_idx_ is None else sum(index is not None for index in step.drop_idx_)
    return sum(map(len, step.categories_)) - dropped


CODECS = (Codec(OneHotEncoder, _write, _read, _width),)
