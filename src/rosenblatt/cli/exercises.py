"""``rosenblatt exercises``: the exercises, and answers that were handed in, checked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from rosenblatt.cli.options import AS_JSON, command
from rosenblatt.cli.output import JsonObject, NegativeAnswer, enable_gc, error_text, print_json, print_text
from rosenblatt.messages import check_choice, count_of

if TYPE_CHECKING:
    from rosenblatt.exercises import Graded

_MOST_BYTES = 1_000_000


@command
def exercises(
    *,
    action: str = typer.Argument("list", metavar="list|show|grade", help="What to do."),
    names: list[str] | None = typer.Argument(
        None, metavar="NAMES", help="Exercises to show; or results to grade: files (JSON) or links to a lab page."
    ),
    as_json: bool = AS_JSON,
) -> None:
    """List the exercises, show their questions, or check results that students handed in from the lab.

    To grade is to judge the answers again, whatever a file claims; no code of students is run. A file that cannot be
    read gets one sentence, the others are checked, and the exit code is 1.

    \b
    Examples:
      rosenblatt exercises
      rosenblatt exercises show 4.12
      rosenblatt exercises grade ada.json grace.json
    """
    enable_gc()
    check_choice("action", action, ("list", "show", "grade"))
    if bool(names) != (action != "list"):
        raise ValueError(
            "list takes no names: write show before exercises, and grade before files."
            if names
            else f"{action} needs at least one name: of {'an exercise' if action == 'show' else 'a file, or a link'}."
        )
    if action == "grade":
        _grade(names or [], as_json)
    else:
        _show(names or [], as_json)


def _show(names: list[str], as_json: bool) -> None:
    from rosenblatt.exercises import list_exercises
    from rosenblatt.exercises.table import exercise_named

    chosen = [exercise_named(name) for name in names] or list_exercises()
    if as_json:
        print_json({"exercises": [vars(exercise) for exercise in chosen]})
    else:
        print_text("\n\n".join(map(str, chosen)) if names else "\n".join(map(repr, chosen)))


def _grade(sources: list[str], as_json: bool) -> None:
    graded = {source: _graded(source) for source in sources}
    if as_json:
        print_json({"graded": [_plain(source, found) for source, found in graded.items()]})
    else:
        for source, found in graded.items():
            _print(source, found)
    unread = [source for source, found in graded.items() if isinstance(found, str)]
    if unread:
        raise NegativeAnswer("" if as_json else f"{len(unread)} of {count_of(len(graded), 'file')} could not be read.")


def _graded(source: str) -> Graded | str:
    """Return the judged results of a file or a link, or a sentence about why there are none."""
    from rosenblatt.exercises import grade
    from rosenblatt.lab.sources import is_link, parsed, text_of_link

    try:
        return grade(parsed(text_of_link(source) if is_link(source) else _content(source)))
    except (ValueError, OSError) as fault:
        return error_text(fault)


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(f"the file is larger than {_MOST_BYTES // 1_000_000} MB, which no results are.")
    return content


def _print(source: str, found: Graded | str) -> None:
    if isinstance(found, str):
        print_text(f"{_short(source)}: {found}")
        return
    right = sum(map(bool, found.results))
    student = f" ({found.student})" if found.student else ""
    print_text(
        f"{_short(source)}{student}: {right} of {len(found.results)} right.", *(f"  {one}" for one in found.results)
    )


def _short(source: str) -> str:
    """Return a source as a line has room for it: a link without what it holds."""
    from rosenblatt.lab.sources import is_link

    return source.partition("#")[0] if is_link(source) else source


def _plain(source: str, found: Graded | str) -> JsonObject:
    if isinstance(found, str):
        return {"source": _short(source), "error": found}
    results: list[dict[str, Any]] = [vars(result) for result in found.results]
    return {
        "source": _short(source),
        "student": found.student,
        "right": sum(map(bool, found.results)),
        "results": results,
    }
