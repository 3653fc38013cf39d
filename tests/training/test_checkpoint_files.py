"""Files that change between a run and the one that goes on from its checkpoint."""

import gzip
import itertools
import json
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import dump_svmlight_file

from helpers.dying_runs import Crash, X, assert_same, learner, y
from rosenblatt import AveragedPerceptron, data
from rosenblatt.data.io import identity as fingerprints
from rosenblatt.data.io.identity import RunningDigest
from rosenblatt.progress import Progress
from rosenblatt.storage.container import read_container, write_container
from rosenblatt.training.checkpoint import CheckpointWriter
from rosenblatt.training.run import TrainingRun


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch):
    monkeypatch.setattr(TrainingRun, "window", 128)


@pytest.fixture
def _sparse_samples(monkeypatch):
    """Fingerprints that see 64 bytes of a file, at most."""
    monkeypatch.setattr(fingerprints, "PART", 1)


KINDS = ("a.csv", "a.csv.gz", "a.jsonl", "a.svm", "a.parquet", "a.arrow", "a.npz")


def write_digits(path, rows=X):
    """Write rows in the format that the name of the file says; return the options that read it."""
    names, numbers = [f"c{k}" for k in range(64)], np.column_stack([rows, y]).astype(int).tolist()
    if path.suffix == ".npz":
        np.savez(path, X=rows, y=y)
        return {}
    if path.suffix == ".svm":
        dump_svmlight_file(rows, y, str(path))
        return {}
    if path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(dict(zip([*names, "y"], row, strict=True))) for row in numbers))
    elif ".csv" in path.name:
        text = "\n".join(",".join(map(str, row)) for row in [[*names, "y"], *numbers]).encode()
        path.write_bytes(gzip.compress(text, 0, mtime=0) if path.suffix == ".gz" else text)
    else:
        table = pa.table([*rows.T, y], names=[*names, "y"])
        if path.suffix == ".parquet":
            pq.write_table(table, path, compression="none", use_dictionary=False)
        else:
            feather.write_feather(table, path, compression="uncompressed")
    return {"target": "y"}


def write_others(path, first=350):
    """Write the rows with one number changed, from row ``first`` on, where neither size nor fingerprint tells."""
    before = path.stat().st_size, fingerprints.fingerprint([path], {})
    for row, column in zip(*np.nonzero((X[first:] > 0) & (X[first:] < 9)), strict=True):
        changed = X.copy()
        changed[first + row, column] += 1
        write_digits(path, changed)
        if (path.stat().st_size, fingerprints.fingerprint([path], {})) == before:
            return


def dies(stream, run, monkeypatch, after):
    """Train until so many checkpoints have been written."""
    written, count = CheckpointWriter.write, itertools.count(1)

    def write(self, run):
        written(self, run)
        if next(count) == after:
            raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(CheckpointWriter, "write", write)
        with pytest.raises(Crash):
            learner().fit_stream(stream, checkpoint=run, every=0)


def goes_on(stream, run, whole=None):
    kept = run.read_bytes()
    model = learner().fit_stream(stream, checkpoint=run, every=0, resume=True)
    run.write_bytes(kept)
    if whole is not None:
        assert_same(model, whole)


def set_time(path, time):
    os.utime(path, ns=(time, time))


@pytest.mark.quick_cases(4)
@pytest.mark.usefixtures("_sparse_samples")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cache", [False, True, "rows"])
def test_one_byte_that_changed_in_a_file_is_seen(tmp_path, monkeypatch, kind, cache):
    path, run = tmp_path / kind, tmp_path / "run"
    options = write_digits(path) | {"block_rows": 50}
    cached = {"cache": tmp_path / cache if isinstance(cache, str) else cache}
    whole = learner().fit_stream(data.open(path, **options, **cached))
    for after in (20, 3):  # in the second pass and in the first
        set_time(path, 1000)
        dies(data.open(path, **options, **cached), run, monkeypatch, after)
        goes_on(data.open(path, **options, **cached), run, whole)
        set_time(path, 2000)
        goes_on(data.open(path, **options, **cached), run, whole)
        write_others(path)
        set_time(path, 3000)
        with pytest.raises(ValueError, match=rf"other data, so .* \({path} has changed in the .* bytes that were read"):
            goes_on(data.open(path, **options, **cached), run)
        set_time(path, 1000)
        goes_on(data.open(path, **options), run)  # as its time is the same
        write_digits(path)
        set_time(path, 4000)
        goes_on(data.open(path, **options, **cached), run, whole)


@pytest.mark.usefixtures("_sparse_samples")
def test_what_was_not_read_yet_may_change(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.data.io.lines.CHUNK_BYTES", 2000)
    monkeypatch.setattr(TrainingRun, "window", 50)
    paths, run = [tmp_path / "a.svm", tmp_path / "b.svm"], tmp_path / "run"
    for path in paths:
        write_digits(path)
    dies(data.open(paths, threads=0), run, monkeypatch, 4)
    read = [record["read"] for record in read_container(run)[0]["files"]]
    assert 0 < read[0] < paths[0].stat().st_size // 2
    assert read[1] == 0
    for path in paths:
        write_others(path)
        set_time(path, 1000)
    goes_on(data.open(paths), run, learner().fit_stream(data.open(paths)))
    write_others(paths[0], 20)
    with pytest.raises(ValueError, match="has changed in the"):
        goes_on(data.open(paths), run)


@pytest.mark.usefixtures("_sparse_samples")
def test_a_run_that_goes_on_remembers_what_it_did_not_read_itself(tmp_path, monkeypatch):
    path, run = tmp_path / "a.svm", tmp_path / "run"
    write_digits(path)
    dies(data.open(path, block_rows=50), run, monkeypatch, 8)
    first = read_container(run)[0]["files"]
    for _ in range(2):  # a copy of the file, twice
        os.utime(path, (1, 1))
        written = CheckpointWriter.write

        def write(self, run, written=written):
            written(self, run)
            raise Crash

        with monkeypatch.context() as patched:
            patched.setattr(CheckpointWriter, "write", write)
            with pytest.raises(Crash):
                learner().fit_stream(data.open(path, block_rows=50), checkpoint=run, every=0, resume=True)
        (record,) = read_container(run)[0]["files"]
        assert (record["read"], record["digest"]) == (first[0]["read"], first[0]["digest"])
        assert record["modified"] == 10**9
    assert record["read"] == path.stat().st_size


@pytest.mark.usefixtures("_sparse_samples")
def test_a_file_that_has_grown_is_refused(tmp_path, monkeypatch):
    path, run = tmp_path / "a.svm", tmp_path / "run"
    write_digits(path)
    size = path.stat().st_size
    dies(data.open(path), run, monkeypatch, 2)
    with path.open("a") as file:
        file.write("1 1:1\n")
    told = f"{path} had {size:,} bytes then, and has {size + 6:,} now"
    with pytest.raises(ValueError, match=re.escape(f"({told}): give the same data")):
        learner().fit_stream(data.open(path), checkpoint=run, resume=True)


def test_without_a_checkpoint_nothing_is_noted(tmp_path, monkeypatch):
    def never(*_):
        raise AssertionError

    options = write_digits(tmp_path / "a.csv")
    for name in ("update", "__init__"):
        monkeypatch.setattr(RunningDigest, name, never)
    learner().fit_stream(data.open(tmp_path / "a.csv", **options))


def test_comparing_shows_its_progress(tmp_path, monkeypatch, capsys):
    path, run = tmp_path / "a.svm", tmp_path / "run"
    write_digits(path)
    dies(data.open(path), run, monkeypatch, 2)
    os.utime(path, (1, 1))
    monkeypatch.setattr(Progress, "_due", lambda self, *_: 0.0 if self.active else None)
    for verbose in (0, 1):
        AveragedPerceptron(max_iter=4, random_state=0, verbose=verbose).fit_stream(
            data.open(path), checkpoint=run, resume=True
        )
        assert ("comparing the files with those of the checkpoint: 100%" in capsys.readouterr().err) == verbose


@pytest.mark.parametrize("files", [5, [5], [{}], [{"size": 1, "modified": 2, "read": 3, "digest": 4}], [{"size": -1}]])
def test_what_a_checkpoint_says_of_files_is_checked(tmp_path, monkeypatch, files):
    path, run = tmp_path / "a.svm", tmp_path / "run"
    write_digits(path)
    dies(data.open(path), run, monkeypatch, 2)
    header, arrays = read_container(run)
    write_container(run, header | {"files": files}, arrays)
    with pytest.raises(ValueError, match="run holds no valid checkpoint: "):
        learner().fit_stream(data.open(path), checkpoint=run, resume=True)
