"""``rosenblatt exercises``: the table, and results of students that are judged again."""

import base64
import json
from pathlib import Path

import pytest

from helpers.commands import command, ran, refused, written
from rosenblatt.exercises import list_exercises

ANSWERS = json.loads((Path(__file__).parents[1] / "exercises/answers.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder, so that names of files are short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def handed_in(student="Ada", **answers):
    results = [{"exercise": name, "answer": answer} for name, answer in answers.items()]
    return {"version": 1, "student": student, "results": results}


def test_list_names_all_and_show_prints_some():
    assert [line.split()[1] for line in ran("exercises").stdout.splitlines()] == list(ANSWERS)
    assert ran("exercises", "show", "4.12", "3.3").stdout.rstrip() == "\n\n".join(
        map(str, (list_exercises()[11], list_exercises()[17]))
    )
    (shown,) = json.loads(ran("exercises", "show", "4.12", "--json").stdout)["exercises"]
    assert shown["fields"][0]["names"] == ["w1", "w2", "w3", "b"]


def test_answers_are_judged_again_whatever_the_file_claims(tmp_path):
    right = handed_in(**{name: answers["right"][0] for name, answers in ANSWERS.items()})
    one = {"exercise": "4.12", "answer": [1, 1, 0, 0]}
    written(tmp_path, "all.json", json.dumps(right))
    written(tmp_path, "one.json", json.dumps(one))
    lines = ran("exercises", "grade", "all.json", "one.json").stdout.splitlines()
    assert "all.json (Ada): 18 of 18 right." in lines
    assert "one.json: 0 of 1 right." in lines
    all_right, wrong = json.loads(ran("exercises", "grade", "all.json", "one.json", "--json").stdout)["graded"]
    assert (all_right["student"], all_right["right"], wrong["right"]) == ("Ada", 18, 0)
    assert wrong["results"][0]["counterexample"] == {"row": 3, "x": [1, 1, 1], "label": -1, "activation": 2}


def test_a_link_holds_what_the_file_holds():
    text = base64.urlsafe_b64encode(json.dumps(handed_in(**{"4.12": [1, 1, -2, 0]})).encode()).decode().rstrip("=")
    found = ran("exercises", "grade", f"https://example.org/lab.html#{text}").stdout
    assert found == "https://example.org/lab.html (Ada): 1 of 1 right.\n  4.12: right.\n"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "must be JSON"),
        ("[" * 100_000, "must be JSON"),
        ('{"version": 1, "results": [{"exercise": "4.12", "answer": [1, NaN, 1, 1]}]}', "must be JSON"),
        ("9" * 5000, "must be JSON"),
        ("\x00\xff", "must be JSON"),
        ("[]", "must look like"),
        ('{"version": 2, "results": []}', "must look like"),
        ('{"version": 1, "results": {}}', "must look like"),
        ('{"version": 1, "student": 3, "results": []}', "the student must be a name"),
        ('{"version": 1, "results": [3]}', "must have an exercise and an answer, got 3"),
        ('{"version": 1, "results": [{"exercise": "4.12"}]}', "must have an exercise and an answer"),
        ('{"exercise": "\\u001b[2J", "answer": 1}', "there is no exercise '\\x1b[2J'"),
        ('{"exercise": ["4.12"], "answer": 1}', "must be named once"),
        (json.dumps({"version": 1, "results": [{"exercise": "4.12", "answer": 1}] * 2}), "must be named once"),
    ],
)
def test_a_hostile_file_gets_one_sentence_and_the_others_are_judged(tmp_path, text, part):
    written(tmp_path, "good.json", json.dumps(handed_in(**{"4.12": [1, 1, -2, 0]})))
    written(tmp_path, "bad.json", text)
    result = command("exercises", "grade", "bad.json", "good.json")
    found = " ".join(result.stdout.split())
    assert (result.exit_code, result.stderr) == (1, "")
    assert part in found
    assert found.startswith("bad.json: ")
    assert found.endswith("good.json (Ada): 1 of 1 right. 4.12: right. 1 of 2 files could not be read.")


@pytest.mark.parametrize(
    "answer",
    [None, {}, [], "x" * 10**4, 10**400, -(10**400), [[[]]], {"weights": 1}, "9^9^9^9", "sqrt(-1)", [1e308] * 4, True],
)
def test_hostile_answers_are_wrong_and_break_nothing(tmp_path, answer):
    written(tmp_path, "all.json", json.dumps(handed_in(**dict.fromkeys(ANSWERS, answer))))
    (graded,) = json.loads(ran("exercises", "grade", "all.json", "--json").stdout)["graded"]
    assert graded["right"] == 0
    assert all(result["text"] for result in graded["results"])


def test_a_file_is_named_in_full(tmp_path):
    written(tmp_path, "group#2.json", json.dumps(handed_in(**{"4.12": [1, 1, -2, 0]})))
    assert ran("exercises", "grade", "group#2.json").stdout.startswith("group#2.json (Ada): 1 of 1 right.")


def test_large_files_are_not_read(tmp_path):
    written(tmp_path, "large.json", " " * 1_000_001)
    result = command("exercises", "grade", "large.json")
    assert (result.exit_code, "larger than 1 MB" in " ".join(result.stdout.split())) == (1, True)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["solve"], "action must be 'list' or 'show' or 'grade', got 'solve'"),
        (["grade"], "grade needs at least one name: of a file, or a link"),
        (["list", "4.12"], "list takes no names: write show before exercises"),
        (["show", "4.13"], "there is no exercise '4.13': did you mean '4.12'?"),
    ],
)
def test_bad_use_is_one_sentence(words, part):
    assert part in refused("exercises", *words)
