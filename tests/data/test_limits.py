"""Hostile text: a result or one sentence, in time and memory that are in proportion to the bytes read."""

import gzip
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from rosenblatt import data
from rosenblatt.blocks import DataError

LONG = ": give a larger max_line_bytes if lines are this long"
TEXTS = {
    "a.svm": ("1 1:1\n", "-1 " + "9" * 40 + ":1\n", "-1 2:1\n"),
    "a.vw": ("1 |f a\n", "-1 |f " + "b" * 40 + "\n", "-1 |f c\n"),
    "a.csv": ("a,y\n1,1\n", "9" * 40 + ",0\n", "2,0\n"),
    "a.tsv": ("a\ty\n1\t1\n", "9" * 40 + "\t0\n", "2\t0\n"),
    "a.jsonl": ('{"a": 1, "y": 1}\n', '{"a": ' + "9" * 40 + ', "y": 0}\n', '{"a": 2, "y": 0}\n'),
}


def target_of(name):
    return {} if name.endswith(("svm", "vw")) else {"target": "y"}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("chunk_bytes", [7, 64, 1 << 20])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_line_that_is_too_long_is_a_sentence_or_left_out(tmp_path, monkeypatch, name, chunk_bytes, pack):
    monkeypatch.setattr("rosenblatt.data.io.lines.CHUNK_BYTES", chunk_bytes)
    before, long, after = TEXTS[name]
    path = tmp_path / name
    path.write_bytes(pack("".join([before, long, after]).encode()))
    line = before.count("\n") + 1
    sentence = f"{path}, line {line}: the line has more than 30 bytes, expected a newline before that{LONG}"
    with pytest.raises(DataError, match=re.escape(sentence)):
        data.open(path, **target_of(name), max_line_bytes=30).read()
    stream = data.open(path, **target_of(name), max_line_bytes=30, on_error="skip")
    assert stream.read()[1].tolist() in ([1, -1], [1, 0])
    assert stream.skipped == (1, [f"{sentence}."])
    if name.endswith(("csv", "tsv")):
        path.write_bytes(pack((long + before).encode()))
        with pytest.raises(DataError, match=f"{name}, line 1: the line has more than 30 bytes"):
            data.open(path, **target_of(name), max_line_bytes=30, on_error="skip")


@pytest.mark.parametrize("chunk_bytes", [7, 1 << 20])
def test_a_record_in_quotes_is_a_line(tmp_path, monkeypatch, chunk_bytes):
    monkeypatch.setattr("rosenblatt.data.io.lines.CHUNK_BYTES", chunk_bytes)
    (tmp_path / "a.csv").write_text('a,y\nu,1\n"' + "v\n" * 20 + '",0\n\n\n\n"u\n\n",0\nw,1\n')
    options = {"column_types": {"a": ["u", "w"]}, "on_error": "skip"}
    assert data.open(tmp_path / "a.csv", "y", **options).read()[1].tolist() == [1, 0, 0, 1]
    stream = data.open(tmp_path / "a.csv", "y", **options, max_line_bytes=30)
    X, y = stream.read()
    assert (X[0].tolist(), X[-1].tolist(), y[0], y[-1]) == ([1, 0], [0, 1], 1, 1)
    assert "a.csv, line 3: this record has a quote that is not closed within 30 bytes" in stream.skipped.sentences[0]


@pytest.mark.parametrize(("value", "got"), [(0, "0"), (2**30 + 1, "1073741825"), ("64MB", "'64MB'")])
def test_the_longest_line_is_checked(tmp_path, value, got):
    (tmp_path / "a.svm").write_text("1 1:1\n")
    with pytest.raises(ValueError, match=f"max_line_bytes must be an integer from 1 to 1073741824, got {got}."):
        data.open(tmp_path / "a.svm", max_line_bytes=value)


def test_a_quote_that_opens_before_a_line_that_is_too_long(tmp_path):
    (tmp_path / "a.csv").write_text('a,y\n1,1\n"2,0\n' + "x" * 100 + "\n3,0\n")
    stream = data.open(tmp_path / "a.csv", "y", on_error="skip", max_line_bytes=50)
    assert stream.read()[0].tolist() == [[1.0], [3.0]]
    assert [sentence.split(": ")[0].rpartition("/")[2] for sentence in stream.skipped.sentences] == [
        "a.csv, line 3",
        "a.csv, line 4",
    ]
    with pytest.raises(DataError, match="line 3: this record has an unclosed quote: close it"):
        data.open(tmp_path / "a.csv", "y", max_line_bytes=50).read()


def test_an_index_beyond_all_reason_needs_consent(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 67108864:1\n-1 1:1\n")
    assert data.open(path).read()[0].shape == (2, 2**26)
    for index, columns in ((67108865, "67,108,865 columns, whose weights take 1.1 GB"), (2**31 - 1, "2,147,483,647")):
        path.write_text(f"1 {index}:1\n-1 1:1\n")
        sentence = f"line 1: the index in '{index}:1' makes {columns}"
        with pytest.raises(DataError, match=sentence) as caught:
            data.open(path).read()
        assert f"expected at most 67,108,864: give n_features={index} if there are that many." in str(caught.value)
        assert data.open(path, n_features=index).read()[0].shape == (2, index)
        assert data.open(path, on_error="skip").read()[1].tolist() == [-1.0]
    path.write_text("1 67108864:1\n-1 0:1\n")
    with pytest.raises(DataError, match="makes 67,108,865 columns"):
        data.open(path).read()
    stream = data.open(path, n_features=3)
    assert stream.read()[0].toarray().tolist() == [[0, 0, 0], [1, 0, 0]]
    assert stream.unseen == {"columns": 1}
    assert data.open(path, preparation=stream.preparation).read()[0].shape == (2, 3)
    with pytest.raises(ValueError, match="n_features must be an integer"):
        data.open(path, n_features=2**31)
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    with pytest.raises(ValueError, match="n_features has no meaning"):
        data.open(tmp_path / "a.csv", "y", n_features=3)


def test_very_many_columns_need_names(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.data.tables.reader.MOST_COLUMNS", 200)
    header = ",".join(["y", *(f"c{k}" for k in range(201))])
    row = "1" + ",2" * 201
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n{row}\n{row}\n")
    sentence = "has 202 columns, expected at most 200: write sparse rows, such as svmlight, or choose the columns"
    with pytest.raises(DataError, match=sentence):
        data.open(path, "y")
    stream = data.open(path, 0, columns=["c7", "c200"])
    X, y = stream.read()
    assert (X.tolist(), y.tolist()) == ([[2.0, 2.0]] * 2, [1, 1])
    assert data.open(path, preparation=stream.preparation).read()[0].tolist() == X.tolist()
    (tmp_path / "a.jsonl").write_text(json.dumps(dict.fromkeys(header.split(","), 1)) + "\n")
    with pytest.raises(DataError, match=sentence):
        data.open(tmp_path / "a.jsonl", "y")
    assert data.open(tmp_path / "a.jsonl", "y", columns=["c7"]).read()[0].tolist() == [[1.0]]


def test_json_with_ever_new_fields_is_no_table(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"y": {k % 2}, "k{k}": 1}}\n' for k in range(4000)))
    with pytest.raises(
        DataError, match=r"the first 4,000 rows have 4,001 different fields, but a row has only 2\.0 of"
    ):
        data.open(path, "y")
    X, _ = data.open(path, "y", columns=["k1", "k3"], missing="zero").read()
    assert (X.shape, X.sum()) == ((4000, 2), 2.0)
    X, _ = data.open(path, "y", missing="zero", first_rows=40, on_error="skip").read()
    assert (X.shape, X.sum()) == ((40, 40), 40.0)


def test_cells_that_are_not_there_are_made_a_few_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.data.tables.json_lines._CELLS_AT_ONCE", 10)
    path = tmp_path / "a.jsonl"
    path.write_text('{"y": 1, "a": 1, "b": 2}\n' + '{"y": 0}\n' * 20 + '{"y": 1, "a": 3, "b": 4}\n{"y":\n')
    blocks = []
    with pytest.raises(DataError, match=r"line 23: expected a JSON object"):
        blocks.extend(data.open(path, "y", missing="zero", first_rows=5))
    assert max(map(len, blocks)) == 3
    X = np.concatenate([block.X for block in blocks])
    assert X.tolist() == [[1.0, 2.0], *[[0.0, 0.0]] * 20, [3.0, 4.0]]


@pytest.mark.parametrize("name", ["a.svm", "a.vw"])
def test_lines_that_end_in_carriage_returns(tmp_path, name):
    (tmp_path / name).write_text("".join(TEXTS[name][::2]).replace("\n", "\r"), newline="")
    with pytest.raises(DataError, match=f"{name} has lines that end in carriage returns, expected newlines"):
        data.open(tmp_path / name).read()


def nested(n):
    return '{"y": 0, "a": 1, "s": "' + "]" * n + '", "b": ' + "[" * n + "]" * n + "}\n"


QUICK = {
    "blank lines": ("a.csv", "\n" * 900_000 + "a,y\n1,0\n2,1\n", "(2, 1)"),
    "nothing but blank lines": ("a.csv", "\r\n" * 450_000, "is empty, expected rows"),
    "new fields": ("a.jsonl", "".join(f'{{"y":0,"k{k}":1}}\n' for k in range(9_900)), "9,901 different fields"),
    "a field twice": ("a.jsonl", "{" + "".join(f'"k{k}":1,' for k in range(50_000)) + '"k7":1}', "'k7' occurs twice"),
    "columns": ("a.csv", "y" + "".join(f",c{k}" for k in range(30_000)) + ("\n1" + ",2" * 30_000) * 2, "(1, 30000)"),
    "a name twice": ("a.csv", "y" + ",a" * 300_000 + "\n", "has 300,001 columns"),
    "nearly numbers": ("a.csv", "a,y\n" + "".join(f"{k}x,1\n" for k in range(1_000_000)), "different values"),
    "digits in a header": ("a.csv", "y," + "1" * 100_000 + "x\n1,2\n", "(1, 1)"),
    "digits without a format": ("a", "1" * 60_000 + "x\n", "cannot be detected"),
    "blanks without a format": ("a", "1 " + " " * 60_000 + "x\n", "cannot be detected"),
    "late brackets": ("a.jsonl", '{"y": 0, "a": 1}\n' * 10_000 + nested(100_000), "with fewer nested brackets"),
    "late braces": ("a.jsonl", '{"y": 0, "a": 1}\n' * 10_000 + '{"b":' * 100_000, "with fewer nested brackets"),
    "new fields later": (
        "a.jsonl",
        '{"y": 0, "a": 1, "b": 1}\n' + "".join(f'{{"y":0,":k{k}":1}}\n' for k in range(100_000)),
        "line 2: the field ':k0' was not there in the first rows",
    ),
    "empty rows": (
        "a.jsonl",
        json.dumps(dict.fromkeys(["y", "a", *map(str, range(1000))], 1)) + "\n" + '{"y":0}\n' * 10_000,
        "(1998, 1000)",
    ),
}
CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (25, 25))
from rosenblatt import data
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
options = eval(sys.argv[2])
try:
    for block in data.open(sys.argv[1], **options):
        print(block.X.shape)
except ValueError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def in_a_child(path, **options):
    """Return what a file gives, and by how many bytes the process grew."""
    ran = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), repr(options)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-500:] or f"it ended by signal {-ran.returncode}"
    *lines, grown = ran.stdout.splitlines()
    return "\n".join(lines), int(grown) * (1024 if sys.platform == "linux" else 1)


@pytest.mark.slow
@pytest.mark.parametrize("case", QUICK)
def test_time_is_in_proportion_to_the_file(tmp_path, case):
    name, text, expected = QUICK[case]
    (tmp_path / name).write_text(text, newline="")
    options = {"target": "y"} if "." in name else {}
    if case in ("empty rows", "new fields later"):
        options |= {"first_rows": 1, "drop": ["a"], "missing": "zero"}
    assert expected in in_a_child(tmp_path / name, **options)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_a_line_without_end_takes_no_more_memory_than_the_longest(tmp_path, name):
    with gzip.open(tmp_path / f"{name}.gz", "wb", 1) as file:
        file.write(TEXTS[name][0].encode())
        for _ in range(100):
            file.write(b"a" * 1_000_000)
    found, grown = in_a_child(tmp_path / f"{name}.gz", **target_of(name), max_line_bytes=5_000_000, threads=0)
    assert "the line has more than 5,000,000 bytes" in found
    assert grown < 150_000_000


@pytest.mark.slow
def test_faults_before_the_first_row_are_not_kept(tmp_path):
    with gzip.open(tmp_path / "a.csv.gz", "wb", 1) as file:
        file.write(b"a,y\n")
        for _ in range(12):
            file.write(b"1,2,3\n" * 150_000)
        file.write(b"1,2\n")
    found, grown = in_a_child(tmp_path / "a.csv.gz", target="y", on_error="skip", labels=False, threads=0, first_rows=1)
    assert found == "(1, 1)"
    assert grown < 500_000_000


@pytest.mark.slow
def test_a_long_line_of_few_names_takes_a_small_multiple_of_its_bytes(tmp_path):
    (tmp_path / "a.vw").write_bytes(b"1 |f" + b" a b" * 5_000_000 + b"\n")
    found, grown = in_a_child(tmp_path / "a.vw", threads=0)
    assert found == "(1, 262144)"
    assert grown < 250_000_000
