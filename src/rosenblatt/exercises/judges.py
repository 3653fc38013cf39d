"""A judge for each exercise that is answered by numbers, formulas, choices or points.

A judge takes the values of the fields and the exercise. It returns None if all are right, otherwise a `Fault` with the
smallest counterexample. Signs are exact: all numbers are Fractions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rosenblatt.exercises import runs
from rosenblatt.exercises.faults import (
    Fault,
    Values,
    activation,
    dot,
    fields_of,
    formula_fault,
    grid,
    norm,
    option_of,
    points_of,
    prediction,
    signed,
    words,
)
from rosenblatt.exercises.formulas import Formula
from rosenblatt.exercises.table import Exercise, Points

_SAME_LINE = 1e-6
"""Weights are the same line if their unit vectors differ by at most this."""


def _coding(values: Values, exercise: Exercise) -> Fault | None:
    w, b = exercise.given["w"], exercise.given["b"]
    option = option_of(exercise, "changes", values["changes"])
    changed = [*(w_d * option["w"] for w_d in w), b * option["b"]]
    for name, weights in (("weights", values["weights"]), ("changes", changed)):
        for answers in itertools.product((0, 1), repeat=3):
            before, now = activation([*w, b], answers), activation(weights, [-x for x in answers])
            if prediction(before) != prediction(now):
                given = ", ".join(
                    f"{feature} = {'yes' if x else 'no'}"
                    for feature, x in zip(exercise.given["features"], answers, strict=True)
                )
                text = f"The course {given} {_other_side(before, now)}"
                found = {"answers": answers, "expected": prediction(before), "activation": now, "weights": weights}
                return Fault(name, text, found)
    return None


def _other_side(before: Any, now: Any) -> str:
    """Return the end of a sentence about an activation that has changed its sign."""
    predicted = f"expected the prediction {signed(prediction(before))}, got {signed(prediction(now))}"
    return f"had the activation {words(before)} and now has {words(now)}: {predicted}."


def _threshold(values: Values, exercise: Exercise) -> Fault | None:
    for theta, total in exercise.given["samples"]:
        b = values["b"]({"theta": float(theta)})
        if math.isnan(b) or (Fraction(total) + Fraction(b) > 0) != (total > theta):
            text = f"For θ = {words(theta)} and w·x = {words(total)}, w·x > θ is {_yes(total > theta)}, "
            text += f"but b is {words(b)} and w·x + b > 0 is {_yes(total + b > 0)}."
            return Fault("b", text, {"theta": theta, "sum": total, "b": b})
    return None


def _yes(true: bool) -> str:
    return "true" if true else "false"


def _formulas(values: Values, exercise: Exercise) -> Fault | None:
    return next(filter(None, (formula_fault(part, values[part["name"]]) for part in exercise.fields)), None)


def _unit(values: Values, exercise: Exercise) -> Fault | None:
    given, mine = exercise.given, values["weights"]
    length = norm(mine[:-1])
    if not abs(length - 1) <= given["tolerance"]:
        point = next((x for x in grid(2) if activation(mine, x)), (Fraction(0), Fraction(0)))
        a = activation(mine, point)
        distance = abs(float(a)) / length if length else math.inf
        text = f"w′ has length {words(length)}, expected 1. So activations are no distances: "
        text += f"{words(point)} has the activation {words(a)}, and its distance to the boundary is {words(distance)}."
        return Fault("weights", text, {"point": point, "activation": a, "distance": distance})
    theirs = [*given["w"], given["b"]]
    for x in grid(10):
        before, now = activation(theirs, x), activation(mine, x)
        if abs(before) >= 0.2 * norm(given["w"]) and prediction(before) != prediction(now):
            found = {"point": x, "expected": prediction(before), "activation": now}
            return Fault("weights", f"{words(x)} {_other_side(before, now)}", found)
    return None


def _positive(values: Values, exercise: Exercise) -> Fault | None:
    options = {option["id"]: option for option in exercise.fields[0]["options"]}
    steps = values["steps"]
    for k, step in enumerate(steps):
        option = options[step]
        if "false" in option:
            return _false_step(option)
        for needed in option["after"]:
            if needed not in steps[:k]:
                text = f'The step "{option["text"]}" needs "{options[needed]["text"]}" before it.'
                return Fault("steps", text, {"step": step, "needs": needed})
    missing = next((one for one in options.values() if "after" in one and one["id"] not in steps), None)
    if missing is not None:
        return Fault("steps", f'A step is missing: "{missing["text"]}"', {"missing": missing["id"]})
    return None


def _false_step(option: Mapping[str, Any]) -> Fault:
    case = option["false"]
    x, y = case["points"][-1][:-1], case["points"][-1][-1]
    a = activation([*case["w"], case["b"]], x)
    text = (
        f'The step "{option["text"]}" is false: w = {words(case["w"])}, b = {words(case["b"])} separates the examples '
        f"x = 1 with y = +1 and x = −1 with y = −1. The second has the activation {words(a)}, and y·a = {words(y * a)}."
    )
    return Fault("steps", text, {"step": option["id"], **case, "activation": a})


def _xor(values: Values, exercise: Exercise) -> Fault | None:
    for row, (x, y) in enumerate(points_of(exercise.given["rows"])):
        a = activation(values["weights"], x)
        if prediction(a) != y:
            text = f"x₁ = {x[0]}, x₂ = {x[1]}, x₃ = {x[2]}: w·x + b = {words(a)} predicts {signed(prediction(a))}, "
            return Fault("weights", f"{text}expected {signed(y)}.", {"row": row, "x": x, "label": y, "activation": a})
    return None


def _line(values: Values, exercise: Exercise) -> Fault | None:
    given = exercise.given
    theirs, tolerance = [*given["w"], given["b"]], given["tolerance"]
    for place in values["line"]:
        fault = _off_boundary("line", theirs, place, tolerance)
        if fault is not None:
            return fault
    first, second = values["line"]
    apart = math.dist(first, second)
    if apart < given["apart"]:
        text = f"{words(first)} and {words(second)} are {words(apart)} apart, expected at least {given['apart']}: take "
        return Fault("line", f"{text}points that fix the line better.", {"line": [first, second], "distance": apart})
    fault = _not_positive("positive", theirs, values["positive"], tolerance)
    if fault is not None:
        return fault
    mine = values["weights"]
    ends = (_off_boundary("weights", mine, tuple(map(Fraction, place)), tolerance) for place in given["line"])
    on_line = next(filter(None, ends), None)
    return on_line or _not_positive("weights", mine, tuple(map(Fraction, given["positive"])), tolerance)


def _distance(weights: Sequence[Any], place: Sequence[Any]) -> float:
    """Return the distance of a point from the boundary, with the sign of its activation; without a w it is infinite."""
    length = norm(weights[:-1])
    a = float(activation(weights, place))
    return a / length if length else math.copysign(math.inf, a)


def _off_boundary(name: str, weights: Sequence[Any], place: Sequence[Any], tolerance: float) -> Fault | None:
    distance = _distance(weights, place)
    if abs(distance) <= tolerance:
        return None
    a = activation(weights, place)
    text = f"{words(place)} has the activation {words(a)}, expected 0: it is {words(abs(distance))} from the boundary."
    return Fault(name, text, {"place": place, "activation": a, "distance": distance})


def _not_positive(name: str, weights: Sequence[Any], place: Sequence[Any], tolerance: float) -> Fault | None:
    distance = _distance(weights, place)
    if distance >= tolerance:
        return None
    a = activation(weights, place)
    text = f"{words(place)} has the activation {words(a)}: expected a point clearly on the positive side."
    return Fault(name, text, {"place": place, "activation": a, "distance": distance})


def _margin(values: Values, exercise: Exercise) -> Fault | None:
    given, points = exercise.given, points_of(exercise.given["points"])
    row, x, ya = _least([*given["w"], given["b"]], points)
    length = norm(given["w"])
    for name, expected in (("margin", float(ya)), ("distance", ya / length)):
        if not abs(float(values[name]) - expected) <= fields_of(exercise)[name]["tolerance"]:
            text = (
                f"The nearest point is {words(x)}, with y(w·x + b) = {words(ya)} and ‖w‖ = {words(length)}: expected "
            )
            numbers = {"row": row, "x": x, "expected": expected, "got": values[name]}
            return Fault(name, f"{text}{words(expected)}, got {words(values[name])}.", numbers)
    row, x, ya = _least([*given["v"], given["v_b"]], points)
    if values["other"] != -math.inf:
        text = (
            f"{words(x)} with label {signed(points[row][1])} has y(v·x) = {words(ya)}, which is not above 0. So v does "
        )
        text += f"not separate the points: expected −∞, got {words(values['other'])}."
        return Fault("other", text, {"row": row, "x": x, "ya": ya, "expected": -math.inf, "got": values["other"]})
    return None


def _least(weights: Sequence[Any], points: Points) -> tuple[int, tuple[Fraction, ...], Any]:
    """Return the number of the point with the least y·a, the point, and y·a."""
    signed = [y * activation(weights, x) for x, y in points]
    row = signed.index(min(signed))
    return row, points[row][0], signed[row]


def _shapes(values: Values, exercise: Exercise) -> Fault | None:
    given = exercise.given
    disc = _disc_around(values["subset"], given["points"])
    if disc is not None:
        center, radius = disc
        names = ", ".join(given["names"][row] for row in values["subset"]) or "no point"
        text = f"The disc around {words(center)} with radius {words(radius)} holds {names} and misses the others."
        return Fault("subset", text, {"subset": values["subset"], "center": center, "radius": radius})
    for name, right, least, more in _DIMENSIONS:
        got = values[name]
        if got < right:
            text = f"{words(got)} is too small: {name} cut every subset of the {right} points {_places(least)}."
            return Fault(name, text, {"points": least, "shattered": True})
        if got > right:
            points, subset = more
            text = (
                f"{words(got)} is too large: of {len(points)} points, some subset is never cut. Of {_places(points)}, "
            )
            text += f"for instance, not {_places([points[i] for i in subset])}."
            return Fault(name, text, {"points": points, "shattered": False, "subset": subset})
    return _polygon_fault(values["polygons"], exercise)


_DIAMOND = [(1, 0), (-1, 0), (0, 1), (0, -1)]
_DIMENSIONS = (
    ("discs", 3, [(0, 0), (2, 0), (0, 2)], ([(2, 0), (0, 2), (0, 0), (3, 3)], [2, 3])),
    ("rectangles", 4, _DIAMOND, ([*_DIAMOND, (0, 0)], [0, 1, 2, 3])),
)
"""For each family: its VC dimension, points that it shatters, and one point more with a subset that it cannot cut."""


def _places(points: Iterable[Sequence[Any]]) -> str:
    return ", ".join(map(words, points))


def _disc_around(subset: Sequence[int], points: Sequence[Sequence[int]]) -> tuple[tuple[Fraction, ...], float] | None:
    """Return a disc that holds exactly a subset of the points, its centre on a grid; None if there is none."""
    for center in grid(10, Fraction(1, 2)):
        squares = [dot(*[[x - c for x, c in zip(point, center, strict=True)]] * 2) for point in points]
        inside = max((squares[i] for i in subset), default=Fraction(0))
        outside = min((square for i, square in enumerate(squares) if i not in subset), default=inside + 1)
        if inside < outside:
            return center, (math.sqrt(inside) + math.sqrt(outside)) / 2
    return None


def _polygon_fault(formula: Formula, exercise: Exercise) -> Fault | None:
    fault = formula_fault(fields_of(exercise)["polygons"], formula)
    if fault is None:
        return None
    k, most = int(fault.counterexample["k"]), int(fault.counterexample["expected"])
    numbers: dict[str, Any] = {"k": k, "got": fault.counterexample["got"]}
    if numbers["got"] > most:
        text = (
            f"{fault.text} Of {most + 1} points on a circle, every second one cannot be cut: that needs {k + 1} sides."
        )
        numbers |= {"points": _on_circle(most + 1), "shattered": False, "subset": list(range(0, most + 1, 2))}
        return Fault("polygons", text, numbers)
    text = f"{fault.text} Polygons with {k} sides cut every subset of {most} points on a circle."
    return Fault("polygons", text, numbers | {"points": _on_circle(most), "shattered": True})


def _on_circle(n: int) -> list[tuple[float, float]]:
    return [(math.cos(2 * math.pi * i / n), math.sin(2 * math.pi * i / n)) for i in range(n)]


def _circle(values: Values, exercise: Exercise) -> Fault | None:
    points = points_of(exercise.given["points"])
    (a, b, r), plane = values["circle"], values["plane"]
    if r <= 0:
        return Fault("circle", f"The radius is {words(r)}, expected one above 0.", {"radius": r})
    for row, (x, y) in enumerate(points):
        side = r * r - (x[0] - a) ** 2 - (x[1] - b) ** 2
        if side * y <= 0:
            where = "inside" if side > 0 else "on the circle" if side == 0 else "outside"
            text = f"{words(x)} has the label {signed(y)} and is {where}."
            return Fault("circle", text, {"row": row, "x": x, "label": y, "side": side})
    for x in grid(5, Fraction(1, 2)):
        far = math.dist(x, (a, b))
        if abs(far - float(r)) < exercise.given["tolerance"]:
            continue
        height = activation(plane, (*x, x[0] ** 2 + x[1] ** 2))
        if prediction(height) != (1 if far < r else -1):
            where = "inside" if far < r else "outside"
            text = f"{words(x)} is {where} the circle, and w·z + b is {words(height)} there: expected a number "
            text += f"{'above' if far < r else 'below'} 0."
            return Fault("plane", text, {"x": x, "side": 1 if far < r else -1, "activation": height})
    return None


def _notes(values: Values, exercise: Exercise) -> Fault | None:
    given, points = exercise.given, points_of(exercise.given["points"])
    rows = values["rows"]
    w = next((w for w in grid(10) if all(points[i][1] * dot(w, points[i][0]) > 0 for i in rows)), None)
    if w is not None:
        chosen = _places(points[i][0] for i in rows) or "no point"
        text = f"w = {words(w)} without a bias has the right sign on {chosen}: expected points on which none has."
        return Fault("rows", text, {"rows": rows, "w": w})
    length = norm(given["w_star"])
    eta = given["gamma"] / length
    if not abs(float(values["eta"]) - eta) <= fields_of(exercise)["eta"]["tolerance"]:
        near = [eta * w_d / length for w_d in given["w_star"]]
        text = (
            f"{words(near)} has w*·x = {words(given['gamma'])} and is {words(eta)} from the boundary: expected that, "
        )
        return Fault("eta", f"{text}got {words(values['eta'])}.", {"x": near, "distance": eta})
    for name in ("first", "second"):
        row, x, ya = _least(values[name], points)
        if ya <= 0:
            text = f"{words(x)} with label {signed(points[row][1])} has y(w·x + b) = {words(ya)}: expected more than 0."
            return Fault(name, text, {"row": row, "x": x, "ya": ya})
    units = [[float(value) / norm(values[name]) for value in values[name]] for name in ("first", "second")]
    if math.dist(*units) <= _SAME_LINE:
        text = f"Both are the same line: scaled to length 1, both are {words(units[0])}. Expected two different ones."
        return Fault("second", text, {"unit": units[0]})
    return None


JUDGES: dict[str, Callable[[Values, Exercise], Fault | None]] = {
    "4.1-coding": _coding,
    "4.1-threshold": _threshold,
    "4.2-ties": runs.ties,
    "4.2-update": _formulas,
    "4.2-permute": runs.permute,
    "4.3-unit": _unit,
    "4.5-positive": _positive,
    "4.5-norm": runs.proof_bounds,
    "4.5-order": runs.bad_order,
    "4.6-current": runs.voted_updates,
    "4.12": _xor,
    "4.3-line": _line,
    "4.5-margin": _margin,
    "30.3": _shapes,
    "30.2": _circle,
    "3.3": _notes,
}
"""The judges by the names of their exercises; algorithms 5 and 7 are judged by `programs`."""
