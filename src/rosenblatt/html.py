"""Small charts for notebooks as inline SVG, without scripts, style sheets, ids or external resources.

Text and axes take the colour of the surrounding text, so they suit light and dark pages. The other colours contrast
with both backgrounds, and elements of different colours also differ in line style or marker. Each chart has a text
alternative (``aria-label``) and takes a few kilobytes, however large the data is.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rosenblatt.messages import evenly_spaced

BLUE, RED, GREEN = "#2A87D3", "#D55E00", "#009E73"  # near the Okabe-Ito colours; contrast of 3:1 on white and black
MOST_ROWS = 12
"""Maximum number of rows in a chart or a table in a notebook; a line below it counts the remaining rows."""
DOTS_UP_TO = 40
"""A curve with at most this many points shows each point as a dot."""
_MOST_POINTS, _MOST_TICKS = 120, 4  # maximum numbers of points of a curve and of tick labels of an axis
_WIDTH, _ROW = 360, 16  # in pixels: the width of a chart, and the height of a line of text
_MIDDLE, _APART = 26, 90  # the y coordinate of a number line; the minimum distance between two labels side by side
_LEFT, _TOP, _HEIGHT, _BELOW = 56, 8, 110, 48  # the margins and the height of a chart
_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML forbids
_LONGEST_NAME, _LONGEST_SENTENCE = 32, 700


def escaped(words: object, most: int = _LONGEST_SENTENCE) -> str:
    """Return text truncated to ``most`` characters and escaped for an HTML element or attribute.

    >>> escaped("a < b & c"), escaped("abcdef", 4), escaped(chr(0))
    ('a &lt; b &amp; c', 'abc…', '\ufffd')
    """
    return html.escape(_shortened(str(words), most))


def short_name(words: object) -> str:
    """Return a name on one line, truncated to 32 characters but not escaped, for a plot or a table.

    >>> short_name("two\\nlines"), short_name("x" * 99)
    ('two lines', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…')
    """
    return _shortened(" ".join(str(words).split()), _LONGEST_NAME)


def _shortened(text: str, most: int) -> str:
    text = _FORBIDDEN.sub("\ufffd", text)
    return text if len(text) <= most else text[: most - 1] + "…"


def described(sentences: Iterable[str], *pictures: str) -> str:
    """Return an HTML element with each sentence as a paragraph, followed by the pictures.

    >>> described(["a < b"], "<svg/>", "")
    '<div><p>a &lt; b</p><svg/></div>'
    """
    return "<div>" + "".join(f"<p>{escaped(sentence)}</p>" for sentence in sentences) + "".join(pictures) + "</div>"


def svg(width: int, height: int, words: str, *elements: str) -> str:
    """Return an SVG picture of ``width`` by ``height`` pixels, with ``words`` as the text for screen readers."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escaped(words)}" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" font-size="11" font-family="sans-serif" '
        f'fill="currentColor" style="max-width: 100%; height: auto">{"".join(elements)}</svg>'
    )


def text(x: float, y: float, words: object, anchor: str = "start") -> str:
    """Return SVG text at (x, y), which is the start, the middle or the end of the text according to ``anchor``."""
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{pixel(x)}" y="{pixel(y)}"{where}>{html.escape(short_name(words))}</text>'


def room_for(names: Iterable[object]) -> int:
    """Return an estimate of the width of the longest name in pixels, with a little space on both sides.

    >>> room_for(["a", "abc"]), room_for(["W" * 99])
    (50, 220)
    """
    return max(50, 12 + 13 * max((len(short_name(one)) for one in names), default=0) // 2)


def line(x1: float, y1: float, x2: float, y2: float, colour: str = "currentColor", width: float = 1.0) -> str:
    """Return an SVG line from (x1, y1) to (x2, y2)."""
    places = f'x1="{pixel(x1)}" y1="{pixel(y1)}" x2="{pixel(x2)}" y2="{pixel(y2)}"'
    return f'<line {places} stroke="{colour}" stroke-width="{width:g}"/>'


def pixel(value: float) -> str:
    """Return a coordinate as text, rounded to a tenth of a pixel.

    >>> pixel(2.0), pixel(1 / 3), pixel(-0.01)
    ('2', '0.3', '0')
    """
    return f"{round(value, 1) + 0.0:g}"


def number(value: float) -> str:
    """Return a number as text for an axis: integers of up to six digits in full, others with four significant digits.

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


def scale(low: float, high: float, start: float, end: float, log: bool = False) -> Callable[[float], float]:
    """Return a function that maps numbers from ``low`` to ``high`` to pixels from ``start`` to ``end``.

    The function is linear, or logarithmic with ``log=True``. ``low`` and ``high`` may be any finite numbers; on a
    logarithmic scale they must be positive. If they are equal, all numbers are mapped to the middle.

    >>> place = scale(-1e308, 1e308, 0, 100)
    >>> place(-1e308), place(0.0), place(1e308), scale(3, 3, 0, 100)(3)
    (0.0, 50.0, 100.0, 50.0)
    """
    if log:
        place = scale(math.log(low), math.log(high), start, end)
        return lambda value: place(math.log(value))
    size = max(abs(low), abs(high)) or 1.0
    span = high / size - low / size
    if not span > 0.0:
        return lambda value: (start + end) / 2.0
    return lambda value: start + (end - start) * ((value / size - low / size) / span)


# Marks on a number line, arrows to infinity, and a circle.


def number_line(low: float, high: float, words: str, start: float = 0.0) -> str:
    """Draw the bracket from ``low`` to ``high`` on a number line that begins at ``start`` or further left.

    Two ends that fall on the same pixel share one mark and one label. If one end is infinite, the bracket extends to
    the end of the line. If neither end is finite, an empty string is returned.

    >>> picture = number_line(0.5, 0.75, "between a half and three quarters")
    >>> [f">{end}</text>" in picture for end in ("0", "0.5", "0.75")]
    [True, True, True]
    """
    ends = [value for value in (low, high) if math.isfinite(value)]
    if not ends:
        return ""
    least, most = min(start, *ends), max(start, *ends)
    to_x = scale(least, most, 40.0, _WIDTH - 60.0)
    left = round(to_x(low), 1) if math.isfinite(low) else 12.0
    right = round(to_x(high), 1) if math.isfinite(high) else _WIDTH - 12.0
    parts = [
        line(10, _MIDDLE, _WIDTH - 10, _MIDDLE),
        line(to_x(start), _MIDDLE - 4, to_x(start), _MIDDLE + 4),
        f'<rect x="{pixel(left)}" y="{_MIDDLE - 5}" width="{pixel(max(right - left, 1.0))}" height="10" '
        f'fill="{BLUE}" fill-opacity="0.45"/>',
        *(line(x, _MIDDLE - 9, x, _MIDDLE + 9, BLUE, 2.0) for x in dict.fromkeys([left, right])),
    ]
    written: list[float] = []
    for x, label in ((left, number(low)), (right, number(high)), (to_x(start), number(start))):
        if all(abs(x - other) > 1.0 for other in written):
            beside = any(abs(x - other) < _APART for other in written)
            parts.append(text(x, _MIDDLE - 13 if beside else _MIDDLE + 21, label, "middle"))
            written.append(x)
    return svg(_WIDTH, _MIDDLE + 26, words, *parts)


def arrows(directions: Mapping[str, str], words: str) -> str:
    """Draw a row for each name: arrows for "+inf", "-inf" and "either", a dot for "finite", otherwise a cross.

    >>> picture = arrows({"age": "+inf", "dose": "finite"}, "age tends to infinity")
    >>> "age" in picture, picture.count("<path"), picture.count("<circle")
    (True, 1, 1)
    """
    shown = list(directions.items())[:MOST_ROWS]
    names = room_for(directions)
    left, middle, right = (names + x for x in (25, 100, 175))
    parts = [text(left, 12, "−∞", "middle"), text(middle, 12, "0", "middle"), text(right, 12, "+∞", "middle")]
    for i, (label, status) in enumerate(shown):
        y = 26 + _ROW * i
        parts.append(text(names, y + 4, label, "end"))
        tips = [right] * (status in ("+inf", "either")) + [left] * (status in ("-inf", "either"))
        for tip in tips:
            back = tip - 7 if tip == right else tip + 7
            shape = f"M{pixel(middle)} {y}H{pixel(tip)}M{pixel(back)} {y - 4}L{pixel(tip)} {y}L{pixel(back)} {y + 4}"
            parts.append(f'<path d="{shape}" fill="none" stroke="{RED}" stroke-width="2"/>')
        if status == "finite":
            parts.append(f'<circle cx="{pixel(middle)}" cy="{y}" r="3.5" fill="{BLUE}"/>')
        elif not tips:
            parts.append(text(middle, y + 4, f"× {status}", "middle"))
    if len(directions) > len(shown):
        parts.append(text(names, 30 + _ROW * len(shown), f"and {len(directions) - len(shown):,} more", "end"))
    return svg(names + 200, 24 + _ROW * (len(shown) + (len(directions) > len(shown))), words, *parts)


def circle(center: str, radius: str, words: str, inside: bool = True) -> str:
    """Draw a circle labelled with its center and radius, with + on the positive side and - on the negative side.

    >>> picture = circle("(1, 2)", "3", "a circle", inside=False)
    >>> ">(1, 2)</text>" in picture, ">r = 3</text>" in picture
    (True, True)
    """
    colour, x, y, r = BLUE if inside else RED, 110, 62, 52
    plus, minus = ((x, y + 34), (x + 92, y + 34)) if inside else ((x + 92, y + 34), (x, y + 34))
    return svg(
        _WIDTH,
        124,
        words,
        f'<circle cx="{x}" cy="{y}" r="{r}" fill="{colour}" fill-opacity="0.12" stroke="{colour}" stroke-width="2"/>',
        f'<circle cx="{x}" cy="{y}" r="2.5"/>',
        line(x, y, x + r, y),
        text(x, y - 7, center, "middle"),
        text(x + r + 6, y + 4, f"r = {radius}"),
        *(text(*place, sign, "middle") for place, sign in ((plus, "+"), (minus, "−"))),
    )


# Curves on two axes, and bar charts.


class Numbers(Protocol):
    """A sequence of numbers: a list, a range or an array."""

    def __len__(self) -> int: ...

    def __getitem__(self, i: int, /) -> Any: ...


@dataclass(frozen=True)
class Curve:
    """Points joined by lines, in order. A curve with a name appears in the legend."""

    x: Numbers
    y: Numbers
    name: str = ""
    colour: str = BLUE
    dash: str = ""

    def points(self) -> list[tuple[float, float]]:
        """Return at most 120 points to draw, evenly spaced by index and including the first and the last.

        >>> len(Curve(range(100_000), range(100_000)).points())
        120
        """
        return [(float(self.x[i]), float(self.y[i])) for i in evenly_spaced(len(self.x), _MOST_POINTS)]


def chart(
    curves: Sequence[Curve],
    words: str,
    x_name: str,
    log: bool = False,
    end: tuple[float, float, str] | None = None,
    least: float | None = None,
) -> str:
    """Draw curves over one horizontal axis, with tick labels on both axes.

    Linear axes label the smallest and the largest value if both are integers, and otherwise round numbers between
    them. Logarithmic axes label powers of ten. If there is no point to draw, an empty string is returned.

    Parameters
    ----------
    curves : sequence of Curve
        The curves. Points that are not finite are omitted, and on logarithmic scales also points that are not positive.
    words : str
        The text alternative for screen readers.
    x_name : str
        The label of the horizontal axis.
    log : bool, default=False
        Whether both scales are logarithmic; the label of the horizontal axis then states this.
    end : (x, y, text), optional
        A point to mark with a star, and its text in the legend.
    least : float, optional
        On a linear scale, the vertical axis begins at this number or below it. By default it begins at the smallest
        value.

    Examples
    --------
    >>> picture = chart([Curve([1, 2, 3], [5, 2, 0])], "mistakes by pass: 5, 2, 0", "pass")
    >>> picture.count("<circle"), ">5</text>" in picture
    (3, True)
    """
    drawn = [[point for point in curve.points() if _has_place(point, log)] for curve in curves]
    marked = [end[:2]] if end is not None and _has_place(end[:2], log) else []
    xs, ys = ([point[i] for part in (*drawn, marked) for point in part] for i in (0, 1))
    if not xs:
        return ""
    low, high = min(ys) if log or least is None else min(*ys, least), max(ys)
    bottom = _TOP + _HEIGHT
    to_x = scale(min(xs), max(xs), _LEFT, _WIDTH - 10, log)
    to_y = scale(low, low + 1.0 if high == least else high, bottom, _TOP, log)  # constant `least` goes to the bottom
    parts = [
        line(_LEFT, bottom, _WIDTH - 10, bottom),
        line(_LEFT, _TOP, _LEFT, bottom),
        text((_LEFT + _WIDTH) / 2, bottom + 27, x_name + ", logarithmic axes" * log, "middle"),
        *(text(_LEFT - 5, to_y(y) + 4, number(y), "end") for y in ticks(low, high, log)),
        *(text(to_x(x), bottom + 13, number(x), "middle") for x in ticks(min(xs), max(xs), log)),
    ]
    for curve, points in zip(curves, drawn, strict=True):
        parts.append(_curve(curve, [(to_x(x), to_y(y)) for x, y in points]))
    for x, y in marked:
        parts.append(text(to_x(x), to_y(y) + 4, "★", "middle"))
    named = [curve for curve in curves if curve.name]
    legend = [
        *((_polyline(curve, [(0, -4), (22, -4)]), curve.name) for curve in named),
        *[("", f"★ {end[2]}") for _ in marked if end],
    ]
    for i, (swatch, label) in enumerate(legend):
        y = bottom + _BELOW + _ROW * (i // 2)
        x = 8 + (i % 2) * 190
        parts.append(f'<g transform="translate({x} {y})">{swatch}{text(28 if swatch else 9, 0, label)}</g>')
    return svg(_WIDTH, bottom + _BELOW - 12 + _ROW * ((len(legend) + 1) // 2), words, *parts)


def ticks(low: float, high: float, log: bool = False) -> list[float]:
    """Return the numbers that label an axis: its ends if both are integers, otherwise up to four round numbers.

    A logarithmic axis is labelled with up to four powers of ten, or with its ends if it contains fewer than two powers.

    >>> ticks(0, 35), ticks(0.3, 12.5), ticks(1, 206.9, log=True), ticks(2.5, 2.5)
    ([0, 35], [5.0, 10.0], [1.0, 10.0, 100.0], [2.5])
    """
    if log:
        first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
        powers = range(first, last + 1, 1 + max(0, last - first) // _MOST_TICKS)
        return [10.0**k for k in powers] if len(powers) > 1 else [*dict.fromkeys([low, high])]
    span = high / 2 - low / 2  # halves cannot overflow
    if not 0.0 < span < math.inf or (low == int(low) and high == int(high)):
        return [*dict.fromkeys([low, high])]
    unit = 10.0 ** math.floor(math.log10(span))
    steps = (step * unit for step in (0.5, 1.0, 2.0, 5.0, 10.0))
    for step in steps:
        places = range(math.ceil(low / step), math.floor(high / step) + 1)
        if len(places) <= _MOST_TICKS:
            break
    return [place * step for place in places]


def _has_place(point: Sequence[float], log: bool) -> bool:
    return all(math.isfinite(value) and (value > 0.0 or not log) for value in point)


def _polyline(curve: Curve, places: Iterable[tuple[float, float]]) -> str:
    joined = " ".join(f"{pixel(x)},{pixel(y)}" for x, y in places)
    dash = f' stroke-dasharray="{curve.dash}"' if curve.dash else ""
    return f'<polyline points="{joined}" fill="none" stroke="{curve.colour}" stroke-width="2"{dash}/>'


def _curve(curve: Curve, places: list[tuple[float, float]]) -> str:
    if curve.dash or len(places) > DOTS_UP_TO:
        return _polyline(curve, places)
    dots = "".join(f'<circle cx="{pixel(x)}" cy="{pixel(y)}" r="2.2"/>' for x, y in places)
    return f'{_polyline(curve, places)}<g fill="{curve.colour}">{dots}</g>'


def bars(values: Mapping[str, float], words: str) -> str:
    """Draw a bar for each of the first twelve values, with its name on the left and its value on the right.

    >>> picture = bars({"row 3": 0.5, "row 8": 0.25}, "two weights")
    >>> picture.count("<rect"), ">row 3</text>" in picture, ">0.25</text>" in picture
    (2, True, True)
    """
    shown = [(label, float(value)) for label, value in list(values.items())[:MOST_ROWS]]
    sizes = [value for _, value in shown if math.isfinite(value)]
    to_x = scale(0.0, max(sizes, default=0.0), 0.0, 160.0) if max(sizes, default=0.0) > 0.0 else lambda value: 0.0
    left, parts = room_for(values), []
    for i, (label, value) in enumerate(shown):
        y = 14 + _ROW * i
        width = to_x(value) if math.isfinite(value) and value > 0.0 else 0.0
        parts.append(text(left - 6, y, label, "end"))
        parts.append(f'<rect x="{left}" y="{y - 9}" width="{pixel(max(width, 1.0))}" height="10" fill="{BLUE}"/>')
        parts.append(text(left + 4 + max(width, 1.0), y, number(value)))
    if len(values) > len(shown):
        parts.append(text(left, 14 + _ROW * len(shown), f"and {len(values) - len(shown):,} more"))
    return svg(left + 230, 8 + _ROW * (len(shown) + (len(values) > len(shown))), words, *parts)
