"""What the columns of a table are, decided from its first rows and written down as plain data: a preparation."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.tables.arrow_values import FALSE, MISSING_NUMBERS, TRUE, numbers_of, texts_of, truths_of
from rosenblatt.data.tables.encoder import Encoder
from rosenblatt.data.tables.list_columns import LISTS, has_lists
from rosenblatt.data.tables.reader import Piece, arrow, is_odd, listed, near

__all__ = ["FIRST_ROWS", "Choices", "decide"]

FIRST_ROWS = 10_000
"""Rows that kinds, categories and fill values are decided from."""
MOST_CATEGORIES = 1000
FEW = 20
"""Different values that are few even if none of them comes twice."""
KINDS = ("number", "boolean", "category", "text")
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?\s?(Z|UTC|[+-]\d\d:?\d\d)?)?")


class Choices:
    """What the user says about a table's columns. See ``files.open`` for the meaning."""

    def __init__(
        self,
        target: str | int | None = None,
        *,
        labels: bool = True,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        kinds: Mapping[str, Any] | None = None,
        categories: str = "onehot",
        bits: int = 18,
        ngrams: int = 1,
        missing: str = "error",
        missing_values: Sequence[str] = (),
        weight: str | int | None = None,
    ) -> None:
        for name, value in (("columns", columns), ("drop", drop), ("missing_values", missing_values)):
            if isinstance(value, str):
                raise ValueError(f"{name} must be a list of strings, got {value!r}: say [{value!r}].")
        for name, given, allowed in (
            ("categories", categories, ("onehot", "hash")),
            ("missing", missing, ("error", "zero", "mean")),
        ):
            if given not in allowed:
                raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {given!r}.")
        if not 1 <= bits <= 30:
            raise ValueError(f"bits must be between 1 and 30, got {bits}.")
        if not 1 <= ngrams <= 5:
            raise ValueError(f"ngrams must be between 1 and 5, got {ngrams}.")
        for name, kind in (kinds or {}).items():
            if kind not in KINDS and (isinstance(kind, str) or not isinstance(kind, Sequence)):
                raise ValueError(
                    f"the kind of {name!r} must be one of {listed(KINDS)}, or a list of categories, got {kind!r}."
                )
        self.target, self.labels, self.weight = target, labels, weight
        self.columns, self.drop, self.kinds = columns, drop, dict(kinds or {})
        self.categories, self.bits, self.ngrams = categories, bits, ngrams
        self.missing, self.missing_values = missing, [str(value) for value in missing_values]


def decide(
    head: Piece, order: list[str], typed: bool, choices: Choices, file: str, header: bool | None = None
) -> dict[str, Any]:
    """Return the preparation of a table, given its first rows and the names of its columns.

    Raises
    ------
    DataError
        If there are columns of which nobody can tell what to do with them: dates, nested values, numbers mixed with
        other things, strings that are nearly all different.
    """
    target = _named(choices.target, order, "target", file, header)
    weight = _named(choices.weight, order, "weight", file, header)
    if target is None and choices.labels:
        raise ValueError(
            f"which column of {file} is the label? Say target=, one of {listed(order)}; "
            "or labels=False for rows without labels."
        )
    for name in (*choices.drop, *(choices.columns or ()), *choices.kinds):
        _named(name, order, "column", file, header)
    kinds = choices.kinds
    used = [name for name in (order if choices.columns is None else choices.columns) if name not in choices.drop]
    used = [name for name in used if name not in (target, weight)]
    if not used:
        raise ValueError(f"no column of {file} is left to learn from: its columns are {listed(order)}.")
    lists = set(LISTS) <= set(used) and has_lists(head.columns)
    others = [name for name in used if name not in LISTS]
    if lists and others:
        raise DataError(
            f"{file} has sparse rows in its columns {' and '.join(LISTS)}, and more columns besides: "
            f"leave them out by drop={others}, or learn from them alone by drop={list(LISTS)}."
        )
    missing = tuple(choices.missing_values)
    columns, problems = [], {}
    for name in used if not lists else ():
        kind = _told(head, name, typed, missing, choices.categories)
        if header and kind == "number" and name == f"c{order.index(name) + 1}" and _counts_rows(head, name):
            kind = Problem("has no name and counts the rows", "number")
        if name in kinds and not is_odd(head.columns[name].type):
            kind = kinds[name]
        if isinstance(kind, Problem):
            problems[name] = kind
        else:
            columns.append(_column(head, name, kind, choices))
    if problems:
        what = "; ".join(f"column {name!r} {problem.clause}" for name, problem in problems.items())
        suggested = {name: problem.suggestion for name, problem in problems.items() if problem.suggestion}
        way_out = f", or say kinds={suggested}" if suggested else ""
        raise DataError(f"{file}: {what}: leave out what is no feature by drop={list(problems)}{way_out}.")
    preparation: dict[str, Any] = {
        "order": order,
        "target": None
        if target is None
        else {"name": target, "kind": _label_kind(head, target, typed, kinds, missing, file)},
        "weight": weight,
        "columns": columns,
        "ignored": [name for name in order if name not in (*used, target, weight)],
        "others": choices.columns is not None,
        "missing": choices.missing,
        "missing_values": list(missing),
        "bits": choices.bits,
        "ngrams": choices.ngrams,
        "sparse": True,
        "lists": lists,
    }
    if not lists:
        preparation["sparse"] = _is_sparse(head, preparation)
    return preparation


def _named(column: str | int | None, order: list[str], what: str, file: str, header: bool | None) -> str | None:
    """Return the name of a column that is given by its name or its place."""
    if column is None or (isinstance(column, str) and column in order):
        return column
    if isinstance(column, int) and -len(order) <= column < len(order):
        return order[column]
    shown = f"{column!r}{near(column, order)}" if isinstance(column, str) else f"number {column}"
    raise ValueError(
        f"{file} has no column {shown}{' for the ' + what if what != 'column' else ''}: its columns are {listed(order)}"
        f"{_header_note(header)}."
    )


def _header_note(header: bool | None) -> str:
    if header is None:
        return ""
    if header:
        return " (its first line was taken for their names: say header=False if it is not)"
    return " (its first line was taken for data, not for their names: say header=True if it has them)"


def _counts_rows(head: Piece, name: str) -> bool:
    """Say whether a column is the number of the row, as pandas writes it before the others."""
    values, _ = numbers_of(head.columns[name], ())
    return len(values) > 2 and bool((np.diff(values) == 1.0).all())


class Problem(NamedTuple):
    """Why the kind of a column cannot be told, and what it might be."""

    clause: str
    suggestion: str


def _told(head: Piece, name: str, typed: bool, missing: tuple[str, ...], categories: str) -> str | Problem:
    """Return the kind of a column, or a clause that says why it cannot be told."""
    pa = arrow()
    array, type_ = head.columns[name], head.columns[name].type
    if name in head.odd:
        nested = "lists" in head.odd[name] or "objects" in head.odd[name]
        return Problem(f"holds {head.odd[name]}", "" if nested else "category")
    if pa.types.is_temporal(type_):
        return Problem(f"holds dates or times ({type_})", "category")
    if is_odd(type_):
        return Problem(f"holds {type_} values", "")
    if pa.types.is_boolean(type_):
        return "boolean"
    if not (pa.types.is_string(type_) or pa.types.is_large_string(type_)):
        return "number"
    texts = texts_of(array, missing)
    values = [text for text in texts.to_pylist() if text is not None]
    if not values:
        return "number"
    if not typed:
        if set(values) - set(MISSING_NUMBERS) <= {*TRUE, *FALSE} and set(values) & {*TRUE, *FALSE}:
            return "boolean"
        numbers, bad = numbers_of(array, missing)
        n = int((~np.isnan(numbers)).sum())
        if not bad:
            return "number"
        if n > 9 * len(bad):
            first = f"{array[bad[0]].as_py().strip()!r} ({head.where(bad[0])})"
            return Problem(
                f"holds numbers in {n} of its first {head.n} rows and not in {len(bad)}, first {first}", "number"
            )
    return _of_strings(values, categories)


def _of_strings(values: list[str], categories: str) -> str | Problem:
    different = set(values)
    if all(_DATE.fullmatch(value) for value in different):
        return Problem(f"holds dates, such as {values[0]!r}", "category")
    mostly_different = len(different) > max(FEW, len(values) / 2)
    words = sum(len(value.split()) for value in values) / len(values)
    if words >= 3 and 2 * len(different) > len(values):
        return "text"
    if categories == "hash" or (len(different) <= MOST_CATEGORIES and not mostly_different):
        return "category"
    return Problem(f"has {len(different)} different values in {len(values)} rows, such as {values[0][:40]!r}", "text")


def _column(head: Piece, name: str, kind: Any, choices: Choices) -> dict[str, Any]:
    """Return what the preparation says about one column."""
    array, missing = head.columns[name], tuple(choices.missing_values)
    if not isinstance(kind, str):
        return {"name": name, "kind": "category", "categories": [str(value) for value in dict.fromkeys(kind)]}
    column: dict[str, Any] = {"name": name, "kind": kind}
    if kind == "category" and choices.categories == "onehot":
        column["categories"] = sorted({text for text in texts_of(array, missing).to_pylist() if text is not None})
    if kind in ("number", "boolean") and choices.missing != "error":
        column["fill"] = 0.0
        if choices.missing == "mean":
            column["fill"] = _mean(array, kind, missing)
    return column


def _mean(array: Any, kind: str, missing: tuple[str, ...]) -> float:
    """Return the mean of the numbers that are there, rounded once; 0 where there are none."""
    values, _ = (truths_of if kind == "boolean" else numbers_of)(array, missing)
    values = values[np.isfinite(values)]
    try:
        return math.fsum(values.tolist()) / max(1, len(values))
    except OverflowError:
        return math.fsum((values / len(values)).tolist())


def _label_kind(head: Piece, name: str, typed: bool, kinds: dict[str, Any], missing: tuple[str, ...], file: str) -> str:
    """Return "integer", "number", "boolean" or "text"."""
    array = head.columns[name]
    if texts_of(array, missing).null_count == len(array) and len(array):
        raise DataError(f"{file}: column {name!r}, the target, has no label in the first {len(array)} rows.")
    kind = kinds.get(name) or _told(head, name, typed, missing, "hash")
    if kind != "number":
        return "boolean" if kind == "boolean" else "text"
    values, _ = numbers_of(array, missing)
    values = values[np.isfinite(values)]
    whole = (values == np.rint(values)) & (np.abs(values) <= 2.0**53)
    return "integer" if whole.all() else "number"


def _is_sparse(head: Piece, preparation: dict[str, Any]) -> bool:
    """Say whether rows come as CSR: where something is hashed, or fewer than a quarter of the features are not 0."""
    encoder = Encoder(preparation)
    if encoder.n_features != encoder.fixed:
        return True
    if all(column["kind"] != "category" for column in preparation["columns"]):
        return False
    X = encoder.encode(head).X
    return 4 * X.nnz < X.shape[0] * X.shape[1]
