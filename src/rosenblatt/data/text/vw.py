"""Rows from Vowpal Wabbit text: ``label |namespace name:value name ...`` on each line, names hashed into columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rosenblatt.data.io.lines import quote_bytes
from rosenblatt.data.row_source import VERSION, Preparation
from rosenblatt.data.text.reader import COMMON_FAULTS, ParsedChunk, SlowNumbers, TextReader
from rosenblatt.kernels.parsing.svmlight import BAD_LABEL, NO_LABEL
from rosenblatt.kernels.parsing.vw import BAD_NAMESPACE, BAD_WEIGHT, BASE, NO_BAR, SUM_TOO_LARGE, parse_vw
from rosenblatt.parameters import Phrase, check_integer


class VwReader(TextReader):
    """Blocks of rows from Vowpal Wabbit text.

    A line is ``[label [importance [base]]] ['tag] |namespace[:weight] name[:value] name[:value] ... |namespace ...``.
    A name goes to the column that vw gives it: its hash, which starts from the namespace's, cut to ``bits`` bits; a
    name of digits is its own number. Features that meet in one column are added up. A value that is not there is 1;
    values are multiplied by the namespace's weight. Importances become the blocks' ``weight``. Numbers become the
    nearest float64 and must be finite; a base, the prediction that vw would start from, must be 0. Names are any bytes
    but blanks, colons and bars. As in vw, a word that touches the first bar is a tag, and tags are ignored.
    vw's constant feature is left to the learner.

    Parameters
    ----------
    bits : int
        There are 2**bits columns, as with vw's ``-b``. From 1 to 30.
    names : bool
        Whether to keep the first name of each column in ``hashed_names``: ``namespace^name``, or the bare name in the
        namespace without one. This is slower.
    *arguments, **options
        As for ``TextReader``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from rosenblatt.data.io.lines import LineSource
    >>> file = pathlib.Path(tempfile.mkdtemp(), "two.vw")
    >>> _ = file.write_text("1 |f 3:0.5 cat\\n-1 2.0 |f cat:2 dog\\n")
    >>> reader = VwReader(LineSource(file), names=True)
    >>> for block in reader:
    ...     print(block.X.nnz, block.y, block.weight)
    4 [ 1. -1.] [1. 2.]
    >>> {column: reader.hashed_names[column] for column in block.X[:1].indices.tolist()}
    {34878: 'f^3', 75337: 'f^cat'}
    """

    weighted = True
    faults = COMMON_FAULTS | {
        NO_BAR: "the line has no bar, expected label |namespace features",
        NO_LABEL: "the line has no label, expected a number before the bar",
        BAD_LABEL: "expected up to three finite numbers (label, importance, base) and a tag before the bar, got {word}",
        BAD_WEIGHT: "the importance is {word}, expected a number that is not negative",
        BASE: "the base (the third number) is {word}, but only 0 is supported: leave it out",
        BAD_NAMESPACE: "expected |name or |name:weight, a finite number, got {word}",
        SUM_TOO_LARGE: "features that share a column add up to a number too large for float64",
    }

    def __init__(self, *arguments: Any, bits: int = 18, names: bool = False, **options: Any) -> None:
        check_integer("bits", bits, 1, most=30)
        super().__init__(*arguments, **options)
        self._bits = bits
        self.width = 2**bits
        self._names = names
        self._named = np.zeros(self.width if names else 0, np.uint8)

    @property
    def feature_names(self) -> list[str] | None:
        """A name for each column, ``#`` and its number where none was read; None unless names are kept."""
        return [self.hashed_names.get(k) or f"#{k}" for k in range(self.n_features)] if self._names else None

    @property
    def preparation(self) -> Preparation:
        """How rows are made."""
        return {"format": "vw", "version": VERSION, "bits": self._bits, "n_features": self.n_features or None}

    def _parser(self, parsed: ParsedChunk, slow: SlowNumbers, progress: np.ndarray) -> Callable[[], int]:
        chunk = parsed.chunk
        if self._names:
            parsed.name_positions = np.empty((min(self.width, chunk.stop), 5), np.int64)
        names = self._named.copy(), parsed.name_positions
        counts = np.empty(2048, np.uint64)

        def parse() -> int:
            entries, rows, unlabelled = len(parsed.rows[2]), tuple(parsed.rows), not self.labelled
            scratch = np.empty(2 * entries, np.uint64), np.empty(entries), counts
            return parse_vw(chunk.text, chunk.stop, self._bits, unlabelled, rows, names, scratch, slow.arrays, progress)

        return parse

    def _merge(self, parsed: ParsedChunk) -> None:
        for column, name in parsed.names:
            self.hashed_names.setdefault(column, name)
            self._named[column] = 1

    def _explain(self, code: int, word: bytes) -> tuple[Phrase, ...]:
        if code == NO_LABEL and b"|" in word[1:]:
            tag = quote_bytes(word)
            return (f"the line has no label, for {tag} is a tag: leave a space between a label and the bar",)
        return super()._explain(code, word)
