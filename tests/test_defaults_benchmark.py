"""The choice of defaults: by cross-validation on the rows to learn from alone, one for all sets."""

import numpy as np
import pytest
from benchmarks import defaults
from benchmarks.defaults import SETS, Choice, FamilySet, Parts, best, cut, default, losses_table
from sklearn.datasets import load_iris, make_classification

from rosenblatt import AROW, ExactScaler, PassiveAggressive

LOW, HIGH = (("r", 1.0),), (("r", 10.0),)


def errors(low, high, average=0.0):
    return {(LOW, 1, "last"): low, (HIGH, 1, "last"): high, (LOW, 1, "average"): average, (HIGH, 1, "average"): average}


def noisy(seed=0):
    return make_classification(90, 6, n_informative=4, flip_y=0.1, random_state=seed)


def test_there_are_at_least_twelve_sets_to_choose_on_and_each_has_one_name():
    assert sum(data.chosen_on for data in SETS) >= 12
    assert len({data.name for data in SETS}) == len(SETS)


def test_a_default_is_nearest_to_the_best_of_each_set_on_average():
    some = Choice("AROW", "ovr", "one", 2, [errors(0.10, 0.30), errors(0.10, 0.30)])
    other = Choice("AROW", "ovr", "two", 2, [errors(0.20, 0.15), errors(0.20, 0.15)])
    chosen = default([some, other], "AROW")
    assert chosen.key == (LOW, 1, "last")
    assert chosen.parameters == {"r": 1.0, "max_iter": 1}
    assert chosen.losses[LOW, 1, "last"] == pytest.approx(0.15)
    assert chosen.losses[HIGH, 1, "last"] == pytest.approx(0.225)


def test_an_average_is_never_the_default_however_good():
    assert default([Choice("AROW", "ovr", "one", 2, [errors(0.3, 0.2)])], "AROW").key == (HIGH, 1, "last")


def test_the_way_to_treat_classes_is_chosen_on_sets_that_have_several():
    two = Choice("AROW", "ovr", "two", 2, [errors(0.0, 0.4)])
    rest = Choice("AROW", "ovr", "three", 3, [errors(0.4, 0.5)])
    direct = Choice("AROW", "direct", "three", 3, [errors(0.6, 0.1)])
    chosen = default([two, rest, direct], "AROW")
    assert chosen.way == "direct"
    assert chosen.key == (HIGH, 1, "last")
    assert [chosen.covers(choice) for choice in (two, rest, direct)] == [True, False, True]


def test_the_loss_stays_that_of_scikit_learn():
    hinge, squared = (("loss", "hinge"), ("C", 1.0)), (("loss", "squared_hinge"), ("C", 1.0))
    run = {(hinge, 1, "last"): 0.3, (squared, 1, "last"): 0.1}
    chosen = default([Choice("PassiveAggressive", "ovr", "one", 2, [run])], "PassiveAggressive")
    assert chosen.key[0] == hinge
    assert "**20.00**" in losses_table(chosen)


def test_what_a_set_likes_best_is_chosen_by_validation_and_tested():
    choice = Choice("AROW", "ovr", "one", 2, [errors(0.2, 0.1), errors(0.1, 0.2)], [errors(0.6, 0.5), errors(0.4, 0.3)])
    assert best(choice.validation[0], "last") == (HIGH, 1, "last")
    assert choice.own("last") == [0.5, 0.4]


def test_rows_to_test_on_take_no_part_in_a_choice(monkeypatch):
    monkeypatch.setattr(defaults, "GRIDS", {"AROW": [LOW, HIGH]})
    data = FamilySet("made", lambda: (noisy(), (None, None)), prepare=ExactScaler)
    (found,) = defaults.validate(data, seeds=2)
    assert len(found.validation) == 2
    assert all(0 < error < 0.6 for run in found.validation for error in run.values())


def test_passes_that_go_on_are_those_of_one_fit():
    X, y = noisy()
    parts = Parts((X[:60], y[:60]), (X[60:], y[60:]))
    found = {(passes, kind): error for passes, kind, error in defaults.fits("AROW", LOW, "ovr", parts, 3)}
    for passes in defaults.PASSES:
        for kind in defaults.HYPOTHESES:
            model = AROW(r=1.0, max_iter=passes, hypothesis=kind, random_state=3).fit(X[:60], y[:60])
            assert found[passes, kind] == 1.0 - model.score(X[60:], y[60:])


def test_weights_beyond_the_floats_are_wrong_everywhere(monkeypatch):
    def fail(*_):
        raise ValueError("the weights have overflowed float64")

    monkeypatch.setattr(PassiveAggressive, "fit", fail)
    found = list(defaults.fits("PassiveAggressive", (), "ovr", Parts(noisy(), noisy()), 0))
    assert found == [(passes, kind, 1.0) for passes in defaults.PASSES for kind in defaults.HYPOTHESES]


def test_cut_rows_keep_their_shares():
    X, y = np.arange(100).reshape(-1, 1), np.repeat([0, 1], [80, 20])
    rows, labels = cut((X, y), 10, seed=0)
    assert len(rows) == 10
    assert np.bincount(labels).tolist() == [8, 2]
    assert cut((X, y), 100, seed=0)[0] is X


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_all_tables_of_two_small_sets(monkeypatch):
    monkeypatch.setattr(
        defaults, "GRIDS", {"AROW": [LOW, HIGH], "PassiveAggressive": defaults.GRIDS["PassiveAggressive"][:1]}
    )
    monkeypatch.setattr(defaults, "PASSES", (1, 2))
    sets = [
        FamilySet("made", lambda: (noisy(),), prepare=ExactScaler),
        FamilySet("iris", lambda: (load_iris(return_X_y=True),), prepare=ExactScaler),
    ]
    text = defaults.measure(sets, seeds=2)
    assert text.count("\n| made |") == 1
    assert text.count("\n| iris |") == 2
    assert "the mean over 2 sets and 2 seeds" in text
    assert text.count("**") > 4
