"""Every question that the page asks has an answer that JSON holds."""

import json

import pytest

from rosenblatt.lab.questions import questions, run_answer, start_state
from rosenblatt.lab.state import LabState
from rosenblatt.lab.state_fields import LEARNERS

POINTS = ((1.0, 1.0, 1, False), (2.0, 0.0, 1, True), (-1.0, 0.0, -1, False), (0.0, -2.0, -1, False))


def ask(name, body, start=LabState(points=POINTS)):  # noqa: B008
    return json.loads(json.dumps(questions(start)[name](body), allow_nan=False))


def test_start_has_the_state_the_presets_and_the_version():
    answer = ask("start", {})
    assert LabState.from_plain(answer["state"]).points == POINTS
    assert all(set(preset) == {"name", "title"} for preset in answer["presets"])
    assert answer["presets"]
    assert answer["version"]


@pytest.mark.slow
def test_every_preset_that_is_offered_can_be_asked_for():
    for preset in ask("start", {})["presets"]:
        LabState.from_plain({"version": 1} | ask("preset", {"name": preset["name"], "seed": 1}))


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_run_has_theory_and_code(learner):
    answer = ask("run", LabState(points=POINTS, learner=learner).to_plain())
    assert answer["waiting"] == ""
    assert answer["rows"] == [0, 2, 3]
    assert answer["theory"]["verdict"]["text"]
    assert "rosenblatt" in answer["code"]


def test_the_lab_opens_with_something_to_learn():
    assert run_answer(start_state())["converged"]


def test_a_run_that_waits_says_for_what():
    assert set(ask("run", LabState().to_plain())) == {"waiting"}
    picked = LabState(points=POINTS, order="pick", picks=(1,))  # held out: there is nothing to visit
    assert "Pick the point" in ask("run", picked.to_plain())["waiting"]


def test_the_others_answer():
    state = LabState(points=POINTS).to_plain()
    assert ask("errors", state)["train"]["last"]
    assert ask("fewest", state)["rows"] == []
    assert ask("vc", {"points": [[0, 0], [1, 0]], "family": "halfspaces", "subset": [0]})["count"] == 4
    assert len(ask("csv", {"text": "1,2,a\n2,1,b\n"})["points"]) == 2
    assert ask("export", state)["html"].startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["run", "errors", "vc", "preset", "fewest", "csv", "export"])
@pytest.mark.parametrize("body", [None, 1, "a", [], {}, {"version": 1, "points": 3}, {"text": None}, {"name": []}])
def test_what_is_no_question_is_a_value_error(name, body):
    with pytest.raises(ValueError, match=r"\.$"):
        ask(name, body)
