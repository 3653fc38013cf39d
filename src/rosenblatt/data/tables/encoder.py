"""Columns into features, as a preparation says: numbers, a feature for each category, hashed words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import Features
from rosenblatt.data.preparations import is_hashed
from rosenblatt.data.row_source import Preparation
from rosenblatt.data.tables.arrow_arrays import as_numpy, import_arrow, null_rows, replace_nulls, strings_to_arrow
from rosenblatt.data.tables.arrow_values import (
    Faults,
    Reason,
    no_advice,
    parse_labels,
    parse_numbers,
    parse_strings,
)
from rosenblatt.data.tables.column_kinds import parser_of
from rosenblatt.data.tables.encoded_rows import EncodedRows, RowsToCount
from rosenblatt.data.tables.hashing import Hasher
from rosenblatt.data.tables.reader import ColumnLayout, TableChunk
from rosenblatt.data.tables.separators import comma_advice
from rosenblatt.parameters import IfAvailable, Setting

if TYPE_CHECKING:
    import pyarrow as pa

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
        return EncodedRows(X, y, weight, places, found, chunk, counted.counts(faults.sound), words)

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
            advice = comma_advice if column["kind"] == "number" else no_advice
            faults.add_unexpected(bad, array, name, expected, advice)
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
