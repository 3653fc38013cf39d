"""Tables that know their types (Parquet, Arrow), JSON lines, and arrays: values, and the malformed corpus."""

import datetime
import decimal
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from rosenblatt import data
from rosenblatt.data.io.lines import LineSource
from rosenblatt.data.tables.arrow_values import strings_to_numbers
from rosenblatt.data.tables.json_lines import JsonReader
from rosenblatt.data.tables.reader import ColumnLayout, join_names, suggestion


def stored(folder, columns, kind="parquet"):
    """Write columns as a file of some format; return it."""
    file, table = folder / f"a.{kind}", pa.table(columns)
    if kind == "parquet":
        pa.parquet.write_table(table, file)
    else:
        with pa.ipc.new_file(file, table.schema) as sink:
            sink.write_table(table)
    return file


def outcome(path, target="y", **options):
    """What a file gives: rows and labels, or the sentence of the error without the folder."""
    try:
        X, y = data.open(path, target, **options).read()
    except ValueError as error:
        return str(error).replace(f"{path.parent}/", "")
    return (X if isinstance(X, np.ndarray) else X.toarray()).tolist(), y.tolist()


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
        (pa.array([datetime.date(2020, 1, 1)]), "a.parquet: column 'x' holds dates or times (date32[day]): leave out"),
        (
            pa.array([[1, 2]]),
            "a.parquet: column 'x' holds list<element: int64> values: leave out what is no feature by",
        ),
        (pa.array([b"x"]), "a.parquet: column 'x' holds binary values: leave out what is no feature by drop=['x']."),
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
    stream = data.open(file, "y", kinds={"x": "category"})
    assert stream.feature_names == ["x=2019-01-01", "x=2020-01-02"]
    assert outcome(stored(tmp_path, {"x": pa.array([[1]]), "y": [1]}), kinds={"x": "text"}).startswith(
        "a.parquet: column 'x'"
    )


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.parquet", b"", "a.parquet cannot be read as Parquet (Parquet file size is 0 bytes)"),
        ("a.parquet", b"a,y\n1,2\n3,4\n", "a.parquet cannot be read as Parquet (Parquet magic bytes not found"),
        ("a.csv", b"PAR1 and then nothing", "a.csv cannot be read as Parquet (Parquet magic bytes not found"),
        ("a.arrow", b"ARROW1\0\0 and then nothing", "a.arrow cannot be read as Arrow ("),
        ("a.arrow", b"\xff\xff\xff\xff\x10\0\0\0", "a.arrow cannot be read as Arrow ("),
        ("a.feather", b"FEA1", "a.feather is a Feather file of version 1, expected version 2: write it again."),
        ("a.npz", b"PK\x03\x04", "a.npz cannot be read as npz (File is not a zip file)"),
        (
            "a.bin",
            b"\0\1",
            "the format of a.bin cannot be detected from its name or its first line: give format, one of",
        ),
        ("a", b"a line of words\n", "the format of a cannot be detected from its name or its first line"),
        ("a.csv.gz", b"a,y\n1,2\n", "a.csv.gz is named as a gz file, but does not begin as gz files do"),
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
        match=r"column 'x' of .*0.parquet and those after it is double and int64 and string, expected one type",
    ):
        data.open(tmp_path / "*.parquet", "y")
    prepared = data.open(tmp_path / "0.parquet", "y").preparation
    assert data.open(tmp_path / "2.parquet", preparation=prepared).read()[0].tolist() == [[7.0]]
    pa.parquet.write_table(pa.table({"x": pa.array([[1]])}), tmp_path / "3.parquet")
    with pytest.raises(
        data.DataError, match=r"3.parquet: column 'x' holds list<element: int64> values, expected numbers"
    ):
        data.open(tmp_path / "3.parquet", preparation=prepared).read()


SKIP = "; on_error='skip' leaves such rows out."
ALONE = "expected a JSON object on a line of its own"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "a.jsonl is empty, expected rows to learn from."),
        ('\ufeff{"a": 1, "y": 2}\r\n\r\n{"y": 3, "a": -0.5}', ([[1.0], [-0.5]], [2, 3])),
        ('{"a": 9007199254740993, "y": "u"}', ([[2.0**53]], ["u"])),
        ('[{"a": 1},\n{"a": 2}]', f"a.jsonl, line 1: {ALONE} (Expecting value), got '[{{\"a\": 1}},'{SKIP}"),
        ('{"a": 1, "y": 2}\n\n{"a":', f"a.jsonl, line 3: {ALONE} (Expecting value), got '{{\"a\":'{SKIP}"),
        (
            '{"a": 1, "y": 2} {"a": 1}',
            f'a.jsonl, line 1: {ALONE} (Extra data), got \'{{"a": 1, "y": 2}} {{"a": 1}}\'{SKIP}',
        ),
        ("7", f"a.jsonl, line 1: {ALONE}, got '7'{SKIP}"),
        ('{"a": 1, "a": 2, "y": 2}', "a.jsonl, line 1: the field 'a' is there twice, expected once" + SKIP),
        (
            b'{"a": "\xff", "y": 2}',
            "a.jsonl, line 1: the line is not text in UTF-8: convert the file, for instance by iconv" + SKIP,
        ),
        (
            '{"a": "\\ud800", "y": 2}',
            "a.jsonl, line 1: the line is not text in UTF-8: convert the file, for instance by iconv" + SKIP,
        ),
        (
            '{"a": 1e999, "y": 2}',
            "a.jsonl, line 1: column 'a' holds a number that is infinite or too large for float64, expected finite "
            "numbers" + SKIP,
        ),
        (
            '{"a": NaN, "y": 2}',
            "a.jsonl, line 1: column 'a' has no value: give missing='zero' or missing='mean' to fill it" + SKIP,
        ),
        (
            '{"a": 1, "y": 2}\n{"y": 2}',
            "a.jsonl, line 2: column 'a' has no value: give missing='zero' or missing='mean' to fill it" + SKIP,
        ),
        ('{"a": 1, "y": null}\n{"a": 1, "y": 2}', "a.jsonl, line 1: column 'y' has no value, expected a label" + SKIP),
        (
            '{"a": 1, "y": 2}\n{"a": "b", "y": 2}',
            "a.jsonl: column 'a' holds numbers and strings: leave out what is no feature by drop=['a'], or give "
            "kinds={'a': 'category'}.",
        ),
        (
            '{"a": [1], "y": 2}',
            "a.jsonl: column 'a' holds lists: leave out what is no feature by drop=['a'].",
        ),
        ('{"b": 1}', "a.jsonl has no column 'y' for the target: its columns are b."),
        (
            '{"a": true, "b": null, "y": false}',
            "a.jsonl, line 1: column 'b' has no value: give missing='zero' or missing='mean' to fill it" + SKIP,
        ),
    ],
)
def test_malformed_and_odd_json(tmp_path, content, expected):
    (tmp_path / "a.jsonl").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert outcome(tmp_path / "a.jsonl") == expected


def test_json_the_fast_way_and_the_slow_one_agree(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = [
        {
            "n": float(n),
            "k": int(k),
            "b": bool(k % 2),
            "c": "uvw"[k % 3] + "é" * (k % 2),
            "y": "ab"[k % 2],
            "skip": [int(k)],
        }
        for n, k in zip(
            rng.standard_normal(40) * 10.0 ** rng.integers(-300, 300, 40), rng.integers(0, 2**60, 40), strict=True
        )
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    X, y = data.open(tmp_path / "a.jsonl", "y", drop=["skip"]).read()
    assert X[:, 0].tolist() == [row["n"] for row in rows]
    assert X[:, 1].tolist() == [float(row["k"]) for row in rows]
    monkeypatch.setattr(JsonReader, "parse", JsonReader._slowly)
    slow = data.open(tmp_path / "a.jsonl", "y", drop=["skip"]).read()
    assert np.array_equal(X.view(np.int64), slow[0].view(np.int64))
    assert np.array_equal(y, slow[1])


def test_late_surprises_in_json_name_their_lines(tmp_path):
    good = '{"a": 1, "c": "u", "y": 0}\n'
    bad = ['{"a": 1, "c": "u", "y": 0, "z": 1}', '{"a": "two", "c": "u", "y": 1}', '{"a": 1, "c": {}, "y": 1}', "{"]
    (tmp_path / "a.jsonl").write_text(good * 10_000 + "\n".join([*bad, '{"c": 7, "a": "2", "y": 1}']))
    stream = data.open(tmp_path / "a.jsonl", "y", on_error="skip")
    X, y = stream.read()
    assert len(y) == 10_001
    assert X[-1].tolist() == [2.0, 0.0], "a string that spells a number, a category that is new"
    assert stream.unseen == {"c": 1}
    assert [text.replace(f"{tmp_path}/a.jsonl, ", "") for text in stream.skipped.sentences] == [
        "line 10001: the field 'z' was not there in the first rows: remove it from the file, or name the fields to "
        "use by columns.",
        "line 10002: column 'a' holds 'two', expected a number (or a word that missing_values names).",
        "line 10003: the field 'c' holds '{}', expected one string.",
        "line 10004: expected a JSON object on a line of its own (Expecting property name enclosed in double quotes), "
        "got '{'.",
    ]
    with pytest.raises(data.DataError, match="line 10001: the field 'z'"):
        data.open(tmp_path / "a.jsonl", "y").read()


def test_arrays_that_are_not_as_expected(tmp_path):
    def saved(**arrays):
        np.savez(tmp_path / "a.npz", **arrays)
        return outcome(tmp_path / "a.npz", None)

    X, y = np.array([[1.0, np.nan], [3.0, 4.0], [np.inf, 2.0]]), np.array([0, 1, 1])
    ok = "X holds NaN or an infinite number, expected finite numbers"
    assert saved(X=X, y=y) == f"a.npz, row 1: {ok}."
    assert outcome(tmp_path / "a.npz", None, on_error="skip") == ([[3.0, 4.0]], [1])
    assert outcome(tmp_path / "a.npz", "y", on_error="skip", missing="mean") == ([[1.0, 3.0], [3.0, 4.0]], [0, 1])
    assert saved(X=X[1:2], y=y) == "a.npz has 1 rows in X, but 3 labels in y."
    assert saved(X=X, y=y[:1]) == "a.npz has more rows in X than labels in y, which has 1."
    assert saved(X=X[1:2], y=np.array(["u"])) == ([[3.0, 4.0]], ["u"])
    assert saved(X=X[1:2].astype(np.int8), y=np.array([b"u"])) == ([[3.0, 4.0]], ["u"])
    assert saved(X=X[1:2], y=np.array([None])).startswith(
        "a.npz: the labels in y would have to be unpickled, which is not"
    )
    assert saved(X=np.array([[None]]), y=y[:1]).startswith("a.npz: expected X of numbers, got object")
    assert saved(X=X[0], y=y) == "a.npz: expected X with rows and columns, got shape (2,)."
    assert saved(X=X, y=X) == "a.npz: expected one label a row, got y of shape (3, 2)."
    assert saved(Z=X, y=y) == "a.npz holds Z, y, expected X and y, or a matrix that scipy.sparse.save_npz saved and y."
    assert saved(X=X[1:2], y=np.array([np.nan])) == "a.npz, row 1: the label is not a finite number."
    assert saved(X=X[1:2].astype(np.float32), y=y[:1]) == ([[3.0, 4.0]], [0])
    assert data.open(tmp_path / "a.npz").read()[0].dtype == np.float32
    other = data.open(tmp_path / "a.npz").preparation
    np.savez(tmp_path / "b.npz", X=np.ones((2, 3)), y=[0, 1])
    with pytest.raises(data.DataError, match=r"b.npz has 3 columns, expected 2 as before."):
        data.open(tmp_path / "b.npz", preparation=other)


def test_memory_is_bounded_by_pieces_and_shares_go_up(tmp_path):
    pa.parquet.write_table(pa.table({"x": np.arange(200_000.0), "y": np.arange(200_000) % 2}), tmp_path / "a.parquet")
    stream = data.open(tmp_path / "a.parquet", "y", threads=0)
    shares = [(len(block), stream.share_read) for block in stream]
    assert max(n for n, _ in shares) <= 1 << 16
    assert [share for _, share in shares] == sorted({share for _, share in shares})


def test_small_helpers():
    assert suggestion("Colour", ["color", "size"]) == " (did you mean 'color'?)"
    assert suggestion("y", ["x"]) == ""
    assert join_names(map(str, range(30)), 2) == "0, 1 and 28 more"
    texts = ["1", "x", None, "", "2", "3x", "-inf", "x", "n", "1"]
    numbers, bad = strings_to_numbers(pa.array(texts))
    assert np.array_equal(numbers, [1, *[np.nan] * 3, 2, np.nan, -np.inf, np.nan, np.nan, 1], equal_nan=True)
    assert bad == [1, 3, 5, 7, 8]
    assert strings_to_numbers(pa.array([], pa.string()))[1] == []
    with pytest.raises(data.DataError, match=r"^f: two columns are named 'a'"):
        ColumnLayout({}, None).check(["a", "a"], "f")


def test_a_reader_of_once_readable_input_keeps_what_it_looked_at(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    source = LineSource(tmp_path / "a.jsonl")
    monkeypatch.setattr(source, "rereadable", False)
    reader = JsonReader(source)
    reader.read_columns(1000)
    assert reader.head(1).n == 1
    reader.layout = ColumnLayout({"a": "number"}, None)
    assert [reader.parse(item).n for item in reader.items()] == [2]
    assert list(reader.items()) == []
