"""Exactness to the last bit, certificates for what cannot be cut, and one sentence for bad input."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.point_sets import SQUARE, curve
from rosenblatt.theory import vc
from rosenblatt.theory.vc.families import MOST_POLYGON_POINTS

# Exactness, certificates, bounds, bad input.


def test_the_last_bit_of_a_float_decides():
    line = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    bent = [[0.0, 0.0], [1.0, 1.0 + 2.0**-52], [2.0, 2.0]]
    assert not vc.shatters(line, "halfspaces")
    assert vc.shatters(bent, "halfspaces")
    # 0.1 + 0.2 is not 0.3 and so (0.1, 0.1), (0.2, 0.2) and (0.3, 0.3) are still in line, but these are not:
    assert vc.shatters([[0.1, 1], [0.2, 2], [0.3, 3]], "halfspaces")
    assert not vc.shatters([[Fraction(1, 10), 1], [Fraction(2, 10), 2], [Fraction(3, 10), 3]], "halfspaces")
    assert len(vc.dichotomies(SQUARE[:3] + [[1, 1 + 2.0**-50]], "discs")) == 15
    assert vc.shatters([[0, 0], [2**60, 1], [2**61, 3]], "halfspaces")  # integers that int64 products overflow
    assert not vc.shatters([[0, 0], [2**60 + 1, 1], [2**61 + 2, 2]], "halfspaces")
    assert vc.shatters([[2**53 + 1, 0.5], [2**53, 0.5]], "halfspaces")  # numpy would make the two floats equal


def test_sizes_at_which_overflow_would_show():
    for bits in (10, 20, 30, 31, 32, 40):  # both sides of int64
        points = [[0, 0], [2**bits, 1], [2 * 2**bits, 2], [3 * 2**bits, 4]]
        assert len(vc.dichotomies(points, "halfspaces")) == 12
        assert frozenset({0, 2}) not in vc.dichotomies(points, "discs")


def test_a_radon_partition_in_words_and_numbers():
    reason = vc.why_not(SQUARE, {0, 3}, "halfspaces")
    half = Fraction(1, 2)
    assert reason == vc.RadonPartition((0, 3), (1, 2), (half, half), (half, half), (half, half))
    assert str(reason).startswith("No halfspace holds rows 0, 3 and misses rows 1, 2: the point (1/2, 1/2) lies in")
    assert "at the same height, at 1" in str(vc.why_not(SQUARE, {0, 3}, "discs"))
    assert "below that, at 0" in str(vc.why_not([[-1], [0], [1]], {0, 2}, "discs"))
    long = str(vc.why_not([[0.1, 1e300], [0.2, -1e300], [0.1, 1e300]], {0}, "discs"))  # heights beyond any float
    assert "the point (0.100000, 1.00000e+300) is a weighted mean" in long
    assert "at height 1.00000e+600" in long
    assert str(vc.why_not([[0, 0], [0, 0]], [0], "halfspaces")).startswith("No halfspace holds row 0 and misses row 1:")
    assert (
        vc.why_not([[0, 0], [0, 0], [1, 1]], [0], "convex-k-gons", 3) == "row 1 lies in the convex hull of the subset."
    )


@pytest.mark.parametrize("family", ["halfspaces", "discs"])
def test_a_changed_certificate_is_refused(family):
    rng = np.random.default_rng(0)
    points = rng.integers(0, 100, (12, 2))
    reason = vc.why_not(points, range(6), family)
    assert reason.check(points)
    fields = {name: getattr(reason, name) for name in reason.__dataclass_fields__}
    changes = [
        {"inside": reason.outside, "outside": reason.inside},
        {"inside": (*reason.inside[:-1], 99)},
        {"inside": (-1, *reason.inside[1:])},
        {"outside": reason.outside[:-1]},
        {"outside": reason.inside, "outside_weights": reason.inside_weights},
        {"point": tuple(x + 1 for x in reason.point)},
        {"inside_weights": tuple(w * 2 for w in reason.inside_weights)},
        {"inside_weights": (), "inside": ()},
        {"inside": (*reason.inside, 5, 6), "inside_weights": (*reason.inside_weights, Fraction(1), Fraction(-1))},
    ]
    if family == "discs":
        changes += [{"outside_height": reason.inside_height + 1}, {"inside_height": reason.inside_height + 1}]
    for change in changes:
        if change.keys() == {"inside", "outside"} and len(reason.inside) == len(reason.outside):
            continue
        assert not type(reason)(**{**fields, **change}).check(points)
    assert not reason.check(points + rng.integers(0, 2, points.shape))


def test_reasons_for_many_points_and_dimensions():
    X = np.random.default_rng(0).standard_normal((60, 5))
    assert vc.why_not(X, np.flatnonzero(X @ [1, 2, 3, 4, 5] > 0.1), "halfspaces") is None
    assert vc.why_not(X, np.flatnonzero((X * X).sum(axis=1) < 5), "discs") is None
    for family, most in (("halfspaces", 7), ("discs", 8)):
        reason = vc.why_not(X, range(30), family)
        assert reason.check(X)
        assert len(reason.inside + reason.outside) <= most


@given(st.integers(0, 30), st.integers(0, 30))
def test_sauers_bound_adds_up(n, d):
    assert vc.sauer_bound(n, n + d) == 2**n
    assert vc.sauer_bound(n + 1, d + 1) == vc.sauer_bound(n, d + 1) + vc.sauer_bound(n, d)
    assert vc.cover_count(n + 1, d + 1) == 2 * vc.sauer_bound(n, d + 1)


NO_TABLE = [[], [1, 2, 3], 7, [[1, 2], [3]], np.zeros((2, 2, 2))]
BAD = [
    *((points, "lines", None, "points must be a table of numbers") for points in NO_TABLE),
    (np.zeros((0, 2)), "lines", None, "points must hold at least one point"),
    (np.zeros((2, 0)), "lines", None, "points must hold at least one point"),
    ([[0, float("nan")]], "lines", None, "points must be finite numbers, got nan"),
    ([[0, float("inf")]], "lines", None, "points must be finite numbers, got inf"),
    (np.array([[0, np.nan]], dtype=np.float32), "lines", None, "points must be finite numbers, got nan"),
    ([["a", "b"]], "lines", None, "points must be finite numbers, got 'a'"),
    ([[1j, 0]], "lines", None, "points must be finite numbers, got 1j"),
    ([[None, 0]], "lines", None, "points must be finite numbers, got None"),
    (SQUARE, "ellipses", None, "family must be 'halfspaces' or 'discs' or 'rectangles' or 'convex-k-gons', got"),
    (SQUARE, None, None, "family must be 'halfspaces' or"),
    (SQUARE, ["lines"], None, "family must be 'halfspaces' or"),
    (SQUARE, "triangles", 4, "triangles have 3 vertices, got k=4"),
    ([[0], [1]], "triangles", None, "needs points in the plane, got 1 coordinate in"),
    (SQUARE, "convex-k-gons", None, "needs k, the maximum number of vertices of a polygon"),
    *((SQUARE, "convex-k-gons", k, "k must be an integer of at least 3, got") for k in (2, 3.0, True)),
    ([[1, 2, 3]], "convex-k-gons", 3, "needs points in the plane, got 3 coordinates"),
    ([[1]], "convex-k-gons", 3, "needs points in the plane, got 1 coordinate in each"),
]


@pytest.mark.parametrize("ask", [vc.dichotomies, vc.growth, vc.shatters, vc.vc_dimension, vc.largest_shattered])
def test_bad_points_and_families_are_named(ask):
    for points, family, k, words in BAD:
        with pytest.raises(ValueError, match=words) as caught:
            ask(points, family, k)
        assert "\n" not in str(caught.value)
        with pytest.raises(ValueError, match=words):
            vc.why_not(points, [0], family, k)


def test_other_bad_input_is_named():
    with pytest.raises(ValueError, match=f"takes at most {MOST_POLYGON_POINTS} different points, got 30"):
        vc.dichotomies(curve(30, 2), "convex-k-gons", 3)
    for subset in ([4], [-1], [0.5], [True], 9, "ab", [[0]]):
        with pytest.raises(ValueError, match="each row number in subset must be an integer from 0 to 3, got"):
            vc.why_not(SQUARE, subset, "halfspaces")
    for n, d in ((-1, 2), (2, -1), (2.5, 1), (True, 1), (None, 1)):
        with pytest.raises(ValueError, match="must be an integer of at least 0, got"):
            vc.sauer_bound(n, d)
    for n, d in ((0, 2), (2, 0), ("3", 1)):
        with pytest.raises(ValueError, match="must be an integer of at least 1, got"):
            vc.cover_count(n, d)


OTHER_NAMES = dict.fromkeys(("lines", "half-planes", "halfplanes", "half-spaces"), ("halfspaces", None))
OTHER_NAMES |= dict.fromkeys(("circles", "balls", "disks"), ("discs", None))
OTHER_NAMES |= {"boxes": ("rectangles", None), "triangles": ("convex-k-gons", 3)}


def test_a_family_may_be_called_by_its_other_names():
    points = [[0, 0], [2, 0], [0, 2], [3, 3], [1, 1]]
    for name, family in OTHER_NAMES.items():
        assert vc.dichotomies(points, name) == vc.dichotomies(points, *family)
        assert vc.shatters(points[:3], name) == vc.shatters(points[:3], *family)
        assert vc.vc_dimension(points, name) == vc.vc_dimension(points, *family)
        assert vc.growth(points, name).to_text() == vc.growth(points, *family).to_text()
        assert vc.why_not(points, {4}, name) == vc.why_not(points, {4}, *family)


def test_a_sentence_says_what_it_is_about():
    box = vc.why_not([[0, 0], [5, 5], [1, 1], [2, 2]], [0, 3], "rectangles")
    hull = vc.why_not(SQUARE + [[Fraction(1, 2), Fraction(1, 2)]], [0, 1, 2, 3], "convex-k-gons", 4)
    arc = [[100 * i, i * i] for i in range(-3, 4)]
    polygon = vc.why_not(arc, [0, 2, 4, 6], "convex-k-gons", 3)
    assert (box.row, box.sides) == (2, None)
    assert (hull.row, hull.sides) == (4, None)
    assert (polygon.row, polygon.sides) == (None, 4)
    assert "at least 4 sides" in polygon
    again = pickle.loads(pickle.dumps(polygon))
    assert (again, again.sides, copy.deepcopy(box).row) == (polygon, 4, 2)
