"""Several seeds at once: each model is the one that its seed gives alone."""

import numpy as np
import pandas as pd
import pytest

from helpers.clusters import ProcessAveragedPerceptron
from rosenblatt import AveragedPerceptron


def shards(seed=0, classes=3):
    rng = np.random.default_rng(seed)
    rule = rng.normal(size=(4, classes))
    rows = [rng.normal(size=(n, 4)) for n in (40, 0, 25, 60)]
    return [(X, np.argmax(X @ rule + 0.2 * rng.normal(size=(len(X), classes)), axis=1)) for X in rows]


def test_each_model_is_the_one_of_its_seed():
    parts = shards()
    model = ProcessAveragedPerceptron(max_iter=3).fit_shards(parts, seeds=[3, 1, 2])
    assert len(model.models_) == 3
    for seed, one in zip([3, 1, 2], model.models_, strict=True):
        alone = AveragedPerceptron(max_iter=3, random_state=seed).fit_stream(parts)
        assert type(one) is AveragedPerceptron
        assert one.seed_ == seed
        assert np.array_equal(one.coef_, alone.coef_)
    assert np.array_equal(model.coef_, model.models_[0].coef_)


def test_a_later_fit_forgets_the_other_models():
    parts = shards()
    model = ProcessAveragedPerceptron(max_iter=3, random_state=0).fit_shards(parts, seeds=[3, 1])
    assert not hasattr(model.fit_shards(parts), "models_")


def test_what_does_not_go_with_seeds_is_one_sentence():
    for more in ({"seeds": []}, {"seeds": [1], "checkpoint": "file"}, {"seeds": [1], "on_pass": print}):
        with pytest.raises(
            ValueError, match=r"^seeds must hold at least one seed, and cannot be combined with checkpoint"
        ):
            ProcessAveragedPerceptron().fit_shards(shards(), **more)


def test_an_error_of_one_is_the_error_of_all():
    with pytest.raises(ValueError, match="random_state"):
        ProcessAveragedPerceptron().fit_shards(shards(), seeds=[1, -5])


def test_a_fit_that_fails_keeps_the_models():
    model = ProcessAveragedPerceptron(max_iter=2).fit_shards(shards(), seeds=[0, 1])
    with pytest.raises(ValueError, match="two classes"):
        model.fit_shards([([[1.0], [2.0]], [1, 1])])
    assert len(model.models_) == 2


def test_seeds_forget_the_names_of_an_earlier_fit():
    frame = pd.DataFrame({"a": [1.0, -1.0], "b": [0.0, 1.0]})
    model = ProcessAveragedPerceptron(max_iter=2).fit_shards([(frame, [1, 0])])
    assert hasattr(model, "feature_names_in_")
    assert not hasattr(model.fit_shards(shards(), seeds=[0]), "feature_names_in_")
