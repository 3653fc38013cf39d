"""The verdict on the separability of the lab's points in feature space, and the bound on the number of updates."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.lab.learning import Run
from rosenblatt.lab.plain_numbers import plain, plain_list, unit
from rosenblatt.lab.state import LabState
from rosenblatt.lab.words import separator_words, separators_words, short
from rosenblatt.messages import count_of
from rosenblatt.theory.convergence.bounds import novikoff, squared_radius
from rosenblatt.theory.separability import dataset_margin, separability
from rosenblatt.theory.verdicts import Inseparable, MarginBracket, Separable, UndecidedSeparability

SECONDS = 1.0
"""Time limit of a verdict in seconds. A verdict on 1000 points takes some milliseconds."""

CLOSED = 1e-3
"""The margin counts as known if its lower and upper bounds differ by at most this fraction."""

Floats = NDArray[np.float64]


def theory_message(state: LabState, made: Run) -> dict[str, Any]:
    """Return the verdict on the training points and the bound on the updates, as data for the page.

    In the verdict, w has norm 1, so that w . x + b is a signed distance. In the bound, (w, b) has norm 1, or w if there
    is no bias. ``R`` is the largest norm of (x, 1) for a point x, or of x if there is no bias.

    >>> from rosenblatt.lab.learning import run
    >>> points = ((1.0, 0.0, 1, False), (0.0, 0.0, -1, False))
    >>> state = LabState(points=points)
    >>> found = theory_message(state, run(state))
    >>> found["verdict"]["text"]
    'A line has each of the 2 points on its side. The largest margin is 0.5.'
    >>> round(found["bound"]["bound"], 6)
    10.0
    """
    if state.learner == "kernel":
        return {"verdict": _kernel_verdict(state, made), "bound": _kernel_bound(state, made)}
    bracket = dataset_margin(made.X, made.y, kind="augmented" if state.bias else "homogeneous")
    verdict = _with_bias(state, made) if state.bias else _through_origin(state, made, bracket)
    return {"verdict": verdict, "bound": _bound(state, made, bracket)}


def _verdict(kind: str, text: str, **known: Any) -> dict[str, Any]:
    blank: dict[str, Any] = {"support": [], "weights": [], "w": None, "b": None, "margin": None, "common": None}
    return {"kind": kind, "text": text, **blank, **known}


# with a bias


def _with_bias(state: LabState, made: Run) -> dict[str, Any]:
    found = separability(made.X, made.y, max_seconds=SECONDS)
    points = f"the {count_of(len(made.y), 'point')}"
    if isinstance(found, Separable):
        if not np.any(found.w):
            text = "All points are of one class, so any line with all of them on one side will do: the bias is enough."
            return _verdict("separable", text)
        gap = (found.margin_high - found.margin_low) / found.margin_high
        text = f"{separator_words(state)} has each of {points} on its side. {_margin_words(found.margin_low, gap)}"
        rows = found.support
        if found.nearest is not None and gap <= CLOSED:
            rows = np.union1d(rows, found.nearest)
        w, b = unit(found.w, found.b, with_bias=False)
        return _verdict("separable", text, **_named(state, rows, found.alpha), w=w, b=b, margin=plain(found.margin_low))
    if isinstance(found, Inseparable):
        text = (
            f"No {separators_words(state)} has each of {points} on its side: the hulls of the two classes cross. "
            f"{count_of(len(found.support), 'point')} prove it: a mean of those of one class is a mean of those of the "
            "other."
        )
        common = _common(made, found)
        return _verdict("inseparable", text, **_named(state, found.support, found.alpha), common=common)
    assert isinstance(found, UndecidedSeparability)
    text = (
        f"Undecided: no {separators_words(state)} has a margin above {short(found.high)}, and whether any separates "
        f"{points} was not settled in {SECONDS:g} s."
    )
    return _verdict("undecided", text, **_named(state, found.support, found.alpha))


def _common(made: Run, found: Inseparable) -> list[float | None]:
    """Return the features of a common point of the two convex hulls.

    If the verdict contains exact weights, each feature is computed exactly and then rounded.
    """
    mine = made.y[found.support] > 0
    rows = made.X[found.support[mine]]
    if found.weights is None:
        shares = found.alpha[found.support[mine]]
        return [plain(value) for value in (shares @ rows / shares.sum()).tolist()]
    weights = [weight for weight, positive in zip(found.weights, mine.tolist(), strict=True) if positive]
    total = sum(weights)
    columns = rows.T.tolist()
    return [
        plain(float(sum(Fraction(x) * weight for x, weight in zip(column, weights, strict=True)) / total))
        for column in columns
    ]


# without a bias


def _through_origin(state: LabState, made: Run, bracket: MarginBracket) -> dict[str, Any]:
    points = f"the {count_of(len(made.y), 'point')}"
    named = _named(state, bracket.support, bracket.alpha)
    if bracket.high == -math.inf:
        few = count_of(len(bracket.support), "point")
        text = (
            f"No {separators_words(state)} through the origin has each of {points} on its side, and without a bias no "
            f"other is learned. {few} prove{'s' if len(bracket.support) == 1 else ''} it: with the orange ones "
            "mirrored in the origin, a mean of them is the origin itself."
        )
        return _verdict("inseparable", text, **named)
    if bracket.low == -math.inf:
        text = (
            f"Undecided: no {separators_words(state)} through the origin has a margin above {short(bracket.high)}, "
            f"and whether any separates {points} was not settled."
        )
        return _verdict("undecided", text, **named)
    if bracket.nearest is not None and bracket.gap <= CLOSED:
        named = _named(state, np.union1d(bracket.support, bracket.nearest), bracket.alpha)
    w, b = unit(bracket.w, 0, with_bias=False)
    text = (
        f"{separator_words(state)} through the origin has each of {points} on its side. "
        f"{_margin_words(bracket.low, bracket.gap)}"
    )
    return _verdict("separable", text, **named, w=w, b=b, margin=plain(bracket.low))


def _margin_words(low: float, gap: float) -> str:
    return f"The largest margin is {short(low)}." if gap <= CLOSED else f"The largest margin is at least {short(low)}."


# the bound


_UNBOUNDED = {
    "pa": (
        "No bound on the updates: the theorem counts steps of one size, and here each update has a size of its own. "
        "Points that are right by less than 1 make updates too, so a run may go on by ever smaller ones."
    ),
    "arow": (
        "No bound on the updates: the theorem counts steps of one size along the points, and here each weight moves by "
        "its own variance. Points that are right by less than 1 make updates too, so a run seldom ends by itself."
    ),
}
"""For each learner without a bound on its updates, the reason why the convergence theorem does not apply."""


def _bound(state: LabState, made: Run, bracket: MarginBracket) -> dict[str, Any]:
    unbounded = _UNBOUNDED.get(state.learner, "")
    if not bracket.low > 0:
        return _no_bound(unbounded or _why(state, bracket))
    squared = squared_radius(made.X, state.bias)
    most = novikoff(squared + _allowance(state), bracket.low)
    if not math.isfinite(most):
        finite = (
            f"The bound is finite, but too large for floats: the longest example is {short(math.sqrt(squared))} long, "
            f"and the margin is {short(bracket.low)}."
        )
        return _no_bound(unbounded or finite)
    w, b = unit(bracket.w, bracket.b, with_bias=state.bias)
    known = {"R": plain(math.sqrt(squared)), "gamma": plain(bracket.low), "w": w, "b": b}
    return known | {"bound": None if unbounded else plain(most), "why": unbounded}


def _allowance(state: LabState) -> Fraction:
    """Return an upper bound on 2 y a at an update, where a is the activation of the point and y its label.

    An update adds ``2 y a + |x|^2`` to the squared norm of w. The margin perceptron updates if y a, after rounding,
    is at most the margin. Other perceptrons update only if y a is at most 0.
    """
    return 2 * Fraction(math.nextafter(state.margin, math.inf)) if state.learner == "margin" else Fraction(0)


def _no_bound(why: str) -> dict[str, Any]:
    return {"R": None, "gamma": None, "bound": None, "w": None, "b": None, "why": why}


def _why(state: LabState, bracket: MarginBracket) -> str:
    what = separators_words(state)
    if bracket.high > -math.inf:
        return f"No finite bound is known: whether any {what} separates these points was not settled."
    if state.bias:
        return (
            f"No finite bound: the hulls cross, so no {what} separates these points, and a perceptron never stops "
            "by itself."
        )
    return (
        f"No finite bound: no {what} through the origin separates these points, and without a bias a perceptron never "
        "stops by itself."
    )


# kernels


def _kernel_verdict(state: LabState, made: Run) -> dict[str, Any]:
    report = made.model.report_
    clash = _clash(made)
    if clash:
        text = "No kernel separates these points: two of them lie at the same place and are of different classes."
        return _verdict("kernel", text, support=state.rows[clash].tolist(), weights=[0.5, 0.5])
    if made.converged:
        text = "The run separated the points in the kernel's space: every point is on its side."
        if report.margin_low > 0 and math.isfinite(report.margin_high):
            text += f" The margin there is from {short(report.margin_low)} to {short(report.margin_high)}."
    else:
        text = "The run has not separated the points in the kernel's space."
        if state.kernel == "rbf":
            text += " Enough passes would: a gaussian kernel separates all points that lie at different places."
        elif math.isfinite(report.margin_high):
            text += f" If anything does, the margin there is at most {short(report.margin_high)}."
    flat = separability(made.X, made.y, margin=False, max_seconds=SECONDS)
    line = {Separable: "A line in the plane separates them too.", Inseparable: "No line in the plane separates them."}
    text += " " + line.get(type(flat), "Whether a line in the plane separates them was not settled.")
    return _verdict("kernel", text)


def _clash(made: Run) -> list[int]:
    """Return the places of two points with equal features and different classes, or [] if there are none."""
    first: dict[tuple[float, ...], int] = {}
    for place, features in enumerate(made.X.tolist()):
        other = first.setdefault(tuple(features), place)
        if made.y[other] != made.y[place]:
            return [other, place]
    return []


def _kernel_bound(state: LabState, made: Run) -> dict[str, Any]:
    report = made.model.report_
    bound = _no_bound("")
    bound["R"] = plain(report.radius)
    if report.margin_low > 0 and math.isfinite(report.bound):
        return bound | {"gamma": plain(report.margin_low), "bound": plain(report.bound)}
    if made.converged and state.order != "pick":
        why = "No finite bound is known: the margin in the kernel's space is too small for floats."
    else:
        why = (
            "No finite bound is known: the margin in the kernel's space comes from a run that ends with a pass without "
            "a mistake."
        )
    return bound | {"why": why}


def _named(state: LabState, rows: NDArray[np.intp], alpha: Floats) -> dict[str, Any]:
    """Return the indices and the weights of the training points at the places ``rows``."""
    return {"support": state.rows[rows].tolist(), "weights": plain_list(alpha[rows])}
