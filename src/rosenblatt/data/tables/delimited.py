"""Tables as text with delimiters between cells: CSV and TSV, in chunks of whole records.

A record is a line, or several where a quoted cell holds newlines. Arrow parses the records: numbers at once if all
cells are valid, else from strings, so that the record at fault is found. Both ways give the same numbers.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Generator
from contextlib import closing
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.io.lines import LineSource, TextChunk
from rosenblatt.data.tables.arrow_arrays import combine_chunks, import_arrow, numbers_to_arrow
from rosenblatt.data.tables.arrow_values import MISSING_NUMBERS, Reason
from rosenblatt.data.tables.csv_records import line_count, record_places, whole_records
from rosenblatt.data.tables.reader import Records, TableChunk, TableReader
from rosenblatt.parameters import IfAvailable, Setting

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_RECORD = 1 << 26
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_DELIMITERS = ",;\t|"
_OPEN_QUOTE: Reason = (
    "a quote opens in this record and is not closed: close it",
    IfAvailable("quote", ", or give ", Setting("quote", ""), " if quotes have no meaning"),
)
_NOT_UTF8: Reason = ("the row is not text in UTF-8: convert the file, for instance by iconv",)


class DelimitedReader(TableReader[Records]):
    """A table as CSV or TSV. ``data.open`` documents the options. Quotes inside quoted cells are doubled."""

    typed = False

    def __init__(
        self,
        files: LineSource,
        *,
        delimiter: str | None = None,
        quote: str = '"',
        header: bool | None = None,
        missing: tuple[str, ...] = (),
        **options: Any,
    ) -> None:
        super().__init__(files, **options)
        self.delimiter, self.quote, self.header = delimiter, quote, header
        self._missing = [*MISSING_NUMBERS, *missing]

    def dialect(self) -> dict[str, Any]:
        """Return the delimiter, the quote, and whether there is a header."""
        return {"delimiter": self.delimiter, "quote": self.quote, "header": self.header}

    def _read(self) -> Generator[Records, None, None]:
        with closing(self.files.chunks()) as chunks:
            for _, of_file in groupby(chunks, key=lambda chunk: chunk.file):
                rest, names, line = b"", None, 1
                for chunk in of_file:
                    rest += memoryview(chunk.buffer)[chunk.start : chunk.stop]
                    if names is None:
                        names, rest, line = self._names(rest, chunk.file, line)
                    if names is not None:
                        rest, line = yield from self._records(rest, chunk, line, names, final=False)
                if rest:
                    yield from self._records(rest, chunk, line, names, final=True)

    def _records(
        self, data: bytes, chunk: TextChunk, line: int, names: list[str] | None, final: bool
    ) -> Generator[Records, None, tuple[bytes, int]]:
        """Yield the whole records; return the rest, and its line."""
        while True:
            stop = whole_records(data, self.delimiter, self.quote) if names else 0
            if stop and names:
                yield Records(data[:stop], chunk.file, line, chunk.share, names)
                line += line_count(data[:stop])
                data = data[stop:]
            if not data or not (final or len(data) > LONGEST_RECORD):
                return data, line
            if not self.skip or not names:
                raise DataError(f"{self.files.display_name(chunk.file)}, line {line}: ", *_OPEN_QUOTE, ".")
            yield Records(b"", chunk.file, line, chunk.share, names, [(0, _OPEN_QUOTE)])
            end = data.index(b"\n") + 1
            line += line_count(data[:end])
            data = data[end:]

    def _names(self, data: bytes, file: int, line: int) -> tuple[list[str] | None, bytes, int]:
        """Return the columns of a file that begins with ``data``, the rest, and the line where it begins."""
        while data and not (first := data[: (data.find(b"\n") + 1) or None]).strip():
            data, line = data[len(first) :], line + 1
        if not data:
            return None, data, line
        if self.delimiter is None:
            self.delimiter = next((c for c in _DELIMITERS if c.encode() in first), ",")
        if not whole_records(data, self.delimiter, self.quote) and len(data) <= LONGEST_RECORD:
            return None, data, line
        cells, size = self._first_record(data, file, line)
        if self.header is None:
            self.header = not any(_NUMBER.fullmatch(cell) for cell in cells) or _counts_up(cells)
        names = [f"c{k + 1}" for k in range(len(cells))]
        if not self.header and len(cells) == len(self.unnamed):
            names = self.unnamed
        if self.header:
            names = [cell.strip() or names[k] for k, cell in enumerate(cells)]
            line += line_count(data[:size])
            data = data[size:]
        self._check_columns(names, file)
        return names, data, line

    def _first_record(self, data: bytes, file: int, line: int) -> tuple[list[str], int]:
        """Return the cells of the first record and how many bytes it has."""
        lines = data.splitlines(keepends=True)
        try:
            texts = (text.decode("utf-8") for text in lines)
            how: Any = {"quotechar": self.quote} if self.quote else {"quoting": csv.QUOTE_NONE}
            reader = csv.reader(texts, delimiter=self.delimiter or ",", **how)
            cells = next(reader)
            return cells, sum(map(len, lines[: reader.line_num]))
        except (UnicodeDecodeError, csv.Error) as error:
            what = str(error) if isinstance(error, csv.Error) else "it is not text in UTF-8"
            raise DataError(
                f"{self.files.display_name(file)}, line {line}: expected the first line of a table, but {what}."
            ) from None

    def parse(self, item: Records) -> TableChunk:
        """Return records as columns: of numbers if all cells are, of strings otherwise."""
        pa = import_arrow()
        label, lines = self.files.display_name(item.file), None

        def where(place: int) -> str:
            nonlocal lines
            if lines is None:
                lines = record_places(item.data or b"-\n", self.delimiter, self.quote)[1]
            return f"{label}, line {item.line + int(lines[place])}"

        if item.data and self.layout is not None:
            try:
                kinds = self.layout.needed.items()
                types = {name: pa.float64() if kind == "number" else pa.string() for name, kind in kinds}
                return self._chunk(self._table(item, types, None), where, item)
            except pa.ArrowInvalid:
                pass
        return self._slowly(item, where)

    def _slowly(self, item: Records, where: Callable[[int], str]) -> TableChunk:
        pa = import_arrow()
        names = item.names if self.layout is None else self.layout.needed
        ragged: list[tuple[int, int]] = []

        def leave_out(row: Any) -> str:
            ragged.append((row.number - 1, row.actual_columns))
            return "skip"

        if not item.data:
            empty = {name: pa.nulls(0, pa.string()) for name in names}
            return TableChunk(empty, 0, where, np.empty(0, np.int64), list(item.faults), item.share)
        item, foreign = self._as_text(item)
        table = self._table(item, dict.fromkeys(names, pa.string()), leave_out)
        places = np.delete(np.arange(table.num_rows + len(ragged)), [place for place, _ in ragged])
        faults = {place: self._ragged(len(item.names), count) for place, count in ragged}
        faults |= dict.fromkeys(foreign, _NOT_UTF8)
        chunk = self._chunk(table, where, item)
        if faults:
            chunk.faults = [(place, faults[place]) for place in sorted(faults)]
            valid = np.flatnonzero(~np.isin(places, list(faults)))
            chunk.columns = {name: array.take(numbers_to_arrow(valid)) for name, array in chunk.columns.items()}
            chunk.n, chunk.places = len(valid), places[valid]
        return chunk

    def _as_text(self, item: Records) -> tuple[Records, list[int]]:
        """Return the records in UTF-8, and the places of those that are not."""
        try:
            item.data.decode("utf-8")
            return item, []
        except UnicodeDecodeError:
            starts = record_places(item.data, self.delimiter, self.quote)[0].tolist()
            records = [item.data[start:stop] for start, stop in pairwise([*starts, len(item.data)])]
            fixed = [record.decode("utf-8", "replace").encode() for record in records]
            foreign = [k for k, record in enumerate(records) if record != fixed[k]]
            return item._replace(data=b"".join(fixed)), foreign

    def _ragged(self, expected: int, got: int) -> Reason:
        like = "the header" if self.header else "the first line"
        hint = ": put quotes around a cell that holds a delimiter" if got > expected and self.quote else ""
        return (f"expected {expected} cells as in {like}, got {got}{hint}",)

    def _chunk(self, table: pa.Table, where: Callable[[int], str], item: Records) -> TableChunk:
        columns = {name: combine_chunks(table.column(name)) for name in table.column_names}
        return TableChunk(columns, table.num_rows, where, share=item.share)

    def _table(self, item: Records, types: dict[str, pa.DataType], leave_out: Callable[[Any], str] | None) -> pa.Table:
        pa, pc = import_arrow(), import_arrow(".csv")
        return pc.read_csv(
            pa.BufferReader(item.data),
            pc.ReadOptions(use_threads=False, block_size=len(item.data) + 1, column_names=item.names),
            pc.ParseOptions(delimiter=self.delimiter, quote_char=self.quote or False, invalid_row_handler=leave_out),
            pc.ConvertOptions(column_types=types, include_columns=list(types), null_values=self._missing),
        )


def _counts_up(cells: list[str]) -> bool:
    """Return whether the cells that are numbers count the columns, from 0 or from 1, as pandas names columns."""
    numbers = [(k, cell) for k, cell in enumerate(cells) if _NUMBER.fullmatch(cell)]
    return len(cells) > 1 and any(all(cell.strip() == str(k + first) for k, cell in numbers) for first in (0, 1))
