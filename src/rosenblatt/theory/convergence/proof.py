"""Novikoff's convergence proof, with its inequalities checked at every update of a training run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.html import BLUE, GREEN, RED, Curve, chart, described
from rosenblatt.messages import check_integer, count_of, evenly_spaced
from rosenblatt.tables import Table
from rosenblatt.theory.certificates import margin_of
from rosenblatt.theory.convergence.bounds import Update, inequalities, novikoff, rounding, squared_radius
from rosenblatt.theory.convergence.trace import run_options, run_traced
from rosenblatt.theory.exact import round_root, squared_length
from rosenblatt.theory.inputs import Floats, MatrixLike, bound_text, check_exact, check_labels, two_classes
from rosenblatt.theory.scores import least_score
from rosenblatt.theory.separability import dataset_margin

# The inequalities of the proof as a small chart for notebooks; ``plots.plot_proof`` shows more.


EVEN_UP_TO = 5
"""If the bound is more than this number of times the number of updates, the chart has logarithmic scales."""


def draw_squeeze(proof: Proof) -> str:
    """Return a chart of k gamma <= w*.w <= |w| <= sqrt(k) R over the updates k, up to the k where the bounds meet."""
    log = proof.bound > EVEN_UP_TO * proof.updates
    k = np.geomspace(1.0, proof.bound, 40) if log else np.linspace(0.0, proof.bound, 40)
    curves = [
        Curve(k, np.sqrt(k) * proof.R, "√k·R: |w| is at most this", RED, "6 3"),
        Curve(proof.k, proof.norm, "|w|", BLUE),
        Curve(proof.k, proof.projection, "w*·w", GREEN),
        Curve(k, k * proof.gamma, "k·γ: w*·w is at least this", RED, "2 3"),
    ]
    end = bound_text(proof.bound)
    words = (
        f"The squeeze k·γ ≤ w*·w ≤ |w| ≤ √k·R over {count_of(proof.updates, 'update')}: "
        f"the two bounds meet at (R/γ)² = {end}."
    )
    return chart(curves, words, "update k", log, (proof.bound, math.sqrt(proof.bound) * proof.R, f"(R/γ)² = {end}"))


_PRINTED = ("k", "row", "y·a", "rise", "|z|²", "w*·w", "k·γ", "|w|²", "k·R²", "cosine", "√k·γ/R", "α", "α₀−k·R²")
_OUT_OF_RANGE = "the rows are too long, or the margin is too small, to be compared in floats: scale the features."


@dataclass(frozen=True, eq=False, repr=False)
class Proof:
    """A training run of the perceptron with the inequalities of the convergence proof at every update; see `proof`.

    All vectors are in the space in which the perceptron learns: z = (x, 1) with a bias, z = x without. ``len`` is the
    number of updates, and iteration yields an `Update` for each. The fields of `Update` are attributes of the proof, as
    arrays.

    Attributes
    ----------
    k, row : arrays of int
        The number of the update, counted from 1, and the index of the misclassified row.
    activation, rise, square : arrays
        For that row with label y and activation a: y a before the update, the increase of y a by the update, and |z|^2.
        y a before the update is never positive, and its increase equals |z|^2.
    projection, projection_low : arrays
        w*.w after the update, and its lower bound k gamma. Each update increases w*.w by at least gamma.
    norm2, norm2_high : arrays
        |w|^2 after the update, and its upper bound k R^2. Each update increases |w|^2 by at most R^2.
    cosine, cosine_low : arrays
        The cosine of the angle between w and w*, and its lower bound sqrt(k) gamma / R. The bound always increases; the
        cosine may decrease.
    alpha, alpha_high : arrays
        Har-Peled's alpha = |w - (R^2 / gamma) w*|^2 after the update, and its upper bound alpha_0 - k R^2. Each update
        decreases alpha by at least R^2; alpha_0 is its value before the first update.
    checks : dict of str to array of bool
        For each inequality, whether it held at each update, with an allowance for rounding. ``holds`` is True if all
        inequalities held.
    drift : array
        A bound on the sum of the norms of the rounding errors in the weights so far; 0 for integer data.
    R, gamma, bound : float
        The largest norm |z|, rounded up; the margin of w*, rounded down; and (R / gamma)^2. For the default w*, the
        integer part of ``bound`` is `mistake_bound`.
    w_star, b_star : array and float
        The separator w* and its bias b*. With a bias, (w*, b*) has norm 1; without a bias, w* has norm 1.
    w, b : array and float
        The final weights.
    margin : float
        The margin of these weights, scaled to norm 1; minus infinity if training did not converge.
    passes, updates, converged, fit_intercept, seed
        As for ``Perceptron``. ``seed`` is None if the rows are processed in the given order.
    """

    k: NDArray[np.int64]
    row: NDArray[np.int64]
    activation: Floats
    rise: Floats
    square: Floats
    projection: Floats
    projection_low: Floats
    norm2: Floats
    norm2_high: Floats
    cosine: Floats
    cosine_low: Floats
    alpha: Floats
    alpha_high: Floats
    checks: dict[str, NDArray[np.bool_]]
    drift: Floats
    R: float
    gamma: float
    bound: float
    w_star: Floats
    b_star: float
    w: Floats
    b: float
    margin: float
    passes: int
    converged: bool
    fit_intercept: bool
    seed: int | None

    @property
    def updates(self) -> int:
        """The number of updates."""
        return len(self.row)

    @property
    def holds(self) -> bool:
        """Whether every inequality held at every update, and the number of updates is within the bound."""
        return all(held.all() for held in self.checks.values()) and self.updates <= self.bound

    @property
    def norm(self) -> Floats:
        """|w| after each update; computed without its square, which may overflow."""
        return self.projection / self.cosine

    @property
    def fell(self) -> NDArray[np.int64]:
        """The updates k at which the cosine decreased, so that the angle between w and w* grew."""
        return self.k[1:][np.diff(self.cosine) < -4.0 * rounding(len(self.w) + 1)]

    def __len__(self) -> int:
        return self.updates

    def __iter__(self) -> Iterator[Update]:
        return iter(map(Update, *(getattr(self, name).tolist() for name in Update._fields)))

    def table(self, most: int | None = None) -> Table:
        """Return a table with a line for each update, or for ``most`` evenly spaced updates."""
        if most is not None:
            check_integer("most", most, 1, or_none=True)
        shown = evenly_spaced(self.updates, most)
        space = "z = (x, 1)" if self.fit_intercept else "z = x"
        title = f"R = {self.R:.4g}, γ = {self.gamma:.4g}, {space}: at most {bound_text(self.bound)} updates"
        notes = [f"{len(shown)} of {self.updates:,} updates"] if len(shown) < self.updates else []
        columns = {printed: getattr(self, name)[shown] for name, printed in zip(Update._fields, _PRINTED, strict=True)}
        return Table(columns, title=title, notes=notes)

    def __str__(self) -> str:
        n = self.updates
        end = "the last without a mistake" if self.converged else "with mistakes left"
        verdict = "Every inequality holds at every update."
        if not self.holds:
            broken = ", ".join(name for name, held in self.checks.items() if not held.all())
            verdict = f"This is not a run of a perceptron on these rows: it violates {broken or 'the bound'}."
        lines = [
            f"{count_of(n, 'update')} in {count_of(self.passes, 'pass')}, {end}; "
            f"no run on these rows can make more than {bound_text(self.bound)}.",
            f"At the end w*·w = {self.projection[-1]:.4g} ≥ k·γ = {self.projection_low[-1]:.4g}, "
            f"and |w| = {self.norm[-1]:.4g} ≤ √k·R = {math.sqrt(n) * self.R:.4g}.",
            f"So the cosine of the angle between w and w* is at least √k·γ/R = {self.cosine_low[-1]:.4g}: "
            f"it is {self.cosine[-1]:.4g}.",
            f"On the way it fell at {count_of(len(self.fell), 'update')}; only the lower bound must rise.",
            f"|w − (R²/γ) w*|² fell at each update by R² = {self.R * self.R:.4g} or more, to {self.alpha[-1]:.4g}.",
            verdict,
        ]
        if self.converged:
            angle = round(math.degrees(math.acos(min(1.0, self.cosine[-1]))), 3)
            lines.append(
                f"The margin reached is {self.margin:.4g} and that of w* {self.gamma:.4g}; "
                f"w lies {angle:.4g} degrees from w*."
            )
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return described(str(self).splitlines(), draw_squeeze(self))


def proof(
    X: MatrixLike,
    y: ArrayLike,
    fit_intercept: bool = True,
    shuffle: bool | str = False,
    random_state: int | None = None,
    max_iter: int = 100,
    max_updates: int | None = 100_000,
    w_star: ArrayLike | None = None,
    b_star: float = 0.0,
) -> Proof:
    """Train the perceptron from zero weights and compare each update with the inequalities of the convergence proof.

    The training run is the same as that of a ``Perceptron`` with these parameters, bit for bit. It stops after a pass
    without a mistake, after ``max_iter`` passes or after ``max_updates`` updates.

    The proof is in CIML 4.5, Har-Peled 30.1 and the parametric learning notes 3.3. Let z = (x, 1) with a bias and z = x
    without. Let R be the largest norm |z|, and w* a unit vector with y w*.z >= gamma for every row. A mistake is a row
    with y w.z <= 0. The update at a mistake, from w to w + y z,

    - increases y w.z by exactly |z|^2;
    - increases w*.w by at least gamma, so w*.w >= k gamma after k updates;
    - increases |w|^2 by at most R^2, so |w| <= sqrt(k) R;
    - decreases Har-Peled's alpha = |w - (R^2 / gamma) w*|^2, which cannot become negative, by at least R^2.

    Since w*.w <= |w|, it follows that k gamma <= sqrt(k) R, so k is at most (R / gamma)^2. The cosine of the angle
    between w and w* is at least sqrt(k) gamma / R. This bound increases, while the cosine itself may decrease.

    All these inequalities are checked at every update. Mistakes are decided exactly, gamma is computed exactly from the
    data and rounded down, and R is rounded up. The checks allow for rounding errors in the compared sums and in the
    weights. ``drift`` bounds the sum of the norms of the errors in the weights, and is 0 for integers.

    Parameters
    ----------
    X, y : rows and labels of two classes
    fit_intercept, shuffle, max_iter, max_updates
        As for ``Perceptron``. The defaults are True, False (rows are processed in the given order), 100 and 100,000.
    random_state : int, default=None
        The seed of the random row orders, such as ``random_state`` or ``seed_`` of a ``Perceptron``. None draws a
        random seed.
    w_star, b_star : array of shape (d,) and float, default=None and 0.0
        The separator w* for the proof and its bias; their norm does not matter. A number that float64 would round
        raises a ValueError. None means the separator of largest margin (`dataset_margin`).

    Returns
    -------
    Proof
        It prints as a summary, ``table()`` returns the numbers, and ``plots.plot_proof`` draws them. The running time
        is proportional to the number of updates times the number of features.

    See Also
    --------
    mistake_bound : The bound on the number of updates.
    trace : The updates of a training run, also for data that is not linearly separable.

    Examples
    --------
    >>> run = proof([[1.0], [0.0]], [1, -1])
    >>> run
    5 updates in 4 passes, the last without a mistake; no run on these rows can make more than 10.
    At the end w*·w = 2.236 ≥ k·γ = 2.236, and |w| = 2.236 ≤ √k·R = 3.162.
    So the cosine of the angle between w and w* is at least √k·γ/R = 0.7071: it is 1.
    On the way it fell at 1 update; only the lower bound must rise.
    |w − (R²/γ) w*|² fell at each update by R² = 2 or more, to 5.
    Every inequality holds at every update.
    The margin reached is 0.4472 and that of w* 0.4472; w lies 0 degrees from w*.
    >>> run.holds, run.row.tolist(), run.norm2.tolist()
    (True, [0, 1, 1, 0, 1], [2.0, 1.0, 2.0, 4.0, 5.0])
    >>> [(update.rise, update.square) for update in run]  # equal at each update
    [(2.0, 2.0), (1.0, 1.0), (1.0, 1.0), (2.0, 2.0), (1.0, 1.0)]
    """
    options = run_options(fit_intercept, shuffle, random_state, max_iter, max_updates)
    matrix, signs, _ = two_classes(X, y)
    bias = bool(fit_intercept)
    kind = "augmented" if bias else "homogeneous"
    if w_star is None:
        v, c = _best_separator(X, y, kind)
    else:
        v, c = _given_separator(w_star, b_star, matrix.shape[1], bias)
    gamma = margin_of(matrix, signs, v, c, kind)
    squared = squared_radius(matrix, bias)
    R = round_root(squared, up=True)
    if not (gamma > 1e-100 * R and math.isfinite(R)):
        if least_score(matrix, signs, v, c) <= 0:
            raise ValueError(
                "the proof needs a separator, but w_star and b_star do not separate all rows strictly: "
                "leave w_star out to use the separator of largest margin, if separability(X, y) finds one."
            )
        raise ValueError(_OUT_OF_RANGE)
    run = run_traced(matrix, signs, check_labels(y, len(signs)), options)
    length = round_root(squared_length(v, c), up=False)
    return Proof(
        **inequalities(matrix, signs, run.row, bias, np.append(v, c) / length, R, gamma),
        R=R,
        gamma=gamma,
        bound=novikoff(squared, gamma),
        w_star=v / length,
        b_star=c / length,
        w=run.w,
        b=run.b,
        margin=margin_of(matrix, signs, run.w, run.b, kind) if run.converged else -math.inf,
        passes=run.passes,
        converged=run.converged,
        fit_intercept=bias,
        seed=run.seed,
    )


def _best_separator(X: MatrixLike, y: ArrayLike, kind: str) -> tuple[Floats, float]:
    """Return the separator with the largest margin of the given kind, which is the default for w*."""
    bracket = dataset_margin(X, y, kind=kind)
    if bracket.high == -math.inf:
        words = ": separability(X, y) shows why."
        if kind == "homogeneous":
            words = " through the origin: use fit_intercept=True, if separability(X, y) finds a separator with a bias."
        raise ValueError(f"the proof needs a separator, but no hyperplane separates these rows{words}")
    if not bracket.low > 0.0:
        raise ValueError(
            "the proof needs a separator, but the search found none: pass one as w_star and b_star, "
            "or use separability(X, y) to decide whether there is one."
        )
    if bracket.w.dtype == object:
        raise ValueError(_OUT_OF_RANGE)  # integers too large for floats
    return bracket.w, float(bracket.b)


def _given_separator(w_star: ArrayLike, b_star: float, d: int, bias: bool) -> tuple[Floats, float]:
    """Return the separator given by the user, divided by the power of two that brings its largest entry close to 1."""
    v = np.array(check_exact(w_star, "w_star"), dtype=np.float64)
    b_star = float(check_exact(b_star, "b_star"))
    if v.shape != (d,):
        raise ValueError(f"expected a weight in w_star for each of the {d} features, got an array of shape {v.shape}.")
    if not (np.isfinite(v).all() and math.isfinite(b_star)):
        raise ValueError("w_star and b_star must be finite numbers.")
    if b_star and not bias:
        raise ValueError(f"without an intercept there is no bias, got b_star={b_star!r}: leave it out.")
    exponent = math.frexp(max(float(np.max(np.abs(v), initial=0.0)), abs(b_star)))[1]
    return np.ldexp(v, -exponent), math.ldexp(b_star, -exponent)
