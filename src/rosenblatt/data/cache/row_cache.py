"""A cache of rows for further passes: in memory while they are few, in an uncompressed Arrow file beyond that.

Parsing text costs several times as much as learning from it, and further passes need not do it again. A file that the
user names also serves other runs; otherwise it has no name and disappears with the process, however that ends.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from itertools import count
from typing import Any, NoReturn

from rosenblatt.blocks import Block, DataError
from rosenblatt.data.cache.row_checks import check_facts
from rosenblatt.data.cache.row_file import RowFile, RowFileWriter, is_row_file
from rosenblatt.data.io.prefetch import ordered_map
from rosenblatt.data.row_source import Facts
from rosenblatt.data.tables.arrow_arrays import import_arrow
from rosenblatt.parameters import ParameterError, Setting

MEMORY_LIMIT = 1 << 26
"""Bytes of rows that are kept in memory."""
_numbers = count()


class RowCache:
    """The rows of one stream, once all of them have been read.

    Parameters
    ----------
    path : str or None
        The file to store them in, None for one without a name.
    key : str
        A digest that identifies these rows: a file with another key is replaced.
    get_facts : callable
        Returns what is known about the rows after the last of them, "n_features" included.
    width : int or None
        How many columns rows have, None where that is known after the last of them.

    Raises
    ------
    ParameterError
        If no file can be made at this path, or another kind of file is there.
    """

    def __init__(self, path: str | None, key: str, get_facts: Callable[[], Facts], width: int | None = None) -> None:
        self._path, self._key, self._get_facts = None if path is None else os.path.realpath(path), key, get_facts
        self._width = width
        self._in_memory: list[Block] | None = None
        self._file = self._open_file()
        self._reader: object = None
        """The iteration whose rows are recorded: the one begun last, unless an earlier one continues meanwhile."""
        self._disabled = False

    @property
    def complete(self) -> bool:
        """Whether all rows are in the cache."""
        return self._in_memory is not None or self._file is not None

    @property
    def facts(self) -> Facts | None:
        """What is known about the rows, if they are in a file."""
        return None if self._file is None else self._file.facts

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(map(len, self._in_memory or ())) if self._file is None else int(self._file.facts["rows"])

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the rows of the cache."""
        if self._file is None:
            yield from self._in_memory or ()
            return
        first = 0
        with closing(ordered_map((k for k in range(len(self._file))), self._block, 1)) as work:
            for block in work:
                yield replace(block, first=first)
                first += len(block)

    def record(self, blocks: Generator[Block, None, None]) -> Generator[Block, None, None]:
        """Yield blocks and store them. Nothing is stored unless all are read, by no other iteration meanwhile."""
        mine = object()
        if not self._disabled:
            self._reader = mine
        waiting: list[Block] = []
        file: _PartialFile | None = None
        space, rows = MEMORY_LIMIT if self._path is None else 0, 0
        try:
            for block in blocks:
                if self._is_only_reader(mine):
                    for array in block.arrays:
                        array.flags.writeable = False  # it is needed again
                    waiting.append(block)
                    rows, space = rows + len(block), space - block.nbytes
                if space < 0 and waiting:
                    with self._disable_on_error():
                        file = file or _PartialFile(self._path)
                        for one in waiting:
                            file.writer.write(one)
                    waiting = []
                yield block
            if self._is_only_reader(mine) and file is None:
                self._in_memory = waiting
            elif self._is_only_reader(mine) and file is not None:
                with self._disable_on_error():
                    file.finish(self._get_facts() | {"rows": rows, "key": self._key})
                    self._file = self._open_file() if self._path is not None else RowFile(file.file)
                    file = None
        finally:
            blocks.close()
            if file is not None:
                file.discard()

    def _is_only_reader(self, reader: object) -> bool:
        """Return whether no other iteration reads at the same time: the counts would be about both."""
        if self._reader is not reader:
            self._reader = None
        return self._reader is reader

    @contextmanager
    def _disable_on_error(self) -> Iterator[None]:
        """Continue without a cache if it cannot be written."""
        try:
            yield
        except (OSError, ValueError, import_arrow().ArrowException) as error:
            self._disabled, self._reader = True, None
            where = "a temporary file" if self._path is None else self._path
            warnings.warn(f"rows cannot be cached in {where} ({error}): each pass reads them again.", stacklevel=5)

    def _block(self, k: int) -> Block:
        assert self._file is not None
        try:
            block = self._file.block(k)
            if block.X.shape[1] != self._file.facts["n_features"]:
                raise ValueError("its rows are not as wide as it says")
            return block
        except (OSError, ValueError, import_arrow().ArrowException) as error:
            where = "the temporary file of rows" if self._path is None else self._path
            raise DataError(f"{where} is damaged ({error}): delete it, and the rows are read again.") from None

    def _open_file(self) -> RowFile | None:
        """Return the file that has these rows, if there is one."""
        path = self._path
        if path is None:
            return None
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            _refuse(f" must be a file in an existing folder, got {path}: make the folder first.")
        if os.path.exists(path) and not os.path.isfile(path):
            _refuse(f" must be a file, got {path}, which is something else.")
        file = _open_row_file(path) if os.path.exists(path) else None
        if file is not None and file.facts["key"] == self._key and self._width in (None, file.facts["n_features"]):
            return file
        if not os.access(folder, os.W_OK):
            _refuse(f" must be a file in a folder that can be written to, got {path}.")
        return None


def _refuse(problem: str) -> NoReturn:
    raise ParameterError(Setting("cache"), problem)


def _open_row_file(path: str) -> RowFile | None:
    """Return a row file, None if it is not complete; a ParameterError if it is another kind of file."""
    with ExitStack() as stack:
        file = stack.enter_context(open(path, "rb"))
        if os.path.getsize(path) and not is_row_file(file):
            _refuse(
                f" must be a file of rows or a new file, got {path}, another kind of file: delete it, or name another."
            )
        with suppress(OSError, ValueError, import_arrow().ArrowException):
            rows = RowFile(file)
            check_facts(rows.facts)
            stack.pop_all()  # it stays open as long as its rows are used
            return rows
    return None


class _PartialFile:
    """A row file that is being written, under another name if it has one."""

    def __init__(self, path: str | None) -> None:
        self._path, self._part = path, f"{path}.{os.getpid()}-{next(_numbers)}.part"
        self.file: Any = tempfile.TemporaryFile() if path is None else open(self._part, "wb")  # noqa: SIM115
        self.writer = RowFileWriter(self.file)

    def finish(self, facts: Facts) -> None:
        """Write the facts about the rows, and give the file its name."""
        self.writer.finish(facts)
        if self._path is not None:
            self.file.close()
            os.replace(self._part, self._path)

    def discard(self) -> None:
        """Delete the file."""
        with suppress(OSError):
            self.file.close()
        if self._path is not None:
            with suppress(OSError):
                os.unlink(self._part)
