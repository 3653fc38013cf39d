"""Texts as sparse rows: their words or characters are counted in columns that are chosen by a hash.

What words, lower case and columns are is as in scikit-learn's ``HashingVectorizer``. The loops are compiled
(``kernels/parsing/words.py``), and no Python string is made for a word.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rosenblatt.kernels.parsing.bytes import PAD
from rosenblatt.kernels.parsing.murmur import mixed
from rosenblatt.kernels.parsing.words import (
    CHARACTERS,
    DONE,
    IN_CONTEXT,
    MOST_CHARACTERS,
    NEEDS_LOWER,
    SPACE,
    WIDTH,
    WORD,
    WORDS,
    hash_texts,
)
from rosenblatt.messages import shorten

if TYPE_CHECKING:
    import pyarrow as pa

_LOWER_IN_CONTEXT = "İΣ"
"""The characters whose lower case is longer (a dotted i), or depends on the letters around it (a final sigma)."""
_FIRST_NAMES = 1 << 10
"""The number of names for which there is space at first."""


class Texts(NamedTuple):
    """Texts in UTF-8: text i is ``data[starts[i] : ends[i]]``."""

    data: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    @classmethod
    def of_strings(cls, texts: Sequence[str]) -> Texts:
        """Return strings as texts; raise a UnicodeEncodeError for a lone surrogate.

        >>> Texts.of_strings(["a", "", "öl"]).ends
        array([1, 1, 4])
        """
        coded = [text.encode() for text in texts]
        ends = np.cumsum([0, *map(len, coded)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(coded), np.uint8), ends[:-1], ends[1:])

    @classmethod
    def of_arrow(cls, array: pa.StringArray | pa.LargeStringArray) -> Texts:
        """Return an Arrow array of strings as texts, without copying them; a null is an empty text."""
        valid, places, data = array.buffers()
        width = np.int64 if str(array.type) == "large_string" else np.int32
        if data is None or not len(array):
            return cls(np.empty(0, np.uint8), *np.zeros((2, len(array)), np.int64))
        ends = np.frombuffer(places, width, len(array) + 1, array.offset * np.dtype(width).itemsize).astype(np.int64)
        text = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]
        starts, ends = ends[:-1] - ends[0], ends[1:] - ends[0]
        if array.null_count:
            bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")
            ends = np.where(bits[array.offset : array.offset + len(array)], ends, starts)
        return cls(text, starts, ends)

    @classmethod
    def of(cls, texts: Any) -> list[Texts]:
        """Return strings as texts, given as a sequence, a Series of pandas or polars, or an Arrow array.

        Raise a TypeError for anything else, and a ValueError if a text is missing or cannot be encoded.
        """
        if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
            raise TypeError(f"expected a list of strings, got {shorten(texts)}: put a single text in a list.")
        if getattr(texts, "ndim", 1) != 1 or hasattr(type(texts), "columns"):
            what = "expected a list, an array or a series of strings, got a"
            raise TypeError(f"{what} {type(texts).__name__} of several columns: select one of them by its name.")
        if hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__"):
            found = _of_arrow(texts)
            if found is not None:
                return found
        strings = list(texts)
        try:
            return [cls.of_strings(strings)]
        except (AttributeError, UnicodeEncodeError):
            raise _not_a_string(strings) from None

    def pieces(self, size: int = 1 << 20) -> Iterator[Texts]:
        """Yield the texts in pieces of about ``size`` bytes; a piece has at least one text."""
        stops = np.searchsorted(self.ends, np.arange(size, len(self.data), size), side="left") + 1
        places = np.unique(np.concatenate([[0], np.minimum(stops, len(self.ends)), [len(self.ends)]])).tolist()
        for start, stop in pairwise(places):
            first, last = self.starts[start], self.ends[stop - 1]
            yield Texts(self.data[first:last], self.starts[start:stop] - first, self.ends[start:stop] - first)

    def lower(self) -> Texts:
        """Return the texts in lower case, as ``str.lower`` makes it."""
        data = self.data.tobytes()
        pairs = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return Texts.of_strings([data[start:end].decode().lower() for start, end in pairs])


def _of_arrow(texts: Any) -> list[Texts] | None:
    """Return Arrow data as texts; None if pyarrow is not installed, or cannot represent the values."""
    try:
        import pyarrow as pa
    except ImportError:
        return None
    try:
        array = pa.chunked_array(texts) if hasattr(texts, "__arrow_c_stream__") else pa.chunked_array([pa.array(texts)])
        array.validate(full=True)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
        return None
    if array.null_count:
        row = array.is_null().index(True).as_py()
        raise ValueError(_MISSING.format(row=row))
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        if not pa.types.is_dictionary(array.type) and str(array.type) != "string_view":
            return None
        array = array.cast(pa.large_string())
    return [Texts.of_arrow(chunk) for chunk in array.chunks]


_MISSING = "text {row:,} (counted from 0) is missing, expected a string: fill in '' or leave it out."


def _not_a_string(texts: Sequence[Any]) -> Exception:
    """Return the error for the first of ``texts`` that is not a valid string."""
    row = next(k for k, text in enumerate(texts) if not isinstance(text, str) or _half_of_pair(text))
    text = texts[row]
    if text is None or text != text:
        return ValueError(_MISSING.format(row=row))
    where = f"text {row:,} (counted from 0)"
    if not isinstance(text, str):
        return TypeError(f"{where} is {shorten(text)}, expected a string.")
    what = f"{where} has the character {_half_of_pair(text)!r}, which is half of a pair, expected valid Unicode"
    return ValueError(f"{what}: read the texts with errors='replace'.")


def _half_of_pair(text: str) -> str:
    """Return the first surrogate in a text, which has no meaning alone, or ""."""
    return next((character for character in text if "\ud800" <= character <= "\udfff"), "")


class Name(NamedTuple):
    """The first token in a column, and the index of its text."""

    column: int
    text: int
    token: str


@cache
def _characters(lowercase: bool) -> np.ndarray:
    """Return the table of characters for the kernel: see ``kernels.parsing.words.WIDTH``."""
    text = np.arange(MOST_CHARACTERS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    if lowercase:
        for character in _LOWER_IN_CONTEXT:
            text = text.replace(character, "i")
        text = text.lower()
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    rest = [np.uint64(0x80) | ((codes >> np.uint64(6 * k)) & np.uint64(0x3F)) for k in range(3)]
    two = np.uint64(0xC0) | (codes >> np.uint64(6)) | (rest[0] << np.uint64(8))
    three = np.uint64(0xE0) | (codes >> np.uint64(12)) | (rest[1] << np.uint64(8)) | (rest[0] << np.uint64(16))
    four = np.uint64(0xF0) | (codes >> np.uint64(18)) | (rest[2] << np.uint64(8)) | (rest[1] << np.uint64(16))
    four |= rest[0] << np.uint64(24)
    sizes = 1 + np.searchsorted([0x80, 0x800, 0x10000], codes, side="right")
    entries = np.choose(sizes - 1, [codes, two, three, four]) | (sizes.astype(np.uint64) << np.uint64(WIDTH))
    for pattern, bit in ((r"\w+", WORD), (r"\s+", SPACE)):
        for match in re.finditer(pattern, text):
            entries[match.start() : match.end()] |= np.uint64(1 << bit)
    if lowercase:
        entries[[ord(character) for character in _LOWER_IN_CONTEXT]] |= np.uint64(1 << IN_CONTEXT)
    return entries


@dataclass(frozen=True)
class TextHashing:
    """How texts become rows of counts.

    Examples
    --------
    >>> hashing = TextHashing(16, prefix="title=")
    >>> counts, names = hashing.count(Texts.of_strings(["A good film, good!", ""]), keep_names=True)
    >>> counts.toarray()[0]
    array([0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0], dtype=int32)
    >>> names
    [Name(column=7, text=0, token='title=good'), Name(column=11, text=0, token='title=film')]
    """

    n_columns: int
    least: int = 1
    """The smallest number of words in an n-gram, or of characters."""
    most: int = 1
    """The largest number of words in an n-gram, or of characters."""
    kind: int = WORDS
    """The kind of tokens, one of those in ``kernels.parsing.words``."""
    lowercase: bool = True
    signed: bool = False
    """Whether half of all tokens, chosen by the hash, count -1 each."""
    prefix: str = ""
    """What is put before each token when it is hashed."""

    @cached_property
    def _before(self) -> tuple[np.uint64, np.uint64, np.uint64]:
        """The prefix, as ``murmur_after`` has it."""
        prefix = self.prefix.encode()
        h, whole = np.uint64(0), len(prefix) // 4 * 4
        with np.errstate(over="ignore"):
            for k in range(0, whole, 4):
                h = mixed(h, np.uint64(int.from_bytes(prefix[k : k + 4], "little")))
        return h, np.uint64(int.from_bytes(prefix[whole:], "little")), np.uint64(len(prefix))

    def count(
        self, texts: Texts, keep_names: bool = False, most_names: int = sys.maxsize
    ) -> tuple[sp.csr_array, list[Name]]:
        """Return the counts of the tokens of each text by column, and the first token of each column if names are kept.

        If there are more than ``most_names`` names, only some of them may be returned, but more than ``most_names``.

        Tokens are in the order of scikit-learn: within a text, all words come first, then all pairs, and so on.
        """
        n, size = len(texts.starts), len(texts.data)
        longest = int((texts.ends - texts.starts).max(initial=0))
        most = self._most_tokens(longest, 1)
        table = _characters(self.lowercase)
        letters = np.empty(3 * longest // 2 + 4 + PAD, np.uint8)
        cuts = np.empty((longest if self.kind == CHARACTERS else longest // 3) + 4, np.int64)
        scratch = letters, cuts, np.empty(2 * min(most, 2 * self.n_columns), np.uint64), np.empty(2048, np.uint64)
        entries = min(self._most_tokens(size, n), n * self.n_columns)
        rows = np.empty(n + 1, np.int64), np.empty(entries, np.int32), np.empty(entries, np.int32)
        columns = self.n_columns, (self.n_columns - 1).bit_length(), self.signed
        tokens = self.least, self.most, self.kind
        space = min(_FIRST_NAMES, entries + 1) if keep_names else 0
        while True:
            names = np.empty((space, 3), np.int64), np.empty(16 * space, np.uint8), np.full(_twice(space), -1, np.int32)
            found, n_names, n_spelled = hash_texts(
                texts.data, texts[1:], table.ctypes.data, tokens, self._before, columns, rows, names, scratch
            )
            if found == DONE:
                break
            if found == NEEDS_LOWER:
                return self.count(texts.lower(), keep_names, most_names)
            if n_names > most_names:
                return self.count(texts)[0], self._named(names[0][:n_names].tolist(), names[1][:n_spelled].tobytes())
            space *= 4
        stop = rows[0][-1]
        places = rows[0] if stop >= 2**31 else rows[0].astype(np.int32)
        counts = sp.csr_array((rows[2][:stop].copy(), rows[1][:stop].copy(), places), shape=(n, self.n_columns))
        counts.has_canonical_format = True
        return counts, self._named(names[0][:n_names].tolist(), names[1][:n_spelled].tobytes())

    def rows(
        self,
        texts: Sequence[Texts],
        threads: int,
        weigh: Callable[[sp.csr_array], sp.csr_array],
        keep_names: bool = False,
    ) -> tuple[sp.csr_array, dict[int, str]]:
        """Return the weighted counts of texts, and the first token of each column if names are kept.

        Several threads work on pieces of the texts, whose order is kept. ``weigh`` maps counts to values.
        """

        def one(piece: Texts) -> tuple[sp.csr_array, list[Name]]:
            counts, names = self.count(piece, keep_names)
            return weigh(counts), names

        pieces = [piece for part in texts for piece in part.pieces()] or [Texts.of_strings([])]
        if threads > 1 and len(pieces) > 1:
            with ThreadPoolExecutor(threads) as pool:
                found = list(pool.map(one, pieces))
        else:
            found = list(map(one, pieces))
        names: dict[int, str] = {}
        for _, new in found:
            for name in new:
                names.setdefault(name.column, name.token)
        X = found[0][0] if len(found) == 1 else sp.vstack([rows for rows, _ in found], format="csr")
        X.has_canonical_format = True
        return X, names

    def _most_tokens(self, size: int, n: int) -> int:
        """Return a number that the tokens of ``n`` texts with ``size`` bytes in total cannot exceed."""
        per_order = 3 * size // 2 + 2 * n if self.kind == CHARACTERS else (size + n) // 3 + n
        return (self.most - self.least + 1) * per_order + 1

    def _named(self, found: list[list[int]], spelled: bytes) -> list[Name]:
        starts = [0, *(end for _, _, end in found)]
        return [
            Name(column, text, self.prefix + spelled[start:end].decode())
            for start, (column, text, end) in zip(starts, found, strict=False)
        ]


def _twice(space: int) -> int:
    """Return a power of two that is at least twice ``space``."""
    return 1 << (2 * space).bit_length()


def weighted(
    counts: sp.csr_array, *, binary: bool = False, logarithmic: bool = False, norm: str | None = "l2"
) -> sp.csr_array:
    """Return counts as float64 values, which are scaled so that each row has norm 1.

    Parameters
    ----------
    counts : CSR array
        The counts; its columns and places are shared with the result.
    binary : bool
        Whether 1 replaces each count.
    logarithmic : bool
        Whether 1 + log(c) replaces each count c, and -(1 + log(c)) a count of -c.
    norm : "l1", "l2" or None
        The norm of the rows; None leaves them as they are. Rows of zeros stay as they are.

    Examples
    --------
    >>> weighted(sp.csr_array([[3, 4], [0, 0]])).toarray()
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    data = np.ones(counts.nnz) if binary else counts.data.astype(np.float64)
    if logarithmic and not binary:
        found, places = np.unique(data, return_inverse=True)
        logarithms = [np.copysign(1.0 + np.log(abs(x)), x) if x else 0.0 for x in found.tolist()]
        data = np.array(logarithms, np.float64)[places]
    if norm is not None:
        sizes = np.diff(counts.indptr)
        parts = np.append(data**2 if norm == "l2" else np.abs(data), 0.0)
        sums = np.where(sizes > 0, np.add.reduceat(parts, counts.indptr[:-1]) if len(sizes) else 0.0, 0.0)
        lengths = np.sqrt(sums) if norm == "l2" else sums
        data /= np.repeat(np.where(lengths > 0.0, lengths, 1.0), sizes)
    X = sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
    X.has_canonical_format = True
    return X


UNNAMED = re.compile(r"#(0|[1-9][0-9]{0,9})")
"""The pattern of the names of hashed columns without a word."""


def names_of_hashed(words: Mapping[int, str], n: int, others: Iterable[str] = ()) -> list[str]:
    """Return distinct names for ``n`` hashed columns that differ from ``others``, the names of other features.

    The name of a column is its word. It is ``#`` and the index of the column if there is no word or the name is taken.

    >>> names_of_hashed({0: "a=b", 2: "a=c", 3: "#1"}, 4, ["a=b"])
    ['#0', '#1', 'a=c', '#3']
    """
    names = [f"#{k}" for k in range(n)]
    taken = set(others) if words else set()
    for column, word in words.items():
        if word not in taken and not UNNAMED.fullmatch(word):
            taken.add(word)
            names[column] = word
    return names
