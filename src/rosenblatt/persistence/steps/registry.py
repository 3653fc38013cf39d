"""Fitted steps as plain data, and back: what all of them have in common, and the codec of each for the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from rosenblatt.messages import shorten
from rosenblatt.persistence.steps import composites, imputer, lifts, one_hot, scalers
from rosenblatt.persistence.steps.codec import CODECS, StepReader, StepWriter
from rosenblatt.storage.schema import StrictFields

for _module in (scalers, imputer, one_hot, composites, lifts):
    CODECS.update({codec.kind.__name__: codec for codec in _module.CODECS})
_OUTPUTS = ("default", "pandas", "polars")


def step_to_plain(step: Any, writer: StepWriter) -> Any:
    """Return a fitted step as plain data, its arrays stored by ``writer``; a TypeError where it is not known."""
    if isinstance(step, str):
        return step
    kind = type(step).__name__
    codec = CODECS.get(kind)
    if codec is None or codec.kind is not type(step):
        raise TypeError(
            f"a step of type {kind} cannot be stored as data: steps may be {', '.join(CODECS)}; apply it to the rows "
            "before they reach the pipeline, or keep the whole by pickle, for yourself alone."
        )
    check_is_fitted(step)
    if not hasattr(step, "n_features_in_"):
        raise ValueError(f"a {kind} that does not know its features cannot be stored: start it with a step.")
    names = getattr(step, "feature_names_in_", None)
    output = getattr(step, "_sklearn_output_config", {}).get("transform")
    return {
        "kind": kind,
        "n_features": int(step.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "output": output,
        **codec.to_plain(step, writer),
    }


def step_from_plain(data: Any, reader: StepReader) -> Any:
    """Return the fitted step that plain data and arrays describe, or raise a ValueError."""
    if type(data) is str:
        if data not in composites.WORDS:
            raise ValueError(f"a step must be 'drop', 'passthrough' or one that is known, got {shorten(data)}.")
        return data
    fields = StrictFields(data, "a step")
    kind = fields.word("kind", tuple(CODECS))
    fields.what = f"the {kind}"
    d = fields.whole("n_features", 1)
    names = fields.optional("feature_names", lambda name: fields.words(name, d))
    output = fields.optional("output", lambda name: fields.word(name, _OUTPUTS))
    if names is not None and len(set(names)) != d:
        raise ValueError("the features of a step must have different names.")
    step: Any = CODECS[kind].from_plain(fields, replace(reader, names=names), d)
    fields.end()
    if CODECS[kind].kind is not Pipeline:  # which asks its steps
        step.n_features_in_ = d
        if names is not None:
            step.feature_names_in_ = np.array(names, object)
    elif step.n_features_in_ != d:
        raise ValueError(f"a pipeline within a pipeline has {step.n_features_in_} features and states {d}.")
    if output is not None:
        step.set_output(transform=output)
    return step
