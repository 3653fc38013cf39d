"""data.open with options that make no sense, or without pyarrow: one sentence each."""

import re
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rosenblatt import data
from rosenblatt.data.tables.values import import_arrow


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"on_error": "ignore"}, "on_error must be 'raise' or 'skip', got 'ignore'."),
        ({"threads": -1}, "threads must be an integer of at least 0, got -1."),
        ({"block_rows": 0}, "block_rows must be an integer of at least 1, got 0."),
        ({"missing": "median"}, "missing must be 'error', 'zero', 'mean' or 'auto', got 'median'."),
        ({"categories": "ordinal"}, "categories must be 'onehot' or 'hash', got 'ordinal'."),
        ({"bits": 40}, "bits must be an integer from 1 to 30, got 40."),
        ({"format": "excel"}, "format must be one of csv, tsv, parquet, arrow, jsonl, svmlight, vw, npz, got 'excel'."),
        (
            {"kinds": {"a": "year"}},
            "kinds of 'a' must be one of number, boolean, category, text, date, ",
        ),
        ({"drop": "a"}, "drop must be a list of strings, got 'a': give drop=['a']."),
        ({"drop": ["zz"]}, "has no column 'zz': its columns are a, why (its first line was taken for their names"),
        ({"target": "Wy"}, "has no column 'Wy' (did you mean 'why'?) for the target: its columns are a, why"),
        ({"target": 2}, "has no column number 2 for the target"),
        ({"target": None}, "which column of"),
        ({"columns": ["why"]}, "is left to learn from: its columns are a, why."),
        ({"delimiter": "::"}, "delimiter must be one ASCII character, got '::'."),
        ({"preparation": {}, "target": None}, "preparation must be the preparation of a stream"),
    ],
)
def test_bad_options_are_one_sentence(tmp_path, options, sentence):
    (tmp_path / "a.csv").write_text("a,why\n1,2\n")
    with pytest.raises(ValueError, match=re.escape(sentence)):
        data.open(tmp_path / "a.csv", **{"target": "why", **options})


def test_without_pyarrow_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    import_arrow.cache_clear()
    for name in ("pyarrow", "pyarrow.csv"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"^reading tables needs pyarrow: pip install 'rosenblatt\[files\]'\.$"):
        data.open(tmp_path / "a.csv", "y")


def test_frames_and_arrays_are_no_files():
    for rows in (pd.DataFrame({"a": [1]}), pa.table({"a": [1]}), np.eye(2)):
        with pytest.raises(TypeError, match=r"expected paths of files, got a \w+: data.open reads files, and fit"):
            data.open(rows, "a")
