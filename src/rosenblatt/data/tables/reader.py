"""Tables in pieces, as columns: what the readers of all table formats share.

A reader hands over raw items one after the other, and makes a ``Piece`` of each, which several threads may do at once.
Columns come as Arrow arrays: numbers, booleans and strings as they are stored, strings where the format is text.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.io.lines import Source

__all__ = ["Layout", "Piece", "TableReader", "arrow", "is_odd", "listed", "one"]


@cache
def arrow(module: str = "") -> Any:
    """Return pyarrow, or one of its modules: it is imported when a table is first read."""
    try:
        return import_module("pyarrow" + module)
    except ImportError:
        raise ImportError("reading tables needs pyarrow: pip install 'rosenblatt[files]'.") from None


@dataclass
class Piece:
    """Rows of a table that follow one another, and what could not be read among them."""

    columns: dict[str, Any]
    """An Arrow array for each column that is needed."""
    n: int
    """Rows."""
    where: Callable[[int], str]
    """From a place in this piece to words for it, such as "a.csv, line 7"."""
    places: np.ndarray | None = None
    """The place of each row; None where row i is at place i."""
    broken: list[tuple[int, str]] = field(default_factory=list)
    """Places of lines that are no rows, and what is the matter with them."""
    share: float = 0.0
    """How much of the input has been read with this piece."""
    odd: dict[str, str] = field(default_factory=dict)
    """Columns whose values are of several kinds, and what they hold."""

    def place(self, row: int) -> int:
        """Return the place of a row."""
        return row if self.places is None else int(self.places[row])


@dataclass(frozen=True)
class Layout:
    """The columns that rows are made of."""

    needed: dict[str, str]
    """From name to what the values should be: "number", "boolean", "string" or "list"."""
    known: frozenset[str] | None
    """All columns that may occur, None for any."""

    def check(self, found: Sequence[str], file: str) -> None:
        """Refuse the columns of a file if one is missing, one is new, or two have the same name."""
        twice = [name for k, name in enumerate(found) if name in found[:k]]
        if twice:
            raise DataError(f"{file}: two columns are named {twice[0]!r}, expected different names: rename one.")
        missing = [name for name in self.needed if name not in found]
        if missing:
            raise DataError(
                f"{file} has no column {missing[0]!r}{near(missing[0], found)}, expected {listed(self.needed)}."
            )
        new = [] if self.known is None else [name for name in found if name not in self.known]
        if new:
            known = listed(sorted(self.known or []))
            raise DataError(
                f"{file} has a column {new[0]!r} that was not there before, expected {known}: "
                "name the columns to use by columns= if others do not matter."
            )


def near(name: str, names: Iterable[str]) -> str:
    """Return a suggestion for a name that is not among ``names``, or nothing."""
    lower = {str(other).lower(): other for other in names}
    found = difflib.get_close_matches(name.lower(), lower, 1)
    return f" (did you mean {lower[found[0]]!r}?)" if found else ""


def listed(names: Iterable[str], most: int = 20) -> str:
    """Return names for a sentence, the first ``most`` of them."""
    every = list(names)
    shown = ", ".join(map(str, every[:most]))
    return f"{shown} and {len(every) - most} more" if len(every) > most else shown


def one(array: Any) -> Any:
    """Return a chunked array as one array."""
    pa = arrow()
    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)


def is_odd(type_: Any) -> bool:
    """Say whether values of this type are neither numbers, truth values, strings, dates nor nothing."""
    types = arrow().types
    binary = types.is_binary(type_) or types.is_large_binary(type_) or types.is_fixed_size_binary(type_)
    return types.is_nested(type_) or binary or "binary_view" in str(type_)


class TableReader:
    """A table in some files, read item by item. What an item is depends on the format.

    Attributes
    ----------
    columns : list of str or None
        The columns of the first file, known when reading has begun.
    layout : Layout or None
        What to read, None for all columns as they are.
    chosen : list or None
        The columns that all files must have, None for those of the first file, no more and no less.
    unnamed : list of str
        How to call so many columns that have no names, where one is left out.
    """

    typed = True
    """Whether the format says which values are numbers."""

    def __init__(self, source: Source, *, skip: bool = False, threads: int = 0) -> None:
        self.source, self.skip, self.threads = source, skip, threads
        self.columns: list[str] | None = None
        self.layout: Layout | None = None
        self.chosen: list[Any] | None = None
        self.unnamed: list[str] = []
        self._kept: list[Any] = []
        self._going: Generator[Any, None, None] | None = None

    def dialect(self) -> dict[str, Any]:
        """Return how the files are written, as far as that was found out."""
        return {}

    def items(self) -> Generator[Any, None, None]:
        """Yield all items from the start."""
        if self.source.rereadable:
            yield from self._read()
            return
        while self._kept:
            yield self._kept.pop(0)
        self._going = self._going or self._read()
        yield from self._going

    def parse(self, item: Any) -> Piece:
        """Return an item as a piece of the table."""
        raise NotImplementedError

    def head(self, rows: int) -> Piece:
        """Return the first ``rows`` rows as one piece; they are read again by ``items``."""
        pieces: list[Piece] = []
        for item in self._peeked():
            piece = self.parse(item)
            self._refuse(piece, rows - sum(piece.n for piece in pieces))
            pieces.append(piece)
            if sum(piece.n for piece in pieces) >= rows:
                break
        return _joined(pieces, rows, self.source.label(0))

    def begin(self) -> None:
        """Find out the columns of the first file."""
        for _ in self._peeked():
            break

    def _peeked(self) -> Generator[Any, None, None]:
        """Yield items that are read again later."""
        if self.source.rereadable:
            yield from self._read()
            return
        yield from self._kept
        self._going = self._going or self._read()
        for item in self._going:
            self._kept.append(item)
            yield item

    def _refuse(self, piece: Piece, rows: int) -> None:
        """Raise an error for the first line that is no row, if fewer than ``rows`` rows come before it."""
        for place, reason in piece.broken[: 0 if self.skip else 1]:
            if (place if piece.places is None else np.searchsorted(piece.places, place)) < rows:
                raise DataError(f'{piece.where(place)}: {reason[:-1]}; on_error="skip" leaves such rows out.')

    def _admit(self, names: list[str], file: int) -> None:
        """Check the columns of a file against those of the first, or against what is needed."""
        if self.columns is None:
            Layout({}, None).check(names, self.source.label(file))
            self.columns = names
        layout = self.layout or Layout(dict.fromkeys(self.columns, "string"), frozenset(self.columns))
        if self.layout is None and self.chosen is not None:
            layout = Layout({name: "string" for name in self.columns if name in self.chosen}, None)
        layout.check(names, self.source.label(file))

    def _share(self, file: int, part: float) -> float:
        """Return how much of all files has been read, given how much of one."""
        if not self.source.size:
            return 0.0
        before = sum(os.path.getsize(name) for name in self.source.names[:file])
        return (before + part * os.path.getsize(self.source.names[file])) / self.source.size

    def _read(self) -> Generator[Any, None, None]:
        raise NotImplementedError


def _joined(pieces: list[Piece], rows: int, file: str) -> Piece:
    pa = arrow()
    starts = np.cumsum([0, *(piece.n for piece in pieces)])

    def where(row: int) -> str:
        k = int(np.searchsorted(starts, row, side="right")) - 1
        return pieces[k].where(pieces[k].place(row - int(starts[k])))

    names = [name for name in (pieces[0].columns if pieces else {}) if all(name in piece.columns for piece in pieces)]
    columns = {}
    for name in names:
        arrays = [piece.columns[name] for piece in pieces]
        types = {array.type for array in arrays} - {pa.null()}
        if len(types) > 1 and all(pa.types.is_integer(t) or pa.types.is_floating(t) for t in types):
            types = {pa.float64()}
        if len(types) > 1:
            found = " and ".join(sorted(map(str, types)))
            raise DataError(f"column {name!r} of {file} and those after it is {found}, expected one type in all files.")
        alike = [array.cast(type_, safe=False) for type_ in types for array in arrays]
        columns[name] = pa.concat_arrays(alike or arrays)[:rows]
    return Piece(columns, min(rows, int(starts[-1])), where)
