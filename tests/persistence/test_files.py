"""Models as files: the same bits come back and go on, and nothing else ever does."""

import copy
import itertools
import json
import math
import tracemalloc
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers.examples import small_set
from helpers.exported import exported
from helpers.forging import alike, compact, forge
from helpers.pipelines import FAMILY
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
)
from rosenblatt.estimators.rescaled import RescaledPerceptron
from rosenblatt.persistence.files import load, save
from rosenblatt.persistence.json_export import export_json
from rosenblatt.storage.container import read_container, write_container


def examples(classes=2, n=80):
    X, y = small_set("gauss", n=n, classes=classes, seed=5)
    X[:, :classes] += 1.5 * np.eye(classes)[y][:, : X.shape[1]]
    return X, y


def through(model, path):
    save(model, path)
    return load(path)


OPTIONS = [
    {"hypothesis": hypothesis, "early_stopping": early, "n_iter_no_change": 3}
    for hypothesis in ("last", "average", "pocket", "vote")
    for early in (False, True)
]
CLASSES = [(2, "ovr"), (3, "ovr"), (3, "direct")]


def learned(model):
    """Return the weights, or the support rows and their updates: of a kernel perceptron's run, the promise is these."""
    state = model.state_
    if not isinstance(model, KernelPerceptron):
        return state
    updates = [tuple(state.updates_of(k)) for k in range(len(state.updates))]
    pocket = None if state.pocket is None else state.pocket.updates
    return [state.supports, updates, pocket, state.mistakes, state.done, state.passes, model.seed_]


KERNELS = [
    {"kernel": "poly", "degree": 2},
    {"kernel": "rbf", "layout": sp.csr_array},
    {"kernel": "laplacian", "layout": np.float32},
    {"kernel": "precomputed"},
]


def continues(path, X, y, learner, passes):
    """Assert that training pass by pass, through a file after each, gives the bits of training without files."""
    whole = clone(learner).set_params(max_iter=passes, warm_start=True).fit(X, y)
    model = clone(learner).set_params(max_iter=1, warm_start=True)
    for _ in range(passes):
        again = through(model.fit(X, y), path)
        alike(again, model)
        model = again
    if not isinstance(model, KernelPerceptron):
        alike(model.set_params(max_iter=passes), whole)
        assert str(model.report_) == str(whole.report_)
    alike(learned(model), learned(whole))
    assert model.predict(X).tolist() == whole.predict(X).tolist()
    assert model.decision_function(X).tobytes() == whole.decision_function(X).tobytes()
    assert model.history_.tolist() == whole.history_.tolist()


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("kernel", [None, *KERNELS], ids=lambda kernel: kernel and kernel["kernel"])
def test_a_loaded_model_continues_with_the_same_bits(path, kernel):
    for options, (classes, multi_class) in itertools.product(OPTIONS, CLASSES):
        X, y = examples(classes)
        options = {**options, "random_state": 3, "multi_class": multi_class}
        if kernel is not None:
            options |= kernel
            X = X @ X.T if options["kernel"] == "precomputed" else options.pop("layout", np.asarray)(X)
        continues(path, X, y, (Perceptron if kernel is None else KernelPerceptron)(**options), 7)


@pytest.mark.parametrize("learner", FAMILY, ids=str)
def test_a_loaded_model_of_the_family_continues_with_the_same_bits(path, learner):
    for classes, early in itertools.product([2, 3], [False, True]):
        options = {"early_stopping": early, "n_iter_no_change": 3}
        continues(path, *examples(classes), clone(learner).set_params(**options), 5)


STREAMED = [
    learner(multi_class=multi_class, random_state=0)
    for learner in (Perceptron, AveragedPerceptron, VotedPerceptron, partial(KernelPerceptron, gamma=0.5))
    for multi_class in ("ovr", "direct")
]


@pytest.mark.parametrize("learner", [*STREAMED, *FAMILY], ids=str)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_a_stream_goes_on_after_each_chunk(path, learner, layout):
    for classes in (2, 3):
        X, y = examples(classes)
        y = np.array(["b", "a", "c"])[y]
        straight, stored = clone(learner), clone(learner)
        for start, stop in itertools.pairwise([0, 1, 2, 10, 40, 80]):
            rows = layout(X[start:stop])
            straight.partial_fit(rows, y[start:stop])
            stored = through(stored.partial_fit(rows, y[start:stop]), path)
            alike(stored, straight)
        assert stored.decision_function(X).tobytes() == straight.decision_function(X).tobytes()


def test_new_classes_are_welcome_after_loading(path):
    X, y = examples(4)
    kernel = KernelPerceptron("rbf", gamma=0.5)
    for model in (Perceptron(), VotedPerceptron(), Perceptron("vote", multi_class="direct"), kernel):
        model.set_params(random_state=0)
        straight = clone(model).partial_fit(X[y < 2], y[y < 2])
        stored = through(straight, path)
        alike(stored.partial_fit(X, y), straight.partial_fit(X, y))


def test_a_file_holds_all_there_is_to_know(path):
    X, y = examples()
    frame = pd.DataFrame(X, columns=["a", "größe", "c", "c ", "\U0001f600"])
    weight = {"no": 2.0, "yes": 0.5}
    model = Perceptron("pocket", max_iter=3, shuffle="once", class_weight=weight, max_updates=np.int64(50), verbose=0)
    model.fit(frame, np.array(["no", "yes"], object)[y])
    model.preparation_ = {"columns": [{"name": "größe", "scale": 0.1}, None], "z": True, "a": 2**70}
    model.fingerprint_ = "sha256:1234"
    again = through(model.set_params(max_updates=50), path)
    alike(again, model)
    assert again.feature_names_in_.tolist() == frame.columns.tolist()
    header, arrays = read_container(path)
    assert header["learner"] == "Perceptron"
    assert header["library"]
    alike(again.report_, model.report_)
    assert arrays["learned.state.w"].tobytes() == model.last_coef_.tobytes()
    assert again.predict(frame).tolist() == model.predict(frame).tolist()


@pytest.mark.parametrize(
    "labels",
    [[0, 1], [-1.0, 1.0], [False, True], ["no", "yes"], np.array([3, 7], np.uint8), np.array([1, 2], np.float32)],
)
def test_labels_keep_their_type(path, labels):
    X, y = examples()
    labels = np.asarray(labels)[y]
    model = Perceptron(max_iter=2).partial_fit(X, labels)
    again = through(model, path)
    assert again.predict(X).dtype == model.predict(X).dtype == labels.dtype
    alike(again.partial_fit(X, labels), model.partial_fit(X, labels))


def test_a_source_of_randomness_is_saved_as_its_seed(path):
    X, y = examples()
    for source in (None, 7, np.int64(7), np.random.default_rng(0), np.random.RandomState(0)):
        model = Perceptron(random_state=source, max_iter=2).fit(X, y)
        again = through(model, path)
        assert again.seed_ == model.seed_
        assert again.random_state == (source if source is None or source == 7 else model.seed_)
    alike(again.fit(X, y).state_, model.state_)


def test_saving_is_only_looking(path):
    X, y = examples(3)
    model = Perceptron("vote", early_stopping=True, warm_start=True, max_iter=2, random_state=0).fit(X, y)
    before = copy.deepcopy(model)
    save(model, path)
    first = path.read_bytes()
    alike(model, before)
    loaded = load(path)
    save(loaded, path)
    assert path.read_bytes() == first
    loaded.fit(X, y)  # arrays that two parts share in the file are not shared in memory
    alike(load(path), before)


def test_a_model_with_a_budget_goes_on_within_it(path):
    X, y = examples(3)
    straight = KernelPerceptron("rbf", gamma=1.0, max_support=4, random_state=0)
    stored = clone(straight)
    for start in range(0, 80, 20):
        rows, labels = X[start : start + 20], y[start : start + 20]
        straight.partial_fit(rows, labels, classes=[0, 1, 2])
        stored = through(stored.partial_fit(rows, labels, classes=[0, 1, 2]), path)
        alike(stored, straight)
    assert max(np.count_nonzero(stored.last_dual_coef_, axis=1)) == 4
    save(stored, path)
    first = path.read_bytes()
    save(load(path), path)
    assert path.read_bytes() == first


def test_what_cannot_be_saved_says_so(path):
    X, y = examples()
    model = Perceptron(max_iter=2).fit(X, y)
    with pytest.raises(NotFittedError):
        save(Perceptron(), path)
    with pytest.raises(TypeError, match="or a Pipeline that ends in one, got list"):
        save([], path)
    with pytest.raises(TypeError, match="got Mine"):
        save(type("Mine", (Perceptron,), {})(), path)
    with pytest.raises(ValueError, match="integers, floats, booleans or strings can be saved"):
        save(Perceptron().partial_fit(X, np.array([b"a", b"b"])[y]), path)
    for attribute in ("preparation_", "fingerprint_"):
        for value in ({1: 2}, {"a": (1, 2)}, {"a": np.zeros(1)}, {"a": float("nan")}):
            other = copy.deepcopy(model)
            setattr(other, attribute, value)
            with pytest.raises(ValueError, match=f"{attribute} must be data that JSON can represent"):
                save(other, path)
    other.fingerprint_, other.preparation_ = None, ["not a dictionary"]
    with pytest.raises(ValueError, match="preparation_ must be a dictionary"):
        save(other, path)
    with pytest.raises(ValueError, match=r"cannot be saved: max_iter must be"):
        save(copy.deepcopy(model).set_params(max_iter=0), path)
    with pytest.raises(ValueError, match=r"cannot be saved: .*hypothesis=\"vote\" needs"):
        save(copy.deepcopy(model).set_params(hypothesis="vote"), path)
    with pytest.raises(ValueError, match="kernel is a function cannot be saved"):
        save(KernelPerceptron(lambda A, B: A @ B.T, max_iter=2).fit(X, y), path)
    with pytest.raises(ValueError, match=r"cannot be saved: .* at least one feature, as records without"):
        save(Perceptron().learn_one({}, "a").learn_one({}, "b"), path)
    broken = copy.deepcopy(model)
    broken.state_.w[0, 0] = np.inf
    with pytest.raises(ValueError, match=r"cannot be saved: .*w' must be an array of finite numbers, got inf"):
        save(broken, path)
    assert not path.exists()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("bias", [True, False])
def test_the_rescaled_perceptron_keeps_its_verdict(path, classes, bias):
    for X, y in (examples(classes), (np.repeat(np.eye(3), 2, axis=0)[: 2 * classes], np.arange(2 * classes) // 2)):
        model = RescaledPerceptron(fit_intercept=bias, random_state=0, max_rescalings=3).fit(X, y)
        again = through(model, path)
        assert again.predict(X).tolist() == model.predict(X).tolist()
        assert again.verdict_.check(X, y)
        assert again.verdict_.to_json() == model.verdict_.to_json()
        for name in ["coef", "intercept", "converged", "n_iter", "n_updates", "n_rescalings", "seed", "classes"]:
            alike(getattr(again, f"{name}_"), getattr(model, f"{name}_"))
        alike(again.get_params(), model.get_params())
    header, arrays = read_container(path)
    for name, value in (("verdict", "{}"), ("verdict", "[]"), ("converged", 1), ("n_iter_", -1), ("seed_", None)):
        path.write_bytes(forge(compact({**header, name: value}), arrays))
        with pytest.raises(ValueError, match="holds no valid model"):
            load(path)


# files from strangers; every field that is wrong by itself is in test_mutations.py


def test_a_newer_format_asks_for_an_upgrade(path):
    X, y = examples()
    save(Perceptron(max_iter=2).fit(X, y), path)
    header, arrays = read_container(path)
    write_container(path, {**header, "version": 5, "news": True}, arrays)
    with pytest.raises(ValueError, match=r"in format 5, newer than format 4.*upgrade it with pip"):
        load(path)
    write_container(path, {**header, "version": 2}, arrays)
    with pytest.raises(ValueError, match="'version' must be an integer of at least 3, got 2"):
        load(path)
    write_container(path, {"kind": "checkpoint"}, {})
    with pytest.raises(ValueError, match="holds no model: its kind is 'checkpoint'"):
        load(path)


def test_one_long_label_does_not_widen_many(path):
    """10,000 short labels and one of 50,000 letters, 157 KB, once took 2 GB."""
    save(Perceptron(max_iter=1).fit(*examples()), path)
    header, arrays = read_container(path)
    values = [*(f"{k:05}" for k in range(10_000)), "z" * 50_000]
    path.write_bytes(forge(compact({**header, "classes": {"type": "U50000", "values": values}}), arrays))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="'classes' would take 500,050,000 characters"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


def test_a_verdict_is_about_no_more_rows_than_allowed(path):
    """The verdict of a rescaled perceptron has a weight for each row of training, which a file can claim at will."""
    X, y = examples()
    save(RescaledPerceptron().fit(X, y), path)
    assert len(load(path, max_rows=80).verdict_.alpha) == 80
    with pytest.raises(
        ValueError, match="at most 79 rows in all, got 80: if you trust the file, allow more with max_rows"
    ):
        load(path, max_rows=79)
    header, arrays = read_container(path)
    verdict = header["learned"]["verdict"].replace('"length": 80', f'"length": {2**31 - 1}')
    path.write_bytes(forge(compact({**header, "learned": header["learned"] | {"verdict": verdict}}), arrays))
    with pytest.raises(ValueError, match="at most 134,217,728 rows in all, got 2147483647"):
        load(path)


def test_a_preparation_of_a_stream_is_checked_and_other_data_are_kept(path):
    model = Perceptron(max_iter=1).fit(*examples())
    prepared = {"format": "svmlight", "version": 1, "zero_based": True, "n_features": 2}
    for sound in (prepared, {"format": "of my own", "version": 7}, {"columns": ["a"]}):
        model.preparation_ = sound
        save(model, path)
        assert load(path).preparation_ == sound
    model.preparation_ = prepared | {"zero_based": "yes"}
    with pytest.raises(ValueError, match="'zero_based' must be true or false, got 'yes'"):
        save(model, path)
    header, arrays = read_container(path)
    path.write_bytes(forge(compact({**header, "preparation": model.preparation_}), arrays))
    with pytest.raises(ValueError, match=r"holds no valid model: the preparation: 'zero_based' must be true or false"):
        load(path)


def test_a_name_in_a_file_is_never_looked_up_elsewhere(path):
    save(Perceptron(max_iter=1).fit(*examples()), path)
    header, arrays = read_container(path)
    for name in ("LinearPerceptron", "os.system", "rosenblatt.Perceptron", "__import__", "perceptron", ["Perceptron"]):
        path.write_bytes(forge(compact({**header, "learner": name}), arrays))
        with pytest.raises(ValueError, match="'learner' must be"):
            load(path)


def test_a_forged_proof_that_nothing_separates_is_not_believed(path):
    X, y = [[1.0], [1.0]], [0, 1]
    model = Perceptron(shuffle=False, max_iter=2, fit_intercept=False, random_state=0).fit(X, y)
    assert model.report_.proved_inseparable
    assert through(model, path).report_.proved_inseparable
    model.state_.w += 1.0
    assert not through(model, path).report_.proved_inseparable


# learners with margins, sized steps and variances


@pytest.mark.parametrize("learner", FAMILY, ids=str)
def test_graphs_and_json(tmp_path, learner):
    X, y = examples(3)
    pipeline = make_pipeline(StandardScaler(), clone(learner)).fit(X, y)
    assert exported(pipeline, tmp_path / "m.onnx", X)[0].tolist() == pipeline.predict(X).tolist()
    model = pipeline[-1]
    export_json(model, tmp_path / "m.json")
    told = json.loads((tmp_path / "m.json").read_text())
    assert (told["model"], told["hypothesis"]) == (type(model).__name__, model.hypothesis)
    weights = [[scores["weights"][f"x{j}"] for j in range(X.shape[1])] for scores in told["scores"]]
    assert np.array_equal(weights, model.coef_)
    assert told["report"]["updates"] == model.n_updates_
    assert told["report"].get("updates_by_pass", []) == model.report_.updates_by_pass


STATE = "learned.state."


def forged(path, model, change_header=None, change_arrays=None):
    """Write a model with changes of its header and its arrays, the checksum made right; return why it is refused."""
    save(model, path)
    header, arrays = read_container(path)
    if change_header is not None:
        change_header(header)
    if change_arrays is not None:
        change_arrays(arrays)
    path.write_bytes(forge(compact(header), arrays))
    with pytest.raises(ValueError, match=r"model\.safetensors") as refusal:
        load(path)
    return str(refusal.value)


@pytest.mark.parametrize("name", ["s", "s_b"])
def test_variances_lie_between_0_and_1(path, name):
    model = AROW(random_state=0).fit(*examples(3))
    for value in (-0.5, 1.5, math.nan, math.inf):

        def change(arrays, value=value):
            arrays[STATE + name] = arrays[STATE + name].copy()
            arrays[STATE + name].flat[-1] = value

        said = forged(path, model, change_arrays=change)
        assert f"'{STATE}{name}' must be an array of finite numbers, at least 0" in said


def test_a_learner_without_variances_has_none(path):
    model = PassiveAggressive(random_state=0).fit(*examples())
    more = {f"{STATE}s": np.ones((1, model.n_features_in_)), f"{STATE}s_b": np.ones(1)}
    assert "unknown array" in forged(path, model, change_arrays=lambda arrays: arrays.update(more))
    names = {name: STATE + name for name in ("s", "s_b")}

    def change(header):
        header["learned"]["state"].update(names)

    assert "present for AROW and absent for every other learner" in forged(
        path, model, change, lambda arrays: arrays.update(more)
    )


def test_r_is_stored_for_arow_alone_and_must_be_known(path):
    def unknown(header):
        del header["learned"]["state"]["r"]

    assert "'learned.state.r' must be a number for AROW" in forged(path, AROW("scale").fit(*examples()), unknown)
    number = AROW(2.0, random_state=0).fit(*examples())
    assert "holds no valid model" in forged(path, number, lambda header: header["learned"]["state"].update(r=0.0))

    def superfluous(header):
        header["learned"]["state"]["r"] = 2.0

    assert "absent for every other learner" in forged(path, PassiveAggressive().fit(*examples()), superfluous)


OUT_OF_RANGE = [
    (AROW(), "r", 0, "r must be a number above 0, got 0."),
    *((AROW(), "r", value, f'r must be a number, below 2**62, or "scale", got {value!r}.') for value in ("inf", True)),
    (AROW(), "decay", 1.0, "decay must be below 1, got 1.0."),
    (AROW(), "hypothesis", "vote", "hypothesis must be 'last' or 'average', got 'vote'."),
    (MarginPerceptron(), "margin", -1, "margin must be a number of at least 0, got -1."),
    (MarginPerceptron(), "margin", [1], "margin must be a number, below 2**62, got [1]."),
    (PassiveAggressive(), "C", -0.5, "C must be a number above 0, got -0.5."),
    *((PassiveAggressive(), "C", value, "C must be a number, below 2**62") for value in ("-inf", None, 2**70)),
    (PassiveAggressive(), "loss", "log", "loss must be 'hinge' or 'squared_hinge', got 'log'."),
    *((learner, name, 1.0, name) for learner, name in ((PassiveAggressive(), "r"), (AROW(), "C"))),
]


def test_parameters_out_of_range_are_one_sentence(path):
    for learner, name, value, sentence in OUT_OF_RANGE:
        model = clone(learner).set_params(random_state=0).fit(*examples())

        def change(header, name=name, value=value):
            header["parameters"][name] = value

        assert sentence in forged(path, model, change), (name, value)


@pytest.mark.filterwarnings("ignore")
def test_another_learner_cannot_be_claimed(path):
    other = {"learner": "AROW", "parameters": AROW(random_state=0).get_params()}
    assert forged(path, PassiveAggressive(random_state=0).fit(*examples()), lambda header: header.update(other))
