"""Tables in chunks of columns: what the readers of all table formats share.

A reader yields raw items one after the other, and parses each into a ``TableChunk``, which several threads may do at
once. Columns are Arrow arrays: numbers, booleans and strings as they are stored, strings where the format is text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.source import OpenRequest
from rosenblatt.data.tables.values import ADVICE, Reason, import_arrow
from rosenblatt.messages import IfAvailable, Setting, did_you_mean, shorten, show_text

if TYPE_CHECKING:
    import pyarrow as pa


# Names of columns in sentences: those that are missing, what might be meant, what is there instead.


DELIMITERS = ",;\t|"
"""What may stand between the cells of CSV, the commonest first."""
_LONGEST_NAME = 100
"""Characters of a column's name in a sentence."""


def missing_columns(
    missing: Sequence[str], needed: Collection[str], found: Sequence[str], file: str, way_out: str = ""
) -> DataError:
    """Return the error for columns that a file does not have, with what it has instead and what to do."""
    hint = suggestion(missing[0], found) if len(missing) == 1 else ""
    what = f"{file} has no column {join_names(map(shorten, missing), last=' and no column ')}{hint}"
    what += f", expected {join_names(needed)}" if len(needed) > 1 else ""
    delimiter = next((c for c in DELIMITERS if c in found[0]), "") if len(found) == 1 else ""
    if not delimiter:
        todo = "" if not way_out else ": rename that one" if hint else f": {way_out}"
        return DataError(f"{what}; found {join_names(found) if found else 'none'}{todo}.")
    what += f"; found one column, {show_text(found[0])}: is {delimiter!r} what separates its cells?"
    return DataError(what, IfAvailable("delimiter", " Then give ", Setting("delimiter", delimiter), "."))


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that has been there before, if there is one.

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
    """Return a hint for a name that is not among ``names``, or nothing."""
    question = did_you_mean(name, names)
    return f" ({question})" if question else ""


def join_names(names: Iterable[str], most: int = 20, last: str = ", ") -> str:
    """Return names for a sentence, the first ``most`` of them; ``last`` stands before the last.

    >>> join_names(["a", "b", "c"]), join_names("abc", last=" and "), join_names("abc", most=2)
    ('a, b, c', 'a, b and c', 'a, b and 1 more')
    """
    every = [show_text(str(name), _LONGEST_NAME) for name in names]
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most} more"
    return last.join([", ".join(every[:-1]), every[-1]]) if len(every) > 1 else "".join(every)


Item = TypeVar("Item")

MOST_COLUMNS = 200_000
"""Columns of a table that may be read without being named."""


class Records(NamedTuple):
    """Whole records of a text file, as bytes."""

    data: bytes
    file: int
    line: int
    """Number of the first line, from 1."""
    share: float
    names: Sequence[str] = ()
    """The columns of the file, where its first line names them."""
    faults: Sequence[tuple[int, Reason]] = ()


@dataclass
class TableChunk:
    """Consecutive rows of a table as columns, and the lines among them that could not be read."""

    columns: dict[str, pa.Array]
    """An Arrow array for each column that is needed."""
    n: int
    """Rows."""
    where: Callable[[int], str]
    """From a place in this chunk to its description, such as "a.csv, line 7"."""
    places: np.ndarray | None = None
    """The place of each row; None where row i is at place i."""
    faults: list[tuple[int, Reason]] = field(default_factory=list)
    """Places of lines that are no rows, and what is wrong with them."""
    share: float = 0.0
    """How much of the input has been read with this chunk."""
    mixed: dict[str, str] = field(default_factory=dict)
    """Columns whose values have several types, and which."""
    passthrough: dict[str, pa.Array] = field(default_factory=dict)
    """An Arrow array for each column that comes along, where it is read with the others."""

    def error(self, place: int, reason: Reason) -> DataError:
        """Return the error for a row at fault."""
        skip = IfAvailable("on_error", "; ", Setting("on_error", "skip"), " leaves such rows out")
        # Where a reason ends in an advice of its own, leaving rows out would be the wrong way.
        advised = any(isinstance(piece, str) and piece.startswith(ADVICE) for piece in reason)
        return DataError(f"{self.where(place)}: ", *reason, *(() if advised else (skip,)), ".")


@dataclass(frozen=True)
class ColumnLayout:
    """The columns that rows are made of."""

    needed: dict[str, str]
    """From name to the type of the values: "number", "boolean", "string" or "list"."""
    known: frozenset[str] | None
    """All columns that may occur, None for any."""
    fills: bool = False
    """Whether missing values are filled."""

    def check(self, found: Sequence[str], file: str) -> None:
        """Raise an error if the columns of a file lack one, have a new one, or have one name twice."""
        twice = first_repeated(found)
        if twice is not None:
            raise DataError(f"{file}: two columns are named {shorten(twice)}, expected different names: rename one.")
        there = set(found)
        missing = [name for name in self.needed if name not in there]
        if missing:
            it, is_ = ("it", "it is") if len(missing) == 1 else ("them", "they are")
            way_out = f"add {it}, empty where {is_} unknown" if self.fills else f"add {it}"
            raise missing_columns(missing, self.needed, found, file, way_out)
        new = [] if self.known is None else [name for name in found if name not in self.known]
        if new:
            raise DataError(
                f"{file} has a column {shorten(new[0])} that was not there before, expected "
                f"{join_names(sorted(self.known or []))}: remove it from the file",
                IfAvailable("columns", ", or name the columns to use by ", Setting("columns")),
                ".",
            )


class TableReader(Generic[Item]):
    """A table in some files, read item by item. What an item is depends on the format.

    Attributes
    ----------
    columns : list of str or None
        The columns of the first file, known when reading has begun; None where it has none, as it is empty.
    layout : ColumnLayout or None
        What to read, None for all columns as they are.
    chosen : list or None
        The columns that all files must have, None for exactly those of the first file.
    many_columns : bool
        Whether there may be very many columns, as a preparation says what is read.
    unnamed : list of lists of str
        The names of so many columns without names: all, and those of files without the target.
    carry : list of str
        Columns that come along with the rows, used or not.
    known : frozenset of str or None
        The columns that a preparation knows, where others are taken note of; None where there is none.
    extra_columns : list of str
        Those others, so far.
    """

    typed = True
    """Whether the format has types, so that numbers in strings are strings."""

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
        self.carry = list(request.passthrough)
        self.known: frozenset[str] | None = None
        self.extra_columns: list[str] = []
        self._peeked: list[Item] = []
        self._rest = self._read()

    def dialect(self) -> dict[str, Any]:
        """Return how the files are written, as far as that is known."""
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
        """Return an item as a chunk of the table."""
        raise NotImplementedError

    def passthrough(self, item: Item, chunk: TableChunk, places: np.ndarray) -> dict[str, list[Any]]:
        """Return the values of the columns that come along, for the rows at these places of an item's chunk."""
        raise NotImplementedError

    def note_extra(self, names: Iterable[str]) -> None:
        """Take note of columns that the preparation does not know."""
        known = self.known
        if known is not None:
            new = (name for name in names if name not in known and name not in self.extra_columns)
            self.extra_columns.extend(dict.fromkeys(new))

    def check_carried(self, names: Sequence[str], file: str) -> None:
        """Raise an error if a column that is to come along is not there."""
        missing = [name for name in self.carry if name not in set(names)]
        if missing:
            raise missing_columns(missing, self.carry, names, file)

    def head(self, rows: int) -> TableChunk:
        """Return the first ``rows`` rows as one chunk; they are read again by ``items``."""
        chunks: list[TableChunk] = []
        found = 0
        for item in self._peek_items():
            chunk = self.parse(item)
            self._raise_fault(chunk, rows - found)
            chunk.faults = []
            found += chunk.n
            chunks += [chunk] if chunk.n else []  # what holds no row is not kept: all lines may be at fault
            if found >= rows:
                break
        return _join_chunks(chunks, rows, self.files.display_name(0))

    def read_columns(self, rows: int) -> None:
        """Find the columns of the first file, where they are not named once from those of its first ``rows`` rows."""
        next(self._peek_items(), None)

    def _peek_items(self) -> Generator[Item, None, None]:
        """Yield items that are read again later."""
        if self.files.rereadable:
            yield from self._read()
            return
        yield from self._peeked
        for item in self._rest:
            self._peeked.append(item)
            yield item

    def _raise_fault(self, chunk: TableChunk, rows: int) -> None:
        """Raise an error for the first line that is no row, if fewer than ``rows`` rows come before it."""
        for place, reason in chunk.faults[: 0 if self.skip else 1]:
            if (place if chunk.places is None else np.searchsorted(chunk.places, place)) < rows:
                raise chunk.error(place, reason)

    def _check_columns(self, names: list[str], file: int) -> None:
        """Check the columns of a file against those of the first, or against what is needed."""
        if self.columns is None:
            self._check_number(len(names), self.files.display_name(file))
            ColumnLayout({}, None).check(names, self.files.display_name(file))
            self.columns = names
        layout = self.layout or ColumnLayout(dict.fromkeys(self.columns, "string"), frozenset(self.columns))
        if self.layout is None and self.chosen is not None:
            layout = ColumnLayout(dict.fromkeys(self._chosen_of(self.columns), "string"), None)
        layout.check(names, self.files.display_name(file))
        self.check_carried(names, self.files.display_name(file))
        self.note_extra(names)

    def _check_number(self, columns: int, file: str) -> None:
        """Raise an error if a table has very many columns, each of which takes kilobytes, unless some are named."""
        if columns > MOST_COLUMNS and not self.many_columns and self.chosen is None:
            what = f"{columns:,} columns, expected at most {MOST_COLUMNS:,}"
            raise DataError(
                f"{file} has {what}: write sparse rows, such as svmlight",
                IfAvailable("columns", ", or name the columns to use by ", Setting("columns")),
                ".",
            )

    def _chosen_of(self, names: Sequence[str]) -> list[str]:
        """Return those among the columns that all files must have."""
        chosen = set(self.chosen or ())
        return [name for k, name in enumerate(names) if name in chosen or k in chosen or k - len(names) in chosen]

    def _share(self, file: int, part: float) -> float:
        """Return how much of all files has been read, given how much of one."""
        if not self.files.size:
            return 0.0
        before = sum(os.path.getsize(name) for name in self.files.names[:file])
        return (before + part * os.path.getsize(self.files.names[file])) / self.files.size

    def _read(self) -> Generator[Item, None, None]:
        """Yield all items from the start of the files."""
        raise NotImplementedError


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
            raise DataError(f"column {name!r} of {file} and those after it is {found}, expected one type in all files.")
        for type_ in types:
            arrays = [array if array.type == type_ else array.cast(type_, safe=False) for array in arrays]
        columns[name] = (arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays))[:rows]
    return TableChunk(columns, min(rows, int(starts[-1])), where)
