"""Readers of Parquet files, Feather and Arrow files, and Arrow streams. Row numbers in messages start at 1."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.io.lines import Text
from rosenblatt.data.source import rename_errors
from rosenblatt.data.tables.reader import Passthrough, TableChunk, TableReader
from rosenblatt.data.tables.values import (
    as_numpy,
    combine_chunks,
    import_arrow,
    is_unsupported_type,
    null_rows,
    numbers_to_arrow,
    replace_nulls,
    show_type,
    strings_to_arrow,
)

if TYPE_CHECKING:
    import pyarrow as pa


_VALUES = 1 << 19
"""The approximate number of values in a chunk, a few megabytes; a chunk of many columns has at least 256 rows."""
_ROWS = 1 << 16
"""The maximum number of rows in a chunk."""
_SMALL = 1 << 25
"""The row groups of a file are read whole if none has more uncompressed bytes than this."""
_LARGE = 1 << 26
"""Files whose record batches average more bytes than this are mapped into memory instead of read."""
_SHORT = 12
"""The maximum number of bytes of a string that Arrow stores inside its string view."""
_PIECE = 1 << 24
"""The maximum number of bytes read from a pipe at once."""
LIST_ROWS = 1 << 13
"""The number of rows in a chunk if columns hold lists; the lengths of the lists are not known in advance."""


class LazyBatch(NamedTuple):
    """Consecutive rows of one file, which are read on demand."""

    read: Callable[[], pa.RecordBatch | pa.Table]
    file: int
    first: int
    """The index of the first row of this batch within the file."""
    share: float


class BinaryReader(TableReader[LazyBatch]):
    """Base class of the readers of binary formats, which store typed values instead of lines of text."""

    kind = ""

    def parse(self, item: LazyBatch) -> TableChunk:
        """Read a batch and return its columns, validated and with dictionaries decoded."""
        label = self.files.display_name(item.file)
        with self._rename_errors(item.file):
            rows = item.read()
            if (wanted := self._wanted()) is not None:
                rows = rows.select(wanted)
            rows.validate(
                full=True
            )  # Arrow's functions do not check offsets and indices; invalid values crash the process
            columns = {name: decode(column) for name, column in zip(rows.schema.names, rows.columns, strict=True)}
        passthrough = {} if self.layout is None else {name: columns[name] for name in self.passthrough_columns}
        if self.layout is not None:
            columns = {name: columns[name] for name in self.layout.needed}
        for name, array in columns.items():
            if self.layout is not None and self.layout.needed[name] != "list" and is_unsupported_type(array.type):
                what = "{file}: column {name} holds {type} values, expected numbers or strings."
                raise DataError(what, file=label, name=repr(name), type=show_type(array.type))
        return TableChunk(
            columns,
            rows.num_rows,
            lambda place: self.where(item, place),
            share=item.share,
            passthrough=passthrough,
        )

    def passthrough(self, item: LazyBatch, chunk: TableChunk, places: np.ndarray) -> Passthrough:
        """Return the values of the passthrough columns with their stored types."""
        kept = numbers_to_arrow(places)
        with self._rename_errors(item.file):
            return {name: array.take(kept).to_pylist() for name, array in chunk.passthrough.items()}

    def where(self, item: LazyBatch, place: int) -> str:
        """Return the location of a row for messages; ``place`` is the index of the row within the item."""
        return f"{self.files.display_name(item.file)}, row {item.first + 1 + place}"

    def _wanted(self) -> list[str] | None:
        """Return the names of the columns to read, or None for all columns."""
        return None if self.layout is None else list(dict.fromkeys([*self.layout.needed, *self.passthrough_columns]))

    def _read(self) -> Generator[LazyBatch, None, None]:
        for file, name in enumerate(self.files.names):
            self.files.note_whole([file])
            with self._rename_errors(file):
                yield from self._batches(file, name)

    def _batches(self, file: int, name: str) -> Generator[LazyBatch, None, None]:
        raise NotImplementedError

    def _rows(self, stored: Sequence[str]) -> int:
        """Return the maximum number of rows in a chunk, given the names of the stored columns."""
        if self.layout is not None and "list" in self.layout.needed.values():
            return LIST_ROWS
        names = stored if self.layout is None else self.layout.needed
        return min(_ROWS, max(1 << 8, _VALUES // max(1, len(names))))

    def _rename_errors(self, file: int) -> AbstractContextManager[None]:
        errors = import_arrow().ArrowException, OSError, ValueError, OverflowError
        return rename_errors(self.files.display_name(file), self.kind, *errors)


def decode(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return an array with the same values, but without extension types, dictionaries or string views."""
    pa = import_arrow()
    array = combine_chunks(array)
    if isinstance(array, pa.ExtensionArray):
        return decode(array.storage)
    if pa.types.is_dictionary(array.type):
        words = decode(array.dictionary)
        if pa.types.is_string(words.type) or pa.types.is_large_string(words.type):
            sizes = import_arrow(".compute").binary_length(words).take(array.indices)
            _check_sizes(replace_nulls(sizes, as_numpy(sizes), 0))
        return pa.DictionaryArray.from_arrays(array.indices, words).dictionary_decode()
    if str(array.type) != "string_view":
        return array
    if (views := array.buffers()[1]) is not None:  # a view has four int32; the first is the size of the string
        sizes = np.frombuffer(views, np.int32)[4 * array.offset :: 4][: len(array)]
        _check_sizes(replace_nulls(array, sizes, 0))
        unused = sizes[null_rows(array)]
        if ((unused < 0) | (unused > _SHORT)).any():  # Arrow does not validate the views of nulls, but follows them
            return strings_to_arrow(array.to_pylist())
    return array.cast(pa.string())


def _check_sizes(sizes: np.ndarray) -> None:
    """Raise a ValueError if strings of these sizes, which may share bytes in the file, take 2 GiB or more as copies."""
    if sizes.sum(dtype=np.int64) >= 2**31:
        raise ValueError(f"{len(sizes)} strings take more than {2**31} bytes together")


class ParquetReader(BinaryReader):
    """A reader of Parquet files. Small row groups are read whole, larger ones a few pages at a time."""

    kind = "Parquet"

    def _batches(self, file: int, name: str) -> Generator[LazyBatch, None, None]:
        if not self.files.rereadable:
            label = self.files.display_name(file)
            raise DataError(
                "{file} cannot be read as Parquet, which is read from its end: save it to a file.", file=label
            )
        with import_arrow(".parquet").ParquetFile(name, pre_buffer=False, buffer_size=1 << 16) as table:
            schema, about, first = table.schema_arrow, table.metadata, 0
            self._check_columns(schema.names, file)
            wanted = self._wanted()
            groups = [about.row_group(k) for k in range(about.num_row_groups)]
            small = all(group.num_rows <= _ROWS and group.total_byte_size <= _SMALL for group in groups)
            if self.layout is not None and small:
                for k, group in enumerate(groups):  # each row group is read in the thread that encodes it
                    share = self._share(file, (first + group.num_rows) / max(1, about.num_rows))
                    yield LazyBatch(partial(_row_group, name, about, k, wanted), file, first, share)
                    first += group.num_rows
                return
            for batch in table.iter_batches(self._rows(schema.names), columns=wanted, use_threads=self.threads > 0):
                share = self._share(file, (first + batch.num_rows) / about.num_rows)
                yield LazyBatch(batch.slice, file, first, share)
                first += batch.num_rows


def _row_group(name: str, about: pa.parquet.FileMetaData, k: int, columns: list[str] | None) -> pa.Table:
    """Read row group ``k`` of a Parquet file; ``about`` is the metadata of the file."""
    options = {"metadata": about, "pre_buffer": False, "buffer_size": 1 << 16}
    with import_arrow(".parquet").ParquetFile(name, **options) as table:
        return table.read_row_group(k, columns=columns, use_threads=False)


class ArrowReader(BinaryReader):
    """A reader of Arrow files (such as Feather files) and Arrow streams, one record batch at a time.

    The program that writes a file chooses the size of its record batches. So files with large batches are
    memory-mapped.
    """

    kind = "Arrow"

    def _batches(self, file: int, name: str) -> Generator[LazyBatch, None, None]:
        first = 0
        for batch, part in self._stored(file, name):
            batch.validate()  # only sizes, on which slices rely; values are validated when a slice is parsed
            step = self._rows(batch.schema.names)
            for start in range(0, batch.num_rows, step):
                yield LazyBatch(partial(batch.slice, start, step), file, first + start, self._share(file, part))
            first += batch.num_rows

    def _stored(self, file: int, name: str) -> Generator[tuple[pa.RecordBatch, float], None, None]:
        pa, ipc = import_arrow(), import_arrow(".ipc")
        if not self.files.rereadable:
            stream = self.files.open_bytes(file)
            if stream.peek(6) == b"ARROW1":
                name = self.files.display_name(file)
                raise DataError("{file} holds an Arrow file, expected an Arrow stream: save it to a file.", file=name)
            yield from ((batch, 0.0) for batch in self._stream(file, _RawBytes(stream)))
            return
        with pa.OSFile(name) as stored:
            size = max(1, stored.size())
            if bytes(stored.read(6)) != b"ARROW1":
                stored.seek(0)
                yield from ((batch, stored.tell() / size) for batch in self._stream(file, stored))
                return
            has_large_batches = size > _LARGE * ipc.open_file(stored).num_record_batches
        with (pa.memory_map if has_large_batches else pa.OSFile)(name) as stored:
            table = ipc.open_file(stored)
            names = table.schema.names
            self._check_columns(names, file)
            if (wanted := self._wanted()) is not None:
                fields = [names.index(name) for name in wanted]
                table = ipc.open_file(stored, options=ipc.IpcReadOptions(included_fields=fields))
            for k in range(table.num_record_batches):
                yield table.get_batch(k), (k + 1) / table.num_record_batches

    def _stream(self, file: int, stored: pa.NativeFile | _RawBytes) -> Generator[pa.RecordBatch, None, None]:
        with import_arrow(".ipc").open_stream(stored) as table:
            self._check_columns(table.schema.names, file)
            yield from table


class _RawBytes(io.RawIOBase):
    """A stream over input that can be read only once. Each read returns all requested bytes, as Arrow requires."""

    def __init__(self, stream: Text) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return ``size`` bytes, or fewer at the end. Reading in pieces avoids huge allocations for corrupt sizes."""
        parts: list[bytes] = []
        while size > 0:
            part = bytearray(min(size, _PIECE))
            if not (n := self._stream.readinto(memoryview(part))):
                break
            parts.append(bytes(memoryview(part)[:n]))
            size -= n
        return b"".join(parts)

    def close(self) -> None:
        self._stream.close()
        super().close()
