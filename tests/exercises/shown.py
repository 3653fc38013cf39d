"""Whether a counterexample is one: recomputed by the textbook and the library, from the answer and the table."""

import math

import numpy as np

from rosenblatt import Perceptron, separability, textbook, vc
from rosenblatt.exercises.formulas import parse
from rosenblatt.exercises.table import table


def shown(name, field, answer, found):
    """Return whether the counterexample of a result shows that the answer is wrong in this field."""
    exercise = table()[name]
    part = next((part for part in exercise.fields if part["name"] == field), None)
    value = answer[field] if isinstance(answer, dict) and field in answer else answer
    return bool(_SHOWN[name](exercise.given, part, value, found))


def plain(value):
    """Return a number of an answer as a float."""
    return (
        parse(value)({}) if isinstance(value, str) and "inf" not in value else float(str(value).replace("−∞", "-inf"))
    )


def activation(weights, x):
    *w, b = map(plain, weights)
    return textbook.activation(w, b, x)


def differs(part, value, found):
    """Return whether a formula differs from that of its field at a sample."""
    variables = tuple(part["variables"])
    at = {name: found[name] for name in variables}
    got, expected = parse(str(value), variables)(at), parse(part["expected"], variables)(at)
    return not math.isclose(got, expected, rel_tol=1e-9) and expected == found["expected"]


def coding(given, part, value, found):
    if part["kind"] == "choice":
        (option,) = [option for option in part["options"] if option["id"] == value]
        value = [*(w * option["w"] for w in given["w"]), given["b"] * option["b"]]
    before = activation([*given["w"], given["b"]], found["answers"]) > 0
    return before != (activation(value, [-x for x in found["answers"]]) > 0)


def threshold(given, part, value, found):
    b = parse(str(value), ("theta",))({"theta": found["theta"]})
    return (found["sum"] > found["theta"]) != (found["sum"] + b > 0)


def ties(given, part, value, found):
    x, y = given["points"][found["row"]][:2], given["points"][found["row"]][2]
    makes_none = not y * textbook.activation([0, 0], 0, x) < 0
    if part["kind"] == "number":
        return makes_none and plain(value) != 0
    (option,) = [option for option in part["options"] if option["id"] == value]
    return makes_none and found["row"] in option["rows"]


def permute(given, part, value, found):
    X, y = split(found["points"])
    fits = [Perceptron(shuffle=shuffle, random_state=found.get("seed"), max_iter=200) for shuffle in (False, True)]
    if part["name"] == "points":
        return separability(X, y).__class__.__name__ == "Inseparable"
    listed, permuted = (fit.fit(X, y).n_iter_ for fit in fits)
    return (listed, permuted) == (found["listed"], found["permuted"]) and permuted <= listed


def split(points):
    """Return X and y; points are pairs, or lists with the label last."""
    if len(points[0]) == 2 and not np.isscalar(points[0][0]):
        return np.array([x for x, _ in points], dtype=float), np.array([y for _, y in points])
    rows = np.array(points, dtype=float)
    return rows[:, :-1], rows[:, -1].astype(int)


def unit(given, part, value, found):
    a = activation(value, found["point"])
    if "distance" in found:
        return not math.isclose(abs(a), found["distance"], abs_tol=0.01)
    return (a > 0) != (activation([*given["w"], given["b"]], found["point"]) > 0)


def positive(given, part, value, found):
    options = {option["id"]: option for option in part["options"]}
    if "missing" in found:
        return found["missing"] not in value and "false" not in options[found["missing"]]
    if "needs" in found:
        needed, step = found["needs"], found["step"]
        return needed not in value or value.index(needed) > value.index(step)
    signed = [y * (found["w"][0] * x + found["b"]) for x, y in found["points"]]
    *_, y = found["points"][-1]
    claim = y * signed[-1] > 0 if found["step"] == "activations" else min(signed) >= 1
    return min(signed) > 0 and not claim and found["step"] in value


def proof(given, part, value, found):
    if "value" not in found:
        return differs(part, value, found)
    X, y = split(found["points"])
    w_star = next(
        run["w_star"]
        for run in given["runs"]
        if run["points"] == [[*x, label] for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    )
    u = np.array(w_star) / np.linalg.norm(w_star)
    R, gamma = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
    weights = [np.zeros(2)]
    for _ in range(100):
        for x, label in zip(X, y, strict=True):
            if label * (weights[-1] @ x) <= 0:
                weights.append(weights[-1] + label * x)
    k, w = found["k"], weights[found["k"]]
    bound = parse(str(value), tuple(part["variables"]))({"R": R, "gamma": gamma, "k": k})
    if part["name"] == "dot":
        return u @ w < bound - 1e-9
    true = {"growth": w @ w - weights[k - 1] @ weights[k - 1], "norm": w @ w, "bound": len(weights) - 1}[part["name"]]
    return true > bound + 1e-9


def order(given, part, value, found):
    X, y = split(found["points"])
    if "passes" in found:
        return separability(X, y).__class__.__name__ == "Inseparable"
    k, other = (Perceptron(shuffle=False, max_iter=1000).fit(X[::s], y[::s]).n_updates_ for s in (1, -1))
    assert (k, other) == (found["listed"], found["reverse"])
    if part["name"] == "points":
        return k < 8 or k < 2 * other
    return max(k, other) <= found["bound"] < found["visits"] and separability(X, y)


def current(given, part, value, found):
    X, y = split(found["points"])
    w, votes, updates = np.zeros(2), [], []
    for _ in range(given["passes"]):
        for x, label in zip(X, y, strict=True):
            if label * sum(count * np.sign(v @ x) for v, count in votes) > 0:
                votes[-1][1] += 1
            else:
                updates.append((label * (w @ x), w, w + label * x))
                w = w + label * x
                votes.append([w, 1])
    if part["name"] == "points":
        return all(ya <= 0 for ya, _, _ in updates) and len(updates) == found["updates"]
    _, before, after = next(update for update in updates if update[0] > 0)
    u = np.array(given["w_star"]) / np.linalg.norm(given["w_star"])
    R, gamma = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
    holds = {
        "dot": u @ after >= u @ before + gamma - 1e-9,
        "cauchy": u @ after <= np.linalg.norm(after),
        "radius": True,
    }
    return holds[value] and after @ after - before @ before > R**2


def program(given, part, value, found):
    if "x" in found:
        return found["got"] != textbook.perceptron_test(found["w"], found["b"], found["x"])
    return found["got"] != found["expected"] and len(found["D"]) <= 2


def xor(given, part, value, found):
    *x, y = given["rows"][found["row"]]
    return (1 if activation(value, x) > 0 else -1) != y


def line(given, part, value, found):
    if part["name"] == "weights":
        a = activation(value, found["place"])
        return (
            a <= 0
            if list(found["place"]) == given["positive"]
            else abs(a) > 0.1 * math.hypot(*map(plain, value[:2])) - 1e-12
        )
    if part["name"] == "positive":
        return activation([*given["w"], given["b"]], value) <= 0
    if "line" in found:
        return math.dist(*found["line"]) < 1
    return abs(activation([*given["w"], given["b"]], found["place"])) / math.hypot(*given["w"]) > 0.1


def margin(given, part, value, found):
    *x, y = given["points"][found["row"]]
    ya = y * activation([*given["w"], given["b"]], x)
    if part["name"] == "other":
        return y * activation([*given["v"], given["v_b"]], x) <= 0
    true = ya / math.hypot(*given["w"]) if part["name"] == "distance" else ya
    return min(
        row[2] * activation([*given["w"], given["b"]], row[:2]) for row in given["points"]
    ) == ya and true != plain(value)


def shapes(given, part, value, found):
    if part["name"] == "subset":
        far = [math.dist(point, found["center"]) for point in given["points"]]
        return [i for i, distance in enumerate(far) if distance < found["radius"]] == sorted(value)
    family = {"discs": "discs", "rectangles": "rectangles", "polygons": "convex-k-gons"}[part["name"]]
    if part["name"] == "polygons" and not differs(part, value, {"expected": 2 * found["k"] + 1, **found}):
        return False
    k = found.get("k")
    if found["shattered"]:
        return vc.shatters(found["points"], family, k) and len(found["points"]) > (found["got"] if k else plain(value))
    return frozenset(found["subset"]) not in vc.dichotomies(found["points"], family, k)


def circle(given, part, value, found):
    if part["name"] == "plane":
        return found["side"] * activation(value, [*found["x"], sum(x * x for x in found["x"])]) <= 0
    a, b, r = map(plain, value)
    if "radius" in found:
        return r <= 0
    *x, y = given["points"][found["row"]]
    return y * (r - math.dist(x, (a, b))) <= 0


def notes(given, part, value, found):
    if part["name"] == "rows":
        return all(given["points"][i][2] * np.dot(found["w"], given["points"][i][:2]) > 0 for i in value)
    if part["name"] == "eta":
        on_plane = np.isclose(np.dot(given["w_star"], found["x"]), given["gamma"])
        return (
            on_plane and np.isclose(np.linalg.norm(found["x"]), found["distance"]) and plain(value) != found["distance"]
        )
    if "unit" in found:
        return np.allclose(np.array(value) / np.linalg.norm(value), found["unit"])
    *x, y = given["points"][found["row"]]
    return y * activation(value, x) <= 0


_SHOWN = {
    "4.1-coding": coding,
    "4.1-threshold": threshold,
    "4.2-ties": ties,
    "4.2-update": lambda given, part, value, found: differs(part, value, found),
    "4.2-permute": permute,
    "4.3-unit": unit,
    "4.5-positive": positive,
    "4.5-norm": proof,
    "4.5-order": order,
    "4.6-current": current,
    "algorithm-7": program,
    "4.12": xor,
    "algorithm-5": program,
    "4.3-line": line,
    "4.5-margin": margin,
    "30.3": shapes,
    "30.2": circle,
    "3.3": notes,
}
