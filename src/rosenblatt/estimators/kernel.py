"""`KernelPerceptron`: the perceptron with a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from rosenblatt.estimators.base import BasePerceptron, Floats, complete_docstring, set_parameters, unavailable
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.estimators.validation import MatrixLike, like_input, tensor_device
from rosenblatt.training.dual.predict import kernel_values
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.options import SCALED, RandomSource
from rosenblatt.training.rows import ClassWeight, Matrix

KernelFunction: TypeAlias = Callable[[Matrix, Matrix], MatrixLike]
"""A kernel written by the user: it returns a value for each row of one matrix and each row of the other."""


@complete_docstring(Perceptron)
class KernelPerceptron(BasePerceptron):
    """The kernel perceptron: a nonlinear classifier that learns in the feature space of a kernel.

    Training makes the same passes as `Perceptron` and stops in the same cases. The score of x is a sum over the support
    rows, which are the rows that caused updates: the coefficient of each row times its kernel value with x. Changing
    ``hypothesis`` after training needs no refit, except for "pocket". There is no intercept; ``coef0`` adds a constant
    term.

    With the kernels "linear", "poly", "rbf" and "laplacian" every decision is exact. The updates therefore do not
    depend on block or cache size, number type or device. With "sigmoid", "precomputed" and functions, decisions use
    rounded kernel values.

    Parameters
    ----------
    kernel : {"poly", "rbf", "laplacian", "linear", "sigmoid", "precomputed"} or callable, default="poly"
        "poly" is (gamma x.z + coef0)^degree, "rbf" is exp(-gamma |x - z|^2), "laplacian" is exp(-gamma |x - z|_1),
        "linear" is x.z, and "sigmoid" is tanh(gamma x.z + coef0). With "precomputed", X holds kernel values, with a
        column for each training row. A function takes two matrices and returns the kernel values, with a row
        for each row of the first matrix and a column for each row of the second.
    degree : int, default=3
        Degree of "poly".
    gamma : "scale", "auto" or float, default="scale"
        Factor of the dot product or distance. "scale" is 1 / (d * variance of X) and "auto" is 1 / d, for d features.
        "scale" needs all rows: ``partial_fit`` and streams that can be read only once need "auto" or a number.
    coef0 : float, default=1.0
        Constant term of "poly" and "sigmoid".
    hypothesis : {"average", "last", "vote", "pocket"}, default="average"
        Coefficients used for prediction, as for `Perceptron`.
    cache_size : float, default=1000
        Megabytes of kernel values that are kept between passes.
    max_support : int or None, default=None
        Maximum number of support rows of each classifier, for endless streams. Beyond it, the support row with the
        oldest first update is removed with all its updates.
    device : str or None, default=None
        PyTorch device that computes kernel values, such as "cuda" (needs the extra ``gpu``). None uses NumPy, or the
        device of the training tensor under scikit-learn's array API dispatch.
    n_jobs : int or None, default=None
        Number of threads for matrix products in ``fit`` and ``fit_stream``. None uses the default of the numerical
        libraries.

    Attributes
    ----------
    support_ : array of shape (s,)
        Indices of the support rows in the training data, in the order of their first updates. Streams count rows from
        0.
    support_vectors_ : array or CSR matrix of shape (s, d)
        The support rows; empty for a precomputed kernel.
    dual_coef_ : array of shape (m, s)
        Coefficients used for prediction; m is 1 for two classes, otherwise the number of classes. Not available for
        votes.
    last_dual_coef_, average_dual_coef_ : arrays of shape (m, s)
        Coefficients after the last visit, and their average over all visits.
    n_support_ : array of shape (n_classes,)
        Number of support rows of each class.
    gamma_ : float
        The value of gamma in use.
    report_ : Report
        Bounds that follow from the run; radius, margin and bound are those in the feature space of the kernel.

    See Also
    --------
    Perceptron : Linear perceptron.
    Combinations : Explicit polynomial features for linear learners.

    References
    ----------
    Y. Freund and R. E. Schapire (1999). Large margin classification using the perceptron algorithm. Machine Learning
    37, 277-296.

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

    kernel: str | KernelFunction
    degree: int
    gamma: float | str
    coef0: float
    device: str | None
    state_: DualState
    _computing: ClassVar[Mapping[str, object]] = {}
    """Values that replace fields of `Computing`, for tests and measurements."""

    def __init__(
        self,
        kernel: str | KernelFunction = "poly",
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

    learn_one = predict_one = unavailable(
        "a KernelPerceptron learns from rows of numbers: convert records with "
        "sklearn.feature_extraction.DictVectorizer, and use partial_fit and predict."
    )

    def _more_options(self, X: MatrixLike) -> dict[str, object]:
        device = tensor_device(X)
        where = {"device": device} if self.device is None and device not in (None, "cpu") else {}
        return {"overrides": {**where, **self._computing}}

    def _train(self, *arguments: Any, **options: Any) -> Self:
        if self.n_jobs is None:
            return super()._train(*arguments, **options)
        with threadpool_limits(effective_n_jobs(self.n_jobs)):
            return super()._train(*arguments, **options)

    def _predictor(self) -> DualState:
        """Return the state, with the ``device`` that is set now."""
        if self.device is None or self.device == self.state_.computing.device:
            return self.state_
        return replace(self.state_, computing=replace(self.state_.computing, device=self.device))

    def _why_no_partial_fit(self) -> str:
        if isinstance(self.gamma, str) and self.gamma == "scale" and self.kernel in SCALED:
            return (
                'gamma="scale" depends on all rows, which partial_fit never sees: give gamma as a number, or use fit.'
            )
        return super()._why_no_partial_fit()

    def _fixed_parameters(self) -> list[tuple[str, object, object]]:
        kernel = self.state_.kernel
        name = "function" if callable(self.kernel) else self.kernel
        given: list[tuple[str, object, object]] = [("kernel", kernel.name, name)]
        if kernel.name in ("poly", "sigmoid"):
            given.append(("coef0", kernel.coef0, float(self.coef0)))
        if kernel.name == "poly":
            given.append(("degree", kernel.degree, self.degree))
        if not isinstance(self.gamma, str) and kernel.name in SCALED:
            given.append(("gamma", kernel.gamma, float(self.gamma)))
        return [*given, *super()._fixed_parameters()]

    # what was learned

    @property
    def _trained(self) -> DualState:
        check_is_fitted(self)
        return self.state_

    @property
    def support_(self) -> NDArray[np.int64]:
        """Indices of the support rows in the training data."""
        return np.array(self._trained.supports.numbers, np.int64)

    @property
    def support_vectors_(self) -> Matrix:
        """The support rows."""
        return self._trained.support_matrix().copy()

    @property
    def dual_coef_(self) -> Floats:
        """Coefficients of the support rows in each score, for the hypothesis that predicts."""
        return self._coefficients(self.hypothesis)

    @property
    def last_dual_coef_(self) -> Floats:
        """Coefficients after the last visit: the sum of the steps on each support row."""
        return self._coefficients("last")

    @property
    def average_dual_coef_(self) -> Floats:
        """Average of the coefficients over all visits."""
        return self._coefficients("average")

    def _coefficients(self, hypothesis: str) -> Floats:
        if hypothesis == "vote":
            raise AttributeError(
                "a vote is cast by many coefficient vectors, so there is no single dual_coef_: "
                "use average_dual_coef_ or last_dual_coef_."
            )
        state = self._trained
        if hypothesis == "pocket" and state.pocket is None:
            raise AttributeError('this model was trained without keeping what hypothesis="pocket" needs.')
        return state.coefficients(hypothesis)

    @property
    def n_support_(self) -> NDArray[np.int64]:
        """Number of support rows of each class."""
        return np.bincount(self._trained.support_classes(), minlength=len(self.classes_))

    @property
    def gamma_(self) -> float:
        """The value of gamma in use."""
        return self._trained.kernel.gamma

    def kernel_values(self, X: MatrixLike) -> Floats:
        """Return the kernel values between given rows and the support rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Rows to compare with the support rows.

        Returns
        -------
        K : array of shape (n, s)
            A row for each row of ``X``, a column for each support row. Unless votes predict, the scores are
            ``K @ model.dual_coef_.T``, up to rounding.
        """
        rows = self._rows(X)
        return like_input(kernel_values(self._predictor(), rows), X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
