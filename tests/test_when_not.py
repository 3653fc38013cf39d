"""What docs/when_not.md says of its tables is what they say: the tables are measured anew, the sentences are not."""

from pathlib import Path

import pytest

from helpers.page_tables import read_tables

PAGE = (Path(__file__).parents[1] / "docs/when_not.md").read_text()
LINEAR = ("Perceptron", "Averaged", "Logistic", "Linear SVC", "SGD")


ACCURACY, SEVERAL, FIT, PREDICT, PROBABILITIES, EVERYDAY = read_tables(PAGE)
SAID = " ".join(PAGE.split("## What the tables say")[1].split("## Probabilities")[0].split())


def mean(data, learner, table=ACCURACY):
    return table[data][learner].replace("*", "").split(" ")[0]


def value(data, learner, table=ACCURACY):
    return float(mean(data, learner, table).replace(",", ""))


def spread(data, learner):
    return float(ACCURACY[data][learner].split("± ")[1])


def ahead(data, one, other):
    return f"{value(data, one) - value(data, other):.1f}"


def guessed():
    found = [value(data, learner) for data in ("circles", "XOR") for learner in LINEAR]
    return f"{min(found):.1f} to {max(found):.1f} percent"


def slowest_kernels():
    others = [learner for learner in FIT["iris"] if learner not in ("Logistic, ms", "Kernel")]
    return sum(value(data, "Kernel", FIT) > max(1.0, *(value(data, one, FIT) for one in others)) for data in FIT)


def bold_kernels():
    return sum("**" in row["Kernel"] for row in ACCURACY.values())


@pytest.mark.parametrize(
    "sentence",
    [
        f"{ahead('SMS spam', 'Averaged', 'Logistic')} points above logistic regression "
        f"and {ahead('SMS spam', 'Linear SVC', 'Averaged')} below `LinearSVC`",
        f"{ahead('noisy clusters', 'Averaged', 'Perceptron')} points on noisy clusters, "
        f"{ahead('adult, 8,000 rows', 'Averaged', 'Perceptron')} on adult",
        f"({guessed()}, below a coin at times)",
        f"on {bold_kernels()} of the {len(ACCURACY)} sets",
        f"slowest to train on {slowest_kernels()} of them",
        f"took {mean('adult, 8,000 rows', 'Kernel', FIT)} times logistic regression's time on adult "
        f"and {mean('film reviews', 'Kernel', FIT)} times on film reviews",
        f"gets {mean('XOR', 'Voted')} percent of XOR right, where the average of the same weights gets "
        f"{mean('XOR', 'Averaged')}",
        f"up to {max((row['Voted'] for row in PREDICT.values()), key=lambda cell: float(cell.replace(',', '')))} times",
        f"digits ({mean('digits', 'Averaged')} against {mean('digits', 'Logistic')} for logistic regression and "
        f"{mean('digits', 'Neighbours')} for neighbours",
        f"few noisy rows ({mean('few noisy rows', 'Averaged')} against {mean('few noisy rows', 'Logistic')} for "
        f"logistic regression and {mean('few noisy rows', 'Tree')} for a tree)",
        f"breast cancer ({mean('breast cancer', 'Averaged')} against {mean('breast cancer', 'Logistic')} for logistic",
        f"iris with one-vs-rest ({mean('iris', 'Averaged')} against {mean('iris', 'Logistic')} for logistic",
        f"solves that, with {mean('iris', 'Direct', SEVERAL)}.",
        f"trains in {min((row['Averaged'] for row in FIT.values()), key=float)} to "
        f"{max((row['Averaged'] for row in FIT.values()), key=float)} of logistic regression's time",
    ],
)
def test_every_number_is_that_of_the_tables(sentence):
    assert sentence in SAID


def test_every_comparison_without_a_number_holds():
    level = ("adult, 8,000 rows", "film reviews", "heart", "ionosphere", "noisy clusters", "a line with a gap")
    for data in level:
        for other in ("Logistic", "Linear SVC"):
            most = max(spread(data, "Averaged"), spread(data, other))
            assert abs(value(data, "Averaged") - value(data, other)) <= most + 0.05, (data, other)
    for data in ("circles", "XOR"):
        assert "**" in ACCURACY[data]["Kernel"]
    for data, others in {"moons": ("Kernel", "Tree", "Neighbours"), "sonar": ("Neighbours",)}.items():
        assert all(value(data, "Averaged") < value(data, other) for other in others)
    small = [data for data in FIT if value(data, "Logistic, ms", FIT) < 10]
    faster = [data for data in small if value(data, "Linear SVC", FIT) < value(data, "Averaged", FIT)]
    assert len(faster) > len(small) / 2


def test_probabilities_are_as_good_as_the_page_says():
    text = " ".join(PAGE.split("<!-- the probabilities end -->")[1].split("## ")[0].split())
    percents = {data: {name: float(cell) for name, cell in row.items() if "," in name and name != "rows, classes"}
                for data, row in PROBABILITIES.items()}  # fmt: skip
    assert len(percents) == 12
    for kind in ("Brier", "error"):
        for data, row in percents.items():
            assert row[f"{kind}, ours"] <= row[f"{kind}, scikit-learn"] + 0.5, (kind, data)
    several = [row for data, row in percents.items() if not PROBABILITIES[data]["rows, classes"].endswith(", 2")]
    assert len(several) == 4
    assert all(row["Brier, ours"] < row["Brier, scikit-learn"] for row in several)
    digits = percents["MNIST, 4,000 rows"]
    assert f"is {digits['error, ours']:.2f} percent where theirs is {digits['error, scikit-learn']:.2f}" in text
    most = max(row["Brier, ours"] - row["Brier, refitted"] for row in percents.values())
    assert f"by up to {most:.1f} points" in text


def test_everyday_tables_are_as_level_as_the_page_says():
    text = " ".join(PAGE.split("<!-- the everyday tables end -->")[1].split("## ")[0].split())
    mean, rows = EVERYDAY["**mean**"], {name: row for name, row in EVERYDAY.items() if name != "**mean**"}
    pairs = {"accuracy": ("ours", "logistic"), "balanced": ("balanced: ours", "balanced: logistic")}
    ahead = {kind: {name: float(row[own]) - float(row[other]) for name, row in rows.items()}
             for kind, (own, other) in pairs.items()}  # fmt: skip
    assert f"{mean['ours']} percent against {mean['logistic']} on average" in text
    assert f"{mean['balanced: ours']} against {mean['balanced: logistic']} balanced" in text
    assert all(abs(points) < 5 for found in ahead.values() for points in found.values())
    furthest = min(ahead["accuracy"], key=ahead["accuracy"].__getitem__)
    assert f"below is {furthest.split(',')[0]}, by {-ahead['accuracy'][furthest]:.1f} points" in text
    assert f"balanced accuracy is {ahead['balanced'][furthest]:.1f} higher" in text
    below = [
        name
        for name, row in rows.items()
        if max(float(row[side]) for side in pairs["accuracy"]) < float(row["constant"])
    ]
    assert f"on {' and '.join(name.split(',')[0] for name in below)} both are below" in text
