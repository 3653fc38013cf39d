"""`explain`: the features with the largest weights (CIML 4.4), in the units of scaled and of raw features.

A kernel perceptron has no weights of features: `support` explains it by its support rows.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.preparation import is_hashed, is_preparation
from rosenblatt.inspection.geometry import LinearRule, linear_rule, title_by_side
from rosenblatt.inspection.support import Words, class_columns, explain_support, is_kernel_model
from rosenblatt.messages import label_text, plain_label
from rosenblatt.scaling import ColumnScale
from rosenblatt.tables import Table

# Weights in two units: those of the scaled features that a learner sees, and those of the numbers before scaling.
#
# Where a feature became z = (x - centre) / spread, w z + b is (w / spread) x + b - w centre / spread.


_SCALERS = {
    "StandardScaler": ("with_mean", "mean_"),
    "RobustScaler": ("with_centering", "center_"),
    "MaxAbsScaler": ("", ""),
}
"""Scikit-learn's scalers that subtract and divide, with what says whether each subtracts and where it keeps it."""
_TINY = 1e-280
_DIGITS = 12  # of a number that is computed back from its scaled one


@dataclass(frozen=True)
class Units:
    """What was subtracted from each feature, and what it was divided by, before the learner saw it.

    Examples
    --------
    >>> units = Units(np.array([30.0, 0.0]), np.array([10.0, 1.0]))
    >>> units.weights(np.array([2.0, 5.0])), units.bias(np.array([2.0, 5.0]), 1.0)
    (array([0.2, 5. ]), -5.0)
    """

    centre: np.ndarray
    spread: np.ndarray

    def weights(self, w: np.ndarray) -> np.ndarray:
        """Return weights for the numbers before scaling."""
        with np.errstate(over="ignore", under="ignore"):
            return w / self.spread

    def weights_or_none(self, w: np.ndarray) -> list[float | None]:
        """Return such weights, None for features that were not scaled.

        >>> Units(np.array([30.0, 0.0]), np.array([10.0, 1.0])).weights_or_none(np.array([2.0, 5.0]))
        [0.2, None]
        """
        return self._of_scaled(self.weights(w))

    def raw_or_none(self, scaled: np.ndarray) -> list[float | None]:
        """Return numbers as they were before scaling, None for features that were not scaled."""
        return self._of_scaled(self.raw(scaled))

    def _of_scaled(self, numbers: np.ndarray) -> list[float | None]:
        same = (self.centre == 0.0) & (self.spread == 1.0)
        return [None if alike else number for alike, number in zip(same.tolist(), numbers.tolist(), strict=True)]

    def bias(self, w: np.ndarray, b: float) -> float:
        """Return the bias that goes with these weights."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            moved = self.centre * self.weights(w)
        return math.fsum([b, *(-moved[moved != 0]).tolist()]) if np.isfinite(moved).all() else math.nan

    def scaled(self, raw: np.ndarray) -> np.ndarray:
        """Return numbers as the learner sees them."""
        with np.errstate(over="ignore", under="ignore"):
            return (raw - self.centre) / self.spread

    def at(self, places: np.ndarray) -> Units:
        """Return those of some features."""
        return Units(self.centre[places], self.spread[places])

    def raw(self, scaled: np.ndarray) -> np.ndarray:
        """Return numbers as they were before scaling, without the digits that rounding may have changed.

        >>> units = Units(np.array([36.1]), np.array([17.3]))
        >>> units.raw(units.scaled(np.array([22.6]))).tolist()
        [22.6]
        """
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            moved = scaled * self.spread
            found = moved + self.centre
            size = np.maximum(np.abs(moved), np.abs(self.centre))
            unit = 10.0 ** (np.ceil(np.log10(np.maximum(size, _TINY))) - _DIGITS)
            neat = [float(f"{value:.{_DIGITS}g}") for value in np.round(found / unit) * unit]
        return np.where(np.isfinite(neat), neat, found) + 0.0


def find_units(steps: Any, learner: Any, d: int) -> Units | None:
    """Return what the ``d`` features of a learner were scaled by, None where nothing is known to scale them.

    That is the last of the steps before it, a scaler or a ColumnTransformer with some, or the scale of the stream it
    was trained on (``preparation_``).

    Examples
    --------
    >>> from sklearn.preprocessing import MaxAbsScaler
    >>> find_units([MaxAbsScaler().fit([[4.0, 2.0]])], None, 2)
    Units(centre=array([0., 0.]), spread=array([4., 2.]))
    >>> find_units(None, None, 2) is None
    True
    """
    if steps is not None:
        used = [step for step in steps if step is not None and not isinstance(step, str)]
        return _of_step(used[-1], d) if used else None
    preparation = getattr(learner, "preparation_", None)
    scale = preparation.get("scale") if isinstance(preparation, dict) else None
    if not isinstance(scale, dict):
        return None
    return Units(*ColumnScale.from_plain(scale).full(d))


def _of_step(step: Any, d: int) -> Units | None:
    """Return what a fitted transformer subtracts from each of its ``d`` features and divides it by."""
    if hasattr(step, "transformers_") and hasattr(step, "output_indices_"):
        return _of_columns(step, d)
    if hasattr(step, "steps"):
        return find_units([part for _, part in step.steps], None, d)
    scaler = next((kind.__name__ for kind in type(step).__mro__ if kind.__name__ in _SCALERS), None)
    if scaler is not None:
        asked, kept = _SCALERS[scaler]
        centre, spread = getattr(step, kept) if getattr(step, asked, False) else None, getattr(step, "scale_", None)
    elif hasattr(step, "centre_") and hasattr(step, "spread_"):  # ExactScaler
        centre, spread = step.centre_, step.spread_
    else:
        return None
    units = Units(
        np.zeros(d) if centre is None else np.asarray(centre, dtype=float),
        np.ones(d) if spread is None else np.asarray(spread, dtype=float),
    )
    return units if units.centre.shape == units.spread.shape == (d,) else None


def _of_columns(step: Any, d: int) -> Units | None:
    """Return this of a ColumnTransformer: features that none of its parts scales stay as they are."""
    units, found = Units(np.zeros(d), np.ones(d)), False
    for name, part, _ in step.transformers_:
        place = step.output_indices_[name]
        own = None if isinstance(part, str) else _of_step(part, place.stop - place.start)
        if own is not None:
            units.centre[place], units.spread[place], found = own.centre, own.spread, True
    return units if found else None


# Pipelines that end in a learner: its steps, the names of what they make, and rows sent through them.


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
    several = len(rule.w) > 1
    columns, shown = class_columns(rule.w, names, rule.classes, label, top, "feature", "weight")
    if not shown:
        notes = [f"One class in full: {words.one_class(plain_label(rule.classes[0]))}."]
        notes += ["Weights are those of the scaled features."] * (units is not None)
    else:
        confidence = _confidence(learner, rule)
        if units is not None:
            columns["weight per unit"] = [
                weight for k, at in shown for weight in units.at(at).weights_or_none(rule.w[k][at])
            ]
        if confidence is not None:
            columns["confidence"] = [number for k, at in shown for number in confidence[0][k][at].tolist()]
        notes = _bias_notes(rule, [k for k, _ in shown], units, confidence)
        notes += [CONFIDENCE_NOTE] * (confidence is not None)
    notes += [VOTE_NOTE] * rule.averaged + list(_UNITS_NOTES) * (units is not None and len(shown) > 0)
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
