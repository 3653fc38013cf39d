"""Tables as JSON lines, an object on each line, in pieces.

Arrow parses the lines where all goes well, and Python's json otherwise, so that the line at fault is found. A field
that a line does not have is null. Numbers become the nearest float64 either way.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.tables.arrow_values import plain_text
from rosenblatt.data.tables.reader import Piece, TableReader, arrow, one

__all__ = ["JsonReader"]


class Lines(NamedTuple):
    """Whole lines of one file, as bytes."""

    data: bytes
    file: int
    line: int
    """Number of the first line, from 1."""
    share: float


class JsonReader(TableReader):
    """A table as JSON lines."""

    def _read(self) -> Generator[Lines, None, None]:
        chunks = self.source.chunks()
        try:
            file, line = 0, 1
            for chunk in chunks:
                if chunk.file != file:
                    file, line = chunk.file, 1
                data = bytes(memoryview(chunk.buffer)[chunk.start : chunk.stop])
                share = chunk.consumed / self.source.size if self.source.size else 0.0
                yield Lines(data, file, line, share)
                line += data.count(b"\n")
        finally:
            chunks.close()

    def parse(self, item: Lines) -> Piece:
        """Return lines as columns, as wanted by the layout."""
        pa, pj = arrow(), arrow(".json")
        assert self.layout is not None
        lines = [k for k, line in enumerate(item.data.split(b"\n")) if line.strip()]
        types = {"number": pa.float64(), "boolean": pa.bool_(), "string": pa.string()}
        needed, known = self.layout.needed, self.layout.known
        schema = pa.schema([(name, types[kind]) for name, kind in needed.items()])
        try:
            item.data.decode("utf-8")
            table = pj.read_json(
                pa.BufferReader(item.data),
                pj.ReadOptions(use_threads=False, block_size=len(item.data) + 1),
                pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer"),
            )
            columns = {name: one(table.column(name)) for name in needed}
            if table.num_rows == len(lines) and (known is None or known.issuperset(table.column_names)):
                label = self.source.label(item.file)
                return Piece(columns, len(lines), lambda k: f"{label}, line {item.line + lines[k]}", share=item.share)
        except (pa.ArrowInvalid, UnicodeDecodeError):
            pass
        return self._slowly(item)

    def _slowly(self, item: Lines) -> Piece:
        pa = arrow()
        assert self.layout is not None
        objects, places, broken = self._objects(item)
        columns: dict[str, list[str | None]] = {name: [] for name in self.layout.needed}
        kept = []
        for place, row in zip(places, objects, strict=True):
            try:
                cells = [_cell(name, row.get(name), kind) for name, kind in self.layout.needed.items()]
                self._refuse_new(row)
            except DataError as error:
                broken.append((place, str(error)))
                continue
            kept.append(place)
            for cell, column in zip(cells, columns.values(), strict=True):
                column.append(cell)
        arrays = {name: pa.array(cells, pa.string()) for name, cells in columns.items()}
        return Piece(arrays, len(kept), self._where(item), np.array(kept, np.int64), sorted(broken), item.share)

    def _refuse_new(self, row: dict[str, Any]) -> None:
        known = self.layout.known if self.layout is not None else None
        for name in row:
            if known is not None and name not in known:
                raise DataError(
                    f"the field {name!r} was not there in the first rows: "
                    "name the fields to use by columns= if others do not matter."
                )

    def head(self, rows: int) -> Piece:
        """Return the first ``rows`` rows, each column of the type that all its values have."""
        found: list[dict[str, Any]] = []
        wheres: list[str] = []
        for item in self._peeked():
            objects, places, broken = self._objects(item)
            where = self._where(item)
            piece = Piece({}, len(objects), where, np.array(places, np.int64), broken)
            self._refuse(piece, rows - len(found))
            found += objects
            wheres += map(where, places)
            if len(found) >= rows:
                break
        names: dict[str, None] = {}
        for row in found[:rows]:
            names.update(dict.fromkeys(row))
        self.columns = list(names)
        piece = Piece({}, len(found[:rows]), lambda k: wheres[k])
        for name in names:
            values = [row.get(name) for row in found[:rows]]
            piece.columns[name], odd = _column(values)
            if odd:
                piece.odd[name] = odd
        return piece

    def begin(self) -> None:
        """Find out which fields the first lines have."""
        self.head(1000)

    def _where(self, item: Lines) -> Any:
        return lambda place: f"{self.source.label(item.file)}, line {item.line + place}"

    def _objects(self, item: Lines) -> tuple[list[dict[str, Any]], list[int], list[tuple[int, str]]]:
        """Return the objects, the lines they are on, and what is wrong with other lines."""
        objects, places, broken = [], [], []
        for place, line in enumerate(item.data.split(b"\n")):
            if not line.strip():
                continue
            try:
                value = json.loads(line.decode("utf-8"), object_pairs_hook=_object, parse_int=float)
                json.dumps(value, ensure_ascii=False).encode("utf-8")
            except DataError as error:
                broken.append((place, str(error)))
            except UnicodeError:
                broken.append((place, "the line is not text in UTF-8: convert the file, for instance by iconv."))
            except (ValueError, RecursionError) as error:
                what = str(error).partition(": line")[0]
                broken.append((place, f"expected a JSON object on a line of its own ({what}), got {_shown(line)}."))
            else:
                if isinstance(value, dict):
                    objects.append(value)
                    places.append(place)
                else:
                    broken.append((place, f"expected a JSON object on a line of its own, got {_shown(line)}."))
        return objects, places, broken


def _cell(name: str, value: Any, kind: str) -> str | None:
    """Return a value as text that becomes the same value again."""
    if value is None:
        return None
    if isinstance(value, dict | list):
        raise DataError(f"the field {name!r} holds {_shown(json.dumps(value).encode())}, expected one {kind}.")
    return repr(value) if isinstance(value, float) and kind == "number" else plain_text(value)


def _column(values: list[Any]) -> tuple[Any, str]:
    """Return values as an array of their type; and words for it where they have several, or are nested."""
    pa = arrow()
    types = {type(value) for value in values} - {type(None)}
    if len(types) == 1 and not types & {dict, list}:
        stored = {float: pa.float64(), bool: pa.bool_(), str: pa.string()}[types.pop()]
        return pa.array(values, stored), ""
    words = {float: "numbers", bool: "truth values", str: "strings", dict: "objects", list: "lists"}
    odd = " and ".join(sorted(words[type_] for type_ in types))
    flat = [None if value is None or isinstance(value, dict | list) else plain_text(value) for value in values]
    return (pa.array(flat, pa.string()), odd) if types else (pa.nulls(len(values)), "")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for k, (name, _) in enumerate(pairs) if name in dict(pairs[:k]))
        raise DataError(f"the field {twice!r} is there twice, expected once.")
    return found


def _shown(line: bytes) -> str:
    text = line.strip().decode("utf-8", "backslashreplace")
    return text[:60] + "..." if len(text) > 60 else text
