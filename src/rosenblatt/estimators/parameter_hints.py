"""Hints for users of other libraries: what to use in place of a parameter that the learners here do not have."""

from __future__ import annotations

from rosenblatt.messages import did_you_mean


def _by_name(hints: dict[str, str]) -> dict[str, str]:
    """Return a dictionary with one entry for each name; a key of ``hints`` is one or more names separated by spaces."""
    return {name: hint for names, hint in hints.items() for name in names.split()}


_TOL = (
    "training stops after a pass without {}, or after max_iter passes: leave it out (as tol=None), or set "
    "early_stopping=True to stop when the error on held-out rows no longer improves"
)
HINTS = _by_name(
    {
        "tol": _TOL.format("a mistake"),
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
"""Hints by parameter name, for every class that does not have the parameter."""
_MARGIN_LEARNERS = {
    "tol": _TOL.format("an update"),
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
    hint = OWN_HINTS.get(learner, {}).get(name, HINTS.get(name))
    if hint is not None:
        return f"{start}{hint}."
    question = did_you_mean(name, own)
    return f"{start}{f'{question} Its' if question else 'its'} parameters are {', '.join(own)}."
