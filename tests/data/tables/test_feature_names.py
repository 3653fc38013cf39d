"""Features have different names: columns that would share one are refused, and a word whose name is taken has none."""

import json

import numpy as np
import pandas as pd
import pytest

from rosenblatt import data
from rosenblatt.distributed.shards import file_shards_of
from rosenblatt.estimators.online import RecordColumns
from rosenblatt.hashing import names_of_hashed
from rosenblatt.messages import ParameterError

COLLIDING = {
    # columns, options, the columns that the message names
    "a category and a number": ({"c": ["x", "z"], "c=x": [1, 2]}, {}, ("c", "c=x")),
    "a number and a category": ({"c=x": [1, 2], "c": ["x", "z"]}, {}, ("c=x", "c")),
    "two categories": ({"c": ["x=p", "x=q"], "c=x": ["p", "q"]}, {}, ("c", "c=x")),
    "a category that is given": ({"c": ["y", "z"], "c=x": [1, 2]}, {"column_types": {"c": ["x", "y"]}}, ("c", "c=x")),
    "a number beside hashed words": ({"c": ["x", "z"], "#5": [1, 2]}, {"categories": "hash", "bits": 3}, ("#5",)),
}


@pytest.mark.parametrize("case", COLLIDING)
def test_columns_whose_features_would_share_a_name_are_refused(tmp_path, case):
    columns, options, named = COLLIDING[case]
    columns = columns | {"y": [0, 1]}
    frame = pd.DataFrame(columns)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")))
    for table in (tmp_path / "a.csv", tmp_path / "a.parquet", tmp_path / "a.jsonl", frame):
        with pytest.raises(data.DataError) as caught:
            data.open(table, target="y", **options)
        assert all(repr(name) in str(caught.value) for name in named)
        assert f"drop=[{named[-1]!r}]" in str(caught.value)
        assert len(data.open(table, target="y", on_ambiguous="note", **options).notes) == 1
        left = data.open(table, target="y", drop=[named[-1]], **options)  # the cure
        assert len(set(left.feature_names)) == left.n_features


def test_names_that_only_look_alike_are_allowed():
    frame = pd.DataFrame({"c": ["x", "z"], "c=y": [1, 2], "#5": [3, 4], "#05": [3, 4], "y": [0, 1]})
    assert data.open(frame, target="y").feature_names == ["c=x", "c=z", "c=y", "#5", "#05"]
    names = data.open(frame.drop(columns="#5"), target="y", categories="hash", bits=3).feature_names
    assert names == ["c=y", "#05", *(f"#{k}" for k in range(8))]


def test_a_word_whose_name_is_taken_has_none(tmp_path):
    frame = pd.DataFrame({"t=good": [1, 2], "t": ["a good film", "a bad play"], "y": [0, 1]})
    stream = data.open(frame, target="y", column_types={"t": "text"}, bits=6, keep_words=True)
    X, _ = stream.read()
    names = stream.feature_names
    assert len(set(names)) == len(names) == X.shape[1]
    assert names[0] == "t=good"
    assert {"t=film", "t=bad", "t=play"} < set(names)
    (tmp_path / "a.vw").write_text("1 |f cat |g dog\n0 | f^cat #3 dog\n")
    stream = data.open(tmp_path / "a.vw", bits=4, keep_words=True)
    stream.read()
    names = stream.feature_names
    assert len(set(names)) == len(names) == 16
    assert names.count("f^cat") == 1


def test_names_of_hashed_columns_are_different():
    rng = np.random.default_rng(0)
    words = ["a", "b", "#0", "#1", "#01", "#7", "", "c"]
    for _ in range(200):
        n = int(rng.integers(1, 9))
        given = {int(k): words[rng.integers(len(words))] for k in rng.permutation(n)[: rng.integers(n + 1)]}
        others = [words[k] for k in rng.permutation(2)[: rng.integers(3)]]
        names = names_of_hashed(given, n, others)
        assert len({*names, *others}) == n + len(set(others))
        assert all(name in (f"#{k}", given.get(k)) for k, name in enumerate(names))


def test_records_need_columns_with_different_names():
    with pytest.raises(ValueError, match="trained on two columns named 'b'"):  # older scikit-learn takes such frames
        RecordColumns(["a", "b", "c", "b"])
    assert RecordColumns(["a", "b"]).names.tolist() == ["a", "b"]


def test_words_are_kept_by_default_if_they_are_few(tmp_path, monkeypatch):
    texts = [f"film number {'abcdefg'[k % 7] * 2} of {'uvwxyz'[k % 6] * 3}" for k in range(60)]
    lines = [f"{text},{'ab'[k % 2]}" for k, text in enumerate(texts)]
    for number in range(3):
        part = ["t,y", *lines[20 * number : 20 * number + 20]]
        (tmp_path / f"part-{number}.csv").write_text("\n".join(part) + "\n")
    path, options = tmp_path / "part-*.csv", {"target": "y", "column_types": {"t": "text"}, "bits": 12}
    words = {f"t={word}" for text in texts for word in text.split()}

    def kept(**more):
        stream = data.open(path, **options, **more)
        found = []
        for _ in range(2):
            stream.read()
            found.append({name for name in stream.feature_names if not name.startswith("#")})
        assert found[0] == found[1]
        return found[0]

    def kept_by_workers():
        stream = data.open(path, **options)
        stream.restore_counts([loader().read[0] for loader in file_shards_of(stream, options)])
        return {name for name in stream.feature_names if not name.startswith("#")}

    for few, expected in ((len(words), words), (len(words) - 1, set())):
        monkeypatch.setattr("rosenblatt.data.tables.source.FEW_WORDS", few)
        cache = tmp_path / f"rows-{few}"
        assert kept() == kept(threads=0) == kept(cache=cache) == kept(cache=cache) == kept_by_workers() == expected
        assert kept(keep_words=True) == words
        assert kept(keep_words=False) == set()
    preparation = data.open(path, **options).preparation
    assert not {name for name in data.open(path, preparation=preparation).feature_names if not name.startswith("#")}
    with pytest.raises(ParameterError, match="keep_words must be a boolean or, for tables, 'few', got 'all'"):
        data.open(path, **options, keep_words="all")
