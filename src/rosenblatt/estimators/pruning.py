"""`pruned`: a copy of a trained model without its smallest weights."""

from __future__ import annotations

import copy
from typing import Any

from sklearn.base import BaseEstimator

from rosenblatt.blocks import as_file_stream
from rosenblatt.data.preparation import hashed_columns
from rosenblatt.estimators.base import BasePerceptron
from rosenblatt.estimators.calibration import replace_learner, rows_of_stream, steps_and_learner
from rosenblatt.estimators.validation import MatrixLike
from rosenblatt.messages import ParameterError, check_share
from rosenblatt.training.pruning import Pruner
from rosenblatt.training.rows import as_rows


def pruned(model: BaseEstimator, X: MatrixLike = None, *, share: float | None = None) -> Any:
    """Return a copy of a trained linear model without its smallest weights, whose file takes little space.

    Give either rows or a share. With rows, as many of the smallest weights become 0 as change none of the model's
    predictions for these rows. Rows that were not used for training show best what other rows will get. The remaining
    weights are rounded to float32, and averages and variances, from which training continues, are not kept. If training
    continues, it starts from the remaining weights.

    Parameters
    ----------
    model : any linear learner of this package but VotedPerceptron, or a Pipeline that ends in one
        It must be fitted. For a parameter search, such as GridSearchCV, its ``best_estimator_`` is used.
    X : {array-like, sparse matrix, data frame} of shape (n, d), or a stream returned by ``data.open``, default=None
        Rows whose predictions must not change. They are kept in memory.
    share : float, default=None
        The share of the nonzero weights to remove, between 0 and 1.

    Returns
    -------
    model : the type of ``model``
        A copy. ``calibrated`` must come after pruning, because it fits probabilities to the scores of a model.

    See Also
    --------
    save : Write a model to a file, without weights that are 0.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from rosenblatt import AROW, TextHasher
    >>> texts, labels = ["Free entry, win now", "see you at seven"] * 3, ["spam", "ham"] * 3
    >>> model = make_pipeline(TextHasher(), AROW(r=1, random_state=0)).fit(texts, labels)
    >>> small = pruned(model, ["win a free phone", "are you at home?"])
    >>> [int((one[-1].coef_ != 0).sum()) for one in (model, small)]
    [8, 2]
    >>> small.predict(["win now", "you"]).tolist()
    ['spam', 'ham']
    """
    steps, learner = steps_and_learner(model, "prune other models with their own library")
    if not isinstance(learner, BasePerceptron):
        raise TypeError(f"expected a learner that is trained in passes, got {type(learner).__name__}: train another.")
    if (X is None) == (share is None):
        raise ParameterError("pruned needs either rows, as X, or {share}, and not both: give one of them.")
    if hasattr(learner, "calibration_"):
        raise ValueError(
            "the probabilities of this model belong to its scores, which pruning changes: prune the model first, then "
            "calibrate it."
        )
    pruner = Pruner(learner.state_, learner.hypothesis)
    if share is not None:
        check_share("share", share)
        removal = pruner.removal(share)
    elif as_file_stream(X) is not None:
        blocks = [as_rows(rows) for rows, _ in rows_of_stream(learner, steps, X)]
        removal = pruner.harmless_removal(blocks)
    else:
        rows = X if steps is None else steps.transform(X)
        removal = pruner.harmless_removal([learner._rows(rows)])
    found = copy.copy(learner)
    hashed = hashed_columns(getattr(learner, "preparation_", None) or {})
    names = pruner.names_after(removal, getattr(learner, "feature_names_in_", None), hashed)
    if names is not None:
        found.feature_names_in_ = names
    found._set_trained(pruner.state_after(removal), learner.classes_)
    return replace_learner(model, found)
