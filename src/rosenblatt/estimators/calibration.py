"""`calibrated`: a copy of a trained model that predicts probabilities."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from rosenblatt.blocks import Block, as_file_stream
from rosenblatt.estimators.base import ExactClassifier
from rosenblatt.estimators.prepared import check_prepared_alike, prepare_labelled
from rosenblatt.estimators.validation import MatrixLike, as_numpy
from rosenblatt.messages import check_choice, label_text, shorten
from rosenblatt.training.calibration import METHODS, fit_calibration
from rosenblatt.training.rows import (
    Labels,
    Matrix,
    VectorLike,
    as_rows,
    check_label_types,
    number_labels,
    pad_columns,
    step_sizes,
)


def calibrated(
    model: BaseEstimator,
    X: MatrixLike,
    y: VectorLike = None,
    sample_weight: VectorLike = None,
    *,
    method: str = "auto",
) -> Any:
    """Return a copy of a trained model with ``predict_proba``, calibrated on rows that were not used for training.

    Apart from ``predict_proba``, the copy equals the model: ``predict``, ``decision_function`` and ``score`` are
    unchanged. So ``predict`` still returns the exact decision of the model, which need not be the most probable class.
    Training the copy again removes ``predict_proba``, because the calibration no longer fits the scores.

    Calibration fits a function from scores to probabilities. The caller must pass rows that were not used for training.
    On its training rows a model is correct too often, so its probabilities would be too close to 0 and 1. The function
    is of one of two kinds:

    - A sigmoid, ``1 / (1 + exp(-(a * score + b)))``, is fitted by minimising the log loss with the target probabilities
      of Platt (1999).
    - Isotonic regression fits any nondecreasing function. It needs more rows.

    With more than two classes, a function is fitted for each class. It maps the lead of the class to the probability of
    the class against the rest. The lead is the score of the class minus the largest score of another class. The
    probabilities of a row are divided by their sum.

    Parameters
    ----------
    model : any learner of this package, or a Pipeline that ends in one
        It must be fitted. For a parameter search, such as GridSearchCV, its ``best_estimator_`` is used.
    X : {array-like, sparse matrix, data frame} of shape (n, d), or a stream returned by ``data.open``
        Rows that the model has not seen.
    y : array-like of shape (n,), default=None
        Labels of the rows, from at least two classes. A class of the model that does not occur gets probabilities close
        to 0. For a stream, which contains its labels, ``y`` must be None.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows, at least 0. None gives all rows the same weight.
    method : {"auto", "sigmoid", "isotonic"}, default="auto"
        "auto" uses isotonic regression for a class if at least 1,000 rows belong to it and at least 1,000 do not.
        Otherwise it uses a sigmoid.

    Returns
    -------
    model : the type of ``model``
        A copy with ``predict_proba``. Its attribute ``calibration_`` contains the fitted functions.

    See Also
    --------
    rosenblatt.plots.plot_reliability : Compare probabilities with the labels of more rows.

    References
    ----------
    Platt, "Probabilistic Outputs for Support Vector Machines", 1999; Lin, Lin and Weng, "A Note on Platt's
    Probabilistic Outputs for Support Vector Machines", Machine Learning 68, 2007; Zadrozny and Elkan, "Transforming
    Classifier Scores into Accurate Multiclass Probability Estimates", KDD 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import brier_score_loss
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from rosenblatt import AveragedPerceptron, ExactScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_new, y, y_new = train_test_split(X, y, random_state=0)
    >>> X_train, X_unseen, y_train, y_unseen = train_test_split(X, y, test_size=0.25, random_state=0)
    >>> model = make_pipeline(ExactScaler(), AveragedPerceptron(random_state=0)).fit(X_train, y_train)
    >>> model = calibrated(model, X_unseen, y_unseen)
    >>> model.predict_proba(X_new[:2]).round(2)
    array([[0.96, 0.04],
           [0.14, 0.86]])
    >>> round(brier_score_loss(y_new, model.predict_proba(X_new)[:, 1]), 3)
    0.032
    """
    check_choice("method", method, METHODS)
    steps, learner = steps_and_learner(model, "for other models use sklearn.calibration.CalibratedClassifierCV")
    if len(learner.classes_) < 2:
        raise ValueError("probabilities need a model of at least two classes, got one class: train it on more rows.")
    of_stream = as_file_stream(X) is not None
    if not of_stream and steps is None:
        X, y, sample_weight = prepare_labelled(learner, X, y, sample_weight)
    if of_stream:
        scores, labels, weights = _scores_of_stream(learner, steps, X, y, sample_weight)
    elif y is None:
        raise TypeError("calibrated compares scores with labels, got none: use calibrated(model, X, y).")
    else:
        rows = X if steps is None else steps.transform(X)
        scores, labels = learner._rounded_scores(learner._rows(rows)), np.ravel(as_numpy(y))
        weights = as_numpy(sample_weight)
    numbers = _class_numbers(labels, learner.classes_, len(scores))
    steps_of_rows = step_sizes(weights, None, learner.classes_, numbers)
    _check_classes(learner.classes_, numbers, steps_of_rows)
    found = copy.deepcopy(learner)  # learn_one on the given model would change a state that both share
    found.calibration_ = fit_calibration(
        scores,
        numbers,
        len(learner.classes_),
        hypothesis=getattr(learner, "hypothesis", "last"),
        method=method,
        weight=steps_of_rows if len(steps_of_rows) else None,
    )
    return replace_learner(model, found)


def steps_and_learner(model: BaseEstimator, otherwise: str) -> tuple[Pipeline | None, ExactClassifier]:
    """Return the steps of a pipeline before its learner, or None if there are none, and the fitted learner.

    For another model, a TypeError is raised that says what to do ``otherwise``.
    """
    model = getattr(model, "best_estimator_", model)
    steps, learner = (model[:-1], model[-1]) if isinstance(model, Pipeline) else (None, model)
    if not isinstance(learner, ExactClassifier):
        raise TypeError(
            f"expected a rosenblatt learner or a Pipeline that ends in one, got {type(learner).__name__}: {otherwise}."
        )
    check_is_fitted(learner)
    return steps or None, learner.to_local() if hasattr(learner, "to_local") else learner


def replace_learner(model: BaseEstimator, learner: ExactClassifier) -> BaseEstimator:
    """Return a copy of a model that has ``learner`` in place of its own, at the end of a pipeline if it is one."""
    model = getattr(model, "best_estimator_", model)
    if not isinstance(model, Pipeline):
        return learner
    pipeline = copy.copy(model)
    pipeline.steps = [*model.steps[:-1], (model.steps[-1][0], learner)]
    return pipeline


def rows_of_stream(learner: ExactClassifier, steps: Pipeline | None, stream: Any) -> Iterator[tuple[Matrix, Block]]:
    """Yield the blocks of a stream that ``data.open`` returned, each with its rows as the learner takes them."""
    check_prepared_alike(learner, stream)
    for block in stream:
        X = block.X if steps is None else steps.transform(block.X)
        yield pad_columns(sp.csr_array(X), learner.n_features_in_) if sp.issparse(X) else X, block


def _scores_of_stream(
    learner: ExactClassifier, steps: Pipeline | None, stream: Any, y: VectorLike, sample_weight: VectorLike
) -> tuple[NDArray[np.float64], Labels, NDArray[np.float64] | None]:
    """Return the scores, the labels and the weights of all rows of a stream that ``data.open`` returned."""
    if y is not None or sample_weight is not None:
        raise TypeError("a stream has labels and weights of its own: use calibrated(model, stream).")
    scores, labels, weights = [], [], []
    for X, block in rows_of_stream(learner, steps, stream):
        scores.append(learner._rounded_scores(as_rows(X)))
        labels.append(block.y)
        weights.append(np.ones(len(block)) if block.weight is None else block.weight)
    if not labels:
        return np.empty((0, 1)), np.empty(0), None
    return np.concatenate(scores), np.concatenate(labels), np.concatenate(weights)


def _class_numbers(labels: Labels, classes: Labels, n: int) -> NDArray[np.int32]:
    """Return the index of each label in ``classes``; raise a ValueError unless there are n labels, all known."""
    if len(labels) != n:
        raise ValueError(f"expected one label for each of the {n} rows, got {len(labels)}.")
    if not n:
        raise ValueError("expected rows that the model has not seen, with their labels, got none.")
    check_label_types(classes, labels)
    numbers, are_known = number_labels(labels, classes)
    if not are_known:
        known = set(classes.tolist())
        other = next(label for label in labels.tolist() if label not in known)
        raise ValueError(
            f"expected labels among the classes of the model, {shorten(classes.tolist())}, got {other!r}: leave out "
            "rows of other classes."
        )
    return numbers


def _check_classes(classes: Labels, numbers: NDArray[np.int32], weights: NDArray[np.float64]) -> None:
    """Raise a ValueError unless rows of at least two classes have a positive weight."""
    found = np.unique(numbers[weights > 0] if len(weights) else numbers)
    if len(found) < 2:
        label = label_text(classes[numbers[0]])
        raise ValueError(
            f"probabilities are fitted to rows of at least two classes, got rows of {label} only: add rows of others."
        )
