"""Inference of the schema of a table from its first rows.

The schema is stored as plain data in the stream's ``preparation``, with which other files are read in the same way. One
error lists everything that is ambiguous.
"""

from __future__ import annotations

import math
import re
from ast import literal_eval
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.blocks import DataError, is_sparse
from rosenblatt.data.preparation import KINDS, MOST_BITS, MOST_CHARACTERS, MOST_NGRAMS, is_hashed
from rosenblatt.data.source import ColumnEntry, OpenRequest, Preparation, check_missing
from rosenblatt.data.tables.column_kinds import (
    MIXED_WITH,
    NO_NAME,
    PARSERS,
    AmbiguousColumn,
    id_name,
    infer_kind,
    integers_like_ids,
    label_kind,
    numeric_columns,
    parser_of,
    regression_labels,
    strings_like_ids,
    unit_entry,
)
from rosenblatt.data.tables.encoder import LISTS, Encoder, has_lists, names_of_features
from rosenblatt.data.tables.reader import MOST_TITLE_LINES, TableChunk, join_names, suggestion, unnamed_count
from rosenblatt.data.tables.values import (
    MISSING_NUMBERS,
    NUMBER_FORMATS,
    Faults,
    date_format_of,
    import_arrow,
    is_number_type,
    is_unsupported_type,
    parse_labels,
    parse_numbers,
    parse_strings,
    plain_text,
    point_between_thousands,
    strings_to_arrow,
    without_unit,
)
from rosenblatt.hashing import UNNAMED
from rosenblatt.messages import (
    Hint,
    Message,
    ParameterError,
    Setting,
    check_choice,
    check_integer,
    count_of,
    shorten,
    show_text,
)

if TYPE_CHECKING:
    import pyarrow as pa


_MOST_NAMED = 20
"""The maximum number of ambiguous columns that a message names one by one."""


def find_column(
    column: str | int | None, order: list[str], use: str, file: str, header: bool | None, above: int = 1
) -> str | None:
    """Return the name of a column that is given by its name or position; raise a ParameterError if it does not exist.

    If ``column`` is None, return None. ``use`` is the name of the parameter in error messages. ``above`` is the number
    of lines to leave out if the first line is a title.
    """
    if column is None or (isinstance(column, str) and column in order):
        return column
    if isinstance(column, int) and -len(order) <= column < len(order):
        return order[column]
    several = [part.strip() for part in column.split(",")] if isinstance(column, str) else []
    if use in ("drop", "keep") and len(several) > 1 and set(several) <= set(order):
        what = "{file} has no column {name}: name columns one by one, {setting}."
        raise ParameterError(what, file=file, name=repr(column), setting=Setting(use, several))
    hint: str | Message = ""
    if header and _is_title(order):
        title = " (most cells of its first line are empty: if it is a title, leave it out with {skip_rows=n})"
        hint = Message(title, n=above)
    elif header is not None:
        hint = Message(
            " (its first line was read as {found}: give {header=other} if that is wrong)",
            found="their names" if header else "data, not as their names",
            other=not header,
        )
    raise ParameterError(
        "{file} has no column {name}{purpose}: its columns are {names}{hint}.",
        file=file,
        name=f"{column!r}{suggestion(column, order)}" if isinstance(column, str) else f"number {column}",
        purpose=f" for the {use}" if use in ("target", "weight") else "",
        names=join_names(order),
        hint=hint,
    )


def _is_title(order: list[str]) -> bool:
    """Return whether most cells of the first line are empty, so that it may be a title."""
    return 2 * unnamed_count(order) > len(order)


def _lines_of_title(head: TableChunk) -> int:
    """Return the number of lines above the first row whose cells are mostly filled, which may be the header."""
    rows = range(min(head.n, MOST_TITLE_LINES))
    filled = (sum(bool(str(array[row].as_py() or "").strip()) for array in head.columns.values()) for row in rows)
    return next((row + 1 for row, cells in enumerate(filled) if 2 * cells > len(head.columns)), 1)


class Ambiguities:
    """Everything that is ambiguous in a table, as messages without a full stop."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.found: list[Message] = []
        self._no_target: ParameterError | None = None

    def add_target(self, order: list[str]) -> None:
        """Add the message that no target is given."""
        names, unlabelled = join_names(order), Hint("; or {labels=False} for rows without labels")
        ways = Message("Give {target}, one of {names}{unlabelled}", names=names, unlabelled=unlabelled)
        self._no_target = ParameterError("which column of {file} is the label? {ways}.", file=self._file, ways=ways)
        self.found.append(Message("which column is the label? {ways}", ways=ways))

    def add_columns(self, ambiguous: dict[str, AmbiguousColumn], may_drop: bool = False) -> None:
        """Add columns of ambiguous kind.

        With ``may_drop``, the message includes the option that drops all of them, unless one seems to hold numbers.
        """
        several = {name: column for name, column in ambiguous.items() if len(column.suggestions) > 1}
        others = {name: column for name, column in ambiguous.items() if name not in several}
        if others:
            at_once = may_drop and not any(column.never_dropped for column in others.values())
            drop_all = Hint("; {on_ambiguous='drop'} leaves out all such columns") if at_once else ""
            self.found.append(Message("{columns}{drop_all}", columns=_list_columns(others), drop_all=drop_all))
        for name, column in islice(several.items(), _MOST_NAMED):
            first, second = (Message("{column_types=kinds}", kinds={name: kind}) for kind in column.suggestions)
            what = "column {name} {reason}: give {first} or {second}"
            self.found.append(Message(what, name=repr(name), reason=column.reason, first=first, second=second))

    def add_same_names(self, columns: Sequence[ColumnEntry], bits: int) -> None:
        """Add the first two features with the same name, such as the category x of a column c, and a column c=x."""
        before: dict[str, ColumnEntry] = {}
        hashed = range(2**bits if any(map(is_hashed, columns)) else 0)
        for column in columns:
            for name in names_of_features(column):
                other = before.setdefault(name, column)
                if other is not column:
                    what = "the feature {name} would come from column {one} and from column {other}: "
                    what += "rename one of them, or leave one out with {drop=names}"
                    pair = {"one": repr(other["name"]), "other": repr(column["name"]), "names": [column["name"]]}
                    self.found.append(Message(what, name=repr(name), **pair))
                    return
                if UNNAMED.fullmatch(name) and int(name[1:]) in hashed:
                    what = "column {name} has the name of a hashed feature: rename it, or leave it out with "
                    self.found.append(Message(what + "{drop=names}", name=repr(name), names=[column["name"]]))
                    return

    def add_missing(self, counts: dict[str, int], rows: int) -> None:
        """Add the columns with missing values; ``counts`` maps each to the number of its missing values."""
        some = ", ".join(f"{name!r} ({count:,})" for name, count in islice(counts.items(), _MOST_NAMED))
        more = " and others" if len(counts) > _MOST_NAMED else ""
        what = "values are missing in the first {rows:,} rows of {some}{more}: "
        what += "give {missing='zero'} or {missing='mean'} to fill them"
        self.found.append(Message(what, rows=rows, some=some, more=more))

    def error(self) -> ParameterError:
        """Return one error for everything that is ambiguous."""
        if self._no_target is not None and len(self.found) == 1:
            return self._no_target
        messages = {f"message{k}": message for k, message in enumerate(self.found)}
        template = ". Also, ".join(f"{{{name}}}" for name in messages)
        return DataError("{file}: " + template + ".", file=self._file, **messages)


def _list_columns(ambiguous: dict[str, AmbiguousColumn]) -> Message:
    if len(ambiguous) > _MOST_NAMED:
        what = "the types of {n:,} columns are ambiguous ({some} and others): use {drop} to leave out those not needed"
        return Message(what, n=len(ambiguous), some=", ".join(map(shorten, islice(ambiguous, _MOST_NAMED))))
    reasons = {
        name: f"{column.reason} ({_REWRITE} {column.example})" if column.example else column.reason
        for name, column in ambiguous.items()
    }
    suggested = {name: column.suggestions[0] for name, column in ambiguous.items() if column.suggestions}
    words = sorted({word for column in ambiguous.values() for word in column.words})
    return Message(
        "{columns}: use {drop=names} to leave out what is not a feature{kinds}{missing}",
        columns="; ".join(f"column {name!r} {reason}" for name, reason in reasons.items()),
        names=list(ambiguous),
        kinds=Message(", or give {column_types=suggested}", suggested=suggested) if suggested else "",
        missing=Hint(", or {missing_values=words} if that stands for a missing value", words=words) if words else "",
    )


_MOST_EXCLUDED_NAMED = 8
"""The maximum number of columns that a note names with a reason."""
UNUSABLE = "and cannot be used as a feature"
"""The end of the reason if the option ``keep`` cannot keep a column."""
_REWRITE = "write them as"
"""Words in the reason if a column can be kept only after its values have been rewritten."""


def excluded_note(excluded: Mapping[str, str]) -> Message | None:
    """Return a note about the columns in ``stream.excluded`` and how to keep one, or None if there are none.

    Examples
    --------
    >>> left_out = {"PassengerId": "counts the rows: 1, 2, 3, ...", "Booked": "holds dates, such as '1912-08-05'"}
    >>> print(excluded_note(left_out))
    left out: PassengerId (counts the rows: 1, 2, 3, ...), Booked (holds dates, such as '1912-08-05');
    keep=['Booked'] uses that column.
    """
    if not excluded:
        return None
    named = [f"{show_text(name)} ({reason})" for name, reason in islice(excluded.items(), _MOST_EXCLUDED_NAMED)]
    more = len(excluded) - len(named)
    words = sorted({word for reason in excluded.values() for word in mixed_words(reason)})
    usable = [name for name, reason in excluded.items() if is_usable(reason) and not mixed_words(reason)]
    which = "it" if len(excluded) == 1 else "that column"
    return Message(
        "left out: {named}{more}{missing}{keep}.",
        named=", ".join(named),
        more=f" and {more:,} more" if more else "",
        missing=words_as_missing(words) if words else "",
        keep=Message("; {keep=names} uses {which}", names=usable[-1:], which=which) if usable else "",
    )


def unlabelled_note(target: str, markers: Mapping[str, int]) -> Message:
    """Return a note, without a full stop, about the rows that are left out because they have no label.

    ``markers`` maps each text in place of a label to the number of these rows, as ``stream.unlabelled`` does.

    Examples
    --------
    >>> print(unlabelled_note("survived", {"NA": 10, "": 2}))
    12 rows have no label and are left out (NA: 10, empty: 2); column_types={'survived': 'category'} makes NA a class
    >>> print(unlabelled_note("survived", {"": 1}))
    1 row has no label and is left out
    """
    rows = sum(markers.values())
    words = [word for word in markers if word]
    counts = [f"{word or 'empty'}: {count:,}" for word, count in markers.items()]
    as_class = "; {column_types=kinds} makes {words} a class" + ("" if len(words) == 1 else " each")
    return Message(
        "{rows} {have} no label and {are} left out{shown}{hint}",
        rows=count_of(rows, "row"),
        have="has" if rows == 1 else "have",
        are="is" if rows == 1 else "are",
        shown=f" ({', '.join(counts)})" if words else "",
        hint=Hint(as_class, kinds={target: "category"}, words=join_names(words, last=" and ")) if words else "",
    )


def units_note(columns: Sequence[ColumnEntry]) -> Message | None:
    """Return a note, without a full stop, about the columns whose unit is removed, or None if there are none.

    Examples
    --------
    >>> price, gain = {"name": "price", "unit": "$"}, {"name": "gain", "unit": ""}
    >>> print(units_note([price, gain, {"name": "age"}]))
    read as numbers: price (in $), gain (parentheses mean a minus sign)
    """
    units = {column["name"]: column["unit"] for column in columns if column.get("unit") is not None}
    named = [f"{name} ({f'in {unit}' if unit else 'parentheses mean a minus sign'})" for name, unit in units.items()]
    return Message("read as numbers: {named}", named=join_names(named)) if named else None


def mixed_words(reason: str) -> list[str]:
    """Return the words if a column was left out because it holds words among numbers, else an empty list."""
    return list(literal_eval(f"[{reason.removeprefix(MIXED_WITH)}]")) if reason.startswith(MIXED_WITH) else []


def words_as_missing(words: Sequence[str]) -> Message:
    """Return the end of a sentence that says how to read words among numbers as missing values.

    >>> print("age: holds words" + str(words_as_missing(["unknown"])))
    age: holds words; missing_values=['unknown'] treats this word as missing
    """
    which = "this word" if len(words) == 1 else "these words"
    return Message("; {missing_values=words} treats {which} as missing", words=list(words), which=which)


def is_usable(reason: str | None) -> bool:
    """Return whether ``keep`` can keep a column that was left out for ``reason``; False if ``reason`` is None."""
    return reason is not None and not reason.endswith(UNUSABLE) and _REWRITE not in reason


def exclusion_reason(column: AmbiguousColumn) -> str:
    """Return the reason why an ambiguous column is left out, with a remark if ``keep`` cannot keep it.

    Examples
    --------
    >>> exclusion_reason(AmbiguousColumn("holds lists"))
    'holds lists, and cannot be used as a feature'
    """
    if column.example:
        return f"{column.reason}: {_REWRITE} {column.example}"
    return column.reason if column.fallback else f"{column.reason}, {UNUSABLE}"


def no_columns(file: str, excluded: Mapping[str, str]) -> DataError:
    """Return the error for a table without any features; ``excluded`` maps the columns to the reasons."""
    reasons = "; ".join(f"column {name!r} {reason}" for name, reason in excluded.items())
    return DataError("{file} has no column to learn from: {reasons}.", file=file, reasons=reasons)


def hashed_note(name: str, kind: AmbiguousColumn) -> Message:
    """Return a note, without a full stop, about a column with so many categories that they are hashed."""
    return Message(
        "column {name} {reason}: they are hashed; {drop=names} leaves it out",
        name=repr(name),
        reason=kind.reason,
        names=[name],
    )


def kind_to_use(name: str, kind: str | AmbiguousColumn, options: OpenRequest) -> str | None:
    """Return the kind to use for a column; "" if the column is left out, or None if its kind is an error."""
    if isinstance(kind, str):
        return kind
    kept = name in options.keep
    if kind.never_dropped or (options.on_ambiguous == "error" and not kept):
        return None
    if (kind.fallback == "hash" and not kind.like_ids) or (kind.fallback and kept):
        return kind.fallback
    return None if kept else ""


def check_table_options(request: OpenRequest) -> None:
    """Raise a ParameterError if an option for tables has an invalid value."""
    for name in ("columns", "drop", "keep", "missing_values"):
        if isinstance(value := getattr(request, name), str):
            what = "{setting} must be a list of strings, got {got}: give {cure}."
            raise ParameterError(what, setting=Setting(name), got=repr(value), cure=Setting(name, [value]))
    check_choice("categories", request.categories, ("onehot", "hash"))
    check_missing(request.missing)
    check_integer("bits", request.bits, 1, most=MOST_BITS)
    check_integer("ngrams", request.ngrams, 1, most=MOST_NGRAMS)
    if request.characters is not None:
        _check_characters(request)
    both = [name for name in request.keep if name in request.drop]
    if both:
        raise ParameterError(
            "{keep} and {drop} both contain the column {name}: remove it from one.", name=repr(both[0])
        )
    for name, kind in request.column_types.items():
        if kind not in KINDS and (isinstance(kind, str) or not isinstance(kind, Sequence)):
            what = "{column_types} of {name} must be one of {kinds}{categories}, got {got}."
            values = {"name": repr(name), "kinds": join_names(KINDS), "got": shorten(kind)}
            raise ParameterError(what, categories=Hint(", or categories", needs="columns"), **values)
    request.missing_values = tuple(map(str, request.missing_values))


def _check_characters(request: OpenRequest) -> None:
    """Raise a ParameterError unless ``characters`` is a pair of integers in ascending order, without ``ngrams``."""
    try:
        least, most = request.characters or ()
    except (TypeError, ValueError):
        what = "{characters} must be the smallest and the largest number, such as {example}, got {got}."
        got, example = shorten(request.characters), Setting("characters", (3, 5))
        raise ParameterError(what, example=example, got=got) from None
    least = check_integer("characters[0]", least, 1, most=MOST_CHARACTERS)
    request.characters = [least, check_integer("characters[1]", most, least, most=MOST_CHARACTERS)]
    if "ngrams" in request.given:
        raise ParameterError("{characters} counts characters instead of words: leave out {ngrams}.")


_KEPT_FIRST = ("number", "text", "date", "category", "hash")
"""If all columns would be left out, the columns of one kind are used: the first of these kinds that occurs."""


class Schema(NamedTuple):
    """The schema of a table: its preparation, the columns left out, and what is ambiguous."""

    preparation: Preparation
    excluded: dict[str, str]
    """The columns that were left out automatically, not by an option, mapped to the reasons."""
    ambiguities: list[Message]
    """Messages about what is ambiguous; empty unless ``on_ambiguous`` is "note", otherwise an error is raised."""
    decisions: list[Message]
    """Messages about columns whose ambiguous kind was decided from other columns."""


def infer_schema(
    head: TableChunk,
    order: list[str],
    typed: bool,
    options: OpenRequest,
    header: bool | None = None,
    training: np.ndarray | None = None,
) -> Schema:
    """Return the schema of a table, given its first rows and the names of its columns.

    ``training`` are the indices of the rows that are not held out; None means all rows. Rows that are held out only
    show how cells are read: units, dates, and columns whose cells the training rows alone do not show how to read.

    Raises
    ------
    DataError
        If something is ambiguous: dates, nested values, numbers mixed with other values, strings that nearly all
        differ, or the label column. One message lists everything ambiguous, and missing values that must be filled.
        With ``on_ambiguous="drop"``, a column raises the error only if it seems to hold numbers.
    """
    file = options.file
    ambiguities = Ambiguities(file)
    above = options.skip_rows + (_lines_of_title(head) if _is_title(order) else 1)
    target = find_column(options.target, order, "target", file, header, above)
    weight = find_column(options.weight, order, "weight", file, header, above)
    for use in ("drop", "keep", "columns", "column_types"):
        for name in getattr(options, use) or ():
            find_column(name, order, use, file, header, above)
    if target is None and options.labels:
        ambiguities.add_target(order)
    unused = {*options.drop, target, weight}
    used = [name for name in (order if options.columns is None else options.columns) if name not in unused]
    if not used:
        raise ValueError(f"{file} has no column to learn from: its columns are {join_names(order)}.")
    lists = _has_lists_only(head, used, file)
    missing, kind, regression = tuple(options.missing_values), None, None
    if target is not None:
        kind = label_kind(head, target, typed, options.column_types.get(target), missing, file)
        if target not in options.column_types:
            regression = regression_labels(head, target, typed, missing)
        if options.labels:
            labelled = _labelled(head, {"name": target, "kind": kind}, missing)
            if len(labelled) < head.n:
                head = head.take(labelled)
                training = None if training is None else np.searchsorted(labelled, training)
    columns = _Columns(head, training, order, typed, options, header)
    columns.find([] if lists else used)
    ambiguities.add_columns(columns.ambiguous, may_drop=options.on_ambiguous == "error")
    ambiguities.found += [regression] if regression and options.labels else []
    ambiguities.add_same_names(columns.entries, options.bits)
    described = options.on_ambiguous == "note"
    if ambiguities.found and not described:
        if options.missing == "error" and (gaps := columns.missing_counts()):
            ambiguities.add_missing(gaps, head.n)
        raise ambiguities.error()
    if not columns.entries and not lists and not described:
        raise no_columns(file, columns.excluded)
    kept = {*used, target, weight}.difference(columns.excluded, columns.ambiguous)
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
        **({} if options.characters is None else {"characters": options.characters}),
        "sparse": True,
        "lists": lists,
    }
    if not lists:
        rows = columns.training
        if options.skip:
            rows = _readable(rows, preparation, options.labels)
            columns.fit(rows)
        preparation["sparse"] = _is_sparse(rows, preparation)
    return Schema(preparation, columns.excluded, ambiguities.found, columns.decisions)


def _labelled(head: TableChunk, target: dict[str, str], missing: tuple[str, ...]) -> np.ndarray:
    """Return the indices of the rows of ``head`` that have a label; the others are left out of training."""
    unlabelled = parse_labels(head.columns[target["name"]], target, missing, Faults(head.n))[1]
    return np.delete(np.arange(head.n), unlabelled)


def _readable(head: TableChunk, preparation: Preparation, labelled: bool) -> TableChunk:
    """Return the rows of ``head`` that can be read, or all rows if there are none."""
    places = Encoder(preparation, labelled).encode(head).places
    rows = places if head.places is None else np.searchsorted(head.places, places)
    return head.take(rows) if 0 < len(rows) < head.n else head


def _has_lists_only(head: TableChunk, used: list[str], file: str) -> bool:
    """Return whether the used columns hold sparse rows as lists; raise a DataError if others are used as well."""
    lists = set(LISTS) <= set(used) and has_lists(head.columns)
    others = [name for name in used if name not in LISTS]
    if lists and others:
        raise DataError(
            "{file} has other columns besides the sparse rows in {names}: use {drop=others} to leave out the other "
            "columns, or {drop=lists} to leave out the sparse rows.",
            file=file,
            names=" and ".join(LISTS),
            others=others,
            lists=list(LISTS),
        )
    return lists


class _Columns:
    """The classification of columns: features, columns that are left out, and ambiguous columns.

    All rows of ``head`` show how cells are read. The rows with the indices ``training`` decide everything else.
    """

    def __init__(
        self,
        head: TableChunk,
        training: np.ndarray | None,
        order: list[str],
        typed: bool,
        options: OpenRequest,
        header: bool | None,
    ) -> None:
        self._head, self._order, self._typed, self._options, self._header = head, order, typed, options, header
        self._rows = np.arange(head.n) if training is None else training
        self.training = head if training is None else head.take(training)
        self._missing = tuple(options.missing_values)
        self.entries: list[ColumnEntry] = []
        self.excluded: dict[str, str] = {}
        self.ambiguous: dict[str, AmbiguousColumn] = {}
        self._kinds: dict[str, str | Sequence[str]] = {}
        """For each entry the kind given to `_column`: "hash" for hashed categories, or a list of categories."""
        self.decisions: list[Message] = []
        """Messages, without a full stop, about columns whose ambiguous kind was decided from other columns."""

    def find(self, used: list[str]) -> None:
        """Classify each of the columns ``used``."""
        options = self._options
        numeric = set() if self._typed else numeric_columns(self._head, used, self._missing)
        if self.training is not self._head and not self._typed:
            numeric &= numeric_columns(self.training, used, self._missing)
        fallbacks: dict[str, str] = {}
        for name in used:
            if name in options.column_types and not is_unsupported_type(self._head.columns[name].type):
                self.entries.append(self._entry(name, options.column_types[name]))
                continue
            kind: str | AmbiguousColumn = "number"
            if name not in numeric:
                kind = self._kind(name)
            called = self._called(name)
            if kind == "number" and called == NO_NAME and self._header:
                kind = self._unnamed_id(name) or kind
            if name not in options.keep and options.on_ambiguous != "error":
                kind = self._like_id(name, kind, called) or kind
            use = kind_to_use(name, kind, options)
            if use:
                self.entries.append(self._entry(name, use))
                if use == "hash" and isinstance(kind, AmbiguousColumn) and name not in options.keep:
                    self.decisions.append(hashed_note(name, kind))
            elif isinstance(kind, AmbiguousColumn) and use is None:
                self.ambiguous[name] = kind
            elif isinstance(kind, AmbiguousColumn):
                self.excluded[name] = exclusion_reason(kind)
                fallbacks[name] = kind.fallback
        self._decide_points()
        if not self.entries and not self.ambiguous:
            self._use_excluded(fallbacks)

    def _kind(self, name: str) -> str | AmbiguousColumn:
        """Return the kind of a column by its training rows.

        All rows decide if the training rows leave the kind open, or if other rows could not be read.
        """
        typed, missing, categories = self._typed, self._missing, self._options.categories
        kind = infer_kind(self.training, name, typed, missing, categories)
        if self.training is self._head:
            return kind
        is_open = kind_to_use(name, kind, self._options) is None
        if is_open or (isinstance(kind, str) and not self._reads(name, kind)):
            return infer_kind(self._head, name, typed, missing, categories)
        return kind

    def _reads(self, name: str, kind: str) -> bool:
        """Return whether all cells of a column can be read if the column is of this kind."""
        if kind not in PARSERS:
            return True
        array = self._head.columns[name]
        entry = {"kind": kind, **unit_entry(array, kind, self._missing)}
        return not parser_of(entry)(array, self._missing)[1]

    def _decide_points(self) -> None:
        """Decide from the other columns whether the point in numbers such as 4.259 is a thousands separator.

        It is one if other columns hold numbers with a decimal comma and no column holds numbers with a decimal point.
        If other columns hold both, the column is ambiguous.
        """
        commas = [column["name"] for column in self.entries if column["kind"] == "decimal-comma"]
        if not commas:
            return
        kind = "category" if self._typed else "number"  # the kind of such a column by itself
        texts = {
            column["name"]: [text for text in _texts(array, self._missing, unit) if text not in MISSING_NUMBERS]
            for column in self.entries
            if column["kind"] == ("number" if (unit := column.get("unit")) is not None else kind)
            and not is_number_type((array := self._head.columns[column["name"]]).type)
        }
        between = {name: point_between_thousands(values) for name, values in texts.items()}
        points = [name for name, grouped in between.items() if grouped is False and not self._typed]
        for name in [name for name, grouped in between.items() if grouped and name not in self._options.column_types]:
            shown = repr(next(text for text in texts[name] if "." in text))
            place = next(k for k, column in enumerate(self.entries) if column["name"] == name)
            if not points:
                self.entries[place] = self._entry(name, "decimal-comma")
                what = "column {name} holds numbers such as {shown}, read with a point between thousands, because "
                what += "column {comma} has decimal commas; {column_types=kinds} reads a decimal point"
                values = {"name": repr(name), "shown": shown, "comma": repr(commas[0]), "kinds": {name: "number"}}
                self.decisions.append(Message(what, **values))
                continue
            del self.entries[place]
            reason = (
                f"holds numbers such as {shown}, whose point may come before decimals, as in column {points[0]!r}, "
            )
            reason += f"or between thousands, as column {commas[0]!r} has decimal commas"
            self.ambiguous[name] = AmbiguousColumn(reason, ("number", "decimal-comma"), never_dropped=True)

    def _called(self, name: str) -> str:
        """Return the result of `id_name` for a column; columns that were named by position count as unnamed."""
        place = int(name[1:]) - 1 if re.fullmatch("c[1-9][0-9]*", name) else -1
        given = not (0 <= place < len(self._order) and self._order[place] == name)
        # Where no column has a name, only the first is likely to be an id.
        return NO_NAME if not given and (self._header or (self._header is False and place == 0)) else id_name(name)

    def _unnamed_id(self, name: str) -> AmbiguousColumn | None:
        """Return an `AmbiguousColumn` with the reason if a column without a name looks like an id, else None."""
        array = self.training.columns[name]
        counts = "has no name and counts the rows" if _counts_rows(array, self._rows) else None
        reason = counts or integers_like_ids(array, self._missing, NO_NAME, self._rows, self._head.n)
        return AmbiguousColumn(reason, ("number",), "number") if reason else None

    def _like_id(self, name: str, kind: str | AmbiguousColumn, called: str) -> AmbiguousColumn | None:
        """Return an `AmbiguousColumn` with the reason if a column looks like an id, or None if it does not."""
        array = self.training.columns[name]
        if kind == "number":
            reason = integers_like_ids(array, self._missing, called, self._rows, self._head.n)
            return AmbiguousColumn(reason, fallback="number") if reason else None
        if kind in ("text", "category") or (
            isinstance(kind, AmbiguousColumn) and kind.fallback == "text" and not kind.words
        ):
            reason = strings_like_ids(_texts(array, self._missing))
            return AmbiguousColumn(reason, fallback="text") if reason else None
        return None

    def _use_excluded(self, fallbacks: dict[str, str]) -> None:
        """Use excluded columns of one kind, preferably numbers, because no other columns remain."""
        for kind in _KEPT_FIRST:
            some = [name for name in fallbacks if fallbacks[name] == kind]
            if some:
                self.entries = [self._entry(name, kind) for name in some]
                self.excluded = {name: reason for name, reason in self.excluded.items() if name not in some}
                return

    def missing_counts(self) -> dict[str, int]:
        """Return the number of missing values in the first rows for each column of numbers or categories with any."""
        counts = {}
        for column in self.entries:
            array, kind = self._head.columns[column["name"]], column["kind"]
            if kind in PARSERS:
                values, bad = parser_of(column)(array, self._missing)
                counts[column["name"]] = int(np.isnan(values).sum()) - len(bad)
            elif kind == "category":
                counts[column["name"]] = parse_strings(array, self._missing).null_count
        return {name: count for name, count in counts.items() if count > 0}

    def fit(self, head: TableChunk) -> None:
        """Determine the categories and fill values of all entries again, from other rows."""
        for column in self.entries:
            column |= _of_values(head.columns[column["name"]], column, self._kinds[column["name"]], self._options)

    def _entry(self, name: str, kind: str | Sequence[str]) -> ColumnEntry:
        self._kinds[name] = kind
        column = _column(self._head.columns[name], name, kind, self._options)
        return column | _of_values(self.training.columns[name], column, kind, self._options)


def _texts(array: pa.Array, missing: tuple[str, ...], unit: str | None = None) -> list[str]:
    """Return the texts of a column that are not missing, without the unit if there is one."""
    texts = parse_strings(array, missing)
    texts = texts if unit is None else without_unit(texts, unit)
    return [text for text in texts.to_pylist() if text is not None]


def _counts_rows(array: pa.Array, rows: np.ndarray) -> bool:
    """Return whether a column counts the rows, like the index that pandas writes as the first column."""
    values, _ = parse_numbers(array, ())
    return len(values) > 2 and bool((np.diff(values) == np.diff(rows)).all())


def _column(array: pa.Array, name: str, kind: str | Sequence[str], options: OpenRequest) -> ColumnEntry:
    """Return the entry of one column for the preparation, as far as it shows how the cells are read."""
    missing = tuple(options.missing_values)
    if not isinstance(kind, str):
        given = [plain_text(value) if isinstance(value, bool | float) else str(value) for value in kind]
        texts = parse_strings(strings_to_arrow(given), missing).to_pylist()  # parsed like the cells of the rows
        return {
            "name": name,
            "kind": "category",
            "categories": [text for text in dict.fromkeys(texts) if text is not None],
        }
    if kind in NUMBER_FORMATS and is_number_type(array.type):
        what = "{column_types=kinds} is for numbers in text, but column {name} holds numbers: leave it out."
        raise ParameterError(what, kinds={name: kind}, name=repr(name))
    if kind == "hash":
        return {"name": name, "kind": "category"}
    column: ColumnEntry = {"name": name, "kind": kind, **unit_entry(array, kind, missing)}
    if kind == "date" and not import_arrow().types.is_temporal(array.type):
        column |= _date_order(array, name, missing)
    return column


def _of_values(array: pa.Array, column: ColumnEntry, kind: str | Sequence[str], options: OpenRequest) -> dict[str, Any]:
    """Return the part of a column's entry that depends on the values: the categories, or the fill value."""
    missing = tuple(options.missing_values)
    if not isinstance(kind, str):
        return {}
    if kind == "category" and options.categories == "onehot":
        return {"categories": sorted(set(_texts(array, missing)))}
    if kind in PARSERS and options.missing != "error":
        return {"fill": _mean(array, column, missing) if options.missing == "mean" else 0.0}
    return {}


def _date_order(array: pa.Array, name: str, missing: tuple[str, ...]) -> dict[str, str]:
    """Return the order of day and month as part of a column entry; empty if the year comes first.

    Raise a DataError if the order is ambiguous.
    """
    dates = date_format_of(text for text in parse_strings(array, missing).to_pylist() if text is not None)
    if dates.ambiguity:
        values = {"name": repr(name), "ambiguity": dates.ambiguity, "example": dates.example}
        raise DataError("column {name} {ambiguity}: write them as {example}.", **values)
    return {"order": dates.order} if dates.order else {}


def _mean(array: pa.Array, column: ColumnEntry, missing: tuple[str, ...]) -> float:
    """Return the mean of the finite values, from their correctly rounded sum; 0 if there are no finite values."""
    values, _ = parser_of(column)(array, missing)
    values = values[np.isfinite(values)]
    try:
        return math.fsum(values.tolist()) / max(1, len(values))
    except OverflowError:
        return math.fsum((values / len(values)).tolist())


def _is_sparse(head: TableChunk, preparation: Preparation) -> bool:
    columns = preparation["columns"]
    if any(map(is_hashed, columns)) or all(column["kind"] != "category" for column in columns):
        return is_sparse_table(columns, 0, 0)
    X = Encoder(preparation).encode(head).X
    assert is_sparse(X)
    return is_sparse_table(columns, X.nnz, X.shape[0])


def is_sparse_table(columns: Sequence[ColumnEntry], nonzero: int, rows: int) -> bool:
    """Return whether a table of ``rows`` rows with ``nonzero`` nonzero feature values is stored as CSR.

    It is if columns are hashed, or if there are categories and less than a quarter of the feature values are nonzero.
    """
    if any(map(is_hashed, columns)):
        return True
    features = sum(len(names_of_features(column)) for column in columns)
    return any(column["kind"] == "category" for column in columns) and 4 * nonzero < rows * features
