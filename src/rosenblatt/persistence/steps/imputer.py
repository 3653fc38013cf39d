"""SimpleImputer as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer

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

_VALUE = "a string, a number, NaN or None"
_PARAMETERS = {
    "missing_values": Parameter(np.nan, is_value, _VALUE, value_to_plain, value_from_plain),
    "strategy": choice("mean", "median", "most_frequent", "constant"),
    "fill_value": Parameter(None, is_value, _VALUE, value_to_plain, value_from_plain),
    "copy": flag(True),
    "add_indicator": fixed(False),
    "keep_empty_features": flag(False),
}
_TYPES = ("float64", "float32", "int64", "int32", "object")


def _write(step: SimpleImputer, writer: StepWriter) -> Plain:
    return {
        "parameters": parameters_to_plain(step, _PARAMETERS),
        "fitted_on": np.dtype(getattr(step, "_fit_dtype", step.statistics_.dtype)).name,
        "statistics": values_to_plain(step.statistics_),
    }


def _read(fields: StrictFields, reader: StepReader, d: int) -> SimpleImputer:
    step = SimpleImputer(**parameters_from_plain(fields.part("parameters"), SimpleImputer, _PARAMETERS))
    dtype = fields.word("fitted_on", _TYPES)
    statistics = values_from_plain(fields.take("statistics"), "the statistics of a SimpleImputer", d)
    words = dtype == "object"
    if not words and any(isinstance(v, str) for v in (step.fill_value, step.missing_values, *statistics.tolist())):
        raise ValueError("a SimpleImputer of numbers must neither look for words nor fill them in.")
    if words and step.strategy in ("mean", "median"):
        raise ValueError(f"the {step.strategy} of words is none.")
    # what scikit-learn keeps besides the statistics differs between its versions, so it is made by fitting a row
    present: Any = next(value for value in (("a", "b") if words else (0, 1)) if value != step.missing_values)
    step.fit(np.full((1, d), present, dtype))
    step.statistics_ = statistics
    return step


CODECS = (Codec(SimpleImputer, _write, _read, lambda step: len(step.get_feature_names_out())),)
