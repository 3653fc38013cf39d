"""The small pictures are XML, draw the numbers that they are given, and stay small whatever these are."""

import math
import re
from xml.etree import ElementTree

import pytest

from rosenblatt.html import BLUE, GREEN, RED, Curve, arrows, bars, chart, circle, described, number_line, short_name

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert("&")</script>\x00\x1b[31m'


def parsed(picture):
    """Return the picture as XML, after a look at what none of them may have."""
    assert len(picture.encode()) < 10_000
    assert not re.search(r"\bid=|<script|href|url\(|nan|(?<!\+|-)inf\b", picture, re.IGNORECASE)
    return ElementTree.fromstring(picture)


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def polylines(root):
    lines = [line.get("points").split() for line in root.findall(f"{SVG}polyline")]
    return [[tuple(map(float, point.split(","))) for point in line] for line in lines]


def test_the_points_of_a_chart_are_its_numbers():
    x, y = [1, 2, 3, 5], [35.0, 21.0, 11.0, 0.0]
    (line,) = polylines(parsed(chart([Curve(x, y)], "mistakes", "pass")))
    (left, top), (right, bottom) = line[0], line[-1]
    for (at_x, at_y), i, value in zip(line, x, y, strict=True):
        assert at_x == pytest.approx(left + (right - left) * (i - 1) / 4, abs=0.06)
        assert at_y == pytest.approx(bottom - (bottom - top) * value / 35, abs=0.06)
    assert {"1", "5", "0", "35", "pass"} <= set(texts(parsed(chart([Curve(x, y)], "mistakes", "pass"))))


def test_logarithmic_scales_make_powers_straight():
    k = [1.0, 10.0, 100.0, 1e4]
    (line,) = polylines(parsed(chart([Curve(k, [v**0.5 for v in k])], "root", "k", log=True)))
    (x0, y0), *rest = line
    slopes = [(y - y0) / (x - x0) for x, y in rest]
    assert max(slopes) - min(slopes) < 0.01


@pytest.mark.parametrize(
    ("most", "log", "x_labels"),
    [
        (206.9, True, ["1", "10", "100"]),
        (12.5, False, ["0", "5", "10"]),
        (35, False, ["0", "35"]),
        (3.0, True, ["1", "3"]),
    ],
)
def test_axes_have_round_numbers_and_say_their_scale(most, log, x_labels):
    root = parsed(
        chart([Curve([1.0 if log else 0.0, most], [1.0, most])], "a line", "k", log=log, end=(most, most, "end"))
    )
    below = max(float(line.get("y1")) for line in root.findall(f"{SVG}line")) + 13
    assert [text.text for text in root.findall(f"{SVG}text") if float(text.get("y")) == below] == x_labels
    assert ("k, logarithmic axes" in texts(root)) is log


@pytest.mark.parametrize("colour", [BLUE, GREEN, RED])
def test_colours_are_seen_on_light_and_dark_pages(colour):
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    assert 1.05 / (luminance(colour) + 0.05) > 3.0
    assert (luminance(colour) + 0.05) / (luminance("#111111") + 0.05) > 4.5


def test_a_long_curve_keeps_its_ends_and_few_points():
    n = 100_000
    (line,) = polylines(parsed(chart([Curve(range(n), range(n))], "a rising line", "k")))
    assert len(line) == 120
    assert line[0][0] < line[-1][0]
    assert line[0][1] > line[-1][1]


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    "y",
    [
        [0.0],
        [5.0, 5.0],
        [1e308, -1e308],
        [5e-324, 1e308],
        [1.0, math.nan, 3.0],
        [math.inf, 1.0, -math.inf],
        [math.nan],
        [],
    ],
)
def test_odd_numbers_have_a_place_in_the_picture_or_none(y, log):
    picture = chart([Curve(range(1, len(y) + 1), y)], "odd", "k", log)
    if not picture:
        assert not any(math.isfinite(value) and (value > 0 or not log) for value in y)
        return
    root = parsed(picture)
    width, height = float(root.get("width")), float(root.get("height"))
    places = [place for line in polylines(root) for place in line]
    assert len(places) == sum(math.isfinite(value) and (value > 0 or not log) for value in y)
    assert all(0 <= x <= width and 0 <= at <= height for x, at in places)


def test_bars_are_as_long_as_their_numbers():
    root = parsed(bars({"a": 4.0, "b": 1.0, "c": 0.0, "d": math.inf}, "four"))
    widths = [float(rect.get("width")) for rect in root.iter(f"{SVG}rect")]
    assert widths == [160.0, 40.0, 1.0, 1.0]


def test_of_many_bars_the_first_are_drawn_and_the_others_counted():
    root = parsed(bars({f"row {i}": 1.0 for i in range(5000)}, "many"))
    assert len(root.findall(f"{SVG}rect")) == 12
    assert "and 4,988 more" in texts(root)


def test_a_bracket_is_where_its_ends_are():
    root = parsed(number_line(0.5, 0.75, "a bracket"))
    axis, zero, low, high = root.findall(f"{SVG}line")
    start, left, right = (float(mark.get("x1")) for mark in (zero, low, high))
    assert (left - start) / (right - start) == pytest.approx(2 / 3, abs=0.001)
    assert float(axis.get("x1")) < start
    assert {"0", "0.5", "0.75"} <= set(texts(root))


@pytest.mark.parametrize(
    ("low", "high", "marks"),
    [(0.5, 0.5, 1), (-0.3, 0.8, 2), (0.0, 0.0, 1), (1e-300, 1e300, 2), (-1e308, 1e308, 2), (-math.inf, 0.5, 2)],
)
def test_brackets_of_all_sizes(low, high, marks):
    root = ElementTree.fromstring(number_line(low, high, "a bracket"))
    assert len(root.findall(f"{SVG}line")) == 2 + marks
    assert all(0 <= float(line.get("x1")) <= 360 for line in root.findall(f"{SVG}line"))


def test_a_bracket_without_numbers_is_no_picture():
    assert number_line(-math.inf, math.inf, "nothing") == ""
    assert number_line(math.nan, math.inf, "nothing") == ""


def test_arrows_go_where_the_estimates_go():
    ways = {"a": "+inf", "b": "-inf", "c": "either", "d": "finite", "e": "aliased"}
    root = ElementTree.fromstring(arrows(ways, "five"))
    tips = [float(re.search(r"H([\d.]+)", path.get("d"))[1]) for path in root.iter(f"{SVG}path")]
    (left,), (right,) = set(tips[1::2]), set(tips[::2])
    assert left < right
    zero = next(float(text.get("x")) for text in root.iter(f"{SVG}text") if text.text == "0")
    assert zero == (left + right) / 2
    assert len(root.findall(f"{SVG}circle")) == 1
    assert "× aliased" in texts(root)


def test_passes_without_a_mistake_lie_on_the_axis():
    root = parsed(chart([Curve([1, 2], [0, 0])], "none", "pass", least=0.0))
    axis = max(float(line.get("y1")) for line in root.findall(f"{SVG}line"))
    assert {y for _, y in polylines(root)[0]} == {axis}
    assert texts(root).count("0") == 1


def test_a_single_pass_is_named_once():
    assert texts(parsed(chart([Curve([1], [3])], "one", "pass", least=0.0))) == ["pass", "0", "3", "1"]


def test_long_names_have_room():
    for picture in (bars({"W" * 99: 1.0, "a": 2.0}, "two"), arrows({"W" * 99: "+inf"}, "one")):
        label = next(text for text in parsed(picture).iter(f"{SVG}text") if text.text.startswith("W"))
        assert float(label.get("x")) > 6.5 * len(label.text)


def test_names_are_escaped_and_shortened():
    for picture in (
        chart([Curve([1, 2], [1, 2], HOSTILE)], HOSTILE, HOSTILE, end=(2, 2, HOSTILE)),
        bars({HOSTILE: 1.0}, HOSTILE),
        number_line(1.0, 2.0, HOSTILE),
        arrows({HOSTILE: "finite"}, HOSTILE),
        circle(HOSTILE, HOSTILE, HOSTILE),
        described([HOSTILE]),
    ):
        assert "<script" not in picture
        ElementTree.fromstring(picture)
    assert parsed(bars({"x" * 10_000: 1.0}, "y" * 10_000)) is not None
    assert short_name("a\nb\t c") == "a b c"


def test_pictures_speak_to_those_who_cannot_see_them():
    for picture in (chart([Curve([1, 2], [1, 2])], "two < three", "k"), number_line(1, 2, "two < three")):
        root = ElementTree.fromstring(picture)
        assert root.get("role") == "img"
        assert root.get("aria-label") == "two < three"
