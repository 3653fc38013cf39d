"""What docs/drift.md says of its tables is what they say: the tables are measured anew, the sentences are not."""

from pathlib import Path

import pytest
from benchmarks.drift import LEARNERS, MADE, MADE_MARKS, REAL_MARKS

from helpers.page_tables import read_tables

PAGE = (Path(__file__).parents[1] / "docs/drift.md").read_text()
SAID = " ".join(PAGE.split("## What they say")[1].split("## At the command")[0].split())


def read_table(marks):
    """Return the errors between two marks, as they are written: by stream, then by learner."""
    (table,) = read_tables(PAGE.split(marks[0])[1].split(marks[1])[0])
    streams = next(iter(table.values()))
    return {stream: {name: row[stream].replace("*", "") for name, row in table.items()} for stream in streams}


TABLE = read_table(MADE_MARKS) | read_table(REAL_MARKS)
DRIFT = ("abrupt", "gradual", "turning")
LAST, AVERAGE, FORGETS = "`Perceptron()`", "`AveragedPerceptron()`", "`AveragedPerceptron(decay=0.01)`"
LARGE = '`PassiveAggressive(C=1, hypothesis="last")`'
SMALL, AROW, SGD = '`PassiveAggressive(C=0.1, hypothesis="last")`', "`AROW(r=1)`", "scikit-learn's `SGDClassifier()`"
SMALL_AVERAGE = "`PassiveAggressive(C=0.1, decay=0.01)`"
LONGER, COMMONEST, BEFORE = "`AveragedPerceptron(decay=0.001)`", "the commonest label so far", "the label before"
ELECTRICITY, LATE, COVER, COVER_LATE = (
    "Electricity",
    "Electricity, a day late",
    "Cover type",
    "Cover type, 100 rows late",
)


def on_drift(learner):
    one, two, three = (TABLE[stream][learner] for stream in DRIFT)
    return f"{one}, {two} and {three}"


def least(stream):
    return min(TABLE[stream], key=lambda learner: float(TABLE[stream][learner]))


def test_the_tables_have_every_stream_and_learner():
    assert list(read_table(MADE_MARKS)) == list(MADE)
    assert list(read_table(REAL_MARKS)) == [ELECTRICITY, LATE, "Weather", COVER, COVER_LATE]
    assert all(list(errors) == list(LEARNERS) for errors in TABLE.values())


@pytest.mark.parametrize(
    "sentence",
    [
        f"{on_drift(AVERAGE)} percent errors on the three that drift",
        f"{TABLE[ELECTRICITY][AVERAGE]} on Electricity against {TABLE[ELECTRICITY][LAST]} for the last weights",
        f"{on_drift(FORGETS)} with decay 0.01, against {on_drift(LAST)} for the last weights",
        f"at most 0.1 it is {on_drift(SMALL_AVERAGE)}.",
        f"where nothing changes: {TABLE['no drift'][FORGETS]} against {TABLE['no drift'][AVERAGE]}.",
        f"have {on_drift(SMALL)}, and {TABLE['Weather'][SMALL]} on Weather, the least there",
        f"with {TABLE['no drift'][AROW]}, and among the worst where something does: {on_drift(AROW)}.",
        f"to repeat it makes {TABLE[ELECTRICITY][BEFORE]} and {TABLE[COVER][BEFORE]} percent errors",
        f"gets {TABLE[ELECTRICITY][LARGE]} on Electricity, well below repeating",
        f"looks back too far for that: {TABLE[ELECTRICITY][FORGETS]} and {TABLE[COVER][FORGETS]}.",
        f"have {TABLE[LATE][LAST]} and its average with decay 0.001 has {TABLE[LATE][LONGER]}, the least",
        f"it is {TABLE[COVER_LATE][LAST]} and {TABLE[COVER_LATE][LONGER]}, and AROW has {TABLE[COVER_LATE][AROW]}.",
        f"has {TABLE['Weather'][AVERAGE]}, more than the commonest label's {TABLE['Weather'][COMMONEST]};",
        f"{on_drift(SGD)} on made drift, {TABLE[ELECTRICITY][SGD]} on Electricity",
    ],
)
def test_every_number_is_that_of_the_tables(sentence):
    assert sentence in SAID


def test_every_comparison_without_a_number_holds():
    assert [least(stream) for stream in DRIFT] == [SMALL_AVERAGE] * 3
    assert least("no drift") == AROW
    assert least("Weather") == SMALL
    assert least(LATE) == LONGER
    assert least(COVER) == BEFORE
    assert least(COVER_LATE) == AROW
    for stream in DRIFT:
        errors = sorted(map(float, (TABLE[stream][name] for name in LEARNERS if "label" not in name)))
        assert float(TABLE[stream][AROW]) >= errors[-2]
        assert abs(float(TABLE[stream][SGD]) - float(TABLE[stream][LAST])) < 1.5
    for stream, errors in TABLE.items():  # within some 6 points of the best
        others = [float(error) for name, error in errors.items() if "label" not in name]
        assert float(errors[SMALL]) < min(others) + 6.5, stream
