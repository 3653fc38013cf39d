"""Judges of exercises about runs of the perceptron: ties, orders, the proof of the bound, and voting while training."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rosenblatt.exercises.faults import (
    Fault,
    Values,
    dot,
    formula_fault,
    norm,
    option_of,
    points_of,
    signed,
    words,
)
from rosenblatt.exercises.formulas import Formula
from rosenblatt.exercises.table import Exercise, Points
from rosenblatt.messages import count_of

Weights = tuple[float, ...]
"""Weights of a run, the bias last if there is one. Points are multiples of 1/8, so floats hold them exactly."""
_LEAST_UPDATES = 8
"""What an order has to make, so that twice as many as in reverse means something."""


@dataclass
class _Update:
    row: int
    before: Weights
    after: Weights
    ya: float
    """The label times the activation of the weights before, of this row."""


@dataclass
class _Run:
    """Passes over points until one makes no update."""

    clean: bool = False
    passes: int = 0
    visits: int = 0
    updates: list[_Update] = field(default_factory=list)


def _run(
    points: Points,
    passes: int,
    *,
    bias: bool,
    order: Callable[[int], Iterable[int]] | None = None,
    strict: bool = False,
) -> _Run:
    """Run algorithm 5. ``order`` returns the order of pass p; if ``strict``, updates are made where y·a < 0."""
    rows = [((*map(float, x), 1.0) if bias else tuple(map(float, x)), y) for x, y in points]
    run, w = _Run(), (0.0,) * len(rows[0][0])
    while run.passes < passes and not run.clean:
        run.clean = True
        for row in range(len(rows)) if order is None else order(run.passes):
            x, y = rows[row]
            ya = y * dot(w, x)
            if ya < 0 or (ya == 0 and not strict):
                before, w = w, _plus(w, y, x)
                run.updates.append(_Update(row, before, w, ya))
                run.clean = False
            run.visits += 1
        run.passes += 1
    return run


def _vote_updates(points: Points, passes: int) -> Iterator[_Update]:
    """Yield the updates of a rule that updates the current weights where the vote of all weights is wrong or tied."""
    rows = [(tuple(map(float, x)), y) for x, y in points]
    w: Weights = (0.0,) * len(rows[0][0])
    voters: list[Weights] = []
    survived: list[int] = []
    for _ in range(passes):
        for row, (x, y) in enumerate(rows):
            votes = (
                math.copysign(count, a) for a, count in zip((dot(v, x) for v in voters), survived, strict=True) if a
            )
            if y * sum(votes) > 0:
                survived[-1] += 1
                continue
            before, w = w, _plus(w, y, x)
            voters.append(w)
            survived.append(1)
            yield _Update(row, before, w, y * dot(before, x))


def _plus(w: Weights, y: int, x: Sequence[float]) -> Weights:
    return tuple(w_d + y * x_d for w_d, x_d in zip(w, x, strict=True))


def _listed(points: Points) -> str:
    return ", ".join(f"{words(x)} {signed(y)}" for x, y in points)


def _radius_and_margin(points: Points, w_star: Sequence[float], b: float | None = None) -> tuple[float, float]:
    """Return R and γ for a separator of any length, about (x, 1) if it has a bias."""
    rows = [((*x, 1) if b is not None else x, y) for x, y in points]
    separator = [*w_star] if b is None else [*w_star, b]
    least = min(float(y * dot(separator, x)) for x, y in rows)
    return max(norm(x) for x, _ in rows), least / norm(separator)


# Ties and orders.


def ties(values: Values, exercise: Exercise) -> Fault | None:
    """Judge what algorithm 5 does where it updates only if y·a < 0: nothing."""
    points = points_of(exercise.given["points"])
    rows = [update.row for update in _run(points, exercise.given["passes"], bias=True, strict=True).updates]
    if values["updates"] != len(rows):
        text = f"All activations are 0, from row 0 on, and 0 < 0 is false: expected {len(rows)} updates, "
        return Fault("updates", f"{text}got {words(values['updates'])}.", {"row": 0, "activation": 0})
    claimed = option_of(exercise, "because", values["because"])["rows"]
    if claimed != rows:
        row = claimed[0]
        text = (
            f"Row {row} is {_listed(points[row : row + 1])}. All weights are still 0 there, so y·a = 0, and 0 < 0 is "
        )
        return Fault("because", f"{text}false: it makes no update.", {"row": row, "activation": 0})
    return None


def permute(values: Values, exercise: Exercise) -> Fault | None:
    """Judge points and a seed for which a fixed order needs fewer passes than a new one for each pass."""
    from rosenblatt.kernels.orders import visiting_order

    points, seed, passes = values["points"], int(values["seed"]), exercise.given["passes"]
    listed = _run(points, passes, bias=True)
    if not listed.clean:
        return _never_clean(listed, points, "in the order of the list")
    permuted = _run(points, passes, bias=True, order=lambda p: visiting_order(len(points), seed, p).tolist())
    if permuted.clean and permuted.passes <= listed.passes:
        text = f"The order of the list takes {listed.passes} passes and new orders take {permuted.passes}: "
        numbers = {"listed": listed.passes, "permuted": permuted.passes, "points": points, "seed": seed}
        return Fault("seed", f"{text}expected fewer in the order of the list.", numbers)
    return None


def bad_order(values: Values, exercise: Exercise) -> Fault | None:
    """Judge points that make at least twice as many updates as in reverse, and why the bound holds in both orders."""
    points, passes = values["points"], exercise.given["passes"]
    listed, reverse = (_run(rows, passes, bias=True) for rows in (points, points[::-1]))
    for run, order in ((listed, "in the order of the list"), (reverse, "in the reverse order")):
        if not run.clean:
            return _never_clean(run, points, order)
    k, other = len(listed.updates), len(reverse.updates)
    if k < max(_LEAST_UPDATES, 2 * other):
        text = f"The order of the list makes {count_of(k, 'update')} and the reverse order {other}: expected at least "
        text += f"{_LEAST_UPDATES}, and at least twice as many as in the reverse order."
        return Fault("points", text, {"listed": k, "reverse": other, "points": points})
    return None if values["why"] == "updates" else _false_reason(values["why"], exercise)


def _never_clean(run: _Run, points: Points, order: str) -> Fault:
    text = f"There are mistakes left after {run.passes} passes {order}: expected points that a line separates well."
    return Fault("points", text, {"points": points, "passes": run.passes})


def _false_reason(chosen: str, exercise: Exercise) -> Fault:
    """Return why a reason is false, with the numbers of the points of the table."""
    given, points = exercise.given, points_of(exercise.given["example"])
    listed, reverse = (_run(rows, given["passes"], bias=True) for rows in (points, points[::-1]))
    R, gamma = _radius_and_margin(points, given["w_star"], given["b_star"])
    k, other, bound = len(listed.updates), len(reverse.updates), (R / gamma) ** 2
    why = {
        "shuffled": f"They are sorted, and the {k} updates are not more than the bound.",
        "more": "Neither order makes more updates than the bound.",
        "visits": f"The {listed.visits} visits are more than the bound.",
        "margin": f"The points are the same in both orders, and so is γ = {words(gamma)}.",
    }[chosen]
    text = f"On {_listed(points)} there are {k} updates in {listed.visits} visits, and in reverse order {other} in "
    text += f"{reverse.visits}; the bound is {words(bound)}. {why}"
    numbers = {"listed": k, "reverse": other, "visits": listed.visits, "bound": bound, "gamma": gamma, "points": points}
    return Fault("why", text, numbers)


# The proof.


def proof_bounds(values: Values, exercise: Exercise) -> Fault | None:
    """Judge the bounds of the proof at every update of the runs, and whether they are what it gives."""
    for part in exercise.fields:
        name, formula = part["name"], values[part["name"]]
        for run in exercise.given["runs"]:
            fault = _broken_bound(name, formula, run, exercise.given["tolerance"])
            if fault is not None:
                return fault
        weaker = formula_fault(part, formula)
        if weaker is not None:
            text = f"It holds in the runs that were tried, but it is not what the proof gives. {weaker.text}"
            return Fault(name, text, weaker.counterexample)
    return None


_BOUNDED = {"growth": "‖w‖² grew by", "norm": "‖w‖² is", "dot": "w*·w is", "bound": "the number of updates so far is"}
"""What each field of the proof bounds, in words."""


def _broken_bound(name: str, formula: Formula, run: dict[str, Any], tolerance: float) -> Fault | None:
    """Return an update of a run at which a bound does not hold."""
    points, w_star = points_of(run["points"]), run["w_star"]
    R, gamma = _radius_and_margin(points, w_star)
    for k, update in enumerate(_run(points, 1000, bias=False).updates, start=1):
        squared = dot(update.after, update.after)
        value = {
            "growth": squared - dot(update.before, update.before),
            "norm": squared,
            "dot": dot(w_star, update.after) / norm(w_star),
            "bound": k,
        }[name]
        bound = formula({"R": R, "gamma": gamma, "k": float(k)})
        room = value - bound if name == "dot" else bound - value
        if not room >= -tolerance:
            where = f"R = {words(R)}, γ = {words(gamma)}, k = {k}"
            text = f"On {_listed(points)} ({where}), {_BOUNDED[name]} {words(value)}, and the bound is {words(bound)}."
            numbers = {"points": points, "k": k, "R": R, "gamma": gamma, "value": value, "bound": bound}
            return Fault(name, text, numbers)
    return None


def voted_updates(values: Values, exercise: Exercise) -> Fault | None:
    """Judge points on which training by the vote updates where w is right, and the line of the proof that breaks."""
    points, passes = values["points"], exercise.given["passes"]
    updates = list(_vote_updates(points, passes))
    if all(update.ya <= 0 for update in updates):
        text = f"This rule makes {count_of(len(updates), 'update')} here, and at each w has y·(w·x) ≤ 0: expected one "
        numbers = {"updates": len(updates), "points": points}
        return Fault("points", f"{text}update at least where w has the example right.", numbers)
    return None if values["breaks"] == "norm" else _line_that_holds(values["breaks"], exercise)


def _line_that_holds(chosen: str, exercise: Exercise) -> Fault:
    """Return that another line of the proof holds where that about the norm breaks, on the points of the table."""
    given, points = exercise.given, points_of(exercise.given["example"])
    R, gamma = _radius_and_margin(points, given["w_star"])
    update = next(update for update in _vote_updates(points, given["passes"]) if update.ya > 0)
    before, after = (dot(given["w_star"], w) / norm(given["w_star"]) for w in (update.before, update.after))
    growth = dot(update.after, update.after) - dot(update.before, update.before)
    says = {
        "dot": f"w*·w grows by {words(after - before)}, and γ = {words(gamma)}",
        "cauchy": f"w*·w = {words(after)}, and ‖w‖ = {words(norm(update.after))}",
        "radius": f"‖x‖ = {words(norm(points[update.row][0]))}, and R = {words(R)}",
    }[chosen]
    text = (
        f"This line holds. On {_listed(points)}, the rule updates on row {update.row} although w has it right: {says}. "
    )
    text += f"But ‖w‖² grows by {words(growth)}, more than R² = {words(R * R)}."
    numbers = {"points": points, "row": update.row, "before": update.before, "after": update.after}
    return Fault("breaks", text, numbers | {"growth": growth, "R": R, "gamma": gamma})
