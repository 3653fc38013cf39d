"""Text and elements of the small pictures: what is escaped, shortened and scaled."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterable

BLUE, RED, GREEN = "#2A87D3", "#D55E00", "#009E73"  # near those of Okabe and Ito; 3 to 1 or more on white and on black
MOST_ROWS = 12
"""The rows of a picture or a table in a notebook; others are counted below it."""
_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML has no place for
_LONGEST_NAME, _LONGEST_SENTENCE = 32, 700


def escaped(words: object, most: int = _LONGEST_SENTENCE) -> str:
    """Return words as text of an element or an attribute, cut where they are long.

    >>> escaped("a < b & c"), escaped("abcdef", 4), escaped(chr(0))
    ('a &lt; b &amp; c', 'abc…', '\ufffd')
    """
    return html.escape(_shortened(str(words), most))


def short_name(words: object) -> str:
    """Return a name that has room in a picture or a table, on one line; not escaped.

    >>> short_name("two\\nlines"), short_name("x" * 99)
    ('two lines', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…')
    """
    return _shortened(" ".join(str(words).split()), _LONGEST_NAME)


def _shortened(text: str, most: int) -> str:
    text = _FORBIDDEN.sub("\ufffd", text)
    return text if len(text) <= most else text[: most - 1] + "…"


def described(sentences: Iterable[str], *pictures: str) -> str:
    """Return sentences as paragraphs, then the pictures.

    >>> described(["a < b"], "<svg/>", "")
    '<div><p>a &lt; b</p><svg/></div>'
    """
    return "<div>" + "".join(f"<p>{escaped(sentence)}</p>" for sentence in sentences) + "".join(pictures) + "</div>"


def svg(width: int, height: int, words: str, *elements: str) -> str:
    """Return a picture of some pixels, and what it shows in words for those who cannot see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escaped(words)}" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" font-size="11" font-family="sans-serif" '
        f'fill="currentColor" style="max-width: 100%; height: auto">{"".join(elements)}</svg>'
    )


def text(x: float, y: float, words: object, anchor: str = "start") -> str:
    """Return words that begin, end or are centred at a point."""
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{pixel(x)}" y="{pixel(y)}"{where}>{html.escape(short_name(words))}</text>'


def room_for(names: Iterable[object]) -> int:
    """Return how many pixels the longest of some names takes, with a little space on both sides.

    >>> room_for(["a", "abc"]), room_for(["W" * 99])
    (50, 220)
    """
    return max(50, 12 + 13 * max((len(short_name(one)) for one in names), default=0) // 2)


def line(x1: float, y1: float, x2: float, y2: float, colour: str = "currentColor", width: float = 1.0) -> str:
    """Return a straight line."""
    places = f'x1="{pixel(x1)}" y1="{pixel(y1)}" x2="{pixel(x2)}" y2="{pixel(y2)}"'
    return f'<line {places} stroke="{colour}" stroke-width="{width:g}"/>'


def pixel(value: float) -> str:
    """Return a coordinate to a tenth of a pixel.

    >>> pixel(2.0), pixel(1 / 3), pixel(-0.01)
    ('2', '0.3', '0')
    """
    return f"{round(value, 1) + 0.0:g}"


def number(value: float) -> str:
    """Return a number as it is written beside an axis: integers whole below a million, others with four digits.

    >>> number(12345), number(0.123456), number(1e300), number(-0.0), number(-math.inf)
    ('12,345', '0.1235', '1e+300', '0', '−∞')
    """
    if math.isinf(value):
        written = "∞" if value > 0 else "-∞"
    elif math.isfinite(value) and value == int(value) and abs(value) < 1e6:
        written = f"{int(value):,}"
    else:
        written = f"{value:.4g}"
    return written.replace("-", "−")


def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Return what maps the numbers from ``low`` to ``high`` to the pixels from ``start`` to ``end``.

    Numbers may be as large and as small as floats are. Where there is but one, it is in the middle.

    >>> place = scale(-1e308, 1e308, 0, 100)
    >>> place(-1e308), place(0.0), place(1e308), scale(3, 3, 0, 100)(3)
    (0.0, 50.0, 100.0, 50.0)
    """
    size = max(abs(low), abs(high)) or 1.0
    span = high / size - low / size
    if not span > 0.0:
        return lambda value: (start + end) / 2.0
    return lambda value: start + (end - start) * ((value / size - low / size) / span)
