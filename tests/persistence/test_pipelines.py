"""Pipelines as files: they predict the same bits, have the same names, and can be fitted anew."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from helpers.forging import alike
from helpers.pipelines import EXAMPLES, FAMILY, example, learner, mixed, numbers, table
from rosenblatt import KernelPerceptron, Perceptron, RescaledPerceptron, VotedPerceptron, load, save
from rosenblatt.persistence.json_export import export_json
from rosenblatt.persistence.onnx import export_onnx


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_loaded_pipeline_is_the_same(path, name):
    pipeline, X, y = example(name)
    save(pipeline, path)
    again = load(path)
    assert again.decision_function(X).tobytes() == pipeline.decision_function(X).tobytes()
    assert again.predict(X).tolist() == pipeline.predict(X).tolist()
    assert again.classes_.tolist() == pipeline.classes_.tolist()
    assert again.n_features_in_ == X.shape[1] if name != "passthrough" else True
    if len(pipeline.steps) > 1 and name != "passthrough":
        assert again[:-1].get_feature_names_out().tolist() == pipeline[:-1].get_feature_names_out().tolist()
        assert str(again[:-1].get_params()) == str(pipeline[:-1].get_params()) or name in ("by type", "words filled")
    alike(again[-1], pipeline[-1])
    first = path.read_bytes()
    save(again, path)
    assert path.read_bytes() == first
    assert again.fit(X, y).decision_function(X).tobytes() == pipeline.decision_function(X).tobytes()


LAST = [KernelPerceptron("rbf", gamma=0.5, random_state=0), RescaledPerceptron(random_state=0, max_rescalings=2)]
LAST += [Perceptron(random_state=0, max_iter=2), VotedPerceptron(random_state=0, max_iter=2), *FAMILY]


@pytest.mark.parametrize("last", LAST, ids=str)
def test_every_learner_can_be_the_last(path, last):
    X, y = numbers(40)
    pipeline = make_pipeline(StandardScaler(), last).fit(X, y)
    save(pipeline, path)
    assert load(path).predict(X).tolist() == pipeline.predict(X).tolist()


def test_rows_of_frames_and_unknown_categories(path):
    frame, y = table()
    pipeline = mixed().fit(frame, y)
    save(pipeline, path)
    again = load(path)
    strange = frame.assign(sex="other", port="X")[frame.columns[::-1]]
    assert again.predict(strange).tolist() == pipeline.predict(strange).tolist()
    assert again.feature_names_in_.tolist() == frame.columns.tolist()
    with pytest.raises(ValueError, match="columns are missing"):
        again.predict(frame[["age"]])


@pytest.mark.parametrize("output", ["pandas", "default"])
def test_steps_that_give_frames_still_do(path, output):
    frame, y = table()
    pipeline = mixed(sparse_threshold=0.0)
    pipeline["prepare"].transformers[1][1][1].set_params(sparse_output=False)
    pipeline.set_output(transform=output).fit(frame, y)
    save(pipeline, path)
    again = load(path)
    assert type(again[:-1].transform(frame)) is type(pipeline[:-1].transform(frame))
    assert again.predict(frame).tolist() == pipeline.predict(frame).tolist()


def test_a_file_is_loaded_where_nothing_else_was_imported(path):
    frame, y = table()
    save(mixed().fit(frame, y), path)
    program = f"import rosenblatt; print(rosenblatt.load({str(path)!r})['learn'].classes_.tolist())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['no', 'yes']"


def test_what_cannot_be_saved_says_so(path):
    X, y = numbers()
    for step, said in (
        (PCA(2), "a step of type PCA cannot be stored as data: steps may be StandardScaler, MaxAbsScaler"),
        (FunctionTransformer(np.abs), "a step of type FunctionTransformer"),
        (type("Mine", (StandardScaler,), {})(), "a step of type Mine"),
    ):
        with pytest.raises(TypeError, match=said):
            save(make_pipeline(step, learner()).fit(X, y), path)
    with pytest.raises(TypeError, match=r"a pipeline must end in one of Perceptron, .* got SGDClassifier"):
        save(make_pipeline(StandardScaler(), SGDClassifier()).fit(X, y), path)
    with pytest.raises(NotFittedError):
        save(make_pipeline(StandardScaler(), learner()), path)
    with pytest.raises(ValueError, match=r"OneHotEncoder\(min_frequency=2\) cannot be stored as data"):
        save(make_pipeline(OneHotEncoder(min_frequency=2, handle_unknown="ignore"), learner()).fit(X, y), path)
    assert not path.exists()


def test_of_a_search_the_best_model_is_saved_and_exported(path, tmp_path):
    pipeline, X, y = example("standard")
    grid = GridSearchCV(pipeline, {f"{pipeline.steps[-1][0]}__max_iter": [1, 3]}, cv=2)
    for write in (save, export_onnx, export_json):
        with pytest.raises(TypeError, match=r"^this GridSearchCV has no best_estimator_ to use: fit the search first"):
            write(grid, path)
    grid.fit(X, y)
    save(grid, path)
    assert load(path).predict(X).tolist() == grid.predict(X).tolist()
    for write in (export_onnx, export_json):
        write(grid, tmp_path / "of grid")
        write(grid.best_estimator_, tmp_path / "of best")
        assert (tmp_path / "of grid").read_bytes() == (tmp_path / "of best").read_bytes()
