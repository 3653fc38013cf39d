"""A cache of rows for further passes: in memory while they are few, in an uncompressed Arrow file beyond that.

Parsing text costs several times as much as learning from it, and further passes need not do it again. A file that the
user names also serves other runs; otherwise it has no name and disappears with the process, however that ends.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from typing import Any, NoReturn

from rosenblatt.blocks import Block
from rosenblatt.data.cache.row_checks import check_facts
from rosenblatt.data.cache.row_file import RowFile, RowFileWriter, is_row_file
from rosenblatt.data.io.prefetch import ordered_map
from rosenblatt.data.row_source import Facts
from rosenblatt.data.tables.arrow_arrays import import_arrow
from rosenblatt.parameters import ParameterError, Setting
from rosenblatt.storage.atomic import Replacement
from rosenblatt.user_warnings import warn_user

MEMORY_LIMIT = 1 << 26
"""Bytes of rows that are kept in memory."""


class DamagedCache(Exception):
    """Rows of the cache that cannot be read any more; they are in the files still."""


class RowCache:
    """The rows of one stream, once all of them have been read.

    Where they cannot be stored, or not be read again, a warning says so and the files are read instead.

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
        If another kind of file is at this path.
    """

    def __init__(self, path: str | None, key: str, get_facts: Callable[[], Facts], width: int | None = None) -> None:
        self._path, self._key, self._get_facts = None if path is None else os.path.realpath(path), key, get_facts
        self._width = width
        self._in_memory: list[Block] | None = None
        self._reader: object = None
        """The iteration whose rows are recorded: the one begun last, unless an earlier one continues meanwhile."""
        self._disabled = False
        self._file = self._open_file()

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
        """Yield the rows of the cache; where that fails, warn, forget them, and raise a `DamagedCache`."""
        if self._file is None:
            yield from self._in_memory or ()
            return
        first, file = 0, self._file
        try:
            with closing(ordered_map((k for k in range(len(file))), file.block, 1)) as work:
                for block in work:
                    yield replace(block, first=first)
                    first += len(block)
        except (OSError, ValueError, import_arrow().ArrowException) as error:
            self._file = None
            warn_user(f"rows cached in {self._place} are damaged ({error}): they are read from the files.", UserWarning)
            raise DamagedCache from None

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
        except ParameterError:
            raise
        except (OSError, ValueError, import_arrow().ArrowException) as error:
            self._disable(str(error))

    def _disable(self, reason: str) -> None:
        self._disabled, self._reader = True, None
        warn_user(f"rows cannot be cached in {self._place} ({reason}): each pass reads them again.", UserWarning)

    @property
    def _place(self) -> str:
        return "a temporary file" if self._path is None else self._path

    def _open_file(self) -> RowFile | None:
        """Return the file that has these rows, if there is one."""
        path = self._path
        if path is None:
            return None
        if os.path.exists(path) and not os.path.isfile(path):
            _refuse(f" must be a file, got {path}, which is something else.")
        with self._disable_on_error():
            file = _open_row_file(path) if os.path.exists(path) else None
            facts = {} if file is None else file.facts
            if facts.get("key") == self._key and self._width in (None, facts["n_features"]):
                return file
            folder = os.path.dirname(path)
            if not os.access(folder, os.W_OK):
                self._disable("the folder cannot be written to" if os.path.isdir(folder) else "there is no such folder")
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
    """A row file that is being written, without a name until it is complete."""

    def __init__(self, path: str | None) -> None:
        self._named = None if path is None else Replacement(path)
        self.file: Any = (
            tempfile.TemporaryFile() if self._named is None else open(self._named.descriptor, "wb", closefd=False)  # noqa: SIM115
        )
        self.writer = RowFileWriter(self.file)

    def finish(self, facts: Facts) -> None:
        """Write the facts about the rows, and give the file its name."""
        self.writer.finish(facts)
        if self._named is not None:
            os.fsync(self.file.fileno())  # a power cut leaves no file that has its name and not all of its rows
            self.file.close()
            self._named.keep()

    def discard(self) -> None:
        """Delete the file."""
        with suppress(OSError):
            self.file.close()
        if self._named is not None:
            self._named.discard()
