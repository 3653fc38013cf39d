"""Prepare the inputs of compiled passes (rows, class numbers and step sizes), and measure the ranges of features."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.blocks import check_label_types
from rosenblatt.kernels.row_ops import has_duplicates
from rosenblatt.messages import Hint, ParameterError, shorten

if TYPE_CHECKING:
    from rosenblatt.training.run import TrainingRun
    from rosenblatt.training.state import RunState


Matrix: TypeAlias = Any
"""A numpy array, or a CSR array or matrix of SciPy."""
CACHE_BYTES = 64 * 1024
"""The size in bytes of a block of dense rows. Such a block stays in the cache while each classifier processes it."""
SLICE_BYTES = 64 * 1024 * 1024
"""The size in bytes of the rows that one compiled call processes. Interrupts are handled between two calls."""


@dataclass(frozen=True)
class RowMatrix:
    """A dense or CSR matrix, with its entries also in the form that compiled passes take."""

    matrix: Matrix
    """The matrix as an array of NumPy or a CSR array or matrix of SciPy."""
    parts: tuple[np.ndarray, int] | tuple[np.ndarray, np.ndarray, np.ndarray]
    """If dense: all entries as a flat array, and the number of columns. If CSR: data, indices and indptr."""
    n: int
    """The number of rows."""
    d: int
    """The number of columns."""
    terms: int
    """The largest number of stored entries in a row."""

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix is CSR."""
        return len(self.parts) == 3

    @property
    def row_bytes(self) -> int:
        """The average number of bytes of a row, at least 1."""
        arrays = [part for part in self.parts if isinstance(part, np.ndarray)]
        return max(1, sum(array.nbytes for array in arrays) // max(1, self.n))

    @property
    def ahead(self) -> int:
        """How many rows ahead of the current row a shuffled pass prefetches into the cache.

        This is 4 for sparse rows. For dense rows it is the number of rows that fit in 2 kB, but at least 2 and at
        most 16.
        """
        if self.is_sparse:
            return 4
        return min(16, max(2, 2048 // self.row_bytes))

    @cached_property
    def feature_ranges(self) -> FeatureRanges:
        """The ranges of the features over a sample of the rows."""
        return FeatureRanges.of(self.matrix)

    def longest(self, which: np.ndarray) -> float:
        """Return the largest Euclidean norm of the rows with indices ``which``, avoiding overflow and underflow."""
        matrix = self.matrix[which].astype(np.float64)
        values = matrix.data if sp.issparse(matrix) else matrix
        largest = float(np.max(np.abs(values), initial=0.0))
        if largest == 0.0:
            return 0.0
        # |x| = 2^e |x / 2^e|: scaling by a power of two is exact, and no square of a number below 1 overflows
        exponent = math.frexp(largest)[1]
        scaled = np.ldexp(values, -exponent)
        if sp.issparse(matrix):
            squares = type(matrix)((scaled * scaled, matrix.indices, matrix.indptr), shape=matrix.shape).sum(axis=1)
        else:
            squares = (scaled * scaled).sum(axis=1)
        try:
            return math.ldexp(math.sqrt(float(np.max(squares))), exponent)
        except OverflowError:
            return math.inf


Entries: TypeAlias = Literal["sorted", "distinct", "given"]
"""What holds for the entries of each sparse row: they are sorted by column, and no column has two entries; only the
second of these; or neither. Duplicates stand for their sum."""


def as_rows(X: Matrix, entries: Entries = "sorted") -> RowMatrix:
    """Return a float32 or float64 matrix (C-ordered or CSR) as a `RowMatrix`, without a copy if possible.

    Sparse rows are copied if their ``entries`` are not as requested. By default these are sorted, so that results such
    as activations, which are rounded sums, do not depend on the order in which entries are stored.
    """
    n, d = X.shape
    if not sp.issparse(X):
        return RowMatrix(X, (_read_only(X.reshape(-1)), d), n, d, d)
    check_sparse(X)
    if entries != "given" and not _is_canonical(X) and (entries == "sorted" or _may_have_duplicates(X)):
        X = X.copy()
        X.sum_duplicates()
    # Unsigned indices, so that compiled code need not test for negative ones.
    narrow = X.indices.dtype.itemsize == X.indptr.dtype.itemsize == 4
    signed, unsigned = (np.int32, np.uint32) if narrow else (np.int64, np.uint64)
    indices, indptr = (part.astype(signed, copy=False).view(unsigned) for part in (X.indices, X.indptr))
    data, indices, indptr = (_read_only(np.ascontiguousarray(part)) for part in (X.data, indices, indptr))
    return RowMatrix(X, (data, indices, indptr), n, d, int(np.max(X.indptr[1:] - X.indptr[:-1], initial=0)))


def _is_canonical(X: Matrix) -> bool:
    """Return whether the entries of each row are sorted by column, without duplicates.

    If they are, SciPy's flag is set on the matrix, so that neither side checks it again.
    """
    if vars(X).get("_has_canonical_format", False):  # SciPy's check, several times as slow, takes its place if unset
        return True
    # if entries are in no order, they nearly always show it in the first rows
    if not (_ascend(X.indices, X.indptr[:_FIRST_ROWS]) and _ascend(X.indices, X.indptr)):
        return False
    X.has_canonical_format = True
    return True


_FIRST_ROWS = 1000
"""How many rows are examined first."""


def _ascend(indices: np.ndarray, indptr: np.ndarray) -> bool:
    """Return whether the column numbers of each row are strictly ascending."""
    indices, starts = indices[: indptr[-1]], indptr[1:-1]
    ascends = np.empty(len(indices) + 1, bool)
    np.greater(indices[1:], indices[:-1], out=ascends[1:-1])
    ascends[starts] = ascends[0] = ascends[-1] = True
    return bool(ascends.all())


_MANY_ENTRIES = 50_000
"""The number of entries from which on sorting them takes so long that a kernel is compiled to look for duplicates."""


def _may_have_duplicates(X: Matrix) -> bool:
    """Return whether some row may have several entries for one column; for few entries this is not examined."""
    entries = int(X.indptr[-1])
    if entries < _MANY_ENTRIES or not has_duplicates.compile() or X.shape[0] >= 2**32 - 1:
        return True
    indices, indptr = (part.view(f"u{part.itemsize}") for part in (X.indices, X.indptr))
    return bool(has_duplicates(_read_only(indices), _read_only(indptr), np.zeros(X.shape[1], np.uint32)))


class NotFinite(ValueError):
    """Raised if a row holds NaN or infinity."""


def check_finite(X: Matrix) -> None:
    """Raise NotFinite unless all numbers of a matrix are finite."""
    if not np.isfinite(X if isinstance(X, np.ndarray) else X.data).all():
        raise NotFinite("X holds NaN or infinity, expected finite numbers: replace or leave out such rows.")


def check_sparse(X: Matrix) -> None:
    """Raise a ValueError if a CSR or CSC matrix has an index or a pointer out of range, since SciPy could crash."""
    lines, width = X.shape if X.format == "csr" else X.shape[::-1]
    pointers, indices = X.indptr, X.indices
    if (
        len(pointers) != lines + 1
        or pointers[0] != 0
        or pointers[-1] > min(len(indices), len(X.data))
        or (pointers[1:] < pointers[:-1]).any()  # not np.diff, which could overflow
        or (pointers[-1] and np.max(indices.view(f"u{indices.itemsize}")[: pointers[-1]]) >= width)  # -1 becomes large
    ):
        raise ValueError(
            f"X is not a valid {X.format.upper()} matrix of shape {X.shape}: an index or a pointer is out of range. "
            "Rebuild it from its coordinates, or find the error with X.check_format()."
        )


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array, so that numba need not compile again for writable arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


_SAMPLE_ROWS = 1000


class FeatureRanges(NamedTuple):
    """The ranges of the features over a sample of 1,000 to 2,000 rows (or all if fewer)."""

    ranges: NDArray[np.float64]
    """The maximum minus the minimum of each feature."""
    are_frequent: NDArray[np.bool_]
    """Whether each feature is stored in more than half of the rows."""

    @classmethod
    def of(cls, X: Matrix) -> FeatureRanges:
        """Return the ranges of the features of a dense or CSR matrix."""
        X = X[:: max(1, X.shape[0] // _SAMPLE_ROWS)]
        n, d = X.shape
        with np.errstate(over="ignore"):
            if not sp.issparse(X):
                return cls(X.max(axis=0).astype(np.float64) - X.min(axis=0), np.ones(d, bool))
            values, columns = X.data[: X.indptr[-1]], X.indices[: X.indptr[-1]]
            counts = np.bincount(columns, minlength=d)
            are_frequent, features = counts > n / 2, np.flatnonzero(counts > 0)
            low = np.where(counts[features] < n, 0.0, np.inf).astype(values.dtype)  # entries that are not stored are 0
            high = 0.0 - low
            counts[features] = np.arange(len(features))  # from here on the places of the features in ``high``
            places = counts[columns]
            np.maximum.at(high, places, values)
            np.minimum.at(low, places, values)
            ranges = np.zeros(d)
            ranges[features] = high.astype(np.float64) - low
        return cls(ranges, are_frequent)


def pad_columns(X: sp.csr_array, width: int) -> sp.csr_array:
    """Return a CSR matrix with at least ``width`` columns, without copying its arrays."""
    if X.shape[1] >= width:
        return X
    wider = type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], width), copy=False)
    wider.has_canonical_format = X.has_canonical_format
    return wider


# Class numbers for labels, step sizes for weights, and checks that there is something to learn.


Labels: TypeAlias = np.ndarray
"""Class labels as users write them: integers, floats, booleans or words."""
ClassWeight: TypeAlias = Mapping[Any, float] | str | None
"""A mapping from class to weight, "balanced", or None if the weight of every class is 1."""
VectorLike: TypeAlias = Any
"""Labels or weights as users give them: a tensor, or anything else that NumPy can convert to an array."""
Names = NDArray[np.object_]
"""Names of features."""
Integers = NDArray[np.int32]


def encode_labels(y: Labels) -> tuple[Labels, NDArray[np.int32]]:
    """Return the sorted classes of ``y`` and the class number of each label."""
    if y.dtype.kind in "biuf" and len(y):
        low, high = y.min(), y.max()
        positive = y == high
        if np.all(positive | (y == low)):  # at most two different numbers: no need to sort
            classes = np.array([low, high] if low != high else [low], dtype=y.dtype)
            return classes, (positive & (low != high)).astype(np.int32)
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, numbers.astype(np.int32)


def number_labels(y: Labels, classes: Labels) -> tuple[NDArray[np.int32], bool]:
    """Return the index of each label in the sorted ``classes``, and whether all labels occur in ``classes``."""
    if y.dtype != classes.dtype:
        check_label_types(classes, y)
    places = np.searchsorted(classes, y)
    places[places == len(classes)] = 0
    return places.astype(np.int32), np.array_equal(classes[places], y)


def known_class_numbers(y: Labels, classes: Labels) -> NDArray[np.int32]:
    """Return the index of each label in the sorted ``classes``, or -1 if the label is not in ``classes``."""
    numbers, are_known = number_labels(y, classes)
    if not are_known:
        numbers[classes[numbers] != y] = -1
    return numbers


def class_numbers(labels: Labels, classes: Labels) -> NDArray[np.int32]:
    """Return the index of each label in the sorted ``classes``; raise a ValueError if a label is not in ``classes``."""
    numbers, are_known = number_labels(labels, classes) if len(classes) else (np.zeros(0, np.int32), not len(labels))
    if not are_known:
        known = set(classes.tolist())
        raise ParameterError(
            "expected labels among the classes {known}, got {label}: name all classes with {classes}, or leave out the "
            "rows of other classes.",
            known=shorten(classes.tolist()),
            label=repr(next(label for label in labels.tolist() if label not in known)),
        )
    return numbers


def check_numbers(what: str, numbers: NDArray[np.integer[Any]], below: int) -> None:
    """Raise a ValueError unless all numbers are from 0 to ``below - 1``.

    The numbers index arrays in compiled code, which does not check bounds. ``what`` is their name in the error message.
    """
    # As unsigned numbers, negative numbers are large. So one comparison is enough.
    largest = int(numbers.view(f"u{numbers.itemsize}").max(initial=0)) if len(numbers) else -1
    if largest >= below:
        raise ParameterError(
            "expected {what} from 0 to {most}, got {got}: the data must not be changed while in use. Read them again, "
            "and start over.",
            what=what,
            most=below - 1,
            got=int(numbers[numbers.view(f"u{numbers.itemsize}") >= below][0]),
        )


def check_width(rows: RowMatrix, width: int) -> None:
    """Raise a ValueError if dense rows do not have ``width`` columns, or if sparse rows have more."""
    if rows.d != width and not (rows.is_sparse and rows.d < width):
        raise ValueError(
            f"expected rows with {width} columns, as the weights have, got {rows.d}: give the rows the columns that "
            "the weights were trained on."
        )


def step_sizes(
    sample_weight: VectorLike, class_weight: ClassWeight, classes: Labels, numbers: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the step size of each row: its sample weight times its class weight.

    If neither sample weights nor class weights are given, the array is empty. A ValueError is raised if a weight is
    negative or not finite.
    """
    n, steps = len(numbers), np.empty(0)
    if sample_weight is not None:
        steps = np.array(sample_weight, dtype=np.float64)
        if steps.ndim == 0:
            steps = np.full(n, float(steps))
        check_one_each(steps, n)
        valid = np.isfinite(steps) & (steps >= 0)
        if not valid.all():
            raise ValueError(
                "sample weights must be finite and not negative, since a weight scales a step, "
                f"got {float(steps[~valid][0])}."
            )
    if class_weight is not None:
        weights = _class_weights(class_weight, classes, numbers)
        steps = weights[numbers] if len(steps) == 0 else steps * weights[numbers]
    return np.ascontiguousarray(steps)


def check_one_each(weights: NDArray[np.float64], n: int) -> None:
    """Raise a ValueError unless there is one sample weight for each of n rows."""
    if weights.shape != (n,):
        raise ValueError(f"expected one sample weight for each of the {n} rows, got an array of shape {weights.shape}.")


def _class_weights(class_weight: ClassWeight, classes: Labels, numbers: NDArray[np.int32]) -> NDArray[np.float64]:
    if isinstance(class_weight, str) and class_weight == "balanced":
        return len(numbers) / (len(classes) * np.bincount(numbers, minlength=len(classes)).astype(np.float64))
    if not isinstance(class_weight, Mapping):
        raise ParameterError(
            '{class_weight} must be a dictionary from class to weight, "balanced" or None, got {got}.',
            got=repr(class_weight),
        )
    weights = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(f"class weights must be finite and not negative, got {dict(class_weight)!r}.")
    return weights


@dataclass
class LabelSummary:
    """A summary of the labels of all rows, used to reject data from which nothing can be learned."""

    rows: int = 0
    weighted_rows: int = 0
    """The number of rows whose weight is not 0."""
    leading_run: int = 0
    """The number of rows before the first row with a different label than row 0."""
    leading_label: object = None
    """The label of the first row."""
    seen: set[object] = field(default_factory=set)
    """The classes of all rows so far."""
    weighted: set[object] = field(default_factory=set)
    """The classes of the rows whose weight is not 0."""

    def add(self, labels: Integers, steps: NDArray[np.float64], known: Labels, every_class: bool = False) -> None:
        """Add rows to the summary, given their class numbers (indices into ``known``) and their step sizes.

        Set ``every_class`` if all classes in ``known`` occur in these rows; then they are not counted.
        """
        classes = known.tolist()
        if not self.rows:
            self.leading_label = classes[labels[0]]
        if self.leading_run == self.rows:
            differs = labels != classes.index(self.leading_label)
            self.leading_run += int(np.argmax(differs)) if differs.any() else len(labels)
        self.rows += len(labels)
        self.weighted_rows += int((steps > 0).sum()) if len(steps) else len(labels)
        seen = set(classes) if every_class else _occurring(labels, classes)
        self.seen |= seen
        self.weighted |= _occurring(labels[steps > 0], classes) if len(steps) else seen

    def extend(self, other: LabelSummary) -> None:
        """Add the summary of further rows, which come after the rows of this summary."""
        if self.leading_run == self.rows and (not self.rows or self.leading_label == other.leading_label):
            self.leading_run, self.leading_label = self.leading_run + other.leading_run, other.leading_label
        self.rows, self.weighted_rows = self.rows + other.rows, self.weighted_rows + other.weighted_rows
        self.seen, self.weighted = self.seen | other.seen, self.weighted | other.weighted

    @property
    def is_sorted(self) -> bool:
        """Whether the data begins with at least 100 rows, and a tenth of all rows, of one label (CIML section 4.2)."""
        return self.leading_run >= max(100, self.rows // 10)

    def check(self, known: Labels, class_weight: ClassWeight, warm: bool) -> None:
        """Raise a ValueError if nothing can be learned from these labels and weights.

        If ``warm``, the training run continues an earlier one, and its rows may be of a single class.
        """
        classes = known.tolist()
        if isinstance(class_weight, Mapping) and not warm:
            unknown = [label for label in class_weight if label not in classes]
            if unknown:
                raise ParameterError(
                    "{class_weight} names {label}, which is not one of the classes {classes}.",
                    label=repr(unknown[0]),
                    classes=classes,
                )
        if not self.weighted:
            raise ValueError("every row has weight zero, so there is nothing to learn: give some a positive weight.")
        if not warm:
            check_two_classes(self.seen)
            if len(self.weighted) < 2:
                raise ValueError(
                    "training needs at least two classes, got one class among the rows whose weight is not 0."
                )


def _occurring(labels: Integers, classes: list[object]) -> set[object]:
    return {classes[k] for k in np.flatnonzero(np.bincount(labels, minlength=len(classes)))}


def check_two_classes(labels: Collection[object]) -> None:
    """Raise a ValueError unless there are at least two classes."""
    if len(labels) < 2:
        raise ParameterError(
            "training needs at least two classes, got one class: every label is {label}. "
            "Add rows of another class{hint}.",
            label=shorten(next(iter(labels))),
            hint=Hint(", or use partial_fit if they may come later", needs="partial_fit"),
        )


# Features whose ranges differ so much that those with small ranges have little influence.


LARGE_RATIO = 100.0
"""If the ratio of two features' ranges is above this, a warning may be given. The number is a rule of thumb."""
MANY_MISTAKES = 0.1
"""The smallest share of misclassified rows at which a warning may be given. The number is a rule of thumb."""


def scale_ratio(X: RowMatrix) -> float:
    """Return the range of the widest feature divided by the range of the narrowest one, over a sample of rows.

    Constant features are left out. For sparse rows, features that are 0 in most rows are left out, too. (Rare words
    have narrower ranges, but this does no harm.) The ratio is 1 if fewer than two features are left.

    >>> scale_ratio(as_rows(np.array([[0.0, 0.0, 3.0], [1.0, 500.0, 3.0]])))
    500.0
    """
    ranges, are_frequent = X.feature_ranges
    ranges = ranges[are_frequent & (ranges > 0)]
    return float(ranges.max() / ranges.min()) if len(ranges) > 1 else 1.0


def differ_in_scale(run: TrainingRun) -> float:
    """Return the `scale_ratio` of the last batch if the ratio is large and the run makes many mistakes, else 0.

    A run makes many mistakes if some classifier misclassified at least a tenth of the rows in the last pass.
    """
    if run.last_batch is None:
        return 0.0
    return ratio_with_mistakes(run.state, run.last_batch.rows, run.rows_of_a_pass())


def ratio_with_mistakes(state: RunState, X: RowMatrix, rows_of_a_pass: int | None) -> float:
    """Return the `scale_ratio` of ``X`` if the ratio is large and the run makes many mistakes, else 0.

    ``state`` is the state of the run, and ``rows_of_a_pass`` the number of rows of a whole pass.
    """
    rows = rows_of_a_pass if state.cut is None else state.cut.rows
    if not state.mistakes or state.mistakes[-1].max() < MANY_MISTAKES * max(1, rows or 0):
        return 0.0
    ratio = scale_ratio(X)
    return ratio if ratio > LARGE_RATIO else 0.0
