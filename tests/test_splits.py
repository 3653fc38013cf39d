from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.blocks import Block, rebatch
from rosenblatt.splits import GroupRows, LastRows, Part, Split

GOLDEN = 0x9E3779B97F4A7C15
labels = st.lists(st.sampled_from(["a", "a", "b", "c"]), min_size=1, max_size=60)


def held(split, y):
    (mask,) = split.held_out([np.array(y)])
    return mask


def mixed(number):
    """Return splitmix64's output for the state ``number`` times GOLDEN, in Python's integers."""
    z = number * GOLDEN % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def row_by_row(split, y):
    """Return which rows a split holds out, from the number of each class and of each row in its class."""
    counts, out = {}, []
    for label in y:
        place = counts[label] = counts.get(label, -1) + 1
        start = split.seed + (list(counts).index(label) << 40)
        group = place // split.size * split.size
        order = sorted(range(split.size), key=lambda k: mixed(mixed(group + start) + k))
        if split.keeps_first and group == 0:
            order = [*(k for k in order if k), 0]
        out.append(split.first <= order.index(place - group) < split.stop)
    return out


@settings(max_examples=100, deadline=None)
@given(labels, st.integers(0, 5), st.sampled_from([Split.of_share(0.3, 7), *Split.of_folds(3, 2**63)]))
def test_the_split_is_that_of_its_definition(y, size, split):
    expected = row_by_row(split, y)
    for kind in (np.array(y), np.array(y, object), np.array([ord(label) for label in y]), np.array(y) == "a"):
        parts = np.split(kind, range(size, len(y), size)) if size else [kind]
        found = np.concatenate(list(split.held_out(parts))).tolist()
        assert found == (expected if kind.dtype != bool else row_by_row(split, kind.tolist()))


def test_labels_of_several_types_are_one_class_where_they_are_equal():
    y = [np.array([1, 2, 2, 1]), np.array([2.0, 1.0, 2.0, 1.0]), np.array([2, 3, 1, 2])]
    split = Split.of_share(0.5, 1)
    assert np.concatenate(list(split.held_out(y))).tolist() == held(split, np.concatenate(y)).tolist()


@settings(max_examples=50, deadline=None)
@given(labels, st.integers(0, 60))
def test_a_split_goes_on_from_the_counts_of_earlier_rows(y, cut):
    y, split = np.array(y), Split.of_share(0.3, 4)
    (later,) = split.mark([Block(np.zeros((len(y[cut:]), 1)), y[cut:], cut)], Counter(y[:cut].tolist()))
    assert later.held_out.tolist() == held(split, y)[cut:].tolist()


@settings(max_examples=100, deadline=None)
@given(labels, st.integers(1, 7), st.integers(0, 5), st.sampled_from([0.2, 0.25, 0.3, 0.5, 0.8]))
def test_what_is_held_out_does_not_depend_on_blocks(y, size, seed, share):
    split = Split.of_share(share, seed)
    parts = [np.array(y[start : start + size]) for start in range(0, len(y), size)]
    assert np.concatenate(list(split.held_out(parts))).tolist() == held(split, y).tolist()


@settings(max_examples=100, deadline=None)
@given(labels, st.integers(2, 6), st.integers(0, 5))
def test_folds_hold_out_each_row_once_and_classes_evenly(y, folds, seed):
    masks = np.array([held(split, y) for split in Split.of_folds(folds, seed)])
    assert (masks.sum(axis=0) == 1).all()
    for label in set(y):
        sizes = masks[:, np.array(y) == label].sum(axis=1)
        assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize(("share", "of_100"), [(0.2, 20), (0.25, 25), (0.3, 30), (0.5, 50), (0.9, 90), (0.1, 10)])
def test_each_class_has_its_share_and_a_row_to_learn_from(share, of_100):
    y = np.array(["rare"] + ["a"] * 100 + ["b"] * 300)
    for seed in range(20):
        mask = held(Split.of_share(share, seed), y)
        assert not mask[0]
        assert mask[y == "a"].sum() == of_100
        assert mask[y == "b"].sum() == 3 * of_100


def test_every_place_is_drawn_alike_and_seeds_differ():
    counts = Counter()
    for seed in range(400):
        counts.update(np.flatnonzero(held(Split.of_share(0.2, seed), ["a"] * 10)[5:]).tolist())
    assert set(counts) == set(range(5))
    assert min(counts.values()) > 50
    first, second = (held(Split.of_share(0.2, seed), ["a"] * 200).tolist() for seed in (0, 1))
    assert first != second


def test_parts_are_numbered_from_0_and_keep_weights():
    y = np.arange(40) % 2
    blocks = [Block(np.arange(40.0)[:, None], y, 0, np.arange(40) / 2)]
    split = Split.of_share(0.25, 3)
    mask = held(split, y)
    for part in (True, False):
        found = list(Part(split, part)(rebatch(blocks, 7)))
        assert np.concatenate([block.X for block in found]).ravel().tolist() == np.flatnonzero(mask == part).tolist()
        assert np.concatenate([block.weight for block in found]).tolist() == (np.flatnonzero(mask == part) / 2).tolist()
        assert [block.first for block in found] == np.cumsum([0, *map(len, found[:-1])]).tolist()


@pytest.mark.parametrize(
    ("share", "of_1000"), [(0.01, 10), (0.03, 30), (0.33, 333), (0.07, 70), (0.97, 970), (0.99, 990), (0.001, 1)]
)
def test_uncommon_shares_are_held_out_too(share, of_1000):
    assert abs(held(Split.of_share(share, 1), ["a"] * 1000).sum() - of_1000) <= 1


@pytest.mark.parametrize("cut", [[12], [5, 7], [1] * 12, [11, 1]])
def test_the_last_rows_do_not_depend_on_the_blocks(cut):
    y = np.array(list("aabbabcabcab"))
    starts = np.cumsum([0, *cut])
    blocks = [Block(np.arange(a, b)[:, None], y[a:b], a) for a, b in pairwise(starts)]
    split = LastRows.of_share(0.25, 12)
    parts = {held: list(Part(split, held)(blocks)) for held in (False, True)}
    rows = {held: np.concatenate([block.X[:, 0] for block in part]).tolist() for held, part in parts.items()}
    assert rows == {False: list(range(9)), True: [9, 10, 11]}


@pytest.mark.parametrize(
    ("share", "rows", "first"), [(0.2, 10, 8), (0.01, 5, 4), (0.99, 5, 1), (0.5, 2, 1), (0.2, 7, 6)]
)
def test_the_last_rows_are_at_least_one_and_not_all(share, rows, first):
    assert LastRows.of_share(share, rows).first == first


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.99])
def test_a_group_is_in_one_part(share):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, 500).tolist()
    split = GroupRows.of_share(share, groups, seed=3)
    held, others = (
        {group for group, is_held in zip(groups, split.held, strict=True) if is_held == part} for part in (1, 0)
    )
    assert held
    assert others
    assert not held & others
    assert (split.groups_held, split.groups) == (len(held), 40)
    largest = max(map(groups.count, groups))
    assert abs(split.held.sum() - share * 500) <= largest
    blocks = [Block(np.arange(a, b)[:, None], np.zeros(b - a), a) for a, b in pairwise([0, 7, 300, 500])]
    rows = [row for block in Part(split, True)(blocks) for row in block.X[:, 0].tolist()]
    assert rows == np.flatnonzero(split.held).tolist()
    assert GroupRows.of_share(share, list(map(str, groups)), seed=3).held.tolist() == split.held.tolist()


def test_one_group_and_other_rows_are_errors():
    with pytest.raises(ValueError, match="expected rows of at least two groups, got 1: give another column"):
        GroupRows.of_share(0.2, ["ada"] * 9, seed=0)
    four = [Block(np.zeros((4, 1)), np.zeros(4), 0)]
    for groups in ("abc", "abcde"):
        with pytest.raises(ValueError, match=f"expected {len(groups)} rows as when the groups were read, got 4"):
            list(Part(GroupRows.of_share(0.5, groups, seed=0), held=True)(four))
    seeds = {tuple(GroupRows.of_share(0.5, list("abcdefgh"), seed=k).held.tolist()) for k in range(9)}
    assert len(seeds) > 5


def test_parts_of_other_splits_have_other_recipes():
    groups = GroupRows.of_share(0.5, list("abcd"), 0), GroupRows.of_share(0.5, list("abcb"), 0)
    splits = (LastRows(3), LastRows(4), Split(5, 0, 1, 0), *groups)
    recipes = [Part(split, held).recipe for split in splits for held in (False, True)]
    assert len({tuple(recipe) for recipe in recipes}) == 10
