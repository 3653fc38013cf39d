"""Rows from svmlight or LIBSVM text: ``label index:value index:value ...`` on each line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from rosenblatt.data.io.lines import CHUNK_BYTES, Paths
from rosenblatt.data.text.reader import Late, Parsed, TextReader, quoted
from rosenblatt.kernels.parsing.svmlight import (
    BAD_INDEX,
    BAD_LABEL,
    INDEX_ORDER,
    INDEX_RANGE,
    NO_LABEL,
    TOO_LARGE,
    parse_svmlight,
)

_MOST = 2**31 - 1
"""Columns that 32-bit indices can tell apart."""
_HEAD_BYTES = 1 << 20
_INDEX_ZERO = re.compile(rb"^[^#\n]*[ \t]0+:", re.MULTILINE)


class SvmlightReader(TextReader):
    """Blocks of rows from svmlight or LIBSVM text.

    A line is a label and features ``index:value`` by ascending index, separated by spaces or tabs; a ``qid:n`` after
    the label is passed over, and so is everything from ``#`` on. Numbers become the nearest float64. Values and labels
    must be finite.

    Parameters
    ----------
    paths : str, path, or a list of them
        Files (plain, gz, bz2, xz or zstd), patterns, or "-" for standard input.
    dtype : float64 or float32
        Of the values. As float32 they are the nearest float64, rounded.
    zero_based : bool or "auto"
        Whether the first index is 0 instead of 1. With "auto" that is so if an index 0 occurs in the first megabyte.
    n_features : int, optional
        The number of columns; an index beyond them is an error. Without it there are as many as were met.
    need_labels : bool
        Whether a line without a label is an error; otherwise its label is NaN.
    on_error : "raise" or "skip"
        What to do about a line that cannot be read: a ``DataError``, or leave it out and count it in ``skipped``.
    threads : int, optional
        Threads that read and parse ahead, by default one for each processor, at most four. The rows are the same.
    chunk_bytes : int
        Text that becomes one block. The rows are the same.

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
        self,
        paths: Paths,
        *,
        dtype: Any = np.float64,
        zero_based: bool | str = False,
        n_features: int | None = None,
        need_labels: bool = True,
        on_error: str = "raise",
        threads: int | None = None,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        if zero_based not in (True, False, "auto"):
            raise ValueError(f'zero_based must be True, False or "auto", got {zero_based!r}.')
        if n_features is not None and not 0 <= n_features <= _MOST:
            raise ValueError(f"n_features must be between 0 and {_MOST}, got {n_features}.")
        super().__init__(
            paths,
            dtype=dtype,
            need_labels=need_labels,
            on_error=on_error,
            threads=threads,
            chunk_bytes=chunk_bytes,
        )
        self._zero_based, self._n_features = zero_based, n_features
        self.width = n_features or 0

    @property
    def zero_based(self) -> bool:
        """Whether the first index is 0; found out and remembered where "auto" was asked for."""
        self._prepare()
        return bool(self._zero_based)

    def _prepare(self) -> None:
        if self._zero_based == "auto":
            self._zero_based = _INDEX_ZERO.search(self.source.head(_HEAD_BYTES)) is not None

    def _parser(self, parsed: Parsed, late: Late, progress: np.ndarray) -> Callable[[], int]:
        chunk, base = parsed.chunk, 0 if self._zero_based else 1
        last = (_MOST if self._n_features is None else self._n_features) - 1 + base
        return lambda: parse_svmlight(
            chunk.text,
            chunk.stop,
            (base, last),
            self._largest,
            self._unlabelled,
            tuple(parsed.rows[:4]),
            late.arrays,
            progress,
        )

    def _sentence(self, code: int, word: bytes) -> str:
        base, it = 0 if self._zero_based else 1, quoted(word)
        if code == NO_LABEL:
            return f"the line has no label, expected a number before {it}."
        if code == BAD_LABEL:
            if b"," in word:
                return f"{it} is several labels, expected one: make a file for each label, with 1 and -1."
            return f"the label is {it}, expected a finite number."
        if code == BAD_INDEX:
            if re.match(rb"-\d+:", word):
                return f"the index in {it} is negative, expected indices from {base} on."
            return f"expected index:value, a whole number and a number, got {it}."
        if code == INDEX_RANGE:
            if re.match(rb"0+:", word):
                return f"the index in {it} is 0, expected indices from 1 on: if 0 is the first, say zero_based=True."
            if self._n_features is not None:
                return f"the index in {it} is beyond the {self._n_features} columns that n_features allows."
            return f"the index in {it} is too large, expected at most {_MOST - 1 + base}."
        if code == INDEX_ORDER:
            return f"the index in {it} is not above the one before it, expected ascending indices: sort the line."
        if code == TOO_LARGE:
            return f"the number {it} is too large for {self._dtype.name}."
        return f"the value is {it}, expected a finite number."
