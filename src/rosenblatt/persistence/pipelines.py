"""Pipelines as files: the steps and the learner as plain data."""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from rosenblatt import __version__
from rosenblatt.messages import shorten
from rosenblatt.persistence.codecs import LEARNERS
from rosenblatt.persistence.steps.codec import (
    Claims,
    StepReader,
    StepWriter,
    parameters_from_plain,
    parameters_to_plain,
    step_width,
)
from rosenblatt.persistence.steps.composites import PIPELINE, steps_from_plain, steps_to_plain
from rosenblatt.persistence.steps.registry import step_from_plain, step_to_plain
from rosenblatt.storage.columns import LEAST_SHARE, MOST_FEATURES
from rosenblatt.storage.container import check_version
from rosenblatt.storage.schema import StrictArrays, StrictFields
from rosenblatt.training.model_file import Reader, invalid_file, model_from_plain

KIND = "pipeline"
_FORMAT = 1
Arrays = dict[str, NDArray[Any]]


def learner_of(model: Any) -> Any:
    """Return the learner of this library that a pipeline ends in, or the model itself; a TypeError for another."""
    last = model.steps[-1][1] if type(model) is Pipeline else model
    if LEARNERS.get(type(last).__name__) is type(last):
        return last
    if hasattr(model, "refit") and hasattr(model, "estimator"):
        raise TypeError(
            f"this {type(model).__name__} has no best_estimator_, which is what would be taken of it: fit it first, "
            "with refit=True."
        )
    what = "a pipeline must end in one of" if type(model) is Pipeline else "expected one of"
    raise TypeError(
        f"{what} {', '.join(LEARNERS)}{'' if type(model) is Pipeline else ', or a Pipeline that ends in one'}, "
        f"got {type(last).__name__}."
    )


def pipeline_to_plain(pipeline: Pipeline, header: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a pipeline's file, given those of its learner."""
    steps, more = stored_steps(pipeline)
    out = {
        "kind": KIND,
        "version": _FORMAT,
        "library": __version__,
        "parameters": parameters_to_plain(pipeline, PIPELINE),
        "steps": steps,
        "learner": {"name": pipeline.steps[-1][0], "model": header},
    }
    return out, arrays | more


def stored_steps(pipeline: Pipeline) -> tuple[list[dict[str, Any]], Arrays]:
    """Return the steps before the learner as plain data and arrays."""
    arrays: Arrays = {}
    return steps_to_plain(pipeline.steps[:-1], StepWriter(arrays, step_to_plain)), arrays


def pipeline_from_plain(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays, read: Reader[Any], max_features: int | None
) -> Pipeline:
    """Return the pipeline of a file's header and arrays; a ValueError, with one sentence, where it is not valid."""
    check_version(path, header.get("version"), _FORMAT)
    try:
        return _from_plain(header, arrays, read, max_features)
    except (ValueError, TypeError) as fault:
        if isinstance(fault, TypeError):
            fault = ValueError(shorten(str(fault), 300))
        raise invalid_file(path, "pipeline", fault) from fault


def _from_plain(header: dict[str, Any], arrays: Arrays, read: Reader[Any], max_features: int | None) -> Pipeline:
    fields = StrictFields(header, "the header")
    fields.word("kind", (KIND,))
    fields.whole("version", 1, _FORMAT)
    fields.word("library")
    parameters = parameters_from_plain(fields.part("parameters"), Pipeline, PIPELINE)
    last = fields.part("learner")
    inside = {name: array for name, array in arrays.items() if name.startswith("steps.")}
    rest = {name: array for name, array in arrays.items() if name not in inside}
    name = last.word("name")
    learner = model_from_plain(last.take("model"), rest, read, max_features)
    last.end()
    vouched = LEAST_SHARE * sum(array.size for array in arrays.values())
    claims = Claims(max(MOST_FEATURES, vouched) if max_features is None else max_features)
    source = StrictArrays(inside)
    steps = steps_from_plain(fields.values("steps"), StepReader(source, step_from_plain, claims))
    fields.end()
    source.end()
    if not name or "__" in name or name in dict(steps):
        raise ValueError(f"the name of a step must be a word of its own, without '__', got {shorten(name)}.")
    before = next((step for _, step in reversed(steps) if not isinstance(step, str)), None)
    if before is not None and step_width(before) != learner.n_features_in_:
        raise ValueError(f"the learner expects {learner.n_features_in_} features and gets {step_width(before)}.")
    return Pipeline(**parameters | {"steps": [*steps, (name, learner)]})
