"""Certificates: answers that carry their proof, print in words, and are kept as JSON.

A certificate is a small frozen dataclass. Its ``check`` recomputes what it claims from the data alone, exactly, and
shares no code with what found it. Its fields are annotated with the types below, which say how each is written.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeAlias, get_type_hints

import numpy as np
from numpy.typing import NDArray

__all__ = ["Certificate", "Integers", "Label", "Number", "RowNumbers", "Sparse", "Vector"]

FORMAT = 1


class Certificate:
    """An answer that proves itself; see its ``check``. Saved and loaded as JSON, which never runs code.

    Examples
    --------
    >>> from rosenblatt import Certificate, separability
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> text = separability(X, y).to_json()
    >>> Certificate.from_json(text).check(X, y)
    True
    """

    _types: ClassVar[dict[str, type[Certificate]]] = {}

    def __init_subclass__(cls) -> None:
        Certificate._types[cls.__name__] = cls

    @classmethod
    def _codecs(cls) -> dict[str, Codec]:
        hints = get_type_hints(cls, include_extras=True)
        return {name: hints[name].__metadata__[0] for name in cls.__dataclass_fields__}  # type: ignore[attr-defined]

    def to_json(self) -> str:
        """Return the certificate as JSON text; every number in it is kept exactly."""
        record: dict[str, Any] = {"rosenblatt": type(self).__name__, "format": FORMAT}
        for name, codec in self._codecs().items():
            record[name] = codec.write(getattr(self, name), name)
        return json.dumps(record, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the certificate that ``to_json`` wrote; anything else is a ValueError.

        It is not trusted: what it claims is true only if its ``check`` on the data says so.
        """
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"expected a certificate as JSON, got something else: {error}.") from None
        name = record.get("rosenblatt") if isinstance(record, dict) else None
        found = Certificate._types.get(name) if isinstance(name, str) else None
        if found is None or not issubclass(found, cls) or "__dataclass_fields__" not in vars(found):
            raise ValueError(f"expected a certificate of type {cls.__name__}, got {_short(name)}.")
        if record.get("format") != FORMAT:
            raise ValueError(
                f"expected a certificate in format {FORMAT}, got {_short(record.get('format'))}: "
                "it was written by another version of rosenblatt."
            )
        codecs = found._codecs()
        stray = record.keys() ^ {"rosenblatt", "format", *codecs}
        if stray:
            raise ValueError(f"the certificate lacks {min(stray)!r}, or has it and should not.")
        return found(**{name: codec.read(record[name], name) for name, codec in codecs.items()})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate to a JSON file."""
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a certificate from a JSON file; ``Certificate.load`` reads one of any type."""
        return cls.from_json(Path(path).read_bytes())


@dataclass(frozen=True)
class Codec:
    """How a field is written to JSON and read back; both get its name, for the sentence when it is wrong."""

    write: Callable[[Any, str], Any]
    read: Callable[[Any, str], Any]


def words(*allowed: str) -> Codec:
    """Return the codec of a field that holds one of some words."""

    def read(value: Any, name: str) -> str:
        if value not in allowed:
            raise ValueError(f"{name!r} of the certificate must be one of {', '.join(allowed)}, got {_short(value)}.")
        return value

    return Codec(lambda value, _: value, read)


def _write_number(value: Any, name: str) -> Any:
    if type(value) is int:
        return hex(value)  # decimal digits have a limit in Python, and in other readers
    value = float(value)
    if math.isnan(value):
        raise ValueError(f"{name!r} of the certificate is not a number: nothing can be proved about it.")
    return value if math.isfinite(value) else str(value)


def _read_number(value: Any, name: str) -> Any:
    if isinstance(value, str) and value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, str):
        return _read_whole(value, name)
    if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
        raise ValueError(f"{name!r} of the certificate must be a number, got {_short(value)}.")
    return float(value)


def _read_whole(value: Any, name: str) -> int:
    try:
        return int(value, 16)
    except (TypeError, ValueError):
        raise ValueError(f"{name!r} of the certificate must be a hexadecimal number, got {_short(value)}.") from None


def _read_list(values: Any, name: str) -> list[Any]:
    if not isinstance(values, list):
        raise ValueError(f"{name!r} of the certificate must be a list, got {_short(values)}.")
    return values


def _write_vector(values: NDArray[Any], name: str) -> list[Any]:
    return [_write_number(value, name) for value in values.tolist()]


def _read_vector(values: Any, name: str) -> NDArray[Any]:
    numbers = [_read_number(value, name) for value in _read_list(values, name)]
    return np.array(numbers, dtype=object if any(isinstance(value, int) for value in numbers) else np.float64)


def _read_rows(values: Any, name: str) -> NDArray[np.intp]:
    rows = _read_list(values, name)
    if any(type(row) is not int or not 0 <= row < 2**31 for row in rows) or len(set(rows)) != len(rows):
        raise ValueError(f"{name!r} of the certificate must be different row numbers, got {_short(values)}.")
    return np.array(rows, dtype=np.intp)


def _write_sparse(values: NDArray[np.float64], name: str) -> dict[str, Any]:
    rows = np.flatnonzero(values)
    return {"length": len(values), "rows": rows.tolist(), "values": _write_vector(values[rows], name)}


def _read_sparse(record: Any, name: str) -> NDArray[np.float64]:
    if not isinstance(record, dict) or record.keys() != {"length", "rows", "values"}:
        raise ValueError(f"{name!r} of the certificate must hold length, rows and values, got {_short(record)}.")
    length = record["length"]
    rows, values = _read_rows(record["rows"], name), _read_vector(record["values"], name)
    fits = type(length) is int and np.max(rows, initial=-1) < length < 2**31
    if not fits or len(values) != len(rows) or values.dtype == object:
        raise ValueError(f"{name!r} of the certificate has rows or values that do not fit: length {_short(length)}.")
    result = np.zeros(length)
    result[rows] = values
    return result


def _write_integers(values: tuple[int, ...] | None, _: str) -> list[str] | None:
    return None if values is None else [hex(value) for value in values]


def _read_integers(values: Any, name: str) -> tuple[int, ...] | None:
    return None if values is None else tuple(_read_whole(value, name) for value in _read_list(values, name))


def _write_label(value: Any, _: str) -> Any:
    if value is None or isinstance(value, bool | str) or type(value) in (int, float):
        return value
    raise ValueError(f"the label {value!r} cannot be written as JSON: use numbers or words as labels.")


def _read_label(value: Any, name: str) -> Any:
    if value is None or isinstance(value, bool | str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError(f"{name!r} of the certificate must be a label, got {_short(value)}.")


def _short(value: Any) -> str:
    text = hex(value) if type(value) is int else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


Number: TypeAlias = Annotated[Any, Codec(_write_number, _read_number)]  # a float, perhaps infinite, or a whole number
Vector: TypeAlias = Annotated[NDArray[Any], Codec(_write_vector, _read_vector)]  # an array of such numbers
Sparse: TypeAlias = Annotated[NDArray[np.float64], Codec(_write_sparse, _read_sparse)]  # floats, most of them 0
RowNumbers: TypeAlias = Annotated[NDArray[np.intp], Codec(lambda rows, _: rows.tolist(), _read_rows)]
Integers: TypeAlias = Annotated[tuple[int, ...] | None, Codec(_write_integers, _read_integers)]  # of any size
Label: TypeAlias = Annotated[Any, Codec(_write_label, _read_label)]  # a number, a word, a truth value or None
