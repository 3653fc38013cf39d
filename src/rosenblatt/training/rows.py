"""A matrix as kernels take it: rows that are dense or CSR, and the facts that a pass needs."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.messages import IfAvailable, ParameterError, Setting

if TYPE_CHECKING:
    from rosenblatt.training.run import TrainingRun
    from rosenblatt.training.state import RunState


Matrix: TypeAlias = Any
"""A numpy array, or a CSR array or matrix of SciPy."""
CACHE_BYTES = 64 * 1024
"""Dense rows that one-vs-rest classifiers visit in turn while they stay in the cache."""
SLICE_BYTES = 64 * 1024 * 1024
"""Rows visited in one call of a kernel: short enough to hear Ctrl-C and to move the progress bar."""


@dataclass(frozen=True)
class RowMatrix:
    """A matrix as kernels take it; ``matrix`` is the same numbers as numpy or SciPy hold them."""

    matrix: Matrix
    parts: tuple[Any, ...]
    n: int
    d: int
    terms: int
    """The most entries in a row."""

    @property
    def row_bytes(self) -> int:
        """Bytes of an average row, at least 1."""
        arrays = [part for part in self.parts if isinstance(part, np.ndarray)]
        return max(1, sum(array.nbytes for array in arrays) // max(1, self.n))

    @property
    def ahead(self) -> int:
        """How many rows ahead of a shuffled visit memory should be asked for."""
        if len(self.parts) == 3:
            return 4
        return min(16, max(2, 2048 // self.row_bytes))

    def longest(self, which: np.ndarray) -> float:
        """Return the length of the longest of the rows ``which``, without overflow or underflow on the way."""
        matrix = self.matrix[which].astype(np.float64)
        values = matrix.data if sp.issparse(matrix) else matrix
        largest = float(np.max(np.abs(values), initial=0.0))
        if largest == 0.0:
            return 0.0
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


def as_rows(X: Matrix) -> RowMatrix:
    """Return ``X`` (float32 or float64; C-ordered, or CSR) as rows for kernels, without a copy if it can be."""
    n, d = X.shape
    if not sp.issparse(X):
        return RowMatrix(X, (_read_only(X.reshape(-1)), d), n, d, d)
    check_sparse(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    narrow = X.indices.dtype.itemsize == X.indptr.dtype.itemsize == 4
    signed, unsigned = (np.int32, np.uint32) if narrow else (np.int64, np.uint64)
    indices, indptr = (part.astype(signed, copy=False).view(unsigned) for part in (X.indices, X.indptr))
    parts = tuple(_read_only(np.ascontiguousarray(part)) for part in (X.data, indices, indptr))
    return RowMatrix(X, parts, n, d, int(np.max(np.diff(X.indptr), initial=0)))


class NotFinite(ValueError):
    """A row that was visited holds NaN or infinity."""


def check_finite(X: Matrix) -> None:
    """Raise NotFinite if a number of a matrix is not finite."""
    if not np.isfinite(X if isinstance(X, np.ndarray) else X.data).all():
        raise NotFinite("X holds NaN or infinity, expected finite numbers: replace or leave out such rows.")


def check_sparse(X: Matrix) -> None:
    """Raise a ValueError where an index or a pointer of a CSR or CSC matrix lies outside; SciPy would crash on it."""
    lines, width = X.shape if X.format == "csr" else X.shape[::-1]
    pointers, indices = X.indptr, X.indices
    if (
        len(pointers) != lines + 1
        or pointers[0] != 0
        or pointers[-1] > min(len(indices), len(X.data))
        or (pointers[1:] < pointers[:-1]).any()  # a difference could overflow
        or (pointers[-1] and np.max(indices.view(f"u{indices.itemsize}")[: pointers[-1]]) >= width)  # -1 becomes large
    ):
        raise ValueError(
            f"X is not a valid {X.format.upper()} matrix of shape {X.shape}: an index or a pointer lies outside. "
            "Build it again from its coordinates, or find the fault with X.check_format()."
        )


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return a view that cannot be written to, so that kernels are compiled for one type only."""
    view = array.view()
    view.flags.writeable = False
    return view


def feature_ranges(X: Matrix) -> NDArray[np.float64]:
    """Return the range of each feature over at most some thousand rows spread over ``X``: its scale, cheaply."""
    sample = X[:: max(1, X.shape[0] // 1000)]
    high, low = sample.max(axis=0), sample.min(axis=0)
    if sp.issparse(X):
        high, low = high.toarray(), low.toarray()
    with np.errstate(over="ignore"):
        return (high.astype(np.float64) - low).ravel()


def pad_columns(X: sp.csr_array, width: int) -> sp.csr_array:
    """Return a CSR matrix with at least ``width`` columns, without a copy of its numbers."""
    if X.shape[1] >= width:
        return X
    wider = type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], width), copy=False)
    wider.has_canonical_format = X.has_canonical_format
    return wider


# Labels as class numbers, weights as step sizes, and labels that nothing can be learned from.


Labels = NDArray[Any]
"""Class labels as users write them: integers, floats, booleans or words."""
ClassWeight: TypeAlias = Mapping[Any, float] | str | None
"""Step sizes by class, "balanced", or None where all are 1."""
VectorLike: TypeAlias = Any
"""Labels, weights or numbers as users bring them: whatever NumPy makes an array of, or a tensor."""
Names = NDArray[np.object_]
"""Names of features."""
Integers = NDArray[np.int32]


def encode_labels(y: Labels) -> tuple[Labels, NDArray[np.int32]]:
    """Return the sorted classes of ``y`` and the class number of each label."""
    if y.dtype.kind in "biuf" and len(y):
        low, high = y.min(), y.max()
        positive = y == high
        if np.all(positive | (y == low)):  # two numbers: no need to sort
            classes = np.array([low, high] if low != high else [low], dtype=y.dtype)
            return classes, (positive & (low != high)).astype(np.int32)
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, numbers.astype(np.int32)


def number_labels(y: Labels, classes: Labels) -> tuple[NDArray[np.int32], bool]:
    """Return the number of each label among sorted ``classes``, and whether all labels are among them."""
    places = np.searchsorted(classes, y)
    places[places == len(classes)] = 0
    return places.astype(np.int32), np.array_equal(classes[places], y)


def step_sizes(
    sample_weight: VectorLike, class_weight: ClassWeight, classes: Labels, numbers: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the step size of each row: sample weight times class weight. Empty where all are 1."""
    n, steps = len(numbers), np.empty(0)
    if sample_weight is not None:
        steps = np.array(sample_weight, dtype=np.float64)
        if steps.ndim == 0:
            steps = np.full(n, float(steps))
        check_one_each(steps, n)
        valid = np.isfinite(steps) & (steps >= 0)
        if not valid.all():
            raise ValueError(
                "sample weights must be finite and not negative, since a weight scales a step: "
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
            Setting("class_weight"),
            f' must be a dictionary from class to weight, "balanced" or None, got {class_weight!r}.',
        )
    weights = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(f"class weights must be finite and not negative, got {dict(class_weight)!r}.")
    return weights


@dataclass
class LabelSummary:
    """What the first pass saw of the labels: enough to refuse data that nothing can be learned from."""

    rows: int = 0
    weighted_rows: int = 0
    """Those whose weight is not 0."""
    leading_run: int = 0
    """Rows at the start that have the label of the first."""
    leading_label: object = None
    seen: set[object] = field(default_factory=set)
    weighted: set[object] = field(default_factory=set)
    """Classes that have a row, and a row whose weight is not 0."""

    def add(self, labels: Integers, steps: NDArray[np.float64], known: Labels, every_class: bool = False) -> None:
        """Take in the class numbers and step sizes of some rows; whether every class is known to occur among them."""
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
        """Take in what was seen of the rows that follow."""
        if self.leading_run == self.rows and (not self.rows or self.leading_label == other.leading_label):
            self.leading_run, self.leading_label = self.leading_run + other.leading_run, other.leading_label
        self.rows, self.weighted_rows = self.rows + other.rows, self.weighted_rows + other.weighted_rows
        self.seen, self.weighted = self.seen | other.seen, self.weighted | other.weighted

    @property
    def is_sorted(self) -> bool:
        """Whether rows visited as they come start with a long run of one label (CIML section 4.2)."""
        return self.leading_run >= max(100, self.rows // 10)

    def check(self, known: Labels, class_weight: ClassWeight, warm: bool) -> None:
        """Raise a ValueError where these labels and weights leave nothing to learn, or nothing to go on with."""
        classes = known.tolist()
        if isinstance(class_weight, Mapping) and not warm:
            unknown = [label for label in class_weight if label not in classes]
            if unknown:
                raise ParameterError(
                    Setting("class_weight"), f" names {unknown[0]!r}, which is none of the classes {classes}."
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
    """Raise a ValueError where there is one class only."""
    if len(labels) < 2:
        raise ParameterError(
            f"training needs at least two classes, got one class: every label is {next(iter(labels))!r}. "
            "Add rows of another class",
            IfAvailable("partial_fit", ", or use partial_fit where they may come later"),
            ".",
        )


def _family(labels: Labels) -> str:
    """Return what labels are: those of different families have no order."""
    kind = labels.dtype.kind
    if kind in "US" or (kind in "OT" and all(isinstance(label, str) for label in labels.tolist())):
        return "words"
    return "times" if kind in "Mm" else "numbers"


def check_label_types(known: Labels, labels: Labels) -> None:
    """Raise a ValueError where words and numbers, or times, are mixed as labels."""
    if _family(known) != _family(labels):
        raise ValueError(
            f"the labels so far are {known.tolist()}, now came {labels.tolist()[0]!r}: "
            "labels must be all words or all numbers."
        )


# Whether features differ so much in size that the small ones hardly count.


LARGE_RATIO = 100.0
"""Ranges that differ by more than this are worth a word."""
MANY_MISTAKES = 0.1
"""A share of mistakes in the last pass from which the scales may be to blame."""
_ROWS = 1000


def scale_ratio(X: Matrix) -> float:
    """Return how many times the widest range of a feature is that of the narrowest, over a sample of rows.

    Features that never change do not count; of sparse rows neither do those that are 0 in most of them, as rare words
    range over less, and that is as it should be. It is 1 where no two features count.

    >>> scale_ratio(np.array([[0.0, 0.0, 3.0], [1.0, 500.0, 3.0]]))
    500.0
    """
    sample = X[:: max(1, X.shape[0] // _ROWS)]
    ranges = feature_ranges(X)
    counts = ranges > 0
    if sp.issparse(X):
        counts &= np.bincount(sample.indices, minlength=X.shape[1]) > sample.shape[0] / 2
    ranges = ranges[counts]
    return float(ranges.max() / ranges.min()) if len(ranges) > 1 else 1.0


def differ_in_scale(run: TrainingRun) -> float:
    """Return the `scale_ratio` of the rows that a run visited last where it is large and mistakes are many, else 0.

    Many are a tenth of the rows of the last pass, for one classifier at least.
    """
    if run.last_batch is None:
        return 0.0
    return ratio_with_mistakes(run.state, run.last_batch.rows.matrix, run.rows_of_a_pass())


def ratio_with_mistakes(state: RunState, X: Matrix, rows_of_a_pass: int | None) -> float:
    """Return the `scale_ratio` of rows where it is large and the run that visited them makes many mistakes, else 0."""
    rows = rows_of_a_pass if state.cut is None else state.cut.rows
    if not state.mistakes or state.mistakes[-1].max() < MANY_MISTAKES * max(1, rows or 0):
        return 0.0
    ratio = scale_ratio(X)
    return ratio if ratio > LARGE_RATIO else 0.0
