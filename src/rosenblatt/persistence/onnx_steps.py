"""The steps of pipelines as parts of an ONNX graph, in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from rosenblatt.features.combinations import Combinations
from rosenblatt.features.lifts import SphereLift
from rosenblatt.features.scaling import ExactScaler
from rosenblatt.persistence.exact_onnx import Graph
from rosenblatt.persistence.onnx_rows import ColumnGroup, Rows, filled, gather, one_hot, scaled
from rosenblatt.persistence.steps.codec import CODECS
from rosenblatt.persistence.steps.selections import selected_indices


def apply_step(graph: Graph, step: Any, rows: Rows) -> Rows:
    """Return what a fitted step makes of rows; a TypeError where the step is not known."""
    if step is None or isinstance(step, str):
        return rows
    check_step(step)
    return _STEPS[type(step)](graph, step, rows)


def check_step(step: Any) -> None:
    """Raise a TypeError where a step is not known."""
    if type(step) not in _STEPS:
        raise TypeError(
            f"a step of type {type(step).__name__} cannot be exported: steps may be {', '.join(CODECS)}; apply it to "
            "the rows before they reach the graph, and export a pipeline without it."
        )


def columns_of_words(step: Any, d: int) -> set[int]:
    """Return which of ``d`` columns a step takes as words."""
    if isinstance(step, Pipeline):
        first = next((one for _, one in step.steps if one is not None and not isinstance(one, str)), None)
        return columns_of_words(first, d)
    if isinstance(step, ColumnTransformer):
        found: set[int] = set()
        for part, columns in _parts(step):
            found |= {columns[j] for j in columns_of_words(part, len(columns))}
        return found
    values: Any = []
    if isinstance(step, OneHotEncoder):
        values = step.categories_
    elif isinstance(step, SimpleImputer):
        values = [[value] for value in step.statistics_.tolist()]
    return {j for j, some in enumerate(values) if any(isinstance(value, str) for value in some)}


def columns_in_use(step: Any, d: int) -> set[int]:
    """Return which of ``d`` columns a step uses at all."""
    if isinstance(step, ColumnTransformer):
        return {j for part, columns in _parts(step) if part != "drop" for j in columns}
    return set(range(d))


def _parts(step: ColumnTransformer) -> list[tuple[Any, Sequence[int]]]:
    """Return the fitted steps of a ColumnTransformer with the columns of each."""
    names = getattr(step, "feature_names_in_", None)
    known = None if names is None else {name: j for j, name in enumerate(names)}
    out: list[tuple[Any, Sequence[int]]] = []
    left = set(range(int(step.n_features_in_)))
    for k, (_, fitted, columns) in enumerate(step.transformers_):
        if k < len(step.transformers):
            given, places = step.transformers[k][1], selected_indices(columns, int(step.n_features_in_), known)
        else:
            given, places = step.remainder, sorted(left)
        left -= set(places)
        one = given if isinstance(given, str) else fitted
        out.append((one if places else "drop", places))
    return out


# one function for each step


def _scale(graph: Graph, rows: Rows, centre: Any, spread: Any) -> Rows:
    tensor, width = rows.matrix(graph, "a scaler"), sum(part.width for part in rows.parts)
    if rows.sparse and spread is not None:  # scikit-learn multiplies the numbers of sparse rows by one over it
        tensor = graph("Mul", tensor, graph.constant((1.0 / np.asarray(spread))[None, :]))
        return Rows([ColumnGroup(tensor, width)], rows.sparse)
    return Rows([ColumnGroup(scaled(graph, tensor, centre, spread), width)], rows.sparse)


def _standard(graph: Graph, step: StandardScaler, rows: Rows) -> Rows:
    return _scale(graph, rows, step.mean_ if step.with_mean else None, step.scale_)


def _maxabs(graph: Graph, step: MaxAbsScaler, rows: Rows) -> Rows:
    out = _scale(graph, rows, None, step.scale_)
    if not getattr(step, "clip", False):
        return out
    clipped = graph("Clip", out.parts[0].tensor, graph.number(-1.0), graph.number(1.0))
    return Rows([ColumnGroup(clipped, out.parts[0].width)], out.sparse)


def _exact(graph: Graph, step: ExactScaler, rows: Rows) -> Rows:
    tensor = rows.matrix(graph, "a scaler")
    return Rows([ColumnGroup(scaled(graph, tensor, step.centre_, step.spread_), len(step.centre_))], rows.sparse)


def _impute(graph: Graph, step: SimpleImputer, rows: Rows) -> Rows:
    kept_all = step.strategy == "constant" or step.keep_empty_features

    def change(part: ColumnGroup, start: int) -> ColumnGroup | None:
        values = step.statistics_[start : start + part.width].tolist()
        if part.words:
            return ColumnGroup(part.tensor, 1, True, (step.missing_values, str(values[0])))
        numbers = np.array([math.nan if value is None else float(value) for value in values])
        kept = [j for j, value in enumerate(numbers) if kept_all or not math.isnan(value)]
        missing = step.missing_values
        if isinstance(missing, str):
            raise ValueError("a SimpleImputer that looks for words gets numbers, so there is no ONNX graph of it.")
        tensor = part.tensor if len(kept) == part.width else gather(graph, part.tensor, kept) if kept else ""
        gap = math.nan if missing is None else float(missing)
        return ColumnGroup(filled(graph, tensor, numbers[kept], gap), len(kept)) if kept else None

    return rows.each(change)


def _encode(graph: Graph, step: OneHotEncoder, rows: Rows) -> Rows:
    dropped = [None] * len(step.categories_) if step.drop_idx_ is None else list(step.drop_idx_)
    known = [
        [value for k, value in enumerate(values.tolist()) if k != drop]
        for values, drop in zip(step.categories_, dropped, strict=True)
    ]
    out = rows.each(lambda part, start: one_hot(graph, part, known[start : start + part.width]))
    return Rows(out.parts, bool(step.sparse_output))


def _sphere(graph: Graph, step: SphereLift, rows: Rows) -> Rows:
    tensor, width = rows.matrix(graph, "SphereLift"), int(step.n_features_in_)
    square = graph("ReduceSumSquare", tensor, axes=[1], keepdims=1)
    return Rows([ColumnGroup(tensor, width), ColumnGroup(square)], rows.sparse)


def _combine(graph: Graph, step: Combinations, rows: Rows) -> Rows:
    """Multiply the first feature with the combination of the others, as scikit-learn does for dense rows."""
    tensor, d = rows.matrix(graph, "Combinations"), int(step.n_features_in_)
    least, most = (1, step.degree) if isinstance(step.degree, int | np.integer) else step.degree
    level: list[tuple[int, ...]] = [(j,) for j in range(d)]
    columns, parts = tensor, [ColumnGroup(tensor, d)] if least == 1 else []
    for degree in range(2, min(most, d) + 1):
        places = {chosen: k for k, chosen in enumerate(level)}
        level = list(combinations(range(d), degree))
        first = gather(graph, tensor, [chosen[0] for chosen in level])
        columns = graph("Mul", first, gather(graph, columns, [places[chosen[1:]] for chosen in level]))
        if degree >= least:
            parts.append(ColumnGroup(columns, len(level)))
    return Rows(parts, rows.sparse)


def _select(graph: Graph, step: ColumnTransformer, rows: Rows) -> Rows:
    parts: list[ColumnGroup] = []
    weights = step.transformer_weights or {}
    for (name, _, _), (one, columns) in zip(step.transformers_, _parts(step), strict=True):
        if isinstance(one, str) and one == "drop":
            continue
        made = apply_step(graph, one, Rows(rows.select(graph, columns).parts, rows.sparse))
        if weights.get(name, None) is not None:
            tensor = graph("Mul", made.matrix(graph, "a weight"), graph.number(float(weights[name])))
            made = Rows([ColumnGroup(tensor, sum(part.width for part in made.parts))])
        parts += made.parts
    return Rows(parts, bool(step.sparse_output_))


def _chain(graph: Graph, step: Pipeline, rows: Rows) -> Rows:
    for _, one in step.steps:
        rows = apply_step(graph, one, rows)
    return rows


_STEPS: dict[type, Callable[[Graph, Any, Rows], Rows]] = {
    StandardScaler: _standard,
    MaxAbsScaler: _maxabs,
    ExactScaler: _exact,
    SimpleImputer: _impute,
    OneHotEncoder: _encode,
    SphereLift: _sphere,
    Combinations: _combine,
    ColumnTransformer: _select,
    Pipeline: _chain,
}
