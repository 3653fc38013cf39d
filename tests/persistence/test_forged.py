"""Model files from strangers: damaged, altered, made to deceive; always one sentence, never wrong bits."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.forging import compact, forge, mutations
from rosenblatt import Perceptron, VotedPerceptron
from rosenblatt.persistence.files import load, save
from rosenblatt.storage.container import read_container, write_container

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)  # the disk is tested elsewhere
    return tmp_path / "model.safetensors"


def examples(classes=2, n=30):
    return small_set("gauss", n=n, classes=classes, seed=5)


def test_a_newer_format_asks_for_an_upgrade(path):
    X, y = examples()
    save(Perceptron(max_iter=2).fit(X, y), path)
    header, arrays = read_container(path)
    write_container(path, {**header, "version": 2, "news": True}, arrays)
    with pytest.raises(ValueError, match=r"in format 2, newer than format 1.*upgrade it with pip"):
        load(path)
    write_container(path, {"kind": "checkpoint"}, {})
    with pytest.raises(ValueError, match="holds no model: it says 'checkpoint'"):
        load(path)


FORGERIES = int(os.environ.get("FORGERIES", "350"))  # of each small model; there are some thousands in all


def small_models():
    X, y = examples(3, n=30)
    options = {"max_iter": 2, "random_state": 0}
    first = Perceptron(
        "pocket", early_stopping=True, validation_fraction=0.4, warm_start=True, class_weight={0: 2.0}, **options
    ).fit(X, y)
    first.preparation_ = {"columns": ["a"]}
    yield first
    yield VotedPerceptron(multi_class="direct", **options).fit(sp.csr_array(X), y)
    yield Perceptron().partial_fit(X, np.array(["a", "b", "a"])[y])


def other_arrays(arrays, rng):
    for name, array in arrays.items():
        yield {key: value for key, value in arrays.items() if key != name}
        yield {**{key: value for key, value in arrays.items() if key != name}, name + "s": array}
        yield {**arrays, name: array.reshape(-1, 1)}
        yield {**arrays, name: array[:-1]}
        yield {**arrays, name: np.concatenate([array, array])}
        yield {**arrays, name: array.astype(np.float32 if array.dtype == np.float64 else np.float64)}
        extremes = [True, False] if array.dtype == bool else [-1, 0, 1, 2**31 - 1]
        extremes += [np.nan, np.inf, -np.inf, 1e308, 5e-324, -0.5] if array.dtype.kind == "f" else []
        for value in extremes if array.size else []:
            for place in {0, array.size - 1, int(rng.integers(array.size))}:
                changed = array.copy()
                changed.reshape(-1)[place] = value
                yield {**arrays, name: changed}


@pytest.mark.slow
def test_forged_files_are_refused_or_as_sound_as_any(path):
    """With the checksum made right: an error, or a model that says just what the file says, and works."""
    X, y = examples(3, n=30)
    rng = np.random.default_rng(0)
    tried, loaded = 0, 0
    for model in small_models():
        save(model, path)
        header, arrays = read_container(path)
        assert path.read_bytes() == forge(compact(header), arrays)
        forgeries = [(other, arrays) for other in mutations(header)]
        forgeries += [(header, other) for other in other_arrays(arrays, rng)]
        for number in rng.permutation(len(forgeries))[:FORGERIES]:
            some_header, some_arrays = forgeries[number]
            path.unlink(missing_ok=True)
            path.write_bytes(forge(compact(some_header), some_arrays))
            tried += 1
            try:
                again = load(path)
            except ValueError as refusal:
                assert str(refusal).startswith(str(path))  # noqa: PT017
                continue
            loaded += 1
            save(again, path)
            header_again, arrays_again = read_container(path)
            known = {"library", "report"}  # words for readers, and what follows from the rest
            assert {k: v for k, v in header_again.items() if k not in known} == {
                k: v for k, v in some_header.items() if k not in known
            }
            for name, array in arrays_again.items():
                assert array.tobytes() == some_arrays[name].tobytes()
            assert len(again.predict(X)) == 30
            if again.hypothesis != "pocket" and again.class_weight != "balanced" and again.classes_.dtype.kind != "U":
                again.set_params(verbose=0).partial_fit(X, y)
    assert tried >= 1000
    assert loaded < tried / 4


@pytest.mark.slow
def test_damaged_files_are_refused(path):
    rng = np.random.default_rng(1)
    for model in small_models():
        save(model, path)
        whole = path.read_bytes()
        for bit in rng.choice(8 * len(whole), 700, replace=False):
            altered = bytearray(whole)
            altered[bit // 8] ^= 1 << int(bit % 8)
            path.unlink()
            path.write_bytes(bytes(altered))
            with pytest.raises(ValueError, match=r"\.$"):
                load(path)
        for length in range(0, len(whole), 7):
            path.unlink()
            path.write_bytes(whole[:length])
            with pytest.raises(ValueError, match=r"\.$"):
                load(path)


def test_a_name_in_a_file_is_never_looked_up_elsewhere(path):
    save(Perceptron(max_iter=1).fit(*examples()), path)
    header, arrays = read_container(path)
    for name in ("LinearPerceptron", "os.system", "rosenblatt.Perceptron", "__import__", "perceptron", ["Perceptron"]):
        path.write_bytes(forge(compact({**header, "learner": name}), arrays))
        with pytest.raises(ValueError, match="'learner' must be"):
            load(path)
