"""What all commands say, and how: for people on a terminal, plain when piped, JSON for machines."""

from __future__ import annotations

import functools
import json
import math
import sys
import textwrap
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import typer

from rosenblatt.cli.errors import cli_message, cli_note, running
from rosenblatt.messages import label_text as as_text

_WIDTH = 78
_ORPHAN = 5
"""Letters of a last line that is too short to stand alone."""
_MOST_BARS = 20
_EIGHTHS = " ▏▎▍▌▋▊▉█"
Command = TypeVar("Command", bound=Callable[..., Any])


class NegativeAnswer(Exception):
    """The answer is no: exit code 1."""


def exit_cleanly(command: Command) -> Command:
    """Make a command end well: bad use or bad data is one sentence and exit code 2, with no traceback.

    A `NegativeAnswer` is exit code 1, Ctrl-C is 130. Warnings become notes on standard error, each once.
    """

    @functools.wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        with running(command), warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.filterwarnings("ignore", message="X (does not have valid|has) feature names")
            warnings.showwarning = lambda message, *_, **__: note(str(message))
            try:
                return command(*args, **kwargs)
            except NegativeAnswer as no:
                if str(no):
                    say(str(no))
                raise typer.Exit(1) from None
            except KeyboardInterrupt:
                note("Interrupted.")
                raise typer.Exit(130) from None
            except BrokenPipeError:  # whoever read the answer has had enough, as head has
                raise typer.Exit(0) from None
            except (ValueError, OSError, ImportError, TypeError, MemoryError) as fault:
                complain(fault)
                raise typer.Exit(2) from None

    return guarded  # type: ignore[return-value]


def complain(fault: Exception) -> None:
    """Say on standard error, in one sentence, what went wrong."""
    words = cli_message(fault)
    print(_wrapped(f"Error: {words}") if sys.stderr.isatty() else f"Error: {words}", file=sys.stderr)


def note(words: str) -> None:
    """Say something on standard error that is no part of the answer."""
    print(_wrapped(f"Note: {words}"), file=sys.stderr)


def _wrapped(line: str) -> str:
    """Return a line broken to fit a terminal, without a last line of a few letters.

    >>> print(_wrapped("a" * 37 + " " + "b" * 37 + " 9 s."))
    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb 9 s.
    """
    for width in range(_WIDTH, _WIDTH // 2, -1):
        lines = textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)
        if len(lines) < 2 or len(lines[-1]) > _ORPHAN:
            break
    return "\n".join(lines)


def on_terminal() -> bool:
    """Return whether standard output is a terminal.

    >>> on_terminal()
    False
    """
    return sys.stdout.isatty()


def say(*paragraphs: str) -> None:
    """Print paragraphs, each line wrapped to fit a terminal of 80 columns.

    >>> say("One line.")
    One line.
    """
    for words in paragraphs:
        for line in words.splitlines() or [""]:
            print(_wrapped(line))


def emit(answer: dict[str, Any]) -> None:
    """Print an answer as one line of JSON; numbers that are not finite become null.

    >>> emit({"margin": float("-inf"), "classes": [1.0, "yes"]})
    {"margin": null, "classes": [1.0, "yes"]}
    """
    print(json.dumps(finite_or_null(answer), ensure_ascii=False, allow_nan=False))


def finite_or_null(value: Any) -> Any:
    """Return an answer as JSON can hold it: numbers that are not finite become None, at any depth."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {as_text(key): finite_or_null(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite_or_null(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(table: Any) -> None:
    """Print a `Table`: title and notes wrapped, lines cut off at the terminal's width where there is one."""
    say(table.title)
    width = terminal_width() if on_terminal() else None
    for line in type(table)(table.to_dict()).to_text().splitlines():
        print(line if width is None or len(line) <= width else line[: width - 1] + "…")
    say(*map(cli_note, table.notes))


def terminal_width() -> int:
    """Return how many columns the terminal has."""
    import shutil

    return max(40, shutil.get_terminal_size((80, 24)).columns)


def bars(values: Sequence[int], what: str) -> None:
    """Print one number for each pass: as bars on a terminal, in one line elsewhere.

    >>> bars([7, 3, 0], "Mistakes by pass")
    Mistakes by pass: 7, 3, 0.
    """
    if not values:
        return
    if not on_terminal():
        shown = list(map(str, values))
        if len(values) > _MOST_BARS:
            half = _MOST_BARS // 2
            shown = [*shown[:half], "...", *shown[-half:]]
        say(f"{what}: {', '.join(shown)}.")
        return
    numbers = list(range(1, len(values) + 1))
    if len(numbers) > _MOST_BARS:
        step = (len(numbers) - 1) / (_MOST_BARS - 1)
        numbers = [numbers[round(i * step)] for i in range(_MOST_BARS)]
    most = max(values) or 1
    digits, right = len(str(numbers[-1])), max(len(f"{value:,}") for value in values)
    room = min(terminal_width(), 80) - digits - right - 6
    print(what)
    for number in numbers:
        value = values[number - 1]
        print(f"  {number:>{digits}}  {value:>{right},}  {_bar(value / most * room)}".rstrip())


def _bar(length: float) -> str:
    """Return a bar so many letters long, to an eighth.

    >>> _bar(2.5)
    '██▌'
    """
    whole, part = divmod(round(length * 8), 8)
    return ("█" * whole + _EIGHTHS[part]).rstrip()
