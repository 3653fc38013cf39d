"""What is missing, ignored or not meant gets a sentence that can be acted on."""

import io
import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    RescaledPerceptron,
    VotedPerceptron,
    data,
    load,
    save,
)

LEARNERS = [
    Perceptron,
    AveragedPerceptron,
    VotedPerceptron,
    KernelPerceptron,
    RescaledPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    AROW,
]
FRUIT = "weight,colour,fruit\n150,red,apple\n120,green,apple\n8,red,cherry\n7,red,cherry\n"


@pytest.mark.parametrize("learner", LEARNERS)
def test_probabilities_are_looked_for_elsewhere(learner):
    model = learner()
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=r"wrap it in sklearn\.calibration\.CalibratedClassifierCV"):
        model.predict_proba([[1.0]])


@pytest.mark.parametrize("learner", [AveragedPerceptron, MarginPerceptron, PassiveAggressive, AROW])
@pytest.mark.filterwarnings("ignore:.*last that max_iter:sklearn.exceptions.ConvergenceWarning")
def test_probabilities_are_found_there(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    calibrated = CalibratedClassifierCV(learner(random_state=0), cv=3).fit(X, X[:, 0] > 0)
    assert calibrated.predict_proba(X).shape == (200, 2)


@pytest.mark.parametrize("learner", [Perceptron, KernelPerceptron])
def test_early_stopping_is_said_to_be_ignored_once(learner):
    model = learner(early_stopping=True, **({"gamma": 1.0} if learner is KernelPerceptron else {}))
    with pytest.warns(UserWarning, match="partial_fit holds out no rows, so early_stopping=True has no effect"):
        model.partial_fit([[1.0], [-1.0]], [1, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit([[1.0], [-1.0]], [1, 0])


@pytest.mark.parametrize("learner", LEARNERS)
def test_numbers_that_are_no_classes(learner):
    with pytest.raises(
        ValueError, match=r"^Unknown label type: expected classes, got numbers such as 0.5, as for a reg"
    ):
        learner().fit([[1.0], [2.0], [3.0]], [1.0, 0.5, 2.0])


@pytest.mark.parametrize(
    ("blocks", "sentence"),
    [
        (lambda: iter([]), r"got a function \(call it first\)"),
        ([np.eye(2)], "expected blocks of the form .* got ndarray"),
        ("words", "expected blocks of the form .* got str"),
        ([([[1.0], [2.0]], [0, 1]), 3], "expected blocks of the form .* got int"),
        ([([[1.0], [2.0]], [0, 1]), ([[1.0]], ["a"])], "labels must be all words or all numbers"),
        (3, "expected an iterable of blocks"),
    ],
)
def test_what_is_no_stream(blocks, sentence):
    with pytest.raises(ValueError, match=sentence):
        Perceptron().fit_stream(blocks)


def test_one_short_sentence_about_mistakes():
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.warns(ConvergenceWarning) as seen:
        model = Perceptron(max_iter=3, random_state=0).fit(X, np.arange(50) % 2)
    assert str(seen[0].message) == (
        f"{model.history_['mistakes'][-1]} mistakes in pass 3, the last that max_iter allows: the data is not "
        'separated; raise max_iter, or use hypothesis="average" or AveragedPerceptron if it may not be separable.'
    )


# files


def test_blocks_unpack():
    for X, y in data.open(io.BytesIO(FRUIT.encode()), target="fruit"):
        assert X.shape == (4, 3)
        assert y.tolist() == ["apple", "apple", "cherry", "cherry"]


def test_what_can_be_read_once_says_so_when_it_has_been(tmp_path):
    stream = data.open(io.BytesIO(FRUIT.encode()), target="fruit")
    assert stream.read()[0].shape == (4, 3)
    for again in (stream.read, lambda: list(stream), lambda: Perceptron(max_iter=1).fit_stream(stream)):
        with pytest.raises(ValueError, match="can be read only once, and has been read to its end: open it again"):
            again()
    assert iter(stream) is stream


def test_a_model_of_files_carries_their_preparation(tmp_path):
    (tmp_path / "fruit.csv").write_text(FRUIT)
    stream = data.open(tmp_path / "fruit.csv", target="fruit")
    model = Perceptron(max_iter=1000, random_state=0, warm_start=True).fit_stream(stream)
    assert model.preparation_ == stream.preparation
    assert model.feature_names_in_.tolist() == ["weight", "colour=green", "colour=red"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict([[100, 0, 1]]).tolist() == ["apple"]
        model.fit_stream(stream)
        save(model, tmp_path / "m")
        again = load(tmp_path / "m")
        rows, labels = data.open(tmp_path / "fruit.csv", preparation=again.preparation_).read()
        assert again.score(rows, labels) == 1.0
    with pytest.raises(ValueError, match="trained on files, whose rows are prepared as preparation_ says"):
        model.predict_one({"weight": 3})
    model.set_params(warm_start=False).fit(rows, labels)
    assert not hasattr(model, "preparation_"), "these rows come from no file"
    assert not hasattr(model, "feature_names_in_")


def test_hashed_columns_have_no_names(tmp_path):
    (tmp_path / "t.vw").write_text("1 | a b\n-1 | c d\n")
    model = Perceptron().fit_stream(data.open(tmp_path / "t.vw", bits=4))
    assert model.preparation_["format"] == "vw"
    assert not hasattr(model, "feature_names_in_")
