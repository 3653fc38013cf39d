"""Validation of exact numbers, matrices and labels, signs of rows, and formatting of numbers as text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from rosenblatt.messages import shorten

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[Any]  # floats, or Python integers or Fractions where floats would be inexact
Labels: TypeAlias = NDArray[Any]  # all strings or all numbers
Matrix: TypeAlias = Any  # a C-ordered array or a CSR array of float64
MatrixLike: TypeAlias = ArrayLike | sp.sparray | sp.spmatrix  # as users pass it
Signs: TypeAlias = Floats  # +1 or -1 for each row

SAFE = 2.0**200  # squares of numbers between 1 / SAFE and SAFE neither overflow nor underflow

# Exact inputs. NumPy and pandas round silently: they convert [2**53 + 1, 0.5], or a data frame with such columns, to
# float64. So each number is compared with the nearest float before it is converted.

_EXACT_UP_TO = 2**53  # float64 represents every integer up to this number
_MOST_DIGITS = 100_000  # the largest exponent of a Decimal that is converted to a fraction


def check_exact(values: Any, name: str) -> Any:
    """Return dense ``values`` if float64 represents every number exactly; otherwise raise a ValueError.

    Arrays and data frames (pandas, polars, pyarrow) are returned unchanged, and anything else is returned as an array.
    Shapes are not checked, and missing or infinite values are accepted.

    >>> check_exact([[1, 0.5]], "X")
    array([[1. , 0.5]])
    >>> check_exact([[2**53 + 1, 0.5]], "X")
    Traceback (most recent call last):
    ValueError: X holds the integer 9007199254740993, which float64 would round: scale or shift the numbers, ...
    """
    refuse_masked(values, name)
    columns: Iterable[Numbers] | None = frame_columns(values)
    array = values if columns is not None else np.asarray(values)
    if array is not values and (array.dtype.kind in "SU" or _has_large_floats(array)):
        columns = [np.array(values, dtype=object)]  # NumPy may have rounded integers or turned numbers into strings
    for column in [array] if columns is None else columns:
        _refuse_rounded(column, name)
    return array


def exact_numbers(values: object, name: str) -> Numbers:
    """Return the ``values`` as floats, or as Fractions if float64 would round any of them.

    >>> exact_numbers([1, 0.5], "w"), exact_numbers([2**53 + 1, 0.5], "w")
    (array([1. , 0.5]), array([Fraction(9007199254740993, 1), Fraction(1, 2)], dtype=object))
    """
    given = as_objects(values, name)
    numbers = [value if type(value) is float else to_fraction(value, name) for value in given.ravel().tolist()]
    floats = [as_float(number) for number in numbers]
    if all(near == number or near != near for near, number in zip(floats, numbers, strict=True)):
        return np.array(floats, dtype=np.float64).reshape(given.shape)
    exact = np.empty(len(numbers), dtype=object)
    exact[:] = [Fraction(value) if math.isfinite(near) else value for value, near in zip(numbers, floats, strict=True)]
    return exact.reshape(given.shape)


def as_objects(values: Any, name: str) -> Numbers:
    """Return the unchanged ``values`` in an object array, which is empty if the rows differ in length."""
    refuse_masked(values, name)
    columns = frame_columns(values)
    parts = [values] if columns is None else list(columns)
    if any(getattr(getattr(part, "dtype", None), "kind", "") in ("m", "M") for part in parts):
        raise _dates_error(name)
    if columns is not None:
        return np.array([part.tolist() for part in parts], dtype=object).T
    try:
        return np.array(values, dtype=object)
    except ValueError:
        return np.empty(0, dtype=object)


def to_fraction(value: Any, name: str) -> Fraction:
    """Return a finite number of any type as a fraction; raise a ValueError for anything else.

    >>> to_fraction(0.5, "w")
    Fraction(1, 2)
    """
    if isinstance(value, np.datetime64 | np.timedelta64):
        raise _dates_error(name)
    try:
        if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > _MOST_DIGITS:
            raise ValueError
        if isinstance(value, Rational):
            return Fraction(int(value.numerator), int(value.denominator))  # int(): NumPy's integers would overflow
        return Fraction(*map(int, value.as_integer_ratio()))
    except (AttributeError, OverflowError, ValueError):  # not a number, infinite, NaN
        raise ValueError(
            f"{name} must be finite numbers, got {shorten(value)}: give ints, Fractions or floats."
        ) from None


def refuse_masked(values: object, name: str) -> None:
    """Raise a ValueError if a masked array has masked entries, because NumPy would use their hidden values.

    >>> refuse_masked(np.ma.array([1, 2], mask=[False, True]), "y")
    Traceback (most recent call last):
    ValueError: y is a masked array with 1 masked entry: fill it with y.filled(...), or leave out these rows.
    """
    parts = values if isinstance(values, list | tuple) else [values]
    count = sum(int(np.ma.count_masked(part)) for part in parts if isinstance(part, np.ma.MaskedArray))
    if count:
        raise ValueError(
            f"{name} is a masked array with {count:,} masked {'entry' if count == 1 else 'entries'}: "
            f"fill it with {name}.filled(...), or leave out these rows."
        )


def _refuse_rounded(array: Numbers, name: str) -> None:
    """Raise a ValueError if an entry of an array is not a real number, or is a number that float64 would round."""
    kind = array.dtype.kind
    if kind == "b" or (kind == "f" and array.dtype.itemsize <= 8) or (kind in "iu" and array.dtype.itemsize < 8):
        return
    if kind in "mM":
        raise _dates_error(name)
    with np.errstate(all="ignore"):
        if kind in "iu":
            array = array[np.abs(array.astype(np.float64)) >= _EXACT_UP_TO]
        elif kind == "f":  # long doubles
            array = array[array.astype(np.float64) != array]
    for value in array.ravel().tolist():
        if type(value) is float or _is_missing(value):
            continue
        if isinstance(value, np.datetime64 | np.timedelta64):
            raise _dates_error(name)
        try:
            if isinstance(value, str | bytes | complex):
                raise TypeError
            exact = int(value) if isinstance(value, Integral) else value  # NumPy would compare its integers as floats
            near = as_float(exact)
        except (TypeError, ValueError, ArithmeticError):
            raise ValueError(
                f"{name} must hold finite real numbers, got {shorten(value)}: convert it to a number, or leave it out."
            ) from None
        if near != exact:
            text = f"the integer {shorten(exact)}" if isinstance(exact, int) else shorten(value)
            raise ValueError(
                f"{name} holds {text}, which float64 would round: scale or shift the numbers, or round them yourself "
                "with float(...) or astype(float); the answer is then about these floats."
            )


def _has_large_floats(array: Numbers) -> bool:
    return array.dtype == np.float64 and bool(np.max(np.abs(array), initial=0.0) >= _EXACT_UP_TO)


def _dates_error(name: str) -> ValueError:
    return ValueError(
        f"{name} holds dates or times: convert them to numbers, for instance to days since the first date."
    )


def frame_columns(values: Any) -> Iterator[Numbers] | None:
    """Return the columns of a pandas, polars or pyarrow table without rounding, or None if it is not a table."""
    if hasattr(values, "iloc") and getattr(values, "ndim", 0) == 2:
        return (_pandas_column(values.iloc[:, j]) for j in range(values.shape[1]))
    if hasattr(values, "get_columns"):
        return map(_polars_column, values.get_columns())
    if hasattr(values, "column_names") and hasattr(values, "columns"):
        return map(_arrow_column, values.columns)
    return None


# These helpers exist because NumPy would turn integers with missing entries, decimals and long integers into floats.


def _pandas_column(column: Any) -> Numbers:
    return np.asarray(column if isinstance(column.dtype, np.dtype) else column.astype(object))


def _polars_column(column: Any) -> Numbers:
    kind = column.dtype
    plain = kind.is_float() or (kind.is_integer() and not column.null_count() and "128" not in str(kind))
    return column.to_numpy() if plain else np.array(column.to_list(), dtype=object)


def _arrow_column(column: Any) -> Numbers:
    return np.array(column.to_pylist(), dtype=object) if column.null_count else column.to_numpy(zero_copy_only=False)


def sum_duplicate_entries(X: Any, name: str) -> Any:
    """Return sparse ``X`` as CSR with duplicate entries replaced by their exact sum.

    SciPy sums duplicates in the dtype of the matrix, so int8 wraps around and floats are rounded. Here a number or a
    sum that float64 would round raises a ValueError.

    >>> sum_duplicate_entries(sp.coo_array((np.array([100, 100], np.int8), ([0, 0], [0, 0]))), "X").toarray()
    array([[200.]])
    """
    csr = sp.csr_array(X)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if csr.nnz == X.nnz or X.ndim != 2 or X.dtype.kind not in "iuf":
        check_exact(csr.data, name)
        return csr
    X = X.tocoo()
    order = np.lexsort((X.col, X.row))
    rows, columns, data = X.row[order], X.col[order], X.data[order]
    starts = np.flatnonzero(np.append(True, (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])))
    counts = np.diff(np.append(starts, len(data)))
    check_exact(data[starts[counts == 1]], name)
    sums = data[starts].astype(np.float64)
    for k in np.flatnonzero(counts > 1).tolist():
        values = data[starts[k] : starts[k] + counts[k]].tolist()
        if not all(map(math.isfinite, values)):
            sums[k] = math.nan
            continue
        total = sum(map(Fraction, values))
        sums[k] = as_float(total)
        if sums[k] != total:
            raise ValueError(
                f"{name} has {len(values)} entries in row {rows[starts[k]]} and column {columns[starts[k]]}, and "
                "float64 would round their sum: add them yourself; the answer is then about the rounded sum."
            )
    return sp.csr_array((sums, (rows[starts], columns[starts])), shape=X.shape)


# Matrices and labels.


def check_matrix(X: MatrixLike, name: str = "X", least_rows: int = 1) -> Matrix:
    """Return ``X`` as a C-ordered array or CSR matrix of finite float64 with at least ``least_rows`` rows.

    A number that float64 would round raises a ValueError.
    """
    if _is_ready(X):
        return X
    given = check_exact_matrix(X, name)
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn sums all entries to find NaN
        X = check_array(
            given,
            accept_sparse="csr",
            dtype=np.float64,
            order="C",
            ensure_min_samples=least_rows,
            ensure_min_features=0,
            input_name=name,
            copy=False,
        )
    return sp.csr_array(X) if sp.issparse(X) else X


def check_exact_matrix(X: MatrixLike, name: str = "X") -> Any:
    """Return ``X`` if its conversion to float64 changes no number, otherwise raise a ValueError.

    Sparse matrices become CSR without duplicate entries.
    """
    return sum_duplicate_entries(X, name) if sp.issparse(X) else check_exact(X, name)


def _is_ready(X: object) -> bool:
    """Return whether ``check_matrix`` can return ``X`` unchanged, which is the most common case."""
    if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or len(X) == 0 or not X.flags.c_contiguous:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.sum(X)))


def check_labels(y: ArrayLike, n: int) -> Labels:
    """Return ``y`` as an array of ``n`` labels, all strings or all numbers; raise a ValueError for anything else."""
    refuse_masked(y, "y")
    given, y = y, np.asarray(y)
    if not isinstance(given, np.ndarray) and (y.dtype.kind in "SU" or _has_large_floats(y)):
        exact = np.asarray(given, dtype=object)
        _check_label_objects(exact)
        # NumPy rounds integers, and drops null characters at the end of strings. Either could merge classes.
        y = y if exact.ravel().tolist() == y.ravel().tolist() else exact
    if y.ndim == 2 and 1 in y.shape:
        y = y.ravel()
    if y.shape != (n,):
        raise ValueError(f"expected one label for each of the {n} rows, got an array of shape {y.shape}.")
    if y.dtype.kind in "mM":
        raise ValueError("labels must not be dates: convert them to strings or numbers.")
    if y.dtype.kind == "O":
        _check_label_objects(y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("labels must not be NaN or infinite: leave out rows without a label.")
    return y


def _check_label_objects(y: Labels) -> None:
    """Raise a ValueError unless the labels are all strings or all numbers, and none of them is missing."""
    labels = y.ravel().tolist()
    if any(map(_is_missing, labels)):
        raise ValueError("labels must not be None or NaN: leave out rows without a label.")
    words = [isinstance(label, str) for label in labels]
    if any(words) and not all(words):
        word, other = labels[words.index(True)], labels[words.index(False)]
        raise ValueError(
            f"labels must be all strings or all numbers, got {shorten(word)} and {shorten(other)}: "
            "convert them to strings with str(...), or to numbers."
        )
    try:
        np.unique(y)
    except (TypeError, ValueError):  # labels that cannot be sorted, or arrays
        raise ValueError(
            f"labels must be all strings or all numbers, got {shorten(labels[0])}: "
            "convert them to strings with str(...), or to numbers."
        ) from None


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA is neither equal nor unequal
        return True
    except ValueError:  # an array
        return False


def check_rows(X: MatrixLike, y: ArrayLike) -> tuple[Matrix, Labels]:
    """Return ``X`` validated by `check_matrix` and ``y`` validated by `check_labels`, with one label per row."""
    X = check_matrix(X)
    return X, check_labels(y, X.shape[0])


def positive_label(classes: Labels) -> Any:
    """Return the positive label, given the sorted array of one or two ``classes``.

    The second of two classes is positive. A single class is positive, too, unless its label is 0 or a negative number.
    In that case the result is None.
    """
    if len(classes) == 1 and classes.dtype.kind in "biuf" and not classes[0] > 0:
        return None
    return classes[-1].item() if isinstance(classes[-1], np.generic) else classes[-1]


def signs_of(y: Labels, positive: object) -> Signs:
    """Return an array with +1 where ``y`` is the ``positive`` label, and -1 elsewhere."""
    if positive is None:
        return np.full(len(y), -1.0)
    try:
        same = np.asarray(y == positive, dtype=bool)
    except OverflowError:  # a number too large for the type of y
        return np.full(len(y), -1.0)
    return np.where(same, 1.0, -1.0)


def certified_signs(y: Labels, positive: object) -> Signs | None:
    """Return the sign of each row, +1 or -1, for a certificate with the given positive label.

    The result is None if ``positive`` does not occur in ``y``, or if ``positive`` is None although ``y`` has several
    labels.
    """
    signs = signs_of(y, positive)
    if positive is None:
        return signs if bool(np.all(y == y[0])) else None
    return signs if (signs > 0).any() else None


def two_classes(X: MatrixLike, y: ArrayLike) -> tuple[Matrix, Signs, Any]:
    """Return the matrix, the row signs and the positive label; raise a ValueError for more than two classes."""
    X, y = check_rows(X, y)
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            f"expected two classes, got {len(classes)}: "
            f"compare one class with the rest, as in y == {classes.tolist()[0]!r}."
        )
    positive = positive_label(classes)
    return X, signs_of(y, positive), positive


def entries(X: Matrix) -> Floats:
    """Return the entries of ``X``; for a sparse matrix, the stored entries only."""
    return X.data if sp.issparse(X) else X


def dense_rows(X: Matrix, rows: NDArray[np.intp]) -> Floats:
    """Return the given rows as a dense matrix."""
    return X[rows].toarray() if sp.issparse(X) else X[rows]


def scatter(rows: NDArray[np.intp], weights: ArrayLike, n: int) -> Floats:
    """Return an array of ``n`` weights that is zero except in the given rows."""
    alpha = np.zeros(n)
    alpha[rows] = weights
    return alpha


def squared_lengths(X: Matrix) -> Floats:
    """Return the squared norm of each row, in floating point."""
    return np.ravel(X.multiply(X).sum(axis=1)) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)


def largest_entry(X: Matrix) -> float:
    """Return the largest absolute value in ``X``, without copying it."""
    values = entries(X)
    return max(float(np.max(values, initial=0.0)), -float(np.min(values, initial=0.0)))


def longest_row(X: Matrix) -> float:
    """Return the largest norm of a row, up to rounding, or infinity if the norm exceeds the largest float."""
    X, exponent = safely_scaled(X)
    try:
        return math.ldexp(math.sqrt(float(np.max(squared_lengths(X), initial=0.0))), exponent)
    except OverflowError:
        return math.inf


def safely_scaled(X: Matrix, constant: float = 0.0) -> tuple[Matrix, int]:
    """Return ``X / 2**e`` and e, which is 0 unless the square of the largest entry would overflow or underflow.

    ``constant`` counts as one more entry.
    """
    largest = max(largest_entry(X), constant)
    if largest == 0 or 1 / SAFE < largest < SAFE:
        return X, 0
    exponent = math.frexp(largest)[1]
    with np.errstate(under="ignore"):  # in two steps, since 2**-exponent may not be a float
        return X * 2.0 ** -(exponent // 2) * 2.0 ** -(exponent - exponent // 2), exponent


# Row numbers and numbers as text for messages.


MINUS = "\N{MINUS SIGN}"


def as_float(value: float | Fraction) -> float:
    """Return the float nearest to ``value``, or plus or minus infinity if ``value`` is out of the range of floats."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def number_text(value: float | Fraction, digits: int = 6) -> str:
    """Return a number as text with ``digits`` significant digits, also for a fraction beyond the range of floats.

    >>> number_text(-0.0), number_text(Fraction(10**400, 3))
    ('0', '3.33333e+399')
    """
    near = as_float(value) + 0.0  # no -0
    if isinstance(value, Fraction) and (math.isinf(near) or (near == 0) != (value == 0)):
        return f"{Decimal(value.numerator) / Decimal(value.denominator):.{digits}g}"
    return f"{near:.{digits}g}"


def true_minus(text: str) -> str:
    """Return the text with a true minus sign in negative numbers; hyphens are kept.

    >>> true_minus("-2 to 1e-05, half-planes")
    '−2 to 1e−05, half-planes'
    """
    return re.sub(r"(?<!\w)-(?=\.?\d)|(?<=\de)-(?=\d)", MINUS, text)


def shown_number(value: float | Fraction, digits: int = 3) -> str:
    """Return a number as text for figures, with ``digits`` significant digits, grouped thousands and a true minus sign.

    >>> shown_number(-0.12345), shown_number(2.0), shown_number(2994.1), shown_number(123456, digits=6)
    ('−0.123', '2', '2,994', '123,456')
    """
    size = abs(as_float(value))
    grouped = 1000 <= size < 1e6 and (digits < 4 or value == int(value))
    return true_minus(f"{as_float(value):,.0f}" if grouped else number_text(value, digits))


def vector_text(values: Sequence[float | Fraction] | Numbers, digits: int = 6) -> str:
    """Return a vector as text, truncated after six numbers.

    >>> vector_text([1.0, 0.5]), vector_text(range(9))
    ('(1, 0.5)', '(0, 1, 2, 3, 4, 5, ...)')
    """
    return f"({', '.join(number_text(value, digits) for value in values[:6])}{', ...' if len(values) > 6 else ''})"


def rows_text(rows: Sequence[int], most: int | None = None) -> str:
    """Return the row numbers as text, truncated after the first ``most`` of them if ``most`` is given.

    >>> rows_text([3]), rows_text([0, 2, 5], most=2)
    ('row 3', 'rows 0, 2, ...')
    """
    shown = [str(row) for row in rows[:most]] + ["..."] * (most is not None and len(rows) > most)
    return f"row{'' if len(rows) == 1 else 's'} {', '.join(shown)}"


def rows_do(rows: Sequence[int], do: str) -> str:
    """Return the row numbers followed by the verb phrase ``do``. For a single row, the verb gets an s.

    >>> rows_do([3], "add up"), rows_do([0, 2], "prove")
    ('row 3 adds up', 'rows 0, 2 prove')
    """
    verb, _, rest = do.partition(" ")
    verb += "s" if len(rows) == 1 else ""
    return f"{rows_text(rows, most=12)} {verb} {rest}".rstrip()


def bound_text(bound: float) -> str:
    """Return an upper bound on a count as text.

    A bound below 1e9 is rounded down to an integer. A larger bound is shown with three significant digits.

    >>> bound_text(9.9999999999999), bound_text(12345.6), bound_text(1e12)
    ('10', '12,345', '1e+12')
    """
    return f"{math.floor(bound * (1 + 1e-12)):,}" if bound < 1e9 else f"{bound:.3g}"
