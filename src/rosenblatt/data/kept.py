"""Rows kept for further passes: in memory while they are few, in an uncompressed Arrow file beyond that.

Parsing text costs several times as much as learning from it, and further passes need not do it again. A file that the
user names serves other runs too; otherwise it has no name, and is gone with the process, however that ends.
"""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rosenblatt.data.ahead import in_order
from rosenblatt.data.arrow_rows import batch_of, block_of
from rosenblatt.data.blocks import Block, DataError
from rosenblatt.data.tables import arrow

__all__ = ["Kept"]

ROOM = 1 << 26
"""Bytes of rows that stay in memory."""
_KEY, _FACTS = b"rosenblatt-rows", b"rosenblatt-facts"

Facts = dict[str, Any]


class Kept:
    """The rows of one stream, once all of them have been read.

    Parameters
    ----------
    path : str or None
        The file to keep them in, None for one without a name.
    key : str
        What tells these rows from others: a file with another key is written anew.
    facts : callable
        Returns what is known about the rows after the last of them, as plain data, with "n_features" in it.
    """

    def __init__(self, path: str | None, key: str, facts: Callable[[], Facts]) -> None:
        self._path, self._key, self._facts = path, key, facts
        self._blocks: list[Block] | None = None
        self._reader: Any = None
        self._width = 0
        self._filling = self._given_up = False
        self.rows = 0
        self.found: Facts | None = None
        """What is known about the rows, where they are those of another run."""
        if path is not None and os.path.isfile(path):
            with suppress(OSError):
                self.found = self._use(open(path, "rb", buffering=0))  # noqa: SIM115 (open as long as this lives)

    @property
    def full(self) -> bool:
        """Whether all rows are here."""
        return self._blocks is not None or self._reader is not None

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the rows that are here."""
        if self._blocks is not None:
            yield from self._blocks
            return
        first = 0
        work = in_order((k for k in range(self._reader.num_record_batches)), self._block, 1)
        try:
            for X, y, weight in work:
                if len(y):
                    yield Block(X, y, first, weight, checked=True)
                    first += len(y)
        finally:
            work.close()

    def filling(self, blocks: Generator[Block, None, None]) -> Generator[Block, None, None]:
        """Yield the blocks and keep them; unless all of them are read, none is kept."""
        if self._filling or self._given_up:
            yield from blocks
            return
        self._filling = True
        few: list[Block] = []
        file: _File | None = None
        room, rows = ROOM if self._path is None else 0, 0
        try:
            for block in blocks:
                rows, room = rows + len(block), room - block.size
                few.append(block)
                if room < 0:
                    with self._giving_up():
                        file = file or _File(self._path, self._key, block)
                        file.write(few)
                    few = []
                    if self._given_up:
                        yield block
                        break
                yield block
            yield from blocks  # where keeping them was given up
            if room >= 0:
                self._blocks, self.rows = few, rows
            elif file is not None and not self._given_up:
                with self._giving_up():
                    self._use(file.finished(self._facts() | {"rows": rows}))
                    file = None
        finally:
            self._filling = False
            if file is not None:
                file.discard()

    @contextmanager
    def _giving_up(self) -> Iterator[None]:
        """Go on without keeping rows where that cannot be done."""
        try:
            yield
        except (OSError, ValueError, arrow().ArrowException) as error:
            self._given_up = True
            where = "a temporary file" if self._path is None else self._path
            warnings.warn(f"rows cannot be kept in {where} ({error}): they are read anew in each pass.", stacklevel=5)

    def _block(self, k: int) -> tuple[Any, Any, Any]:
        try:
            return block_of(self._reader.get_batch(k), self._width)
        except (OSError, ValueError, arrow().ArrowException) as error:
            where = "the temporary file of rows" if self._path is None else self._path
            raise DataError(f"{where} is damaged ({error}): delete it, and the rows are read anew.") from None

    def _use(self, file: Any) -> Facts | None:
        """Read from a file if it is complete and of these rows, and return what it says about them."""
        pa, ipc = arrow(), arrow(".ipc")
        try:
            reader = ipc.open_file(pa.PythonFile(file, "r"))
            facts: Facts = {}
            if (reader.schema.metadata or {}).get(_KEY) == self._key.encode() and reader.num_record_batches:
                last = reader.get_batch_with_custom_metadata(reader.num_record_batches - 1)
                facts = json.loads(last.custom_metadata[_FACTS])
        except (pa.ArrowException, ValueError, TypeError, KeyError):
            facts = {}
        if not facts:
            file.close()
            return None
        self._reader, self.rows, self._width = reader, facts["rows"], facts["n_features"]
        return facts


class _File:
    """A file of rows that is being written."""

    def __init__(self, path: str | None, key: str, like: Block) -> None:
        self._path = path
        if path is None:
            self._file: Any = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (it goes on living as what is read)
        else:
            self._part = f"{path}.{os.getpid()}.part"
            self._file = open(self._part, "w+b", buffering=0)  # noqa: SIM115
        self._like = batch_of(like)
        schema = self._like.schema.with_metadata({_KEY: key})
        pa = arrow()
        self._sink = pa.PythonFile(self._file, "w")
        self._writer = arrow(".ipc").new_file(self._sink, schema)

    def write(self, blocks: list[Block]) -> None:
        """Write blocks; a ValueError where they are not like the first."""
        for block in blocks:
            batch = batch_of(block)
            if batch.schema != self._like.schema:
                raise ValueError(f"their columns change from {self._like.schema} to {batch.schema}".replace("\n", ", "))
            self._writer.write_batch(batch)

    def finished(self, facts: Facts) -> Any:
        """Write what is known about the rows, give the file its name, and return it to be read."""
        self._writer.write_batch(self._like[:0], custom_metadata={_FACTS: json.dumps(facts)})
        self._writer.close()
        if self._path is not None:
            os.replace(self._part, self._path)
        self._file.seek(0)
        return self._file

    def discard(self) -> None:
        """Forget what was written."""
        with suppress(OSError):
            self._file.close()
            if self._path is not None:
                os.unlink(self._part)
