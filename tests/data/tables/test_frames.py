"""Tables in memory: data frames, Arrow tables and lists of dictionaries give the rows of a Parquet file."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from rosenblatt import AveragedPerceptron, data
from rosenblatt.data.tables.frames import MemoryTable

N = 300


def a_table(n=N):
    """Return an Arrow table with columns of all kinds, with gaps."""
    rng = np.random.default_rng(7)

    def gaps(values):
        return [None if gone else value for gone, value in zip(rng.random(n) < 0.1, values, strict=True)]

    words = np.array(["the", "a", "small", "large", "red", "green", "house", "tree", "car"])
    start = datetime.datetime(2020, 2, 27, 22, 30)
    return pa.table(
        {
            "number": pa.array(gaps(rng.normal(size=n).tolist())),
            "single": pa.array(rng.normal(size=n).astype(np.float32)),
            "integer": pa.array(gaps(rng.integers(0, 9, n).tolist()), pa.int16()),
            "money": pa.array(gaps([Decimal(int(cents)) / 100 for cents in rng.integers(0, 10**6, n)])),
            "yes": pa.array(gaps((rng.random(n) < 0.5).tolist())),
            "colour": pa.array(gaps(rng.choice(["red", "green", "öl"], n).tolist())),
            "size": pa.array(gaps(rng.choice(["s", "m"], n).tolist())).dictionary_encode(),
            "when": pa.array(gaps([start + datetime.timedelta(hours=37 * k, seconds=k) for k in range(n)])),
            "day": pa.array(gaps([start.date() + datetime.timedelta(days=k) for k in range(n)])),
            "note": pa.array([" ".join(rng.choice(words, 5)) for _ in range(n)]),
            "y": pa.array(rng.choice(["in", "out"], n).tolist()),
        }
    )


def in_memory(table):
    """Yield the table in each form in memory, with a name."""
    yield "arrow", table
    yield "batch", table.combine_chunks().to_batches()[0]
    frame = table.to_pandas()
    yield "pandas", frame
    yield "pandas with an index", frame.set_index(np.arange(len(frame))[::-1] + 7)
    yield "nullable", frame.convert_dtypes()
    yield "pandas of Arrow", table.to_pandas(types_mapper=pd.ArrowDtype)
    yield "objects", frame.astype(object)
    yield "polars", pl.from_arrow(table)
    yield "records", table.to_pylist()


def same(X, Z):
    """Return whether two matrices are of one type and have the same bits."""
    if sp.issparse(X) != sp.issparse(Z):
        return False
    pairs = [(X.data, Z.data), (X.indices, Z.indices), (X.indptr, Z.indptr)] if sp.issparse(X) else [(X, Z)]
    return X.shape == Z.shape and all(np.array_equal(a, b) for a, b in pairs)


def test_tables_in_memory_give_the_rows_and_the_model_of_a_parquet_file(tmp_path):
    table = a_table()
    pq.write_table(table, tmp_path / "a.parquet")
    options = {"missing": "mean", "scale": "standard", "bits": 6, "keep": ["when", "day"], "keep_words": True}
    file = data.open(tmp_path / "a.parquet", "y", **options)
    X, y = file.read()
    prepared = file.preparation
    kinds = [column["kind"] for column in prepared["columns"]]
    assert kinds == ["number"] * 4 + ["boolean", "category", "category", "date", "date", "text"]
    assert len(file.filled) == 8
    model = AveragedPerceptron(max_iter=3, random_state=0).fit_stream(file)
    for name, rows in in_memory(table):
        stream = data.open(rows, "y", **options)
        assert stream.files is None, name
        Z, labels = stream.read()
        assert same(X, Z), name
        assert (y == labels).all(), name
        assert stream.preparation == prepared | {"format": "arrow"}, name
        assert (stream.filled, stream.feature_names) == (file.filled, file.feature_names), name
        again = AveragedPerceptron(max_iter=3, random_state=0).fit_stream(stream)
        assert np.array_equal(again.coef_, model.coef_), name
        described, expected = stream.describe().to_dict(), file.describe().to_dict()
        assert described["becomes"] == expected["becomes"], name
        # In any order of columns, with another column, and without the target.
        shuffled = [*reversed(table.column_names[:-1])]
        other = next(
            form for kind, form in in_memory(table.select(shuffled).append_column("new", table["y"])) if kind == name
        )
        stream = data.open(other, preparation=prepared)
        assert not stream.labelled
        assert same(X, stream.read()[0]), name
        assert stream.extra_columns == ["new"], name


def test_large_tables_are_read_in_parts_as_a_file_is(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(size=150_000), "b": rng.choice(["u", "v"], 150_000), "y": np.arange(150_000) % 2}
    )
    frame.loc[rng.integers(0, 150_000, 99), "a"] = np.nan
    frame.to_parquet(tmp_path / "a.parquet")
    X, y = data.open(tmp_path / "a.parquet", "y", missing="mean").read()
    for rows in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.astype(object)):
        for threads in (0, 2):
            stream = data.open(rows, "y", missing="mean", threads=threads)
            blocks = list(stream)
            assert len(blocks) == 3
            assert same(X, np.concatenate([block.X for block in blocks]))
            assert (np.concatenate([block.y for block in blocks]) == y).all()
            assert stream.share_read == 1.0


class Name(str):
    """A string of another type, as some libraries have."""


def test_python_values_are_read_one_by_one(tmp_path):
    nothing = [None, float("nan"), np.nan, pd.NA, pd.NaT, Decimal("NaN"), np.datetime64("NaT"), np.float32("nan")]
    numbers = [3, 2.5, np.float32(0.1), np.int8(-4), Decimal("0.1"), Fraction(1, 3), 2**60 + 1, np.longdouble(7)]
    values = [3.0, 2.5, float(np.float32(0.1)), -4.0, 0.1, 1 / 3, float(2**60), 7.0]
    rows = [{"x": value, "c": "a", "y": k % 2} for k, value in enumerate(nothing + numbers)]
    for table in (
        rows,
        pd.DataFrame(rows),
        pl.DataFrame({"x": pl.Series([row["x"] for row in rows], dtype=pl.Object)}).with_columns(
            y=pl.Series([row["y"] for row in rows])
        ),
    ):
        X, _ = data.open(table, "y", missing="zero").read()
        assert X[:, 0].tolist() == [0.0] * len(nothing) + values

    utc = datetime.timezone(datetime.timedelta(hours=2))
    dates = [
        (datetime.date(1970, 1, 3), 2.0),
        (datetime.datetime(1970, 1, 2, 12), 1.5),
        (datetime.datetime(1970, 1, 2, 2, tzinfo=utc), 1.0),
        (pd.Timestamp("1970-01-02T00:00:00.000000864"), 1.0 + 1e-11),
        (np.datetime64("1970-01-02"), 1.0),
        ("1970-01-05", 4.0),
    ]
    mixed = [
        {"d": date, "c": c, "y": k % 2}
        for k, ((date, _), c) in enumerate(zip(dates, [1, "a", True, 2.5, Name("b"), None], strict=True))
    ]
    stream = data.open(mixed, "y", column_types={"d": "date", "c": "category"}, missing="zero")
    assert stream.read()[0][:, 0].tolist() == [days for _, days in dates]
    assert stream.feature_names[1:] == ["c=1", "c=2.5", "c=a", "c=b", "c=true"]
    spans = [
        {"d": datetime.timedelta(hours=12), "y": 0},
        {"d": None, "y": 1},
        {"d": datetime.timedelta(days=2), "y": 1},
    ]
    assert data.open(spans, "y", column_types={"d": "date"}, missing="zero").read()[0].ravel().tolist() == [0.5, 0, 2]


def test_sparse_and_unusual_series_are_read():
    frame = pd.DataFrame(
        {
            "zeros": pd.arrays.SparseArray([0.0, 0.0, 2.0, 0.0]),
            "grade": pd.Categorical([1.0, 2.5, None, 1.0]),
            "long": np.array([1, 2, 3, 4], np.longdouble),
            "half": np.array([1, 2, 3, 4], np.float16),
            5: [1, 2, 3, 4],
        }
    )
    stream = data.open(frame, labels=False, column_types={"grade": "category"}, missing="zero")
    assert stream.feature_names == ["zeros", "grade=1", "grade=2.5", "long", "half", "5"]
    assert stream.read()[0].tolist() == [
        [0, 1, 0, 1, 1, 1],
        [0, 0, 1, 2, 2, 2],
        [2, 0, 0, 3, 3, 3],
        [0, 1, 0, 4, 4, 4],
    ]
    periods = pd.DataFrame({"p": pd.period_range("2020-01", periods=2, freq="M"), "y": [0, 1]})
    with pytest.raises(ValueError, match=r"the data frame, row 0 \(counted from 0\): column 'p' holds Period"):
        data.open(periods, "y")


def test_sparse_rows_in_lists_are_read(tmp_path):
    table = pa.table({"indices": [[0, 3], [], [1]], "values": [[1.0, 2.0], [], [0.5]], "y": [1, 2, 1]})
    X = data.open(table, "y").read()[0]
    assert X.toarray().tolist() == [[1, 0, 0, 2], [0, 0, 0, 0], [0, 0.5, 0, 0]]
    assert (data.open(pl.from_arrow(table), "y").read()[0] != X).nnz == 0
    assert (data.open(table.to_pandas(types_mapper=pd.ArrowDtype), "y").read()[0] != X).nnz == 0


@pytest.mark.parametrize(
    ("rows", "options", "error"),
    [
        ([{"a": 1, "y": 0}, {"a": "x", "y": 1}], {}, r"column 'a' holds numbers and strings: "),
        ([{"a": [1], "y": 0}], {}, r"the list, row 0 \(counted from 0\): column 'a' holds \[1\], expected a number or"),
        ({"a": [1, 2], "y": 0}, {}, r"the record: column 'a' holds \[1, 2\], expected a number or a string"),
        ([{"a": "\ud800", "y": 0}], {}, r"the list: column 'a' holds text that is not valid Unicode"),
        (pl.DataFrame({"a": [[1]], "y": [0]}), {}, r"column 'a' holds .*list.* values"),
        (pd.DataFrame([[1, 2, 0]], columns=["a", "a", "y"]), {}, "the data frame: two columns are named 'a'"),
        (pd.DataFrame({"a": [1.0]}), {}, r"the data frame has no column 'y' for the target: its columns are a\."),
        (pd.DataFrame({"a": [], "y": []}), {}, "the data frame has the columns a, y but no rows"),
        (pd.DataFrame({"a": [1.0, None], "y": [0, 1]}), {}, r"row 1 .*: column 'a' has no value: give missing='zero'"),
        (
            pd.DataFrame({"a": [1.0], "y": [0]}),
            {"format": "csv"},
            "format is for files, and a table in memory was given",
        ),
        (
            pd.DataFrame({"a": [1.0], "y": [0]}),
            {"header": True},
            "the data frame is read as arrow, where header has no",
        ),
    ],
)
def test_what_cannot_be_read_is_named(rows, options, error):
    with pytest.raises(ValueError, match=error):
        data.open(rows, "y", **options).read()


def test_rows_that_cannot_be_read_are_left_out_if_asked():
    frame = pd.DataFrame({"a": [1.0, np.inf, 3.0], "y": [0, 1, 1]})
    with pytest.raises(
        data.DataError, match=r"the data frame, row 1 \(counted from 0\): column 'a' holds a number that is inf"
    ):
        data.open(frame, "y").read()
    stream = data.open(frame, "y", on_error="skip")
    assert stream.read()[0].tolist() == [[1.0], [3.0]]
    assert stream.skipped.rows == 1


@pytest.mark.parametrize("rows", [np.eye(2), pd.Series([1.0]), pl.Series([1.0]), 3.5, pa.array([1, 2])])
def test_other_objects_are_not_tables(rows):
    with pytest.raises(TypeError, match=r"expected "):
        data.open(rows)
    with pytest.raises(TypeError, match=r"LazyFrame: call its method collect\(\) or compute\(\) first"):
        data.open(pl.LazyFrame({"a": [1.0]}))
    with pytest.raises(TypeError, match="expected dictionaries only, got 7 in row 1"):
        data.open([{"a": 1}, 7])
    with pytest.raises(TypeError, match="column names that are strings, got 3: use '3'"):
        data.open([{3: 1}])


def test_runs_on_frames_resume_and_caches_are_reused(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc")).assign(y=np.arange(200) % 2)
    whole = AveragedPerceptron(max_iter=4, random_state=0).fit_stream(data.open(frame, "y"))

    def crash(model):
        raise RuntimeError

    model = AveragedPerceptron(max_iter=4, random_state=0)
    with pytest.raises(RuntimeError):
        model.fit_stream(data.open(frame, "y"), checkpoint=tmp_path / "run", every=0, on_pass=crash)
    resumed = AveragedPerceptron(max_iter=4, random_state=0)
    resumed.fit_stream(data.open(frame.copy(), "y"), checkpoint=tmp_path / "run", resume=True)
    assert np.array_equal(resumed.coef_, whole.coef_)
    changed = frame.assign(a=frame["a"].where(frame.index != 150, 0.0))
    with pytest.raises(ValueError, match="data"):
        model.fit_stream(data.open(changed, "y"), checkpoint=tmp_path / "run", resume=True)
    for table in (frame, changed, frame):
        stream = data.open(table, "y", cache=tmp_path / "rows")
        assert np.array_equal(stream.read()[0], table[list("abc")].to_numpy())
        assert np.array_equal(stream.read()[0], table[list("abc")].to_numpy())
    assert not stream.reads(tmp_path / "rows")


def test_labels_may_be_added():
    table = MemoryTable(pd.DataFrame({"a": [1.0, 2.0]}))
    for labels in (
        ["u", "v"],
        np.array(["u", "v"]),
        pd.Series(["u", "v"], index=[5, 4]),
        pl.Series(["u", "v"]),
        pa.array(["u", "v"]),
    ):
        table.add_column("y", labels)
        assert table.columns == ["a", "y"]
        assert table.read("y", 1, 2).array.to_pylist() == ["v"]
