"""What ``describe`` says of each column."""

import io
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from helpers.titanic import titanic_like
from rosenblatt import data
from rosenblatt.data.describe import determines_target, histogram, profile


def described(file, *args, **options):
    """Return the description by column."""
    table = data.open(file, *args, on_ambiguous="drop", missing="mean", **options).describe()
    return {row["column"]: row for row in table}


def test_a_titanic_like_table(tmp_path):
    text = titanic_like(500, 0)
    (tmp_path / "a.csv").write_text(text)
    found = described(tmp_path / "a.csv", "Survived")
    assert list(found) == text.split("\n")[0].split(",")
    cells = [line.split(",") for line in text.replace(", ", "; ").split("\n")[1:-1]]
    ages = [float(row[3]) for row in cells if row[3]]
    assert found["Age"]["missing"] == 500 - len(ages)
    assert found["Age"]["distinct"] == len(set(ages))
    assert found["Age"]["range"] == f"{min(ages):.4g} to {max(ages):.4g}"
    sexes = [row[2] for row in cells]
    assert found["Sex"]["range"] == f"male: {sexes.count('male')}, female: {sexes.count('female')}"
    assert {name: row["becomes"] for name, row in found.items()} == {
        "PassengerId": "left out",
        "Name": "left out",
        "Sex": "2 features: female, male",
        "Age": "1 feature",
        "Pclass": "1 feature",
        "SibSp": "1 feature",
        "Fare": "1 feature",
        "Embarked": "3 features: C, Q, S",
        "Alone": "1 feature",
        "Booked": "left out",
        "Note": "words, hashed",
        "Survived": "target",
    }
    kinds = " ".join(row["kind"] for row in found.values())
    assert kinds == "integer text category number integer integer number category boolean date text category"
    assert {name for name, row in found.items() if row["looks"]} == {"PassengerId", "Name", "Booked"}
    table = data.open(tmp_path / "a.csv", "Survived", on_ambiguous="drop").describe()
    assert table.title.endswith("a.csv, from all 500 rows")
    assert "<td" in table._repr_html_()
    short = data.open(tmp_path / "a.csv", "Survived", on_ambiguous="drop", first_rows=100).describe()
    assert short.title.endswith("a.csv, from the first 100 rows")


def test_what_looks_suspicious(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    columns = {
        "id": np.arange(300),
        "constant": np.ones(300),
        "empty": pa.nulls(300, pa.float64()),
        "gaps": [k % 5 + 0.5 if k % 3 == 0 else None for k in range(300)],
        "same": ["x"] * 299 + ["z"],
        "leak": np.where(labels == 1, "won", "lost"),
        "codes": labels * 2 + rng.integers(0, 2, 300),
        "threshold": labels + 0.9 * rng.random(300),
        "nearly": np.where(np.arange(300) == 7, 1 - labels, labels),
        "noise": rng.normal(size=300),
        "y": labels,
    }
    pa.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    looks = {name: row["looks"] for name, row in described(tmp_path / "a.parquet", "y").items()}
    tells = "alone determines the target: does it leak the label?"
    assert looks == {
        "id": "counts the rows: 0, 1, 2, ...",
        "constant": "constant",
        "empty": "empty",
        "gaps": "mostly missing",
        "same": "one value accounts for 99.7% of the rows",
        "leak": tells,
        "codes": tells,
        "threshold": tells,
        "nearly": "",
        "noise": "",
        "y": "",
    }


def slow_tells(values, labels, ordered):
    """Return the same as ``determines_target`` by looking at all pairs of rows."""
    if len(values) < 20 or len(set(labels)) < 2 or len(set(values)) < 2:
        return False
    pairs = list(zip(values, labels, strict=True))
    one_label = all(a[1] == b[1] for a in pairs for b in pairs if a[0] == b[0])
    if one_label and 2 * len(set(values)) <= len(values):
        return True
    below = [all(a[0] < b[0] for a in pairs for b in pairs if a[1] == low and b[1] != low) for low in set(labels)]
    return ordered and len(set(labels)) == 2 and any(below)


def test_columns_that_tell_the_target_as_the_slow_twin_says():
    rng = np.random.default_rng(1)
    seen = set()
    for trial in range(300):
        n, classes = int(rng.integers(15, 40)), int(rng.integers(1, 4))
        labels = np.unique(rng.integers(0, classes, n), return_inverse=True)[1]
        values = labels * rng.integers(0, 3) + rng.integers(0, rng.integers(1, 4), n) * rng.choice([1.0, 0.01])
        values = values + rng.choice([0.0, 0.3]) * rng.random(n)
        expected = slow_tells(values.tolist(), labels.tolist(), True)
        assert determines_target(profile(pa.array(values), "number", ()), labels, ordered=True) == expected, trial
        seen.add(expected)
    assert seen == {True, False}


@pytest.mark.parametrize("values", [[0.0], [1.0, 1.0], [-1e308, 1e308], [0.0, 5e-324], list(range(100))])
def test_bars_of_any_numbers(values):
    bars = histogram(np.array(values, float))
    assert len(bars) == (1 if len(set(values)) == 1 else 8)
    if len(set(values)) > 1:
        assert "▁" not in (bars[0], bars[-1]), "the lowest and the highest are somewhere"


def test_input_that_can_be_read_once_is_described_before(tmp_path):
    stream = data.open(io.BytesIO(b"a,y\n1,x\n2,z\n"), "y", format="csv")
    assert stream.describe()["range"] == ["1 to 2", "x: 1, z: 1"]
    assert stream.read()[0].tolist() == [[1.0], [2.0]]
    with pytest.raises(data.DataError, match="can be read only once: describe it before its rows are read"):
        stream.describe()


def test_rows_without_names(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2000 2:0.5\n-1 1:-1\n-1 1:1000 2:0.25 3:0\n")
    table = data.open(tmp_path / "a.svm").describe()
    assert dict(zip(table["about"], table["value"], strict=True)) == {
        "rows looked at": "3",
        "features": "3",
        "nonzero values per row": "1 to 2, 1.667 on average",
        "values": "-1 to 2000",
        "labels": "-1: 2, 1: 1",
    }
    sizes = "feature 2 reaches 0.5, feature 1 2000"
    sentence = f"Features differ widely in size ({sizes}): for training, scale='standard' gives them the same scale."
    assert table.notes == (sentence,)
    assert pickle.loads(pickle.dumps(table)).notes == table.notes
    np.savez(tmp_path / "b.npz", X=[[2000.0, 1.0], [1.0, 1.0]], y=[0, 1])
    assert "(#1 reaches 1, #0 2000)" in data.open(tmp_path / "b.npz").describe().notes[0]
    rows = data.open(tmp_path / "a.svm").describe(rows=2)
    assert rows["value"][0] == "2"
    np.savez(tmp_path / "a.npz", X=np.eye(3), y=np.array(["a", "b", "a"]))
    table = data.open(tmp_path / "a.npz").describe()
    assert (table["value"][-1], table.notes) == ("a: 2, b: 1", ())


def test_a_file_that_a_preparation_reads_is_described_too(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n1,red,x\n2,blue,z\n")
    (tmp_path / "b.csv").write_text("b,a\nred,7\n")
    train = data.open(tmp_path / "a.csv", "y")
    found = data.open(tmp_path / "b.csv", preparation=train.preparation).describe()
    assert found["column"] == ["b", "a"]
    assert found["becomes"] == ["2 features: blue, red", "1 feature"]
