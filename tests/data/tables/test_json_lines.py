"""Tables as JSON lines: what is read, refused or left out."""

import json
from contextlib import nullcontext

import numpy as np
import pytest

from helpers.reading import CONVERT, FILL, SKIP, TOO_LARGE, outcome
from rosenblatt import data
from rosenblatt.data.io.lines import LineSource
from rosenblatt.data.source import OpenRequest
from rosenblatt.data.tables.json_lines import JsonReader
from rosenblatt.data.tables.reader import ColumnLayout

ALONE = "expected a JSON object on a line of its own"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "a.jsonl is empty, expected rows to learn from."),
        ('\ufeff{"a": 1, "y": 2}\r\n\r\n{"y": 3, "a": -0.5}', ([[1.0], [-0.5]], [2, 3])),
        ('{"a": 9007199254740993, "y": "u"}', ([[2.0**53]], ["u"])),
        ('[{"a": 1},\n{"a": 2}]', f"a.jsonl, line 1: {ALONE} (Expecting value), got '[{{\"a\": 1}},'{SKIP}"),
        ('{"a": 1, "y": 2}\n\n{"a":', f"a.jsonl, line 3: {ALONE} (Expecting value), got '{{\"a\":'{SKIP}"),
        (
            '{"a": 1, "y": 2} {"a": 1}',
            f'a.jsonl, line 1: {ALONE} (Extra data), got \'{{"a": 1, "y": 2}} {{"a": 1}}\'{SKIP}',
        ),
        ("7", f"a.jsonl, line 1: {ALONE}, got '7'{SKIP}"),
        ('{"a": 1, "a": 2, "y": 2}', "a.jsonl, line 1: the field 'a' occurs twice, expected once" + SKIP),
        (b'{"a": "\xff", "y": 2}', "a.jsonl, line 1: the line is not valid UTF-8: " + CONVERT),
        ('{"a": "\\ud800", "y": 2}', "a.jsonl, line 1: the line is not valid UTF-8: " + CONVERT),
        ('{"a": 1e999, "y": 2}', "a.jsonl, line 1: " + TOO_LARGE),
        ('{"a": NaN, "y": 2}', "a.jsonl, line 1: column 'a' has no value: " + FILL),
        ('{"a": 1, "y": 2}\n{"y": 2}', "a.jsonl, line 2: column 'a' has no value: " + FILL),
        ('{"a": 1, "y": null}\n{"a": 1, "y": 2}', ([[1.0]], [2])),
        (
            '{"a": 1, "y": 2}\n{"a": "b", "y": 2}',
            "a.jsonl: column 'a' holds numbers and strings: use drop=['a'] to leave out what is not a feature, or give "
            "column_types={'a': 'category'}.",
        ),
        (
            '{"a": [1], "y": 2}',
            "a.jsonl: column 'a' holds lists: use drop=['a'] to leave out what is not a feature; on_ambiguous='drop' "
            "leaves out all such columns.",
        ),
        ('{"b": 1}', "a.jsonl has no column 'y' for the target: its columns are b."),
        ('{"a": true, "b": null, "y": false}', "a.jsonl, line 1: column 'b' has no value: " + FILL),
    ],
)
def test_malformed_and_odd_json(tmp_path, content, expected):
    (tmp_path / "a.jsonl").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert outcome(tmp_path / "a.jsonl") == expected


def test_json_the_fast_way_and_the_slow_one_agree(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = [
        {
            "n": float(n),
            "k": int(k),
            "b": bool(k % 2),
            "c": "uvw"[k % 3] + "é" * (k % 2),
            "y": "ab"[k % 2],
            "skip": [int(k)],
        }
        for n, k in zip(
            rng.standard_normal(40) * 10.0 ** rng.integers(-300, 300, 40), rng.integers(0, 2**60, 40), strict=True
        )
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    X, y = data.open(tmp_path / "a.jsonl", "y", drop=["skip"]).read()
    assert X[:, 0].tolist() == [row["n"] for row in rows]
    assert X[:, 1].tolist() == [float(row["k"]) for row in rows]
    monkeypatch.setattr(JsonReader, "parse", JsonReader._slowly)
    slow = data.open(tmp_path / "a.jsonl", "y", drop=["skip"]).read()
    assert np.array_equal(X.view(np.int64), slow[0].view(np.int64))
    assert np.array_equal(y, slow[1])


def test_late_surprises_in_json_name_their_lines(tmp_path):
    good = '{"a": 1, "c": "u", "y": 0}\n'
    bad = ['{"a": 1, "c": "u", "y": 0, "z": 1}', '{"a": "two", "c": "u", "y": 1}', '{"a": 1, "c": {}, "y": 1}', "{"]
    (tmp_path / "a.jsonl").write_text(good * 10_000 + "\n".join([*bad, '{"c": 7, "a": "2", "y": 1}']))
    stream = data.open(tmp_path / "a.jsonl", "y", on_error="skip", first_rows=10_000)
    X, y = stream.read()
    assert len(y) == 10_001
    assert X[-1].tolist() == [2.0, 0.0], "a string that spells a number, a category that is new"
    assert stream.unseen == {"c": 1}
    assert [text.replace(f"{tmp_path}/a.jsonl, ", "") for text in stream.skipped.sentences] == [
        "line 10001: the field 'z' was not there in the first rows: remove it from the file.",
        "line 10002: column 'a' holds 'two', expected a number.",
        "line 10003: the field 'c' holds '{}', expected one string.",
        "line 10004: expected a JSON object on a line of its own (Expecting property name enclosed in double quotes), "
        "got '{'.",
    ]
    with pytest.raises(data.DataError, match="line 10001: the field 'z'"):
        data.open(tmp_path / "a.jsonl", "y").read()


def test_a_reader_of_once_readable_input_keeps_what_it_looked_at(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    source = LineSource(tmp_path / "a.jsonl")
    monkeypatch.setattr(source, "rereadable", False)
    reader = JsonReader(OpenRequest(source, "jsonl"))
    reader.read_columns(1000)
    assert reader.head(1).n == 1
    reader.layout = ColumnLayout({"a": "number"}, None)
    assert [reader.parse(item).n for item in reader.items()] == [2]
    assert list(reader.items()) == []


def test_a_field_that_no_row_has_is_an_error_as_a_column_of_csv(tmp_path):
    rows = [{"size": 5.0, "colour": "red", "hue": 1, "y": 0}, {"size": 7.0, "colour": "blue", "hue": 2, "y": 1}]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in 2 * rows))
    prepared = data.open(tmp_path / "train.jsonl", "y", missing="mean").preparation
    (tmp_path / "new.jsonl").write_text('{"sise": 1}\n{"hue": null}\n')
    (tmp_path / "new.csv").write_text("sise,hue\n1,\n")
    words = r" has no column 'size' and no column 'colour'; found sise, hue: add them,"
    for name in ("new.jsonl", "new.csv"):
        with pytest.raises(data.DataError, match=name + words):
            data.open(tmp_path / name, preparation=prepared)
        with (tmp_path / name).open("rb") as file, pytest.raises(data.DataError, match=words):
            data.open(file, preparation=prepared)
    (tmp_path / "new.jsonl").write_text('{"size": 1}\n{"size": 3, "colour": "red", "hue": null}\n')
    stream = data.open(tmp_path / "new.jsonl", preparation=prepared)
    assert stream.read()[0].tolist() == [[1, 0, 0, 1.5], [3, 0, 1, 1.5]]
    for empty, error in (("", False), ("{}\n", True)):
        (tmp_path / "new.jsonl").write_text(empty)
        with pytest.raises(data.DataError, match="found none") if error else nullcontext():
            assert data.open(tmp_path / "new.jsonl", preparation=prepared).read()[0].shape == (0, 4)
