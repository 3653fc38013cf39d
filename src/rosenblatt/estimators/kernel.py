"""The kernel perceptron as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from rosenblatt.estimators.base import BasePerceptron, never, set_parameters
from rosenblatt.estimators.validation import MatrixLike, like_input, tensor_device
from rosenblatt.training.dual.predict import kernel_values
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.options import SCALED, RandomSource
from rosenblatt.training.rows import ClassWeight, Matrix

Floats = NDArray[np.float64]


class KernelPerceptron(BasePerceptron):
    """The perceptron in the space of a kernel, without building that space (CIML 4.7; Freund and Schapire 1999).

    It runs as `Perceptron` does, pass by pass until one is clean, and learns how often each row was a mistake: its
    score of x is the sum over these support rows of step times kernel value. One run keeps the moments of all updates,
    so ``hypothesis`` may be changed after it. There is no intercept; a constant comes in through ``coef0``. For
    more than two classes see the table of docs/family.md, which compares the values of ``multi_class`` for linear
    learners.

    With the kernels "linear", "poly", "rbf" and "laplacian" every decision is exact, as if all sums were made in real
    numbers: the same updates for every block, cache, type of product and device. With "sigmoid", "precomputed" and
    functions they are decided by the numbers as computed.

    Parameters
    ----------
    kernel : "poly", "rbf", "laplacian", "linear", "sigmoid", "precomputed" or callable
        (gamma x.z + coef0)^degree, exp(-gamma |x - z|^2), exp(-gamma |x - z|_1), x.z, tanh(gamma x.z + coef0). For
        "precomputed" rows are kernel values, a column for each training row. A function takes two matrices and returns
        a line for each row of the first and a column for each row of the second.
    degree : int
        That of "poly".
    gamma : "scale", "auto" or float
        "scale" is 1 / (features * variance of X), from exact sums, rounded once; "auto" is 1 / features. Rows that can
        be read only once, and ``partial_fit``, need a number instead of "scale".
    coef0 : float
        The constant of "poly" and "sigmoid".
    hypothesis : "average", "last", "vote" or "pocket"
        As for `Perceptron`. All but "pocket" can be had from every run.
    max_iter, shuffle, random_state, max_updates, warm_start : as for `Perceptron`
    early_stopping, validation_fraction, n_iter_no_change, class_weight, multi_class : as for `Perceptron`
    cache_size : float
        Megabytes for kernel values of support rows that are kept from pass to pass.
    max_support : int or None
        The most support rows of each classifier, for streams that never end. Where an update makes them one more, the
        row whose first update is the oldest is forgotten with all its updates, as though they had never been made.
    device : str or None
        Where kernel values are computed: a device of PyTorch such as "cuda" (the extra ``gpu``), by default NumPy, or
        the device of a tensor that is learned from under scikit-learn's array API dispatch.
    n_jobs : int or None
        Threads for the matrix products of ``fit`` and ``fit_stream``; None leaves that to the libraries.
    verbose : int
        1 shows progress on standard error.

    Attributes
    ----------
    support_ : array of shape (s,)
        The numbers of the rows that updates were made on, by their first update. In streams rows are counted from 0 on.
    support_vectors_ : array or CSR matrix of shape (s, d)
        These rows; none for a precomputed kernel.
    dual_coef_ : array of shape (m, s)
        The factor of each in each score; m is 1 for two classes, else their number. (Not for votes.)
    last_dual_coef_, average_dual_coef_ : arrays
        Those of the last and the averaged hypothesis, whichever predicts.
    n_support_ : array
        How many of them are of each class.
    gamma_ : float
        The number in use.
    classes_, n_features_in_, feature_names_in_, n_iter_, best_iter_, n_updates_, converged_, history_, seed_
        As for `Perceptron`.
    report_ : Report
        What the run proves: radius, margin and bound are those of the kernel's space.

    Examples
    --------
    >>> from rosenblatt import KernelPerceptron
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "differ", "differ"]
    >>> model = KernelPerceptron(degree=2, gamma=1.0, hypothesis="last", shuffle=False, max_iter=100).fit(X, y)
    >>> model.converged_, model.predict(X).tolist()
    (True, ['same', 'same', 'differ', 'differ'])
    >>> model.support_, model.dual_coef_.shape
    (array([0, 2, 3, 1]), (1, 4))
    """

    kernel: Any
    degree: int
    gamma: float | str
    coef0: float
    device: str | None
    state_: DualState
    _computing: ClassVar[dict[str, Any]] = {}
    """Fields of `Computing` that are set otherwise, for tests and measurements."""

    def __init__(
        self,
        kernel: Any = "poly",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        hypothesis: str = "average",
        max_iter: int = 10,
        shuffle: bool | str = True,
        random_state: RandomSource = None,
        max_updates: int | None = None,
        warm_start: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: ClassWeight = None,
        multi_class: str = "ovr",
        cache_size: float = 1000,
        max_support: int | None = None,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        set_parameters(self, locals())

    learn_one = predict_one = never(
        "a KernelPerceptron learns from rows of numbers: make them of records with "
        "sklearn.feature_extraction.DictVectorizer, and use partial_fit and predict."
    )

    def _more_options(self, X: MatrixLike) -> dict[str, Any]:
        device = tensor_device(X)
        where = {"device": device} if self.device is None and device not in (None, "cpu") else {}
        return {"overrides": where | self._computing}

    def _train(self, *run: Any, **how: Any) -> Self:
        if self.n_jobs is None:
            return super()._train(*run, **how)
        with threadpool_limits(effective_n_jobs(self.n_jobs)):
            return super()._train(*run, **how)

    def _predictor(self) -> DualState:
        """Return the state, to be computed with on the device that is asked for now."""
        if self.device is None or self.device == self.state_.computing.device:
            return self.state_
        return replace(self.state_, computing=replace(self.state_.computing, device=self.device))

    def _needs_all_rows(self) -> str:
        if isinstance(self.gamma, str) and self.gamma == "scale" and self.kernel in SCALED:
            return (
                'gamma="scale" depends on all rows, which partial_fit never sees: give gamma as a number, or use fit.'
            )
        return super()._needs_all_rows()

    def _fixed_parameters(self) -> list[tuple[str, Any, Any]]:
        kernel = self.state_.kernel
        name = "function" if callable(self.kernel) else self.kernel
        given: list[tuple[str, Any, Any]] = [("kernel", kernel.name, name)]
        if kernel.name in ("poly", "sigmoid"):
            given.append(("coef0", kernel.coef0, float(self.coef0)))
        if kernel.name == "poly":
            given.append(("degree", kernel.degree, self.degree))
        if not isinstance(self.gamma, str) and kernel.name in SCALED:
            given.append(("gamma", kernel.gamma, float(self.gamma)))
        return [*given, *super()._fixed_parameters()]

    # what was learned

    @property
    def support_(self) -> NDArray[np.int64]:
        """The numbers of the support rows."""
        return np.array(self._trained.supports.numbers, np.int64)

    @property
    def support_vectors_(self) -> Matrix:
        """The support rows."""
        return self._trained.support_matrix().copy()

    @property
    def dual_coef_(self) -> Floats:
        """The factor of each support row in each score, by the hypothesis that predicts."""
        return self._coefficients(self.hypothesis)

    @property
    def last_dual_coef_(self) -> Floats:
        """The sum of the steps on each support row."""
        return self._coefficients("last")

    @property
    def average_dual_coef_(self) -> Floats:
        """The mean of these sums over all visits."""
        return self._coefficients("average")

    def _coefficients(self, hypothesis: str) -> Floats:
        if hypothesis == "vote":
            raise AttributeError(
                "a vote is cast by many moments of the run, so there is no single dual_coef_: "
                "use average_dual_coef_ or last_dual_coef_."
            )
        state = self._trained
        if hypothesis == "pocket" and state.pocket is None:
            raise AttributeError('this model was trained without keeping what hypothesis="pocket" needs.')
        return state.coefficients(hypothesis)

    @property
    def n_support_(self) -> NDArray[np.int64]:
        """How many support rows are of each class."""
        return np.bincount(self._trained.support_classes(), minlength=len(self.classes_))

    @property
    def gamma_(self) -> float:
        """The factor of dot products and distances in use."""
        return self._trained.kernel.gamma

    def kernel_values(self, X: MatrixLike) -> Floats:
        """Return the kernel value of each row of ``X`` with each support row, of shape (n, s)."""
        rows = self._rows(X)
        return like_input(kernel_values(self._predictor(), rows), X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
