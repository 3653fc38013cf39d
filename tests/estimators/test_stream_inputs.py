"""Streams and strings where arrays of numbers are expected."""

import numpy as np
import pandas as pd
import pytest

from rosenblatt import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    RescaledPerceptron,
    data,
)

LEARNERS = [Perceptron, AveragedPerceptron, KernelPerceptron, RescaledPerceptron, PassiveAggressive, AROW]
READ = r"read it with X, y = stream\.read\(\), then "


@pytest.fixture
def stream(tmp_path):
    path = tmp_path / "fruit.csv"
    path.write_text("weight,size,fruit\n150,7,apple\n120,6,apple\n8,2,cherry\n7,1,cherry\n")
    return data.open(path, target="fruit")


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_stream_is_no_array_and_the_error_says_what_to_do(learner, stream):
    X, y = stream.read()
    model = learner(random_state=0)
    advice = r"use fit_stream\(stream\)\.$" if hasattr(model, "fit_stream") else READ + r"fit\(X, y\)\.$"
    with pytest.raises(TypeError, match="^fit takes rows and labels as arrays, got a stream: " + advice):
        model.fit(stream)
    with pytest.raises(TypeError, match="^fit takes rows and labels as arrays, got a stream: " + advice):
        model.fit(stream, y)
    model.fit(X, y)
    with pytest.raises(TypeError, match="^predict takes rows as arrays, got a stream: " + READ + r"predict\(X\)\.$"):
        model.predict(stream)
    with pytest.raises(TypeError, match="^score takes rows and labels as .* " + READ + r"score\(X, y\)\.$"):
        model.score(stream)
    if hasattr(model, "partial_fit"):
        with pytest.raises(TypeError, match=r"^partial_fit takes .* use fit_stream\(stream\)\.$"):
            model.partial_fit(stream)


@pytest.mark.parametrize("learner", LEARNERS)
def test_labels_are_still_required(learner):
    X = [[1.0], [-1.0]]
    with pytest.raises(ValueError, match="requires y to be passed"):
        learner().fit(X)
    model = learner(random_state=0).fit(X, [1, 0])
    with pytest.raises(TypeError, match=r"^score compares predictions with labels, got none: use score\(X, y\)\.$"):
        model.score(X)
    assert model.score(X, [1, 1]) == 0.5
    assert model.score(X, [1, 1], sample_weight=[3, 1]) == 0.75


@pytest.mark.parametrize("rows", [pd.DataFrame, np.array])
def test_strings_are_refused_in_scikit_learns_words_and_with_advice(rows):
    X = rows([["Nasser", "1"], ["Braund", "2"]])
    sentence = (
        r"^could not convert string to float: .*'(Nasser|Braund)'\)?\. Make numbers of strings first: with "
        r"OneHotEncoder in a pipeline, or train on the file with fit_stream\(data\.open\(\.\.\.\)\), which does\.$"
    )
    with pytest.raises(ValueError, match=sentence):
        Perceptron().fit(X, [0, 1])
    with pytest.raises(ValueError, match=sentence):
        Perceptron().fit([[1.0, 2.0], [3.0, 4.0]], [0, 1]).predict(X)
