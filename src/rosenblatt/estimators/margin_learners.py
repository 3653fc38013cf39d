"""The rest of the family: learners that also update on rows that are right, but not by enough."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.estimators.base import set_parameters
from rosenblatt.estimators.perceptron import LinearPerceptron
from rosenblatt.training.options import RandomSource
from rosenblatt.training.rows import ClassWeight


class MarginPerceptron(LinearPerceptron):
    """The perceptron that also updates on rows that it gets right by no more than a margin: while ``y a <= margin``.

    Runs as `Perceptron` does and has its parameters and attributes; with ``margin=0`` it is `Perceptron`, to the bit.
    On data that separates with margin g, it makes at most ``(R^2 + 2 margin) / g^2`` updates, and the larger the margin
    asked for, the nearer to the largest possible one its weights come. ``history_`` has the ``updates`` of each pass
    besides its ``mistakes``. (Duda and Hart 1973; Krauth and Mezard 1987.)

    Parameters
    ----------
    margin : float
        An activation up to this makes an update; on the scale of activations, which grow with the features.
    hypothesis : "last" or "average"
        Which weights predict: those after the last visit, or their mean over all visits.
    max_iter, fit_intercept, shuffle, random_state, max_updates, warm_start, early_stopping, validation_fraction, \
n_iter_no_change, class_weight, multi_class, n_jobs, verbose, decay
        As for `Perceptron`.

    Examples
    --------
    >>> from rosenblatt import MarginPerceptron
    >>> X, y = [[1, 1], [2, 0], [-1, 0], [0, -2]], ["yes", "yes", "no", "no"]
    >>> model = MarginPerceptron(margin=5, shuffle=False).fit(X, y)
    >>> model.n_updates_, round(model.report_.margin_low, 2)  # a perceptron makes 2 updates, and has a margin of 0.89
    (5, 1.01)
    """

    margin: float

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
    ) -> None:
        set_parameters(self, locals())

    def _fixed_parameters(self) -> list[tuple[str, Any, Any]]:
        return [("margin", self.state_.rule.threshold, float(self.margin)), *super()._fixed_parameters()]


class PassiveAggressive(LinearPerceptron):
    """Passive-aggressive learning: an update goes as far as would make a row right by 1 but for the bias, up to ``C``.

    Where the activation is below 1 by l, the step is ``min(C, l / |x|^2)``, or ``l / (|x|^2 + 1 / (2 C))`` for
    ``loss="squared_hinge"``; ``C=inf`` goes all the way. On dense rows these are the weights of scikit-learn's
    ``PassiveAggressiveClassifier``, whose ``multi_class`` is "ovr" and which is removed in its version 1.10; on sparse
    rows, where that differs from itself, they stay those of the dense ones. The bias moves, but is not counted in
    ``|x|^2``, so rows much shorter than 1 overshoot. Sums are rounded once, so the same rows in the same order give the
    same bits in every layout. (Crammer et al. 2006.)

    Parameters
    ----------
    C : float
        The largest step, or how little the step is damped; ``inf`` for no limit. The default is scikit-learn's; for the
        last weights of several passes 0.1 was better on most sets (docs/family.md).
    loss : "hinge" or "squared_hinge"
        PA-I or PA-II.
    hypothesis : "last" or "average"
        Which weights predict: those after the last visit, or their mean over all visits, which is steadier where labels
        are noisy.
    max_iter, fit_intercept, shuffle, random_state, max_updates, warm_start, early_stopping, validation_fraction, \
n_iter_no_change, class_weight, multi_class, n_jobs, verbose, decay
        As for `Perceptron`, but ``max_iter`` is 10 and ``multi_class`` "direct", where the activation is the lead
        of the true class over its best rival, and ``|x|^2`` counts twice, as both move.

    Examples
    --------
    >>> from rosenblatt import PassiveAggressive
    >>> model = PassiveAggressive(shuffle=False, max_iter=1).fit([[2, 0], [0, -1]], ["yes", "no"])
    >>> model.coef_, model.intercept_
    (array([[0.5, 1. ]]), array([-0.75]))
    """

    C: float
    loss: str

    def __init__(
        self,
        C: float = 1.0,
        loss: str = "hinge",
        hypothesis: str = "last",
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
    ) -> None:
        set_parameters(self, locals())

    def _fixed_parameters(self) -> list[tuple[str, Any, Any]]:
        then: Any = self.state_.rule
        now: Any = self._options().rule
        return [
            ("loss", then.ridge > 0, now.ridge > 0),
            ("C", then, now),
            *super()._fixed_parameters(),
        ]


class AROW(LinearPerceptron):
    """Adaptive regularisation of weights: each weight has a variance, and moves the less the more is known of it.

    Rare features keep their large steps while common ones settle, so one pass over text is often enough. Where the
    activation is below 1 by l, the step is ``l / (v + r)`` times each feature and its variance, for v the variance of
    the row; then the variances of its features shrink. They begin at 1, the bias has one too. Diagonal: no covariances
    are kept. (Crammer, Kulesza and Dredze 2009.)

    Parameters
    ----------
    r : float
        How much the learner holds back: larger values make smaller steps and keep variances longer. The default was
        measured (docs/family.md).
    hypothesis : "last" or "average"
        Which weights predict: those after the last visit, or their mean over all visits.
    max_iter, fit_intercept, shuffle, random_state, max_updates, warm_start, early_stopping, validation_fraction, \
n_iter_no_change, class_weight, multi_class, n_jobs, verbose, decay
        As for `Perceptron`, but ``max_iter`` is 5 and ``multi_class`` "direct", where the activation is the
        lead of the true class over its best rival. The weight of a row divides ``r``.

    Attributes
    ----------
    variance_, intercept_variance_ : arrays of the shapes of ``coef_`` and ``intercept_``
        The variance of each weight: 1 for a feature that no update had.

    Examples
    --------
    >>> from rosenblatt import AROW
    >>> model = AROW(r=1, shuffle=False, max_iter=1, fit_intercept=False).fit([[1, 1], [-1, 0]], ["yes", "no"])
    >>> model.coef_.round(3), model.variance_.round(3)
    (array([[0.6  , 0.333]]), array([[0.4  , 0.667]]))
    """

    r: float

    def __init__(
        self,
        r: float = 10.0,
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
    ) -> None:
        set_parameters(self, locals())

    @property
    def variance_(self) -> NDArray[np.float64]:
        """The variance of each weight."""
        return np.array(self._trained.s)

    @property
    def intercept_variance_(self) -> NDArray[np.float64]:
        """The variance of each bias; 1 where none is learned."""
        return np.array(self._trained.s_b)

    def _fixed_parameters(self) -> list[tuple[str, Any, Any]]:
        rule: Any = self.state_.rule
        return [("r", rule.r, float(self.r)), *super()._fixed_parameters()]
