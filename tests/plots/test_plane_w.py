"""w in the plane: where the arrow and its name are drawn, and which rows are nearest."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from helpers.pictures import axes, legend, rings
from rosenblatt import Perceptron, separability
from rosenblatt.plots import plot_plane, plot_verdict
from rosenblatt.plots.plane_parts import Frame, Line, draw_w

AND = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
LABELS = np.array([0, 0, 0, 1])
RNG = np.random.default_rng(0)
CLOUDS = RNG.normal(size=(80, 2)) + np.repeat([[1.5, 1.5], [0.0, 0.0]], 40, axis=0)


def arrow(ax):
    (found,) = [text for text in ax.texts if text.arrow_patch is not None]
    return np.array([found.xyann, found.xy])


@pytest.mark.parametrize("shift", [0.0, -3.0, 20.0])
@pytest.mark.parametrize("flip", [False, True])
def test_w_is_seen_whole_whichever_side_it_points_to(shift, flip):
    petals = load_iris().data[:, 2:] + shift
    y = (load_iris().target == 0) != flip
    drawn = [plot_verdict(separability(petals, y), petals, y, axes())]
    drawn += [
        plot_plane(Perceptron(random_state=seed, max_iter=9000).fit(petals, y), petals, y, axes()) for seed in range(2)
    ]
    for ax in drawn:
        for place in arrow(ax):
            assert ax.get_xlim()[0] <= place[0] <= ax.get_xlim()[1]
            assert ax.get_ylim()[0] <= place[1] <= ax.get_ylim()[1]


def test_w_is_shorter_where_there_is_no_room():
    frame = Frame(np.zeros(2), np.ones(2), True)
    assert Line(np.array([0.0, 1.0]), -0.95).arrow(frame).tolist() == [[0.0, 0.95], [0.0, 1.0]]
    assert Line(np.array([0.0, 1.0]), -1.05).arrow(frame) is None


def test_the_name_of_w_stands_beside_the_rows():
    near = Line(np.array([0.0, 1.0]), -0.5)
    frame = Frame(np.zeros(2), np.ones(2), True)
    for rows in (np.empty((0, 2)), CLOUDS / 5 + 0.5, np.array([[0.05, 0.6], [-0.05, 0.6], [0.05, 0.5]])):
        ax = axes()
        frame.set_limits(ax)
        draw_w(ax, near, frame, rows)
        (name,) = [text for text in ax.texts if text.get_text() == "w"]
        ax.figure.set_layout_engine("none")
        ax.figure.draw_without_rendering()
        box = name.get_window_extent()
        assert not any(box.contains(*place) for place in ax.transData.transform(rows))


def test_features_of_ranges_far_apart_have_no_w_and_the_legend_says_so():
    wide = AND * [20, 1]
    ax = plot_plane(Perceptron(shuffle=False, max_iter=9000).fit(wide, LABELS), wide, LABELS, axes())
    assert legend(ax)[-1] == "w left out: scales differ"
    assert not [text for text in ax.texts if text.arrow_patch is not None]
    wings = AND * [4, 1]
    ax = plot_plane(
        Perceptron(shuffle=False, max_iter=9000).fit(wings, LABELS), wings, LABELS, axes(), projections=True
    )
    assert ax.get_aspect() == 1
    assert np.ptp(ax.get_ylim()) >= 0.3 * np.ptp(ax.get_xlim())  # no thin strip
    assert arrow(ax).shape == (2, 2)


def test_rows_within_rounding_of_the_margin_are_nearest():
    far = AND + 1e9
    ax = plot_verdict(separability(far, LABELS), far, LABELS, axes())
    np.testing.assert_array_equal(rings(ax, "nearest (3)"), far[1:])


def test_an_error_of_a_model_is_not_swallowed():
    class Odd(Perceptron):
        @property
        def intercept_(self):
            raise ValueError("no bias today")

    with pytest.raises(ValueError, match="no bias today"):
        plot_plane(Odd(shuffle=False).fit(AND, LABELS), AND, LABELS, axes())
