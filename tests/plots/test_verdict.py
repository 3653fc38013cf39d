"""Verdicts in the plane, the separating band or two hulls with a common point; and the bracket that closes."""

import copy
import itertools
from fractions import Fraction

import numpy as np
import pytest

from helpers.pictures import axes, legend, lines, rings
from rosenblatt import (
    Certificate,
    dataset_margin,
    separability,
)
from rosenblatt.plots import (
    plot_bracket,
    plot_verdict,
)
from rosenblatt.plots.verdict import convex_hull
from rosenblatt.theory.verdicts import UndecidedSeparability

SQUARE = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
RNG = np.random.default_rng(0)
CLOUDS = np.vstack([RNG.normal(size=(20, 2)), RNG.normal(size=(20, 2)) + 1.5])
NAMES = np.repeat(["ham", "spam"], 20)


def drawn(X, y):
    ax = plot_verdict(separability(X, y), X, y, axes())
    ax.figure.draw_without_rendering()
    return ax


def cross(ax):
    (found,) = [line for line in ax.get_lines() if line.get_marker() == "X"]
    return np.ravel(found.get_data())


def test_a_separable_set_has_the_band_of_its_largest_margin():
    y = [0, 0, 0, 1]
    found = separability(SQUARE, y)
    ax = plot_verdict(found, SQUARE, y, axes())
    unit, length = found.w / np.linalg.norm(found.w), np.linalg.norm(found.w)
    (band,) = ax.patches
    np.testing.assert_allclose(np.abs(band.get_xy() @ unit + found.b / length), np.sqrt(2) / 4, rtol=1e-6)
    for line in ax.get_lines():
        places = np.array([line.get_xy1(), line.get_xy2()])
        np.testing.assert_allclose(np.abs(places @ unit + found.b / length), np.sqrt(2) / 4, rtol=1e-6)
    np.testing.assert_array_equal(rings(ax, "nearest"), SQUARE[1:])
    assert ax.get_title() == "Separable: the largest margin\nis 0.3536 (geometric)"
    assert legend(ax) == ["0 (3)", "1 (1)", "no row lies here", "nearest (3)"]


@pytest.mark.parametrize("kind", ["geometric", "augmented", "homogeneous"])
def test_a_bracket_is_named_by_its_definition(kind):
    X, y = SQUARE + 1, np.array([0, 1, 0, 0])
    bracket = dataset_margin(X, y, kind)
    ax = plot_verdict(bracket, X, y, axes())
    assert ax.get_title() == f"Separable: the largest margin\nis {bracket.low:.4g} ({kind})"
    unit = bracket.w / np.linalg.norm(bracket.w)
    nearest = np.abs(X @ unit + bracket.b / np.linalg.norm(bracket.w)).min()
    (band,) = ax.patches
    np.testing.assert_allclose(np.abs(band.get_xy() @ unit + bracket.b / np.linalg.norm(bracket.w)), nearest)


def test_an_inseparable_set_has_hulls_that_share_the_mean_of_either_class():
    found = separability(CLOUDS, NAMES)
    ax = plot_verdict(found, CLOUDS, NAMES, axes())
    np.testing.assert_array_equal(rings(ax, "their weights"), CLOUDS[found.support])
    for name in ("ham", "spam"):
        alpha = np.where(name == NAMES, found.alpha, 0)
        np.testing.assert_allclose(cross(ax), alpha @ CLOUDS / alpha.sum())
    for patch, name in zip(ax.patches, ("spam", "ham"), strict=True):
        corners = patch.get_xy()[:-1]
        edges = np.roll(corners, -1, axis=0) - corners
        for point in (cross(ax), *CLOUDS[name == NAMES]):
            away = point - corners
            assert (edges[:, 0] * away[:, 1] - edges[:, 1] * away[:, 0] >= -1e-9).all()
    assert [line.get_linestyle() for line in ax.get_lines()[:2]] == ["-", "--"]  # told apart without colours
    assert "in both hulls: ({:.4g}, {:.4g})".format(*cross(ax)) in legend(ax)


def test_xor_crosses_in_its_middle_with_halves():
    ax = drawn(SQUARE, [0, 1, 1, 0])
    assert cross(ax).tolist() == [0.5, 0.5]
    assert [text.get_text() for text in ax.texts] == ["1/2"] * 4
    assert ax.get_title().startswith("Not separable: a weighted mean of one class")
    bracket = dataset_margin(SQUARE, [0, 1, 1, 0])
    assert cross(plot_verdict(bracket, SQUARE, [0, 1, 1, 0], axes())).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("X", "y", "shared"),
    [
        ([[1, 1], [1, 1]], [0, 1], [1, 1]),  # the same place in both classes
        ([[0, 0], [1, 1], [2, 2], [1, 1]], [0, 0, 0, 1], [1, 1]),  # a line and a point on it
        ([[0, 0], [2, 0], [1, 0], [1, 2]], [0, 0, 1, 1], [1, 0]),  # they touch
        ([[0, 0], [4, 0], [0, 4], [1, 1]], [0, 0, 0, 1], [1, 1]),  # a point inside
        ([[0, 0], [4e9, 0], [0, 4e-9], [1e9, 1e-9]], [0, 0, 0, 1], [1e9, 1e-9]),
    ],
)
def test_hulls_of_one_point_or_a_line_are_drawn(X, y, shared):
    ax = drawn(np.array(X, float), y)
    np.testing.assert_allclose(cross(ax), shared)
    for k in (0, 1):
        shares = [Fraction(text.get_text()) for text in ax.texts if (text.get_va() == "bottom") == bool(k)]
        assert sum(shares) == 1


def test_thin_margins_have_integers_for_weights():
    X, y = np.array([[0, 0], [1, 2.0**-60], [0.5, 2.0**-61 + 2.0**-110]]), [0, 0, 1]
    found = separability(X, y)
    assert "Separable" in plot_verdict(found, X, y, axes()).get_title()


def test_one_class_and_several_against_one():
    ax = drawn(SQUARE, [1] * 4)
    assert legend(ax) == ["1 (4)"]
    assert ax.get_title() == "Separable: all rows are of one class"
    verdicts = separability(SQUARE, [0, 1, 2, 2])
    with pytest.raises(ValueError, match=r"one for each class against the rest: pick one, as in verdicts\[0\]"):
        plot_verdict(verdicts, SQUARE, [0, 1, 2, 2], axes())
    ax = plot_verdict(verdicts[1], SQUARE, [0, 1, 2, 2], axes())
    assert legend(ax)[:2] == ["not 1 (3)", "1 (1)"]


def test_what_is_undecided_is_said():
    found = UndecidedSeparability(-0.1, 0.5, np.array([1.0, 0.0]), 0.0, np.full(4, 0.25), 1)
    ax = plot_verdict(found, SQUARE, [0, 0, 1, 1], axes())
    assert ax.get_title() == "Undecided: no line has a margin\nabove 0.5 (geometric)"
    assert not ax.patches
    through_origin = dataset_margin(SQUARE[:2], [0, 1], "homogeneous")
    ax = plot_verdict(through_origin, SQUARE[:2], [0, 1], axes())
    assert ax.get_title() == "Not separable through the origin"


def test_the_hull_holds_all_points_and_its_corners_are_points():
    points = RNG.integers(0, 5, (40, 2))
    corners = convex_hull(points)
    assert {tuple(corner) for corner in corners.tolist()} <= {tuple(point) for point in points.tolist()}
    edges = np.roll(corners, -1, axis=0) - corners
    turns = edges[:, 0] * np.roll(edges, -1, axis=0)[:, 1] - edges[:, 1] * np.roll(edges, -1, axis=0)[:, 0]
    assert (turns > 0).all()  # no corner on an edge
    for point in points:
        away = point - corners
        assert (edges[:, 0] * away[:, 1] - edges[:, 1] * away[:, 0] >= 0).all()


# The margin bracket closing.


RNG = np.random.default_rng(0)
WIDE = RNG.normal(size=(60, 8))
SIGNS = np.where(WIDE @ RNG.normal(size=8) > 0, 1, -1)


@pytest.mark.parametrize("kind", ["geometric", "augmented", "homogeneous"])
def test_both_ends_are_drawn_at_every_step_and_meet_at_what_is_proved(kind):
    bracket = dataset_margin(WIDE, SIGNS, kind=kind)
    ax = plot_bracket(bracket, axes())
    upper, lower = (lines(ax)[name].get_ydata() for name in ("no margin is above this", "a hyperplane has this margin"))
    steps, _, highs = zip(*bracket.history, strict=True)
    assert len(steps) > 5
    np.testing.assert_array_equal(upper, [*highs, bracket.high])
    assert (upper >= bracket.low).all()
    assert np.nanmax(lower) <= bracket.high * (1 + 1e-9)
    assert (lower[-1], upper[-1]) == (bracket.low, bracket.high)
    np.testing.assert_array_equal(lines(ax)["proved"].get_ydata(), [bracket.low])
    assert ax.get_yscale() == "log"
    assert ax.get_ylabel() == f"{kind} margin"
    assert ax.get_title().splitlines()[0].startswith(f"{bracket.low:.6g}, relative gap ")
    assert ax.get_title().splitlines()[1].startswith(f"({kind} margin: ")
    ax.figure.draw_without_rendering()


def test_the_bracket_only_closes():
    for history in (dataset_margin(WIDE, SIGNS).history, separability(WIDE, SIGNS).history):
        steps, lows, highs = map(np.array, zip(*history, strict=True))
        assert (np.diff(steps) >= 0).all()
        assert all(after >= before for before, after in itertools.pairwise(lows))
        assert (np.diff(highs) <= 0).all()
        assert (lows <= highs * (1 + 1e-9)).all()


def test_a_verdict_has_a_bracket_too_and_two_points_are_enough():
    verdict = separability(WIDE, SIGNS)
    assert plot_bracket(verdict, axes()).get_ylabel() == "geometric margin"
    ax = plot_bracket(dataset_margin([[0.0], [1.0]], [0, 1]), axes())
    assert ax.get_title().startswith("0.5, relative gap ")
    low, high = ax.get_ylim()
    assert low < 0.5 < high
    ax.figure.draw_without_rendering()


def test_the_history_is_no_part_of_the_certificate():
    bracket = dataset_margin(WIDE, SIGNS)
    assert "history" not in bracket.to_json()
    assert copy.copy(bracket).history == bracket.history
    loaded = Certificate.from_json(bracket.to_json())
    assert loaded.history == ()
    assert loaded.to_json() == bracket.to_json()
    with pytest.raises(ValueError, match="loaded from a file, or found at once"):
        plot_bracket(loaded)


def test_a_verdict_by_a_linear_program_is_told_by_which_method_it_has_a_history():
    verdict = separability(WIDE, SIGNS, method="lp")
    assert verdict.history == ()
    with pytest.raises(ValueError, match=r'by a linear program \(method="lp"\).*separability\(X, y, method="hull"\)'):
        plot_bracket(verdict)
    assert len(plot_bracket(separability(WIDE, SIGNS, method="hull"), axes()).get_lines()) == 3
