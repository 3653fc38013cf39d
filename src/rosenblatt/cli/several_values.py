"""An option that takes several values after its name, as in ``--degrees 1 2 3``."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

_NUMBERS = re.compile(r"\d+(,\d+)*,?")


class SeveralDegrees(TyperCommand):
    """A command whose option ``--degrees`` takes all numbers that follow it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of a command line, with the option before each of its values."""
        return super().parse_args(ctx, repeat_option("--degrees", args))


def repeat_option(option: str, words: list[str]) -> list[str]:
    """Return words with the option repeated before each further number that follows one of its values.

    Examples
    --------
    >>> repeat_option("--degrees", ["name", "--degrees", "1", "2", "--epochs", "3"])
    ['name', '--degrees', '1', '--degrees', '2', '--epochs', '3']
    >>> repeat_option("--degrees", ["--degrees=1", "2,3", "name", "4"])
    ['--degrees=1', '--degrees', '2,3', 'name', '4']
    """
    out: list[str] = []
    follows = False  # whether a further value may come
    for place, word in enumerate(words):
        if word == "--":
            return out + words[place:]
        if word == option:
            follows = False
        elif word.startswith(f"{option}=") or (place and words[place - 1] == option):
            follows = True
        elif follows and _NUMBERS.fullmatch(word):
            out.append(option)
        else:
            follows = False
        out.append(word)
    return out
