"""The reader of tables in JSON lines, a format with one JSON object on each line.

Arrow parses the lines of a chunk if all of them are valid. Otherwise Python's ``json`` parses them, to find the invalid
line. Both round numbers to the nearest float64. A field that a line lacks is null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.io.lines import quote_bytes
from rosenblatt.data.tables.reader import NAME_COLUMNS, LinesReader, Passthrough, Records, TableChunk, first_repeated
from rosenblatt.data.tables.values import (
    combine_chunks,
    import_arrow,
    plain_text,
    python_numbers_to_arrow,
    strings_to_arrow,
)
from rosenblatt.messages import Message, shorten

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMN_ROWS = 1000
"""The maximum number of rows that are read to find the fields of a file."""
_MOST_CELLS = 10_000_000
"""The maximum number of cells (rows times fields) in the first rows if nearly all of the cells are empty."""
_LEAST_SHARE = 100
"""If there are more cells than `_MOST_CELLS`, at least one in this many must have a value."""
_CELLS_AT_ONCE = 2_000_000
"""The maximum number of cells of later rows that are allocated at once."""
_STRING = re.compile(rb'"((?:[^"\\]++|\\.)*+)"(\s*+:)?')
_DEEPEST = 100
"""The deepest nesting of brackets given to Arrow; much deeper nesting overflows the stack and crashes."""
_MOST_DIGITS = 308
"""Longer integers are parsed as floats; most of them are too large for float64."""
JsonObject: TypeAlias = dict[str, Any]


class JsonReader(LinesReader):
    """A reader of tables in JSON lines."""

    _ignored_types: dict[str, pa.DataType] = {}  # noqa: RUF012  replaced, never mutated
    """The types of fields that are not needed, kept so that Arrow does not infer them for each chunk."""

    def items(self) -> Generator[Records, None, None]:
        """Yield all items from the start, split into parts with a limited number of cells."""
        assert self.layout is not None
        most = max(1, _CELLS_AT_ONCE // max(1, len(self.layout.needed)))
        for item in super().items():
            if item.data.count(b"\n") <= most:
                yield item
                continue
            ends = np.flatnonzero(np.frombuffer(item.data, np.uint8) == ord("\n"))[most - 1 :: most] + 1
            for k, (start, stop) in enumerate(pairwise(sorted({0, *ends.tolist(), len(item.data)}))):
                yield item._replace(data=item.data[start:stop], line=item.line + k * most)

    def parse(self, item: Records) -> TableChunk:
        """Parse lines into the columns of the layout."""
        pa = import_arrow()
        assert self.layout is not None
        lines = [k for k, line in enumerate(item.data.split(b"\n")) if line.strip()]
        known = self.layout.known
        if item.faults or _is_deep(item.data, len(lines)):
            return self._slowly(item)
        try:
            item.data.decode("utf-8")
            table = self._table(item.data, len(lines))
            columns = {name: combine_chunks(table.column(name)) for name in self.layout.needed}
            if table.num_rows == len(lines) and (known is None or known.issuperset(table.column_names)):
                where = self._where(item)
                return TableChunk(columns, len(lines), lambda k: where(lines[k]), share=item.share)
        except (pa.ArrowInvalid, UnicodeDecodeError):
            pass
        return self._slowly(item)

    def _table(self, data: bytes, rows: int) -> pa.Table:
        """Parse lines with Arrow; raise ArrowInvalid if a line is invalid or too many fields are unknown."""
        arrow, pj = import_arrow(), import_arrow(".json")
        assert self.layout is not None
        types = {"number": arrow.float64(), "boolean": arrow.bool_(), "string": arrow.string()}
        needed = {name: types[kind] for name, kind in self.layout.needed.items()}

        def read(fields: dict[str, pa.DataType], others: str) -> pa.Table:
            return pj.read_json(
                arrow.BufferReader(data),
                pj.ReadOptions(use_threads=False, block_size=len(data) + 1),
                pj.ParseOptions(explicit_schema=arrow.schema(list(fields.items())), unexpected_field_behavior=others),
            )

        if self.layout.known is None:
            return read(needed, "ignore")
        ignored = self.layout.known - needed.keys()
        try:
            return read(needed | self._ignored_types, "error")
        except arrow.ArrowInvalid:
            names = {match[1] for match in _STRING.finditer(data) if match[2]} if ignored else set()
            if not ignored or len(names) * rows > _CELLS_AT_ONCE:
                raise
        table = read(needed, "infer")
        self._ignored_types = {field.name: field.type for field in table.schema if field.name in ignored}
        return table

    def _slowly(self, item: Records) -> TableChunk:
        assert self.layout is not None
        objects, places, faults = self._objects(item)
        known = self.layout.known
        valid: list[int] = []
        rows: list[dict[str, str | None]] = []
        new_fields: list[tuple[int, str, Any]] = []
        for place, row in zip(places, objects, strict=True):
            try:
                cells = {name: _cell(name, row.get(name), kind) for name, kind in self.layout.needed.items()}
                new = [] if known is None else [name for name in row if name not in known]
                if self.collects_new:
                    new_fields += [(len(rows), name, row[name]) for name in new]
                elif new:
                    what = "the field {name} was not there in the first rows: remove it from the file{hint}"
                    raise DataError(what, name=repr(new[0]), hint=NAME_COLUMNS)
            except DataError as error:
                faults.append((place, error.message))
                continue
            valid.append(place)
            rows.append(cells)
        arrays = {name: strings_to_arrow([cells[name] for cells in rows]) for name in self.layout.needed}
        faults.sort(key=lambda fault: fault[0])
        kept = np.array(valid, np.int64)
        return TableChunk(arrays, len(valid), self._where(item), kept, faults, item.share, new_fields=new_fields)

    def passthrough(self, item: Records, chunk: TableChunk, places: np.ndarray) -> Passthrough:
        """Return the values of the passthrough fields; the value is None if a line lacks the field."""
        lines = item.data.split(b"\n")
        if chunk.places is None:  # then places do not count blank lines
            lines = [line for line in lines if line.strip()]
        objects = [json.loads(lines[place]) for place in places.tolist()]
        return {name: [row.get(name) for row in objects] for name in self.passthrough_columns}

    def head(self, rows: int) -> TableChunk:
        """Return the first ``rows`` rows as one chunk; the type of a column is the common type of its values."""
        found: list[JsonObject] = []
        wheres: list[str] = []
        for item in self._peek_items():
            objects, places, faults = self._objects(item)
            where = self._where(item)
            chunk = TableChunk({}, len(objects), where, np.array(places, np.int64), faults)
            self._raise_fault(chunk, rows - len(found))
            found += objects
            wheres += map(where, places)
            if len(found) >= rows:
                break
        found = found[:rows]
        self.columns = list(dict.fromkeys(name for row in found for name in row))
        self._check_number(len(self.columns), self.files.display_name(0))
        self.check_passthrough(self.columns, self.files.display_name(0))
        used = self.columns if self.chosen is None else self._chosen_of(self.columns)
        self._check_cells(found, used)
        chunk = TableChunk({}, len(found), lambda k: wheres[k])
        for name in used:
            chunk.columns[name], mixed = _column([row.get(name) for row in found])
            if mixed:
                chunk.mixed[name] = mixed
        return chunk

    def _check_cells(self, found: list[JsonObject], used: list[str]) -> None:
        """Raise a DataError if nearly all cells of a large table are empty.

        As a table, such data would take far more memory than the file.
        """
        cells, there = len(found) * len(used), sum(map(len, found))
        if self.chosen is None and cells > _MOST_CELLS and cells > _LEAST_SHARE * there:
            raise DataError(
                "{file}: the first {rows:,} rows have {fields:,} different fields, but a row has only {each:.1f} of "
                "them on average, expected a table: use a format for sparse rows, such as svmlight{hint}.",
                file=self.files.display_name(0),
                rows=len(found),
                fields=len(used),
                each=there / len(found),
                hint=NAME_COLUMNS,
            )

    def read_columns(self, rows: int) -> None:
        """Set ``columns`` to the fields of the first rows, or to None if there are no rows."""
        if not self.head(min(rows, _COLUMN_ROWS)).n:
            self.columns = None

    def _objects(self, item: Records) -> tuple[list[JsonObject], list[int], list[tuple[int, Message]]]:
        """Parse lines with ``json``; return the objects, their positions, and pairs (position, reason) of faults.

        Positions count the lines of the item from 0.
        """
        objects, places = [], []
        faults = list(item.faults)
        for place, line in enumerate(item.data.split(b"\n")):
            if not line.strip():
                continue
            value: object = None
            problem = ""
            try:
                value = json.loads(line.decode("utf-8"), object_pairs_hook=_object, parse_int=_integer)
                json.dumps(value, ensure_ascii=False).encode("utf-8")
            except DataError as error:
                faults.append((place, error.message))
                continue
            except UnicodeError:
                faults.append((place, Message("the line {fault}", fault=self.files.decoding.fault)))
                continue
            except RecursionError:
                problem = " with fewer nested brackets"
            except ValueError as error:
                problem = f" ({str(error).partition(': line')[0]})"
            if isinstance(value, dict):
                objects.append(value)
                places.append(place)
            else:
                what = "expected a JSON object on a line of its own{problem}, got {got}"
                faults.append((place, Message(what, problem=problem, got=quote_bytes(line))))
        return objects, places, faults


def _is_deep(data: bytes, lines: int) -> bool:
    """Return whether any of the lines is nested too deeply for Arrow."""
    if data.count(b"{") + data.count(b"[") - lines <= _DEEPEST:
        return False
    many = (line for line in data.split(b"\n") if line.count(b"{") + line.count(b"[") > _DEEPEST)
    return any(_depth(line) > _DEEPEST for line in many)


def _depth(line: bytes) -> int:
    text = np.frombuffer(_STRING.sub(b"", line), np.uint8)
    opens, closes = (text == ord("{")) | (text == ord("[")), (text == ord("}")) | (text == ord("]"))
    return int(np.cumsum(opens.view(np.int8) - closes.view(np.int8), dtype=np.int64).max(initial=0))


def _integer(text: str) -> int | float:
    """Return the integer in ``text``. It is exact, because it may be a category, unless it is very long."""
    return int(text) if len(text) <= _MOST_DIGITS else float(text)


def _cell(name: str, value: object, kind: str) -> str | None:
    """Return text that parses to ``value``, or None for null; raise a DataError if ``value`` is nested."""
    if value is None:
        return None
    if isinstance(value, dict | list):
        what = "the field {name} holds {found}, expected one {kind}"
        raise DataError(what, name=repr(name), found=shorten(json.dumps(value)), kind=kind)
    return repr(value) if isinstance(value, float) and kind == "number" else plain_text(value)


def _column(values: list[object]) -> tuple[pa.Array, str]:
    """Return values as an Arrow array, and their types in words if they are nested or of several types, else ""."""
    pa = import_arrow()
    types = {type(value) for value in values} - {type(None)}
    if not types:
        return pa.nulls(len(values)), ""
    if types <= {int, float}:
        return python_numbers_to_arrow(values, np.array(values, np.float64)), ""  # None becomes NaN: missing
    texts = strings_to_arrow([None if isinstance(v, dict | list | None) else plain_text(v) for v in values])
    if len(types) == 1 and not types & {dict, list}:
        return (texts.cast(pa.bool_()) if types == {bool} else texts), ""
    words = {int: "numbers", float: "numbers", bool: "booleans", str: "strings", dict: "objects", list: "lists"}
    return texts, " and ".join(sorted({words[type_] for type_ in types}))


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = first_repeated(name for name, _ in pairs)
        raise DataError("the field {name} occurs twice, expected once", name=shorten(twice))
    return found
