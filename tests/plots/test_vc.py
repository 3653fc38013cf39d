"""A panel for each subset, with a shape that cuts it or why none does; and the number of subsets that are cut."""

from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.path import Path

from helpers.pictures import axes, legend
from rosenblatt import vc
from rosenblatt.circles.shapes import Circle, HalfSpace
from rosenblatt.plots import plot_dichotomies, plot_growth
from rosenblatt.plots import vc as dichotomies
from rosenblatt.plots.vc import Polygon, cutting_shape, held_rows
from rosenblatt.theory.vc.families import check_family, read_points

SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
KITE = [[0, 0], [2, 0], [0, 2], [3, 3]]
FAMILIES = [("halfspaces", None), ("discs", None), ("rectangles", None), ("convex-k-gons", 3), ("convex-k-gons", 5)]
KINDS = {"halfspaces": HalfSpace, "discs": Circle, "rectangles": Polygon, "convex-k-gons": Polygon}


def rows_named(title):
    letters = title.removeprefix("not ").strip("{}∅").replace(", ", "")
    return frozenset("pqrstu".index(letter) for letter in letters)


@pytest.mark.parametrize(("family", "k"), FAMILIES)
@pytest.mark.parametrize(
    "points",
    [
        [[0, 0], [1, 1], [2, 2]],
        *(pytest.param(points, marks=pytest.mark.slow) for points in (SQUARE, KITE, [[0, 0], [1, 1], [2, 2], [2, 2]])),
    ],
)
def test_every_panel_that_is_cut_holds_just_its_points_and_every_subset_has_one(points, family, k):
    figure = plot_dichotomies(points, family, k, Figure())
    cut = vc.dichotomies(points, family, k)
    named = [rows_named(ax.get_title()) for ax in figure.axes]
    assert len(named) == len(set(named)) == 2 ** len(points)
    assert set(named[: len(cut)]) == cut  # first those that are cut
    for ax, subset in zip(figure.axes, named, strict=True):
        assert ax.get_title().startswith("not ") == (subset not in cut)
        if subset in cut:
            region = Path(ax.patches[0].get_xy())
            assert set(np.flatnonzero(region.contains_points(points)).tolist()) == subset
        inside, outside = (part.get_offsets() for part in ax.collections)
        np.testing.assert_array_equal(inside, np.array(points)[sorted(subset)].reshape(-1, 2))
        assert len(inside) + len(outside) == len(points)
    many = f"{len(cut)} of the {2 ** len(points)} subsets of {len(points)} points"
    assert figure.get_suptitle().endswith(f" cut out {many}")


@pytest.mark.parametrize(("family", "k"), FAMILIES)
def test_shapes_cut_what_they_should_from_points_with_ties(family, k):
    rng = np.random.default_rng(0)
    name, sides = check_family(family, k, 2)
    for n in (1, 2, 4, 5, 5, 5):
        rows = read_points(rng.integers(0, 4, (n, 2)).tolist())
        for subset in vc.dichotomies(rows, family, k):
            shape = cutting_shape(rows, subset, name, sides)
            assert isinstance(shape, KINDS[name])
            assert held_rows(shape, rows) == subset
            if name == "convex-k-gons":
                assert len(shape.corners) <= k


def test_a_thin_triangle_fits_between_points_on_both_sides():
    rows = read_points(
        [[0.126, -0.132], [0.64, 0.105], [-0.536, 0.362], [1.304, 0.947], [-0.704, -1.265], [-0.623, 0.041]]
    )
    shape = cutting_shape(rows, frozenset({3, 4}), "convex-k-gons", 3)
    assert held_rows(shape, rows) == {3, 4}
    assert len(shape.corners) == 3


CLOSE = {
    "on a line, almost": [[0, 0], [1, 0], [2, 0], [3, 1e-12]],
    "equal as floats": [[0, 0], [1, 0], [1 + Fraction(1, 10**20), 0], [2, 3]],
    "far and near": [[0, 0], [1, 0], [1e5, 0], [1e5, 1]],
}


@pytest.mark.parametrize("points", CLOSE.values(), ids=list(CLOSE))
def test_discs_between_points_that_are_close_are_drawn_or_refused_in_words(points):
    rows = read_points(points)
    for subset in vc.dichotomies(points, "discs"):
        try:
            assert held_rows(cutting_shape(rows, subset, "discs", 0), rows) == subset
        except ValueError as refused:
            assert "lie so close together" in str(refused)  # noqa: PT017


def test_why_a_subset_is_missing_is_drawn_as_hulls_that_cross():
    (missing,) = [ax for ax in plot_dichotomies(KITE, "discs", figure=Figure()).axes if "not" in ax.get_title()]
    assert missing.get_title() == "not {p, s}"
    own, others, cross = (line.get_xydata() for line in missing.get_lines())
    assert {tuple(end) for end in own} == {(0, 0), (3, 3)}
    assert {tuple(end) for end in others} == {(2, 0), (0, 2)}
    assert cross.tolist() == [[1, 1]]
    assert missing.get_xlabel() == "mean |x|²: 6 ≥ 4"


def test_a_box_or_hull_around_the_subset_shows_what_else_it_holds():
    boxes = {ax.get_title(): ax for ax in plot_dichotomies([[0, 0], [1, 1], [2, 2]], "boxes", figure=Figure()).axes}
    assert boxes["not {p, r}"].get_xlabel() == "it also holds q"
    assert boxes["not {p, r}"].get_lines()[0].get_xydata()[:4].tolist() == [[0, 0], [2, 0], [2, 2], [0, 2]]
    inner = [[0, 0], [4, 0], [2, 0]]
    hulls = {ax.get_title(): ax for ax in plot_dichotomies(inner, "triangles", figure=Figure()).axes}
    assert hulls["not {p, q}"].get_xlabel() == "it also holds r"


def test_a_polygon_that_needs_more_sides_says_how_many():
    flat = [[100 * i, i * i] for i in range(-3, 4)]
    reason = vc.why_not(flat, {0, 2, 4, 6}, "convex-k-gons", 3)
    assert dichotomies._words(reason) == "needs 4 sides"


def test_points_are_lettered_and_equal_ones_together():
    figure = plot_dichotomies([[0, 0], [1, 0], [0, 0]], "discs", figure=Figure())
    assert [text.get_text() for text in figure.axes[0].texts] == ["p, r", "q"]


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_any_scale_and_place(scale):
    rows = read_points(((np.array(KITE) + 1000.0) * scale).tolist())
    cut = vc.dichotomies(rows, "discs")
    assert len(cut) == 15
    for subset in cut:
        assert held_rows(cutting_shape(rows, subset, "discs", 0), rows) == subset


# The number of subsets that a family cuts, beside Sauer's bound.


POINTS = [[0, 0], [2, 0], [0, 2], [3, 3], [1, 1], [5, 2]]


@pytest.mark.parametrize(("family", "k"), [("discs", None), ("lines", None), ("convex-k-gons", 3)])
def test_curves_are_the_columns_of_the_table(family, k):
    table = vc.growth(POINTS, family, k)
    ax = plot_growth(POINTS, family, k, axes())
    lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    dimension = 7 if family == "convex-k-gons" else 3
    drawn = {
        "all subsets, $2^m$": [2**m for m in table["n"]],
        f"Sauer's bound (VC dimension {dimension})": table["sauer"],
        "subsets that are cut": table["count"],
    }
    if family == "lines":
        drawn["Cover's count"] = table["cover"]
    for name, values in drawn.items():
        np.testing.assert_array_equal(lines[name], values)
    assert legend(ax) == [name for name in lines if not name.startswith("_")]
    assert ax.get_yscale() == "log"
    assert ax.get_title().splitlines()[1] == f"{table['count'][-1]} subsets of 6 points"
    ax.figure.draw_without_rendering()


def test_the_dimension_is_marked_where_the_bound_leaves_all_subsets():
    ax = plot_growth(POINTS, "discs", ax=axes())
    (mark,) = [line for line in ax.get_lines() if list(line.get_xdata()) == [3, 3]]
    assert mark.get_linestyle() == "-"
    few = plot_growth(POINTS[:2], "discs", ax=axes())
    assert len(few.get_lines()) == 3


@pytest.mark.parametrize(
    ("points", "family", "k", "title"),
    [
        (POINTS, "triangles", None, "Subsets that convex 3-gons cut from the first m points in R²"),
        ([[0] * 12, [1] * 12], "lines", None, "Subsets that halfspaces cut from the first m points in R¹²"),
    ],
)
def test_the_title_names_family_and_space(points, family, k, title):
    assert plot_growth(points, family, k, axes()).get_title().splitlines()[0] == title


def test_one_point_equal_points_and_one_dimension():
    for points in ([[1, 2]], [[1, 2], [1, 2]], [[1], [2], [3]]):
        plot_growth(points, "discs", ax=axes()).figure.draw_without_rendering()
