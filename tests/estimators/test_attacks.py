"""What an attack on the engine found, each as a test."""

import signal
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from rosenblatt import AveragedPerceptron, Perceptron, data, load, save
from rosenblatt.training.linear import LinearState
from rosenblatt.training.rows import check_sparse

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def rows(n=300, d=5, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, classes, n)


@pytest.mark.parametrize("call", ["fit(S, y)", "partial_fit(S, y)", "fit_stream([(S, y), (S, y)])"])
def test_a_hostile_matrix_crashes_nothing(call):
    code = f"""
import numpy as np, scipy.sparse as sp
from rosenblatt import Perceptron
X = sp.random_array((200, 5), density=0.5, format="csr", rng=0)
y, pointers = np.arange(200) % 2, X.indptr.copy()
pointers[5] = 10**7
S = sp.csr_array((X.data, X.indices[::-1].copy(), X.indptr), shape=X.shape)
S.indptr = pointers
try:
    Perceptron().{call}
except ValueError as fault:
    print(fault)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "is not a valid CSR matrix" in ran.stdout


def test_a_hostile_csc_matrix_crashes_nothing():
    code = """
import numpy as np, scipy.sparse as sp
from rosenblatt import Perceptron
X = sp.random_array((200, 5), density=0.5, format="csc", rng=0)
pointers = X.indptr.copy()
pointers[2] = 10**7
X.indptr = pointers
try:
    Perceptron().fit(X, np.arange(200) % 2)
except ValueError as fault:
    print(fault)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "is not a valid CSC matrix" in ran.stdout


@pytest.mark.parametrize(
    ("pointers", "width"), [([0, -(2**31), -1, 3], 4), ([0, 1, 2, 3], 0), ([0, 2, 1, 3], 4), ([0, 1, 2, 9], 4)]
)
def test_pointers_and_indices_outside_are_refused(pointers, width):
    S = sp.csr_array((3, width))
    S.data, S.indices, S.indptr = np.ones(3), np.zeros(3, np.int32), np.array(pointers, np.int32)
    with pytest.raises(ValueError, match="is not a valid CSR matrix"):
        check_sparse(S)


@pytest.mark.parametrize("shuffle", [True, False])
def test_words_after_numbers_are_refused_in_a_stream(shuffle):
    for others in (["0", "1"], np.array([0, 1], "M8[s]")):
        with pytest.raises(ValueError, match="labels must be all words or all numbers"):
            Perceptron(shuffle=shuffle).fit_stream([(np.eye(2), [0, 1]), (np.eye(2), others)])


@pytest.mark.parametrize("make", [lambda y: np.array(y, object), pd.Series, lambda y: pd.Series(y, dtype="category")])
def test_words_of_any_type_are_words(make):
    X, y = np.eye(4), ["a", "b", "a", "c"]
    model = Perceptron().partial_fit(X[:3], make(y[:3]))
    assert model.partial_fit(X[3:], make(y[3:])).classes_.tolist() == ["a", "b", "c"]
    again = Perceptron().partial_fit(X, make(y), classes=["a", "b", "c"])
    assert again.partial_fit(X, np.array(y), classes=["a", "b", "c"]).classes_.tolist() == ["a", "b", "c"]


def test_max_updates_holds_whatever_came_before():
    X, y = rows()
    _, three = rows(classes=3, seed=1)
    model = Perceptron(max_updates=10, warm_start=True, random_state=0).fit(X, y).fit(X, y)
    assert model.n_updates_ == 20
    assert model.partial_fit(X, y).n_updates_ == 20
    model = Perceptron(random_state=0, max_iter=2).fit(X, y)
    before = model.n_updates_
    assert model.set_params(max_updates=10).partial_fit(X, y).n_updates_ == before
    model = Perceptron(max_updates=10).partial_fit(X[:5], y[:5]).partial_fit(X[5:], three[5:]).partial_fit(X, three)
    assert max(part.updates for part in model.report_.by_class.values()) <= 10
    late = ((X[i : i + 20], (y if i < 100 else three)[i : i + 20]) for i in range(0, 300, 20))
    model = Perceptron(max_updates=80, max_iter=1, shuffle=False).fit_stream(late)
    assert len(model.classes_) == 3
    assert max(part.updates for part in model.report_.by_class.values()) == 80


@pytest.mark.parametrize("shuffle", [True, False])
def test_lengths_that_cancel_are_refused(shuffle):
    X, y = rows(60)
    model = Perceptron(random_state=0, shuffle=shuffle)
    with pytest.raises(ValueError, match="a label for each of the 30 rows of a block, got 29 labels"):
        model.fit_stream([(X[:30], y[:29]), (X[30:], y[29:])])
    weights = np.ones(60)
    with pytest.raises(ValueError, match="one sample weight for each of the 30 rows"):
        model.fit_stream([(X[:30], y[:30], weights[:29]), (X[30:], y[30:], weights[29:])])
    with pytest.raises(ValueError, match="got one whose y is None"):
        model.fit_stream([(X, None)])
    one, other = (Perceptron(random_state=0, shuffle=shuffle).fit_stream([(X, y, w)]) for w in (2.0, np.full(60, 2.0)))
    assert one.coef_.tobytes() == other.coef_.tobytes()


@pytest.mark.parametrize("shuffle", [True, False])
def test_frames_keep_their_names_in_a_stream(shuffle):
    X, y = rows(60, 2)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = Perceptron(random_state=0, shuffle=shuffle).fit_stream([(frame[:30], y[:30]), (frame[30:], y[30:])])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        Perceptron(shuffle=shuffle).fit_stream([(frame[:30], y[:30]), (frame.loc[30:, ["b", "a"]], y[30:])])


def test_an_interrupt_in_a_callback_counts_no_pass_twice():
    X, y = rows()

    def callback(model):
        if model.n_iter_ == 2:
            raise KeyboardInterrupt

    model = AveragedPerceptron(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit_stream([(X, y)], on_pass=callback)
    assert model.n_iter_ == len(model.history_) == 2


def test_a_warm_start_that_fails_leaves_early_stopping_as_it_was(tmp_path):
    X, y = rows()
    options = {"early_stopping": True, "max_iter": 2, "warm_start": True, "validation_fraction": 0.2}
    model = AveragedPerceptron(random_state=0, **options).fit(X, y)
    save(model, tmp_path / "a")
    with pytest.raises(ZeroDivisionError):
        model.fit_stream([(X, 1 - y)], on_pass=lambda model: 1 / 0)
    save(model, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_type_of_classes_stays():
    X, y = rows()
    model = Perceptron()
    for kind in (np.int64, np.float64, np.int8):
        model.partial_fit(X, y.astype(kind))
        assert model.classes_.dtype == np.int64


def test_a_stream_that_is_empty_in_its_second_pass_is_an_error():
    X, y = rows()

    class Once:
        def __init__(self):
            self.blocks = iter([(X, y)])

        def __iter__(self):
            return self.blocks

    with pytest.raises(ValueError, match="empty stream in pass 2: it can be read only once"):
        Perceptron().fit_stream(Once())


def test_classes_of_the_first_window_are_known_from_the_start():
    X, y = rows(200, classes=3)
    y[:50] %= 2
    blocks = [(X[i : i + 10], y[i : i + 10]) for i in range(0, 200, 10)]
    options = {"max_iter": 1, "random_state": 0}
    once = AveragedPerceptron(**options).fit_stream(iter(blocks))
    assert once.coef_.tobytes() == AveragedPerceptron(**options).fit(X, y).coef_.tobytes()


def test_a_first_chunk_that_fails_leaves_nothing_behind():
    X, y = rows()
    model = Perceptron()
    with pytest.raises(ValueError, match="sample weight"):
        model.partial_fit(X, y, sample_weight=[1.0])
    assert not hasattr(model, "n_features_in_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(sp.csr_array(X[:, :2]), y)
    assert model.n_features_in_ == 2


@pytest.mark.parametrize(
    ("block", "sentence"),
    [
        ((3.0, [0, 1]), r"whose X has rows and columns, got an X of shape \(\)"),
        (([1.0, 2.0], [0, 1]), r"whose X has rows and columns, got an X of shape \(2,\)"),
        ((np.eye(2), {"a": 1}), r"a label for each of the 2 rows of a block, got \{'a': 1\}"),
        ((np.eye(2), []), "a label for each of the 2 rows of a block, got 0 labels"),
    ],
)
def test_blocks_of_odd_shapes_are_refused(block, sentence):
    for blocks in ([block], [(np.eye(2), [0, 0]), block]):
        with pytest.raises(ValueError, match=sentence):
            Perceptron().fit_stream(blocks)


def test_an_interrupt_before_the_first_row_leaves_a_model_that_can_be_saved(tmp_path, monkeypatch):
    X, y = rows()
    widen = LinearState.widen

    def interrupted(state, d):
        signal.raise_signal(signal.SIGINT)
        widen(state, d)

    monkeypatch.setattr(LinearState, "widen", interrupted)
    model = AveragedPerceptron(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit_stream([(X, y)])
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").n_features_in_ == 5


def test_a_checkpoint_does_not_replace_the_data(tmp_path):
    path = tmp_path / "own.svm"
    path.write_text("1 1:2\n-1 1:3\n")
    with pytest.raises(ValueError, match="checkpoint must be another file than those that are read"):
        Perceptron().fit_stream(data.open(path), checkpoint=path, every=0)
    assert path.read_text() == "1 1:2\n-1 1:3\n"
