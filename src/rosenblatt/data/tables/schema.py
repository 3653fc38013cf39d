"""What the columns of a table are: a schema, inferred from its first rows and kept as plain data, a preparation."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.blocks import DataError, is_sparse
from rosenblatt.data.preparations import KINDS, MOST_BITS, MOST_NGRAMS
from rosenblatt.data.row_source import FILLS, Preparation
from rosenblatt.data.tables.arrow_arrays import import_arrow, is_unsupported_type, show_type, strings_to_arrow
from rosenblatt.data.tables.arrow_values import (
    BOOLEANS,
    MISSING_NUMBERS,
    parse_booleans,
    parse_numbers,
    parse_strings,
    plain_text,
)
from rosenblatt.data.tables.encoder import Encoder
from rosenblatt.data.tables.list_columns import LISTS, has_lists
from rosenblatt.data.tables.reader import TableChunk, join_names, suggestion
from rosenblatt.parameters import IfAvailable, ParameterError, Phrase, Setting, check_choice, check_integer, shorten

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CATEGORIES = 1000
_CELLS_AT_ONCE = 1 << 16
FEW = 20
"""Different values that are few even if each occurs once."""
_MOST_NAMED = 20
"""Unclear columns that are named one by one."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?\s?(Z|UTC|[+-]\d\d:?\d\d)?)?")


@dataclass
class TableOptions:
    """The options for the columns of a table, checked. ``data.open`` documents them."""

    target: str | int | None = None
    labels: bool = True
    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    kinds: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    categories: str = "onehot"
    bits: int = 18
    ngrams: int = 1
    missing: str = "error"
    missing_values: Sequence[str] = ()
    weight: str | int | None = None

    def __post_init__(self) -> None:
        for name in ("columns", "drop", "missing_values"):
            if isinstance(value := getattr(self, name), str):
                hint = "give ", Setting(name, [value]), "."
                raise ParameterError(Setting(name), f" must be a list of strings, got {value!r}: ", *hint)
        check_choice("categories", self.categories, ("onehot", "hash"))
        check_choice("missing", self.missing, FILLS)
        check_integer("bits", self.bits, 1, most=MOST_BITS)
        check_integer("ngrams", self.ngrams, 1, most=MOST_NGRAMS)
        for name, kind in self.kinds.items():
            if kind not in KINDS and (isinstance(kind, str) or not isinstance(kind, Sequence)):
                allowed = f" of {name!r} must be one of {join_names(KINDS)}", IfAvailable("columns", ", or categories")
                raise ParameterError(Setting("kinds"), *allowed, f", got {shorten(kind)}.")
        self.missing_values = tuple(map(str, self.missing_values))


def infer_schema(
    head: TableChunk, order: list[str], typed: bool, options: TableOptions, file: str, header: bool | None = None
) -> Preparation:
    """Return the preparation of a table, given its first rows and the names of its columns.

    Raises
    ------
    DataError
        If it is unclear how some columns become features: dates, nested values, numbers mixed with other values,
        strings that are nearly all different.
    """
    ways: tuple[Phrase, ...]
    target = _find_column(options.target, order, "target", file, header)
    weight = _find_column(options.weight, order, "weight", file, header)
    if target is None and options.labels:
        unlabelled = IfAvailable("labels", "; or ", Setting("labels", False), " for rows without labels")
        ways = Setting("target"), f", one of {join_names(order)}", unlabelled, "."
        raise ParameterError(f"which column of {file} is the label? Give ", *ways)
    for name in (*options.drop, *(options.columns or ()), *options.kinds):
        _find_column(name, order, "", file, header)
    kinds = options.kinds
    unused = {*options.drop, target, weight}
    used = [name for name in (order if options.columns is None else options.columns) if name not in unused]
    if not used:
        raise ValueError(f"no column of {file} is left to learn from: its columns are {join_names(order)}.")
    lists = set(LISTS) <= set(used) and has_lists(head.columns)
    others = [name for name in used if name not in LISTS]
    if lists and others:
        ways = Setting("drop", others), ", or learn from them alone by ", Setting("drop", list(LISTS)), "."
        what = f"{file} has sparse rows in its columns {' and '.join(LISTS)}, and other columns"
        raise DataError(f"{what}: leave these out by ", *ways)
    missing = tuple(options.missing_values)
    columns, unclear = [], {}
    places = {name: k for k, name in enumerate(order)}
    numeric = set() if lists or typed else _numeric_columns(head, used, missing)
    for name in used if not lists else ():
        kind: str | Sequence[str] | UnclearColumn = "number"
        if name not in numeric:
            kind = _infer_kind(head, name, typed, missing, options.categories)
        if header and kind == "number" and name == f"c{places[name] + 1}" and _counts_rows(head, name):
            kind = UnclearColumn("has no name and counts the rows", "number")
        if name in kinds and not is_unsupported_type(head.columns[name].type):
            kind = kinds[name]
        if isinstance(kind, UnclearColumn):
            unclear[name] = kind
        else:
            columns.append(_column(head, name, kind, options))
    if unclear:
        raise _unclear_error(file, unclear)
    label_kind = None if target is None else _label_kind(head, target, typed, kinds.get(target), missing, file)
    kept = {*used, target, weight}
    preparation: Preparation = {
        "order": order,
        "target": None if target is None else {"name": target, "kind": label_kind},
        "weight": weight,
        "columns": columns,
        "ignored": [name for name in order if name not in kept],
        "others": options.columns is not None,
        "missing": options.missing,
        "missing_values": list(missing),
        "bits": options.bits,
        "ngrams": options.ngrams,
        "sparse": True,
        "lists": lists,
    }
    if not lists:
        preparation["sparse"] = _is_sparse(head, preparation)
    return preparation


def _find_column(column: str | int | None, order: list[str], use: str, file: str, header: bool | None) -> str | None:
    """Return the name of a column that is given by its name or its number."""
    if column is None or (isinstance(column, str) and column in order):
        return column
    if isinstance(column, int) and -len(order) <= column < len(order):
        return order[column]
    shown = f"{column!r}{suggestion(column, order)}" if isinstance(column, str) else f"number {column}"
    purpose = f" for the {use}" if use else ""
    hint: tuple[Phrase, ...] = ()
    if header is not None:
        what = "their names" if header else "data, not for their names"
        hint = f" (its first line was taken for {what}: give ", Setting("header", not header), " if that is wrong)"
    raise ParameterError(f"{file} has no column {shown}{purpose}: its columns are {join_names(order)}", *hint, ".")


def _counts_rows(head: TableChunk, name: str) -> bool:
    """Return whether a column counts the rows, as the index that pandas writes before the others."""
    values, _ = parse_numbers(head.columns[name], ())
    return len(values) > 2 and bool((np.diff(values) == 1.0).all())


class UnclearColumn(NamedTuple):
    """Why the kind of a column is unclear, and what it might be."""

    clause: str
    suggestion: str


def _unclear_error(file: str, unclear: dict[str, UnclearColumn]) -> DataError:
    if len(unclear) > _MOST_NAMED:
        some = ", ".join(map(shorten, islice(unclear, _MOST_NAMED)))
        what = f"it is unclear what {len(unclear):,} columns are ({some} and others)"
        return DataError(f"{file}: {what}: leave out what is no feature by ", Setting("drop"), ".")
    what = "; ".join(f"column {name!r} {column.clause}" for name, column in unclear.items())
    suggested = {name: column.suggestion for name, column in unclear.items() if column.suggestion}
    hint: tuple[Phrase, ...] = (", or give ", Setting("kinds", suggested)) if suggested else ()
    return DataError(f"{file}: {what}: leave out what is no feature by ", Setting("drop", list(unclear)), *hint, ".")


def _numeric_columns(head: TableChunk, names: list[str], missing: tuple[str, ...]) -> set[str]:
    """Return the columns of text whose cells are all numbers or missing; many at once, as there may be very many."""
    found: set[str] = set()
    n = max(1, head.n)
    step = max(1, _CELLS_AT_ONCE // n)
    for start in range(0, len(names), step):
        some = names[start : start + step]
        cells = import_arrow().concat_arrays([head.columns[name] for name in some])
        bad = {row // n for row in parse_numbers(cells, missing)[1]}
        found.update(name for k, name in enumerate(some) if k not in bad)
    return found


def _infer_kind(
    head: TableChunk, name: str, typed: bool, missing: tuple[str, ...], categories: str
) -> str | UnclearColumn:
    """Return the kind of a column, or why it is unclear."""
    pa = import_arrow()
    array, type_ = head.columns[name], head.columns[name].type
    if name in head.mixed:
        nested = "lists" in head.mixed[name] or "objects" in head.mixed[name]
        return UnclearColumn(f"holds {head.mixed[name]}", "" if nested else "category")
    if is_unsupported_type(type_):
        return UnclearColumn(f"holds {show_type(type_)} values", "")
    if pa.types.is_temporal(type_):
        return UnclearColumn(f"holds dates or times ({type_})", "category")
    if pa.types.is_boolean(type_):
        return "boolean"
    if not (pa.types.is_string(type_) or pa.types.is_large_string(type_)):
        return "number"
    texts = parse_strings(array, missing)
    values = [text for text in texts.to_pylist() if text is not None]
    if not values:
        return "number"
    if not typed:
        known = set(values) - set(MISSING_NUMBERS)
        if known and known.issubset(BOOLEANS):
            return "boolean"
        numbers, bad = parse_numbers(array, missing)
        n = int((~np.isnan(numbers)).sum())
        if not bad:
            return "number"
        if n > 9 * len(bad):
            first = f"{shorten(array[bad[0]].as_py().strip())} ({head.where(bad[0])})"
            return UnclearColumn(
                f"holds numbers in {n} of its first {head.n} rows and not in {len(bad)}, first {first}", "number"
            )
    return _kind_of_strings(values, categories)


def _kind_of_strings(values: list[str], categories: str) -> str | UnclearColumn:
    different = set(values)
    if all(_DATE.fullmatch(value) for value in different):
        return UnclearColumn(f"holds dates, such as {values[0]!r}", "category")
    mostly_different = len(different) > max(FEW, len(values) / 2)
    words = sum(len(value.split()) for value in values) / len(values)
    if words >= 3 and 2 * len(different) > len(values):
        return "text"
    if categories == "hash" or (len(different) <= MOST_CATEGORIES and not mostly_different):
        return "category"
    return UnclearColumn(
        f"has {len(different)} different values in {len(values)} rows, such as {values[0][:40]!r}", "text"
    )


def _column(head: TableChunk, name: str, kind: str | Sequence[str], options: TableOptions) -> dict[str, Any]:
    """Return the entry for one column in the preparation."""
    array, missing = head.columns[name], tuple(options.missing_values)
    if not isinstance(kind, str):
        given = [plain_text(value) if isinstance(value, bool | float) else str(value) for value in kind]
        texts = parse_strings(strings_to_arrow(given), missing).to_pylist()  # as those of the rows
        return {
            "name": name,
            "kind": "category",
            "categories": [text for text in dict.fromkeys(texts) if text is not None],
        }
    column: dict[str, Any] = {"name": name, "kind": kind}
    if kind == "category" and options.categories == "onehot":
        column["categories"] = sorted({text for text in parse_strings(array, missing).to_pylist() if text is not None})
    if kind in ("number", "boolean") and options.missing != "error":
        column["fill"] = _mean(array, kind, missing) if options.missing == "mean" else 0.0
    return column


def _mean(array: pa.Array, kind: str, missing: tuple[str, ...]) -> float:
    """Return the mean of the numbers that are not missing, rounded once; 0 if there are none."""
    values, _ = (parse_booleans if kind == "boolean" else parse_numbers)(array, missing)
    values = values[np.isfinite(values)]
    try:
        return math.fsum(values.tolist()) / max(1, len(values))
    except OverflowError:
        return math.fsum((values / len(values)).tolist())


def _label_kind(
    head: TableChunk, name: str, typed: bool, given: str | Sequence[str] | None, missing: tuple[str, ...], file: str
) -> str:
    """Return "integer", "number", "boolean" or "text", for the kind ``given`` if there is one."""
    array = head.columns[name]
    if is_unsupported_type(array.type):
        raise DataError(
            f"{file}: column {name!r}, the target, holds {show_type(array.type)} values, expected numbers or strings."
        )
    if parse_strings(array, missing).null_count == len(array) and len(array):
        raise DataError(f"{file}: column {name!r}, the target, has no label in the first {len(array)} rows.")
    kind = given or _infer_kind(head, name, typed, missing, "hash")
    if kind != "number":
        return "boolean" if kind == "boolean" else "text"
    values, _ = parse_numbers(array, missing)
    values = values[np.isfinite(values)]
    integers = (values == np.rint(values)) & (np.abs(values) <= 2.0**53)
    return "integer" if integers.all() else "number"


def _is_sparse(head: TableChunk, preparation: dict[str, Any]) -> bool:
    """Return whether rows are CSR: if columns are hashed, or fewer than a quarter of the features are not 0."""
    encoder = Encoder(preparation)
    if encoder.n_features != encoder.fixed:
        return True
    if all(column["kind"] != "category" for column in preparation["columns"]):
        return False
    X = encoder.encode(head).X
    assert is_sparse(X)
    return 4 * X.nnz < X.shape[0] * X.shape[1]
