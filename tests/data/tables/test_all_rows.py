"""Categories, means and kinds come from all training rows of a table, however they are sorted."""

import io
import math

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from rosenblatt import AveragedPerceptron, data
from rosenblatt.data.tables import all_rows
from rosenblatt.data.tables.delimited import DelimitedReader
from rosenblatt.splits import Split

FIRST = 10_000
OPTIONS = {"target": "y", "missing": "mean", "on_ambiguous": "drop"}


def sorted_rows(n=24_000, regions=30):
    """Rows sorted by region, whose other columns depend on the region."""
    rng = np.random.default_rng(0)
    region = np.sort(rng.integers(0, regions, n))
    x = np.round(region + rng.normal(size=n), 3)
    return {
        "region": [f"r{k:02}" for k in region],
        "x": [None if rng.random() < 0.1 else value for value in x.tolist()],
        "note": [None if k < 0.6 * n else "late" if k % 3 else "later" for k in range(n)],
        "y": np.where((region % 3 == 0) ^ (rng.random(n) < 0.05), "yes", "no").tolist(),
    }


def shuffled(columns, seed=1):
    order = np.random.default_rng(seed).permutation(len(columns["y"])).tolist()
    return {name: [values[k] for k in order] for name, values in columns.items()}


def write(path, columns, start=0, stop=None):
    columns = {name: values[start:stop] for name, values in columns.items()}
    if path.suffix == ".parquet":
        pa.parquet.write_table(pa.table(columns), path, row_group_size=5000)
    else:
        pa.csv.write_csv(pa.table(columns), path)
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_the_order_of_rows_does_not_matter(tmp_path, name):
    columns = sorted_rows()
    x = np.array([value for value in columns["x"] if value is not None])
    expected = [
        {"name": "region", "kind": "category", "categories": [f"r{k:02}" for k in range(30)]},
        {"name": "x", "kind": "number", "fill": math.fsum(x) / len(x)},
        {"name": "note", "kind": "category", "categories": ["late", "later"]},
    ]
    prepared = []
    for table in (columns, shuffled(columns)):
        stream = data.open(write(tmp_path / name, table), **OPTIONS, scale="auto", cache=True)
        X, _ = stream.read()
        assert X.shape == (24_000, 33)
        assert stream.preparation["columns"] == expected
        assert stream.unseen == {}
        assert stream.filled == {"x": 24_000 - len(x), "note": table["note"].count(None)}
        model = AveragedPerceptron(random_state=0).fit_stream(stream)
        assert model.score(data.Block(X, table["y"])) > 0.9
        prepared.append(stream.preparation)
    assert prepared[0] == prepared[1]


def test_the_scale_is_that_of_the_rows(tmp_path):
    """It comes from the same pass, from sums without the values that are filled in afterwards."""
    path = write(tmp_path / "a.csv", sorted_rows())
    for method in ("standard", "maxabs"):
        stream = data.open(path, **OPTIONS, scale=method)
        found = stream.preparation
        again = data.open(path, **OPTIONS)
        again = data.open(path, preparation=again.preparation)
        X = again.read()[0].tocsc()[:, 30].toarray().ravel()
        scale = found["scale"]
        assert scale["features"] == [30]
        if method == "maxabs":
            assert (scale["centre"], scale["spread"]) == ([0.0], [np.abs(X).max()])
        else:
            np.testing.assert_allclose([scale["centre"][0], scale["spread"][0]], [X.mean(), X.std()], rtol=1e-12)
        assert np.abs(stream.read()[0].tocsc()[:, 30].toarray().std() - (1 if method == "standard" else 0.25)) < 0.3


def test_a_given_number_of_first_rows_decides_alone(tmp_path):
    stream = data.open(write(tmp_path / "a.csv", sorted_rows()), **OPTIONS | {"drop": ["note"]}, first_rows=FIRST)
    assert len(stream.feature_names) < 20
    assert stream.read()[0].shape[0] == 24_000
    assert stream.unseen["region"] > FIRST


def test_rows_held_out_take_no_part(tmp_path):
    columns = sorted_rows()
    split = Split.of_share(0.2, seed=3)
    (held,) = split.held_out([np.array(columns["y"])])
    columns["region"] = [f"held {value}" if out else value for value, out in zip(columns["region"], held, strict=True)]
    columns["x"] = [1e6 if out else value for value, out in zip(columns["x"], held, strict=True)]
    path = write(tmp_path / "a.csv", columns)
    kept = {
        name: [value for value, out in zip(values, held, strict=True) if not out] for name, values in columns.items()
    }
    expected = data.open(write(tmp_path / "b.csv", kept), **OPTIONS, scale="standard").preparation
    for cache in (False, True, tmp_path / "rows.cache"):
        stream = data.open(path, **OPTIONS, scale="standard", cache=cache)
        part = stream.part(split, held=False)
        assert part.preparation == expected
        rest = stream.part(split, held=True, scaled_as=part)
        assert rest.preparation == expected
        assert sum(map(len, rest)) == held.sum()
        assert rest.unseen == {"region": 24_000} or rest.unseen["region"] == held.sum()
        assert stream.feature_names != part.feature_names
        early = data.open(path, **OPTIONS, scale="standard", cache=cache)
        early.fit_scale(split)
        assert early.preparation == expected


def test_rows_that_are_left_out_take_no_part(tmp_path):
    columns = sorted_rows() | {"z": [str(k % 5) for k in range(24_000)]}
    for k in (15_000, 20_000):
        columns["z"][k], columns["x"][k], columns["region"][k] = "total", 1e9, "all"
    options = OPTIONS | {"column_types": {"note": "category"}}
    stream = data.open(write(tmp_path / "a.csv", columns), **options, on_error="skip")
    rest = {
        name: [value for k, value in enumerate(values) if k not in (15_000, 20_000)] for name, values in columns.items()
    }
    assert stream.preparation == data.open(write(tmp_path / "b.csv", rest), **options).preparation
    assert sum(map(len, stream)) == 23_998
    assert stream.skipped.rows == 2
    with pytest.raises(data.DataError, match="line 15002: column 'z' holds 'total', expected a number"):
        data.open(tmp_path / "a.csv", **options).read()


def name_of(k):
    """Return a word for a number."""
    return "".join(chr(ord("a") + k // 26**place % 26) for place in (3, 2, 1, 0))


def test_columns_that_turn_out_to_be_something_else(tmp_path):
    n = 20_000
    columns = {
        "codes": [str(k % 7) if k < 11_000 else f"{'ab'[k % 2]}{k % 9}" for k in range(n)],
        "flags": ["true" if k < 12_000 else ["yes", "no"][k % 2] for k in range(n)],
        "dates": [None if k < 12_000 else f"2020-01-{1 + k % 28:02}" for k in range(n)],
        "names": [name_of(k % 40 if k < 11_000 else k) for k in range(n)],
        "hashes": [f"h{k % 40 if k < 11_000 else k}" for k in range(n)],
        "x": [k % 11 for k in range(n)],
        "y": ["ab"[k % 2] for k in range(n)],
    }
    path = write(tmp_path / "a.csv", columns)
    stream = data.open(path, **OPTIONS)
    kinds = {column["name"]: column["kind"] for column in stream.preparation["columns"]}
    assert kinds == {"codes": "category", "flags": "category", "names": "category", "x": "number"}
    assert len(stream.preparation["columns"][0]["categories"]) == 7 + 18
    assert stream.preparation["columns"][1]["categories"] == ["no", "true", "yes"]
    reason = "has 9040 different values in 20000 rows, such as "
    assert stream.excluded == {"dates": "holds dates, such as '2020-01-01'", "hashes": f"{reason}'h0'"}
    assert [str(note).partition("a.csv: ")[2] for note in stream.notes] == [
        f"column 'names' {reason}'aaaa': they are hashed; drop=['names'] leaves it out."
    ]
    assert "categories" not in stream.preparation["columns"][2], "too many, so they are hashed"
    assert stream.read()[0].shape[0] == n
    with pytest.raises(
        data.DataError, match=r"column 'dates' holds dates, .*; column 'names' has 9040 different values"
    ):
        data.open(path, "y", missing="mean").read()
    given = data.open(
        path, "y", missing="mean", drop=["names", "hashes"], column_types={"flags": "boolean", "dates": "date"}
    )
    with pytest.raises(data.DataError, match="line 12002: column 'flags' holds 'yes', expected true or false"):
        given.read()


def test_the_number_of_categories_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(all_rows, "_MOST_TEXTS", 2000)
    n = 16_000
    columns = {"c": [f"c{k % 90 if k < 11_000 else k}" for k in range(n)], "x": [k % 5 for k in range(n)]}
    path = write(tmp_path / "a.csv", columns | {"y": ["ab"[k % 2] for k in range(n)]})
    with pytest.raises(data.DataError, match=r"column 'c' has more than [0-9,]+ different values in [0-9]+ rows"):
        data.open(path, "y").read()
    with pytest.raises(data.DataError, match="column 'c' has more than 2,000 different values, expected fewer"):
        data.open(path, "y", column_types={"c": "category"}).read()


def test_what_can_be_read_only_once_says_that_its_first_rows_decide(tmp_path):
    path = write(tmp_path / "a.csv", sorted_rows(12_000))
    stream = data.open(io.BytesIO(path.read_bytes()), **OPTIONS)
    assert [str(note).partition(" can")[2] for note in stream.notes] == [
        " be read only once: kinds, categories and means come from its first 10,000 rows."
    ]
    assert len(stream.feature_names) < 30
    short = write(tmp_path / "b.csv", sorted_rows(9_000))
    assert data.open(io.BytesIO(short.read_bytes()), **OPTIONS).notes == []
    assert data.open(path, **OPTIONS).notes == []


def test_small_tables_are_read_once(tmp_path):
    """All of their rows are first rows, so nothing is left to find."""
    stream = data.open(write(tmp_path / "a.csv", sorted_rows(9_999)), **OPTIONS)
    assert not stream.scale_pending
    assert data.open(write(tmp_path / "a.csv", sorted_rows(10_001)), **OPTIONS).scale_pending


def test_a_cache_keeps_the_schema_of_all_rows(tmp_path):
    path, cache = write(tmp_path / "a.csv", sorted_rows()), tmp_path / "rows.cache"
    first = data.open(path, **OPTIONS, scale="auto", cache=cache)
    X = first.read()[0]
    again = data.open(path, **OPTIONS, scale="auto", cache=cache)
    before = cache.stat().st_mtime_ns
    assert again.preparation == first.preparation
    assert (again.read()[0] != X).nnz == 0
    assert again.excluded == first.excluded
    assert again.fingerprint == first.fingerprint
    assert cache.stat().st_mtime_ns == before


def test_several_files_are_one_table(tmp_path):
    columns = sorted_rows()
    whole = data.open(write(tmp_path / "a.csv", columns), **OPTIONS, scale="auto")
    for number, start in enumerate(range(0, 24_000, 5000)):
        write(tmp_path / f"part-{number}.csv", columns, start, start + 5000)
    parts = data.open(tmp_path / "part-*.csv", **OPTIONS, scale="auto", threads=3)
    assert parts.preparation == whole.preparation
    assert (parts.read()[0] != whole.read()[0]).nnz == 0


@pytest.mark.parametrize("case", ["clean", "a gap", "a gap held out", "a word", "a row left out", "no label"])
@pytest.mark.parametrize("place", [True, "rows.cache"])
def test_numbers_without_gaps_are_parsed_once_if_they_are_cached(tmp_path, monkeypatch, case, place):
    """The pass that finds the means fills the cache; at the first gap it stops, because gaps are filled in later."""
    n = 12_000
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=n).tolist(), "b": [k % 7 for k in range(n)], "y": ["no", "yes", "no"] * (n // 3)}
    split = Split.of_share(0.1, 1)
    (held,) = split.held_out([np.array(columns["y"])])
    row = int(np.flatnonzero(held)[-1]) if case == "a gap held out" else 11_000
    if "gap" in case:
        columns["a"][row] = None
    if case in ("a word", "a row left out"):
        columns["a"] = [str(value) for value in columns["a"]]
        columns["a"][row] = "total" if case == "a row left out" else "n/a"
    if case == "no label":
        columns["y"][row] = ""
    path = write(tmp_path / "a.csv", columns)
    options = OPTIONS | {"scale": "auto", "on_error": "skip"}
    parsed, parse = [], DelimitedReader.parse
    monkeypatch.setattr(DelimitedReader, "parse", lambda self, item: (parsed.append(1), parse(self, item))[1])
    place = place if place is True else tmp_path / place
    for holds_out in (None, split):
        found = []
        for cache in (False, place, place):
            stream = data.open(path, **options, cache=cache)
            parsed.clear()
            stream.fit_scale(holds_out)
            once = len(parsed)
            X, y = stream.read()
            more = len(parsed) - once
            assert (more == 0) == (bool(cache) and (case in ("clean", "a row left out", "no label") or once == 0))
            for _ in range(2):
                again = stream.read()
                assert again[0].tobytes() == X.tobytes()
            facts = stream.skipped, stream.filled, stream.unlabelled, stream.unseen, stream.rows_read
            found.append((X.tobytes(), y.tolist(), stream.preparation, facts))
        assert found[1] == found[0]
        assert found[2] == found[0]
