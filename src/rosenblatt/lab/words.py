"""Numbers, features and separators as text for the page. Numbers and features have the same format as in `words.js`."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context

from rosenblatt.lab.state import LabState

SIGNS = {"x": "x", "y": "y", "xy": "xy", "x2": "x²", "y2": "y²", "r2": "x² + y²"}


def separators_words(state: LabState) -> str:
    """Return the name of a separator in feature space, such as "line", without an article.

    >>> separators_words(LabState()), separators_words(LabState(features=("x", "y", "r2")))
    ('line', 'plane in the space of (x, y, x² + y²)')
    """
    names = state.feature_names
    if set(names) == {"x", "y"}:
        return "line"
    if len(names) == 1:
        return f"threshold on {SIGNS[names[0]]}"
    kind = {2: "line", 3: "plane"}.get(len(names), "hyperplane")
    return f"{kind} in the space of ({', '.join(SIGNS[name] for name in names)})"


def separator_words(state: LabState) -> str:
    """Return the result of `separators_words` after the article "A", for the beginning of a sentence.

    >>> separator_words(LabState(features=("xy",)))
    'A threshold on xy'
    """
    return f"A {separators_words(state)}"


def short(value: float) -> str:
    """Return a number as text, rounded to about four significant digits, with the minus sign U+2212.

    >>> short(0.353553), short(-2.0), short(12345.6), short(1.2345e-5)
    ('0.3536', '−2', '12,346', '1.23e−5')
    """
    if not math.isfinite(value):
        return "?" if math.isnan(value) else "∞" if value > 0 else "−∞"
    size = abs(value)
    if size >= 1e7 or 0 < size < 1e-3:
        digits, exponent = f"{_rounded(value, 3):.2e}".split("e")
        text = f"{digits}e{int(exponent):+d}"
    elif size >= 1000:
        text = f"{math.floor(value + 0.5):,}"
    else:
        text = f"{_rounded(value, 4):.4g}"
    return text.replace("-", "−")


def _rounded(value: float, digits: int) -> float:
    """Return a number rounded to ``digits`` significant digits; ties are rounded away from 0, and -0 becomes 0.

    >>> _rounded(1.0625, 4), f"{1.0625:.4g}"
    (1.063, '1.062')
    """
    context = Context(prec=digits, rounding=ROUND_HALF_UP)
    return float(context.create_decimal_from_float(value)) + 0.0
