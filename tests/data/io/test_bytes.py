"""The bytes of files, compressed or not, and the format of a file."""

import bz2
import gzip
import io
import lzma
import os
import random
import sys

import pyarrow
import pytest

from helpers.reading import lines_of
from rosenblatt.blocks import DataError
from rosenblatt.data.io.bytes import detect_format
from rosenblatt.data.io.lines import LineSource

TEXT = b"".join(b"%d line\n" % k for k in range(300)) + b"x" * 500 + b"\n\nlast without a newline"


COMPRESSED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda text: pyarrow.compress(text, "zstd", asbytes=True),
}


@pytest.mark.parametrize("ending", list(COMPRESSED))
def test_compressed_files_hold_the_same_lines(tmp_path, ending):
    pack = COMPRESSED[ending]
    for name, data in (
        (f"a.{ending}", pack(TEXT)),
        ("no-ending", pack(TEXT)),
        (f"b.{ending}", pack(TEXT[:777]) + pack(TEXT[777:])),
    ):
        (tmp_path / name).write_bytes(data)
        source = LineSource(tmp_path / name, chunk_bytes=300)
        assert lines_of(source) == TEXT + b"\n"
        assert source.head(20) == TEXT[:20]
        assert source.size == len(data)
        assert [chunk.share for chunk in source.chunks()][-1] == 1.0
    (tmp_path / f"c.{ending}").write_bytes(pack(b""))
    assert lines_of(LineSource(tmp_path / f"c.{ending}")) == b""


@pytest.mark.parametrize("ending", list(COMPRESSED))
def test_damaged_files_are_a_sentence_that_names_them(tmp_path, ending):
    data = COMPRESSED[ending](random.Random(0).randbytes(3000).hex().encode())
    path = tmp_path / f"a.{ending}"
    scratched = data[:100] + bytes(9) + data[109:] if ending != "zst" else data[:-3]  # zstd may come without checksums
    for broken in (data[: len(data) // 2], data[:-3], scratched, b"", b"1 1:2\n", data[:2]):
        path.write_bytes(broken)
        with pytest.raises(DataError, match=rf"a\.{ending}"):
            lines_of(LineSource(path))


@pytest.mark.parametrize("ending", list(COMPRESSED))
def test_other_bytes_after_the_last_stream_are_refused(tmp_path, ending):
    path, pack = tmp_path / f"a.{ending}", COMPRESSED[ending]
    for junk in (b"x", b"junk", b"1,2\n" * 100_000, pack(TEXT)[:4], pack(TEXT) + b"x", b"\0x"):
        path.write_bytes(pack(TEXT) + junk)
        with pytest.raises(DataError, match=rf"a\.{ending} (has damaged|ends in the middle)"):
            lines_of(LineSource(path))


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_zero_bytes_after_a_stream_are_padding(tmp_path, ending):
    path, pack = tmp_path / f"a.{ending}", COMPRESSED[ending]
    for padding in (4, 300_000):
        path.write_bytes(pack(TEXT[:777]) + bytes(padding) + pack(TEXT[777:]) + bytes(padding))
        assert lines_of(LineSource(path)) == TEXT + b"\n"


def test_zstd_without_pyarrow_is_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "a.zst").write_bytes(COMPRESSED["zst"](TEXT))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"needs pyarrow: pip install 'rosenblatt\[files\]'"):
        lines_of(LineSource(tmp_path / "a.zst"))


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is forbidden here")
def test_forbidden_file(tmp_path):
    (tmp_path / "a").write_bytes(b"a\n")
    (tmp_path / "a").chmod(0)
    with pytest.raises(PermissionError, match="permission denied"):
        lines_of(LineSource(tmp_path / "a"))


def test_permission_errors_name_the_file(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"a\n")

    def forbidden(name):
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr(io, "FileIO", forbidden)
    with pytest.raises(PermissionError, match="a cannot be read: Permission denied"):
        lines_of(LineSource(tmp_path / "a"))


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("a.csv.gz", b"", "csv"),
        ("a.TSV", b"", "tsv"),
        ("a.parquet", b"PAR1", "parquet"),
        ("a.csv", b"ARROW1", "arrow"),
        ("-", b"\xff\xff\xff\xff", "arrow"),
        ("x", b"PK\x03\x04", "npz"),
        ("x", b'\n {"a": 1}', "jsonl"),
        ("a9a.t", b"-1 3:1 11:1 \n", "svmlight"),
        ("news20.scale", b"1\n2 qid:3 1:0.5 # x\n", "svmlight"),
        ("x", b"|f a b\n", "vw"),
        ("rcv1.dat", b"1 2.0 'tag|f 1:0.5\n", "vw"),
        ("x", b"a\tb,c\n", "tsv"),
        ("x.txt", b"a;b\n", "csv"),
        ("x.data", b"\xef\xbb\xbf# note\n1,2\n", "csv"),
    ],
)
def test_formats_are_detected_from_content_name_and_first_lines(name, head, kind):
    assert detect_format(name, head) == kind
    assert detect_format(name, head, "libsvm") == "svmlight"
