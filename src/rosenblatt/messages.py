"""Messages that mention parameters, errors with such messages, checks of parameters, and text for counts and labels."""

from __future__ import annotations

import math
import os
import re
import sys
import warnings
from ast import literal_eval
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from numbers import Integral, Real
from typing import Any, TypeAlias

_LONGEST_NAME = 100
"""Maximum length of a name that `did_you_mean` suggests."""
_MOST_COMPARED = 1000
"""Maximum number of names that `did_you_mean` considers."""


class Setting:
    """A parameter to mention in a message, alone or with a value. Use it if the parameter is chosen at run time.

    >>> str(Setting("bits")), str(Setting("drop", ["id"]))
    ('bits', "drop=['id']")
    """

    def __init__(self, name: str, *value: object) -> None:
        self.name, self.value = name, value

    def __str__(self) -> str:
        return f"{self.name}={self.value[0]!r}" if self.value else self.name


Spelling: TypeAlias = Callable[[Setting], str | None]
"""A function that returns a parameter as text for the reader of a message, for instance as a command line option.

It returns None if the reader cannot set the parameter.
"""

_PLACE = re.compile(r"\{(\w+)(?:=([^{}]+)|:([^{}]+))?\}")


class Message:
    """A text that mentions parameters, which are written differently in Python and on the command line.

    In the template, ``{bits}`` stands for the value of the keyword argument ``bits`` if it is given, otherwise for the
    parameter named ``bits``. ``{bits=30}`` stands for the parameter with a value: a Python literal, or the name of a
    keyword argument. Values may themselves be messages.

    >>> message = Message("{bits} must be at most {most}, got {got:,}: give {bits=most}.", most=30, got=1000)
    >>> print(message)
    bits must be at most 30, got 1,000: give bits=30.
    >>> message.render(lambda setting: " ".join(["--" + setting.name, *map(str, setting.value)]))
    '--bits must be at most 30, got 1,000: give --bits 30.'
    """

    def __init__(self, template: str, /, **values: object) -> None:
        self.template, self.values = template, values

    def __str__(self) -> str:
        return self.render(str)

    def __repr__(self) -> str:
        return repr(str(self))

    def render(self, spell: Spelling) -> str:
        """Return the text, with parameters written by ``spell``, or as in Python where ``spell`` returns None."""

        def fill(place: re.Match[str]) -> str:
            name, value, form = place.groups()
            if value is None and name in self.values:
                found = self.values[name]
                if isinstance(found, Message):
                    return found.render(spell)
                if not isinstance(found, Setting):
                    return format(found, form or "")
            else:
                found = Setting(name) if value is None else Setting(name, self._value(value))
            return spell(found) or str(found)

        return _PLACE.sub(fill, self.template)

    def _value(self, text: str) -> object:
        return self.values[text] if text in self.values else literal_eval(text)

    def settings(self) -> list[Setting]:
        """Return the parameters that the message mentions, except the parameters in nested messages."""
        return [
            Setting(name) for name, value, _ in _PLACE.findall(self.template) if value or name not in self.values
        ] + [value for value in self.values.values() if isinstance(value, Setting)]


class Hint(Message):
    """A part of a message for readers who can set all parameters in it; other readers see ``otherwise`` instead.

    ``needs`` names one more parameter that the reader must be able to set.

    >>> message = Message("the quotes are not closed{hint}.", hint=Hint(", or give {quote=''} if they mean nothing"))
    >>> print(message)
    the quotes are not closed, or give quote='' if they mean nothing.
    >>> message.render(lambda setting: None)
    'the quotes are not closed.'
    """

    def __init__(self, template: str, /, *, needs: str = "", otherwise: str | Message = "", **values: object) -> None:
        super().__init__(template, **values)
        self.needs, self.otherwise = needs, otherwise

    def render(self, spell: Spelling) -> str:
        """Return the text, or ``otherwise`` if ``spell`` returns None for one of the parameters."""
        needed = [*self.settings(), *([Setting(self.needs)] if self.needs else [])]
        if all(spell(setting) is not None for setting in needed):
            return super().render(spell)
        return self.otherwise.render(spell) if isinstance(self.otherwise, Message) else self.otherwise


class Question(Message):
    """A note that has to be answered with a parameter before training."""


class ParameterError(ValueError):
    """A ValueError with a `Message`, so that the command line can show its own options in place of parameters.

    >>> error = ParameterError("{bits} must be at most 30, got {got}.", got=31)
    >>> str(error)
    'bits must be at most 30, got 31.'
    >>> error.message.render(lambda setting: f"--{setting.name}")
    '--bits must be at most 30, got 31.'
    """

    def __init__(self, message: str | Message, /, **values: object) -> None:
        self.message = message if isinstance(message, Message) else Message(message, **values)
        super().__init__(str(self.message))

    def __reduce__(self) -> tuple[type[ParameterError], tuple[Message]]:
        return type(self), (self.message,)


def _out_of_range(name: str, expected: str, value: object) -> ParameterError:
    return ParameterError(
        "{setting} must be {expected}, got {got}.", setting=Setting(name), expected=expected, got=shorten(value)
    )


def check_integer(name: str, value: object, least: int, *, or_none: bool = False, most: int | None = None) -> int:
    """Return ``value`` as an int; raise a ParameterError unless it is an integer from ``least`` to ``most``.

    With ``most=None`` there is no upper limit. ``or_none`` only adds "or None" to the error message.

    >>> check_integer("max_iter", 0, 1)
    Traceback (most recent call last):
    rosenblatt.messages.ParameterError: max_iter must be an integer of at least 1, got 0.
    """
    largest = math.inf if most is None else most
    if isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= largest:
        return int(value)
    allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
    none = " or None" if or_none else ""
    raise _out_of_range(name, f"an integer {allowed}{none}", value)


def check_choice(name: str, value: object, allowed: tuple[str | bool, ...]) -> None:
    """Raise a ParameterError unless ``value`` is one of the strings and booleans in ``allowed``."""
    word = isinstance(value, str)
    if not (word or is_boolean(value)) or not any(word == isinstance(one, str) and value == one for one in allowed):
        raise _out_of_range(name, " or ".join(map(repr, allowed)), value)


def check_boolean(name: str, value: object) -> None:
    """Raise a ParameterError unless ``value`` is True or False."""
    check_choice(name, value, (True, False))


def check_share(name: str, value: object) -> None:
    """Raise a ParameterError unless ``value`` is a number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        raise _out_of_range(name, "a number between 0 and 1", value)


def check_positive(name: str, value: object, *, or_zero: bool = False, or_infinite: bool = False) -> None:
    """Raise a ParameterError unless ``value`` is a finite number above 0.

    ``or_zero`` also allows 0, and ``or_infinite`` also allows infinity.
    """
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    most = math.inf if or_infinite else sys.float_info.max
    if not (0 <= number <= most if or_zero else 0 < number <= most):
        finite = "finite " if number == math.inf else ""
        expected = f"a {finite}number {'of at least 0' if or_zero else 'above 0'}"
        raise _out_of_range(name, expected, value)


def check_seconds(name: str, value: object) -> None:
    """Raise a ParameterError unless ``value`` is None or a number of seconds above 0."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, Real) or not float(value) > 0.0):
        raise _out_of_range(name, "a number of seconds above 0 or None", value)


def is_boolean(value: object) -> bool:
    """Return whether ``value`` is a boolean of Python or NumPy."""
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def did_you_mean(name: object, names: Iterable[object]) -> str:
    """Return a question that suggests the name in ``names`` most similar to ``name``, or "" if none is similar.

    Case is ignored. Only the first 1000 names are considered, because the comparison is slow.

    >>> did_you_mean("Shufle", ["max_iter", "shuffle"]), did_you_mean("bits", ["shuffle"])
    ("did you mean 'shuffle'?", '')
    """
    from difflib import get_close_matches

    known = {name.lower(): name for name in map(str, islice(names, _MOST_COMPARED)) if len(name) <= _LONGEST_NAME}
    found = get_close_matches(str(name)[:_LONGEST_NAME].lower(), known, 1)
    return f"did you mean {known[found[0]]!r}?" if found else ""


def shorten(value: object, most: int = 60) -> str:
    """Return ``repr(value)`` on one line, truncated to ``most`` characters; large integers are written in hexadecimal.

    >>> shorten("a" * 100, 10)
    "'aaaaaa..."
    """
    try:
        text = hex(value) if type(value) is int and value.bit_length() > 64 else repr(value)
    except ValueError:  # Python refuses to write integers of more than 4300 digits
        text = f"a {type(value).__name__} of very many digits"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= most else text[: most - 3] + "..."


def escape_unprintable(text: str, keep: str = "") -> str:
    """Return text with an escape such as ``\\x1b`` for each character that is not printable and not in ``keep``.

    In a terminal, such characters can move the cursor, change the title, or reverse the direction of the text.

    >>> print(escape_unprintable("no\\x1b[2J"), escape_unprintable("größe"))
    no\\x1b[2J größe
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def show_text(text: str, most: int = 60) -> str:
    """Return text from a file in a form that is safe in a message: quoted and truncated unless short and printable.

    >>> print(show_text("colour"), show_text("two\\nlines"))
    colour 'two\\nlines'
    """
    return text if text.isprintable() and len(text) <= most else shorten(text, most)


# Text for labels, the same in tables, titles and the output of the command line.


def label_text(label: object) -> str:
    """Return a label as text; integral floats below 1e15 in absolute value are written without a decimal point.

    >>> label_text(-1.0), label_text("spam"), label_text(0.5)
    ('-1', 'spam', '0.5')
    """
    if hasattr(label, "item"):
        label = label.item()
    return str(int(label)) if isinstance(label, float) and label.is_integer() and abs(label) < 1e15 else str(label)


def plain_label(label: Any) -> Any:
    """Return a label for JSON: floats such as 7.0 become ints, and NumPy scalars become Python values.

    >>> plain_label(7.0), plain_label("7.0"), plain_label(0.5)
    (7, '7.0', 0.5)
    """
    if hasattr(label, "item"):
        label = label.item()
    return int(label) if isinstance(label, float) and label.is_integer() and abs(label) < 1e15 else label


# Counts, shares and lists in sentences.


def count_of(n: int, one: str) -> str:
    """Return a count followed by a noun: the singular ``one`` if the count is 1, otherwise its plural.

    >>> count_of(1, "update"), count_of(1200, "update"), count_of(2, "pass"), count_of(0, "class")
    ('1 update', '1,200 updates', '2 passes', '0 classes')
    """
    return f"{n:,} {one}{'' if n == 1 else 'es' if one.endswith('s') else 's'}"


def percent(share: float) -> str:
    """Return a share as a percentage, with more digits below 1% and above 99%.

    >>> percent(0.2249), percent(0.9999), percent(0.0001), percent(0.0)
    ('22%', '99.99%', '0.01%', '0%')
    """
    number = 100.0 * share
    if 1.0 <= number <= 99.0 or number == 0.0:
        return f"{number:.0f}%"
    return f"{number:{'.1g' if number < 1.0 else '.4g'}}%"


def list_some(things: Sequence[object], most: int = 6) -> str:
    """Return things as a list for a sentence; if there are more than ``most``, end with the number of omitted things.

    >>> list_some([0]), list_some([0, 1, 2]), list_some(range(10), 3)
    ('0', '0, 1 and 2', '0, 1 and 8 more')
    """
    if len(things) > most or len(things) < 2:
        return name_some(things, most)
    return f"{name_some(things[:-1], most)} and {escape_unprintable(label_text(things[-1]))}"


def name_some(things: Sequence[object], most: int = 6) -> str:
    """Return things separated by commas; if there are more than ``most``, end with the number of omitted things.

    >>> name_some([0, 1, 2]), name_some(range(10), 3)
    ('0, 1, 2', '0, 1 and 8 more')
    """
    shown = things if len(things) <= most else things[: most - 1]
    return ", ".join(escape_unprintable(label_text(thing)) for thing in shown) + (
        f" and {len(things) - len(shown):,} more" if len(things) > len(shown) else ""
    )


# Warnings that point at a line of the user's code.


_HERE = os.path.dirname(__file__) + os.sep
_BETWEEN = tuple(f"{os.sep}{package}{os.sep}" for package in ("sklearn", "joblib"))
"""Packages that call this library on behalf of the user, for instance in pipelines and grid searches."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the nearest calling line outside this library, scikit-learn and joblib."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and _is_inside(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inside(file: str) -> bool:
    return file.startswith(_HERE) or any(part in file for part in _BETWEEN)


# Evenly spaced samples, for tables and pictures that cannot show everything.


def evenly_spaced(n: int, most: int | None = None) -> list[int]:
    """Return at most ``most`` evenly spaced indices from 0 to ``n - 1``, including the first and the last.

    If ``most`` is None, all indices are returned; if it is 1, only the last index is returned.

    >>> evenly_spaced(3), evenly_spaced(101, 3), evenly_spaced(101, 1)
    ([0, 1, 2], [0, 50, 100], [100])
    """
    if most is None or most >= n:
        return list(range(n))
    return [i * (n - 1) // (most - 1) for i in range(most)] if most > 1 else [n - 1] * most
