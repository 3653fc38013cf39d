"""The rescaled perceptron, `RescaledPerceptron`, for data with a tiny margin."""

from __future__ import annotations

import dataclasses
import sys
from typing import Self, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.estimators.base import ExactClassifier, refuse_stream
from rosenblatt.estimators.validation import MatrixLike, validate_pair
from rosenblatt.messages import check_boolean, warn_user
from rosenblatt.theory.certificates import margin_of, margin_upper_bound
from rosenblatt.theory.inputs import check_exact_matrix
from rosenblatt.theory.scores import least_score
from rosenblatt.theory.search.rescaled import RescaledRun, rescaled_perceptron
from rosenblatt.theory.search.wolfe import longest_row
from rosenblatt.theory.separability import dataset_margin, separability
from rosenblatt.theory.verdicts import Inseparable, MarginBracket, Separable, UndecidedSeparability, Verdicts
from rosenblatt.training.options import RandomSource, draw_seed
from rosenblatt.training.predict import activations, best_classes, rounded_activations
from rosenblatt.training.rows import Matrix, RowMatrix, VectorLike, encode_labels

Verdict: TypeAlias = Separable | Inseparable | UndecidedSeparability | MarginBracket


class RescaledPerceptron(ExactClassifier):
    """The rescaled perceptron: it separates data with a tiny margin in few updates, or proves it inseparable.

    On rows of norm at most R, the perceptron makes at most (R / margin)^2 updates. This variant works in phases. A
    phase runs the perceptron for at most max(m^2 / 4, 4 m) updates, where m is the number of weights. Then the space is
    shrunk along the rows that caused the updates, and the next phase starts from zero. Training stops when every row is
    classified correctly. With a margin of 1e-8 in ten dimensions, it takes a few hundred updates.

    If ``max_rescalings`` rescalings find no separator, `separability` finds a separator or proves that none exists. In
    the latter case, a ``ConvergenceWarning`` is issued, and the model keeps the weights that misclassified the fewest
    rows at the end of a phase.

    Use this learner for separable data with a small margin; on noisy data `AveragedPerceptron` is more accurate. During
    training a dense copy of the data is kept in memory. With more than two classes, one-vs-rest classifiers are
    trained.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to learn a bias.
    max_rescalings : int, default=100
        Maximum number of rescalings for each one-vs-rest classifier, after which `separability` decides.
    random_state : int, RandomState, Generator or None, default=None
        Source of the seed for row orders. None draws it from NumPy's global generator.
    verbose : int, default=0
        With 1, a line for each phase is printed to standard error.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (m, d) and (m,)
        Weights and biases; m is 1 for two classes, otherwise the number of classes.
    classes_ : array of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen during training.
    feature_names_in_ : array of shape (d,)
        Feature names, if the training data had names.
    converged_ : bool
        Whether every one-vs-rest classifier separates the training rows, which is proved exactly. If True, the training
        accuracy is 1.
    verdict_ : Separable, Inseparable, Undecided or MarginBracket; a dictionary by class for more than two classes
        The proved result on whether the data is linearly separable; ``verdict_.check(X, y)`` verifies it. Its upper
        bound on the margin may be loose; `dataset_margin` computes a tight bound. Without an intercept the verdict is a
        `MarginBracket` of kind "homogeneous", which is about hyperplanes through the origin.
    n_iter_, n_updates_, n_rescalings_ : int
        Largest number of passes of a one-vs-rest classifier, and the numbers of updates and rescalings, each summed
        over all one-vs-rest classifiers.
    seed_ : int
        Seed of the random orders in which training processes the rows.

    See Also
    --------
    Perceptron : Makes no dense copy, but many more updates if the margin is tiny.
    separability : Decide whether data is linearly separable, with proof.

    References
    ----------
    D. Dadush, L. A. Végh and G. Zambelli (2020). Rescaling algorithms for linear conic feasibility. Mathematics of
    Operations Research 45, 732-754.

    Examples
    --------
    >>> from rosenblatt.data import make_separable
    >>> from rosenblatt.estimators.rescaled import RescaledPerceptron
    >>> X, y = make_separable(500, 10, margin=1e-8, random_state=0)
    >>> model = RescaledPerceptron(fit_intercept=False, random_state=0).fit(X, y)
    >>> model.converged_, model.score(X, y), model.n_updates_ < 5000
    (True, 1.0, True)
    >>> model.verdict_.check(X, y)
    True
    """

    def __init__(
        self, fit_intercept: bool = True, max_rescalings: int = 100, random_state: RandomSource = None, verbose: int = 0
    ) -> None:
        self.fit_intercept = fit_intercept
        self.max_rescalings = max_rescalings
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: MatrixLike, y: VectorLike = None) -> Self:
        """Fit the model to labelled rows: separate them, or prove that they are not linearly separable.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Training rows. Numbers that float64 cannot represent exactly raise a ValueError.
        y : array-like of shape (n,)
            Labels of any type, from at least two classes.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        refuse_stream(X, "fit", self)
        check_boolean("fit_intercept", self.fit_intercept)
        given = X = check_exact_matrix(X) if sp.issparse(X) else X  # adds duplicate entries exactly
        X, y = validate_pair(self, X, y, reset=True)
        check_exact_matrix(given)  # raises an error if a number would be rounded, since the verdict is exact
        classes, numbers = encode_labels(y)
        if len(classes) < 2:
            raise ValueError(
                f"fit needs at least two classes, got one class: every label is {classes.tolist()[0]!r}. "
                "Add rows of another class."
            )
        seed = draw_seed(self.random_state)
        X = X.astype(np.float64, copy=False)
        targets = range(len(classes)) if len(classes) > 2 else [1]
        classifiers = [_Classifier(self, X, numbers == k, classes.tolist()[k], seed) for k in targets]
        self.classes_, self.seed_ = classes, seed
        for name in ("calibration_", "preparation_"):  # they belong to other weights
            self.__dict__.pop(name, None)
        self.coef_ = np.array([classifier.w for classifier in classifiers])
        self.intercept_ = np.array([classifier.b for classifier in classifiers])
        self.converged_ = all(classifier.separates for classifier in classifiers)
        self.n_iter_ = max(classifier.run.passes for classifier in classifiers)
        self.n_updates_ = sum(classifier.run.updates for classifier in classifiers)
        self.n_rescalings_ = sum(classifier.run.rescalings for classifier in classifiers)
        verdicts = Verdicts({classifier.label: classifier.verdict for classifier in classifiers})
        self.verdict_ = verdicts if len(classifiers) > 1 else classifiers[0].verdict
        if not self.converged_:
            self._warn([classifier for classifier in classifiers if not classifier.separates], X.shape[0])
        return self

    def _html_card(self) -> str:
        return self.verdict_._repr_html_() if hasattr(self, "verdict_") else ""

    def _warn(self, failed: list[_Classifier], n: int) -> None:
        through = "" if self.fit_intercept else " through the origin"
        two = len(self.classes_) == 2
        names = ", ".join(repr(classifier.label) for classifier in failed)
        several = f"any of the classes {names} from the rest"
        classes = "the two classes" if two else f"class {names} from the rest" if len(failed) == 1 else several
        where = "verdict_" if two else "verdict_[class]"
        wrong = sum(classifier.wrong for classifier in failed)
        verdicts = [classifier.verdict for classifier in failed]
        if all(map(_is_inseparable, verdicts)):
            most = max(len(verdict.support) for verdict in verdicts)
            proof = "one row" if most == 1 else f"{most:,} rows" if len(failed) == 1 else f"at most {most:,} rows"
            text = f"no hyperplane{through} separates {classes}, as {where} proves with {proof}"
        else:
            text = f"no separator{through} in floating point was found for {classes}; {where} holds what was proved"
        warn_user(
            f"{text}: the best weights found misclassify {wrong:,} of {n:,} rows; use AveragedPerceptron for noisy "
            "data, or add features that make the classes separable.",
            ConvergenceWarning,
        )

    def _scores(self, rows: RowMatrix) -> NDArray[np.float64]:
        return activations(rows, self.coef_, self.intercept_)

    def _rounded_scores(self, rows: RowMatrix) -> NDArray[np.float64]:
        return rounded_activations(rows, self.coef_, self.intercept_)

    def _decisions(self, rows: RowMatrix) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        if len(self.classes_) > 2:
            return best_classes(rows, self.coef_, self.intercept_)
        a = activations(rows, self.coef_, self.intercept_)[:, 0]
        return (a > 0).astype(np.int64), a == 0


class _Classifier:
    """A trained one-vs-rest classifier: its training run, its weights and the verdict on the training rows."""

    w: np.ndarray
    b: float
    run: RescaledRun
    wrong: int
    verdict: Verdict

    def __init__(
        self, model: RescaledPerceptron, X: MatrixLike, positive: np.ndarray, label: object, seed: int
    ) -> None:
        self.label = label
        signs = np.where(positive, 1.0, -1.0)
        Z = _examples(X, signs, model.fit_intercept)
        kept = np.asarray(abs(Z).sum(axis=1)).ravel() > 0  # every hyperplane through the origin contains a zero row
        rows = Z if kept.all() or not kept.any() else Z[kept]
        say = self._say if model.verbose else None
        self.run = rescaled_perceptron(rows, model.max_rescalings, seed=seed, on_phase=say)
        v = self.run.best
        self.w, self.b = (v[:-1], float(v[-1])) if model.fit_intercept else (v, 0.0)
        self.wrong = self.run.wrong + Z.shape[0] - rows.shape[0]
        self.separates = self.wrong == 0
        if self.separates:
            self.verdict = self._separated(X, signs, model.fit_intercept)
            return
        verdict: Verdict
        if model.fit_intercept:
            verdict = cast(Verdict, separability(X, positive, verbose=model.verbose))
        else:
            verdict = dataset_margin(X, positive, kind="homogeneous", verbose=model.verbose)
        self.verdict = dataclasses.replace(verdict, positive=label)
        if not (isinstance(verdict, Inseparable) or _is_inseparable(verdict)):
            w, b = _as_floats(verdict.w, verdict.b)
            if least_score(X, signs, w, b) > 0:
                self.w, self.b, self.separates = w, b, True

    def _separated(self, X: MatrixLike, signs: np.ndarray, bias: bool) -> Verdict:
        """Return the verdict for a training run that found a separator.

        The separator proves the lower bound on the margin. The upper bound comes from a convex combination of the rows
        y x, each weighted by its number of updates.
        """
        alpha = self.run.alpha / self.run.alpha.sum()
        kind = "geometric" if bias else "homogeneous"
        low, high = margin_of(X, signs, self.w, self.b, kind), margin_upper_bound(X, signs, alpha, kind)
        if bias:
            return Separable(self.w, self.b, low, high, alpha, longest_row(X), self.label)
        return MarginBracket(low, high, self.w, self.b, alpha, kind, self.label)

    def _say(self, rescalings: int, updates: int, wrong: int) -> None:
        rows = "every row on its side" if wrong == 0 else f"best so far: {wrong:,} rows on the wrong side"
        print(f"{self.label!r}: {rescalings} rescalings, {updates:,} updates, {rows}", file=sys.stderr, flush=True)


def _is_inseparable(verdict: Verdict) -> bool:
    """Return whether the verdict proves that no hyperplane separates the rows."""
    return isinstance(verdict, Inseparable) or (isinstance(verdict, MarginBracket) and verdict.high == -np.inf)


def _examples(X: MatrixLike, signs: np.ndarray, bias: bool) -> Matrix:
    """Return the matrix with rows y x, or y (x, 1) with a bias, where y is the sign of the row."""
    if sp.issparse(X):
        Z = sp.csr_array(X)
        Z = sp.csr_array(sp.hstack([Z, np.ones((X.shape[0], 1))])) if bias else Z
        return sp.csr_array(Z.multiply(signs[:, None]))
    Z = np.column_stack([X, np.ones(X.shape[0])]) if bias else X
    return Z * signs[:, None]


def _as_floats(w: np.ndarray, b: float) -> tuple[np.ndarray, float]:
    """Return (w, b) in floating point; large integers are first divided by a common power of two."""
    if w.dtype != object:
        return w, float(b)
    shift = max(0, max(int(value).bit_length() for value in (*w.tolist(), int(b))) - 1000)
    return np.array([float(int(value) >> shift) for value in w.tolist()]), float(int(b) >> shift)
