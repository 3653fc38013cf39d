"""Parameters that other libraries' perceptrons have and ours do not: one sentence each on what to do instead."""

from __future__ import annotations

from rosenblatt.messages import did_you_mean


def _table(rows: list[tuple[str, str]]) -> dict[str, str]:
    """Return the sentence of each name, from pairs of names and the sentence that they share."""
    return {name: sentence for names, sentence in rows for name in names.split()}


_END = (
    "training ends after a pass without {}, or after max_iter passes: leave it out (as tol=None), or set "
    "early_stopping=True to end when rows held out are predicted no better"
)
HINTS = _table(
    [
        ("tol", _END.format("a mistake")),
        (
            "eta0 learning_rate power_t optimizer clip_gradient intercept_lr",
            "predictions do not depend on the size of the steps that start from zero, so there is none to set: leave "
            "it out",
        ),
        (
            "penalty alpha l1_ratio l2 l1",
            "weights are not penalised: leave it out, and use AveragedPerceptron where they should not follow single "
            "rows",
        ),
        (
            "loss",
            "the loss is the perceptron's: leave it out, or use PassiveAggressive, which has hinge and squared_hinge, "
            "or scikit-learn's SGDClassifier for another one",
        ),
        ("average", 'averages are kept by every run: use AveragedPerceptron, or Perceptron(hypothesis="average")'),
        ("C", "steps have no largest size: leave it out, or use PassiveAggressive, which has one"),
        ("r", "there are no variances to hold back: leave it out, or use AROW"),
        ("margin", "rows that are right make no update: leave it out, or use MarginPerceptron"),
        ("n_iter max_epochs epochs", "the most passes are called max_iter"),
        ("seed", "the source of random orders is called random_state"),
        ("n_jobs epsilon", "it is of no use here: leave it out"),
        ("initializer", "weights start from zero: leave it out"),
        ("fit_intercept", "there is no intercept to learn: a constant comes in through coef0"),
        ("hypothesis", "which weights predict is settled by the class: use Perceptron to choose them"),
        ("max_iter", "there is no limit on passes: max_rescalings limits the work"),
    ]
)
"""What to do instead of a parameter, for the classes that have none of this name."""
_MARGIN_LEARNERS = [
    ("tol", _END.format("an update")),
    ("average", 'averages are kept by every run: set hypothesis="average" instead of average=True'),
    ("loss", "the loss is its own: leave it out, or use PassiveAggressive, which has hinge and squared_hinge"),
]
OWN_HINTS = {
    "PassiveAggressive": _table(
        [
            *_MARGIN_LEARNERS,
            ("eta0", "the largest step is called C"),
            (
                "learning_rate",
                'the size of a step follows from the row: leave it out; "pa1" is loss="hinge", and "pa2" is '
                'loss="squared_hinge"',
            ),
            (
                "penalty alpha",
                "weights are not penalised: leave it out, and lower C where they should not follow single rows",
            ),
        ]
    ),
    "AROW": _table(
        [
            *_MARGIN_LEARNERS,
            ("C", "steps have no largest size, but are held back by r: larger values make smaller steps"),
            (
                "eta0 learning_rate",
                "the size of a step follows from the row and the variances: leave it out; a larger r makes it smaller",
            ),
            ("penalty alpha", "weights are not penalised: leave it out; a larger r makes smaller steps"),
        ]
    ),
    "MarginPerceptron": _table(
        [
            *_MARGIN_LEARNERS,
            ("eta0 learning_rate", "steps have size 1: leave it out; smaller steps are a larger margin"),
        ]
    ),
}
"""What to do instead of a parameter, where a learner has another answer than the rest."""


def unknown_parameter(learner: str, name: str, own: list[str]) -> str:
    """Return the sentence about a parameter that a learner does not have.

    >>> print(unknown_parameter("Perceptron", "n_iter", ["max_iter", "shuffle"]))
    Perceptron has no parameter n_iter; the most passes are called max_iter.
    >>> print(unknown_parameter("Perceptron", "shufle", ["max_iter", "shuffle"]))
    Perceptron has no parameter shufle; did you mean 'shuffle'? It has max_iter, shuffle.
    """
    start = f"{learner} has no parameter {name}; "
    advice = OWN_HINTS.get(learner, {}).get(name, HINTS.get(name))
    if advice is not None:
        return f"{start}{advice}."
    question = did_you_mean(name, own)
    return f"{start}{f'{question} It' if question else 'it'} has {', '.join(own)}."
