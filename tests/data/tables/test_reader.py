"""What the readers of all tables share."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from rosenblatt import data
from rosenblatt.data.tables.reader import ColumnLayout, join_names, suggestion
from rosenblatt.data.tables.values import strings_to_numbers


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
