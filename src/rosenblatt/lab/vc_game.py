"""The VC game, which shows the subsets of a few points that a family of shapes cuts out.

A shape cuts out the subset of the points that lie in it. For one subset, the game shows such a shape or the reason why
there is none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from rosenblatt.circles.fitting import fit_circle
from rosenblatt.circles.shapes import Circle, HalfSpace
from rosenblatt.lab.plain_numbers import unit
from rosenblatt.lab.state_fields import FAMILIES, LARGEST
from rosenblatt.messages import count_of, shorten
from rosenblatt.theory.inputs import as_float
from rosenblatt.theory.separability import separability
from rosenblatt.theory.vc import RadonPartition, dichotomies, sauer_bound, vc_dimension, why_not
from rosenblatt.theory.verdicts import Separable

MOST_POINTS = 7
WIDER = 0.05  # how far a box reaches beyond its points, of their extent, where nothing is in the way
NAMES = {"halfspaces": "half-plane", "discs": "disc", "rectangles": "rectangle"}
KNOWN_DIMENSION = {"halfspaces": 3, "discs": 3, "rectangles": 4}

Points = tuple[tuple[float, float], ...]


def vc_message(body: object) -> dict[str, Any]:
    """Return the subsets that the family cuts out, and for one subset a shape or the reason why there is none.

    Only the coordinates of shapes are rounded; all other results are exact. Each shape is checked to contain exactly
    the points of the subset.

    >>> square = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> found = vc_message({"points": square, "family": "halfspaces", "subset": [0, 3]})
    >>> found["count"], found["of"], found["shattered"], found["dimension"], found["answer"]["point"]
    (14, 16, False, 3, [0.5, 0.5])
    >>> vc_message({"points": square, "family": "discs", "subset": [0]})["answer"]["shape"]["kind"]
    'disc'
    """
    points, family, subset = _read(body)
    cut, dimension = _counted(points, family)
    inside = frozenset(subset)
    answer = _cut_by(points, family, sorted(inside)) if inside in cut else _refused(points, family, sorted(inside))
    return {
        "count": len(cut),
        "of": 2 ** len(points),
        "cut": sorted((sorted(one) for one in cut), key=lambda one: (len(one), one)),
        "shattered": len(cut) == 2 ** len(points),
        "dimension": dimension,
        "sauer": sauer_bound(len(points), KNOWN_DIMENSION[family]),
        "answer": answer,
    }


@lru_cache(maxsize=64)
def _counted(points: Points, family: str) -> tuple[frozenset[frozenset[int]], int]:
    """Return the subsets that the family cuts out, and its VC dimension on these points.

    The result is cached, because a player usually asks about several subsets of the same points.
    """
    return dichotomies(points, family), vc_dimension(points, family)


# what is asked


def _read(body: object) -> tuple[Points, str, list[int]]:
    if type(body) is not dict or set(body) != {"points", "family", "subset"}:
        raise ValueError(f"a vc request must have 'points', 'family' and 'subset', got {shorten(body)}.")
    points, family, subset = body["points"], body["family"], body["subset"]
    if type(points) is not list or not 1 <= len(points) <= MOST_POINTS:
        raise ValueError(f"'points' must be a list of 1 to {MOST_POINTS} points, got {shorten(points)}.")
    if type(family) is not str or family not in FAMILIES:
        raise ValueError(f"'family' must be {' or '.join(map(repr, FAMILIES))}, got {shorten(family)}.")
    places = tuple(_point(point) for point in points)
    if type(subset) is not list or not all(type(i) is int and 0 <= i < len(points) for i in subset):
        raise ValueError(f"'subset' must be indices of points, below {len(points)}, got {shorten(subset)}.")
    if len(set(subset)) < len(subset):
        raise ValueError(f"'subset' must not repeat an index, got {shorten(subset)}.")
    return places, family, subset


def _point(point: object) -> tuple[float, float]:
    if type(point) is list and len(point) == 2:
        x, y = point
        if all(type(value) in (int, float) and -LARGEST <= value <= LARGEST for value in (x, y)):
            return float(x) + 0.0, float(y) + 0.0  # no -0
    raise ValueError(f"'points' must be pairs of numbers from {-LARGEST:g} to {LARGEST:g}, got {shorten(point)}.")


# shapes


def _cut_by(points: Points, family: str, inside: list[int]) -> dict[str, Any]:
    if len(inside) in (0, len(points)):
        return {"cut": True, "shape": {"kind": "all" if inside else "none"}}
    held = np.isin(np.arange(len(points)), inside)
    make = {"halfspaces": _line, "discs": _disc, "rectangles": _box}[family]
    shape = make(np.array(points), held)
    if shape is None:
        text = f"A {NAMES[family]} cuts this subset, but none whose numbers floats can hold."
        return {"cut": True, "shape": {"kind": "none"}, "text": text}
    return {"cut": True, "shape": shape}


def _line(X: np.ndarray, held: np.ndarray) -> dict[str, Any] | None:
    """Return the line with the largest margin around the subset, or None if floats cannot represent it."""
    found = separability(X, np.where(held, 1, -1))
    assert isinstance(found, Separable)
    lines = [unit(found.w, found.b, with_bias=False)]
    if found.w.dtype != object:
        lines.append((found.w.tolist(), float(found.b)))  # not rounded once more
    for w, b in lines:
        if np.array_equal(HalfSpace(np.array(w), b).sides(X), np.where(held, 1, -1)):
            return {"kind": "line", "w": w, "b": b}
    return None


def _disc(X: np.ndarray, held: np.ndarray) -> dict[str, Any] | None:
    """Return a disc that contains exactly the subset, preferably with the widest gap, or None if none was found."""
    for largest_margin in (True, False):
        found = fit_circle(X, held, largest_margin=largest_margin, inside=True)
        if not isinstance(found, Circle):
            continue
        center, radius = [as_float(value) for value in found.center.tolist()], as_float(found.radius)
        if not (np.isfinite([*center, radius]).all() and radius > 0):
            continue
        if np.array_equal(Circle(np.array(center), radius).sides(X), np.where(held, 1, -1)):
            return {"kind": "disc", "center": center, "radius": radius}
    return None


def _box(X: np.ndarray, held: np.ndarray) -> dict[str, Any] | None:
    """Return a box that contains exactly the subset, preferably wider than the smallest one, or None."""
    tight = X[held].min(axis=0), X[held].max(axis=0)
    low, high = tight[0].copy(), tight[1].copy()
    for axis in range(2):
        for bound, sign in ((low, -1.0), (high, 1.0)):
            others = (X[~held, axis] - bound[axis]) * sign
            gap = others[others > 0].min(initial=np.inf)
            bound[axis] += sign * (gap / 3 if np.isfinite(gap) else _extent(X) * WIDER)
    for least, most in ((low, high), tight):
        if np.array_equal(((least <= X) & (most >= X)).all(axis=1), held):
            return {"kind": "box", "low": least.tolist(), "high": most.tolist()}
    return None


def _extent(X: np.ndarray) -> float:
    return float((X.max(axis=0) - X.min(axis=0)).max()) or 1.0


# reasons


def _refused(points: Points, family: str, inside: list[int]) -> dict[str, Any]:
    found = why_not(points, inside, family)
    if isinstance(found, RadonPartition):
        answer = {
            "cut": False,
            "text": _reason(found, family),
            "inside": list(found.inside),
            "outside": list(found.outside),
            "point": [float(value) for value in found.point],
        }
        if family == "discs":
            answer["heights"] = [float(found.inside_height), float(found.outside_height)]  # type: ignore[attr-defined]
        return answer
    X = np.array(points)
    low, high = X[inside].min(axis=0), X[inside].max(axis=0)
    others = [i for i in range(len(points)) if i not in inside and ((X[i] >= low) & (X[i] <= high)).all()]
    text = (
        f"The smallest rectangle around the blue points also holds {count_of(len(others), 'point')} of the others: "
        "so does every other one."
    )
    return {"cut": False, "text": text, "inside": inside, "outside": others, "point": None}


def _reason(found: RadonPartition, family: str) -> str:
    if family == "halfspaces":
        return (
            "No half-plane holds the blue points and misses the others: a half-plane that holds some points holds all "
            "that lies between them, their hull, and the marked point lies in the hulls of both."
        )
    return (
        "No disc holds the blue points and misses the others: with every point lifted to the height x² + y², a disc is "
        "what lies below a plane. But above the marked point, a mix of the blue points is as high as a mix of the "
        "others or higher, so no plane has the blue ones below it and the others above."
    )
