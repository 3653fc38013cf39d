"""Readers for tables in memory: data frames, Arrow tables, and dictionaries. They are read like Arrow files."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache, partial
from hashlib import sha256
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.io.lines import LineSource
from rosenblatt.data.source import OpenRequest
from rosenblatt.data.tables.arrow import BinaryReader, LazyBatch, decode
from rosenblatt.data.tables.reader import TableChunk
from rosenblatt.data.tables.values import (
    combine_chunks,
    import_arrow,
    plain_text,
    python_numbers_to_arrow,
    strings_to_arrow,
)
from rosenblatt.messages import Message, shorten

if TYPE_CHECKING:
    import pyarrow as pa


# Python values as Arrow arrays.


class Unreadable(Exception):
    """Raised for a value that is neither missing nor a number, boolean, string, date or time."""

    def __init__(self, place: int, value: object) -> None:
        self.place, self.value = place, value


_WORDS = {"number": "numbers", "boolean": "booleans", "string": "strings", "date": "dates", "time": "times"}


@lru_cache(maxsize=1024)
def _kind_of(type_: Any) -> str:
    """Return the kind of the values of a Python type: "missing", "other" or one of ``_WORDS``."""
    if type_.__name__ in ("NoneType", "NAType", "NaTType"):
        return "missing"
    kinds: list[tuple[str, tuple[type, ...]]] = [  # the order matters: np.timedelta64 is an integer, too
        ("time", (datetime.timedelta, np.timedelta64, datetime.time)),
        ("date", (datetime.date, np.datetime64)),
        ("boolean", (bool, np.bool_)),
        ("number", (Real, Decimal)),
        ("string", (str,)),
    ]
    return next((kind for kind, types in kinds if issubclass(type_, types)), "other")


def kind_of(value: Any) -> str:
    """Return the kind of a Python value; NaN and NaT are "missing".

    >>> import numpy as np
    >>> [kind_of(value) for value in (1, np.float32(0.5), True, "a", None, float("nan"), [])]
    ['number', 'number', 'boolean', 'string', 'missing', 'missing', 'other']
    """
    type_: Any = type(value)
    kind = _kind_of(type_)
    if kind == "number":
        return "missing" if (value.is_nan() if isinstance(value, Decimal) else value != value) else kind
    return "missing" if isinstance(value, np.datetime64 | np.timedelta64) and np.isnat(value) else kind


def to_float(number: Any) -> float:
    """Return a number as the nearest float64; infinity if it is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def to_text(value: Any, kind: str) -> str:
    """Return a number, boolean, string or date as text, in the form that the encoder reads."""
    if kind == "date":
        return str(value) if isinstance(value, np.datetime64) else value.isoformat()
    if kind == "number":
        return plain_text(int(value) if isinstance(value, Integral) else to_float(value))
    return str(value) if kind == "string" else plain_text(value)


class Column(NamedTuple):
    """Consecutive values of a column, as an Arrow array without dictionaries."""

    array: pa.Array
    mixed: str = ""
    """The names of the types if the values have several types, else "". With several types the array holds text."""


def column_of(values: Sequence[Any]) -> Column:
    """Return Python values as a column. Raise `Unreadable` for a value of another type, such as a list.

    >>> column_of([1, None, 2.5]).array.to_pylist(), column_of(["a", None]).array.to_pylist()
    ([1.0, nan, 2.5], ['a', None])
    >>> column_of([1, "a"]).array.to_pylist(), column_of([1, "a"]).mixed
    (['1', 'a'], 'numbers and strings')
    """
    pa = import_arrow()
    kinds = list(map(kind_of, values))
    if "other" in kinds:
        place = kinds.index("other")
        raise Unreadable(place, values[place])
    found = set(kinds) - {"missing"}
    if not found:
        return Column(pa.nulls(len(values)))
    if found == {"number"}:
        known = [math.nan if kind == "missing" else to_float(v) for v, kind in zip(values, kinds, strict=True)]
        return Column(python_numbers_to_arrow(values, np.array(known, np.float64)))
    if found == {"time"}:
        return Column(
            pa.array([None if kind == "missing" else _time(v) for v, kind in zip(values, kinds, strict=True)])
        )
    if "time" in found:
        place = kinds.index("time")
        raise Unreadable(place, values[place])
    texts = [None if kind == "missing" else to_text(v, kind) for v, kind in zip(values, kinds, strict=True)]
    array = strings_to_arrow(texts)
    if found == {"boolean"}:
        return Column(array.cast(pa.bool_()))
    return Column(array, " and ".join(sorted(_WORDS[kind] for kind in found)) if len(found) > 1 else "")


def _time(value: Any) -> Any:
    """Convert a NumPy duration in weeks, days, hours or minutes, which Arrow lacks, to a Python duration."""
    coarse = isinstance(value, np.timedelta64) and np.datetime_data(value.dtype)[0] in ("W", "D", "h", "m")
    return value.item() if coarse else value


# The columns of data frames, Arrow tables and records.


Reader: TypeAlias = Callable[[int, int], Column]
"""A function that returns the rows from ``start`` up to but not including ``stop`` of a column."""
TABLE = "a data frame, an Arrow table, a dictionary or a list of dictionaries"


def is_table(rows: object) -> bool:
    """Return whether ``rows`` is a data frame, an Arrow table, a dictionary, or a list of dictionaries.

    >>> is_table([{"age": 29}]), is_table({"age": 29}), is_table([[29.0]]), is_table("people.csv")
    (True, True, False, False)
    """
    if isinstance(rows, list | tuple):
        return bool(rows) and isinstance(rows[0], Mapping)
    type_ = type(rows)  # attributes of its objects may be computed, as are the columns of a lazy frame
    arrow = hasattr(type_, "__arrow_c_stream__") and not hasattr(type_, "dtype")
    return isinstance(rows, Mapping) or hasattr(type_, "columns") or arrow


class MemoryTable(LineSource):
    """A table in memory, in place of files.

    Parameters
    ----------
    rows : data frame, Arrow table or record batch, dict, or list of dict
        The table. A dictionary is one row. In a list of dictionaries, the columns are the keys of all dictionaries.
        Where a dictionary lacks a key, the value is missing.

    Attributes
    ----------
    columns : list of str
        The names of the columns.
    n : int
        The number of rows.

    Examples
    --------
    >>> table = MemoryTable([{"age": 29, "city": "Bern"}, {"age": None}])
    >>> table.columns, table.n, table.read("city", 0, 2).array.to_pylist()
    (['age', 'city'], 2, ['Bern', None])
    """

    def __init__(self, rows: Any) -> None:
        self.rereadable, self.contents, self.is_workbook = True, None, False
        if isinstance(rows, Mapping):
            self._take_records([rows], _RECORD)
        elif isinstance(rows, list | tuple):
            self._take_records(rows, "the list")
        elif hasattr(type(rows), "iloc") and not hasattr(rows, "__dask_graph__"):
            columns = [partial(_of_pandas, rows.iloc[:, k]) for k in range(rows.shape[1])]
            self._take("the data frame", map(str, rows.columns), columns, len(rows))
        elif hasattr(type(rows), "to_series") and hasattr(type(rows), "height"):
            self._take("the data frame", rows.columns, map(_reader_of, rows.get_columns()), rows.height)
        elif hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__"):
            table = _as_arrow(rows)
            columns = [partial(_of_arrow, table.column(k)) for k in range(table.num_columns)]
            self._take("the table", table.schema.names, columns, table.num_rows)
        else:
            lazy = ": call its method collect() or compute() first" if hasattr(type(rows), "columns") else ""
            raise TypeError(f"expected {TABLE}, got a {type(rows).__name__}{lazy}.")

    def _take(self, name: str, columns: Iterable[str], readers: Iterable[Reader], n: int) -> None:
        self.names, self.columns, self.n, self.size = [name], list(columns), n, n
        self._readers = dict(zip(self.columns, readers, strict=True))

    def _take_records(self, records: Sequence[Any], name: str) -> None:
        fields: dict[str, None] = {}
        for place, record in enumerate(records):
            if not isinstance(record, Mapping):
                raise TypeError(f"expected dictionaries only, got {shorten(record)} in row {place:,} (counted from 0).")
            fields.update(dict.fromkeys(record))
        for field in fields:
            if not isinstance(field, str):
                raise TypeError(f"expected column names that are strings, got {shorten(field)}: use {str(field)!r}.")

        def read(field: str, start: int, stop: int) -> Column:
            return column_of([record.get(field) for record in records[start:stop]])

        self._take(name, fields, [partial(read, field) for field in fields], len(records))

    def add_column(self, name: str, values: Any) -> None:
        """Add a column, such as labels that are given separately. It replaces a column of the same name."""
        if name not in self.columns:
            self.columns.append(name)
        self._readers[name] = _reader_of(values)

    def read(self, name: str, start: int, stop: int) -> Column:
        """Return the rows from ``start`` up to but not including ``stop`` of a column."""
        try:
            return self._readers[name](start, stop)
        except Unreadable as error:
            what = "{where}: column {name} holds {found}, expected a number or a string{todo}."
            where, found = self.where(start + error.place), shorten(error.value)
            is_list = hasattr(error.value, "__len__") and not isinstance(error.value, bytes)
            todo = ": give several rows as a data frame or a list of dictionaries" if is_list else ""
            raise DataError(what, where=where, name=repr(name), found=found, todo=todo) from None
        except UnicodeEncodeError:
            what = "{file}: column {name} holds text that is not valid Unicode."
            raise DataError(what, file=self.names[0], name=repr(name)) from None

    def where(self, row: int) -> str:
        """Return the location of a row for messages."""
        name = self.names[0]
        return name if name == _RECORD else f"{name}, row {row:,} (counted from 0)"

    @property
    def paths(self) -> None:
        """Always None, because no files are read."""
        return None

    def display_name(self, file: int) -> str:
        """Return the name that messages use for the table."""
        return self.names[0]

    def reads(self, path: object) -> bool:
        """Return False, because no files are read."""
        return False

    def watch_contents(self) -> None:
        """Return None: a resumed run compares the fingerprint, which covers all values."""
        return None

    def notes(self) -> list[Message]:
        """Return an empty list: there are no sheets."""
        return []

    def fingerprint(self, recipe: object, dated: bool = False) -> str:
        """Return a digest of all values that can be read, and of ``recipe``."""
        digest = sha256(json.dumps([recipe, self.columns, self.n], sort_keys=True).encode())
        for name in self.columns:
            for start in range(0, self.n, _ROWS_DIGESTED):
                with suppress(DataError):
                    array = self.read(name, start, start + _ROWS_DIGESTED).array
                    digest.update(import_arrow().RecordBatch.from_arrays([array], ["values"]).serialize())
        return digest.hexdigest()


_RECORD = "the record"
_ROWS_DIGESTED = 1 << 16


def _reader_of(values: Any) -> Reader:
    """Return the reader of a series of pandas or polars, an Arrow array, a NumPy array, or another sequence."""
    if hasattr(values, "iloc"):
        return partial(_of_pandas, values)
    if hasattr(values, "to_arrow"):
        return partial(_of_polars, values)
    if hasattr(values, "cast") and hasattr(values, "null_count"):
        return partial(_of_arrow, values)
    known = values.tolist() if hasattr(values, "tolist") else list(values)
    return lambda start, stop: column_of(known[start:stop])


def _of_pandas(series: Any, start: int, stop: int) -> Column:
    part = series.iloc[start:stop]
    if hasattr(part, "sparse") and type(part.dtype).__name__ == "SparseDtype":
        part = part.sparse.to_dense()
    return _of_series(part, lambda: import_arrow().array(part, from_pandas=True), str(part.dtype) == "object")


def _of_polars(series: Any, start: int, stop: int) -> Column:
    part = series[start:stop]
    return _of_series(part, part.to_arrow, str(part.dtype).startswith("Object"))


def _of_series(part: Any, to_arrow: Callable[[], pa.Array], of_objects: bool) -> Column:
    """Return a series as a column. Python objects, and types that Arrow lacks, are converted value by value."""
    pa = import_arrow()
    if not of_objects:
        try:
            array = combine_chunks(to_arrow())
            if not isinstance(array, pa.ExtensionArray):
                return Column(decode(array))
        except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
            pass
    return column_of(part.astype(object).tolist() if hasattr(part, "astype") else part.to_list())


def _of_arrow(column: pa.Array | pa.ChunkedArray, start: int, stop: int) -> Column:
    array = combine_chunks(column.slice(start, stop - start))
    array.validate(full=True)  # Arrow's functions do not check offsets and indices; invalid values crash the process
    return Column(decode(array))


def _as_arrow(rows: Any) -> pa.Table:
    pa = import_arrow()
    try:
        table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else pa.table(rows)
        table.validate()  # slices rely on the sizes
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise TypeError(f"expected {TABLE}, got a {type(rows).__name__} ({reason}).") from None
    return table


class MemoryReader(BinaryReader):
    """A reader of a table in memory."""

    kind = "a table"

    def __init__(self, request: OpenRequest) -> None:
        assert isinstance(request.files, MemoryTable)
        self.table = request.files
        super().__init__(request)

    def head(self, rows: int) -> TableChunk:
        """Return the first ``rows`` rows as one chunk; the type of a column is the common type of its values."""
        self.read_columns(rows)
        assert self.columns is not None
        table, n = self.table, min(rows, self.table.n)
        chunk = TableChunk({}, n, table.where)
        for name in self.columns if self.chosen is None else self._chosen_of(self.columns):
            chunk.columns[name], mixed = table.read(name, 0, n)
            if mixed:
                chunk.mixed[name] = mixed
        return chunk

    def read_columns(self, rows: int) -> None:
        """Set ``columns`` to the columns of the table."""
        self._check_columns(self.table.columns, 0)

    def where(self, item: LazyBatch, place: int) -> str:
        """Return the location of a row for messages."""
        return self.table.where(item.first + place)

    def _batches(self, file: int, name: str) -> Generator[LazyBatch, None, None]:
        table = self.table
        self._check_columns(table.columns, file)
        wanted = self._wanted() or table.columns
        step = self._rows(wanted)

        def read(start: int) -> pa.RecordBatch:
            arrays = [table.read(name, start, min(start + step, table.n)).array for name in wanted]
            return import_arrow().RecordBatch.from_arrays(arrays, wanted)

        for start in range(0, table.n, step):
            yield LazyBatch(partial(read, start), file, start, min(1.0, (start + step) / table.n))
