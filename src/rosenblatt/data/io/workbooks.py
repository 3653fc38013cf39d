"""Sheets of workbooks (.xlsx, .xls, .ods) as CSV text: one line for each row of the sheet.

The sheets are read with python-calamine. It allocates memory for every cell up to the last one, including empty cells.
So the size of the unpacked parts of a workbook and the number of cells are checked before it is called.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple
from xml.parsers import expat

from rosenblatt.blocks import DataError
from rosenblatt.messages import Message, ParameterError, did_you_mean, list_some, shorten, show_text

MOST_STORED_BYTES = 1 << 28
"""The largest size of a workbook as it is stored."""
MOST_BYTES = 1 << 30
"""The largest size of all parts of a workbook, unpacked."""
MOST_CELLS = 1 << 24
"""The maximum number of cells of a sheet: the number of rows times the number of columns."""
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The start of .xls files, and of workbooks with a password."""
_ZIP = b"PK\x03\x04"
_PARTS = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/", b"customXml/", b"mimetype", b"META-INF/")
"""The starts of the names of parts that may come first in a workbook."""
_PIECE = 1 << 18
_SAVE_AGAIN = "save it again, or save the sheet as CSV"


class SheetText(NamedTuple):
    """A sheet as CSV text in UTF-8."""

    text: bytes
    name: str
    others: list[str]
    """The other visible sheets of the workbook."""

    def note(self, file: str) -> Message | None:
        """Return a note about the sheet that is read, if it was chosen only by its position in the workbook."""
        if not self.others:
            return None
        return Message(
            "{file}: the sheet {name} is read; {sheet=other} reads another of its {n} visible sheets{names}.",
            file=file,
            name=repr(self.name),
            other=self.others[0],
            n=len(self.others) + 1,
            names=f" ({list_some(self.others)})" if len(self.others) > 1 else "",
        )


def is_workbook(head: bytes) -> bool:
    """Return whether a file that starts with ``head`` is a workbook, and not another zip archive such as .npz.

    Examples
    --------
    >>> is_workbook(b"PK\\x03\\x04" + bytes(22) + b"\\x08\\0\\0\\0mimetype"), is_workbook(b"a,b\\n1,2\\n")
    (True, False)
    """
    return head.startswith(_OLE) or (head.startswith(_ZIP) and head[30:].startswith(_PARTS))


def read_sheet(stored: bytes, file: str, sheet: str | None = None) -> SheetText:
    """Return a sheet of a workbook as CSV; by default the first visible one that is not empty.

    Raise a DataError if the workbook cannot be read or is too large, and a ParameterError if there is no such sheet.
    """
    if stored.startswith(_ZIP):
        _check_parts(stored, file)
    try:
        calamine = import_module("python_calamine")
    except ImportError:
        raise ImportError(
            f"{file} is a workbook, which needs python-calamine: pip install 'rosenblatt[excel]', or save the sheet as "
            "CSV."
        ) from None
    try:
        with calamine.CalamineWorkbook.from_filelike(io.BytesIO(stored)) as book:
            names = [about.name for about in book.sheets_metadata if _is_visible(about)]
            if sheet is not None and sheet not in book.sheet_names:
                raise _no_such_sheet(sheet, book.sheet_names, file)
            for name in names if sheet is None else [sheet]:
                found = book.get_sheet_by_name(name)
                if found.height:
                    others = [] if sheet is not None else [other for other in names if other != name]
                    return SheetText(_as_csv(found.iter_rows()), name, others)
            return SheetText(b"", sheet or "", [])
    except (DataError, ParameterError, MemoryError):
        raise
    except calamine.PasswordError:
        raise DataError("{file} is protected by a password: save it without one.", file=file) from None
    except BaseException as error:  # calamine may panic, and then raises no Exception
        if not isinstance(error, calamine.CalamineError | ValueError | OSError | OverflowError) and (
            type(error).__name__ != "PanicException"
        ):
            raise
        raise _damaged(file, str(error)) from None


def _is_visible(about: Any) -> bool:
    return "WorkSheet" in str(about.typ) and "Visible" in str(about.visible).split(".")


def _no_such_sheet(sheet: str, names: list[str], file: str) -> ParameterError:
    similar = did_you_mean(sheet, names)
    return ParameterError(
        "{file} has no sheet {got}{similar}: give {sheet} one of {names}.",
        file=file,
        got=shorten(sheet),
        similar=f" ({similar})" if similar else "",
        names=list_some(names),
    )


def _damaged(file: str, reason: str) -> DataError:
    what = "{file} cannot be read as a workbook ({reason}): {again}."
    return DataError(what, file=file, reason=show_text(reason, 200), again=_SAVE_AGAIN)


def _as_csv(rows: Iterator[list[Any]]) -> bytes:
    """Return rows as CSV, each as one line: an empty row is an empty line, and cells have no line breaks."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        cells = [_cell(value) for value in row]
        if any(cells):
            writer.writerow(cells)
        else:
            text.write("\n")
    return text.getvalue().encode("utf-8", "surrogatepass")


def _cell(value: Any) -> str:
    """Return a cell as text: dates in ISO 8601, and durations and times of day as days.

    >>> [_cell(value) for value in (2.0, 0.1, True, datetime.date(2024, 1, 31), datetime.timedelta(hours=6), "a\\nb")]
    ['2', '0.1', 'true', '2024-01-31', '0.25', 'a b']
    """
    if isinstance(value, str):
        return value if value.isprintable() else " ".join(value.splitlines())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(datetime.date.min, value) - datetime.datetime.min
    if isinstance(value, datetime.timedelta):
        value = value / datetime.timedelta(days=1)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


# Checks of the parts of a workbook, which is a zip archive of XML.


def _check_parts(stored: bytes, file: str) -> None:
    """Raise a DataError if a workbook is damaged, if its parts are too large, or if a sheet has too many cells."""
    try:
        with zipfile.ZipFile(io.BytesIO(stored)) as archive:
            entries = archive.infolist()
            total = sum(entry.file_size for entry in entries)
            if total > MOST_BYTES:
                what = "{file} unpacks to {total:,} bytes, expected at most {most:,}: save the sheet as CSV."
                raise DataError(what, file=file, total=total, most=MOST_BYTES)
            if any(entry.filename.lower().endswith("workbook.bin") for entry in entries):
                raise DataError("{file} is a binary workbook (.xlsb): save it as .xlsx or CSV.", file=file)
            for entry in entries:
                size = _size_by_places(_unpacked(stored, entry)) or _size_by_xml(_unpacked(stored, entry))
                if size is None:
                    raise ValueError(f"{entry.filename} is not valid XML")
                if size.rows * size.columns > MOST_CELLS:
                    what = "{file} has a sheet of {rows:,} rows and {columns:,} columns, expected at most {most:,} "
                    what += "cells, empty ones included: save the sheet as CSV."
                    raise DataError(what, file=file, rows=size.rows, columns=size.columns, most=MOST_CELLS)
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, NotImplementedError, RuntimeError) as error:
        if isinstance(error, DataError):
            raise
        raise _damaged(file, str(error)) from None


def _unpacked(stored: bytes, entry: zipfile.ZipInfo) -> Generator[bytes, None, None]:
    """Yield the bytes of a part; raise a ValueError if there are more than stated in the archive's directory.

    ``zipfile`` is not used here. It stops at the size in the directory, but other programs may read on.
    """
    start = entry.header_offset
    names = int.from_bytes(stored[start + 26 : start + 28], "little")
    begin = start + 30 + names + int.from_bytes(stored[start + 28 : start + 30], "little")
    if stored[start : start + 4] != _ZIP or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{entry.filename} is compressed in an unknown way")
    if entry.flag_bits & 1:
        raise ValueError(f"{entry.filename} is encrypted")
    packed = memoryview(stored)[begin : begin + entry.compress_size]
    unpacker, size = zlib.decompressobj(-zlib.MAX_WBITS), 0
    for place in range(0, len(packed), _PIECE):
        rest: Any = packed[place : place + _PIECE]
        while rest:
            piece = bytes(rest)
            if entry.compress_type == zipfile.ZIP_STORED:
                rest = b""
            else:
                piece = unpacker.decompress(rest, _PIECE)
                rest = unpacker.unconsumed_tail
            size += len(piece)
            if size > entry.file_size:
                raise ValueError(f"{entry.filename} is larger than the archive says")
            yield piece
    if size < entry.file_size and entry.compress_type == zipfile.ZIP_DEFLATED:
        yield unpacker.flush()


class _Size(NamedTuple):
    """The number of rows and columns of a sheet up to its last cell; 0 for a part that is not a sheet."""

    rows: int
    columns: int


_TAG = re.compile(rb"<(?:c|row)[\s/>]")
_PLACE = re.compile(rb'<(?:c r="([A-Z]{1,3})|row r=")([0-9]{1,7})"')
_OTHER = re.compile(rb"\0|<!DOCTYPE|:c[\s/>]|:row[\s/>]|table-row")


def _size_by_places(pieces: Iterable[bytes]) -> _Size | None:
    """Return the size of a sheet if each cell and row begins with its position, as Excel writes it, or else None.

    This is much faster than parsing the XML. The text is not assumed to be valid XML.

    >>> _size_by_places([b'<row r="7"><c r="AB7"><v>1</v></c>', b'<c r="B7" s="1"/></row>']), _size_by_places([b"<c>"])
    (_Size(rows=7, columns=28), None)
    """
    rows, letters, rest = 0, {b""}, b""
    for piece in pieces:
        text = rest + piece
        end = text.rfind(b"<")
        text, rest = (text[:end], text[end:]) if end >= 0 else (b"", text)
        places = _PLACE.findall(text)
        if len(rest) > _PIECE or _OTHER.search(text) or len(places) != len(_TAG.findall(text)):
            return None
        rows = max(rows, *(int(row) for _, row in places)) if places else rows
        letters.update(column for column, _ in places)
    if _OTHER.search(rest) or _TAG.search(rest):
        return None
    return _Size(rows, max(_column_number(column.decode()) for column in letters))


def _size_by_xml(pieces: Iterable[bytes]) -> _Size | None:
    """Return the size of a sheet from its XML; None for a sheet that is not valid XML."""
    cells = _CellCounter()
    for piece in pieces:
        cells.add(piece)
    return None if cells.is_damaged else _Size(cells.rows, cells.columns)


class _CellCounter:
    """The number of rows and columns of a sheet, from its XML, up to the last cell that is not empty.

    Parts that are not XML have no cells. If such a part looks like a sheet, it is damaged.
    """

    def __init__(self) -> None:
        self.rows = self.columns = 0
        self.is_damaged = False
        self._row = self._column = 0
        self._in_sheet = False
        self._tail = b""
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._is_xml = True

    @property
    def count(self) -> int:
        """The number of cells of the sheet, including empty ones."""
        return self.rows * self.columns

    def add(self, piece: bytes) -> None:
        """Count the cells in the next piece of a part."""
        if self._is_xml and self.count <= MOST_CELLS:
            try:
                self._parser.Parse(piece)
            except (expat.ExpatError, ValueError, LookupError):  # a LookupError for an unknown encoding
                self._is_xml, self.is_damaged = False, self._in_sheet
        if not self._is_xml:
            text = self._tail + piece
            self.is_damaged = self.is_damaged or b"sheetData" in text or b"table-row" in text
        self._tail = piece[-16:]

    def _refuse(self, *_: object) -> None:
        raise ValueError("a document type declaration")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        space, _, name = name.rpartition(" ")
        if self.count > MOST_CELLS:
            return
        if name in ("sheetData", "table"):
            self._in_sheet, self.rows, self.columns, self._row, self._column = True, 0, 0, 0, 0
        elif not self._in_sheet:
            return
        elif name == "row":
            self._row, self._column = _integer(attributes.get("r"), self._row + 1), 0
            self.rows = max(self.rows, self._row)
        elif name == "c":
            self._column = _column_number(attributes.get("r", "")) or self._column + 1
            self.columns = max(self.columns, self._column)
            self.rows = max(self.rows, _integer(attributes.get("r", "").lstrip(_LETTERS), 0))
        elif name == "table-row":
            self._row += _integer(attributes.get(f"{space} number-rows-repeated"), 1)
            self._column = 0
        elif name in ("table-cell", "covered-table-cell"):
            self._column += _integer(attributes.get(f"{space} number-columns-repeated"), 1)
            if any(not key.startswith(f"{space} ") for key in attributes):  # a type or a value, of another namespace
                self.columns, self.rows = max(self.columns, self._column), max(self.rows, self._row)


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _integer(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else default


def _column_number(place: str) -> int:
    """Return the number of the column of a cell, counted from 1; 0 if the cell's position is not known.

    >>> _column_number("A1"), _column_number("AB12"), _column_number("")
    (1, 28, 0)
    """
    number = 0
    for letter in place[:10].upper():
        if not "A" <= letter <= "Z":
            break
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
