"""The table that describes columns: printed within 80 columns of a terminal, with what looks suspicious below it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rosenblatt.parameters import ParameterError, Phrase, Setting
from rosenblatt.tables import Table

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
