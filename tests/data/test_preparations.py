"""Preparations from files: what streams say is accepted, anything else is one sentence, before it is used."""

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.forging import mutations
from rosenblatt import data
from rosenblatt.data.preparation import check_preparation, is_preparation
from rosenblatt.messages import ParameterError

TABLE = "a,b,c,d,y\n" + "".join(
    f"{k / 2},{'red' if k % 3 else 'blue'},{'true' if k % 2 else 'false'},some words about number{k},{k % 2}\n"
    for k in range(30)
)


def examples(folder):
    """Yield a file of each kind with the options to open it."""
    (folder / "a.csv").write_text(TABLE)
    yield folder / "a.csv", {"target": "y", "missing": "mean", "bits": 4}
    yield folder / "a.csv", {"target": "y", "drop": ["d"], "column_types": {"b": ["red", "blue", "green"]}}
    yield folder / "a.csv", {"target": "y", "columns": ["a", "c"], "weight": "a"}
    (folder / "a.tsv").write_text(TABLE.replace(",", "\t"))
    yield folder / "a.tsv", {"labels": False, "header": True, "categories": "hash", "bits": 4}
    (folder / "a.jsonl").write_text("".join(json.dumps({"a": k, "b": "x", "y": k % 2}) + "\n" for k in range(5)))
    yield folder / "a.jsonl", {"target": "y"}
    (folder / "a.svm").write_text("1 1:2 3:4\n-1 2:1\n")
    yield folder / "a.svm", {}
    (folder / "a.vw").write_text("1 |f a b:2\n-1 |f c\n")
    yield folder / "a.vw", {"bits": 4}
    np.savez(folder / "a.npz", X=np.eye(3), y=np.arange(3))
    yield folder / "a.npz", {"missing": "mean"}
    pq.write_table(pa.table({"indices": [[0, 2], [1]], "values": [[1.0, 2.0], [3.0]], "y": [0, 1]}), folder / "a.pq")
    yield folder / "a.pq", {"target": "y"}


def test_what_streams_say_is_accepted(tmp_path):
    for path, options in examples(tmp_path):
        stream = data.open(path, **options)
        unread = check_preparation(stream.preparation)
        X, _ = stream.read()
        assert is_preparation(stream.preparation)
        assert unread in (None, X.shape[1])
        assert check_preparation(stream.preparation) == X.shape[1] == stream.n_features
        again, _ = data.open(path, preparation=stream.preparation).read()
        assert abs(again - X).sum() == 0


def test_what_has_one_strange_field_is_refused_or_makes_rows(tmp_path):
    """Every field of every kind of preparation, removed, doubled or replaced: a sentence, or rows of that width."""
    rng = np.random.default_rng(0)
    for path, options in examples(tmp_path):
        stream = data.open(path, **options)
        stream.read()
        forged = [other for other in mutations(stream.preparation) if type(other) is dict]
        refused = 0
        for number in rng.permutation(len(forged))[:150]:
            try:
                other = data.open(path, preparation=forged[number])
                X, _ = other.read()
            except ValueError as fault:
                assert type(fault).__module__.startswith("rosenblatt.")  # noqa: PT017
                assert str(fault).endswith(".")  # noqa: PT017
                refused += 1
                continue
            assert check_preparation(forged[number]) in (None, X.shape[1])
        assert refused > min(150, len(forged)) / 2


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("format", "xml", "'format' must be 'csv' or"),
        ("version", 2, "'version' must be an integer"),
        ("bits", 31, "'bits' must be an integer"),
        ("bits", True, "'bits' must be an integer"),
        ("ngrams", 0, "'ngrams' must be"),
        ("sparse", 1, "'sparse' must be true or false"),
        ("missing", "none", "'missing' must be 'error' or"),
        ("missing_values", [None], "'missing_values.0' must be a string"),
        ("order", "abc", "'order' must be a list"),
        ("weight", 0, "'weight' must be a string"),
        ("target", {"name": "y"}, "'target' has no field 'kind'"),
        ("target", {"name": "y", "kind": "date"}, "'target.kind' must be 'integer' or"),
        ("columns", [], "'columns' must be a list of columns"),
        ("columns", [None], "'columns.0' must be a dictionary"),
        ("columns", [{"name": "a", "kind": "numbers"}], "'columns.0.kind' must be 'number' or"),
        (
            "columns",
            [{"name": "a", "kind": "number", "categories": ["x"]}],
            "columns of kind number without categories",
        ),
        ("columns", [{"name": "a", "kind": "number", "fill": "0"}], "'columns.0.fill' must be a finite number"),
        (
            "columns",
            [{"name": "b", "kind": "category", "categories": [1]}],
            "'columns.0.categories.0' must be a string",
        ),
        ("dialect", {"delimiter": ",,", "quote": "", "header": True}, "delimiter must be one ASCII character"),
        ("dialect", {"delimiter": ",", "quote": "", "header": None}, "'dialect.header' must be true or false"),
        ("columns", [{"name": "a", "kind": "date", "order": "ydm"}], "'columns.0.order' must be"),
        ("lists", True, "which is empty if the rows are sparse lists"),
        ("surprise", 1, "unknown field 'surprise'"),
    ],
)
def test_a_strange_field_is_named(tmp_path, name, value, match):
    path, options = next(examples(tmp_path))
    prepared = data.open(path, **options).preparation
    with pytest.raises(ParameterError, match=r"preparation must be the preparation of a stream.*: .*" + match):
        data.open(path, preparation=prepared | {name: value})


def test_a_stream_that_is_read_once_lacks_a_column(tmp_path):
    """What is missing in the first lines of a pipe is a sentence, as it is for a file."""
    path, options = next(examples(tmp_path))
    prepared = data.open(path, **options).preparation
    (tmp_path / "b.csv").write_text(TABLE.replace("a,b,c", "x,b,c"))
    for source in (tmp_path / "b.csv", io.BytesIO((tmp_path / "b.csv").read_bytes())):
        with pytest.raises(data.DataError, match="has no column 'a'"):
            data.open(source, preparation=prepared, format="csv").read()
