"""Eighteen exercises from the margins of the texts, which are judged at once and with a counterexample.

`list_exercises` shows them, and `check` judges an answer: numbers, weights, formulas, choices, points, or a function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from rosenblatt.exercises.table import Exercise, FormError, exercise_named, table
from rosenblatt.messages import check_seconds, shorten

__all__ = ["Exercise", "Result", "check", "list_exercises"]

_LONGEST_NAME = 200
_WANTED = '{"version": 1, "student": "Ada", "results": [{"exercise": "4.12", "answer": [...]}]}'


@dataclass(frozen=True)
class Result:
    """What `check` found: true if the answer is right.

    Attributes
    ----------
    exercise : str
        The name of the exercise.
    right : bool
        Whether the answer is right.
    text : str
        A sentence: what is wrong, or that nothing is.
    field : str or None
        The part of the answer that is wrong.
    counterexample : dict or None
        The smallest case that shows it: points, what was expected and what the answer gives. None if the answer is
        right, or not of the form that is asked for.

    Examples
    --------
    >>> from rosenblatt.exercises import check
    >>> result = check("4.12", [1, 1, 0, 0])
    4.12: not yet. x₁ = 1, x₂ = 1, x₃ = 1: w·x + b = 2 predicts +1, expected −1.
    >>> bool(result), result.counterexample
    (False, {'row': 3, 'x': (1, 1, 1), 'label': -1, 'activation': 2})
    """

    exercise: str
    right: bool
    text: str
    field: str | None = None
    counterexample: dict[str, Any] | None = None

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return f"{self.exercise}: {'right.' if self.right else 'not yet.'} {self.text}".rstrip()

    def __repr__(self) -> str:
        return f"<{self.exercise}: {'right' if self.right else 'not yet'}>"


def list_exercises() -> list[Exercise]:
    """Return the exercises in order; ``print`` one to read its question and the form of its answer.

    See Also
    --------
    check : Judge an answer.

    Examples
    --------
    >>> from rosenblatt.exercises import list_exercises
    >>> exercises = list_exercises()
    >>> len(exercises), exercises[11]
    (18, 12  4.12           XOR with one more feature)
    >>> print(exercises[11])
    4.12: XOR with one more feature (CIML 4.7, figure 4.12)
    Inputs are 0 or 1, x₃ = x₁ ∧ x₂, and the label is +1 where exactly one of x₁
    and x₂ is 1. Give weights and a bias; +1 is predicted where w·x + b > 0.
    Answer: [w1, w2, w3, b]
    """
    return list(table().values())


def check(name: str, answer: object, *, seconds: float = 2.0) -> Result:
    """Judge an answer to an exercise: print what is wrong with it, or that it is right, and return a `Result`.

    Parameters
    ----------
    name : str
        The name of the exercise, such as "4.12" or "algorithm-5".
    answer : object
        What the exercise asks for (`list_exercises`): a number, a list of weights, a choice, a dictionary with several
        of them, or a function with the arguments and the result of the textbook's.
    seconds : float, default=2.0
        How long a call of a function may take. Where the system has no fork, its lines are limited instead.

    Returns
    -------
    Result
        True if the answer is right, so that ``assert check(...)`` is a test.

    Raises
    ------
    ValueError
        If there is no such exercise.

    See Also
    --------
    list_exercises : The names and questions.
    textbook.perceptron_train : The function that algorithm 5 is compared with.

    Examples
    --------
    >>> from rosenblatt.exercises import check
    >>> def perceptron_train(D, max_iter):
    ...     w, b = [0] * len(D[0][0]), 0
    ...     for _ in range(max_iter):
    ...         for x, y in D:
    ...             if y * (sum(w_d * x_d for w_d, x_d in zip(w, x)) + b) < 0:
    ...                 w, b = [w_d + y * x_d for w_d, x_d in zip(w, x)], b + y
    ...     return w, b
    >>> check("algorithm-5", perceptron_train)
    algorithm-5: not yet. For D = [([0], 1)], max_iter = 1, it returns ([0], 0), expected ([0], 1).
    <algorithm-5: not yet>
    """
    check_seconds("seconds", seconds)
    result = judge(name, answer, seconds)
    print(result)
    return result


def judge(name: object, answer: object, seconds: float = 2.0) -> Result:
    """Return the `Result` of an answer without printing it."""
    from rosenblatt.exercises.faults import plain
    from rosenblatt.exercises.judges import JUDGES
    from rosenblatt.exercises.programs import judge_function, judge_program

    exercise = exercise_named(name)
    try:
        if callable(answer) and exercise.functions:
            name = name if name in exercise.functions else next(iter(exercise.functions))
            fault = judge_function(str(name), answer, seconds)
        else:
            fault = JUDGES.get(exercise.name, judge_program)(exercise.read(answer), exercise)
    except FormError as form:
        return Result(exercise.name, False, str(form))
    if fault is None:
        return Result(str(name), True, "")
    return Result(str(name), False, fault.text, fault.field, plain(fault.counterexample))


# what students hand in


class Graded(NamedTuple):
    """What one student handed in: the name that it gives, or "", and a `Result` for each exercise."""

    student: str
    results: list[Result]


def grade(handed_in: Any) -> Graded:
    """Judge what a student handed in, as read from JSON; raise a ValueError if it has another form.

    Answers are numbers, texts and lists: no code is run.

    >>> from rosenblatt.exercises import grade
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
