"""First rows of CSV: names of columns or data, and what is said where nothing tells."""

import pytest

from rosenblatt import data
from rosenblatt.messages import ParameterError


def written(folder, text):
    (folder / "a.csv").write_text(text)
    return folder / "a.csv"


@pytest.mark.parametrize("first", ["1,male,yes", "0,female,no", "1,2,yes", "0,1,0"])
def test_a_first_row_with_some_numbers_that_count_is_a_row(tmp_path, first):
    file = written(tmp_path, f"{first}\n7,male,yes\n9,female,no\n8,male,yes\n")
    stream = data.open(file, -1)
    assert len(stream.read()[1]) == 4
    assert stream.notes == []


def test_a_first_row_with_the_target_names_columns(tmp_path):
    file = written(tmp_path, "0,1,label\n7,3,yes\n9,4,no\n")
    assert data.open(file, "label").feature_names == ["0", "1"]
    assert data.open(file, "label").notes == []
    assert data.open(file, "label").describe()["column"] == ["0", "1", "label"]
    assert len(data.open(file, -1).read()[1]) == 3


HEADERS = {
    "nothing tells": ("red,round\ngreen,long\nblue,flat\nred2,flat2\n", "its first line was taken for the names"),
    "it is there again": (
        "red,yes\nblue,no\nred,no\nblue,yes\n" + "green,no\nblue,yes\n" * 5,
        "red, yes, though 'red' occurs again below",
    ),
    "values repeat, but not those": ("colour,label\n" + "red,yes\nblue,no\n" * 4, ""),
    "numbers below": ("a,b\n1,x\n2,y\n", ""),
    "booleans below": ("a,b\ntrue,x\nfalse,y\n", ""),
    "dates below": ("a,b\n2020-01-01,x\n2020-01-02,y\n", ""),
    "a number above": ("1,b\n2,y\n", ""),
    "numbers that count the columns": ("0,1\n1,0\n1,1\n0,0\n", "names of its columns, 0, 1;"),
    "from 1, above text": ("1,2\nred,yes\nblue,no\n", "names of its columns, 1, 2;"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_first_row_is_never_silently_a_header(tmp_path, case):
    text, sentence = HEADERS[case]
    file = written(tmp_path, text)
    for unclear in ("error", "drop") if case != "dates below" else ("drop",):
        stream = data.open(file, -1, unclear=unclear)
        words = [str(ParameterError(*note)) for note in stream.notes]
        assert len(words) == bool(sentence)
        if words:
            assert sentence in words[0]
            assert words[0].endswith("; give header=False if it is a row.")
        for header in (True, False):
            assert data.open(file, -1, unclear="drop", header=header).notes == []
    if sentence:
        named = text.split("\n")[0].split(",")[-1]
        assert data.open(file, named, unclear="drop").notes == [], "naming a column says that it has a name"
