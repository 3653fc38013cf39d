"""Values to Arrow and back, by their buffers."""

import subprocess
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from rosenblatt.data.tables.values import (
    as_numpy,
    null_rows,
    numbers_to_arrow,
    parse_booleans,
    parse_numbers,
    parse_strings,
    replace_nulls,
    strings_to_arrow,
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
    kinds = {"words": "category"} if "odd" in name else {}
    options = {"missing": "zero", "kinds": kinds, "on_error": "skip", "first_rows": 40}
    stream = data.open(name, "label", **options, cache=True, block_rows=7)
    for _ in range(2):
        assert sum(map(len, stream)) >= 40
    assert stream.skipped.rows == ("fault" in name), stream.skipped
    data.open(name, preparation=stream.preparation, on_error="skip").read()
assert "pandas" not in sys.modules and "sklearn" not in sys.modules
"""


def test_reading_does_not_import_pandas(tmp_path):
    odd = {
        "label": pa.array(["no", "yes"] * 20).dictionary_encode(),
        "number": pa.array([Decimal("1.5"), None] * 20),
        "half": pa.array(np.arange(40, dtype=np.float16)),
        "nothing": pa.nulls(40),
        "flag": pa.array([True, None] * 20),
        "words": pa.array([1, 2, None, 4] * 10),
    }
    lists = {
        "label": pa.array([1, -1] * 20),
        "indices": pa.array([[0, 2], []] * 20),
        "values": pa.array([[1, 2.5], []] * 20),
    }
    faulty = lists | {"values": pa.array([[1, 2.5], []] * 20 + [[None], [1.0]])}
    faulty |= {"label": pa.array([1, -1] * 21), "indices": pa.array([[0, 2], []] * 20 + [[1], [3]])}
    names = []
    for name, columns in (("odd", odd), ("lists", lists), ("fault", faulty)):
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
        feather.write_feather(pa.table(columns), tmp_path / f"{name}.feather")
        names += [tmp_path / f"{name}.parquet", tmp_path / f"{name}.feather"]
    texts = {
        "plain.csv": "label,a,b,c\n" + "yes,1,true,red\nno,?,NA,\n" * 20,
        "fault.csv": "label,a,b\n" + "1,1,true\n0,2,false\n" * 20 + "1,word,true\n",
        "plain.jsonl": '{"label": true, "a": 1, "b": "red", "c": null}\n{"label": false, "b": null}\n' * 20,
        "fault.jsonl": '{"label": true, "a": 1, "b": "red"}\n{"label": false, "b": null}\n' * 20 + "{\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        names.append(tmp_path / name)
    subprocess.run([sys.executable, "-c", READ, *map(str, names)], check=True)
