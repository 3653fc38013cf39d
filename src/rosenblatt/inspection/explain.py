"""The features with the largest weights (CIML 4.4).

A kernel perceptron has no weights of features: `support` explains it by its support rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.preparations import is_hashed, is_preparation
from rosenblatt.inspection.by_class import FULL_UP_TO, Words, find_classes, short_columns
from rosenblatt.inspection.geometry import LinearRule, linear_rule
from rosenblatt.inspection.pipelines import feature_labels, split_pipeline
from rosenblatt.inspection.predictions import extremes, title_by_side
from rosenblatt.inspection.support import explain_support, is_kernel_model
from rosenblatt.inspection.units import Units, find_units
from rosenblatt.label_text import label_text, plain_label
from rosenblatt.parameters import check_integer
from rosenblatt.tables import Table

Confidence: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
"""That in each weight, and that in each bias."""
CONFIDENCE_NOTE = "Confidence is 1 over the variance of a weight: 1 if no update had the feature, no upper end."
VOTE_NOTE = "A vote has no weights of its own: these are its averaged ones."
_SPREAD_RATIO = 100.0  # where features' ranges differ by more, a weight says more about its unit than about its feature
_UNITS_NOTES = (
    "weight is that of the scaled feature: compare features by it.",
    "weight per unit is that of the number before it was scaled.",
)


def explain(model: Any, feature_names: Sequence[str] | None = None, top: int = 10, *, label: Any = None) -> Table:
    """Return the features with the largest and the smallest weights, as a table from largest to smallest.

    A weight is how much the activation grows when its feature grows by one: the largest speak for the
    positive class (the second of ``classes_``), the smallest, far below zero, for the other (CIML 4.4). With
    more than two classes each has its own lines; with more than three these are cut to one line each, and ``label``
    shows some of them in full. Equal weights keep the order of their features. Weights tell
    how much features matter only where these range over similar values; where they do not, a warning and a
    note say so.

    Where features were scaled before the learner saw them, the table has weights in both units: ``weight`` is that of
    the scaled feature, so these compare with each other, and ``weight per unit`` that of the number as it was: the
    weight over its spread, None for a feature that was not scaled. This is known of a pipeline whose last step before
    the learner is a ``StandardScaler``, ``MaxAbsScaler``, ``RobustScaler``, `ExactScaler` or a ``ColumnTransformer`` of
    these with others, and of a model that was trained on files with ``scale``.

    Of `AROW` there is also the ``confidence`` in each weight, 1 over its variance: 1 where nothing was learned of the
    weight, and the larger the more rows had a say in it. It is that of the last weights, also where their average
    predicts.

    A kernel perceptron has no weights of features but coefficients of its support rows, the training rows that it
    was wrong about: those with the largest and the smallest are shown, by their number in the training data.

    Parameters
    ----------
    model : fitted linear estimator, KernelPerceptron, or a pipeline that ends in one
        It has ``coef_`` and ``intercept_``. For a vote the averaged weights are shown.
    feature_names : sequence of str, optional
        A name for each weight. Otherwise ``model.feature_names_in_``, what the earlier steps of a pipeline
        call their output, or x0, x1, ... Not for a KernelPerceptron.
    top : int
        How many of the largest and how many of the smallest. If that covers all features, each is shown once.
    label : optional
        The class to show, or a list of them, of more than two. Two classes have one line of weights between them.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[0, 1, 1], [1, 0, 1]], ["praise", "blame"])
    >>> explain(model, ["bad", "good", "film"], top=1)
    Weights: above 0 they speak for 'praise', below 0 for 'blame'
    feature  weight
    ---------------
    good          1
    bad          -1
    Bias: 0
    >>> from rosenblatt import AROW
    >>> model = AROW(r=1, shuffle=False).fit([[0, 1, 1, 0], [1, 0, 1, 0]] * 3, ["praise", "blame"] * 3)
    >>> explain(model, ["bad", "good", "film", "rare"])
    Weights: above 0 they speak for 'praise', below 0 for 'blame'
    feature   weight  confidence
    ----------------------------
    good      0.8982       12.25
    film     0.02382       22.44
    rare           0           1
    bad           -1       12.56
    Bias: 0.02382; confidence 22.44
    Confidence is 1 over the variance of a weight: 1 if no update had the feature, no upper end.
    """
    table, warning = explanation(model, feature_names, top, label, Words())
    if warning:
        warnings.warn(warning, UserWarning, stacklevel=2)
    return table


def explanation(
    model: Any, feature_names: Sequence[str] | None, top: int, label: Any, words: Words
) -> tuple[Table, str]:
    """Return the table of `explain`, and what it warns of; advice in these words."""
    steps, learner = split_pipeline(model)
    if is_kernel_model(learner):
        return explain_support(learner, feature_names, top, label, words), ""
    rule = linear_rule(learner)
    names = feature_labels(learner, rule.w.shape[1], feature_names, steps)
    units = find_units(steps, learner, rule.w.shape[1])
    check_integer("top", top, 1)
    several = len(rule.w) > 1
    places = find_classes(label, rule.classes)
    places = places if several else [0]
    short = several and label is None and len(places) > FULL_UP_TO
    labels = [rule.classes[k] for k in places]
    if short:
        columns = short_columns(labels, names, rule.w, top)
        notes = [f"One class in full: {words.one_class(plain_label(labels[0]))}."]
        notes += ["Weights are those of the scaled features."] * (units is not None)
    else:
        confidence = _confidence(learner, rule)
        columns = _full_columns(rule, places, names, units, confidence, top)
        notes = _bias_notes(rule, places, units, confidence) + [CONFIDENCE_NOTE] * (confidence is not None)
    notes += [VOTE_NOTE] * rule.averaged + list(_UNITS_NOTES) * (units is not None and not short)
    warning = "" if units is not None else _scale_warning(learner, names, words)
    return Table(columns, title_by_side("Weights", rule.classes, several), notes + [warning] * bool(warning)), warning


def _confidence(learner: Any, rule: LinearRule) -> Confidence | None:
    """Return 1 over the variance of each weight and of each bias, None for learners that keep no variances."""
    if not hasattr(learner, "variance_"):
        return None
    of_weights, of_biases = np.asarray(learner.variance_), np.asarray(learner.intercept_variance_)
    if of_weights.shape != rule.w.shape:
        return None
    with np.errstate(divide="ignore", over="ignore"):
        return 1.0 / of_weights, 1.0 / of_biases


def _full_columns(
    rule: LinearRule,
    places: list[int],
    names: list[str],
    units: Units | None,
    confidence: Confidence | None,
    top: int,
) -> dict[str, list[Any]]:
    """Return the columns of some classes, with their largest and smallest weights."""
    several = len(rule.w) > 1
    columns: dict[str, list[Any]] = {"class": []} if several else {}
    columns |= {"feature": [], "weight": []} | ({} if units is None else {"weight per unit": []})
    columns |= {} if confidence is None else {"confidence": []}
    for k in places:
        shown = extremes(rule.w[k], top)
        if several:
            columns["class"] += [plain_label(rule.classes[k])] * len(shown)
        columns["feature"] += [names[i] for i in shown]
        columns["weight"] += rule.w[k][shown].tolist()
        if units is not None:
            columns["weight per unit"] += units.at(shown).weights_or_none(rule.w[k][shown])
        if confidence is not None:
            columns["confidence"] += confidence[0][k][shown].tolist()
    return columns


def _bias_notes(rule: LinearRule, places: list[int], units: Units | None, confidence: Confidence | None) -> list[str]:
    """Return the biases of some classes in words, in both units where there are two, and the confidence in them."""
    found = [_biases(rule, places, [float(b) for b in rule.b])]
    if confidence is not None:
        found[0] += f"; confidence {_biases(rule, places, confidence[1].tolist())}"
    if units is not None:
        moved = [units.bias(w, float(b)) for w, b in zip(rule.w, rule.b, strict=True)]
        found.append(f"{_biases(rule, places, moved)}, for weights per unit")
    return [f"Bias{' by class' if len(rule.w) > 1 else ''}: {words}" for words in found]


def _biases(rule: LinearRule, places: list[int], biases: list[float]) -> str:
    if len(rule.w) == 1:
        return f"{biases[0] + 0.0:.4g}"
    pairs = [f"{label_text(rule.classes[k])}: {biases[k] + 0.0:.4g}" for k in places]
    return ", ".join(pairs[:10] + ["..."] * (len(pairs) > 10))


def _scale_warning(learner: Any, names: list[str], words: Words) -> str:
    """Return a sentence where features ranged over so different values in training that weights mislead."""
    spread = getattr(getattr(learner, "state_", None), "feature_ranges", None)
    if spread is None or len(spread) != len(names):
        return ""
    spread = spread[: _n_not_hashed(learner, len(names))]
    if not np.any(spread):
        return ""
    wide, narrow = np.argmax(spread), np.argmin(np.where(spread > 0, spread, math.inf))
    if not spread[wide] > _SPREAD_RATIO * spread[narrow]:
        return ""
    return (
        f"These weights mislead as importance, since {names[wide]!r} ranges over {spread[wide]:.4g} and "
        f"{names[narrow]!r} over {spread[narrow]:.4g}: {words.scale}"
    )


def _n_not_hashed(learner: Any, d: int) -> int:
    """Return how many of the ``d`` features, the first ones, are not hashed words: rare words range over little."""
    preparation = getattr(learner, "preparation_", None)
    if not isinstance(preparation, dict) or not is_preparation(preparation) or "bits" not in preparation:
        return d
    plain = [column for column in preparation.get("columns", []) if not is_hashed(column)]
    return sum(len(column["categories"]) if "categories" in column else 1 for column in plain)
