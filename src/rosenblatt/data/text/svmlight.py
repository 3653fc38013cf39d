"""Rows from svmlight or LIBSVM text: ``label index:value index:value ...`` on each line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from rosenblatt.data.io.byte_stream import BinaryFile
from rosenblatt.data.io.lines import LineSource, Paths
from rosenblatt.data.row_source import VERSION, Preparation
from rosenblatt.data.text.reader import MAX_COLUMNS, ParsedChunk, SlowNumbers, TextReader, quote_bytes
from rosenblatt.kernels.parsing.svmlight import (
    BAD_INDEX,
    BAD_LABEL,
    INDEX_ORDER,
    INDEX_RANGE,
    NO_LABEL,
    TOO_LARGE,
    parse_svmlight,
)
from rosenblatt.parameters import IfAvailable, Phrase, Setting, check_choice

__all__ = ["SvmlightReader"]

_HEAD_BYTES = 1 << 20
_INDEX_ZERO = re.compile(rb"^[^#\n]*[ \t]0+:", re.MULTILINE)


class SvmlightReader(TextReader):
    """Blocks of rows from svmlight or LIBSVM text.

    A line is a label and features ``index:value`` by ascending index, separated by spaces or tabs; a ``qid:n`` after
    the label and everything from ``#`` on are ignored. Numbers become the nearest float64. Values and labels must be
    finite.

    Parameters
    ----------
    paths
        As for ``TextReader``.
    zero_based : bool or "auto"
        Whether the first index is 0 instead of 1; with "auto", whether an index 0 occurs in the first megabyte.
    **options
        As for ``TextReader``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "two.txt")
    >>> _ = file.write_text("+1 1:0.5 3:2 # a comment\\n-1 2:25e-2\\n")
    >>> for block in SvmlightReader(file):
    ...     print(block.X.toarray(), block.y)
    [[0.5  0.   2.  ]
     [0.   0.25 0.  ]] [ 1. -1.]
    """

    def __init__(
        self, paths: Paths | BinaryFile | LineSource, *, zero_based: bool | str = False, **options: Any
    ) -> None:
        check_choice("zero_based", zero_based, (True, False, "auto"))
        super().__init__(paths, **options)
        self._zero_based = zero_based

    @property
    def zero_based(self) -> bool:
        """Whether the first index is 0; "auto" is decided once, by the first megabyte."""
        self._prepare()
        return bool(self._zero_based)

    @property
    def preparation(self) -> Preparation:
        """How rows are made; the number of columns is that met so far, None before the first."""
        features = self.n_features or None
        return {"format": "svmlight", "version": VERSION, "zero_based": self.zero_based, "n_features": features}

    def _prepare(self) -> None:
        if self._zero_based == "auto":
            self._zero_based = _INDEX_ZERO.search(self.files.head(_HEAD_BYTES)) is not None

    def _parser(self, parsed: ParsedChunk, slow: SlowNumbers, progress: np.ndarray) -> Callable[[], int]:
        chunk, base = parsed.chunk, 0 if self._zero_based else 1
        return lambda: parse_svmlight(
            chunk.text,
            chunk.stop,
            (base, MAX_COLUMNS - 1 + base),
            self._largest,
            not self.labelled,
            tuple(parsed.rows[:4]),
            slow.arrays,
            progress,
        )

    def _explain(self, code: int, word: bytes) -> tuple[Phrase, ...]:
        base, it = 0 if self._zero_based else 1, quote_bytes(word)
        if code == NO_LABEL:
            return (f"the line has no label, expected a number before {it}",)
        if code == BAD_LABEL:
            if b"," in word:
                return (f"{it} is several labels, expected one: make a file for each label, with 1 and -1",)
            return (f"the label is {it}, expected a finite number",)
        if code == BAD_INDEX:
            if re.match(rb"-\d+:", word):
                return (f"the index in {it} is negative, expected indices from {base} on",)
            return (f"expected index:value, an integer and a number, got {it}",)
        if code == INDEX_RANGE:
            if re.match(rb"0+:", word):
                hint = IfAvailable("zero_based", ": if 0 is the first, give ", Setting("zero_based", True))
                return f"the index in {it} is 0, expected indices from 1 on", hint
            return (f"the index in {it} is too large, expected at most {MAX_COLUMNS - 1 + base}",)
        if code == INDEX_ORDER:
            return (f"the index in {it} is not above the one before it, expected ascending indices: sort the line",)
        if code == TOO_LARGE:
            return (f"the number {it} is too large for {self._dtype.name}",)
        return (f"the value is {it}, expected a finite number",)
