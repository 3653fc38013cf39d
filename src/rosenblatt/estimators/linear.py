"""What the linear perceptrons share: their parameters and their weights."""

from __future__ import annotations

from typing import Any, Self

from rosenblatt.estimators.array_inputs import as_numpy
from rosenblatt.estimators.one_by_one import LearnsOneByOne
from rosenblatt.estimators.prediction import LinearWeights
from rosenblatt.estimators.stream_inputs import refuse_stream
from rosenblatt.training.starting_weights import GivenWeights
from rosenblatt.training.state import LinearState


class LinearPerceptron(LinearWeights, LearnsOneByOne):
    """The family's common part; use `Perceptron` or another of its learners."""

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
        decay: float = 0.0,
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
        self.decay = decay

    state_: LinearState

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, coef_init: Any = None, intercept_init: Any = None
    ) -> Self:
        """Learn from the rows of ``X`` and their labels, pass by pass, until one is clean or the limit is reached.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            Used as it is if it is C-ordered or CSR and holds float32 or float64; otherwise a copy is made.
        y : array of shape (n,)
            Labels of any type, at least two different ones.
        sample_weight : array of shape (n,), optional
            Scales the step that an update makes, after ``C`` has limited it; for AROW it divides ``r`` instead. Rows of
            weight 0 are not visited.
        coef_init : array of shape (d,) or (1, d) for two classes, (k, d) for k classes, optional
            Weights to begin with instead of zero, for instance ``coef_`` of another model. Averages and
            votes begin with them, the bounds of ``report_`` are for runs from weights of their length, and a fit that
            has them never goes on from an earlier one, whatever ``warm_start`` says.
        intercept_init : number or array of shape (1,) for two classes, (k,) for k classes, optional
            Biases to begin with. Where only one of the two is given, the other is zero.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> X, y = [[1, 1], [2, 0], [-1, 0], [0, -2]], ["yes", "yes", "no", "no"]
        >>> Perceptron().fit(X, y, coef_init=[2, 1]).n_updates_  # these weights separate the rows already
        0
        """
        refuse_stream(X, "fit", self)
        given = None
        if coef_init is not None or intercept_init is not None:
            given = GivenWeights(as_numpy(coef_init), as_numpy(intercept_init))
        return self._fit(X, y, sample_weight, given=given)

    def _fixed_parameters(self) -> list[tuple[str, Any, Any]]:
        return [
            ("fit_intercept", self.state_.fit_intercept, bool(self.fit_intercept)),
            ("decay", self.state_.decay, float(self.decay)),
            *super()._fixed_parameters(),
        ]
