"""Parquet and Arrow: values of every type, damaged files, several files."""

import datetime
import decimal
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from helpers.reading import outcome
from rosenblatt import data
from rosenblatt.data.tables import arrow


def stored(folder, columns, kind="parquet"):
    """Write columns as a file of some format; return it."""
    file, table = folder / f"a.{kind}", pa.table(columns)
    if kind == "parquet":
        pa.parquet.write_table(table, file)
    else:
        with pa.ipc.new_file(file, table.schema) as sink:
            sink.write_table(table)
    return file


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_values_of_every_type_become_the_nearest_float64(tmp_path, kind):
    strings = pa.string() if kind == "parquet" else pa.string_view()
    columns = {
        "int": pa.array([2**53 + 1, -(2**63)], pa.int64()),
        "uint": pa.array([2**64 - 1, 0], pa.uint64()),
        "small": pa.array([0.1, None], pa.float32()),
        "decimal": pa.array([decimal.Decimal("0.1"), decimal.Decimal("12345678901234567.9")], pa.decimal128(20, 1)),
        "bool": pa.array([True, False]),
        "nothing": pa.nulls(2),
        "known": pa.DictionaryArray.from_arrays([0, 1], pa.array(["u", "v"], strings)),
        "long": pa.array(["02139", "02139"], pa.large_string()),
        "y": pa.array(["p", "q"], strings),
    }
    stream = data.open(stored(tmp_path, columns, kind), "y", missing="zero")
    names = ["int", "uint", "small", "decimal", "bool", "nothing", "known=u", "known=v", "long=02139"]
    assert stream.feature_names == names, "strings are no numbers where the format tells"
    X, y = stream.read()
    assert X.tolist() == [
        [2.0**53, 2.0**64, float(np.float32(0.1)), 0.1, 1.0, 0.0, 1.0, 0.0, 1.0],
        [-(2.0**63), 0.0, 0.0, 12345678901234567.9, 0.0, 0.0, 0.0, 1.0, 1.0],
    ]
    assert y.tolist() == ["p", "q"]


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (pa.array([datetime.date(2020, 1, 1)]), "a.parquet: column 'x' holds dates or times (date32[day]): use drop="),
        (
            pa.array([[1, 2]]),
            "a.parquet: column 'x' holds list<element: int64> values: use drop=['x'] to leave out what is",
        ),
        (
            pa.array([b"x"]),
            "a.parquet: column 'x' holds binary values: use drop=['x'] to leave out what is not a feature;",
        ),
        (pa.array([float("inf")]), "a.parquet, row 1: column 'x' holds a number that is infinite"),
        (pa.array([float("nan")]), "a.parquet, row 1: column 'x' has no value: give missing="),
        (pa.array([None], pa.int64()), "a.parquet, row 1: column 'x' has no value: give missing="),
        (pa.array([None], pa.string()), "a.parquet, row 1: column 'x' has no value: give missing="),
        (pa.array(["2020-01-01 10:00:00"]), "a.parquet: column 'x' holds dates, such as '2020-01-01 10:00:00'"),
    ],
)
def test_what_is_no_feature_is_asked_about(tmp_path, column, sentence):
    assert outcome(stored(tmp_path, {"x": column, "y": [1]})).startswith(sentence)


def test_dates_may_be_categories(tmp_path):
    file = stored(tmp_path, {"x": pa.array([datetime.date(2020, 1, 2), datetime.date(2019, 1, 1)]), "y": [1, 2]})
    stream = data.open(file, "y", column_types={"x": "category"})
    assert stream.feature_names == ["x=2019-01-01", "x=2020-01-02"]
    assert outcome(stored(tmp_path, {"x": pa.array([[1]]), "y": [1]}), column_types={"x": "text"}).startswith(
        "a.parquet: column 'x'"
    )


NO_LABELS = {
    "list<item: int64>": pa.array([[1], [2]]),
    "fixed_size_list<item: int64>[1]": pa.array([[1], [2]], pa.list_(pa.int64(), 1)),
    "struct<a: int64>": pa.array([{"a": 1}, {"a": 2}]),
    "map<string, int64>": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
    "sparse_union<0: int64=0>": pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])]),
    "binary": pa.array([b"a", b"b"]),
    "month_day_nano_interval": pa.array([pa.MonthDayNano([1, 2, 3])] * 2),
    "run_end_encoded<run_ends: int32, values: int64>": pa.RunEndEncodedArray.from_arrays(
        pa.array([2], pa.int32()), [1]
    ),
    "timestamp[s, tz=Nowhere/Land]": pa.array([0, 1], pa.timestamp("s", "Nowhere/Land")),
    "fixed_size_list<item: int32>[2]": pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.int32(), [2]), pa.array([[1, 2], [3, 4]], pa.list_(pa.int32(), 2))
    ),
}


@pytest.mark.parametrize("type_", NO_LABELS)
def test_what_is_neither_number_nor_string_is_no_label_weight_or_category(tmp_path, type_):
    column, x = NO_LABELS[type_], pa.array([1.0, 2.0])
    file = stored(tmp_path, {"x": x, "y": column}, "arrow")
    assert outcome(file) == f"a.arrow: column 'y', the target, holds {type_} values, expected numbers or strings."
    file = stored(tmp_path, {"x": x, "w": column, "y": x}, "arrow")
    assert outcome(file, weight="w") == f"a.arrow: column 'w' holds {type_} values, expected numbers or strings."
    ways = "use drop=['w'] to leave out what is not a feature; on_ambiguous='drop' leaves out all such columns."
    sentence = f"a.arrow: column 'w' holds {type_} values: {ways}"
    assert outcome(file, column_types={"w": "category"}) == sentence


@pytest.mark.parametrize(
    "column",
    [
        pa.array(np.array([1, 2], np.float16)),
        pa.array([decimal.Decimal(1), decimal.Decimal(2)], pa.decimal256(50, 1)),
        pa.array([1, 2], pa.duration("s")),
        pa.array([1, 2], pa.timestamp("s")),
        pa.array([2**62, -(2**62)], pa.timestamp("s")),
        pa.array(["1", "2"], pa.large_string()),
        pa.ExtensionArray.from_storage(pa.opaque(pa.int8(), "a", "b"), pa.array([1, 2], pa.int8())),
    ],
)
def test_types_that_have_a_number_or_a_text_are_read(tmp_path, column):
    x = pa.array([1.0, 2.0])
    X, y = data.open(stored(tmp_path, {"x": x, "y": column}, "arrow"), "y").read()
    assert (X.tolist(), len(set(y.tolist()))) == ([[1.0], [2.0]], 2)
    file = stored(tmp_path, {"x": column, "y": x}, "arrow")
    assert outcome(file, column_types={"x": "category"})[0] in ([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    found = outcome(file, column_types={"x": "number"})
    assert found == ([[1.0], [2.0]], [1, 2]) or found.startswith("a.arrow, row 1: column 'x' holds '")


def test_strings_that_share_their_bytes_are_not_written_out_without_bound(tmp_path):
    rows, word = 1 << 12, b"x" * (1 << 20)
    words = pa.array([word.decode()])
    columns = [
        pa.DictionaryArray.from_arrays(np.zeros(rows, np.int8), words.cast(t)) for t in (pa.string(), pa.large_string())
    ]
    views = struct.pack("<i4sii", len(word), word[:4], 0, 0) * rows
    if pa.cpp_version_info.major > 18:  # before, arrays of views are not made from buffers
        parts = [None, pa.py_buffer(views), pa.py_buffer(word)]
        columns.append(pa.Array.from_buffers(pa.string_view(), rows, parts))
    for column in columns:
        file = stored(tmp_path, {"x": column, "y": np.arange(rows) % 2}, "arrow")
        sentence = f"a.arrow cannot be read as Arrow ({rows} strings take more than {2**31} bytes together)"
        assert outcome(file, first_rows=10, column_types={"x": "category"}).startswith(sentence)


@pytest.mark.skipif(pa.cpp_version_info.major <= 18, reason="arrays of views are not made from buffers")
def test_what_lies_under_a_null_is_not_followed(tmp_path):
    views = struct.pack("<i12si4sii", 3, b"red", -1 << 28, b"else", 1 << 20, 0)
    column = pa.Array.from_buffers(pa.string_view(), 2, [pa.py_buffer(b"\1"), pa.py_buffer(views)])
    file = stored(tmp_path, {"x": column, "y": [1, 2]}, "arrow")
    assert outcome(file, missing="zero") == ([[1.0], [0.0]], [1, 2])


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_text_as_label_does_not_make_all_labels_as_large(tmp_path, kind):
    labels = ["a", "b", "x" * 10_000, "b"]
    file = stored(tmp_path, {"x": [1, 2, 3, 4], "y": labels}, kind)
    sentence = f"a.{kind}, row 3: column 'y' holds a text of 10000 characters, expected a label of at most 1000; "
    assert outcome(file).startswith(sentence)
    assert data.open(file, "y", on_error="skip").read()[1].dtype == np.dtype("U1")


def test_names_of_columns_stay_on_one_line(tmp_path):
    file = stored(tmp_path, {"a\nb": [1], "y": [1]}, "arrow")
    assert outcome(file, "z") == "a.arrow has no column 'z' for the target: its columns are 'a\\nb', y."


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.parquet", b"", "a.parquet cannot be read as Parquet (Parquet file size is 0 bytes)"),
        ("a.parquet", b"a,y\n1,2\n3,4\n", "a.parquet cannot be read as Parquet (Parquet magic bytes not found"),
        ("a.csv", b"PAR1 and then nothing", "a.csv cannot be read as Parquet (Parquet magic bytes not found"),
        ("a.arrow", b"ARROW1\0\0 and then nothing", "a.arrow cannot be read as Arrow ("),
        ("a.arrow", b"\xff\xff\xff\xff\x10\0\0\0", "a.arrow cannot be read as Arrow ("),
        (
            "a.feather",
            b"FEA1",
            "a.feather is a Feather file of version 1, expected version 2: save it again as version 2.",
        ),
        ("a.npz", b"PK\x03\x04", "a.npz cannot be read as npz (File is not a zip file)"),
        ("a.bin", b"\0\1", "the format of a.bin cannot be detected from its name or first line: give format, one of"),
        ("a", b"a line of words\n", "the format of a cannot be detected from its name or first line"),
        ("a.csv.gz", b"a,y\n1,2\n", "a.csv.gz is named like a gz file, but does not start like one"),
    ],
)
def test_damaged_files_are_one_sentence(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    assert outcome(tmp_path / name).startswith(sentence)


def test_a_later_file_of_another_type_is_refused_or_read(tmp_path):
    for k, column in enumerate([pa.array([1, 2]), pa.array([0.5]), pa.array(["7"])]):
        pa.parquet.write_table(pa.table({"x": column, "y": [k] * len(column)}), tmp_path / f"{k}.parquet")
    assert data.open([tmp_path / "0.parquet", tmp_path / "1.parquet"], "y").read()[0].tolist() == [[1.0], [2.0], [0.5]]
    with pytest.raises(
        data.DataError,
        match=r"column 'x' is double and int64 and string in .*0.parquet and the files after it, expected one type",
    ):
        data.open(tmp_path / "*.parquet", "y")
    prepared = data.open(tmp_path / "0.parquet", "y").preparation
    assert data.open(tmp_path / "2.parquet", preparation=prepared).read()[0].tolist() == [[7.0]]
    pa.parquet.write_table(pa.table({"x": pa.array([[1]])}), tmp_path / "3.parquet")
    with pytest.raises(
        data.DataError, match=r"3.parquet: column 'x' holds list<element: int64> values, expected numbers"
    ):
        data.open(tmp_path / "3.parquet", preparation=prepared).read()


def test_memory_is_bounded_by_chunks_and_shares_go_up(tmp_path):
    pa.parquet.write_table(pa.table({"x": np.arange(200_000.0), "y": np.arange(200_000) % 2}), tmp_path / "a.parquet")
    stream = data.open(tmp_path / "a.parquet", "y", threads=0)
    shares = [(len(block), stream.share_read) for block in stream]
    assert max(n for n, _ in shares) <= 1 << 16
    assert [share for _, share in shares] == sorted({share for _, share in shares})


def test_columns_that_come_along_are_read_with_the_others(tmp_path, monkeypatch):
    table = pa.table(
        {"id": pa.array(["u", "v", None, "w"]).dictionary_encode(), "a": [1.0, None, 3.0, 4.0], "y": [0, 1] * 2}
    )
    pa.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    read, groups = arrow._row_group, []
    monkeypatch.setattr(arrow, "_row_group", lambda *arguments: groups.append(arguments[2]) or read(*arguments))
    stream = data.open(tmp_path / "a.parquet", "y", columns=["a"], passthrough=["id", "a"], on_error="skip", threads=0)
    blocks = list(stream)
    assert [block.passthrough for block in blocks] == [{"id": ["u"], "a": [1.0]}, {"id": [None, "w"], "a": [3.0, 4.0]}]
    assert groups == [0, 1], "each row group once"
