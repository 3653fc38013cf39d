"""Models in the plane: rows, what is answered where, the line, its margin and w; votes; support rows."""

import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from helpers.pictures import axes, legend, rings
from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, SphereLift, VotedPerceptron, data, separability
from rosenblatt.data import make_rings, make_spiral, make_xor
from rosenblatt.inspection.geometry import distance
from rosenblatt.messages import percent
from rosenblatt.plots import (
    PlaneDisplay,
    plot_errors,
    plot_plane,
    plot_projection,
    plot_support,
    plot_verdict,
    plot_votes,
)
from rosenblatt.plots.axes import BLUE, ORANGE
from rosenblatt.plots.plane_parts import Frame, Line, draw_w

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
    ax.figure.draw_without_rendering()


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
    ax.figure.draw_without_rendering()


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
        plot_plane(model, rows, labels, axes()).figure.draw_without_rendering()


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


def test_a_boundary_that_is_not_in_the_picture_is_said_so():
    model = Perceptron(shuffle=False).fit(AND, LABELS)
    model.state_.b[:] = -100.0
    far = plot_plane(model, AND, LABELS, axes())
    near = plot_plane(Perceptron(shuffle=False).fit(AND, LABELS), AND, LABELS, axes())
    words = "the boundary is out of view"
    assert words in [text.get_text() for text in far.texts]
    assert words not in [text.get_text() for text in near.texts]


# Where the arrow w and its name are drawn, and which rows are nearest.


def arrow(ax):
    (found,) = [text for text in ax.texts if text.arrow_patch is not None]
    return np.array([found.xyann, found.xy])


@pytest.mark.parametrize(("shift", "flip"), [(0.0, False), (0.0, True), (-3.0, False), (20.0, True)])
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


# A vote beside its average.


RNG = np.random.default_rng(0)
MIXED = np.vstack([RNG.normal(size=(20, 2)), RNG.normal(size=(20, 2)) + 1.2])
MAIL = np.repeat(["ham", "spam"], 20)
VOTE = VotedPerceptron(random_state=0, max_iter=3).fit(MIXED, MAIL)


def average(model, places):
    return places @ model.average_coef_[0] + model.average_intercept_[0]


def hatched(ax):
    return [part for part in ax.collections if any(getattr(part, "hatches", ()))]


def contours(ax):
    """Return the places of the boundary of the vote and of the line of the average."""
    lines = [part for part in ax.collections if not hasattr(part, "get_sizes") and not part.filled]
    return [np.concatenate([path.vertices for path in line.get_paths()]) for line in lines]


def test_the_two_lines_are_those_of_the_vote_and_of_the_average():
    ax = plot_votes(VOTE, MIXED, MAIL, axes())
    vote, line = contours(ax)
    np.testing.assert_allclose(average(VOTE, line), 0, atol=1e-9 * np.abs(average(VOTE, MIXED)).max())
    near = 0.12 * np.array([[1, 1], [-1, -1]])
    assert all(len(set(VOTE.predict(place + near).tolist())) == 2 for place in vote)
    ax.figure.draw_without_rendering()


def test_the_title_says_how_much_of_the_plane_they_differ_on():
    ax = plot_votes(VOTE, MIXED, MAIL, axes())
    places = Frame.around(MIXED).places()
    share = np.mean((average(VOTE, places) > 0) != (VOTE.predict(places) == "spam"))
    assert 0 < share < 0.1
    assert ax.get_title() == f"The vote and the average differ\non {percent(share)} of the plotted area"
    assert len(hatched(ax)) == 1
    for path in hatched(ax)[0].get_paths():
        inside = [place for place in places[::7] if path.contains_point(place)]
        assert all((average(VOTE, np.array(p)) > 0) != (VOTE.predict([p])[0] == "spam") for p in inside[:20])
    names = legend(ax)
    assert names == ["ham (20)", "spam (20)", "boundary of the vote", "line of the average", "they differ"]


def test_one_voter_is_its_average():
    rows, labels = np.array([[2.0, 1.0], [-2.0, -1.0]]), [1, 0]
    model = VotedPerceptron(shuffle=False, fit_intercept=False).fit(rows, labels)
    assert model.n_updates_ == 1
    ax = plot_votes(model, rows, labels, axes())
    assert ax.get_title() == "The vote and the average agree\non the whole plotted area"
    assert not hatched(ax)


def test_a_line_that_is_not_seen_is_not_named():
    rows = MIXED * 1e-6  # the bias outweighs all rows
    model = VotedPerceptron(random_state=0, max_iter=2).fit(rows, MAIL)
    scores = average(model, Frame.around(rows).places())
    assert (scores > 0).all() or (scores < 0).all()
    ax = plot_votes(model, rows, MAIL, axes())
    assert "line of the average" not in legend(ax)


def test_pipelines_and_other_hypotheses():
    tall = MIXED * [1, 100]
    model = make_pipeline(StandardScaler(), Perceptron("vote", random_state=0, max_iter=3)).fit(tall, MAIL)
    ax = plot_votes(model, tall, MAIL, axes())
    _, line = contours(ax)
    scores = average(model[-1], model[0].transform(line))
    np.testing.assert_allclose(scores, 0, atol=1e-9 * np.abs(average(model[-1], MIXED)).max())


# Models with support rows.


RINGS, RING = make_rings(80, 0.1, random_state=0)
SIDES = np.where(RING > 0, "inner", "outer")


def perceptron(kernel, **options):
    return KernelPerceptron(kernel, **{"gamma": 1.0, "shuffle": False} | options)


def scattered(ax):
    """Return what was scattered, by label; support rows have none."""
    marks = {points.get_label(): points for points in ax.collections if hasattr(points, "get_sizes")}
    return {
        label: points for label, points in marks.items() if not label.startswith("_child") or len(points.get_offsets())
    }


def circles(ax):
    """Return the places and areas of the circles around support rows."""
    (found,) = [
        points for label, points in scattered(ax).items() if label.startswith("_child") and len(points.get_sizes())
    ]
    return np.asarray(found.get_offsets()), found.get_sizes()


def tints(ax):
    faces = [area.get_facecolor() for area in ax.collections if not hasattr(area, "get_sizes")]
    return {to_hex(face[0]).upper() for face in faces if face.size}


def test_rows_are_drawn_by_class_with_markers_and_colours_of_their_own():
    model = perceptron("poly", degree=2).fit(RINGS, SIDES)
    ax = axes()
    assert plot_support(model, RINGS, SIDES, ax) is ax
    inner, outer = (scattered(ax)[f"{label} ({(label == SIDES).sum()})"] for label in ("inner", "outer"))
    np.testing.assert_array_equal(inner.get_offsets(), RINGS[SIDES == "inner"])
    np.testing.assert_array_equal(outer.get_offsets(), RINGS[SIDES == "outer"])
    assert to_hex(inner.get_facecolor()[0]).upper() == ORANGE  # the first class
    assert to_hex(outer.get_facecolor()[0]).upper() == BLUE
    assert len(inner.get_paths()[0]) != len(outer.get_paths()[0])
    ax.figure.draw_without_rendering()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("hypothesis", ["last", "average", "vote", "pocket"])
def test_circles_lie_on_support_rows_and_grow_with_their_coefficients(hypothesis):
    model = perceptron("rbf", hypothesis=hypothesis, max_iter=3).fit(RINGS, SIDES)
    ax = plot_support(model, RINGS, SIDES, axes())
    expected = np.abs(model.average_dual_coef_ if hypothesis == "vote" else model.dual_coef_)[0]
    places, areas = circles(ax)
    np.testing.assert_array_equal(places, RINGS[model.support_][expected > 0])
    slope = np.polyfit(expected[expected > 0], areas, 1) if np.ptp(expected) else (1.0, 0.0)
    assert slope[0] > 0
    if np.ptp(expected):
        np.testing.assert_allclose(np.polyval(slope, expected[expected > 0]), areas)
    title = ax.get_legend().get_title().get_text()
    averaged = "averaged " if hypothesis == "vote" else ""
    assert title == f"circles: support vectors, area by |{averaged}coefficient|"


def test_the_legend_shows_areas_to_their_scale():
    model = perceptron("rbf", gamma=30.0, hypothesis="last")  # so narrow that each row is one mistake
    model.fit(RINGS[:2], [1, -1], sample_weight=[10, 5])
    assert model.dual_coef_.tolist() == [[10, -5]]
    ax = plot_support(model, RINGS, RING, axes())
    places, areas = circles(ax)
    np.testing.assert_array_equal(places, RINGS[:2])
    by_label = {
        label: points.get_sizes()[0] for label, points in scattered(ax).items() if len(points.get_offsets()) == 0
    }
    assert list(by_label) == ["5", "10"]
    assert list(by_label.values()) == pytest.approx(areas[::-1])
    assert legend(ax)[-2:] == ["5", "10"]


def test_equal_coefficients_have_one_circle_in_the_legend():
    corners, y = make_xor()
    model = SVC(kernel="poly", degree=2, gamma=1, coef0=1).fit(corners, y)
    model._dual_coef_ = model.dual_coef_ = np.sign(model.dual_coef_)
    ax = plot_support(model, corners, y, axes())
    assert [label for label, points in scattered(ax).items() if not len(points.get_offsets())] == ["1"]


def test_marks_of_many_rows_are_smaller_and_every_circle_is_around_its_mark():
    before = np.inf
    for n in (20, 300, 2000):
        rows, y = make_rings(n, 0.5, random_state=0)
        ax = plot_support(perceptron("rbf", max_iter=3).fit(rows, y), rows, y, axes())
        mark = scattered(ax)[f"1 ({(y == 1).sum():,})"].get_sizes()[0]
        _, areas = circles(ax)
        assert mark < before
        assert areas.min() >= 2 * mark
        assert areas.max() > 1.5 * areas.min()
        before = mark


def test_circles_of_hundreds_of_support_rows_leave_the_marks_to_be_seen():
    rows, y = make_rings(1500, 0.6, random_state=0)
    model = perceptron("rbf", gamma=2.0, max_iter=3).fit(rows, y)
    assert len(model.support_) > 500
    ax = plot_support(model, rows, y, axes())
    marks = [points for label, points in scattered(ax).items() if label.endswith(")")]
    (around,) = [points for points in scattered(ax).values() if points not in marks and len(points.get_offsets())]
    assert around.get_zorder() < min(points.get_zorder() for points in marks)
    assert around.get_linewidths()[0] <= 0.5
    assert around.get_sizes().max() <= 50


def within(figure, box):
    return box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1


@pytest.mark.parametrize("size", [(12, 4.5), pytest.param((15, 6), marks=pytest.mark.slow)])
def test_titles_and_legends_of_panels_side_by_side_are_not_cut_off(size):
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, 3)
    three, (spiral, y) = np.digitize(np.arctan2(*RINGS.T), [-1, 1]), make_spiral(100, random_state=0)
    pictures = [("last", RINGS, RING), ("vote", RINGS, three), ("last", spiral * [1, 1.3], y)]
    for ax, (hypothesis, rows, labels) in zip(panels, pictures, strict=True):
        model = KernelPerceptron("rbf", gamma=4.0, hypothesis=hypothesis, shuffle=False)
        plot_support(model.fit(rows, labels), rows, labels, ax)
    figure.draw_without_rendering()
    for texts in ([ax.title for ax in panels], [ax.get_legend() for ax in panels]):
        boxes = [text.get_window_extent() for text in texts]
        assert all(within(figure, box) for box in boxes)
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_the_boundary_runs_where_the_decision_is_zero():
    model = perceptron("poly", degree=2, max_iter=50).fit(RINGS, RING)
    ax = plot_support(model, RINGS, RING, axes())
    lines = [line for line in ax.collections if not hasattr(line, "get_sizes") and line.get_facecolor().size == 0]
    (line,) = lines
    vertices = np.concatenate([path.vertices for path in line.get_paths()])
    scale = np.abs(model.decision_function(RINGS)).max()
    assert np.abs(model.decision_function(vertices)).max() < 0.01 * scale
    assert len(vertices) > 100


def test_the_title_names_the_kernel_and_counts():
    model = perceptron("rbf", gamma=0.5, max_iter=1).fit(RINGS, SIDES)
    wrong = int((model.predict(RINGS[:9]) != SIDES[:9]).sum())
    title = plot_support(model, RINGS[:9], SIDES[:9], axes()).get_title()
    assert title == f"rbf with gamma 0.5\n{len(model.support_)} support vectors; {wrong} of 9 rows wrong"


def test_several_classes_are_regions_of_what_is_predicted():
    y = np.digitize(np.arctan2(*RINGS.T), [-1, 1])
    model = perceptron("rbf", hypothesis="last").fit(RINGS, y)
    ax = plot_support(model, RINGS, y, axes())
    assert len(tints(ax)) == 3
    _, areas = circles(ax)
    sizes = np.abs(model.dual_coef_).sum(axis=0)
    np.testing.assert_array_equal(np.argsort(areas, kind="stable"), np.argsort(sizes, kind="stable"))
    assert ax.get_legend().get_title().get_text().endswith("all classes added up")


def test_ten_classes_look_different():
    grid, y = np.column_stack([np.arange(30) % 10, np.arange(30) // 10]).astype(float), np.arange(30) % 10
    ax = plot_support(SVC().fit(grid, y), grid, y, axes())
    marks = [points for label, points in scattered(ax).items() if label.endswith("(3)")]
    assert len({to_hex(points.get_facecolor()[0]) for points in marks}) == 10
    assert len({points.get_paths()[0].vertices.tobytes() for points in marks}) == 10


@pytest.mark.parametrize("labels", [RING, SIDES])
def test_without_support_rows_it_is_drawn_still(labels):
    model = perceptron("poly").partial_fit(RINGS, labels, sample_weight=np.zeros(len(RINGS)))
    ax = plot_support(model, RINGS, labels, axes())
    assert "0 support vectors" in ax.get_title()
    assert ax.get_legend().get_title().get_text() == ""
    ax.figure.draw_without_rendering()


def test_one_answer_everywhere_is_drawn():
    model = SVC(kernel="rbf", gamma=0.01, C=1e-3).fit(RINGS[:3], [0, 0, 1])
    assert set(model.predict(RINGS).tolist()) == {0}
    plot_support(model, RINGS, np.zeros(len(RINGS)), axes()).figure.draw_without_rendering()
    one = plot_support(model, RINGS[:1], [0], axes())
    one.figure.draw_without_rendering()


def test_scikit_learns_machines_are_drawn():
    spiral, y = make_spiral(100, 1.0, random_state=0)
    model = SVC(gamma=4).fit(spiral, y)
    places, _ = circles(plot_support(model, spiral, y, axes()))
    np.testing.assert_array_equal(places, spiral[model.support_])
    sparse = SVC(gamma=4).fit(sp.csr_matrix(spiral), y)
    np.testing.assert_allclose(circles(plot_support(sparse, sp.csr_matrix(spiral), y, axes()))[0], places)


def test_frames_name_the_axes_and_arrays_do_not():
    frame = pl.DataFrame({"width": RINGS[:, 0], "height": RINGS[:, 1]})
    ax = plot_support(SVC().fit(frame, SIDES), frame, SIDES, axes())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")
    ax = plot_support(SVC().fit(RINGS, SIDES), RINGS, SIDES, axes())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")
    assert ax.get_aspect() == 1  # features of like range have the same scale


def test_a_pipeline_is_drawn_in_the_plane_of_its_rows():
    frame = pd.DataFrame(RINGS * [1, 100] + 5, columns=["width", "height"])
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), perceptron("linear")).fit(frame, SIDES)
    ax = plot_support(model, frame, SIDES, axes())
    places, _ = circles(ax)
    np.testing.assert_array_equal(places, frame.to_numpy()[model[-1].support_])
    assert ax.get_xlabel() == "width"
    assert ax.get_aspect() == "auto"


def test_models_of_tables_are_drawn_with_their_tables():
    """The plane is that of the prepared rows; the same rows as a block give the same picture."""
    frame = pd.DataFrame({"pay": CLOUDS[:, 0] * 1e4, "age": CLOUDS[:, 1] + 30, "y": NAMES})
    stream = data.open(frame, "y", scale="standard")
    (block,) = stream
    features = frame[["age", "pay"]]
    for model, plots in (
        (AveragedPerceptron(random_state=0), [plot_plane, plot_projection, plot_errors]),
        (VotedPerceptron(random_state=0, max_iter=2), [plot_votes]),
        (KernelPerceptron("rbf", gamma=0.5, random_state=0), [plot_support, plot_plane]),
    ):
        model.fit_stream(stream)
        for plot in plots:
            for rows in (features, block):
                ax = plot(model, rows, NAMES, ax=axes())
                again = plot(model, data.Block(block.X), NAMES, ax=axes())
                assert ax.get_title() == again.get_title()
                assert ax.get_xlim() == again.get_xlim()
            with pytest.raises(ValueError, match="expected a table with the columns pay and age, got an array"):
                plot(model, block.X, NAMES, ax=axes())
    model = AveragedPerceptron(random_state=0).fit_stream(stream)
    assert np.array_equal(distance(model, features), distance(model, block))
