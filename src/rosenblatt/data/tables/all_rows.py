"""The schema of a table from all of its rows: categories, fill values, and kinds that the first rows do not show.

The first rows decide what each column is. Then one pass over all rows finds the categories and means that the first
rows do not show. Counts and exact sums do not depend on the order of the rows, nor on how files are cut into blocks.
Memory is bounded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.source import ColumnEntry, OpenRequest, Preparation
from rosenblatt.data.tables.column_kinds import MOST_CATEGORIES, AmbiguousColumn, kind_of_strings, parser_of
from rosenblatt.data.tables.encoder import Encoder, RowsToCount
from rosenblatt.data.tables.reader import TableChunk
from rosenblatt.data.tables.schema import (
    Ambiguities,
    exclusion_reason,
    hashed_note,
    is_sparse_table,
    kind_to_use,
    no_columns,
)
from rosenblatt.data.tables.values import Faults, as_numpy, parse_strings, replace_nulls
from rosenblatt.messages import Message
from rosenblatt.scaling import ColumnSums

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_TEXTS = 10 * MOST_CATEGORIES
"""The maximum number of distinct values of a column that are kept.

This exceeds the maximum number of categories, because values in rows that are held out or left out are kept too.
"""
_MISSING, _BEYOND = -1, -2
"""The codes of a missing category, and of a text that is not kept."""


class ValueEncoder(Encoder):
    """An encoder whose features are the values of the columns, from which a schema is determined.

    The feature of a column of numbers contains these numbers, NaN if missing. The feature of a column of categories
    contains the codes in ``texts``. Columns that are hashed have no features here.

    Parameters
    ----------
    preparation : dict
        The preparation that was made from the first rows.
    labelled : bool
        Whether the files have the target.
    given : mapping
        The kinds or categories of columns that the user has given, which do not change.
    count_others : bool
        Whether cells that are not numbers, in columns of numbers, are only counted. Otherwise they are faults.
    """

    def __init__(
        self, preparation: Preparation, labelled: bool, given: Mapping[str, str | Sequence[str]], count_others: bool
    ) -> None:
        columns = [column | ({"fill": math.nan} if "fill" in column else {}) for column in preparation["columns"]]
        super().__init__(preparation | {"columns": columns}, labelled)
        self._hasher, self.n_features = None, len(self._plain)
        self._given, self._count_others, self._lock = given, count_others, Lock()
        self.numbers = {column["name"]: k for k, column in enumerate(self._plain) if column["kind"] != "category"}
        """The index of the feature of each column of numbers."""
        self.categories = {column["name"]: k for k, column in enumerate(self._plain) if column["kind"] == "category"}
        """The index of the feature of each column of categories."""
        self.texts: dict[str, dict[str, int]] = {name: {} for name in self.categories}
        """For each column of categories, the code of each text."""
        self._known: Counter[str] = Counter()
        self._others: Counter[str] = Counter()

    def mistaken(self) -> list[str]:
        """Return the columns of numbers in which a tenth of the values or more are not numbers."""
        return [name for name, others in self._others.items() if self._known[name] <= 9 * others]

    @property
    def has_others(self) -> bool:
        """Whether columns of numbers had cells that are not numbers."""
        return bool(self._others)

    def _features(self, chunk: TableChunk, faults: Faults, counted: RowsToCount) -> np.ndarray:
        values = np.zeros((chunk.n, len(self._plain)))
        for k, column in enumerate(self._plain):
            array = chunk.columns[column["name"]]
            if column["kind"] != "category":
                values[:, k] = self._numbers(array, column, faults)
                continue
            texts = parse_strings(array, self._missing)
            self._note_missing(texts, column["name"], faults, counted)
            values[:, k] = self._codes_of(texts, self.texts[column["name"]])
        for name in [column["name"] for column in self._hashed if column["kind"] == "category"]:
            self._note_missing(parse_strings(chunk.columns[name], self._missing), name, faults, counted)
        if not np.isfinite(values).all():
            self._fill(values, faults, counted)
        return values

    def _numbers(self, array: pa.Array, column: ColumnEntry, faults: Faults) -> np.ndarray:
        name = column["name"]
        if not self._count_others or name in self._given:
            return super()._numbers(array, column, faults)
        values, bad = parser_of(column)(array, self._missing)
        with self._lock:
            self._known[name] += int(np.count_nonzero(~np.isnan(values)))
            self._others.update({name: len(bad)} if bad else {})
        return values

    def _codes_of(self, texts: pa.Array, known: dict[str, int]) -> np.ndarray:
        coded = texts.dictionary_encode()
        with self._lock:  # the order of the codes depends on the threads, but no result does
            for text in coded.dictionary.to_pylist() if len(known) < _MOST_TEXTS else ():
                if len(known) < _MOST_TEXTS:
                    known.setdefault(text, len(known))
        codes = np.array([*(known.get(text, _BEYOND) for text in coded.dictionary.to_pylist()), _MISSING], np.int64)
        return codes[replace_nulls(coded.indices, as_numpy(coded.indices), len(codes) - 1)]


class ColumnSummaries:
    """Summaries of each column over all rows: counts of missing values, exact sums, and counts of each category.

    Parameters
    ----------
    encoder : ValueEncoder
        The encoder of the rows.
    summed : bool
        Whether the sums of numbers are needed, for means or for a scale.
    """

    def __init__(self, encoder: ValueEncoder, summed: bool) -> None:
        self._encoder, self.rows = encoder, 0
        self._sums = ColumnSums("standard") if summed else None
        self._places = {name: place for place, name in enumerate(encoder.numbers)}
        self._missing = np.zeros(len(self._places), np.int64)
        self._nonzero = np.zeros(len(self._places), np.int64)
        self._counts = {name: np.zeros(2, np.int64) for name in encoder.categories}
        """For each column of categories, the number of rows with each code; the first code is ``_BEYOND``."""

    def add(self, X: np.ndarray) -> None:
        """Add rows that the encoder has made."""
        self.rows += len(X)
        numbers = X[:, list(self._encoder.numbers.values())]
        missing = np.isnan(numbers)
        self._missing += missing.sum(axis=0)
        numbers[missing] = 0.0
        self._nonzero += np.count_nonzero(numbers, axis=0)
        if self._sums is not None:
            self._sums.add(numbers)
        for name, k in self._encoder.categories.items():
            counts = np.bincount(X[:, k].astype(np.int64) - _BEYOND, minlength=len(self._counts[name]))
            counts[: len(self._counts[name])] += self._counts[name]
            self._counts[name] = counts

    def mean(self, name: str) -> float:
        """Return the mean of a column of numbers, from its exact sum; 0 if all values are missing."""
        assert self._sums is not None
        place = self._places[name]
        known = self.rows - int(self._missing[place])
        total = self._sums.total(place)
        try:
            return float(total) / max(1, known)
        except OverflowError:
            return float(total / known)

    def texts(self, name: str) -> Counter[str]:
        """Return the number of rows with each text of a column of categories, in alphabetical order of the texts."""
        counts = self._counts[name][-_BEYOND:].tolist()
        codes = sorted(self._encoder.texts[name].items())
        return Counter({text: counts[code] for text, code in codes if code < len(counts) and counts[code]})

    def has_more_texts(self, name: str) -> bool:
        """Return whether a column has more different texts than are kept."""
        return bool(self._counts[name][0])

    def is_sparse(self, preparation: Preparation) -> bool:
        """Return whether the rows of a preparation are stored as CSR."""
        columns, nonzero = preparation["columns"], 0
        for column in columns:
            if column["name"] in self._places:
                place = self._places[column["name"]]
                nonzero += int(self._nonzero[place]) + (int(self._missing[place]) if column.get("fill") else 0)
            elif column.get("categories"):
                counts = self.texts(column["name"])
                nonzero += sum(counts[text] for text in column["categories"])
        return is_sparse_table(columns, nonzero, self.rows)

    def sums(self, columns: list[ColumnEntry]) -> ColumnSums | None:
        """Return the sums of all columns of numbers among ``columns``, with missing values filled in."""
        if self._sums is None:
            return None
        some = [column for column in columns if column["kind"] not in ("boolean", "category", "text")]
        places = [self._places[column["name"]] for column in some]
        sums = self._sums.select(places)
        sums.fill(np.array([column.get("fill", 0.0) for column in some]), self._missing[places])
        return sums


def complete(
    preparation: Preparation, summaries: ColumnSummaries, mistaken: Collection[str], options: OpenRequest
) -> tuple[Preparation, dict[str, str], list[Message]]:
    """Return the completed preparation, the columns that are now left out, mapped to the reasons, and notes.

    Categories and fill values are computed from all rows. ``mistaken`` are columns of numbers that turned out to hold
    strings. These columns, and columns with too many categories, are treated as if the first rows had shown this.
    """
    ambiguities = Ambiguities(options.file)
    ambiguous: dict[str, AmbiguousColumn] = {}
    excluded: dict[str, str] = {}
    columns: list[ColumnEntry] = []
    notes: list[Message] = []
    for column in preparation["columns"]:
        name, entry = column["name"], dict(column)
        if "fill" in column and options.missing == "mean":
            entry["fill"] = summaries.mean(name)
        if "categories" in column and isinstance(options.column_types.get(name, ""), str):
            counts, more = summaries.texts(name), summaries.has_more_texts(name)
            kind: str | AmbiguousColumn = "category"
            if name in options.column_types:
                _check_number(name, more, options)
            elif counts and (more or len(counts) > MOST_CATEGORIES or name in mistaken):
                kind = kind_of_strings(counts, options.categories, more)
            use = kind_to_use(name, kind, options)
            if not use and isinstance(kind, AmbiguousColumn):
                if use is None:
                    ambiguous[name] = kind
                else:
                    excluded[name] = exclusion_reason(kind)
                continue
            entry = {"name": name, "kind": "category" if use == "hash" else use}
            if use == "hash" and isinstance(kind, AmbiguousColumn) and name not in options.keep:
                notes.append(Message("{file}: {what}.", file=options.file, what=hashed_note(name, kind)))
            if use == "category" and options.categories == "onehot":
                entry["categories"] = list(counts)
        columns.append(entry)
    if ambiguous:
        ambiguities.add_columns(ambiguous, may_drop=options.on_ambiguous == "error")
    ambiguities.add_same_names(columns, options.bits)
    if ambiguities.found:
        raise ambiguities.error()
    if not columns:
        raise no_columns(options.file, excluded)
    ignored = [name for name in preparation["order"] if name in excluded or name in preparation["ignored"]]
    completed = preparation | {"columns": columns, "ignored": ignored}
    return completed | {"sparse": summaries.is_sparse(completed)}, excluded, notes


def _check_number(name: str, more: bool, options: OpenRequest) -> None:
    """Raise a DataError if a column given as categories has too many different values; ``more`` tells this."""
    if more:
        what = (
            "{file}: column {name} has more than {most:,} different values, expected fewer categories: list those to "
        )
        what += "use with {column_types}, or give {categories='hash'}."
        raise DataError(what, file=options.file, name=repr(name), most=_MOST_TEXTS)
