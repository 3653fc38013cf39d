"""The judges of exercises in the page and in the library: the same verdicts, words and counterexamples."""

import itertools
import json
import math
from pathlib import Path

import pytest

from helpers.lab_engine import ask, needs_node
from rosenblatt.exercises import judge
from rosenblatt.exercises.handed_in import grade
from rosenblatt.exercises.table import table

pytestmark = needs_node

ANSWERS = json.loads((Path(__file__).parents[1] / "exercises" / "answers.json").read_text(encoding="utf-8"))
PROGRAMS = ("algorithm-5", "algorithm-7")
HOSTILE = [None, "x", "1e9", [[1e308, 1e308]], {}, "0^-1", ["1", "1", "1"], -1e-320, True, "", "-inf", [], [[]], "1)"]


def of_page(name, *answers):
    """Return the page's judgements of answers to an exercise."""
    return [ask("grade", {"exercise": name, "answer": answer})["results"][0] for answer in answers]


def alike(mine, theirs):
    """Return whether two counterexamples are the same, but for the last digits of their numbers."""
    if isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(alike(mine[key], theirs[key]) for key in theirs)
    if isinstance(theirs, list | tuple):
        return len(mine) == len(theirs) and all(map(alike, mine, theirs))
    if isinstance(theirs, int | float) and not isinstance(theirs, bool):
        mine = float(mine.replace("Infinity", "inf")) if isinstance(mine, str) else mine
        return math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(mine) and math.isnan(theirs))
    return mine == theirs


@pytest.mark.parametrize("name", table())
def test_right_answers_are_right_in_the_page(name):
    for found in of_page(name, *ANSWERS[name]["right"]):
        assert found == {"exercise": name, "right": True, "text": "", "field": None, "counterexample": None}


@pytest.mark.parametrize("name", table())
def test_wrong_answers_have_the_same_counterexample_in_the_page(name):
    for wrong in ANSWERS[name]["wrong"]:
        (mine,), theirs = of_page(name, wrong["answer"]), judge(name, wrong["answer"])
        assert (mine["right"], mine["field"]) == (False, wrong["field"])
        assert alike(mine["counterexample"], theirs.counterexample), (mine, theirs)
        assert name in PROGRAMS or mine["text"] == theirs.text


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_completion_of_a_program_is_judged_as_by_the_library(name):
    fields = table()[name].fields
    choices = [[option["id"] for option in field["options"]] for field in fields]
    right = 0
    for chosen in itertools.product(*choices):
        answer = dict(zip((field["name"] for field in fields), chosen, strict=True))
        (mine,), theirs = of_page(name, answer), judge(name, answer)
        assert (mine["right"], mine["field"]) == (theirs.right, theirs.field), answer
        assert alike(mine["counterexample"], theirs.counterexample), (answer, mine, theirs)
        right += theirs.right
    assert right > 0


@pytest.mark.parametrize("name", table())
def test_hostile_answers_are_wrong_in_the_page_as_in_the_library(name):
    right, fields = ANSWERS[name]["right"][0], table()[name].fields
    for field, hostile in itertools.product(fields, HOSTILE):
        answer = {**right, field["name"]: hostile} if len(fields) > 1 else hostile
        (mine,), theirs = of_page(name, answer), judge(name, answer)
        assert (mine["right"], mine["field"]) == (theirs.right, theirs.field), answer
        assert mine["right"] or mine["text"]


def test_what_is_handed_in_is_read_as_by_the_library():
    results = [{"exercise": name, "answer": answers["right"][0]} for name, answers in ANSWERS.items()]
    handed_in = {"version": 1, "student": "Ada", "results": results}
    mine, theirs = ask("grade", handed_in), grade(handed_in)
    assert mine["student"] == theirs.student
    assert [result["exercise"] for result in mine["results"]] == list(table())
    assert all(result["right"] for result in mine["results"])
    for wrong in (
        {"version": 2, "results": []},
        {"version": 1, "results": 3},
        {"version": 1, "results": [None]},
        {"version": 1, "results": ["4.12"]},
        {"version": 1, "results": [{"exercise": "4.12", "answer": 1, "right": True}]},
        3,
        None,
        [],
        {"version": 1, "student": "x" * 201, "results": []},
        {"version": 1, "results": [*results, results[0]]},
        {"version": 1, "results": [{"exercise": "4.13", "answer": 1}]},
    ):
        with pytest.raises(ValueError, match=r".+\.$"):
            ask("grade", wrong)
        with pytest.raises(ValueError, match=r".+"):
            grade(wrong)
