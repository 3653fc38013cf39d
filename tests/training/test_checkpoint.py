"""Checkpoints: whenever a run dies, it goes on and ends with the same bits; nothing else is gone on from."""

import gzip
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import dump_svmlight_file, load_digits

from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, data, save
from rosenblatt.data import open as opened
from rosenblatt.data.io import fingerprint as fingerprints
from rosenblatt.data.io.contents import RunningDigest, digest_of
from rosenblatt.progress import Progress
from rosenblatt.storage.container import read_container, write_container
from rosenblatt.training import passes
from rosenblatt.training import run as run_module
from rosenblatt.training.checkpoint import CheckpointWriter
from rosenblatt.training.observers import Observer
from rosenblatt.training.run import TrainingRun

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X, y = load_digits(return_X_y=True)
X, y = X[:700], y[:700]


class Crash(Exception):
    pass


class Blocks:
    """Rows in blocks of ``size``; a crash comes after ``limit`` of them."""

    def __init__(self, size, limit=None, data=(X, y)):
        self.size, self.limit, self.data = size, limit, data

    def __iter__(self):
        rows, labels = self.data
        for i in range(0, len(labels), self.size):
            if self.limit is not None:
                self.limit -= 1
                if self.limit < 0:
                    raise Crash
            yield rows[i : i + self.size], labels[i : i + self.size]


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch):
    monkeypatch.setattr(TrainingRun, "window", 128)


def assert_same(one, other):
    for name in ("w", "u", "b", "beta", "counters", "done"):
        assert np.array_equal(getattr(one.state_, name), getattr(other.state_, name)), name
    assert np.array_equal(one.history_, other.history_)
    rows = X[:100, : one.n_features_in_]
    assert np.array_equal(one.predict(rows), other.predict(rows))


@pytest.mark.parametrize("kind", [Perceptron, AveragedPerceptron, VotedPerceptron])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shuffle": False},
        {"shuffle": "once"},
        {"early_stopping": True, "n_iter_no_change": 2},
        {"multi_class": "direct"},
    ],
)
def test_a_run_that_dies_goes_on_with_the_same_bits(kind, options, tmp_path):
    rng = np.random.default_rng(0)
    whole = kind(max_iter=3, random_state=1, **options).fit_stream(Blocks(60))
    for turn in range(3):
        crashes = 0
        while True:
            blocks = Blocks(int(rng.choice([40, 60, 300])), int(rng.integers(16, 60)))
            model = kind(max_iter=3, random_state=1, **options)
            try:
                model.fit_stream(blocks, checkpoint=tmp_path / f"{turn}", every=0, resume=True)
                break
            except Crash:
                crashes += 1
                assert crashes < 60
        assert_same(model, whole)


def test_without_a_checkpoint_the_run_starts_from_the_beginning(tmp_path):
    model = Perceptron(max_iter=2, random_state=0).fit_stream(Blocks(100), checkpoint=tmp_path / "none", resume=True)
    assert_same(model, Perceptron(max_iter=2, random_state=0).fit_stream(Blocks(100)))
    assert not (tmp_path / "none").exists(), "thirty seconds have not passed"


def test_another_run_is_refused(tmp_path):
    path = tmp_path / "run"
    with pytest.raises(Crash):
        Perceptron(max_iter=5, random_state=0).fit_stream(Blocks(100, 12), checkpoint=path, every=0)
    kept = path.read_bytes()
    for model, rows, what in (
        (Perceptron(max_iter=6, random_state=0), (X, y), "max_iter 5 and not 6"),
        (Perceptron(max_iter=5, random_state=1), (X, y), "random_state 0 and not 1"),
        (AveragedPerceptron(max_iter=5, random_state=0), (X, y), "learner 'Perceptron' and not 'AveragedPerceptron'"),
        (Perceptron(max_iter=5, random_state=0), (X + 1, y), "other data"),
        (Perceptron(max_iter=5, random_state=0), (X, y[::-1]), "other data"),
    ):
        with pytest.raises(ValueError, match=f"with {what}, so this one cannot go on from it"):
            model.fit_stream(Blocks(100, data=rows), checkpoint=path, every=0, resume=True)
        assert path.read_bytes() == kept
    model = Perceptron(max_iter=5, random_state=0, n_jobs=2)  # threads do not matter
    model.fit_stream(Blocks(70), checkpoint=path, every=0, resume=True)
    assert_same(model, Perceptron(max_iter=5, random_state=0).fit_stream(Blocks(100)))


@pytest.mark.slow
def test_a_broken_checkpoint_is_an_error(tmp_path):
    path = tmp_path / "run"
    with pytest.raises(Crash):
        Perceptron(max_iter=5, random_state=0).fit_stream(Blocks(100, 12), checkpoint=path, every=0)
    sound = path.read_bytes()
    rng = np.random.default_rng(0)
    for turn in range(2000):
        broken = bytearray(sound)
        if turn % 3:
            broken[rng.integers(len(sound))] ^= 1 << rng.integers(8)
        else:
            del broken[rng.integers(len(sound)) :]
        path.write_bytes(broken)
        with pytest.raises(ValueError, match="run"):
            Perceptron(max_iter=5, random_state=0).fit_stream(Blocks(100), checkpoint=path, resume=True)


def test_on_a_full_disk_the_run_goes_on_and_the_last_checkpoint_stays(tmp_path, monkeypatch):
    path = tmp_path / "run"
    with pytest.raises(Crash):
        Perceptron(max_iter=5, random_state=0).fit_stream(Blocks(100, 12), checkpoint=path, every=0)
    kept = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(RuntimeWarning, match="no space left on device"):
        model = Perceptron(max_iter=5, random_state=0).fit_stream(Blocks(100), checkpoint=path, every=0, resume=True)
    assert path.read_bytes() == kept
    assert model.n_iter_ == 5


def test_what_cannot_be_meant(tmp_path):
    with pytest.raises(ValueError, match="resume=True needs checkpoint"):
        Perceptron().fit_stream(Blocks(100), resume=True)
    with pytest.raises(ValueError, match="can be read only once"):
        Perceptron(max_iter=1).fit_stream(iter(Blocks(100)), checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="every must be"):
        Perceptron().fit_stream(Blocks(100), checkpoint=tmp_path / "run", every=-1)


_CHILD = """
import sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from sklearn.datasets import load_digits
from rosenblatt import AveragedPerceptron
from rosenblatt.training.run import TrainingRun
TrainingRun.window = 128
X, y = load_digits(return_X_y=True)
blocks = [(X[i : i + 50], y[i : i + 50]) for i in range(0, len(y), 50)]
model = AveragedPerceptron(max_iter=30, random_state=1)
print("ready", flush=True)
model.fit_stream(blocks, checkpoint=sys.argv[1], every=0, resume=True)
np.save(sys.argv[2], np.concatenate([model.state_.w, model.state_.u]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.slow
def test_kill_9_at_random_moments(tmp_path):
    rng = np.random.default_rng(9)
    results = []
    for turn, kills in enumerate((0, 3)):
        path, out = tmp_path / f"run{turn}", tmp_path / f"w{turn}.npy"
        for k in range(kills + 1):
            child = subprocess.Popen([sys.executable, "-c", _CHILD, path, out], stdout=subprocess.PIPE)
            assert child.stdout.readline() == b"ready\n"
            if k < kills:
                time.sleep(float(rng.uniform(0.0, 0.8)))
                child.send_signal(signal.SIGKILL)
            child.communicate()
        assert child.returncode == 0
        results.append(np.load(out))
    assert np.array_equal(*results)
    assert {file.name for file in Path(tmp_path).iterdir()} == {"run0", "run1", "w0.npy", "w1.npy"}


def test_a_finished_run_can_be_resumed(tmp_path):
    path = tmp_path / "run"
    model = Perceptron(max_iter=2, random_state=0).fit_stream(Blocks(100), checkpoint=path, every=0)
    again = Perceptron(max_iter=2, random_state=0).fit_stream(Blocks(100), checkpoint=path, every=0, resume=True)
    assert_same(again, model)


class Broken:
    """The blocks of a stream; a crash comes after ``limit`` of them."""

    def __init__(self, stream, limit):
        self.stream, self.limit, self.fingerprint = stream, limit, stream.fingerprint

    def __iter__(self):
        for block in self.stream:
            self.limit -= 1
            if self.limit < 0:
                raise Crash
            yield block


def crashed(path, run, **options):
    """Begin a run on a file that dies in its second pass."""
    with pytest.raises(Crash):
        learner().fit_stream(Broken(opened(path, block_rows=50, **options), 22), checkpoint=run, every=0)
    assert run.exists()


class Seen:
    """The numbers of the passes that were made."""

    def __init__(self):
        self.passes = []

    def __call__(self, model):
        self.passes.append(model.n_iter_)


def learner():
    return AveragedPerceptron(max_iter=4, random_state=0)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "digits.csv"
    np.savetxt(path, np.column_stack([X, y]), "%d", ",")
    return path


@pytest.mark.parametrize("cache", [False, True])
def test_a_run_on_a_file_goes_on_whatever_its_name_and_time(tmp_path, table, cache):
    run = tmp_path / "run"
    crashed(table, run, target=-1, cache=cache)
    kept = run.read_bytes()
    moved = table.rename(tmp_path / "moved.csv")
    os.utime(moved, (1, 1))
    whole = learner().fit_stream(opened(moved, -1))
    for options in ({}, {"block_rows": 33}, {"threads": 0}, {"cache": True}, {"cache": tmp_path / "rows"}):
        run.write_bytes(kept)
        seen = Seen()
        model = learner().fit_stream(opened(moved, -1, **options), on_pass=seen, checkpoint=run, resume=True)
        assert seen.passes == [2, 3, 4], "the first pass was made before"
        assert_same(model, whole)


def test_a_file_that_was_changed_is_refused(tmp_path, table):
    run, text = tmp_path / "run", table.read_text()
    crashed(table, run, target=-1)
    lines = text.splitlines(keepends=True)
    first, middle, last = ([*lines] for _ in range(3))
    for changed, k in ((first, 0), (middle, len(lines) // 2), (last, -1)):
        changed[k] = "9" + changed[k][1:]
    for changed in (first, middle, last, lines[:-1], [*lines, lines[0]], lines[::-1]):
        table.write_text("".join(changed))
        with pytest.raises(ValueError, match="other data, so this one cannot go on from it"):
            learner().fit_stream(opened(table, -1), checkpoint=run, resume=True)
    table.write_text(text)
    for options in ({"target": -2}, {"target": -1, "drop": ["c1"]}, {"target": -1, "kinds": {"c3": "category"}}):
        with pytest.raises(ValueError, match="other data, so this one cannot go on from it"):
            learner().fit_stream(opened(table, **options), checkpoint=run, resume=True)
    (tmp_path / "second.csv").write_text(lines[0])
    with pytest.raises(ValueError, match="other data"):
        learner().fit_stream(opened([table, tmp_path / "second.csv"], -1), checkpoint=run, resume=True)
    learner().fit_stream(opened(table, -1), checkpoint=run, resume=True)


def test_a_checkpoint_that_cannot_be_written_costs_no_run(tmp_path, monkeypatch):
    write, tries = CheckpointWriter.write, []

    def full(self, run):
        tries.append(run.current.row)
        if len(tries) < 4:
            raise OSError(28, "No space left on device", str(tmp_path / "c"))
        write(self, run)

    monkeypatch.setattr(CheckpointWriter, "write", full)
    with pytest.warns(RuntimeWarning, match="no checkpoint could be written to .*: training goes on") as seen:
        model = Perceptron(max_iter=2, shuffle=False).fit_stream(Blocks(100), checkpoint=tmp_path / "c", every=0)
    assert len([warning for warning in seen if warning.category is RuntimeWarning]) == 1
    assert_same(model, Perceptron(max_iter=2, shuffle=False).fit_stream(Blocks(100)))
    assert (tmp_path / "c").exists(), "it was tried again"


class CtrlC(Observer):
    """Presses Ctrl-C after so many slices."""

    def __init__(self, after):
        self.left = after

    def on_slice(self, run, batch, visited):
        self.left -= 1
        if not self.left:
            signal.raise_signal(signal.SIGINT)


@pytest.fixture
def _slices_of_ten_rows(monkeypatch):
    monkeypatch.setattr(passes, "SLICE_BYTES", 10 * 64 * 8)
    monkeypatch.setattr(passes, "max", lambda *numbers: 10 if numbers[0] == 1024 else max(*numbers), raising=False)


@pytest.mark.usefixtures("_slices_of_ten_rows")
@pytest.mark.parametrize("kind", [Perceptron, AveragedPerceptron, VotedPerceptron])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shuffle": False},
        {"early_stopping": True, "n_iter_no_change": 2},
        {"early_stopping": True, "shuffle": False},
        {"multi_class": "direct"},
        {"max_updates": 30},
        {"n_jobs": 2},
    ],
)
def test_ctrl_c_inside_a_window_loses_nothing(kind, options, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    written = CheckpointWriter.write
    press, places = CtrlC(0), []

    def write(self, run):
        places.append((run.current.passes_done, run.current.row, run.current.visited))
        written(self, run)

    monkeypatch.setattr(CheckpointWriter, "write", write)
    monkeypatch.setattr(TrainingRun, "window", 256)
    whole = kind(max_iter=3, random_state=1, **options).fit_stream(Blocks(60))
    monkeypatch.setattr(run_module, "ProgressLine", lambda *_: press)
    for turn in range(3):
        interrupts, places[:] = 0, []
        while True:
            model = kind(max_iter=3, random_state=1, verbose=1, **options)
            press.left = int(rng.integers(1, 40))
            blocks = Blocks(int(rng.choice([40, 60, 300])))
            try:
                model.fit_stream(blocks, checkpoint=tmp_path / f"{turn}", every=1e9, resume=True)
                break
            except KeyboardInterrupt:
                interrupts += 1
                assert len(places) == interrupts
        assert interrupts > 0
        assert places == sorted(set(places)), "each goes on where the one before was interrupted"
        assert any(visited for *_, visited in places)
        assert_same(model, whole)


@pytest.mark.usefixtures("_slices_of_ten_rows")
@pytest.mark.parametrize("shuffle", [False, True])
def test_a_signal_that_someone_else_handles_changes_nothing(shuffle, monkeypatch):
    whole = AveragedPerceptron(max_iter=2, random_state=0, shuffle=shuffle).fit_stream(Blocks(100))
    seen, press = [], CtrlC(3)
    monkeypatch.setattr(run_module, "ProgressLine", lambda *_: press)
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        model = AveragedPerceptron(max_iter=2, random_state=0, shuffle=shuffle, verbose=1).fit_stream(Blocks(100))
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]
    assert_same(model, whole)


def test_an_interrupt_in_the_midst_of_a_slice_writes_no_checkpoint(tmp_path, monkeypatch):
    def halfway(self, state, *_):
        state.w += 1.0
        raise KeyboardInterrupt  # as a handler of another signal may

    monkeypatch.setattr(passes.PassRunner, "_visit_slice", halfway)
    with pytest.raises(KeyboardInterrupt):
        Perceptron(max_iter=2).fit_stream(Blocks(100), checkpoint=tmp_path / "c", every=0)
    assert not (tmp_path / "c").exists()


# files that change between two runs


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


@pytest.mark.usefixtures("_sparse_samples")
def test_checkpoints_of_version_1_go_on_as_they_did(tmp_path, monkeypatch):
    path, run = tmp_path / "a.svm", tmp_path / "run"
    write_digits(path)
    dies(data.open(path, block_rows=50), run, monkeypatch, 8)
    header, arrays = read_container(run)
    assert header["version"] == 2
    header = {k: v for k, v in header.items() if k not in ("files", "visited", "rows", "spread")} | {"version": 1}
    write_container(run, header, {k: v for k, v in arrays.items() if k != "under.spread"})
    write_others(path)
    goes_on(data.open(path), run)
    model = learner().fit_stream(data.open(path, block_rows=50), checkpoint=run, every=0, resume=True)
    assert model.n_iter_ == 4
    (record,) = read_container(run)[0]["files"]
    assert record == {**record, "read": path.stat().st_size, "digest": digest_of(path, path.stat().st_size)}


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


@pytest.mark.parametrize("early_stopping", [False, True])
def test_a_run_that_only_has_to_end_leaves_the_same_file(tmp_path, early_stopping):
    options = {"max_iter": 2, "random_state": 0, "early_stopping": early_stopping}
    blocks = Blocks(100)
    save(Perceptron(**options).fit_stream(blocks, checkpoint=tmp_path / "run", every=0), tmp_path / "whole")
    for _ in range(2):  # the checkpoint of a resumed run is as good as that of the first
        again = Perceptron(**options).fit_stream(blocks, checkpoint=tmp_path / "run", every=0, resume=True)
        save(again, tmp_path / "resumed")
        assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
