"""The reader of CSV and TSV files.

A record is one line, or several if a quoted cell contains newlines. Arrow parses records in chunks. If all cells are
valid, columns of numbers are parsed directly as numbers. Otherwise all columns are parsed as strings, to find the
invalid record. Both ways give the same numbers.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.io.lines import TextChunk
from rosenblatt.data.source import OpenRequest, Preparation
from rosenblatt.data.tables.column_kinds import infer_kind
from rosenblatt.data.tables.reader import (
    DELIMITERS,
    MOST_TITLE_LINES,
    Dialect,
    Passthrough,
    Records,
    TableChunk,
    TableReader,
    join_names,
)
from rosenblatt.data.tables.values import (
    MISSING_NUMBERS,
    combine_chunks,
    import_arrow,
    numbers_to_arrow,
    parse_numbers,
    parse_strings,
)
from rosenblatt.messages import Hint, Message, shorten, show_text

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.csv as pa_csv


# Records of CSV text. A record ends at a line end that is not inside quotes.
#
# A quote opens a quoted part only at the start of a cell, or directly after a closing quote, so a doubled quote does
# not end a quoted part. Elsewhere a quote is an ordinary character. As in Arrow, a line ends in a newline, a carriage
# return, or both.


_NEWLINE, _RETURN = b"\n\r"
_AT_ONCE = 1 << 16
"""The number of quotes converted at once to Python integers, which take more memory than the text."""


def line_count(data: bytes) -> int:
    """Return the number of line endings in ``data``."""
    count = data.count(b"\n")
    return count + data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else count


def blank_lines(data: bytes) -> int:
    """Return the number of bytes in blank lines at the start of ``data``.

    Examples
    --------
    >>> blank_lines(b"\\n \\r\\n 1,2\\n")
    4
    """
    blank = data[: len(data) - len(data.lstrip())]
    return max(blank.rfind(b"\n"), blank.rfind(b"\r")) + 1


def whole_records(data: bytes, delimiter: str | None, quote: str) -> int:
    """Return the number of bytes in complete records at the start of ``data``, which must end with a line ending.

    Examples
    --------
    >>> whole_records(b'1,2\\n3,"a\\n', ",", '"')
    4
    """
    if not quote or quote.encode() not in data:
        return len(data)
    quotes = _quotes(data, delimiter, quote)
    if len(quotes) % 2 == 0:
        return len(data)
    # The last quoted part is still open. The last complete record ends outside quotes, so search for its end backwards.
    for k in range(len(quotes) - 1, -1, -2):
        start = int(quotes[k - 1]) if k else 0
        end = max(data.rfind(b"\n", start, quotes[k]), data.rfind(b"\r", start, quotes[k]))
        if end >= 0:
            return end + 1
    return 0


def record_places(data: bytes, delimiter: str | None, quote: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the start of each record in ``data``, and the number of lines before it. Empty lines are not records.

    Examples
    --------
    >>> record_places(b'1,2\\n\\n"a\\n\\nb",4\\n5,6\\n', ",", '"')
    (array([ 0,  5, 14]), array([0, 2, 5]))
    """
    text = np.frombuffer(data, np.uint8)
    ends = (text == _NEWLINE) | (text == _RETURN)
    ends[:-1] &= ~((text[:-1] == _RETURN) & (text[1:] == _NEWLINE))
    line_ends = np.flatnonzero(ends)
    quotes = _quotes(data, delimiter, quote) if quote else np.empty(0, np.int64)
    record_ends = line_ends[np.searchsorted(quotes, line_ends) % 2 == 0]  # an even number of quotes comes before
    starts = np.concatenate([[0], record_ends[:-1] + 1])
    empty = (record_ends == starts) | ((record_ends == starts + 1) & (text[starts] == _RETURN))
    return starts[~empty], np.searchsorted(line_ends, starts)[~empty]


def _quotes(data: bytes, delimiter: str | None, quote: str) -> np.ndarray:
    """Return the positions of the quotes that alternately open and close quoted parts."""
    text = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(text == ord(quote))
    before = text[quotes - 1]
    opens = (before == _NEWLINE) | (before == _RETURN) | (before == ord(delimiter or ",")) | (quotes == 0)
    # Fast path: if every second quote may open a part, no quote is an ordinary character.
    if (opens | (before == ord(quote)))[::2].all():
        return quotes
    kept = array("q")
    for start in range(0, len(quotes), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        for place, may_open in zip(quotes[part].tolist(), opens[part].tolist(), strict=True):
            if len(kept) % 2 or may_open or (kept and kept[-1] == place - 1):
                kept.append(place)
    return np.array(kept, np.int64)


# The dialect of a CSV file: its delimiter, and whether its first record is a header.


_SAMPLE = 20
"""The number of records that show the delimiter."""
_SAMPLE_BYTES = 1 << 20
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class DialectHints:
    """Hints for the detection of a dialect, from options and from a preparation that was made from earlier files."""

    columns: Sequence[str] = ()
    """The columns of the earlier files; a first record that names all of them is a header."""
    defaults: Dialect = field(default_factory=dict)
    """The dialect of the earlier files, which is used if ``columns`` do not decide."""
    named: Sequence[str] = ()
    """Columns that options name; a first record that contains one of them is a header."""

    def delimiter(self, lines: bytes, quote: str) -> str:
        """Return the delimiter of a file that starts with ``lines``.

        The first choice is a delimiter that splits the first line into cells that include all ``columns``. The second
        choice is the delimiter of the earlier files. Otherwise, it is the delimiter with which the most of the first 20
        records have as many cells as the first. Among equals, the comma is the last choice, because it also occurs in
        names and numbers.

        >>> DialectHints().delimiter(b"a;b", ""), DialectHints(("size, cm", "b")).delimiter(b"size, cm;b", "")
        (';', ';')
        >>> DialectHints().delimiter(b"size, cm;b\\n1,5;2,5\\n", ""), DialectHints().delimiter(b"a,b;c\\n1,2\\n", "")
        (';', ',')
        """
        default = self.defaults.get("delimiter")
        line = lines.partition(b"\n")[0]
        found = [c for c in (default or "") + DELIMITERS if c.encode() in line]
        for delimiter in found if self.columns else ():
            if _cells(line, delimiter, quote).issuperset(self.columns):
                return delimiter
        if default in found:
            return str(default)
        if found:
            return max(found, key=partial(_regularity, lines, quote=quote))
        below = partial(_regularity, lines, quote=quote, titled=True)
        likely = max(DELIMITERS, key=below)
        return default or (likely if below(likely)[0] else ",")

    def has_header(self, cells: Sequence[str]) -> bool:
        """Return whether ``cells``, the cells of the first record, are a header.

        >>> DialectHints().has_header(["a", "7"]), DialectHints(("7",)).has_header(["a", "7"])
        (False, True)
        >>> DialectHints().has_header(["0", "1", "y"]), DialectHints(named=["y"]).has_header(["0", "1", "y"])
        (False, True)
        """
        found = {cell.strip() for cell in cells}
        if (self.columns and found.issuperset(self.columns)) or found.intersection(self.named):
            return True
        return bool(self.defaults.get("header", not has_number(cells) or _counts_up(cells)))

    def is_data(self, cells: Sequence[str]) -> bool:
        """Return whether ``cells``, the cells of the first record, look like data although a header is expected.

        >>> DialectHints(("a", "b")).is_data(["1", "2"]), DialectHints(("a", "b")).is_data(["a", "2"])
        (True, False)
        """
        return bool(self.columns) and has_number(cells) and not set(self.columns) & {cell.strip() for cell in cells}


def has_number(cells: Sequence[str]) -> bool:
    """Return whether any of the cells is a number."""
    return any(_NUMBER.fullmatch(cell) for cell in cells)


def _csv_reader(lines: Iterable[str], delimiter: str, quote: str) -> Iterator[list[str]]:
    if not quote:
        return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    return csv.reader(lines, delimiter=delimiter, quotechar=quote)


def _cells(line: bytes, delimiter: str, quote: str) -> set[str]:
    """Return the set of the cells of a line, without surrounding whitespace."""
    try:
        return {cell.strip() for cell in next(_csv_reader([line.decode("utf-8-sig", "replace")], delimiter, quote))}
    except (csv.Error, StopIteration):
        return set()


def _regularity(lines: bytes, delimiter: str, quote: str, titled: bool = False) -> tuple[int, bool, int]:
    """Return how likely a delimiter is, for comparison with others.

    The result is a tuple; a larger tuple means a more likely delimiter. First comes the number of sampled records with
    as many cells as the first record. Then come whether the delimiter is not a comma, and the number of cells of the
    first record. A delimiter that makes a single cell is the least likely. If ``titled``, the first records may be a
    title. The records with the most common number of cells above 1 are then counted instead.
    """
    text = lines.decode("utf-8-sig", "replace").splitlines(keepends=True)
    try:
        records = [record for record in islice(_csv_reader(text, delimiter, quote), _SAMPLE) if record]
    except csv.Error:
        return 0, False, 0
    cells = len(records[0]) if records else 0
    if titled:
        cells = next(iter(Counter(len(record) for record in records if len(record) > 1).most_common(1)), (0, 0))[0]
    return sum(len(record) == cells for record in records) * (cells > 1), delimiter != ",", cells


def _different_names(names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return distinct names for columns, and a mapping of the new names to the names in the file.

    >>> _different_names(["a", "b", "a", "a.1", "a"])
    (['a', 'b', 'a.2', 'a.1', 'a.3'], {'a.2': 'a', 'a.3': 'a'})
    """
    taken, found, renamed = set(names), list[str](), dict[str, str]()
    last: dict[str, int] = {}  # for each name, the number that its last occurrence has been given
    for name in names:
        new, k = name, 0
        if name in last:
            k = last[name] + 1
            while f"{name}.{k}" in taken:
                k += 1
            new = f"{name}.{k}"
            renamed[new] = name
            taken.add(new)
        last[name] = k
        found.append(new)
    return found, renamed


def _counts_up(cells: Sequence[str]) -> bool:
    """Return whether the cells count the columns from 0 or from 1, as the default names of pandas do.

    >>> _counts_up(["0", "1", "2"]), _counts_up(["1", "2"]), _counts_up(["1", "male", "yes"])
    (True, True, False)
    """
    numbers = [cell.strip() for cell in cells]
    return len(cells) > 1 and any(numbers == [str(k + first) for k in range(len(cells))] for first in (0, 1))


_LINE = re.compile(rb"[^\r\n]*(\r\n|\r|\n)")
_OPEN_QUOTE = Message(
    "this record has an unclosed quote: close it{hint}",
    hint=Hint(", or give {quote=''} if quotes have no meaning"),
)


@dataclass
class _FileProgress:
    """The position up to which a file has been parsed, and the text that has been read beyond that position."""

    names: list[str] | None = None
    """The columns of the file; None before its first record has been read."""
    line: int = 1
    """The number of the line, from 1, at which ``pieces`` begins."""
    pieces: list[bytes] = field(default_factory=list)
    """Text that has been read but not parsed, because its last record is incomplete: the text ends inside quotes."""
    size: int = 0


class DelimitedReader(TableReader[Records]):
    """A reader of CSV and TSV; ``data.open`` documents the options. Quotes inside quoted cells must be doubled."""

    typed = False

    def __init__(self, request: OpenRequest) -> None:
        super().__init__(request)
        preparation, is_csv = request.preparation, request.format == "csv"
        self.delimiter, self.quote, self.header = None if is_csv else "\t", '"' if is_csv else "", request.header
        named = [name for name in (request.target, request.weight) if isinstance(name, str)]
        self.hints = DialectHints(named=named)
        if preparation is not None:
            dialect = preparation["dialect"] if preparation["format"] == request.format else {}
            if dialect:
                self.delimiter, self.quote = None, dialect.get("quote", self.quote)
            self.hints = DialectHints([column["name"] for column in preparation["columns"]], dialect)
        self.delimiter = self.delimiter if request.delimiter is None else request.delimiter
        self.quote = self.quote if request.quote is None else request.quote
        self._missing = [*MISSING_NUMBERS, *map(str, request.setting("missing_values"))]
        self.renamed: dict[str, str] = {}
        """The new name of each column that has the name of an earlier column, mapped to that name."""
        self.header_guessed = False
        """Whether the header was detected from the cells of the first record, not given by the caller."""
        self._start = 0, b""
        """The number of lines above the first record of the latest file, and the text from there on."""

    def dialect(self) -> Dialect:
        """Return the delimiter, the quote, and whether there is a header, as far as they are known."""
        return {"delimiter": self.delimiter, "quote": self.quote, "header": self.header}

    def _read(self) -> Generator[Records, None, None]:
        with closing(self.files.chunks()) as chunks:
            for _, of_file in groupby(chunks, key=lambda chunk: chunk.file):
                at = _FileProgress()
                for chunk in of_file:
                    if chunk.fault:
                        yield from self._records(at, chunk, final=True)
                        yield self._fault(at, chunk, chunk.fault)
                        at.line += 1
                        continue
                    piece = bytes(memoryview(chunk.buffer)[chunk.start : chunk.stop])
                    at.pieces.append(piece)
                    at.size += len(piece)
                    if len(at.pieces) == 1 or at.size > self.files.max_line_bytes or self._closes_quotes(piece):
                        yield from self._records(at, chunk, final=False)
                yield from self._records(at, chunk, final=True)

    def _closes_quotes(self, piece: bytes) -> bool:
        """Return whether a record ends in ``piece``, a piece of text that starts inside quotes."""
        return whole_records(self.quote.encode() + piece, self.delimiter, self.quote) > 0

    def _records(self, at: _FileProgress, chunk: TextChunk, final: bool) -> Generator[Records, None, None]:
        """Yield the complete records of ``at.pieces``, and keep the incomplete rest for the next call.

        If ``final``, or if the rest is too long, the first line of the rest is a fault. Parsing then resumes after that
        line.
        """
        data = b"".join(at.pieces)
        while data:
            data = self._after_names(data, at, chunk)
            stop = whole_records(data, self.delimiter, self.quote) if at.names else 0
            if stop and at.names:
                yield Records(data[:stop], chunk.file, at.line, chunk.share, at.names)
                at.line += line_count(data[:stop])
                data = data[stop:]
            if not data or not (final or len(data) > self.files.max_line_bytes):
                break
            yield self._fault(at, chunk, _OPEN_QUOTE if final else self._long_record)
            end = data.index(b"\n") + 1
            at.line += line_count(data[:end])
            data = data[end:]
        at.pieces, at.size = [data] if data else [], len(data)

    def _fault(self, at: _FileProgress, chunk: TextChunk, reason: Message) -> Records:
        """Return an item for a line that cannot be read; raise a DataError unless such lines are left out."""
        if not self.skip or not at.names:
            file = self.files.display_name(chunk.file)
            raise DataError("{file}, line {line}: {reason}.", file=file, line=at.line, reason=reason)
        return Records(b"", chunk.file, at.line, chunk.share, at.names, [(0, reason)])

    def _after_names(self, data: bytes, at: _FileProgress, chunk: TextChunk) -> bytes:
        """Set ``at.names`` once the first record is complete; return ``data`` without blank lines and header."""
        if at.names is not None:
            return data
        blank = blank_lines(data)
        at.line += line_count(data[:blank])
        data = data[blank:]
        if self.delimiter is None and data:
            self.delimiter = self.hints.delimiter(data[:_SAMPLE_BYTES], self.quote)
        if not data or not whole_records(data, self.delimiter, self.quote):
            return data
        cells, size = self._first_record(data, chunk.file, at.line)
        self._start = at.line - 1, data[:_SAMPLE_BYTES]
        if self.header is None:
            self.header_guessed = self.header = self.hints.has_header(cells)
        names = [f"c{k + 1}" for k in range(len(cells))]
        by_place = next((known for known in self.unnamed if len(known) == len(cells)), None)
        if not self.header:
            names = by_place or names
        if self.header and self.hints.is_data(cells):
            raise DataError(
                "{file}: expected a first line with the names {names}, got {got}{hint}.",
                file=self.files.display_name(chunk.file),
                names=join_names(self.hints.columns),
                got=join_names(cells),
                hint=Hint(": give {header=False} if it has no header and its columns are in that order"),
            )
        if self.header:
            names = [cell.strip() or names[k] for k, cell in enumerate(cells)]
            if by_place and self.hints.defaults.get("header") is False and not {*names} & {*by_place}:
                names = by_place  # earlier files had no header
            at.line += line_count(data[:size])
            data = data[size:]
        names, renamed = _different_names(names)
        self.renamed = self.renamed or renamed
        self._check_columns(names, chunk.file)
        at.names = names
        return data

    def lines_above(self, names: Collection[str]) -> int:
        """Return the number of lines above a line with all these names, near the start of the file; 0 if unknown."""
        above, text = self._start
        lines = text.split(b"\n", MOST_TITLE_LINES)[:MOST_TITLE_LINES]
        for k, line in enumerate(lines):
            if any(_cells(line, delimiter, self.quote).issuperset(names) for delimiter in DELIMITERS):
                return above + k
        return 0

    def passthrough(self, item: Records, chunk: TableChunk, places: np.ndarray) -> Passthrough:
        """Return the cells of the passthrough columns as text."""
        pa = import_arrow()
        ragged: list[int] = []

        def leave_out(row: pa_csv.InvalidRow) -> str:
            ragged.append(row.number - 1)
            return "skip"

        if not len(places):
            return {name: [] for name in self.passthrough_columns}
        table = self._table(self._as_text(item)[0], dict.fromkeys(self.passthrough_columns, pa.string()), leave_out)
        records = np.delete(np.arange(table.num_rows + len(ragged)), ragged)
        rows = numbers_to_arrow(np.searchsorted(records, places))
        return {name: table.column(name).take(rows).to_pylist() for name in self.passthrough_columns}

    def _first_record(self, data: bytes, file: int, line: int) -> tuple[list[str], int]:
        """Return the cells of the first record and its size in bytes."""
        size = 0

        def lines() -> Generator[str, None, None]:
            nonlocal size
            for match in _LINE.finditer(data):
                size = match.end()
                yield match.group().decode("utf-8")

        try:
            cells = next(_csv_reader(lines(), self.delimiter or ",", self.quote))
            return cells, size
        except (UnicodeDecodeError, csv.Error) as error:
            why: str | Message = str(error)
            if not isinstance(error, csv.Error):
                why = Message("it {fault}", fault=self.files.decoding.fault)
            what = "{file}, line {line}: expected the first line of a table, but {why}."
            raise DataError(what, file=self.files.display_name(file), line=line, why=why) from None

    def parse(self, item: Records) -> TableChunk:
        """Parse records into columns.

        If all cells are valid, columns of numbers hold numbers; otherwise all columns hold strings.
        """
        pa = import_arrow()
        label, lines = self.files.display_name(item.file), None

        def where(place: int) -> str:
            nonlocal lines
            if lines is None:
                lines = record_places(item.data or b"-\n", self.delimiter, self.quote)[1]
            return f"{label}, line {item.line + int(lines[place])}"

        if item.data and self.layout is not None and not self._long_records(item.data):
            try:
                kinds = self.layout.needed.items()
                types = {name: pa.float64() if kind == "number" else pa.string() for name, kind in kinds}
                return self._chunk(self._table(item, types, None), where, item)
            except pa.ArrowInvalid:
                pass
        return self._slowly(item, where)

    @property
    def _long_record(self) -> Message:
        return Message(
            "this record has a quote that is not closed within {most:,} bytes: close it{hint}, or give a larger "
            "{max_line_bytes} if records are this long",
            most=self.files.max_line_bytes,
            hint=_OPEN_QUOTE.values["hint"],
        )

    def _long_records(self, data: bytes) -> list[int]:
        """Return the indices of the records with more than ``max_line_bytes`` bytes."""
        most = self.files.max_line_bytes
        if len(data) <= most or not self.quote or self.quote.encode() not in data:
            return []
        starts = record_places(data, self.delimiter, self.quote)[0].tolist()
        records = enumerate(pairwise([*starts, len(data)]))
        return [k for k, (start, stop) in records if len(data[start:stop].rstrip()) > most]

    def _slowly(self, item: Records, where: Callable[[int], str]) -> TableChunk:
        pa = import_arrow()
        names: Iterable[str] = item.names if self.chosen is None else self._chosen_of(item.names)
        if self.layout is not None:
            names = self.layout.needed
        ragged: list[tuple[int, int]] = []

        def leave_out(row: pa_csv.InvalidRow) -> str:
            ragged.append((row.number - 1, row.actual_columns))
            return "skip"

        if not item.data:
            empty = {name: pa.nulls(0, pa.string()) for name in names}
            return TableChunk(empty, 0, where, np.empty(0, np.int64), list(item.faults), item.share)
        long = self._long_records(item.data)
        item, foreign = self._as_text(item)
        table = self._table(item, dict.fromkeys(names, pa.string()), leave_out)
        places = np.delete(np.arange(table.num_rows + len(ragged)), [place for place, _ in ragged])
        reasons = {count: self._ragged(len(item.names), count) for count in {count for _, count in ragged}}
        if ragged and len(item.names) == 1:
            place, count = ragged[0]
            above = item.line + int(record_places(item.data, self.delimiter, self.quote)[1][place]) - 1
            reasons[count] = self._below_title(count, above)
        faults = {place: reasons[count] for place, count in ragged}
        faults |= dict.fromkeys(foreign, Message("the row {fault}", fault=self.files.decoding.fault))
        faults |= dict.fromkeys(long, self._long_record)
        chunk = self._chunk(table, where, item)
        if faults:
            chunk.faults = [(place, faults[place]) for place in sorted(faults)]
            valid = np.flatnonzero(~np.isin(places, list(faults)))
            chunk.columns = {name: array.take(numbers_to_arrow(valid)) for name, array in chunk.columns.items()}
            chunk.n, chunk.places = len(valid), places[valid]
        return chunk

    def _as_text(self, item: Records) -> tuple[Records, list[int]]:
        """Return the records as valid UTF-8, and the indices of the records that were not valid UTF-8."""
        try:
            item.data.decode("utf-8")
            return item, []
        except UnicodeDecodeError:
            starts = record_places(item.data, self.delimiter, self.quote)[0].tolist()
            records = [item.data[start:stop] for start, stop in pairwise([*starts, len(item.data)])]
            fixed = [record.decode("utf-8", "replace").encode() for record in records]
            foreign = [k for k, record in enumerate(records) if record != fixed[k]]
            return item._replace(data=b"".join(fixed)), foreign

    def _ragged(self, expected: int, got: int) -> Message:
        like = "the header" if self.header else "the first line"
        hint = ": put quotes around a cell that contains a delimiter" if got > expected and self.quote else ""
        what = "expected {expected} cells as in {like}, got {got}{hint}"
        return Message(what, expected=expected, like=like, got=got, hint=hint)

    def _below_title(self, got: int, above: int) -> Message:
        """Return the reason for a line with several cells, if the lines above have one cell and may be a title."""
        like = "the header" if self.header else "the first line"
        advice = Hint(": if the table begins here, leave out the lines above with {skip_rows=n}", n=above)
        return Message("expected 1 cell as in {like}, got {got}{advice}", like=like, got=got, advice=advice)

    def _chunk(self, table: pa.Table, where: Callable[[int], str], item: Records) -> TableChunk:
        columns = dict(zip(table.column_names, map(combine_chunks, table.columns), strict=True))
        return TableChunk(columns, table.num_rows, where, share=item.share)

    def _table(
        self, item: Records, types: dict[str, pa.DataType], leave_out: Callable[[pa_csv.InvalidRow], str] | None
    ) -> pa.Table:
        pa, pc = import_arrow(), import_arrow(".csv")
        words = self._missing if pa.float64() in types.values() else []
        return pc.read_csv(
            pa.BufferReader(item.data),
            pc.ReadOptions(use_threads=False, block_size=len(item.data) + 1, column_names=item.names),
            pc.ParseOptions(delimiter=self.delimiter, quote_char=self.quote or False, invalid_row_handler=leave_out),
            pc.ConvertOptions(  # Arrow copies ``null_values`` for each column, so they are given only if needed
                column_types=types, include_columns=list(types), null_values=words, true_values=[], false_values=[]
            ),
        )


# Headers that may be data, and first rows that may be a header.


_ENOUGH = 4
"""If every value of a column occurs at least this often, a different value in the first line looks like a name."""
NAMES_FIRST = Message(", and this line looks like a header{hint}", hint=Hint(": give {header=True} if it is"))
"""Advice for a first row that looks like a header."""


def header_notes(head: TableChunk, request: OpenRequest) -> list[Message]:
    """Return a list with a note if the first line was taken for a header but may be data, else an empty list.

    There is no note if an option names a column. If the first line contains no number, there is no note in two more
    cases. In the first, a column holds numbers, booleans or dates. In the second, the values of a column repeat and no
    column contains its own name.
    """
    names = list(head.columns)
    named = [*request.drop, *request.keep, *(request.columns or ()), *request.column_types]
    if named or isinstance(request.target, str) or isinstance(request.weight, str):
        return []
    again = "" if has_number(names) else _repeated_name(head, tuple(request.missing_values))
    if again is None:
        return []
    what = "{file}: its first line was taken for the names of its columns, {names}{why}; "
    what += "give {header=False} if it is a row."
    why = f", though {shorten(again)} occurs again below" if again else ""
    return [Message(what, file=request.file, names=join_names(names), why=why)]


def renamed_notes(renamed: Mapping[str, str], file: str) -> list[Message]:
    """Return a list with a note about columns that had the name of an earlier column, or an empty list."""
    if not renamed:
        return []
    named = join_names([f"{new} (another {show_text(name)})" for new, name in renamed.items()])
    return [
        Message(
            "{file}: some column names occur more than once; the later columns are renamed to {named}.",
            file=file,
            named=named,
        )
    ]


def _repeated_name(head: TableChunk, missing: tuple[str, ...]) -> str | None:
    """Return the first column name that is also a value of its column, or "" if there is none.

    Return None if the values of the columns show that the first line is a header.
    """
    again = ""
    unlike = False
    for name in head.columns:
        kind = infer_kind(head, name, typed=False, missing=missing)
        if (kind if isinstance(kind, str) else kind.fallback) not in ("category", "text", "hash"):
            return None
        counts = Counter(text for text in parse_strings(head.columns[name], missing).to_pylist() if text is not None)
        if name in counts:
            again = again or name
        elif counts and min(counts.values()) >= _ENOUGH:
            unlike = True
    return again if again or not unlike else None


def looks_like_names(chunk: TableChunk, place: int, preparation: Preparation) -> bool:
    """Return whether the row with index ``place`` has words in all columns that should hold numbers.

    Return False if no column should hold numbers.
    """
    if any(fault == place for fault, _ in chunk.faults):
        return False
    row = place if chunk.places is None else int(np.searchsorted(chunk.places, place))
    numbers = [column["name"] for column in preparation["columns"] if column["kind"] == "number"]
    missing = tuple(preparation["missing_values"])
    return bool(numbers) and all(parse_numbers(chunk.columns[name][row : row + 1], missing)[1] for name in numbers)
