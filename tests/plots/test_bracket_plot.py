"""The margin bracket closing."""

import copy
import itertools

import numpy as np
import pytest

from helpers.pictures import axes, lines
from rosenblatt import Certificate, dataset_margin, separability
from rosenblatt.plots import plot_bracket

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 8))
Y = np.where(X @ RNG.normal(size=8) > 0, 1, -1)


@pytest.mark.parametrize("kind", ["geometric", "augmented", "homogeneous"])
def test_both_ends_are_drawn_at_every_step_and_meet_at_what_is_proved(kind):
    bracket = dataset_margin(X, Y, kind=kind)
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
    assert ax.get_title().splitlines()[0].startswith(f"{bracket.low:.6g}, proved to a share of ")
    assert ax.get_title().splitlines()[1].startswith(f"({kind} margin: ")
    ax.figure.draw_without_rendering()


def test_the_bracket_only_closes():
    for history in (dataset_margin(X, Y).history, separability(X, Y).history):
        steps, lows, highs = map(np.array, zip(*history, strict=True))
        assert (np.diff(steps) >= 0).all()
        assert all(after >= before for before, after in itertools.pairwise(lows))
        assert (np.diff(highs) <= 0).all()
        assert (lows <= highs * (1 + 1e-9)).all()


def test_a_verdict_has_a_bracket_too_and_two_points_are_enough():
    verdict = separability(X, Y)
    assert plot_bracket(verdict, axes()).get_ylabel() == "geometric margin"
    ax = plot_bracket(dataset_margin([[0.0], [1.0]], [0, 1]), axes())
    assert ax.get_title().startswith("0.5, proved to a share of ")
    low, high = ax.get_ylim()
    assert low < 0.5 < high
    ax.figure.draw_without_rendering()


def test_the_history_is_no_part_of_the_certificate():
    bracket = dataset_margin(X, Y)
    assert "history" not in bracket.to_json()
    assert copy.copy(bracket).history == bracket.history
    loaded = Certificate.from_json(bracket.to_json())
    assert loaded.history == ()
    assert loaded.to_json() == bracket.to_json()
    with pytest.raises(ValueError, match="loaded from a file, or found at once"):
        plot_bracket(loaded)


def test_a_verdict_by_a_linear_program_is_told_by_which_method_it_has_a_history():
    verdict = separability(X, Y, method="lp")
    assert verdict.history == ()
    with pytest.raises(ValueError, match=r'by a linear program \(method="lp"\).*separability\(X, y, method="hull"\)'):
        plot_bracket(verdict)
    assert len(plot_bracket(separability(X, Y, method="hull"), axes()).get_lines()) == 3


def test_what_has_no_margin_is_refused():
    with pytest.raises(ValueError, match="around a margin above 0, which there is not"):
        plot_bracket(dataset_margin([[0.0], [1.0], [2.0]], [0, 1, 0]))
    with pytest.raises(ValueError, match="around a margin above 0, which there is not"):
        plot_bracket(dataset_margin([[0.0], [1.0]], [1, 1]))
    with pytest.raises(ValueError, match="data that can be separated, got Inseparable"):
        plot_bracket(separability([[0.0], [1.0], [2.0]], [0, 1, 0]))
