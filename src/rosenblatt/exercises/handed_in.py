"""Results that students hand in: the names of exercises with their answers, which are judged again."""

from __future__ import annotations

from typing import Any, NamedTuple

from rosenblatt.exercises import Result, judge
from rosenblatt.messages import shorten

_LONGEST_NAME = 200
_WANTED = '{"version": 1, "student": "Ada", "results": [{"exercise": "4.12", "answer": [...]}]}'


class Graded(NamedTuple):
    """What one student handed in: the name that it gives, or "", and a `Result` for each exercise."""

    student: str
    results: list[Result]


def grade(handed_in: Any) -> Graded:
    """Judge what a student handed in, as read from JSON; raise a ValueError if it has another form.

    Answers are numbers, texts and lists: no code is run.

    >>> graded = grade({"version": 1, "student": "Ada", "results": [{"exercise": "4.12", "answer": [1, 1, -2, 0]}]})
    >>> graded.student, graded.results
    ('Ada', [<4.12: right>])
    """
    if isinstance(handed_in, dict) and "exercise" in handed_in:
        handed_in = {"version": 1, "results": [handed_in]}
    results = handed_in.get("results") if isinstance(handed_in, dict) else None
    if not isinstance(results, list) or handed_in.get("version") != 1:
        raise ValueError(f"handed-in results must look like {_WANTED}, got {shorten(handed_in)}.")
    student = handed_in.get("student", "")
    if not isinstance(student, str) or len(student) > _LONGEST_NAME:
        raise ValueError(f"the student must be a name of at most {_LONGEST_NAME} characters, got {shorten(student)}.")
    names: set[str] = set()
    for result in results:
        if not isinstance(result, dict) or set(result) != {"exercise", "answer"}:
            raise ValueError(f"a result must have an exercise and an answer, got {shorten(result)}.")
        if not isinstance(result["exercise"], str) or result["exercise"] in names:
            raise ValueError(f"each exercise must be named once, got {shorten(result['exercise'])}.")
        names.add(result["exercise"])
    return Graded(student, [judge(result["exercise"], result["answer"]) for result in results])
