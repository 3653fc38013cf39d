"""Columns on one scale, as ``rosenblatt train`` scales those of files: a transformer for pipelines."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.parameters import check_choice
from rosenblatt.scaling import ColumnScale, ColumnSums


class ExactScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Bring columns to one scale, with the same bits for dense and sparse rows in any number of parts.

    Each number x of a column becomes ``(x - centre) / spread``. Centres and spreads are those of scikit-learn's
    ``StandardScaler`` and ``MaxAbsScaler`` to rounding; but sums are exact and each result is rounded once, so they
    depend neither on the order of rows nor on how they are cut into blocks. ``data.open(scale=...)`` does the same to
    files. Fitted on a sparse matrix it centres nothing; fitted on a dense one it centres sparse rows too, which become
    as full as dense ones. A column whose numbers are all the same is divided by 1.

    Parameters
    ----------
    method : "standard" or "maxabs"
        Whether columns are centred at their mean and divided by their standard deviation, or divided by their largest
        absolute value.

    Attributes
    ----------
    centre_, spread_ : arrays of shape (n_features,)
        What is subtracted, and what is divided by.

    Examples
    --------
    >>> from rosenblatt import ExactScaler
    >>> scaler = ExactScaler().fit([[1.0, 100.0], [3.0, 500.0]])
    >>> scaler.centre_, scaler.spread_
    (array([  2., 300.]), array([  1., 200.]))
    >>> scaler.transform([[3.0, 300.0]])
    array([[1., 0.]])
    """

    centre_: NDArray[np.float64]
    spread_: NDArray[np.float64]

    def __init__(self, method: str = "standard") -> None:
        self.method = method

    def fit(self, X: Any, y: object = None) -> Self:
        """Sum up the columns of ``X``."""
        check_choice("method", self.method, ("standard", "maxabs"))
        X = self._validated(X, reset=True)
        sums = ColumnSums(self.method)
        sums.add(X)
        scale = sums.scale(centred=np.full(X.shape[1], not sp.issparse(X)))
        self.centre_, self.spread_ = scale.centre, scale.spread
        return self

    def transform(self, X: Any) -> Any:
        """Return ``X`` on the scale of the rows that were fitted, in float64."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        scaled = ColumnScale(self.method, np.arange(X.shape[1]), self.centre_, self.spread_).apply(X)
        if not np.isfinite(scaled.data if sp.issparse(scaled) else scaled).all():
            raise ValueError("a number is beyond the largest float64 once it is scaled: leave such rows out.")
        return scaled

    def _validated(self, X: Any, reset: bool) -> Any:
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32))
        if sp.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn should know: sparse matrices are fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
