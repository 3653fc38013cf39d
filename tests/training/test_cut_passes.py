"""Ctrl-C in the middle of a pass: what a run keeps, and how it is resumed."""

import math
import signal

import numpy as np
import pytest

from helpers.dying_runs import Blocks, CtrlC, assert_same
from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, VotedPerceptron, load, save
from rosenblatt.training import linear as passes
from rosenblatt.training import run as run_module
from rosenblatt.training.checkpoint import CheckpointWriter
from rosenblatt.training.early_stopping import ValidationSet
from rosenblatt.training.observers import Observer
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.state import CutPass

# A pass that was cut short is called so in reports, history and files, and a checkpoint goes on from it.


@pytest.fixture(autouse=True)
def _slices_of_ten_rows(monkeypatch):
    monkeypatch.setattr(passes, "SLICE_BYTES", 10 * 64 * 8)
    monkeypatch.setattr(passes, "max", lambda *numbers: 10 if numbers[0] == 1024 else max(*numbers), raising=False)


def press_after(slices, monkeypatch):
    monkeypatch.setattr(run_module, "ProgressLine", lambda *_: CtrlC(slices))


def noise(n=100, classes=2):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 3)), rng.integers(0, classes, n)


@pytest.mark.parametrize("classes", [2, 3])
def test_an_interrupted_fit_says_how_far_it_came(monkeypatch, tmp_path, classes):
    X, y = noise(classes=classes)
    press_after(23, monkeypatch)
    model = AveragedPerceptron(max_iter=5, random_state=0, verbose=1)
    with pytest.raises(KeyboardInterrupt) as interrupt:
        model.fit(X, y)
    assert "The model keeps what it has learned if it is assigned to a variable" in interrupt.value.__notes__[0]
    report = model.report_
    assert report.last_pass_cut == CutPass(30, 0.3, interrupted=True)
    assert model.n_iter_ == report.passes == 3
    assert model.history_.dtype.names == ("mistakes", "share")
    assert model.history_["share"].tolist() == [1.0, 1.0, 0.3]
    text = str(report)
    assert text.startswith("3 passes, the last cut short after 30% of its rows; ")
    last = int(model.history_["mistakes"][-1])
    assert f"Not separated: {last} mistakes in the 30 rows that the last pass visited" in text
    assert "the last cut short" in repr(report)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.report_ == report
    assert again.history_.tolist() == model.history_.tolist()
    monkeypatch.undo()
    model.set_params(warm_start=True, verbose=0, max_iter=1).fit(X, y)
    assert model.report_.last_pass_cut is None, "a whole pass came after it"
    assert model.history_.dtype.names == ("mistakes",)


def test_rows_that_no_pass_visits_do_not_count(monkeypatch):
    X, y = noise()
    weights = np.where(np.arange(100) < 50, 1.0, 0.0)
    press_after(1, monkeypatch)
    model = AveragedPerceptron(shuffle=False, verbose=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, sample_weight=weights)
    assert model.report_.last_pass_cut == CutPass(10, 0.2, interrupted=True)
    held = AveragedPerceptron(shuffle=False, verbose=1, early_stopping=True, validation_fraction=0.5, random_state=0)
    press_after(1, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        held.fit(X, y)
    monkeypatch.undo()
    whole = AveragedPerceptron(**(held.get_params() | {"max_iter": 1, "verbose": 0})).fit(X, y)
    visited = 100 - whole.report_.early_stopping.held_out_rows
    assert held.report_.last_pass_cut == CutPass(10, 10 / visited, interrupted=True)


def test_an_interrupted_kernel_perceptron_says_how_far_it_came(monkeypatch):
    X, y = noise()
    monkeypatch.setattr(KernelPerceptron, "_computing", {"block": 10})
    press_after(4, monkeypatch)
    model = KernelPerceptron(verbose=1, shuffle=False)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.report_.last_pass_cut == CutPass(40, 0.4, interrupted=True)
    assert str(model.report_).startswith("1 pass, cut short after 40% of its rows; ")


def test_in_the_first_pass_of_a_stream_the_share_is_not_known(monkeypatch, tmp_path):
    monkeypatch.setattr(TrainingRun, "window", 128)
    whole = Perceptron(max_iter=3, random_state=1).fit_stream(Blocks(60))
    press_after(3, monkeypatch)
    model = Perceptron(max_iter=3, random_state=1, verbose=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit_stream(Blocks(60), checkpoint=tmp_path / "c", every=1e9)
    assert model.report_.last_pass_cut == CutPass(30, None, interrupted=True)
    assert str(model.report_).startswith("1 pass, cut short after 30 rows; ")
    assert math.isnan(model.history_["share"][0])
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").report_ == model.report_
    press_after(90, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        model.fit_stream(Blocks(60), checkpoint=tmp_path / "c", every=1e9, resume=True)
    cut = model.report_.last_pass_cut
    assert cut.share == pytest.approx(cut.rows / 700)
    assert model.n_iter_ == 2
    monkeypatch.setattr(run_module, "ProgressLine", lambda *_: Observer())
    model.fit_stream(Blocks(60), checkpoint=tmp_path / "c", every=1e9, resume=True)
    assert model.report_.last_pass_cut is None
    assert_same(model, whole)


def test_a_limit_cuts_a_pass_too(tmp_path):
    X, y = noise()
    with pytest.warns(match="the last pass that max_updates allows"):
        model = Perceptron(max_updates=3, random_state=0).fit(X, y)
    cut = model.report_.last_pass_cut
    assert 3 <= cut.rows < 100
    assert (cut.share, cut.interrupted) == (cut.rows / 100, False)
    assert "cut short after" in str(model.report_)
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").report_ == model.report_
    stream = Perceptron(max_updates=3, random_state=0)
    with pytest.warns(match="the last pass that max_updates allows"):
        stream.fit_stream([(X, y)])
    assert stream.report_.last_pass_cut == cut


def test_ctrl_c_while_a_pass_is_judged_writes_a_checkpoint(monkeypatch, tmp_path):
    options = {"max_iter": 3, "random_state": 1, "early_stopping": True, "n_iter_no_change": 2}
    whole = AveragedPerceptron(**options).fit_stream(Blocks(60))
    real = ValidationSet.error

    def error(self, *of):
        signal.raise_signal(signal.SIGINT)
        return real(self, *of)

    interrupts = 0
    for _ in range(10):
        monkeypatch.setattr(ValidationSet, "error", error)
        model = AveragedPerceptron(**options)
        try:
            model.fit_stream(Blocks(60), checkpoint=tmp_path / "c", every=1e9, resume=True)
            break
        except KeyboardInterrupt:
            interrupts += 1
            assert (tmp_path / "c").exists()
            assert model.n_iter_ == interrupts
            assert model.report_.last_pass_cut is None, "it was whole"
    assert interrupts == whole.n_iter_
    assert_same(model, whole)


def test_an_interrupt_of_a_callback_writes_a_checkpoint(tmp_path):
    def interrupt(model):
        raise KeyboardInterrupt

    whole = AveragedPerceptron(max_iter=3, random_state=1).fit_stream(Blocks(60))
    model = AveragedPerceptron(max_iter=3, random_state=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit_stream(Blocks(60), on_pass=interrupt, checkpoint=tmp_path / "c", every=1e9)
    assert_same(model.fit_stream(Blocks(60), checkpoint=tmp_path / "c", resume=True), whole)


# Ctrl-C writes a checkpoint, wherever it comes, and nothing is lost.


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
        {"early_stopping": True, "n_iter_no_change": 2},
        {"early_stopping": True, "shuffle": False},
        {"multi_class": "direct"},
        {"max_updates": 30},
        {"n_jobs": 2},
        {"tol": 0.05, "n_iter_no_change": 1, "max_iter": 30},
    ],
)
def test_ctrl_c_inside_a_window_loses_nothing(kind, options, tmp_path, monkeypatch):
    rng, options = np.random.default_rng(0), {"max_iter": 3, "random_state": 1} | options
    written = CheckpointWriter.write
    press, places = CtrlC(0), []

    def write(self, run):
        places.append((run.current.passes_done, run.current.row, run.current.visited))
        written(self, run)

    monkeypatch.setattr(CheckpointWriter, "write", write)
    monkeypatch.setattr(TrainingRun, "window", 256)
    whole = kind(**options).fit_stream(Blocks(60))
    monkeypatch.setattr(run_module, "ProgressLine", lambda *_: press)
    for turn in range(3):
        interrupts, places[:] = 0, []
        while True:
            model = kind(verbose=1, **options)
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
