"""A table that describes the columns of a table: what they hold, what they become, and what looks suspicious."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rosenblatt.data.row_source import Preparation
from rosenblatt.data.tables.arrow_arrays import is_unsupported_type
from rosenblatt.data.tables.arrow_values import parse_strings
from rosenblatt.data.tables.column_kinds import PARSERS, infer_kind
from rosenblatt.data.tables.column_profiles import ColumnProfile, profile, tells_target
from rosenblatt.data.tables.id_columns import integers_like_ids, strings_like_ids
from rosenblatt.data.tables.reader import TableChunk
from rosenblatt.tables import Table

COLUMNS = ("column", "kind", "becomes", "missing", "distinct", "histogram", "range", "looks")
_DOMINATES = 0.99
_MOSTLY = 0.5
_LABEL_KINDS = {"integer": "number", "text": "category"}
"""Kinds of labels that columns have other words for."""


def describe_columns(
    head: TableChunk, typed: bool, preparation: Preparation, dropped: Mapping[str, str], title: str, features: int
) -> Table:
    """Return a row for each column, given the first rows of a table, how rows are made and what was left out."""
    missing = tuple(preparation["missing_values"])
    target = preparation["target"] and preparation["target"]["name"]
    entries = {column["name"]: column for column in preparation["columns"]}
    labels = None
    if target in head.columns:
        labels = profile(head.columns[target], "category", missing).codes
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for name in head.columns:
        kind = _kind(head, name, typed, preparation, entries)
        becomes = _becomes(name, preparation, entries.get(name))
        if kind in ("nested", "other"):
            cells = [name, kind, becomes, head.columns[name].null_count, None, "", "", dropped.get(name, "unclear")]
        else:
            found = profile(head.columns[name], "category" if name == target else kind, missing)
            shown = "integer" if kind == "number" and found.integers and found.distinct else kind
            shown = preparation["target"]["kind"].replace("text", kind) if name == target else shown
            looks = _looks(head, found, dropped.get(name))
            if name not in (target, preparation["weight"]):
                like_id = None if name in dropped else _like_id(head, name, kind, missing)
                leaks = labels is not None and tells_target(found, labels, ordered=kind in PARSERS)
                looks += [words for words in (like_id, "alone tells the target: does it leak it?" * leaks) if words]
            cells = [
                name,
                shown,
                becomes,
                found.missing,
                found.distinct,
                found.histogram,
                found.range,
                "; ".join(looks),
            ]
        for values, cell in zip(columns.values(), cells, strict=True):
            values.append(cell)
    return Table(columns, title, [f"{features:,} features in all." if features != 1 else "1 feature in all."])


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


def _looks(head: TableChunk, found: ColumnProfile, dropped: str | None) -> list[str]:
    """Return what looks suspicious about a column by itself."""
    looks = [dropped] if dropped else []
    if found.distinct <= 1:
        looks.append("constant" if found.distinct else "empty")
    elif found.largest_share >= _DOMINATES:
        looks.append(f"one value has {found.largest_share:.1%} of the rows")
    if found.distinct and found.missing > _MOSTLY * head.n:
        looks.append("mostly missing")
    return looks


def _like_id(head: TableChunk, name: str, kind: str, missing: tuple[str, ...]) -> str | None:
    if kind == "number":
        return integers_like_ids(head.columns[name], missing)
    if kind not in ("text", "category"):
        return None
    return strings_like_ids([text for text in parse_strings(head.columns[name], missing).to_pylist() if text])
