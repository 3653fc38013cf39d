"""Scalers as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from rosenblatt.features import ExactScaler
from rosenblatt.persistence.steps.codec import (
    Codec,
    Plain,
    StepReader,
    StepWriter,
    choice,
    flag,
    parameters_from_plain,
    parameters_to_plain,
)
from rosenblatt.storage.schema import StrictFields

_STANDARD = {"copy": flag(True), "with_mean": flag(True), "with_std": flag(True)}
_MAXABS = {"copy": flag(True), "clip": flag(False)}
_EXACT = {"method": choice("standard", "maxabs")}


def _write_standard(step: StandardScaler, writer: StepWriter) -> Plain:
    stored = {name: writer.put(name, getattr(step, f"{name}_")) for name in ("mean", "var", "scale")}
    parameters = parameters_to_plain(step, _STANDARD)
    return {"parameters": parameters, "seen_by_feature": _put_seen(step, writer), **stored}


def _read_standard(fields: StrictFields, reader: StepReader, d: int) -> StandardScaler:
    step = StandardScaler(**parameters_from_plain(fields.part("parameters"), StandardScaler, _STANDARD))
    for name in ("mean", "var", "scale"):
        setattr(step, f"{name}_", reader.take(name, "f8 f4", (d,)) if fields.flag(name) else None)
    if step.with_std != (step.scale_ is not None) or (step.with_mean and step.mean_ is None):
        raise ValueError("a StandardScaler must have a mean and a scale where it uses them, and no other scale.")
    _check_scale(step.scale_)
    step.n_samples_seen_ = _seen(fields, reader, d)
    return step


def _write_maxabs(step: MaxAbsScaler, writer: StepWriter) -> Plain:
    writer.put("scale", step.scale_)
    writer.put("max_abs", step.max_abs_)
    return {"parameters": parameters_to_plain(step, _MAXABS), "seen_by_feature": _put_seen(step, writer)}


def _read_maxabs(fields: StrictFields, reader: StepReader, d: int) -> MaxAbsScaler:
    step = MaxAbsScaler(**parameters_from_plain(fields.part("parameters"), MaxAbsScaler, _MAXABS))
    step.scale_, step.max_abs_ = (reader.take(name, "f8 f4", (d,)) for name in ("scale", "max_abs"))
    _check_scale(step.scale_)
    step.n_samples_seen_ = _seen(fields, reader, d)
    return step


def _write_exact(step: ExactScaler, writer: StepWriter) -> Plain:
    writer.put("centre", step.centre_)
    writer.put("spread", step.spread_)
    return {"parameters": parameters_to_plain(step, _EXACT)}


def _read_exact(fields: StrictFields, reader: StepReader, d: int) -> ExactScaler:
    step = ExactScaler(**parameters_from_plain(fields.part("parameters"), ExactScaler, _EXACT))
    step.centre_, step.spread_ = (reader.take(name, "f8", (d,)) for name in ("centre", "spread"))
    _check_scale(step.spread_)
    return step


def _check_scale(scale: NDArray[Any] | None) -> None:
    if scale is not None and not (scale > 0).all():
        raise ValueError("the scale of a scaler must be above 0.")


def _put_seen(step: Any, writer: StepWriter) -> bool:
    """Store how many rows were seen; return whether there is a number for each feature, as where values are missing."""
    writer.put("seen", np.atleast_1d(step.n_samples_seen_))
    return np.ndim(step.n_samples_seen_) > 0


def _seen(fields: StrictFields, reader: StepReader, d: int) -> Any:
    if fields.flag("seen_by_feature"):
        return reader.take("seen", "i8 f8 i4", (d,))
    return reader.take("seen", "i8 f8 i4", (1,))[0]


CODECS = (
    Codec(StandardScaler, _write_standard, _read_standard, lambda step: int(step.n_features_in_)),
    Codec(MaxAbsScaler, _write_maxabs, _read_maxabs, lambda step: int(step.n_features_in_)),
    Codec(ExactScaler, _write_exact, _read_exact, lambda step: int(step.n_features_in_)),
)
