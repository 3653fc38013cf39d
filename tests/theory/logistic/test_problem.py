"""Data frames as columns of numbers: levels, names, and what is refused."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rosenblatt.theory.logistic.problem import read_design

COLUMNS = {"age": [3, 1, 2], "sex": ["m", "f", "m"], "old": [True, False, True]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_every_kind_of_frame_is_the_same(make):
    names, X = read_design(make(COLUMNS), True)
    assert names == ("intercept", "age", "sex=m", "old")
    np.testing.assert_array_equal(X, [[1, 3, 1, 1], [1, 1, 0, 0], [1, 2, 1, 1]])
    assert read_design(make(COLUMNS), False).names == names[1:]


LEVELS = ["late", "early", "noon"]
DAYS = ["early", "late", "early", "late"]


@pytest.mark.parametrize(
    ("frame", "names"),
    [
        (pd.DataFrame({"t": pd.Categorical(DAYS, categories=LEVELS)}), ("t=early",)),
        (pl.DataFrame({"t": pl.Series(DAYS, dtype=pl.Enum(LEVELS))}), ("t=early",)),
        (pl.DataFrame({"t": pl.Series(DAYS[1:], dtype=pl.Categorical)}), ("t=late",)),
        (pa.table({"t": pa.array(DAYS[1:]).dictionary_encode()}), ("t=late",)),
        (pa.table({"t": pa.DictionaryArray.from_arrays([1, 0, 1], LEVELS, ordered=True)}), ("t=early",)),
        (pd.DataFrame({"t": pd.Series(DAYS, dtype="string")}), ("t=late",)),
        (pd.DataFrame({"t": np.array(DAYS, dtype=object)}), ("t=late",)),
        (pd.DataFrame({"t": pd.Categorical([3, 1, 2])}), ("t=2", "t=3")),
        (pd.DataFrame({"t": ["same", "same"]}), ()),
        (pd.DataFrame([[1, 2], [3, 4]]), ("x0", "x1")),
        (pd.DataFrame({"t": pd.array([1, 2], dtype="Int64")}), ("t",)),
        (pd.DataFrame({"t": pd.array([True, False], dtype="boolean")}), ("t",)),
    ],
)
def test_levels_have_the_order_of_their_categories_or_of_the_alphabet(frame, names):
    design = read_design(frame, False)
    assert design.names == names
    assert design.X.shape == (frame.shape[0], len(names))
    assert design.X.dtype == np.float64


def test_levels_are_columns_of_0_and_1():
    frame = pd.DataFrame({"t": ["b", "a", "c", "b"]})
    np.testing.assert_array_equal(read_design(frame, False).X, [[1, 0], [0, 0], [0, 1], [1, 0]])


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="older polars has no integers of 128 bits")
def test_integers_that_numpy_does_not_have_are_taken_exactly():
    wide = pl.DataFrame({"a": pl.Series([3, -(2**100)], dtype=pl.Int128)})
    assert read_design(wide, False).X.tolist() == [[3.0], [-(2.0**100)]]
    with pytest.raises(ValueError, match=f"column 'a' holds the integer {2**53 + 1}, which float64 would round"):
        read_design(pl.DataFrame({"a": pl.Series([3, 2**53 + 1], dtype=pl.Int128)}), False)


NESTED = [
    pl.DataFrame({"a": [[1], [3]]}),
    pl.DataFrame({"a": [[1, 2], [3]]}),
    pl.DataFrame({"a": pl.Series([[1], [3]], dtype=pl.Array(pl.Int64, 1))}),
    pl.DataFrame({"a": [{"u": 1}, {"u": 2}]}),
    pa.table({"a": [[1], [3]]}),
    pa.table({"a": [["x", "y"], ["z", "x"]]}),
    pa.table({"a": [{"u": 1}, {"u": 2}]}),
    pd.DataFrame({"a": [np.array([1.0]), np.array([2.0])]}),
    pd.DataFrame({"a": [(1, 2), (3, 4)]}),
    pd.DataFrame({"a": pd.arrays.ArrowExtensionArray(pa.array([[1], [3]]))}),
]


def test_what_has_no_meaning_is_refused():
    for frame, words in (
        *((frame, "^column 'a' holds lists or other nested values: expected one number") for frame in NESTED),
        (pd.DataFrame({"a": [1.0, None]}), "column 'a' has missing values"),
        (pd.DataFrame({"a": ["x", None]}), "column 'a' has missing values"),
        (pl.DataFrame({"a": ["x", None]}), "column 'a' has missing values"),
        (pa.table({"a": [1, None]}), "column 'a' has missing values"),
        (pd.DataFrame({"a": np.array(["x", 1], dtype=object)}), "column 'a' mixes strings with other values"),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), "column 'a' holds dates or times"),
        (pl.DataFrame({"a": [datetime.date(2020, 1, 1)]}), "column 'a' holds dates or times"),
        (pd.DataFrame({"a": [2**53 + 1, 0], "b": [0.5, 1.0]}), "column 'a' holds the integer"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a' twice: rename"),
        (pd.DataFrame({"intercept": [1, 2]}), "'intercept' twice: rename"),
        (pd.DataFrame({"a": ["b", "c"], "a=c": [1, 2]}), "'a=c' twice"),
        (pd.DataFrame({"a": []}), "at least one row"),
    ):
        with pytest.raises(ValueError, match=words):
            read_design(frame, True)
