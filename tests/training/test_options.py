"""Options as plain data: what estimators take, what files hold, what a checkpoint compares."""

import inspect
import json

import numpy as np
import pytest

import rosenblatt
from rosenblatt.storage.json_fields import StrictFields
from rosenblatt.training.options import LEARNERS, RunOptions, draw_seed, parameter_names


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_options_are_those_of_the_estimator(learner):
    estimator = getattr(rosenblatt, learner)()
    options = RunOptions.for_learner(learner)
    assert list(estimator.get_params()) == parameter_names(learner)
    for name in inspect.signature(RunOptions).parameters:
        assert getattr(options, name) == getattr(estimator, name)


@pytest.mark.parametrize("learner", LEARNERS)
def test_options_come_back_from_json(learner):
    options = RunOptions.for_learner(learner, class_weight={"a": 2.0, "b": 0.5}, random_state=7, max_updates=3)
    plain = json.loads(json.dumps(options.to_plain(learner, seed=1)))
    assert RunOptions.from_plain(StrictFields(plain, "this"), learner) == options


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
        RunOptions.from_plain(StrictFields(plain, "this"), "Perceptron")


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
