"""The steps of Wolfe's algorithm against enumeration, and what must hold of them at every moment."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from helpers.separable_sets import nearest_square
from rosenblatt.kernels.wolfe import AT_ZERO, CLOSED, PAUSED, STATE, STUCK, nearest_steps


class Search:
    """The arrays of one search among the rows ``Z`` of one or two groups."""

    def __init__(self, Z, group, tol=1e-12, most=1000):
        self.Z, self.group, self.tol = np.array(Z, dtype=float), np.array(group, dtype=np.intp), tol
        n, d = self.Z.shape
        groups = int(max(group)) + 1
        c = max(math.hypot(*z) for z in self.Z.tolist()) or 1.0
        ends = np.zeros((n, 2))
        ends[np.arange(n), self.group] = c
        self.rows = np.hstack([self.Z, ends])
        room = min(n, d + groups)
        self.corral = (np.zeros(room, np.intp), np.zeros(room), np.zeros(room * (d + 2)), np.zeros(room * room))
        self.best = (np.zeros(room, np.intp), np.zeros(room), np.zeros(d + 2))
        self.u = np.append(np.mean([self.Z[self.group == g].mean(axis=0) for g in range(groups)], axis=0), [0.0, 0.0])
        self.scratch = (np.zeros(d + 2), np.zeros(d + 2), np.zeros(room), np.zeros(room), np.zeros(room))
        self.state = np.zeros(1, STATE)
        for name, value in {
            "groups": groups,
            "c": c,
            "noise": 1e-15,
            "most": most,
            "patience": 50,
            "low": -math.inf,
            "high": math.inf,
        }.items():
            self.state[0][name] = value

    def go(self, turns=1000):
        flat = self.rows.reshape(-1)
        return nearest_steps(
            flat, self.group, self.state, self.corral, self.best, self.u, self.scratch, self.tol, turns
        )

    def held(self):
        """Return the points of the corral, their rows, their weights, and Q and R as matrices."""
        places, weights, Q, R = self.corral
        count, room = int(self.state[0]["held"]), len(places)
        R = np.tril(R.reshape(room, room)[:count, :count])
        return places[:count], self.rows[places[:count]], weights[:count], Q.reshape(room, -1)[:count], R


def vertices(Z, group):
    """Return all points of one group, or all means of one point of each."""
    if not any(group):
        return [tuple(z) for z in Z]
    ones = [z for z, g in zip(Z, group, strict=True) if g == 0]
    others = [z for z, g in zip(Z, group, strict=True) if g == 1]
    return [tuple(Fraction(a + b, 2) for a, b in zip(z, v, strict=True)) for z in ones for v in others]


def small_sets(count):
    rng = np.random.default_rng(0)
    for _ in range(count):
        n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
        group = np.append([0, rng.integers(2)], rng.integers(0, 2, n - 2))
        yield rng.integers(-4, 5, (n, d)), group * group[1]


def test_the_shortest_mean_is_that_of_enumeration():
    at_zero = 0
    for Z, group in small_sets(100):
        search = Search(Z, group)
        ended = search.go()
        square = float(nearest_square(vertices(Z.tolist(), group)))
        assert ended in (CLOSED, AT_ZERO, STUCK)
        assert search.state[0]["high"] == pytest.approx(math.sqrt(square), rel=1e-9, abs=1e-14)
        if square > 0:
            scores = Z @ search.best[2][:-2]
            least = np.mean([np.min(scores[group == g]) for g in set(group.tolist())])
            assert search.state[0]["low"] == pytest.approx(least, rel=1e-12)
            assert least == pytest.approx(math.sqrt(square), rel=1e-9)
        at_zero += square == 0
    assert 15 < at_zero < 85


@pytest.mark.parametrize("groups", [1, 2])
def test_what_holds_at_every_step(groups):
    """A = R' Q with orthonormal Q, weights of fixed sums, and a mean that becomes shorter."""
    rng = np.random.default_rng(1)
    group = np.arange(40) % groups
    search = Search(rng.standard_normal((40, 6)) + [1.5, 0, 0, 0, 0, 0], group, tol=1e-9)
    most, lengths, dropped = 0, [], False
    while search.go(turns=1) == PAUSED:
        places, A, weights, Q, R = search.held()
        np.testing.assert_allclose(R @ Q, A, atol=1e-13 * search.state[0]["c"])
        np.testing.assert_allclose(Q @ Q.T, np.eye(len(Q)), atol=1e-13)
        assert len(set(places.tolist())) == len(places)
        assert (weights >= 0).all()
        for g in range(groups):
            assert weights[group[places] == g].sum() == pytest.approx(1 / groups, rel=1e-12)
        lengths.append(np.linalg.norm(weights @ A[:, :-2]))
        dropped, most = dropped or len(places) <= most, max(most, len(places))
    assert dropped
    assert len(lengths) > 4
    assert all(b < a * (1 + 1e-12) for a, b in pairwise(lengths))
    count, (best_places, best_weights, u) = int(search.state[0]["best"]), search.best
    mean = best_weights[:count] @ search.Z[best_places[:count]]
    assert np.linalg.norm(mean) == pytest.approx(search.state[0]["high"], rel=1e-12)
    assert search.state[0]["high"] - search.state[0]["low"] <= 1e-9 * search.state[0]["high"]
    assert np.linalg.norm(u) == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("margin", [1e-3, 1e-7, 1e-12])
@pytest.mark.parametrize("groups", [1, 2])
def test_thin_margins_keep_their_direction(groups, margin):
    """The mean itself has no digit left of its direction where it is 1e-12 of the points."""
    rng = np.random.default_rng(2)
    normal = np.array([3.0, 4.0, 0.0, 12.0]) / 13
    along = np.linalg.svd(normal[None, :])[2][1:]
    flat = np.vstack([rng.standard_normal((12, 3)), -rng.standard_normal((12, 3))]) @ along
    Z = flat + margin * (1 + rng.random((24, 1))) * normal
    search = Search(Z, np.arange(24) % groups, tol=1e-6)
    search.go()
    state = search.state[0]
    assert state["low"] > 0
    assert state["high"] - state["low"] <= max(1e-6, 20 * 2.0**-52 * state["c"] / margin) * state["high"]


def test_it_stops_when_told():
    rng = np.random.default_rng(3)
    search = Search(rng.standard_normal((30, 8)) + 1, np.arange(30) % 2, most=3)
    assert search.go() == STUCK
    assert search.state[0]["steps"] == 4
    whole, parts = (Search(search.Z, search.group) for _ in range(2))
    whole.go()
    while parts.go(turns=2) == PAUSED:
        pass
    assert whole.state.tobytes() == parts.state.tobytes()
    assert whole.best[2].tolist() == parts.best[2].tolist()


def test_equal_and_dependent_points_are_left_out():
    search = Search([[1.0, 2.0], [1.0, 2.0], [2.0, 4.0], [1.0, 2.0]], [0, 0, 0, 0])
    assert search.go() == CLOSED
    assert search.state[0]["best"] == 1
    assert search.state[0]["high"] == pytest.approx(math.sqrt(5), rel=1e-15)
    assert Search([[0.0, 0.0], [1.0, 1.0]], [0, 0]).go() == AT_ZERO
    assert Search([[1.0, 1.0], [-1.0, -1.0]], [0, 1]).go() == AT_ZERO


def test_a_search_that_is_stuck_keeps_the_corral_that_it_has():
    search = Search([[1.0], [2.0]], [0, 0])
    places, weights, Q, R = search.corral
    places[:], weights[:] = [0, 1], 0.5
    R[:] = [10.0, 0.0, 1.0, 1.0]  # column by column; with this Q, one point leaves, and the other has a negative sum
    Q.reshape(2, 3)[:, 1] = [10 * -0.9 + 1.0, 1.0]
    search.state[0]["held"] = 2
    assert search.go() == STUCK
    assert search.held()[0].tolist() == [1]
