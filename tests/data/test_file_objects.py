"""data.open of binary file objects: the rows of a file on disk, as soon as their lines have come."""

import gzip
import io
import json
import os
import sys
import tempfile
import threading

import numpy as np
import pyarrow as pa
import pytest

from helpers.reading import dense
from rosenblatt import data

ROWS = [(k % 7 - 3, k % 5, "ab"[k % 2]) for k in range(40)]


def lines(kind):
    """The header, if any, and a line for each row."""
    if kind == "csv":
        return ["u,v,y\n", *(f"{u},{v},{y}\n" for u, v, y in ROWS)]
    if kind == "jsonl":
        return [json.dumps({"u": u, "v": v, "y": y}) + "\n" for u, v, y in ROWS]
    if kind == "svmlight":
        return [f"{'ab'.index(y)} 1:{u} 2:{v}\n" for u, v, y in ROWS]
    return [f"{'ab'.index(y)} |f u:{u} v:{v}\n" for u, v, y in ROWS]


def options(kind):
    return {"target": "y"} if kind in ("csv", "jsonl") else {}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "svmlight", "vw"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_rows_are_those_of_the_file(tmp_path, monkeypatch, kind, pack):
    content = pack("".join(lines(kind)).encode())
    (tmp_path / "rows").write_bytes(content)
    X, y = data.open(tmp_path / "rows", **options(kind)).read()
    monkeypatch.setattr(tempfile, "mkstemp", None)  # no temporary file
    for file in (io.BytesIO(content), open(tmp_path / "rows", "rb"), io.FileIO(tmp_path / "rows")):  # noqa: SIM115
        stream = data.open(file, **options(kind), block_rows=16)
        assert iter(stream) is stream
        blocks = list(stream)
        assert [len(block) for block in blocks] == [16, 16, 8]
        assert np.array_equal(np.concatenate([dense(block.X) for block in blocks]), dense(X))
        assert np.concatenate([block.y for block in blocks]).tolist() == y.tolist()
        with pytest.raises(data.DataError, match="can be read only once, and has been read to its end"):
            next(stream)
        assert not file.closed, "it belongs to the caller"
        file.close()


def test_an_arrow_stream(tmp_path):
    table, buffer = pa.table({"u": [u for u, *_ in ROWS], "y": [y for *_, y in ROWS]}), io.BytesIO()
    with pa.ipc.new_stream(buffer, table.schema) as sink:
        sink.write_table(table, max_chunksize=7)
    X, y = data.open(io.BytesIO(buffer.getvalue()), "y").read()
    assert X[:, 0].tolist() == [u for u, *_ in ROWS]
    assert y.tolist() == [y for *_, y in ROWS]


def test_a_file_object_that_decompresses(tmp_path):
    with gzip.open(tmp_path / "a.csv.gz", "wb") as file:
        file.write("".join(lines("csv")).encode())
    with gzip.open(tmp_path / "a.csv.gz", "rb") as file:
        stream = data.open(file, "y")
        assert len(stream.read()[1]) == len(ROWS)
    assert repr(tmp_path / "a.csv.gz")[11:-2] in repr(stream)


class Slow:
    """A pipe whose lines are written one by one; it ends after ten seconds, so that waiting for more fails."""

    def __init__(self, buffering):
        read, write = os.pipe()
        self.file, self.sink = os.fdopen(read, "rb", buffering), os.fdopen(write, "wb", 0)
        self.timer = threading.Timer(10, self.sink.close)
        self.timer.start()

    def write(self, some):
        self.sink.write("".join(some).encode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.timer.cancel()
        self.sink.close()
        self.file.close()


def assert_prompt(pipe, kind, opened):
    every = lines(kind)
    start = len(every) - len(ROWS) + 4
    pipe.write(every[:start])
    stream = opened()
    assert len(next(stream)) == 4
    for k in range(start, start + 3):
        pipe.write(every[k : k + 1])
        assert len(next(stream)) == 1
        assert not pipe.sink.closed, "the row came before the end"
    pipe.write(every[start + 3 :])
    pipe.sink.close()
    assert sum(map(len, stream)) == len(ROWS) - 7
    assert stream.rows_read == len(ROWS)


@pytest.mark.skipif(os.name == "nt", reason="select is for sockets there")
@pytest.mark.parametrize("kind", ["csv", "jsonl", "svmlight", "vw"])
@pytest.mark.parametrize("buffering", [0, -1])
def test_rows_come_out_of_a_pipe_before_it_ends(kind, buffering):
    with Slow(buffering) as pipe:
        assert_prompt(pipe, kind, lambda: data.open(pipe.file, **options(kind), format=kind, first_rows=4))


@pytest.mark.skipif(os.name == "nt", reason="select is for sockets there")
@pytest.mark.parametrize("kind", ["csv", "jsonl", "svmlight"])
def test_rows_come_out_of_standard_input_before_it_ends(monkeypatch, kind):
    with Slow(-1) as pipe:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(pipe.file))
        assert_prompt(pipe, kind, lambda: data.open("-", **options(kind), format=kind, first_rows=4))


@pytest.mark.skipif(os.name == "nt", reason="select is for sockets there")
def test_a_prepared_table_needs_one_row():
    preparation = data.open(io.BytesIO("".join(lines("jsonl")).encode()), "y").preparation
    with Slow(-1) as pipe:
        pipe.write(lines("jsonl")[:1])
        stream = data.open(pipe.file, preparation=preparation, first_rows=1)
        assert next(stream).y.tolist() == ["a"]
        assert not pipe.sink.closed


class OneByOne:
    """Lines that come one by each call, from something that is no file of the system."""

    def __init__(self, some):
        self.some, self.calls = [line.encode() for line in some], 0

    def read(self, size):
        raise AssertionError("read waits until it has everything")

    def read1(self, size):
        self.calls += 1
        line = self.some.pop(0) if self.some else b""
        if len(line) > size:
            self.some.insert(0, line[size:])
        return line[:size]


def test_without_a_descriptor_lines_are_passed_on_as_they_are_read():
    file = OneByOne(lines("svmlight"))
    stream = data.open(file, format="svmlight")
    assert len(next(stream)) == 1
    assert len(file.some) >= len(ROWS) - 2
    assert 1 + sum(map(len, stream)) == len(ROWS)


def test_the_schema_is_that_of_the_first_rows():
    text = "colour,y\n" + "red,1\nblue,0\n" * 3 + "green,1\n" * 5
    stream = data.open(io.BytesIO(text.encode()), "y", first_rows=6)
    X, _ = stream.read()
    assert stream.feature_names == ["colour=blue", "colour=red"]
    assert stream.unseen == {"colour": 5}
    assert dense(X)[6:].sum() == 0
    assert data.open(io.BytesIO(text.encode()), "y", first_rows=7).feature_names[1] == "colour=green"


@pytest.mark.parametrize(
    ("content", "how", "message"),
    [
        (b"PAR1", {}, "the open file cannot be read as Parquet, which is read from its end: save it to a file."),
        (b"PK\x03\x04", {}, "the open file cannot be read as npz, which needs a file on disk: save it to a file."),
        (b"ARROW1", {"target": "y"}, "the open file holds an Arrow file, expected an Arrow stream: save it to a file."),
        (b"1 1:2\n1 1:x\n", {}, "the open file, line 2: the value is 'x', expected a finite number."),
        (b"1 1:2\n", {"first_rows": 0}, "first_rows must be an integer of at least 1, got 0."),
    ],
)
def test_faults_are_one_sentence(content, how, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (compared below)
        data.open(io.BytesIO(content), **{"target": "y" if content[:1] == b"P" else None, **how}).read()
    assert str(caught.value) == message


def test_text_mode_is_refused(tmp_path):
    with pytest.raises(TypeError, match=r"expected a file in binary mode, as open\(name, 'rb'\) returns it"):
        data.open(io.StringIO("a,y\n1,2\n"), "y")


def test_what_was_read_before_is_not_read_again():
    file = io.BufferedReader(io.BytesIO(b"a comment\n" + "".join(lines("csv")).encode()))
    file.readline()
    assert len(data.open(file, "y", format="csv").read()[1]) == len(ROWS)
