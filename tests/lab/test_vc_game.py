"""The VC game: counts of the library, shapes that hold just the subset, reasons that check."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from helpers.lab_engine import ask, needs_node
from rosenblatt import vc

pytestmark = needs_node

FAMILIES = ("halfspaces", "discs", "rectangles")
RNG = np.random.default_rng(0)
SETS = {
    "one": [[3.0, 4.0]],
    "triangle": [[0.0, 0.0], [1.0, 0.2], [0.3, 1.0]],
    "square": [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]],
    "collinear": [[float(i), 0.0] for i in range(5)],
    "equal": [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [2.0, 0.0]],
    "zeros": [[0.0, 0.0], [-0.0, -0.0], [1.0, 0.0]],
    "seven": RNG.standard_normal((7, 2)).round(2).tolist(),
    "large": (1e6 - RNG.random((5, 2))).tolist(),
    "wide": [[1e6, 1e-6], [-1e6, 1e-6], [1e-6, 1e6], [0.0, 0.0], [1.0, 1.0]],
}


def asked(points, family, subset):
    return ask("vc", {"points": points, "family": family, "subset": list(subset)})


def subsets(points):
    return [list(one) for size in range(len(points) + 1) for one in combinations(range(len(points)), size)]


def held_by(shape, point):
    """Return whether the shape holds the point, in fractions; None on its boundary."""
    x, y = map(Fraction, point)
    if shape["kind"] in ("all", "none"):
        return shape["kind"] == "all"
    if shape["kind"] == "line":
        value = Fraction(shape["w"][0]) * x + Fraction(shape["w"][1]) * y + Fraction(shape["b"])
        return None if value == 0 else value > 0
    if shape["kind"] == "disc":
        a, b = map(Fraction, shape["center"])
        value = Fraction(shape["radius"]) ** 2 - (x - a) ** 2 - (y - b) ** 2
        return None if value == 0 else value > 0
    return all(low <= v <= high for low, v, high in zip(shape["low"], (x, y), shape["high"], strict=True))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", SETS)
def test_counts_are_the_librarys(name, family):
    points = SETS[name]
    found = asked(points, family, [])
    cut = vc.dichotomies(points, family)
    assert {frozenset(one) for one in found["cut"]} == cut
    assert found["cut"] == sorted((sorted(one) for one in cut), key=lambda one: (len(one), one))
    assert found["count"] == len(cut) <= found["sauer"]
    assert found["of"] == 2 ** len(points)
    assert found["shattered"] == vc.shatters(points, family)
    assert found["dimension"] == vc.vc_dimension(points, family)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", SETS)
def test_every_subset_has_a_shape_or_a_reason(name, family):
    points = SETS[name]
    cut = vc.dichotomies(points, family)
    unheld = 0
    for subset in subsets(points):
        found = asked(points, family, subset)
        answer = found["answer"]
        assert answer["cut"] == (frozenset(subset) in cut)
        if not answer["cut"]:
            check_reason(points, family, subset, answer)
        elif "text" in answer:
            unheld += 1  # only circles of more digits than floats have will do
            assert name == "wide"
            assert family == "discs"
        else:
            assert [held_by(answer["shape"], point) for point in points] == [i in subset for i in range(len(points))]
    assert unheld <= 8


def check_reason(points, family, subset, answer):
    inside, outside = answer["inside"], answer["outside"]
    assert answer["text"].endswith(".")
    assert inside
    assert outside
    assert set(inside) <= set(subset)
    assert not set(outside) & set(subset)
    if family == "rectangles":
        X = np.array(points)
        low, high = X[inside].min(axis=0), X[inside].max(axis=0)
        assert ((X[outside] >= low) & (X[outside] <= high)).all()
        assert answer["point"] is None
        return
    some = [points[i] for i in inside + outside]
    reason = vc.why_not(some, range(len(inside)), family)
    assert reason.check(some), "no fewer points prove it, so the weights are the only ones"
    assert sorted(reason.inside + reason.outside) == list(range(len(some)))
    assert answer["point"] == pytest.approx([float(value) for value in reason.point], rel=1e-12)
    assert ("heights" in answer) == (family == "discs")
    if family == "discs":
        assert answer["heights"][0] >= answer["heights"][1]


def test_shapes_have_the_kinds_of_their_families():
    points = SETS["triangle"]
    kinds = [asked(points, family, [0])["answer"]["shape"]["kind"] for family in FAMILIES]
    assert kinds == ["line", "disc", "box"]
    for family in FAMILIES:
        assert asked(points, family, [])["answer"]["shape"] == {"kind": "none"}
        assert asked(points, family, [2, 0, 1])["answer"]["shape"] == {"kind": "all"}


def test_the_line_has_the_largest_margin_and_the_box_keeps_its_distance():
    points = [[0.0, 0.0], [4.0, 0.0]]
    line = asked(points, "halfspaces", [1])["answer"]["shape"]
    assert line["w"] == [1.0, 0.0]
    assert line["b"] == -2.0
    box = asked([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0]], "rectangles", [0])["answer"]["shape"]
    assert box["high"] == [1.0, pytest.approx(1 / 3)]
    assert box["low"] == [-0.15000000000000002, -0.15000000000000002]


def test_where_floats_hold_no_shape_it_says_so():
    points = [[0.1 * i, 0.3 * i] for i in range(7)]  # a hair off a line
    found = [asked(points, "halfspaces", subset)["answer"] for subset in subsets(points)]
    without = [answer for answer in found if "text" in answer and answer["cut"]]
    assert without
    assert all(answer["shape"] == {"kind": "none"} and "floats" in answer["text"] for answer in without)
