"""Blocks below each other, and what their numbers take."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from helpers.point_sets import some
from rosenblatt import blocks
from rosenblatt.blocks import Block, stack


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
