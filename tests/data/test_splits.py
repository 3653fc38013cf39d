from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.blocks import Block, rebatch
from rosenblatt.data.splits import Part, Split

labels = st.lists(st.sampled_from(["a", "a", "b", "c"]), min_size=1, max_size=60)


def held(split, y):
    (mask,) = split.held_out([np.array(y)])
    return mask


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
    ("share", "of_1000"), [(0.01, 10), (0.03, 30), (0.33, 333), (0.07, 70), (0.97, 970), (0.99, 990)]
)
def test_uncommon_shares_are_held_out_too(share, of_1000):
    assert abs(held(Split.of_share(share, 1), ["a"] * 1000).sum() - of_1000) <= 1
