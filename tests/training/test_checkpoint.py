"""Checkpoints: whenever a run dies, it goes on and ends with the same bits; nothing else is gone on from."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from helpers.dying_runs import Blocks, Crash, X, assert_same, learner, y
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, save
from rosenblatt.data import open as opened
from rosenblatt.training.checkpoint import CheckpointWriter
from rosenblatt.training.run import TrainingRun


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch):
    monkeypatch.setattr(TrainingRun, "window", 128)


@pytest.mark.quick_cases(5)
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
        (Perceptron(max_iter=6, random_state=0), (X, y), "max_iter 5 instead of 6"),
        (Perceptron(max_iter=5, random_state=1), (X, y), "random_state 0 instead of 1"),
        (
            AveragedPerceptron(max_iter=5, random_state=0),
            (X, y),
            "learner 'Perceptron' instead of 'AveragedPerceptron'",
        ),
        (Perceptron(max_iter=5, random_state=0), (X + 1, y), "other data"),
        (Perceptron(max_iter=5, random_state=0), (X, y[::-1]), "other data"),
    ):
        with pytest.raises(ValueError, match=f"with {what}.*, so this run cannot be resumed from it"):
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
        with pytest.raises(ValueError, match=r"other data.*, so this run cannot be resumed from it"):
            learner().fit_stream(opened(table, -1), checkpoint=run, resume=True)
    table.write_text(text)
    for options in ({"target": -2}, {"target": -1, "drop": ["c1"]}, {"target": -1, "column_types": {"c3": "category"}}):
        with pytest.raises(ValueError, match=r"other data.*, so this run cannot be resumed from it"):
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
    with pytest.warns(RuntimeWarning, match="no checkpoint could be written to .*: training continues") as seen:
        model = Perceptron(max_iter=2, shuffle=False).fit_stream(Blocks(100), checkpoint=tmp_path / "c", every=0)
    assert len([warning for warning in seen if warning.category is RuntimeWarning]) == 1
    assert_same(model, Perceptron(max_iter=2, shuffle=False).fit_stream(Blocks(100)))
    assert (tmp_path / "c").exists(), "it was tried again"


@pytest.mark.parametrize("early_stopping", [False, True])
def test_a_run_that_only_has_to_end_leaves_the_same_file(tmp_path, early_stopping):
    options = {"max_iter": 2, "random_state": 0, "early_stopping": early_stopping}
    blocks = Blocks(100)
    save(Perceptron(**options).fit_stream(blocks, checkpoint=tmp_path / "run", every=0), tmp_path / "whole")
    for _ in range(2):  # the checkpoint of a resumed run is as good as that of the first
        again = Perceptron(**options).fit_stream(blocks, checkpoint=tmp_path / "run", every=0, resume=True)
        save(again, tmp_path / "resumed")
        assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
