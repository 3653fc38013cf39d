"""The encoding of table columns as features, as defined by a preparation."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import DataError, Features, is_sparse
from rosenblatt.data.preparation import is_hashed
from rosenblatt.data.source import FEW_WORDS, ColumnEntry, Growth, Preparation, fit_columns
from rosenblatt.data.tables.column_kinds import parser_of
from rosenblatt.data.tables.reader import ColumnLayout, Passthrough, TableChunk
from rosenblatt.data.tables.values import (
    Faults,
    as_numpy,
    comma_advice,
    import_arrow,
    null_rows,
    numbers_to_arrow,
    parse_labels,
    parse_numbers,
    parse_strings,
    plain_text,
    replace_nulls,
    strings_to_arrow,
    to_floats,
)
from rosenblatt.hashing import Name, TextHashing, Texts, names_of_hashed, weighted
from rosenblatt.kernels.parsing.bytes import MAX_COLUMNS, NOT_FINITE, OUT_OF_RANGE, UNSORTED, check_rows
from rosenblatt.kernels.parsing.words import CHARACTERS, WHOLE, WORDS
from rosenblatt.messages import Hint, Message

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class RowsToCount:
    """The rows of a chunk with an unseen category or a missing value, by column.

    >>> rows = RowsToCount(filled={"a": np.array([0, 2])})
    >>> rows.counts(np.array([True, True, False]))
    (Counter(), Counter({'a': 1}))
    """

    unseen: dict[str, np.ndarray] = field(default_factory=dict)
    """The rows whose category does not occur in the preparation."""
    filled: dict[str, np.ndarray] = field(default_factory=dict)
    """The rows whose value is missing."""

    def counts(self, is_valid: np.ndarray) -> tuple[Counter[str], Counter[str]]:
        """Return two counters by column: valid rows with an unseen category, and valid rows with a missing value."""
        unseen, filled = (
            Counter({name: int(np.count_nonzero(is_valid[rows])) for name, rows in found.items()})
            for found in (self.unseen, self.filled)
        )
        return unseen, filled


class NewValue(NamedTuple):
    """A value for which there is no feature: a new category, or a field of a new column."""

    row: int
    name: str
    text: str | None
    """The category; None for a number."""
    value: float


@dataclass
class EncodedRows:
    """The valid rows of a chunk as features and labels."""

    X: Features
    y: np.ndarray
    weight: np.ndarray | None
    places: np.ndarray
    faults: list[tuple[int, Message]]
    """Pairs (record index, reason) of the records that cannot be read, ordered by index."""
    unlabelled: np.ndarray
    """The record indices of the rows that are left out because they have no label."""
    markers: Counter[str]
    """The number of these rows for each text in place of a label, such as "NA"; "" if labels are not text."""
    chunk: TableChunk
    unseen: Counter[str]
    filled: Counter[str]
    words: dict[int, str]
    """The first word that was hashed to each column, if words are kept."""
    passthrough: Passthrough | None = None
    """The values of the passthrough columns."""
    has_label: np.ndarray | None = None
    """A mask of the rows that have a label; None if all have one."""
    new: list[NewValue] = field(default_factory=list)
    """The values for which there was no feature, in the order of the rows."""

    def before(self, place: int) -> EncodedRows:
        """Return the rows before the record with the index ``place``, without faults."""
        n = int(np.searchsorted(self.places, place))
        weight = None if self.weight is None else self.weight[:n]
        cells = None if self.passthrough is None else {name: values[:n] for name, values in self.passthrough.items()}
        X, y, places = self.X[:n], self.y[:n], self.places[:n]
        unlabelled = self.unlabelled[self.unlabelled < place]
        return replace(
            self,
            X=X,
            y=y,
            weight=weight,
            places=places,
            faults=[],
            unlabelled=unlabelled,
            passthrough=cells,
            has_label=None if self.has_label is None else self.has_label[:n],
            new=[value for value in self.new if value.row < n],
        )

    @property
    def numbers(self) -> np.ndarray:
        """The index of each row among all records of the chunk."""
        faults = [place for place, _ in self.faults]
        return np.searchsorted(np.sort([*self.places.tolist(), *faults, *self.unlabelled.tolist()]), self.places)


class Hasher:
    """Feature hashing of the words of texts, and of categories; the column of a word is the hash of ``column=word``.

    Texts are cut into words as in scikit-learn's ``HashingVectorizer``: words are in lower case and have at least two
    characters. Counts are not given alternating signs, and the row of a text has Euclidean norm 1.

    Parameters
    ----------
    columns : list of dict
        The hashed columns of a table, as entries of a preparation.
    bits : int
        Words share ``2**bits`` columns.
    ngrams : int
        The maximum number of words in an n-gram; all n-grams of 1 to ``ngrams`` words are counted.
    characters : (int, int) or None
        If given, n-grams with these numbers of characters are counted instead of words.

    Examples
    --------
    >>> hasher = Hasher([{"name": "title", "kind": "text"}], bits=4, ngrams=1)
    >>> X, words = hasher.rows({"title": Texts.of_strings(["A good film, good!", ""])}, keep_words=True)
    >>> X.toarray().round(2)[0, [7, 11]], words
    (array([0.89, 0.45]), {7: 'title=good', 11: 'title=film'})
    """

    def __init__(
        self, columns: list[ColumnEntry], bits: int, ngrams: int, characters: Sequence[int] | None = None
    ) -> None:
        self._hashings = {}
        for column in columns:
            name, is_text = column["name"], column["kind"] == "text"
            least, most, kind = (1, ngrams, WORDS) if is_text else (1, 1, WHOLE)
            if is_text and characters is not None:
                (least, most), kind = characters, CHARACTERS
            self._hashings[name] = TextHashing(2**bits, least, most, kind, prefix=f"{name}=")

    @classmethod
    def of(cls, preparation: Preparation) -> Hasher | None:
        """Return the hasher for the tables that a preparation defines, or None if no column is hashed."""
        columns = [column for column in preparation["columns"] if is_hashed(column)]
        if not columns:
            return None
        return cls(columns, preparation["bits"], preparation["ngrams"], preparation.get("characters"))

    def rows(self, texts: dict[str, Texts], keep_words: bool | str = False) -> tuple[sp.csr_array, dict[int, str]]:
        """Return the hashed features of rows, given the texts in each column; a missing text is empty.

        Also return the first word in each hashed column, or an empty dictionary if words are not kept. If
        ``keep_words`` is "few" and there are more than `FEW_WORDS`, only some of them, but more than `FEW_WORDS`, may
        be returned.
        """
        total: sp.csr_array | None = None
        found: list[Name] = []
        for name, hashing in self._hashings.items():
            most = FEW_WORDS if keep_words == "few" else sys.maxsize
            counts, names = hashing.count(texts[name], bool(keep_words), most)
            X = weighted(counts)
            total = X if total is None else total + X
            found += names
        words: dict[int, str] = {}
        for first in sorted(found, key=attrgetter("text")):  # of equal texts, the column that comes first
            words.setdefault(first.column, first.token)
        assert total is not None
        return total, words


def names_of_features(column: ColumnEntry) -> list[str]:
    """Return the names of the features made from a column; an empty list for hashed columns, which share features.

    >>> names_of_features({"name": "sex", "kind": "category", "categories": ["f", "m"]})
    ['sex=f', 'sex=m']
    """
    if is_hashed(column):
        return []
    if column["kind"] == "category":
        return [f"{column['name']}={value}" for value in column["categories"]]
    return [column["name"]]


_A_NUMBER = Message("a number{hint}", hint=Hint(" (or a word that {missing_values} names)"))
_EXPECTED = {
    "boolean": "true or false",
    "date": "a date such as 1912-08-05 or 1912-08-05T12:30",
    "dmy": "a date such as 30.05.2023, the day before the month, or 2023-05-30",
    "mdy": "a date such as 5/30/2023, the month before the day, or 2023-05-30",
    "decimal-comma": "a number such as 3,14 or 1.234,56",
    "thousands-comma": "a number such as 1,234.56",
}
_TOO_LARGE = "a number that is infinite or too large for float64, expected finite numbers"


class Encoder:
    """Encode the columns of a table as rows of features, as a preparation defines.

    Parameters
    ----------
    preparation : dict
        What ``infer_schema`` returns: the columns with their kinds, categories and fill values, the target, the words
        for missing values, and the number of bits of hashes.
    labelled : bool
        Whether the files have the target; otherwise labels are NaN.
    keep_words : bool or "few"
        Whether to return the words that are hashed to each column; see `Hasher.rows`.
    optional_labels : bool
        Whether rows without a label are kept.
    """

    def __init__(
        self,
        preparation: Preparation,
        labelled: bool = True,
        keep_words: bool | str = False,
        optional_labels: bool = False,
    ) -> None:
        self._preparation, self.labelled, self.keep_words = preparation, labelled, keep_words
        self._optional_labels = optional_labels
        self._missing = tuple(preparation["missing_values"])
        columns = preparation["columns"]
        self._hashed = [column for column in columns if is_hashed(column)]
        self._plain = [column for column in columns if not is_hashed(column)]
        self._hasher = Hasher.of(preparation)
        self._offsets, self.fixed = [], 0
        for column in self._plain:
            self._offsets.append(self.fixed)
            self.fixed += len(column["categories"]) if column["kind"] == "category" else 1
        self._empty = [k for k, column in enumerate(self._plain) if column.get("categories") == []]
        self.n_features = self.fixed + (2 ** preparation["bits"] if self._hashed else 0)
        self.fixed_width = True

    @property
    def preparation(self) -> Preparation:
        """Plain data that defines how rows are made from the files."""
        return self._preparation

    @property
    def number_columns(self) -> np.ndarray | None:
        """The indices of the features that are columns of numbers."""
        pairs = zip(self._offsets, self._plain, strict=True)
        return np.array([k for k, column in pairs if column["kind"] not in ("boolean", "category")], np.int64)

    @property
    def layout(self) -> ColumnLayout:
        """The columns to read."""
        p = self.preparation
        stored = {"number": "number", "integer": "number", "boolean": "boolean"}  # other kinds are parsed from text
        needed = {
            column["name"]: stored.get(column["kind"], "string") if column.get("unit") is None else "string"
            for column in p["columns"]
        }
        if self.labelled and p["target"] is not None:
            needed[p["target"]["name"]] = stored.get(p["target"]["kind"], "string")
        if p["weight"] is not None and self.labelled:
            needed[p["weight"]] = "number"
        others = {p["target"]["name"]} if p["target"] is not None else set()
        known = None if p["others"] else frozenset({*needed, *p["order"], *p["ignored"], *others})
        return ColumnLayout(needed, known)

    def feature_names(self, words: dict[int, str]) -> list[str] | None:
        """Return a name for each feature: ``#`` and an index for a hashed column whose word is unknown."""
        names = [name for column in self._plain for name in names_of_features(column)]
        return names + names_of_hashed(words, self.n_features - self.fixed, names)

    def fit_width(self, rows: EncodedRows) -> Features:
        """Return the features of ``rows`` with all columns known so far. Call this in the order of the rows."""
        return rows.X

    def encode(self, chunk: TableChunk) -> EncodedRows:
        """Encode the rows of a chunk. Thread-safe."""
        faults = Faults(chunk.n)
        counted = RowsToCount()
        X = self._features(chunk, faults, counted)
        words: dict[int, str] = {}
        if self._hasher is not None:
            X, words = self._with_words(chunk, X, faults, counted)
        y, weight, unlabelled = self._labels(chunk, faults)
        has_label = None
        if self._optional_labels and len(unlabelled):
            has_label = np.ones(chunk.n, bool)
            has_label[unlabelled] = False
            unlabelled = unlabelled[:0]
        markers = self._markers(chunk, unlabelled)
        places = np.arange(chunk.n) if chunk.places is None else chunk.places
        without_label = places[unlabelled]
        for row in unlabelled.tolist():  # nothing else matters in rows that are left out
            faults.pop(row, None)
        faults.is_valid[unlabelled] = False
        found = [(int(places[row]), reason) for row, reason in faults.items()]
        if not faults.is_valid.all():
            kept = np.flatnonzero(faults.is_valid)
            X, y, places = X[kept], y[kept], places[kept]
            weight = None if weight is None else weight[kept]
            has_label = None if has_label is None else has_label[kept]
        found = sorted(found + chunk.faults, key=lambda fault: fault[0])
        counts = counted.counts(faults.is_valid)
        return EncodedRows(
            X, y, weight, places, found, without_label, markers, chunk, *counts, words, has_label=has_label
        )

    def _features(self, chunk: TableChunk, faults: Faults, counted: RowsToCount) -> Features:
        """Return all features that are not hashed."""
        n, plain = chunk.n, self._plain
        values = np.zeros((n, len(plain)))
        codes = {}
        for k, column in enumerate(plain):
            array = chunk.columns[column["name"]]
            if column["kind"] == "category":
                codes[k] = self._codes(array, column, faults, counted)
                values[:, k] = codes[k] >= 0
                continue
            values[:, k] = self._numbers(array, column, faults)
        if not np.isfinite(values).all():
            self._fill(values, faults, counted)
        if not codes and not self._preparation["sparse"]:
            return values
        # Each column has one entry in each row. The entry of a category is at the column's offset plus the code.
        places = np.tile(np.array(self._offsets, np.int32), (n, 1))
        for k, code in codes.items():
            places[:, k] += np.maximum(code, 0)
        if self._empty:  # columns without categories have no feature
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

    def _numbers(self, array: pa.Array, column: ColumnEntry, faults: Faults) -> np.ndarray:
        """Return the numbers of a column, NaN if missing; add the rows with other values to ``faults``."""
        values, bad = parser_of(column)(array, self._missing)
        if column.get("unit"):
            faults.add_unexpected(bad, array, column["name"], f"an amount in {column['unit']}, as in the first rows")
        elif column["kind"] == "number":
            faults.add_unexpected(bad, array, column["name"], _A_NUMBER, comma_advice)
        else:
            faults.add_unexpected(bad, array, column["name"], _EXPECTED[str(column.get("order", column["kind"]))])
        return values

    def _codes(self, array: pa.Array, column: ColumnEntry, faults: Faults, counted: RowsToCount) -> np.ndarray:
        """Return the code of the category in each row, -1 if it is missing or unknown."""
        texts = parse_strings(array, self._missing)
        self._note_missing(texts, column["name"], faults, counted)
        codes = import_arrow(".compute").index_in(texts, strings_to_arrow(column["categories"]))
        if codes.null_count > texts.null_count:
            counted.unseen[column["name"]] = np.setdiff1d(null_rows(codes), null_rows(texts), assume_unique=True)
        return replace_nulls(codes, as_numpy(codes), -1)

    def _note_missing(self, texts: pa.Array, name: str, faults: Faults, counted: RowsToCount) -> None:
        """Add the rows without a category to ``faults`` or, if missing values are allowed, to ``counted``."""
        if not texts.null_count:
            return
        if self._preparation["missing"] == "error":
            faults.add(null_rows(texts), _no_value(name))
        else:
            counted.filled[name] = null_rows(texts)

    def _fill(self, values: np.ndarray, faults: Faults, counted: RowsToCount) -> None:
        """Replace missing values by fill values; add rows with infinite or disallowed missing values to ``faults``."""
        for k, column in enumerate(self._plain):
            x = values[:, k]
            infinite = np.flatnonzero(np.isinf(x))
            faults.add(infinite, Message("column {name} holds {what}", name=repr(column["name"]), what=_TOO_LARGE))
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
        """Return ``X`` with the hashed columns appended, and the words hashed to these columns if words are kept."""
        assert self._hasher is not None
        texts = {}
        for column in self._hashed:
            name = column["name"]
            array = chunk.columns[name]
            if column["kind"] == "category" or self._missing or str(array.type) not in ("string", "large_string"):
                array = parse_strings(array, self._missing)  # words do not depend on the whitespace that it removes
            if column["kind"] == "category":
                self._note_missing(array, name, faults, counted)
            texts[name] = Texts.of_arrow(array)
        hashed, words = self._hasher.rows(texts, self.keep_words)
        if not self.fixed:
            return hashed, words
        both = sp.csr_array(sp.hstack([X, hashed], format="csr"))
        both.has_canonical_format = True
        return both, words

    def _labels(self, chunk: TableChunk, faults: Faults) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """Return the labels, the weights, and the indices of the rows without a label."""
        target, weight = self._preparation["target"], None
        if not self.labelled or target is None:
            return np.full(chunk.n, np.nan), None, np.empty(0, np.int64)
        if self._preparation["weight"] is not None:
            name = self._preparation["weight"]
            weight, bad = parse_numbers(chunk.columns[name], self._missing)
            bad = sorted({*bad, *np.flatnonzero(~(weight >= 0.0) | np.isinf(weight)).tolist()})
            faults.add_unexpected(bad, chunk.columns[name], name, "a weight of 0 or more")
        y, unlabelled = parse_labels(chunk.columns[target["name"]], target, self._missing, faults)
        return y, weight, unlabelled

    def _markers(self, chunk: TableChunk, unlabelled: np.ndarray) -> Counter[str]:
        """Return the number of rows without a label, for each text in place of the label."""
        if not len(unlabelled):
            return Counter()
        if self._preparation["target"]["kind"] not in ("text", "category"):
            return Counter({"": len(unlabelled)})  # columns of numbers may have been read without their text
        texts = parse_strings(chunk.columns[self._preparation["target"]["name"]].take(numbers_to_arrow(unlabelled)), ())
        return Counter(text or "" for text in texts.to_pylist())


class GrowingEncoder(Encoder):
    """An encoder that adds features for new categories and for columns that are new, after all other features.

    Parameters
    ----------
    *arguments
        As for `Encoder`.
    growth : Growth
        The features that were added so far.
    """

    def __init__(self, *arguments: Any, growth: Growth) -> None:
        super().__init__(*arguments)
        self._growth, self._first = growth, self.n_features
        self._places: dict[tuple[str, str | None], int] = {}
        self._listed = [column for column in self._plain if column["kind"] == "category"]
        for key in growth.features:
            self._places[key] = self._first + len(self._places)
        self._is_text = {name: text is not None for name, text in growth.features}
        """Whether the values of a column are categories, by the first one that came."""
        self.n_features += len(self._places)

    def feature_names(self, words: dict[int, str]) -> list[str] | None:
        """Return a name for each feature, those that were added last."""
        total, self.n_features = self.n_features, self._first
        names = super().feature_names(words) or []
        self.n_features = total
        return names + [name if text is None else f"{name}={text}" for name, text in self._places]

    def encode(self, chunk: TableChunk) -> EncodedRows:
        """Encode the rows of a chunk, and collect the values for which there is no feature. Thread-safe."""
        rows = super().encode(chunk)
        valid = rows.places if chunk.places is None else np.searchsorted(chunk.places, rows.places)
        kept = {int(row): k for k, row in enumerate(valid)}
        pc = import_arrow(".compute")
        for column in self._listed:
            texts = parse_strings(chunk.columns[column["name"]], self._missing)
            unknown = pc.is_null(pc.index_in(texts, strings_to_arrow(column["categories"])))
            for row in np.flatnonzero(as_numpy(pc.and_(unknown, pc.is_valid(texts)))).tolist():
                if row in kept:
                    rows.new.append(NewValue(kept[row], column["name"], texts[row].as_py(), 1.0))
        for row, name, value in chunk.new_fields:
            if row in kept and isinstance(value, str | int | float) and value != "":
                text = plain_text(value) if isinstance(value, str | bool) else None
                number = 1.0 if text is not None else float(value)
                if math.isfinite(number):
                    rows.new.append(NewValue(kept[row], name, text, number))
        rows.new.sort(key=lambda new: new.row)
        return rows

    def fit_width(self, rows: EncodedRows) -> Features:
        """Return the features of ``rows``, after adding those that are new. Call this in the order of the rows."""
        entries: list[tuple[int, int, float]] = []
        for new in rows.new:
            place = self._place(new)
            if place is not None:
                entries.append((new.row, place, new.value))
                if rows.unseen[new.name] > 0:
                    rows.unseen[new.name] -= 1
        if self.n_features == self._first:
            return rows.X
        n = len(rows.y)
        at, places, values = zip(*entries, strict=True) if entries else ((), (), ())
        shape = n, self.n_features - self._first
        added = sp.csr_array((np.array(values, float), (np.array(at, int), np.array(places, int) - self._first)), shape)
        both = sp.csr_array(sp.hstack([sp.csr_array(rows.X), added], format="csr"))
        both.sum_duplicates()
        return both

    def _place(self, new: NewValue) -> int | None:
        """Return the feature of a value, which is added if it is new; None if it cannot have one."""
        key = new.name, new.text
        if key not in self._places:
            is_text = self._is_text.setdefault(new.name, new.text is not None)
            if is_text != (new.text is not None) or self.n_features >= self._growth.most:
                return None
            self._places[key] = self.n_features
            self._growth.features.append(key)
            self.n_features += 1
        return self._places[key]


def settled(preparation: Preparation, growth: Growth) -> tuple[Preparation, np.ndarray]:
    """Return a preparation that has the features which were added, and for each of its features the place before.

    >>> grown = Growth(features=[("colour", "red"), ("size", None)])
    >>> columns = [{"name": "colour", "kind": "category", "categories": ["blue"]}, {"name": "age", "kind": "number"}]
    >>> table = {"columns": columns, "order": ["colour", "age"], "sparse": False, "missing": "mean", "bits": 18}
    >>> found, places = settled(table, grown)
    >>> found["columns"][0]["categories"], found["columns"][2], places
    (['blue', 'red'], {'name': 'size', 'kind': 'number', 'fill': 0.0}, array([0, 2, 1, 3]))
    """
    plain = [dict(column) for column in preparation["columns"] if not is_hashed(column)]
    hashed = [dict(column) for column in preparation["columns"] if is_hashed(column)]
    columns = {column["name"]: column for column in plain}
    before: dict[str, list[int]] = {}
    place = 0
    for column in plain:
        width = len(column["categories"]) if column["kind"] == "category" else 1
        before[column["name"]] = list(range(place, place + width))
        place += width
    words = list(range(place, place + 2 ** preparation["bits"])) if hashed else []
    for added, (name, text) in enumerate(growth.features, place + len(words)):
        if name not in columns:
            columns[name] = {"name": name, "kind": "category", "categories": []}
            if text is None:
                columns[name] = {"name": name, "kind": "number", "fill": 0.0}
        if text is not None:
            columns[name]["categories"] = [*columns[name]["categories"], text]
        before.setdefault(name, []).append(added)
    order = [*preparation["order"], *(name for name in columns if name not in preparation["order"])]
    found = preparation | {"columns": [*columns.values(), *hashed], "order": order}
    places = [place for name in columns for place in before[name]] + words
    return found | {"sparse": preparation["sparse"] or bool(growth.features)}, np.array(places, np.int64)


def _no_value(name: str) -> Message:
    fill = Hint(": give {missing='zero'} or {missing='mean'} to fill it", otherwise=": fill it in the file")
    return Message("column {name} has no value{fill}", name=repr(name), fill=fill)


# Tables of sparse rows: each row has a list of column indices, ``indices``, and a list of ``values``.
#
# Column indices start at 0 and ascend. As in svmlight text, the largest index determines the number of columns.


LISTS = ("indices", "values")
_REASONS = {
    OUT_OF_RANGE: Message("an index is negative, missing or too large, expected 0 to {most}", most=MAX_COLUMNS - 1),
    UNSORTED: Message("an index is not above the index before it, expected ascending indices: sort the row"),
    NOT_FINITE: Message("a value is missing, NaN, infinite or too large for float64, expected finite numbers"),
}


def has_lists(columns: dict[str, pa.Array]) -> bool:
    """Return whether the columns of a table hold sparse rows."""
    return all(name in columns and _is_list(columns[name].type) for name in LISTS)


def _is_list(type_: pa.DataType) -> bool:
    types = import_arrow().types
    return types.is_list(type_) or types.is_large_list(type_)


class ListEncoder(Encoder):
    """Encode two columns of lists, one of column indices and one of values, as sparse rows.

    If the preparation has "n_features", rows have that many columns; entries beyond these are left out and counted.
    """

    def __init__(self, preparation: Preparation, labelled: bool = True, optional_labels: bool = False) -> None:
        super().__init__(preparation, labelled, optional_labels=optional_labels)
        self._width: int | None = preparation.get("n_features")
        self.n_features, self.fixed_width = self._width or 0, self._width is not None

    @property
    def preparation(self) -> Preparation:
        """The preparation, with the number of columns found so far, or None before the first row."""
        return self._preparation | {"n_features": self.n_features or None}

    @property
    def number_columns(self) -> None:
        """Always None, because features are not columns of the table."""
        return None

    @property
    def layout(self) -> ColumnLayout:
        """The columns to read."""
        labels = super().layout
        return ColumnLayout(dict.fromkeys(LISTS, "list") | labels.needed, labels.known)

    def feature_names(self, words: dict[int, str]) -> None:
        """Return None, because features have no names."""
        return None

    def fit_width(self, rows: EncodedRows) -> Features:
        """Return the features with the number of columns in the preparation, or else with all columns found so far."""
        assert is_sparse(rows.X)
        if self._width is None:
            # Rows that are left out do not affect the width.
            all_valid = len(rows.y) == rows.chunk.n
            width = rows.X.shape[1] if all_valid else 1 + int(rows.X.indices.max(initial=-1))
            self.n_features = max(self.n_features, width)
        X, beyond = fit_columns(rows.X, self.n_features)
        rows.unseen.update({"columns": beyond} if beyond else {})
        return X

    def _features(self, chunk: TableChunk, faults: Faults, counted: RowsToCount) -> Features:
        """Return the lists as CSR rows; rows that cannot be read become empty."""
        arrays = [chunk.columns[name] for name in LISTS]
        for name, array in zip(LISTS, arrays, strict=True):
            _check_type(array.type, name, chunk.where(0))
            faults.add(null_rows(array), Message("column {name} has no value", name=repr(name)))
        ends = [as_numpy(array.offsets) for array in arrays]
        unequal = np.diff(ends[0]) != np.diff(ends[1])
        faults.add(np.flatnonzero(unequal), Message("the two lists have different lengths"))
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
    """Raise a DataError unless the type is a list of numbers or of nulls, which is the type of empty lists."""
    types = import_arrow().types
    found, expected = f"{type_} values", "lists"
    if _is_list(type_):
        of, integers = type_.value_type, name == LISTS[0]
        if types.is_integer(of) or types.is_null(of) or (types.is_floating(of) and not integers):
            return
        found, expected = f"lists of {of}", f"lists of {'integers' if integers else 'numbers'}"
    what = "{where}: column {name} holds {found}, expected {expected}."
    raise DataError(what, where=where, name=repr(name), found=found, expected=expected)


def _emptied(array: pa.Array, faults: Faults) -> pa.Array:
    """Return an array of lists with the lists of rows in ``faults`` emptied."""
    pa = import_arrow()
    kept = np.delete(np.arange(len(array)), list(faults))
    sizes = np.zeros(len(array) + 1, np.int64)
    sizes[1 + kept] = np.diff(as_numpy(array.offsets))[kept]
    flat = array.take(numbers_to_arrow(kept)).flatten()
    return pa.LargeListArray.from_arrays(numbers_to_arrow(np.cumsum(sizes)), flat)


def _column_numbers(array: pa.Array) -> np.ndarray:
    """Return column indices as int32; missing indices, and indices too large for int32, become -1."""
    numbers = as_numpy(array)
    if numbers.dtype != np.int32:
        numbers = np.where((numbers < 0) | (numbers >= MAX_COLUMNS), -1, numbers).astype(np.int32)
    return replace_nulls(array, numbers, -1)


def _values(array: pa.Array) -> np.ndarray:
    """Return values as float32 or float64, with NaN for missing values."""
    values = as_numpy(array)
    if values.dtype not in (np.float32, np.float64):
        values = to_floats(values)
    return replace_nulls(array, values, np.nan)
