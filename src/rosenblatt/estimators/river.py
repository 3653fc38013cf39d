"""Learners as classifiers of river, the library for online learning. Only this file imports river."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

from rosenblatt.estimators.online import Label
from rosenblatt.estimators.perceptron import LinearPerceptron

try:
    from river.base import Classifier
except ImportError:  # `to_river` says so
    Classifier = None


class RiverClassifier(object if Classifier is None else Classifier):  # type: ignore[misc]
    """A learner of this package with the interface of ``river.base.Classifier``."""

    def __init__(self, model: LinearPerceptron) -> None:
        self.model = model

    @property
    def _multiclass(self) -> bool:
        return True

    def _get_params(self) -> dict[str, Any]:
        """Return the parameters for ``clone`` of river, which makes a classifier that has learned nothing."""
        return {"model": clone(self.model)}

    def learn_one(self, x: Mapping[Any, object], y: object, w: float = 1.0) -> None:
        """Learn from one record."""
        self.model.learn_one(x, y, w)

    def predict_one(self, x: Mapping[Any, object], **_: object) -> Label | None:
        """Return the class of one record; None before training."""
        return self.model.predict_one(x)

    def predict_proba_one(self, x: Mapping[Any, object], **_: object) -> dict[Label, float]:
        """Return the probability of each class for one record; the learner must be calibrated."""
        return self.model.predict_proba_one(x)


def to_river(model: LinearPerceptron) -> RiverClassifier:
    """Return a learner as a ``river.base.Classifier``, for river's pipelines, evaluators and metrics.

    Parameters
    ----------
    model : a linear learner of this package
        The learner, trained or not. It is not copied: it learns what the classifier learns.

    Returns
    -------
    classifier : river.base.Classifier
        Its methods ``learn_one``, ``predict_one`` and ``predict_proba_one`` are those of the learner.

    See Also
    --------
    calibrated : Return a copy of a model that has probabilities.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron, to_river
    >>> from river import datasets, evaluate, metrics, preprocessing  # doctest: +SKIP
    >>> model = preprocessing.StandardScaler() | to_river(AveragedPerceptron())  # doctest: +SKIP
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())  # doctest: +SKIP
    Accuracy: 89.03%
    """
    if Classifier is None:
        raise ImportError("to_river needs river, which is not installed: pip install river.")
    if not isinstance(model, LinearPerceptron):
        raise TypeError(
            f"expected a linear learner of this package, got {type(model).__name__}: give a Perceptron or another one."
        )
    return RiverClassifier(model)
