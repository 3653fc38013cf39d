"""The base class of the readers of all table formats, and the chunks of columns that they return.

A reader yields raw items in order. Several threads may parse items into ``TableChunk``s at the same time. Columns are
Arrow arrays. Binary formats keep the stored types. Text becomes arrays of the needed type or of strings.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.source import OpenRequest
from rosenblatt.data.tables.values import import_arrow, numbers_to_arrow
from rosenblatt.messages import Hint, Message, did_you_mean, shorten, show_text

if TYPE_CHECKING:
    import pyarrow as pa


# Names of columns in messages.


DELIMITERS = ",;\t|"
MOST_TITLE_LINES = 20
"""The maximum number of lines above a header that are counted."""
"""The delimiters of CSV that are detected, the most common first."""
_LONGEST_NAME = 100
"""The maximum number of characters of a column's name in a message."""


def missing_columns(
    missing: Sequence[str], needed: Collection[str], found: Sequence[str], file: str, way_out: str = "", above: int = 0
) -> DataError:
    """Return the error for columns that a file lacks, with the columns that were found and what to do.

    ``above`` is the number of lines above a line with all needed columns, or 0 if no such line was found.
    """
    known = {*needed}
    hint = suggestion(missing[0], (name for name in found if name not in known)) if len(missing) == 1 else ""
    names = join_names(map(shorten, missing), last=" and no column ")
    expected = f", expected {join_names(needed)}" if len(missing) == 1 < len(needed) else ""
    what = Message("{file} has no column {names}{hint}{expected}", file=file, names=names, hint=hint, expected=expected)
    if above:
        below = "line {line} has these names: leave out the lines above it with {skip_rows=above}."
        return DataError("{what}; " + below, what=what, line=above + 1, above=above)
    delimiter = next((c for c in DELIMITERS if c in found[0]), "") if len(found) == 1 else ""
    if 2 * (unnamed := unnamed_count(found)) > len(found) > unnamed:
        title = "most cells of its first line are empty: if it is part of a title, leave that out with {skip_rows}."
        return DataError("{what}; " + title, what=what)
    if not delimiter:
        todo = "" if not way_out else ": rename that one" if hint else f": {way_out}"
        there = join_names(found) if found else "none"
        return DataError("{what}; found {there}{todo}.", what=what, there=there, todo=todo)
    return DataError(
        "{what}; found one column, {only}: is {shown} the delimiter?{give}",
        what=what,
        only=show_text(found[0]),
        shown=repr(delimiter),
        give=Hint(" Then give {delimiter=value}.", value=delimiter),
    )


def unnamed_count(names: Sequence[str]) -> int:
    """Return the number of columns without a name, which are named by their position.

    >>> unnamed_count(["id", "c2", "c3", "c7"])
    2
    """
    return sum(name == f"c{k + 1}" for k, name in enumerate(names))


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs a second time, or None if all names differ.

    Examples
    --------
    >>> first_repeated(["a", "b", "b", "a"])
    'b'
    """
    before: set[str] = set()
    for name in names:
        if name in before:
            return name
        before.add(name)
    return None


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return a hint with the name in ``names`` that is most similar to ``name``, or "" if no name is similar."""
    question = did_you_mean(name, names)
    return f" ({question})" if question else ""


def join_names(names: Iterable[str], most: int = 20, last: str = ", ") -> str:
    """Return the names as one string, with ``last`` before the last; names after the first ``most`` are only counted.

    >>> join_names(["a", "b", "c"]), join_names("abc", last=" and "), join_names("abc", most=2)
    ('a, b, c', 'a, b and c', 'a, b and 1 more')
    """
    every = [show_text(str(name), _LONGEST_NAME) for name in names]
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most} more"
    return last.join([", ".join(every[:-1]), every[-1]]) if len(every) > 1 else "".join(every)


Item = TypeVar("Item")

Dialect: TypeAlias = dict[str, Any]
"""The delimiter, the quote, and whether there is a header; empty for formats other than CSV and TSV."""
Passthrough: TypeAlias = dict[str, list[Any]]
"""The values of the passthrough columns, one for each row."""

NAME_COLUMNS = Hint(", or choose the columns to use with {columns}")
MOST_COLUMNS = 200_000
"""The maximum number of columns of a table, unless ``columns`` names the columns to read."""


class Records(NamedTuple):
    """Complete records of a text file, as bytes."""

    data: bytes
    file: int
    line: int
    """The number of the first line, from 1."""
    share: float
    names: Sequence[str] = ()
    """The names of the columns, if the format names them once for each file."""
    faults: Sequence[tuple[int, Message]] = ()
    """Pairs (index, reason) of the lines that cannot be read."""


@dataclass
class TableChunk:
    """Consecutive rows of a table as columns, and the records among them that cannot be read."""

    columns: dict[str, pa.Array]
    """An Arrow array for each column that is needed."""
    n: int
    """The number of rows."""
    where: Callable[[int], str]
    """A function that returns the location of a place for messages, such as "a.csv, line 7".

    A place is the index of a record among all records of the chunk, including records that cannot be read.
    """
    places: np.ndarray | None = None
    """For each row, the index of its record (its place); None if all records of the chunk are rows."""
    faults: list[tuple[int, Message]] = field(default_factory=list)
    """Pairs (place, reason) of the records that cannot be read."""
    share: float = 0.0
    """The share of the input that has been read up to the end of this chunk."""
    mixed: dict[str, str] = field(default_factory=dict)
    """Columns whose values have several types, mapped to these types in words."""
    passthrough: dict[str, pa.Array] = field(default_factory=dict)
    """An Arrow array for each passthrough column, if these columns are read together with the needed ones."""
    new_fields: list[tuple[int, str, Any]] = field(default_factory=list)
    """The row, the name and the value of each field of a column that is new, if the reader ``collects_new`` ones."""

    def location(self, row: int) -> str:
        """Return the location of a row for messages."""
        return self.where(row if self.places is None else int(self.places[row]))

    def take(self, rows: np.ndarray) -> TableChunk:
        """Return a chunk of the rows with these indices, without faults."""
        kept = numbers_to_arrow(rows)
        columns = {name: array.take(kept) for name, array in self.columns.items()}
        places = rows if self.places is None else self.places[rows]
        return TableChunk(columns, len(rows), self.where, places, share=self.share, mixed=self.mixed)

    def error(self, place: int, reason: Message) -> DataError:
        """Return the error for the record at ``place``, which cannot be read."""
        # If the reason contains ``advice``, leaving out such rows would hide the actual mistake.
        skip = "" if reason.values.get("advice") else Hint("; {on_error='skip'} leaves such rows out")
        return DataError("{where}: {reason}{skip}.", where=self.where(place), reason=reason, skip=skip)


@dataclass(frozen=True)
class ColumnLayout:
    """The columns that are needed to make rows, and the columns that files may have."""

    needed: dict[str, str]
    """Maps each name to the type of the values: "number", "boolean", "string" or "list"."""
    known: frozenset[str] | None
    """All columns that a file may have; None if it may have any."""
    fills: bool = False
    """Whether missing values are filled in."""

    def check(self, found: Sequence[str], file: str, reader: TableReader[Any] | None = None) -> None:
        """Raise a DataError if a file lacks a needed column, has an unknown column, or has two columns of one name."""
        twice = first_repeated(found)
        if twice is not None:
            what = "{file}: two columns are named {name}, expected different names: rename one."
            raise DataError(what, file=file, name=shorten(twice))
        there = set(found)
        missing = [name for name in self.needed if name not in there]
        if missing:
            it, is_ = ("it", "it is") if len(missing) == 1 else ("them", "they are")
            way_out = f"add {it}, empty where {is_} unknown" if self.fills else f"add {it}"
            above = 0 if reader is None else reader.lines_above(self.needed)
            raise missing_columns(missing, self.needed, found, file, way_out, above)
        new = [] if self.known is None else [name for name in found if name not in self.known]
        if new:
            raise DataError(
                "{file} has a column {new} that was not there before, expected {known}: remove it from the file{hint}.",
                file=file,
                new=shorten(new[0]),
                known=join_names(sorted(self.known or [])),
                hint=NAME_COLUMNS,
            )


class TableReader(Generic[Item]):
    """Base class of the readers of tables, which read files item by item. The format defines the type of an item.

    Attributes
    ----------
    columns : list of str or None
        The columns of the first file; None before reading has begun, or if the file is empty.
    layout : ColumnLayout or None
        The columns to read; None to read all columns with their stored types.
    chosen : list or None
        The names or positions of the columns that all files must have; None if they must have the columns of the first
        file.
    many_columns : bool
        Whether there may be more than ``MOST_COLUMNS`` columns, because a preparation names the columns to read.
    unnamed : list of lists of str
        Lists of column names for files without a header. One list is for files with all columns, another for files
        without the target.
    passthrough_columns : list of str
        Columns whose values are returned with the rows, whether or not they are features.
    known : frozenset of str or None
        The columns of the preparation; None without a preparation.
    extra_columns : list of str
        Columns found so far that are not in ``known``.
    """

    typed = True
    """Whether the format has types, so that strings of digits are strings and not numbers."""
    collects_new = False
    """Whether fields of columns that the layout does not know are collected, in formats that may have them."""

    def __init__(self, request: OpenRequest) -> None:
        self.files, self.skip, self.threads = request.files, request.skip, request.threads
        self.columns: list[str] | None = None
        self.layout: ColumnLayout | None = None
        self.chosen: list[str | int | None] | None = None
        if request.columns is not None:
            self.chosen = [*request.columns, request.target, request.weight]
        self.many_columns = request.preparation is not None
        self.unnamed: list[list[str]] = []
        if request.preparation is not None:
            order, target = request.preparation["order"], request.preparation["target"]
            self.unnamed = [order, [name for name in order if target is None or name != target["name"]]]
        self.passthrough_columns = list(request.passthrough)
        self.known: frozenset[str] | None = None
        self.extra_columns: list[str] = []
        self._peeked: list[Item] = []
        self._rest = self._read()

    def dialect(self) -> Dialect:
        """Return the dialect of the files as far as it is known."""
        return {}

    def items(self) -> Generator[Item, None, None]:
        """Yield all items from the start."""
        if self.files.rereadable:
            yield from self._read()
            return
        while self._peeked:
            yield self._peeked.pop(0)
        yield from self._rest

    def parse(self, item: Item) -> TableChunk:
        """Parse an item into a chunk of the table."""
        raise NotImplementedError

    def passthrough(self, item: Item, chunk: TableChunk, places: np.ndarray) -> Passthrough:
        """Return the values of the passthrough columns for the rows at ``places`` in the chunk of ``item``."""
        raise NotImplementedError

    def note_extra(self, names: Iterable[str]) -> None:
        """Record the columns among ``names`` that the preparation does not name."""
        known = self.known
        if known is not None:
            new = (name for name in names if name not in known and name not in self.extra_columns)
            self.extra_columns.extend(dict.fromkeys(new))

    def check_passthrough(self, names: Sequence[str], file: str) -> None:
        """Raise a DataError if a passthrough column is not in ``names``."""
        missing = [name for name in self.passthrough_columns if name not in set(names)]
        if missing:
            raise missing_columns(missing, self.passthrough_columns, names, file)

    def head(self, rows: int) -> TableChunk:
        """Return the first ``rows`` rows as one chunk; ``items`` yields these rows again."""
        chunks: list[TableChunk] = []
        found = 0
        for item in self._peek_items():
            chunk = self.parse(item)
            self._raise_fault(chunk, rows - found)
            chunk.faults = []
            found += chunk.n
            chunks += [chunk] if chunk.n else []  # if no record can be read, there may be very many empty chunks
            if found >= rows:
                break
        return _join_chunks(chunks, rows, self.files.display_name(0))

    def read_columns(self, rows: int) -> None:
        """Set ``columns`` to the columns of the first file.

        In formats that do not list the columns at the start, they are found in the first ``rows`` rows.
        """
        next(self._peek_items(), None)

    def _peek_items(self) -> Generator[Item, None, None]:
        """Yield items without consuming them: ``items`` yields them again."""
        if self.files.rereadable:
            yield from self._read()
            return
        yield from self._peeked
        for item in self._rest:
            self._peeked.append(item)
            yield item

    def _raise_fault(self, chunk: TableChunk, rows: int) -> None:
        """Raise a DataError for the first record that cannot be read, if fewer than ``rows`` rows precede it."""
        for place, reason in chunk.faults[: 0 if self.skip else 1]:
            if (place if chunk.places is None else np.searchsorted(chunk.places, place)) < rows:
                raise chunk.error(place, reason)

    def lines_above(self, names: Collection[str]) -> int:
        """Return the number of lines above a line with all these names, near the start of the file; 0 if unknown."""
        return 0

    def _check_columns(self, names: list[str], file: int) -> None:
        """Raise a DataError unless a file has the needed columns or, if none are chosen, those of the first file."""
        if self.columns is None:
            self._check_number(len(names), self.files.display_name(file))
            ColumnLayout({}, None).check(names, self.files.display_name(file))
            self.columns = names
        layout = self.layout or ColumnLayout(dict.fromkeys(self.columns, "string"), frozenset(self.columns))
        if self.layout is None and self.chosen is not None:
            layout = ColumnLayout(dict.fromkeys(self._chosen_of(self.columns), "string"), None)
        layout.check(names, self.files.display_name(file), self)
        self.check_passthrough(names, self.files.display_name(file))
        self.note_extra(names)

    def _check_number(self, columns: int, file: str) -> None:
        """Raise a DataError if a table has too many columns, unless the columns to read are named.

        Each column takes kilobytes of memory.
        """
        if columns > MOST_COLUMNS and not self.many_columns and self.chosen is None:
            what = (
                "{file} has {columns:,} columns, expected at most {most:,}: write sparse rows, such as svmlight{hint}."
            )
            raise DataError(what, file=file, columns=columns, most=MOST_COLUMNS, hint=NAME_COLUMNS)

    def _chosen_of(self, names: Sequence[str]) -> list[str]:
        """Return the columns that ``chosen`` selects, given the names of all columns of the first file."""
        chosen = set(self.chosen or ())
        return [name for k, name in enumerate(names) if name in chosen or k in chosen or k - len(names) in chosen]

    def _share(self, file: int, part: float) -> float:
        """Return the share of all files that has been read, given the share ``part`` of the current file."""
        if not self.files.size:
            return 0.0
        before = sum(os.path.getsize(name) for name in self.files.names[:file])
        return (before + part * os.path.getsize(self.files.names[file])) / self.files.size

    def _read(self) -> Generator[Item, None, None]:
        """Yield all items from the start of the files."""
        raise NotImplementedError


class LinesReader(TableReader[Records]):
    """Base class of the readers of text with one row on each line."""

    def _read(self) -> Generator[Records, None, None]:
        with closing(self.files.chunks()) as chunks:
            file, line = 0, 1
            for chunk in chunks:
                if chunk.file != file:
                    file, line = chunk.file, 1
                data = bytes(memoryview(chunk.buffer)[chunk.start : chunk.stop])
                faults = [(0, chunk.fault)] if chunk.fault else []
                yield Records(data, file, line, chunk.share, faults=faults)
                line += data.count(b"\n")

    def _where(self, item: Records) -> Callable[[int], str]:
        return lambda place: f"{self.files.display_name(item.file)}, line {item.line + place}"


def _join_chunks(chunks: list[TableChunk], rows: int, file: str) -> TableChunk:
    pa = import_arrow()
    starts = np.cumsum([0, *(chunk.n for chunk in chunks)])

    def where(row: int) -> str:
        k = int(np.searchsorted(starts, row, side="right")) - 1
        place, places = row - int(starts[k]), chunks[k].places
        return chunks[k].where(place if places is None else int(places[place]))

    names = [name for name in (chunks[0].columns if chunks else {}) if all(name in chunk.columns for chunk in chunks)]
    columns = {}
    for name in names:
        arrays = [chunk.columns[name] for chunk in chunks]
        types = {array.type for array in arrays} - {pa.null()}
        if len(types) > 1 and all(pa.types.is_integer(t) or pa.types.is_floating(t) for t in types):
            types = {pa.float64()}
        if len(types) > 1:
            found = " and ".join(sorted(map(str, types)))
            what = "column {name} is {found} in {file} and the files after it, expected one type in all files."
            raise DataError(what, name=repr(name), found=found, file=file)
        for type_ in types:
            arrays = [array if array.type == type_ else array.cast(type_, safe=False) for array in arrays]
        columns[name] = (arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays))[:rows]
    return TableChunk(columns, min(rows, int(starts[-1])), where)
