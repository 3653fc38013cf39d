"""Where batches come from: streams in windows that do not depend on the cut, classes and columns that come late."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.blocks import Block
from rosenblatt.training.batches import InMemory, NewClass, Streamed, as_blocks, make_batch, window_order


def plain(block):
    return block.X, block.y


def stream(blocks, classes=None, **options):
    return Streamed(blocks, classes, validate=plain, **options)


def cut(X, y, size):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


X, Y = np.arange(60.0).reshape(30, 2), np.arange(30) % 3


@pytest.mark.parametrize("size", [1, 7, 30])
@pytest.mark.parametrize("window", [None, 4, 64])
def test_rows_come_in_order_however_they_are_cut(size, window):
    batches = list(stream(cut(X, Y, size), [0, 1, 2]).batches(0, window))
    assert np.array_equal(np.concatenate([batch.rows.matrix for batch in batches]), X)
    assert np.concatenate([batch.labels for batch in batches]).tolist() == Y.tolist()
    firsts = np.cumsum([0, *(batch.rows.n for batch in batches)])[:-1]
    assert [batch.first for batch in batches] == firsts.tolist()
    if window:
        assert all(batch.rows.n == window for batch in batches[:-1])


@pytest.mark.parametrize("row", [0, 1, 13, 29, 30])
def test_a_stream_goes_on_from_any_row(row):
    batches = list(stream(cut(X, Y, 8), [0, 1, 2]).batches(row))
    rows = np.concatenate([np.empty((0, 2)), *(batch.rows.matrix for batch in batches)])
    assert np.array_equal(rows, X[row:])
    assert not batches or batches[0].first == row


def test_a_class_that_is_not_known_starts_again_where_that_can_be():
    source = stream(cut(X, np.r_[Y[:20] % 2, Y[20:]], 10))
    assert source.classes.tolist() == [0, 1]
    with pytest.raises(NewClass) as found:
        list(source.batches())
    found.value.source.read_classes()
    assert source.classes.tolist() == [0, 1, 2]
    assert len(list(source.batches())) == 3


def test_what_is_read_once_takes_classes_as_they_come():
    source = stream(iter(cut(X, np.r_[Y[:20] % 2, Y[20:]], 10)))
    assert not source.rereadable
    known = [batch.classes.tolist() for batch in source.batches()]
    assert known == [[0, 1], [0, 1], [0, 1, 2]]


def test_sparse_blocks_get_wider_and_are_padded():
    S = sp.csr_array(X)
    source = stream([(S[:5, :1], Y[:5]), (S[5:10], Y[5:10]), (S[10:15, :1], Y[10:15])], [0, 1, 2])
    assert [batch.rows.d for batch in source.batches()] == [1, 2, 2]
    assert [batch.rows.d for batch in source.batches()] == [2, 2, 2]


def test_empty_blocks_are_left_out_and_an_empty_stream_is_an_error():
    assert [len(block) for block in as_blocks([(X[:0], Y[:0]), (X[:3], Y[:3])])] == [3]
    with pytest.raises(ValueError, match="empty stream"):
        stream([])
    with pytest.raises(ValueError, match="expected blocks of the form"):
        list(as_blocks([X]))


def test_a_data_set_in_memory_is_one_window():
    source = InMemory(make_batch(X, Y.astype(np.int32), np.array([0, 1, 2]), None, None))
    (batch,) = source.batches(window=4)
    assert batch.rows.n == 30
    source.set_classes(np.array([-1, 0, 1, 2]))
    (batch,) = source.batches()
    assert batch.classes[batch.labels].tolist() == Y.tolist()


def test_a_regression_target_is_a_sentence():
    block = Block(X[:2], np.array([1.0, 2.5]), 0, is_validated=True)
    with pytest.raises(ValueError, match=r"expected class labels, got the number 2\.5"):
        list(Streamed([block], [1.0, 2.5]).batches())


def test_orders_depend_on_row_numbers_alone():
    assert sorted(window_order(9, 3, 1, 2).tolist()) == list(range(9))
    assert window_order(9, 3, 1, 2).tolist() != window_order(9, 3, 1, 3).tolist()
