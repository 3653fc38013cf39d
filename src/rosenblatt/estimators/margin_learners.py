"""Learners that update on every row with a small margin: `MarginPerceptron`, `PassiveAggressive`, `AROW`."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from rosenblatt.estimators.base import Floats, complete_docstring, set_parameters
from rosenblatt.estimators.parameter_hints import ScikitLearnParameters, accepts
from rosenblatt.estimators.perceptron import LinearPerceptron, Perceptron
from rosenblatt.training.options import RandomSource
from rosenblatt.training.rows import ClassWeight


@complete_docstring(Perceptron)
class MarginPerceptron(LinearPerceptron):
    """The perceptron with margin: it updates on every row with ``y a <= margin``, for label y = +-1 and activation a.

    In all other respects it equals `Perceptron`, and with ``margin=0`` the results are the same, bit for bit. Training
    stops after the first pass without an update. On data that is linearly separable with margin g, it makes at most
    ``(R^2 + 2 margin) / g^2`` updates. Here R is the largest norm of a row. With an intercept, R and g refer to the
    rows (x, 1). A larger ``margin`` gives a separator closer to the maximum-margin separator.

    Parameters
    ----------
    margin : float, default=10.0
        A correctly classified row triggers an update if the absolute value of its activation is at most this. Choose it
        on the scale of the activations, which grow with the scale of the features.
    hypothesis : {"last", "average"}, default="last"
        Weights used for prediction: the final weights, or the average of the weights after each processed row.

    See Also
    --------
    Perceptron : Updates on mistakes only.
    dataset_margin : Computes the largest possible margin, with proof.

    References
    ----------
    W. Krauth and M. Mézard (1987). Learning algorithms with optimal stability in neural networks. Journal of Physics A
    20, L745-L752.

    R. O. Duda and P. E. Hart (1973). Pattern Classification and Scene Analysis, section 5.5.

    Examples
    --------
    >>> from rosenblatt import MarginPerceptron
    >>> X, y = [[1, 1], [2, 0], [-1, 0], [0, -2]], ["yes", "yes", "no", "no"]
    >>> model = MarginPerceptron(margin=5, shuffle=False).fit(X, y)
    >>> model.n_updates_, round(model.report_.margin_low, 2)  # Perceptron makes 2 updates and reaches a margin of 0.89
    (5, 1.01)
    """

    margin: float

    @accepts(ScikitLearnParameters)
    def __init__(
        self,
        margin: float = 10.0,
        hypothesis: str = "last",
        max_iter: int = 100,
        fit_intercept: bool = True,
        shuffle: bool | str = True,
        random_state: RandomSource = None,
        max_updates: int | None = None,
        warm_start: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: ClassWeight = None,
        multi_class: str = "ovr",
        n_jobs: int | None = None,
        verbose: int = 0,
        decay: float = 0.0,
        tol: float | None = None,
        **others: Unpack[ScikitLearnParameters],
    ) -> None:
        set_parameters(self, locals())

    def _fixed_parameters(self) -> list[tuple[str, object, object]]:
        return [("margin", self.state_.rule.threshold, float(self.margin)), *super()._fixed_parameters()]


@complete_docstring(Perceptron)
class PassiveAggressive(LinearPerceptron):
    """Passive-aggressive learning: each update is just large enough to classify the row with a margin of 1.

    A row with label y = +-1, activation a and loss l = 1 - y a > 0 triggers an update. The step size is
    ``min(C, l / |x|^2)``, or ``l / (|x|^2 + 1 / (2 C))`` for ``loss="squared_hinge"``. The bias is updated too, but
    ``|x|^2`` does not include the constant 1 of the bias. An update on a row of norm far below 1 therefore overshoots
    the margin of 1. Training stops after the first pass without an update.

    With ``hypothesis="last"`` and ``multi_class="ovr"`` the weights on dense rows equal those of scikit-learn's
    ``PassiveAggressiveClassifier``, which is removed in scikit-learn 1.10. Sparse rows give the same weights as dense
    rows, bit for bit.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness. For the hinge loss it is the maximum step size. For the squared hinge loss, smaller values damp
        the steps more. With ``inf``, steps are neither limited nor damped. On most of our benchmark data, 0.1 was
        better than 1 for several passes with ``hypothesis="last"``.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss function. "hinge" is algorithm PA-I of the paper, and "squared_hinge" is PA-II.
    hypothesis : {"last", "average"}, default="average"
        Weights used for prediction: the final weights, or the average of the weights after each processed row. The
        final weights follow the most recent rows, which suits streams that change. With noisy labels the average is
        much better.
    multi_class : {"ovr", "direct"}, default="direct"
        Method for more than two classes. "direct" trains all classes jointly: the activation is the score of the true
        class minus the highest other score. Here ``|x|^2`` counts twice, because the weights of both classes change.
        "ovr" trains a one-vs-rest classifier for each class.

    See Also
    --------
    AROW : Adapts the step size of each weight.
    AveragedPerceptron : Needs no tuning.

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer (2006). Online passive-aggressive algorithms.
    Journal of Machine Learning Research 7, 551-585.

    Examples
    --------
    >>> from rosenblatt import PassiveAggressive
    >>> model = PassiveAggressive(shuffle=False, max_iter=1).fit([[2, 0], [0, -1]], ["yes", "no"])
    >>> model.last_coef_, model.average_coef_
    (array([[0.5, 1. ]]), array([[0.5, 0.5]]))
    """

    C: float
    loss: str

    @accepts(ScikitLearnParameters)
    def __init__(
        self,
        C: float = 1.0,
        loss: str = "hinge",
        hypothesis: str = "average",
        max_iter: int = 10,
        fit_intercept: bool = True,
        shuffle: bool | str = True,
        random_state: RandomSource = None,
        max_updates: int | None = None,
        warm_start: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: ClassWeight = None,
        multi_class: str = "direct",
        n_jobs: int | None = None,
        verbose: int = 0,
        decay: float = 0.0,
        tol: float | None = None,
        **others: Unpack[ScikitLearnParameters],
    ) -> None:
        set_parameters(self, locals())

    def _fixed_parameters(self) -> list[tuple[str, object, object]]:
        then: Any = self.state_.rule
        now: Any = self._options().rule
        return [
            ("loss", then.ridge > 0, now.ridge > 0),
            ("C", then, now),
            *super()._fixed_parameters(),
        ]


@complete_docstring(Perceptron)
class AROW(LinearPerceptron):
    """Adaptive regularization of weights (AROW), which updates weights of large variance more than the others.

    A row with label y = +-1, activation a and loss l = 1 - y a > 0 triggers an update. Each weight changes by ``y l /
    (v + r)`` times the value of its feature times its variance, where v is the variance of the activation. Then the
    variances of the changed weights shrink. The bias has a variance too, and all variances start at 1. Weights of rare
    features therefore keep large steps, while weights of frequent features change less and less, and one pass over text
    is often enough. The covariance matrix is diagonal. Training stops after the first pass without an update. Sample
    weights divide ``r``.

    Parameters
    ----------
    r : float or "scale", default=10.0
        Regularization strength: larger values make smaller steps and shrink variances more slowly. "scale" is 0.3 times
        the mean squared length of the rows, without the constant 1 of the bias, or 1 if all rows are 0. It is computed
        from all rows, so streams that can be read only once and the first call of ``partial_fit`` or ``learn_one``
        require a number.
    hypothesis : {"last", "average"}, default="last"
        Weights used for prediction: the final weights, or the average of the weights after each processed row.
    multi_class : {"ovr", "direct"}, default="direct"
        Method for more than two classes. "direct" trains all classes jointly: the activation is the score of the true
        class minus the highest other score. "ovr" trains a one-vs-rest classifier for each class.

    Attributes
    ----------
    variance_, intercept_variance_ : arrays of shape (m, d) and (m,)
        Variance of each weight and of each bias; 1 if no update has changed it.
    r_ : float
        The number used for ``r``.

    See Also
    --------
    PassiveAggressive : Updates under the same condition, without variances.
    explain : Shows the weights with their confidence, 1 / variance.

    References
    ----------
    K. Crammer, A. Kulesza and M. Dredze (2009). Adaptive regularization of weight vectors. Advances in Neural
    Information Processing Systems 22.

    Examples
    --------
    >>> from rosenblatt import AROW
    >>> model = AROW(r=1, shuffle=False, max_iter=1, fit_intercept=False).fit([[1, 1], [-1, 0]], ["yes", "no"])
    >>> model.coef_.round(3), model.variance_.round(3)
    (array([[0.6  , 0.333]]), array([[0.4  , 0.667]]))
    """

    r: float | str

    @accepts(ScikitLearnParameters)
    def __init__(
        self,
        r: float | str = 10.0,
        hypothesis: str = "last",
        max_iter: int = 5,
        fit_intercept: bool = True,
        shuffle: bool | str = True,
        random_state: RandomSource = None,
        max_updates: int | None = None,
        warm_start: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: ClassWeight = None,
        multi_class: str = "direct",
        n_jobs: int | None = None,
        verbose: int = 0,
        decay: float = 0.0,
        tol: float | None = None,
        **others: Unpack[ScikitLearnParameters],
    ) -> None:
        set_parameters(self, locals())

    @property
    def variance_(self) -> Floats:
        """Variance of each weight; 1 if no update has changed it."""
        return np.array(self._trained.s)

    @property
    def intercept_variance_(self) -> Floats:
        """Variance of each bias; 1 if no bias is fitted."""
        return np.array(self._trained.s_b)

    @property
    def r_(self) -> float:
        """The number used for ``r``."""
        r = self._trained.r
        assert r is not None
        return r

    def _fixed_parameters(self) -> list[tuple[str, object, object]]:
        given = [] if isinstance(self.r, str) else [("r", self.r_, float(self.r))]
        return [*given, *super()._fixed_parameters()]
