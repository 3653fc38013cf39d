"""The rescaled perceptron as a scikit-learn estimator, for data whose margin is tiny."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, Self

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
from rosenblatt.theory.verdicts import Inseparable, MarginBracket, Separable, Verdicts
from rosenblatt.training.options import RandomSource, draw_seed
from rosenblatt.training.predict import activations, best_classes
from rosenblatt.training.rows import RowMatrix, VectorLike, encode_labels

Verdict = Any  # Separable, Inseparable, Undecided or MarginBracket


class RescaledPerceptron(ExactClassifier):
    """The perceptron that hardly minds how small the margin is, and that ends in a verdict.

    A perceptron takes up to (R / margin)^2 updates. This one is stopped after m^2 / 4 of them (m weights), stretches
    space across the directions in which it was wrong, and starts again, until every row is on its side
    (``rosenblatt.theory.search.rescaled``). A margin of 1e-8 takes some hundred updates in ten dimensions. Where it
    finds no separator, `separability` decides: either it has one, which is taken, or it proves that there is none.
    Then a ``ConvergenceWarning`` says so, and the weights kept are those that left the fewest rows wrong at the end of
    a phase.

    It is for data that separates, if only just; for noisy data `AveragedPerceptron` predicts better. It keeps a dense
    copy of the data while it learns. More than two classes: a classifier for each against the rest.

    Parameters
    ----------
    fit_intercept : bool
        Whether to learn a bias.
    max_rescalings : int
        The most rescalings before `separability` is asked, for each classifier.
    random_state : int, RandomState, Generator or None
        Where the order of visits comes from.
    verbose : int
        1 prints a line for each phase on standard error.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (m, d) and (m,)
        The weights; m is 1 for two classes, else their number.
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    converged_ : bool
        Whether every classifier has every training row on its side, proved exactly; it implies a training score of 1.
    verdict_ : Separable, Inseparable or Undecided; a dictionary of them by class where there are more than two
        What is proved about the data; ``verdict_.check(X, y)`` recomputes it. The upper end of a margin found by this
        perceptron is rough; `dataset_margin` has the digits. Without an intercept it is a `MarginBracket` of the kind
        "homogeneous", as hyperplanes through the origin are another question.
    n_iter_, n_updates_, n_rescalings_ : int
        Passes (the most that a classifier made), and updates and rescalings of all classifiers.
    seed_ : int
        What the visiting orders are drawn from.

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
        """Learn from the rows of ``X`` and their labels until they are separated, or proved not to be.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            Numbers that float64 would round are refused.
        y : array of shape (n,)
            Labels of any type, at least two different ones.
        """
        refuse_stream(X, "fit", self)
        check_boolean("fit_intercept", self.fit_intercept)
        given = X = check_exact_matrix(X) if sp.issparse(X) else X  # equal places are added up exactly
        X, y = validate_pair(self, X, y, reset=True)
        check_exact_matrix(given)  # the verdict is about the numbers as given
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
        names = ", ".join(repr(classifier.label) for classifier in failed)
        what = f"class {names} from the rest" if len(failed) == 1 else f"any of the classes {names} from the rest"
        if len(self.classes_) == 2:
            what = "the two classes"
        where = "verdict_" if len(self.classes_) == 2 else "verdict_[class]"
        wrong = sum(classifier.wrong for classifier in failed)
        if all(_is_no(classifier.verdict) for classifier in failed):
            most = max(len(classifier.verdict.support) for classifier in failed)
            proof = "one row" if most == 1 else f"{most:,} rows" if len(failed) == 1 else f"at most {most:,} rows"
            text = f"no hyperplane{through} separates {what}, as {where} proves with {proof}"
        else:
            text = f"no separator{through} in floating point was found for {what}, and {where} says what is proved"
        warn_user(
            f"{text}: the weights kept leave {wrong:,} of {n:,} rows on the wrong side; use AveragedPerceptron for "
            "noisy data, or features that separate it.",
            ConvergenceWarning,
        )

    def _scores(self, rows: RowMatrix) -> NDArray[np.float64]:
        return activations(rows, self.coef_, self.intercept_)

    def _decisions(self, rows: RowMatrix) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        if len(self.classes_) > 2:
            return best_classes(rows, self.coef_, self.intercept_)
        a = activations(rows, self.coef_, self.intercept_)[:, 0]
        return (a > 0).astype(np.int64), a == 0


class _Classifier:
    """One class against the rest: the run, the weights that came of it, and the verdict."""

    w: np.ndarray
    b: float
    run: RescaledRun
    wrong: int
    verdict: Verdict

    def __init__(self, model: RescaledPerceptron, X: MatrixLike, positive: np.ndarray, label: Any, seed: int) -> None:
        self.label = label
        signs = np.where(positive, 1.0, -1.0)
        Z = _examples(X, signs, model.fit_intercept)
        kept = np.asarray(abs(Z).sum(axis=1)).ravel() > 0  # a row of zeros is on every plane through the origin
        rows = Z if kept.all() or not kept.any() else Z[kept]
        say = self._say if model.verbose else None
        self.run = rescaled_perceptron(rows, model.max_rescalings, seed=seed, on_phase=say)
        self._take(self.run.best, model.fit_intercept)
        self.wrong = self.run.wrong + Z.shape[0] - rows.shape[0]
        self.separates = self.wrong == 0
        if self.separates:
            self.verdict = self._yes(X, signs, model.fit_intercept)
            return
        asked = separability if model.fit_intercept else _through_the_origin
        verdict: Any = asked(X, positive, verbose=model.verbose)
        self.verdict = dataclasses.replace(verdict, positive=label)
        if not _is_no(verdict):
            w, b = _as_floats(verdict.w, verdict.b)
            if least_score(X, signs, w, b) > 0:
                self.w, self.b, self.separates = w, b, True

    def _take(self, v: np.ndarray, bias: bool) -> None:
        self.w, self.b = (v[:-1], float(v[-1])) if bias else (v, 0.0)

    def _yes(self, X: MatrixLike, signs: np.ndarray, bias: bool) -> Verdict:
        """Return what the separator and the counts of updates prove."""
        alpha = self.run.alpha / self.run.alpha.sum()
        kind = "geometric" if bias else "homogeneous"
        low, high = margin_of(X, signs, self.w, self.b, kind), margin_upper_bound(X, signs, alpha, kind)
        if bias:
            return Separable(self.w, self.b, low, high, alpha, longest_row(X), self.label)
        return MarginBracket(low, high, self.w, self.b, alpha, kind, self.label)

    def _say(self, rescalings: int, updates: int, wrong: int) -> None:
        rows = "every row on its side" if wrong == 0 else f"{wrong:,} rows wrong at best"
        print(f"{self.label!r}: {rescalings} rescalings, {updates:,} updates, {rows}", file=sys.stderr, flush=True)


def _through_the_origin(X: MatrixLike, positive: np.ndarray, verbose: int) -> MarginBracket:
    return dataset_margin(X, positive, kind="homogeneous", verbose=verbose)


def _is_no(verdict: Verdict) -> bool:
    """Say whether the verdict proves that nothing separates."""
    return isinstance(verdict, Inseparable) or (isinstance(verdict, MarginBracket) and verdict.high == -np.inf)


def _examples(X: MatrixLike, signs: np.ndarray, bias: bool) -> Any:
    """Return the rows y x, or y (x, 1) with a bias."""
    if sp.issparse(X):
        Z = sp.csr_array(X)
        Z = sp.csr_array(sp.hstack([Z, np.ones((X.shape[0], 1))])) if bias else Z
        return sp.csr_array(Z.multiply(signs[:, None]))
    Z = np.column_stack([X, np.ones(X.shape[0])]) if bias else X
    return Z * signs[:, None]


def _as_floats(w: np.ndarray, b: Any) -> tuple[np.ndarray, float]:
    """Return (w, b) as floats; whole numbers, however long, are divided by a power of two first."""
    if w.dtype != object:
        return w, float(b)
    shift = max(0, max(int(value).bit_length() for value in (*w.tolist(), int(b))) - 1000)
    return np.array([float(int(value) >> shift) for value in w.tolist()]), float(int(b) >> shift)
