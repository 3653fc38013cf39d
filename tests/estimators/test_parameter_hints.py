"""Parameters of other libraries get a sentence, and scikit-learn still reads the constructors."""

import copy
import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import PassiveAggressiveClassifier, SGDClassifier
from sklearn.linear_model import Perceptron as Theirs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers.family_cases import LEARNERS
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    RescaledPerceptron,
)

PERCEPTRONS = LEARNERS[:4]  # and not RescaledPerceptron


SENTENCES = [
    (PERCEPTRONS, "eta0", 0.1, "1.0 or None, got 0.1; weights start from zero, so predictions do not depend on the"),
    (PERCEPTRONS, "eta0", True, "1.0 or None, got True"),
    (PERCEPTRONS, "penalty", "l2", "None, got 'l2'; weights are not penalised"),
    (PERCEPTRONS, "alpha", 0.01, "0.0001 or 0 or None, got 0.01; weights are not penalised"),
    (PERCEPTRONS, "l1_ratio", 0.5, "0.15 or None, got 0.5; weights are not penalised"),
    (PERCEPTRONS, "loss", "hinge", "'perceptron' or None, got 'hinge'; the loss is fixed: .* use PassiveAggressive"),
    (PERCEPTRONS, "learning_rate", "adaptive", "'constant' or None, got 'adaptive'; weights start from zero, so"),
    ([Perceptron], "average", True, "False or None, got True; every run keeps averages: use AveragedPerceptron"),
    ([AveragedPerceptron], "average", 10, "False or True or None, got 10; every run keeps averages"),
    ([AROW], "average", True, 'False or None, got True; every run keeps averages: set hypothesis="aver'),
    ([PassiveAggressive], "average", 10, "False or True or None, got 10; every run keeps averages"),
    ([PassiveAggressive], "eta0", 0.1, "1.0 or None, got 0.1; the largest step is called C."),
    ([PassiveAggressive], "learning_rate", "pa2", '\'pa1\' or None, .*"pa1" is loss="hinge", and "pa2" is'),
    ([PassiveAggressive], "penalty", "l1", "None, .* weights are not penalised: leave it out; a smaller C"),
    ([AROW], "eta0", 2, "1.0 or None, got 2; the row and the variances determine the step"),
    ([MarginPerceptron], "eta0", 2, ".* a larger margin has the effect of smaller steps"),
    (PERCEPTRONS, "epsilon", 0.2, "0.1 or None, got 0.2; it has no effect here: leave it out"),
    (PERCEPTRONS, "power_t", "0.5", "0.5 or None, got '0.5'"),
]
ROWS = [[1.0], [-1.0]] * 5, [1, 0] * 5


@pytest.mark.parametrize(("learners", "name", "value", "sentence"), SENTENCES)
def test_values_that_would_change_something_say_what_to_do(learners, name, value, sentence):
    for learner in learners:
        model = learner(**{name: value})
        assert clone(model).get_params()[name] == value
        for train in (
            model.fit,
            getattr(model, "partial_fit", model.fit),
            lambda X, y, model=model: model.fit_stream([(X, y)]),
        ):
            with pytest.raises(ValueError, match=f"^{name} must be {sentence}"):
                train(*ROWS)


@pytest.mark.parametrize("learner", [learner for learner in LEARNERS if learner is not RescaledPerceptron])
def test_values_that_change_nothing_are_accepted(learner):
    neutral = {
        "penalty": None,
        "alpha": 0.0001,
        "l1_ratio": 0.15,
        "eta0": 1,
        "power_t": 0.5,
        "epsilon": np.float64(0.1),
    }
    neutral["learning_rate"] = "pa1" if learner is PassiveAggressive else "constant"
    neutral["average"] = learner is AveragedPerceptron
    if learner in PERCEPTRONS:
        neutral["loss"] = "perceptron"
    plain, given = learner(random_state=0).fit(*ROWS), learner(random_state=0, **neutral).fit(*ROWS)
    assert given.decision_function(ROWS[0]).tobytes() == plain.decision_function(ROWS[0]).tobytes()
    assert {name: given.get_params()[name] for name in neutral} == neutral
    assert clone(given).get_params() == given.get_params()


def test_the_average_of_a_perceptron_may_be_asked_for_twice():
    model = Perceptron(hypothesis="average", average=True, random_state=0).fit(*ROWS)
    assert model.coef_.tolist() == AveragedPerceptron(random_state=0).fit(*ROWS).coef_.tolist()
    PassiveAggressive(loss="squared_hinge", learning_rate="pa2").fit(*ROWS)


@pytest.mark.parametrize(
    ("learners", "name", "sentence"),
    [
        (PERCEPTRONS, "C", "steps are not limited: leave it out, or use PassiveAggressive"),
        (PERCEPTRONS, "r", "weights have no variances: leave it out, or use AROW"),
        (PERCEPTRONS, "margin", "correct rows make no update: leave it out, or use MarginPerceptron"),
        (PERCEPTRONS, "initializer", "weights start from zero"),
        ([RescaledPerceptron], "eta0", "weights start from zero, so predictions do not depend on the step size"),
        ([RescaledPerceptron], "penalty", "weights are not penalised"),
        ([AROW], "C", "neither steps nor weights are limited: leave it out; a larger r"),
        ([AROW], "loss", "the loss is fixed: leave it out, or use PassiveAggressive"),
        ([MarginPerceptron], "C", "steps are not limited: leave it out, or use PassiveAggressive"),
    ],
)
def test_foreign_parameters_say_what_to_do(learners, name, sentence):
    for learner in learners:
        with pytest.raises(TypeError, match=f"^{learner.__name__} has no parameter {name}; {sentence}"):
            learner(**{name: 1})


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_parameter_of_scikit_learn_is_known_or_has_a_sentence(learner):
    own = inspect.signature(learner).parameters
    theirs = [inspect.signature(kind).parameters for kind in (Theirs, SGDClassifier, PassiveAggressiveClassifier)]
    for name in {name for parameters in theirs for name in parameters} - set(own):
        with pytest.raises(TypeError, match=f"has no parameter {name};") as refusal:
            learner(**{name: None})
        if learner is not RescaledPerceptron:
            assert "its parameters are" not in str(refusal.value), "a sentence of its own"


def test_slips_name_the_parameter_that_was_meant():
    with pytest.raises(TypeError, match=r"has no parameter maxiter; did you mean 'max_iter'\?"):
        Perceptron(maxiter=3)
    with pytest.raises(TypeError, match=r"AveragedPerceptron has no parameter hypothesis; .* use Perceptron"):
        AveragedPerceptron(hypothesis="last")
    with pytest.raises(TypeError, match=r"KernelPerceptron has no parameter fit_intercept; .* coef0"):
        KernelPerceptron(fit_intercept=True)
    with pytest.raises(TypeError, match="its parameters are fit_intercept, max_rescalings"):
        RescaledPerceptron(zzz=1)


@pytest.mark.parametrize("learner", LEARNERS)
def test_constructors_are_read_copied_and_pickled(learner):
    model = learner(random_state=3)
    assert model.get_params()["random_state"] == 3
    assert set(inspect.signature(learner).parameters) == set(model.get_params())
    for other in (clone(model), copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.get_params() == model.get_params()


def test_a_class_of_its_own_may_take_anything():
    class Mine(Perceptron):
        def __init__(self, eta0=1.0, **others):
            super().__init__(**others)
            self.eta0 = eta0

    assert Mine(eta0=2.0, max_iter=3).max_iter == 3


@pytest.mark.parametrize("learner", LEARNERS)
def test_set_params_says_what_the_constructor_says(learner):
    with pytest.raises(TypeError) as constructed:
        learner(initializer=0)
    with pytest.raises(ValueError, match=f"^{learner.__name__} has no parameter initializer; ") as refusal:
        learner().set_params(random_state=0, initializer=0)
    assert str(refusal.value) == str(constructed.value)
    with pytest.raises(ValueError, match="Invalid parameter 'zzz' for estimator"):
        learner().set_params(zzz=1)
    assert learner().set_params(random_state=7).random_state == 7


def test_a_grid_says_it_too():
    with pytest.raises(ValueError, match="Perceptron has no parameter C; steps are not limited"):
        GridSearchCV(Perceptron(), {"C": [0.1, 1.0]}).fit(*ROWS)
    grid = GridSearchCV(make_pipeline(StandardScaler(), Perceptron()), {"perceptron__eta0": [1.0, 0.1]}, cv=2)
    with pytest.warns() as seen:
        grid.fit(*ROWS)
    assert "eta0 must be 1.0 or None, got 0.1; weights start from zero" in str(seen[0].message)
    assert grid.best_params_ == {"perceptron__eta0": 1.0}
