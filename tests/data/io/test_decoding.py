"""Text in other encodings, and lines that are left out at the start of a file."""

import gzip
import io
import os
import pickle
import threading

import numpy as np
import pytest

from helpers.reading import lines_of
from rosenblatt import AveragedPerceptron, data
from rosenblatt.blocks import DataError
from rosenblatt.data.io.decoding import Decoding
from rosenblatt.data.io.lines import LineSource
from rosenblatt.distributed.shards import file_loaders
from rosenblatt.messages import ParameterError

TEXT = "größe;x;y\n" + "".join(f"{'ä€'[k % 2]};{k};{'ja' if k % 2 else 'nein'}\n" for k in range(40))
MARKED = ("utf-16", "utf-32", "utf-8-sig")


def source_of(path, chunk_bytes=None, **decoding):
    return LineSource(path, chunk_bytes=chunk_bytes, decoding=Decoding(**decoding))


@pytest.mark.parametrize("encoding", [*MARKED, "utf-16-le", "utf-16-be", "utf-32-be", "cp1252", "gb18030", "utf-7"])
def test_text_in_any_encoding_is_read_as_utf8(tmp_path, encoding):
    (tmp_path / "a").write_bytes(TEXT.encode(encoding))
    (tmp_path / "a.gz").write_bytes(gzip.compress(TEXT.encode(encoding)))
    (tmp_path / "dos").write_bytes(TEXT.replace("\n", "\r\n").encode(encoding))
    decoding = {} if encoding in MARKED else {"encoding": encoding}
    for chunk_bytes in (1, 7, 100, 10**6):
        assert lines_of(source_of(tmp_path / "a", chunk_bytes, **decoding)).decode() == TEXT
        assert lines_of(source_of(tmp_path / "a", chunk_bytes, encoding=encoding)).decode() == TEXT
    assert lines_of(source_of(tmp_path / "a.gz", **decoding)).decode() == TEXT
    assert lines_of(source_of(tmp_path / "dos", **decoding)).decode() == TEXT.replace("\n", "\r\n")
    source = source_of(io.BytesIO(TEXT.encode(encoding)), **decoding)
    assert source.head(10).removeprefix(b"\xef\xbb\xbf").startswith("größe".encode())
    assert lines_of(source).decode() == TEXT


@pytest.mark.parametrize("mark", ["utf-16", "utf-32"])
@pytest.mark.parametrize("order", ["le", "be"])
def test_byte_order_marks(tmp_path, mark, order):
    (tmp_path / "a").write_bytes(f"\ufeff{TEXT}".encode(f"{mark}-{order}"))
    assert lines_of(source_of(tmp_path / "a")).decode() == TEXT
    assert lines_of(source_of(tmp_path / "a", encoding=f"{mark}-{order}")).decode() == TEXT


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_text_without_its_byte_order_mark_is_recognised(tmp_path, encoding):
    (tmp_path / "a.csv").write_bytes(TEXT.encode(encoding))
    what = f"a.csv looks like {encoding[:6].upper()} text without a byte order mark, expected UTF-8: "
    with pytest.raises(DataError, match=f"{what}give encoding='{encoding}'"):
        data.open(tmp_path / "a.csv", "y")
    assert len(data.open(tmp_path / "a.csv", "y", encoding=encoding).read()[1]) == 40


def test_every_pass_and_every_way_in_gives_the_same_rows(tmp_path):
    (tmp_path / "utf8.csv").write_text(TEXT)
    (tmp_path / "a.csv").write_bytes(TEXT.encode("cp1252"))
    X, y = data.open(tmp_path / "utf8.csv", "y").read()
    stream = data.open(tmp_path / "a.csv", "y", encoding="cp1252")
    for _ in range(2):
        assert (stream.read()[0] == X).all()
    assert stream.feature_names[0] == "größe=ä"
    again = data.open(tmp_path / "a.csv", preparation=stream.preparation, encoding="cp1252")
    assert (again.read()[0] == X).all()
    cached = data.open(tmp_path / "a.csv", "y", encoding="cp1252", cache=tmp_path / "cache")
    for _ in range(2):
        assert (np.concatenate([block.X for block in cached]) == X).all()
    given = AveragedPerceptron(random_state=0).fit_stream(data.open(tmp_path / "a.csv", "y", encoding="cp1252"))
    assert (given.coef_ == AveragedPerceptron(random_state=0).fit(X, y).coef_).all()
    with open(tmp_path / "a.csv", "rb") as file:
        assert (data.open(file, "y", encoding="cp1252").read()[0] == X).all()


def test_the_rows_of_another_decoding_are_other_rows(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"x,y\n1,0\n2,1\n3,0\n4,1\n")
    streams = [data.open(tmp_path / "a.csv", -1, header=False, on_error="skip", column_types={"c1": "number"}, **given)
               for given in ({"skip_rows": 1}, {"skip_rows": 2}, {"skip_rows": 1, "encoding": "cp1252"})]  # fmt: skip
    assert len({stream.fingerprint for stream in streams}) == 3
    for skip_rows, rows in ((1, 4), (2, 3)):
        stream = data.open(tmp_path / "a.csv", -1, header=False, skip_rows=skip_rows, cache=tmp_path / "cache")
        assert sum(map(len, stream)) == sum(map(len, stream)) == rows


def test_workers_read_files_alike(tmp_path):
    for k in range(2):
        (tmp_path / f"{k}.csv").write_bytes(("Bericht 2024\n" + TEXT).encode("cp1252"))
    stream, loaders = file_loaders(f"{tmp_path}/?.csv", {"target": "y", "encoding": "cp1252", "skip_rows": 1})
    shards = [pickle.loads(pickle.dumps(loader))() for loader in loaders]
    assert (np.concatenate([shard.X for shard in shards]) == stream.read()[0]).all()


def test_bytes_that_are_not_text_make_their_row_unreadable(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,y\n1,u\n\x81,v\n3,w\n")
    with pytest.raises(
        DataError, match=r"a.csv, line 3: the row is not valid cp1252: give its true encoding; on_error"
    ):
        data.open(tmp_path / "a.csv", "y", encoding="cp1252").read()
    stream = data.open(tmp_path / "a.csv", "y", encoding="cp1252", on_error="skip")
    assert (stream.read()[0].ravel().tolist(), stream.skipped.rows) == ([1.0, 3.0], 1)
    (tmp_path / "a.csv").write_bytes("a,y\n1,u\n2,v\n".encode("utf-16")[:-1])
    with pytest.raises(DataError, match="not valid"):
        data.open(tmp_path / "a.csv", "y", encoding="utf-16").read()
    (tmp_path / "a.jsonl").write_bytes(b'{"a": 1, "y": "\x81"}\n')
    with pytest.raises(DataError, match="line 1: the line is not valid cp1252"):
        data.open(tmp_path / "a.jsonl", "y", encoding="cp1252").read()


def test_skipped_lines_keep_the_numbers_of_the_others(tmp_path):
    title = b'Report "2024\nunclosed quote\xff\n\n'
    for chunk_bytes in (1, 7, 10**6):
        (tmp_path / "a").write_bytes(title + b"a\nb\n")
        assert lines_of(source_of(tmp_path / "a", chunk_bytes, skip_rows=3)) == b"\n\n\na\nb\n"
    assert lines_of(source_of(tmp_path / "a", skip_rows=9)) == b"\n" * 5
    (tmp_path / "a.csv").write_bytes(title + b"a;y\n1;2\nx;3\n")
    stream = data.open(tmp_path / "a.csv", "y", skip_rows=3, column_types={"a": "number"}, on_error="skip")
    assert stream.read()[1].tolist() == [2]
    assert stream.skipped.sentences[0].startswith(f"{tmp_path}/a.csv, line 6: column 'a' holds 'x'")
    with pytest.raises(DataError, match=r"a\.csv is empty"):
        data.open(tmp_path / "a.csv", "y", skip_rows=99)
    (tmp_path / "a.svm").write_bytes(b"title\n1 1:2\n-1 1:3\n")
    assert data.open(tmp_path / "a.svm", skip_rows=1).read()[1].tolist() == [1, -1]


def test_rows_of_a_pipe_come_as_their_lines_do(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    lines = [f"{k} 1:{k}.5\n".encode("utf-16-le") for k in range(5)]
    arrived = threading.Semaphore(0)

    def write():
        with open(tmp_path / "pipe", "wb", buffering=0) as pipe:
            pipe.write(b"\xff\xfe" + lines[0])
            for line in lines[1:]:
                arrived.acquire(timeout=20)
                pipe.write(line[:5])
                pipe.write(line[5:])

    thread = threading.Thread(target=write)
    thread.start()
    for k, block in enumerate(data.open(tmp_path / "pipe", format="svmlight", n_features=1, threads=0)):
        assert block.X.toarray().tolist() == [[k + 0.5]]
        arrived.release()
    thread.join()
    assert k == 4


def test_options_that_do_not_apply(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,2\n3,4\n")
    for odd in ("latin-9000", "hex", "", "a\0", 3, "rot13"):
        with pytest.raises(ParameterError, match="encoding must be the name of an encoding, such as 'cp1252'"):
            data.open(tmp_path / "a.csv", "y", encoding=odd)
    for odd in (-1, 1.5, True):
        with pytest.raises(ParameterError, match="skip_rows must be an integer of at least 0"):
            data.open(tmp_path / "a.csv", "y", skip_rows=odd)
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=[0, 1])
    for option in ({"encoding": "cp1252"}, {"skip_rows": 1}):
        with pytest.raises(ParameterError, match=rf"{next(iter(option))} has no meaning \(it is for tables\)"):
            data.open(tmp_path / "a.npz", **option)
        with pytest.raises(ParameterError, match="is read as arrow, where"):
            data.open([{"a": 1, "y": 2}], "y", **option)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_an_encoding_whose_mark_is_missing_is_an_error_that_names_the_file(tmp_path, encoding):
    (tmp_path / "a.csv").write_bytes(b"a,y\n1,u\n2,v\n")
    name = encoding.upper()
    sentence = rf"a\.csv cannot be read as {encoding} \({name} stream does not .* BOM\): give its true encoding=?.*\.$"
    with pytest.raises(DataError, match=sentence):
        data.open(tmp_path / "a.csv", "y", encoding=encoding).read()
