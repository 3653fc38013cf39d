"""Parameters that cannot be meant: one clear sentence each, which knows the parameters that it names."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
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
    rosenblatt.messages.ParameterError: max_iter must be an integer of at least 1, got 0.
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


# Labels as people write them, the same in tables, titles and at the command.


def label_text(label: Any) -> str:
    """Return a label as people write it: 1.0 is 1.

    >>> label_text(-1.0), label_text("spam"), label_text(0.5)
    ('-1', 'spam', '0.5')
    """
    if hasattr(label, "item"):
        label = label.item()
    return str(int(label)) if isinstance(label, float) and label.is_integer() and abs(label) < 1e15 else str(label)


def plain_label(label: Any) -> Any:
    """Return a label as JSON should have it: 7 for 7.0, all others as they are.

    >>> plain_label(7.0), plain_label("7.0"), plain_label(0.5)
    (7, '7.0', 0.5)
    """
    if hasattr(label, "item"):
        label = label.item()
    return int(label) if isinstance(label, float) and label.is_integer() and abs(label) < 1e15 else label


# Counts, shares and lists in sentences.


def count_of(n: int, one: str) -> str:
    """Return a count with its noun, in the plural unless it is 1.

    >>> count_of(1, "update"), count_of(1200, "update"), count_of(2, "pass"), count_of(0, "class")
    ('1 update', '1,200 updates', '2 passes', '0 classes')
    """
    return f"{n:,} {one}{'' if n == 1 else 'es' if one.endswith('s') else 's'}"


def percent(share: float) -> str:
    """Return a share as people write it, never rounded to all or nothing.

    >>> percent(0.2249), percent(0.9999), percent(0.0001), percent(0.0)
    ('22%', '99.99%', '0.01%', '0%')
    """
    number = 100.0 * share
    if 1.0 <= number <= 99.0 or number == 0.0:
        return f"{number:.0f}%"
    return f"{number:{'.1g' if number < 1.0 else '.4g'}}%"


def list_some(things: Sequence[Any], most: int = 6) -> str:
    """Return things by name as a sentence lists them, the first few where there are many.

    >>> list_some([0]), list_some([0, 1, 2]), list_some(range(10), 3)
    ('0', '0, 1 and 2', '0, 1 and 8 more')
    """
    if len(things) > most or len(things) < 2:
        return name_some(things, most)
    return f"{name_some(things[:-1], most)} and {label_text(things[-1])}"


def name_some(things: Sequence[Any], most: int = 6) -> str:
    """Return things by name, the first few where there are many.

    >>> name_some([0, 1, 2]), name_some(range(10), 3)
    ('0, 1, 2', '0, 1 and 8 more')
    """
    shown = things if len(things) <= most else things[: most - 1]
    return ", ".join(map(label_text, shown)) + (
        f" and {len(things) - len(shown):,} more" if len(things) > len(shown) else ""
    )


# Warnings that point at the user's line, however deep in the library they come up.


_HERE = os.path.dirname(__file__) + os.sep
_BETWEEN = tuple(f"{os.sep}{package}{os.sep}" for package in ("sklearn", "joblib"))
"""Packages that call the library on behalf of the user, such as pipelines and grid searches."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning at the nearest line outside this library and scikit-learn."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and _is_inside(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inside(file: str) -> bool:
    return file.startswith(_HERE) or any(part in file for part in _BETWEEN)


# Some of many things, evenly chosen: for tables and pictures that have no room for all.


def evenly_chosen(n: int, most: int | None = None) -> list[int]:
    """Return the places of ``n`` things, or of ``most`` of them: the first, the last, and others evenly in between.

    One alone is the last.

    >>> evenly_chosen(3), evenly_chosen(101, 3), evenly_chosen(101, 1)
    ([0, 1, 2], [0, 50, 100], [100])
    """
    if most is None or most >= n:
        return list(range(n))
    return [i * (n - 1) // (most - 1) for i in range(most)] if most > 1 else [n - 1] * most
