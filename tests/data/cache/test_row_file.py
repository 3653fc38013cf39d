"""Blocks in files and back: all of their bits, or an error wherever a bit is another."""

import io
import threading
import time

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from rosenblatt.blocks import Block
from rosenblatt.data.cache import RowFile, RowFileWriter, batch_to_block, block_to_batch

Y = {
    "int": np.array([3, -1, 2]),
    "small": np.array([3, -1, 2], np.int8),
    "float": np.array([0.5, np.nan, -0.0]),
    "half": np.array([0.5, 1, 2], np.float16),
    "bool": np.array([True, False, True]),
    "text": np.array(["no", "", "sì\U0001f600"]),
    "other end first": np.array([1, 256, 3], ">i8"),
}
DENSE = np.array([[1.0, -0.0], [5e-324, 1.7976931348623157e308], [0.1, 3.0]])
SPARSE = sp.csr_array(([1.0, -0.0, 0.1], [0, 7, 3], [0, 2, 2, 3]), shape=(3, 9))
X = {"dense": DENSE, "float32": DENSE.clip(-9, 9).astype(np.float32), "sparse": SPARSE}
X |= {"wide": sp.csr_array((SPARSE.data, SPARSE.indices.astype(np.int64), SPARSE.indptr), shape=SPARSE.shape)}
X |= {"empty rows": sp.csr_array((3, 9)), "by columns": np.asfortranarray(DENSE)}


def bits(block):
    """All that a block of rows is."""
    features, y, weight = block.X, block.y, block.weight
    numbers = (features.data, features.indices, features.indptr) if sp.issparse(features) else (features,)
    told = y.tolist() if y.dtype.kind == "U" else y.astype(y.dtype.newbyteorder("=")).tobytes()
    shape, weights = features.shape, None if weight is None else weight.tobytes()
    return [a.tobytes() for a in numbers], features.dtype, shape, told, y.dtype.newbyteorder("="), weights


@pytest.mark.parametrize("features", X)
@pytest.mark.parametrize("labels", Y)
@pytest.mark.parametrize("weight", [None, np.array([0.0, 0.5, 3.0])])
def test_there_and_back(features, labels, weight):
    block = Block(X[features], Y[labels], 0, weight)
    back = batch_to_block(block_to_batch(block), 9)
    assert bits(back) == bits(block)
    if sp.issparse(back.X):
        assert back.X.has_canonical_format
    else:
        assert back.X.flags.c_contiguous
        assert back.X.flags.aligned


def test_numbers_beyond_the_last_row_are_left_behind():
    roomy = sp.csr_array((3, 9))
    roomy.indptr, roomy.indices, roomy.data = SPARSE.indptr, np.array([0, 7, 3, 8], np.int32), np.array([1, 2, 3, 4.0])
    assert batch_to_block(block_to_batch(Block(roomy, Y["int"], 0)), 9).X.data.tolist() == [1.0, 2.0, 3.0]


def test_what_is_no_block_for_a_file():
    with pytest.raises(ValueError, match="labels of type datetime64"):
        block_to_batch(Block(DENSE, np.array([0, 0, 0], "M8[s]"), 0))
    writer = RowFileWriter(io.BytesIO())
    writer.write(Block(DENSE, Y["int"], 0))
    with pytest.raises(ValueError, match="their columns change from label: int64"):
        writer.write(Block(DENSE, Y["text"], 0))


def written(features, labels, checked=True):
    """Return a file of three blocks, and these."""
    blocks = [Block(X[features], Y[labels], 0, weight, checked=checked) for weight in (None, np.ones(3), None)]
    writer = RowFileWriter(file := io.BytesIO())
    for block in blocks:
        writer.write(block)
    writer.finish({"n_features": X[features].shape[1], "rows": 9, "words": [[1, "sì"]]})
    return file.getvalue(), [bits(block) for block in blocks]


def read(content):
    rows = RowFile(io.BytesIO(content))
    return rows.facts, [bits(rows.block(k)) for k in range(len(rows))]


@pytest.mark.parametrize(("features", "labels"), [("sparse", "text"), ("dense", "bool")])
def test_every_flip_and_every_cut_is_found(features, labels):
    content, blocks = written(features, labels)
    facts, rows = read(content)
    assert rows == blocks
    assert (facts["rows"], facts["words"], facts["checked"]) == (9, [[1, "sì"]], True)
    mark = content.rindex(b"rosenblatt-rows")
    end = content.index(b'{"n_features"') - 8, content.index(b'{"n_features"')  # of the stream, for other tools
    rng = np.random.default_rng(0)
    for place in range(len(content)):
        broken = bytearray(content)
        broken[place] ^= 1 << rng.integers(8)
        if end[0] <= place < end[1]:
            assert read(broken) == (facts, blocks)
        else:
            with pytest.raises(ValueError, match=r"not complete|too short|too early|not those that were written"):
                read(broken)
    for size in range(0, len(content), 3):
        with pytest.raises(ValueError, match=r"not complete|too short|too early"):
            read(content[:size])
    assert mark > end[1]


def test_whether_rows_were_checked_is_remembered():
    assert read(written("dense", "int", checked=False)[0])[0]["checked"] is False


def test_other_tools_can_read_it():
    table = pa.ipc.open_stream(written("sparse", "text")[0]).read_all()
    rows = [{"label": label, "indices": i, "values": v} for label, i, v in
            zip(Y["text"].tolist(), [[0, 7], [], [3]], [[1.0, -0.0], [], [0.1]], strict=True)]  # fmt: skip
    assert table.drop(["weight"]).to_pylist() == rows * 3
    assert table["weight"].to_pylist() == [None] * 3 + [1.0] * 3 + [None] * 3


class Slow(io.BytesIO):
    """A file that others may come to between a seek and a read."""

    def seek(self, *place):
        try:
            return super().seek(*place)
        finally:
            time.sleep(1e-6)


def test_threads_read_at_once():
    content, blocks = written("sparse", "int")
    rows, wrong = RowFile(Slow(content)), []
    for k in range(3):
        rows.block(k)

    def work(seed):
        for k in np.random.default_rng(seed).integers(0, 3, 200):
            wrong.extend([k] if bits(rows.block(int(k))) != blocks[k] else [])

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
