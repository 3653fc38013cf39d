"""Numbers with a decimal comma, or with commas between thousands."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from rosenblatt import data
from rosenblatt.data.tables.values import kinds_of_separated, parse_separated


def written_with(x, digits, thousands, point):
    """Return a number with these separators, and the plain text of the same number."""
    plain = f"{x:.{digits}f}"
    return f"{x:,.{digits}f}".replace(",", "T").replace(".", point).replace("T", thousands), plain


@pytest.mark.parametrize("thousands", [".", "", " ", "'", "\u202f"])
@pytest.mark.parametrize("kind", ["decimal-comma", "thousands-comma"])
def test_numbers_are_the_nearest_to_their_plain_text(kind, thousands):
    thousands, point = (thousands, ",") if kind == "decimal-comma" else (thousands.replace(".", ","), ".")
    rng = np.random.default_rng(0)
    pairs = [
        written_with(x, digits, thousands, point)
        for digits in (0, 1, 2, 9)
        for x in rng.choice([1, 1e3, 1e6, 1e9], 100) * rng.normal(size=100)
    ]
    texts = [text for text, _ in pairs]
    values, bad = parse_separated(pa.array(texts), (), kind)
    assert bad == []
    assert values.tolist() == [float(plain) for _, plain in pairs]
    assert kind in kinds_of_separated(texts) or not thousands


@pytest.mark.parametrize(
    ("texts", "kinds"),
    [
        (["3,14"], ["decimal-comma"]),
        (["1.234,56"], ["decimal-comma"]),
        (["1 234,5"], ["decimal-comma"]),
        (["0,123"], ["decimal-comma"]),
        (["1,234", "3,1"], ["decimal-comma"]),
        (["1,234,567"], ["thousands-comma"]),
        (["1,234.5"], ["thousands-comma"]),
        (["1,234", "0.5"], ["thousands-comma"]),
        (["1 234", "5"], ["thousands-comma"]),
        (["1,234", "12,345"], ["decimal-comma", "thousands-comma"]),
        (["1", "2"], []),
        (["1,2,3"], []),
        (["1,234.567,8"], []),
        (["a,b"], []),
        (["12 34"], []),
        (["1.234 567,8"], []),
    ],
)
def test_which_kinds_numbers_may_be(texts, kinds):
    assert kinds_of_separated(texts) == kinds


def stored(folder, values):
    labels = ["a", "b"] * (len(values) // 2)
    rows = list(zip(values, labels, strict=True))
    (folder / "a.csv").write_text("price;y\n" + "".join(f"{value};{y}\n" for value, y in rows))
    (folder / "a.tsv").write_text("price\ty\n" + "".join(f"{value}\t{y}\n" for value, y in rows))
    (folder / "a.jsonl").write_text("".join(json.dumps({"price": value, "y": y}) + "\n" for value, y in rows))
    pa.parquet.write_table(pa.table({"price": values, "y": labels}), folder / "a.parquet")
    return [folder / f"a.{ending}" for ending in ("csv", "tsv", "jsonl", "parquet")]


def test_every_format_gives_the_same_numbers(tmp_path):
    values = ["3,14", "1.234,56", "-2", "7,5"] * 6
    for file in stored(tmp_path, values):
        stream = data.open(file, "y")
        assert stream.preparation["columns"] == [{"name": "price", "kind": "decimal-comma"}]
        assert stream.read()[0][:4].ravel().tolist() == [3.14, 1234.56, -2.0, 7.5]
    assert data.open(file, "y", kinds={"price": "category"}).feature_names[0] == "price=-2"


def test_a_comma_that_may_be_either_is_one_question_with_both_answers(tmp_path):
    for unclear in ("error", "drop"):
        for file in stored(tmp_path, ["1,234", "5,678"] * 12):
            with pytest.raises(data.DataError) as caught:
                data.open(file, "y", unclear=unclear)
            assert str(caught.value).endswith(
                "column 'price' holds numbers such as '1,234', whose comma may come before decimals or between "
                "thousands: give kinds={'price': 'decimal-comma'} or kinds={'price': 'thousands-comma'}."
            )
            assert data.open(file, "y", kinds={"price": "decimal-comma"}).read()[0][0] == [1.234]
            assert data.open(file, "y", kinds={"price": "thousands-comma"}).read()[0][0] == [1234.0]


def test_missing_numbers_and_rows_with_something_else(tmp_path):
    (tmp_path / "a.csv").write_text("price;y\n" + "3,5;a\n;b\nNA;b\n4,5;a\n" * 5 + "free;a\n")
    with pytest.raises(data.DataError, match=r"holds numbers in 10 of its first 21 rows and not in 1, first 'free'"):
        data.open(tmp_path / "a.csv", "y", unclear="drop")
    stream = data.open(tmp_path / "a.csv", "y", kinds={"price": "decimal-comma"}, missing="mean", on_error="skip")
    assert stream.read()[0][:4].ravel().tolist() == [3.5, 4.0, 4.0, 4.5]
    assert stream.skipped.rows == 1
    assert "holds 'free', expected a number such as 3,14" in stream.skipped.sentences[0]


def test_numbers_that_are_numbers_need_no_such_kind(tmp_path):
    pa.parquet.write_table(pa.table({"x": [1.5, 2.5], "y": [0, 1]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="is for numbers in text, but column 'x' holds numbers: leave it out"):
        data.open(tmp_path / "a.parquet", "y", kinds={"x": "decimal-comma"})
