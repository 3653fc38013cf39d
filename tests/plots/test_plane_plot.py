"""The plane with its rows, the line between them, its margin and w."""

import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers.pictures import axes, legend, rings
from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, SphereLift, VotedPerceptron
from rosenblatt.data import make_rings, make_xor
from rosenblatt.inspection.geometry import distance
from rosenblatt.plots import PlaneDisplay, plot_plane, plot_projection
from rosenblatt.plots.plane_parts import Line

AND = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
LABELS = np.array([0, 0, 0, 1])
RNG = np.random.default_rng(0)
CLOUDS = RNG.normal(size=(80, 2)) + np.repeat([[1.5, 1.5], [0.0, 0.0]], 40, axis=0)
NAMES = np.repeat(["spam", "ham"], 40)


def test_the_margin_goes_through_the_nearest_rows_and_w_is_at_a_right_angle():
    model = Perceptron(shuffle=False).fit(AND, LABELS)
    ax = plot_plane(model, AND, LABELS, axes())
    nearest = np.abs(distance(model, AND)).min()
    assert ax.get_title() == f"Separated: the nearest row is\n{nearest:.3g} from the boundary (geometric)"
    for line in ax.get_lines():
        places = np.array([line.get_xy1(), line.get_xy2()])
        np.testing.assert_allclose(np.abs(distance(model, places)), nearest)
    assert len(ax.get_lines()) == 2
    (band,) = ax.patches
    assert band.get_hatch()
    np.testing.assert_allclose(np.abs(distance(model, band.get_xy())), nearest)
    np.testing.assert_allclose(np.abs(distance(model, rings(ax, "nearest"))), nearest)
    (arrow,) = [text for text in ax.texts if text.arrow_patch is not None]
    along = np.subtract(arrow.xy, arrow.xyann)
    assert along / np.linalg.norm(along) == pytest.approx((model.coef_[0] / np.linalg.norm(model.coef_)).tolist())
    assert distance(model, [arrow.xyann])[0] == pytest.approx(0, abs=1e-12)
    assert legend(ax) == ["0 (3)", "1 (1)", "margin", "nearest (2)"]
    ax.figure.canvas.draw()


def test_rings_show_the_rows_that_are_wrong():
    model = AveragedPerceptron(random_state=0).fit(CLOUDS, NAMES)
    ax = plot_plane(model, CLOUDS, NAMES, axes())
    wrong = model.predict(CLOUDS) != NAMES
    assert ax.get_title() == f"{wrong.sum()} of 80 rows on the wrong side"
    np.testing.assert_array_equal(rings(ax, "wrong"), CLOUDS[wrong])
    assert not ax.get_lines()


def test_a_row_on_the_boundary_is_on_no_side():
    model = Perceptron(shuffle=False, fit_intercept=False).fit([[1.0, 0.0], [-1.0, 0.0]], [1, -1])
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    for labels, wrong in (([1, -1, -1], 0), ([1, -1, 1], 1), ([1, 1, 1], 2)):
        for draw in (plot_plane, plot_projection):
            ax = draw(model, rows, labels, axes())
            assert ax.get_title() == f"{wrong} of 3 rows wrong, 1 on the boundary"
            assert wrong == round(3 * (1 - model.score(rows, labels)))
    ax = plot_plane(model, rows, [1, 1, 1], axes())
    np.testing.assert_array_equal(rings(ax, "on the boundary (1)"), [[0.0, 1.0]])
    np.testing.assert_array_equal(rings(ax, "wrong (2)"), rows[1:])
    assert legend(plot_plane(model, rows, [1, -1, -1], axes()))[2:] == ["on the boundary (1)"]


def test_weights_that_are_zero_have_no_line():
    rows, labels = make_xor()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Perceptron(shuffle=False).fit(rows, labels)
    ax = plot_plane(model, rows, labels, axes())
    assert ax.get_title().startswith("All weights are zero: every row lies on the boundary")
    assert legend(ax)[-2:] == ["wrong (2)", "on the boundary (4)"]


def test_boundaries_may_be_curved():
    rows, labels = make_rings(100, random_state=0)
    lifted = make_pipeline(SphereLift(), AveragedPerceptron(random_state=0, max_iter=100)).fit(rows, labels)
    kernel = KernelPerceptron(kernel="rbf", random_state=0).fit(rows, labels)
    vote = VotedPerceptron(random_state=0, max_iter=3).fit(CLOUDS, NAMES)
    for model, X, y in ((lifted, rows, labels), (kernel, rows, labels), (vote, CLOUDS, NAMES)):
        ax = plot_plane(model, X, y, axes())
        wrong = int((model.predict(X) != y).sum())
        expected = f"{wrong} of {len(y)} rows on the wrong side" if wrong else "Separated: every row is on its side"
        assert ax.get_title() == expected
        assert not ax.get_lines()
        assert not ax.texts


def test_several_classes_and_frames_through_a_pipeline():
    frame = pd.DataFrame(RNG.normal(size=(90, 2)) * [1, 100], columns=["age", "fare"])
    labels = np.repeat([0.0, 1.0, 2.0], 30)
    frame.iloc[:30, 0] += 5
    frame.iloc[30:60, 1] += 600
    model = make_pipeline(StandardScaler(), AveragedPerceptron(random_state=0)).fit(frame, labels)
    ax = plot_plane(model, frame, labels, axes())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "fare")
    assert legend(ax)[:3] == ["0 (30)", "1 (30)", "2 (30)"]


def test_a_frame_names_the_axes_and_shows_the_margin():
    frame = pd.DataFrame(AND, columns=["left", "right"])
    ax = plot_plane(Perceptron(shuffle=False).fit(frame, LABELS), frame, LABELS, axes())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("left", "right")
    assert "margin" in legend(ax)


def test_what_cannot_be_drawn_is_a_sentence():
    model = Perceptron(shuffle=False).fit(AND, LABELS)
    with pytest.raises(ValueError, match=r"plot_plane draws rows of two features, got shape \(4, 3\)"):
        plot_plane(model, np.ones((4, 3)), LABELS, axes())
    with pytest.raises(ValueError, match="one label for each of the 4 rows"):
        plot_plane(model, AND, LABELS[:2], axes())


# the feet of the rows on the line through w


def straight_parts(ax):
    """Return the thin lines from rows to their feet."""
    return np.concatenate([part.get_segments() for part in ax.collections if hasattr(part, "get_segments")])


@pytest.mark.parametrize(("shift", "bias"), [(0.0, False), (0.0, True), (50.0, True)])
def test_feet_lie_on_the_line_through_w_and_keep_the_distance(shift, bias):
    X = CLOUDS[::4] + shift
    y = np.where(3 * shift + 1.5 * bias < X @ [1, 2], 1, -1)
    model = AveragedPerceptron(random_state=0, fit_intercept=bias).fit(X, y)
    ax = plot_plane(model, X, y, axes(), projections=True)
    (line,) = [line for line in ax.get_lines() if line.get_label() == "line through w"]
    start, unit = np.array(line.get_xy1()), model.coef_[0] / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(np.subtract(line.get_xy2(), start), unit)
    assert distance(model, [start])[0] == pytest.approx(0, abs=1e-9)
    if not bias:
        np.testing.assert_allclose(start, 0, atol=1e-12)
    (arrow,) = [text for text in ax.texts if text.arrow_patch is not None]
    np.testing.assert_allclose(arrow.xyann, start)
    for row, foot in straight_parts(ax)[: len(X)]:
        assert (row - foot) @ unit == pytest.approx(0, abs=1e-9)
        assert distance(model, [row])[0] == pytest.approx(distance(model, [foot])[0])
        assert np.linalg.det([foot - start, unit]) == pytest.approx(0, abs=1e-9)
        assert ax.get_xlim()[0] < foot[0] < ax.get_xlim()[1]
        assert ax.get_ylim()[0] < foot[1] < ax.get_ylim()[1]
    ax.figure.canvas.draw()


def test_feet_need_a_line_and_one_scale():
    rows, labels = make_rings(40, random_state=0)
    kernel = KernelPerceptron(kernel="rbf", random_state=0).fit(rows, labels)
    with pytest.raises(ValueError, match="projections need one straight boundary"):
        plot_plane(kernel, rows, labels, axes(), projections=True)
    tall = AND * [1, 100]
    with pytest.raises(ValueError, match="features whose ranges are alike: scale the features"):
        plot_plane(AveragedPerceptron(shuffle=False).fit(tall, LABELS), tall, LABELS, axes(), projections=True)


# the display


def test_a_display_is_computed_once_and_drawn_where_asked():
    model = Perceptron(shuffle=False).fit(AND, LABELS)
    display = PlaneDisplay.from_estimator(model, AND, LABELS, ax=axes())
    first = display.ax_
    assert display.figure_ is first.figure
    other = axes()
    assert display.plot(other) is display
    assert display.ax_ is other
    assert other.get_title() == first.get_title() == plot_plane(model, AND, LABELS, axes()).get_title()
    assert legend(other) == legend(first)
    np.testing.assert_allclose(display.line.distance(AND), distance(model, AND))


# odd cases


def test_rows_at_one_place_ten_classes_and_sizes_far_apart_are_drawn():
    ten = RNG.normal(size=(100, 2)) + np.repeat(3 * np.arange(10), 10)[:, None]
    ax = plot_plane(
        AveragedPerceptron(random_state=0).fit(ten, np.arange(100) // 10), ten, np.arange(100) // 10, axes()
    )
    assert len(legend(ax)) >= 10
    for rows, labels in (
        (np.array([[2.0, 2.0], [2.0, 2.0]]), [0, 1]),
        (np.array([[1e20, 1.0], [-1e20, 2.0]]), [0, 1]),
        (np.array([[1e-20, 0.0], [-1e-20, 0.0]]), [0, 1]),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = Perceptron(shuffle=False, max_iter=5).fit(rows, labels)
        plot_plane(model, rows, labels, axes()).figure.canvas.draw()


def test_the_legend_stays_within_a_narrow_figure():
    X = CLOUDS[::4]
    y = np.where(X @ [1, 2] > 1, "a long name", "another")
    figure = Figure((4, 3.6), layout="constrained")
    ax = plot_plane(AveragedPerceptron(random_state=0, max_iter=1000).fit(X, y), X, y, figure.subplots())
    figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1


def test_a_line_of_weights_of_any_size():
    for w, b in (
        ([3, 4], 5),
        ([3e300, 4e300], 5e300),
        ([3 * 10**400, 4 * 10**400], 5 * 10**400),
        ([3e-310, 4e-310], 5e-310),
    ):
        line = Line.of(np.array(w, dtype=object if isinstance(w[0], int) else float), b)
        np.testing.assert_allclose(line.unit, [0.6, 0.8], rtol=1e-9)
        assert line.offset == pytest.approx(1)
        assert line.distance(line.nearest_to([7.0, -2.0])[None])[0] == pytest.approx(0, abs=1e-12)
    assert Line.of(np.zeros(2), 1.0) is None


def test_the_features_of_a_frame_are_named_and_nothing_is_warned_of():
    frame = pd.DataFrame([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]], columns=["width", "height"])
    ax = plot_plane(Perceptron(shuffle=False).fit(frame, [0, 0, 1]), frame, [0, 0, 1])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")


def test_a_boundary_that_is_not_in_the_picture_is_said_so():
    model = Perceptron(shuffle=False).fit(AND, LABELS)
    model.state_.b[:] = -100.0
    far = plot_plane(model, AND, LABELS, axes())
    near = plot_plane(Perceptron(shuffle=False).fit(AND, LABELS), AND, LABELS, axes())
    words = "the boundary is out of view"
    assert words in [text.get_text() for text in far.texts]
    assert words not in [text.get_text() for text in near.texts]
