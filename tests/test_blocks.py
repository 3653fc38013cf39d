"""Blocks below each other, and what their numbers take."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from helpers.point_sets import some
from rosenblatt import blocks
from rosenblatt.blocks import Block, join_blocks, rebatch, slice_block, stack


@some
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 6), st.booleans(), st.booleans()), min_size=1, max_size=5))
def test_stacked_is_vstack(shapes):
    rng, parts = np.random.default_rng(0), []
    for n, d, wide, single in shapes:
        X = sp.random_array((n, d), density=0.5, rng=rng, format="csr", dtype=np.float32 if single else np.float64)
        if wide:
            X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        parts.append(X)
    width = max(X.shape[1] for X in parts)
    expected = np.concatenate([np.pad(X.toarray(), [(0, 0), (0, width - X.shape[1])]) for X in parts])
    got = stack(parts)
    got.check_format(full_check=True)
    assert got.dtype == expected.dtype
    assert np.array_equal(got.toarray(), expected)
    assert got.has_canonical_format
    assert got.indices.dtype == (np.int64 if any(wide for *_, wide, _ in shapes) else np.int32)


def test_unsorted_rows_and_room_at_the_end():
    unsorted = sp.csr_array(([1.0, 2.0], [1, 0], [0, 2]), shape=(1, 2))
    assert not stack([unsorted, unsorted]).has_canonical_format
    twice = sp.csr_array(([1.0, 2.0], [1, 1], [0, 2]), shape=(1, 2))
    assert stack([twice, unsorted]).toarray().tolist() == [[0.0, 3.0], [2.0, 1.0]]
    roomy = sp.csr_array((1, 2))
    roomy.data, roomy.indices, roomy.indptr = np.arange(5.0), np.array([0, 1, 9, 9, 9], np.int32), np.array([0, 2])
    assert stack([roomy, roomy]).toarray().tolist() == [[0.0, 1.0], [0.0, 1.0]]


def test_more_numbers_than_32_bits_can_count(monkeypatch):
    made = SimpleNamespace()
    monkeypatch.setattr(blocks.sp, "csr_array", lambda parts, shape: made.__setattr__("parts", parts) or made)
    many = 2**31 - 1  # numbers that are not there, to spare memory
    part = SimpleNamespace(
        nnz=many,
        shape=(1, 3),
        indptr=np.array([0, many], np.int32),
        indices=np.empty(0, np.int32),
        data=np.empty(0),
        has_canonical_format=True,
    )
    stack([part, part, part])
    assert made.parts[2].tolist() == [0, many, 2 * many, 3 * many]
    assert {made.parts[1].dtype, made.parts[2].dtype} == {np.dtype(np.int64)}


@pytest.mark.parametrize("weight", [None, np.ones(2)])
def test_size_counts_all_arrays(weight):
    more = 0 if weight is None else 16
    assert Block(np.eye(2), np.ones(2, np.int8), 0, weight).nbytes == 32 + 2 + more
    assert Block(sp.csr_array(np.eye(2)), np.ones(2), 0, weight).nbytes == 2 * 8 + 2 * 4 + 3 * 4 + 16 + more


def blocks_of(sizes, sparse, weighted):
    """Blocks of these sizes: row k is k in column k % 3, its label k."""
    made, first = [], 0
    for number, n in enumerate(sizes):
        rows = np.arange(first, first + n)
        X = np.zeros((n, 3))
        X[np.arange(n), rows % 3] = rows
        weight = rows * 2.0 if weighted and number % 2 else None
        made.append(Block(sp.csr_array(X) if sparse else X, rows, first, weight, is_validated=True))
        first += n
    return made


@some
@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(1, 7), st.booleans(), st.booleans())
def test_rebatch_keeps_all_rows_in_order(sizes, size, sparse, weighted):
    made = blocks_of(sizes, sparse, weighted)
    got = list(rebatch(made, size))
    total = sum(sizes)
    assert [len(block) for block in got] == [size] * (total // size) + [total % size] * (total % size > 0)
    assert [block.first for block in got] == list(range(0, total, size))
    assert all(block.is_validated for block in got)
    weights = {k: 1.0 if block.weight is None else 2.0 * k for block in made for k in block.y.tolist()}
    for block in got:
        X = block.X.toarray() if sparse else block.X
        assert X.sum(axis=1).tolist() == block.y.tolist() == list(range(block.first, block.first + len(block)))
        weight = np.ones(len(block)) if block.weight is None else block.weight
        assert weight.tolist() == [weights[k] for k in block.y.tolist()]


def test_slices_and_joins():
    (block,) = blocks_of([5], sparse=False, weighted=False)
    assert slice_block(block, 0, 5) is block
    assert join_blocks([block]) is block
    assert slice_block(block, 1, 3).is_validated
    unchecked = Block(block.X, block.y, 5)
    assert not join_blocks([block, unchecked]).is_validated
    wide = Block(sp.csr_array([[0.0, 0.0, 0.0, 7.0]]), np.array([1]), 5)
    assert join_blocks([*blocks_of([5], True, False), wide]).X.shape == (6, 4)
