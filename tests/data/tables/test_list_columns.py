"""Sparse rows in columns of lists: those of svmlight text, whatever the types and the file; faults in one sentence."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp

from rosenblatt import AveragedPerceptron, data
from rosenblatt.blocks import stack
from rosenblatt.data.tables import arrow

N, COLUMNS = 240, 100
TYPES = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]


def some_rows(whole=False):
    """Return rows, some of them empty, some with stored zeros, and labels."""
    rng = np.random.default_rng(0)
    X = sp.random_array((N, COLUMNS), density=0.05, rng=rng, format="csr")
    powers = 10.0 ** rng.integers(-30, 30, X.nnz)
    X.data[:] = rng.integers(0, 9, X.nnz) if whole else rng.standard_normal(X.nnz) * powers
    X.sort_indices()
    assert (np.diff(X.indptr) == 0).any()
    assert not whole or (X.data == 0).any()
    return X, np.where(rng.random(N) < 0.5, 1, -1)


def lists_of(X, values=float, indices=int):
    rows = [slice(X.indptr[i], X.indptr[i + 1]) for i in range(X.shape[0])]
    return [[indices(j) for j in X.indices[row]] for row in rows], [[values(v) for v in X.data[row]] for row in rows]


def table_of(X, y, index=None, value=None, large=False, nullable=True):
    kind = pa.large_list if large else pa.list_
    python = {pa.float16(): np.float16, None: float}.get(value, int if pa.types.is_integer(value or F8) else float)
    indices, values = lists_of(X, python)
    types = [kind(pa.field("item", t, nullable=nullable)) for t in (index or pa.int32(), value or pa.float64())]
    return pa.table({"y": y, "indices": pa.array(indices, types[0]), "values": pa.array(values, types[1])})


def write_text(path, X, y):
    """Write rows as svmlight text that counts from 0, or as Vowpal Wabbit's."""
    bar = " |" if path.suffix == ".vw" else ""
    lines = (
        f"{label}{bar} " + " ".join(f"{j}:{v!r}" for j, v in zip(row, cells, strict=True))
        for label, row, cells in zip(y.tolist(), *lists_of(X), strict=True)
    )
    path.write_text("\n".join(lines) + "\n")
    return path


def assert_rows(stream, X, y):
    """The rows are these, bit for bit, as canonical CSR; return the number of blocks."""
    blocks = list(stream)
    got = stack([block.X for block in blocks])
    assert all(block.X.has_canonical_format and block.X.indices.dtype == np.int32 for block in blocks)
    assert got.indptr.tolist() == X.indptr.tolist()
    assert got.indices.tolist() == X.indices.tolist()
    assert got.data.tolist() == X.data.tolist()
    assert np.concatenate([block.y for block in blocks]).tolist() == y.tolist()
    assert [block.first for block in blocks] == np.cumsum([0, *map(len, blocks)])[:-1].tolist()
    assert (stream.rows_read, stream.share_read) == (len(y), 1.0)
    return len(blocks)


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.arrows"])
@pytest.mark.parametrize(("large", "nullable"), [(False, False), (True, True)])
def test_the_rows_are_those_of_text(tmp_path, monkeypatch, name, large, nullable):
    monkeypatch.setattr(arrow, "LIST_ROWS", 32)
    X, y = some_rows()
    svmlight = data.open(write_text(tmp_path / "a.svm", X, y), zero_based=True)
    write(table_of(X, y, large=large, nullable=nullable), tmp_path / name, 50)
    assert_rows(svmlight, X, y)
    assert_rows(data.open(write_text(tmp_path / "a.vw", X, y), bits=7), X, y)
    for threads in (0, 3):
        stream = data.open(tmp_path / name, "y", threads=threads)
        for _ in range(2):
            assert assert_rows(stream, X, y) >= 4
            assert stream.n_features == svmlight.n_features == X.indices.max() + 1
        assert stream.feature_names is None
        for block_rows in (7, 1000):
            assert_rows(data.open(tmp_path / name, "y", threads=threads, block_rows=block_rows), X, y)
    for shuffle in (True, False):
        options = {"max_iter": 3, "random_state": 0, "shuffle": shuffle}
        expected = AveragedPerceptron(**options).fit_stream(svmlight).state_
        for blocks in (stream, data.open(tmp_path / name, "y", block_rows=11)):
            machines = AveragedPerceptron(**options).fit_stream(blocks).state_
            for what in ("w", "u", "b", "beta", "counters"):
                assert np.array_equal(getattr(machines, what), getattr(expected, what))


def write(table, path, rows=None):
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path, row_group_size=rows)
        return path
    with (pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream)(path, table.schema) as sink:
        sink.write_table(table, max_chunksize=rows)
    return path


@pytest.mark.parametrize("index", TYPES, ids=str)
def test_every_type_of_whole_numbers(tmp_path, index):
    X, y = some_rows(whole=True)
    for value, name in ((index, "a.parquet"), (pa.float32(), "a.arrow"), (pa.float16(), "a.parquet")):
        write(table_of(X, y, index, value), tmp_path / name)
        stream = data.open(tmp_path / name, "y")
        assert_rows(stream, X, y)
        assert stream.read()[0].dtype == (np.float32 if value == pa.float32() else np.float64)


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd", "snappy"])
@pytest.mark.parametrize("dictionary", [False, True])
def test_every_way_to_store_parquet(tmp_path, compression, dictionary):
    X, y = some_rows()
    options = {"compression": compression, "use_dictionary": dictionary}
    pa.parquet.write_table(table_of(X, y), tmp_path / "a.parquet", row_group_size=33, data_page_size=100, **options)
    assert_rows(data.open(tmp_path / "a.parquet", "y"), X, y)


def test_batches_that_are_slices_and_several_files(tmp_path):
    X, y = some_rows()
    batch = table_of(X, y).combine_chunks().to_batches()[0]
    with pa.ipc.new_stream(tmp_path / "a.arrows", batch.schema) as sink:
        for start, stop in ((0, 1), (1, 100), (100, 100), (100, 129)):
            sink.write_batch(batch.slice(start, stop - start))
    write(table_of(X[129:], y[129:], pa.uint16(), large=True), tmp_path / "b.arrows")
    paths = [tmp_path / "a.arrows", tmp_path / "b.arrows"]
    assert_rows(data.open(paths, "y", first_rows=100), X, y)  # among these, types must be the same


F8 = pa.float64()
NAN, INF = float("nan"), float("inf")
OUTSIDE = "an index is negative, missing or too large, expected 0 to 2147483646"
UNSORTED = "an index is not above the index before it, expected ascending indices: sort the row"
VALUE = "a value is missing, NaN, infinite or too large for float64, expected finite numbers"
FAULTS = [
    (None, [1.0], "column 'indices' has no value"),
    ([1], None, "column 'values' has no value"),
    (None, None, "column 'indices' has no value"),
    ([1, 2], [1.0], "the two lists have different lengths"),
    ([], [1.0], "the two lists have different lengths"),
    ([None], [1.0], OUTSIDE),
    ([0, -1], [1.0, 2.0], OUTSIDE),
    ([2**31 - 1], [1.0], OUTSIDE),
    ([1, 1], [1.0, 2.0], UNSORTED),
    ([5, 1], [1.0, 2.0], UNSORTED),
    ([1], [None], VALUE),
    ([1], [NAN], VALUE),
    ([1, 2], [1.0, -INF], VALUE),
]


@pytest.mark.parametrize(
    ("name", "index", "large"), [("a.parquet", pa.int32(), False), ("a.arrow", pa.int64(), True)], ids=str
)
@pytest.mark.parametrize(("indices", "values", "sentence"), FAULTS)
def test_a_row_at_fault_is_one_sentence_or_left_out(tmp_path, name, index, large, indices, values, sentence):
    kind = pa.large_list if large else pa.list_
    columns = {"y": [1, 0, 1, 0], "indices": [[0, 2], [1], indices, []], "values": [[1.0, 2.0], [3.0], values, []]}
    columns |= {"indices": pa.array(columns["indices"], kind(index)), "values": pa.array(columns["values"], kind(F8))}
    table = pa.table(columns)
    path = write(table, tmp_path / name)
    stream = data.open(path, "y")
    blocks = iter(stream)
    assert next(blocks).X.toarray().tolist() == [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]
    with pytest.raises(data.DataError) as caught:
        next(blocks)
    assert str(caught.value) == f"{path}, row 3: {sentence}; on_error='skip' leaves such rows out."
    assert stream.rows_read == 2
    stream = data.open(path, "y", on_error="skip")
    X, y = stream.read()
    assert X.toarray().tolist() == [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0]]
    assert y.tolist() == [1, 0, 0]
    assert stream.skipped == (1, [f"{path}, row 3: {sentence}."])


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_many_rows_at_fault_and_labels_too(tmp_path, monkeypatch, name):
    monkeypatch.setattr(arrow, "LIST_ROWS", 5)
    cells = [*FAULTS, ([0], [1.5], None), ([7], [2.5], None)]
    rng = np.random.default_rng(0)
    order = rng.integers(0, len(cells), 200)
    table = pa.table(
        {
            "y": pa.array([None if k == len(FAULTS) else 1 for k in order], pa.int64()),
            "indices": pa.array([cells[k][0] for k in order], pa.list_(pa.int64())),
            "values": pa.array([cells[k][1] for k in order], pa.list_(pa.float64())),
        }
    )
    stream = data.open(write(table, tmp_path / name, 23), "y", on_error="skip")
    X, _ = stream.read()
    good = int((order == len(cells) - 1).sum())
    assert X.toarray().tolist() == [[0.0] * 7 + [2.5]] * good
    unlabelled = int((order == len(FAULTS)).sum())
    assert stream.unlabelled == {"": unlabelled}
    assert stream.skipped.rows == 200 - good - unlabelled
    bad = [(i, cells[k][2]) for i, k in enumerate(order) if cells[k][2]]
    assert stream.skipped.sentences == [f"{tmp_path / name}, row {i + 1}: {what}." for i, what in bad[:10]]


@pytest.mark.parametrize(
    ("index", "column"),
    [(pa.uint32(), 2**32 - 1), (pa.int64(), 2**32 + 3), (pa.int64(), -(2**32) + 3), (pa.uint64(), 2**63 + 3)],
    ids=str,
)
def test_column_numbers_beyond_32_bits(tmp_path, index, column):
    indices = pa.array([[0, 2], [1, column], []], pa.list_(index))
    table = pa.table({"y": [1, 0, 0], "indices": indices, "values": [[1.0, 2.0], [3.0, 4.0], []]})
    stream = data.open(write(table, tmp_path / "a.parquet"), "y", on_error="skip")
    assert stream.read()[0].toarray().tolist() == [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]
    assert stream.skipped.sentences == [f"{tmp_path / 'a.parquet'}, row 2: {OUTSIDE}."]


def test_columns_of_rows_left_out_were_not_met(tmp_path):
    table = pa.table({"y": [1, None, 0], "indices": [[0], [900], [2]], "values": [[1.0], [1.0], [1.0]]})
    stream = data.open(write(table, tmp_path / "a.parquet"), "y", on_error="skip")
    assert stream.read()[0].shape == (2, 3)
    assert stream.n_features == stream.preparation["n_features"] == 3


@pytest.mark.parametrize(
    ("indices", "values", "sentence"),
    [
        ([["a"]], [[1.0]], "row 1: column 'indices' holds lists of string, expected lists of integers."),
        ([[1.0]], [[1.0]], "row 1: column 'indices' holds lists of double, expected lists of integers."),
        ([[1]], [["a"]], "row 1: column 'values' holds lists of string, expected lists of numbers."),
        ([[1]], [[True]], "row 1: column 'values' holds lists of bool, expected lists of numbers."),
        ([[1]], [[[1.0]]], "row 1: column 'values' holds lists of list<element: double>, expected lists of numbers."),
    ],
)
def test_lists_of_other_things(tmp_path, indices, values, sentence):
    path = write(pa.table({"y": [1], "indices": indices, "values": values}), tmp_path / "a.parquet")
    with pytest.raises(data.DataError) as caught:
        data.open(path, "y").read()
    assert str(caught.value) == f"{path}, {sentence}"


def test_a_later_file_of_another_kind(tmp_path):
    X, y = some_rows()
    first = write(table_of(X, y), tmp_path / "a.parquet")
    second = write(pa.table({"y": [1], "indices": [1], "values": [[1.0]]}), tmp_path / "b.parquet")
    with pytest.raises(data.DataError, match=r"b.parquet, row 1: column 'indices' holds int64 values, expected lists"):
        data.open([first, second], "y", first_rows=100).read()


def test_other_columns(tmp_path):
    table = pa.table({"y": [1, 0], "id": [5, 6], "indices": [[0], [1]], "values": [[1.0], [2.0]]})
    path = write(table, tmp_path / "a.parquet")
    with pytest.raises(data.DataError, match=r"other columns besides the sparse rows .* use drop=\['id'"):
        data.open(path, "y")
    for options in ({"drop": ["id"]}, {"columns": ["values", "indices"]}):
        assert data.open(path, "y", **options).read()[0].toarray().tolist() == [[1.0, 0.0], [0.0, 2.0]]
    assert data.open(path, "y", drop=["indices", "values"]).read()[0].tolist() == [[5.0], [6.0]]
    (block,) = data.open(path, "y", weight="id")
    assert block.weight.tolist() == [5.0, 6.0]
    stream = data.open(path, drop=["id", "y"], labels=False)
    assert (stream.read()[0].toarray().tolist(), stream.labelled) == ([[1.0, 0.0], [0.0, 2.0]], False)


def test_a_preparation_says_how_many_columns_there_are(tmp_path):
    X, y = some_rows()
    train = data.open(write(table_of(X, y), tmp_path / "a.parquet"), "y")
    train.read()
    prepared = json.loads(json.dumps(train.preparation))
    width = prepared["n_features"]
    wide = pa.table({"indices": [[0, width - 1, width, 10**6], [], [10**9]], "values": [[1.0, 2, 3, 4], [], [5.0]]})
    stream = data.open(write(wide, tmp_path / "b.arrow"), preparation=prepared)
    for _ in range(2):
        got, labels = stream.read()
        assert got.shape == (3, width)
        assert got.toarray()[:, [0, -1]].tolist() == [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]
        assert got.nnz == 2
        assert np.isnan(labels).all()
        assert stream.unseen == {"columns": 3}
    narrow = pa.table({"y": [1], "indices": [[3]], "values": [[1.0]]})
    stream = data.open(write(narrow, tmp_path / "c.parquet"), preparation=prepared)
    assert (stream.read()[0].shape, stream.unseen, stream.labelled) == ((1, width), {}, True)
    assert stream.preparation == prepared
    again = data.open(tmp_path / "a.parquet", preparation=prepared)
    assert_rows(again, X, y)
    assert again.preparation == prepared


def test_no_rows_and_rows_with_nothing_in_them(tmp_path):
    path = write(pa.table({"y": [1, 0], "indices": [[], []], "values": [[], []]}), tmp_path / "a.parquet")
    stream = data.open(path, "y")
    assert (stream.read()[0].shape, stream.n_features, stream.skipped.rows) == ((2, 0), 0, 0)
    X, y = some_rows()
    X = sp.csr_array(sp.vstack([sp.csr_array((N, COLUMNS)), X]))
    y = np.concatenate([y, y])
    assert_rows(data.open(write(table_of(X, y), tmp_path / "b.parquet", 100), "y"), X, y)
    none = write(table_of(X, y)[:0], tmp_path / "none.parquet")
    with pytest.raises(data.DataError, match="has the columns y, indices, values but no rows"):
        data.open(none, "y")
    train = data.open(tmp_path / "b.parquet", "y")
    train.read()
    assert list(data.open(none, preparation=train.preparation)) == []
    assert_rows(data.open([tmp_path / "b.parquet", none], "y"), X, y)
