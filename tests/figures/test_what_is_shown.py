"""What each figure shows, recomputed from what was drawn."""

import functools
import re

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_digits, load_iris, load_wine

from rosenblatt import Perceptron, figures, separability, textbook, vc
from rosenblatt.figures import ciml
from rosenblatt.figures.ciml import sepals
from rosenblatt.figures.drawing import flowers, wines
from rosenblatt.figures.har_peled import POINTS
from rosenblatt.figures.notes import surface
from rosenblatt.plots.verdict import convex_hull


@functools.cache
def drawn(id):
    return figures.draw(id)


@pytest.mark.parametrize("id", [id for id in figures.catalogue if id not in ("4.3", "4.4")])
def test_every_figure_is_drawn_with_labels_and_a_caption_of_its_numbers(id):
    drawing = drawn(id)
    assert drawing.picture.axes
    assert 4 <= drawing.picture.get_size_inches()[0] <= 5.5
    assert any(text.get_text() for ax in drawing.picture.axes for text in (ax.title, ax.xaxis.label, ax.yaxis.label))
    assert len(drawing.caption) > 150
    assert not re.search(r"\n|[{}](?![a-z, ]*\})", drawing.caption.replace("{p, s}", ""))
    template = figures.catalogue[id].function.__code__.co_consts
    assert any(isinstance(part, str) and "{" in part for part in template)


def test_4_5_the_projection_is_the_dot_product_and_the_rest_is_perpendicular():
    numbers = drawn("4.5").numbers
    assert numbers["dot"] == pytest.approx(0.734)
    assert numbers["length_of_a"] == pytest.approx(numbers["dot"])
    assert numbers["length_of_b"] ** 2 + numbers["length_of_a"] ** 2 == pytest.approx(0.37**2 + 0.73**2)


def test_4_6_and_4_7_the_drawn_boundary_is_where_the_activation_is_zero():
    X, y = sepals()
    w = np.array(drawn("4.6").numbers["w"])
    for id in ("4.6", "4.7"):
        ax = drawn(id).picture.axes[0]
        (boundary,) = [c for c in ax.collections if len(c.get_paths()) and c.get_linewidth()[0] == 1.4]
        points = np.vstack([path.vertices for path in boundary.get_paths()])
        assert len(points) > 1
        assert points @ w == pytest.approx(0, abs=1e-9)
    assert (np.where(y == "virginica", 1, -1) * (X @ w) > 0).all()
    assert drawn("4.6").numbers["nearest"] == pytest.approx(np.abs(X @ w).min() / np.linalg.norm(w))
    assert drawn("4.7").numbers["setosa"][1] < 0 < drawn("4.7").numbers["virginica"][0]


def test_4_8_the_bias_moves_the_boundary_by_b_over_the_length_of_w():
    drawing = drawn("4.8")
    w, b = np.array(drawing.numbers["w"]), drawing.numbers["b"]
    assert drawing.numbers["shift"] == pytest.approx(-b / np.linalg.norm(w))
    ax = drawing.picture.axes[0]
    for label, bias in (("w·x + b = 0", b), ("w·x = 0", 0)):
        (line,) = (line for line in ax.get_lines() if line.get_label() == label)
        for point in (line.get_xy1(), line.get_xy2()):
            assert np.array(point) @ w + bias == pytest.approx(0, abs=1e-9)


def test_4_9_the_update_adds_the_flower_and_raises_its_activation_by_its_squared_length():
    numbers = drawn("4.9").numbers
    assert np.add(numbers["w_before"], numbers["x"]) == pytest.approx(numbers["w_after"])
    assert numbers["activation_before"] <= 0 < numbers["activation_after"]
    assert numbers["activation_after"] - numbers["activation_before"] == pytest.approx(numbers["squared_length"])
    assert numbers["w_after"] == pytest.approx(drawn("4.6").numbers["w"])


def test_4_11_the_common_point_lies_in_both_hulls():
    X, y = wines(1, 2, "alcohol", "color_intensity")
    numbers = drawn("4.11").numbers
    assert numbers["common_point"] == pytest.approx(numbers["same_point"])
    assert numbers["checked"]
    for cultivar in np.unique(y):
        corners = convex_hull(X[y == cultivar])
        edges, away = np.roll(corners, -1, axis=0) - corners, numbers["common_point"] - corners
        assert (edges[:, 0] * away[:, 1] - edges[:, 1] * away[:, 0] >= -1e-9).all()


def test_4_10_no_flower_lies_in_the_band_and_both_classes_touch_it():
    X, y = flowers("setosa", "versicolor", "sepal length", "sepal width")
    drawing = drawn("4.10")
    best = separability(X, y)
    away = (X @ best.w + best.b) / np.hypot(*best.w) * np.where(y == "versicolor", 1, -1)
    assert away.min() == pytest.approx(drawing.numbers["margin"])
    ringed = next(part for part in drawing.picture.axes[0].collections if "nearest" in part.get_label())
    rows = [int(np.flatnonzero((place == X).all(axis=1))[0]) for place in ringed.get_offsets()]
    assert away[rows] == pytest.approx(drawing.numbers["margin"])
    assert set(y[rows]) == {"setosa", "versicolor"}
    assert drawing.numbers["margin"] <= drawing.numbers["margin_high"]


def test_3_4_the_band_is_empty_and_both_classes_touch_it():
    X, y = flowers("setosa", "versicolor", "petal length", "petal width")
    numbers = drawn("3.4").numbers
    sides = (X @ numbers["w"] + numbers["b"]) * np.where(y == "versicolor", 1, -1)
    assert sides.min() == pytest.approx(numbers["gamma"])
    assert numbers["gamma"] / numbers["length_of_w"] == pytest.approx(numbers["margin"])
    assert set(y[numbers["nearest"]]) == {"setosa", "versicolor"}
    assert sides[numbers["nearest"]] == pytest.approx(numbers["gamma"])


def test_algorithm_7_columns_and_rows_have_the_same_area_and_give_the_average():
    drawing = drawn("algorithm-7")
    columns, rows = (sum(bar.get_width() * bar.get_height() for bar in ax.patches) for ax in drawing.picture.axes)
    assert columns == rows == drawing.numbers["area"]
    D = [([-1, 0], -1), ([-1, 2], -1), ([2, 4], 1), ([1, -1], 1)]
    assert drawing.numbers["average"] == textbook.averaged_perceptron_train(D, 3)[0][0]


def test_4_12_the_plane_has_the_four_corners_on_their_sides():
    numbers = drawn("4.12").numbers
    assert np.sign(numbers["activations"]).tolist() == [-1, 1, 1, -1]
    assert numbers["proved"]


def test_30_1_every_run_separates_and_none_beats_the_largest_margin():
    numbers = drawn("30.1").numbers
    assert numbers["separated"] == numbers["orders"]
    assert 0 < numbers["margins"][0] < numbers["margins"][1] <= numbers["largest_margin"]


def test_30_2_the_trace_is_what_the_algorithm_does():
    from rosenblatt import textbook

    S = [((2, 3), 1), ((-2, 3), 1), ((3, -3), 1), ((2, -3), -1), ((-1, 1), -1), ((-2, -3), -1)]
    numbers = drawn("30.2").numbers
    w, k = textbook.perceptron_until_no_mistakes(S)[:2]
    assert (list(w), k) == (numbers["w"], numbers["k"])
    assert k <= numbers["bound"]
    assert numbers["R"] == pytest.approx(max(np.hypot(*x) for x, _ in S))
    assert len(drawn("30.2").picture.axes[0].tables[0].get_celld()) == (1 + 1 + k) * 6


def test_30_2_the_circle_passes_between_the_classes():
    numbers = drawn("30.2-circle").numbers
    assert numbers["farthest_inside"] < numbers["radius"] < numbers["nearest_outside"]


def test_30_3_1_the_reason_is_as_large_as_other_words():
    panel = drawn("30.3.1").picture.axes[-1]
    drawn("30.3.1").picture.draw_without_rendering()
    assert panel.xaxis.label.get_fontsize() >= 8
    words, frame = panel.xaxis.label.get_window_extent(), panel.get_window_extent()
    assert frame.x0 - 5 < words.x0 < words.x1 < frame.x1 + 5


def test_30_3_1_sixteen_panels_and_one_subset_missing():
    drawing = drawn("30.3.1")
    assert len(drawing.picture.axes) == 16
    titles = [ax.get_title() for ax in drawing.picture.axes]
    assert titles[-1] == "not {p, s}"
    assert not any(title.startswith("not") for title in titles[:-1])
    assert frozenset((0, 3)) not in vc.dichotomies(POINTS, "discs")
    assert drawing.numbers["height_of_missing"] >= drawing.numbers["height_of_others"]


def test_3_1_without_a_bias_flowers_stay_wrong_and_that_is_proved():
    X, y = flowers("setosa", "versicolor", "petal length", "petal width")
    numbers = drawn("3.1").numbers
    assert numbers["checked"]
    assert numbers["wrong"] > 0
    assert Perceptron(random_state=0).fit(X, y).converged_
    assert "0 of 100" in drawn("3.1").picture.axes[0].get_title()
    assert f"{numbers['wrong']} of 100" in drawn("3.1").picture.axes[1].get_title()


@pytest.mark.parametrize(("id", "panels"), [("3.1", 2), ("3.3", 1), ("4.6", 1), ("4.8", 1), ("4.10", 1), ("3.4", 1)])
def test_w_is_seen_with_its_tip(id, panels):
    for ax in drawn(id).picture.axes[:panels]:
        (name,) = [text for text in ax.texts if text.get_text() == "w"]
        for value, (low, high) in zip(name.xy, (ax.get_xlim(), ax.get_ylim()), strict=True):
            assert low < value < high


def test_3_2_the_surface_is_where_the_activation_is_zero():
    numbers = drawn("3.2").numbers
    X, y = flowers("setosa", "versicolor", "sepal length", "petal length", "petal width")
    w, b = np.array(numbers["w"]), numbers["b"]
    points = np.column_stack([part.ravel() for part in surface(w, b, X.min(axis=0), X.max(axis=0))])
    assert points @ w + b == pytest.approx(0, abs=1e-9)
    assert np.ptp(points, axis=0) == pytest.approx(np.ptp(X, axis=0), rel=0.7)
    assert (np.where(y == "versicolor", 1, -1) * (X @ w + b) > 0).all()


def test_3_3_the_curved_boundary_is_right_where_no_line_is():
    numbers = drawn("3.3").numbers
    assert numbers["no_line"]
    assert numbers["wrong"] == 0


def test_real_data_are_two_kinds_each_with_the_measures_asked_for():
    iris, wine = load_iris(), load_wine()
    X, y = flowers("versicolor", "virginica", "petal width", "sepal length")
    assert {kind: int((y == kind).sum()) for kind in set(y)} == {"versicolor": 50, "virginica": 50}
    np.testing.assert_array_equal(X, iris.data[50:][:, [3, 0]])
    X, y = wines(2, 3, "flavanoids", "alcohol")
    assert {kind: int((y == kind).sum()) for kind in set(y)} == {"cultivar 2": 71, "cultivar 3": 48}
    np.testing.assert_array_equal(X, wine.data[wine.target > 0][:, [6, 0]])
    np.testing.assert_array_equal(y == "cultivar 3", wine.target[wine.target > 0] == 2)
    X, y = sepals()
    assert X.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert set(y) == {"setosa", "virginica"}


def test_4_1_and_4_2_products_and_bias_add_up_to_the_activation():
    first, second = drawn("4.1").numbers, drawn("4.2").numbers
    assert np.dot(first["w"], first["x"]) + first["b"] == pytest.approx(first["activation"])
    assert np.multiply(second["w"], second["x"]) == pytest.approx(second["products"])
    assert sum(second["products"]) + second["b"] == pytest.approx(second["activation"])
    assert (first["activation"] > 0) == (first["answer"] == "versicolor")
    assert (second["activation"] > 0) == (second["answer"] == "virginica")
    assert ("above 0" in drawn("4.1").caption) == (first["activation"] > 0)
    assert ("below 0" in drawn("4.2").caption) == (second["activation"] < 0)
    assert second["answer"] == "versicolor"  # "which is right": the first rows are
    bars = drawn("4.2").picture.axes[0].patches
    assert [bar.get_width() for bar in bars[:4]] == pytest.approx(second["products"])


# Figures 4.3 and 4.4: curves are those of the runs, and the numbers say what was measured.


@pytest.fixture
def short(monkeypatch):
    for name, value in {"ERROR_SPLITS": 4, "ERROR_PASSES": 3, "ORDER_SPLITS": 2, "ORDER_PASSES": 4, "SEEDS": 3}.items():
        monkeypatch.setattr(ciml, name, value)


def test_a_turn_is_found_on_some_splits_and_measured_on_the_others():
    test = np.array([[3.0, 1.0, 2.0], [3.0, 5.0, 6.0], [3.0, 2.0, 2.0], [3.0, 5.0, 4.5]])
    assert ciml.find_turn(test) == {"turn": 2, "rise": 0.25, "error": pytest.approx(0.75), "rose": 1}


def test_what_shuffling_anew_saves():
    found = ciml.compare(np.array([10, 20, 90]), np.array([5, 15, 16]))
    low, high = found.pop("range")
    assert low < 25 < high
    assert ciml.compare(np.full(9, 20), np.full(9, 15))["range"] == pytest.approx([25, 25])
    assert found == {
        "once": 20.0,
        "anew": 15.0,
        "saving": 25.0,
        "mean_saving": pytest.approx(70.0),
        "longest_once": 90,
        "longest_anew": 16,
    }


def test_ticks_of_passes_follow_the_runs():
    ax = Figure().subplots()
    runs = {"one": {"shuffled once": np.array([7, 90_000]), "anew each pass": np.array([8, 20])}}
    ciml.draw_passes(ax, runs, {"one": {"saving": -5.0, "range": [-9.0, 1.0]}})
    ax.figure.draw_without_rendering()
    shown = [tick.get_text() for tick in ax.get_xticklabels()]
    assert "30,000" in shown
    assert "−5% (−9 to 1)" in [text.get_text() for text in ax.texts]


def test_4_3_draws_the_means_of_the_splits(short):
    drawing = figures.catalogue["4.3"].draw()
    found = drawing.numbers["diabetes_average"]
    ax = drawing.picture.axes[1]
    training, test = (line.get_ydata() for line in ax.get_lines()[:2])
    assert [training[0], training[-1]] == pytest.approx(found["training"])
    assert [test[0], test[-1]] == pytest.approx(found["test"])
    assert f"test error after pass {found['turn']}: " in ax.get_title()
    assert ax.get_lines()[2].get_xdata() == [found["turn"]] * 2
    assert ax.get_lines()[2].get_label() == "pass chosen on half of the splits"
    assert training[-1] < training[0]
    assert ciml.change_words(drawing.numbers["diabetes_last"]) in drawing.caption.replace("−", "-")


def test_4_4_draws_three_orders_and_eight_sets(short):
    drawing = figures.catalogue["4.4"].draw()
    training, test, passes = drawing.picture.axes
    assert [line.get_label() for line in test.get_lines()] == list(ciml.SHUFFLE)
    assert test.get_lines()[0].get_ydata()[-1] == pytest.approx(drawing.numbers["fixed"]["test"])
    assert training.get_lines()[0].get_ydata()[-1] > training.get_lines()[2].get_ydata()[-1]  # sorted rows are a trap
    assert [tick.get_text().replace("\n", " ") for tick in passes.get_yticklabels()] == list(drawing.numbers["sets"])
    digits = load_digits()
    taken = {
        shuffle: np.median(
            [
                Perceptron(shuffle=shuffle, random_state=seed, max_iter=3000)
                .fit(digits.data, digits.target == 0)
                .n_iter_
                for seed in (1000, 1001, 1002)
            ]
        )
        for shuffle in ("once", True)
    }
    found = drawing.numbers["sets"]["digit 0"]
    assert (found["once"], found["anew"]) == (taken["once"], taken[True])
    medians = [line for line in passes.get_lines() if len(line.get_xdata()) == 1][:2]
    assert [line.get_xdata()[0] for line in medians] == [taken["once"], taken[True]]
    sets = drawing.numbers["sets"].values()
    assert drawing.numbers["clear"] == sum(found["range"][0] > 0 for found in sets)
    assert drawing.numbers["costly"] == sum(found["range"][1] < 0 for found in sets)
    assert drawing.numbers["shorter"] == sum(found["longest_anew"] < found["longest_once"] for found in sets)
