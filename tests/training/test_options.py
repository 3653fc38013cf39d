"""Options as plain data: what estimators take, what files hold, what a checkpoint compares."""

import inspect
import json

import numpy as np
import pytest

import rosenblatt
from rosenblatt.estimators.parameter_hints import PerceptronParameters
from rosenblatt.training.options import LEARNERS, RunOptions, draw_seed, parameter_names


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_options_are_those_of_the_estimator(learner):
    estimator = getattr(rosenblatt, learner)()
    options = RunOptions.for_learner(learner)
    unused = {name for name in PerceptronParameters.__annotations__ if getattr(estimator, name, None) is None}
    assert sorted(set(estimator.get_params()) - unused) == parameter_names(learner)
    more = {"KernelPerceptron": {"fit_intercept", "overrides", "decay"}}.get(learner, set())
    for name in set(inspect.signature(type(options)).parameters) - more:
        assert getattr(options, name) == getattr(estimator, name)


@pytest.mark.parametrize("learner", LEARNERS)
def test_options_come_back_from_json(learner):
    options = RunOptions.for_learner(learner, class_weight={"a": 2.0, "b": 0.5}, random_state=7, max_updates=3)
    plain = json.loads(json.dumps(options.to_plain(learner, seed=1)))
    assert RunOptions.from_plain(plain, learner) == options


def test_a_source_of_randomness_is_stored_as_the_seed_in_use():
    options = RunOptions(random_state=np.random.default_rng(0))
    assert options.to_plain("Perceptron", seed=12)["random_state"] == 12


@pytest.mark.parametrize(
    ("name", "value"),
    [("random_state", -1), ("max_iter", 2**62), ("n_jobs", 0), ("verbose", "yes"), ("class_weight", [["a"]])]
    + [("class_weight", [["a", -1.0]]), ("class_weight", [["a", 1.0], ["a", 2.0]]), ("validation_fraction", 1)],
)
def test_what_a_file_may_not_say(name, value):
    plain = RunOptions().to_plain("Perceptron", seed=0) | {name: value}
    with pytest.raises(ValueError, match=name):
        RunOptions.from_plain(plain, "Perceptron")


@pytest.mark.parametrize(
    ("name", "value"),
    [("kernel", value) for value in ("function", "cubic", None, 1, True, ["rbf"])]
    + [("degree", value) for value in (-1, 2.0, None, True, "3", 2**62)]
    + [("gamma", value) for value in ("wide", -1.0, None, True, [])]
    + [("coef0", value) for value in ("1", None, False, 2**62)]
    + [("cache_size", value) for value in (0, -1.0, None, "all", True)]
    + [("max_support", value) for value in (0, -1, 1.5, "2", True)]
    + [("device", value) for value in ("", "CUDA", "cuda:", "../gpu", "a" * 30, 0, ["cuda"], "cuda:1\n")],
)
def test_what_a_file_may_not_say_of_a_kernel(name, value):
    plain = RunOptions.for_learner("KernelPerceptron").to_plain("KernelPerceptron", seed=0) | {name: value}
    with pytest.raises(ValueError, match=name):
        RunOptions.from_plain(plain, "KernelPerceptron")


def test_options_of_a_kernel_come_back_as_given():
    for given in (
        {"gamma": "auto", "device": "cuda:1"},
        {"gamma": 2, "coef0": -0.5, "cache_size": 7, "max_support": 3},
    ):
        options = RunOptions.for_learner("KernelPerceptron", kernel="rbf", **given)
        plain = json.loads(json.dumps(options.to_plain("KernelPerceptron", seed=1)))
        assert RunOptions.from_plain(plain, "KernelPerceptron") == options
        assert "fit_intercept" not in plain


def test_a_function_is_not_stored():
    options = RunOptions.for_learner("KernelPerceptron", kernel=np.dot)
    with pytest.raises(ValueError, match=r'kernel is a function cannot be saved.*kernel="precomputed".*pickle'):
        options.to_plain("KernelPerceptron", seed=0)


def test_seeds():
    assert draw_seed(5) == 5
    assert draw_seed(2**70) == 2**70
    assert draw_seed(None) != draw_seed(None)
    assert draw_seed(np.random.default_rng(3)) == int(np.random.default_rng(3).integers(2**63))
    assert draw_seed(np.random.RandomState(3)) == np.random.RandomState(3).randint(2**31 - 1)
    np.random.seed(4)  # noqa: NPY002
    drawn = draw_seed(np.random)
    assert drawn == np.random.RandomState(4).randint(2**31 - 1)
    for wrong in (-1, "seed", 1.5, True):
        with pytest.raises(ValueError, match="random_state must be an integer"):
            draw_seed(wrong)
