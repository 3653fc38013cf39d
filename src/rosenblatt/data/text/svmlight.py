"""Rows from svmlight or LIBSVM text: ``label index:value index:value ...`` on each line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from rosenblatt.data.io.lines import quote_bytes
from rosenblatt.data.row_source import VERSION, Preparation
from rosenblatt.data.text.reader import COMMON_FAULTS, ParsedChunk, SlowNumbers, TextReader
from rosenblatt.kernels.parsing.list_columns import MAX_COLUMNS
from rosenblatt.kernels.parsing.svmlight import BAD_INDEX, BAD_LABEL, INDEX_ORDER, INDEX_RANGE, NO_LABEL, parse_svmlight
from rosenblatt.parameters import IfAvailable, Phrase, Setting, check_choice

MOST_INFERRED = 2**26
"""Columns that a file may ask for by its indices alone: a small file should not make a model of gigabytes."""
_WEIGHT_BYTES = 16
"""What a learner needs for a column: a weight and its sum over time."""
_HEAD_BYTES = 1 << 20
_INDEX_ZERO = re.compile(rb"^[^#\n]*[ \t]0+:", re.MULTILINE)


class SvmlightReader(TextReader):
    """Blocks of rows from svmlight or LIBSVM text.

    A line is a label and features ``index:value`` by ascending index, separated by spaces or tabs; a ``qid:n`` after
    the label and everything from ``#`` on are ignored. Numbers become the nearest float64. Values and labels must be
    finite.

    Parameters
    ----------
    zero_based : bool or "auto"
        Whether the first index is 0 instead of 1; with "auto", whether an index 0 occurs in the first megabyte.
    n_features : int, optional
        As for ``TextReader``. Without it an index beyond 2**26 columns is a fault.
    *arguments, **options
        As for ``TextReader``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from rosenblatt.data.io.lines import LineSource
    >>> file = pathlib.Path(tempfile.mkdtemp(), "two.txt")
    >>> _ = file.write_text("+1 1:0.5 3:2 # a comment\\n-1 2:25e-2\\n")
    >>> for block in SvmlightReader(LineSource(file)):
    ...     print(block.X.toarray(), block.y)
    [[0.5  0.   2.  ]
     [0.   0.25 0.  ]] [ 1. -1.]
    """

    faults = COMMON_FAULTS | {
        NO_LABEL: "the line has no label, expected a number before {word}",
        BAD_LABEL: "the label is {word}, expected a finite number",
        BAD_INDEX: "expected index:value, an integer and a number, got {word}",
        INDEX_ORDER: "the index in {word} is not above the one before it, expected ascending indices: sort the line",
    }

    def __init__(self, *arguments: Any, zero_based: bool | str = False, **options: Any) -> None:
        check_choice("zero_based", zero_based, (True, False, "auto"))
        super().__init__(*arguments, **options)
        if zero_based == "auto":
            zero_based = _INDEX_ZERO.search(self.files.head(_HEAD_BYTES)) is not None
        self.zero_based = bool(zero_based)
        """Whether the first index is 0."""

    @property
    def preparation(self) -> Preparation:
        """How rows are made; the number of columns is that so far, None before the first."""
        features = self.n_features or None
        return {"format": "svmlight", "version": VERSION, "zero_based": self.zero_based, "n_features": features}

    @property
    def _most_columns(self) -> int:
        return MOST_INFERRED if self._n_features is None else MAX_COLUMNS

    def _parser(self, parsed: ParsedChunk, slow: SlowNumbers, progress: np.ndarray) -> Callable[[], int]:
        chunk, base = parsed.chunk, 0 if self.zero_based else 1
        columns, unlabelled = (base, self._most_columns - 1 + base), not self.labelled
        return lambda: parse_svmlight(
            chunk.text, chunk.stop, columns, unlabelled, tuple(parsed.rows[:4]), slow.arrays, progress
        )

    def _explain(self, code: int, word: bytes) -> tuple[Phrase, ...]:
        it, base = quote_bytes(word), 0 if self.zero_based else 1
        if code == BAD_LABEL and b"," in word:
            return (f"{it} is several labels, expected one: make a file for each label, with 1 and -1",)
        if code == BAD_INDEX and re.match(rb"-\d+:", word):
            return (f"the index in {it} is negative, expected indices from {base} on",)
        if code == INDEX_RANGE and re.match(rb"0+:", word):
            hint = IfAvailable("zero_based", ": if 0 is the first, give ", Setting("zero_based", True))
            return f"the index in {it} is 0, expected indices from 1 on", hint
        if code == INDEX_RANGE:
            columns = int(word.partition(b":")[0]) + 1 - base
            if not MOST_INFERRED < columns <= MAX_COLUMNS:
                return (f"the index in {it} is too large, expected at most {MAX_COLUMNS - 1 + base}",)
            size = f"{_WEIGHT_BYTES * columns / 1e9:.1f} GB"
            what = f"the index in {it} makes {columns:,} columns, whose weights take {size}, expected at most"
            way_out = IfAvailable("n_features", ": give ", Setting("n_features", columns), " if so many are meant")
            return f"{what} {MOST_INFERRED:,}", way_out
        return super()._explain(code, word)
