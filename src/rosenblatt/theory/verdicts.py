"""Certificates of linear separability (separable, inseparable or undecided) and of bounds on the margin.

The classes are represented by signs: +1 for rows with the ``positive`` label, -1 for all other rows.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.html import MOST_ROWS, bars, described, short_name
from rosenblatt.messages import count_of, label_text
from rosenblatt.storage.schema import string
from rosenblatt.tables import Table
from rosenblatt.theory.certificates import (
    DEFINITIONS,
    KINDS,
    AboutRows,
    BasisOfProof,
    Bracket,
    Integers,
    JsonFile,
    KnownRows,
    Label,
    Number,
    Real,
    Rows,
    Sparse,
    Undecided,
    Vector,
    bracket_text,
    draw_margin,
    margin_upper_bound,
    points_text,
    proves_inseparable,
)
from rosenblatt.theory.inputs import Floats, Matrix, MatrixLike, Signs, check_rows, longest_row, rows_text

# Verdicts in notebooks: a chart of the weights that prove inseparability, and a table with one row per class.


def draw_weights(alpha: Floats, support: NDArray[np.intp], bias: bool = True) -> str:
    """Return a bar chart of the weights that prove that no hyperplane separates the classes.

    With a bias, the weights of both classes have the same sum. Each weight is then divided by the sum of its class.
    """
    rows, weights = support.tolist(), alpha[support]
    words = f"The weights of {rows_text(rows, most=12)}: with their labels as signs, these rows sum to zero."
    if bias:
        weights = 2.0 * weights / weights.sum()
        words = f"The shares of {rows_text(rows, most=12)} in the mean of their class: both means are the same point."
    return bars(dict(zip((f"row {row}" for row in rows), weights.tolist(), strict=True)), words)


def show_verdicts(verdicts: Mapping[object, tuple[str, float, float, int]]) -> str:
    """Return an HTML table with one row per class.

    ``verdicts`` maps each class to a tuple: the type of the certificate, the lower and the upper bound on the margin,
    and the number of rows that prove the result.

    >>> "1 of 2 classes" in show_verdicts({"a": ("Separable", 1.0, 2.0, 3), "b": ("Inseparable", -math.inf, 0.0, 4)})
    True
    """
    yes = sum(low > 0 for _, low, _, _ in verdicts.values())
    sentence = f"{yes:,} of {count_of(len(verdicts), 'class')} can be separated from the rest by a hyperplane."
    shown = [(short_name(label_text(label)), *verdict) for label, verdict in [*verdicts.items()][:MOST_ROWS]]
    names, kinds, lows, highs, rows = zip(*shown, strict=True) if shown else ((), (), (), (), ())
    table = Table(
        {
            "class": names,
            "verdict": kinds,
            "margin at least": [low if math.isfinite(low) else None for low in lows],
            "margin at most": [high if math.isfinite(high) else None for high in highs],
            "rows that prove it": rows,
        },
        notes=[f"{len(shown)} of {len(verdicts):,} classes"] if len(verdicts) > len(shown) else [],
    )
    margins = {name: low for name, low in zip(names, lows, strict=True) if 0 < low < math.inf}
    words = "Margins by class: " + ", ".join(f"{name} {low:.4g}" for name, low in margins.items())
    return described([sentence], table._repr_html_(), bars(margins, words) if margins else "")


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Separable(Bracket):
    """Proof that the classes are linearly separable, with a lower and an upper bound on the largest margin.

    ``check`` proves three claims. ``w . x + b`` has the correct sign for every row. The margin of this hyperplane is at
    least ``margin_low``. No hyperplane has a margin above ``margin_high``, which follows from the row weights
    ``alpha``. Margins are geometric, that is, distances from a hyperplane with any bias b and with w scaled to norm 1
    (CIML Eq 4.8 and 4.9). If the margin is so small that no float weights separate the classes, w and b are integers.
    ``radius`` is the largest norm of a row, up to rounding.

    ``nearest`` lists every row whose distance from the hyperplane is at most ``margin_high``, up to a relative error of
    1e-9. All other rows are farther from the hyperplane than the largest margin. ``support`` lists the rows of nonzero
    weight in ``alpha``.
    """

    w: Vector
    b: Number
    margin_low: Real
    margin_high: Real
    alpha: Sparse
    radius: Real
    positive: Label
    nearest: KnownRows = None

    def __str__(self) -> str:
        n, d = len(self.alpha), len(self.w)
        if not np.any(self.w):
            return f"Separable: {points_text(n)} have one label, so the bias alone predicts it."
        lines = [
            f"Separable: a hyperplane strictly separates the two classes of {points_text(n)}.",
            f"The largest margin ({DEFINITIONS['geometric']}) {bracket_text(self.margin_low, self.margin_high)}.",
        ]
        if n <= d + 1:
            features = "1 feature" if d == 1 else f"{d:,} features"
            lines.append(
                f"With {features}, up to {d + 1:,} points in general position can be separated whatever their labels, "
                "so this result says little about the classes."
            )
        if self.margin_high < 1e-12 * self.radius:
            lines.append(
                f"That is less than any plausible rounding error of points of length {self.radius:.4g}, "
                "so the result holds only for the numbers exactly as stored."
            )
        return "\n".join(lines)

    def _picture(self) -> str:
        return draw_margin(self.margin_low, self.margin_high)

    def _holds(self, X: Matrix, signs: Signs) -> bool:
        known = math.isclose(self.radius, longest_row(X), rel_tol=1e-9)
        return known and self._proves(X, signs, "geometric", self.margin_low, self.margin_high, separates=True)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Inseparable(AboutRows):
    """Proof that no hyperplane separates the classes: a weighted mean of one class equals one of the other class.

    ``alpha`` has one weight per row of the data, and the weights sum to 1. ``support`` lists the rows of nonzero
    weight. Up to rounding, the sums of ``alpha y x`` and of ``alpha y`` over the rows are zero (Gordan's theorem).
    ``weights`` contains integers proportional to the weights of the ``support`` rows. With these integers as weights,
    both sums are exactly zero. For large data sets ``weights`` is None. Then ``check`` proves that exact weights exist
    near ``alpha``. On the rows in ``basis`` the exact weights differ from ``alpha`` by rounding errors. On all other
    rows they equal ``alpha``.
    """

    alpha: Sparse
    support: Rows
    weights: Integers
    positive: Label
    basis: BasisOfProof = None
    _truth = False

    def __str__(self) -> str:
        rows = rows_text(self.support.tolist(), most=12)
        return (
            f"Not separable: no hyperplane separates the two classes of {points_text(len(self.alpha))}.\n"
            f"{len(self.support):,} of them prove it: among {rows}, a weighted mean of one class equals a weighted "
            "mean of the other (weights: alpha)."
        )

    def _picture(self) -> str:
        return draw_weights(self.alpha, self.support)

    def _holds(self, X: Matrix, signs: Signs) -> bool:
        same = np.array_equal(self.support, np.flatnonzero(self.alpha))
        return same and proves_inseparable(X, signs, self.alpha, self.weights, self.basis, bias=True)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class UndecidedSeparability(Bracket, Undecided):
    """The `Undecided` result of `separability`, with bounds on the largest margin.

    No hyperplane has a margin above ``high``. The best hyperplane found, (w, b), has the margin ``low``. If ``low`` is
    zero or less, it does not separate the classes. ``check`` proves both bounds.
    """

    low: Real
    high: Real
    w: Vector
    b: Number
    alpha: Sparse
    positive: Label

    def __str__(self) -> str:
        return (
            f"Undecided: no hyperplane separates {points_text(len(self.alpha))} with a margin above "
            f"{self.high:.4g}, but one with a smaller margin may exist.\n"
            f"The best hyperplane found has margin {self.low:.4g}"
            + (" (it does not separate)." if self.low <= 0 else ".")
        )

    def _picture(self) -> str:
        return draw_margin(self.low, self.high)

    def _holds(self, X: Matrix, signs: Signs) -> bool:
        return self._proves(X, signs, "geometric", self.low, self.high, separates=False)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MarginBracket(Bracket):
    """The margin of a data set, proved to lie between ``low`` and ``high``.

    ``low`` is the margin of the hyperplane (w, b). ``high`` follows from the row weights ``alpha``. For the geometric
    margin, ``high`` is half the distance between the weighted means of the two classes. For the homogeneous margin it
    is the norm of the weighted mean of the rows y x, and for the augmented margin of the rows y (x, 1). If no
    hyperplane separates the classes, ``low`` and ``high`` are minus infinity, which is proved as in `Inseparable`.
    ``nearest`` lists the rows whose distance from (w, b) is at most ``high``, up to rounding. ``support`` lists the
    rows of nonzero weight in ``alpha``.
    """

    low: Real
    high: Real
    w: Vector
    b: Number
    alpha: Sparse
    kind: Annotated[str, string(*KINDS)]
    positive: Label
    weights: Integers = None
    basis: BasisOfProof = None
    nearest: KnownRows = None

    @property
    def gap(self) -> float:
        """The relative difference ``(high - low) / high``; 0 if the bounds are equal, infinity if ``high <= 0``."""
        return 0.0 if self.low == self.high else (self.high - self.low) / self.high if self.high > 0 else math.inf

    def __str__(self) -> str:
        if self.high == -math.inf:
            return (
                f"No margin ({DEFINITIONS[self.kind]}): no hyperplane separates {points_text(len(self.alpha))}, "
                f"and {len(self.support):,} of them prove it."
            )
        return f"The margin ({DEFINITIONS[self.kind]}) {bracket_text(self.low, self.high)}."

    def _picture(self) -> str:
        if self.high == -math.inf:
            return draw_weights(self.alpha, self.support, bias=self.kind != "homogeneous")
        return draw_margin(self.low, self.high)

    def _holds(self, X: Matrix, signs: Signs) -> bool:
        if self.high == -math.inf:
            bias = self.kind != "homogeneous"
            return self.low == -math.inf and proves_inseparable(X, signs, self.alpha, self.weights, self.basis, bias)
        if self.low == -math.inf:  # no claim about (w, b)
            return self.high >= margin_upper_bound(X, signs, self.alpha, self.kind)
        return self._proves(X, signs, self.kind, self.low, self.high, separates=True)


class Verdicts(JsonFile, dict[Any, Any]):
    """A dictionary of `separability` results, one for each class against the rest; ``check`` verifies all of them."""

    def __bool__(self) -> bool:
        raise ValueError(
            "there is a verdict for each class against the rest: use verdicts[name], or all(verdicts.values())."
        )

    def check(self, X: MatrixLike, y: ArrayLike) -> bool:
        """Return whether there is a result for every class in ``y``, and all results hold for these rows and labels."""
        X, y = check_rows(X, y)
        return set(self) == set(np.unique(y).tolist()) and all(
            verdict.positive == name and verdict.check(X, y) for name, verdict in self.items()
        )

    def to_json(self) -> str:
        """Return all certificates as one JSON text."""
        verdicts = list(self.values())
        if self.preparation is not None:  # stored once, in the first verdict
            verdicts[0] = verdicts[0].with_preparation(self.preparation)
        return "[" + ",\n".join(verdict.to_json() for verdict in verdicts) + "]"

    @classmethod
    def from_dict(cls, record: object) -> Verdicts:
        """Create the dictionary from a list of decoded certificates; raise a ValueError for anything else."""
        if not isinstance(record, list):
            got = type(record).__name__
            raise ValueError(f"expected a list of certificates, got {got}: load a single one with Certificate.load.")
        if not record:
            raise ValueError("expected a list of certificates, got an empty one.")
        verdicts = [AboutRows.from_dict(item) for item in record]
        found = cls({verdict.positive: verdict for verdict in verdicts})
        made = verdicts[0].preparation
        return found if made is None else found.with_preparation(made)

    def __repr__(self) -> str:
        return "\n".join(f"Class {name!r} against the rest. {verdict}" for name, verdict in self.items())

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return show_verdicts(
            {
                label: (type(verdict).__name__, *_margin(verdict), len(verdict.support))
                for label, verdict in self.items()
            }
        )


def _margin(verdict: AboutRows) -> tuple[float, float]:
    """Return the bounds on the margin, which are both minus infinity if no hyperplane separates the classes."""
    if isinstance(verdict, Separable):
        return verdict.margin_low, verdict.margin_high
    if isinstance(verdict, Undecided | MarginBracket):
        return verdict.low, verdict.high
    return -math.inf, -math.inf
