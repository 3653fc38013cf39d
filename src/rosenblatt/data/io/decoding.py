"""Conversion of text files and workbooks to UTF-8 text, without the lines to skip at the start."""

from __future__ import annotations

import codecs
import io
import re
from itertools import islice
from typing import NamedTuple

from rosenblatt.blocks import DataError
from rosenblatt.data.io.bytes import ByteStream
from rosenblatt.data.io.workbooks import MOST_STORED_BYTES, SheetText, is_workbook, read_sheet
from rosenblatt.messages import Message, ParameterError, check_integer, shorten

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # it begins with the mark of UTF-16, so it comes first
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte order marks, and the encodings that they show."""
_UNMARKED = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
"""Encodings in which text without a byte order mark has NUL bytes."""
_HEAD_BYTES = 64
_PIECE = 1 << 18
_NOT_TEXT = "\udcff"
"""The replacement for undecodable bytes. UTF-8 cannot encode this character, so its row cannot be read."""


class Decoding(NamedTuple):
    """The options for converting the bytes of a file to text."""

    encoding: str | None = None
    """The encoding of the text. None means UTF-8, unless a byte order mark shows UTF-16 or UTF-32."""
    skip_rows: int = 0
    """The number of lines to leave out at the start of each file."""
    sheet: str | None = None
    """The sheet of each workbook to read; None for the first one that is visible and not empty."""

    def check(self) -> Decoding:
        """Return this decoding; raise a ParameterError if it is not valid."""
        check_integer("skip_rows", self.skip_rows, 0)
        if self.sheet is not None and not isinstance(self.sheet, str):
            raise ParameterError("{sheet} must be the name of a sheet, got {got}.", got=shorten(self.sheet))
        if self.encoding is not None and not _is_encoding(self.encoding):
            what = "{encoding} must be the name of an encoding, such as 'cp1252', 'latin-1' or 'utf-16', got {got}."
            raise ParameterError(what, got=shorten(self.encoding))
        return self

    @property
    def fault(self) -> Message:
        """The reason to report for a line whose bytes cannot be decoded."""
        if self.encoding is None:
            return Message(
                "is not valid UTF-8: give its encoding, such as {encoding='cp1252'} for most files from Windows"
            )
        return Message("is not valid {name}: give its true {encoding}", name=self.encoding)


def _is_encoding(name: object) -> bool:
    try:
        return isinstance(name, str) and bool("a".encode(name))
    except (LookupError, ValueError):  # a ValueError for a name with a null character
        return False


class SheetStream:
    """A sheet of a workbook as a stream of CSV text; the workbook has been read as a whole."""

    def __init__(self, stream: ByteStream, sheet: SheetText) -> None:
        self.name, self.compression, self.consumed, self.sheet = stream.name, stream.compression, stream.consumed, sheet
        self._rest = io.BytesIO(sheet.text)

    def readinto(self, buffer: memoryview) -> int:
        """Fill ``buffer`` and return the number of bytes."""
        return self._rest.readinto(buffer)

    def pauses(self) -> bool:
        """Return False, because all text is in memory."""
        return False

    def close(self) -> None:
        """Release the text."""
        self._rest.close()


class DecodedStream:
    """The text of a file as UTF-8, with empty lines in place of the lines that are left out.

    So line numbers are the same as in the file. Bytes that cannot be decoded become bytes that are not valid UTF-8.

    Attributes
    ----------
    sheet : SheetText or None
        The sheet if the file is a workbook.
    """

    def __init__(self, stream: ByteStream | SheetStream, skip_rows: int, encoding: str | None = None) -> None:
        self.name, self.compression, self._stream = stream.name, stream.compression, stream
        self.sheet = stream.sheet if isinstance(stream, SheetStream) else None
        self.encoding, self._decoder = encoding, None
        if encoding is not None:
            self._decoder = codecs.getincrementaldecoder(encoding)("rosenblatt-not-text")
        self._lines_left = skip_rows
        self._ready = b""
        self._ended = False

    @property
    def consumed(self) -> int:
        """The number of stored bytes of the file that have been read so far."""
        return self._stream.consumed

    def readinto(self, buffer: memoryview) -> int:
        """Fill ``buffer`` and return the number of bytes, as `ByteStream.readinto` does."""
        if self._decoder is None and not self._lines_left and not self._ready:
            return self._stream.readinto(buffer)
        filled, has_line = 0, False
        while filled < len(buffer):
            if not self._ready:
                if self._ended or (has_line and self._stream.pauses()):
                    break
                self._read()
            n = min(len(self._ready), len(buffer) - filled)
            buffer[filled : filled + n] = self._ready[:n]
            has_line = has_line or b"\n" in self._ready[:n]
            self._ready = self._ready[n:]
            filled += n
        return filled

    def peek(self, size: int) -> bytes:
        """Return the next ``size`` bytes without consuming them; fewer in the same cases as in ``readinto``."""
        buffer = bytearray(size)
        self._ready = bytes(buffer[: self.readinto(memoryview(buffer))]) + self._ready
        return self._ready[:size]

    def close(self) -> None:
        """Close the file if it was opened by its name; standard input and file objects stay open."""
        self._stream.close()

    def _read(self) -> None:
        """Read a piece of the file, and add its text to ``_ready``."""
        piece = memoryview(bytearray(_PIECE))
        n = self._stream.readinto(piece)
        self._ended, data = n == 0, bytes(piece[:n])
        if self._decoder is not None:
            data = self._decode(data)
        if self._lines_left:
            ends = [match.end() for match in islice(re.finditer(b"\n", data), self._lines_left)]
            self._lines_left -= len(ends)
            data = b"\n" * len(ends) + (b"" if self._lines_left else data[ends[-1] :])
        self._ready += data

    def _decode(self, data: bytes) -> bytes:
        """Return the text of the next bytes as UTF-8."""
        assert self._decoder is not None
        try:
            return self._decoder.decode(data, self._ended).encode("utf-8", "surrogatepass")
        except UnicodeError as fault:  # a fault of the whole file, which no character can replace
            what = "{file} cannot be read as {name} ({fault}): give its true {encoding}."
            raise DataError(what, file=self.name, name=self.encoding, fault=fault) from None


def decoded(stream: ByteStream, decoding: Decoding, sheet: SheetText | None = None) -> ByteStream | DecodedStream:
    """Return the text of a stream as UTF-8; the stream itself if it needs no change.

    ``sheet`` is the sheet of a workbook if it has been read before.
    """
    head = stream.peek(_HEAD_BYTES)[:_HEAD_BYTES]
    if sheet is not None or is_workbook(head):
        if decoding.encoding is not None:
            raise ParameterError(
                "{file} is a workbook, whose text needs no {encoding}: leave it out.", file=stream.name
            )
        sheet = sheet or read_sheet(_read_whole(stream), stream.name, decoding.sheet)
        return DecodedStream(SheetStream(stream, sheet), decoding.skip_rows)
    if decoding.sheet is not None:
        what = "{file} is not a workbook (.xlsx, .xls or .ods), so it has no {sheet}: leave it out."
        raise ParameterError(what, file=stream.name)
    encoding = decoding.encoding or _detect_encoding(head, stream.name)
    return DecodedStream(stream, decoding.skip_rows, encoding) if encoding or decoding.skip_rows else stream


def _read_whole(stream: ByteStream) -> bytes:
    parts: list[bytes] = []
    size, piece = 0, memoryview(bytearray(_PIECE))
    while n := stream.readinto(piece):
        parts.append(bytes(piece[:n]))
        size += n
        if size > MOST_STORED_BYTES:
            what = "{file} is a workbook of more than {most:,} bytes: save the sheet as CSV."
            raise DataError(what, file=stream.name, most=MOST_STORED_BYTES)
    return b"".join(parts)


def _detect_encoding(head: bytes, name: str) -> str | None:
    """Return the encoding that a byte order mark shows, or None; raise a DataError if text seems to lack the mark."""
    found = next((encoding for mark, encoding in _MARKS.items() if head.startswith(mark)), None)
    if found is None and b"\0" in head:
        for encoding in _UNMARKED:
            text, bytes_each = head.decode(encoding, "ignore"), 4 if "32" in encoding else 2
            if 2 * bytes_each * sum(" " <= character <= "~" for character in text) > len(head):
                what = "{file} looks like {kind} text without a byte order mark, expected UTF-8: give {encoding=found}."
                raise DataError(what, file=name, kind=encoding[:6].upper(), found=encoding)
    return found


def _replace_by_fault(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _NOT_TEXT, error.end


codecs.register_error("rosenblatt-not-text", _replace_by_fault)
