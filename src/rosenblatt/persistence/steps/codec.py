"""What a codec is, and what all of them share: parameters by a table, values that JSON does not have, arrays."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.messages import IfAvailable, ParameterError, Setting, shorten
from rosenblatt.storage.schema import StrictArrays, StrictFields

Plain = dict[str, Any]


@dataclass
class StepWriter:
    """Where the arrays of a step go, and how the steps inside it are encoded."""

    arrays: dict[str, NDArray[Any]]
    encode: Callable[[Any, StepWriter], Any]
    prefix: str = "steps."

    def put(self, name: str, array: NDArray[Any] | None) -> bool:
        """Store an array under a name of this step; return whether there is one."""
        if array is not None:
            self.arrays[self.prefix + name] = np.asarray(array)
        return array is not None

    def step(self, step: Any, name: str) -> Any:
        """Return a step inside this one as plain data."""
        return self.encode(step, replace(self, prefix=f"{self.prefix}{name}."))


@dataclass
class Claims:
    """The columns that the steps of a file claim and do not store, all of them together: a small file can claim any.

    Examples
    --------
    >>> claims = Claims(1000)
    >>> claims.add(600)
    >>> claims.add(600)
    Traceback (most recent call last):
    rosenblatt.messages.ParameterError: its steps have too many columns ... allow them by max_features=1200.
    """

    most: int
    total: int = 0

    def add(self, columns: int, cost: int = 1) -> None:
        """Count columns, each of them ``cost`` times; a ParameterError where there are more than allowed."""
        self.total += columns * cost
        if self.total > self.most:
            allowed = Setting("max_features", self.total)
            advice = IfAvailable("max_features", ": if you trust it, allow them by ", allowed)
            raise ParameterError("its steps have too many columns of which nothing is stored", advice, ".")


@dataclass
class StepReader:
    """Where the arrays of a step come from, and how the steps inside it are decoded."""

    arrays: StrictArrays
    decode: Callable[[Any, StepReader], Any]
    claims: Claims
    """Shared by all steps of a file."""
    prefix: str = "steps."
    names: list[str] | None = None
    """The names of the features of this step."""

    def take(self, name: str, types: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """Return an array of this step, whose numbers are finite."""
        array = self.arrays.take(self.prefix + name, types, shape)
        if not np.isfinite(array).all():
            raise ValueError(f"the array {self.prefix + name!r} must be finite.")
        return array

    def step(self, data: Any, name: str) -> Any:
        """Return the step that plain data inside this one describes."""
        return self.decode(data, replace(self, prefix=f"{self.prefix}{name}."))


class Codec(NamedTuple):
    """How a fitted step becomes plain data and arrays, and back."""

    kind: type
    to_plain: Callable[[Any, StepWriter], Plain]
    """Returns the fields of a fitted step."""
    from_plain: Callable[[StrictFields, StepReader, int], Any]
    """Returns the fitted step of such fields, with so many features, or raises a ValueError."""
    width: Callable[[Any], int]
    """Returns how many features a fitted step makes."""


CODECS: dict[str, Codec] = {}
"""The steps that are known, by their names, filled by `registry`: a name in a file is looked up here, nowhere else."""


def step_width(step: Any) -> int:
    """Return how many features a fitted step makes."""
    return CODECS[type(step).__name__].width(step)


class Parameter(NamedTuple):
    """What a parameter of a step may be in a file."""

    default: Any
    is_valid: Callable[[Any], bool]
    expected: str
    to_plain: Callable[[Any], Any] = lambda value: value
    from_plain: Callable[[Any], Any] = lambda value: value


def flag(default: bool) -> Parameter:
    """Return a parameter that is True or False."""
    return Parameter(default, lambda value: type(value) is bool, "true or false")


def choice(default: str, *others: str) -> Parameter:
    """Return a parameter that is one of some words."""
    allowed = (default, *others)
    words = " or ".join(map(repr, allowed))
    return Parameter(default, lambda value: type(value) is str and value in allowed, words)


def fixed(value: Any) -> Parameter:
    """Return a parameter that is what it is by default."""
    return Parameter(value, lambda found: type(found) is type(value) and found == value, repr(value))


def parameters_to_plain(step: Any, table: Mapping[str, Parameter]) -> Plain:
    """Return the parameters of a step as plain data; a ValueError where one cannot be stored."""
    defaults = {name: one.default for name, one in inspect.signature(type(step)).parameters.items()}
    out = {}
    for name, value in step.get_params(deep=False).items():
        known = table.get(name)
        if known is None and name in defaults and (value is defaults[name] or value == defaults[name]):
            continue
        plain = value if known is None else known.to_plain(value)
        if known is None or not known.is_valid(plain):
            allowed = "" if known is None else f": expected {known.expected}"
            raise ValueError(f"{type(step).__name__}({name}={shorten(value)}) cannot be stored as data{allowed}.")
        out[name] = plain
    # a file states all parameters, those too that this version of scikit-learn does not have
    return out | {name: one.to_plain(one.default) for name, one in table.items() if name not in out}


def parameters_from_plain(fields: StrictFields, kind: type, table: Mapping[str, Parameter]) -> Plain:
    """Return the parameters that a file states for a step, as this version of scikit-learn takes them.

    Each one in the table must be there: what a file leaves out would be what scikit-learn likes, and not be checked.
    """
    known = inspect.signature(kind).parameters
    out = {}
    for name, one in table.items():
        value = fields.take(name)
        if not one.is_valid(value):
            raise fields.wrong(name, one.expected, value)
        if name in known:
            out[name] = one.from_plain(value)
        elif value != one.to_plain(one.default):
            raise ValueError(f"this version of scikit-learn has no {kind.__name__}({name}=): upgrade it.")
    fields.end()
    return out


# values


_NAN = {"missing": "nan"}
_TYPES = ("object", "bool", *(f"{k}{b}" for k in ("int", "uint") for b in (8, 16, 32, 64)), "float32", "float64")


def value_to_plain(value: Any) -> Any:
    """Return a string, number, boolean or None as JSON has it; NaN as a dictionary that says so."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and math.isnan(value):
        return dict(_NAN)
    if value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
        return value
    raise ValueError(f"{shorten(value)} of type {type(value).__name__} cannot be stored as data.")


def is_value(data: Any) -> bool:
    """Return whether plain data is what `value_to_plain` returns."""
    plain = data is None or type(data) in (bool, str) or (type(data) is int and abs(data) < 2**63)
    return plain or (type(data) is float and math.isfinite(data)) or data == _NAN


def value_from_plain(data: Any) -> Any:
    """Return the value that `value_to_plain` made plain."""
    return math.nan if type(data) is dict else data


def values_to_plain(values: NDArray[Any]) -> Plain:
    """Return an array of strings, numbers or booleans as plain data that keeps its type.

    >>> values_to_plain(np.array(["no", "yes"]))
    {'type': 'str', 'values': ['no', 'yes']}
    """
    values = np.asarray(values)
    name = "str" if values.dtype.kind in "UT" else values.dtype.name
    if name not in (*_TYPES, "str"):
        raise ValueError(f"values of type {values.dtype} cannot be stored as data.")
    return {"type": name, "values": [value_to_plain(value) for value in values.tolist()]}


def values_from_plain(data: object, what: str, length: int | None = None) -> NDArray[Any]:
    """Return the array that `values_to_plain` described, or raise a ValueError."""
    fields = StrictFields(data, what)
    name, values = fields.word("type", (*_TYPES, "str")), fields.values("values")
    fields.end()
    if length not in (None, len(values)) or not all(map(is_value, values)):
        raise fields.wrong("values", "a list of values" if length is None else f"a list of {length} values", values)
    kind = {"o": object, "s": str, "b": bool, "f": float}.get(name[0], int)
    made = [value_from_plain(value) for value in values]
    if kind is not object and any(type(value) is not kind for value in made):
        raise fields.wrong("values", f"of type {name}", values)
    try:
        with np.errstate(over="ignore"):
            array = np.array(made, dtype=name)
    except OverflowError:
        array = np.array([])
    if values_to_plain(array) != data:
        raise fields.wrong("values", f"of type {name}", values)
    return array
