"""Dates as people write them, 30.05.2023 or 5/30/2023: the order of day and month, and the same dates as ISO 8601."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from rosenblatt.data.tables.arrow_arrays import import_arrow
from rosenblatt.parameters import shorten

if TYPE_CHECKING:
    import pyarrow as pa

_TIME = (
    r"(?:(?:T|,? )[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?"
    r"(?:\s?(?:[AaPp][Mm]|Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?)?"
)
_YEAR_FIRST = re.compile(rf"[0-9]{{4}}([-/.])[0-9]{{1,2}}\1[0-9]{{1,2}}{_TIME}")
_YEAR_LAST = re.compile(rf"([0-9]{{1,2}})([-/.])([0-9]{{1,2}})\2([0-9]{{4}}|[0-9]{{2}}){_TIME}")
_MONTHS = 12


class DateForm(NamedTuple):
    """How dates are written."""

    order: str
    """One of ``DATE_ORDERS`` of preparations; "" where the year comes first, or where the order is unclear."""
    unclear: str = ""
    """Why the dates cannot be read, as what a column does; "" if they can."""
    example: str = ""
    """One of the dates as it could be read."""


def date_form(texts: Iterable[str]) -> DateForm | None:
    """Return how some texts are written that are all dates; None if one is none, or there are none.

    With points the day comes first. With slashes and hyphens the order is that of the dates with a number above 12.

    Examples
    --------
    >>> date_form(["30.05.2023", "01.02.2023"]).order, date_form(["1/2/2023", "5/30/2023"]).order
    ('dmy', 'mdy')
    >>> date_form(["2023/05/30", "2023-05-31"])
    DateForm(order='', unclear='', example='')
    >>> date_form(["03/04/2023"]).unclear
    'holds dates such as 03/04/2023, and nothing shows whether the day or the month comes first'
    """
    last, found = [], False
    for text in texts:
        found = True
        if _YEAR_FIRST.fullmatch(text):
            continue
        match = _YEAR_LAST.fullmatch(text)
        if match is None:
            return None
        last.append(match)
    return _form_of_year_last(last) if found else None


def order_of(texts: Iterable[str]) -> DateForm:
    """Return how those among some texts are written that are dates."""
    dates = [text for text in texts if _YEAR_FIRST.fullmatch(text) or _YEAR_LAST.fullmatch(text)]
    return date_form(dates) or DateForm("")


def _form_of_year_last(dates: list[re.Match[str]]) -> DateForm:
    if not dates:
        return DateForm("")
    short = next((date for date in dates if len(date[4]) == 2), None)
    if short:
        return DateForm("", f"holds dates such as {shorten(short[0])}, whose century is not written", _as_iso(short))
    days_first = [date for date in dates if date[2] == "." or int(date[1]) > _MONTHS >= int(date[3])]
    months_first = [date for date in dates if date[2] != "." and int(date[3]) > _MONTHS >= int(date[1])]
    if days_first and months_first:
        both = f"{days_first[0][0]} and {months_first[0][0]}"
        return DateForm("", f"holds dates such as {both}, in two orders", _as_iso(days_first[0]))
    if days_first or months_first:
        return DateForm("dmy" if days_first else "mdy")
    why = "and nothing shows whether the day or the month comes first"
    return DateForm("", f"holds dates such as {dates[0][0]}, {why}", _as_iso(dates[0]))


def _as_iso(date: re.Match[str]) -> str:
    """Return a date as it could be meant, as ISO 8601 writes it."""
    day, month = int(date[1]), int(date[3])
    if month > _MONTHS:
        day, month = month, day
    return f"{'20' * (len(date[4]) == 2)}{date[4]}-{month:02}-{day:02}"


def to_iso(texts: pa.Array, order: str = "") -> pa.Array:
    """Return dates as ISO 8601 writes them, where their year comes first or they have this order; others as they are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> to_iso(pa.array(["30.5.2023 8:15", "2023/5/1", "5/30/2023"]), "dmy").to_pylist()
    ['2023-05-30 08:15', '2023-05-01', '2023-30-05']
    >>> to_iso(pa.array(["5/30/2023, 8:15 PM", "30.5.2023"]), "mdy").to_pylist()
    ['2023-05-30 20:15', '30.5.2023']
    """
    replace = import_arrow(".compute").replace_substring_regex
    for mark in "-/.":
        sign = re.escape(mark)
        texts = replace(texts, rf"^([0-9]{{4}}){sign}([0-9]{{1,2}}){sign}([0-9]{{1,2}})($|[^0-9])", r"\1-\2-\3\4")
        if order == "dmy" or (order == "mdy" and mark != "."):
            year_first = r"\3-\2-\1\4" if order == "dmy" else r"\3-\1-\2\4"
            texts = replace(texts, rf"^([0-9]{{1,2}}){sign}([0-9]{{1,2}}){sign}([0-9]{{4}})($|[^0-9])", year_first)
    texts = replace(texts, r"^([0-9]{4})-([0-9])-", r"\1-0\2-")
    texts = replace(texts, r"^([0-9]{4}-[0-9]{2})-([0-9])($|[^0-9])", r"\1-0\2\3")
    texts = replace(texts, r"^([0-9-]{10}), ", r"\1 ")
    texts = replace(texts, r"^([0-9-]{10}[T ])([0-9]):", r"\10\2:")
    return _without_halves(texts)


def _without_halves(texts: pa.Array) -> pa.Array:
    """Return dates with hours from 0 to 23 where they had am and pm."""
    pc = import_arrow(".compute")
    if not pc.any(pc.match_substring_regex(texts, "[AaPp][Mm]$")).as_py():
        return texts
    for hour in range(1, 13):
        for half, later in (("Aa", 0), ("Pp", 12)):
            pattern = rf"^([0-9-]{{10}}[T ])0?{hour}((?::[0-9]{{2}}){{1,2}}) ?[{half}][Mm]$"
            texts = pc.replace_substring_regex(texts, pattern, rf"\1{hour % 12 + later:02}\2")
    return texts
