"""Right answers are accepted, wrong ones rejected with a counterexample that is one; malformed ones get a sentence."""

import json
import re
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pytest

from exercises.shown import shown
from rosenblatt import separability
from rosenblatt.exercises import check, judge, list_exercises
from rosenblatt.exercises.judges import JUDGES
from rosenblatt.exercises.table import table

ROOT = Path(__file__).parents[2]
ANSWERS = json.loads(Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))
RIGHT = [(name, answer) for name, answers in ANSWERS.items() for answer in answers["right"]]
WRONG = [(name, wrong["answer"], wrong["field"]) for name, answers in ANSWERS.items() for wrong in answers["wrong"]]
XOR = [1, 1, -2, 0]


def test_there_are_eighteen_and_each_has_answers():
    assert [exercise.number for exercise in list_exercises()] == list(range(1, 19))
    assert list(ANSWERS) == list(table())
    for name, answers in ANSWERS.items():
        assert len(answers["right"]) >= 3, name
        assert len(answers["wrong"]) >= 5, name


def test_the_table_leads_to_headings_of_the_documentation_and_has_no_id_twice():
    for exercise in list_exercises():
        page, _, heading = exercise.docs.partition("#")
        titles = re.findall(r"^#+ (.+)$", (ROOT / f"docs/{page}.md").read_text(), flags=re.M)
        anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
        assert not heading or heading in anchors, exercise.name
        for field in exercise.fields:
            ids = [option["id"] for option in field.get("options", [])]
            assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(("name", "answer"), RIGHT)
def test_right_answers_are_accepted(name, answer, capsys):
    result = check(name, answer)
    assert result, result
    assert (result.field, result.counterexample) == (None, None)
    assert capsys.readouterr().out == f"{name}: right.\n"


@pytest.mark.parametrize(("name", "answer", "field"), WRONG)
def test_wrong_answers_are_rejected_with_a_counterexample(name, answer, field, capsys):
    result = check(name, answer)
    assert not result
    assert result.field == field
    assert shown(name, field, answer, result.counterexample)
    assert re.fullmatch(rf'{re.escape(name)}: not yet\. .+\."?\n', capsys.readouterr().out)


@pytest.mark.parametrize("answer", [np.array(XOR), tuple(XOR), list(map(Fraction, XOR)), np.array(XOR, dtype=np.int8)])
def test_numbers_of_any_type_are_taken(answer):
    assert check("4.12", answer)


def test_decisions_are_exact():
    w = 0.1 + 0.2  # a little more than 0.3
    assert check("4.12", [0.3, 0.3, -2 * w, 0])  # the activation of (1, 1) is just below 0
    assert not check("4.12", [w, w, -0.6, 0])


@pytest.mark.parametrize(
    ("name", "answer", "part"),
    [
        ("4.12", [1, 2, 3], "expected 4 numbers w1, w2, w3, b, got [1, 2, 3]"),
        ("4.12", "1, 1, -2, 0", "expected 4 numbers"),
        ("4.12", [1, 1, -2, "x"], "there is no 'x' here: write numbers alone"),
        ("4.12", [1, 1, -2, float("nan")], "at most 1,000,000,000 in size, got nan"),
        ("4.12", [1, 1, -2, float("inf")], "got inf"),
        ("4.12", [1, 1, -2, True], "expected a number, got True"),
        ("4.12", None, "expected 4 numbers"),
        ("4.12", lambda x: x, "expected 4 numbers"),
        ("4.1-threshold", "-alpha", "there is no 'alpha' here: use theta"),
        ("4.1-threshold", "-" * 201, "write at most 200 characters"),
        ("4.1-threshold", "(" * 30, "at most 20 parentheses"),
        ("4.2-ties", 0, "a dictionary with updates, because, got 0"),
        ("4.2-ties", {"updates": 0}, "a dictionary with updates, because"),
        ("4.2-ties", {"updates": 0, "because": ["zero"]}, "expected one of 'same', 'first'"),
        ("4.2-permute", {"points": [[0, 0, 1]], "seed": 1}, "expected 2 to 20 points, got 1"),
        ("4.2-permute", {"points": [[0, 0, 1], [1, 1, 2]], "seed": 1}, "expected labels -1 or 1, got 2"),
        ("4.2-permute", {"points": [[0, 0, 1], [1, 0.1, -1]], "seed": 1}, "multiples of 1/8 from -100 to 100, got 0.1"),
        ("4.2-permute", {"points": [[0, 0, 1], [1, 1, -1]], "seed": 1.5}, "an integer from 0 to 9999, got 1.5"),
        ("4.2-permute", {"points": [[0, 0, 1], [1, 1, -1]], "seed": "-inf"}, "write numbers alone"),
        ("4.5-positive", ["separates", "separates"], "expected each step once"),
        ("30.3", {**ANSWERS["30.3"]["right"][0], "subset": [4]}, "different row numbers from 0 to 3, got [4]"),
        ("4.3-line", {**ANSWERS["4.3-line"]["right"][0], "line": [[0, 2], [0, 2]]}, "two different points"),
    ],
)
def test_answers_of_another_form_get_a_sentence_without_a_counterexample(name, answer, part):
    result = check(name, answer)
    assert not result
    assert part in result.text
    assert result.counterexample is None


@pytest.mark.parametrize(
    "hostile", [None, "x", "1e9", 10**400, [10**400], [[1e308, 1e308]], {}, "0^-1", [["1", "1", "1"]], -1e-320]
)
def test_hostile_fields_are_wrong_and_break_nothing(hostile):
    for exercise in list_exercises():
        right = ANSWERS[exercise.name]["right"][0]
        for field in exercise.fields:
            answer = {**right, field["name"]: hostile} if len(exercise.fields) > 1 else hostile
            assert not judge(exercise.name, answer), (exercise.name, answer)


def test_names_that_are_not_there_raise():
    with pytest.raises(ValueError, match=r"there is no exercise 'algorithm5': did you mean 'algorithm-5'\?"):
        check("algorithm5", None)
    with pytest.raises(ValueError, match=r"there is no exercise 4\.12"):
        check(4.12, XOR)
    with pytest.raises(ValueError, match="seconds must be a number of seconds above 0"):
        check("4.12", XOR, seconds=0)


def test_the_rows_that_no_line_through_the_origin_separates_are_those_of_the_library():
    points = np.array(table()["3.3"].given["points"])
    right = ANSWERS["3.3"]["right"][0]
    for rows in chain.from_iterable(combinations(range(4), n) for n in range(1, 5)):
        chosen = points[list(rows)]
        with_mirror = np.vstack([chosen[:, :2] * chosen[:, 2:], -chosen[:, :2] * chosen[:, 2:]])  # both classes
        n = len(rows)
        separates = bool(separability(with_mirror, [1] * n + [-1] * n))
        assert (check("3.3", {**right, "rows": list(rows)}).field == "rows") == separates


def test_printing_an_exercise_says_all_that_is_needed():
    for exercise in list_exercises():
        text = " ".join(str(exercise).split())
        assert exercise.question in text
        assert all(option["text"] in text for field in exercise.fields for option in field.get("options", []))
        assert all(str(row) in text for row in exercise.given.get("points", []))


def test_each_exercise_has_a_judge():
    assert {*JUDGES, "algorithm-5", "algorithm-7"} == set(table())
