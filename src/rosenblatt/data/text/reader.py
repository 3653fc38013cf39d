"""What the readers of svmlight and Vowpal Wabbit text share: chunks of lines parsed ahead, in order, into blocks.

A reader is asked for its blocks as often as its files can be read. It counts as it goes, for whoever watches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import Block, DataError, Place
from rosenblatt.data.io.lines import CHUNK_BYTES, Chunk, Paths, Source
from rosenblatt.data.io.prefetch import in_order, processors
from rosenblatt.kernels.parsing.svmlight import DONE, PROGRESS, ROOM, SETTLE

_NUMBER = re.compile(rb"[+-]?\d*\.?\d*(?:[eE][+-]?\d+)?")
_WORD = re.compile(rb"[^ \t\r\n]{0,41}")
_KEPT_COMPLAINTS = 10
_AHEAD = 16
"""Chunks to have parsed while the first of them is waited for, or something else takes long."""
LARGEST = {
    np.dtype(np.float64): float(np.finfo(np.float64).max),
    np.dtype(np.float32): float(np.nextafter(2.0**128 - 2.0**103, 0.0)),
}
"""The largest float64 that does not become infinite when it is rounded to each type."""


@dataclass
class Parsed:
    """The rows of one chunk, with room for more of them, and what was wrong with it."""

    rows: list[np.ndarray]
    """Labels, indptr, indices, values, weights; no weights where the format has none."""
    chunk: Chunk
    faults: list[tuple[int, str]] = field(default_factory=list)
    """For each line at fault, how many lines of the chunk come before it, and what is the matter with it."""
    stopped: bool = False
    """Whether parsing ended at the last of the faults."""
    lines: int = 0
    n: int = 0
    entries: int = 0
    highest: int = -1
    found: np.ndarray = field(default_factory=lambda: np.empty((0, 5), np.int64))
    names: list[tuple[int, str]] = field(default_factory=list)
    """Names of columns: where they are in the chunk, and the names themselves."""


class TextReader:
    """Blocks of rows from files of text, line by line. The readers of each format say what the parameters mean.

    Attributes
    ----------
    source : Source
        The files: ``source.names``, ``source.size`` in bytes, ``source.rereadable``.
    width : int
        Columns so far: at least one more than the largest column number met.
    rows : int
        Rows handed over, since reading last began.
    skipped : int
        Lines left out because of a fault, under ``on_error="skip"``.
    complaints : list of str
        What was wrong with the first ten of them.
    consumed : int
        Bytes read for the rows handed over, of ``source.size``.
    """

    def __init__(
        self,
        paths: Paths,
        *,
        dtype: Any = np.float64,
        need_labels: bool = True,
        on_error: str = "raise",
        threads: int | None = None,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        self._dtype = np.dtype(dtype)
        if self._dtype not in (np.float64, np.float32):
            raise ValueError(f"dtype must be float64 or float32, got {self._dtype}.")
        if on_error not in ("raise", "skip"):
            raise ValueError(f'on_error must be "raise" or "skip", got {on_error!r}.')
        if threads is not None and threads < 0:
            raise ValueError(f"threads must be 0 or more, got {threads}.")
        self.source = Source(paths, chunk_bytes=chunk_bytes)
        self._largest = LARGEST[self._dtype]
        self._unlabelled = not need_labels
        self._skip = on_error == "skip"
        self._threads = min(4, processors()) if threads is None else threads
        self._density = 0.1  # entries a byte, as a guess for the chunk to come
        self._row_density = 0.005
        self.width = 0
        self._restart()

    def _restart(self, rows: int = 0) -> None:
        self.rows, self.skipped, self.consumed = rows, 0, 0
        self.complaints: list[str] = []

    def __iter__(self) -> Iterator[Block]:
        """Read all blocks from the start."""
        return self.read()

    def read(self, start: Place | None = None, first: int = 0) -> Generator[Block, None, None]:
        """Yield the blocks from ``start`` on, a block's ``after``; ``first`` is the number of the first row there."""
        self._restart(first)
        self._prepare()
        file, line = (start.file, start.line) if start else (0, 0)
        work = in_order(self.source.chunks(start), self._parse, self._threads, _AHEAD)
        try:
            for parsed in work:
                chunk = parsed.chunk
                if chunk.file != file:
                    file, line = chunk.file, 0
                for before, sentence in parsed.faults:
                    complaint = f"{self.source.label(file)}, line {line + before + 1}: {sentence}"
                    if parsed.stopped:
                        if parsed.n:
                            yield self._block(parsed, None)
                        raise DataError(complaint)
                    self.skipped += 1
                    if len(self.complaints) < _KEPT_COMPLAINTS:
                        self.complaints.append(complaint)
                line += parsed.lines
                self.consumed = chunk.consumed
                if parsed.n:
                    yield self._block(parsed, Place(file, chunk.end, line))
        finally:
            work.close()

    def _block(self, parsed: Parsed, after: Place | None) -> Block:
        labels, indptr, indices, values, weights = parsed.rows
        n, entries = parsed.n, parsed.entries
        self._meet(parsed)
        X = sp.csr_array((_cut(values, entries), _cut(indices, entries), _cut(indptr, n + 1)), shape=(n, self.width))
        X.has_canonical_format = True
        weight = None if (weights[:n] == 1.0).all() else _cut(weights, n)
        block = Block(X, _cut(labels, n), self.rows, weight, after, checked=not self._unlabelled)
        self.rows += n
        return block

    def _parse(self, chunk: Chunk) -> Parsed:
        """Parse one chunk. Several threads do so at once."""
        size = chunk.stop - chunk.start
        parsed = Parsed(self._room(int(size * self._row_density) + 16, int(size * self._density) + 16), chunk)
        progress = np.zeros(1, PROGRESS)
        progress["place"], progress["highest"] = chunk.start, -1
        late = Late()
        parse = self._parser(parsed, late, progress)
        while (code := parse()) != DONE:
            if code == ROOM:
                parsed.rows[:] = map(_doubled, parsed.rows)
            elif code == SETTLE:
                late.settle(chunk.buffer, progress)
            else:
                word = _WORD.match(chunk.buffer, int(progress["fault"][0]), chunk.stop)
                sentence = self._sentence(code, word.group() if word else b"")
                parsed.faults.append((int(progress["lines"][0]), sentence))
                parsed.stopped = not self._skip
                if parsed.stopped:
                    break
                progress["place"] = chunk.buffer.index(b"\n", int(progress["place"][0])) + 1
                progress["lines"] += 1
                progress["settled"] = 0
        parsed.lines, parsed.n = int(progress["lines"][0]), int(progress["rows"][0])
        parsed.entries, parsed.highest = int(progress["entries"][0]), int(progress["highest"][0])
        self._keep(parsed, int(progress["names"][0]))
        self._density = max(0.98 * self._density, 1.02 * parsed.entries / size)
        self._row_density = max(0.98 * self._row_density, 1.02 * parsed.n / size)
        self.source.recycle(chunk)
        return parsed

    def _room(self, n: int, entries: int) -> list[np.ndarray]:
        indptr = np.zeros(n + 1, np.int32)
        return [np.empty(n), indptr, np.empty(entries, np.int32), np.empty(entries, self._dtype), np.empty(0)]

    def _prepare(self) -> None:
        """Look at the files before reading begins."""

    def _keep(self, parsed: Parsed, found: int) -> None:
        """Keep what will be needed of the chunk's text, with the names found in it."""

    def _meet(self, parsed: Parsed) -> None:
        """Learn from the rows of a chunk, in the order of the files, before they are handed over."""
        self.width = max(self.width, parsed.highest + 1)

    def _parser(self, parsed: Parsed, late: Late, progress: np.ndarray) -> Callable[[], int]:
        """Return a function that lets the kernel go on with the chunk."""
        raise NotImplementedError

    def _sentence(self, code: int, word: bytes) -> str:
        """Say what a fault is, given the word where it is."""
        raise NotImplementedError


class Late:
    """Numbers of one line that the kernel could not decide: where they are, and their values."""

    def __init__(self) -> None:
        self.arrays = np.empty(16, np.int64), np.empty(16)

    def settle(self, text: bytearray, progress: np.ndarray) -> None:
        """Let Python's float have them; or make room, where there are more than were written down."""
        places, values = self.arrays
        known, met = int(progress["settled"][0]), int(progress["met"][0])
        if met > len(places):
            self.arrays = np.resize(places, met), np.resize(values, met)
            return
        for k in range(known, met):
            match = _NUMBER.match(text, int(places[k]))
            values[k] = float(match.group()) if match else np.nan
        progress["settled"] = met


def quoted(word: bytes) -> str:
    """Return ``word`` in quotes, its first 40 bytes, for people to read."""
    start, rest = word[:40], "..." if len(word) > 40 else ""
    try:
        return repr(start.decode() + rest)
    except UnicodeDecodeError:
        return repr(start + rest.encode())[1:]


def _doubled(array: np.ndarray) -> np.ndarray:
    more = np.empty(2 * len(array), array.dtype)
    more[: len(array)] = array
    return more


def _cut(array: np.ndarray, n: int) -> np.ndarray:
    """Return the first ``n`` numbers; a copy where much would be kept for little."""
    return array[:n] if 2 * n > len(array) else array[:n].copy()
