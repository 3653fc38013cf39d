"""Kernel perceptrons as model files and checkpoints: the same state comes back, and a stranger's file is checked."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.forging import alike, compact, forge, mutations, other_arrays
from helpers.naive_dual import dual_run
from rosenblatt import KernelPerceptron
from rosenblatt.persistence import files
from rosenblatt.persistence.json_export import export_json
from rosenblatt.persistence.onnx import export_onnx
from rosenblatt.storage.container import read_container
from rosenblatt.training.checkpoint import CheckpointWriter
from rosenblatt.training.early_stopping import BestPass
from rosenblatt.training.model_file import TrainedModel
from rosenblatt.training.options import Kernel, RunOptions
from rosenblatt.training.state import PassState

LEARNER = "KernelPerceptron"


@pytest.fixture(autouse=True)
def _without_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)  # the disk is tested elsewhere


def run(passes, direct=False, hypothesis="last", layout=np.asarray):
    X, y = small_set("gauss", n=30, classes=3, seed=5)
    return dual_run(layout(X), y, Kernel("rbf", gamma=0.25), 3, direct, hypothesis, passes=passes)


def trained(**options):
    options = {"kernel": "rbf", "gamma": "scale", "max_support": 100, "class_weight": {"a": 2.0}} | options
    names, classes = np.array(["a", "b", "c", "d", "e"], object), np.array(["a", "b", "c"])
    given = RunOptions.for_learner(LEARNER, **options)
    return TrainedModel(LEARNER, given, classes, run(2), None, names, {"columns": ["a"]}, "sha256:1")


def test_a_model_comes_back_with_all_there_is_to_know(tmp_path):
    for hypothesis in ("last", "average", "vote"):
        model = trained(hypothesis=hypothesis)
        model.save(tmp_path / "m")
        alike(TrainedModel.load(tmp_path / "m"), model)
    model = trained(early_stopping=True)
    last, best = run(3, layout=sp.csr_array), run(2)
    model.early_stopping_state = (last, BestPass(best, 0.25, 1))
    model.save(tmp_path / "m")
    alike(TrainedModel.load(tmp_path / "m"), model)
    _, arrays = read_container(tmp_path / "m")
    assert "learned.early_stopping.last.supports.rows.starts" in arrays
    assert (
        "learned.early_stopping.best.state.supports.rows" not in arrays
    )  # the state to predict with is that of the best pass
    first = (tmp_path / "m").read_bytes()
    TrainedModel.load(tmp_path / "m").save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == first


def test_what_cannot_be_saved_says_so(tmp_path):
    for options in ({"kernel": np.dot}, {"kernel": "rbf"}):
        model = trained(**options)
        if options["kernel"] == "rbf":
            model.state.kernel = Kernel("function", function=np.dot)
        with pytest.raises(ValueError, match="kernel is a function cannot be saved"):
            model.save(tmp_path / "m")
    with pytest.raises(ValueError, match=r'cannot be saved: .*hypothesis="pocket" needs'):
        trained(hypothesis="pocket", max_support=None).save(tmp_path / "m")
    other = trained()
    other.early_stopping_state = (other.state, BestPass(run(2, direct=True), 0.25, 1))
    with pytest.raises(ValueError, match="of the same model as the other states"):
        other.save(tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_forged_models_are_refused_or_say_what_the_file_says(tmp_path):
    path, rng = tmp_path / "m", np.random.default_rng(0)
    trained().save(path)
    header, arrays = read_container(path)
    assert path.read_bytes() == forge(compact(header), arrays)
    forgeries = [(other, arrays) for other in mutations(header)] + [(header, a) for a in other_arrays(arrays, rng)]
    loaded = 0
    for number in rng.permutation(len(forgeries))[:400]:
        some_header, some_arrays = forgeries[number]
        path.unlink(missing_ok=True)
        path.write_bytes(forge(compact(some_header), some_arrays))
        try:
            again = TrainedModel.load(path)
        except ValueError as refusal:
            assert str(refusal).startswith(str(path))  # noqa: PT017
            continue
        loaded += 1
        again.save(path)
        header_again, arrays_again = read_container(path)
        known = {"library", "report"}
        assert {k: v for k, v in header_again.items() if k not in known} == {
            k: v for k, v in some_header.items() if k not in known
        }
        for name, array in arrays_again.items():
            assert array.tobytes() == some_arrays[name].tobytes()
    assert 0 < loaded < 100


# estimators


def test_an_estimator_is_made_of_its_parameters_and_state():
    found = trained(early_stopping=True)
    found.early_stopping_state = (run(3), BestPass(run(2), 0.25, 1))
    estimator = files.from_trained_model(found)
    assert type(estimator) is KernelPerceptron
    assert estimator.state_ is found.state
    assert (estimator.n_features_in_, estimator.kernel, estimator.max_support) == (5, "rbf", 100)
    assert not hasattr(estimator, "fit_intercept")
    assert estimator.feature_names_in_.tolist() == ["a", "b", "c", "d", "e"]
    alike(files.to_trained_model(estimator), found)


def test_a_kernel_perceptron_is_not_exported(tmp_path):
    for export in (export_onnx, export_json):
        with pytest.raises(TypeError, match="has support vectors and no weights, so it cannot be exported: use save"):
            export(files.from_trained_model(trained()), tmp_path / "m")


# checkpoints


def between_batches(state, best=None):
    """Return what a checkpoint is written of: a run whose second pass is in progress."""
    current = PassState(row=12, passes_done=1, rows=30)
    current.active, current.visits = np.arange(len(state.counters)), state.counters["visits"].copy()
    current.was_done = np.zeros(len(state.counters), bool)
    early = None if best is None else SimpleNamespace(best=BestPass(best, 0.5, 1))
    last_ranges = lambda: np.ones(5)  # noqa: E731
    return SimpleNamespace(
        state=state, current=current, classes=np.arange(3), early_stopping=early, last_ranges=last_ranges
    )


def writer(path, **options):
    return CheckpointWriter(path, 0, LEARNER, RunOptions.for_learner(LEARNER, random_state=7, **options), [])


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_a_run_goes_on_from_its_checkpoint(tmp_path, direct, layout):
    state, best = run(2, direct, layout=layout), run(1, direct, layout=layout)
    writer(tmp_path / "c", gamma="scale").write(between_batches(state, best))
    found = writer(tmp_path / "c", gamma="scale").read()
    alike([found.state, found.best.state], [state, best])
    assert (found.current.row, found.current.rows, found.state.kernel.gamma) == (12, 30, 0.25)
    same = writer(tmp_path / "c", gamma="scale", cache_size=5, device="cuda", n_jobs=2, verbose=0).read()
    alike(same.state, state)
    for other in ({"gamma": 0.25}, {"kernel": "rbf"}, {"degree": 4}, {"coef0": 2.0}, {"max_support": 9}):
        with pytest.raises(ValueError, match=f"a checkpoint of a run with {next(iter(other))}"):
            writer(tmp_path / "c", **other).read()


def test_checkpoints_of_other_learners_are_refused(tmp_path):
    writer(tmp_path / "c").write(between_batches(run(1)))
    with pytest.raises(ValueError, match="a checkpoint of a run with learner 'KernelPerceptron'"):
        CheckpointWriter(tmp_path / "c", 0, "Perceptron", RunOptions(random_state=7), []).read()
    header, arrays = read_container(tmp_path / "c")
    for name in ("Perceptron", None, ["KernelPerceptron"]):
        (tmp_path / "c").write_bytes(forge(compact({**header, "run": {**header["run"], "learner": name}}), arrays))
        with pytest.raises(
            ValueError, match=r"of a run with learner 'Perceptron' instead of|holds no valid checkpoint"
        ):
            writer(tmp_path / "c").read()


def test_no_checkpoint_is_begun_of_a_function(tmp_path):
    with pytest.raises(ValueError, match="kernel is a function cannot be saved"):
        writer(tmp_path / "c", kernel=np.dot)
