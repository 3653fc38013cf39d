"""The options that only some linear learners have, and which learner each is for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from rosenblatt.cli import options as given
from rosenblatt.messages import ParameterError, Setting, check_choice

_USERS = {
    "r": ("arow",),
    "C": ("pa",),
    "loss": ("pa",),
    "margin": ("margin",),
    "hypothesis": ("perceptron", "margin", "pa", "arow", "kernel"),
    "decay": ("averaged", "perceptron", "margin", "pa", "arow"),
}
"""The learners that each option is for."""
_AVERAGING = ("averaged", "kernel")
"""Learners that predict by their average if nothing else is said."""


@dataclass(frozen=True)
class LearnerOptions:
    """What the command line says of the steps of a learner and of the weights that predict; None: as the learner does.

    >>> LearnerOptions(C=0.1, hypothesis="average").parameters("pa")
    {'C': 0.1, 'hypothesis': 'average'}
    """

    r: given.Regularisation = None
    C: given.LargestStep = None
    loss: given.Loss = None
    hypothesis: given.Hypothesis = None
    decay: given.Decay = None

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, by the names of the parameters."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def parameters(self, learner: str) -> dict[str, Any]:
        """Return the parameters for a learner; a ParameterError where it has no use for one of them."""
        parameters = self.given
        for name in parameters:
            if learner not in _USERS[name]:
                *others, last = _USERS[name]
                users = f"{', '.join(others)} or {last}" if others else last
                raise ParameterError(Setting(name), f" is for --learner {users}, and this is {learner}: leave it out.")
        if "hypothesis" in parameters:
            allowed = ("average", "last", "vote") if learner == "kernel" else ("last", "average")
            check_choice("hypothesis", parameters["hypothesis"], allowed)
        default = "average" if learner in _AVERAGING else "last"
        if parameters.get("decay") and parameters.get("hypothesis", default) != "average":
            raise ParameterError(
                Setting("decay"),
                " is for averages, and the last weights predict here: add ",
                Setting("hypothesis", "average"),
                ", or leave it out.",
            )
        return parameters


@dataclass(frozen=True)
class TrainLearnerOptions(LearnerOptions):
    """These options for training, where a margin can be asked for."""

    margin: given.MarginBelow = None
