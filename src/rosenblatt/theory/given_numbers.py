"""Numbers as users give them, of any type: taken where float64 holds them exactly, and otherwise refused.

Python and NumPy round in silence: a list of integers and floats, or a data frame with columns of both, becomes float64
as a whole. So what is given is looked at before it is converted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rosenblatt.parameters import shorten

_EXACT_UP_TO = 2**53  # integers that float64 holds, all of them
_MOST_DIGITS = 100_000  # of a Decimal's exponent, before it is written out


def unrounded(values: Any, name: str) -> Any:
    """Return dense ``values`` whose conversion to float64 changes no number; a ValueError names one that it would.

    Arrays and data frames (pandas, polars, pyarrow) come back as they are, anything else as an array. Nothing is said
    of shapes, nor of what is missing or infinite.

    >>> unrounded([[1, 0.5]], "X")
    array([[1. , 0.5]])
    >>> unrounded([[2**53 + 1, 0.5]], "X")
    Traceback (most recent call last):
    ValueError: X holds the integer 9007199254740993, which float64 would round: give numbers up to 2**53, ...
    """
    refuse_masked(values, name)
    if isinstance(values, np.ndarray):
        _check_array(values, name)
        return values
    columns = _columns(values)
    if columns is not None:
        for column in columns:
            _check_array(column, name)
        return values
    array = np.asarray(values)
    if (array.dtype == np.float64 and np.max(np.abs(array), initial=0.0) >= _EXACT_UP_TO) or array.dtype.kind in "SU":
        _check_objects(np.array(values, dtype=object), name)  # there may have been integers, or numbers beside words
    else:
        _check_array(array, name)
    return array


def exact_numbers(values: Any, name: str) -> NDArray[Any]:
    """Return floats that equal the ``values``, or Fractions where float64 would round one of them.

    >>> exact_numbers([1, 0.5], "w"), exact_numbers([2**53 + 1, 0.5], "w")
    (array([1. , 0.5]), array([Fraction(9007199254740993, 1), Fraction(1, 2)], dtype=object))
    """
    refuse_masked(values, name)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype.itemsize <= 8:
        return values.astype(np.float64)
    given = exact_objects(values, name)
    numbers: list[float | Fraction] = [
        value if type(value) is float else to_fraction(value, name) for value in given.ravel().tolist()
    ]
    near = [_near(number) for number in numbers]
    rounds = any(a != b for a, b in zip(near, numbers, strict=True) if a == a)
    exact = np.empty(len(numbers), dtype=object if rounds else np.float64)
    exact[:] = [Fraction(value) if math.isfinite(_near(value)) else value for value in numbers] if rounds else near
    return exact.reshape(given.shape)


def _near(number: float | Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def exact_objects(values: Any, name: str) -> NDArray[Any]:
    """Return ``values`` as an array of objects, as they were given; of one dimension where rows are ragged.

    NumPy would make floats of [2**53 + 1, 0.5], pandas of two such columns, and both would make numbers of dates.
    """
    refuse_masked(values, name)
    columns = _columns(values, every=True)
    parts = [values] if columns is None else list(columns)
    if any(getattr(getattr(part, "dtype", None), "kind", "") in ("m", "M") for part in parts):
        _refuse_dates(name)
    if columns is None:
        try:
            return np.array(values, dtype=object)
        except ValueError:
            return np.empty(0, dtype=object)
    table = np.empty((len(parts[0]) if parts else 0, len(parts)), dtype=object)
    for j, part in enumerate(parts):
        table[:, j] = part.tolist()
    return table


def to_fraction(value: Any, name: str) -> Fraction:
    """Return the fraction that equals a finite number of any type; a ValueError for anything else.

    >>> to_fraction(0.5, "w")
    Fraction(1, 2)
    """
    if isinstance(value, np.datetime64 | np.timedelta64):
        _refuse_dates(name)
    if isinstance(value, Integral):
        return Fraction(int(value))  # int(): a NumPy integer inside a fraction would overflow
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    try:
        if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > _MOST_DIGITS:
            raise ValueError
        above, below = value.as_integer_ratio()
    except (AttributeError, OverflowError, ValueError):  # not a number, infinite, NaN
        raise ValueError(
            f"{name} must be finite numbers, got {shorten(value)}: give ints, Fractions or floats."
        ) from None
    return Fraction(int(above), int(below))


def refuse_masked(values: Any, name: str) -> None:
    """Raise an error where an entry of a masked array is masked: NumPy would use what lies under the mask.

    >>> refuse_masked(np.ma.array([1, 2], mask=[False, True]), "y")
    Traceback (most recent call last):
    ValueError: y is a masked array with 1 masked entry: fill it (y.filled(...)), or leave its row out.
    """
    parts = values if isinstance(values, list | tuple) else [values]
    count = sum(int(np.ma.count_masked(part)) for part in parts if isinstance(part, np.ma.MaskedArray))
    if count:
        entries, them, rows = ("entry", "it", "its row") if count == 1 else ("entries", "them", "their rows")
        raise ValueError(
            f"{name} is a masked array with {count:,} masked {entries}: fill {them} ({name}.filled(...)), "
            f"or leave {rows} out."
        )


def _check_array(values: NDArray[Any], name: str) -> None:
    """Raise an error where an array holds what float64 would round, or what is no real number."""
    kind, width = values.dtype.kind, values.dtype.itemsize
    if kind == "b" or (kind == "f" and width <= 8) or (kind in "iu" and width < 8) or values.size == 0:
        return
    if kind in "mM":
        _refuse_dates(name)
    if kind in "iu":
        _check_integers(values, name)
    elif kind == "f":
        with np.errstate(all="ignore"):
            lost = values[(values.astype(np.float64) != values) & np.isfinite(values)]
        if lost.size:
            _refuse(lost.flat[0], name)
    else:
        _check_objects(values, name)


def _check_integers(values: NDArray[Any], name: str) -> None:
    """Raise an error where integers of 64 bits have more digits than float64 holds."""
    if int(values.min()) >= -_EXACT_UP_TO and int(values.max()) <= _EXACT_UP_TO:
        return
    near = values.astype(np.float64)
    inside = near < 2.0 ** (63 if values.dtype.kind == "i" else 64)  # what was rounded up to that cannot come back
    lost = values[np.where(inside, near, 0.0).astype(values.dtype) != values]
    if lost.size:
        _refuse(int(lost.flat[0]), name)


def _check_objects(values: NDArray[Any], name: str) -> None:
    """Raise an error where one of many objects is a number that float64 would round, or is no real number."""
    for value in values.ravel().tolist():
        if type(value) is float or value is None:  # None is missing, as NaN is
            continue
        if isinstance(value, np.datetime64 | np.timedelta64):
            _refuse_dates(name)
        try:
            if isinstance(value, complex | np.complexfloating):
                raise TypeError
            near = float(value)
            exact = _comparable(value)
        except OverflowError:
            _refuse(value, name)
        except (TypeError, ValueError, ArithmeticError):
            raise ValueError(
                f"{name} must be of finite real numbers, got {shorten(value)}: turn it into one, or leave it out."
            ) from None
        if not (math.isnan(near) or exact == near):
            _refuse(value, name)


def _comparable(value: Any) -> Any:
    """Return the number in a type that is compared with floats exactly, as NumPy's integers are not."""
    if isinstance(value, str | bytes):
        return Decimal(value if isinstance(value, str) else value.decode())
    return int(value) if isinstance(value, Integral) else value


def _refuse(value: Any, name: str) -> NoReturn:
    """Raise the error of a number that float64 would round."""
    if isinstance(value, Integral):
        digits = str(value) if abs(int(value)) < 1 << 256 else shorten(int(value))
        raise ValueError(
            f"{name} holds the integer {digits}, which float64 would round: give numbers up to 2**53, "
            "for instance by taking the mean away first, or give floats."
        )
    try:
        text = shorten(value) if isinstance(value, str | bytes) else f"the {type(value).__name__} {value!s:.60}"
    except ValueError:  # Python writes no integer of more than 4300 digits
        text = shorten(value)
    raise ValueError(
        f"{name} holds {text}, which float64 would round: scale the numbers so that they are integers, or round them "
        "yourself, with float(...) or astype(float), and the answer is about these floats."
    )


def _refuse_dates(name: str) -> NoReturn:
    raise ValueError(
        f"{name} holds dates or times: turn them into numbers, for instance the days since the first of them."
    )


def _columns(values: Any, every: bool = False) -> Iterable[NDArray[Any]] | None:
    """Return the columns of a data frame that float64 might round, without what is missing; or ``every`` column as it
    is. None where ``values`` are no data frame."""
    if hasattr(values, "iloc") and getattr(values, "ndim", 0) == 2:
        return _pandas_columns(values, every)
    if hasattr(values, "get_columns"):
        return _polars_columns(values.get_columns(), every)
    if hasattr(values, "column_names") and hasattr(values, "columns"):
        return _arrow_columns(values.columns, every)
    return None


def _pandas_columns(frame: Any, every: bool) -> Iterator[NDArray[Any]]:
    types = list(frame.dtypes)
    if not every and len(set(types)) == 1 and isinstance(types[0], np.dtype) and types[0].kind in "biuf":
        yield np.asarray(frame)  # of one type: nothing is rounded yet
        return
    for j, kind in enumerate(types):
        plain = isinstance(kind, np.dtype) and (kind.kind in "bf" or (kind.kind in "iu" and kind.itemsize < 8))
        if every or not plain:
            column = frame.iloc[:, j]
            yield np.asarray(column if every else column.dropna())


def _polars_columns(columns: list[Any], every: bool) -> Iterator[NDArray[Any]]:
    for column in columns:
        if every or not column.dtype.is_float():
            values = column if every else column.drop_nulls()
            yield values.to_numpy() if _holds_plain_integers(values) else np.array(values.to_list(), dtype=object)


def _holds_plain_integers(column: Any) -> bool:
    return column.dtype.is_integer() and not column.has_nulls() and "128" not in str(column.dtype)


def _arrow_columns(columns: list[Any], every: bool) -> Iterator[NDArray[Any]]:
    for column in columns:
        if every or str(column.type) not in ("halffloat", "float", "double"):
            yield (column if every else column.drop_null()).to_numpy(zero_copy_only=False)
