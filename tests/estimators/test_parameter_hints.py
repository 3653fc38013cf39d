"""Parameters of other libraries get a sentence, and scikit-learn still reads the constructors."""

import copy
import inspect
import pickle

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

PERCEPTRONS = LEARNERS[:5]


@pytest.mark.parametrize(
    ("learners", "name", "sentence"),
    [
        (PERCEPTRONS, "tol", "training stops after a pass without a mistake"),
        (PERCEPTRONS, "eta0", "weights start from zero, so predictions do not depend on the step size"),
        (PERCEPTRONS, "penalty", "weights are not penalised"),
        (PERCEPTRONS, "loss", "the loss is fixed"),
        (PERCEPTRONS, "learning_rate", "weights start from zero, so predictions do not depend on the step size"),
        (PERCEPTRONS, "average", "every run keeps averages: use AveragedPerceptron"),
        (PERCEPTRONS, "C", "steps are not limited: leave it out, or use PassiveAggressive"),
        (PERCEPTRONS, "r", "weights have no variances: leave it out, or use AROW"),
        (PERCEPTRONS, "margin", "correct rows make no update: leave it out, or use MarginPerceptron"),
        (PERCEPTRONS, "initializer", "weights start from zero"),
        ([PassiveAggressive], "tol", "training stops after a pass without an update"),
        ([PassiveAggressive], "average", 'every run keeps averages: set hypothesis="average"'),
        ([PassiveAggressive], "eta0", "the largest step is called C."),
        ([PassiveAggressive], "learning_rate", '.*"pa1" is loss="hinge", and "pa2" is loss="squared_hinge"'),
        ([PassiveAggressive], "penalty", "weights are not penalised: leave it out; a smaller C"),
        ([AROW], "C", "neither steps nor weights are limited: leave it out; a larger r"),
        ([AROW], "eta0", "the row and the variances determine the step"),
        ([AROW], "average", 'every run keeps averages: set hypothesis="average"'),
        ([AROW], "loss", "the loss is fixed: leave it out, or use PassiveAggressive"),
        (
            [MarginPerceptron],
            "eta0",
            "steps have size 1: leave it out; a larger margin has the effect of smaller steps",
        ),
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
        learner(tol=1e-3)
    with pytest.raises(ValueError, match=f"^{learner.__name__} has no parameter tol; ") as refusal:
        learner().set_params(random_state=0, tol=1e-3)
    assert str(refusal.value) == str(constructed.value)
    with pytest.raises(ValueError, match="Invalid parameter 'zzz' for estimator"):
        learner().set_params(zzz=1)
    assert learner().set_params(random_state=7).random_state == 7


def test_a_grid_says_it_too():
    X, y = [[1.0], [-1.0]] * 5, [1, 0] * 5
    with pytest.raises(ValueError, match="Perceptron has no parameter eta0; weights start from zero"):
        GridSearchCV(Perceptron(), {"eta0": [0.1, 1.0]}).fit(X, y)
    with pytest.raises(ValueError, match="Perceptron has no parameter tol; training stops"):
        GridSearchCV(make_pipeline(StandardScaler(), Perceptron()), {"perceptron__tol": [0.1]}).fit(X, y)
