"""Files of rows from strangers, with right checksums: refused, or rows as sound as any."""

import io
import json
import os
import struct
import zlib

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from helpers.forging import mutations
from rosenblatt import data
from rosenblatt.blocks import Block
from rosenblatt.data.cache import RowFile, RowFileWriter, block_to_batch

FORGERIES = int(os.environ.get("FORGERIES", "400"))
DENSE = np.array([[1.0, -2.0], [0.5, 3.0], [0.1, 3.0]])
SPARSE = sp.csr_array(([1.0, 2.0, 0.1], [0, 7, 3], [0, 2, 2, 3]), shape=(3, 9))
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


def written(X):
    writer = RowFileWriter(file := io.BytesIO())
    writer.write(Block(X, np.array([1, -1, 1]), 0, np.ones(3)))
    writer.finish({"n_features": X.shape[1], "rows": 3})
    return file.getvalue()


def read(content):
    """Return the rows of a file, None where it is refused."""
    try:
        rows = RowFile(io.BytesIO(content))
        return [rows.block(k) for k in range(len(rows))]
    except (OSError, ValueError, pa.ArrowException):
        return None


@pytest.mark.parametrize("X", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_altered_messages_are_refused_or_sound(X):
    content = written(X)
    messages, facts = parts(content)
    assert forged(messages, facts) == content
    rng = np.random.default_rng(0)
    sound = 0
    for _ in range(FORGERIES):
        k = int(rng.integers(2))
        other = bytearray(messages[k])
        for _ in range(rng.integers(1, 4)):
            other[rng.integers(len(other))] = rng.choice([0, 1, 2, 127, 128, 255, rng.integers(256)])
        blocks = read(forged([bytes(other) if i == k else message for i, message in enumerate(messages)], facts))
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
        RowFile(io.BytesIO(written(X))).block(0)
    assert read(written(SPARSE)) is not None


def test_a_column_beyond_the_last_is_refused():
    content = written(SPARSE)
    messages, facts = parts(content)
    assert read(forged(messages, facts | {"n_features": 8})) is not None
    assert read(forged(messages, facts | {"n_features": 7})) is None
    assert read(forged(messages, facts | {"n_features": 2**40})) is None


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
    content = written(DENSE)
    messages, facts = parts(content)
    rows, places = b"".join(messages), facts["messages"]
    assert signed(rows, facts) == content
    for other in (places + places[1:], places[:1], [], [[0, 2**62, 1]], [places[0], [0, *places[1][1:]]], [None], 1):
        assert read(signed(rows, facts | {"messages": other})) is None
    assert read(signed(b"", facts | {"messages": []})) is None


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
