"""Columns that are ambiguous or look like ids: which are left out, which are kept, and what the error says."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from helpers.titanic import titanic_like
from rosenblatt import data
from rosenblatt.data.tables.column_kinds import integers_like_ids, strings_like_ids
from rosenblatt.data.tables.schema import excluded_note
from rosenblatt.messages import ParameterError, shorten


def written(folder, text, name="a.csv"):
    (folder / name).write_text(text)
    return folder / name


def table(folder, columns, name="a.csv"):
    """Write columns as CSV with ``;`` between cells, or as Parquet or JSON lines."""
    if name.endswith("parquet"):
        pa.parquet.write_table(pa.table(columns), folder / name)
        return folder / name
    rows = list(zip(*columns.values(), strict=True))
    if name.endswith("jsonl"):
        return written(folder, "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows), name)
    lines = [";".join(map(str, row)) for row in [tuple(columns), *rows]]
    return written(folder, "\n".join(lines) + "\n", name)


IDS = [
    (range(30), "counts the rows: 0, 1, 2, ..."),
    (range(5, 100, 3), "rises from row to row: 5, 8, 11, ..."),
    (range(100, 0, -2), "falls from row to row: 100, 98, 96, ..."),
    ([(7 * k) % 31 for k in range(31)], "numbers the rows in another order: 0, 7, 14, ..."),
    *((other, None) for other in (range(19), [*range(30), 29], [(7 * k) % 31 for k in range(30)])),
    *((other, None) for other in ([k + 0.5 for k in range(30)], [*range(80), 80.5], [*range(30), None])),
    *((other, None) for other in ([True, False] * 20, [k % 5 for k in range(40)])),
]


def test_integers_that_number_the_rows():
    for values, clause in IDS:
        assert integers_like_ids(pa.array(list(values)), ()) == clause, values
        if True not in set(values):
            texts = ["" if value is None else str(value) for value in values]
            assert integers_like_ids(pa.array(texts), ()) == clause, f"{values} as text"


def test_row_numbers_in_any_order_are_told_by_their_name(tmp_path):
    """In a random sample of a sorted table the row number tells the label, and neither rises nor falls."""
    rng = np.random.default_rng(0)
    rows = rng.choice(5000, 200, replace=False)
    columns = {"x": rng.normal(size=200).round(3), "y": np.where(rows < 2500, "a", "b")}
    for name in ("", "Unnamed: 0", "index", "id", "patient_id", "PassengerId", "CustomerID"):
        nearly = [*rows[:-5], *rows[:5]]
        stream = data.open(table(tmp_path, {name: nearly, **columns}), "y", on_ambiguous="drop")
        reason = "has no name" if name in ("", "Unnamed: 0") else "is called an id"
        first = ", ".join(map(str, rows[:3]))
        assert stream.excluded == {name or "c1": f"{reason} and is different in nearly every row: {first}, ..."}
        assert stream.feature_names == ["x"]
        kept = data.open(table(tmp_path, {name: nearly, **columns}), "y", on_ambiguous="drop", keep=[name or "c1"])
        assert kept.feature_names == [name or "c1", "x"]
    with pytest.raises(data.DataError, match="column 'c1' has no name and is different in nearly every row: "):
        data.open(table(tmp_path, {"": rows, **columns}), "y")
    for name, values in {"idea": rows, "paid": rows, "grid": rows, "id": rows // 40, "user_id": rows + 0.5}.items():
        stream = data.open(table(tmp_path, {name: values, **columns}), "y", on_ambiguous="drop")
        assert (stream.feature_names, stream.excluded) == ([name, "x"], {}), name


def test_the_first_column_of_a_file_without_names_may_be_an_id(tmp_path):
    rows = np.random.default_rng(0).choice(5000, 200, replace=False)
    lines = "".join(f"{row},{row * 7 % 5003},{'ab'[k % 2]}\n" for k, row in enumerate(rows))
    stream = data.open(written(tmp_path, lines), -1, on_ambiguous="drop")
    assert (list(stream.excluded), stream.feature_names) == (["c1"], ["c2"])
    assert data.open(written(tmp_path, lines), -1).feature_names == ["c1", "c2"]


def sentences(n, seed, words=3000, length=15):
    """Return texts whose words are as frequent as those of natural text."""
    rng = np.random.default_rng(seed)
    ranks = np.minimum(rng.zipf(1.3, (n, length)), words)
    return [" ".join(f"w{k}" for k in row) for row in ranks]


def test_ids_and_names_are_told_from_free_text():
    names = [row.split('"')[1] for row in titanic_like(300, 0).splitlines()[1:]]
    assert strings_like_ids(names) == f"is different in nearly every row, such as {shorten(names[0], 40)}"
    assert strings_like_ids([f"{k:08x}" for k in range(1000)]) is not None
    assert strings_like_ids([f"k{k}" for k in range(19)]) is None, "few rows"
    assert strings_like_ids([f"k{k % 90}" for k in range(100)]) is None, "they repeat"
    assert strings_like_ids(sentences(500, 1)) is None
    assert strings_like_ids([f"unique{k} words{k} only{k} here{k}" for k in range(100)]) is not None


WHY = "counts the rows: 1, 2, 3, ...", "is different in nearly every row, such as ", "holds dates, such as "
TITANIC_EXCLUDED = dict(zip(["PassengerId", "Name", "Booked"], WHY, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_a_titanic_like_table_needs_no_answers(tmp_path, seed):
    file = written(tmp_path, titanic_like(400, seed))
    stream = data.open(file, "Survived", on_ambiguous="drop", missing="mean")
    assert stream.excluded.keys() == TITANIC_EXCLUDED.keys()
    assert all(stream.excluded[name].startswith(why) for name, why in TITANIC_EXCLUDED.items())
    kinds = {column["name"]: column["kind"] for column in stream.preparation["columns"]}
    numbers = dict.fromkeys(["Age", "Pclass", "SibSp", "Fare"], "number")
    assert kinds == numbers | {"Sex": "category", "Embarked": "category", "Alone": "boolean", "Note": "text"}
    X, y = stream.read()
    assert (X.shape[0], sorted(set(y))) == (400, ["no", "yes"])
    assert stream.filled.keys() == {"Age", "Embarked"}
    lines = titanic_like(400, seed).splitlines()
    assert stream.filled["Age"] == sum(",male,," in line or ",female,," in line for line in lines)
    new = written(tmp_path, titanic_like(9, 9), "new.csv")
    assert data.open(new, preparation=stream.preparation).read()[0].shape[0] == 9
    few = {"Sex": "male", "Age": 3, "Pclass": 1, "SibSp": 0, "Fare": 7.5, "Embarked": "S", "Alone": True, "Note": "x"}
    new = written(tmp_path, json.dumps(few) + "\n", "new.jsonl")
    assert data.open(new, preparation=stream.preparation).read()[0].shape == (1, X.shape[1]), "without those left out"
    kept = data.open(file, "Survived", on_ambiguous="drop", missing="mean", keep=list(TITANIC_EXCLUDED))
    kinds = {column["name"]: column["kind"] for column in kept.preparation["columns"]}
    assert (kinds["PassengerId"], kinds["Booked"], kinds["Name"]) == ("number", "date", "text")
    assert kept.excluded == {}


def test_all_questions_about_a_file_are_one_message(tmp_path):
    file = written(tmp_path, titanic_like(200, 0))
    with pytest.raises(data.DataError) as caught:
        data.open(file)
    words = str(caught.value)
    for part in (
        "which column is the label? Give target, one of PassengerId, Name",
        "Also, column 'Booked' holds dates, such as '1912-",
        "use drop=['Booked'] to leave out what is not a feature, or give column_types={'Booked': 'date'};",
        "Also, values are missing in the first 200 rows of 'Age' (",
        "'Embarked' (",
        "give missing='zero' or missing='mean' to fill them.",
    ):
        assert part in words
    with pytest.raises(data.DataError, match=r"column 'Booked' .* Also, column 'Fare', the target, .* missing"):
        data.open(file, "Fare")
    with pytest.raises(ParameterError, match=r"^which column of .*a.csv is the label\? Give target, one of"):
        data.open(file, on_ambiguous="drop", missing="mean")


def test_ids_of_integers_stay_numbers_where_nothing_is_left_out(tmp_path):
    file = table(tmp_path, {"id": range(40), "x": [0.5] * 40, "y": ["a", "b"] * 20})
    stream = data.open(file, "y", on_ambiguous="drop")
    assert (stream.feature_names, stream.excluded) == (["x"], {"id": "counts the rows: 0, 1, 2, ..."})
    for options in ({}, {"on_ambiguous": "drop", "column_types": {"id": "number"}}):
        assert data.open(file, "y", **options).feature_names == ["id", "x"]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl"])
def test_what_is_left_out_does_not_depend_on_the_format(tmp_path, name):
    rng = np.random.default_rng(0)
    columns = {
        "id": list(range(7, 307)),
        "code": [f"{k:05d}x" for k in rng.permutation(300)],
        "some": [f"s{k}" for k in rng.integers(0, 400, 300)],
        "x": rng.normal(size=300).tolist(),
        "colour": ["red", "green", "blue"] * 100,
        "y": ["a", "b"] * 150,
    }
    stream = data.open(table(tmp_path, columns, name), "y", on_ambiguous="drop")
    assert list(stream.excluded) == ["id", "code", "some"]
    assert stream.excluded["some"].endswith(f"different values in 300 rows, such as {columns['some'][0]!r}")
    assert stream.feature_names == ["x", "colour=blue", "colour=green", "colour=red"]
    assert data.open(table(tmp_path, columns, name), "y", on_ambiguous="drop", keep=["some"]).n_features > 2**18


def test_many_categories_that_repeat_are_hashed(tmp_path):
    file = table(tmp_path, {"zip": [f"z{k % 1500}" for k in range(6000)], "y": ["a", "b"] * 3000})
    stream = data.open(file, "y", on_ambiguous="drop")
    assert stream.preparation["columns"] == [{"name": "zip", "kind": "category"}]
    assert (stream.n_features, stream.excluded) == (2**18, {})
    with pytest.raises(data.DataError, match="column 'zip' has 1500 different values in 6000 rows"):
        data.open(file, "y")


def test_something_is_always_left_to_learn_from(tmp_path):
    labels = ["a", "b"] * 20
    names = [f"k{k}" for k in range(40)]
    stream = data.open(table(tmp_path, {"id": range(40), "name": names, "y": labels}), "y", on_ambiguous="drop")
    assert (stream.feature_names, list(stream.excluded)) == (["id"], ["name"])
    stream = data.open(table(tmp_path, {"name": names, "y": labels}), "y", on_ambiguous="drop")
    assert (stream.preparation["columns"], stream.excluded) == ([{"name": "name", "kind": "text"}], {})
    file = table(tmp_path, {"x": [[k] for k in range(40)], "y": labels}, "a.parquet")
    with pytest.raises(data.DataError, match=r"a.parquet has no column to learn from: column 'x' holds list"):
        data.open(file, "y", on_ambiguous="drop")


def test_values_that_cannot_be_features_are_left_out_and_cannot_be_kept(tmp_path):
    columns = {"x": [0.5, 1.5] * 10, "nested": [[1]] * 20, "y": [0, 1] * 10}
    for name in ("a.parquet", "a.jsonl"):
        file = table(tmp_path, columns, name)
        stream = data.open(file, "y", on_ambiguous="drop")
        assert list(stream.excluded) == ["nested"]
        assert stream.excluded["nested"].endswith(", and cannot be used as a feature")
        assert "keep" not in str(excluded_note(stream.excluded))
        with pytest.raises(data.DataError, match="column 'nested' holds list"):
            data.open(file, "y", on_ambiguous="drop", keep=["nested"])


def test_numbers_mixed_with_words_are_asked_about_even_so(tmp_path):
    file = written(tmp_path, "a,b,y\n" + "1,2,3\n2,3,4\n" * 10 + "1,two,3\n")
    with pytest.raises(data.DataError, match=r"column 'b' holds numbers in 20 of its first 21 rows but not in 1"):
        data.open(file, "y", on_ambiguous="drop")
    stream = data.open(file, "y", on_ambiguous="note")
    assert stream.feature_names == ["a"]
    assert "column 'b' holds numbers in 20" in str(stream.notes[0])


def test_svmlight_text_has_no_columns_to_keep_but_may_be_opened_as_the_commands_do(tmp_path):
    file = written(tmp_path, "1 1:2\n-1 1:3\n", "a.svm")
    stream = data.open(file, on_ambiguous="drop")
    assert (stream.excluded, stream.notes) == ({}, [])
    with pytest.raises(ValueError, match="keep has no meaning"):
        data.open(file, keep=["a"])


@pytest.mark.parametrize(
    ("labels", "regression"),
    [
        ([k + 0.5 for k in range(12)], True),
        ([0.5, 1.5] * 50, False),
        ([0.1 * (k % 40) for k in range(1000)], True),
        (list(range(300)), True),
        ([k % 101 for k in range(300)], True),
        ([k % 100 for k in range(300)], False),
        ([k % 101 for k in range(304)], False),
        ([f"{k},5" for k in range(30)], True),
        (["a", "b"] * 10, False),
    ],
)
def test_targets_of_a_regression(tmp_path, labels, regression):
    file = table(tmp_path, {"x": [k % 3 for k in range(len(labels))], "y": labels})
    for on_ambiguous in ("error", "drop"):
        if not regression:
            assert len(data.open(file, "y", on_ambiguous=on_ambiguous).read()[1]) == len(labels)
            continue
        with pytest.raises(data.DataError) as caught:
            data.open(file, "y", on_ambiguous=on_ambiguous)
        words = str(caught.value)
        assert f"column 'y', the target, has {len(set(labels))} different numbers in {len(labels):,} rows, s" in words
        assert "which looks like a regression target: choose a column of classes with target, or" in words
    assert len(data.open(file, "y", column_types={"y": "category"}).read()[1]) == len(labels)
    assert len(data.open(file, labels=False, drop=["y"]).read()[1]) == len(labels)


def test_files_of_two_formats(tmp_path):
    columns = {"x": [1, 2], "y": [0, 1]}
    files = [table(tmp_path, columns, name) for name in ("a.csv", "b.parquet")]
    with pytest.raises(data.DataError, match=r"a.csv is csv and .*b.parquet is parquet, expected files of one format"):
        data.open(files, "y")
    with pytest.raises(data.DataError, match=r"b.parquet is parquet and .*a.csv is csv, expected files of one format"):
        data.open(files[::-1], "y")
    assert data.open([files[0], table(tmp_path, columns, "c.csv")], "y").read()[0].shape == (4, 1)


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_digits_with_leading_zeros_are_codes(tmp_path, ending):
    mark = "," if ending == "csv" else "\t"
    rows = [(f"{k % 4:02}001", f"{k % 2}", f"0.{k % 5}", f"0{k % 11}", f" {k % 3:03} ", "yn"[k % 2]) for k in range(60)]
    text = "".join(mark.join(row) + "\n" for row in [("plz", "flag", "share", "ragged", "few", "y"), *rows])
    (tmp_path / f"a.{ending}").write_text(text)
    stream = data.open(tmp_path / f"a.{ending}", "y")
    kinds = {column["name"]: column["kind"] for column in stream.preparation["columns"]}
    assert kinds == {"plz": "category", "flag": "number", "share": "number", "ragged": "number", "few": "category"}
    assert stream.feature_names[:4] == ["plz=00001", "plz=01001", "plz=02001", "plz=03001"]
    number = data.open(tmp_path / f"a.{ending}", "y", column_types={"plz": "number", "few": "number"})
    assert number.read()[0][5].tolist() == [1001.0, 1.0, 0.0, 5.0, 2.0]


def test_a_cell_that_is_no_code_among_codes_with_leading_zeros(tmp_path):
    """As numbers, the codes would lose their zeros."""
    for first, kind in (("0", "category"), ("1", "number")):
        codes = [f"{first}{k % 9}001" for k in range(60)]
        codes[30] = "12?45"
        (tmp_path / "a.csv").write_text("plz,y\n" + "".join(f"{code},{k % 2}\n" for k, code in enumerate(codes)))
        with pytest.raises(data.DataError, match=f"or give column_types={{'plz': '{kind}'}}"):
            data.open(tmp_path / "a.csv", "y")
    stream = data.open(tmp_path / "a.csv", "y", column_types={"plz": "category"})
    assert stream.n_features == 10


def test_codes_are_strings_as_others_are(tmp_path):
    different = [f"{7919 * k % 100003:06}" for k in range(100)]
    rows = "".join(f"{code},{k % 3},{k % 2}\n" for k, code in enumerate(different))
    (tmp_path / "a.csv").write_text("code,x,y\n" + rows)
    assert "different" in data.open(tmp_path / "a.csv", "y", on_ambiguous="drop").excluded["code"]
    stored = [{"code": 8001, "x": k, "y": k % 2} for k in range(9)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in stored))
    assert data.open(tmp_path / "a.jsonl", "y").preparation["columns"][0]["kind"] == "number"


def test_questions_name_the_way_to_leave_columns_out_at_once(tmp_path):
    rows = "".join(f"2020-01-{k % 28 + 1:02},{k % 3},{k % 2}\n" for k in range(40))
    (tmp_path / "a.csv").write_text("when,x,y\n" + rows)
    with pytest.raises(
        data.DataError, match=r"column_types={'when': 'date'}; on_ambiguous='drop' leaves out all such columns\.$"
    ):
        data.open(tmp_path / "a.csv", "y")
    (tmp_path / "a.csv").write_text("price,x,y\n" + '"1,234",1,1\n"2,345",2,0\n' * 20)
    with pytest.raises(data.DataError, match=r"thousands-comma'}\.$"):
        data.open(tmp_path / "a.csv", "y")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_rows_without_a_label_are_left_out_and_counted(tmp_path, ending):
    """R writes NA for a missing label, which must not become a class."""
    words = ["yes", "no", "NA", "", "None", "no"]
    columns = {"x": [k % 5 for k in range(60)], "y": [words[k % 6] for k in range(60)]}
    file = table(tmp_path, columns, f"a.{ending}")
    stream = data.open(file, "y")
    X, y = stream.read()
    assert sorted(y) == ["no"] * 20 + ["yes"] * 10
    assert X.ravel().tolist() == [x for x, word in zip(*columns.values(), strict=True) if word in ("yes", "no")]
    assert stream.unlabelled == {"NA": 10, "": 10, "None": 10}
    assert stream.skipped.rows == 0
    again = data.open(file, preparation=json.loads(json.dumps(stream.preparation)))
    assert again.read()[1].tolist() == y.tolist()
    assert data.open(file, preparation=stream.preparation, labels=False).read()[0].shape == (60, 1), "for predictions"
    kept = data.open(file, "y", column_types={"y": "category"})
    assert sorted(set(kept.read()[1])) == ["NA", "None", "no", "yes"]
    assert kept.unlabelled == {"": 10}
    assert data.open(file, "y", missing_values=["no"]).read()[1].tolist() == ["yes"] * 10
    numbers = table(tmp_path, {"x": columns["x"], "y": ["1", "0", "NA"] * 20}, "b.csv")
    stream = data.open(numbers, "y", on_error="skip")
    assert (stream.read()[1].tolist(), stream.unlabelled, stream.skipped.rows) == ([1, 0] * 20, {"": 20}, 0)
    assert [number for block in stream for number in block.numbers] == [k for k in range(60) if k % 3 < 2]


def test_a_row_without_a_label_may_hold_anything(tmp_path):
    file = written(tmp_path, "x,z,y\n" + "1,1,a\n2,,b\n" * 40 + "Total,9000,\n")
    stream = data.open(file, "y", missing="mean")
    X, _ = stream.read()
    assert (X.tolist(), stream.unlabelled) == ([[1, 1], [2, 1]] * 40, {"": 1})


def test_thousands_of_hashes_or_ids_are_left_out_and_thousands_of_names_are_hashed(tmp_path):
    numbers = np.random.default_rng(0).integers(0, 1500, 6000)
    names = ["".join(chr(ord("a") + k // 26**place % 26) for place in (2, 1, 0)) for k in numbers.tolist()]
    rows = {
        "user": [f"{k * 2654435761 % 2**32:08x}" for k in numbers.tolist()],
        "city": [f"New {name}" if k % 2 else name for k, name in zip(numbers.tolist(), names, strict=True)],
        "x": (numbers % 7).tolist(),
        "y": np.where(numbers % 2, "a", "b").tolist(),
    }
    for name in ("a.csv", "a.parquet", "a.jsonl"):
        file = table(tmp_path, rows, name)
        stream = data.open(file, "y", on_ambiguous="drop")
        (reason,) = stream.excluded.values()
        assert reason.startswith(f"has {len(set(rows['user']))} different values in 6000 rows, such as '")
        assert [(column["name"], column["kind"]) for column in stream.preparation["columns"]] == [
            ("city", "category"),
            ("x", "number"),
        ]
        (note,) = stream.notes
        assert str(note).endswith(": they are hashed; drop=['city'] leaves it out.")
        kept = data.open(file, "y", on_ambiguous="drop", keep=["user"], drop=["city"])
        assert [column["name"] for column in kept.preparation["columns"]] == ["user", "x"]
        assert kept.notes == []
        with pytest.raises(data.DataError, match=r"column 'user' has .* different values .*; column 'city' has"):
            data.open(file, "y")
