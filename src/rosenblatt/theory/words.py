"""Rows and numbers as they are printed in sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from rosenblatt.theory.inputs import Numbers

MINUS = "\N{MINUS SIGN}"


def as_float(value: float | Fraction) -> float:
    """Return the nearest float, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def number_text(value: float | Fraction, digits: int = 6) -> str:
    """Return some digits of a number, which may be a fraction beyond the range of floats.

    >>> number_text(-0.0), number_text(Fraction(10**400, 3))
    ('0', '3.33333e+399')
    """
    near = as_float(value) + 0.0  # no -0
    if isinstance(value, Fraction) and (math.isinf(near) or (near == 0) != (value == 0)):
        return f"{Decimal(value.numerator) / Decimal(value.denominator):.{digits}g}"
    return f"{near:.{digits}g}"


def true_minus(text: str) -> str:
    """Return a text whose negative numbers have a true minus; hyphens stay.

    >>> true_minus("-2 to 1e-05, half-planes")
    '−2 to 1e−05, half-planes'
    """
    return re.sub(r"(?<!\w)-(?=\.?\d)|(?<=\de)-(?=\d)", MINUS, text)


def shown_number(value: float | Fraction, digits: int = 3) -> str:
    """Return a number as pictures show it: some digits, or all of thousands, with a true minus.

    >>> shown_number(-0.12345), shown_number(2.0), shown_number(2994.1), shown_number(123456, digits=6)
    ('−0.123', '2', '2,994', '123,456')
    """
    size = abs(as_float(value))
    grouped = 1000 <= size < 1e6 and (digits < 4 or value == int(value))
    return true_minus(f"{as_float(value):,.0f}" if grouped else number_text(value, digits))


def vector_text(values: Sequence[float | Fraction] | Numbers, digits: int = 6) -> str:
    """Return the first numbers of a vector.

    >>> vector_text([1.0, 0.5]), vector_text(range(9))
    ('(1, 0.5)', '(0, 1, 2, 3, 4, 5, ...)')
    """
    return f"({', '.join(number_text(value, digits) for value in values[:6])}{', ...' if len(values) > 6 else ''})"


def rows_text(rows: Sequence[int], most: int | None = None) -> str:
    """Return the row numbers, or the first ``most`` of them.

    >>> rows_text([3]), rows_text([0, 2, 5], most=2)
    ('row 3', 'rows 0, 2, ...')
    """
    shown = [str(row) for row in rows[:most]] + ["..."] * (most is not None and len(rows) > most)
    return f"row{'' if len(rows) == 1 else 's'} {', '.join(shown)}"


def rows_do(rows: Sequence[int], do: str) -> str:
    """Return the rows and what they do.

    >>> rows_do([3], "add up"), rows_do([0, 2], "prove")
    ('the row 3 adds up', 'the rows 0, 2 prove')
    """
    verb, _, rest = do.partition(" ")
    verb += "s" if len(rows) == 1 else ""
    return f"the {rows_text(rows, most=12)} {verb} {rest}".rstrip()


def bound_text(bound: float) -> str:
    """Return a bound on a count: the integer below it, but for rounding, or three digits of a large one.

    >>> bound_text(9.9999999999999), bound_text(12345.6), bound_text(1e12)
    ('10', '12,345', '1e+12')
    """
    return f"{math.floor(bound * (1 + 1e-12)):,}" if bound < 1e9 else f"{bound:.3g}"
