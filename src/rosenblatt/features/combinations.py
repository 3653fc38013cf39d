"""Feature combinations: several words at once as one feature, and how many there are (CIML 4.7)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from math import comb
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.validation import check_is_fitted

from rosenblatt.parameters import ParameterError, Setting, check_integer, shorten


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
