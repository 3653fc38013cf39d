"""Blocks in files and back: all of their bits, or an error; files from strangers are refused, or sound."""

import io
import json
import os
import struct
import threading
import time
import zlib

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.forging import mutations
from rosenblatt import data
from rosenblatt.blocks import Block
from rosenblatt.data.cache import RowFile, RowFileWriter

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


def stored(*blocks, **facts):
    """Return the bytes of a file of some blocks."""
    writer = RowFileWriter(file := io.BytesIO())
    for block in blocks:
        writer.write(block)
    writer.finish({"n_features": blocks[0].X.shape[1], "rows": sum(map(len, blocks)), **facts})
    return file.getvalue()


@pytest.mark.parametrize("features", X)
@pytest.mark.parametrize("labels", Y)
def test_there_and_back(features, labels):
    for weight in (None, np.array([0.0, 0.5, 3.0])):
        block = Block(X[features], Y[labels], 0, weight)
        back = RowFile(io.BytesIO(stored(block))).block(0)
        assert bits(back) == bits(block)
        if sp.issparse(back.X):
            assert back.X.has_canonical_format
        else:
            assert back.X.flags.c_contiguous
            assert back.X.flags.aligned


def test_numbers_beyond_the_last_row_are_left_behind():
    roomy = sp.csr_array((3, 9))
    roomy.indptr, roomy.indices, roomy.data = SPARSE.indptr, np.array([0, 7, 3, 8], np.int32), np.array([1, 2, 3, 4.0])
    assert RowFile(io.BytesIO(stored(Block(roomy, Y["int"], 0)))).block(0).X.data.tolist() == [1.0, 2.0, 3.0]


def test_labels_that_cannot_be_stored():
    with pytest.raises(ValueError, match="labels of type datetime64"):
        stored(Block(DENSE, np.array([0, 0, 0], "M8[s]"), 0))


def written(features, labels, checked=True):
    """Return a file of three blocks, and these."""
    blocks = [Block(X[features], Y[labels], 0, weight, is_validated=checked) for weight in (None, np.ones(3), None)]
    return stored(*blocks, words=[[1, "sì"]]), [bits(block) for block in blocks]


def read(content):
    rows = RowFile(io.BytesIO(content))
    return rows.facts, [bits(rows.block(k)) for k in range(len(rows))]


@pytest.mark.parametrize(("features", "labels"), [("sparse", "text"), ("dense", "bool")])
def test_every_flip_and_every_cut_is_found(features, labels):
    content, blocks = written(features, labels)
    facts, rows = read(content)
    assert rows == blocks
    assert (facts["rows"], facts["words"], facts["checked"]) == (9, [[1, "sì"]], True)
    rng = np.random.default_rng(0)
    for place in range(len(b"rosenblatt-rows"), len(content)):  # the mark at the start is asked for before
        broken = bytearray(content)
        broken[place] ^= 1 << rng.integers(8)
        with pytest.raises(ValueError, match=r"not complete|too short|too early|have changed"):
            read(broken)
    for size in range(0, len(content), 3):
        with pytest.raises(ValueError, match=r"not complete|too short|too early"):
            read(content[:size])


def test_whether_rows_were_checked_is_remembered():
    assert read(written("dense", "int", checked=False)[0])[0]["checked"] is False


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
    """Return the bytes of the arrays in a file of rows, and what it says of them."""
    _, size, _ = TAIL.unpack(content[-TAIL.size :])
    return content[: -TAIL.size - size], json.loads(content[-TAIL.size - size : -TAIL.size])


def signed(arrays, facts):
    """Return a file of these arrays and facts, with the right checksum of the facts."""
    text = json.dumps(facts).encode()
    return arrays + text + TAIL.pack(zlib.crc32(text), len(text), b"rosenblatt-rows")


def forged(arrays, facts):
    """Return a file of one block with its right checksum, too."""
    (block,) = facts["blocks"]
    return signed(arrays, facts | {"blocks": [[zlib.crc32(arrays[len(b"rosenblatt-rows") :]), *block[1:]]]})


def one_block(X):
    return stored(Block(X, np.array([1, -1, 1]), 0, np.ones(3)))


def rows_of(content):
    """Return the rows of a file, None where it is refused."""
    try:
        rows = RowFile(io.BytesIO(content))
        return [rows.block(k) for k in range(len(rows))]
    except (OSError, ValueError):
        return None


@pytest.mark.parametrize("X", [FINITE, FINITE_SPARSE], ids=["dense", "sparse"])
def test_altered_arrays_are_refused_or_sound(X):
    content = one_block(X)
    arrays, facts = parts(content)
    assert forged(arrays, facts) == content
    rng = np.random.default_rng(0)
    sound = 0
    for _ in range(FORGERIES):
        other = bytearray(arrays)
        for _ in range(rng.integers(1, 4)):
            other[rng.integers(15, len(other))] = rng.choice([0, 1, 2, 127, 128, 255, rng.integers(256)])
        for block in rows_of(forged(bytes(other), facts)) or []:
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
    with pytest.raises(ValueError, match="its rows have changed since they were written"):
        RowFile(io.BytesIO(one_block(X))).block(0)
    assert rows_of(one_block(FINITE_SPARSE)) is not None


def test_a_column_beyond_the_last_is_refused():
    arrays, facts = parts(one_block(FINITE_SPARSE))
    assert rows_of(signed(arrays, facts | {"n_features": 8})) is not None
    assert rows_of(signed(arrays, facts | {"n_features": 7})) is None
    assert rows_of(signed(arrays, facts | {"n_features": 2**40})) is None


def test_parts_are_all_bytes_and_those_of_a_block():
    content = one_block(FINITE)
    arrays, facts = parts(content)
    assert signed(arrays, facts) == content
    total, y, X, weight = facts["blocks"][0]
    strange = [[], [y], [y, X, weight, weight], [y, X, [*weight[:2], [2**62]]], [X, weight], [None], [1]]
    strange += [[y, [name, *X[1:]], weight] for name in ("data", "Z", None)]
    strange += [[y, ["X", code, X[2]], weight] for code in ("|O", "<f2", "<U1", "<i8", "", None)]
    strange += [[y, ["X", "<f8", shape], weight] for shape in ([6], [3, -2], [2, 3], [3, 2.0], "32", [True, 6])]
    for other in ([], [None], 1, [[y, X, weight]], *([[total, *block]] for block in strange)):
        assert rows_of(signed(arrays, facts | {"blocks": other})) is None
    assert rows_of(signed(b"", facts | {"blocks": []})) is None


def test_labels_of_strange_bytes_are_refused():
    for labels, code in ((np.array([0xD800, 1, 2], "<u4"), "<U1"), (np.array([2**31, 1, 2], "<u4"), "<U1")):
        arrays, facts = parts(stored(Block(FINITE, labels, 0)))
        facts["blocks"][0][1][1] = code
        assert rows_of(signed(arrays, facts)) is None
    arrays, facts = parts(stored(Block(FINITE, np.array([0, 2, 1], np.uint8), 0)))
    facts["blocks"][0][1][1] = "|b1"
    (block,) = rows_of(signed(arrays, facts))
    assert block.y.view(np.uint8).tolist() == [0, 1, 1]


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
    arrays, facts = parts(content)
    rng = np.random.default_rng(0)
    every = [other for other in mutations(facts) if type(other) is dict]
    for number in rng.permutation(len(every))[:FORGERIES]:
        cache.write_bytes(signed(arrays, every[number]))
        stream = data.open(path, **options, cache=cache)
        X, y = dense(stream)
        assert [X[:, : len(expected[0][0])].tolist(), y.tolist()] == expected
        assert len(stream.feature_names or []) < 10
        assert stream.n_features == X.shape[1]


def dense(stream):
    X, y = stream.read()
    return (X.toarray() if sp.issparse(X) else X), y
