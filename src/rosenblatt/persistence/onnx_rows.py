"""Rows in an ONNX graph while they are prepared: columns of numbers side by side, and columns of words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rosenblatt.persistence.exact_onnx import Graph


@dataclass(frozen=True)
class ColumnGroup:
    """Some columns of the rows, side by side: a matrix of numbers, or one column of words."""

    tensor: str
    width: int = 1
    words: bool = False
    fill: tuple[Any, str] | None = None
    """For words, what is missing, a word or NaN, None and the like, and the word that takes its place."""


@dataclass(frozen=True)
class Rows:
    """Rows as groups of columns side by side."""

    parts: list[ColumnGroup]
    sparse: bool = False
    """Whether scikit-learn has them as a sparse matrix here, which some steps treat with other roundings."""

    def each(self, change: Callable[[ColumnGroup, int], ColumnGroup | None]) -> Rows:
        """Return the rows with each part changed, given the number of its first column; None leaves it out."""
        out, start = [], 0
        for part in self.parts:
            changed = change(part, start)
            start += part.width
            if changed is not None and changed.width:
                out.append(changed)
        return replace(self, parts=out)

    def matrix(self, graph: Graph, what: str) -> str:
        """Return all columns as one matrix; a ValueError, where there are words, that ``what`` expects numbers."""
        if any(part.words for part in self.parts):
            raise ValueError(
                f"{what} gets a column of words, which an ONNX graph cannot use as numbers: encode it first."
            )
        if len(self.parts) == 1:
            return self.parts[0].tensor
        return graph("Concat", *(part.tensor for part in self.parts), axis=1)

    def select(self, graph: Graph, columns: Sequence[int]) -> Rows:
        """Return some of the columns, in the order given."""
        places = [(part, k) for part in self.parts for k in range(part.width)]
        out: list[ColumnGroup] = []
        k = 0
        while k < len(columns):
            part, first = places[columns[k]]
            run = [first]
            while k + len(run) < len(columns) and places[columns[k + len(run)]][0] is part:
                run.append(places[columns[k + len(run)]][1])
            whole = part.width == len(run) and run == list(range(part.width))
            out.append(part if whole else ColumnGroup(gather(graph, part.tensor, run), len(run)))
            k += len(run)
        return replace(self, parts=out)


def gather(graph: Graph, tensor: str, columns: Sequence[int]) -> str:
    """Return some columns of a matrix."""
    return graph("Gather", tensor, graph.constant(np.array(columns, np.int64)), axis=1)


def one_hot(graph: Graph, part: ColumnGroup, categories: list[list[Any]]) -> ColumnGroup:
    """Return a column for each category, 1 where a row has it; for words or numbers, NaN among them."""
    total = sum(map(len, categories))
    if not total:
        return replace(part, width=0)
    if part.words:
        return ColumnGroup(_one_hot_words(graph, part, categories[0]), total)
    columns = [k for k, values in enumerate(categories) for _ in values]
    known = np.array([[float(value) for values in categories for value in values]])
    repeated = gather(graph, part.tensor, columns)
    found = graph("Equal", repeated, graph.constant(known))
    missing = np.isnan(known)
    if missing.any():
        found = graph("Or", found, graph("And", graph("IsNaN", repeated), graph.constant(missing)))
    return ColumnGroup(graph("Cast", found, to=graph.type("DOUBLE")), total)


def _one_hot_words(graph: Graph, part: ColumnGroup, categories: list[Any]) -> str:
    numbers: dict[str, int] = {}
    missing: tuple[Any, int] | None = None
    for k, value in enumerate(categories):
        numbers["" if _is_missing(value) else str(value)] = k  # an empty string stands for what is missing
        missing = (value, k) if _is_missing(value) else missing
    if part.fill is not None:
        gap, filled = part.fill
        token = gap if isinstance(gap, str) else ""
        if token in numbers and token != filled:
            raise ValueError(f"the word {token!r} is a category and stands for missing ones: rename the category.")
        if filled in numbers:
            numbers[token] = numbers[filled]
            missing = (gap, numbers[filled])
    if missing is not None:
        numbers.setdefault(str(missing[0]), missing[1])  # as runtimes in Python write it where they are given it
    codes = graph(
        "LabelEncoder",
        part.tensor,
        domain="ai.onnx.ml",
        keys_strings=[word.encode("utf-8", "surrogatepass") for word in numbers],
        values_int64s=list(numbers.values()),
        default_int64=-1,
    )
    found = graph("Equal", codes, graph.constant(np.arange(len(categories))[None, :]))
    return graph("Cast", found, to=graph.type("DOUBLE"))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def filled(graph: Graph, tensor: str, values: np.ndarray, missing: float = math.nan) -> str:
    """Return a matrix with the value of its column wherever a number is missing."""
    gaps = graph("IsNaN", tensor) if math.isnan(missing) else graph("Equal", tensor, graph.number(missing))
    return graph("Where", gaps, graph.constant(np.asarray(values, np.float64)[None, :]), tensor)


def scaled(graph: Graph, tensor: str, centre: np.ndarray | None, spread: np.ndarray | None) -> str:
    """Return ``(x - centre) / spread``, each rounded once."""
    for operator, values in (("Sub", centre), ("Div", spread)):
        if values is not None:
            tensor = graph(operator, tensor, graph.constant(np.asarray(values, np.float64)[None, :]))
    return tensor
