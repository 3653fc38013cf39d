"""Features from columns, as a preparation says: numbers, a feature for each category, hashed words, sparse rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import DataError, Features, is_sparse
from rosenblatt.data.preparation import is_hashed
from rosenblatt.data.source import Preparation, fit_columns
from rosenblatt.data.tables.column_kinds import parser_of
from rosenblatt.data.tables.reader import ColumnLayout, TableChunk
from rosenblatt.data.tables.values import (
    Faults,
    Reason,
    as_numpy,
    comma_advice,
    import_arrow,
    null_rows,
    numbers_to_arrow,
    parse_labels,
    parse_numbers,
    parse_strings,
    replace_nulls,
    strings_to_arrow,
    to_floats,
)
from rosenblatt.kernels.parsing.bytes import MAX_COLUMNS, NOT_FINITE, OUT_OF_RANGE, UNSORTED, check_rows
from rosenblatt.messages import IfAvailable, Setting

if TYPE_CHECKING:
    import pyarrow as pa


# The rows of a chunk as features and labels, and what is counted in those that are kept.


@dataclass
class RowsToCount:
    """The rows of a chunk, by column, that are counted unless they turn out to be at fault.

    >>> rows = RowsToCount(filled={"a": np.array([0, 2])})
    >>> rows.counts(np.array([True, True, False]))
    (Counter(), Counter({'a': 1}))
    """

    unseen: dict[str, np.ndarray] = field(default_factory=dict)
    """Rows whose category is none of the known ones."""
    filled: dict[str, np.ndarray] = field(default_factory=dict)
    """Rows whose value is missing."""

    def counts(self, sound: np.ndarray) -> tuple[Counter[str], Counter[str]]:
        """Return how many of both are sound, by column: ``sound`` says so for each row."""
        unseen, filled = (
            Counter({name: int(np.count_nonzero(sound[rows])) for name, rows in found.items()})
            for found in (self.unseen, self.filled)
        )
        return unseen, filled


@dataclass
class EncodedRows:
    """The rows of a chunk as features and labels; those at fault are left out."""

    X: Features
    y: np.ndarray
    weight: np.ndarray | None
    places: np.ndarray
    faults: list[tuple[int, Reason]]
    """Places that have no row, and why, in order."""
    chunk: TableChunk
    unseen: Counter[str]
    filled: Counter[str]
    names: dict[int, str]
    """Words, by hashed column."""
    passthrough: dict[str, list[Any]] | None = None
    """The values of columns that come along."""

    def before(self, place: int) -> EncodedRows:
        """Return the rows before ``place``."""
        n = int(np.searchsorted(self.places, place))
        weight = None if self.weight is None else self.weight[:n]
        passthrough = (
            None if self.passthrough is None else {name: cells[:n] for name, cells in self.passthrough.items()}
        )
        X, y, places = self.X[:n], self.y[:n], self.places[:n]
        return replace(self, X=X, y=y, weight=weight, places=places, faults=[], passthrough=passthrough)

    @property
    def numbers(self) -> np.ndarray:
        """The number of each row among all of this chunk, those at fault included."""
        return np.searchsorted(np.sort([*self.places.tolist(), *(place for place, _ in self.faults)]), self.places)


# Words and categories into a fixed number of columns, by scikit-learn's hashing.


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


_A_NUMBER: Reason = "a number", IfAvailable("missing_values", " (or a word that ", Setting("missing_values"), " names)")
_EXPECTED: dict[str, Reason] = {
    "boolean": ("true or false",),
    "date": ("a date such as 1912-08-05 or 1912-08-05T12:30",),
    "dmy": ("a date such as 30.05.2023 or 2023-05-30, the day before the month",),
    "mdy": ("a date such as 5/30/2023 or 2023-05-30, the month before the day",),
    "decimal-comma": ("a number such as 3,14 or 1.234,56",),
    "thousands-comma": ("a number such as 1,234.56",),
}
_TOO_LARGE = "a number that is infinite or too large for float64, expected finite numbers"


class Encoder:
    """Turns columns into rows of features as a preparation says.

    Parameters
    ----------
    preparation : dict
        What ``infer_schema`` returns: columns with kinds, categories and fill values, target, missing values, bits.
    labelled : bool
        Whether the target is there; otherwise labels are NaN.
    names : bool
        Whether to return the words that were hashed.
    """

    def __init__(self, preparation: Preparation, labelled: bool = True, names: bool = False) -> None:
        self._preparation, self.labelled, self._names = preparation, labelled, names
        self._missing = tuple(preparation["missing_values"])
        columns = preparation["columns"]
        self._hashed = [column for column in columns if is_hashed(column)]
        self._plain = [column for column in columns if not is_hashed(column)]
        self._hasher = Hasher(preparation["bits"], preparation["ngrams"]) if self._hashed else None
        self._offsets, self.fixed = [], 0
        for column in self._plain:
            self._offsets.append(self.fixed)
            self.fixed += len(column["categories"]) if column["kind"] == "category" else 1
        self._empty = [k for k, column in enumerate(self._plain) if column.get("categories") == []]
        self.n_features = self.fixed + (2 ** preparation["bits"] if self._hashed else 0)
        self.fixed_width = True

    @property
    def preparation(self) -> Preparation:
        """How rows are made."""
        return self._preparation

    @property
    def number_columns(self) -> np.ndarray | None:
        """The features that are columns of numbers; None where rows are lists."""
        unlike = ("boolean", "category")
        pairs = zip(self._offsets, self._plain, strict=True)
        return np.array([offset for offset, column in pairs if column["kind"] not in unlike], np.int64)

    @property
    def layout(self) -> ColumnLayout:
        """What has to be read."""
        p = self.preparation
        stored = {"number": "number", "integer": "number", "boolean": "boolean"}  # others are read from text
        needed = {column["name"]: stored.get(column["kind"], "string") for column in p["columns"]}
        if self.labelled and p["target"] is not None:
            needed[p["target"]["name"]] = stored.get(p["target"]["kind"], "string")
        if p["weight"] is not None and self.labelled:
            needed[p["weight"]] = "number"
        others = {p["target"]["name"]} if p["target"] is not None else set()
        known = None if p["others"] else frozenset({*needed, *p["order"], *p["ignored"], *others})
        return ColumnLayout(needed, known)

    def feature_names(self, words: dict[int, str]) -> list[str] | None:
        """Return a name for each feature; a hashed one that no word is known for is ``#`` and its number."""
        names: list[str] = []
        for column in self._plain:
            if column["kind"] == "category":
                names += [f"{column['name']}={value}" for value in column["categories"]]
            else:
                names.append(column["name"])
        return names + [words.get(k) or f"#{k}" for k in range(self.n_features - self.fixed)]

    def fit_width(self, rows: EncodedRows) -> Features:
        """Return the features of the next rows, in the order of the files, as wide as they should be."""
        return rows.X

    def encode(self, chunk: TableChunk) -> EncodedRows:
        """Return the rows of a chunk. Several threads do so at once."""
        faults = Faults(chunk.n)
        counted = RowsToCount()
        X = self._features(chunk, faults, counted)
        words: dict[int, str] = {}
        if self._hasher is not None:
            X, words = self._with_words(chunk, X, faults, counted)
        y, weight = self._labels(chunk, faults)
        places = np.arange(chunk.n) if chunk.places is None else chunk.places
        found = [(int(places[row]), reason) for row, reason in faults.items()]
        if found:
            kept = np.delete(np.arange(chunk.n), list(faults))
            X, y, places = X[kept], y[kept], places[kept]
            weight = None if weight is None else weight[kept]
        found = sorted(found + chunk.faults, key=lambda fault: fault[0])
        return EncodedRows(X, y, weight, places, found, chunk, *counted.counts(faults.sound), words)

    def _features(self, chunk: TableChunk, faults: Faults, counted: RowsToCount) -> Features:
        """Return all features that are not hashed."""
        n, plain = chunk.n, self._plain
        values = np.zeros((n, len(plain)))
        codes = {}
        for k, column in enumerate(plain):
            array, name = chunk.columns[column["name"]], column["name"]
            if column["kind"] == "category":
                codes[k] = self._codes(array, column, faults, counted)
                values[:, k] = codes[k] >= 0
                continue
            values[:, k], bad = parser_of(column)(array, self._missing)
            expected = _EXPECTED.get(column.get("order", column["kind"]), _A_NUMBER)
            advice = {"advice": comma_advice} if column["kind"] == "number" else {}
            faults.add_unexpected(bad, array, name, expected, **advice)
        if not np.isfinite(values).all():
            self._fill(values, faults, counted)
        if not codes and not self._preparation["sparse"]:
            return values
        places = np.tile(np.array(self._offsets, np.int32), (n, 1))
        for k, code in codes.items():
            places[:, k] += np.maximum(code, 0)
        if self._empty:  # columns without categories have no place
            values, places = np.delete(values, self._empty, axis=1), np.delete(places, self._empty, axis=1)
        if not self._preparation["sparse"]:
            X = np.zeros((n, self.fixed))
            np.put_along_axis(X, places, values, axis=1)
            return X
        there = values != 0.0
        indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int32)
        X = sp.csr_array((values[there], places[there], indptr), shape=(n, self.fixed))
        X.has_canonical_format = True
        return X

    def _codes(self, array: pa.Array, column: dict[str, Any], faults: Faults, counted: RowsToCount) -> np.ndarray:
        """Return the number of each category, -1 where it is missing or unknown."""
        texts = parse_strings(array, self._missing)
        self._note_missing(texts, column["name"], faults, counted)
        codes = import_arrow(".compute").index_in(texts, strings_to_arrow(column["categories"]))
        if codes.null_count > texts.null_count:
            counted.unseen[column["name"]] = np.setdiff1d(null_rows(codes), null_rows(texts), assume_unique=True)
        return replace_nulls(codes, as_numpy(codes), -1)

    def _note_missing(self, texts: pa.Array, name: str, faults: Faults, counted: RowsToCount) -> None:
        """Add the rows without a category to ``faults``, or to those that are counted."""
        if not texts.null_count:
            return
        if self._preparation["missing"] == "error":
            faults.add(null_rows(texts), _no_value(name))
        else:
            counted.filled[name] = null_rows(texts)

    def _fill(self, values: np.ndarray, faults: Faults, counted: RowsToCount) -> None:
        """Put fill values where numbers are missing; rows with infinite ones are added to ``faults``."""
        for k, column in enumerate(self._plain):
            x = values[:, k]
            infinite = np.flatnonzero(np.isinf(x))
            faults.add(infinite, (f"column {column['name']!r} holds {_TOO_LARGE}",))
            x[infinite] = 0.0
            missing = np.isnan(x)
            if missing.any():
                if self._preparation["missing"] == "error":
                    faults.add(np.flatnonzero(missing), _no_value(column["name"]))
                else:
                    counted.filled[column["name"]] = np.flatnonzero(missing)
                x[missing] = column.get("fill", 0.0)

    def _with_words(
        self, chunk: TableChunk, X: Features, faults: Faults, counted: RowsToCount
    ) -> tuple[Features, dict[int, str]]:
        """Return the features with the hashed ones after them, and the words."""
        assert self._hasher is not None
        every: list[list[list[str]]] = []
        hashed = sp.csr_array((chunk.n, self.n_features - self.fixed))
        for column in self._hashed:
            name = column["name"]
            texts = parse_strings(chunk.columns[name], self._missing)
            if column["kind"] == "text":
                every.append(self._hasher.words(name, texts.to_pylist()))
                hashed = hashed + self._hasher.counted(every[-1])
                continue
            self._note_missing(texts, name, faults, counted)
            hashed = hashed + self._hashed_codes(name, texts)
            if self._names:
                every.append([[] if text is None else [f"{name}={text}"] for text in texts.to_pylist()])
        both = sp.csr_array(sp.hstack([X, hashed], format="csr"))
        both.has_canonical_format = True
        return both, self._hasher.names(every) if self._names else {}

    def _hashed_codes(self, name: str, texts: pa.Array) -> sp.csr_array:
        """Return a row with one 1 for each category, none where it is missing."""
        assert self._hasher is not None
        coded = texts.dictionary_encode()
        places = self._hasher.places([f"{name}={text}" for text in coded.dictionary.to_pylist()])
        indptr = np.concatenate([[0], np.cumsum(as_numpy(texts.is_valid()))]).astype(np.int32)
        columns = places[as_numpy(coded.indices.drop_null())].astype(np.int32)
        return sp.csr_array((np.ones(len(columns)), columns, indptr), shape=(len(texts), self.n_features - self.fixed))

    def _labels(self, chunk: TableChunk, faults: Faults) -> tuple[np.ndarray, np.ndarray | None]:
        target, weight = self._preparation["target"], None
        if not self.labelled or target is None:
            return np.full(chunk.n, np.nan), None
        if self._preparation["weight"] is not None:
            name = self._preparation["weight"]
            weight, bad = parse_numbers(chunk.columns[name], self._missing)
            bad = sorted({*bad, *np.flatnonzero(~(weight >= 0.0) | np.isinf(weight)).tolist()})
            faults.add_unexpected(bad, chunk.columns[name], name, ("a weight of 0 or more",))
        return parse_labels(chunk.columns[target["name"]], target, self._missing, faults), weight


def _no_value(name: str) -> Reason:
    otherwise = (": fill it in the file",)
    fill = IfAvailable(
        "missing",
        ": give ",
        Setting("missing", "zero"),
        " or ",
        Setting("missing", "mean"),
        " to fill it",
        otherwise=otherwise,
    )
    return f"column {name!r} has no value", fill


# Tables whose rows are sparse: a list of column numbers, ``indices``, and a list of ``values``, in each row.
#
# Column numbers count from 0 and ascend. There are as many columns as the rows need, as with svmlight text.


LISTS = ("indices", "values")
_REASONS: dict[int, Reason] = {
    OUT_OF_RANGE: (f"an index is negative, missing or too large, expected 0 to {MAX_COLUMNS - 1}",),
    UNSORTED: ("an index is not above the one before it, expected ascending indices: sort the row",),
    NOT_FINITE: ("a value is missing, NaN, infinite or too large for float64, expected finite numbers",),
}


def has_lists(columns: dict[str, pa.Array]) -> bool:
    """Return whether the columns of a table are those of sparse rows."""
    return all(name in columns and _is_list(columns[name].type) for name in LISTS)


def _is_list(type_: pa.DataType) -> bool:
    types = import_arrow().types
    return types.is_list(type_) or types.is_large_list(type_)


class ListEncoder(Encoder):
    """Turns two columns of lists into sparse rows.

    If the preparation has "n_features", rows have that many columns, and entries beyond are left out and counted.
    """

    def __init__(self, preparation: Preparation, labelled: bool = True) -> None:
        super().__init__(preparation, labelled)
        self._width: int | None = preparation.get("n_features")
        self.n_features, self.fixed_width = self._width or 0, self._width is not None

    @property
    def preparation(self) -> Preparation:
        """How rows are made; the number of columns is that so far, None before the first."""
        return self._preparation | {"n_features": self.n_features or None}

    @property
    def number_columns(self) -> None:
        """None: features are alike."""
        return None

    @property
    def layout(self) -> ColumnLayout:
        """What has to be read."""
        labels = super().layout
        return ColumnLayout(dict.fromkeys(LISTS, "list") | labels.needed, labels.known)

    def feature_names(self, words: dict[int, str]) -> None:
        """Return None: columns have no names."""
        return None

    def fit_width(self, rows: EncodedRows) -> Features:
        """Return the features of the next rows, as wide as they should be."""
        assert is_sparse(rows.X)
        if self._width is None:
            whole = len(rows.y) == rows.chunk.n
            width = rows.X.shape[1] if whole else 1 + int(rows.X.indices.max(initial=-1))  # not those of rows left out
            self.n_features = max(self.n_features, width)
        X, beyond = fit_columns(rows.X, self.n_features)
        rows.unseen.update({"columns": beyond} if beyond else {})
        return X

    def _features(self, chunk: TableChunk, faults: Faults, counted: RowsToCount) -> Features:
        """Return the lists as CSR; rows at fault are empty."""
        arrays = [chunk.columns[name] for name in LISTS]
        for name, array in zip(LISTS, arrays, strict=True):
            _check_type(array.type, name, chunk.where(0))
            faults.add(null_rows(array), (f"column {name!r} has no value",))
        ends = [as_numpy(array.offsets) for array in arrays]
        unequal = np.diff(ends[0]) != np.diff(ends[1])
        faults.add(np.flatnonzero(unequal), ("the two lists are not equally long",))
        if faults:
            arrays = [_emptied(array, faults) for array in arrays]
            ends = [as_numpy(array.offsets) for array in arrays]
        first, begin, size = int(ends[0][0]), int(ends[1][0]), int(ends[0][-1] - ends[0][0])
        indices = _column_numbers(arrays[0].values[first : first + size])
        values = _values(arrays[1].values[begin : begin + size])
        indptr = (ends[0] - first).astype(np.int32 if size < 2**31 else np.int64)
        results = np.empty(chunk.n, np.int8)
        highest = check_rows(indptr, indices, values, results)
        bad = np.flatnonzero(results)
        if len(bad):
            for row in bad.tolist():
                faults.add([row], _REASONS[int(results[row])])
            sizes = np.diff(indptr)
            valid = np.repeat(results == 0, sizes)
            indices, values = indices[valid], values[valid]
            indptr = np.concatenate([[0], np.cumsum(np.where(results == 0, sizes, 0))]).astype(indptr.dtype)
        X = sp.csr_array((values, indices, indptr), shape=(chunk.n, highest + 1))
        X.has_canonical_format = True
        return X


def _check_type(type_: pa.DataType, name: str, where: str) -> None:
    """Raise an error unless the type is a list of numbers, or of null, as lists without elements are."""
    types = import_arrow().types
    if not _is_list(type_):
        raise DataError(f"{where}: column {name!r} holds {type_} values, expected lists.")
    of, integers = type_.value_type, name == LISTS[0]
    if not (types.is_integer(of) or types.is_null(of) or (types.is_floating(of) and not integers)):
        expected = "integers" if integers else "numbers"
        raise DataError(f"{where}: column {name!r} holds lists of {of}, expected lists of {expected}.")


def _emptied(array: pa.Array, faults: Faults) -> pa.Array:
    """Return an array of lists, empty in the rows at fault."""
    pa = import_arrow()
    kept = np.delete(np.arange(len(array)), list(faults))
    sizes = np.zeros(len(array) + 1, np.int64)
    sizes[1 + kept] = np.diff(as_numpy(array.offsets))[kept]
    flat = array.take(numbers_to_arrow(kept)).flatten()
    return pa.LargeListArray.from_arrays(numbers_to_arrow(np.cumsum(sizes)), flat)


def _column_numbers(array: pa.Array) -> np.ndarray:
    """Return column numbers as int32, -1 for those that are invalid."""
    numbers = as_numpy(array)
    if numbers.dtype != np.int32:
        numbers = np.where((numbers < 0) | (numbers >= MAX_COLUMNS), -1, numbers).astype(np.int32)
    return replace_nulls(array, numbers, -1)


def _values(array: pa.Array) -> np.ndarray:
    """Return values as float32 or float64, NaN where one is missing."""
    values = as_numpy(array)
    if values.dtype not in (np.float32, np.float64):
        values = to_floats(values)
    return replace_nulls(array, values, np.nan)
