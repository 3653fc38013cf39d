"""Columns into features: kinds told from the first rows, one-hot and hashed against a naive twin, missing values."""

import json
import math
import random

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer

from rosenblatt import data
from rosenblatt.data.tables.encoder import Hasher
from rosenblatt.hashing import Texts


def write(folder, rows, name="a.csv"):
    """Write dictionaries as CSV without quotes, or as JSON lines; return the file."""
    if name.endswith("csv"):
        lines = [",".join(rows[0]), *(",".join("" if v is None else str(v) for v in row.values()) for row in rows)]
    else:
        lines = map(json.dumps, rows)
    (folder / name).write_text("\n".join(lines))
    return folder / name


def kinds(file, **options):
    return {column["name"]: column["kind"] for column in data.open(file, "y", **options).preparation["columns"]}


def test_kinds_are_told_from_the_first_rows(tmp_path):
    expected = {"number": "number", "bool": "boolean", "few": "category", "codes": "category", "text": "text"}
    expected |= {"empty": "number", "half": "category"}
    rows = [
        {"number": k / 2 if k % 3 else None, "bool": k % 2 == 0, "few": "ab"[k % 2], "codes": f"{k % 7}x"}
        | {"text": f"one two {k} four", "empty": None, "half": "ab"[k % 2] * (1 + k % 50), "y": k % 2}
        for k in range(100)
    ]
    for name in ("a.csv", "a.jsonl"):
        assert kinds(write(tmp_path, rows, name), missing="zero") == expected
    forced = {"codes": "text", "number": "category", "few": ["b", "c"]}
    stream = data.open(tmp_path / "a.csv", "y", missing="zero", column_types=forced, drop=["text"])
    assert stream.preparation["columns"][3] == {"name": "codes", "kind": "text"}
    assert "number=0.5" in stream.feature_names
    assert {"few=b", "few=c"} < set(stream.feature_names)
    assert "few=a" not in stream.feature_names
    stream.read()
    assert stream.unseen == {"few": 50}


@pytest.mark.parametrize("n", [20, 21, 45])
def test_strings_that_are_nearly_all_different_are_asked_about(tmp_path, n):
    file = write(tmp_path, [{"id": f"k{k}", "y": 0} for k in range(n)])
    if n == 20:
        assert kinds(file) == {"id": "category"}
    else:
        with pytest.raises(
            data.DataError, match=rf"'id' has {n} different values in {n} rows, such as 'k0': use drop="
        ):
            data.open(file, "y")
    assert kinds(file, categories="hash") == {"id": "category"}


def test_a_column_without_a_name_that_counts_rows_is_asked_about(tmp_path):
    (tmp_path / "a.csv").write_text(",x,y\n0,5,1\n1,7,0\n2,6,1\n")
    with pytest.raises(
        data.DataError, match=r"column 'c1' has no name and counts the rows: use drop=\['c1'\] to leave out"
    ):
        data.open(tmp_path / "a.csv", "y")
    assert data.open(tmp_path / "a.csv", "y", drop=["c1"]).feature_names == ["x"]


def test_given_categories_are_read_as_those_of_the_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("colour,size,y\nred ,1,0\n blue,2.0,1\n")
    stream = data.open(path, "y", column_types={"colour": [" red", "blue ", "red", " "], "size": [1.0, 2]})
    assert stream.feature_names == ["colour=red", "colour=blue", "size=1", "size=2"]
    assert stream.read()[0].tolist() == [[1, 0, 1, 0], [0, 1, 0, 0]]  # "2.0" in text is another category than 2
    assert stream.unseen == {"size": 1}


def test_more_than_a_thousand_categories_are_asked_about(tmp_path):
    rows = [{"zip": f"z{k % 1001}", "y": 0} for k in range(9000)]
    with pytest.raises(data.DataError, match=r"column 'zip' has 1001 different values in 9000 rows"):
        data.open(write(tmp_path, rows), "y")
    assert data.open(write(tmp_path, rows), "y", column_types={"zip": "category"}).n_features == 1001


def naive_rows(rows, numbers, categories, fill):
    """One-hot by loops: number columns, then a column for each category, in the order of the table's columns."""
    found = []
    for row in rows:
        features = []
        for name in row:
            if name in numbers:
                features.append(fill[name] if row[name] is None else float(row[name]))
            elif name in categories:
                features += [float(row[name] == value) for value in categories[name]]
        found.append(features)
    return found


def test_one_hot_and_means_against_a_naive_twin(tmp_path):
    for seed in range(10):
        rng = random.Random(seed)
        sizes = rng.choice([(2, 3), (12, 30)])
        some = [None, *(f"c{k}" for k in range(sizes[0]))], [None, 0, 1, 2.5, -3]
        rows = [
            {"c": rng.choice(some[0]), "n": rng.choice(some[1]), "d": f"d{rng.randrange(sizes[1])}", "y": k % 2}
            for k in range(200)
        ]
        known = [row["n"] for row in rows if row["n"] is not None]
        categories = {name: sorted({row[name] for row in rows} - {None}) for name in "cd"}
        for missing, fill in (("zero", 0.0), ("mean", math.fsum(known) / len(known))):
            expected = np.array(naive_rows(rows, {"n"}, categories, {"n": fill}))
            for name in ("a.csv", "a.jsonl"):
                stream = data.open(write(tmp_path, rows, name), "y", missing=missing)
                X, y = stream.read()
                assert sp.issparse(X) == (np.mean(expected != 0) < 0.25)
                assert np.array_equal(X.toarray() if sp.issparse(X) else X, expected)
                assert y.tolist() == [row["y"] for row in rows]
                assert stream.feature_names == [f"c={v}" for v in categories["c"]] + ["n"] + [
                    f"d={v}" for v in categories["d"]
                ]
                if sp.issparse(X):
                    assert X.has_canonical_format
                    assert X.data.all()


def test_words_are_hashed_as_scikit_learn_does(tmp_path):
    texts = ["The cat sat, the cat.", "", "Dogs and CATS and é", "a I x"]
    hasher = Hasher([{"name": "t", "kind": "text"}], bits=10, ngrams=2)
    ours, names = hasher.rows({"t": Texts.of_strings(texts)}, keep_words=True)
    twin = HashingVectorizer(
        n_features=2**10,
        alternate_sign=False,
        analyzer=lambda text: [f"t={word}" for word in HashingVectorizer(ngram_range=(1, 2)).build_analyzer()(text)],
    ).transform(texts)
    assert abs(ours - twin).max() < 1e-15
    lengths = np.sqrt(ours.power(2).sum(axis=1))
    assert lengths.round(12).tolist() == [1.0, 0.0, 1.0, 0.0]
    assert all(set(names) >= set(row.indices.tolist()) for row in (ours[[k], :] for k in range(4)))
    assert {"t=the", "t=cat sat"} <= set(names.values())


def test_hashed_categories_and_words_share_columns(tmp_path):
    rows = [{"n": k, "c": f"id{k}", "t": f"good film number {k}", "y": k % 2} for k in range(30)]
    file = write(tmp_path, rows)
    stream = data.open(file, "y", categories="hash", bits=12, keep_words=True)
    assert stream.n_features == 1 + 2**12
    assert stream.feature_names[:3] == ["n", "#0", "#1"]
    for block_rows in (None, 7):
        stream = data.open(file, "y", categories="hash", bits=12, keep_words=True, block_rows=block_rows)
        X, _ = stream.read()
        names = np.array(stream.feature_names)
        for k in (0, 29):
            row = dict(zip(names[X[[k], :].indices], X[[k], :].data, strict=True))
            assert row[f"c=id{k}"] == 1.0
            assert row["t=good"] == row["t=film"] == row["t=number"]
            assert row.get("n", 0.0) == k


def test_missing_values_have_their_rule(tmp_path):
    rows = [
        {"n": 1, "m": -999, "c": "a", "y": 0},
        {"n": "?", "m": 3, "c": "b", "y": 1},
        {"n": 4, "m": 5, "c": "?", "y": 1},
    ]
    file = write(tmp_path, rows)
    X, _ = data.open(file, "y", missing="mean").read()
    assert X.tolist() == [[1, -999, 0, 1, 0], [2.5, 3, 0, 0, 1], [4, 5, 1, 0, 0]], "? is a category like others"
    stream = data.open(file, "y", missing="mean", missing_values=["?", "-999"])
    assert stream.read()[0].tolist() == [[1, 4, 1, 0], [2.5, 3, 0, 1], [4, 5, 0, 0]]
    assert [column.get("fill") for column in stream.preparation["columns"]] == [2.5, 4.0, None]
    stream = data.open(file, "y", missing_values=["?", -999], on_error="skip")
    assert stream.read()[0].shape == (0, 4)
    assert stream.skipped.rows == 3
    assert stream.skipped.sentences[2].endswith("line 4: column 'c' has no value: fill it in the file.")
    number = write(tmp_path, [{"n": -999, "y": 0.0}, {"n": 2.0, "y": 1.0}], "b.jsonl")
    assert data.open(number, "y", missing="zero", missing_values=["-999.0"]).read()[0].tolist() == [[0.0], [2.0]]
    huge = write(tmp_path, [{"n": 1.5e308, "y": 0}, {"n": 1.5e308, "y": 0}, {"n": None, "y": 1}], "c.jsonl")
    assert data.open(huge, "y", missing="mean").read()[0].tolist() == [[1.5e308]] * 3


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_rows_that_are_left_out_make_no_means_and_no_categories(tmp_path, name):
    """The last row of many tables is a total, which cannot be read as a row."""
    rows = [{"day": k, "paid": 10 + k if k % 4 else None, "shop": "ab"[k % 2], "y": k % 2} for k in range(40)]
    total = {"day": "Total", "paid": 900, "shop": "all", "y": 0}
    options = {"missing": "mean", "column_types": {"day": "number"}}
    expected = data.open(write(tmp_path, rows, name), "y", **options)
    X, y = expected.read()
    unlabelled = {"day": 0, "paid": 1, "shop": "c", "y": None}
    stream = data.open(write(tmp_path, [unlabelled, *rows, total], name), "y", on_error="skip", **options)
    assert stream.feature_names == ["day", "paid", "shop=a", "shop=b"]
    np.testing.assert_array_equal(stream.read()[0], X)
    np.testing.assert_array_equal(stream.read()[1], y)
    assert stream.skipped.rows == 1
    assert stream.preparation["columns"] == expected.preparation["columns"]


def test_labels_keep_what_they_are(tmp_path):
    def labels(values, **options):
        y = data.open(write(tmp_path, [{"x": 1, "y": value} for value in values]), "y", **options).read()[1]
        return y.dtype.kind, y.tolist()

    assert labels(["1", "-1"]) == ("i", [1, -1])
    assert labels(["1.0", "2e0"]) == ("i", [1, 2])
    assert labels(["1", "0.5"]) == ("f", [1.0, 0.5])
    assert labels(["true", "False"]) == ("b", [True, False])
    assert labels(["1", "combine_chunks"]) == ("U", ["1", "combine_chunks"])
    assert labels(["01", "02"], column_types={"y": "category"}) == ("U", ["01", "02"])
    assert labels(["2020-01-01", "x"]) == ("U", ["2020-01-01", "x"])
    with pytest.raises(data.DataError, match=r"line 10002: column 'y' holds '0.5', expected an integer label, like"):
        labels([*(["1"] * 10_000), "0.5"])
    with pytest.raises(data.DataError, match=r"line 10002: column 'y' holds an integer that float64 may have rounded"):
        labels([*(["1"] * 10_000), "1e300"])


def test_weights_are_a_column(tmp_path):
    file = write(tmp_path, [{"x": 1, "w": 0.5, "y": 0}, {"x": 2, "w": 0, "y": 1}, {"x": 3, "w": -1, "y": 1}])
    stream = data.open(file, "y", weight="w", on_error="skip", block_rows=1)
    assert [(block.X.tolist(), block.weight.tolist()) for block in stream] == [([[1.0]], [0.5]), ([[2.0]], [0.0])]
    assert stream.skipped.sentences[0].endswith("line 4: column 'w' holds '-1', expected a weight of 0 or more.")
    stream = data.open(file, labels=False, columns=["x"])
    assert not stream.labelled
    assert next(iter(stream)).weight is None


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_only_rows_that_are_kept_are_counted(tmp_path, name):
    rows = [{"a": 1, "b": 2, "c": "u", "y": 0}, {"a": 3, "b": 4, "c": "v", "y": 1}] * 2
    cells = [(None, 1, "u", 0), ("bad", None, "new", 0), (1, "1e999", None, 0)]
    cells += [(None, 1, "new", 1), (None, 1, None, None), (None, None, None, 0)]
    new = [dict(zip("abcy", row, strict=True)) for row in cells]
    for options, unseen in (({}, {"c": 1}), ({"categories": "hash", "bits": 4}, {})):
        prepared = data.open(write(tmp_path, rows, name), "y", missing="mean", **options).preparation
        stream = data.open(write(tmp_path, new, name), preparation=prepared, on_error="skip")
        assert len(stream.read()[1]) == 3
        assert (stream.filled, stream.unseen) == ({"a": 3, "b": 1, "c": 1}, unseen)
