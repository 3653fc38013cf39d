"""Blocks in files and back: all of their bits, or an error; files from strangers are refused, or sound."""

import io
import json
import os
import struct
import threading
import time
import zlib

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from helpers.forging import mutations
from rosenblatt import data
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


FORGERIES = int(os.environ.get("FORGERIES", "120"))
FINITE = np.array([[1.0, -2.0], [0.5, 3.0], [0.1, 3.0]])
FINITE_SPARSE = sp.csr_array(([1.0, 2.0, 0.1], [0, 7, 3], [0, 2, 2, 3]), shape=(3, 9))
TAIL = struct.Struct("<IQ15s")


def parts(content):
    """Return the messages of a file of rows and what it says of them."""
    _, size, _ = TAIL.unpack(content[-TAIL.size :])
    facts = json.loads(content[-TAIL.size - size : -TAIL.size])
    return [content[start : start + length] for start, length, _ in facts["messages"]], facts


def forged(messages, facts):
    """Return a file with these messages and facts, its places and checksums made right."""
    places, start = [], 0
    for message in messages:
        places.append([start, len(message), zlib.crc32(message)])
        start += len(message)
    return signed(b"".join(messages), facts | {"messages": places})


def signed(rows, facts):
    text = json.dumps(facts).encode()
    return rows + struct.pack("<iI", -1, 0) + text + TAIL.pack(zlib.crc32(text), len(text), b"rosenblatt-rows")


def one_block(X):
    writer = RowFileWriter(file := io.BytesIO())
    writer.write(Block(X, np.array([1, -1, 1]), 0, np.ones(3)))
    writer.finish({"n_features": X.shape[1], "rows": 3})
    return file.getvalue()


def rows_of(content):
    """Return the rows of a file, None where it is refused."""
    try:
        rows = RowFile(io.BytesIO(content))
        return [rows.block(k) for k in range(len(rows))]
    except (OSError, ValueError, pa.ArrowException):
        return None


@pytest.mark.parametrize("X", [FINITE, FINITE_SPARSE], ids=["dense", "sparse"])
def test_altered_messages_are_refused_or_sound(X):
    content = one_block(X)
    messages, facts = parts(content)
    assert forged(messages, facts) == content
    rng = np.random.default_rng(0)
    sound = 0
    for _ in range(FORGERIES):
        k = int(rng.integers(2))
        other = bytearray(messages[k])
        for _ in range(rng.integers(1, 4)):
            other[rng.integers(len(other))] = rng.choice([0, 1, 2, 127, 128, 255, rng.integers(256)])
        blocks = rows_of(forged([bytes(other) if i == k else message for i, message in enumerate(messages)], facts))
        for block in blocks or []:
            sound += 1
            values = block.X.data if sp.issparse(block.X) else block.X
            assert np.isfinite(values).all()
            assert len(block.y) == block.X.shape[0]
            if sp.issparse(block.X):
                block.X.check_format(full_check=True)
                assert all((np.diff(block.X[[i]].indices) > 0).all() for i in range(len(block)))
    assert 0 < sound < FORGERIES


@pytest.mark.parametrize(
    "X",
    [
        sp.csr_array(([1.0, 2.0], [7, 0], [0, 2, 2, 2]), shape=(3, 9)),
        sp.csr_array(([1.0, np.nan], [0, 7], [0, 2, 2, 2]), shape=(3, 9)),
        np.array([[1.0, np.inf]] * 3),
    ],
    ids=["columns that do not ascend", "not a number", "infinite"],
)
def test_rows_that_no_reader_makes_are_refused(X):
    with pytest.raises(ValueError, match="its rows are not as they were written"):
        RowFile(io.BytesIO(one_block(X))).block(0)
    assert rows_of(one_block(FINITE_SPARSE)) is not None


def test_a_column_beyond_the_last_is_refused():
    content = one_block(FINITE_SPARSE)
    messages, facts = parts(content)
    assert rows_of(forged(messages, facts | {"n_features": 8})) is not None
    assert rows_of(forged(messages, facts | {"n_features": 7})) is None
    assert rows_of(forged(messages, facts | {"n_features": 2**40})) is None


def test_compressed_rows_are_refused_before_they_take_memory():
    X = sp.csr_array((np.zeros(2_000_000), np.zeros(2_000_000, np.int32), [0, 2_000_000]), shape=(1, 1))
    batch = block_to_batch(Block(X, np.array([1]), 0))
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(stream := io.BytesIO(), batch.schema, options=options) as writer:
        writer.write_batch(batch)
    reader = pa.ipc.MessageReader.open_stream(stream.getvalue())
    messages = [message.serialize().to_pybytes() for message in reader]
    assert sum(map(len, messages)) < 20_000
    rows = RowFile(io.BytesIO(forged(messages, {"n_features": 1, "rows": 1, "checked": True})))
    before = pa.total_allocated_bytes()
    with pytest.raises(ValueError, match="compressed"):
        rows.block(0)
    assert pa.total_allocated_bytes() - before < 100_000


def test_parts_are_all_bytes_and_none_twice():
    content = one_block(FINITE)
    messages, facts = parts(content)
    rows, places = b"".join(messages), facts["messages"]
    assert signed(rows, facts) == content
    for other in (places + places[1:], places[:1], [], [[0, 2**62, 1]], [places[0], [0, *places[1][1:]]], [None], 1):
        assert rows_of(signed(rows, facts | {"messages": other})) is None
    assert rows_of(signed(b"", facts | {"messages": []})) is None


@pytest.mark.filterwarnings("ignore:rows cached in .* are damaged")
@pytest.mark.parametrize("name", ["rows.svm", "rows.csv"])
def test_forged_facts_are_refused_or_harmless(tmp_path, name):
    """A cache that says something strange of its rows is replaced; the rows are those of the file."""
    path, cache = tmp_path / name, tmp_path / "cache"
    path.write_text("1 1:2 3:4\n-1 2:1\n" if name == "rows.svm" else "a,b,y\n1,red,1\n2,blue,0\n3,red,1\n")
    options = {} if name == "rows.svm" else {"target": "y"}
    expected = [array.tolist() for array in dense(data.open(path, **options))]
    data.open(path, **options, cache=cache).read()
    content = cache.read_bytes()
    messages, facts = parts(content)
    rng = np.random.default_rng(0)
    every = [other for other in mutations(facts) if type(other) is dict]
    for number in rng.permutation(len(every))[:FORGERIES]:
        cache.write_bytes(signed(b"".join(messages), every[number]))
        stream = data.open(path, **options, cache=cache)
        X, y = dense(stream)
        assert [X[:, : len(expected[0][0])].tolist(), y.tolist()] == expected
        assert len(stream.feature_names or []) < 10
        assert stream.n_features == X.shape[1]


def dense(stream):
    X, y = stream.read()
    return (X.toarray() if sp.issparse(X) else X), y
