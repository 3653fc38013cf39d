"""The base class of the readers of svmlight and Vowpal Wabbit text, which parse chunks of lines in threads."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import Block, DataError
from rosenblatt.data.io.lines import LineSource, TextChunk, quote_bytes
from rosenblatt.data.io.prefetch import ordered_map
from rosenblatt.data.source import Facts, RowSource, fit_columns
from rosenblatt.kernels.parsing.bytes import MAX_COLUMNS
from rosenblatt.kernels.parsing.svmlight import (
    BAD_VALUE,
    DONE,
    LARGE_LABEL,
    NEED_SPACE,
    NEED_VALUES,
    PROGRESS,
    TOO_LARGE,
)
from rosenblatt.messages import Message, check_integer

_NUMBER = re.compile(rb"[+-]?\d*\.?\d*(?:[eE][+-]?\d+)?")
_WORD = re.compile(rb"[^ \t\r\n]{0,80}")
_AHEAD = 16
"""The number of chunks to parse ahead, so that a slow chunk or a slow consumer does not keep threads idle."""
COMMON_FAULTS = {
    BAD_VALUE: "the value is {word}, expected a finite number",
    TOO_LARGE: "the number {word} is too large for float64",
    LARGE_LABEL: "the label is {word}, which float64 may have rounded, expected labels below 2^53",
}


@dataclass
class ParsedChunk:
    """The rows of one chunk of text, in arrays with spare capacity, and its lines that cannot be read."""

    rows: list[np.ndarray]
    """The labels, indptr, indices, values and weights; the last is empty if the format has no weights."""
    chunk: TextChunk
    faults: list[tuple[int, Message]] = field(default_factory=list)
    """For each line that cannot be read, the number of lines before it in the chunk, and the reason."""
    rows_before: list[int] = field(default_factory=list)
    """For each line that cannot be read, the number of rows before it in the chunk."""
    lines: int = 0
    n: int = 0
    entries: int = 0
    highest: int = -1
    name_positions: np.ndarray = field(default_factory=lambda: np.empty((0, 5), np.int64))
    """For each name: its column, the start and end of its namespace, and the start and end of the name.

    If the last number is negative, the name is the number before it.
    """
    names: list[tuple[int, str]] = field(default_factory=list)
    """Pairs of a column and its name."""

    @property
    def numbers(self) -> np.ndarray:
        """The index of each row among all lines of this chunk that are not blank."""
        rows = np.arange(self.n)
        return rows + np.searchsorted(self.rows_before, rows, side="right")

    def read_names(self, count: int) -> None:
        """Copy the first ``count`` names from the text, before its buffer is reused."""
        text = self.chunk.buffer
        for column, space, space_end, place, end in self.name_positions[:count].tolist():
            prefix = text[space:space_end].decode("utf-8", "backslashreplace") + "^" if space_end > space else ""
            name = text[place:end].decode("utf-8", "backslashreplace") if end >= 0 else str(place)
            self.names.append((column, prefix + name))


class TextReader(RowSource):
    """Base class of the readers of text formats with one row on each line.

    Parameters
    ----------
    files : LineSource
        The files.
    labelled : bool
        Whether labels are required. If not, the label of a line without one is NaN.
    n_features : int, optional
        The number of columns; entries beyond them are left out and counted in ``unseen``. By default the format or the
        largest index determines it.
    skip : bool
        Whether a line that cannot be read is left out and counted in ``skipped``, instead of raising a ``DataError``.
    threads : int, default 0
        The number of threads that read and parse ahead. It does not change the rows.
    optional_labels : bool, default False
        Whether a line need not have a label; ``Block.has_label`` tells which lines have one.

    Attributes
    ----------
    width : int
        The number of columns so far, which is larger than every index.
    """

    faults: Mapping[int, str]
    """Message templates for the error codes of the kernel; {word} is replaced by the word that cannot be read."""
    weighted = False
    """Whether the format has sample weights."""

    def __init__(
        self,
        files: LineSource,
        labelled: bool = True,
        *,
        n_features: int | None = None,
        skip: bool = False,
        threads: int = 0,
        optional_labels: bool = False,
    ) -> None:
        if n_features is not None:
            check_integer("n_features", n_features, 0, most=MAX_COLUMNS)
        super().__init__(files, labelled, fixed_width=n_features is not None)
        if b"\r" in files.head().partition(b"\n")[0].rstrip(b"\r"):
            what = "{file} has lines that end in carriage returns, expected newlines: convert it, "
            raise DataError(what + "for instance with tr '\\r' '\\n'.", file=files.display_name(0))
        self._skip, self._threads, self._optional_labels = skip, threads, optional_labels
        self._density = 0.1  # estimated entries per byte of the next chunk
        self._row_density = 0.005  # estimated rows per byte
        self._n_features, self.width = n_features, 0

    @property
    def n_features(self) -> int:
        """The number of columns of the blocks: ``n_features`` if it was given, else the number found so far."""
        return self.width if self._n_features is None else self._n_features

    def __iter__(self) -> Iterator[Block]:
        """Read all blocks from the start."""
        return self.blocks()

    def blocks(self) -> Generator[Block, None, None]:
        """Yield all blocks from the start."""
        self.reset_counts()
        first = before = file = line = 0
        with closing(ordered_map(self.files.chunks(), self._parse, self._threads, _AHEAD)) as work:
            for parsed in work:
                chunk = parsed.chunk
                if chunk.file != file:
                    file, line = chunk.file, 0
                self.share = chunk.share
                for earlier, reason in parsed.faults:
                    where = f"{self.files.display_name(file)}, line {line + earlier + 1}"
                    fault = DataError("{where}: {reason}.", where=where, reason=reason)
                    if not self._skip:
                        if parsed.n:
                            yield self._block(parsed, first, None)
                        raise fault
                    self.record_fault(str(fault))
                line += parsed.lines
                if parsed.n:
                    numbers = before + parsed.numbers if self._skip else None
                    yield self._block(parsed, first, numbers)
                    first += parsed.n
                before += parsed.n + len(parsed.faults)
            self.share = 1.0 if self.files.size else 0.0

    def restore(self, facts: Facts) -> None:
        """Restore the counts and the number of columns with which an earlier complete pass ended."""
        super().restore(facts)
        self.width = max(self.width, int(facts["n_features"]))

    def _block(self, parsed: ParsedChunk, first: int, numbers: np.ndarray | None) -> Block:
        labels, indptr, indices, values, weights = parsed.rows
        n, entries = parsed.n, parsed.entries
        self._merge(parsed)
        parts = _trim(values, entries), _trim(indices, entries), _trim(indptr, n + 1)
        X = sp.csr_array(parts, shape=(n, self.width))
        X.has_canonical_format = True
        weight = None if (weights[:n] == 1.0).all() else _trim(weights, n)
        if self._n_features is not None:
            X, beyond = fit_columns(X, self._n_features)
            self.unseen["columns"] += beyond
        labels, has_label = _trim(labels, n), None
        if self._optional_labels and np.isnan(labels).any():
            has_label = ~np.isnan(labels)
        return Block(X, labels, first, weight, self.labelled and has_label is None, numbers, has_label=has_label)

    def _parse(self, chunk: TextChunk) -> ParsedChunk:
        """Parse one chunk. Thread-safe."""
        if chunk.fault:
            return ParsedChunk(self._allocate(0, 0), chunk, [(0, chunk.fault)], [0], lines=1)
        size = chunk.stop - chunk.start
        parsed = ParsedChunk(self._allocate(int(size * self._row_density) + 16, int(size * self._density) + 16), chunk)
        progress = np.zeros(1, PROGRESS)
        progress["place"], progress["highest"] = chunk.start, -1
        slow = SlowNumbers()
        parse = self._parser(parsed, slow, progress)
        # The kernel parses until it needs help, returns a code that says why, and continues from ``progress`` when it
        # is called again. It adds a row only once the row is complete, so the rows before it stay valid.
        while (code := parse()) != DONE:
            if code == NEED_SPACE:
                most = size // 2 + 2  # a row or an entry takes at least two bytes, and indptr has one more number
                parsed.rows[:] = [_grow(array, most) for array in parsed.rows]
            elif code == NEED_VALUES:
                slow.resolve(chunk.buffer, progress)
            else:
                word = _WORD.match(chunk.buffer, int(progress["fault"][0]), chunk.stop)
                parsed.rows_before.append(int(progress["rows"][0]))
                parsed.faults.append((int(progress["lines"][0]), self._explain(code, word.group() if word else b"")))
                if not self._skip:
                    break
                progress["place"] = chunk.buffer.index(b"\n", int(progress["place"][0])) + 1
                progress["lines"] += 1
                progress["resolved"] = 0
        parsed.lines, parsed.n = int(progress["lines"][0]), int(progress["rows"][0])
        parsed.entries, parsed.highest = int(progress["entries"][0]), int(progress["highest"][0])
        parsed.read_names(int(progress["names"][0]))
        # Estimates stay a little above the densest recent chunk, so that arrays rarely have to grow.
        self._density = max(0.98 * self._density, 1.02 * parsed.entries / size)
        self._row_density = max(0.98 * self._row_density, 1.02 * parsed.n / size)
        self.files.recycle(chunk)  # nothing refers to its buffer any more
        return parsed

    @property
    def _may_lack_labels(self) -> bool:
        return self._optional_labels or not self.labelled

    def _allocate(self, n: int, entries: int) -> list[np.ndarray]:
        indptr = np.zeros(n + 1, np.int32)
        weights = np.empty(n if self.weighted else 0)
        return [np.empty(n), indptr, np.empty(entries, np.int32), np.empty(entries), weights]

    def _merge(self, parsed: ParsedChunk) -> None:
        """Update the number of columns, and the names, from a parsed chunk; called in the order of the files."""
        self.width = max(self.width, parsed.highest + 1)

    def _parser(self, parsed: ParsedChunk, slow: SlowNumbers, progress: np.ndarray) -> Callable[[], int]:
        """Return a function that continues parsing the chunk and returns the status code of the parsing kernel."""
        raise NotImplementedError

    def _explain(self, code: int, word: bytes) -> Message:
        """Return a message that explains why a line cannot be read.

        ``code`` is the error code of the parsing kernel, and ``word`` the token that it could not parse. The message
        does not end with a full stop.
        """
        return Message(self.faults[code], word=quote_bytes(word))


class SlowNumbers:
    """The numbers of one line that the kernel cannot round correctly, as arrays of their positions and values."""

    def __init__(self) -> None:
        self.arrays = np.empty(16, np.int64), np.empty(16)

    def resolve(self, text: bytearray, progress: np.ndarray) -> None:
        """Parse the numbers with Python's ``float``, which rounds correctly.

        If there are too many for the arrays, only enlarge the arrays; the kernel then starts the line again.
        """
        places, values = self.arrays
        resolved, seen = int(progress["resolved"][0]), int(progress["seen"][0])
        if seen > len(places):
            self.arrays = np.resize(places, seen), np.resize(values, seen)
            return
        for k in range(resolved, seen):
            match = _NUMBER.match(text, int(places[k]))
            values[k] = float(match.group()) if match else np.nan
        progress["resolved"] = seen


def _grow(array: np.ndarray, most: int) -> np.ndarray:
    """Return an array twice as long, but not longer than ``most``."""
    return np.resize(array, max(len(array), min(2 * len(array), most)))


def _trim(array: np.ndarray, n: int) -> np.ndarray:
    """Return the first ``n`` numbers, as a copy if they take less than half of the array's memory."""
    return array[:n] if 2 * n > len(array) else array[:n].copy()
