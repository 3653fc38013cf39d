import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR

from helpers.pictures import axes
from rosenblatt import KernelPerceptron, Perceptron
from rosenblatt.data import make_rings, make_spiral, make_xor
from rosenblatt.plots import plot_support
from rosenblatt.plots.axes import BLUE, ORANGE

X, Y = make_rings(80, 0.1, random_state=0)
NAMES = np.where(Y > 0, "inner", "outer")


def perceptron(kernel, **options):
    return KernelPerceptron(kernel, **{"gamma": 1.0, "shuffle": False} | options)


def drawn(ax):
    """Return what was scattered, by label; support rows have none."""
    marks = {points.get_label(): points for points in ax.collections if hasattr(points, "get_sizes")}
    return {
        label: points for label, points in marks.items() if not label.startswith("_child") or len(points.get_offsets())
    }


def circles(ax):
    """Return the places and areas of the circles around support rows."""
    (found,) = [points for label, points in drawn(ax).items() if label.startswith("_child") and len(points.get_sizes())]
    return np.asarray(found.get_offsets()), found.get_sizes()


def tints(ax):
    faces = [area.get_facecolor() for area in ax.collections if not hasattr(area, "get_sizes")]
    return {to_hex(face[0]).upper() for face in faces if face.size}


def test_rows_are_drawn_by_class_with_markers_and_colours_of_their_own():
    model = perceptron("poly", degree=2).fit(X, NAMES)
    ax = axes()
    assert plot_support(model, X, NAMES, ax) is ax
    inner, outer = (drawn(ax)[f"{label} ({(label == NAMES).sum()})"] for label in ("inner", "outer"))
    np.testing.assert_array_equal(inner.get_offsets(), X[NAMES == "inner"])
    np.testing.assert_array_equal(outer.get_offsets(), X[NAMES == "outer"])
    assert to_hex(inner.get_facecolor()[0]).upper() == ORANGE  # the first class
    assert to_hex(outer.get_facecolor()[0]).upper() == BLUE
    assert len(inner.get_paths()[0]) != len(outer.get_paths()[0])
    ax.figure.canvas.draw()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("hypothesis", ["last", "average", "vote", "pocket"])
def test_circles_lie_on_support_rows_and_grow_with_their_coefficients(hypothesis):
    model = perceptron("rbf", hypothesis=hypothesis, max_iter=3).fit(X, NAMES)
    ax = plot_support(model, X, NAMES, axes())
    expected = np.abs(model.average_dual_coef_ if hypothesis == "vote" else model.dual_coef_)[0]
    places, areas = circles(ax)
    np.testing.assert_array_equal(places, X[model.support_][expected > 0])
    slope = np.polyfit(expected[expected > 0], areas, 1) if np.ptp(expected) else (1.0, 0.0)
    assert slope[0] > 0
    if np.ptp(expected):
        np.testing.assert_allclose(np.polyval(slope, expected[expected > 0]), areas)
    title = ax.get_legend().get_title().get_text()
    averaged = "averaged " if hypothesis == "vote" else ""
    assert title == f"circles: support rows, area by |{averaged}coefficient|"


def test_the_legend_shows_areas_to_their_scale():
    model = perceptron("rbf", gamma=30.0, hypothesis="last")  # so narrow that each row is one mistake
    model.fit(X[:2], [1, -1], sample_weight=[10, 5])
    assert model.dual_coef_.tolist() == [[10, -5]]
    ax = plot_support(model, X, Y, axes())
    places, areas = circles(ax)
    np.testing.assert_array_equal(places, X[:2])
    by_label = {label: points.get_sizes()[0] for label, points in drawn(ax).items() if len(points.get_offsets()) == 0}
    assert list(by_label) == ["5", "10"]
    assert list(by_label.values()) == pytest.approx(areas[::-1])
    assert [text.get_text() for text in ax.get_legend().get_texts()][-2:] == ["5", "10"]


def test_equal_coefficients_have_one_circle_in_the_legend():
    corners, y = make_xor()
    model = SVC(kernel="poly", degree=2, gamma=1, coef0=1).fit(corners, y)
    model._dual_coef_ = model.dual_coef_ = np.sign(model.dual_coef_)
    ax = plot_support(model, corners, y, axes())
    assert [label for label, points in drawn(ax).items() if not len(points.get_offsets())] == ["1"]


def test_marks_of_many_rows_are_smaller_and_every_circle_is_around_its_mark():
    before = np.inf
    for n in (20, 300, 2000):
        rows, y = make_rings(n, 0.5, random_state=0)
        ax = plot_support(perceptron("rbf", max_iter=3).fit(rows, y), rows, y, axes())
        mark = drawn(ax)[f"1 ({(y == 1).sum():,})"].get_sizes()[0]
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
    marks = [points for label, points in drawn(ax).items() if label.endswith(")")]
    (around,) = [points for points in drawn(ax).values() if points not in marks and len(points.get_offsets())]
    assert around.get_zorder() < min(points.get_zorder() for points in marks)
    assert around.get_linewidths()[0] <= 0.5
    assert around.get_sizes().max() <= 50


def within(figure, box):
    return box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1


@pytest.mark.parametrize("size", [(15, 6), (12, 4.5), (12, 8)])
def test_titles_and_legends_of_panels_side_by_side_are_not_cut_off(size):
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, 3)
    three, (spiral, y) = np.digitize(np.arctan2(*X.T), [-1, 1]), make_spiral(100, random_state=0)
    pictures = [("last", X, Y), ("vote", X, three), ("last", spiral * [1, 1.3], y)]
    for ax, (hypothesis, rows, labels) in zip(panels, pictures, strict=True):
        model = KernelPerceptron("rbf", gamma=4.0, hypothesis=hypothesis, shuffle=False)
        plot_support(model.fit(rows, labels), rows, labels, ax)
    figure.draw_without_rendering()
    for texts in ([ax.title for ax in panels], [ax.get_legend() for ax in panels]):
        boxes = [text.get_window_extent() for text in texts]
        assert all(within(figure, box) for box in boxes)
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_the_boundary_runs_where_the_decision_is_zero():
    model = perceptron("poly", degree=2, max_iter=50).fit(X, Y)
    ax = plot_support(model, X, Y, axes())
    lines = [line for line in ax.collections if not hasattr(line, "get_sizes") and line.get_facecolor().size == 0]
    (line,) = lines
    vertices = np.concatenate([path.vertices for path in line.get_paths()])
    scale = np.abs(model.decision_function(X)).max()
    assert np.abs(model.decision_function(vertices)).max() < 0.01 * scale
    assert len(vertices) > 100


def test_the_title_names_the_kernel_and_counts():
    model = perceptron("rbf", gamma=0.5, max_iter=1).fit(X, NAMES)
    wrong = int((model.predict(X[:9]) != NAMES[:9]).sum())
    title = plot_support(model, X[:9], NAMES[:9], axes()).get_title()
    assert title == f"rbf with gamma 0.5\n{len(model.support_)} support rows; {wrong} of 9 rows wrong"


def test_several_classes_are_regions_of_what_is_predicted():
    y = np.digitize(np.arctan2(*X.T), [-1, 1])
    model = perceptron("rbf", hypothesis="last").fit(X, y)
    ax = plot_support(model, X, y, axes())
    assert len(tints(ax)) == 3
    _, areas = circles(ax)
    sizes = np.abs(model.dual_coef_).sum(axis=0)
    np.testing.assert_array_equal(np.argsort(areas, kind="stable"), np.argsort(sizes, kind="stable"))
    assert ax.get_legend().get_title().get_text().endswith("all classes added up")


def test_ten_classes_look_different_and_eleven_are_refused():
    grid = np.column_stack([np.arange(33) % 11, np.arange(33) // 11]).astype(float)
    y = np.arange(33) % 11
    ten = y < 10
    model = SVC().fit(grid[ten], y[ten])
    ax = plot_support(model, grid[ten], y[ten], axes())
    marks = [points for label, points in drawn(ax).items() if label.endswith("(3)")]
    assert len({to_hex(points.get_facecolor()[0]) for points in marks}) == 10
    assert len({points.get_paths()[0].vertices.tobytes() for points in marks}) == 10
    with pytest.raises(ValueError, match="a model of 2 to 10 classes, got one of 11"):
        plot_support(SVC().fit(grid, y), grid, y, axes())


@pytest.mark.parametrize("labels", [Y, NAMES])
def test_without_support_rows_it_is_drawn_still(labels):
    model = perceptron("poly").partial_fit(X, labels, sample_weight=np.zeros(len(X)))
    ax = plot_support(model, X, labels, axes())
    assert "0 support rows" in ax.get_title()
    assert ax.get_legend().get_title().get_text() == ""
    ax.figure.canvas.draw()


def test_one_answer_everywhere_is_drawn():
    model = SVC(kernel="rbf", gamma=0.01, C=1e-3).fit(X[:3], [0, 0, 1])
    assert set(model.predict(X).tolist()) == {0}
    plot_support(model, X, np.zeros(len(X)), axes()).figure.canvas.draw()
    one = plot_support(model, X[:1], [0], axes())
    one.figure.canvas.draw()


def test_scikit_learns_machines_are_drawn():
    spiral, y = make_spiral(100, 1.0, random_state=0)
    model = SVC(gamma=4).fit(spiral, y)
    places, _ = circles(plot_support(model, spiral, y, axes()))
    np.testing.assert_array_equal(places, spiral[model.support_])
    sparse = SVC(gamma=4).fit(sp.csr_matrix(spiral), y)
    np.testing.assert_allclose(circles(plot_support(sparse, sp.csr_matrix(spiral), y, axes()))[0], places)


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_name_the_axes(library):
    frame = library.DataFrame({"width": X[:, 0], "height": X[:, 1]})
    ax = plot_support(SVC().fit(frame, NAMES), frame, NAMES, axes())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")
    ax = plot_support(SVC().fit(X, NAMES), X, NAMES, axes())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")


def test_a_pipeline_is_drawn_in_the_plane_of_its_rows():
    frame = pd.DataFrame(X * [1, 100] + 5, columns=["width", "height"])
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), perceptron("linear")).fit(frame, NAMES)
    ax = plot_support(model, frame, NAMES, axes())
    places, _ = circles(ax)
    np.testing.assert_array_equal(places, frame.to_numpy()[model[-1].support_])
    assert ax.get_xlabel() == "width"
    assert ax.get_aspect() == "auto"
    with pytest.raises(ValueError, match="rows that the model was trained on, which X is not"):
        plot_support(model, frame[::-1], NAMES[::-1], axes())
    with pytest.raises(ValueError, match="rows that the model was trained on, which X is not"):
        plot_support(model, frame[:1], NAMES[:1], axes())


def test_features_of_like_range_have_the_same_scale():
    assert plot_support(SVC().fit(X, Y), X, Y, axes()).get_aspect() == 1


def test_what_cannot_be_drawn_is_refused():
    model = SVC().fit(X, NAMES)
    with pytest.raises(ValueError, match=r"rows of two features, got shape \(80, 3\)"):
        plot_support(model, np.zeros((80, 3)), NAMES, axes())
    with pytest.raises(ValueError, match=r"one label for each of the 80 rows, got an array of shape \(3,\)"):
        plot_support(model, X, NAMES[:3], axes())
    with pytest.raises(ValueError, match="labels that the model was trained with, got 'maybe'"):
        plot_support(model, X[:1], ["maybe"], axes())
    with pytest.raises(ValueError, match="which a precomputed kernel does not have"):
        plot_support(SVC(kernel="precomputed").fit(X @ X.T, NAMES), X @ X.T, NAMES, axes())
    with pytest.raises(TypeError, match=r"expected a fitted model with support rows.*got Perceptron"):
        plot_support(Perceptron(random_state=0).fit([[1, 1], [-1, -1]], [1, 0]), X, Y, axes())
    with pytest.raises(ValueError, match="a model of 2 to 10 classes, got one of 0"):
        plot_support(SVR().fit(X, Y), X, Y, axes())
    with pytest.raises(NotFittedError):
        plot_support(SVC(), X, Y, axes())
