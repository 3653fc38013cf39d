"""Subsets that shapes cut, counted against trying all of them; shattering, growth, and work that is shown."""

import re
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import linprog

from helpers.point_sets import EVERY_FAMILY, circle, curve, missing, shattered, small_points, some, subsets
from rosenblatt import vc
from rosenblatt.progress import Progress
from rosenblatt.theory.vc import counting
from rosenblatt.theory.vc import families as arrangements
from rosenblatt.theory.vc.families import cut, read_points, to_integers

# Counts known beforehand.


def test_halfspaces_count_as_cover_says():
    counts = {(1, 2): 2, (2, 2): 4, (3, 2): 8, (4, 2): 14, (5, 2): 22, (10, 2): 92, (100, 2): 9902}
    counts |= {(4, 3): 16, (5, 3): 30, (10, 3): 260, (20, 3): 2320}
    for (n, d), count in counts.items():
        assert len(vc.dichotomies(curve(n, d), "halfspaces")) == count == vc.cover_count(n, d)
        assert d != 2 or count == n * n - n + 2
    for n, d in ((7, 1), (8, 4), (9, 6), (5, 8), (1, 3)):
        assert len(vc.dichotomies(curve(n, d), "halfspaces")) == vc.cover_count(n, d)


def test_discs_reach_sauers_bound():
    for n, count in ((3, 8), (4, 15), (5, 26), (10, 176), (20, 1351), (40, 10701)):
        points = np.random.default_rng(n).standard_normal((n, 2))
        assert len(vc.dichotomies(points, "discs")) == count == vc.sauer_bound(n, 3)


def test_balls_in_any_dimension():
    rng = np.random.default_rng(0)
    assert len(vc.dichotomies(rng.integers(0, 1000, (9, 3)), "discs")) == vc.sauer_bound(9, 4)
    assert len(vc.dichotomies([[3], [1], [4], [15], [9]], "discs")) == comb(6, 2) + 1  # intervals


def test_the_subset_that_discs_miss_depends_on_the_points():
    # Convex: the diagonal that Delaunay's triangulation does not use, whichever it is.
    assert missing([[0, 0], [2, 0], [3, 3], [0, 2]], "discs") == {frozenset({0, 2})}
    assert missing([[0, 0], [3, 0], [2, 2], [0, 3]], "discs") == {frozenset({1, 3})}
    # One in the middle: the three around it.
    assert missing([[0, 0], [4, 0], [1, 1], [0, 4]], "discs") == {frozenset({0, 1, 3})}
    # On a circle: both diagonals, as for half-planes.
    assert missing([[0, 0], [1, 0], [1, 1], [0, 1]], "discs") == {frozenset({0, 2}), frozenset({1, 3})}


def test_boxes_in_any_dimension():
    cross = [[0, 0, -1], [0, 0, 1], [0, -1, 0], [0, 1, 0], [-1, 0, 0], [1, 0, 0]]
    assert vc.shatters(cross, "rectangles")
    assert vc.vc_dimension([*cross, [0, 0, 0], [2, 2, 2]], "rectangles") == 6
    assert len(vc.dichotomies([[3], [1], [4], [15], [9]], "rectangles")) == comb(6, 2) + 1


@pytest.mark.parametrize("k", [3, 4, 5])
def test_convex_polygons_shatter_2k_plus_1_points_on_a_circle(k):
    assert vc.shatters(circle(2 * k + 1), "convex-k-gons", k)
    every_second = {frozenset(range(0, 2 * k + 2, 2)), frozenset(range(1, 2 * k + 2, 2))}
    assert missing(circle(2 * k + 2), "convex-k-gons", k) == every_second


def test_a_polygon_is_bounded():
    # Every second point of a flat arc is cut off by a side of its own, all facing down: a fourth must close the top.
    points = [[100 * i, i * i] for i in range(-3, 4)]
    every_second = frozenset({0, 2, 4, 6})
    assert missing(points, "convex-k-gons", 3) == {every_second}
    assert missing(points, "convex-k-gons", 4) == set()
    reason = vc.why_not(points, every_second, "convex-k-gons", 3)
    assert reason == "a convex polygon that cuts the subset has at least 4 sides, and k = 3."


# Slow twins.


def separable_lp(points, inside, lift):
    """Ask HiGHS for c |x|^2 + a . x + b, at most -1 inside and at least 1 outside, with c >= 0 (c = 0 for halfspaces).

    A small c > 0 does no harm where c = 0 will do, so this decides for balls too.
    """
    X = np.array(points, dtype=float)
    y = np.array([-1.0 if i in inside else 1.0 for i in range(len(X))])
    Z = np.column_stack([(X * X).sum(axis=1), X, np.ones(len(X))])
    bounds = [(0, None if lift else 0)] + [(None, None)] * (Z.shape[1] - 1)
    return linprog(np.zeros(Z.shape[1]), -y[:, None] * Z, -np.ones(len(X)), bounds=bounds).status == 0


@pytest.mark.parametrize("family", ["halfspaces", "discs"])
@pytest.mark.parametrize(
    ("n", "d", "top", "seed"), [(5, 2, 2, 0), (5, 2, 3, 1), (6, 2, 20, 2), (6, 3, 1, 3), (5, 1, 3, 4)]
)
def test_halfspaces_and_discs_agree_with_linear_programs(family, n, d, top, seed):
    points = np.random.default_rng(seed).integers(0, top, (n, d), endpoint=True)
    expected = {s for s in subsets(n) if separable_lp(points, s, lift=family == "discs")}
    assert vc.dichotomies(points, family) == expected


FLAT = [(0, 1), (1, 2), (0, 0), (1, 1), (0, 2), (2, 2)]
SOLID = [(1, 2, 1), (1, 1, 0), (2, 2, 2), (2, 1, 0), (2, 0, 0), (0, 2, 2), (1, 1, 1)]


@pytest.mark.parametrize(("family", "points"), [("halfspaces", FLAT), ("halfspaces", SOLID), ("discs", SOLID)])
def test_points_of_which_many_lie_on_one_boundary_agree_with_linear_programs(family, points):
    expected = {s for s in subsets(len(points)) if separable_lp(points, s, lift=family == "discs")}
    assert vc.dichotomies(points, family) == expected


@some
@given(small_points)
def test_rectangles_agree_with_every_box_on_the_grid(points):
    ranges = [(low, high) for low in range(5) for high in range(low, 5)]
    boxes = {
        frozenset(i for i, (x, y) in enumerate(points) if a <= x <= b and c <= y <= d)
        for (a, b), (c, d) in product(ranges, ranges)
    }
    assert vc.dichotomies(points, "rectangles") == boxes | {frozenset()}


def triangles(points):
    """Return what triangles cut, trying three outer directions out of many: three between any two that matter."""
    X = np.array(points, dtype=float)
    ends = {np.arctan2(q[0] - p[0], p[1] - q[1]) for p in X for q in X if (p != q).any()}
    ends = np.array(sorted(ends))
    gaps = np.diff(np.append(ends, ends[0] + 2 * np.pi))
    angles = np.concatenate([ends + gaps * part for part in (0.25, 0.5, 0.75)])[np.tile(gaps, 3) > 1e-9]
    U = np.column_stack([np.cos(angles), np.sin(angles)])
    three = np.array(list(combinations(range(len(U)), 3)))
    turns = np.diff(np.sort(angles[three], axis=1), axis=1)
    largest = np.maximum(turns.max(axis=1), 2 * np.pi - turns.sum(axis=1))
    three = three[largest < np.pi - 1e-9]
    names = 1 << np.arange(len(X))
    found = {frozenset()}
    for s in subsets(len(X))[1:]:
        level = (U @ X[list(s)].T).max(axis=1)
        cut_off = ((level[:, None] + 1e-9 < U @ X.T) * names).sum(axis=1)
        held = names.sum() - sum(1 << i for i in s)
        if ((cut_off[three[:, 0]] | cut_off[three[:, 1]] | cut_off[three[:, 2]]) == held).any():
            found.add(s)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_triangles_agree_with_three_directions_out_of_many(seed):
    points = np.random.default_rng(seed).integers(0, 2 + seed, (5, 2))
    assert vc.dichotomies(points, "convex-k-gons", 3) == triangles(points)


@some
@given(small_points)
def test_polygons_with_many_sides_cut_every_subset_that_holds_its_hull(points):
    every = range(len(points))
    convex = {
        s
        for s in subsets(len(points))
        if all(
            q in s or vc.why_not([points[i] for i in s] + [points[q]], {len(s)}, "halfspaces") is None for q in every
        )
    }
    assert vc.dichotomies(points, "convex-k-gons", 2 * len(points) + 3) == convex


# Theorems.


@pytest.mark.parametrize(("family", "k"), EVERY_FAMILY)
@some
@given(points=small_points)
def test_pajor_and_sauer(family, k, points):
    cut = vc.dichotomies(points, family, k)
    n, sets = len(points), shattered(cut, len(points))
    dimension = vc.vc_dimension(points, family, k)
    assert dimension == max(map(len, sets))  # also: never more than the theorem at which the search stops
    assert vc.largest_shattered(points, family, k) in sets
    assert vc.shatters(points, family, k) == (dimension == n)
    assert len(cut) <= len(sets) <= vc.sauer_bound(n, dimension)


@pytest.mark.parametrize(("family", "k"), EVERY_FAMILY)
@some
@given(points=small_points)
def test_without_its_last_point_a_set_keeps_the_traces(family, k, points):
    if len(points) > 1:
        last = {len(points) - 1}
        cut = vc.dichotomies(points, family, k)
        assert vc.dichotomies(points[:-1], family, k) == {s - last for s in cut}


@pytest.mark.parametrize(("family", "k"), EVERY_FAMILY)
@some
@given(points=small_points)
def test_a_reason_exists_for_just_the_subsets_missing(family, k, points):
    cut = vc.dichotomies(points, family, k)
    for s in subsets(len(points)):
        reason = vc.why_not(points, s, family, k)
        assert (reason is None) == (s in cut)
        if isinstance(reason, vc.RadonPartition):
            assert reason.check(points)
            assert set(reason.inside) <= s
            assert s.isdisjoint(reason.outside)
            assert len(reason.inside) + len(reason.outside) <= (4 if family == "halfspaces" else 5)
        elif reason is not None:
            assert family in ("rectangles", "convex-k-gons")


@some
@given(small_points)
def test_families_within_families(points):
    triangle, quadrangle = (vc.dichotomies(points, "convex-k-gons", k) for k in (3, 4))
    halfplane, disc, box = (vc.dichotomies(points, family) for family in ("halfspaces", "discs", "rectangles"))
    everything = frozenset(range(len(points)))
    assert halfplane <= disc
    assert halfplane <= triangle <= quadrangle
    assert box <= quadrangle
    assert {everything - s for s in halfplane} == halfplane
    assert {frozenset(), everything} <= box & disc & triangle


@pytest.mark.parametrize(("family", "k"), EVERY_FAMILY)
@some
@given(points=small_points)
def test_equal_points_go_together(family, k, points):
    doubled = vc.dichotomies([*points, points[0]], family, k)
    assert all((0 in s) == (len(points) in s) for s in doubled)
    assert len(doubled) == len(vc.dichotomies(points, family, k))
    assert not vc.shatters([*points, points[0]], family, k)


@pytest.mark.parametrize(("family", "k"), EVERY_FAMILY)
@some
@given(points=small_points)
def test_scale_place_and_type_of_number_do_not_matter(family, k, points):
    expected = vc.dichotomies(points, family, k)
    thirds = [[Fraction(x, 3) - 7, Fraction(y, 3)] for x, y in points]
    floats = np.array(points) * 2.0**-40 + 1.0
    huge = [[x * 10**25 + 3, y * 10**25] for x, y in points]  # beyond numpy's integers
    for same in (thirds, floats, huge, np.array(points, dtype=np.uint8), np.array(points, dtype=np.float32)):
        assert vc.dichotomies(same, family, k) == expected


# The growth of the number of dichotomies, beside Sauer's bound and Cover's count.


@pytest.mark.parametrize(("name", "k"), EVERY_FAMILY)
def test_every_row_counts_the_dichotomies_of_the_first_points(name, k):
    for seed in range(5):
        points = np.random.default_rng(seed).integers(0, 4, (8, 2)).tolist()  # some of them equal
        table = vc.growth(points, name, k=k)
        assert table["n"] == list(range(1, 9))
        assert table["count"] == [len(vc.dichotomies(points[:n], name, k=k)) for n in range(1, 9)]
        assert all(count <= sauer for count, sauer in zip(table["count"], table["sauer"], strict=True))
        assert ("cover" in table.columns) == (name == "halfspaces")


def test_points_in_general_position_grow_as_cover_says():
    for d in (1, 2, 3):
        table = vc.growth(curve(9, d), "halfspaces")
        assert table.columns == ["n", "count", "sauer", "cover"]
        assert table["count"] == table["cover"] == [vc.cover_count(n, d) for n in range(1, 10)]
        assert table["sauer"] == [vc.sauer_bound(n, d + 1) for n in range(1, 10)]


def test_discs_grow_as_sauer_says():
    table = vc.growth(np.random.default_rng(0).standard_normal((12, 2)), "discs")
    assert table["count"] == table["sauer"]


# Long enumerations say how far they are, on standard error, and only if asked.


POINTS = np.random.default_rng(0).integers(-20, 20, (11, 2))
FAMILIES = [("halfspaces", None), ("discs", None), ("rectangles", None), ("convex-k-gons", 3)]


@pytest.mark.parametrize(("family", "k"), FAMILIES)
def test_shares_rise_to_one_and_change_nothing(monkeypatch, family, k):
    monkeypatch.setattr(arrangements, "BLOCK", 7)
    rows, shares = to_integers(read_points(POINTS)), []
    assert cut(rows, family, k or 0, shares.append) == cut(rows, family, k or 0)
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
    if family in ("halfspaces", "discs"):
        assert len(shares) > 5
        assert shares[-1] == 1


@pytest.mark.parametrize(("family", "k"), FAMILIES)
def test_the_work_and_what_is_left_of_it_are_shown_if_asked(monkeypatch, capsys, family, k):
    monkeypatch.setattr(Progress, "_due", lambda self, *_: 3.0 if self.active else None)
    answers = {}
    for verbose in (0, 1):
        for ask in (vc.dichotomies, vc.shatters, vc.vc_dimension, vc.largest_shattered):
            answers.setdefault(ask, set()).add(ask(POINTS, family, k, verbose=verbose))
        shown = capsys.readouterr()
        assert shown.out == ""
        assert bool(shown.err) == bool(verbose)
    assert all(len(same) == 1 for same in answers.values())
    line = re.compile(r"(subsets of 11 points|shattered subsets): \d+\.\d% in 3 s, about [\d,]+:\d\d left")
    assert all(line.fullmatch(text) for text in shown.err.splitlines())


def test_the_search_for_a_shattered_subset_counts_the_sets_behind_it():
    """Nothing is shattered, so all pairs are tried: the share is that of the sets of three before the pair."""
    shares = []
    counting._deepest([0b11] * 6, 2, 3, shares.append)
    assert shares == sorted(shares)
    assert shares[0] == 0
    shares = []
    counting._deepest([0b0101, 0b0011, 0b0000, 0b1111, 0b0110], 4, 3, shares.append)
    assert shares == sorted(shares)
    assert 0.5 < shares[-1] < 1
