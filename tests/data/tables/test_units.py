"""Amounts with a currency or percent sign, and negative numbers in parentheses, are numbers."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest

from helpers.kept_rows import every_format
from rosenblatt import data
from rosenblatt.data.prepared import PreparedRows
from rosenblatt.data.tables.values import parse_amounts, parse_numbers, unit_of

AMOUNTS = {
    "$": (
        ["$1,234.50", "$0.75", "-$7.00", "$-8.25", "($60.92)", "\u2212$3"],
        [1234.5, 0.75, -7.0, -8.25, -60.92, -3.0],
    ),
    "€": (
        ["60,92 €", "1.234,50\u00a0€", "-7 €", "(8,25 €)", "€ 5,5", "0,75€"],
        [60.92, 1234.5, -7.0, -8.25, 5.5, 0.75],
    ),
    "%": (["12.5%", "3 %", "-0.5%", "100%", "(2%)", "7%"], [12.5, 3.0, -0.5, 100.0, -2.0, 7.0]),
    "EUR": (["1 234,50 EUR", "EUR 7", "-3,25 EUR", "8 EUR", "9EUR", "EUR -1"], [1234.5, 7.0, -3.25, 8.0, 9.0, -1.0]),
    "US$": (["US$5", "US$ 7.25", "-US$1", "US$2", "US$3", "US$1,000.5"], [5.0, 7.25, -1.0, 2.0, 3.0, 1000.5]),
    "": (["(60.92)", "5", "7.25", "(0.5)", "-3", "0"], [-60.92, 5.0, 7.25, -0.5, -3.0, 0.0]),
}


@pytest.mark.parametrize("unit", AMOUNTS)
def test_a_column_of_amounts_is_a_column_of_numbers_in_every_format(tmp_path, unit):
    texts, numbers = AMOUNTS[unit]
    for file in every_format(tmp_path, {"price": texts * 4, "y": ["a", "b"] * 12}):
        stream = data.open(file, "y")
        (column,) = stream.preparation["columns"]
        assert column["unit"] == unit
        assert stream.read()[0].ravel().tolist() == numbers * 4
        known = f"price (in {unit})" if unit else "price (parentheses mean a minus sign)"
        assert [str(note) for note in stream.notes] == [f"{file}: read as numbers: {known}."]
        again = data.open(file, preparation=json.loads(json.dumps(stream.preparation)))
        assert again.read()[0].ravel().tolist() == numbers * 4


def test_later_amounts_need_the_same_unit(tmp_path):
    (tmp_path / "a.csv").write_text("price,y\n" + "$5,a\n$7,b\n" * 10)
    stream = data.open(tmp_path / "a.csv", "y", missing="mean")
    assert stream.preparation["columns"][0]["fill"] == 6.0
    for other in ("7", "€7", "5%", "$5 $", "$$5", "7 EUR", "(-$5)", "(5", "free"):
        (tmp_path / "b.csv").write_text(f"price\n$1\n{other}\n")
        with pytest.raises(data.DataError, match=r"line 3: column 'price' holds .*, expected an amount in \$"):
            data.open(tmp_path / "b.csv", preparation=stream.preparation).read()
    (tmp_path / "b.jsonl").write_text('{"price": "$1.5"}\n{"price": null}\n')
    assert data.open(tmp_path / "b.jsonl", preparation=stream.preparation).read()[0].tolist() == [[1.5], [6.0]]


def test_units_that_differ_or_lack_are_not_taken_off(tmp_path):
    for texts in (
        ["$5", "7 €"],
        ["$5", "7"],
        ["5%", "0.05"],
        ["(1)", "(2)"],
        ["5 kg", "7 kg"],
        ["a", "$5"],
        ["$", "$5"],
    ):
        assert unit_of(texts * 5) is None, texts
        (tmp_path / "a.csv").write_text("price,y\n" + "".join(f"{text},{k % 2}\n" for k, text in enumerate(texts * 10)))
        stream = data.open(tmp_path / "a.csv", "y")
        assert stream.preparation["columns"][0]["kind"] == "category", texts
        assert stream.notes == []


def test_a_few_words_among_amounts_are_asked_about(tmp_path):
    (tmp_path / "a.csv").write_text("price,y\n" + "$5,a\n$7,b\n" * 10 + "free,a\n")
    for on_ambiguous in ("error", "drop"):
        with pytest.raises(data.DataError, match="numbers in 20 of its first 21 rows but not in 1, such as 'free'"):
            data.open(tmp_path / "a.csv", "y", on_ambiguous=on_ambiguous)
    stream = data.open(tmp_path / "a.csv", "y", missing_values=["free"], missing="zero")
    assert stream.read()[0][-3:].ravel().tolist() == [5.0, 7.0, 0.0]
    stream = data.open(tmp_path / "a.csv", "y", column_types={"price": "number"}, on_error="skip")
    assert (len(stream.read()[0]), stream.skipped.rows) == (20, 1)


def test_a_comma_that_may_be_either_is_asked_about_in_amounts_too(tmp_path):
    (tmp_path / "a.csv").write_text("price;y\n" + "$1,234;a\n$5,678;b\n" * 10)
    with pytest.raises(data.DataError, match=r"'price': 'decimal-comma'.* or .*'price': 'thousands-comma'"):
        data.open(tmp_path / "a.csv", "y")
    stream = data.open(tmp_path / "a.csv", "y", column_types={"price": "thousands-comma"})
    assert stream.read()[0][:2].ravel().tolist() == [1234.0, 5678.0]


def test_a_point_in_amounts_is_between_thousands_beside_decimal_commas(tmp_path):
    for file in every_format(tmp_path, {"a": ["4.259 €", "87 €"] * 9, "b": ["1,5", "2,5"] * 9, "y": ["a", "b"] * 9}):
        stream = data.open(file, "y")
        assert stream.read()[0][:2].tolist() == [[4259.0, 1.5], [87.0, 2.5]]
        assert "column 'a' holds numbers such as '4.259', read with a point between thousands" in str(stream.notes[0])


def test_amounts_as_labels(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n" + "1,5%\n2,10%\n" * 10)
    assert data.open(tmp_path / "a.csv", "y").read()[1][:2].tolist() == ["5%", "10%"]
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{k % 5},${k}.25\n" for k in range(60)))
    with pytest.raises(data.DataError, match=r"such as 0\.25, which looks like a regression target"):
        data.open(tmp_path / "a.csv", "y")


def test_amounts_are_described(tmp_path):
    (tmp_path / "a.csv").write_text("price,y\n" + "$5.5,a\n$7,b\n" * 10)
    (row, _) = data.open(tmp_path / "a.csv", "y").describe()
    assert (row["kind"], row["missing"], row["range"]) == ("number", 0, "5.5 to 7 $")


def test_numbers_are_the_nearest_to_their_plain_text():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=1000) * rng.choice([1e-3, 1, 1e6], 1000)
    texts = pa.array([f"{x:.9f} $" if x > 0 else f"({-x:.9f} $)" for x in numbers])
    values, bad = parse_amounts(texts, (), "$", parse_numbers)
    assert bad == []
    assert values.tolist() == [float(f"{x:.9f}") for x in numbers]


def test_amounts_in_units_of_one_currency_are_numbers():
    texts = ["5,50 €", "EUR 6", "-7.000,25 EUR", "€ 8", None] * 8
    stream = data.open([{"price": text, "y": "ab"[k % 3 == 0]} for k, text in enumerate(texts)], "y", missing="zero")
    assert stream.preparation["columns"][0]["kind"] == "decimal-comma"
    assert stream.read()[0].ravel()[:5].tolist() == [5.5, 6.0, -7000.25, 8.0, 0.0]
    later = [{"price": "EUR 1,5", "y": "a"}, {"price": "2 €", "y": "b"}]
    assert data.open(later, preparation=stream.preparation).read()[0].ravel().tolist() == [1.5, 2.0]
    for row in later:
        assert PreparedRows(stream.preparation).features(row).tolist() == [[1.5 if "EUR" in row["price"] else 2.0]]
    for text in ("$3", "€ 3 EUR", "3"):
        with pytest.raises(data.DataError, match="expected an amount in €"):
            data.open([{"price": text, "y": "a"}], preparation=stream.preparation).read()


@pytest.mark.parametrize(("units", "shown"), [(("€", "$"), "€ and $"), (("€", ""), "€ and none")])
def test_amounts_in_different_units_are_named(units, shown):
    rows = [{"price": f"{37 * k % 997},{k % 10}{units[k % 5 == 0]}", "x": k % 7, "y": "ab"[k % 2]} for k in range(60)]
    why = rf"holds amounts in different units \({re.escape(shown)}\), not converted to one"
    with pytest.raises(data.DataError, match=f"column 'price' {why}: use drop="):
        data.open(rows, "y")
    stream = data.open(rows, "y", on_ambiguous="drop")
    assert re.fullmatch(f"{why}, and cannot be used as a feature", stream.excluded["price"])
