"""The readers of svmlight (LIBSVM) and Vowpal Wabbit text.

A line of svmlight is ``label index:value index:value ...``. A line of Vowpal Wabbit is
``label |namespace name:value ...``, and names are hashed into columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from rosenblatt.data.io.lines import quote_bytes
from rosenblatt.data.source import VERSION, Preparation
from rosenblatt.data.text.reader import COMMON_FAULTS, ParsedChunk, SlowNumbers, TextReader
from rosenblatt.hashing import names_of_hashed
from rosenblatt.kernels.parsing.bytes import MAX_COLUMNS
from rosenblatt.kernels.parsing.svmlight import BAD_INDEX, BAD_LABEL, INDEX_ORDER, INDEX_RANGE, NO_LABEL, parse_svmlight
from rosenblatt.kernels.parsing.vw import BAD_NAMESPACE, BAD_WEIGHT, BASE, NO_BAR, SUM_TOO_LARGE, parse_vw
from rosenblatt.messages import Hint, Message, check_choice, check_integer

MOST_INFERRED = 2**26
"""The maximum number of columns if ``n_features`` is not given, so that one index cannot demand gigabytes."""
_WEIGHT_BYTES = 16
"""The bytes that a learner needs for each column: a weight, and a sum from which its average is computed."""
_HEAD_BYTES = 1 << 20
_INDEX_ZERO = re.compile(rb"^[^#\n]*[ \t]0+:", re.MULTILINE)


class SvmlightReader(TextReader):
    """A reader of svmlight (LIBSVM) text.

    A line is a label followed by features ``index:value`` with ascending indices, separated by spaces or tabs. A
    ``qid:n`` after the label is ignored, and so is everything from ``#`` on. Numbers are rounded to the nearest
    float64. Values and labels must be finite.

    Parameters
    ----------
    zero_based : bool or "auto", default False
        Whether indices start at 0 instead of 1. With "auto" they do if an index 0 occurs in the first megabyte.
    n_features : int, optional
        As for ``TextReader``. If it is not given, a line with an index beyond 2**26 columns cannot be read.
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
        INDEX_ORDER: "the index in {word} is not above the index before it, expected ascending indices: sort the line",
    }

    def __init__(self, *arguments: Any, zero_based: bool | str = False, **options: Any) -> None:
        check_choice("zero_based", zero_based, (True, False, "auto"))
        super().__init__(*arguments, **options)
        if zero_based == "auto":
            zero_based = _INDEX_ZERO.search(self.files.head(_HEAD_BYTES)) is not None
        self.zero_based = bool(zero_based)
        """Whether indices start at 0 instead of 1."""

    @property
    def preparation(self) -> Preparation:
        """The preparation, with the number of columns found so far, or None before the first row."""
        features = self.n_features or None
        return {"format": "svmlight", "version": VERSION, "zero_based": self.zero_based, "n_features": features}

    @property
    def _most_columns(self) -> int:
        return MOST_INFERRED if self._n_features is None else MAX_COLUMNS

    def _parser(self, parsed: ParsedChunk, slow: SlowNumbers, progress: np.ndarray) -> Callable[[], int]:
        chunk, base = parsed.chunk, 0 if self.zero_based else 1
        columns, unlabelled = (base, self._most_columns - 1 + base), self._may_lack_labels
        return lambda: parse_svmlight(
            chunk.text, chunk.stop, columns, unlabelled, tuple(parsed.rows[:4]), slow.arrays, progress
        )

    def _explain(self, code: int, word: bytes) -> Message:
        shown, base = quote_bytes(word), 0 if self.zero_based else 1
        if code == BAD_LABEL and b"," in word:
            what = "{word} holds several labels, expected one: make a file for each label, with 1 and -1"
            return Message(what, word=shown)
        if code == BAD_INDEX and re.match(rb"-\d+:", word):
            return Message("the index in {word} is negative, expected indices from {base} on", word=shown, base=base)
        if code == INDEX_RANGE and re.match(rb"0+:", word):
            hint = Hint(": if indices start at 0, give {zero_based=True}")
            return Message("the index in {word} is 0, expected indices from 1 on{hint}", word=shown, hint=hint)
        if code == INDEX_RANGE:
            columns = int(word.partition(b":")[0]) + 1 - base
            if not MOST_INFERRED < columns <= MAX_COLUMNS:
                what = "the index in {word} is too large, expected at most {most}"
                return Message(what, word=shown, most=MAX_COLUMNS - 1 + base)
            return Message(
                "the index in {word} makes {columns:,} columns, whose weights take {size:.1f} GB, "
                "expected at most {most:,}{hint}",
                word=shown,
                columns=columns,
                size=_WEIGHT_BYTES * columns / 1e9,
                most=MOST_INFERRED,
                hint=Hint(": give {n_features=columns} if there are that many", columns=columns),
            )
        return super()._explain(code, word)


class VwReader(TextReader):
    """A reader of Vowpal Wabbit text.

    A line is ``[label [importance [base]]] ['tag] |namespace[:weight] name[:value] name[:value] ... |namespace ...``.
    Names map to the same columns as in vw: the hash of the name, seeded with the hash of the namespace and cut to
    ``bits`` bits. A name of digits hashes to its number plus the seed. Values of features that share a column are added
    up. A value that is not written is 1, and values are multiplied by the weight of their namespace. Importances become
    sample weights. Numbers are rounded to the nearest float64 and must be finite. The base, the prediction that vw
    would start from, must be 0. Names consist of any bytes except whitespace, colons and bars. As in vw, a word that
    touches the first bar is a tag, and tags are ignored. vw's constant feature is not added, because learners have a
    bias.

    Parameters
    ----------
    bits : int, default 18
        There are ``2**bits`` columns, as with vw's ``-b``. From 1 to 30.
    keep_words : bool, default False
        Whether to keep the first name hashed to each column in ``hashed_names``, as ``namespace^name``, or as ``name``
        in the default namespace. This is slower.
    *arguments, **options
        As for ``TextReader``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from rosenblatt.data.io.lines import LineSource
    >>> file = pathlib.Path(tempfile.mkdtemp(), "two.vw")
    >>> _ = file.write_text("1 |f 3:0.5 cat\\n-1 2.0 |f cat:2 dog\\n")
    >>> reader = VwReader(LineSource(file), keep_words=True)
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

    def __init__(self, *arguments: Any, bits: int = 18, keep_words: bool = False, **options: Any) -> None:
        check_integer("bits", bits, 1, most=30)
        super().__init__(*arguments, **options)
        self._bits = bits
        self.width = 2**bits
        self._keep_words = keep_words
        self._named = np.zeros(self.width if keep_words else 0, np.uint8)

    @property
    def feature_names(self) -> list[str] | None:
        """The first name hashed to each column, or ``#`` and the column's number if there is none yet.

        None unless ``keep_words`` is True.
        """
        return names_of_hashed(self.hashed_names, self.n_features) if self._keep_words else None

    @property
    def preparation(self) -> Preparation:
        """Plain data that defines how rows are made from the files."""
        return {"format": "vw", "version": VERSION, "bits": self._bits, "n_features": self.n_features or None}

    def _parser(self, parsed: ParsedChunk, slow: SlowNumbers, progress: np.ndarray) -> Callable[[], int]:
        chunk = parsed.chunk
        if self._keep_words:
            parsed.name_positions = np.empty((min(self.width, chunk.stop), 5), np.int64)
        names = self._named.copy(), parsed.name_positions
        counts = np.empty(2048, np.uint64)

        def parse() -> int:
            entries, rows, unlabelled = len(parsed.rows[2]), tuple(parsed.rows), self._may_lack_labels
            scratch = np.empty(2 * entries, np.uint64), np.empty(entries), counts
            return parse_vw(chunk.text, chunk.stop, self._bits, unlabelled, rows, names, scratch, slow.arrays, progress)

        return parse

    def _merge(self, parsed: ParsedChunk) -> None:
        for column, name in parsed.names:
            self.hashed_names.setdefault(column, name)
            self._named[column] = 1

    def _explain(self, code: int, word: bytes) -> Message:
        if code == NO_LABEL and b"|" in word[1:]:
            what = "the line has no label, because {tag} is a tag: put a space between a label and the bar"
            return Message(what, tag=quote_bytes(word))
        return super()._explain(code, word)
