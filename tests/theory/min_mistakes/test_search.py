"""The fewest mistakes against a count over all subsets, on sets full of ties; limits, large data, odd input."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.separable_sets import is_separable
from rosenblatt import Certificate, FewestMistakes, fewest_mistakes, separability
from rosenblatt.progress import Budget
from rosenblatt.theory.min_mistakes import hitting_set as hitting
from rosenblatt.theory.min_mistakes import search as fewest
from rosenblatt.theory.min_mistakes.answers import proved_bound


def naive_fewest(X, y):
    """Return the size of the smallest set of rows without which an exact linear program separates the rest."""
    n = len(y)
    signs = np.where(y > 0, 1.0, -1.0)
    for size in range(n):
        for removed in combinations(range(n), size):
            rest = np.setdiff1d(np.arange(n), removed)
            if abs(signs[rest].sum()) == len(rest) or is_separable(X[rest], signs[rest]):
                return size
    raise AssertionError("one row is always separable")


def tied_set(seed):
    rng = np.random.default_rng(seed)
    d, n, size = int(rng.integers(0, 5)), int(rng.integers(1, 11)), int(rng.integers(1, 4))
    return rng.integers(-size, size + 1, (n, d)).astype(float), rng.integers(0, 2, n)


def flipped(n, d, share, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = (X @ rng.standard_normal(d) > 0).astype(int)
    flips = rng.random(n) < share
    return X, np.where(flips, 1 - y, y), int(flips.sum())


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 300), marks=pytest.mark.slow)])
def test_it_is_exact_on_small_sets(seeds):
    for seed in seeds:
        X, y = tied_set(seed)
        found = fewest_mistakes(X, y)
        assert found.low == found.high == len(found.rows) == naive_fewest(X, y), seed
        assert found.check(X, y)
        again = Certificate.from_json(found.to_json())
        assert again.check(X, y)
        assert again.to_json() == found.to_json()
        rest = np.delete(np.arange(len(y)), found.rows)
        assert len(rest) == 0 or separability(X[rest], y[rest])


def test_sparse_rows_have_the_same_answer():
    for seed in range(8):
        X, y = tied_set(seed)
        found = fewest_mistakes(sp.csr_array(X), y)
        assert found.low == found.high == fewest_mistakes(X, y).high
        assert found.check(sp.csr_array(X), y)
        assert found.check(X, y)


def test_stored_zeros_and_negative_zeros_are_zeros():
    X = sp.csr_array((np.array([0.0, -0.0]), np.array([0, 0]), np.array([0, 1, 2, 2])), shape=(3, 1))
    assert fewest_mistakes(X, [0, 0, 1]).high == fewest_mistakes(X.toarray(), [0, 0, 1]).high == 1


def test_copies_of_a_row_with_both_labels_count_as_the_fewer():
    X = np.repeat([[0.0, 1.0], [2.0, 3.0], [5.0, 1.0]], [70, 40, 10], axis=0)
    y = np.concatenate([np.arange(70) < 30, np.arange(40) < 25, np.zeros(10)]).astype(int)
    found = fewest_mistakes(X, y)
    assert found.low == found.high == 30 + 15
    assert len(found.cores) < 10
    assert found.check(X, y)
    assert fewest_mistakes(np.empty((1000, 0)), np.arange(1000) < 300).low == 300


@pytest.mark.parametrize(("n", "d", "share"), [(50, 2, 0.1), (100, 2, 0.1), (60, 5, 0.05)])
def test_few_mistakes_are_found_exactly(n, d, share):
    X, y, flips = flipped(n, d, share)
    found = fewest_mistakes(X, y)
    assert 0 < found.low == found.high <= flips
    assert found.check(X, y)


@pytest.mark.parametrize(("n", "d", "seed"), [(28, 3, 3), pytest.param(30, 4, 4, marks=pytest.mark.slow)])
def test_where_disjoint_cores_are_not_enough_a_tree_proves_it(n, d, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), rng.integers(0, 2, n)
    found = fewest_mistakes(X, y)
    assert found.low == found.high
    assert len(found.tree) > 1
    assert found.check(X, y)
    assert Certificate.from_json(found.to_json()).check(X, y)


def test_the_bracket_holds_where_time_is_short():
    X, y, flips = flipped(20_000, 20, 0.05)
    found = fewest_mistakes(X, y, max_seconds=0.5)
    assert found.low <= flips
    assert found.low <= found.high
    assert found.check(X, y)


def best_threshold(x, y):
    """Return the fewest mistakes of any threshold on a line, either way round, by sorting."""
    places, starts = np.unique(x, return_index=True)
    assert len(places) == len(x), "the points must differ"
    labels = y[starts]
    below = (
        np.concatenate([[0], np.cumsum(labels)]) + (labels == 0).sum() - np.concatenate([[0], np.cumsum(1 - labels)])
    )
    return int(min(below.min(), len(y) - below.max()))


LONG_LINES = [pytest.param(*case, marks=pytest.mark.slow) for case in ((60, None), (600, None), (300, 1), (2000, 2))]


@pytest.mark.parametrize(("n", "seed"), [(30, None), (60, 0), *LONG_LINES])
def test_on_a_line_the_lower_end_is_at_least_half_of_the_truth(n, seed, monkeypatch):
    share = 1.0 if n > 60 else 0.2  # of the work
    monkeypatch.setattr("rosenblatt.theory.min_mistakes.search.SEARCH", share * 4e9)
    monkeypatch.setattr("rosenblatt.theory.min_mistakes.search.PROOF", share * 2e8)
    x = np.arange(n) * 1.0
    y = np.arange(n) % 2 if seed is None else np.random.default_rng(seed).integers(0, 2, n)
    found = fewest_mistakes(x[:, None], y)
    truth = best_threshold(x, y)
    assert truth / 2 <= found.low <= truth == found.high
    assert found.check(x[:, None], y)


class Clock:
    """A clock that advances by a tenth of a second whenever it is read."""

    def __init__(self):
        self.time = 0.0

    def monotonic(self):
        self.time += 0.1
        return self.time


def test_every_stage_leaves_time_for_the_next(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("rosenblatt.progress.time", clock)
    X, y, _ = flipped(2000, 30, 0.2)
    found = fewest_mistakes(X, y, max_seconds=60)
    assert clock.time < 90
    assert 0 < found.low < found.high < 1000
    assert found.check(X, y)


def test_where_no_time_is_left_nothing_is_searched(monkeypatch):
    called = []
    monkeypatch.setattr("rosenblatt.theory.min_mistakes.hyperplanes.TrainingRun", called.append)
    monkeypatch.setattr("rosenblatt.theory.min_mistakes.search.separability", called.append)
    X, y, _ = flipped(200, 3, 0.2)
    found = fewest_mistakes(X, y, max_seconds=1e-9)
    assert found.low == 0 < found.high < 200
    assert found.check(X, y)
    assert not called


@pytest.mark.parametrize("fails_from", [0, 1, 2, 5])
def test_a_linear_program_that_fails_loses_nothing(fails_from, monkeypatch):
    packed, calls = hitting.BranchAndBound._fractional_packing, []

    def failing(*arguments):
        calls.append(arguments)
        return packed(*arguments) if len(calls) <= fails_from else ((), None)

    monkeypatch.setattr(hitting.BranchAndBound, "_fractional_packing", failing)
    cores = [np.array([k, (k + 1) % 41]) for k in range(41)]  # a ring: 41 / 2 by shares, at least 20 are disjoint
    low, tree = hitting.BranchAndBound(cores, np.ones(41, dtype=np.int64), Budget(1e9, None)).prove(41, ())
    assert low == (21 if fails_from else 20)
    assert proved_bound(tree, [core.tolist() for core in cores], {}) == low


def naive_groups(X, signs):
    groups = {}
    for i, (row, sign) in enumerate(zip(X.tolist(), signs, strict=True)):
        groups.setdefault((*row, sign), []).append(i)
    return [*groups.values()]


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_equal_rows_are_found(convert):
    for seed in range(30):
        X, y = tied_set(seed)
        X = X * -0.0 if seed % 5 == 0 else X / 3
        firsts, copies = fewest._equal_rows(convert(X), y)
        groups = naive_groups(X + 0.0, y.tolist())
        assert firsts.tolist() == [group[0] for group in groups]
        assert copies == {group[0]: group for group in groups if len(group) > 1}


def test_separable_data_needs_no_removal():
    X, y, _ = flipped(200, 3, 0.0)
    found = fewest_mistakes(X, y)
    assert (found.low, found.high, found.cores) == (0, 0, ())
    assert found.check(X, y)
    assert str(found) == "No row needs to be removed: a hyperplane separates the 200 rows."


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_extreme_scales(scale):
    X = scale * np.array([[0, 0], [0, 1], [1, 0], [1, 1], [3, 1]])
    found = fewest_mistakes(X, [0, 1, 1, 0, 0])
    assert found.low == found.high == 1
    assert found.check(X, [0, 1, 1, 0, 0])


def test_a_thin_set_is_separated_by_integers_or_floats():
    X = np.array([[0.1, 0.3], [0.2, 0.6], [0.3, 0.9], [0.2, 0.6]])
    found = fewest_mistakes(X, [1, 0, 1, 1])
    assert found.low == found.high == 1  # of the two equal rows; the others look collinear and are not
    assert found.check(X, [1, 0, 1, 1])


def test_one_class_and_one_row():
    for y in ([1, 1, 1], [-1, -1, -1], ["a", "a", "a"]):
        found = fewest_mistakes([[0.0], [0.0], [1.0]], y)
        assert found.high == 0
        assert found.check([[0.0], [0.0], [1.0]], y)
    assert fewest_mistakes([[3.0]], [1]).high == 0


def test_the_same_answer_twice():
    X, y, _ = flipped(40, 3, 0.2, seed=3)
    assert fewest_mistakes(X, y).to_json() == fewest_mistakes(X, y).to_json()


def test_it_shows_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr("rosenblatt.progress.Progress._due", lambda *_: 3.0)
    X, y, _ = flipped(60, 2, 0.2)
    assert isinstance(fewest_mistakes(X, y, verbose=1), FewestMistakes)
    assert "rows to remove, 3 s" in capsys.readouterr().err


def test_what_it_does_not_take():
    with pytest.raises(ValueError, match="expected two classes, got 3: compare one class with the rest"):
        fewest_mistakes([[0.0], [1.0], [2.0]], [0, 1, 2])
    for wrong in (0, -1.0, "soon", True, float("nan")):
        with pytest.raises(ValueError, match="max_seconds must be a number of seconds above 0 or None, got"):
            fewest_mistakes([[0.0]], [1], max_seconds=wrong)
