"""The judges of exercises in the page and in the library: the same verdicts, words and counterexamples."""

import itertools
import json
import math
import random
from pathlib import Path

import pytest

from helpers.lab_engine import ask, needs_node
from rosenblatt.exercises import grade, judge
from rosenblatt.exercises.table import table

pytestmark = needs_node

ANSWERS = json.loads((Path(__file__).parents[1] / "exercises" / "answers.json").read_text(encoding="utf-8"))
PROGRAMS = ("algorithm-5", "algorithm-7")
HOSTILE = [None, "x", "1e9", [[1e308, 1e308]], {}, "0^-1", ["1", "1", "1"], -1e-320, True, "", "-inf", [], [[]], "1)"]


FORMULAS = ["w - x", "b + y", "a - s - 1", "R^2", "k*R^2", "k·γ", "(R/gamma)^2", "2*k + 1", "0 - θ", "-theta + 1e-12"]
FORMULAS += ["theta^-1", "R²", "2^-1^2", "-2^2", "1/0", "sqrt(-1)", "(-8)^(1/3)", "1e400", "1/(1e308*10)", "k**2"]


def random_number(draw):
    """Return a number or a formula for one: small, a multiple of 1/8, or with a rounding error in it."""
    return draw.choice(
        [draw.randint(-6, 6), draw.randint(-40, 40) / 8, draw.uniform(-5, 5), 0.1 + 0.2, "3/5", "1/sqrt(5)"]
    )


def random_value(field, draw):
    """Return a value for a field: one of the right form, that is right by chance."""
    match field["kind"]:
        case "number":
            return draw.choice([random_number(draw), "-inf", draw.randint(0, 9999)])
        case "formula":
            return draw.choice(FORMULAS)
        case "weights":
            return [random_number(draw) for _ in field["names"]]
        case "choice":
            return draw.choice(field["options"])["id"]
        case "order":
            return draw.sample([option["id"] for option in field["options"]], draw.randint(0, 7))
        case "subset":
            return draw.sample(range(4), draw.randint(0, 4))
        case "points":
            return [
                [draw.randint(-32, 32) / 8 for _ in range(2)] + [draw.choice([-1, 1])]
                for _ in range(draw.randint(1, 9))
            ]
        case "place":
            return [random_number(draw), random_number(draw)]
        case "line":
            return [[random_number(draw), random_number(draw)] for _ in range(2)]


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


@pytest.mark.slow
@pytest.mark.parametrize("name", table())
def test_random_answers_are_judged_as_by_the_library(name):
    draw, fields = random.Random(name), table()[name].fields
    for _ in range(100):
        answer = draw.choice(ANSWERS[name]["right"])
        changed = {
            field["name"]: random_value(field, draw) for field in draw.sample(fields, draw.randint(1, len(fields)))
        }
        answer = {**answer, **changed} if len(fields) > 1 else changed[fields[0]["name"]]
        (mine,), theirs = of_page(name, answer), judge(name, answer)
        assert (mine["right"], mine["field"]) == (theirs.right, theirs.field), answer
        assert alike(mine["counterexample"], theirs.counterexample), (answer, mine, theirs)
        assert name in PROGRAMS or not theirs.field or mine["text"] == theirs.text


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
