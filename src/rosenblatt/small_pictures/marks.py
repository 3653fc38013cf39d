"""Marks on a number line, arrows to infinity, and a circle."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from rosenblatt.small_pictures.markup import BLUE, MOST_ROWS, RED, line, number, pixel, room_for, scale, svg, text

_WIDTH, _MIDDLE, _ROW = 360, 26, 16
_APART = 90
"""Pixels between two numbers that are written beside each other."""


def number_line(low: float, high: float, words: str, start: float = 0.0) -> str:
    """Draw the bracket from ``low`` to ``high`` on a number line that begins at ``start`` or before.

    Ends so near each other that they are the same pixel are one mark with one number. Nothing is drawn where neither
    is a number; where one is infinite, the bracket goes on to the end of the line.

    >>> picture = number_line(0.5, 0.75, "between a half and three quarters")
    >>> [f">{end}</text>" in picture for end in ("0", "0.5", "0.75")]
    [True, True, True]
    """
    ends = [value for value in (low, high) if math.isfinite(value)]
    if not ends:
        return ""
    least, most = min(start, *ends), max(start, *ends)
    to_x = scale(least, most, 40.0, _WIDTH - 60.0)
    left, right = (_place(value, to_x) for value in (low, high))
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


def _place(value: float, to_x: Callable[[float], float]) -> float:
    if math.isfinite(value):
        return round(to_x(value), 1)
    return 12.0 if value == -math.inf else _WIDTH - 12.0


def arrows(directions: Mapping[str, str], words: str) -> str:
    """Draw a line for each name: an arrow to "+inf", to "-inf" or to "either", a dot for "finite", a cross for others.

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
    """Draw a circle with its center and its radius, and a plus sign on the side of the positives.

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
