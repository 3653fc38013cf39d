"""Descriptions of data before training: the columns of a table, or the rows of other formats."""

from __future__ import annotations

import datetime
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.blocks import Block, Features, is_sparse
from rosenblatt.data.preparation import number_of_feature
from rosenblatt.data.source import ColumnEntry, Preparation
from rosenblatt.data.tables.column_kinds import (
    FEW,
    FEW_WORDS,
    MIXED_WITH,
    PARSERS,
    are_even,
    id_name,
    infer_kind,
    integers_like_ids,
    leading_zero_code,
    names_groups,
    parser_of,
    strings_like_ids,
    unit_entry,
    words_among_numbers,
)
from rosenblatt.data.tables.reader import TableChunk
from rosenblatt.data.tables.schema import is_usable, mixed_words, unlabelled_note, words_as_missing
from rosenblatt.data.tables.values import (
    MISSING_NUMBERS,
    as_numpy,
    date_format_of,
    find_missing_numbers,
    import_arrow,
    is_unsupported_type,
    missing_labels,
    null_rows,
    numbers_to_arrow,
    parse_dates,
    parse_strings,
    plain_text,
)
from rosenblatt.messages import Message, Spelling, count_of, escape_unprintable, label_text, shorten, show_text
from rosenblatt.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa


# The table that describes columns. Its text is at most 80 characters wide and ends with remarks.


WIDTH = 80
"""The width of a terminal in characters."""
_CUT = ("column", "becomes", "range")
"""The columns of the table whose cells are cut if a line is too long."""
_SHORTEST = 9


class Risk(NamedTuple):
    """A property of a column that can spoil a model or its accuracy."""

    column: str
    kind: str
    """One of ``RISKS``."""
    remark: Message
    """The remark as text, without a full stop at the end."""


RISKS = ("leak", "id", "group", "sentinel", "spelling", "single", "words", "copies")
"""A column that determines the target in all or nearly all rows, one that looks like an id of rows, an id that several
rows share, a number that may mark missing values, labels or values that differ in case only, labels of a single row,
words among numbers that make each number a category, many copies of rows."""


class ColumnTable(Table):
    """A table with a row for each column of a file. Its text fits a terminal and ends with remarks.

    Parameters
    ----------
    columns, title, notes
        As for `Table`.
    remarks : sequence of Message
        Suspicious properties of columns, and advice; by default there are none.
    risks
        Properties of columns that can spoil a model or its accuracy; by default there are none.
    newest_first : sequence of str
        Columns of dates that fall from row to row; by default there are none.
    """

    __slots__ = ("_remarks", "newest_first", "risks")

    def __init__(
        self,
        columns: Mapping[str, Iterable[object]],
        title: str = "",
        notes: Sequence[str] = (),
        remarks: Sequence[Message] = (),
        risks: Sequence[Risk] = (),
        newest_first: Sequence[str] = (),
    ) -> None:
        super().__init__(columns, title, notes)
        self._remarks = tuple(remarks)
        self.risks = tuple(risks)
        self.newest_first = tuple(newest_first)

    def to_text(self, digits: int = 4) -> str:
        """Return the table as text of at most 80 characters a line, with long cells cut, followed by the remarks.

        >>> table = {"column": ["id"], "becomes": ["left out"], "range": ["1 to 9"], "looks": ["counts the rows"]}
        >>> ColumnTable(table, "One column", remarks=[Message("id: counts the rows; {keep=ids} uses it", ids=["id"])])
        One column
        column  becomes   range
        ------------------------
        id      left out  1 to 9
        <BLANKLINE>
        Look at:
        - id: counts the rows; keep=['id'] uses it
        """
        lines = [*([self.title] if self.title else []), *self.lines(WIDTH, digits), *self.notes]
        remarks = self.remarks(str)
        return "\n".join([*lines, *(["", "Look at:", *bullets(remarks)] if remarks else [])])

    def remarks(self, spell: Spelling) -> list[str]:
        """Return the remarks as text, using ``spell`` to write each parameter that they mention."""
        return [remark.render(spell) for remark in self._remarks]

    def lines(self, width: int, digits: int = 4) -> list[str]:
        """Return the lines of the table without title and remarks. Long cells are cut to fit ``width`` columns."""
        columns: dict[str, list[Any]] = {name: values for name, values in self.to_dict().items() if name != "looks"}
        columns["becomes"] = [text.removeprefix("words, ").partition(":")[0] for text in columns["becomes"]]
        columns |= {name: [escape_unprintable(text) for text in columns[name]] for name in _CUT}
        longest = {name: max(map(len, [name, *columns[name]])) for name in _CUT}
        while True:
            lines = Table(columns).to_text(digits).splitlines()
            over = max(map(len, lines)) - width
            widest = max(_CUT, key=lambda name: longest[name])
            if over <= 0 or longest[widest] <= _SHORTEST:
                return lines
            longest[widest] = max(_SHORTEST, longest[widest] - max(1, over // len(_CUT)))
            columns[widest] = [_cut(value, longest[widest]) for value in columns[widest]]


def bullets(lines: Iterable[str]) -> list[str]:
    """Return lines as a bulleted list, wrapped to the width of a terminal."""
    wrapper = textwrap.TextWrapper(WIDTH - 2, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return [wrapper.fill(f"- {escape_unprintable(line)}") for line in lines]


def _cut(text: str, width: int) -> str:
    """Return a text of at most ``width`` characters, which ends in an ellipsis if it was cut.

    >>> _cut("3 features: C, Q, S", 12)
    '3 features:…'
    """
    return text if len(text) <= width else f"{text[: width - 1].rstrip(' ,')}…"


# The profile of a column: the numbers of missing and of distinct values, their range, and a small histogram.


_BARS = "▁▂▃▄▅▆▇█"
_BINS = 8
_MOST_SHOWN = 3
"""The maximum number of values that are shown with their counts."""
_LONGEST_VALUE = 20
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_LAST_DAY = datetime.date.max.toordinal() - _EPOCH
_FEWEST_ROWS = 20
"""The minimum number of rows to test whether a column determines the target."""


class ColumnProfile(NamedTuple):
    """A summary of the values of one column in the first rows."""

    missing: int
    distinct: int
    range: str
    histogram: str
    codes: np.ndarray
    """The integer code of the value in each row; -1 if the value is missing. Larger numbers have larger codes."""
    largest_share: float
    """The share of the most frequent value among all values that are not missing."""
    integers: bool
    """Whether all values are integers."""
    sentinel: str = ""
    """A number that may mark missing values, as text; "" if there is none."""


def profile(array: pa.Array, kind: str, missing: tuple[str, ...]) -> ColumnProfile:
    """Return the profile of a column of the given kind; values that are not of this kind count as missing."""
    if kind == "date":
        return _numbers(_days(array, missing), kind)
    if kind in PARSERS and kind != "boolean":
        entry = {"kind": kind, **unit_entry(array, kind, missing)}
        unit = f" {entry['unit']}" if entry.get("unit") else ""
        return _numbers(parser_of(entry)(array, missing)[0], kind, unit)
    texts = parse_strings(array, (*MISSING_NUMBERS, *missing) if kind == "boolean" else missing).to_pylist()
    numbers = {text: k for k, text in enumerate(dict.fromkeys(text for text in texts if text is not None))}
    codes = np.array([-1 if text is None else numbers[text] for text in texts], np.int64)
    counts = Counter(text for text in texts if text is not None)
    total = max(1, sum(counts.values()))
    if kind == "text":
        words = np.array([len(text.split()) for text in texts if text is not None], np.float64)
        range_, bars = _range(words, " words" if words.max(initial=0.0) > 1.0 else " word"), histogram(words)
    else:
        range_, bars = show_counts(counts), draw(sorted(counts.values(), reverse=True)[:_BINS])
    most = max(counts.values(), default=0) / total
    return ColumnProfile(len(texts) - sum(counts.values()), len(counts), range_, bars, codes, most, False)


def _days(array: pa.Array, missing: tuple[str, ...]) -> np.ndarray:
    if import_arrow().types.is_temporal(array.type):
        return parse_dates(array, missing)[0]
    texts = parse_strings(array, (*MISSING_NUMBERS, *missing))
    return parse_dates(texts, missing, date_format_of(text for text in texts.to_pylist() if text is not None).order)[0]


def _numbers(values: np.ndarray, kind: str, unit: str = "") -> ColumnProfile:
    there = np.isfinite(values)
    different, places = np.unique(values[there], return_inverse=True)
    codes = np.full(len(values), -1, np.int64)
    codes[there] = places
    most = np.bincount(places).max(initial=0) / max(1, len(places))
    range_ = _date_range(different) if kind == "date" else _range(different, unit)
    integers = bool((different == np.rint(different)).all())
    missing = len(values) - len(places)
    bars, sentinel = histogram(values[there]), "" if kind == "date" else _sentinel(different, np.bincount(places))
    return ColumnProfile(missing, len(different), range_, bars, codes, float(most), integers, sentinel)


_NINES = re.compile("-9+|999+")


def _sentinel(different: np.ndarray, counts: np.ndarray) -> str:
    """Return the smallest or largest number if it may mark missing values, such as -999 or 99999, else "".

    Such a number consists of nines and occurs more than once. Its distance from every other number exceeds the range of
    the other numbers. ``different`` are the distinct numbers in ascending order. ``counts`` tells how often each of
    them occurs.

    Examples
    --------
    >>> _sentinel(np.array([-999.0, 3.5, 8.0]), np.array([4, 20, 30])), _sentinel(np.arange(1000.0), np.full(1000, 2))
    ('-999', '')
    """
    if len(different) < 3:
        return ""
    with np.errstate(over="ignore"):
        for place, others in ((0, different[1:]), (-1, different[:-1])):
            value, apart = plain_text(float(different[place])), others[-1] - others[0]
            if _NINES.fullmatch(value) and counts[place] > 1 and np.abs(others - different[place]).min() > apart:
                return value
    return ""


def _range(values: np.ndarray, unit: str = "") -> str:
    if not len(values):
        return ""
    low, high = _short(values.min()), _short(values.max())
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def _short(value: float) -> str:
    return plain_text(float(value)) if value == np.rint(value) and abs(value) < 1e9 else f"{value:.4g}"


def _date_range(days: np.ndarray) -> str:
    if not len(days) or days[0] < 1 - _EPOCH or days[-1] > _LAST_DAY:
        return _range(days, " days")
    first, last = (datetime.date.fromordinal(_EPOCH + int(np.floor(day))) for day in (days[0], days[-1]))
    return f"{first}" if first == last else f"{first} to {last}"


def show_counts(counts: Counter[str]) -> str:
    """Return the three most frequent values with their counts, as text.

    Examples
    --------
    >>> show_counts(Counter("mississippi"))
    'i: 4, s: 4, p: 2, ...'
    """
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = [f"{show_text(value, _LONGEST_VALUE)}: {count:,}" for value, count in ordered[:_MOST_SHOWN]]
    return ", ".join([*shown, *(["..."] if len(ordered) > _MOST_SHOWN else [])])


def histogram(values: np.ndarray) -> str:
    """Return a histogram with eight bars. If all values are equal it has one bar, and without values it is "".

    Examples
    --------
    >>> histogram(np.array([0.0, 0.0, 0.0, 1.0, 8.0]))
    '█▃▁▁▁▁▁▃'
    """
    if not len(values):
        return ""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return "█"
    if high - low == np.inf:
        return histogram(values / 2.0)
    places = (values - low) / (high - low) * _BINS
    return draw(np.bincount(np.minimum(places.astype(np.int64), _BINS - 1), minlength=_BINS).tolist())


def draw(counts: Sequence[int]) -> str:
    """Return a bar for each count, relative to the largest count; the lowest bar is used for 0 only."""
    most = max(counts, default=0)
    return "".join(_BARS[0 if not n else max(1, round(n / most * (len(_BARS) - 1)))] for n in counts)


def mistakes_alone(column: ColumnProfile, labels: np.ndarray, ordered: bool) -> tuple[int, int]:
    """Return how many labels the best guess from a column alone gets wrong, and how many the best constant guess does.

    ``labels`` are integer codes; rows with a negative code have no label and do not count. A guess depends on whether
    the value is missing and, if values repeat, on the value. If the column is ``ordered`` and there are two labels, it
    may also be a threshold. Both numbers are 0 if there are fewer than 20 rows or only one label.

    Examples
    --------
    >>> x = np.arange(20)
    >>> mistakes_alone(profile(numbers_to_arrow(x // 4), "number", ()), (x // 4) % 3, ordered=True)
    (0, 12)
    >>> mistakes_alone(profile(numbers_to_arrow(x), "number", ()), (x > 8) ^ (x == 3), ordered=True)
    (1, 8)
    """
    labelled = labels >= 0
    codes, labels = column.codes[labelled], labels[labelled]
    most = int(np.bincount(labels).max(initial=0))
    if len(labels) < _FEWEST_ROWS or most == len(labels):
        return 0, 0
    mistakes = [_mistakes_by_group(codes < 0, labels)]
    if 2 * column.distinct <= len(column.codes):
        mistakes.append(_mistakes_by_group(codes, labels))
    if ordered and labels.max() == 1:
        known = codes >= 0
        at_missing = int(np.bincount(labels[~known], minlength=2).min())
        mistakes.append(at_missing + _mistakes_by_threshold(codes[known], labels[known]))
    return min(mistakes), len(labels) - most


def _mistakes_by_group(groups: np.ndarray, labels: np.ndarray) -> int:
    """Return the number of rows whose label is not the most frequent label of their group."""
    classes = int(labels.max()) + 1
    pairs, counts = np.unique(groups.astype(np.int64) * classes + labels, return_counts=True)
    starts = np.flatnonzero(np.diff(pairs // classes, prepend=-2))
    return len(labels) - int(np.maximum.reduceat(counts, starts).sum())


def _mistakes_by_threshold(codes: np.ndarray, labels: np.ndarray) -> int:
    """Return the number of rows on the wrong side of the best threshold on ``codes``; labels are 0 and 1."""
    signs = np.bincount(codes, weights=2.0 * labels - 1.0)
    # Below the threshold 1 is guessed and above it 0, or the other way round.
    correct = np.cumsum(np.append(0.0, signs)) + (labels == 0).sum()
    return int(min(len(labels) - correct.max(), correct.min()))


COLUMNS = ("column", "kind", "becomes", "missing", "distinct", "histogram", "range", "looks")
_DOMINATES = 0.99
_MANY_COPIES = 0.2
"""There is a remark if at least this share of the rows repeats an earlier row."""
_UNLIKE = 10.0
"""Rows are alike by chance, unless there might be so many times as many different rows."""
_MOST_COMPARED = 100
"""The maximum number of columns of a table whose rows are compared."""
_MOSTLY = 0.5
_NEARLY = 0.03
"""There is a remark if a column alone makes at most this share of the mistakes of the best constant guess."""
_LABEL_KINDS = {"integer": "number", "text": "category"}
"""The kind of column that corresponds to a kind of label, where their names differ."""


class _Remark(NamedTuple):
    """A suspicious property of a column, and what to do about it."""

    text: str
    advice: object = ""
    """A string or a Message."""
    risk: str = ""
    """One of ``RISKS``, or ""."""


def describe_columns(
    head: TableChunk, typed: bool, title: str, preparation: Preparation, excluded: Mapping[str, str], features: int
) -> ColumnTable:
    """Return a table with a row for each column, computed from the first rows ``head`` of a file.

    ``typed`` tells whether the format has types. ``excluded`` maps the columns that were left out automatically to the
    reasons. ``features`` is the number of features.
    """
    missing = tuple(preparation["missing_values"])
    target = preparation["target"] and preparation["target"]["name"]
    entries = {column["name"]: column for column in preparation["columns"]}
    labels = None
    if target in head.columns:
        words = missing_labels(preparation["target"]["kind"], missing)
        texts = import_arrow(".compute").utf8_lower(parse_strings(head.columns[target], words))
        labels = profile(texts, "category", ()).codes
    columns: dict[str, list[object]] = {name: [] for name in COLUMNS}
    remarks: list[Message] = []
    risks: list[Risk] = []
    newest_first: list[str] = []
    unlike = 1.0  # how many different rows there might be, if columns were independent
    for name in head.columns:
        kind = _kind(head, name, typed, preparation, entries)
        becomes = _becomes(name, preparation, entries.get(name))
        found = _left_out(name, excluded.get(name))
        if kind in ("nested", "other"):
            found = found or [_Remark("ambiguous")]
            cells: list[object] = [name, kind, becomes, None, None, "", ""]
        else:
            is_label = name == target and preparation["target"] is not None
            words = missing_labels(preparation["target"]["kind"], missing) if is_label else missing
            column = profile(head.columns[name], "category" if is_label else kind, words)
            shown = "integer" if kind == "number" and column.integers and column.distinct else kind
            shown = preparation["target"]["kind"].replace("text", kind) if is_label else shown
            found += _without_label(head.columns[name], words, name) if is_label else []
            if is_label or (kind == "category" and name in entries):
                found += _spellings(head.columns[name], words, "labels" if is_label else "values")
            found += _single(head.columns[name], words) if is_label else []
            found += _remarks(head, column)
            newest_first += [name] if kind == "date" and _falls(column.codes[column.codes >= 0]) else []
            unlike *= _effective_values(column) if name in entries else 1.0
            # The format says that the column of lines of text is text.
            if name not in (target, preparation["weight"]) and preparation["format"] != "fasttext":
                like_id = _like_id(head, name, kind, column, missing) if name in entries else None
                found += [like_id] if like_id else []
                found += [] if labels is None else _leaks(column, labels, ordered=kind in PARSERS)
                found += _marks_missing(column) if name in entries else []
                strings = not typed and kind in ("text", "category")
                strings &= name in entries or (name in excluded and not mixed_words(excluded[name]))
                found += _digits(head.columns[name], name, missing) if strings else []
            cells = [name, shown, becomes, column.missing, column.distinct, column.histogram, column.range]
        for values, cell in zip(columns.values(), [*cells, "; ".join(remark.text for remark in found)], strict=True):
            values.append(cell)
        if found:
            remarks.append(_join_remarks(name, found))
        used = name in entries or name == target
        risks += [Risk(name, each.risk, _join_remarks(name, [each])) for each in found if used and each.risk]
    if head.n < unlike / _UNLIKE:  # else rows are alike by chance
        copies = _copies(head, [*entries, *([target] if target in head.columns else [])])
        remarks += copies
        risks += [Risk(str(target), "copies", remark) for remark in copies if target]
    return ColumnTable(columns, title, [f"{count_of(features, 'feature')} in all."], remarks, risks, newest_first)


def _falls(codes: np.ndarray) -> bool:
    """Return whether the values of at least 20 rows never rise from row to row, and are not all the same."""
    return len(codes) >= _FEWEST_ROWS and codes[-1] < codes[0] and bool((np.diff(codes) <= 0).all())


def _effective_values(column: ColumnProfile) -> float:
    """Return 1 over the probability that two rows have the same value, at most 1e6 so that products stay finite."""
    counts = np.bincount(column.codes + 1).astype(np.float64)
    return min(1e6, float(counts.sum() ** 2 / max(1.0, (counts**2).sum())))


def _copies(head: TableChunk, names: list[str]) -> list[Message]:
    """Return a remark if many rows repeat an earlier row in the columns ``names``, else an empty list."""
    arrays = [head.columns[name] for name in names]
    if head.n < _FEWEST_ROWS or len(arrays) > _MOST_COMPARED or any(is_unsupported_type(a.type) for a in arrays):
        return []
    # Not by Arrow's group_by, whose import takes longer than training on a small file.
    codes = np.column_stack([_value_codes(array) for array in arrays])
    different = len({row.tobytes() for row in codes})
    if head.n - different < _MANY_COPIES * head.n:
        return []
    what = "the rows: {copies} of the first {n} repeat an earlier row, so rows held out may have copies in training: "
    return [Message(what + "leave copies out of the file", copies=f"{head.n - different:,}", n=f"{head.n:,}")]


def _value_codes(array: pa.Array) -> np.ndarray:
    """Return a number for each row that is the same for equal values; missing values count as equal."""
    return as_numpy(array.dictionary_encode(null_encoding="encode").indices)  # np.asarray would import pandas


def _join_remarks(name: str, remarks: list[_Remark]) -> Message:
    parts = {
        f"remark{k}": Message("{text}{advice}", text=remark.text, advice=remark.advice)
        for k, remark in enumerate(remarks)
    }
    return Message("{column}: " + "; ".join(f"{{{part}}}" for part in parts), column=name, **parts)


def _kind(
    head: TableChunk, name: str, typed: bool, preparation: Preparation, entries: Mapping[str, ColumnEntry]
) -> str:
    """Return the kind of a column or, if it is left out, the kind that it would have."""
    if name in entries:
        return str(entries[name]["kind"])
    if is_unsupported_type(head.columns[name].type):
        return "nested"
    if preparation["target"] is not None and name == preparation["target"]["name"]:
        kind = preparation["target"]["kind"]
        return _LABEL_KINDS.get(kind, kind)
    found = infer_kind(head, name, typed, tuple(preparation["missing_values"]))
    if isinstance(found, str):
        return found
    if name in head.mixed and not found.fallback:
        return "nested"
    if found.example:
        return "date?"
    return {"hash": "category", "": "category"}.get(found.fallback, found.fallback)


def what_becomes(names: Iterable[str], preparation: Preparation) -> list[str]:
    """Return in words what becomes of each column of a table."""
    entries = {column["name"]: column for column in preparation["columns"]}
    return [_becomes(name, preparation, entries.get(name)) for name in names]


def _becomes(name: str, preparation: Preparation, entry: ColumnEntry | None) -> str:
    if preparation["target"] is not None and name == preparation["target"]["name"]:
        return "target"
    if name == preparation["weight"]:
        return "weight"
    if entry is None:
        return "left out"
    if entry["kind"] == "text":
        return "words, hashed"
    if entry["kind"] != "category":
        return "1 feature"
    if "categories" not in entry:
        return "hashed"
    words = entry["categories"]
    return _cut(f"{count_of(len(words), 'feature')}: {', '.join(words)}", 60)


def _left_out(name: str, reason: str | None) -> list[_Remark]:
    if reason is None:
        return []
    if words := mixed_words(reason):
        return [_Remark(reason, words_as_missing(words))]
    return [_Remark(reason, Message("; {keep=names} uses it", names=[name]) if is_usable(reason) else "")]


def _remarks(head: TableChunk, column: ColumnProfile) -> list[_Remark]:
    """Return remarks on the values of a column, without regard to the target."""
    remarks = []
    if column.distinct <= 1:
        remarks.append(_Remark("constant" if column.distinct else "empty"))
    elif column.largest_share >= _DOMINATES:
        remarks.append(_Remark(f"one value accounts for {column.largest_share:.1%} of the rows"))
    if column.distinct and column.missing > _MOSTLY * head.n:
        remarks.append(_Remark("mostly missing"))
    return remarks


def _without_label(array: pa.Array, words: tuple[str, ...], name: str) -> list[_Remark]:
    """Return a remark on the rows without a label, whose cells are empty or contain one of ``words``."""
    rows = null_rows(parse_strings(array, words))
    if not len(rows):
        return []
    texts = parse_strings(array.take(numbers_to_arrow(rows)), ()).to_pylist()
    markers = Counter(text or "" for text in texts)
    note = unlabelled_note(name, markers)
    return [_Remark(note.render(lambda setting: None), note.values["hint"])]


def _spellings(array: pa.Array, words: tuple[str, ...], what: str) -> list[_Remark]:
    """Return a remark if labels or values differ in case only; ``words`` denote a missing one."""
    counts = Counter(text for text in parse_strings(array, words).to_pylist() if text is not None)
    alike: dict[str, list[str]] = {}
    for text in counts:
        alike.setdefault(text.casefold(), []).append(f"{shorten(text)} ({counts[text]:,})")
    pairs = [" and ".join(texts) for texts in alike.values() if len(texts) > 1]
    return [_Remark(f"{what} differ in case only: {pair}: write them alike", risk="spelling") for pair in pairs[:1]]


def _single(array: pa.Array, words: tuple[str, ...]) -> list[_Remark]:
    """Return a remark if a label occurs in one row only, as that of a totals row does."""
    counts = Counter(text for text in parse_strings(array, words).to_pylist() if text is not None)
    single = sorted(text for text, count in counts.items() if count == 1)
    if not single or counts.total() < _FEWEST_ROWS or len(single) == len(counts):
        return []
    names = ", ".join(map(shorten, single[:FEW_WORDS])) + (", ..." if len(single) > FEW_WORDS else "")
    text = f"labels of only one of the first {len(array):,} rows: {names}: a total, or a typing error?"
    numbers = set(find_missing_numbers(tuple(single)))  # as missing values they would be missing in other columns, too
    leave_out = Message(" {missing_values=words} leaves such rows out", words=single[:FEW_WORDS])
    return [_Remark(text, "" if numbers else leave_out, "single")]


def _leaks(column: ColumnProfile, labels: np.ndarray, ordered: bool) -> list[_Remark]:
    """Return a remark if a column alone determines the label of all rows, or of nearly all; else an empty list."""
    mistakes, constant = mistakes_alone(column, labels, ordered)
    if not constant or mistakes > _NEARLY * constant:
        return []
    rows = int((labels >= 0).sum())
    tells = f"predicts the target in {rows - mistakes:,} of {rows:,} rows" if mistakes else "determines the target"
    return [_Remark(f"alone {tells}: does it leak the label?", risk="leak")]


def _marks_missing(column: ColumnProfile) -> list[_Remark]:
    if not column.sentinel:
        return []
    text = f"{column.sentinel} lies far from all other numbers: does it mark missing values?"
    advice = Message(" {missing_values=words} treats it as missing", words=[column.sentinel])
    return [_Remark(text, advice, "sentinel")]


def _like_id(head: TableChunk, name: str, kind: str, column: ColumnProfile, missing: tuple[str, ...]) -> _Remark | None:
    """Return a remark if a column looks like an id of rows, or of groups of rows, else None."""
    array, leave_out = head.columns[name], Message(" {drop=names} leaves it out", names=[name])
    if kind == "number":
        reason = integers_like_ids(array, missing, id_name(name))
        if reason is None and column.integers and column.distinct == head.n and are_even(array, missing):
            return _Remark("different in every row: is it an id?", leave_out, "id")
    elif kind in ("text", "category"):
        reason = strings_like_ids([text for text in parse_strings(array, missing).to_pylist() if text])
    else:
        return None
    if reason is None and names_groups(name) and column.distinct > FEW and (column.integers or kind != "number"):
        return _Remark(f"looks like an id, with {column.distinct:,} values in {head.n:,} rows:", leave_out, "group")
    return _Remark(reason, risk="id") if reason else None


def _digits(array: pa.Array, name: str, missing: tuple[str, ...]) -> list[_Remark]:
    """Return a remark if strings are codes with leading zeros, or numbers mixed with a few words; else no remark."""
    code = leading_zero_code(array, missing)
    if code:
        as_numbers = Message("; {column_types=kinds} treats them as numbers", kinds={name: "number"})
        return [_Remark(f"treated as codes, because {code!r} begins with 0 and all are equally long", as_numbers)]
    counts = Counter(text for text in parse_strings(array, missing).to_pylist() if text is not None)
    words = words_among_numbers(counts, missing)
    if not words:
        return []
    what = f"{MIXED_WITH}{', '.join(map(shorten, words))}, so each value is a category"
    return [_Remark(what, words_as_missing(words), risk="words")]


# Rows of other formats: their number, density, labels and range of values.


_MOST_LABELS = 10
"""The maximum number of labels that are shown with their counts."""
_FEW_COLUMNS = 1000
"""The maximum number of columns whose ranges are compared."""
_MUCH = 100.0
"""A note is given if the largest absolute values of two columns differ by more than this factor."""


class _Sizes:
    """For each column, its largest absolute value and the number of rows in which it is nonzero."""

    def __init__(self) -> None:
        self.largest, self.there, self.rows = np.zeros(0), np.zeros(0), 0

    def add(self, X: Features) -> None:
        if X.shape[1] > _FEW_COLUMNS:
            return
        values = np.abs(X.toarray() if is_sparse(X) else X)
        more = max(0, X.shape[1] - len(self.largest))
        self.largest, self.there = np.pad(self.largest, (0, more)), np.pad(self.there, (0, more))
        self.largest[: X.shape[1]] = np.maximum(self.largest[: X.shape[1]], values.max(axis=0, initial=0.0))
        self.there[: X.shape[1]] += (values != 0.0).sum(axis=0)
        self.rows += len(values)

    def notes(self, preparation: Preparation) -> list[Message]:
        """Return a note if features that are nonzero in most rows have very different ranges; else an empty list."""
        dense = np.flatnonzero(2 * self.there > self.rows)
        sizes = self.largest[dense]
        if len(sizes) < 2 or sizes.max() <= _MUCH * sizes.min():
            return []
        small, large = (number_of_feature(preparation, int(dense[k])) for k in (sizes.argmin(), sizes.argmax()))
        what = "Features differ widely in size ({small} reaches {low:.4g}, {large} {high:.4g}): "
        what += "for training, {scale='standard'} gives them the same scale."
        return [Message(what, small=small, low=sizes.min(), large=large, high=sizes.max())]


def describe_rows(blocks: Iterable[Block], most: int, title: str, preparation: Preparation) -> Table:
    """Return a table that summarises the first ``most`` rows: their features, values and labels.

    Examples
    --------
    >>> describe_rows([Block(np.eye(3), np.array([1.0, -1.0, 1.0]), 0)], 10, "Three rows", {"format": "npz"})
    Three rows
    about                   value
    -----------------------------------
    rows looked at          3
    features                3
    nonzero values per row  1
    values                  0 to 1
    labels                  1: 2, -1: 1
    """
    rows, low, high = 0, np.inf, -np.inf
    counts: list[np.ndarray] = []
    labels: Counter[object] = Counter()
    sizes = _Sizes()
    width = 0
    for block in blocks:
        X = block.X[: most - rows]
        stored = X.data if is_sparse(X) else X
        low, high = min(low, stored.min(initial=np.inf)), max(high, stored.max(initial=-np.inf))
        counts.append(np.asarray((X != 0.0).sum(axis=1)).ravel())
        labels.update(block.y[: most - rows].tolist())
        sizes.add(X)
        width = max(width, X.shape[1])
        rows += X.shape[0]
        if rows >= most:
            break
    per_row = np.concatenate(counts) if counts else np.zeros(0)
    facts = {"rows looked at": f"{rows:,}", "features": f"{width:,}"}
    if rows:
        few, many = int(per_row.min()), int(per_row.max())
        spread = f"{few:,}" if few == many else f"{few:,} to {many:,}, {per_row.mean():.4g} on average"
        facts |= {"nonzero values per row": spread, "values": f"{low:.6g} to {high:.6g}" if low <= high else "none"}
        known = Counter({label: n for label, n in labels.items() if label == label})
        facts |= {"labels": _labels(known)} if known else {}
    table = {"about": list(facts), "value": list(facts.values())}
    return Table(table, title, sizes.notes(preparation))


def _labels(counts: Counter[object]) -> str:
    shown = [f"{label_text(label)}: {n:,}" for label, n in counts.most_common()]
    more = len(shown) - _MOST_LABELS
    return ", ".join(shown[:_MOST_LABELS]) + (f" and {more:,} more" if more > 0 else "")
