import json
import math
import sys
import unicodedata

import numpy as np
import pytest

from rosenblatt.tables import Table


def test_prints_title_header_rule_rows_and_notes():
    t = Table(
        {"word": ["good", "terrible"], "weight": [0.123456, -12.0], "seen": [1234567, 8]},
        title="Weights",
        notes=["first note", "second note"],
    )
    assert str(t) == "\n".join(
        [
            "Weights",
            "word      weight     seen",
            "-------------------------",
            "good      0.1235  1234567",
            "terrible     -12        8",
            "first note",
            "second note",
        ]
    )
    assert repr(t) == str(t)


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (np.float64("nan"), "nan"),
        (-0.0, "0"),
        (0.5, "0.5"),
        (2 / 3, "0.6667"),
        (np.float32(0.1), "0.1"),
        (1e-9, "1e-09"),
        (0.000123456, "0.0001235"),
        (9999.4, "9999"),
        (26378.4, "26378"),
        (12345678.0, "1.235e+07"),
        (10**20, "100000000000000000000"),
        (np.int64(7), "7"),
        (None, "-"),
        (True, "True"),
        (np.bool_(False), "False"),
        ("two\nlines", "two lines"),
        ("x" * 500, "x" * 500),
    ],
)
def test_a_cell_prints_as(value, printed):
    assert str(Table({"a": [value]})).splitlines()[-1].strip() == printed


def test_digits_can_be_asked_for():
    assert Table({"a": [math.pi]}).to_text(digits=10).splitlines()[-1] == "3.141592654"


def test_numbers_right_text_left_and_a_missing_number_keeps_the_side():
    lines = str(Table({"n": [None, 100], "text": ["a", "bb"], "flag": [True, False]})).splitlines()
    assert lines[2:] == ["  -  a     True", "100  bb    False"]
    mixed = str(Table({"mixed": [1, "one hundred"]})).splitlines()
    assert mixed[2] == "1"


def test_wide_letters_and_combining_marks_keep_the_columns_aligned():
    accented = unicodedata.normalize("NFD", "é")
    lines = str(Table({"word": ["感知", accented, "abcd"], "n": [1, 2, 3]})).splitlines()
    assert lines[2:] == ["感知  1", accented + "     2", "abcd  3"]


def test_no_line_ends_in_blanks():
    assert all(line == line.rstrip() for line in str(Table({"a": ["long text", "b"]}, title="t")).splitlines())


def test_empty_tables():
    assert str(Table({"a": [], "bb": []})) == "a  bb\n-----"
    assert (len(Table({})), list(Table({})), str(Table({}, title="nothing"))) == (0, [], "nothing")


def test_rows_columns_and_length():
    t = Table({"a": np.arange(3), "b": ("x", "y", "z")})
    assert len(t) == 3
    assert t.columns == ["a", "b"]
    assert t["b"] == ["x", "y", "z"]
    assert list(t) == [{"a": 0, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "z"}]
    with pytest.raises(KeyError, match=r"no column 'c'; the columns are \['a', 'b'\]"):
        t["c"]


def test_values_come_back_plain_and_json_round_trips():
    t = Table({"f": np.array([1.5, 2.5], dtype=np.float32), "i": [np.int8(1), 2], "v": [np.arange(2), [3]]})
    assert [type(value) for name in "fi" for value in t[name]] == [float, float, int, int]
    assert json.loads(json.dumps(t.to_dict())) == {"f": [1.5, 2.5], "i": [1, 2], "v": [[0, 1], [3]]}


def test_nothing_changes_a_table():
    source = [1, 2]
    t = Table({"a": source}, title="t", notes=["n"])
    before = str(t)
    source.append(3)
    t["a"].append(3)
    t.to_dict()["a"].append(3)
    t.columns.append("b")
    assert str(t) == before
    for name in ("title", "notes", "columns", "other"):
        with pytest.raises(AttributeError):
            setattr(t, name, "changed")


def test_html_escapes_everything():
    t = Table({"<a>": ["<script>", "&"], "n": [1, 2.5]}, title="x < y", notes=["a & b"])
    page = t._repr_html_()
    assert "<script>" not in page
    assert "<a>" not in page
    for part in ("&lt;script&gt;", "&lt;a&gt;", "x &lt; y", "a &amp; b", '<td style="text-align: right">2.5</td>'):
        assert part in page
    assert page.count("<tr>") == 3


def test_to_pandas():
    frame = Table({"a": np.array([1, 2]), "b": ["x", "y"]}).to_pandas()
    assert frame.to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}


def test_to_pandas_without_pandas_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        Table({"a": [1]}).to_pandas()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1, 2], "b": [1]}, "equal length, got 'a' has 2, 'b' has 1: fill"),
        ({"a": "text"}, "column 'a' must be a sequence of values, got 'text': wrap it in a list"),
        ({"a": 3}, "column 'a' must be a sequence"),
        ({1: [1]}, "a column's name must be a string, got 1: use '1'"),
    ],
)
def test_errors_say_what_came_and_what_to_do(columns, message):
    with pytest.raises(ValueError, match=message):
        Table(columns)
