"""Values to Arrow and back, by their buffers; numbers, booleans and strings from them."""

import subprocess
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from helpers.kept_rows import every_format, example
from rosenblatt import data
from rosenblatt.data.tables.values import (
    as_numpy,
    null_rows,
    numbers_to_arrow,
    parse_booleans,
    parse_formatted,
    parse_numbers,
    parse_strings,
    possible_formats,
    replace_nulls,
    strings_to_arrow,
    strings_to_numbers,
)

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TYPES += ["float16", "float32", "float64", ">f8", ">i4"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [0, 1, 9, 1000])
def test_numbers_go_to_arrow_and_back(dtype, n):
    numbers = (np.arange(3 * n) % 3).astype(dtype)[::3]
    array = numbers_to_arrow(numbers)
    array.validate(full=True)
    assert array.equals(pa.array(numbers.astype(numbers.dtype.newbyteorder("="))))
    assert as_numpy(array).dtype == numbers.dtype.newbyteorder("=")
    np.testing.assert_array_equal(as_numpy(array), numbers)
    np.testing.assert_array_equal(as_numpy(array[n // 2 :]), numbers[n // 2 :])


@pytest.mark.parametrize("dtype", TYPES[:12])
def test_nulls_become_missing_numbers(dtype):
    mask = np.arange(100) % 7 == 3
    array = pa.array((np.arange(100) % 2).astype(dtype), mask=mask)[5:90]
    assert null_rows(array).tolist() == np.flatnonzero(mask[5:90]).tolist()
    values, bad = parse_numbers(array, ())
    np.testing.assert_array_equal(values, np.where(mask, np.nan, np.arange(100) % 2)[5:90])
    assert bad == []


def test_arrays_without_nulls_are_not_copied():
    numbers = np.arange(5.0)
    assert np.shares_memory(as_numpy(numbers_to_arrow(numbers)), numbers)
    assert replace_nulls(numbers_to_arrow(numbers), numbers, np.nan) is numbers


@pytest.mark.parametrize("texts", [[], ["a"], [None], ["", None, "öl", "\0", "x" * 300], ["a", None] * 20, ["b"] * 9])
def test_strings_go_to_arrow(texts):
    array = strings_to_arrow(texts)
    array.validate(full=True)
    assert array.equals(pa.array(texts, pa.string()))


def test_words_for_booleans():
    values, bad = parse_booleans(pa.array(["true", "FALSE", None, "NA", "yes", "True", "0"]), ())
    np.testing.assert_array_equal(values, [1, 0, np.nan, np.nan, np.nan, 1, np.nan])
    assert bad == [4, 6]


def test_an_array_of_nulls_has_neither_numbers_nor_strings():
    assert np.isnan(parse_numbers(pa.nulls(3), ())[0]).all()
    assert parse_strings(pa.nulls(3), ()).equals(pa.nulls(3, pa.string()))


READ = """
import sys
from rosenblatt import data
for name in sys.argv[1:]:
    target = {} if "svm" in name or "vw" in name else {"target": "y"}
    kinds = {"words": "category"} if "odd" in name else {}
    options = target and target | {"missing": "zero", "column_types": kinds, "on_error": "skip", "first_rows": 40}
    stream = data.open(name, **options, cache=True, block_rows=7)
    for _ in range(2):
        assert sum(map(len, stream)) >= 40
    assert stream.skipped.rows == ("fault" in name), stream.skipped
    data.open(name, preparation=stream.preparation, on_error="skip").read()
assert "pandas" not in sys.modules and "sklearn" not in sys.modules
"""


def test_reading_does_not_import_pandas(tmp_path):
    odd = {
        "y": pa.array(["no", "yes"] * 20).dictionary_encode(),
        "number": pa.array([Decimal("1.5"), None] * 20),
        "half": pa.array(np.arange(40, dtype=np.float16)),
        "nothing": pa.nulls(40),
        "flag": pa.array([True, None] * 20),
        "words": pa.array([1, 2, None, 4] * 10),
    }
    indices, values = [[0, 2], []] * 20 + [[1], [3]], [[1, 2.5], []] * 20 + [[None], [1.0]]
    names = [example(tmp_path, kind)[0] for kind in ("a.csv", "weights.jsonl.gz", "svm", "a.vw", "lists.parquet")]
    for name, columns in (("odd", odd), ("fault", {"y": [1, -1] * 21, "indices": indices, "values": values})):
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
        feather.write_feather(pa.table(columns), tmp_path / f"{name}.feather")
        names += [tmp_path / f"{name}.parquet", tmp_path / f"{name}.feather"]
    (tmp_path / "fault.csv").write_text("y,a,b\n" + "1,1,true\n0,2,false\n" * 20 + "1,word,true\n")
    (tmp_path / "fault.jsonl").write_text('{"y": true, "a": 1, "b": "red"}\n{"y": false, "b": null}\n' * 20 + "{\n")
    names += [tmp_path / "fault.csv", tmp_path / "fault.jsonl"]
    subprocess.run([sys.executable, "-c", READ, *map(str, names)], check=True)


def test_strings_become_numbers_or_are_found():
    texts = ["1", "x", None, "", "2", "3x", "-inf", "x", "n", "1"]
    numbers, bad = strings_to_numbers(pa.array(texts))
    assert np.array_equal(numbers, [1, *[np.nan] * 3, 2, np.nan, -np.inf, np.nan, np.nan, 1], equal_nan=True)
    assert bad == [1, 3, 5, 7, 8]
    assert strings_to_numbers(pa.array([], pa.string()))[1] == []


def written_with(x, digits, thousands, point):
    """Return a number with these separators, and the plain text of the same number."""
    plain = f"{x:.{digits}f}"
    return f"{x:,.{digits}f}".replace(",", "T").replace(".", point).replace("T", thousands), plain


@pytest.mark.parametrize("thousands", [".", "", " ", "'", "\u202f"])
@pytest.mark.parametrize("kind", ["decimal-comma", "thousands-comma"])
def test_numbers_are_the_nearest_to_their_plain_text(kind, thousands):
    thousands, point = (thousands, ",") if kind == "decimal-comma" else (thousands.replace(".", ","), ".")
    rng = np.random.default_rng(0)
    pairs = [
        written_with(x, digits, thousands, point)
        for digits in (0, 1, 2, 9)
        for x in rng.choice([1, 1e3, 1e6, 1e9], 100) * rng.normal(size=100)
    ]
    texts = [text for text, _ in pairs]
    values, bad = parse_formatted(pa.array(texts), (), kind)
    assert bad == []
    assert values.tolist() == [float(plain) for _, plain in pairs]
    assert kind in possible_formats(texts) or not thousands


DECIMAL, THOUSANDS = ["decimal-comma"], ["thousands-comma"]
KINDS_OF = {
    ("3,14",): DECIMAL, ("1.234,56",): DECIMAL, ("1 234,5",): DECIMAL, ("0,123",): DECIMAL, ("1,234", "3,1"): DECIMAL,
    ("1,234,567",): THOUSANDS, ("1,234.5",): THOUSANDS, ("1,234", "0.5"): THOUSANDS, ("1 234", "5"): THOUSANDS,
    ("1,234", "12,345"): DECIMAL + THOUSANDS, ("1", "2"): [], ("1,2,3",): [], ("1,234.567,8",): [], ("a,b",): [],
    ("12 34",): [], ("1.234 567,8",): [],
}  # fmt: skip


def test_which_kinds_numbers_may_be():
    for texts, kinds in KINDS_OF.items():
        assert possible_formats(list(texts)) == kinds, texts


def test_every_format_gives_the_same_numbers(tmp_path):
    values = ["3,14", "1.234,56", "-2", "7,5"] * 6
    for file in every_format(tmp_path, {"price": values, "y": ["a", "b"] * 12}):
        stream = data.open(file, "y")
        assert stream.preparation["columns"] == [{"name": "price", "kind": "decimal-comma"}]
        assert stream.read()[0][:4].ravel().tolist() == [3.14, 1234.56, -2.0, 7.5]
    assert data.open(file, "y", column_types={"price": "category"}).feature_names[0] == "price=-2"


def test_a_comma_that_may_be_either_is_one_question_with_both_answers(tmp_path):
    for on_ambiguous in ("error", "drop"):
        for file in every_format(tmp_path, {"price": ["1,234", "5,678"] * 12, "y": ["a", "b"] * 12}):
            with pytest.raises(data.DataError) as caught:
                data.open(file, "y", on_ambiguous=on_ambiguous)
            assert str(caught.value).endswith(
                "column 'price' holds numbers such as '1,234', whose comma may come before decimals or between "
                "thousands: give column_types={'price': 'decimal-comma'} or column_types={'price': 'thousands-comma'}."
            )
            assert data.open(file, "y", column_types={"price": "decimal-comma"}).read()[0][0] == [1.234]
            assert data.open(file, "y", column_types={"price": "thousands-comma"}).read()[0][0] == [1234.0]


def test_points_beside_decimal_commas_are_between_thousands(tmp_path):
    columns = {"paid": ["4.259", "87", "12.040", ""] * 6, "rate": ["3,5", "2,25", "7", "1"] * 6, "y": ["a", "b"] * 12}
    options = {"target": "y", "missing": "zero"}
    for file in every_format(tmp_path, columns):
        stream = data.open(file, **options)
        assert stream.read()[0][:4].tolist() == [[4259.0, 3.5], [87.0, 2.25], [12040.0, 7.0], [0.0, 1.0]]
        (note,) = stream.notes
        assert str(note).endswith(
            "column 'paid' holds numbers such as '4.259', read with a point between thousands, because column "
            "'rate' has decimal commas; column_types={'paid': 'number'} reads a decimal point."
        )
        given = data.open(file, **options, column_types={"paid": "number"})
        assert given.notes == []
        assert given.read()[0][:4, 0].tolist() == [4.259, 87.0, 12.04, 0.0]
    assert data.open(tmp_path / "a.csv", **options, drop=["rate"]).read()[0][0] == [4.259]
    mixed = every_format(tmp_path, columns | {"size": ["1.5", "2", "2.25", "4"] * 6})[0]
    for on_ambiguous in ("error", "drop"):
        with pytest.raises(data.DataError) as caught:
            data.open(mixed, **options, on_ambiguous=on_ambiguous)
        assert str(caught.value).endswith(
            "column 'paid' holds numbers such as '4.259', whose point may come before decimals, as in column 'size', "
            "or between thousands, as column 'rate' has decimal commas: give column_types={'paid': 'number'} or "
            "column_types={'paid': 'decimal-comma'}."
        )


def test_missing_numbers_and_rows_with_something_else(tmp_path):
    (tmp_path / "a.csv").write_text("price;y\n" + "3,5;a\n;b\nNA;b\n4,5;a\n" * 5 + "free;a\n")
    with pytest.raises(data.DataError, match=r"holds numbers in 10 of its first 21 rows but not in 1, such as 'free'"):
        data.open(tmp_path / "a.csv", "y", on_ambiguous="drop")
    stream = data.open(
        tmp_path / "a.csv", "y", column_types={"price": "decimal-comma"}, missing="mean", on_error="skip"
    )
    assert stream.read()[0][:4].ravel().tolist() == [3.5, 4.0, 4.0, 4.5]
    assert stream.skipped.rows == 1
    assert "holds 'free', expected a number such as 3,14" in stream.skipped.sentences[0]


def test_numbers_that_are_numbers_need_no_such_kind(tmp_path):
    pa.parquet.write_table(pa.table({"x": [1.5, 2.5], "y": [0, 1]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="is for numbers in text, but column 'x' holds numbers: leave it out"):
        data.open(tmp_path / "a.parquet", "y", column_types={"x": "decimal-comma"})
