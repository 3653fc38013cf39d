"""Transformers for scikit-learn pipelines: combinations of features, the lift for circles, exact scaling, texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain, combinations
from math import comb
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.hashing import TextHashing, Texts, names_of_hashed, weighted
from rosenblatt.kernels.parsing.words import CHARACTERS, WORDS
from rosenblatt.messages import ParameterError, check_boolean, check_choice, check_integer, shorten
from rosenblatt.scaling import ColumnScale, ColumnSums

# Combinations of features, such as several words at once, and their number (CIML 4.7).


class Combinations(PolynomialFeatures):
    """Add the product of every combination of up to ``degree`` different features as a new feature.

    For features that are 0 or 1, such as "this word occurs", the product means "all of these words occur". Its name is,
    for instance, ``excellent∧not``. With these products a linear learner can solve problems that are otherwise not
    linearly separable, such as XOR. However, they make training slower and overfitting more likely. Their number grows
    fast; see `n_combinations`.

    The output is that of scikit-learn's ``PolynomialFeatures(degree, interaction_only=True, include_bias=False)``. Only
    the feature names differ. The names are made without a table of all powers, which saves memory if there are many
    features. CSR matrices with unsorted or duplicate entries are put into canonical form first, because scikit-learn
    returns wrong columns for such matrices.

    Parameters
    ----------
    degree : int or (int, int)
        An integer is the largest number of features in a combination. A pair is the smallest and the largest number, so
        (2, 2) makes only pairs. The default is 2.

    Attributes
    ----------
    n_output_features_ : int
        The number of output features.
    n_features_in_, feature_names_in_
        The number and the names of input features.

    See Also
    --------
    n_combinations : The number of combinations.
    SphereLift : Add the squared length as a feature.

    Examples
    --------
    The example of CIML 4.7: the words "excellent" and "terrible" indicate one class each, and "not" reverses their
    meaning. With the book's weights:

    >>> import numpy as np
    >>> from rosenblatt import Combinations
    >>> reviews = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]])
    >>> words = Combinations(degree=2).fit(reviews)
    >>> words.get_feature_names_out(["excellent", "terrible", "not"]).tolist()
    ['excellent', 'terrible', 'not', 'excellent∧terrible', 'excellent∧not', 'terrible∧not']
    >>> words.transform(reviews) @ [1, -1, 0, 0, -2, 2]
    array([ 1., -1., -1.,  1.])

    XOR is linearly separable with the third feature ``x0∧x1``:

    >>> from rosenblatt import Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> Perceptron(random_state=0).fit(Combinations().fit_transform(X), y).converged_
    True
    """

    def __init__(self, degree: int | tuple[int, int] = 2) -> None:
        super().__init__(degree, interaction_only=True, include_bias=False)

    def fit(self, X: Any, y: object = None) -> Self:
        """Store the number of features and their names, and count the combinations; nothing else is learned.

        A ValueError is raised if there are fewer features than the smallest degree.
        """
        least, _ = _degrees(self.degree)
        super().fit(X)
        if self.n_output_features_ == 0:
            raise ValueError(
                f"{least} features cannot be chosen from {self.n_features_in_} feature(s): choose a lower degree."
            )
        return self

    def transform(self, X: Any) -> Any:
        """Return ``X`` with a column for each combination: single features first, then pairs, and so on."""
        if sp.issparse(X) and X.format == "csr" and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return super().transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the output features, such as ``excellent∧not``."""
        check_is_fitted(self)
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)  # the input names, checked
        least, most = _degrees(self.degree)
        chosen = chain.from_iterable(combinations(names, k) for k in range(least, most + 1))
        return np.array(["∧".join(some) for some in chosen], dtype=object)


def n_combinations(D: int, degree: int | tuple[int, int]) -> int:
    """Return the number of combinations of exactly ``degree`` of ``D`` features, the binomial coefficient.

    There are O(D^2) pairs and O(D^3) triples, and O(D^degree) combinations for a fixed degree. The count is exact for
    numbers of any size.

    Parameters
    ----------
    D : int
        The number of features, at least 0.
    degree : int or (int, int)
        The number of features in a combination, at least 1. If it is a pair (smallest, largest), the counts of all
        sizes in this range are added up. ``n_combinations(D, (1, degree))`` is the number of features that
        ``Combinations(degree)`` makes.

    Returns
    -------
    int
        The number of combinations, 0 if ``D`` is less than the degree.

    See Also
    --------
    Combinations : Make a feature for each combination.

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
    """Return the smallest and the largest number of features in a combination; raise a ParameterError if not valid."""
    if not isinstance(degree, Sequence):
        return 1, check_integer("degree", degree, 1)
    if isinstance(degree, str) or len(degree) != 2:
        raise ParameterError("{degree} must be an integer or (min_degree, max_degree), got {got}.", got=shorten(degree))
    least = check_integer("degree[0]", degree[0], 1)
    return least, check_integer("degree[1]", degree[1], least)


# The lift to the paraboloid, which turns circles into planes: x becomes (x, |x|^2) (Har-Peled 30.2).


class SphereLift(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Lift each point x to (x, |x|^2), that is, add its squared distance from the origin as a feature.

    Lifted points lie on a paraboloid. A plane intersects the paraboloid in a curve that projects to a circle. So a
    plane that separates the lifted points gives a circle that separates the original points. A linear learner on lifted
    points therefore learns circles, and spheres in higher dimensions. If the plane's weight for ``|x|^2`` is 0, the
    circle is a line. The sign of that weight determines whether the positive class is inside or outside the circle.
    `rosenblatt.fit_circle` finds such a plane and returns its circle.

    The output is dense for dense input, and CSR for sparse input. Its type is float32 for float32 input, and float64
    for any other input. For float32, the squares are summed in float64, and the sum is rounded to float32. Points far
    from the origin lose digits when they are squared, so centre and scale them first, as ``StandardScaler`` does.

    See Also
    --------
    fit_circle : Find a circle that separates two classes.
    Combinations : Add products of features.

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
        """Store the number of features and their names; nothing else is learned."""
        self._checked(X, reset=True)
        return self

    def transform(self, X: Any) -> Any:
        """Return ``X`` with one more column, the sum of the squares of each row.

        A ValueError is raised if such a sum overflows.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        with np.errstate(over="ignore", under="ignore"):  # overflow is refused below
            squares = _squares(X).astype(X.dtype)
        if not np.isfinite(squares).all():
            row = int(np.flatnonzero(~np.isfinite(squares))[0])
            raise ValueError(f"the squared length of row {row} overflows {X.dtype}: scale the features down first.")
        if sp.issparse(X):
            return sp.hstack([X, type(X)(squares[:, None])], format="csr")
        return np.column_stack([X, squares])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features, and ``|x|^2`` as the name of the new feature."""
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


# The column scaling that ``rosenblatt train`` does for files, as a transformer for pipelines.


class ExactScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale columns with correctly rounded sums, so that dense and sparse rows give the same results to the last bit.

    Each number x of a column becomes ``(x - centre) / spread``. Centres and spreads are those of scikit-learn's
    ``StandardScaler`` and ``MaxAbsScaler`` up to rounding. Here sums are exact and each result is rounded once, so the
    results depend neither on the order of rows nor on how rows are divided into blocks. ``data.open(scale=...)`` scales
    files in the same way.

    A scaler fitted on a sparse matrix does not subtract a centre. A scaler fitted on a dense matrix also centres sparse
    rows, which makes their zeros nonzero. A column whose spread would be 0 is divided by 1.

    Parameters
    ----------
    method : "standard" or "maxabs"
        "standard", the default, subtracts the mean and divides by the standard deviation. "maxabs" divides by the
        largest absolute value.

    Attributes
    ----------
    centre_, spread_ : arrays of shape (n_features,)
        The number that is subtracted from each column, and the number by which the result is divided.

    See Also
    --------
    SphereLift : Add the squared length as a feature, after scaling.
    data.open : Read files, with the same scaling.

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
        """Compute the centre and the spread of each column of ``X``."""
        check_choice("method", self.method, ("standard", "maxabs"))
        X = self._validated(X, reset=True)
        sums = ColumnSums(self.method)
        sums.add(X)
        scale = sums.scale(centred=np.full(X.shape[1], not sp.issparse(X)))
        self.centre_, self.spread_ = scale.centre, scale.spread
        return self

    def transform(self, X: Any) -> Any:
        """Return ``X`` scaled, in float64; raise a ValueError if a number overflows."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        scaled = ColumnScale(self.method, np.arange(X.shape[1]), self.centre_, self.spread_).apply(X)
        if not np.isfinite(scaled.data if sp.issparse(scaled) else scaled).all():
            raise ValueError("a number overflows float64 after scaling: leave out such rows.")
        return scaled

    def _validated(self, X: Any, reset: bool) -> Any:
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32))
        if sp.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: sparse matrices are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


__all__ = ["Combinations", "ExactScaler", "SphereLift", "n_combinations"]


# Texts as rows: the words of each text are counted in columns that a hash chooses.


class TextHasher(TransformerMixin, BaseEstimator):
    """Count the words of texts, or the characters inside words, in a fixed number of columns that a hash chooses.

    With the same parameters, the rows are those of scikit-learn's ``HashingVectorizer``, number by number, for all of
    Unicode; compiled code makes them about ten times as fast. Words are runs of two or more letters, digits and
    underscores. Some defaults differ. ``alternate_sign`` is False, because every word then keeps the sign of its
    weight: where two words share a column, one cannot cancel the other. ``n_features`` is 2**18 as in
    ``rosenblatt train``, since a learner that keeps averages or variances takes several numbers for each column.

    Nothing is learned, so texts can be transformed without a call of ``fit``.

    Parameters
    ----------
    n_features : int, default 2**18
        The number of columns. The hash of a word may be that of another, which then shares its column.
    ngram_range : (int, int), default (1, 1)
        The smallest and the largest number of words in an n-gram, or of characters.
    analyzer : "word" or "char_wb", default "word"
        Whether words are counted, or n-grams of characters inside the parts of a text between whitespace, with a space
        at each end. The latter suit short texts, spelling mistakes, and telling languages apart.
    lowercase : bool, default True
        Whether texts are put in lower case first, as ``str.lower`` does it.
    binary : bool, default False
        Whether a word counts once in a text, however often it occurs.
    norm : "l2", "l1" or None, default "l2"
        The norm by which each row is divided.
    alternate_sign : bool, default False
        Whether half of all words, chosen by the hash, count -1 each.
    sublinear_tf : bool, default False
        Whether 1 + log(c) replaces each count c, as in ``TfidfTransformer``.
    keep_words : bool, default False
        Whether ``fit`` keeps the first word of each column, for ``get_feature_names_out``, `explain` and
        `contributions`.
    n_jobs : int, optional
        The number of threads; -1 uses all processors.

    Attributes
    ----------
    words_ : dict
        The first word of each column, in the texts that ``fit`` has seen; empty unless ``keep_words`` is True.
    n_features_in_ : int
        Always 1, the text.

    See Also
    --------
    data.open : Read texts from files, at the same speed.
    contributions : The words that decided a prediction.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from rosenblatt import AveragedPerceptron, TextHasher, explain
    >>> texts = ["A good film", "a bad film!", "good, good", "so bad"]
    >>> TextHasher(4, norm=None).transform(texts).toarray()[:2]
    array([[0., 2., 0., 0.],
           [0., 1., 0., 1.]])
    >>> model = make_pipeline(TextHasher(keep_words=True), AveragedPerceptron(random_state=0))
    >>> model.fit(texts, ["yes", "no", "yes", "no"]).predict(["a good one"])
    array(['yes'], dtype='<U3')
    >>> explain(model, top=1).to_dict()["feature"]
    ['good', 'bad']
    """

    words_: dict[int, str]
    n_features_in_: int

    def __init__(
        self,
        n_features: int = 2**18,
        *,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: str = "word",
        lowercase: bool = True,
        binary: bool = False,
        norm: str | None = "l2",
        alternate_sign: bool = False,
        sublinear_tf: bool = False,
        keep_words: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features = n_features
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.lowercase = lowercase
        self.binary = binary
        self.norm = norm
        self.alternate_sign = alternate_sign
        self.sublinear_tf = sublinear_tf
        self.keep_words = keep_words
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: object = None) -> Self:
        """Check the parameters and, with ``keep_words``, store the first word of each column."""
        if self.keep_words:
            self.fit_transform(X)
            return self
        self._hashing()
        self.n_features_in_, self.words_ = 1, {}
        return self

    def fit_transform(self, X: Any, y: object = None, **fit_params: Any) -> Any:
        """Return the rows of texts, as ``fit(X).transform(X)`` does."""
        rows, words = self._rows(X, keep_names=self.keep_words)
        self.n_features_in_, self.words_ = 1, words
        return rows

    def transform(self, X: Any) -> sp.csr_array:
        """Return the rows of texts as a CSR array of float64.

        The texts are a list or an array of strings, a Series of pandas or polars, or an Arrow array.
        """
        return self._rows(X, keep_names=False)[0]

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the first word of each column that ``fit`` has seen; other columns are ``#`` and their index."""
        check_is_fitted(self)
        return np.array(names_of_hashed(self.words_, self.n_features), dtype=object)

    def _rows(self, texts: Any, keep_names: bool) -> tuple[sp.csr_array, dict[int, str]]:
        hashing = self._hashing()
        weigh = partial(weighted, binary=self.binary, logarithmic=self.sublinear_tf, norm=self.norm)
        return hashing.rows(Texts.of(texts), effective_n_jobs(self.n_jobs), weigh, keep_names)

    def _hashing(self) -> TextHashing:
        """Return the parameters for the kernel; raise a ParameterError if one is not valid."""
        n = check_integer("n_features", self.n_features, 1, most=2**31 - 1)
        sizes = self.ngram_range
        if not isinstance(sizes, Sequence) or isinstance(sizes, str) or len(sizes) != 2:
            raise ParameterError("{ngram_range} must be (min_n, max_n), got {got}.", got=shorten(sizes))
        least = check_integer("ngram_range[0]", sizes[0], 1)
        most = check_integer("ngram_range[1]", sizes[1], least)
        check_choice("analyzer", self.analyzer, ("word", "char_wb"))
        for name in ("lowercase", "binary", "alternate_sign", "sublinear_tf", "keep_words"):
            check_boolean(name, getattr(self, name))
        if self.norm is not None:
            check_choice("norm", self.norm, ("l1", "l2"))
        kind = CHARACTERS if self.analyzer == "char_wb" else WORDS
        return TextHashing(n, least, most, kind, bool(self.lowercase), bool(self.alternate_sign))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "words_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.requires_fit = False
        return tags
