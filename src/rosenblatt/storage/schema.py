"""Schemas of files: annotated classes, with a codec for each field that writes it and validates it when it is read."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rosenblatt.messages import Hint, ParameterError, shorten

DEEPEST = 64  # the most levels of nested lists and dictionaries
LARGEST = 2**53  # the largest counter; float64 represents all integers up to here exactly
_LABEL_TYPES = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
)
_WIDEST = 256
"""Labels keep the item width of their array up to this many characters. This bounds the memory a file can demand."""
_MOST_LETTERS = 1 << 24
"""The maximum number of characters in a padded array of strings; `_WIDEST` per string is always allowed."""


def to_canonical_json(data: object, what: str) -> str:
    """Return ``data`` as JSON without spaces.

    Raise a ValueError that starts with ``what`` if JSON cannot represent the data exactly.

    >>> to_canonical_json({"columns": ["age", "sex"], "scale": 0.5}, "this")
    '{"columns":["age","sex"],"scale":0.5}'
    """
    fault = _not_json(data, DEEPEST)
    if fault:
        raise ValueError(
            f"{what} must be data that JSON can represent (dictionaries with strings as keys, lists, strings, finite "
            f"numbers, True, False and None), got {fault}."
        )
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def from_canonical_json(text: str, what: str) -> Any:
    """Return the data that ``to_canonical_json`` wrote as ``text``; raise a ValueError for any other text.

    >>> from_canonical_json('{"columns":["age"]}', "this")
    {'columns': ['age']}
    """
    try:
        data = json.loads(text)
        if to_canonical_json(data, what) == text:
            return data
    except (ValueError, RecursionError):
        pass
    raise ValueError(f"{what} is not JSON in the form that rosenblatt writes.")


def _not_json(data: object, depth: int) -> str:
    """Describe the first part of ``data`` that JSON cannot represent exactly; return "" if there is none."""
    if depth == 0:
        return f"more than {DEEPEST} levels"
    if data is None or type(data) in (bool, int, str):
        return ""
    if type(data) is float:
        return "" if math.isfinite(data) else repr(data)
    if type(data) is list:
        return next(filter(None, (_not_json(value, depth - 1) for value in data)), "")
    if type(data) is dict:
        keys = next((f"the key {key!r}" for key in data if type(key) is not str), "")
        return keys or next(filter(None, (_not_json(value, depth - 1) for value in data.values())), "")
    return f"a {type(data).__name__}"


# A schema is a class whose annotations define the fields of a file.


@dataclass(frozen=True)
class Codec:
    """A pair of functions that write a value as plain data and read it back.

    ``read`` validates everything that the rest of the code relies on.
    """

    write: Callable[[Any, Place], Any]
    read: Callable[[Any, Place], Any]


class Place:
    """A position in the data of a file: its path for messages, the file's arrays, and the sizes read so far.

    Sizes have names. For instance, all arrays with "features" in their shape must agree in length along that axis.
    """

    def __init__(self, what: str, arrays: Arrays | None = None, path: str = "", sizes: dict[str, int] | None = None):
        self.what, self.path = what, path
        self.arrays = Arrays() if arrays is None else arrays
        self.sizes = {} if sizes is None else sizes

    def at(self, name: object) -> Place:
        """Return the position of the field or item ``name`` within this position."""
        return Place(self.what, self.arrays, f"{self.path}.{name}" if self.path else str(name), self.sizes)

    def alone(self, **sizes: int) -> Place:
        """Return the same position, but with ``sizes`` instead of the sizes read so far."""
        return Place(self.what, self.arrays, self.path, sizes)

    def error(self, expected: str, value: object) -> ValueError:
        """Return the error for a ``value`` at this position that does not match the description ``expected``."""
        name = f"{self.what}: {self.path!r}" if self.path else self.what
        return ValueError(f"{name} must be {expected}, got {shorten(value)}.")

    def has_size(self, name: int | str | None, size: int) -> bool:
        """Return whether the size called ``name`` equals ``size``; if it is not known yet, it is set to ``size``.

        A number as ``name`` must equal ``size``; None allows any size.
        """
        if name is None or type(name) is int:
            return name in (None, size)
        return self.sizes.setdefault(str(name), size) == size


class Arrays:
    """The arrays of a file by name. The plain data of the file must refer to each of them.

    Parameters
    ----------
    arrays : mapping, optional
        The arrays that were read; by default there are none.
    most_columns : int, default 2**62
        The maximum total number of columns that ``claim`` allows.

    Examples
    --------
    >>> arrays = Arrays(most_columns=1000)
    >>> arrays.claim(600)
    >>> arrays.claim(600)
    Traceback (most recent call last):
    rosenblatt.messages.ParameterError: its steps ... 1,200 columns ... at most 1,000: ... with max_features=1200.
    """

    _MOST_USES = 3
    """The maximum number of fields that may refer to one array. It keeps memory proportional to the file size."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]] | None = None, most_columns: int = 2**62) -> None:
        self.arrays = dict(arrays or {})
        self._uses = Counter[str]()
        self._most_columns, self._claimed = most_columns, 0

    def claim(self, columns: int) -> None:
        """Count columns that the file declares but does not store; raise a ParameterError if there are too many.

        Without this limit, a small file could demand any amount of memory.
        """
        self._claimed += columns
        if self._claimed > self._most_columns:
            raise ParameterError(
                "its steps declare {claimed:,} columns without storing them, expected at most {most:,}{hint}.",
                claimed=self._claimed,
                most=self._most_columns,
                hint=Hint(": if you trust the file, allow them with {max_features=total}", total=self._claimed),
            )

    def put(self, path: str, array: NDArray[Any]) -> str:
        """Store an array under ``path`` and return its name.

        If an array with the same field name and the same bits is stored already, return the name of that array.
        """
        field = path.rpartition(".")[2]
        for name, known in self.arrays.items():
            if name.rpartition(".")[2] == field and self._uses[name] < self._MOST_USES and _same_bits(known, array):
                self._uses[name] += 1
                return name
        self.arrays[path] = array
        self._uses[path] += 1
        return path

    def take(self, name: object) -> NDArray[Any] | None:
        """Return the array with this name; None if there is none, or if too many fields refer to it."""
        if type(name) is not str or name not in self.arrays or self._uses[name] >= self._MOST_USES:
            return None
        self._uses[name] += 1
        return self.arrays[name]

    def finish(self) -> None:
        """Raise a ValueError if there is an array that no field refers to."""
        left = sorted(set(self.arrays) - set(self._uses))
        if left:
            raise ValueError(f"there is an unknown array {shorten(left[0])}.")


def _same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()


def write_fields(schema: type, value: object, place: Place) -> dict[str, Any]:
    """Return, as plain data, the attributes of ``value`` that the schema names; add arrays to ``place.arrays``.

    A field is left out if both its value and its default are None.
    """
    out = {}
    for name, (codec, default) in fields_of(schema).items():
        attribute = getattr(value, name)
        if attribute is not None or default is not None:
            out[name] = codec.write(attribute, place.at(name))
    return out


def read_fields(schema: type, data: object, place: Place) -> dict[str, Any]:
    """Return the values that `write_fields` wrote, by field name; raise a ValueError for any other data."""
    if not isinstance(data, dict):
        raise place.error("a dictionary", data)
    where = f"{place.what}: {place.path!r}" if place.path else place.what
    known = fields_of(schema)
    out = {}
    for name, (codec, default) in known.items():
        if name in data:
            out[name] = codec.read(data[name], place.at(name))
        elif default is None:
            out[name] = None
        else:
            raise ValueError(f"{where} has no field {name!r}.")
    if len(data) > len(known) or not data.keys() <= known.keys():
        raise ValueError(f"{where} has an unknown field {shorten(min(data.keys() - known.keys()))}.")
    return out


_REQUIRED = object()


@functools.cache
def fields_of(schema: type) -> dict[str, tuple[Codec, object]]:
    """Return the codec and the default of each field of a schema."""
    hints = get_type_hints(schema, include_extras=True)
    names = [field.name for field in dataclasses.fields(schema)] if dataclasses.is_dataclass(schema) else list(hints)
    return {name: (codec_of(hints[name]), getattr(schema, name, _REQUIRED)) for name in names}


def codec_of(hint: Any) -> Codec:
    """Return the codec that a type is annotated with, or else the default codec for the type."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind is Annotated:
        return next(part for part in hint.__metadata__ if isinstance(part, Codec))
    if kind in (Union, UnionType) and len(parts) == 2 and parts[1] is type(None):
        return optional(codec_of(parts[0]))
    if kind is list:
        return list_of(codec_of(parts[0]))
    if kind is tuple and parts[1:] == (...,):
        items = list_of(codec_of(parts[0]))
        return Codec(items.write, lambda data, place: tuple(items.read(data, place)))
    return _SIMPLE[hint] if hint in _SIMPLE else record(hint)


def checked(expected: str, holds: Callable[[Any], bool], write: Callable[[Any], object] = lambda value: value) -> Codec:
    """Return the codec of a plain value that must satisfy ``holds``; errors describe it as ``expected``."""

    def read(data: object, place: Place) -> object:
        if not holds(data):
            raise place.error(expected, data)
        return data

    return Codec(lambda value, place: write(value), read)


def integer(least: int = 0, most: int = LARGEST) -> Codec:
    """Return the codec of an integer from ``least`` to ``most``."""
    return checked(f"an integer of at least {least}", lambda value: type(value) is int and least <= value <= most, int)


def size(name: str, least: int = 0, most: int = LARGEST) -> Codec:
    """Return the codec of an integer that defines the size ``name`` for other fields."""
    count = integer(least, most)

    def read(data: object, place: Place) -> int:
        number = count.read(data, place)
        if not place.has_size(name, number):
            raise place.error(f"{place.sizes[name]:,}, the number of {name}", data)
        return int(number)

    return Codec(count.write, read)


def number(least: float = -sys.float_info.max, most: float = sys.float_info.max) -> Codec:
    """Return the codec of a float from ``least`` to ``most``."""
    expected = "a finite number"
    if most < sys.float_info.max:
        expected = f"a number from {least:g} to {most:g}"
    elif least > -sys.float_info.max:
        expected = "a finite number above 0" if least == math.ulp(0.0) else f"a finite number of at least {least:g}"
    return checked(expected, lambda value: type(value) is float and least <= value <= most, float)


def string(*allowed: str) -> Codec:
    """Return the codec of a string, which must be one of ``allowed`` if any are given."""
    expected = " or ".join(map(repr, allowed)) or "a string"
    return checked(expected, lambda value: type(value) is str and (not allowed or value in allowed))


def optional(codec: Codec) -> Codec:
    """Return the codec of a value that may be None."""
    return Codec(
        lambda value, place: None if value is None else codec.write(value, place),
        lambda data, place: None if data is None else codec.read(data, place),
    )


def list_of(codec: Codec, length: int | str | None = None) -> Codec:
    """Return the codec of a list; ``length`` is a number, the name of a size, or None for any length."""

    def write(values: Iterable[object], place: Place) -> list[object]:
        return [codec.write(value, place.at(k)) for k, value in enumerate(values)]

    def read(data: object, place: Place) -> list[Any]:
        if not isinstance(data, list) or not place.has_size(length, len(data)):
            known = place.sizes.get(length) if isinstance(length, str) else length
            raise place.error("a list" if known is None else f"a list of {known:,} items", data)
        return [codec.read(value, place.at(k)) for k, value in enumerate(data)]

    return Codec(write, read)


def record(schema: type, made: Callable[..., object] | None = None) -> Codec:
    """Return the codec of an object whose fields a schema describes.

    To read an object, ``made`` is called with the fields as keyword arguments; by default it is the schema itself.
    """
    return Codec(
        lambda value, place: write_fields(schema, value, place),
        lambda data, place: (made or schema)(**read_fields(schema, data, place)),
    )


def array(
    types: str,
    *shape: int | str | None,
    least: float | None = None,
    most: float | None = None,
    below: str | None = None,
    finite: bool = True,
    integral: bool = False,
) -> Codec:
    """Return the codec of an array with one of the ``types`` and with this ``shape``.

    Types are in NumPy's notation and separated by spaces. Each length in ``shape`` is a number, the name of a size, or
    None for any length. NaN is not allowed. Numbers must be at least ``least`` and at most ``most``, finite if
    ``finite``, and integers if ``integral``. If ``below`` names a size, they must be below it, as valid indices are.
    """

    expected = f"an array of {'finite ' if finite else ''}{'integral ' if integral else ''}numbers"
    expected += "" if least is None else f", at least {least}"

    def write(value: NDArray[Any], place: Place) -> str:
        return place.arrays.put(place.path, np.ascontiguousarray(value))

    def read(data: object, place: Place) -> NDArray[Any]:
        found = place.arrays.take(data)
        if found is None:
            raise place.error("the name of an array", data)
        fits = found.ndim == len(shape) and all(map(place.has_size, shape, found.shape))
        if found.dtype.kind + str(found.dtype.itemsize) not in types.split() or not fits:
            sizes = ", ".join(
                str(place.sizes.get(length, "any") if isinstance(length, str) else length) for length in shape
            )
            raise place.error(f"an array of type {types} and shape ({sizes})", f"{found.dtype} {found.shape}")
        bound = most if below is None else place.sizes[below] - 1
        valid = _in_range(found, least, bound, finite, integral)
        if not valid.all():
            limit = "" if bound is None else f", at most {bound}"
            raise place.error(expected + limit, found[~valid][0].item())
        return found.copy()

    return Codec(write, read)


def _in_range(
    values: NDArray[Any], least: float | None, most: float | None, finite: bool, integral: bool
) -> NDArray[np.bool_]:
    """Return a mask of the numbers that satisfy all conditions; NaN never does."""
    if values.dtype.kind == "b":
        return np.ones(values.shape, bool)
    valid = np.isfinite(values) if finite else ~np.isnan(values)
    if least is not None:
        valid &= values >= least
    if most is not None:
        valid &= values <= most
    return valid & (values == np.floor(values)) if integral else valid


def _write_plain(value: object, place: Place) -> object:
    to_canonical_json(value, place.path)
    return value


BOOLEAN = checked("true or false", lambda value: type(value) is bool, bool)
PLAIN = Codec(_write_plain, lambda data, place: data)
"""The codec of any data that JSON can represent."""
Wide = Annotated[NDArray[np.float64], array("f8", "scores", "features")]
"""Finite floats with one row per score and one column per feature; `storage.columns` leaves out unused columns."""
Floats = Annotated[NDArray[np.float64], array("f8", "scores")]
Count = Annotated[int, integer()]
Share = Annotated[float, number(0.0, 1.0)]
_SIMPLE: dict[Any, Codec] = {bool: BOOLEAN, int: integer(), float: number(), str: string(), Any: PLAIN}
_SIMPLE[dict[str, Any]] = checked("a dictionary", lambda value: type(value) is dict)


# Labels.


def label_to_json(label: object) -> bool | int | float | str:
    """Return a class label as a JSON value; raise a ValueError unless it is a finite number, a boolean or a string.

    >>> label_to_json(np.float32(0.5)), label_to_json("spam")
    (0.5, 'spam')
    """
    value: Any = label.item() if isinstance(label, np.generic) else label
    if type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
        return value
    raise _label_error(f"{shorten(label)} of type {type(label).__name__}")


def _read_label(data: object, place: Place) -> object:
    if type(data) in (bool, int, str) or (type(data) is float and math.isfinite(data)):
        return data
    raise place.error("a label", data)


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


def is_too_wide(n: int, longest: int) -> bool:
    """Return whether ``n`` strings padded to ``longest`` characters take too much memory for the size of their file."""
    return n * longest > max(_MOST_LETTERS, _WIDEST * n)


class _LabelFields:
    type: str
    values: list[Any]


def labels_from_plain(data: object) -> np.ndarray:
    """Return the labels that ``labels_to_plain`` wrote; raise a ValueError for any other data."""
    found = read_fields(_LabelFields, data, Place("'classes'"))
    name, values = found["type"], found["values"]
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
    if name[:1] == "U" and is_too_wide(len(values), int(name[1:])):
        raise ValueError(
            f"'classes' would take {int(name[1:]) * len(values):,} characters ({len(values):,} labels, each padded to "
            f"the longest), expected at most {_MOST_LETTERS:,}: shorten them, or use labels of type object."
        )
    if kind is int and not np.iinfo(name).min <= min(values) <= max(values) <= np.iinfo(name).max:
        raise ValueError(f"'classes' must be labels of type {name}, got {shorten(values)}.")
    with np.errstate(over="ignore"):
        labels = np.array(values, dtype=name)
    if labels.tolist() != values or any(not low < high for low, high in itertools.pairwise(values)):
        raise ValueError(f"'classes' must be sorted labels of type {name} without duplicates, got {shorten(values)}.")
    return labels


LABEL = Codec(lambda label, place: label_to_json(label), _read_label)
"""The codec of a class label: a number, a boolean or a string."""
LABELS = Codec(lambda labels, _: labels_to_plain(labels), lambda data, _: labels_from_plain(data))
"""The codec of the sorted labels of all classes."""
