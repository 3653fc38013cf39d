"""The lift that turns circles into planes: x becomes (x, |x|^2) (Har-Peled 30.2)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data


class SphereLift(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Lift each point x to (x, |x|^2): it gains one feature, its squared distance from the origin.

    The points go up onto a bowl, a paraboloid. A plane cuts the bowl in a curve that lies straight above a circle, so
    what a plane separates up there a circle separates below: a linear learner on lifted points learns circles, and
    spheres in any dimension. A plane whose weight for ``|x|^2`` is 0 is a line below, and the sign of that weight says
    whether the positive class is inside the circle or outside it. `rosenblatt.fit_circle` reads the circle
    from the plane.

    A dense array gives a dense array, a sparse matrix gives CSR. float32 stays float32 (the squares are summed in
    float64 and rounded once), everything else becomes float64. Points far from the origin lose digits when they are
    squared: centre and scale them first, as ``StandardScaler`` does.

    Examples
    --------
    >>> from rosenblatt import SphereLift
    >>> SphereLift().fit_transform([[1, 2], [3, 4]])
    array([[ 1.,  2.,  5.],
           [ 3.,  4., 25.]])
    >>> SphereLift().fit([[1, 2]]).get_feature_names_out(["width", "height"])
    array(['width', 'height', '|x|^2'], dtype=object)

    A ring around a disc, which no line separates:

    >>> from sklearn.pipeline import make_pipeline
    >>> from rosenblatt import Perceptron, data
    >>> X, y = data.make_circle(200, random_state=0)
    >>> make_pipeline(SphereLift(), Perceptron(random_state=0)).fit(X, y).score(X, y)
    1.0
    """

    def fit(self, X: Any, y: object = None) -> Self:
        """Note the number of features and their names; nothing else is learned."""
        self._checked(X, reset=True)
        return self

    def transform(self, X: Any) -> Any:
        """Return ``X`` with one more column, the sum of the squares of each row."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        with np.errstate(over="ignore", under="ignore"):  # overflow is refused below
            squares = _squares(X).astype(X.dtype)
        if not np.isfinite(squares).all():
            row = int(np.flatnonzero(~np.isfinite(squares))[0])
            raise ValueError(
                f"the squared length of row {row} is beyond the largest {X.dtype}: scale the features down first."
            )
        if sp.issparse(X):
            return sp.hstack([X, type(X)(squares[:, None])], format="csr")
        return np.column_stack([X, squares])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features, and ``|x|^2`` for the new one."""
        names = super().get_feature_names_out(input_features)
        return np.append(names, np.array(["|x|^2"], dtype=object))

    def _checked(self, X: Any, reset: bool) -> Any:
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _squares(X: Any) -> np.ndarray:
    """Return the sum of the squares of each row, in float64."""
    if not sp.issparse(X):
        return np.einsum("ij,ij->i", X, X, dtype=np.float64)
    X = X.astype(np.float64)
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()
