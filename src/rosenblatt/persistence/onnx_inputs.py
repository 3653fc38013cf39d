"""The inputs of an ONNX graph, and the features that a preparation or the steps of a pipeline make of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer

from rosenblatt.data.io.formats import TABLES
from rosenblatt.data.preparations import is_hashed, is_preparation
from rosenblatt.persistence.exact_onnx import INTERNAL, Graph
from rosenblatt.persistence.onnx_rows import ColumnGroup, Rows, filled, gather, one_hot, scaled
from rosenblatt.persistence.onnx_steps import apply_step, check_step, columns_in_use, columns_of_words
from rosenblatt.scaling import ColumnScale

_OUTPUTS = ("label", "scores")


@dataclass
class Inputs:
    """The inputs of a graph, each with its name, type and shape, and the columns that they stand for."""

    declared: list[tuple[str, str, list[Any]]] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    note: str = ""

    def matrix(self, width: int, words: bool = False) -> str:
        """Declare one input, X, with all columns."""
        self.declared.append(("X", "STRING" if words else "DOUBLE", ["rows", width]))
        return "X"

    def column(self, name: str, words: bool) -> ColumnGroup:
        """Declare the input of a column, under its own name where that is free."""
        free = name or "column"
        while free in _OUTPUTS or free in self.columns or free.startswith(INTERNAL):
            free = "column " + free
        self.columns[free] = name
        self.declared.append((free, "STRING" if words else "DOUBLE", ["rows", 1]))
        return ColumnGroup(free, 1, words)


def hashes_words(preparation: Any) -> bool:
    """Return whether a preparation hashes words, which no ONNX graph can do."""
    return any(map(is_hashed, preparation.get("columns", ())))


def prepared_rows(graph: Graph, inputs: Inputs, preparation: Any, width: int) -> str:
    """Return the features of rows, given as the columns of a table, or as X where no graph can make them."""
    columns = preparation.get("columns") if is_preparation(preparation) and preparation["format"] in TABLES else None
    if columns and not hashes_words(preparation):
        rows = Rows([])
        for column in columns:
            words = column["kind"] == "category"
            part = inputs.column(column["name"], words)
            if words:
                part = one_hot(graph, part, [column["categories"]])
            elif "fill" in column:
                part = ColumnGroup(filled(graph, part.tensor, np.array([column["fill"]])))
            rows.parts.extend([part] if part.width else [])
        x = rows.matrix(graph, "the model")
    else:
        x = inputs.matrix(width)
        if columns:
            inputs.note = "Words are hashed, which no ONNX graph can do: X are the features that the preparation makes."
    scale = preparation.get("scale") if is_preparation(preparation) else None
    return _on_scale(graph, x, ColumnScale.from_plain(scale), width) if scale and scale["features"] else x


def _on_scale(graph: Graph, x: str, scale: ColumnScale, width: int) -> str:
    """Return features on their scale; those after the last that is scaled stay as they are."""
    last = min(int(scale.features[-1]) + 1, width)
    centre, spread = scale.full(last)
    if last == width:
        return scaled(graph, x, centre, spread)
    first = scaled(graph, gather(graph, x, range(last)), centre, spread)
    ends = [graph.constant(np.array([number], np.int64)) for number in (last, width, 1)]
    return graph("Concat", first, graph("Slice", x, *ends), axis=1)


def piped_rows(graph: Graph, inputs: Inputs, steps: Iterable[Any], width: int) -> str:
    """Return the features that the steps of a pipeline make of its rows.

    There is an input for each column where the first step selects columns of a data frame, or takes words by name; one
    input X otherwise.
    """
    used = [step for step in steps if step is not None and not isinstance(step, str)]
    if not used:
        return inputs.matrix(width)
    check_step(used[0])
    d = int(used[0].n_features_in_)
    words, names = columns_of_words(used[0], d), getattr(used[0], "feature_names_in_", None)
    if names is not None and (words or isinstance(used[0], ColumnTransformer)):
        needed = columns_in_use(used[0], d)
        rows = Rows([inputs.column(str(names[j]), j in words) if j in needed else ColumnGroup("") for j in range(d)])
    elif words and len(words) < d:
        raise ValueError(
            "columns of words and of numbers cannot be one input of an ONNX graph: fit the pipeline on a data frame."
        )
    elif words:
        x = inputs.matrix(d, words=True)
        rows = Rows([ColumnGroup(gather(graph, x, [j]), 1, True) for j in range(d)])
    else:
        rows = Rows([ColumnGroup(inputs.matrix(d), d)])
    for step in used:
        rows = apply_step(graph, step, rows)
    return rows.matrix(graph, "the learner")
