"""What ``describe`` says of each column."""

import io
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from helpers.titanic import titanic_like
from rosenblatt import data
from rosenblatt.data.describe import histogram, mistakes_alone, profile


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
        "nearly": "alone predicts the target in 299 of 300 rows: does it leak the label?",
        "noise": "",
        "y": "",
    }


def slow_mistakes(values, labels, ordered):
    """Return the same as ``mistakes_alone`` by trying each guess; None is a missing value."""
    rows = [(value, label) for value, label in zip(values, labels, strict=True) if label >= 0]
    if len(rows) < 20 or len({label for _, label in rows}) < 2:
        return 0, 0

    def wrong(group_of):
        groups = {}
        for value, label in rows:
            groups.setdefault(group_of(value), []).append(label)
        return sum(len(found) - max(map(found.count, found)) for found in groups.values())

    found = [wrong(lambda value: value is None)]
    if 2 * len({*values} - {None}) <= len(values):
        found.append(wrong(lambda value: value))
    if ordered and len({label for _, label in rows}) == 2:
        cuts = [-np.inf, *(value for value in values if value is not None)]
        for cut in cuts:
            for low, high in ((0, 1), (1, 0)):
                known = sum(label != (low if value <= cut else high) for value, label in rows if value is not None)
                gaps = [label for value, label in rows if value is None]
                found.append(known + min(gaps.count(0), gaps.count(1)))
    return min(found), wrong(lambda value: 0)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_columns_that_tell_the_target_as_the_slow_twin_says(gaps):
    rng = np.random.default_rng(1)
    seen = set()
    for trial in range(300):
        n, classes = int(rng.integers(15, 40)), int(rng.integers(1, 4))
        labels = np.unique(rng.integers(0, classes, n), return_inverse=True)[1]
        values = labels * rng.integers(0, 3) + rng.integers(0, rng.integers(1, 4), n) * rng.choice([1.0, 0.01])
        values = values + rng.choice([0.0, 0.3]) * rng.random(n)
        values = [None if rng.random() < gaps else value for value in values.tolist()]
        last = np.where(np.arange(n) < 5, labels, rng.choice([-1, 99], n, p=[gaps, 1 - gaps]))
        labels = np.where(last < 0, -1, labels)
        ordered = bool(rng.integers(2))
        expected = slow_mistakes(values, labels.tolist(), ordered)
        column = profile(pa.array(values, pa.float64()), "number", ())
        assert mistakes_alone(column, labels, ordered) == expected, trial
        seen.add((expected[0] == 0, expected[1] == 0))
    assert seen == {(True, True), (True, False), (False, False)}


def test_a_column_that_nearly_tells_the_target_is_pointed_out(tmp_path):
    """Columns with mistakes in 3 % of the rows of the rarer class, or in more, or where a value is missing."""
    rng = np.random.default_rng(2)
    labels = np.arange(1000) % 2

    def wrong_in(rows):
        return np.where(np.isin(np.arange(1000), rng.permutation(1000)[:rows]), 1 - labels, labels)

    columns = {
        "value": np.array(["lost", "won"])[wrong_in(9)],
        "threshold": wrong_in(15) + 0.9 * rng.random(1000),
        "closed": pa.array(["x" if told else None for told in wrong_in(9)]),
        "good": wrong_in(16),
        "ids": np.arange(1000) // 2 * 7919 % 100003,
        "y": np.array(["no", "yes"])[labels],
    }
    pa.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    table = data.open(tmp_path / "a.parquet", "y", on_ambiguous="drop").describe()
    tells = "alone predicts the target in {} of 1,000 rows: does it leak the label?"
    assert {risk.column: str(risk.remark) for risk in table.risks if risk.kind == "leak"} == {
        "value": f"value: {tells.format(991)}",
        "threshold": f"threshold: {tells.format(985)}",
        "closed": f"closed: {tells.format(991)}",
    }


def test_counts_that_differ_in_every_row_are_no_ids(tmp_path):
    rng = np.random.default_rng(3)
    people = np.unique(np.rint(np.exp(rng.normal(9, 1.5, 400))))[:300]
    columns = {
        "population": rng.permutation(people).astype(int),
        "customer": rng.choice(10**6, 300, replace=False),
        "y": np.arange(300) % 2,
    }
    pa.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    risks = data.open(tmp_path / "a.parquet", "y").describe().risks
    assert [(risk.column, risk.kind) for risk in risks] == [("customer", "id")]


def test_ids_that_repeat_are_pointed_out(tmp_path):
    rng = np.random.default_rng(4)
    patients = rng.permutation(np.arange(300) % 60)
    columns = {
        "patient": patients,
        "sample_id": np.where(
            np.arange(300) % 10, np.arange(300) * 7919 % 100003, 7919
        ),  # a tenth of the rows has one id
        "visit_id": patients % 12,
        "subject": np.array([f"s{k}" for k in patients]),
        "weight": patients / 7,
        "y": rng.integers(0, 2, 300),
    }
    pa.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    risks = data.open(tmp_path / "a.parquet", "y").describe().risks
    assert {risk.column: str(risk.remark) for risk in risks if risk.kind == "group"} == {
        "patient": "patient: looks like an id, with 60 values in 300 rows: drop=['patient'] leaves it out",
        "sample_id": "sample_id: looks like an id, with 270 values in 300 rows: drop=['sample_id'] leaves it out",
        "subject": "subject: looks like an id, with 60 values in 300 rows: drop=['subject'] leaves it out",
    }


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
