"""Files of kept rows: broken ones, full disks, and places where no file can be."""

import errno
import gc
import os
import warnings

import numpy as np
import pytest

from helpers.kept_rows import example, told
from rosenblatt import data
from rosenblatt.data.cache import row_cache


@pytest.fixture
def _small_chunks(monkeypatch):
    monkeypatch.setattr("rosenblatt.data.io.lines.CHUNK_BYTES", 300)


@pytest.mark.usefixtures("_small_chunks")
@pytest.mark.parametrize("kind", ["svm", "labels-bool.npz"])
def test_a_broken_file_is_written_anew_or_one_sentence(tmp_path, kind):
    path, options = example(tmp_path, kind)
    expected = told(data.open(path, **options))
    rows = tmp_path / "rows"
    told(data.open(path, **options, cache=rows))
    sound = rows.read_bytes()
    rng = np.random.default_rng(0)
    broken = [sound[:n] for n in {0, 1, 8, len(sound) - 1, *rng.integers(0, len(sound), 30).tolist()}]
    for place in {0, len(sound) - 1, *rng.integers(0, len(sound), 60).tolist()}:
        broken.append(bytearray(sound))
        broken[-1][place] ^= 1 << rng.integers(8)
    refused = 0
    for content in [*broken, sound + b"x", sound[8:]]:
        rows.write_bytes(content)
        try:
            assert told(data.open(path, **options, cache=rows)) == expected
        except ValueError as error:
            assert str(rows) in str(error)  # noqa: PT017
            assert "delete it" in str(error)  # noqa: PT017
            assert rows.read_bytes() == content
            refused += 1
    assert 10 < refused < len(broken) - 10
    assert sorted(os.listdir(tmp_path)) == sorted([kind, "rows"])


class Full:
    """A file on a disk with room for so many bytes."""

    def __init__(self, file, room):
        self._file, self._room = file, room

    def write(self, content):
        self._room -= len(content)
        if self._room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._file.write(content)

    def __getattr__(self, name):
        return getattr(self._file, name)


@pytest.mark.usefixtures("_small_chunks")
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("part", [0.0, 0.2, 0.6, 0.999])
def test_a_full_disk_is_one_warning(tmp_path, monkeypatch, named, part):
    monkeypatch.setattr(row_cache, "MEMORY_LIMIT", 500)
    path, options = example(tmp_path, "svm")
    expected = told(data.open(path, **options, cache=tmp_path / "rows"))
    room = int(part * (tmp_path / "rows").stat().st_size)
    (tmp_path / "rows").unlink()
    monkeypatch.setattr(row_cache, "open", lambda *args: Full(open(*args), room), raising=False)  # noqa: SIM115
    temporary = row_cache.tempfile.TemporaryFile
    monkeypatch.setattr(row_cache.tempfile, "TemporaryFile", lambda: Full(temporary(), room))
    stream = data.open(path, **options, cache=tmp_path / "rows" if named else True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            assert told(stream) == expected
    assert len(caught) == 1
    where = tmp_path / "rows" if named else "a temporary file"
    assert str(caught[0].message) == (
        f"rows cannot be cached in {where} ([Errno 28] No space left on device): each pass reads them again."
    )
    assert os.listdir(tmp_path) == ["svm"]


def test_where_no_file_can_be_is_said_at_once(tmp_path):
    path, options = example(tmp_path, "a.csv")
    (tmp_path / "thesis.txt").write_text("not to be lost")
    os.mkfifo(tmp_path / "pipe")
    before = sorted(os.listdir(tmp_path))
    for cache, sentence in (
        ("no/such/rows", "cache must be a file in an existing folder, got .*no/such/rows: make the folder first"),
        ("", "cache must be a file, got .*, which is something else"),
        ("pipe", "cache must be a file, got .*pipe, which is something else"),
        ("a.csv", "cache must be another file than those that are read"),
        ("thesis.txt", "got .*thesis.txt, another kind of file: delete it, or name another"),
    ):
        with pytest.raises(ValueError, match=sentence):
            data.open(path, **options, cache=tmp_path / cache)
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "thesis.txt").read_text() == "not to be lost"


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    path, options = example(tmp_path, "a.csv")
    expected = told(data.open(path, **options, cache=tmp_path / "rows"))
    monkeypatch.setattr(os, "access", lambda folder, how: False)
    assert told(data.open(path, **options, cache=tmp_path / "rows")) == expected, "nothing is to be written"
    for more, name in (({}, "others"), ({"drop": ["c"]}, "rows")):
        with pytest.raises(ValueError, match="cache must be a file in a folder that can be written to, got .*/" + name):
            data.open(path, **options, **more, cache=tmp_path / name)


def test_links_relative_paths_and_files_that_are_read_only(tmp_path, monkeypatch):
    path, options = example(tmp_path, "a.csv")
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "rows")
    monkeypatch.chdir(tmp_path)
    expected = told(data.open(path, **options))
    assert told(data.open(path, **options, cache="link")) == expected
    assert (tmp_path / "link").is_symlink()
    (tmp_path / "disk" / "rows").chmod(0o400)
    (tmp_path / "disk").chmod(0o500)
    stream = data.open(path, **options, cache="disk/rows")
    assert stream._cache.complete
    assert told(stream) == expected
    (tmp_path / "disk").chmod(0o700)


def test_files_are_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(row_cache, "MEMORY_LIMIT", 0)
    path, options = example(tmp_path, "a.csv")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for cache in (True, tmp_path / "rows", tmp_path / "rows"):
            told(data.open(path, **options, cache=cache))
            gc.collect()
        path.write_text(path.read_text() + "\n1,1,red,no")
        told(data.open(path, **options, cache=tmp_path / "rows"))
        gc.collect()
    assert not caught
