"""Curves on two axes, and bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rosenblatt.evenly import evenly_chosen
from rosenblatt.small_pictures.markup import BLUE, MOST_ROWS, line, number, pixel, room_for, scale, svg, text

_WIDTH, _HEIGHT, _LEFT, _TOP, _BELOW, _ROW = 360, 110, 56, 8, 48, 16
_MOST_POINTS, _MOST_TICKS = 120, 4
DOTS_UP_TO = 40
"""A curve of up to so many points gets a dot for each of them."""


class Numbers(Protocol):
    """A list, a range or an array of numbers."""

    def __len__(self) -> int: ...

    def __getitem__(self, i: int, /) -> Any: ...


@dataclass(frozen=True)
class Curve:
    """Points in the order in which they are joined. A curve with a name is in the legend."""

    x: Numbers
    y: Numbers
    name: str = ""
    colour: str = BLUE
    dash: str = ""

    def points(self) -> list[tuple[float, float]]:
        """Return the points to draw: all, or as many as can be told apart, evenly chosen with the first and the last.

        >>> len(Curve(range(100_000), range(100_000)).points())
        120
        """
        return [(float(self.x[i]), float(self.y[i])) for i in evenly_chosen(len(self.x), _MOST_POINTS)]


def chart(
    curves: Sequence[Curve],
    words: str,
    x_name: str,
    log: bool = False,
    end: tuple[float, float, str] | None = None,
    least: float | None = None,
) -> str:
    """Draw curves over one horizontal axis, with numbers beside each axis.

    They are the smallest and the largest where both are whole, as counts are, and else round ones between them.

    Parameters
    ----------
    curves : sequence of Curve
        What is not finite is left out, and so is what is not above 0 where scales are logarithmic.
    words : str
        What the picture shows, for those who cannot see it.
    x_name : str
        What the horizontal axis counts.
    log : bool
        Whether both scales are logarithmic, which the picture says.
    end : x, y and words, optional
        A point to mark by a star.
    least : float, optional
        The vertical axis begins at this number or below it, where scales are even.

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
    to_x = _scale(min(xs), max(xs), _LEFT, _WIDTH - 10, log)
    to_y = _scale(low, low + 1.0 if high == least else high, bottom, _TOP, log)  # what is all at the bottom stays there
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
    legend = [*((_swatch(curve), curve.name) for curve in named), *[("", f"★ {end[2]}") for _ in marked if end]]
    for i, (swatch, label) in enumerate(legend):
        y = bottom + _BELOW + _ROW * (i // 2)
        x = 8 + (i % 2) * 190
        parts.append(f'<g transform="translate({x} {y})">{swatch}{text(28 if swatch else 9, 0, label)}</g>')
    return svg(_WIDTH, bottom + _BELOW - 12 + _ROW * ((len(legend) + 1) // 2), words, *parts)


def ticks(low: float, high: float, log: bool = False) -> list[float]:
    """Return the numbers to write beside an axis: its ends where both are whole, else up to four round ones.

    >>> ticks(0, 35), ticks(0.3, 12.5), ticks(1, 206.9, log=True), ticks(2.5, 2.5)
    ([0, 35], [5.0, 10.0], [1.0, 10.0, 100.0], [2.5])
    """
    if log:
        first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
        powers = range(first, last + 1, 1 + max(0, last - first) // _MOST_TICKS)
        return [10.0**k for k in powers] if len(powers) > 1 else [*dict.fromkeys([low, high])]
    span = high / 2 - low / 2  # of numbers as large as floats are
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


def _scale(low: float, high: float, start: float, end: float, log: bool) -> Callable[[float], float]:
    if not log:
        return scale(low, high, start, end)
    place = scale(math.log(low), math.log(high), start, end)
    return lambda value: place(math.log(value))


def _curve(curve: Curve, places: list[tuple[float, float]]) -> str:
    joined = " ".join(f"{pixel(x)},{pixel(y)}" for x, y in places)
    dots = ""
    if not curve.dash and len(places) <= DOTS_UP_TO:
        dots = "".join(f'<circle cx="{pixel(x)}" cy="{pixel(y)}" r="2.2"/>' for x, y in places)
        dots = f'<g fill="{curve.colour}">{dots}</g>'
    return f'<polyline points="{joined}" fill="none" {_stroke(curve)}/>{dots}'


def _swatch(curve: Curve) -> str:
    return f'<polyline points="0,-4 22,-4" fill="none" {_stroke(curve)}/>'


def _stroke(curve: Curve) -> str:
    dash = f' stroke-dasharray="{curve.dash}"' if curve.dash else ""
    return f'stroke="{curve.colour}" stroke-width="2"{dash}'


def bars(values: Mapping[str, float], words: str) -> str:
    """Draw a bar for each number, with its name to the left and the number to the right: the first twelve of them.

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
