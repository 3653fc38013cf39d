"""Features made from features, as scikit-learn transformers: lifts for circles, combinations, one scale for all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from math import comb
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.messages import ParameterError, Setting, check_choice, check_integer, shorten
from rosenblatt.scaling import ColumnScale, ColumnSums

# Feature combinations: several words at once as one feature, and how many there are (CIML 4.7).


class Combinations(PolynomialFeatures):
    """Add a feature for every choice of up to ``degree`` different features: their product.

    For features that are 0 or 1, such as "this word occurs", the product is "all of them occur", and it is named
    so: ``excellent∧not``. With such features a linear learner solves what it cannot solve without, XOR to begin with;
    they also make it slower and more prone to overfit, and their number grows fast: see `n_combinations`.

    It is scikit-learn's ``PolynomialFeatures(degree, interaction_only=True, include_bias=False)`` with other names,
    made without a table of all powers, so that there may be many. And CSR matrices whose rows are not in order, or
    hold an entry twice, are put in order first: scikit-learn gives wrong columns for them.

    Parameters
    ----------
    degree : int or (int, int)
        The most features in a combination; or the least and the most: (2, 2) makes the pairs alone.

    Attributes
    ----------
    n_output_features_ : int
        How many features there are afterwards.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    The words of CIML 4.7: each speaks for a class, and NOT turns both around. The book's weights add them up.

    >>> import numpy as np
    >>> from rosenblatt import Combinations
    >>> reviews = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]])
    >>> words = Combinations(degree=2).fit(reviews)
    >>> words.get_feature_names_out(["excellent", "terrible", "not"]).tolist()
    ['excellent', 'terrible', 'not', 'excellent∧terrible', 'excellent∧not', 'terrible∧not']
    >>> words.transform(reviews) @ [1, -1, 0, 0, -2, 2]
    array([ 1., -1., -1.,  1.])

    XOR, by the third feature ``x0∧x1``:

    >>> from rosenblatt import Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> Perceptron(random_state=0).fit(Combinations().fit_transform(X), y).converged_
    True
    """

    def __init__(self, degree: int | tuple[int, int] = 2) -> None:
        super().__init__(degree, interaction_only=True, include_bias=False)

    def fit(self, X: Any, y: object = None) -> Self:
        """Note the number of features and their names, and count the combinations; nothing else is learned."""
        least, _ = _degrees(self.degree)
        super().fit(X)
        if self.n_output_features_ == 0:
            raise ValueError(
                f"no {least} different ones can be chosen from {self.n_features_in_} feature(s): choose a lower degree."
            )
        return self

    def transform(self, X: Any) -> Any:
        """Return the features and their combinations: first single ones, then pairs, and so on, in order."""
        if sp.issparse(X) and X.format == "csr" and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return super().transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return a name for every feature after the transform, such as ``excellent∧not``."""
        check_is_fitted(self)
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)  # those that come in, checked
        least, most = _degrees(self.degree)
        chosen = chain.from_iterable(combinations(names, k) for k in range(least, most + 1))
        return np.array(["∧".join(some) for some in chosen], dtype=object)


def n_combinations(D: int, degree: int | tuple[int, int]) -> int:
    """Return how many combinations of exactly ``degree`` of ``D`` features there are: D over degree.

    Pairs are O(D^2) and triples O(D^3); in general it is of the order of D^degree for a fixed degree. The count is
    exact, however large. With (least, most) for ``degree`` it is the sum over these degrees, so that
    ``n_combinations(D, (1, degree))`` is the number of features that `Combinations` makes.

    Examples
    --------
    >>> from rosenblatt import n_combinations
    >>> n_combinations(3, 2)
    3
    >>> n_combinations(10_000, 2), n_combinations(10_000, 3)
    (49995000, 166616670000)
    >>> n_combinations(3, (1, 2))  # three words and their three pairs
    6
    """
    D = check_integer("D", D, 0)
    least, most = _degrees((degree, degree) if isinstance(degree, Integral) else degree)
    return sum(comb(D, k) for k in range(least, min(most, D) + 1))


def _degrees(degree: Any) -> tuple[int, int]:
    """Return the least and the most features in a combination."""
    if not isinstance(degree, Sequence):
        return 1, check_integer("degree", degree, 1)
    if isinstance(degree, str) or len(degree) != 2:
        raise ParameterError(Setting("degree"), f" must be an integer or (least, most), got {shorten(degree)}.")
    least = check_integer("degree[0]", degree[0], 1)
    return least, check_integer("degree[1]", degree[1], least)


# The lift that turns circles into planes: x becomes (x, |x|^2) (Har-Peled 30.2).


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


# Columns on one scale, as ``rosenblatt train`` scales those of files: a transformer for pipelines.


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


__all__ = ["Combinations", "ExactScaler", "SphereLift", "n_combinations"]
