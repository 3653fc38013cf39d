"""Words and categories into a fixed number of columns, by scikit-learn's hashing."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np
import scipy.sparse as sp


class Hasher:
    """Columns for words: the hash of ``column=word``, cut to some bits.

    A text is cut into words as scikit-learn's ``HashingVectorizer`` does it: lower case, two letters or more. Counts
    are not negative, and the row of a text has length 1.

    Parameters
    ----------
    bits : int
        There are 2**bits columns.
    ngrams : int
        Count also up to this many words in a row.

    Examples
    --------
    >>> hasher = Hasher(bits=4, ngrams=1)
    >>> words = hasher.words("title", ["A good film, good!", None])
    >>> words
    [['title=good', 'title=film', 'title=good'], []]
    >>> hasher.counted(words).toarray().round(2)[0, [7, 11]]
    array([0.89, 0.45])
    """

    def __init__(self, bits: int, ngrams: int) -> None:
        from sklearn.feature_extraction import FeatureHasher
        from sklearn.feature_extraction.text import HashingVectorizer

        self._hasher = FeatureHasher(2**bits, input_type="string", alternate_sign=False)
        self._cut = HashingVectorizer(ngram_range=(1, ngrams)).build_analyzer()

    def words(self, column: str, texts: Iterable[str | None]) -> list[list[str]]:
        """Return the words of each text, with the column's name before them."""
        return [[f"{column}={word}" for word in self._cut(text)] if text else [] for text in texts]

    def counted(self, words: list[list[str]]) -> sp.csr_array:
        """Return how often each row has each word, divided by the row's length."""
        if not words:
            return sp.csr_array((0, self._hasher.n_features))
        counts = sp.csr_array(self._hasher.transform(words))
        squares = np.add.reduceat(np.append(counts.data**2, 0.0), counts.indptr[:-1])  # integers: exact
        lengths = np.sqrt(np.where(np.diff(counts.indptr) > 0, squares, 1.0))
        counts.data /= np.repeat(lengths, np.diff(counts.indptr))
        return counts

    def places(self, words: list[str]) -> np.ndarray:
        """Return the column of each word."""
        return self._hasher.transform([[word] for word in words]).indices if words else np.empty(0, np.int32)

    def names(self, words: list[list[list[str]]]) -> dict[int, str]:
        """Return the first word of each hashed column, given the words of some columns of a table, row by row."""
        unique = list(dict.fromkeys(chain.from_iterable(chain.from_iterable(zip(*words, strict=True)))))
        found: dict[int, str] = {}
        for column, word in zip(self.places(unique).tolist(), unique, strict=True):
            found.setdefault(column, word)
        return found
