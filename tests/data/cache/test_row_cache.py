"""Rows kept for further passes: the same rows, counts and bits as without; never those of other data."""

import os
import shutil
from contextlib import suppress

import numpy as np
import pytest

from helpers.kept_rows import KINDS, counts, example, told
from rosenblatt import AveragedPerceptron, data
from rosenblatt.data import cache as row_cache

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


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
        stream = data.open(path, **options, names=True, cache=tmp_path / "rows")
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


def test_rows_that_change_their_type_are_one_warning(tmp_path):
    for name, dtype in (("a.npz", np.float32), ("b.npz", np.float64)):
        np.savez(tmp_path / name, X=np.eye(2, dtype=dtype), y=[0, 1])
    stream = data.open([tmp_path / "a.npz", tmp_path / "b.npz"], cache=tmp_path / "rows")
    with pytest.warns(UserWarning, match="their columns change from .*: each pass reads them again"):
        assert told(stream) == told(data.open([tmp_path / "a.npz", tmp_path / "b.npz"]))
    assert sorted(os.listdir(tmp_path)) == ["a.npz", "b.npz"]


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
