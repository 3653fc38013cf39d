"""How a CSV file is written: what stands between its cells, and whether its first record names the columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rosenblatt.data.tables.column_names import DELIMITERS

_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class Expected:
    """What is known of a file before it is read, where other files like it were read before."""

    columns: Sequence[str] = ()
    """Columns by which its dialect is recognised."""
    usual: Mapping[str, Any] = field(default_factory=dict)
    """The dialect of the files before, where these do not tell."""
    named: Sequence[str] = ()
    """Columns that options name: a first record with one of them has names."""

    def delimiter(self, line: bytes, quote: str) -> str:
        """Return what stands between the cells of the first line: what gives the expected columns, if anything does.

        >>> Expected().delimiter(b"a;b", ""), Expected(("size, cm", "b")).delimiter(b"size, cm;b", "")
        (';', ';')
        """
        usual = self.usual.get("delimiter")
        there = [c for c in (usual or "") + DELIMITERS if c.encode() in line]
        for delimiter in there if self.columns else ():
            if _cells(line, delimiter, quote).issuperset(self.columns):
                return delimiter
        return usual if usual in there else next(iter(there), usual or ",")

    def has_header(self, cells: Sequence[str]) -> bool:
        """Return whether the first record, with these cells, names the columns.

        >>> Expected().has_header(["a", "7"]), Expected(("7",)).has_header(["a", "7"])
        (False, True)
        >>> Expected().has_header(["0", "1", "y"]), Expected(named=["y"]).has_header(["0", "1", "y"])
        (False, True)
        """
        there = {cell.strip() for cell in cells}
        if (self.columns and there.issuperset(self.columns)) or there.intersection(self.named):
            return True
        return bool(self.usual.get("header", not has_number(cells) or _counts_up(cells)))

    def is_data(self, cells: Sequence[str]) -> bool:
        """Return whether the first record looks like data where names are expected.

        >>> Expected(("a", "b")).is_data(["1", "2"]), Expected(("a", "b")).is_data(["a", "2"])
        (True, False)
        """
        return bool(self.columns) and has_number(cells) and not set(self.columns) & {cell.strip() for cell in cells}


def has_number(cells: Sequence[str]) -> bool:
    """Return whether a cell is a number."""
    return any(_NUMBER.fullmatch(cell) for cell in cells)


def _cells(line: bytes, delimiter: str, quote: str) -> set[str]:
    """Return the cells of a line, without blanks around them."""
    how: Any = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    try:
        return {
            cell.strip() for cell in next(csv.reader([line.decode("utf-8-sig", "replace")], delimiter=delimiter, **how))
        }
    except (csv.Error, StopIteration):
        return set()


def _counts_up(cells: Sequence[str]) -> bool:
    """Return whether all cells count the columns, from 0 or from 1, as pandas names columns.

    >>> _counts_up(["0", "1", "2"]), _counts_up(["1", "2"]), _counts_up(["1", "male", "yes"])
    (True, True, False)
    """
    numbers = [cell.strip() for cell in cells]
    return len(cells) > 1 and any(numbers == [str(k + first) for k in range(len(cells))] for first in (0, 1))
