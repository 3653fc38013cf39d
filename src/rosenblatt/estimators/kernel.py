"""The kernel perceptron, `KernelPerceptron`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeAlias, Unpack

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from rosenblatt.estimators.base import BasePerceptron, Floats, complete_docstring, set_parameters, unavailable
from rosenblatt.estimators.parameter_hints import PerceptronParameters, accepts
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.estimators.validation import MatrixLike, like_input, tensor_device
from rosenblatt.training.dual.predict import kernel_values
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.options import SCALED, RandomSource
from rosenblatt.training.rows import ClassWeight, Matrix

KernelFunction: TypeAlias = Callable[[Matrix, Matrix], MatrixLike]
"""A kernel function: it takes two matrices and returns the matrix of kernel values between their rows."""


@complete_docstring(Perceptron)
class KernelPerceptron(BasePerceptron):
    """The kernel perceptron: a nonlinear classifier that learns in the feature space of a kernel.

    Training makes passes over the rows as `Perceptron` does, and stops under the same conditions. The rows that cause
    updates become the support rows (support vectors), each with a coefficient. The score of a row x is the sum over all
    support rows of the coefficient times the kernel value with x. After training ``hypothesis`` can be changed without
    a new fit, except to "pocket". There is no intercept; use ``coef0`` for a constant term.

    With the kernels "linear", "poly", "rbf" and "laplacian" every decision is exact. The updates therefore do not
    depend on the block size, the cache size, the floating-point type or the device. With "sigmoid", "precomputed" or a
    function as the kernel, decisions are based on rounded kernel values.

    Parameters
    ----------
    kernel : {"poly", "rbf", "laplacian", "linear", "sigmoid", "precomputed"} or callable, default="poly"
        "poly" is (gamma x.z + coef0)^degree, "rbf" is exp(-gamma |x - z|^2), "laplacian" is exp(-gamma |x - z|_1),
        "linear" is x.z, and "sigmoid" is tanh(gamma x.z + coef0). With "precomputed", ``X`` contains kernel values,
        with one column for each training row. A function takes two matrices and returns a matrix of kernel values.
        Entry (i, j) is the kernel value of row i of the first matrix and row j of the second.
    degree : int, default=3
        Degree of "poly".
    gamma : "scale", "auto" or float, default="scale"
        Factor of the dot product or distance. "scale" is 1 / (d * variance of X) and "auto" is 1 / d, for d features.
        "scale" is computed from all rows, so ``partial_fit`` and streams that can be read only once require "auto" or a
        number. Streams that can be read only once and become wider require a number.
    coef0 : float, default=1.0
        Constant term of "poly" and "sigmoid".
    hypothesis : {"average", "last", "vote", "pocket"}, default="average"
        Coefficients used for prediction. "last" uses the final coefficients, and "average" uses the average of the
        coefficients after each processed row. "pocket" uses the coefficients with the fewest training mistakes, and
        "vote" lets all coefficients of the training run vote. See `Perceptron` for details.
    cache_size : float, default=1000
        Size in megabytes of the cache of kernel values.
    max_support : int or None, default=None
        Maximum number of support rows of each one-vs-rest classifier, for endless streams. When the limit is exceeded,
        the support row with the oldest first update is removed, together with all updates on that row. None sets no
        limit.
    device : str or None, default=None
        PyTorch device on which kernel values are computed, such as "cuda"; it requires the extra ``gpu``. None uses
        NumPy, or the device of the training tensor under scikit-learn's array API dispatch.
    n_jobs : int or None, default=None
        Number of threads for matrix products in ``fit`` and ``fit_stream``. None uses the default of the numerical
        libraries.
    tol : float or None, default=None
        With ``early_stopping=True``, the minimum decrease of the error on the held-out rows that counts as an
        improvement. None accepts any decrease. Without early stopping ``tol`` must be None.

    Attributes
    ----------
    support_ : array of shape (s,)
        Indices of the support rows in the training data, in the order of their first updates. Rows of a stream are
        numbered from 0.
    support_vectors_ : array or CSR matrix of shape (s, d)
        The support rows. For a precomputed kernel they are not stored, and this matrix has no rows.
    dual_coef_ : array of shape (m, s)
        Coefficients used for prediction; m is 1 for two classes, otherwise the number of classes. Not available for
        votes.
    last_dual_coef_, average_dual_coef_ : arrays of shape (m, s)
        The final coefficients, and the average of the coefficients after each processed row.
    n_support_ : array of shape (n_classes,)
        Number of support rows of each class.
    gamma_ : float
        The number used for ``gamma``.
    report_ : Report
        Radius, margin and bound on the number of updates, all measured in the feature space of the kernel.

    See Also
    --------
    Perceptron : Learns a linear boundary, and is much faster on many rows.
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
    """Values that override the defaults of `Computing`, for tests and benchmarks."""

    @accepts(PerceptronParameters)
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
        tol: float | None = None,
        **others: Unpack[PerceptronParameters],
    ) -> None:
        set_parameters(self, locals())

    learn_one = predict_one = decision_one = predict_proba_one = unavailable(
        "a KernelPerceptron has neither learn_one nor predict_one: use partial_fit and predict, which take records if "
        "it was trained from a table. Otherwise convert them with sklearn.feature_extraction.DictVectorizer."
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
        """Return the model parameters that scores and decisions use, with the current value of ``device``."""
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
        """Indices of the support rows in the training data, in the order of their first updates."""
        return np.array(self._trained.supports.numbers, np.int64)

    @property
    def support_vectors_(self) -> Matrix:
        """The support rows, as a matrix."""
        return self._trained.support_matrix().copy()

    @property
    def dual_coef_(self) -> Floats:
        """Coefficients used for prediction, with a row for each score and a column for each support row."""
        return self._coefficients(self.hypothesis)

    @property
    def last_dual_coef_(self) -> Floats:
        """The final coefficients: for each support row, the sum of the step sizes of its updates."""
        return self._coefficients("last")

    @property
    def average_dual_coef_(self) -> Floats:
        """Average of the coefficients after each processed row."""
        return self._coefficients("average")

    def _coefficients(self, hypothesis: str) -> Floats:
        if hypothesis == "vote":
            raise AttributeError(
                "a vote is cast by many coefficient vectors, so there is no single dual_coef_: "
                "use average_dual_coef_ or last_dual_coef_."
            )
        state = self._trained
        if hypothesis == "pocket" and state.pocket is None:
            raise AttributeError(
                'this model was trained without keeping what hypothesis="pocket" needs: set the hypothesis before '
                "fitting, and fit from the start (warm_start=False)."
            )
        return state.coefficients(hypothesis)

    @property
    def n_support_(self) -> NDArray[np.int64]:
        """Number of support rows of each class."""
        return np.bincount(self._trained.support_classes(), minlength=len(self.classes_))

    @property
    def gamma_(self) -> float:
        """The number used for ``gamma``."""
        return self._trained.kernel.gamma

    def kernel_values(self, X: MatrixLike) -> Floats:
        """Return the kernel values between rows and the support rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Rows to compare with the support rows.

        Returns
        -------
        K : array of shape (n, s)
            Kernel values, with a row for each row of ``X`` and a column for each support row. Except for votes, the
            scores are ``K @ model.dual_coef_.T``, up to rounding.

        See Also
        --------
        decision_function : The scores themselves.

        Examples
        --------
        >>> from rosenblatt import KernelPerceptron
        >>> model = KernelPerceptron("linear", shuffle=False).fit([[1, 0], [-1, 0]], [1, 0])
        >>> model.kernel_values([[3, 5]])
        array([[3.]])
        """
        rows = self._rows(X)
        return like_input(kernel_values(self._predictor(), rows), X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
