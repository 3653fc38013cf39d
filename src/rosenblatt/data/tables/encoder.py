"""Columns into features, by a preparation that was decided once: numbers, one column a category, hashed words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.data.tables.arrow_values import Faults, blame, labels_of, not_expected, numbers_of, texts_of, truths_of
from rosenblatt.data.tables.hashing import Hasher
from rosenblatt.data.tables.reader import Layout, Piece, arrow

__all__ = ["Encoder", "Rows"]


@dataclass
class Rows:
    """The rows of a piece as features and labels; those at fault are left out."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    places: np.ndarray
    faults: list[tuple[int, str]]
    """Places that have no row, and why, in order."""
    piece: Piece
    unseen: Counter[str]
    """How many categories of a column are none of those known."""
    names: dict[int, str]
    """Words met, by hashed column."""

    def before(self, place: int) -> Rows:
        """Return the rows before ``place``."""
        n = int(np.searchsorted(self.places, place))
        weight = None if self.weight is None else self.weight[:n]
        return Rows(self.X[:n], self.y[:n], weight, self.places[:n], [], self.piece, self.unseen, self.names)


class Encoder:
    """Turns columns into rows of features as a preparation says.

    Parameters
    ----------
    preparation : dict
        What ``kinds.decide`` returns: columns with kinds, categories and fill values, target, missing values, bits.
    labelled : bool
        Whether the target is there; otherwise labels are NaN.
    names : bool
        Whether to report the words that were hashed.
    """

    def __init__(self, preparation: dict[str, Any], labelled: bool = True, names: bool = False) -> None:
        self._preparation, self.labelled, self._names = preparation, labelled, names
        self._missing = tuple(preparation["missing_values"])
        columns = preparation["columns"]
        self._hashed = [
            c for c in columns if c["kind"] == "text" or (c["kind"] == "category" and "categories" not in c)
        ]
        self._plain = [c for c in columns if c not in self._hashed]
        self._hasher = Hasher(preparation["bits"], preparation["ngrams"]) if self._hashed else None
        self._offsets, self.fixed = [], 0
        for column in self._plain:
            self._offsets.append(self.fixed)
            self.fixed += len(column["categories"]) if column["kind"] == "category" else 1
        self._empty = [k for k, column in enumerate(self._plain) if column.get("categories") == []]
        self.n_features = self.fixed + (2 ** preparation["bits"] if self._hashed else 0)
        self.fixed_width = True

    @property
    def preparation(self) -> dict[str, Any]:
        """How rows are made."""
        return self._preparation

    @property
    def layout(self) -> Layout:
        """What has to be read."""
        p = self.preparation
        stored = {"number": "number", "integer": "number", "boolean": "boolean"}
        needed = {column["name"]: stored.get(column["kind"], "string") for column in p["columns"]}
        if self.labelled and p["target"] is not None:
            needed[p["target"]["name"]] = stored.get(p["target"]["kind"], "string")
        if p["weight"] is not None and self.labelled:
            needed[p["weight"]] = "number"
        others = {p["target"]["name"]} if p["target"] is not None else set()
        known = None if p["others"] else frozenset({*needed, *p["order"], *p["ignored"], *others})
        return Layout(needed, known)

    def feature_names(self, words: dict[int, str]) -> list[str] | None:
        """Return a name for each feature; a hashed one that no word is known for is ``#`` and its number."""
        names: list[str] = []
        for column in self._plain:
            if column["kind"] == "category":
                names += [f"{column['name']}={value}" for value in column["categories"]]
            else:
                names.append(column["name"])
        return names + [words.get(k) or f"#{k}" for k in range(self.n_features - self.fixed)]

    def fitted(self, rows: Rows) -> Any:
        """Return the features of the rows that come next; rows are passed through here in their order."""
        return rows.X

    def encode(self, piece: Piece) -> Rows:
        """Return the rows of a piece. Several threads do so at once."""
        faults: Faults = {}
        unseen: Counter[str] = Counter()
        X = self._features(piece, faults, unseen)
        words: dict[int, str] = {}
        if self._hasher is not None:
            X, words = self._with_words(piece, X, faults)
        y, weight = self._labels(piece, faults)
        places = np.arange(piece.n) if piece.places is None else piece.places
        found = [(int(places[row]), reason) for row, reason in faults.items()]
        if found:
            kept = np.delete(np.arange(piece.n), list(faults))
            X, y, places = X[kept], y[kept], places[kept]
            weight = None if weight is None else weight[kept]
        return Rows(X, y, weight, places, sorted(found + piece.broken), piece, unseen, words)

    def _features(self, piece: Piece, faults: Faults, unseen: Counter[str]) -> Any:
        """Return all features that are not hashed."""
        n, plain = piece.n, self._plain
        values = np.zeros((n, len(plain)))
        codes = {}
        for k, column in enumerate(plain):
            array, name = piece.columns[column["name"]], column["name"]
            if column["kind"] == "category":
                codes[k] = self._codes(array, column, faults, unseen)
                values[:, k] = codes[k] >= 0
                continue
            read = truths_of if column["kind"] == "boolean" else numbers_of
            values[:, k], bad = read(array, self._missing)
            expected = "true or false" if column["kind"] == "boolean" else "a number (or missing_values= with it)"
            blame(faults, bad, partial(not_expected, array, name, expected))
        if not np.isfinite(values).all():
            self._fill(values, faults)
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

    def _codes(self, array: Any, column: dict[str, Any], faults: Faults, unseen: Counter[str]) -> np.ndarray:
        """Return the number of each category, -1 where it is missing or unknown."""
        pa, pc = arrow(), arrow(".compute")
        texts = texts_of(array, self._missing)
        self._refuse_missing(texts, column["name"], faults)
        codes = pc.index_in(texts, pa.array(column["categories"], pa.string()))
        unseen[column["name"]] += codes.null_count - texts.null_count
        return codes.fill_null(-1).to_numpy()

    def _refuse_missing(self, texts: Any, name: str, faults: Faults) -> None:
        if self._preparation["missing"] == "error" and texts.null_count:
            bad = np.flatnonzero(texts.is_null().to_numpy(zero_copy_only=False))
            blame(faults, bad.tolist(), partial(_no_value, name))

    def _fill(self, values: np.ndarray, faults: Faults) -> None:
        """Put fill values where numbers are missing, and blame rows with infinite ones."""
        for k, column in enumerate(self._plain):
            x = values[:, k]
            infinite = np.flatnonzero(np.isinf(x))
            blame(faults, infinite.tolist(), partial(_too_large, column["name"]))
            x[infinite] = 0.0
            missing = np.isnan(x)
            if missing.any():
                if self._preparation["missing"] == "error":
                    bad = np.flatnonzero(missing).tolist()
                    blame(faults, bad, partial(_no_value, column["name"]))
                x[missing] = column.get("fill", 0.0)

    def _with_words(self, piece: Piece, X: Any, faults: Faults) -> tuple[Any, dict[int, str]]:
        """Return the features with the hashed ones after them, and the words met."""
        assert self._hasher is not None
        every: list[list[list[str]]] = []
        hashed: Any = sp.csr_array((piece.n, self.n_features - self.fixed))
        for column in self._hashed:
            name = column["name"]
            texts = texts_of(piece.columns[name], self._missing)
            if column["kind"] == "text":
                every.append(self._hasher.words(name, texts.to_pylist()))
                hashed = hashed + self._hasher.counted(every[-1])
                continue
            self._refuse_missing(texts, name, faults)
            hashed = hashed + self._hashed_codes(name, texts)
            if self._names:
                every.append([[] if text is None else [f"{name}={text}"] for text in texts.to_pylist()])
        both = sp.csr_array(sp.hstack([X, hashed], format="csr"))
        both.has_canonical_format = True
        return both, self._hasher.names(every) if self._names else {}

    def _hashed_codes(self, name: str, texts: Any) -> sp.csr_array:
        """Return a row with one 1 for each category, none where it is missing."""
        assert self._hasher is not None
        coded = texts.dictionary_encode()
        places = self._hasher.places([f"{name}={text}" for text in coded.dictionary.to_pylist()])
        there = texts.is_valid().to_numpy(zero_copy_only=False)
        indptr = np.concatenate([[0], np.cumsum(there)]).astype(np.int32)
        columns = places[coded.indices.drop_null().to_numpy()].astype(np.int32)
        return sp.csr_array((np.ones(len(columns)), columns, indptr), shape=(len(texts), self.n_features - self.fixed))

    def _labels(self, piece: Piece, faults: Faults) -> tuple[np.ndarray, np.ndarray | None]:
        target, weight = self._preparation["target"], None
        if not self.labelled or target is None:
            return np.full(piece.n, np.nan), None
        if self._preparation["weight"] is not None:
            name = self._preparation["weight"]
            weight, bad = numbers_of(piece.columns[name], self._missing)
            bad = sorted({*bad, *np.flatnonzero(~(weight >= 0.0) | np.isinf(weight)).tolist()})
            blame(faults, bad, partial(not_expected, piece.columns[name], name, "a weight of 0 or more"))
        return labels_of(piece.columns[target["name"]], target, self._missing, faults), weight


def _no_value(name: str, row: int) -> str:
    return f'column {name!r} has no value: say missing="zero" or missing="mean" to fill it.'


def _too_large(name: str, row: int) -> str:
    return f"column {name!r} holds a number that is infinite or too large for float64, expected finite numbers."
