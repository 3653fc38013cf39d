"""A small immutable table with named columns, which can be shown as text or HTML or converted to pandas."""

from __future__ import annotations

import html
import importlib
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

from rosenblatt.messages import Message, Spelling, escape_unprintable


class Table:
    """An immutable table of named columns of equal length, with a title and notes.

    It prints as aligned plain text, and a notebook shows it as HTML. `to_pandas` returns a data frame, `to_dict` a
    dictionary of plain Python values. For a table ``t``, ``len(t)`` is the number of rows, ``t.columns`` lists the
    column names, and ``t["name"]`` is one column as a list. Iterating yields each row as a dictionary.

    Parameters
    ----------
    columns : mapping of str to sequence
        The columns by name, in display order. NumPy arrays and scalars become plain Python values.
    title : str, default ""
        The line above the table; no line if it is empty.
    notes : sequence of str or Message, default ()
        The lines below the table.

    Examples
    --------
    >>> t = Table({"pass": [1, 2], "error": [0.123456, 0.0]}, title="By pass", notes=["2 is clean."])
    >>> t
    By pass
    pass   error
    ------------
       1  0.1235
       2       0
    2 is clean.
    >>> t["pass"]
    [1, 2]
    >>> list(t)[1]
    {'pass': 2, 'error': 0.0}
    """

    __slots__ = ("_columns", "_notes", "_title")

    def __init__(
        self, columns: Mapping[str, Iterable[object]], title: str = "", notes: Sequence[str | Message] = ()
    ) -> None:
        for name, values in columns.items():
            if not isinstance(name, str):
                raise ValueError(f"a column's name must be a string, got {name!r}: use {str(name)!r}.")
            if isinstance(values, str | bytes) or not isinstance(values, Iterable):
                raise ValueError(f"column {name!r} must be a sequence of values, got {values!r}: wrap it in a list.")
        self._columns = {
            name: [value.tolist() if isinstance(value, np.generic | np.ndarray) else value for value in values]
            for name, values in columns.items()
        }
        lengths = {name: len(values) for name, values in self._columns.items()}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
            raise ValueError(f"columns must be of equal length, got {found}: fill the short ones with None.")
        self._title = title
        self._notes = (notes,) if isinstance(notes, str) else tuple(notes)

    @property
    def title(self) -> str:
        """The line above the table."""
        return self._title

    @property
    def notes(self) -> tuple[str, ...]:
        """The lines below the table."""
        return tuple(map(str, self._notes))

    def render_notes(self, spell: Spelling) -> list[str]:
        """Return the notes as text, using ``spell`` to write each parameter that they mention."""
        return [note.render(spell) if isinstance(note, Message) else note for note in self._notes]

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self._columns)

    def __len__(self) -> int:
        return max((len(values) for values in self._columns.values()), default=0)

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self._columns:
            raise KeyError(f"no column {name!r}; the columns are {self.columns}")
        return list(self._columns[name])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in zip(*self._columns.values(), strict=True):
            yield dict(zip(self._columns, row, strict=True))

    def __repr__(self) -> str:
        return self.to_text()

    def to_text(self, digits: int = 4) -> str:
        """Return the table as aligned plain text, with numbers rounded to ``digits`` significant digits.

        Columns of numbers are right-aligned, all others left-aligned. Integers are printed in full, and so is the
        integer part of a float below a million. A missing value (None) is shown as a dash, and a character that is not
        printable as an escape such as ``\\x1b``.

        >>> print(Table({"word": ["good", "bad"], "weight": [2 / 3, -12345.6]}).to_text(digits=2))
        word  weight
        ------------
        good    0.67
        bad   -12346
        """
        columns = []
        for name, values in self._columns.items():
            cells = [*map(escape_unprintable, [_one_line(name), *(_cell(value, digits) for value in values)])]
            width = max(map(_width, cells))
            right = _is_numeric(values)
            pads = [" " * (width - _width(cell)) for cell in cells]
            columns.append([pad + cell if right else cell + pad for cell, pad in zip(cells, pads, strict=True)])
        lines = ["  ".join(row) for row in zip(*columns, strict=True)]
        if lines:
            lines.insert(1, "-" * max(map(_width, lines)))
        above, below = [self.title] * bool(self.title), list(self.notes)
        return "\n".join(escape_unprintable(line, keep="\n").rstrip() for line in above + lines + below)

    def _repr_html_(self) -> str:
        aligns = ["right" if _is_numeric(values) else "left" for values in self._columns.values()]

        def row(tag: str, cells: Iterable[str]) -> str:
            pairs = zip(cells, aligns, strict=True)
            line = "".join(f'<{tag} style="text-align: {a}">{html.escape(c)}</{tag}>' for c, a in pairs)
            return f"<tr>{line}</tr>"

        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        body = "".join(row("td", map(_cell, record)) for record in zip(*self._columns.values(), strict=True))
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<table>{caption}<thead>{row('th', self._columns)}</thead><tbody>{body}</tbody></table>{notes}"

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists of plain Python values, ready for JSON.

        >>> Table({"weight": np.array([0.5, -1.0])}).to_dict()
        {'weight': [0.5, -1.0]}
        """
        return {name: list(values) for name, values in self._columns.items()}

    def to_pandas(self) -> Any:
        """Return the table as a ``pandas.DataFrame``; raise an ImportError if pandas is not installed.

        >>> Table({"weight": [0.5, -1.0]}).to_pandas().shape
        (2, 1)
        """
        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas, or use to_dict()") from error
        return pandas.DataFrame(self.to_dict())


def _is_number(value: object) -> TypeGuard[Real]:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_numeric(values: Sequence[object]) -> bool:
    return any(map(_is_number, values)) and all(value is None or _is_number(value) for value in values)


def _cell(value: object, digits: int = 4) -> str:
    if value is None:
        return "-"
    if not _is_number(value) or isinstance(value, Integral):
        return _one_line(value)
    x = float(value)
    if not math.isfinite(x):
        return str(x)
    if 10**digits <= abs(x) < 1e6:
        return f"{x:.0f}"
    return f"{x + 0.0:.{digits}g}"  # + 0.0 turns -0.0 into 0.0


def _one_line(value: object) -> str:
    return " ".join(str(value).splitlines())


def _width(text: str) -> int:
    """Return the width of a text on a terminal: two for each wide character, none for combining marks, else one."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )
