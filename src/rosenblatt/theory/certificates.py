"""Base classes of certificates, which are results with a proof. They print as text and can be saved as JSON.

A certificate is a small frozen dataclass. Its method ``check`` recomputes every claim exactly from the data alone. The
method shares no code with the search that found the certificate. The type annotation of each field contains the codec
that writes the field to JSON and reads it back (`storage.schema`).
"""

from __future__ import annotations

import copy
import json
import math
import os
import re
import sys
from collections.abc import Iterable
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.html import described, number_line
from rosenblatt.messages import shorten
from rosenblatt.storage.container import check_is_file, write_atomically
from rosenblatt.storage.schema import (
    LABEL,
    Codec,
    Place,
    integer,
    list_of,
    optional,
    read_fields,
    record,
    to_canonical_json,
    write_fields,
)
from rosenblatt.theory import exact
from rosenblatt.theory.enclosures import Basis, ColumnStep, encloses_zero_combination
from rosenblatt.theory.exact import are_finite, round_root
from rosenblatt.theory.inputs import Floats, Matrix, MatrixLike, Numbers, Signs, certified_signs, check_rows
from rosenblatt.theory.scores import least_score, rows_within

# The types of the fields of certificates, each with its codec.


MOST_BITS = 1 << 18
"""The maximum bit length of an integer in a file. Exact searches stop before their integers exceed 232,000 bits."""
_INTEGER = re.compile(rf"-?0x[0-9a-f]{{1,{MOST_BITS // 4}}}")
_MOST_INDEX = 2**31 - 1


def _write_number(value: float, place: Place) -> str | float:
    if type(value) is int:
        return write_integer(value)
    value = float(value)
    if math.isnan(value):
        raise ValueError(f"{place.path!r} of the certificate is not a number: nothing can be proved about it.")
    return value if math.isfinite(value) else str(value)


def _read_number(data: object, place: Place) -> float:
    """Return the float or integer that ``_write_number`` wrote."""
    if isinstance(data, str):
        found = float(data) if data in ("inf", "-inf") else read_integer(data)
        if found is not None:
            return found
    elif isinstance(data, int | float) and not isinstance(data, bool) and abs(data) <= sys.float_info.max:
        return float(data)
    raise place.error("a number", data)


def _read_real(data: object, place: Place) -> float:
    found = _read_number(data, place)
    if isinstance(found, int):
        if abs(found) > sys.float_info.max or int(float(found)) != found:
            raise place.error("a float", found)
        return float(found)
    return found


def write_integer(value: int) -> str:
    """Return an integer as hexadecimal text. JSON readers, such as Python's, limit the length of decimal integers."""
    if value.bit_length() > MOST_BITS:
        raise ValueError(f"a number of {value.bit_length():,} bits is too long for a file, which allows {MOST_BITS:,}.")
    return hex(value)


def read_integer(value: object) -> int | None:
    """Return the integer that ``write_integer`` wrote, or None if ``value`` is anything else.

    >>> read_integer("-0xff"), read_integer("ff")
    (-255, None)
    """
    return int(value, 16) if isinstance(value, str) and _INTEGER.fullmatch(value) else None


def _read_integer(data: object, place: Place) -> int:
    found = read_integer(data)
    if found is None:
        raise place.error(f"a hexadecimal number of at most {MOST_BITS:,} bits", data)
    return found


_NUMBER = Codec(_write_number, _read_number)
_REAL = Codec(_write_number, _read_real)
INTEGER = Codec(lambda value, place: write_integer(value), _read_integer)
"""Codec of an integer of at most ``MOST_BITS`` bits."""


def _read_vector(data: object, place: Place) -> Numbers:
    numbers = list_of(_NUMBER).read(data, place)
    return np.array(numbers, dtype=object if any(isinstance(number, int) for number in numbers) else np.float64)


_VECTOR = Codec(lambda values, place: [_write_number(value, place) for value in values.tolist()], _read_vector)


def _read_rows(data: object, place: Place) -> NDArray[np.intp]:
    rows = list_of(integer(0, _MOST_INDEX)).read(data, place)
    if len(set(rows)) != len(rows):
        raise place.error("a list of distinct row numbers", rows)
    return np.array(rows, dtype=np.intp)


ROWS = Codec(lambda rows, place: list(map(int, rows)), _read_rows)
"""Codec of an array of distinct row indices."""


class _SparseFields:
    length: Annotated[int, integer(0, _MOST_INDEX)]
    rows: Annotated[NDArray[np.intp], ROWS]
    values: Annotated[Numbers, _VECTOR]


def _write_sparse(values: Floats, place: Place) -> dict[str, object]:
    rows = np.flatnonzero(values)
    return write_fields(_SparseFields, SimpleNamespace(length=len(values), rows=rows, values=values[rows]), place)


def _read_sparse(data: object, place: Place) -> Floats:
    length, rows, values = read_fields(_SparseFields, data, place).values()
    if np.max(rows, initial=-1) >= length or len(values) != len(rows) or values.dtype == object:
        raise place.error(f"rows below {length:,}, each with a value", f"{len(rows):,} rows, {len(values):,} values")
    result = np.zeros(length)
    result[rows] = values
    return result


class _StepFields:
    column: Annotated[int, integer(0, _MOST_INDEX)]
    times: Annotated[int, INTEGER]
    columns: Annotated[NDArray[np.intp], ROWS]
    factors: Annotated[tuple[int, ...], list_of(INTEGER)]


class _BasisFields:
    rows: Annotated[NDArray[np.intp], ROWS]
    steps: Annotated[list[ColumnStep], list_of(record(_StepFields, dict))]


def _read_basis(data: object, place: Place) -> Basis:
    rows, steps = read_fields(_BasisFields, data, place).values()
    return Basis(
        tuple(rows.tolist()),
        tuple(
            ColumnStep(step["column"], step["times"], tuple(step["columns"].tolist()), tuple(step["factors"]))
            for step in steps
        ),
    )


_INTEGERS = list_of(INTEGER)
INTEGERS = Codec(_INTEGERS.write, lambda data, place: tuple(_INTEGERS.read(data, place)))
"""Codec of a tuple of integers of at most ``MOST_BITS`` bits."""
Real: TypeAlias = Annotated[float, _REAL]  # may be infinite
Number: TypeAlias = Annotated[float, _NUMBER]  # a float, or an integer of any size
Vector: TypeAlias = Annotated[Numbers, _VECTOR]  # floats, or integers of any size
Sparse: TypeAlias = Annotated[NDArray[np.float64], Codec(_write_sparse, _read_sparse)]  # floats, most of them 0
Rows: TypeAlias = Annotated[NDArray[np.intp], ROWS]
KnownRows: TypeAlias = Annotated[NDArray[np.intp], ROWS] | None
Integers: TypeAlias = Annotated[tuple[int, ...], INTEGERS] | None  # of any size
BasisOfProof: TypeAlias = Annotated[Basis, Codec(record(_BasisFields).write, _read_basis)] | None  # see `enclosures`
Label: TypeAlias = Annotated[Any, optional(LABEL)]  # a number, a string, a boolean or None


FORMAT = 1
_HOMES = {
    "verdicts": ("Separable", "Inseparable", "UndecidedSeparability", "MarginBracket"),
    "min_mistakes.answers": ("FewestMistakes",),
    "linear_programs.answers": ("Feasible", "Infeasible", "Optimum", "Unbounded", "UndecidedProgram"),
    "logistic.answers": ("Separation",),
}
"""The certificate types defined in each module. A file can be loaded only as one of these types."""
MOST_ROWS = 1 << 27
"""Default limit on the total number of rows of the certificates in a file.

A file stores nonzero weights only. In memory every row has a weight, which takes 8 bytes.
"""


class JsonFile:
    """Base class of objects that can be saved as JSON; subclasses define ``to_json`` and ``from_dict``.

    Attributes
    ----------
    preparation : dict or None
        How the rows were made from the data files, as in ``stream.preparation``, or None if this is unknown. The
        preparation is saved with the object, but nothing is proved about it, and ``check`` does not use it.
    """

    preparation: dict[str, object] | None = None

    def with_preparation(self, preparation: dict[str, object]) -> Self:
        """Return a copy of the certificate with the given ``preparation``: how its rows were made from the data files.

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
        """Return the contents as JSON text."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, record: object) -> Self:
        """Create the object from decoded JSON that ``to_json`` wrote; raise a ValueError for any other data."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, text: str | bytes, *, max_rows: float = MOST_ROWS) -> Self:
        """Create the object from JSON text that ``to_json`` wrote; raise a ValueError for any other text.

        Loading does not verify the claims. They are proved only if ``check`` returns True for the data. A short text
        can declare any number of rows, and each row takes 8 bytes of memory. So a ValueError is raised if the
        certificates in the text have more than ``max_rows`` rows in total.
        """
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"expected a certificate as JSON, got {_what_came(error)}.") from None
        rows = _claimed_rows(record)
        if rows > max_rows:
            raise ValueError(
                f"expected certificates for at most {max_rows:,} rows in all, got {shorten(rows)}: "
                "if you trust the file, allow more with max_rows, which takes 8 bytes of memory for each row."
            )
        return cls.from_dict(record)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file atomically; if writing fails, raise an OSError that names the file."""
        write_atomically(path, [f"{self.to_json()}\n".encode("utf-8", "backslashreplace")])

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_rows: float = MOST_ROWS) -> Self:
        """Read a JSON file that ``save`` wrote; ``Certificate.load`` reads a certificate of any type.

        ``max_rows``, 2**27 by default, limits the total number of rows of the certificates in the file. If there are
        more rows, a ValueError is raised. The limit protects memory: a short file can declare any number of rows, and
        each row takes 8 bytes.
        """
        check_is_file(path)
        try:
            return cls.from_json(Path(path).read_bytes(), max_rows=max_rows)
        except ValueError as fault:
            raise ValueError(f"{os.fspath(path)} is not a valid certificate: {fault}") from None


def _what_came(error: ValueError | RecursionError) -> str:
    """Return in words what was decoded as JSON, given the error that it raised."""
    if isinstance(error, RecursionError):
        return "data nested too deeply"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return f"text that is not {'JSON' if isinstance(error, json.JSONDecodeError) else 'Unicode'}: {error}"
    return "a number with too many digits"


def _claimed_rows(record: object) -> int:
    """Return the total number of rows that the certificates in ``record``, and the proofs nested in them, declare."""
    records = [item for item in (record if isinstance(record, list) else [record]) if isinstance(item, dict)]
    proofs = [item["proof"] for item in records if isinstance(item.get("proof"), dict)]
    alphas = [item["alpha"] for item in (*records, *proofs) if isinstance(item.get("alpha"), dict)]
    lengths = [alpha.get("length") for alpha in alphas]
    return sum(length for length in lengths if isinstance(length, int))


class Certificate(JsonFile):
    """A result with a proof, which the method ``check`` verifies from the data.

    Loading a certificate from JSON executes no code from the file.

    Examples
    --------
    >>> from rosenblatt import Certificate, separability
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> text = separability(X, y).to_json()
    >>> Certificate.from_json(text).check(X, y)
    True
    """

    _truth: bool | str = True  # the value of ``bool``, or the message of the ValueError that it raises

    def __bool__(self) -> bool:
        if isinstance(self._truth, str):
            raise ValueError(self._truth)
        return self._truth

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return described(str(self).splitlines(), self._picture())

    def _picture(self) -> str:
        """Return an HTML figure of the proved result for notebooks, or "" if there is no figure."""
        return ""

    def to_dict(self) -> dict[str, object]:
        """Return the certificate as a JSON-serializable dictionary, without rounding any number."""
        values = write_fields(type(self), self, Place("the certificate"))
        made = {} if self.preparation is None else {"preparation": self.preparation}
        return {"rosenblatt": type(self).__name__, "format": FORMAT, **values, **made}

    def to_json(self) -> str:
        """Return the certificate as JSON text, without rounding any number."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_dict(cls, record: object) -> Self:
        """Create the certificate from a dictionary that ``to_dict`` returned; raise a ValueError for anything else."""
        if isinstance(record, list):
            raise ValueError(f"expected a certificate of type {cls.__name__}, got a list: use Verdicts.load.")
        if not isinstance(record, dict) or "rosenblatt" not in record:
            what = "an object without the key 'rosenblatt'" if isinstance(record, dict) else shorten(record)
            raise ValueError(f"expected a certificate of type {cls.__name__}, got {what}: give what to_json wrote.")
        fields = dict(record)
        name = fields.pop("rosenblatt")
        home = next((home for home, names in _HOMES.items() if name in names), None)
        kind = getattr(import_module(f"rosenblatt.theory.{home}"), str(name)) if home else None
        if kind is None or not issubclass(kind, cls):
            raise ValueError(f"expected a certificate of type {cls.__name__}, got {shorten(name)}.")
        version, made = fields.pop("format", None), fields.pop("preparation", None)
        if version != FORMAT:
            raise ValueError(
                f"expected a certificate in format {FORMAT}, got {shorten(version)}: "
                "it was written by another version of rosenblatt."
            )
        place = Place("the certificate")
        found: Self = kind(**read_fields(kind, fields, place))
        if made is None:
            return found
        if type(made) is not dict:
            raise place.at("preparation").error("a dictionary", made)
        return found.with_preparation(made)


class Undecided(Certificate):
    """The result of a search that ended before it found a proof; calling ``bool`` on it raises a ValueError.

    Like every certificate it has a method ``check``, which verifies the bounds that the search did establish. The
    result of `separability` has the bounds ``low`` and ``high`` on the largest margin, and the best hyperplane found,
    ``w`` and ``b``. The result of `strict_feasibility` or `maximize` has the best point ``x`` found. Its ``excess`` is
    an upper bound on every entry of A x - b.

    Examples
    --------
    >>> from rosenblatt import Undecided, separability
    >>> answer = separability([[0.0], [1.0]], [0, 1], max_seconds=1e-9)
    >>> isinstance(answer, Undecided), answer.check([[0.0], [1.0]], [0, 1])
    (True, True)
    >>> print(answer)
    Undecided: ...
    """

    _truth = "the question is undecided, so it is neither true nor false: look at what the certificate proves."


# Checks for the claims of certificates about labelled rows: margins, and proofs of inseparability.


NEARLY = 1 + Fraction(1, 10**9)


def margin_of(X: Matrix, signs: Signs, w: Numbers, b: float, kind: str) -> float:
    """Return the margin of the hyperplane (w, b), rounded down.

    The margin is 0 or less if the hyperplane does not separate the classes.
    """
    return margin_from(least_score(X, signs, w, b), w, b, kind)


def margin_from(least: Fraction, w: Numbers, b: float, kind: str, nearest: bool = False) -> float:
    """Return the margin of the hyperplane (w, b), computed from its lowest score ``least``.

    ``least`` is the minimum of y (w . x + b) over all rows. The margin is rounded down, or to the nearest float if
    ``nearest`` is true.
    """
    square = exact.squared_length(w, b if kind == "augmented" else 0.0)
    if square == 0:
        return math.inf if least > 0 else -math.inf
    root = round_root(least * least, up=None if nearest else least < 0, over=square)
    return root if least > 0 else -root


def margin_upper_bound(X: Matrix, signs: Signs, alpha: Floats, kind: str) -> float:
    """Return an upper bound on the margin of every separating hyperplane, rounded up.

    The row weights ``alpha`` prove the bound. It is infinite if all weights are zero. For the geometric margin it is
    also infinite if all rows of a class have weight zero.
    """
    if not alpha.any():
        return math.inf
    if kind == "geometric":
        square = exact.squared_half_distance(X, signs, alpha)
    else:
        square = exact.squared_mean_length(X, signs, alpha, bias=kind == "augmented")
    return math.inf if square is None else round_root(square, up=True)


def nearest_rows(X: Matrix, signs: Signs, w: Numbers, b: float, kind: str, high: float) -> NDArray[np.intp]:
    """Return the indices of the rows with a distance of at most ``high`` (1 + 1e-9) from the hyperplane (w, b).

    Distances are measured as for the given kind of margin, and are negative for misclassified rows. The tolerance
    covers the rounding of (w, b). If ``high`` is infinite, the result is empty.
    """
    if not math.isfinite(high):
        return np.arange(0)
    square = exact.squared_length(w, b if kind == "augmented" else 0.0)
    return rows_within(X, signs, w, b, (Fraction(high) * NEARLY) ** 2 * square)


def has_margin(X: Matrix, signs: Signs, w: Numbers, b: float, kind: str, low: float, separates: bool) -> bool:
    """Return whether the margin of (w, b) is at least ``low``.

    If ``separates`` is true, (w, b) must also separate the classes. The first condition does not imply this if ``low``
    is 0. A positive margin is rounded down to 0 if it is below the smallest positive float.
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
    """Return whether the row weights ``alpha`` prove that the classes are not linearly separable.

    The proof uses the exact integers ``weights``. If ``weights`` is None, it uses an enclosure of exact weights near
    ``alpha`` (see `encloses_zero_combination`).
    """
    rows = np.flatnonzero(alpha)
    if weights is None:
        with np.errstate(over="ignore"):
            total = float(np.sum(alpha))
        if not math.isclose(total, 1.0, rel_tol=1e-9):
            return False
        return encloses_zero_combination(X, signs, rows, alpha[rows], bias, basis)
    near = exact.are_proportional(alpha[rows], weights, of=Fraction(1), tiny=Fraction(1, 10**9 * 2**1040))
    return near and exact.sums_to_zero(X, signs, rows, weights, bias)


# Base classes of the certificates about labelled rows.
#
# The two classes are represented by signs: +1 for rows with the ``positive`` label, -1 for all other rows.


DEFINITIONS = {
    "geometric": "distance from the hyperplane to the nearest point",
    "augmented": "in the space (x, 1), with the bias as a weight",
    "homogeneous": "of hyperplanes through the origin",
}
"""The three kinds of margin of a data set, each with its definition in words."""
KINDS = tuple(DEFINITIONS)


class AboutRows(Certificate):
    """Base class of certificates about labelled rows."""

    alpha: Floats
    positive: object

    def check(self, X: MatrixLike, y: ArrayLike) -> bool:
        """Return whether an exact recomputation from these rows and labels confirms every claim."""
        X, y = check_rows(X, y)
        signs, alpha = certified_signs(y, self.positive), self.alpha
        if signs is None or alpha.shape != signs.shape or not (np.isfinite(alpha) & (alpha >= 0)).all():
            return False
        return self._holds(X, signs)

    def _holds(self, X: Matrix, signs: Signs) -> bool:
        raise NotImplementedError


class Bracket(AboutRows):
    """Base class of certificates with a bracket of a margin, that is, a lower and an upper bound.

    ``history`` contains the bounds during the search as tuples (number of steps so far, lower bound, upper bound).
    These bounds are not proved, and they are not saved.
    """

    w: Numbers
    b: float
    nearest: NDArray[np.intp] | None = None
    history: tuple[tuple[int, float, float], ...] = ()

    def with_history(self, history: Iterable[tuple[int, float, float]]) -> Self:
        """Return a copy of the certificate with the given ``history`` of its bounds."""
        other = copy.copy(self)
        object.__setattr__(other, "history", tuple(history))
        return other

    @property
    def support(self) -> NDArray[np.intp]:
        """The indices of the rows with nonzero weight in ``alpha``."""
        return np.flatnonzero(self.alpha)

    def _proves(self, X: Matrix, signs: Signs, kind: str, low: float, high: float, separates: bool) -> bool:
        """Return whether (w, b) has a margin of at least ``low``, and ``alpha`` proves that no margin exceeds ``high``.

        If ``nearest`` is not None, it must equal the result of `nearest_rows`, too.
        """
        low_holds = has_margin(X, signs, self.w, self.b, kind, low, separates)
        if not (low_holds and high >= margin_upper_bound(X, signs, self.alpha, kind)):
            return False
        return self.nearest is None or np.array_equal(self.nearest, nearest_rows(X, signs, self.w, self.b, kind, high))


def points_text(n: int) -> str:
    """Return the number of points as text, such as "the 3 points" or "the one point"."""
    return f"the {n:,} points" if n != 1 else "the one point"


def draw_margin(low: float, high: float) -> str:
    """Return an HTML number line with the lower and the upper bound on a margin."""
    return number_line(low, high, f"The margin on a number line: it {bracket_text(low, high)}.")


def bracket_text(low: float, high: float) -> str:
    """Return the bounds on the margin as the predicate of a sentence, such as "lies between 1 and 2"."""
    if low == math.inf:
        return "is infinite: all points have one label, and the bias alone predicts it"
    gap = (high - low) / high if high > 0 else math.inf
    if not gap < 1e-3:
        return f"lies between {low:.4g} and {high:.4g}"
    return f"is {low:.6g}" + (f", proved to a relative error of {gap:.0e}" if gap > 0 else " exactly")
