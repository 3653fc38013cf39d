"""Rows kept for further passes: the same rows, counts and bits, never those of other data; and files that break."""

import errno
import gc
import os
import re
import shutil
import warnings
from contextlib import suppress

import numpy as np
import pytest

from helpers.kept_rows import KINDS, counts, example, told
from rosenblatt import AveragedPerceptron, data
from rosenblatt.data import cache as row_cache
from rosenblatt.data.cache import RowFile


@pytest.fixture
def _small_chunks(monkeypatch):
    monkeypatch.setattr("rosenblatt.data.io.lines.CHUNK_BYTES", 300)


@pytest.mark.usefixtures("_small_chunks")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("room", "block_rows"), [(1 << 26, 13), (700, None)])
def test_rows_counts_and_bits_are_those_without(tmp_path, monkeypatch, kind, room, block_rows):
    monkeypatch.setattr(row_cache, "MEMORY_LIMIT", room)
    path, options = example(tmp_path, kind)
    plain = data.open(path, **options, block_rows=block_rows)
    expected = told(plain)
    model = AveragedPerceptron(max_iter=3, random_state=0).fit_stream(plain)
    for turn, cache in enumerate((True, tmp_path / "rows", tmp_path / "rows")):
        stream = data.open(path, **options, block_rows=block_rows, cache=cache)
        assert stream._cache.complete == (turn == 2)
        if turn == 2:
            assert counts(stream)[2:] == expected[1][2:], "before they are read"
        for _ in range(2):
            assert told(stream) == expected
            assert stream._cache.complete
        again = AveragedPerceptron(max_iter=3, random_state=0).fit_stream(stream)
        assert np.array_equal(again.state_.w, model.state_.w)
        assert np.array_equal(again.state_.u, model.state_.u)
    assert sorted(os.listdir(tmp_path)) == sorted([kind, "rows"])


def test_words_are_remembered(tmp_path):
    path, options = example(tmp_path, "a.vw")
    names = []
    for _ in range(2):
        stream = data.open(path, **options, keep_words=True, cache=tmp_path / "rows")
        stream.read()
        names.append(stream.feature_names)
    assert "a^red" in names[0]
    assert names[0] == names[1]


def test_other_data_and_other_options_are_read_anew(tmp_path):
    path, options = example(tmp_path, "a.csv")
    rows = tmp_path / "rows"

    def full(file=path, **more):
        stream = data.open(file, **options, **more, cache=rows)
        was = stream._cache.complete
        assert told(stream) == told(data.open(file, **options, **more))
        return was

    assert (full(), full(), full(block_rows=7), full(threads=0)) == (False, True, True, True)
    for more in ({"missing": "zero"}, {"labels": False}, {"drop": ["c"]}, {"on_error": "skip"}, {}):
        assert (full(**more), full(**more)) == (False, True)
    moved = shutil.copy2(path, tmp_path / "moved.csv")
    assert full(moved), "the name of the file does not matter"
    os.utime(path, (1, 1))
    assert (full(), full()) == (False, True)
    path.write_text(path.read_text().replace("red", "rad"))
    os.utime(path, (1, 1))
    assert (full(), full()) == (False, True)
    assert not full([path, moved])
    assert not full([moved, path])


def test_prepared_rows_depend_on_the_width(tmp_path):
    path, _ = example(tmp_path, "svm")
    train = data.open(path)
    train.read()
    for width in (50, 51, 51):
        prepared = train.preparation | {"n_features": width}
        expected = told(data.open(path, preparation=prepared))
        assert expected[1][4] == {"columns": 61 - width}
        stream = data.open(path, preparation=prepared, cache=tmp_path / "rows")
        assert told(stream) == told(stream) == expected


def test_rows_may_change_their_type(tmp_path):
    for name, dtype in (("a.npz", np.float32), ("b.npz", np.float64)):
        np.savez(tmp_path / name, X=np.eye(2, dtype=dtype), y=[0, 1])
    files = [tmp_path / "a.npz", tmp_path / "b.npz"]
    for _ in range(2):
        stream = data.open(files, cache=tmp_path / "rows")
        assert told(stream) == told(data.open(files))
        assert [block.X.dtype for block in stream] == [np.float32, np.float64]


@pytest.mark.usefixtures("_small_chunks")
@pytest.mark.parametrize("room", [1 << 26, 0])
@pytest.mark.parametrize("named", [False, True])
def test_a_pass_that_is_broken_off_keeps_nothing(tmp_path, monkeypatch, named, room):
    monkeypatch.setattr(row_cache, "MEMORY_LIMIT", room)
    path, options = example(tmp_path, "skip.csv")
    stream = data.open(path, **options, cache=tmp_path / "rows" if named else True)
    for n in range(5):
        blocks = iter(stream)
        for _ in range(n):
            next(blocks)
        blocks.close()
        assert not stream._cache.complete
        assert os.listdir(tmp_path) == ["skip.csv"]
    assert told(stream) == told(data.open(path, **options))
    assert stream._cache.complete


@pytest.mark.usefixtures("_small_chunks")
@pytest.mark.parametrize("room", [1 << 26, 0])
@pytest.mark.parametrize("named", [False, True])
def test_several_iterations_at_once(tmp_path, monkeypatch, named, room):
    monkeypatch.setattr(row_cache, "MEMORY_LIMIT", room)
    path, options = example(tmp_path, "skip.csv")
    expected = told(data.open(path, **options))

    def rows(blocks):
        return [row for block in blocks for row in block.X.tolist()]

    stream = data.open(path, **options, cache=tmp_path / "rows" if named else True)
    pairs = list(zip(stream, stream, strict=True))
    for k in range(2):
        assert rows(pair[k] for pair in pairs) == expected[0][1]
    assert not stream._cache.complete, "what was counted is about both"
    left = iter(stream)
    next(left)
    assert told(stream) == expected
    assert stream._cache.complete, "one that was left does not matter"
    left.close()
    assert sorted(os.listdir(tmp_path)) == (["rows", "skip.csv"] if named else ["skip.csv"])
    pairs = list(zip(stream, stream, strict=True))
    for k in range(2):
        assert rows(pair[k] for pair in pairs) == expected[0][1]
    assert told(stream) == expected


@pytest.mark.parametrize("room", [1 << 26, 0])
def test_kept_rows_cannot_be_changed_by_accident(tmp_path, monkeypatch, room):
    monkeypatch.setattr(row_cache, "MEMORY_LIMIT", room)
    for kind in ("svm", "weights.jsonl.gz"):
        path, options = example(tmp_path, kind)
        expected = told(data.open(path, **options))
        stream = data.open(path, **options, cache=True)
        for _ in range(2):
            for block in stream:
                for array in block.arrays:
                    with suppress(ValueError):  # it is read-only
                        array[...] = 1
            assert told(stream) == expected


def test_no_rows(tmp_path):
    path, options = example(tmp_path, "a.csv")
    train = data.open(path, **options)
    (tmp_path / "none.csv").write_text("x,z,c,y\n")
    stream = data.open(tmp_path / "none.csv", preparation=train.preparation, cache=tmp_path / "rows")
    assert [list(stream) for _ in range(2)] == [[], []]
    assert stream.read()[0].shape == (0, train.n_features)


@pytest.mark.usefixtures("_small_chunks")
@pytest.mark.parametrize("kind", ["svm", "labels-bool.npz"])
def test_a_broken_file_is_written_anew_or_a_warning(tmp_path, kind):
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
    warned = 0
    for content in [*broken, sound + b"x", sound[8:]]:
        rows.write_bytes(content)
        if content and not content.startswith(b"rosenblatt-rows"):
            with pytest.raises(ValueError, match="another kind of file: delete it, or choose another"):
                data.open(path, **options, cache=rows)
            assert rows.read_bytes() == content
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert told(data.open(path, **options, cache=rows)) == expected
        for warning in caught:
            assert f"rows cached in {rows} are damaged (" in str(warning.message)
            assert "they are read from the files" in str(warning.message)
            warned += 1
        assert told(data.open(path, **options, cache=rows)) == expected, "it was written anew"
        assert len(caught) <= 1
    assert 10 < warned < len(broken) - 10
    assert sorted(os.listdir(tmp_path)) == sorted([kind, "rows"])


@pytest.mark.usefixtures("_small_chunks")
@pytest.mark.parametrize("block_rows", [None, 7])
@pytest.mark.parametrize("named", [False, True])
def test_a_cache_that_fails_during_a_run_costs_a_warning(tmp_path, monkeypatch, named, block_rows):
    monkeypatch.setattr(row_cache, "MEMORY_LIMIT", 500)
    path, options = example(tmp_path, "svm")
    plain = AveragedPerceptron(max_iter=4, random_state=0, shuffle=False)
    plain.fit_stream(data.open(path, **options, block_rows=block_rows))
    block, calls = RowFile.block, []

    def failing(self, k):
        calls.append(k)
        if len(calls) == 3:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return block(self, k)

    monkeypatch.setattr(RowFile, "block", failing)
    stream = data.open(path, **options, block_rows=block_rows, cache=tmp_path / "rows" if named else True)
    with pytest.warns(
        UserWarning, match=r"are damaged \(.*Input/output error\): they are read from the files"
    ) as caught:
        model = AveragedPerceptron(max_iter=4, random_state=0, shuffle=False).fit_stream(stream)
    assert len(caught) == 1
    assert np.array_equal(model.state_.w, plain.state_.w)
    assert np.array_equal(model.state_.u, plain.state_.u)
    assert stream._cache.complete, "the pass that read the files stored them again"
    assert told(stream) == told(data.open(path, **options, block_rows=block_rows))
    assert len(calls) > 3


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
    monkeypatch.setattr(row_cache, "open", lambda *args, **more: Full(open(*args, **more), room), raising=False)  # noqa: SIM115
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
        ("", "cache must be a regular file, got .*"),
        ("pipe", "cache must be a regular file, got .*pipe"),
        ("a.csv", "cache must not be one of the files that are read"),
        ("thesis.txt", "got .*thesis.txt, another kind of file: delete it, or choose another"),
    ):
        with pytest.raises(ValueError, match=sentence):
            data.open(path, **options, cache=tmp_path / cache)
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "thesis.txt").read_text() == "not to be lost"


def test_a_folder_that_cannot_be_written_to_costs_a_warning(tmp_path, monkeypatch):
    path, options = example(tmp_path, "a.csv")
    expected = told(data.open(path, **options, cache=tmp_path / "rows"))
    before = sorted(os.listdir(tmp_path))

    def warned(cache, reason, **more):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            stream = data.open(path, **options, **more, cache=tmp_path / cache)
            for _ in range(2):
                assert told(stream) == told(data.open(path, **options, **more))
        (warning,) = caught
        assert re.fullmatch(rf"rows cannot be cached in .* \({reason}\): each pass reads .*", str(warning.message))
        assert sorted(os.listdir(tmp_path)) == before

    warned("no/such/rows", "there is no such folder")
    monkeypatch.setattr(os, "access", lambda folder, how: False)
    assert told(data.open(path, **options, cache=tmp_path / "rows")) == expected, "nothing is to be written"
    warned("others", "the folder cannot be written to")
    warned("rows", "the folder cannot be written to", drop=["c"])

    def shut(*args, **more):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.undo()
    monkeypatch.setattr(row_cache, "open", shut, raising=False)
    warned("rows", ".*Permission denied")
    monkeypatch.undo()
    monkeypatch.setattr(os, "open", shut)
    warned("more", ".*Permission denied")


def test_a_folder_that_goes_away_costs_a_warning(tmp_path):
    path, options = example(tmp_path, "a.csv")
    (tmp_path / "disk").mkdir()
    stream = data.open(path, **options, cache=tmp_path / "disk" / "rows")
    (tmp_path / "disk").rmdir()
    with pytest.warns(UserWarning, match="No such file or directory.*: each pass reads them again"):
        assert told(stream) == told(data.open(path, **options))
    assert told(stream) == told(data.open(path, **options))


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
