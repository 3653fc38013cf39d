"""Figures 4.3 and 4.4: curves are those of the runs, and the numbers say what was measured."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from rosenblatt import Perceptron
from rosenblatt.figures import catalogue
from rosenblatt.figures import ciml as errors
from rosenblatt.figures import ciml as orders
from rosenblatt.plots import by_pass as plot_orders


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(errors, "ERROR_SPLITS", 4)
    monkeypatch.setattr(errors, "ERROR_PASSES", 3)
    monkeypatch.setattr(orders, "ORDER_SPLITS", 2)
    monkeypatch.setattr(orders, "ORDER_PASSES", 4)
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


def made_errors(rise, error):
    found = {"turn": 3, "rise": rise, "error": error, "rose": 9, "training": [30.0, 9.0], "test": [33.0, 35.0]}
    names = ("diabetes_last", "diabetes_average", "tumours_last", "tumours_average")
    return {"splits": 24, "passes": 40, "measured_on": 12} | {name: dict(found) for name in names}


@pytest.mark.parametrize(
    ("rise", "error", "words"),
    [
        (3.0, 1.0, "rises by 3.0 ± 1.0 percentage points"),
        (-3.0, 1.0, "falls by 3.0 ± 1.0 percentage points"),
        (1.5, 1.0, "changes by +1.5 ± 1.0, less than two standard errors"),
        (-1.5, 1.0, "changes by -1.5 ± 1.0, less than two standard errors"),
    ],
)
def test_the_words_of_4_3_follow_the_numbers(rise, error, words):
    numbers = made_errors(rise, error)
    caption = errors.errors_caption(numbers).format(**numbers)
    assert caption.count(words) == 4
    for wrong in {"rises by", "falls by", "changes by"} - {words[: words.index("by") + 2]}:
        assert wrong not in caption
    assert "35.0% of the patients held out" in caption


def made_sets(*rows):
    names = ("once", "anew", "saving", "range", "longest_once", "longest_anew")
    return {f"set {i}": dict(zip(names, row, strict=True)) for i, row in enumerate(rows)}


def orders_caption(*rows):
    order = {"training": 1.0, "test": 2.0}
    numbers = {"splits": 6, "passes": 30, "seeds": 32, "fixed": order, "shuffled_once": order, "anew_each_pass": order}
    numbers["sets"] = made_sets(*rows)
    numbers |= orders.summary(numbers["sets"])
    return orders.orders_caption(numbers).format(**numbers)


SAVES = (20.0, 15.0, 25.0, [5.0, 40.0], 1500, 30)
COSTS = (15.0, 20.0, -33.0, [-50.0, -5.0], 30, 60)
EITHER = (20.0, 19.0, 5.0, [-20.0, 30.0], 40, 40)


@pytest.mark.parametrize(
    ("rows", "words", "longest"),
    [
        (
            [SAVES, COSTS, EITHER],
            "clearly above zero on 1 of them (25% to 25%), clearly below on 1 and could be either on the others.",
            'on 1 of the 3, most so on "set 0": 30 passes, and 1,500 where one unlucky order came again',
        ),
        ([SAVES], "clearly above zero on 1 of them (25% to 25%), clearly below on none.", "on 1 of the 1, most so"),
        ([COSTS], "clearly above zero on none of them, clearly below on 1.", "shuffles on none of the 1."),
        ([EITHER], "on none of them, clearly below on none and could be either on the others.", "on none of the 1."),
    ],
)
def test_the_words_of_4_4_follow_the_numbers(rows, words, longest):
    caption = orders_caption(*rows)
    assert words in caption
    assert longest in caption
    assert ("unlucky" in caption) == (SAVES in rows)


def test_orders_look_as_they_do_in_plot_orders():
    assert list(orders.LOOK_BY_ORDER) == list(orders.SHUFFLE)
    assert list(orders.LOOK_BY_ORDER.values()) == list(plot_orders.LOOKS[:3])


def test_ticks_of_passes_follow_the_runs():
    ax = Figure().subplots()
    runs = {"one": {"shuffled once": np.array([7, 90_000]), "anew each pass": np.array([8, 20])}}
    orders.draw_passes(ax, runs, {"one": {"saving": -5.0, "range": [-9.0, 1.0]}})
    ax.figure.draw_without_rendering()
    shown = [tick.get_text() for tick in ax.get_xticklabels()]
    assert "30,000" in shown
    assert "−5% (−9 to 1)" in [text.get_text() for text in ax.texts]


@pytest.mark.slow
def test_4_3_draws_the_means_of_the_splits(short):
    drawing = catalogue["4.3"].draw()
    found = drawing.numbers["diabetes_average"]
    ax = drawing.picture.axes[1]
    training, test = (line.get_ydata() for line in ax.get_lines()[:2])
    assert [training[0], training[-1]] == pytest.approx(found["training"])
    assert [test[0], test[-1]] == pytest.approx(found["test"])
    assert f"test error after pass {found['turn']}: " in ax.get_title()
    assert ax.get_lines()[2].get_xdata() == [found["turn"]] * 2
    assert ax.get_lines()[2].get_label() == "pass chosen on half of the splits"
    assert training[-1] < training[0]
    assert errors.change_words(drawing.numbers["diabetes_last"]) in drawing.caption.replace("−", "-")


@pytest.mark.slow
def test_4_4_draws_three_orders_and_eight_sets(short):
    drawing = catalogue["4.4"].draw()
    training, test, passes = drawing.picture.axes
    assert [line.get_label() for line in test.get_lines()] == list(orders.SHUFFLE)
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
