"""The base of the readers of svmlight and Vowpal Wabbit text: chunks of lines, parsed ahead in order, become blocks."""

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
from rosenblatt.kernels.parsing.svmlight import BAD_VALUE, DONE, NEED_SPACE, NEED_VALUES, PROGRESS, TOO_LARGE
from rosenblatt.messages import Phrase, check_integer

_NUMBER = re.compile(rb"[+-]?\d*\.?\d*(?:[eE][+-]?\d+)?")
_WORD = re.compile(rb"[^ \t\r\n]{0,80}")
_AHEAD = 16
"""Chunks parsed ahead, for when the first of them, or the work on a block, takes long."""
COMMON_FAULTS = {
    BAD_VALUE: "the value is {word}, expected a finite number",
    TOO_LARGE: "the number {word} is too large for float64",
}


@dataclass
class ParsedChunk:
    """The rows of one chunk of text, with space for more, and its faults."""

    rows: list[np.ndarray]
    """Labels, indptr, indices, values, weights; the last is empty where the format has no weights."""
    chunk: TextChunk
    faults: list[tuple[int, tuple[Phrase, ...]]] = field(default_factory=list)
    """For each line at fault, how many lines of the chunk come before it, and what is wrong with it."""
    rows_before: list[int] = field(default_factory=list)
    """For each line at fault, how many rows of the chunk come before it."""
    lines: int = 0
    n: int = 0
    entries: int = 0
    highest: int = -1
    name_positions: np.ndarray = field(default_factory=lambda: np.empty((0, 5), np.int64))
    """Columns with where their names are: start and end of the namespace, start and end of the name."""
    names: list[tuple[int, str]] = field(default_factory=list)
    """Columns with their names."""

    @property
    def numbers(self) -> np.ndarray:
        """The number of each row among all of this chunk, those at fault included."""
        rows = np.arange(self.n)
        return rows + np.searchsorted(self.rows_before, rows, side="right")

    def read_names(self, count: int) -> None:
        """Copy the first ``count`` names from the text, whose memory is reused."""
        text = self.chunk.buffer
        for column, space, space_end, place, end in self.name_positions[:count].tolist():
            prefix = text[space:space_end].decode("utf-8", "backslashreplace") + "^" if space_end > space else ""
            name = text[place:end].decode("utf-8", "backslashreplace") if end >= 0 else str(place)
            self.names.append((column, prefix + name))


class TextReader(RowSource):
    """Rows from files of text, line by line.

    Parameters
    ----------
    files : LineSource
        The files.
    labelled : bool
        Whether a line without a label is an error; otherwise its label is NaN.
    n_features : int, optional
        The number of columns; entries beyond them are left out and counted in ``unseen``. By default there are as many
        columns as the format has, or as the rows need.
    skip : bool
        Whether a line that cannot be read is left out and counted in ``skipped``, instead of a ``DataError``.
    threads : int
        Threads that read and parse ahead. The rows are the same.

    Attributes
    ----------
    width : int
        Columns so far: at least one more than the largest column number in the rows.
    """

    faults: Mapping[int, str]
    """What the kernel's codes mean, with {word} for the word at fault."""
    weighted = False
    """Whether the format has weights."""

    def __init__(
        self,
        files: LineSource,
        labelled: bool = True,
        *,
        n_features: int | None = None,
        skip: bool = False,
        threads: int = 0,
    ) -> None:
        if n_features is not None:
            check_integer("n_features", n_features, 0, most=MAX_COLUMNS)
        super().__init__(files, labelled, fixed_width=n_features is not None)
        if b"\r" in files.head().partition(b"\n")[0].rstrip(b"\r"):
            what = "has lines that end in carriage returns, expected newlines"
            raise DataError(f"{files.display_name(0)} {what}: convert it, for instance by tr '\\r' '\\n'.")
        self._skip, self._threads = skip, threads
        self._density = 0.1  # entries a byte, an estimate for the next chunk
        self._row_density = 0.005
        self._n_features, self.width = n_features, 0

    @property
    def n_features(self) -> int:
        """Columns of the blocks: those asked for, else those so far."""
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
                    fault = DataError(f"{self.files.display_name(file)}, line {line + earlier + 1}: ", *reason, ".")
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
        """Set the counts and the width to those of an earlier pass over all rows."""
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
        return Block(X, _trim(labels, n), first, weight, self.labelled, numbers)

    def _parse(self, chunk: TextChunk) -> ParsedChunk:
        """Parse one chunk. Several threads do so at once."""
        if chunk.fault:
            return ParsedChunk(self._allocate(0, 0), chunk, [(0, chunk.fault)], [0], lines=1)
        size = chunk.stop - chunk.start
        parsed = ParsedChunk(self._allocate(int(size * self._row_density) + 16, int(size * self._density) + 16), chunk)
        progress = np.zeros(1, PROGRESS)
        progress["place"], progress["highest"] = chunk.start, -1
        slow = SlowNumbers()
        parse = self._parser(parsed, slow, progress)
        while (code := parse()) != DONE:
            if code == NEED_SPACE:
                most = size // 2 + 2  # a row or an entry takes two bytes at least, and indptr has one number more
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
        self._density = max(0.98 * self._density, 1.02 * parsed.entries / size)
        self._row_density = max(0.98 * self._row_density, 1.02 * parsed.n / size)
        self.files.recycle(chunk)
        return parsed

    def _allocate(self, n: int, entries: int) -> list[np.ndarray]:
        indptr = np.zeros(n + 1, np.int32)
        weights = np.empty(n if self.weighted else 0)
        return [np.empty(n), indptr, np.empty(entries, np.int32), np.empty(entries), weights]

    def _merge(self, parsed: ParsedChunk) -> None:
        """Update the width and names with the rows of a chunk, in the order of the files."""
        self.width = max(self.width, parsed.highest + 1)

    def _parser(self, parsed: ParsedChunk, slow: SlowNumbers, progress: np.ndarray) -> Callable[[], int]:
        """Return a function that lets the kernel continue with the chunk."""
        raise NotImplementedError

    def _explain(self, code: int, word: bytes) -> tuple[Phrase, ...]:
        """Return what is wrong, given the word at fault; a full stop is added."""
        return (self.faults[code].format(word=quote_bytes(word)),)


class SlowNumbers:
    """Numbers of one line that the kernel could not decide: where they are, and their values."""

    def __init__(self) -> None:
        self.arrays = np.empty(16, np.int64), np.empty(16)

    def resolve(self, text: bytearray, progress: np.ndarray) -> None:
        """Parse them by Python's float; or enlarge the arrays, if there are more numbers than fit."""
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
    """Return an array twice as long, but for no more than ``most`` numbers."""
    return np.resize(array, max(len(array), min(2 * len(array), most)))


def _trim(array: np.ndarray, n: int) -> np.ndarray:
    """Return the first ``n`` numbers; a copy if much memory would be kept for little."""
    return array[:n] if 2 * n > len(array) else array[:n].copy()
