"""Rows kept for further passes: in memory while they are few, in an uncompressed Arrow file beyond that.

Parsing text costs several times as much as learning from it, and further passes need not do it again. A file that the
user names serves other runs too; otherwise it has no name, and is gone with the process, however that ends.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from typing import Any

from rosenblatt.blocks import Block, DataError
from rosenblatt.data.cache.row_file import RowsFile, RowsWriter, is_rows_file
from rosenblatt.data.io.prefetch import in_order
from rosenblatt.data.tables.reader import arrow

__all__ = ["Kept"]

ROOM = 1 << 26
"""Bytes of rows that stay in memory."""
_numbers = count()

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

    Raises
    ------
    ValueError
        If no file can be made there, or the one that is there is none of rows.
    """

    def __init__(self, path: str | None, key: str, facts: Callable[[], Facts]) -> None:
        self._path, self._key, self._facts = None if path is None else os.path.realpath(path), key, facts
        self._few: list[Block] | None = None
        self._file = self._found()
        self._turn: object = None
        """Whose rows are being kept: of who began to read last, unless somebody else reads on."""
        self._given_up = False
        self._rows = 0

    @property
    def full(self) -> bool:
        """Whether all rows are here."""
        return self._few is not None or self._file is not None

    @property
    def found(self) -> Facts | None:
        """What is known about the rows, where they are in a file."""
        return None if self._file is None else self._file.facts

    @property
    def rows(self) -> int:
        """How many rows are here."""
        return self._rows if self._file is None else int(self._file.facts["rows"])

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the rows that are here."""
        if self._file is None:
            yield from self._few or ()
            return
        first, checked = 0, self._file.facts["checked"]
        work = in_order((k for k in range(len(self._file))), self._block, 1)
        try:
            for X, y, weight in work:
                yield Block(X, y, first, weight, checked=checked)
                first += len(y)
        finally:
            work.close()

    def filling(self, blocks: Generator[Block, None, None]) -> Generator[Block, None, None]:
        """Yield the blocks and keep them; unless all of them are read, and nothing else meanwhile, none is kept."""
        mine = object()
        if not self._given_up:
            self._turn = mine
        few: list[Block] = []
        draft: _Draft | None = None
        room, rows = ROOM if self._path is None else 0, 0
        try:
            for block in blocks:
                if self._is_turn_of(mine):
                    few.append(_read_only(block))
                    rows, room = rows + len(block), room - block.size
                if room < 0 and few:
                    with self._giving_up():
                        draft = draft or _Draft(self._path)
                        draft.write(few)
                    few = []
                yield block
            if self._is_turn_of(mine) and draft is None:
                self._few, self._rows = few, rows
            elif self._is_turn_of(mine) and draft is not None:
                with self._giving_up():
                    draft.finish(self._facts() | {"rows": rows, "key": self._key})
                    self._file = self._found() if self._path is not None else RowsFile(draft.file)
                    draft = None
        finally:
            blocks.close()
            if draft is not None:
                draft.discard()

    def _is_turn_of(self, reader: object) -> bool:
        """Say whether nobody else reads at the same time: what is counted meanwhile is about both."""
        if self._turn is not reader:
            self._turn = None
        return self._turn is reader

    @contextmanager
    def _giving_up(self) -> Iterator[None]:
        """Go on without keeping rows where that cannot be done."""
        try:
            yield
        except (OSError, ValueError, arrow().ArrowException) as error:
            self._given_up, self._turn = True, None
            where = "a temporary file" if self._path is None else self._path
            warnings.warn(f"rows cannot be kept in {where} ({error}): they are read anew in each pass.", stacklevel=5)

    def _block(self, k: int) -> tuple[Any, Any, Any]:
        assert self._file is not None
        try:
            return self._file.block(k)
        except (OSError, ValueError, arrow().ArrowException) as error:
            where = "the temporary file of rows" if self._path is None else self._path
            raise DataError(f"{where} is damaged ({error}): delete it, and the rows are read anew.") from None

    def _found(self) -> RowsFile | None:
        """Return the file that has these rows, if there is one."""
        path = self._path
        if path is None:
            return None
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            raise ValueError(f"cache must be a file in a folder that is there, got {path}: make the folder first.")
        if os.path.exists(path) and not os.path.isfile(path):
            raise ValueError(f"cache must be a file, got {path}, which is something else.")
        found = _opened(path) if os.path.exists(path) else None
        if found is not None and found.facts["key"] == self._key:
            return found
        if not os.access(folder, os.W_OK):
            raise ValueError(f"cache must be a file in a folder that can be written to, got {path}.")
        return None


def _opened(path: str) -> RowsFile | None:
    """Return a file of rows, None where it is not complete; a ValueError where it is something else."""
    with ExitStack() as stack:
        file = stack.enter_context(open(path, "rb"))
        if os.path.getsize(path) and not is_rows_file(file):
            raise ValueError(f"{path} is there and is no file of rows: delete it, or name another file by cache=.")
        with suppress(ValueError, arrow().ArrowException):
            rows = RowsFile(file)
            stack.pop_all()  # it stays open as long as its rows are used
            return rows
    return None


class _Draft:
    """A file of rows that is being written."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        if path is None:
            self.file: Any = tempfile.TemporaryFile()  # noqa: SIM115 (it goes on living as what is read)
        else:
            self._part = f"{path}.{os.getpid()}-{next(_numbers)}.part"
            self.file = open(self._part, "wb")  # noqa: SIM115
        self._writer = RowsWriter(self.file)

    def write(self, blocks: list[Block]) -> None:
        """Write blocks."""
        for block in blocks:
            self._writer.write(block)

    def finish(self, facts: Facts) -> None:
        """Write what is known about the rows, and give the file its name."""
        self._writer.finish(facts)
        if self._path is not None:
            self.file.close()
            os.replace(self._part, self._path)

    def discard(self) -> None:
        """Forget what was written."""
        with suppress(OSError):
            self.file.close()
        if self._path is not None:
            with suppress(OSError):
                os.unlink(self._part)


def _read_only(block: Block) -> Block:
    """Return the block, with numbers that nobody can change: they are needed again."""
    for array in block.arrays:
        array.flags.writeable = False
    return block
