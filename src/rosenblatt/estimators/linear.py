"""What the linear perceptrons share: their parameters and their weights."""

from __future__ import annotations

from typing import Any

from rosenblatt.estimators.one_by_one import LearnsOneByOne
from rosenblatt.estimators.prediction import LinearWeights
from rosenblatt.training.state import LinearState


class LinearPerceptron(LinearWeights, LearnsOneByOne):
    """The family's common part; use `Perceptron`, `AveragedPerceptron` or `VotedPerceptron`."""

    def __init__(
        self,
        max_iter: int = 10,
        fit_intercept: bool = True,
        shuffle: bool | str = True,
        random_state: Any = None,
        max_updates: int | None = None,
        warm_start: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        multi_class: str = "ovr",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state
        self.max_updates = max_updates
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.n_jobs = n_jobs
        self.verbose = verbose

    state_: LinearState

    def _fixed_parameters(self) -> list[tuple[str, Any, Any]]:
        return [("fit_intercept", self.state_.fit_intercept, bool(self.fit_intercept)), *super()._fixed_parameters()]
