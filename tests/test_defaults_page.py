"""docs/defaults.md: the defaults are those of its tables, and what it says of them is what they say."""

import re
from pathlib import Path

import pytest

import rosenblatt
from helpers.page_tables import read_tables
from rosenblatt.training.options import RunOptions

PAGE = (Path(__file__).parents[1] / "docs/defaults.md").read_text()
SAID = " ".join(PAGE.split("## What the tables say")[1].split("## First results")[0].split())
LEARNERS = ("AROW", "PassiveAggressive", "MarginPerceptron")
HINGE, SQUARED = 'loss="hinge", C=', 'loss="squared_hinge", C='


*LOSSES, TEST, WAYS = read_tables(PAGE.split("<!-- the tables start -->")[1].split("<!-- the tables end -->")[0])
(FIRST,) = read_tables(PAGE.split("<!-- the first results start -->")[1].split("<!-- the first results end -->")[0])


def value(cell):
    return float(cell.replace("*", "").split(" ")[0])


def loss(learner, row, column):
    return LOSSES[LEARNERS.index(learner)][f"`{row}`"][column].replace("*", "")


def mean(table, data, column):
    return table[data][column].replace("*", "").split(" ")[0]


def ahead(data, learner, hypothesis, one, other):
    """Return by how many points one way to treat classes errs less than the other."""
    name = f"{learner}, {hypothesis}"
    return f"{value(WAYS[data][f'{name}: {other}']) - value(WAYS[data][f'{name}: {one}']):.1f}"


def wins(learner, hypothesis):
    """Return on how many sets classes that compete err less."""
    name = f"{learner}, {hypothesis}"
    sets = [data for data in WAYS if data != "mean"]
    return sum(value(WAYS[data][f"{name}: direct"]) < value(WAYS[data][f"{name}: ovr"]) for data in sets), len(sets)


@pytest.mark.parametrize("learner", LEARNERS)
def test_defaults_are_the_bold_ones_but_for_c(learner):
    table = LOSSES[LEARNERS.index(learner)]
    ((row, passes),) = [
        (row, int(re.search(r"\d+", column)[0]))
        for row, cells in table.items()
        for column, cell in cells.items()
        if "**" in cell and column != "mean of these"
    ]
    model = getattr(rosenblatt, learner)()
    options = RunOptions.for_learner(learner)
    for name, text in (pair.split("=") for pair in row.strip("`").split(", ")):
        text = "1.0" if name == "C" else text  # the page says why that one stays as scikit-learn has it
        assert getattr(model, name) == getattr(options, name) == (text.strip('"') if '"' in text else float(text))
    allowed = [name for name in table if "squared" not in name]
    assert value(table[row]["mean of these"]) == min(value(table[name]["mean of these"]) for name in allowed)
    assert model.max_iter == options.max_iter == (100 if learner == "MarginPerceptron" else passes)
    assert model.multi_class == options.multi_class == ("ovr" if learner == "MarginPerceptron" else "direct")


@pytest.mark.parametrize(
    "sentence",
    [
        f"({loss('AROW', 'r=30', 'last, 10 passes')} points behind the best, against "
        f"{loss('AROW', 'r=10', 'last, 10 passes')} for `r=10`)",
        f"({loss('AROW', 'r=30', 'last, 1 pass')} against {loss('AROW', 'r=10', 'last, 1 pass')})",
        f"its test error is {TEST['mean']['AROW']} percent in the mean, and {TEST['mean']['AROW, own choice']} with",
        f"news20 ({mean(TEST, 'news20', 'AROW')} against {mean(TEST, 'news20', 'AROW, own choice')})",
        f"({loss('PassiveAggressive', HINGE + '0.1', 'last, 10 passes')} points behind the best against "
        f"{loss('PassiveAggressive', HINGE + '1', 'last, 10 passes')} for `C=1`, after ten passes)",
        f"of few passes it is better ({loss('PassiveAggressive', HINGE + '1', 'average, 1 pass')} against "
        f"{loss('PassiveAggressive', HINGE + '0.1', 'average, 1 pass')} after one)",
        f"({loss('PassiveAggressive', SQUARED + '0.01', 'mean of these')} against "
        f"{loss('PassiveAggressive', HINGE + '0.1', 'mean of these')} in the mean of the passes)",
        f"falls from {TEST['mean']['PassiveAggressive']} to {TEST['mean']['PassiveAggressive, average']} percent",
        f"{mean(TEST, 'a9a', 'PassiveAggressive')} to {mean(TEST, 'a9a', 'PassiveAggressive, average')} on a9a,",
        f"{mean(TEST, 'splice', 'PassiveAggressive')} to {mean(TEST, 'splice', 'PassiveAggressive, average')} on",
        f"falls from {TEST['mean']['MarginPerceptron']} to {TEST['mean']['MarginPerceptron, average']}.",
        f"({TEST['mean']['AROW']}, {TEST['mean']['AROW, average']})",
        f"MNIST ({mean(TEST, 'MNIST', 'AROW')} to {mean(TEST, 'MNIST', 'AROW, average')}) and loses on iris "
        f"({mean(TEST, 'iris', 'AROW')} to {mean(TEST, 'iris', 'AROW, average')})",
        "error on {} of {} sets, by ".format(*wins("AveragedPerceptron", "average"))
        + f"{ahead('iris', 'AveragedPerceptron', 'average', 'direct', 'ovr')} points on iris and "
        f"{ahead('20 newsgroups', 'AveragedPerceptron', 'average', 'direct', 'ovr')} on 20 newsgroups",
        f"({WAYS['mean']['AROW, last: direct']} against {WAYS['mean']['AROW, last: ovr']}, "
        f"{WAYS['mean']['PassiveAggressive, last: direct']} against {WAYS['mean']['PassiveAggressive, last: ovr']})",
        f"for `AROW` by {ahead('news20', 'AROW', 'last', 'ovr', 'direct')} and "
        f"{ahead('20 newsgroups', 'AROW', 'last', 'ovr', 'direct')} points",
    ],
)
def test_every_number_is_that_of_the_tables(sentence):
    assert sentence in SAID


def test_every_comparison_without_a_number_holds():
    for learner in ("AROW", "PassiveAggressive"):
        for data in ("iris", "digits", "sector"):
            assert float(ahead(data, learner, "last", "direct", "ovr")) > 0, (learner, data)
        for data in ("news20", "20 newsgroups"):
            assert float(ahead(data, learner, "last", "ovr", "direct")) > 0, (learner, data)
    without = [data for data in WAYS if data not in ("mean", "iris")]
    rest, direct = (sum(value(WAYS[data][f"AROW, last: {way}"]) for data in without) for way in ("ovr", "direct"))
    assert abs(rest - direct) / len(without) < 0.3
    for data in ("ionosphere", "sonar"):
        assert value(TEST[data]["PassiveAggressive"]) < value(TEST[data]["PassiveAggressive, own choice"])


def test_the_default_of_passive_aggressive_is_its_best_first_result():
    means = {name: value(row["mean accuracy"]) for name, row in FIRST.items() if name.startswith("`PassiveAggressive`")}
    model = rosenblatt.PassiveAggressive()
    options = RunOptions.for_learner("PassiveAggressive")
    assert max(means, key=means.get) == f"`PassiveAggressive`, {model.multi_class}, {model.hypothesis}"
    assert (options.multi_class, options.hypothesis) == (model.multi_class, model.hypothesis)
