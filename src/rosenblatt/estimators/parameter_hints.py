"""Parameters that other libraries' perceptrons have and ours do not: one sentence each on what to do instead."""

from __future__ import annotations

import inspect
from typing import Any, Self

from rosenblatt.messages import did_you_mean

_STEPS = (
    "predictions do not depend on the size of the steps that start from zero, so there is none to set: leave it out"
)
_PENALTY = (
    "weights are not penalised: leave it out, and use AveragedPerceptron where they should not follow single rows"
)
_LEFT_OUT = "it is of no use here: leave it out"
FOREIGN: dict[str, str] = {
    "tol": (
        "training ends after a pass without a mistake, or after max_iter passes: leave it out (as tol=None), or set "
        "early_stopping=True to end when rows held out are predicted no better"
    ),
    "eta0": _STEPS,
    "learning_rate": _STEPS,
    "power_t": _STEPS,
    "penalty": _PENALTY,
    "alpha": _PENALTY,
    "l1_ratio": _PENALTY,
    "l2": _PENALTY,
    "l1": _PENALTY,
    "loss": (
        "the loss is the perceptron's: leave it out, or use PassiveAggressive, which has hinge and squared_hinge, or "
        "scikit-learn's SGDClassifier for another one"
    ),
    "average": 'averages are kept by every run: use AveragedPerceptron, or Perceptron(hypothesis="average")',
    "C": "steps have no largest size: leave it out, or use PassiveAggressive, which has one",
    "r": "there are no variances to hold back: leave it out, or use AROW",
    "margin": "rows that are right make no update: leave it out, or use MarginPerceptron",
    "n_iter": "the most passes are called max_iter",
    "max_epochs": "the most passes are called max_iter",
    "epochs": "the most passes are called max_iter",
    "seed": "the source of random orders is called random_state",
    "n_jobs": _LEFT_OUT,
    "epsilon": _LEFT_OUT,
    "optimizer": _STEPS,
    "clip_gradient": _STEPS,
    "intercept_lr": _STEPS,
    "initializer": "weights start from zero: leave it out",
    "fit_intercept": "there is no intercept to learn: a constant comes in through coef0",
    "hypothesis": "which weights predict is settled by the class: use Perceptron to choose them",
    "max_iter": "there is no limit on passes: max_rescalings limits the work",
}
"""What to do instead of a parameter, for the classes that have none of this name."""
_FAMILY_TOL = (
    "training ends after a pass without an update, or after max_iter passes: leave it out (as tol=None), or set "
    "early_stopping=True to end when rows held out are predicted no better"
)
_FAMILY_AVERAGE = 'averages are kept by every run: set hypothesis="average" instead of average=True'
_FAMILY_LOSS = "the loss is its own: leave it out, or use PassiveAggressive, which has hinge and squared_hinge"
_FAMILY = {"tol": _FAMILY_TOL, "average": _FAMILY_AVERAGE, "loss": _FAMILY_LOSS}
FOREIGN_TO: dict[str, dict[str, str]] = {
    "PassiveAggressive": _FAMILY
    | {
        "eta0": "the largest step is called C",
        "learning_rate": (
            'the size of a step follows from the row: leave it out; "pa1" is loss="hinge", and "pa2" is '
            'loss="squared_hinge"'
        ),
        "penalty": "weights are not penalised: leave it out, and lower C where they should not follow single rows",
        "alpha": "weights are not penalised: leave it out, and lower C where they should not follow single rows",
    },
    "AROW": _FAMILY
    | {
        "C": "steps have no largest size, but are held back by r: larger values make smaller steps",
        "eta0": "the size of a step follows from the row and the variances: leave it out; a larger r makes it smaller",
        "learning_rate": (
            "the size of a step follows from the row and the variances: leave it out; a larger r makes it smaller"
        ),
        "penalty": "weights are not penalised: leave it out; a larger r makes smaller steps",
        "alpha": "weights are not penalised: leave it out; a larger r makes smaller steps",
    },
    "MarginPerceptron": _FAMILY
    | {
        "eta0": "steps have size 1: leave it out; smaller steps are a larger margin",
        "learning_rate": "steps have size 1: leave it out; smaller steps are a larger margin",
    },
}
"""What to do instead of a parameter, where a learner has another answer than the rest."""


class OwnParameters:
    """A class whose constructor and ``set_params`` say what to do instead of parameters that it does not have.

    Constructors keep their signatures, which scikit-learn reads; this looks at the names before they are called.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Return a new object; a TypeError where a keyword is no parameter."""
        if kwargs:
            own = inspect.signature(cls.__init__).parameters
            if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in own.values()):
                for name in kwargs:
                    if name not in own:
                        raise TypeError(unknown_parameter(cls.__name__, name, list(own)[1:]))
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of scikit-learn's ``get_params``; a ValueError where one is another library's."""
        own = inspect.signature(type(self).__init__).parameters
        for name in params:
            if name in FOREIGN and name not in own:
                raise ValueError(unknown_parameter(type(self).__name__, name, list(own)[1:]))
        return super().set_params(**params)  # type: ignore[misc]


def unknown_parameter(learner: str, name: str, own: list[str]) -> str:
    """Return the sentence about a parameter that a learner does not have.

    >>> print(unknown_parameter("Perceptron", "n_iter", ["max_iter", "shuffle"]))
    Perceptron has no parameter n_iter; the most passes are called max_iter.
    >>> print(unknown_parameter("Perceptron", "shufle", ["max_iter", "shuffle"]))
    Perceptron has no parameter shufle; did you mean 'shuffle'? It has max_iter, shuffle.
    """
    start = f"{learner} has no parameter {name}; "
    advice = FOREIGN_TO.get(learner, {}).get(name, FOREIGN.get(name))
    if advice is not None:
        return f"{start}{advice}."
    question = did_you_mean(name, own)
    return f"{start}{f'{question} It' if question else 'it'} has {', '.join(own)}."
