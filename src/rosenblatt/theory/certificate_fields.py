"""How the fields of certificates are written to JSON and read back, strictly.

A field of a certificate is annotated with one of the types at the end of this file, which carries its codec.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.storage.json_fields import StrictFields, label_to_json
from rosenblatt.theory.enclosures import Basis, ColumnStep

MOST_BITS = 1 << 18
"""The longest integer in a file. Exact searches, whose work is limited, end with fewer than 232,000 bits."""
_INTEGER = re.compile(rf"-?0x[0-9a-f]{{1,{MOST_BITS // 4}}}")


@dataclass(frozen=True)
class Codec:
    """How a field is written to JSON and read back from the fields of a certificate.

    One that is ``optional`` is left out where it is None, as files of version 0.1 have none of these.
    """

    write: Callable[[Any, str], Any]
    read: Callable[[StrictFields, str], Any]
    optional: bool = False


def words(*allowed: str) -> Codec:
    """Return the codec of a field that holds one of some words."""
    return Codec(lambda value, _: value, lambda fields, name: fields.word(name, allowed))


def _write_number(value: float, name: str) -> str | float:
    if type(value) is int:
        return write_integer(value)
    value = float(value)
    if math.isnan(value):
        raise ValueError(f"{name!r} of the certificate is not a number: nothing can be proved about it.")
    return value if math.isfinite(value) else str(value)


def _to_number(value: object) -> float | None:
    """Return the float or the integer that ``_write_number`` wrote, None for anything else."""
    if isinstance(value, str):
        return float(value) if value in ("inf", "-inf") else read_integer(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        return None
    return float(value)


def write_integer(value: int) -> str:
    """Return an integer in hexadecimal digits: decimal ones have a limit in Python, and in other readers."""
    if value.bit_length() > MOST_BITS:
        raise ValueError(f"a number of {value.bit_length():,} bits is too long for a file, which allows {MOST_BITS:,}.")
    return hex(value)


def read_integer(value: object) -> int | None:
    """Return the integer that ``write_integer`` wrote, None for anything else.

    >>> read_integer("-0xff"), read_integer("ff")
    (-255, None)
    """
    return int(value, 16) if isinstance(value, str) and _INTEGER.fullmatch(value) else None


def _read_real(fields: StrictFields, name: str) -> float:
    number = _read_number(fields, name)
    if isinstance(number, int):
        if abs(number) > sys.float_info.max or int(float(number)) != number:
            raise fields.wrong(name, "a float", number)
        return float(number)
    return number


def _read_number(fields: StrictFields, name: str) -> float:
    value = fields.take(name)
    number = _to_number(value)
    if number is None:
        raise fields.wrong(name, "a number", value)
    return number


def _write_vector(values: NDArray[Any], name: str) -> list[str | float]:
    return [_write_number(value, name) for value in values.tolist()]


def _read_vector(fields: StrictFields, name: str) -> NDArray[Any]:
    values = fields.values(name)
    numbers = [_to_number(value) for value in values]
    if None in numbers:
        raise fields.wrong(name, "a list of numbers", values)
    return np.array(numbers, dtype=object if any(isinstance(number, int) for number in numbers) else np.float64)


def _read_rows(fields: StrictFields, name: str) -> NDArray[np.intp]:
    rows = fields.values(name)
    if any(type(row) is not int or not 0 <= row < 2**31 for row in rows) or len(set(rows)) != len(rows):
        raise fields.wrong(name, "a list of different row numbers", rows)
    return np.array(rows, dtype=np.intp)


def _write_known_rows(rows: NDArray[np.intp] | None, _: str) -> list[int] | None:
    return None if rows is None else rows.tolist()


def _read_known_rows(fields: StrictFields, name: str) -> NDArray[np.intp] | None:
    if not fields.has(name):
        return None
    return fields.optional(name, lambda name: _read_rows(fields, name))


def _write_sparse(values: NDArray[np.float64], name: str) -> dict[str, Any]:
    rows = np.flatnonzero(values)
    return {"length": len(values), "rows": rows.tolist(), "values": _write_vector(values[rows], name)}


def _read_sparse(fields: StrictFields, name: str) -> NDArray[np.float64]:
    part = fields.part(name)
    length, rows, values = part.whole("length", most=2**31 - 1), _read_rows(part, "rows"), _read_vector(part, "values")
    part.end()
    if np.max(rows, initial=-1) >= length or len(values) != len(rows) or values.dtype == object:
        raise ValueError(f"{part.what} has rows or values that do not fit its length, {length}.")
    result = np.zeros(length)
    result[rows] = values
    return result


def _write_integers(values: tuple[int, ...] | None, _: str) -> list[str] | None:
    return None if values is None else [write_integer(value) for value in values]


def _read_integers(fields: StrictFields, name: str) -> tuple[int, ...] | None:
    values = fields.take(name)
    integers = [read_integer(value) for value in values] if isinstance(values, list) else [None]
    if values is not None and None in integers:
        raise fields.wrong(name, f"a list of hexadecimal numbers of at most {MOST_BITS:,} bits", values)
    return None if values is None else tuple(integer for integer in integers if integer is not None)


def _write_basis(basis: Basis | None, _: str) -> dict[str, Any] | None:
    if basis is None:
        return None
    steps = [
        {
            "column": step.column,
            "times": write_integer(step.times),
            "columns": list(step.columns),
            "factors": [write_integer(factor) for factor in step.factors],
        }
        for step in basis.steps
    ]
    return {"rows": list(basis.rows), "steps": steps}


def _read_basis(fields: StrictFields, name: str) -> Basis | None:
    if not fields.has(name):
        return None
    basis = fields.optional(name, fields.part)
    if basis is None:
        return None
    rows, steps = _read_rows(basis, "rows"), [StrictFields(step, "a step") for step in basis.values("steps")]
    basis.end()
    return Basis(tuple(rows.tolist()), tuple(_read_step(step) for step in steps))


def _read_step(fields: StrictFields) -> ColumnStep:
    column, columns = fields.whole("column", most=2**31 - 1), _read_rows(fields, "columns")
    times, factors = read_integer(fields.take("times")), _read_integers(fields, "factors")
    fields.end()
    if times is None or factors is None:
        raise ValueError("a step of the certificate has a factor that is not a hexadecimal number.")
    return ColumnStep(column, times, tuple(columns.tolist()), factors)


def _write_label(value: object, _: str) -> bool | int | float | str | None:
    return None if value is None else label_to_json(value)


Real: TypeAlias = Annotated[float, Codec(_write_number, _read_real)]  # perhaps infinite
Number: TypeAlias = Annotated[float, Codec(_write_number, _read_number)]  # a real number, or a long integer
Vector: TypeAlias = Annotated[NDArray[Any], Codec(_write_vector, _read_vector)]  # an array of such numbers
Sparse: TypeAlias = Annotated[NDArray[np.float64], Codec(_write_sparse, _read_sparse)]  # floats, most of them 0
Rows: TypeAlias = Annotated[NDArray[np.intp], Codec(lambda rows, _: rows.tolist(), _read_rows)]  # row numbers
KnownRows: TypeAlias = Annotated[NDArray[np.intp] | None, Codec(_write_known_rows, _read_known_rows, True)]  # or None
Integers: TypeAlias = Annotated[tuple[int, ...] | None, Codec(_write_integers, _read_integers)]  # of any size
BasisOfProof: TypeAlias = Annotated[Basis | None, Codec(_write_basis, _read_basis, True)]  # of an enclosure
Label: TypeAlias = Annotated[
    Any, Codec(_write_label, lambda fields, name: _write_label(fields.take(name), name))
]  # a number, a string, a boolean or None
