"""The reader of lines of text that start with a label, such as fastText's ``__label__spam Free entry ...``.

The table has two columns, ``label`` and ``text``. If labels have no mark, the first word of a line is its label.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rosenblatt.data.io.bytes import LABEL_MARK
from rosenblatt.data.io.lines import quote_bytes
from rosenblatt.data.source import LABEL, TEXT, OpenRequest
from rosenblatt.data.tables.reader import Dialect, LinesReader, Passthrough, Records, TableChunk
from rosenblatt.data.tables.values import import_arrow, numbers_to_arrow
from rosenblatt.messages import Message, shorten

if TYPE_CHECKING:
    import pyarrow as pa

_BLANK = np.isin(np.arange(256), list(b" \t\n\v\f\r"))
"""Whether each byte separates words."""
_BLANKS, _WORD = re.compile(rb"[ \t\v\f\r]*"), re.compile(rb"[^ \t\n\v\f\r]*")


class LabelledLinesReader(LinesReader):
    """A reader of lines that start with a label. Without labels, a line is a text, and a label in it is ignored."""

    def __init__(self, request: OpenRequest) -> None:
        super().__init__(request)
        self._mark = b"" if request.label_first else LABEL_MARK
        if request.preparation is not None and request.preparation["format"] == request.format:
            self._mark = request.preparation["dialect"]["mark"].encode()

    def dialect(self) -> Dialect:
        """Return the mark before each label, which may be empty."""
        return {"mark": self._mark.decode()}

    def _read(self) -> Generator[Records, None, None]:
        for item in super()._read():
            self._check_columns([LABEL, TEXT], item.file)
            yield item

    def passthrough(self, item: Records, chunk: TableChunk, places: np.ndarray) -> Passthrough:
        """Return the labels or the texts of the rows at ``places``."""
        rows = np.searchsorted(chunk.places, places)  # type: ignore[arg-type]  # ``parse`` gives the places
        return {name: array.take(numbers_to_arrow(rows)).to_pylist() for name, array in chunk.passthrough.items()}

    def parse(self, item: Records) -> TableChunk:
        """Cut lines into labels and texts."""
        needed = [LABEL, TEXT] if self.layout is None else list(self.layout.needed)
        faults = dict(item.faults)
        data = item.data
        try:
            data.decode()
        except UnicodeDecodeError:
            data = self._as_text(data, faults)
        lines = _Lines.of(data)
        marked = lines.start_with(self._mark)
        begin, valid = lines.stops, np.ones(len(lines.ends), np.bool_)
        if LABEL in needed:
            valid = lines.starts < lines.ends
            self._check_labels(data, lines, marked, faults)
        elif self._mark:
            labels = re.compile(rb"(?:[ \t]*%b[^ \t\n\v\f\r]*)*" % self._mark)
            begin = lines.starts.copy()
            for k in np.flatnonzero(marked).tolist():
                begin[k] = labels.match(data, begin[k]).end()  # type: ignore[union-attr]
        else:
            begin = lines.starts
        valid[list(faults)] = False
        rows = np.flatnonzero(valid)
        labels_start = np.minimum(lines.starts + len(self._mark), lines.stops)
        columns = {
            LABEL: _cut(data, labels_start[rows], lines.stops[rows]),
            TEXT: _cut(data, begin[rows], lines.ends[rows]),
        }
        return TableChunk(
            {name: columns[name] for name in needed},
            len(rows),
            self._where(item),
            rows,
            sorted(faults.items()),
            item.share,
            passthrough={name: columns[name] for name in self.passthrough_columns},
        )

    def _as_text(self, data: bytes, faults: dict[int, Message]) -> bytes:
        """Return lines as valid UTF-8; those that were not are empty, and added to ``faults``."""
        lines = data.split(b"\n")
        for k, line in enumerate(lines):
            try:
                line.decode()
            except UnicodeDecodeError:
                faults[k] = Message("the line {fault}", fault=self.files.decoding.fault)
                lines[k] = b""
        return b"\n".join(lines)

    def _check_labels(self, data: bytes, lines: _Lines, marked: np.ndarray, faults: dict[int, Message]) -> None:
        """Add the lines without a label, and those with several labels, to ``faults``."""
        size = len(self._mark)
        missing = (~marked | (lines.stops == lines.starts + size)) & (lines.starts < lines.ends)
        for k in np.flatnonzero(missing).tolist():
            what = "expected a line that starts with a label, such as {mark}spam, got {got}"
            got = quote_bytes(data[lines.starts[k] : lines.ends[k]])
            faults.setdefault(k, Message(what, mark=self._mark.decode(), got=got))
        if not size or data.count(self._mark) == np.count_nonzero(marked):
            return
        for match in re.finditer(rb"(?<=[ \t\v\f\r])" + self._mark, data):
            k = int(np.searchsorted(lines.starts, match.start(), side="right")) - 1
            if match.start() > lines.starts[k] and k not in faults:
                places = lines.starts[k] + size, match.end()
                labels = [_WORD.match(data, place).group().decode() for place in places]  # type: ignore[union-attr]
                what = "the line has several labels, such as {labels}, expected one: keep one of them, or train "
                faults[k] = Message(what + "a model for each", labels=" and ".join(map(shorten, labels)))


class _Lines(NamedTuple):
    """The places of lines in a text."""

    text: np.ndarray
    starts: np.ndarray
    """The start of the first word of each line; the end of the line if it is blank."""
    stops: np.ndarray
    """The end of this word."""
    ends: np.ndarray
    """The newline."""

    @classmethod
    def of(cls, data: bytes) -> _Lines:
        text = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(text == ord("\n"))
        starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
        for k in np.flatnonzero(_BLANK[text[starts]] & (starts < ends)).tolist():
            starts[k] = _BLANKS.match(data, starts[k], ends[k]).end()  # type: ignore[union-attr]
        gaps = np.flatnonzero(_BLANK[text])
        return cls(text, starts, gaps[np.searchsorted(gaps, starts)], ends)

    def start_with(self, mark: bytes) -> np.ndarray:
        """Return whether the first word of each line starts with ``mark``."""
        found = self.stops - self.starts >= len(mark)
        for k, letter in enumerate(mark):
            found[found] = self.text[self.starts[found] + k] == letter
        return found


def _cut(data: bytes, starts: np.ndarray, stops: np.ndarray) -> pa.Array:
    """Return the parts of a text between ``starts`` and ``stops``, which ascend, as an Arrow array of strings."""
    pa = import_arrow()
    if not len(starts):
        return pa.nulls(0, pa.string())
    # The parts and what lies between them, in one array that shares the bytes; its even entries are the parts.
    places = np.column_stack([starts, stops]).astype(np.int32).ravel()
    both = pa.Array.from_buffers(pa.string(), len(places) - 1, [None, pa.py_buffer(places), pa.py_buffer(data)])
    return both.take(numbers_to_arrow(np.arange(0, len(places), 2)))
