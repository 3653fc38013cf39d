"""A table that describes the columns of a table: what they hold, what they become, and what looks suspicious."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.row_source import Preparation
from rosenblatt.data.tables.arrow_arrays import is_unsupported_type
from rosenblatt.data.tables.arrow_values import parse_numbers, parse_strings
from rosenblatt.data.tables.column_kinds import FEW_WORDS, PARSERS, codes_in, infer_kind
from rosenblatt.data.tables.column_profiles import ColumnProfile, profile, tells_target
from rosenblatt.data.tables.column_table import ColumnTable
from rosenblatt.data.tables.dropped import is_usable
from rosenblatt.data.tables.id_columns import FEWEST_ROWS, integers_like_ids, strings_like_ids
from rosenblatt.data.tables.reader import TableChunk
from rosenblatt.parameters import Phrase, Setting, shorten

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("column", "kind", "becomes", "missing", "distinct", "histogram", "range", "looks")
_DOMINATES = 0.99
_MOSTLY = 0.5
_LABEL_KINDS = {"integer": "number", "text": "category"}
"""Kinds of labels that columns have other words for."""


class _Look(NamedTuple):
    """Something that looks suspicious about a column, and what can be done."""

    words: str
    advice: tuple[Phrase, ...] = ()


def describe_columns(
    head: TableChunk, typed: bool, preparation: Preparation, dropped: Mapping[str, str], title: str, features: int
) -> ColumnTable:
    """Return a row for each column, given the first rows of a table, how rows are made and what was left out."""
    missing = tuple(preparation["missing_values"])
    target = preparation["target"] and preparation["target"]["name"]
    entries = {column["name"]: column for column in preparation["columns"]}
    labels = None
    if target in head.columns:
        labels = profile(head.columns[target], "category", missing).codes
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    remarks: list[tuple[Phrase, ...]] = []
    for name in head.columns:
        kind = _kind(head, name, typed, preparation, entries)
        becomes = _becomes(name, preparation, entries.get(name))
        looks = _left_out(name, dropped.get(name))
        if kind in ("nested", "other"):
            looks = looks or [_Look("unclear")]
            cells: list[Any] = [name, kind, becomes, None, None, "", ""]
        else:
            found = profile(head.columns[name], "category" if name == target else kind, missing)
            shown = "integer" if kind == "number" and found.integers and found.distinct else kind
            shown = preparation["target"]["kind"].replace("text", kind) if name == target else shown
            looks += _looks(head, found)
            if name not in (target, preparation["weight"]):
                like_id = _like_id(head, name, kind, found, missing) if name in entries else None
                leaks = labels is not None and tells_target(found, labels, ordered=kind in PARSERS)
                looks += [like_id] if like_id else []
                looks += [_Look("alone tells the target: does it leak it?")] if leaks else []
                strings = not typed and kind in ("text", "category") and (name in entries or name in dropped)
                looks += _digits(head.columns[name], name, missing) if strings else []
            cells = [name, shown, becomes, found.missing, found.distinct, found.histogram, found.range]
        for values, cell in zip(columns.values(), [*cells, "; ".join(look.words for look in looks)], strict=True):
            values.append(cell)
        if looks:
            remarks.append((f"{name}: ", *_joined(looks)))
    in_all = f"{features:,} features in all." if features != 1 else "1 feature in all."
    return ColumnTable(columns, title, [in_all], remarks)


def _joined(looks: list[_Look]) -> Iterator[Phrase]:
    for k, look in enumerate(looks):
        yield f"{'; ' if k else ''}{look.words}"
        yield from look.advice


def _kind(
    head: TableChunk, name: str, typed: bool, preparation: Preparation, entries: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the kind of a column: as it is used, or as it would be."""
    if name in entries:
        return str(entries[name]["kind"])
    if is_unsupported_type(head.columns[name].type):
        return "nested"
    if preparation["target"] is not None and name == preparation["target"]["name"]:
        kind = preparation["target"]["kind"]
        return _LABEL_KINDS.get(kind, kind)
    found = infer_kind(head, name, typed, tuple(preparation["missing_values"]))
    if isinstance(found, str):
        return found
    if name in head.mixed and not found.best:
        return "nested"
    if found.rewrite:
        return "date?"
    return {"hash": "category", "": "category"}.get(found.best, found.best)


def _becomes(name: str, preparation: Preparation, entry: Mapping[str, Any] | None) -> str:
    if preparation["target"] is not None and name == preparation["target"]["name"]:
        return "target"
    if name == preparation["weight"]:
        return "weight"
    if entry is None:
        return "left out"
    if entry["kind"] == "text":
        return "words, hashed"
    if entry["kind"] != "category":
        return "1 feature"
    if "categories" not in entry:
        return "hashed"
    words = entry["categories"]
    return f"{len(words)} feature{'s' * (len(words) != 1)}: {', '.join(words)}"[:60]


def _left_out(name: str, reason: str | None) -> list[_Look]:
    if reason is None:
        return []
    return [_Look(reason, ("; ", Setting("keep", [name]), " uses it") if is_usable(reason) else ())]


def _looks(head: TableChunk, found: ColumnProfile) -> list[_Look]:
    """Return what looks suspicious about a column by itself."""
    looks = []
    if found.distinct <= 1:
        looks.append(_Look("constant" if found.distinct else "empty"))
    elif found.largest_share >= _DOMINATES:
        looks.append(_Look(f"one value has {found.largest_share:.1%} of the rows"))
    if found.distinct and found.missing > _MOSTLY * head.n:
        looks.append(_Look("mostly missing"))
    return looks


def _like_id(head: TableChunk, name: str, kind: str, found: ColumnProfile, missing: tuple[str, ...]) -> _Look | None:
    if kind == "number":
        clause = integers_like_ids(head.columns[name], missing)
        if clause is None and found.integers and found.distinct == head.n >= FEWEST_ROWS:
            leave_out = " ", Setting("drop", [name]), " leaves it out"
            return _Look("different in every row: is it an id?", leave_out)
    elif kind in ("text", "category"):
        texts = parse_strings(head.columns[name], missing).to_pylist()
        clause = strings_like_ids([text for text in texts if text])
    else:
        return None
    return _Look(clause) if clause else None


def _digits(array: pa.Array, name: str, missing: tuple[str, ...]) -> list[_Look]:
    """Return that a column of strings holds codes, or numbers beside a few words; nothing if it holds neither."""
    code = codes_in(array, missing)
    if code:
        as_numbers = "; ", Setting("kinds", {name: "number"}), " takes them for numbers"
        return [_Look(f"taken for codes, as {code!r} begins with 0 and all have as many digits", as_numbers)]
    values, bad = parse_numbers(array, missing)
    words = sorted({str(array[row].as_py()).strip() for row in bad})
    numbers = int((~np.isnan(values)).sum())
    if not words or len(words) > FEW_WORDS or numbers < len(bad):
        return []
    beside = ", ".join(map(shorten, words))
    as_missing = "; ", Setting("missing_values", words), " counts what is no number as missing"
    return [_Look(f"holds numbers beside {beside}, so each value is a category", as_missing)]
