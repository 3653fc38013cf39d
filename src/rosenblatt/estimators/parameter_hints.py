"""Parameters of other libraries: which scikit-learn parameters are accepted, and hints for all others."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from numbers import Real
from typing import Any, TypedDict

from rosenblatt.messages import ParameterError, Setting, did_you_mean, is_boolean, shorten


def _by_name(hints: dict[str, str]) -> dict[str, str]:
    """Return ``hints`` with one entry per parameter name; its keys may be several names separated by spaces."""
    return {name: hint for names, hint in hints.items() for name in names.split()}


HINTS = _by_name(
    {
        "tol": "training stops when every row is classified correctly: leave it out",
        "eta0 learning_rate power_t optimizer clip_gradient intercept_lr": (
            "weights start from zero, so predictions do not depend on the step size: leave it out"
        ),
        "penalty alpha l1_ratio l2 l1": "weights are not penalised: leave it out; averaged weights tolerate noise",
        "loss": "the loss is fixed: leave it out, or use PassiveAggressive, which has hinge and squared_hinge",
        "average": 'every run keeps averages: use AveragedPerceptron, or Perceptron(hypothesis="average")',
        "C": "steps are not limited: leave it out, or use PassiveAggressive, which limits them",
        "r": "weights have no variances: leave it out, or use AROW, which has them",
        "margin": "correct rows make no update: leave it out, or use MarginPerceptron, where those within the margin "
        "do",
        "n_iter max_epochs epochs": "the maximum number of passes is called max_iter",
        "seed": "the source of random orders is called random_state",
        "n_jobs epsilon": "it has no effect here: leave it out",
        "initializer": "weights start from zero: leave it out",
        "fit_intercept": "there is no intercept: use coef0 for a constant term",
        "hypothesis": "the class decides which weights predict: use Perceptron to choose them",
        "max_iter": "the number of passes is not limited: max_rescalings limits the work",
    }
)
"""Hints for error messages by parameter name, used for every class that does not have the parameter."""
_MARGIN_LEARNERS = {
    "average": 'every run keeps averages: set hypothesis="average" instead of average=True',
}
OWN_HINTS = {
    learner: _MARGIN_LEARNERS | _by_name(own)
    for learner, own in {
        "PassiveAggressive": {
            "eta0": "the largest step is called C",
            "learning_rate": (
                'the row determines the step: leave it out; "pa1" is loss="hinge", and "pa2" is loss="squared_hinge"'
            ),
            "penalty alpha": "weights are not penalised: leave it out; a smaller C makes smaller steps",
        },
        "AROW": {
            "eta0 learning_rate": "the row and the variances determine the step: leave it out; a larger r makes it "
            "smaller",
            "C penalty alpha": "neither steps nor weights are limited: leave it out; a larger r makes smaller steps",
        },
        "MarginPerceptron": {
            "eta0 learning_rate": "steps have size 1: leave it out; a larger margin has the effect of smaller steps",
        },
    }.items()
}
"""Hints by class and parameter name, which take precedence over `HINTS`."""


def unknown_parameter(learner: str, name: str, own: list[str]) -> str:
    """Return the error message for ``name``, which is not a parameter of the learner; ``own`` lists its parameters.

    >>> print(unknown_parameter("Perceptron", "n_iter", ["max_iter", "shuffle"]))
    Perceptron has no parameter n_iter; the maximum number of passes is called max_iter.
    >>> print(unknown_parameter("Perceptron", "shufle", ["max_iter", "shuffle"]))
    Perceptron has no parameter shufle; did you mean 'shuffle'? Its parameters are max_iter, shuffle.
    """
    start = f"{learner} has no parameter {name}; "
    hint = _hint(learner, name)
    if hint is not None:
        return f"{start}{hint}."
    question = did_you_mean(name, own)
    return f"{start}{f'{question} Its' if question else 'its'} parameters are {', '.join(own)}."


# Parameters of scikit-learn's Perceptron, SGDClassifier and PassiveAggressiveClassifier that change nothing here. The
# learners have them so that code written for scikit-learn runs unchanged; None stands for scikit-learn's value.


class ScikitLearnParameters(TypedDict, total=False):
    """Parameters of scikit-learn that all learners accept but do not use."""

    penalty: str | None
    alpha: float | None
    l1_ratio: float | None
    eta0: float | None
    learning_rate: str | None
    power_t: float | None
    epsilon: float | None
    average: bool | int | None


class PerceptronParameters(ScikitLearnParameters, total=False):
    """Parameters of scikit-learn that perceptrons accept but do not use; ``loss`` is one, as it is fixed."""

    loss: str | None


_ACCEPTED: dict[str, tuple[object, ...]] = {
    "penalty": (),
    "alpha": (0.0001, 0),
    "l1_ratio": (0.15,),
    "eta0": (1.0,),
    "learning_rate": ("constant",),
    "power_t": (0.5,),
    "epsilon": (0.1,),
    "average": (False,),
    "loss": ("perceptron",),
}
"""For each unused parameter, the values that are accepted in addition to None."""


def accepts(parameters: type[ScikitLearnParameters]) -> Callable[[Callable[..., None]], Any]:
    """Return a decorator that adds ``parameters`` to the signature of a constructor that ends in ``**others``.

    Their default is None. scikit-learn reads the parameters of an estimator from the signature of its constructor.
    """
    names = list(parameters.__annotations__)

    def decorate(init: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(init)
        own = [value for value in signature.parameters.values() if value.kind is not value.VAR_KEYWORD]
        more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names]

        @wraps(init)
        def __init__(self: object, *arguments: object, **given: object) -> None:
            init(self, *arguments, **dict.fromkeys(names) | given)

        __init__.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        return __init__

    return decorate


def check_unused(model: object, learner: str, hypothesis: str) -> None:
    """Raise a ParameterError if an unused parameter has a value that would have an effect in scikit-learn.

    ``learner`` is the name of the learner, and ``hypothesis`` names the weights that it predicts with, such as
    "average".
    """
    for name, accepted in _ACCEPTED.items():
        value = getattr(model, name, None)
        if value is None or (name == "loss" and learner == "PassiveAggressive"):
            continue
        if name == "average" and hypothesis == "average":
            accepted = (False, True)
        if name == "learning_rate" and learner == "PassiveAggressive":
            accepted = ("pa2" if getattr(model, "loss", None) == "squared_hinge" else "pa1",)
        if not _is_one_of(value, accepted):
            raise ParameterError(
                "{setting} must be {expected}, got {got}; {hint}.",
                setting=Setting(name),
                expected=" or ".join([*map(repr, accepted), "None"]),
                got=shorten(value),
                hint=_hint(learner, name),
            )


def _is_one_of(value: object, accepted: tuple[object, ...]) -> bool:
    simple = isinstance(value, str | Real) or is_boolean(value)
    return simple and any(is_boolean(value) == is_boolean(one) and bool(value == one) for one in accepted)


def _hint(learner: str, name: str) -> str | None:
    """Return the hint on a parameter that the learner does not have or use, or None if there is none."""
    return OWN_HINTS.get(learner, {}).get(name, HINTS.get(name))
