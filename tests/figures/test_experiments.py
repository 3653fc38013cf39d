"""Figures 4.3 and 4.4: curves are those of the runs, and the numbers say what was measured."""

import numpy as np
import pytest

from rosenblatt.figures import catalogue, errors, orders


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(errors, "SPLITS", 4)
    monkeypatch.setattr(errors, "PASSES", 3)
    monkeypatch.setattr(orders, "SPLITS", 2)
    monkeypatch.setattr(orders, "PASSES", 4)
    monkeypatch.setattr(orders, "SEEDS", 3)


def test_a_turn_is_found_on_some_splits_and_measured_on_the_others():
    test = np.array([[3.0, 1.0, 2.0], [3.0, 5.0, 6.0], [3.0, 2.0, 2.0], [3.0, 5.0, 4.5]])
    assert errors.find_turn(test) == {"turn": 2, "rise": 0.25, "error": pytest.approx(0.75), "rose": 1}


def test_what_shuffling_anew_saves():
    found = orders.compare(np.array([10, 20, 90]), np.array([5, 15, 16]))
    low, high = found.pop("range")
    assert low < 25 < high
    assert orders.compare(np.full(9, 20), np.full(9, 15))["range"] == pytest.approx([25, 25])
    assert found == {
        "once": 20.0,
        "anew": 15.0,
        "saving": 25.0,
        "mean_saving": pytest.approx(70.0),
        "longest_once": 90,
        "longest_anew": 16,
    }


@pytest.mark.slow
def test_4_3_draws_the_means_of_the_splits(short):
    drawing = catalogue["4.3"].draw()
    found = drawing.numbers["diabetes_average"]
    ax = drawing.picture.axes[1]
    training, test = (line.get_ydata() for line in ax.get_lines()[:2])
    assert [training[0], training[-1]] == pytest.approx(found["training"])
    assert [test[0], test[-1]] == pytest.approx(found["test"])
    assert f"lowest after pass {found['turn']}," in ax.get_title()
    assert training[-1] < training[0]
    assert f"by pass 3 has risen by {drawing.numbers['diabetes_last']['rise']:.1f}" in drawing.caption.replace("−", "-")


@pytest.mark.slow
def test_4_4_draws_three_orders_and_eight_sets(short):
    drawing = catalogue["4.4"].draw()
    training, test, passes = drawing.picture.axes
    assert [line.get_label() for line in test.get_lines()] == list(orders.SHUFFLE)
    assert test.get_lines()[0].get_ydata()[-1] == pytest.approx(drawing.numbers["fixed"]["test"])
    assert training.get_lines()[0].get_ydata()[-1] > training.get_lines()[2].get_ydata()[-1]  # sorted rows are a trap
    assert [tick.get_text().replace("\n", " ") for tick in passes.get_yticklabels()] == list(drawing.numbers["sets"])
    for found in drawing.numbers["sets"].values():
        assert found["saving"] == pytest.approx(100 * (1 - found["anew"] / found["once"]))
    sets = drawing.numbers["sets"].values()
    assert drawing.numbers["clear"] == sum(found["range"][0] > 0 for found in sets)
    assert drawing.numbers["costly"] == sum(found["range"][1] < 0 for found in sets)
    assert drawing.numbers["shorter"] == sum(found["longest_anew"] < found["longest_once"] for found in sets)
