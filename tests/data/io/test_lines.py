"""Lines of files, patterns, pipes and standard input, in chunks of any size."""

import gzip
import io
import os
import sys
import threading

import pytest

from helpers.reading import lines_of
from rosenblatt.blocks import DataError
from rosenblatt.data.io.lines import LineSource, file_names

TEXT = b"".join(b"%d line\n" % k for k in range(300)) + b"x" * 500 + b"\n\nlast without a newline"


@pytest.mark.parametrize("chunk_bytes", [1, 2, 7, 100, 499, 501, 4096, 10**6])
def test_any_chunk_size_gives_the_same_lines(tmp_path, chunk_bytes):
    (tmp_path / "a.txt").write_bytes(TEXT)
    source = LineSource(tmp_path / "a.txt", chunk_bytes=chunk_bytes)
    assert lines_of(source) == TEXT + b"\n"
    assert lines_of(source) == TEXT + b"\n", "it can be read again"
    assert source.size == len(TEXT)
    assert source.rereadable


def test_several_files_in_order(tmp_path):
    for name, text in (("b.txt", b"b"), ("a.txt", b"a\n"), ("c.txt", b""), ("d[1].txt", b"d")):
        (tmp_path / name).write_bytes(text)
    (tmp_path / "folder.txt").mkdir()
    assert lines_of(LineSource(f"{tmp_path}/?.txt")) == b"a\nb\n"
    assert lines_of(LineSource([tmp_path / "b.txt", f"{tmp_path}/[ac].txt"])) == b"b\na\n"
    assert lines_of(LineSource(f"{tmp_path}/d[1].txt")) == b"d\n", "a file of this very name comes before the pattern"
    assert file_names(f"{tmp_path}/**/a.*") == [f"{tmp_path}/a.txt"]
    chunks = list(LineSource([tmp_path / "a.txt", tmp_path / "c.txt", tmp_path / "b.txt"]).chunks())
    assert [(chunk.file, chunk.share) for chunk in chunks] == [(0, 2 / 3), (2, 1.0)]


def test_two_readings_at_once_share_memory_and_nothing_else(tmp_path):
    (tmp_path / "a").write_bytes(TEXT)
    source = LineSource(tmp_path / "a", chunk_bytes=64)
    texts = [b"", b""]
    readings = [source.chunks(), source.chunks()]
    for chunks in zip(*readings, strict=True):
        for k, chunk in enumerate(chunks):
            texts[k] += bytes(chunk.buffer[chunk.start : chunk.stop])
            source.recycle(chunk)
    assert texts == [TEXT + b"\n"] * 2


def test_marks_at_the_start_of_a_file(tmp_path):
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf1\n\xef\xbb\xbf2\n")
    assert lines_of(LineSource(tmp_path / "a", chunk_bytes=3)) == b"1\n\xef\xbb\xbf2\n"


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file nowhere"):
        LineSource("nowhere")
    with pytest.raises(FileNotFoundError, match=r"no file matches nowhere/\*"):
        LineSource(["nowhere/*"])
    with pytest.raises(IsADirectoryError, match="is a folder: name the files in it"):
        LineSource(tmp_path)
    with pytest.raises(ValueError, match="at least one file"):
        LineSource([])
    with pytest.raises(ValueError, match="named twice"):
        LineSource(["-", "-"])
    with pytest.raises(ValueError, match="at least 1"):
        LineSource("-", chunk_bytes=0)
    for odd in (b"a", [b"a"], 3, None):
        with pytest.raises(TypeError, match="expected a file name"):
            LineSource(odd)
    (tmp_path / "a").write_bytes(b"a\n")
    source = LineSource(tmp_path / "a")
    (tmp_path / "a").unlink()
    with pytest.raises(FileNotFoundError, match="a cannot be read: No such file"):
        lines_of(source)


def test_a_line_may_be_long_but_not_endless(tmp_path):
    (tmp_path / "a").write_bytes(b"1\n" + b"y" * 10_000_000 + b"\n2\n")
    sizes = [chunk.stop for chunk in LineSource(tmp_path / "a", chunk_bytes=1000).chunks()]
    assert sum(sizes) == 10_000_005
    source = LineSource(tmp_path / "a", chunk_bytes=1000, max_line_bytes=5_000_000)
    chunks = list(source.chunks())
    assert [bytes(chunk.buffer[chunk.start : chunk.stop]) for chunk in chunks] == [b"1\n", b"\n", b"2\n"]
    assert str(chunks[1].fault) == (
        "the line has more than 5,000,000 bytes, expected a newline before that: give a larger max_line_bytes if lines "
        "are this long"
    )


@pytest.mark.parametrize("chunk_bytes", [1, 2, 7, 11, 100, 4096])
@pytest.mark.parametrize("most", [1, 5, 8, 9, 499, 500])
def test_lines_that_are_too_long_do_not_depend_on_chunks(tmp_path, chunk_bytes, most):
    (tmp_path / "a").write_bytes(TEXT)
    source = LineSource(tmp_path / "a", chunk_bytes=chunk_bytes, max_line_bytes=most)
    found = b"".join(
        b"?\n" if chunk.fault else bytes(chunk.buffer[chunk.start : chunk.stop]) for chunk in source.chunks()
    )
    assert found.splitlines() == [line if len(line) <= most else b"?" for line in TEXT.splitlines()]


def test_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TEXT))))
    source = LineSource("-", chunk_bytes=64)
    assert (source.size, source.rereadable, source.display_name(0)) == (None, False, "standard input")
    assert source.head(10) == TEXT[:10]
    assert source.head(30) == TEXT[:30]
    assert lines_of(source) == TEXT + b"\n"
    for again in (source.head, lambda: lines_of(source)):
        with pytest.raises(DataError, match="only once"):
            again()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_lines_of_a_pipe_come_as_soon_as_they_are_there(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    seen = threading.Event()
    came_early = []

    def write():
        with path.open("wb", buffering=0) as pipe:
            pipe.write(b"1\n2\nhal")
            came_early.append(seen.wait(timeout=20))
            pipe.write(b"f\nend")

    writer = threading.Thread(target=write)
    writer.start()
    source = LineSource(path)
    assert source.head(3) == b"1\n2"
    assert source.head() == b"1\n2\nhal"
    chunks = source.chunks()
    first = next(chunks)
    seen.set()
    assert first.buffer[: first.stop] == b"1\n2\n"
    assert b"".join(bytes(chunk.buffer[: chunk.stop]) for chunk in chunks) == b"half\nend\n"
    writer.join()
    assert came_early == [True]
