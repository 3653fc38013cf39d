"""Pipelines that end in a learner: its steps, the names of what they make, and rows sent through them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any


def split_pipeline(model: Any) -> tuple[Any, Any]:
    """Return the steps before the learner, None where there are none, and the learner.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rosenblatt import Perceptron
    >>> split_pipeline(make_pipeline(StandardScaler(), Perceptron()))[1], split_pipeline(Perceptron())
    (Perceptron(), (None, Perceptron()))
    """
    model = searched(model)
    if not (hasattr(model, "steps") and hasattr(model, "named_steps")):  # a pipeline, without importing it
        return None, model
    return (model[:-1] if len(model) > 1 else None), model[-1]


def searched(model: Any) -> Any:
    """Return the best model of a search over parameters, such as a GridSearchCV; another model as it is."""
    return getattr(model, "best_estimator_", model)


def through_steps(steps: Any, X: Any) -> Any:
    """Return rows as the learner of a pipeline sees them: what the steps before it make of ``X``."""
    return X if steps is None else steps.transform(X)


def feature_labels(learner: Any, d: int, given: Sequence[str] | None = None, steps: Any = None) -> list[str]:
    """Return a name for each of ``d`` features: those given, else those known from training, else x0, x1, ...

    >>> feature_labels(None, 2)
    ['x0', 'x1']
    """
    if given is not None:
        if len(given) != d:
            raise ValueError(f"expected one feature name for each of the {d} weights, got {len(given)}.")
        return [str(name) for name in given]
    found = getattr(learner, "feature_names_in_", None)
    if found is None and steps is not None:
        with contextlib.suppress(AttributeError, ValueError):  # some step has no names
            found = steps.get_feature_names_out()
    return [f"x{i}" for i in range(d)] if found is None or len(found) != d else [str(name) for name in found]
