"""Data that JSON can hold: one way to write it, class labels that keep their type, and strict readers."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from rosenblatt.messages import shorten

Value = TypeVar("Value")
DEEPEST = 64  # levels of lists and dictionaries within each other; deeper ones are refused
LARGEST = 2**53  # integers up to here are floats as well, as counters must be
_LABEL_TYPES = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
)
_WIDEST = 256
"""Labels keep the width of their array up to this many characters, so that no file can ask for much memory."""
_MOST_LETTERS = 1 << 24
"""All labels together, each as wide as the longest, have at most so many characters, where that is more than these."""


def to_canonical_json(data: object, what: str) -> str:
    """Return ``data`` as JSON without spaces; a ValueError where JSON would change it.

    >>> to_canonical_json({"columns": ["age", "sex"], "scale": 0.5}, "this")
    '{"columns":["age","sex"],"scale":0.5}'
    """
    fault = _stray(data, DEEPEST)
    if fault:
        raise ValueError(
            f"{what} must be plain data as JSON has it (dictionaries with strings as keys, lists, strings, finite "
            f"numbers, True, False and None), got {fault}."
        )
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def from_canonical_json(text: str, what: str) -> Any:
    """Return the data that ``to_canonical_json`` wrote as ``text``; a ValueError for any other text.

    >>> from_canonical_json('{"columns":["age"]}', "this")
    {'columns': ['age']}
    """
    try:
        data = json.loads(text)
        if to_canonical_json(data, what) == text:
            return data
    except (ValueError, RecursionError):
        pass
    raise ValueError(f"{what} is not JSON as rosenblatt writes it.")


def _stray(data: object, depth: int) -> str:
    """Return what JSON cannot hold of ``data`` or would change, in words; "" if all is well."""
    if depth == 0:
        return f"more than {DEEPEST} levels"
    if data is None or type(data) in (bool, int, str):
        return ""
    if type(data) is float:
        return "" if math.isfinite(data) else repr(data)
    if type(data) is list:
        return next(filter(None, (_stray(value, depth - 1) for value in data)), "")
    if type(data) is dict:
        keys = next((f"the key {key!r}" for key in data if type(key) is not str), "")
        return keys or next(filter(None, (_stray(value, depth - 1) for value in data.values())), "")
    return f"a {type(data).__name__}"


class StrictFields:
    """A dictionary from a file: each field is read by its type and range, and none may be missing or left over."""

    def __init__(self, data: object, what: str) -> None:
        if type(data) is not dict:
            raise ValueError(f"{what} must be a dictionary, got {shorten(data)}.")
        self._left = dict(data)
        self.what = what

    def take(self, name: str) -> Any:
        """Return the field, whatever it is."""
        if name not in self._left:
            raise ValueError(f"{self.what} has no field {name!r}.")
        return self._left.pop(name)

    def wrong(self, name: str, expected: str, value: object) -> ValueError:
        """Return the error for a field with a ``value`` that is not as expected."""
        return ValueError(f"{self.what}: {name!r} must be {expected}, got {shorten(value)}.")

    def _typed(self, name: str, kind: type, expected: str, holds: Callable[[Any], bool] = lambda value: True) -> Any:
        """Return a field of just this type for which ``holds`` is true."""
        value = self.take(name)
        if type(value) is not kind or not holds(value):
            raise self.wrong(name, expected, value)
        return value

    def whole(self, name: str, least: int = 0, most: int = LARGEST) -> int:
        """Return an integer from ``least`` to ``most``."""
        return self._typed(name, int, f"an integer of at least {least}", lambda value: least <= value <= most)

    def number(self, name: str, least: float, most: float) -> float:
        """Return a float from ``least`` to ``most``."""
        return self._typed(name, float, "a number in its range", lambda value: least <= value <= most)

    def flag(self, name: str) -> bool:
        """Return a boolean."""
        return self._typed(name, bool, "true or false")

    def word(self, name: str, allowed: tuple[str, ...] = ()) -> str:
        """Return a string, one of those ``allowed`` if there are any."""
        expected = " or ".join(map(repr, allowed)) or "a string"
        return self._typed(name, str, expected, lambda value: not allowed or value in allowed)

    def words(self, name: str, length: int | None = None) -> list[str]:
        """Return a list of strings, ``length`` of them if it is given."""
        expected = "a list of strings" if length is None else f"a list of {length} strings"
        value = self._typed(name, list, expected, lambda value: length in (None, len(value)))
        if any(type(word) is not str for word in value):
            raise self.wrong(name, expected, value)
        return value

    def optional(self, name: str, read: Callable[[str], Value]) -> Value | None:
        """Return what ``read`` makes of the field, None where that is what the file says."""
        if name in self._left and self._left[name] is None:
            return self.take(name)
        return read(name)

    def has(self, name: str) -> bool:
        """Return whether there is such a field, not yet taken."""
        return name in self._left

    def values(self, name: str) -> list[Any]:
        """Return a list of anything."""
        return self._typed(name, list, "a list")

    def dictionary(self, name: str) -> dict[str, Any]:
        """Return a dictionary of anything."""
        return self._typed(name, dict, "a dictionary")

    def part(self, name: str) -> StrictFields:
        """Return a dictionary, to be read in the same way."""
        return StrictFields(self.take(name), f"{self.what}: {name!r}")

    def end(self) -> None:
        """Raise a ValueError where a field has not been taken."""
        if self._left:
            raise ValueError(f"{self.what} has an unknown field {shorten(min(self._left))}.")


# labels


def label_to_json(label: Any) -> bool | int | float | str:
    """Return a class label as JSON holds it; a ValueError where it is no number, boolean or string.

    >>> label_to_json(np.float32(0.5)), label_to_json("spam")
    (0.5, 'spam')
    """
    value = label.item() if isinstance(label, np.generic) else label
    if type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
        return value
    raise _label_error(f"{shorten(label)} of type {type(label).__name__}")


def _label_error(got: str) -> ValueError:
    return ValueError(
        f"only labels that are integers, floats, booleans or strings can be saved, got {got}: train with such labels, "
        "for instance through sklearn.preprocessing.LabelEncoder."
    )


def labels_to_plain(labels: np.ndarray) -> dict[str, Any]:
    """Return sorted class labels as plain data that keeps their type.

    >>> labels_to_plain(np.array(["no", "yes"]))
    {'type': 'U3', 'values': ['no', 'yes']}
    """
    values = [label_to_json(label) for label in labels.tolist()]
    if labels.dtype.kind == "U":
        letters = labels.dtype.itemsize // 4
        return {"type": f"U{min(letters, max(_WIDEST, *map(len, map(str, values))))}", "values": values}
    name = labels.dtype.name
    if name not in _LABEL_TYPES and not (name == "object" and all(type(value) is str for value in values)):
        raise _label_error(f"an array of type {name}")
    return {"type": name, "values": values}


def labels_from_plain(data: object) -> np.ndarray:
    """Return the labels that ``labels_to_plain`` wrote; a ValueError for anything else."""
    fields = StrictFields(data, "'classes'")
    name, values = fields.word("type"), fields.values("values")
    fields.end()
    if not values:
        raise ValueError("'classes' must have at least one label, got none.")
    kind = {"b": bool, "i": int, "u": int, "f": float}.get(name[:1], str)
    if any(type(value) is not kind for value in values):
        raise ValueError(f"'classes' must be of one type, {kind.__name__}, got {shorten(values)}.")
    longest = max(len(value) if kind is str else 0 for value in values)
    widths = name[1:].isascii() and name[1:].isdecimal() and len(name) < 12
    if name not in (*_LABEL_TYPES, "object") and not (
        name[:1] == "U" and widths and max(1, longest) <= int(name[1:]) <= max(_WIDEST, longest)
    ):
        raise ValueError(f"'classes' must be of a known type, got {shorten(name)}.")
    if name[:1] == "U" and int(name[1:]) * len(values) > max(_MOST_LETTERS, _WIDEST * len(values)):
        raise ValueError(
            f"'classes' would take {int(name[1:]) * len(values):,} letters, {len(values):,} labels as wide as the "
            f"longest, expected at most {_MOST_LETTERS:,}: shorten the longest, or use labels of type object."
        )
    if kind is int and not np.iinfo(name).min <= min(values) <= max(values) <= np.iinfo(name).max:
        raise ValueError(f"'classes' must be labels of type {name}, got {shorten(values)}.")
    with np.errstate(over="ignore"):
        labels = np.array(values, dtype=name)
    if labels.tolist() != values or any(not low < high for low, high in itertools.pairwise(values)):
        raise ValueError(f"'classes' must be sorted labels of type {name}, none twice, got {shorten(values)}.")
    return labels


# The arrays of a file, each read by its name, type and shape.


class StrictArrays:
    """The arrays of a file: each is taken by its type and shape, and none may be missing or left over.

    Those under ``prefix`` that are the same as the ones without it need not be stored twice.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], prefix: str = "", used: set[str] | None = None) -> None:
        self._arrays, self._prefix = arrays, prefix
        self._used = set() if used is None else used

    def under(self, prefix: str) -> StrictArrays:
        """Return the arrays under ``prefix``."""
        return StrictArrays(self._arrays, prefix, self._used)

    def has(self, name: str) -> bool:
        """Return whether there is such an array."""
        return self._prefix + name in self._arrays or name in self._arrays

    def take(self, name: str, types: str, shape: tuple[int | None, ...]) -> np.ndarray:
        """Return a copy of the array; ``types`` are numpy's letters for its type, None fits any length."""
        full = self._prefix + name if self._prefix + name in self._arrays else name
        if full not in self._arrays:
            raise ValueError(f"there is no array {full!r}.")
        self._used.add(full)
        array = self._arrays[full]
        fits = array.ndim == len(shape) and all(b is None or a == b for a, b in zip(array.shape, shape, strict=True))
        if array.dtype.kind + str(array.dtype.itemsize) not in types.split() or not fits:
            raise ValueError(f"the array {full!r} of shape {array.shape} and type {array.dtype} is not as expected.")
        return array.copy()

    def end(self) -> None:
        """Raise a ValueError where an array has not been taken."""
        left = sorted(set(self._arrays) - self._used)
        if left:
            raise ValueError(f"there is an unknown array {left[0]!r}.")
