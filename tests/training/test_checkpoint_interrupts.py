"""Ctrl-C writes a checkpoint, wherever it comes, and nothing is lost."""

import signal

import numpy as np
import pytest

from helpers.dying_runs import Blocks, assert_same
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.training import linear as passes
from rosenblatt.training import run as run_module
from rosenblatt.training.checkpoint import CheckpointWriter
from rosenblatt.training.observers import Observer
from rosenblatt.training.run import TrainingRun

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch):
    monkeypatch.setattr(TrainingRun, "window", 128)


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
