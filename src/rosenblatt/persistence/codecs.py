"""Estimators as the plain models that files hold, and back."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.estimators.rescaled import RescaledPerceptron
from rosenblatt.messages import shorten
from rosenblatt.storage.schema import StrictArrays, StrictFields
from rosenblatt.theory.certificates import Certificate
from rosenblatt.theory.verdicts import Inseparable, MarginBracket, Separable, Undecided, Verdicts
from rosenblatt.training.model_file import ModelInfo, TrainedModel
from rosenblatt.training.options import LEARNERS as ENGINE_LEARNERS
from rosenblatt.training.options import RunOptions, parameter_names, parameters_to_plain
from rosenblatt.training.rows import Names

TRAINED: dict[str, type] = {
    name: getattr(import_module(f"rosenblatt.{learner.module}"), name) for name, learner in ENGINE_LEARNERS.items()
}
"""Learners that the engine trains."""
LEARNERS: dict[str, type] = TRAINED | {"RescaledPerceptron": RescaledPerceptron}
"""What a file may hold. A name in a file is looked up here and nowhere else."""
_COUNTS = ("seed_", "n_iter_", "n_updates_", "n_rescalings_")
_VERDICTS = (Separable, Inseparable, Undecided, MarginBracket)


def to_trained_model(model: Any) -> TrainedModel:
    """Return a learner of the engine as plain data."""
    learner = type(model).__name__
    options = RunOptions.for_learner(learner, **{name: getattr(model, name) for name in parameter_names(learner)})
    return TrainedModel(
        learner=learner,
        options=options.as_trained(model.state_),
        classes=model.classes_,
        state=model.state_,
        early_stopping_state=model._early_stopping_state,
        feature_names=getattr(model, "feature_names_in_", None),
        preparation=getattr(model, "preparation_", None),
        fingerprint=getattr(model, "fingerprint_", None),
    )


def from_trained_model(found: TrainedModel) -> Any:
    """Return the learner that a model describes."""
    parameters = {name: getattr(found.options, name) for name in parameter_names(found.learner)}
    model: Any = TRAINED[found.learner](**parameters)
    model.state_, model.classes_, model._early_stopping_state = found.state, found.classes, found.early_stopping_state
    _attach(model, found.state.n_features, found.feature_names, found)
    return model


def _attach(model: Any, n_features: int, names: Names | None, info: ModelInfo | TrainedModel) -> None:
    """Give a model what every file says besides what was learned."""
    model.n_features_in_ = n_features
    for name, value in (
        ("feature_names_in_", names),
        ("preparation_", info.preparation),
        ("fingerprint_", info.fingerprint),
    ):
        if value is not None:
            setattr(model, name, value)


def rescaled_to_plain(model: RescaledPerceptron) -> tuple[ModelInfo, dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what a file says of a rescaled perceptron: what every model says, its fields, its arrays."""
    names = getattr(model, "feature_names_in_", None)
    info = ModelInfo(
        learner=type(model).__name__,
        parameters=parameters_to_plain(model.get_params(deep=False), model.seed_),
        classes=model.classes_,
        feature_names=None if names is None else [str(name) for name in names],
        preparation=getattr(model, "preparation_", None),
        fingerprint=getattr(model, "fingerprint_", None),
    )
    learned: dict[str, Any] = {name: int(getattr(model, name)) for name in _COUNTS}
    learned |= {"converged": bool(model.converged_), "verdict": model.verdict_.to_json()}
    return info, learned, {"coef": model.coef_, "intercept": model.intercept_}


def rescaled_from_plain(
    info: ModelInfo, fields: StrictFields, arrays: StrictArrays, max_rows: float = math.inf
) -> RescaledPerceptron:
    """Return the rescaled perceptron that a file describes, or raise a ValueError."""
    model = RescaledPerceptron(**_rescaled_parameters(StrictFields(info.parameters, "the header: 'parameters'")))
    model.classes_, labels = info.classes, info.classes.tolist()
    if len(labels) < 2:
        raise ValueError("there are fewer than two classes.")
    classifiers = len(labels) if len(labels) > 2 else 1
    model.coef_ = arrays.take("coef", "f8", (classifiers, None))
    model.intercept_ = arrays.take("intercept", "f8", (classifiers,))
    if model.coef_.shape[1] == 0 or not (np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()):
        raise ValueError("some weights are not finite, or there are none.")
    if not model.fit_intercept and model.intercept_.any():
        raise ValueError("there is a bias where none was to be learned.")
    model.converged_ = fields.flag("converged")
    for name in _COUNTS:
        setattr(model, name, fields.whole(name, most=2**4096 if name == "seed_" else 2**62))
    text = fields.word("verdict")
    model.verdict_ = (Verdicts if classifiers > 1 else Certificate).from_json(text, max_rows=max_rows)
    verdicts: Any = model.verdict_ if classifiers > 1 else {labels[1]: model.verdict_}
    if list(verdicts) != (labels if classifiers > 1 else labels[1:]) or any(
        not isinstance(verdict, _VERDICTS) or verdict.positive != label for label, verdict in verdicts.items()
    ):
        raise ValueError("its verdict is about other classes.")
    n_features = model.coef_.shape[1]
    _attach(model, n_features, info.names(n_features), info)
    return model


def _rescaled_parameters(fields: StrictFields) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, default in RescaledPerceptron().get_params(deep=False).items():
        value = out[name] = fields.take(name)
        if name == "random_state":
            if value is not None and (type(value) is not int or value < 0):
                raise ValueError(f"random_state must be an integer or None, got {shorten(value)}.")
        elif type(value) is not type(default) or (type(value) is int and abs(value) >= 2**62):
            raise ValueError(f"{name} must be of type {type(default).__name__}, below 2**62, got {shorten(value)}.")
    fields.end()
    return out
