"""The schema of a table, inferred from its first rows and kept as plain data, a preparation.

What only the owner of a table can answer is asked in one message.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.blocks import DataError, is_sparse
from rosenblatt.data.preparation import KINDS, MOST_BITS, MOST_NGRAMS
from rosenblatt.data.source import OpenRequest, Preparation, check_missing
from rosenblatt.data.tables.column_kinds import (
    PARSERS,
    UnclearColumn,
    infer_kind,
    integers_like_ids,
    label_kind,
    numeric_columns,
    parser_of,
    regression_question,
    strings_like_ids,
)
from rosenblatt.data.tables.encoder import LISTS, Encoder, has_lists
from rosenblatt.data.tables.reader import TableChunk, join_names, suggestion
from rosenblatt.data.tables.values import (
    SEPARATED,
    import_arrow,
    is_number_type,
    is_unsupported_type,
    order_of,
    parse_numbers,
    parse_strings,
    plain_text,
    strings_to_arrow,
)
from rosenblatt.messages import (
    IfAvailable,
    ParameterError,
    Phrase,
    Setting,
    check_choice,
    check_integer,
    shorten,
    show_text,
)

if TYPE_CHECKING:
    import pyarrow as pa


_MOST_NAMED = 20
"""Unclear columns that are named one by one."""


def find_column(column: str | int | None, order: list[str], use: str, file: str, header: bool | None) -> str | None:
    """Return the name of a column that is given by its name or its number, for its ``use`` in a message."""
    if column is None or (isinstance(column, str) and column in order):
        return column
    if isinstance(column, int) and -len(order) <= column < len(order):
        return order[column]
    shown = f"{column!r}{suggestion(column, order)}" if isinstance(column, str) else f"number {column}"
    purpose = f" for the {use}" if use in ("target", "weight") else ""
    hint: tuple[Phrase, ...] = ()
    several = [part.strip() for part in column.split(",")] if isinstance(column, str) else []
    if use in ("drop", "keep") and len(several) > 1 and set(several) <= set(order):
        hint = ": name columns one by one, ", Setting(use, several), "."
        raise ParameterError(f"{file} has no column {column!r}", *hint)
    if header is not None:
        what = "their names" if header else "data, not for their names"
        hint = f" (its first line was taken for {what}: give ", Setting("header", not header), " if that is wrong)"
    raise ParameterError(f"{file} has no column {shown}{purpose}: its columns are {join_names(order)}", *hint, ".")


class Questions:
    """The questions about a table, each as the pieces of a sentence without its full stop."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.asked: list[tuple[Phrase, ...]] = []
        self.no_target: ParameterError | None = None

    def ask_target(self, order: list[str]) -> None:
        """Ask which column is the label."""
        unlabelled = IfAvailable("labels", "; or ", Setting("labels", False), " for rows without labels")
        ways = Setting("target"), f", one of {join_names(order)}", unlabelled
        self.no_target = ParameterError(f"which column of {self._file} is the label? Give ", *ways, ".")
        self.asked.append(("which column is the label? Give ", *ways))

    def ask_columns(self, unclear: dict[str, UnclearColumn], may_drop: bool = False) -> None:
        """Ask what some columns are; whether those that are no numbers may be left out all at once."""
        several = {name: column for name, column in unclear.items() if len(column.suggestions) > 1}
        others = {name: column for name, column in unclear.items() if name not in several}
        if others:
            at_once = may_drop and not any(column.question for column in others.values())
            drop = Setting("on_ambiguous", "drop")
            drop_all = IfAvailable("on_ambiguous", "; ", drop, " leaves out all such columns")
            self.asked.append((*_what_they_are(others), *((drop_all,) if at_once else ())))
        for name, column in islice(several.items(), _MOST_NAMED):
            settings = [Setting("column_types", {name: kind}) for kind in column.suggestions]
            ways: list[Phrase] = [settings[0]]
            for setting in settings[1:]:
                ways += [" or ", setting]
            self.asked.append((f"column {name!r} {column.clause}: give ", *ways))

    def ask_missing(self, counts: dict[str, int], rows: int) -> None:
        """Ask what to put where numbers are missing."""
        some = ", ".join(f"{name!r} ({count:,})" for name, count in islice(counts.items(), _MOST_NAMED))
        more = " and others" if len(counts) > _MOST_NAMED else ""
        ways = Setting("missing", "zero"), " or ", Setting("missing", "mean"), " to fill them"
        self.asked.append((f"values are missing in the first {rows:,} rows of {some}{more}: give ", *ways))

    def error(self) -> ParameterError:
        """Return one error with all questions."""
        if self.no_target is not None and len(self.asked) == 1:
            return self.no_target
        first, *others = self.asked
        pieces: list[Phrase] = [f"{self._file}: ", *first, "."]
        for start, *rest in others:
            pieces += [f" {str(start)[0].upper()}{str(start)[1:]}", *rest, "."]
        return DataError(*pieces)


def _what_they_are(unclear: dict[str, UnclearColumn]) -> tuple[Phrase, ...]:
    if len(unclear) > _MOST_NAMED:
        some = ", ".join(map(shorten, islice(unclear, _MOST_NAMED)))
        what = f"it is unclear what {len(unclear):,} columns are ({some} and others)"
        return f"{what}: leave out what is no feature by ", Setting("drop")
    clauses = {
        name: f"{column.clause} (write them as {column.rewrite})" if column.rewrite else column.clause
        for name, column in unclear.items()
    }
    what = "; ".join(f"column {name!r} {clause}" for name, clause in clauses.items())
    suggested = {name: column.suggestions[0] for name, column in unclear.items() if column.suggestions}
    hint: tuple[Phrase, ...] = (", or give ", Setting("column_types", suggested)) if suggested else ()
    words = sorted({word for column in unclear.values() for word in column.words})
    if words:
        missing = Setting("missing_values", words), " if that stands for a missing value"
        hint += (IfAvailable("missing_values", ", or ", *missing),)
    return f"{what}: leave out what is no feature by ", Setting("drop", list(unclear)), *hint


_MOST_EXCLUDED_NAMED = 8
"""Columns that are named with a reason."""
UNUSABLE = "and cannot be used as a feature"
"""How the reason ends where a column cannot be kept either."""
_REWRITE = "write them as"
"""What the reason says where a column could be kept if its values were written otherwise."""


def excluded_note(excluded: Mapping[str, str]) -> tuple[Phrase, ...]:
    """Return a sentence about the columns that were left out, of ``stream.excluded``, and how to keep one.

    Examples
    --------
    >>> from rosenblatt.messages import ParameterError
    >>> left_out = {"PassengerId": "counts the rows: 1, 2, 3, ...", "Booked": "holds dates, such as '1912-08-05'"}
    >>> print(ParameterError(*excluded_note(left_out)))
    left out: PassengerId (counts the rows: 1, 2, 3, ...), Booked (holds dates, such as '1912-08-05');
    keep=['Booked'] uses that column.
    """
    if not excluded:
        return ()
    named = [f"{show_text(name)} ({reason})" for name, reason in islice(excluded.items(), _MOST_EXCLUDED_NAMED)]
    more = len(excluded) - len(named)
    others = f" and {more:,} more" if more else ""
    sentence = f"left out: {', '.join(named)}{others}"
    usable = [name for name, reason in excluded.items() if is_usable(reason)]
    if not usable:
        return (f"{sentence}.",)
    return f"{sentence}; ", Setting("keep", usable[-1:]), " uses it." if len(excluded) == 1 else " uses that column."


def is_usable(reason: str | None) -> bool:
    """Return whether a column that was left out for a reason could be kept; False if it was not left out."""
    return reason is not None and not reason.endswith(UNUSABLE) and _REWRITE not in reason


def why_excluded(column: UnclearColumn) -> str:
    """Return why an unclear column is left out, and what can be done about it where it cannot be kept as it is.

    Examples
    --------
    >>> why_excluded(UnclearColumn("holds lists"))
    'holds lists, and cannot be used as a feature'
    """
    if column.rewrite:
        return f"{column.clause}: {_REWRITE} {column.rewrite}"
    return column.clause if column.best else f"{column.clause}, {UNUSABLE}"


def check_table_options(request: OpenRequest) -> None:
    """Raise an error unless the options for the columns of a table can be meant."""
    for name in ("columns", "drop", "keep", "missing_values"):
        if isinstance(value := getattr(request, name), str):
            hint = "give ", Setting(name, [value]), "."
            raise ParameterError(Setting(name), f" must be a list of strings, got {value!r}: ", *hint)
    check_choice("categories", request.categories, ("onehot", "hash"))
    check_missing(request.missing)
    check_integer("bits", request.bits, 1, most=MOST_BITS)
    check_integer("ngrams", request.ngrams, 1, most=MOST_NGRAMS)
    both = [name for name in request.keep if name in request.drop]
    if both:
        what = f" name the column {both[0]!r}: a column is kept or left out."
        raise ParameterError(Setting("keep"), " and ", Setting("drop"), " both", what)
    for name, kind in request.column_types.items():
        if kind not in KINDS and (isinstance(kind, str) or not isinstance(kind, Sequence)):
            allowed = f" of {name!r} must be one of {join_names(KINDS)}", IfAvailable("columns", ", or categories")
            raise ParameterError(Setting("column_types"), *allowed, f", got {shorten(kind)}.")
    request.missing_values = tuple(map(str, request.missing_values))


_KEPT_FIRST = ("number", "text", "date", "category")
"""Which of the columns that would be left out are used after all if there is no other."""


class Schema(NamedTuple):
    """What is known about the columns of a table."""

    preparation: Preparation
    excluded: dict[str, str]
    """The columns that were left out unasked, and why."""
    questions: list[tuple[Phrase, ...]]
    """What would have been an error, where a table is only described."""


def infer_schema(
    head: TableChunk, order: list[str], typed: bool, options: OpenRequest, header: bool | None = None
) -> Schema:
    """Return the schema of a table, given its first rows and the names of its columns.

    Raises
    ------
    DataError
        If it is unclear how some columns become features, with all that is unclear: dates, nested values, numbers
        mixed with other values, strings that are nearly all different; what is the label; what to put where numbers
        are missing. With ``on_ambiguous="drop"`` only for what nobody would leave out.
    """
    file = options.file
    questions = Questions(file)
    target = find_column(options.target, order, "target", file, header)
    weight = find_column(options.weight, order, "weight", file, header)
    for use in ("drop", "keep", "columns", "column_types"):
        for name in getattr(options, use) or ():
            find_column(name, order, use, file, header)
    if target is None and options.labels:
        questions.ask_target(order)
    unused = {*options.drop, target, weight}
    used = [name for name in (order if options.columns is None else options.columns) if name not in unused]
    if not used:
        raise ValueError(f"no column of {file} is left to learn from: its columns are {join_names(order)}.")
    lists = _has_lists_only(head, used, file)
    columns = _Columns(head, order, typed, options, header)
    columns.find([] if lists else used)
    questions.ask_columns(columns.unclear, may_drop=options.on_ambiguous == "error")
    missing = tuple(options.missing_values)
    kind = None
    if target is not None:
        kind = label_kind(head, target, typed, options.column_types.get(target), missing, file)
        regression = None if target in options.column_types else regression_question(head, target, typed, missing)
        questions.asked += [regression] if regression and options.labels else []
    described = options.on_ambiguous == "note"
    if questions.asked and not described:
        if options.missing == "error" and (gaps := columns.missing_counts()):
            questions.ask_missing(gaps, head.n)
        raise questions.error()
    if not columns.entries and not lists and not described:
        reasons = "; ".join(f"column {name!r} {reason}" for name, reason in columns.excluded.items())
        raise DataError(f"no column of {file} is left to learn from: {reasons}.")
    kept = {*used, target, weight}.difference(columns.excluded, columns.unclear)
    preparation: Preparation = {
        "order": order,
        "target": None if target is None else {"name": target, "kind": kind},
        "weight": weight,
        "columns": columns.entries,
        "ignored": [name for name in order if name not in kept],
        "others": options.columns is not None,
        "missing": options.missing,
        "missing_values": list(missing),
        "bits": options.bits,
        "ngrams": options.ngrams,
        "sparse": True,
        "lists": lists,
    }
    if not lists:
        preparation["sparse"] = _is_sparse(head, preparation)
    return Schema(preparation, columns.excluded, questions.asked)


def _has_lists_only(head: TableChunk, used: list[str], file: str) -> bool:
    """Return whether rows are sparse, in columns of lists; an error if there are other columns too."""
    lists = set(LISTS) <= set(used) and has_lists(head.columns)
    others = [name for name in used if name not in LISTS]
    if lists and others:
        ways = Setting("drop", others), ", or learn from them alone by ", Setting("drop", list(LISTS)), "."
        what = f"{file} has sparse rows in its columns {' and '.join(LISTS)}, and other columns"
        raise DataError(f"{what}: leave these out by ", *ways)
    return lists


class _Columns:
    """The columns that features are made of, those that are left out, and those that are unclear."""

    def __init__(
        self, head: TableChunk, order: list[str], typed: bool, options: OpenRequest, header: bool | None
    ) -> None:
        self._head, self._order, self._typed, self._options, self._header = head, order, typed, options, header
        self._missing = tuple(options.missing_values)
        self.entries: list[dict[str, Any]] = []
        self.excluded: dict[str, str] = {}
        self.unclear: dict[str, UnclearColumn] = {}

    def find(self, used: list[str]) -> None:
        """Decide about each of the columns ``used``."""
        options = self._options
        numeric = set() if self._typed else numeric_columns(self._head, used, self._missing)
        numbered = {name for k, name in enumerate(self._order) if name == f"c{k + 1}"} if self._header else set()
        best: dict[str, str] = {}
        for name in used:
            if name in options.column_types and not is_unsupported_type(self._head.columns[name].type):
                self.entries.append(self._entry(name, options.column_types[name]))
                continue
            kind: str | UnclearColumn = "number"
            if name not in numeric:
                kind = infer_kind(self._head, name, self._typed, self._missing, options.categories)
            if kind == "number" and name in numbered and _counts_rows(self._head.columns[name]):
                kind = UnclearColumn("has no name and counts the rows", ("number",), "number")
            if name not in options.keep and options.on_ambiguous != "error":
                kind = self._like_id(name, kind) or kind
            if isinstance(kind, str):
                self.entries.append(self._entry(name, kind))
            elif kind.question or (options.on_ambiguous == "error" and name not in options.keep):
                self.unclear[name] = kind
            elif kind.best == "hash" or (kind.best and name in options.keep):
                self.entries.append(self._entry(name, kind.best))
            elif name in options.keep:
                self.unclear[name] = kind
            else:
                self.excluded[name] = why_excluded(kind)
                best[name] = kind.best
        if not self.entries and not self.unclear:
            self._use_some(best)

    def _like_id(self, name: str, kind: str | UnclearColumn) -> UnclearColumn | None:
        """Return why a column looks like an id, None if it does not."""
        array = self._head.columns[name]
        if kind == "number":
            clause = integers_like_ids(array, self._missing)
            return UnclearColumn(clause, best="number") if clause else None
        if kind in ("text", "category") or (isinstance(kind, UnclearColumn) and kind.best == "text"):
            values = [text for text in parse_strings(array, self._missing).to_pylist() if text is not None]
            clause = strings_like_ids(values)
            return UnclearColumn(clause, best="text") if clause else None
        return None

    def _use_some(self, best: dict[str, str]) -> None:
        """Use some of the columns that would be left out, as there is no other: numbers if there are any."""
        for kind in _KEPT_FIRST:
            some = [name for name in best if best[name] == kind]
            if some:
                self.entries = [self._entry(name, kind) for name in some]
                self.excluded = {name: clause for name, clause in self.excluded.items() if name not in some}
                return

    def missing_counts(self) -> dict[str, int]:
        """Return how many values are missing in the first rows, for each column of numbers or categories with some."""
        counts = {}
        for column in self.entries:
            array, kind = self._head.columns[column["name"]], column["kind"]
            if kind in PARSERS:
                values, bad = parser_of(column)(array, self._missing)
                counts[column["name"]] = int(np.isnan(values).sum()) - len(bad)
            elif kind == "category":
                counts[column["name"]] = parse_strings(array, self._missing).null_count
        return {name: count for name, count in counts.items() if count > 0}

    def _entry(self, name: str, kind: str | Sequence[str]) -> dict[str, Any]:
        return _column(self._head, name, kind, self._options)


def _counts_rows(array: pa.Array) -> bool:
    """Return whether a column counts the rows, as the index that pandas writes before the others."""
    values, _ = parse_numbers(array, ())
    return len(values) > 2 and bool((np.diff(values) == 1.0).all())


def _column(head: TableChunk, name: str, kind: str | Sequence[str], options: OpenRequest) -> dict[str, Any]:
    """Return the entry for one column in the preparation."""
    array, missing = head.columns[name], tuple(options.missing_values)
    if not isinstance(kind, str):
        given = [plain_text(value) if isinstance(value, bool | float) else str(value) for value in kind]
        texts = parse_strings(strings_to_arrow(given), missing).to_pylist()  # as those of the rows
        return {
            "name": name,
            "kind": "category",
            "categories": [text for text in dict.fromkeys(texts) if text is not None],
        }
    if kind in SEPARATED and is_number_type(array.type):
        given_kind = Setting("column_types", {name: kind})
        raise ParameterError(given_kind, f" is for numbers in text, but column {name!r} holds numbers: leave it out.")
    if kind == "hash":
        return {"name": name, "kind": "category"}
    column: dict[str, Any] = {"name": name, "kind": kind}
    if kind == "category" and options.categories == "onehot":
        column["categories"] = sorted({text for text in parse_strings(array, missing).to_pylist() if text is not None})
    if kind == "date" and not import_arrow().types.is_temporal(array.type):
        column |= _date_order(array, name, missing)
    if kind in PARSERS and options.missing != "error":
        column["fill"] = _mean(array, column, missing) if options.missing == "mean" else 0.0
    return column


def _date_order(array: pa.Array, name: str, missing: tuple[str, ...]) -> dict[str, str]:
    """Return the order of day and month as an entry has it, nothing where the year comes first."""
    form = order_of(text for text in parse_strings(array, missing).to_pylist() if text is not None)
    if form.unclear:
        raise DataError(f"column {name!r} {form.unclear}: write them as {form.example}.")
    return {"order": form.order} if form.order else {}


def _mean(array: pa.Array, column: dict[str, Any], missing: tuple[str, ...]) -> float:
    """Return the mean of the numbers that are not missing, rounded once; 0 if there are none."""
    values, _ = parser_of(column)(array, missing)
    values = values[np.isfinite(values)]
    try:
        return math.fsum(values.tolist()) / max(1, len(values))
    except OverflowError:
        return math.fsum((values / len(values)).tolist())


def _is_sparse(head: TableChunk, preparation: dict[str, Any]) -> bool:
    """Return whether rows are CSR: if columns are hashed, or fewer than a quarter of the features are not 0."""
    encoder = Encoder(preparation)
    if encoder.n_features != encoder.fixed:
        return True
    if all(column["kind"] != "category" for column in preparation["columns"]):
        return False
    X = encoder.encode(head).X
    assert is_sparse(X)
    return 4 * X.nnz < X.shape[0] * X.shape[1]
