"""Steps made of others, as plain data: pipelines within pipelines, and ColumnTransformer."""

from __future__ import annotations

import importlib
import string
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from rosenblatt.persistence.steps.codec import (
    Codec,
    Parameter,
    Plain,
    StepReader,
    StepWriter,
    fixed,
    flag,
    parameters_from_plain,
    parameters_to_plain,
    step_width,
)
from rosenblatt.persistence.steps.selections import selected_indices, selection_from_plain, selection_to_plain
from rosenblatt.storage.schema import StrictFields

WORDS = ("drop", "passthrough")
PIPELINE = {"memory": fixed(None), "verbose": flag(False), "transform_input": fixed(None)}
_LONGEST_TEMPLATE = 1000
_COLUMN_COST = 64
"""A column that scikit-learn keeps account of takes as much memory and time as so many numbers."""
PIPELINE |= {"steps": Parameter(None, lambda value: value is None, "", lambda value: None)}


def _share(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1


def _weights(value: Any) -> bool:
    return value is None or (
        type(value) is dict and all(type(weight) in (int, float) and abs(weight) < 1e300 for weight in value.values())
    )


def _names_features(value: Any) -> bool:
    """Return whether this is a boolean, or a short template in which both names stand as they are, once."""
    if type(value) is not str or len(value) > _LONGEST_TEMPLATE:
        return type(value) is bool
    try:
        fields = [part[1:] for part in string.Formatter().parse(value) if part[1] is not None]
    except ValueError:
        return False
    return len(fields) == 2 and {*fields} == {("feature_name", "", None), ("transformer_name", "", None)}


_COLUMNS = {
    "transformers": Parameter(None, lambda value: value is None, "", lambda value: None),
    "remainder": Parameter("drop", lambda value: value is None, "", lambda value: None),
    "sparse_threshold": Parameter(0.3, _share, "a number from 0 to 1"),
    "n_jobs": Parameter(None, lambda value: value is None, "None", lambda value: None),  # a file starts no processes
    "transformer_weights": Parameter(None, _weights, "numbers by name, or None"),
    "verbose": flag(False),
    "verbose_feature_names_out": Parameter(
        True, _names_features, "a boolean, or a string with {transformer_name} and {feature_name}"
    ),
}


# pipelines


def steps_to_plain(steps: list[tuple[str, Any]], writer: StepWriter) -> list[Plain]:
    """Return steps with their names as plain data."""
    return [
        {"name": name, "step": "passthrough" if step is None else writer.step(step, str(k))}
        for k, (name, step) in enumerate(steps)
    ]


def steps_from_plain(data: list[Any], reader: StepReader) -> list[tuple[str, Any]]:
    """Return the steps that `steps_to_plain` described; a ValueError where one does not fit those before it."""
    out: list[tuple[str, Any]] = []
    width: int | None = None
    for k, one in enumerate(data):
        fields = StrictFields(one, "a step")
        name, step = fields.word("name"), reader.step(fields.take("step"), str(k))
        fields.end()
        if not name or "__" in name or name in dict(out):
            raise ValueError(f"the name of a step must be a word of its own, without '__', got {name!r}.")
        if not isinstance(step, str):
            if width not in (None, step.n_features_in_):
                raise ValueError(f"the step {name!r} expects {step.n_features_in_} features and gets {width}.")
            width = step_width(step)
        elif step != "passthrough":
            raise ValueError(f"the step {name!r} must be 'passthrough' or one that is known.")
        out.append((name, step))
    return out


def _write_pipeline(step: Pipeline, writer: StepWriter) -> Plain:
    parameters = parameters_to_plain(step, PIPELINE)
    return {"parameters": parameters, "steps": steps_to_plain(step.steps, writer)}


def _read_pipeline(fields: StrictFields, reader: StepReader, d: int) -> Pipeline:
    parameters = parameters_from_plain(fields.part("parameters"), Pipeline, PIPELINE)
    steps = steps_from_plain(fields.values("steps"), reader)
    if not steps or isinstance(steps[0][1], str):
        raise ValueError("a pipeline within a pipeline must start with a step.")
    return Pipeline(**parameters | {"steps": steps})


def _pipeline_width(step: Pipeline) -> int:
    return step_width(next(one for _, one in reversed(step.steps) if not _passes(one)))


def _passes(step: Any) -> bool:
    return step is None or isinstance(step, str)


# columns


def _write_columns(step: ColumnTransformer, writer: StepWriter) -> Plain:
    known = list(step.transformers_)
    parts = []
    for k, (name, given, _) in enumerate(step.transformers):
        _, fitted, columns = known[k]
        if not isinstance(given, str):
            given = "drop" if _is_empty(columns) else writer.step(fitted, str(k))
        parts.append({"name": name, "columns": selection_to_plain(columns), "step": given})
    remainder = step.remainder
    if not isinstance(remainder, str):
        left = known[len(parts) :]
        remainder = writer.step(left[0][1], "remainder") if left and len(left[0][2]) else "drop"
    return {
        "parameters": parameters_to_plain(step, _COLUMNS),
        "columns": parts,
        "remainder": remainder,
        "sparse": bool(step.sparse_output_),
    }


def _is_empty(columns: Any) -> bool:
    """Return whether no column is selected, so that a step has not been fitted."""
    if isinstance(columns, str | int | slice):
        return False
    chosen = list(columns)
    return not chosen or (isinstance(chosen[0], bool | np.bool_) and not any(chosen))


class _StandIn(TransformerMixin, BaseEstimator):
    """In the place of a fitted step while a ColumnTransformer is fitted around it: as many features, all zero."""

    def __init__(self, step: Any = None) -> None:
        self.step = step

    def fit(self, X: Any, y: object = None) -> _StandIn:
        return self

    def transform(self, X: Any) -> Any:
        return np.zeros((1, step_width(self.step)))

    def __sklearn_clone__(self) -> _StandIn:
        return self


def _read_columns(fields: StrictFields, reader: StepReader, d: int) -> ColumnTransformer:
    parameters = parameters_from_plain(fields.part("parameters"), ColumnTransformer, _COLUMNS)
    names, stated = reader.names, fields.values("columns")
    listed = sum(_n_listed(one) for one in stated) if names is None else d
    reader.claims.add(max(d - listed, 0), _COLUMN_COST)
    places = None if names is None else {name: j for j, name in enumerate(names)}
    parts: list[tuple[str, Any, Any]] = []
    left = set(range(d))
    width = 0
    for k, one in enumerate(stated):
        more = StrictFields(one, "the columns of a ColumnTransformer")
        name, columns = more.word("name"), selection_from_plain(more.take("columns"))
        step = reader.step(more.take("step"), str(k))
        more.end()
        selected = selected_indices(columns, d, places)
        if isinstance(columns, slice):
            reader.claims.add(len(selected), _COLUMN_COST)
        left.difference_update(selected)
        width += _check_part(step, len(selected))
        parts.append((name, step, columns))
    remainder = reader.step(fields.take("remainder"), "remainder")
    reader.claims.add(width + _check_part(remainder, len(left)))
    sparse = fields.flag("sparse")
    # what scikit-learn keeps differs between its versions, so it is made by fitting a row around the fitted steps
    step = ColumnTransformer(
        **parameters
        | {
            "transformers": [(name, _stand_in(one), columns) for name, one, columns in parts],
            "remainder": _stand_in(remainder),
        }
    )
    try:
        step.fit(_row_of_zeros(d, names))
    except (TypeError, ValueError, AttributeError) as fault:
        raise ValueError(f"a ColumnTransformer is not valid: {fault}") from None
    step.transformers = [(name, _unfitted(one), columns) for name, one, columns in parts]
    step.remainder = _unfitted(remainder)
    step.transformers_ = [
        (name, one.step if isinstance(one, _StandIn) else one, columns) for name, one, columns in step.transformers_
    ]
    if hasattr(step, "_remainder"):
        step._remainder = (step._remainder[0], step.remainder, step._remainder[2])
    step.sparse_output_ = sparse
    return step


def _n_listed(part: Any) -> int:
    """Return how many columns a part of a ColumnTransformer lists one by one."""
    columns = part.get("columns") if type(part) is dict else None
    return len(columns) if type(columns) is list else 1


def _check_part(step: Any, selected: int) -> int:
    """Return how many features a part of a ColumnTransformer makes of so many columns."""
    if isinstance(step, str):
        return selected if step == "passthrough" else 0
    if step.n_features_in_ != selected:
        raise ValueError(f"a step of a ColumnTransformer expects {step.n_features_in_} columns and gets {selected}.")
    return step_width(step)


def _stand_in(step: Any) -> Any:
    return step if isinstance(step, str) else _StandIn(step)


def _unfitted(step: Any) -> Any:
    return step if isinstance(step, str) else clone(step)


def _row_of_zeros(d: int, names: list[str] | None) -> Any:
    """Return a row of so many columns, a data frame where they have names."""
    row = np.zeros((1, d))
    if names is None:
        return row
    for library in ("pandas", "polars"):
        try:
            frames = importlib.import_module(library)
        except ImportError:
            continue
        return frames.DataFrame(dict(zip(names, row.T, strict=True)))
    raise ImportError("a pipeline that selects columns by name needs data frames: pip install pandas.")


def _columns_width(step: ColumnTransformer) -> int:
    return max((places.stop for places in step.output_indices_.values()), default=0)


CODECS = (
    Codec(Pipeline, _write_pipeline, _read_pipeline, _pipeline_width),
    Codec(ColumnTransformer, _write_columns, _read_columns, _columns_width),
)
