"""Certificates: answers that carry their proof, print in words, and are saved as JSON.

A certificate is a small frozen dataclass. Its ``check`` recomputes what it claims from the data alone, exactly, and
shares no code with what found it. Its fields are annotated with types of `certificate_fields`, which define how each
is written.
"""

from __future__ import annotations

import copy
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.html import described, number_line
from rosenblatt.messages import shorten
from rosenblatt.storage.container import check_is_file, write_atomically
from rosenblatt.storage.schema import StrictFields, label_to_json, to_canonical_json
from rosenblatt.theory import exact
from rosenblatt.theory.enclosures import Basis, ColumnStep, encloses_zero_combination
from rosenblatt.theory.exact import are_finite, round_root
from rosenblatt.theory.inputs import Floats, Matrix, MatrixLike, Numbers, Signs, certified_signs, check_rows
from rosenblatt.theory.scores import least_score, rows_within

# How the fields of certificates are written to JSON and read back, strictly.
#
# A field of a certificate is annotated with one of the types at the end of this file, which carries its codec.


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


FORMAT = 1
_HOMES = {
    "verdicts": ("Separable", "Inseparable", "Undecided", "MarginBracket"),
    "min_mistakes.answers": ("FewestMistakes",),
    "linear_programs.answers": ("Feasible", "Infeasible", "Optimum", "Unbounded", "Unsettled"),
    "logistic.answers": ("Separation",),
}
"""The module of each type of certificate. A name in a file is looked up here and nowhere else."""
MOST_ROWS = 1 << 27
"""A certificate names the rows that have weight, and how many rows there are: in memory all of them have one."""


class JsonFile:
    """What has ``to_json`` and ``from_dict`` can be saved to a file and loaded from it.

    Attributes
    ----------
    preparation : dict or None
        How the rows it is about were made of a file, as ``stream.preparation`` says it, where that is known. It is kept
        in the file, is no part of what is proved, and ``check`` does not use it.
    """

    preparation: dict[str, Any] | None = None

    def with_preparation(self, preparation: dict[str, Any]) -> Self:
        """Return the same certificate, which also says how its rows were made of a file.

        Examples
        --------
        >>> from rosenblatt import Certificate, separability
        >>> made = {"format": "svmlight", "version": 1, "zero_based": False, "n_features": 1}
        >>> certificate = separability([[0], [1]], [0, 1]).with_preparation(made)
        >>> Certificate.from_json(certificate.to_json()).preparation == made
        True
        """
        to_canonical_json(preparation, "a preparation")
        other = copy.copy(self)
        object.__setattr__(other, "preparation", preparation)
        return other

    def to_json(self) -> str:
        """Return all of it as JSON text."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, record: object) -> Self:
        """Return what the data of ``to_json`` stands for; a ValueError for any other data."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, text: str | bytes, *, max_rows: float = MOST_ROWS) -> Self:
        """Return what ``to_json`` wrote; a ValueError for any other text.

        It is not trusted: what it claims is true only if its ``check`` on the data returns True. Text of a few bytes
        can claim something about any number of rows, for each of which 8 bytes are needed: above ``max_rows`` in all
        it is refused.
        """
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"expected a certificate as JSON, got something else: {error}.") from None
        except (ValueError, RecursionError):
            raise ValueError("expected a certificate as JSON, got a number or brackets without end.") from None
        rows = _claimed_rows(record)
        if rows > max_rows:
            raise ValueError(
                f"expected certificates about {max_rows:,} rows in all, got {shorten(rows)}: "
                "allow more by max_rows, 8 bytes of memory each, if you know where they come from."
            )
        return cls.from_dict(record)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, as a whole or not at all; an OSError names the file where that fails."""
        write_atomically(path, [f"{self.to_json()}\n".encode("utf-8", "backslashreplace")])

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_rows: float = MOST_ROWS) -> Self:
        """Read a JSON file that ``save`` wrote; ``Certificate.load`` reads a certificate of any type.

        ``max_rows`` is the most rows that the certificates in it may be about, in all, 2**27 if left out. A file of a
        few bytes can claim any number of them, and each takes 8 bytes of memory: beyond ``max_rows`` it is a
        ValueError.
        """
        check_is_file(path)
        try:
            return cls.from_json(Path(path).read_bytes(), max_rows=max_rows)
        except ValueError as fault:
            raise ValueError(f"{os.fspath(path)} is no certificate that can be used: {fault}") from None


def _claimed_rows(record: object) -> int:
    """Return for how many rows the certificates in ``record``, and in their proofs, have weights."""
    records = [one for one in (record if isinstance(record, list) else [record]) if isinstance(one, dict)]
    proofs = [one["proof"] for one in records if isinstance(one.get("proof"), dict)]
    alphas = [one["alpha"] for one in (*records, *proofs) if isinstance(one.get("alpha"), dict)]
    lengths = [alpha.get("length") for alpha in alphas]
    return sum(length for length in lengths if isinstance(length, int))


class Certificate(JsonFile):
    """An answer that proves itself; see its ``check``. Saved and loaded as JSON, which never runs code.

    Examples
    --------
    >>> from rosenblatt import Certificate, separability
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> text = separability(X, y).to_json()
    >>> Certificate.from_json(text).check(X, y)
    True
    """

    _truth: bool | str = True  # what ``bool`` gives, or why it gives nothing

    def __bool__(self) -> bool:
        if isinstance(self._truth, str):
            raise ValueError(self._truth)
        return self._truth

    def __repr__(self) -> str:
        return str(self)  # each type has a __str__ in words

    def _repr_html_(self) -> str:
        return described(str(self).splitlines(), self._picture())

    def _picture(self) -> str:
        """Draw what is proved, for notebooks; nothing where there is nothing to see."""
        return ""

    @classmethod
    def _codecs(cls) -> dict[str, Codec]:
        hints = get_type_hints(cls, include_extras=True)
        return {name: hints[name].__metadata__[0] for name in cls.__dataclass_fields__}  # type: ignore[attr-defined]

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as data that JSON can hold; every number in it is kept exactly."""
        given = {name: (getattr(self, name), codec) for name, codec in self._codecs().items()}
        values = {
            name: codec.write(value, name)
            for name, (value, codec) in given.items()
            if value is not None or not codec.optional
        }
        made = {} if self.preparation is None else {"preparation": self.preparation}
        return {"rosenblatt": type(self).__name__, "format": FORMAT, **values, **made}

    def to_json(self) -> str:
        """Return the certificate as JSON text; every number in it is kept exactly."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_dict(cls, record: object) -> Self:
        """Return the certificate that ``to_dict`` described; a ValueError for anything else."""
        if isinstance(record, list):
            raise ValueError(f"expected a certificate of type {cls.__name__}, got a list: use Verdicts.load.")
        name = record.get("rosenblatt") if isinstance(record, dict) else None
        home = next((home for home, names in _HOMES.items() if name in names), None)
        kind = getattr(import_module(f"rosenblatt.theory.{home}"), str(name)) if home else None
        if kind is None or not issubclass(kind, cls):
            raise ValueError(f"expected a certificate of type {cls.__name__}, got {shorten(name)}.")
        fields = StrictFields(record, "the certificate")
        fields.take("rosenblatt")
        version = fields.take("format")
        if version != FORMAT:
            raise ValueError(
                f"expected a certificate in format {FORMAT}, got {shorten(version)}: "
                "it was written by another version of rosenblatt."
            )
        found = kind(**{name: codec.read(fields, name) for name, codec in kind._codecs().items()})
        made = fields.dictionary("preparation") if fields.has("preparation") else None
        fields.end()
        return found if made is None else found.with_preparation(made)


# What certificates about labelled rows claim: margins and proofs of inseparability, recomputed exactly.


NEARLY = 1 + Fraction(1, 10**9)


def margin_of(X: Matrix, signs: Signs, w: Numbers, b: float, kind: str) -> float:
    """Return the margin of (w, b) on these rows, rounded down; 0 or less if it does not separate."""
    return margin_from(least_score(X, signs, w, b), w, b, kind)


def margin_from(least: Fraction, w: Numbers, b: float, kind: str, nearest: bool = False) -> float:
    """Return the margin of (w, b), rounded down or to the nearest, where ``least`` is the smallest y (w . x + b)."""
    square = exact.squared_length(w, b if kind == "augmented" else 0.0)
    if square == 0:
        return math.inf if least > 0 else -math.inf
    root = round_root(least * least, up=None if nearest else least < 0, over=square)
    return root if least > 0 else -root


def most_margin(X: Matrix, signs: Signs, alpha: Floats, kind: str) -> float:
    """Return the margin that no separator exceeds, as the weights ``alpha`` prove, rounded up."""
    if not alpha.any():
        return math.inf
    if kind == "geometric":
        square = exact.hull_distance(X, signs, alpha)
    else:
        square = exact.squared_sum(X, signs, alpha, bias=kind == "augmented")
    return math.inf if square is None else round_root(square, up=True)


def nearest_rows(X: Matrix, signs: Signs, w: Numbers, b: float, kind: str, high: float) -> NDArray[np.intp]:
    """Return the rows at a distance of at most ``high`` from (w, b), by the definition of a ``kind`` of margin.

    A billionth more is allowed for, since (w, b) is rounded. There are none where ``high`` is infinite.
    """
    if not math.isfinite(high):
        return np.arange(0)
    square = exact.squared_length(w, b if kind == "augmented" else 0.0)
    return rows_within(X, signs, w, b, (Fraction(high) * NEARLY) ** 2 * square)


def attains(X: Matrix, signs: Signs, w: Numbers, b: float, kind: str, low: float, separates: bool) -> bool:
    """Return whether the margin of (w, b) is at least ``low``.

    With ``separates`` (w, b) must separate the rows, even if its margin is below the smallest float and ``low`` is 0.
    """
    if not are_finite([*w.tolist(), b]) or len(w) != X.shape[1] or (kind == "homogeneous" and b != 0):
        return False
    least = least_score(X, signs, w, b)
    if separates and not (least > 0 and low >= 0):
        return False
    return low <= margin_from(least, w, b, kind)


def proves_inseparable(
    X: Matrix, signs: Signs, alpha: Floats, weights: tuple[int, ...] | None, basis: Basis | None, bias: bool
) -> bool:
    """Return whether ``alpha``, by exact ``weights`` or by enclosure, proves that no hyperplane separates."""
    rows = np.flatnonzero(alpha)
    if weights is None:
        with np.errstate(over="ignore"):
            total = float(np.sum(alpha))
        if not math.isclose(total, 1.0, rel_tol=1e-9):
            return False
        return encloses_zero_combination(X, signs, rows, alpha[rows], bias, basis)
    near = exact.are_shares(alpha[rows], weights, of=Fraction(1), tiny=Fraction(1, 10**9 * 2**1040))
    return near and exact.sums_to_zero(X, signs, rows, weights, bias)


# What certificates about labelled rows have in common: their check, a bracket around a margin, and its words.
#
# The two classes are signs: +1 for rows that carry the ``positive`` label, -1 for all others.


DEFINITIONS = {
    "geometric": "distance of the nearest point, bias free",
    "augmented": "of (x, 1), the bias a weight like the others",
    "homogeneous": "of hyperplanes through the origin",
}
"""The three margins of a data set, by name, in words."""
KINDS = tuple(DEFINITIONS)


class AboutRows(Certificate):
    """What certificates about labelled rows have in common."""

    alpha: Floats
    positive: object

    def check(self, X: MatrixLike, y: ArrayLike) -> bool:
        """Return whether every claim holds for these rows and labels, recomputed exactly from them."""
        X, y = check_rows(X, y)
        signs, alpha = certified_signs(y, self.positive), self.alpha
        if signs is None or alpha.shape != signs.shape or not (np.isfinite(alpha) & (alpha >= 0)).all():
            return False
        return self._holds(X, signs)

    def _holds(self, X: Matrix, signs: Signs) -> bool:
        raise NotImplementedError


class Bracket(AboutRows):
    """What certificates about a margin have in common.

    ``history`` is how the search closed the bracket: the steps made, and the lower and upper end then, in floating
    point. It is no part of what is proved, and is not saved.
    """

    w: Numbers
    b: float
    nearest: NDArray[np.intp] | None = None
    history: tuple[tuple[int, float, float], ...] = ()

    def with_history(self, history: Iterable[tuple[int, float, float]]) -> Self:
        """Return the same certificate, which also knows how the search closed its bracket."""
        other = copy.copy(self)
        object.__setattr__(other, "history", tuple(history))
        return other

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows that carry weight in ``alpha``."""
        return np.flatnonzero(self.alpha)

    def _proves(self, X: Matrix, signs: Signs, kind: str, low: float, high: float, separates: bool) -> bool:
        """Return whether (w, b) has a margin of at least ``low``, and ``alpha`` proves that none is above ``high``."""
        claimed = attains(X, signs, self.w, self.b, kind, low, separates)
        if not (claimed and high >= most_margin(X, signs, self.alpha, kind)):
            return False
        return self.nearest is None or np.array_equal(self.nearest, nearest_rows(X, signs, self.w, self.b, kind, high))


def points_text(n: int) -> str:
    """Return how many points there are, in words."""
    return f"the {n:,} points" if n != 1 else "the one point"


def draw_margin(low: float, high: float) -> str:
    """Draw a bracket around a margin on a number line."""
    return number_line(low, high, f"The margin on a number line: it {bracket_text(low, high)}.")


def bracket_text(low: float, high: float) -> str:
    """Return where the margin lies, in words."""
    if low == math.inf:
        return "is infinite: all points carry one label, and the bias alone gives it to them"
    gap = (high - low) / high if high > 0 else math.inf
    if not gap < 1e-3:
        return f"lies between {low:.4g} and {high:.4g}"
    return f"is {low:.6g}" + (f", proved to a relative {gap:.0e}" if gap > 0 else " exactly")
