"""Bytes in, whole lines out: files, patterns, pipes and standard input, plain or compressed, sound or damaged."""

import bz2
import gzip
import io
import lzma
import os
import random
import subprocess
import sys
import threading
import time

import pyarrow
import pytest

from rosenblatt.blocks import DataError, Place
from rosenblatt.data.io.lines import Source, file_names
from rosenblatt.data.io.prefetch import in_order
from rosenblatt.kernels.parsing.byte_words import PAD

TEXT = b"".join(b"%d line\n" % k for k in range(300)) + b"x" * 500 + b"\n\nlast without a newline"
COMPRESSED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda text: pyarrow.compress(text, "zstd", asbytes=True),
}


def content(source, start=None):
    """Return all lines of a source, having checked each chunk."""
    text = b""
    for chunk in source.chunks(start):
        lines = bytes(chunk.buffer[chunk.start : chunk.stop])
        assert lines.endswith(b"\n")
        assert len(chunk.buffer) >= chunk.stop + PAD
        text += lines
        source.recycle(chunk)
    return text


@pytest.mark.parametrize("chunk_bytes", [1, 2, 7, 100, 499, 501, 4096, 10**6])
def test_any_chunk_size_gives_the_same_lines(tmp_path, chunk_bytes):
    (tmp_path / "a.txt").write_bytes(TEXT)
    source = Source(tmp_path / "a.txt", chunk_bytes=chunk_bytes)
    assert content(source) == TEXT + b"\n"
    assert content(source) == TEXT + b"\n", "it can be read again"
    assert source.size == len(TEXT)
    assert source.rereadable


@pytest.mark.parametrize("ending", list(COMPRESSED))
def test_compressed_files_hold_the_same_lines(tmp_path, ending):
    pack = COMPRESSED[ending]
    for name, data in (
        (f"a.{ending}", pack(TEXT)),
        ("no-ending", pack(TEXT)),
        (f"b.{ending}", pack(TEXT[:777]) + pack(TEXT[777:])),
    ):
        (tmp_path / name).write_bytes(data)
        source = Source(tmp_path / name, chunk_bytes=300)
        assert content(source) == TEXT + b"\n"
        assert source.head(20) == TEXT[:20]
        assert source.size == len(data)
        assert [chunk.consumed for chunk in source.chunks()][-1] == len(data)
    (tmp_path / f"c.{ending}").write_bytes(pack(b""))
    assert content(Source(tmp_path / f"c.{ending}")) == b""


@pytest.mark.parametrize("ending", list(COMPRESSED))
def test_damaged_files_are_a_sentence_that_names_them(tmp_path, ending):
    data = COMPRESSED[ending](random.Random(0).randbytes(3000).hex().encode())
    path = tmp_path / f"a.{ending}"
    scratched = data[:100] + bytes(9) + data[109:] if ending != "zst" else data[:-3]  # zstd may come without checksums
    for broken in (data[: len(data) // 2], data[:-3], scratched, b"", b"1 1:2\n", data[:2]):
        path.write_bytes(broken)
        with pytest.raises(DataError, match=rf"a\.{ending}"):
            content(Source(path))


def test_zstd_without_pyarrow_is_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "a.zst").write_bytes(COMPRESSED["zst"](TEXT))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"needs pyarrow: pip install 'rosenblatt\[files\]'"):
        content(Source(tmp_path / "a.zst"))


def test_several_files_in_order(tmp_path):
    for name, text in (("b.txt", b"b"), ("a.txt", b"a\n"), ("c.txt", b""), ("d[1].txt", b"d")):
        (tmp_path / name).write_bytes(text)
    (tmp_path / "folder.txt").mkdir()
    assert content(Source(f"{tmp_path}/?.txt")) == b"a\nb\n"
    assert content(Source([tmp_path / "b.txt", f"{tmp_path}/[ac].txt"])) == b"b\na\n"
    assert content(Source(f"{tmp_path}/d[1].txt")) == b"d\n", "a file of this very name comes before the pattern"
    assert file_names(f"{tmp_path}/**/a.*") == [f"{tmp_path}/a.txt"]
    chunks = list(Source([tmp_path / "a.txt", tmp_path / "c.txt", tmp_path / "b.txt"]).chunks())
    assert [(chunk.file, chunk.end, chunk.consumed) for chunk in chunks] == [(0, 2, 2), (2, 1, 3)]


def test_two_readings_at_once_share_memory_and_nothing_else(tmp_path):
    (tmp_path / "a").write_bytes(TEXT)
    source = Source(tmp_path / "a", chunk_bytes=64)
    texts = [b"", b""]
    readings = [source.chunks(), source.chunks()]
    for chunks in zip(*readings, strict=True):
        for k, chunk in enumerate(chunks):
            texts[k] += bytes(chunk.buffer[chunk.start : chunk.stop])
            source.recycle(chunk)
    assert texts == [TEXT + b"\n"] * 2


def test_marks_at_the_start_of_a_file(tmp_path):
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf1\n\xef\xbb\xbf2\n")
    assert content(Source(tmp_path / "a", chunk_bytes=3)) == b"1\n\xef\xbb\xbf2\n"
    for mark, code in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        (tmp_path / "b").write_bytes(mark + "1 1:2\n".encode(code))
        with pytest.raises(DataError, match="b is text in UTF-16"):
            content(Source(tmp_path / "b"))


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file nowhere"):
        Source("nowhere")
    with pytest.raises(FileNotFoundError, match=r"no file matches nowhere/\*"):
        Source(["nowhere/*"])
    with pytest.raises(IsADirectoryError, match="is a folder: name the files in it"):
        Source(tmp_path)
    with pytest.raises(ValueError, match="at least one file"):
        Source([])
    with pytest.raises(ValueError, match="named twice"):
        Source(["-", "-"])
    with pytest.raises(ValueError, match="at least 1"):
        Source("-", chunk_bytes=0)
    for odd in (b"a", [b"a"], 3, None):
        with pytest.raises(TypeError, match="expected the name of a file"):
            Source(odd)
    (tmp_path / "a").write_bytes(b"a\n")
    source = Source(tmp_path / "a")
    (tmp_path / "a").unlink()
    with pytest.raises(FileNotFoundError, match="there is no file"):
        content(source)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is forbidden here")
def test_forbidden_file(tmp_path):
    (tmp_path / "a").write_bytes(b"a\n")
    (tmp_path / "a").chmod(0)
    with pytest.raises(PermissionError, match="permission denied"):
        content(Source(tmp_path / "a"))


def test_permission_errors_name_the_file(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"a\n")

    def forbidden(name):
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr(io, "FileIO", forbidden)
    with pytest.raises(PermissionError, match="a cannot be read: permission denied"):
        content(Source(tmp_path / "a"))


def test_a_line_may_be_long_but_not_endless(tmp_path):
    (tmp_path / "a").write_bytes(b"1\n" + b"y" * 10_000_000 + b"\n2\n")
    sizes = [chunk.stop for chunk in Source(tmp_path / "a", chunk_bytes=1000).chunks()]
    assert sum(sizes) == 10_000_005
    with pytest.raises(DataError, match="a: the line that begins at byte 2 is longer than 5000000 bytes"):
        content(Source(tmp_path / "a", chunk_bytes=1000, longest_line=5_000_000))


@pytest.mark.parametrize("ending", ["", "gz"])
def test_reading_goes_on_from_any_place(tmp_path, ending):
    first, second = tmp_path / "a", tmp_path / f"b.{ending}"
    first.write_bytes(b"1\n2\n")
    second.write_bytes(COMPRESSED.get(ending, bytes)(TEXT))
    source = Source([first, second], chunk_bytes=50)
    chunks = list(source.chunks())
    for k, chunk in enumerate(chunks):
        rest = b"".join(bytes(later.buffer[later.start : later.stop]) for later in chunks[k + 1 :])
        assert content(source, Place(chunk.file, chunk.end, 0)) == rest
    with pytest.raises(DataError, match="shorter than it was"):
        content(source, Place(1, 10**6, 0))
    with pytest.raises(DataError, match="only 2 files"):
        content(source, Place(2, 0, 0))


def test_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TEXT))))
    source = Source("-", chunk_bytes=64)
    assert (source.size, source.rereadable, source.label(0)) == (None, False, "standard input")
    assert source.head(10) == TEXT[:10]
    assert source.head(30) == TEXT[:30]
    assert content(source) == TEXT + b"\n"
    for again in (source.head, lambda: content(source)):
        with pytest.raises(DataError, match="only once"):
            again()
    with pytest.raises(DataError, match="only be read from the start"):
        content(Source("-"), Place(0, 5, 1))


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
    source = Source(path)
    assert source.head(3) == b"1\n2"
    assert source.head() == b"1\n2\nhal"
    chunks = source.chunks()
    first = next(chunks)
    seen.set()
    assert first.buffer[: first.stop] == b"1\n2\n"
    assert b"".join(bytes(chunk.buffer[: chunk.stop]) for chunk in chunks) == b"half\nend\n"
    writer.join()
    assert came_early == [True]


def test_work_ahead_keeps_order_and_bounds():
    taken = []

    def items():
        for k in range(50):
            taken.append(k)
            yield k

    results = []
    for result in in_order(items(), lambda k: time.sleep(0.001 * (k % 3)) or k, threads=3):
        assert len(taken) <= len(results) + 1 + 3 + 2 + 3
        results.append(result)
    assert results == list(range(50))


def test_work_ahead_keeps_order_when_threads_change_places_often():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        assert list(in_order((k for k in range(3000)), lambda k: k, threads=4)) == list(range(3000))
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_errors_and_early_ends_stop_the_threads(threads):
    closed = []

    def items(limit):
        try:
            yield from range(limit)
            raise OSError("the disk is gone")
        finally:
            closed.append(limit)

    def work(k):
        if k == 7:
            raise ValueError("seven")
        return k

    before = threading.active_count()
    results = []
    with pytest.raises(ValueError, match="seven"):
        results.extend(in_order(items(100), work, threads))
    with pytest.raises(OSError, match="gone"):
        list(in_order(items(3), work, threads))
    early = in_order(items(50), work, threads)
    assert next(early) == 0
    early.close()
    assert sorted(closed) == [3, 50, 100]
    assert threading.active_count() == before


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
@pytest.mark.slow
def test_an_interrupt_ends_a_program_that_waits_for_input():
    code = (
        "import sys\nfrom rosenblatt.data.text.svmlight import SvmlightReader\n"
        "try:\n    for block in SvmlightReader('-'):\n        print(len(block), flush=True)\n"
        "except KeyboardInterrupt:\n    print('stopped', flush=True)\n"
    )
    program = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    program.stdin.write(b"1 1:2\n-1 2:3\n")
    program.stdin.flush()
    assert program.stdout.readline() == b"2\n"
    program.send_signal(2)
    try:
        assert program.stdout.readline() == b"stopped\n"
        assert program.wait(timeout=20) == 0
    finally:
        program.kill()
        program.communicate()
