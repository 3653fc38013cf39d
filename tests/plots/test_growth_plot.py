"""The number of subsets that a family cuts, beside Sauer's bound."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from helpers.pictures import axes
from rosenblatt import vc
from rosenblatt.plots import plot_growth

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
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        name for name in lines if not name.startswith("_")
    ]
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


def test_the_legend_lies_below_the_words_of_the_axis():
    ax = Figure(figsize=(4, 2.2), layout="constrained").subplots()
    plot_growth(POINTS, "lines", ax=ax).figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().y0 >= 0
    assert ax.get_legend().get_window_extent().y1 <= ax.xaxis.label.get_window_extent().y0


def test_one_point_equal_points_and_one_dimension():
    for points in ([[1, 2]], [[1, 2], [1, 2]], [[1], [2], [3]]):
        plot_growth(points, "discs", ax=axes()).figure.draw_without_rendering()
