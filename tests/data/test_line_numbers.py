"""Every line that cannot be read is named by its own number, also after others like it and far down in a file."""

import re

import numpy as np
import pytest

from rosenblatt import data

GOOD = {"svmlight": "1 1:2 3:4", "vw": "1 | a b:2", "csv": "2,4,yes", "jsonl": '{"a": 2, "b": 4, "y": "yes"}'}
BAD = {"svmlight": "1 1:x", "vw": "1 a b:2", "csv": "2,four,yes", "jsonl": '{"a": 2, "b": "four", "y": "yes"}'}
LONG = {"svmlight": "1 1:2 #{}", "vw": "1 |{} b:2", "csv": "2{},4,yes", "jsonl": '{{"a": 2,{} "b": 4, "y": "yes"}}'}
"""Good lines with room for many blanks."""


def opened(path, kind, lines, **options):
    """Return a file of these lines as a stream; a table has two columns of numbers."""
    path.write_text("\n".join([*(["a,b,y"] if kind == "csv" else []), *lines]) + "\n")
    table = {"target": "y", "column_types": {"b": "number"}, "first_rows": 2} if kind in ("csv", "jsonl") else {}
    return data.open(path, format=kind, **table, **options)


def line_numbers(sentences):
    return [int(re.search(r"line ([\d,]+)", sentence)[1].replace(",", "")) for sentence in sentences]


@pytest.mark.parametrize("kind", GOOD)
@pytest.mark.parametrize("threads", [0, 2])
def test_bad_lines_are_named_by_their_own_numbers(tmp_path, kind, threads):
    lines = [GOOD[kind]] * 40
    bad = [4, 5, 9, 31]
    for number in bad:
        lines[number - 1 - (kind == "csv")] = BAD[kind]
    stream = opened(tmp_path / "a", kind, lines, on_error="skip", threads=threads)
    assert len(stream.read()[1]) == 36
    assert (stream.skipped.rows, line_numbers(stream.skipped.sentences)) == (4, bad)


@pytest.mark.parametrize("kind", GOOD)
def test_lines_are_counted_from_chunk_to_chunk(tmp_path, kind):
    """A line that is longer than what is parsed at once comes before each bad one."""
    long = LONG[kind].format(" " * 4_500_000)
    lines = [GOOD[kind], GOOD[kind], long, GOOD[kind], BAD[kind], GOOD[kind], long, BAD[kind], GOOD[kind]]
    first = 1 if kind == "csv" else 0
    stream = opened(tmp_path / "a", kind, lines, on_error="skip")
    assert len(stream.read()[1]) == 7
    assert line_numbers(stream.skipped.sentences) == [5 + first, 8 + first]
    with pytest.raises(data.DataError, match=f"line {5 + first}\\b"):
        opened(tmp_path / "b", kind, lines).read()


@pytest.mark.parametrize("kind", GOOD)
def test_rows_keep_their_numbers_where_others_are_left_out(tmp_path, kind):
    lines = [GOOD[kind]] * 10
    lines[2] = lines[3] = lines[7] = BAD[kind]
    blocks = list(opened(tmp_path / "a", kind, lines, on_error="skip"))
    assert np.concatenate([block.numbers for block in blocks]).tolist() == [0, 1, 4, 5, 6, 8, 9]


@pytest.mark.parametrize("kind", GOOD)
def test_lines_that_are_too_long_count_too(tmp_path, kind):
    lines = [GOOD[kind]] * 9
    lines[3], lines[5], lines[7] = LONG[kind].format(" " * 300), BAD[kind], LONG[kind].format(" " * 300)
    first = 1 if kind == "csv" else 0
    stream = opened(tmp_path / "a", kind, lines, on_error="skip", max_line_bytes=100)
    assert len(stream.read()[1]) == 6
    assert line_numbers(stream.skipped.sentences) == [4 + first, 6 + first, 8 + first]


def test_records_of_several_lines_count_as_lines(tmp_path):
    lines = [GOOD["csv"], GOOD["csv"], '2,4,"two\nlines"', "", GOOD["csv"], BAD["csv"], GOOD["csv"]]
    stream = opened(tmp_path / "a", "csv", lines, on_error="skip")
    assert len(stream.read()[1]) == 5
    assert line_numbers(stream.skipped.sentences) == [8]
