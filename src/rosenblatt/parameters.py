"""Parameters that cannot be meant: one clear sentence each, which knows the parameters that it names."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from itertools import islice
from numbers import Integral, Real
from typing import Any, TypeAlias

_LONGEST_NAME = 100
"""Characters of a name that is compared with others."""
_MOST_COMPARED = 1000
"""Names that are compared with one."""


class Setting:
    """A parameter in a sentence, alone or with a value to give it.

    >>> str(Setting("bits")), str(Setting("drop", ["id"]))
    ('bits', "drop=['id']")
    """

    def __init__(self, name: str, *value: Any) -> None:
        self.name, self.value = name, value

    def __str__(self) -> str:
        return f"{self.name}={self.value[0]!r}" if self.value else self.name


class IfAvailable:
    """Part of a sentence that is said only where a parameter can be given: a command may have no option for it.

    Where it cannot be given, the pieces ``otherwise`` are said instead.
    """

    def __init__(self, name: str, *pieces: str | Setting, otherwise: tuple[str | Setting, ...] = ()) -> None:
        self.name, self.pieces, self.otherwise = name, pieces, otherwise


Phrase: TypeAlias = str | Setting | IfAvailable
"""A part of a sentence about parameters."""


class ParameterError(ValueError):
    """A ValueError that says which parameters it is about, so that a command can name its own options instead.

    >>> fault = ParameterError(Setting("bits"), " must be at most 30: say ", Setting("bits", 30), ".")
    >>> str(fault)
    'bits must be at most 30: say bits=30.'
    >>> fault.sentence(lambda setting: " ".join(["--" + setting.name, *map(str, setting.value)]))
    '--bits must be at most 30: say --bits 30.'
    """

    def __init__(self, *pieces: Phrase) -> None:
        self.pieces = pieces
        super().__init__(self.sentence(str))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.pieces

    def sentence(self, spell: Callable[[Setting], str | None]) -> str:
        """Return the sentence with each parameter as ``spell`` writes it; None means that it cannot be given."""
        words = []
        for piece in self.pieces:
            if isinstance(piece, IfAvailable):
                said = piece.pieces if spell(Setting(piece.name)) is not None else piece.otherwise
                words += [spell(part) or str(part) if isinstance(part, Setting) else part for part in said]
            else:
                words.append(spell(piece) or str(piece) if isinstance(piece, Setting) else piece)
        return "".join(words)


class Sentence(str):
    """A sentence about parameters that keeps its pieces, so that a command can name its own options instead.

    >>> Sentence("give ", Setting("bits", 30), ".")
    'give bits=30.'
    """

    pieces: tuple[Phrase, ...]

    def __new__(cls, *pieces: Phrase) -> Sentence:
        """Join the pieces as Python spells parameters."""
        sentence = super().__new__(cls, ParameterError(*pieces))
        sentence.pieces = pieces
        return sentence

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.pieces


def check_integer(name: str, value: Any, least: int, *, or_none: bool = False, most: int | None = None) -> int:
    """Return ``value`` as an int; a ParameterError where it is no integer in its range.

    >>> check_integer("max_iter", 0, 1)
    Traceback (most recent call last):
    rosenblatt.parameters.ParameterError: max_iter must be an integer of at least 1, got 0.
    """
    wrong = isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least
    if wrong or (most is not None and int(value) > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        none = " or None" if or_none else ""
        raise ParameterError(Setting(name), f" must be an integer {allowed}{none}, got {shorten(value)}.")
    return int(value)


def check_choice(name: str, value: Any, allowed: tuple[str | bool, ...]) -> None:
    """Raise a ParameterError unless ``value`` is one of the words and booleans ``allowed``."""
    word = isinstance(value, str)
    if not (word or is_boolean(value)) or not any(word == isinstance(one, str) and value == one for one in allowed):
        raise ParameterError(Setting(name), f" must be {' or '.join(map(repr, allowed))}, got {shorten(value)}.")


def check_boolean(name: str, value: Any) -> None:
    """Raise a ParameterError unless ``value`` is True or False."""
    check_choice(name, value, (True, False))


def check_share(name: str, value: Any) -> None:
    """Raise a ParameterError unless ``value`` lies between 0 and 1, neither of them included."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        raise ParameterError(Setting(name), f" must be a number between 0 and 1, got {shorten(value)}.")


def check_positive(name: str, value: Any, *, or_zero: bool = False, or_infinite: bool = False) -> None:
    """Raise a ParameterError unless ``value`` is a number above 0, or from 0 on; infinity only where it is allowed."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    most = math.inf if or_infinite else sys.float_info.max
    if not (0 <= number <= most if or_zero else 0 < number <= most):
        finite = "finite " if number == math.inf else ""
        expected = f"a {finite}number {'from 0 on' if or_zero else 'above 0'}"
        raise ParameterError(Setting(name), f" must be {expected}, got {shorten(value)}.")


def check_seconds(name: str, value: Any) -> None:
    """Raise a ParameterError unless ``value`` is None or a time in seconds, above 0."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, Real) or not float(value) > 0.0):
        raise ParameterError(Setting(name), f" must be a number of seconds above 0 or None, got {shorten(value)}.")


def is_boolean(value: Any) -> bool:
    """Return whether ``value`` is a boolean of Python or numpy."""
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def did_you_mean(name: Any, names: Iterable[Any]) -> str:
    """Return the question whether the nearest of some names is meant by one that is none of them, "" if none is near.

    Upper and lower case are the same. Only the first 1000 names are compared, as comparing takes long.

    >>> did_you_mean("Shufle", ["max_iter", "shuffle"]), did_you_mean("bits", ["shuffle"])
    ("did you mean 'shuffle'?", '')
    """
    from difflib import get_close_matches

    known = {name.lower(): name for name in map(str, islice(names, _MOST_COMPARED)) if len(name) <= _LONGEST_NAME}
    found = get_close_matches(str(name)[:_LONGEST_NAME].lower(), known, 1)
    return f"did you mean {known[found[0]]!r}?" if found else ""


def shorten(value: Any, most: int = 60) -> str:
    """Return ``repr(value)`` in one line, cut where it is longer than ``most`` characters.

    >>> shorten("a" * 100, 10)
    "'aaaaaa..."
    """
    try:
        text = hex(value) if type(value) is int and value.bit_length() > 64 else repr(value)
    except ValueError:  # Python writes no integer of more than 4300 digits
        text = f"a {type(value).__name__} of very many digits"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= most else text[: most - 3] + "..."


def show_text(text: str, most: int = 60) -> str:
    """Return a text that comes from a file as a message can hold it: as it is, or as ``shorten`` returns it.

    >>> print(show_text("colour"), show_text("two\\nlines"))
    colour 'two\\nlines'
    """
    return text if text.isprintable() and len(text) <= most else shorten(text, most)
