"""Tables that describe data before any training: the columns of a table, or rows whose columns have no names."""

from __future__ import annotations

import datetime
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.blocks import Block, is_sparse
from rosenblatt.data.preparation import number_of_feature
from rosenblatt.data.source import Preparation
from rosenblatt.data.tables.column_kinds import (
    FEW_WORDS,
    FEWEST_ROWS,
    PARSERS,
    codes_in,
    infer_kind,
    integers_like_ids,
    strings_like_ids,
)
from rosenblatt.data.tables.reader import TableChunk
from rosenblatt.data.tables.schema import is_usable
from rosenblatt.data.tables.values import (
    MISSING_NUMBERS,
    import_arrow,
    is_unsupported_type,
    order_of,
    parse_dates,
    parse_numbers,
    parse_strings,
    plain_text,
)
from rosenblatt.messages import ParameterError, Phrase, Sentence, Setting, label_text, shorten, show_text
from rosenblatt.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa


# The table that describes columns: printed within 80 columns of a terminal, with what looks suspicious below it.


WIDTH = 80
"""Columns of a terminal."""
_CUT = ("column", "becomes", "range")
"""What is cut where a line is too long."""
_SHORTEST = 9


class ColumnTable(Table):
    """A row for each column of a file; as text it fits a terminal, and remarks stand below it.

    Parameters
    ----------
    columns, title, notes
        As those of `Table`.
    remarks : sequence of phrases
        What looks suspicious about some columns, and what can be done.
    """

    __slots__ = ("_remarks",)

    def __init__(
        self,
        columns: Mapping[str, Iterable[object]],
        title: str = "",
        notes: Sequence[str] = (),
        remarks: Sequence[tuple[Phrase, ...]] = (),
    ) -> None:
        super().__init__(columns, title, notes)
        self._remarks = tuple(remarks)

    def to_text(self, digits: int = 4) -> str:
        """Return the table as text of at most 80 columns, long cells cut, and the remarks below it.

        >>> table = {"column": ["id"], "becomes": ["left out"], "range": ["1 to 9"], "looks": ["counts the rows"]}
        >>> ColumnTable(table, "One column", remarks=[("id: counts the rows; ", Setting("keep", ["id"]), " uses it")])
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

    def remarks(self, spell: Callable[[Setting], str | None]) -> list[str]:
        """Return the remarks, with each parameter as ``spell`` writes it."""
        return [ParameterError(*pieces).sentence(spell) for pieces in self._remarks]

    def lines(self, width: int, digits: int = 4) -> list[str]:
        """Return the lines of the table alone, its longest cells cut until they fit into ``width`` columns."""
        columns: dict[str, list[Any]] = {name: values for name, values in self.to_dict().items() if name != "looks"}
        columns["becomes"] = [text.removeprefix("words, ").partition(":")[0] for text in columns["becomes"]]
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
    """Return lines as a list of points, each within the columns of a terminal."""
    how: Any = {"subsequent_indent": "  ", "break_long_words": False, "break_on_hyphens": False}
    return [textwrap.fill(f"- {line}", WIDTH - 2, **how) for line in lines]


def _cut(text: str, width: int) -> str:
    """Return a text of at most ``width`` letters.

    >>> _cut("3 features: C, Q, S", 12)
    '3 features:…'
    """
    return text if len(text) <= width else f"{text[: width - 1].rstrip(' ,')}…"


# What the first rows show about one column: gaps, different values, their range, a small histogram.


_BARS = "▁▂▃▄▅▆▇█"
_BINS = 8
_MOST_SHOWN = 3
"""Values that are shown with their counts."""
_LONGEST_VALUE = 20
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_LAST_DAY = datetime.date.max.toordinal() - _EPOCH
_FEWEST_ROWS = 20
"""Rows that it takes to say that a column tells the target."""


class ColumnProfile(NamedTuple):
    """What the first rows show about one column."""

    missing: int
    distinct: int
    range: str
    histogram: str
    codes: np.ndarray
    """For each row the number of its value, in ascending order for numbers; -1 where it is missing."""
    largest_share: float
    """The share of the commonest value among those that are not missing."""
    integers: bool
    """Whether all values are integers."""


def profile(array: pa.Array, kind: str, missing: tuple[str, ...]) -> ColumnProfile:
    """Return what a column of this kind shows; values that are not of the kind count as missing."""
    if kind == "date":
        return _numbers(_days(array, missing), kind)
    if kind in PARSERS and kind != "boolean":
        return _numbers(PARSERS[kind](array, missing)[0], kind)
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
    return parse_dates(texts, missing, order_of(text for text in texts.to_pylist() if text is not None).order)[0]


def _numbers(values: np.ndarray, kind: str) -> ColumnProfile:
    there = np.isfinite(values)
    different, places = np.unique(values[there], return_inverse=True)
    codes = np.full(len(values), -1, np.int64)
    codes[there] = places
    most = np.bincount(places).max(initial=0) / max(1, len(places))
    range_ = _date_range(different) if kind == "date" else _range(different)
    integers = bool((different == np.rint(different)).all())
    missing = len(values) - len(places)
    return ColumnProfile(missing, len(different), range_, histogram(values[there]), codes, float(most), integers)


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
    """Return the commonest values with their counts.

    Examples
    --------
    >>> show_counts(Counter("mississippi"))
    'i: 4, s: 4, p: 2, ...'
    """
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = [f"{show_text(value, _LONGEST_VALUE)}: {count:,}" for value, count in ordered[:_MOST_SHOWN]]
    return ", ".join([*shown, *(["..."] if len(ordered) > _MOST_SHOWN else [])])


def histogram(values: np.ndarray) -> str:
    """Return how many values lie in each eighth of their range, as bars.

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
    """Return counts as bars, the highest for the largest count; one that is not 0 is not the lowest bar."""
    most = max(counts, default=0)
    return "".join(_BARS[0 if not n else max(1, round(n / most * (len(_BARS) - 1)))] for n in counts)


def tells_target(column: ColumnProfile, labels: np.ndarray, ordered: bool) -> bool:
    """Return whether a column alone tells the label of every row, whose numbers are ``labels``.

    It does if each of its values occurs with one label only, while values repeat; or if it is ``ordered`` and one
    threshold separates two labels.
    """
    codes, classes = column.codes, int(labels.max(initial=-1)) + 1
    if len(codes) < _FEWEST_ROWS or classes < 2 or column.distinct < 2 or (codes < 0).any() or (labels < 0).any():
        return False
    if 2 * column.distinct <= len(codes) and len(np.unique(codes * classes + labels)) == column.distinct:
        return True
    if not ordered or classes != 2:
        return False
    first, second = codes[labels == 0], codes[labels == 1]
    return bool(first.max() < second.min() or second.max() < first.min())


# A row for each column of a table.


COLUMNS = ("column", "kind", "becomes", "missing", "distinct", "histogram", "range", "looks")
_DOMINATES = 0.99
_MOSTLY = 0.5
_LABEL_KINDS = {"integer": "number", "text": "category"}
"""Kinds of labels that columns have other words for."""


class _Look(NamedTuple):
    """Something that looks suspicious about a column, and what can be done."""

    words: str
    advice: tuple[Phrase, ...] = ()


def describe_columns(
    head: TableChunk, typed: bool, title: str, preparation: Preparation, excluded: Mapping[str, str], features: int
) -> ColumnTable:
    """Return a row for each column, given the first rows of a table, how rows are made and what was left out."""
    missing = tuple(preparation["missing_values"])
    target = preparation["target"] and preparation["target"]["name"]
    entries = {column["name"]: column for column in preparation["columns"]}
    labels = None
    if target in head.columns:
        labels = profile(head.columns[target], "category", missing).codes
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    remarks: list[tuple[Phrase, ...]] = []
    for name in head.columns:
        kind = _kind(head, name, typed, preparation, entries)
        becomes = _becomes(name, preparation, entries.get(name))
        looks = _left_out(name, excluded.get(name))
        if kind in ("nested", "other"):
            looks = looks or [_Look("unclear")]
            cells: list[Any] = [name, kind, becomes, None, None, "", ""]
        else:
            found = profile(head.columns[name], "category" if name == target else kind, missing)
            shown = "integer" if kind == "number" and found.integers and found.distinct else kind
            shown = preparation["target"]["kind"].replace("text", kind) if name == target else shown
            looks += _looks(head, found)
            if name not in (target, preparation["weight"]):
                like_id = _like_id(head, name, kind, found, missing) if name in entries else None
                leaks = labels is not None and tells_target(found, labels, ordered=kind in PARSERS)
                looks += [like_id] if like_id else []
                looks += [_Look("alone tells the target: does it leak it?")] if leaks else []
                strings = not typed and kind in ("text", "category") and (name in entries or name in excluded)
                looks += _digits(head.columns[name], name, missing) if strings else []
            cells = [name, shown, becomes, found.missing, found.distinct, found.histogram, found.range]
        for values, cell in zip(columns.values(), [*cells, "; ".join(look.words for look in looks)], strict=True):
            values.append(cell)
        if looks:
            remarks.append((f"{name}: ", *_joined(looks)))
    in_all = f"{features:,} features in all." if features != 1 else "1 feature in all."
    return ColumnTable(columns, title, [in_all], remarks)


def _joined(looks: list[_Look]) -> Iterator[Phrase]:
    for k, look in enumerate(looks):
        yield f"{'; ' if k else ''}{look.words}"
        yield from look.advice


def _kind(
    head: TableChunk, name: str, typed: bool, preparation: Preparation, entries: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the kind of a column: as it is used, or as it would be."""
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
    if name in head.mixed and not found.best:
        return "nested"
    if found.rewrite:
        return "date?"
    return {"hash": "category", "": "category"}.get(found.best, found.best)


def _becomes(name: str, preparation: Preparation, entry: Mapping[str, Any] | None) -> str:
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
    return f"{len(words)} feature{'s' * (len(words) != 1)}: {', '.join(words)}"[:60]


def _left_out(name: str, reason: str | None) -> list[_Look]:
    if reason is None:
        return []
    return [_Look(reason, ("; ", Setting("keep", [name]), " uses it") if is_usable(reason) else ())]


def _looks(head: TableChunk, found: ColumnProfile) -> list[_Look]:
    """Return what looks suspicious about a column by itself."""
    looks = []
    if found.distinct <= 1:
        looks.append(_Look("constant" if found.distinct else "empty"))
    elif found.largest_share >= _DOMINATES:
        looks.append(_Look(f"one value has {found.largest_share:.1%} of the rows"))
    if found.distinct and found.missing > _MOSTLY * head.n:
        looks.append(_Look("mostly missing"))
    return looks


def _like_id(head: TableChunk, name: str, kind: str, found: ColumnProfile, missing: tuple[str, ...]) -> _Look | None:
    if kind == "number":
        clause = integers_like_ids(head.columns[name], missing)
        if clause is None and found.integers and found.distinct == head.n >= FEWEST_ROWS:
            leave_out = " ", Setting("drop", [name]), " leaves it out"
            return _Look("different in every row: is it an id?", leave_out)
    elif kind in ("text", "category"):
        texts = parse_strings(head.columns[name], missing).to_pylist()
        clause = strings_like_ids([text for text in texts if text])
    else:
        return None
    return _Look(clause) if clause else None


def _digits(array: pa.Array, name: str, missing: tuple[str, ...]) -> list[_Look]:
    """Return that a column of strings holds codes, or numbers beside a few words; nothing if it holds neither."""
    code = codes_in(array, missing)
    if code:
        as_numbers = "; ", Setting("column_types", {name: "number"}), " takes them for numbers"
        return [_Look(f"taken for codes, as {code!r} begins with 0 and all have as many digits", as_numbers)]
    values, bad = parse_numbers(array, missing)
    words = sorted({str(array[row].as_py()).strip() for row in bad})
    numbers = int((~np.isnan(values)).sum())
    if not words or len(words) > FEW_WORDS or numbers < len(bad):
        return []
    beside = ", ".join(map(shorten, words))
    as_missing = "; ", Setting("missing_values", words), " counts what is no number as missing"
    return [_Look(f"holds numbers beside {beside}, so each value is a category", as_missing)]


# Rows whose columns have no names: how many, how dense, their labels, the size of values.


_MOST_LABELS = 10
"""Labels that are shown with their counts."""
_FEW_COLUMNS = 1000
"""Columns that are few enough to compare their sizes."""
_MUCH = 100.0
"""How many times larger than another a column has to be to be worth a note."""


class _Sizes:
    """The largest value of each column, and how many rows have one."""

    def __init__(self) -> None:
        self.largest, self.there, self.rows = np.zeros(0), np.zeros(0), 0

    def add(self, X: Any) -> None:
        if X.shape[1] > _FEW_COLUMNS:
            return
        values = np.abs(X.toarray() if is_sparse(X) else X)
        more = max(0, X.shape[1] - len(self.largest))
        self.largest, self.there = np.pad(self.largest, (0, more)), np.pad(self.there, (0, more))
        self.largest[: X.shape[1]] = np.maximum(self.largest[: X.shape[1]], values.max(axis=0, initial=0.0))
        self.there[: X.shape[1]] += (values != 0.0).sum(axis=0)
        self.rows += len(values)

    def notes(self, preparation: Preparation) -> list[Sentence]:
        """Return a sentence that features which most rows have differ much in size, none if they do not."""
        dense = np.flatnonzero(2 * self.there > self.rows)
        sizes = self.largest[dense]
        if len(sizes) < 2 or sizes.max() <= _MUCH * sizes.min():
            return []
        small, large = (number_of_feature(preparation, int(dense[k])) for k in (sizes.argmin(), sizes.argmax()))
        sized = f"{small} reaches {sizes.min():.4g}, {large} {sizes.max():.4g}"
        scale = Setting("scale", "standard"), " brings them to one scale."
        return [Sentence(f"Features differ much in size ({sized}): for training, ", *scale)]


def describe_rows(blocks: Iterable[Block], most: int, title: str, preparation: Preparation) -> Table:
    """Return facts about the first ``most`` rows, none of which is read twice.

    Examples
    --------
    >>> describe_rows([Block(np.eye(3), np.array([1.0, -1.0, 1.0]), 0)], 10, "Three rows", {"format": "npz"})
    Three rows
    about                    value
    ----------------------------------
    rows looked at           3
    features                 3
    values not 0 in a row    1
    values                   0 to 1
    labels                   1: 2, -1: 1
    """
    rows, low, high = 0, np.inf, -np.inf
    counts: list[np.ndarray] = []
    labels: Counter[Any] = Counter()
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
        facts |= {"values not 0 in a row": spread, "values": f"{low:.6g} to {high:.6g}" if low <= high else "none"}
        known = Counter({label: n for label, n in labels.items() if label == label})
        facts |= {"labels": _labels(known)} if known else {}
    table = {"about": list(facts), "value": list(facts.values())}
    return Table(table, title, sizes.notes(preparation))


def _labels(counts: Counter[Any]) -> str:
    shown = [f"{label_text(label)}: {n:,}" for label, n in counts.most_common()]
    more = len(shown) - _MOST_LABELS
    return ", ".join(shown[:_MOST_LABELS]) + (f" and {more:,} more" if more > 0 else "")
