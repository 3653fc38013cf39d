"""Labels as class numbers, weights as step sizes, and labels that nothing can be learned from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.parameters import IfAvailable, ParameterError, Setting

Labels = NDArray[Any]
"""Class labels as users write them: integers, floats, booleans or words."""
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
    sample_weight: Any, class_weight: Any, classes: Labels, numbers: NDArray[np.int32]
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


def _class_weights(class_weight: Any, classes: Labels, numbers: NDArray[np.int32]) -> NDArray[np.float64]:
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
    leading_label: Any = None
    seen: set[Any] = field(default_factory=set)
    weighted: set[Any] = field(default_factory=set)
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

    def check(self, known: Labels, class_weight: Any, warm: bool) -> None:
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


def _occurring(labels: Integers, classes: list[Any]) -> set[Any]:
    return {classes[k] for k in np.flatnonzero(np.bincount(labels, minlength=len(classes)))}


def check_two_classes(labels: Collection[Any]) -> None:
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
