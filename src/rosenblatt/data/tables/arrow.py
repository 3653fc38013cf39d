"""Parquet files, Feather and Arrow files, and Arrow streams, in pieces. Their rows are counted from 1."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from rosenblatt.blocks import DataError
from rosenblatt.data.io.byte_stream import STANDARD_INPUT, ByteStream
from rosenblatt.data.tables.reader import Piece, TableReader, arrow, is_odd, one

__all__ = ["ArrowReader", "ParquetReader"]

_VALUES = 1 << 19
"""Values in a piece, so that it is a few megabytes whatever the number of columns."""

_ROWS = 1 << 16
"""Rows in a piece, at most."""
_SMALL = 1 << 25
"""Bytes of a row group that is read as a whole."""
_LARGE = 1 << 26
"""Bytes of a record batch that is rather mapped than read."""
LIST_ROWS = 1 << 13
"""Rows in a piece where they are lists, as nobody knows how long these are."""


class Batch(NamedTuple):
    """Rows of one file."""

    read: Callable[[], Any]
    """Returns them as an Arrow record batch, or a table."""
    file: int
    first: int
    """Rows of the file before these."""
    share: float


class _BinaryReader(TableReader):
    """What the binary formats share: their values have types, their errors have no line."""

    kind = ""

    def parse(self, item: Batch) -> Piece:
        """Return the columns of a batch; dictionaries are looked up."""
        with self._faults(item.file):
            rows = item.read()
        names = rows.schema.names if self.layout is None else self.layout.needed
        columns = {}
        label = self.source.label(item.file)
        for name in names:
            array = _plain(rows.column(rows.schema.get_field_index(name)))
            columns[name] = array
            if self.layout is not None and self.layout.needed[name] != "list" and is_odd(array.type):
                raise DataError(f"{label}: column {name!r} holds {array.type} values, expected numbers or strings.")
        return Piece(columns, rows.num_rows, lambda place: f"{label}, row {item.first + place + 1}", share=item.share)

    def _read(self) -> Generator[Batch, None, None]:
        for file, name in enumerate(self.source.names):
            with self._faults(file):
                yield from self._batches(file, name)

    def _batches(self, file: int, name: str) -> Generator[Batch, None, None]:
        raise NotImplementedError

    def _rows(self, schema: Any) -> int:
        """Return how many rows make a piece."""
        if self.layout is not None and "list" in self.layout.needed.values():
            return LIST_ROWS
        names = schema.names if self.layout is None else self.layout.needed
        return min(_ROWS, max(1 << 8, _VALUES // max(1, len(names))))

    @contextmanager
    def _faults(self, file: int) -> Generator[None, None, None]:
        pa = arrow()
        try:
            yield
        except DataError:
            raise
        except (pa.ArrowException, OSError) as error:
            first_line = str(error).strip().partition("\n")[0]
            raise DataError(
                f"{self.source.label(file)} cannot be read as {self.kind} ({first_line}): "
                "copy it again, or say what it is by format=."
            ) from None


def _plain(array: Any) -> Any:
    """Return an array without a dictionary, and of ordinary strings if of strings."""
    pa = arrow()
    array = one(array)
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, _plain(array.dictionary)).dictionary_decode()
    return array.cast(pa.string()) if str(array.type) == "string_view" else array


class ParquetReader(_BinaryReader):
    """A table in Parquet files, read a few row groups' pages at a time."""

    kind = "Parquet"

    def _batches(self, file: int, name: str) -> Generator[Batch, None, None]:
        if name == STANDARD_INPUT:
            raise DataError("Parquet cannot be read from standard input, as its end comes first: save it to a file.")
        with arrow(".parquet").ParquetFile(name, pre_buffer=False, buffer_size=1 << 16) as table:
            schema, about, first = table.schema_arrow, table.metadata, 0
            self._admit(schema.names, file)
            wanted = None if self.layout is None else list(self.layout.needed)
            groups = [about.row_group(k) for k in range(about.num_row_groups)]
            small = all(group.num_rows <= _ROWS and group.total_byte_size <= _SMALL for group in groups)
            if self.layout is not None and small:
                for k, group in enumerate(groups):  # whole row groups, each in the thread that makes rows of it
                    read = partial(_row_group, name, about, k, wanted)
                    yield Batch(read, file, first, self._share(file, (first + group.num_rows) / max(1, about.num_rows)))
                    first += group.num_rows
                return
            for batch in table.iter_batches(self._rows(schema), columns=wanted, use_threads=self.threads > 0):
                share = self._share(file, (first + batch.num_rows) / about.num_rows)
                yield Batch(partial(_as_is, batch), file, first, share)
                first += batch.num_rows


def _row_group(name: str, about: Any, k: int, columns: list[str] | None) -> Any:
    """Return one row group of a Parquet file, whose metadata is known."""
    options = {"metadata": about, "pre_buffer": False, "buffer_size": 1 << 16}
    with arrow(".parquet").ParquetFile(name, **options) as table:
        return table.read_row_group(k, columns=columns, use_threads=False)


def _as_is(rows: Any) -> Any:
    return rows


class ArrowReader(_BinaryReader):
    """A table in Arrow files or streams (Feather is one of them), read record batch by record batch.

    A batch is as large as it was written; large ones of uncompressed files are read when they are looked at.
    """

    kind = "Arrow"

    def _batches(self, file: int, name: str) -> Generator[Batch, None, None]:
        first = 0
        for batch, part in self._stored(file, name):
            step = self._rows(batch.schema)
            for start in range(0, batch.num_rows, step):
                yield Batch(partial(batch.slice, start, step), file, first + start, self._share(file, part))
            first += batch.num_rows

    def _stored(self, file: int, name: str) -> Generator[tuple[Any, float], None, None]:
        pa, ipc = arrow(), arrow(".ipc")
        if not self.source.rereadable:
            stored = _Bytes(self.source, file)
            if stored.head(6) == b"ARROW1":
                raise DataError(
                    f"{self.source.label(file)} is an Arrow file, expected an Arrow stream, which has no end."
                )
            yield from ((batch, 0.0) for batch in self._stream(file, stored))
            return
        with pa.OSFile(name) as stored:
            size = max(1, stored.size())
            if bytes(stored.read(6)) != b"ARROW1":
                stored.seek(0)
                yield from ((batch, stored.tell() / size) for batch in self._stream(file, stored))
                return
            few = size > _LARGE * ipc.open_file(stored).num_record_batches
        with (pa.memory_map if few else pa.OSFile)(name) as stored:
            table = ipc.open_file(stored)
            names = table.schema.names
            self._admit(names, file)
            if self.layout is not None:
                fields = [names.index(name) for name in self.layout.needed]
                table = ipc.open_file(stored, options=ipc.IpcReadOptions(included_fields=fields))
            for k in range(table.num_record_batches):
                yield table.get_batch(k), (k + 1) / table.num_record_batches

    def _stream(self, file: int, stored: Any) -> Generator[Any, None, None]:
        with arrow(".ipc").open_stream(stored) as table:
            self._admit(table.schema.names, file)
            yield from table


class _Bytes(io.RawIOBase):
    """The bytes of a file that can be read only once, as many at a time as are asked for."""

    def __init__(self, source: Any, file: int) -> None:
        self._stream = source._first or ByteStream(source.names[file])
        source._first = None  # its first bytes were looked at to tell the format

    def head(self, size: int) -> bytes:
        return self._stream.peek(size)

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        view, filled = memoryview(room), 0
        while filled < len(view) and (n := self._stream.readinto(view[filled:])):
            filled += n
        return filled

    def close(self) -> None:
        self._stream.close()
        super().close()
