"""Exact training on shards is training on one machine, to the bit, however the rows are cut and divided."""

from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.clusters import (
    FORMS,
    HandedOver,
    ProcessAveragedPerceptron,
    ProcessPerceptron,
    assert_same_bits,
    cut,
    filled,
    integer_rows,
    quietly,
    result_of,
    small_windows,
)
from rosenblatt import AveragedPerceptron, Perceptron, load, save
from rosenblatt.kernels.compiler import SETTING
from rosenblatt.kernels.jit import compiled_kernel
from rosenblatt.kernels.passes import one_vs_rest_passes
from rosenblatt.storage.container import read_container

WINDOW = 16


@st.composite
def cut_sets(draw, width=None):
    """Rows, labels and weights, cut into shards: empty ones, ones of a single class, ones of a row among them."""
    n, d = draw(st.integers(12, 60)), width or draw(st.integers(1, 4))
    classes = draw(st.sampled_from([2, 2, 3, 5]))
    X, y = integer_rows(n, d, classes, draw(st.integers(0, 99)), draw(st.sampled_from([0, 3])))
    if draw(st.booleans()):  # shards lack classes
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    weight = np.random.default_rng(n).choice([0.0, 0.5, 1.0, 3.0], n) if draw(st.booleans()) else None
    places = draw(st.lists(st.integers(0, n), max_size=7))
    return cut(places, FORMS[draw(st.sampled_from(sorted(FORMS)))](X), y, weight)


@st.composite
def parameters(draw):
    """Parameters of a perceptron that exact training takes."""
    given = {
        "random_state": draw(st.integers(0, 5)),
        "max_iter": draw(st.integers(1, 6)),
        "shuffle": draw(st.sampled_from([True, False, "once"])),
        "hypothesis": draw(st.sampled_from(["last", "average", "vote"])),
        "multi_class": draw(st.sampled_from(["ovr", "direct"])),
        "fit_intercept": draw(st.booleans()),
        "class_weight": draw(st.sampled_from([None, None, {0: 2.0, 1: 0.5}])),
        "max_updates": draw(st.sampled_from([None, None, 1, 7, 40])),
        "tol": draw(st.sampled_from([None, None, 0.0, 0.1])),
        "n_iter_no_change": draw(st.integers(1, 2)),
    }
    if draw(st.booleans()):
        given |= {"early_stopping": True, "validation_fraction": 0.3}
    return given


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(cut_sets(), parameters(), st.sampled_from([1, 2, 3]))
def test_shards_are_learned_from_as_one_stream(shards, given, workers):
    with small_windows(WINDOW):
        local = result_of(Perceptron(**given).fit_stream, filled(shards))
        walked = result_of(ProcessPerceptron(**given, workers=workers).fit_shards, shards)
    assert_same_bits(walked, local)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cut_sets(width=3), cut_sets(width=3), parameters(), st.sampled_from([1, 2, 3]))
def test_a_warm_start_goes_on_as_on_one_machine(first, then, given, workers):
    local, walked = Perceptron(**given, warm_start=True), ProcessPerceptron(**given, workers=workers, warm_start=True)
    with small_windows(WINDOW):
        assert_same_bits(result_of(walked.fit_shards, first), result_of(local.fit_stream, filled(first)))
        classes = np.unique(np.concatenate([shard[1] for shard in then]))
        expected = result_of(local.fit_stream, filled(then), classes=classes)
        assert_same_bits(result_of(walked.fit_shards, then), expected)


def test_a_warm_start_takes_wider_and_narrower_sparse_shards():
    X, y = integer_rows(90, 5, 3)
    parts = [(sp.csr_array(X[:30, :3]), y[:30]), (sp.csr_array(X[30:60]), y[30:60]), (sp.csr_array(X[60:, :2]), y[60:])]
    local = Perceptron(random_state=0, max_iter=2, warm_start=True)
    walked = ProcessPerceptron(random_state=0, max_iter=2, warm_start=True, workers=2)
    mixed = ProcessPerceptron(random_state=0, max_iter=2, warm_start=True, mode="mix")
    for part in parts:
        for model in (walked, mixed):
            quietly(model.fit_shards, cut([10], *part))
        assert_same_bits(walked, quietly(local.fit_stream, [part]))
        assert mixed.coef_.shape == local.coef_.shape


@pytest.mark.parametrize("width", [2, 4])
def test_a_warm_start_refuses_dense_shards_of_another_width(width):
    X, y = integer_rows(40, 4, 2)
    model = quietly(ProcessPerceptron(random_state=0, max_iter=2, warm_start=True).fit_shards, [(X[:, :3], y)])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=f"expected shards with the 3 features that the model has, got {width}"):
        model.fit_shards([(X[:, :width], y)])
    assert np.array_equal(model.coef_, before)


def test_a_warm_start_refuses_other_column_names():
    pandas = pytest.importorskip("pandas")
    X, y = integer_rows(40, 2, 2)
    model = ProcessPerceptron(random_state=0, max_iter=2, warm_start=True)
    quietly(model.fit_shards, [(pandas.DataFrame(X, columns=["a", "b"]), y)])
    with pytest.raises(ValueError, match="column names that the model was trained on"):
        model.fit_shards([(pandas.DataFrame(X, columns=["b", "a"]), y)])
    assert quietly(model.fit_shards, [(X, y)]).feature_names_in_.tolist() == ["a", "b"]


class Stopped(Exception):
    """A driver that dies."""


class DyingEngine(HandedOver):
    """Makes so many calls, and then no more."""

    def __init__(self, calls):
        super().__init__()
        self.left = calls

    def call(self, function, shard, *arguments):
        self.left -= 1
        if self.left < 0:
            raise Stopped
        return super().call(function, shard, *arguments)


def dies(model, shards, path, calls):
    """Train until so many calls have been made; return whether training was cut short."""
    engine = DyingEngine(calls)
    engine.workers = model.workers
    with patch.object(type(model), "_engine", lambda self: engine):
        try:
            result_of(model.fit_shards, shards, checkpoint=path, every=0)
        except Stopped:
            return True
    return False


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cut_sets(), parameters(), st.integers(8, 80), st.permutations([1, 2, 3]))
def test_a_checkpoint_is_gone_on_from_with_another_number_of_workers(shards, given, calls, workers):
    with small_windows(WINDOW), TemporaryDirectory() as folder:
        path = Path(folder, "run")
        local = result_of(Perceptron(**given).fit_stream, filled(shards))
        dies(ProcessPerceptron(**given, workers=workers[0]), shards, path, calls)
        resumed = ProcessPerceptron(**given, workers=workers[1])
        ended = result_of(resumed.fit_shards, shards, checkpoint=path, resume=True)
        assert_same_bits(ended, local, resumed=True)


def test_a_checkpoint_is_written_inside_the_first_pass(tmp_path):
    X, y = integer_rows(80, 3, 3)
    shards = cut([20, 40, 60], X, y)
    path = tmp_path / "run"
    looks, two_shards = len(shards), 2
    assert dies(ProcessPerceptron(random_state=0, max_iter=3, shuffle=False), shards, path, looks + two_shards)
    header, _ = read_container(path)
    assert (header["current"]["row"], header["current"]["passes_done"]) == (40, 0)


@pytest.mark.parametrize("mode", ["exact", "mix"])
def test_a_checkpoint_of_other_shards_or_another_mode_is_refused(mode, tmp_path):
    X, y = integer_rows(80, 3, 3)
    path, other = tmp_path / "run", {"exact": "mix", "mix": "exact"}[mode]
    assert dies(ProcessPerceptron(random_state=0, mode=mode), cut([20, 40], X, y), path, 20)
    for refused, shards in ((other, cut([20, 40], X, y)), (mode, cut([21, 40], X, y)), (mode, cut([20, 40], -X, y))):
        with pytest.raises(ValueError, match="checkpoint of a run with other data"):
            ProcessPerceptron(random_state=0, mode=refused).fit_shards(shards, checkpoint=path, resume=True)


def test_a_proof_that_nothing_separates_counts_the_weights_of_classes():
    X, y = np.array([[0.0], [1.0], [0.0], [-1.0]]), np.array([0, 1, 1, 0])
    for class_weight, proved in ((None, True), ({0: 0.5, 1: 0.5}, False)):
        given = {"shuffle": False, "fit_intercept": False, "max_updates": 1, "random_state": 0}
        given["class_weight"] = class_weight
        model = quietly(ProcessPerceptron(**given).fit_shards, cut([2], X, y))
        assert model.report_.proved_inseparable == proved
        assert_same_bits(model, quietly(Perceptron(**given).fit_stream, cut([2], X, y)))


@pytest.mark.parametrize("classes", [2, 4])
def test_averages_of_words_and_of_classes_that_never_occur(classes):
    X, y = integer_rows(90, 3, classes)
    words = np.array(["north", "east", "south", "west"])[y]
    shards, known = cut([0, 25, 25, 70, 90], X, words), ["nowhere", "north", "east", "south", "west"]
    for expected in (None, known):
        local = quietly(AveragedPerceptron(random_state=0).fit_stream, filled(shards), classes=expected)
        walked = ProcessAveragedPerceptron(random_state=0, workers=3)
        assert_same_bits(quietly(walked.fit_shards, shards, classes=expected), local)


def test_sparse_shards_may_have_more_columns_than_others():
    X, y = integer_rows(60, 4, 3)
    shards = [
        (sp.csr_array(X[:20, :2]), y[:20]),
        (sp.csr_array(X[20:40]), y[20:40]),
        (sp.csr_array(X[40:, :3]), y[40:]),
    ]
    with small_windows(WINDOW):
        local = quietly(Perceptron(random_state=0, max_iter=4).fit_stream, shards)
        walked = quietly(ProcessPerceptron(random_state=0, max_iter=4, workers=2).fit_shards, shards)
    assert_same_bits(walked, local)


@pytest.mark.parametrize("mode", ["exact", "mix"])
def test_what_is_wrong_with_shards_is_said_in_a_sentence(mode):
    X, y = integer_rows(40, 3, 2)
    nothing = (np.empty((0, 3)), np.empty(0))
    for shards, sentence in (
        ([], "expected at least one shard to learn from, got none"),
        ([nothing, nothing], "expected rows to train on, got only empty shards"),
        ([(X, y), (X[:, :2], y)], "got 2 features in shard 1 after 3 in shard 0"),
        ([(X, y), (X, y.astype(str))], "label"),
        ([(X, np.zeros(40)), nothing], "training needs at least two classes, got one class"),
        ([(X, y), (X, y[:-1])], "^shard 1: expected a label for each of the 40 rows, got 39 labels"),
        ([(X, y, np.ones(3))], "expected one sample weight for each of the 40 rows"),
        ([(X, y, -np.ones(40))], "sample weights must be finite and not negative"),
        ([X], r"expected shards of the form \(X, y\)"),
        ([(X, y), lambda: None], r"^shard 1: expected shards of the form \(X, y\) or .* got NoneType\.$"),
        ([(X, y), (np.where(X > 2, np.nan, X), y)], "^shard 1: there are missing or infinite numbers: fill them in"),
    ):
        model = ProcessPerceptron(mode=mode)
        with pytest.raises(ValueError, match=sentence) as refusal:
            model.fit_shards(shards)
        assert not hasattr(model, "state_"), refusal.value


def test_shards_may_be_functions_which_return_them():
    shards = cut([20, 40], *integer_rows(60, 3, 2))
    pairs, functions = (ProcessPerceptron(random_state=0, max_iter=4) for _ in range(2))
    quietly(functions.fit_shards, [lambda shard=shard: shard for shard in shards])
    assert_same_bits(functions, quietly(pairs.fit_shards, shards))


def test_a_saved_model_is_that_of_one_machine(tmp_path):
    X, y = integer_rows(60, 3, 3)
    model = quietly(ProcessPerceptron(random_state=0, max_iter=4).fit_shards, cut([20, 40], X, y))
    save(model.to_local(), tmp_path / "model")
    assert_same_bits(load(tmp_path / "model"), model)
    assert type(model.to_local()) is Perceptron


@pytest.mark.skipif(SETTING == "never", reason="nothing is compiled")
@pytest.mark.parametrize("mode", ["exact", "mix"])
def test_arrays_that_cannot_be_written_to_need_no_other_kernels(mode, monkeypatch):
    """Clusters hand over such arrays; a kernel for them would be compiled again on each worker."""
    X, y = integer_rows(60, 3, 3)
    compiled = compiled_kernel(one_vs_rest_passes.function)
    monkeypatch.setattr(one_vs_rest_passes, "compiled", compiled)
    quietly(Perceptron(random_state=0, max_iter=3).fit_stream, cut([20, 40], X, y))
    before = len(compiled.signatures)
    quietly(ProcessPerceptron(random_state=0, max_iter=3, mode=mode, n_shards=2).fit_shards, cut([20, 40], X, y))
    assert len(compiled.signatures) == before > 0


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("mode", ["exact", "mix"])
def test_columns_of_an_empty_shard_are_no_features(form, mode):
    X, y = integer_rows(60, 4, 3)
    parts = [(form(X[:20]), y[:20]), (form(np.empty((0, 9))), np.empty(0)), (form(X[20:]), y[20:])]
    model = quietly(ProcessPerceptron(random_state=0, max_iter=3, mode=mode).fit_shards, parts)
    same = quietly(ProcessPerceptron(random_state=0, max_iter=3, mode=mode).fit_shards, [parts[0], parts[2]])
    assert model.coef_.shape == (3, 4)
    assert np.array_equal(model.coef_, same.coef_)
