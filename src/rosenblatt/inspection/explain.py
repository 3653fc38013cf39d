"""`explain`: the features with the largest and smallest weights (CIML 4.4), before and after scaling.

A kernel perceptron has no feature weights. It is explained by its support rows, in `inspection.support`.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.preparation import is_hashed, is_preparation
from rosenblatt.estimators.prepared import prepare
from rosenblatt.estimators.validation import MatrixLike
from rosenblatt.inspection.geometry import Classifier, LinearRule, linear_rule, title_by_side
from rosenblatt.inspection.support import Words, class_columns, explain_support, is_kernel_model
from rosenblatt.messages import label_text, plain_label
from rosenblatt.scaling import ColumnScale
from rosenblatt.tables import Table

# A weight refers either to the scaled feature that a learner sees, or to the value before scaling.
#
# If a value x was scaled to z = (x - centre) / spread, then w z + b = (w / spread) x + b - w centre / spread.


_SCALERS = {
    "StandardScaler": ("with_mean", "mean_"),
    "RobustScaler": ("with_centering", "center_"),
    "MaxAbsScaler": ("", ""),
}
"""scikit-learn's linear scalers, with the parameter that enables centring and the attribute with the centres."""
_TINY = 1e-280
_DIGITS = 12  # significant digits of a value that is recovered from its scaled value


@dataclass(frozen=True)
class Units:
    """The scaling of features before training: ``centre`` was subtracted, then the result was divided by ``spread``.

    Examples
    --------
    >>> units = Units(np.array([30.0, 0.0]), np.array([10.0, 1.0]))
    >>> units.weights(np.array([2.0, 5.0])), units.bias(np.array([2.0, 5.0]), 1.0)
    (array([0.2, 5. ]), -5.0)
    """

    centre: np.ndarray
    spread: np.ndarray

    def weights(self, w: np.ndarray) -> np.ndarray:
        """Return the weights for the values before scaling."""
        with np.errstate(over="ignore", under="ignore"):
            return w / self.spread

    def weights_or_none(self, w: np.ndarray) -> list[float | None]:
        """Return the weights for the values before scaling, with None for features that were not scaled.

        >>> Units(np.array([30.0, 0.0]), np.array([10.0, 1.0])).weights_or_none(np.array([2.0, 5.0]))
        [0.2, None]
        """
        return self._of_scaled(self.weights(w))

    def raw_or_none(self, scaled: np.ndarray) -> list[float | None]:
        """Return the values before scaling, with None for features that were not scaled."""
        return self._of_scaled(self.raw(scaled))

    def _of_scaled(self, numbers: np.ndarray) -> list[float | None]:
        same = (self.centre == 0.0) & (self.spread == 1.0)
        return [None if alike else number for alike, number in zip(same.tolist(), numbers.tolist(), strict=True)]

    def bias(self, w: np.ndarray, b: float) -> float:
        """Return the bias that belongs to the weights for the values before scaling; NaN if it overflows."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            moved = self.centre * self.weights(w)
        return math.fsum([b, *(-moved[moved != 0]).tolist()]) if np.isfinite(moved).all() else math.nan

    def scaled(self, raw: np.ndarray) -> np.ndarray:
        """Return the values after scaling."""
        with np.errstate(over="ignore", under="ignore"):
            return (raw - self.centre) / self.spread

    def at(self, columns: np.ndarray) -> Units:
        """Return the units of the given columns."""
        return Units(self.centre[columns], self.spread[columns])

    def raw(self, scaled: np.ndarray) -> np.ndarray:
        """Return the values before scaling, rounded to 12 digits so that rounding errors do not show.

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


class Transformer(Protocol):
    """A fitted transformer: the steps of a pipeline before its learner."""

    def transform(self, X: MatrixLike) -> MatrixLike:
        """Return the transformed rows."""


def find_units(steps: Iterable[object] | None, learner: object, d: int) -> Units | None:
    """Return the scaling of the ``d`` features of a learner, or None if no scaling is known.

    The scaling is taken from the last pipeline step before the learner if that step is a scaler or a ColumnTransformer
    that contains scalers. For a model that was trained on files, the scaling is taken from ``preparation_``.

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


def _of_step(step: object, d: int) -> Units | None:
    """Return the scaling of the ``d`` output features of a fitted transformer, or None if it has no known scaler."""
    if hasattr(step, "transformers_") and hasattr(step, "output_indices_"):
        return _of_columns(step, d)
    if hasattr(step, "steps"):
        return find_units([part for _, part in step.steps], None, d)
    scaler = next((kind.__name__ for kind in type(step).__mro__ if kind.__name__ in _SCALERS), None)
    if scaler is not None:
        with_centre, centres = _SCALERS[scaler]
        centre = getattr(step, centres) if getattr(step, with_centre, False) else None
        spread = getattr(step, "scale_", None)
    elif hasattr(step, "centre_") and hasattr(step, "spread_"):  # ExactScaler
        centre, spread = step.centre_, step.spread_
    else:
        return None
    units = Units(
        np.zeros(d) if centre is None else np.asarray(centre, dtype=float),
        np.ones(d) if spread is None else np.asarray(spread, dtype=float),
    )
    return units if units.centre.shape == units.spread.shape == (d,) else None


class _ColumnTransformer(Protocol):
    transformers_: Sequence[tuple[str, object, object]]
    output_indices_: Mapping[str, slice]


def _of_columns(step: _ColumnTransformer, d: int) -> Units | None:
    """Return the scaling of the ``d`` output features of a ColumnTransformer, or None if it contains no scaler."""
    units, found = Units(np.zeros(d), np.ones(d)), False
    for name, part, _ in step.transformers_:
        columns = step.output_indices_[name]
        own = None if isinstance(part, str) else _of_step(part, columns.stop - columns.start)
        if own is not None:
            units.centre[columns], units.spread[columns], found = own.centre, own.spread, True
    return units if found else None


# Pipelines that end in a learner: the steps before the learner, and the names of the learner's features.


def split_pipeline(model: Any) -> tuple[Any, Any]:
    """Return the pipeline steps before the learner (None if there are none) and the learner itself.

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
    """Return the best model of a parameter search such as GridSearchCV; any other model is returned unchanged."""
    return getattr(model, "best_estimator_", model)


def through_steps(steps: Transformer | None, X: MatrixLike) -> MatrixLike:
    """Return the input of a pipeline's learner: ``X`` transformed by ``steps``, or ``X`` if ``steps`` is None."""
    return X if steps is None else steps.transform(X)


def through_model(model: Any, X: MatrixLike) -> MatrixLike:
    """Return the input of a model's learner: ``X`` through the steps of a pipeline, or prepared as in training.

    A table for a model that was trained from a table becomes a `Block`.
    """
    steps, learner = split_pipeline(model)
    return prepare(learner, X) if steps is None else through_steps(steps, X)


def feature_labels(
    learner: object, d: int, given: Sequence[str] | None = None, steps: Transformer | None = None
) -> list[str]:
    """Return a name for each of ``d`` features: the given names, else the names from training, else x0, x1, ...

    Raises a ValueError if ``given`` does not have ``d`` names.

    >>> feature_labels(None, 2)
    ['x0', 'x1']
    """
    if given is not None:
        if len(given) != d:
            raise ValueError(f"expected one feature name for each of the {d} weights, got {len(given)}.")
        return [str(name) for name in given]
    found = getattr(learner, "feature_names_in_", None)
    if found is None and steps is not None and hasattr(steps, "get_feature_names_out"):
        with contextlib.suppress(AttributeError, ValueError):  # a step without names
            found = steps.get_feature_names_out()
    return [f"x{i}" for i in range(d)] if found is None or len(found) != d else [str(name) for name in found]


Confidence: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The pair (confidence in each weight, confidence in each bias)."""
CONFIDENCE_NOTE = "Confidence is 1 / variance of a weight: 1 if no update used the feature, with no upper limit."
VOTE_NOTE = "A vote has no weights of its own: these are averaged weights."
_SPREAD_RATIO = 100.0  # if the ranges of features differ by more, weights reflect units more than importance
_UNITS_NOTES = (
    "weight is for the scaled feature: use it to compare features.",
    "weight per unit is for the number before scaling.",
)


def explain(
    model: Classifier,
    feature_names: Sequence[str] | None = None,
    top: int = 10,
    *,
    label: object = None,
) -> Table:
    """Return a table of the features with the largest and the smallest weights, sorted from largest to smallest.

    A weight is the change in the activation when its feature increases by one. Large positive weights are evidence for
    the positive class, ``classes_[1]``, and large negative weights for the other class. Features with equal weights
    keep their order. Weights show the importance of features only if the features have similar ranges. If the ranges
    in training differ by a factor of more than 100, a warning and a note name the features with the widest and the
    narrowest range.

    For more than two classes, the table has separate rows for each class. For more than three classes, each class is
    summarized in one row, and ``label`` selects classes to show in full.

    If the features were scaled before training, the table has two columns. ``weight`` is for the scaled feature and can
    be compared between features. ``weight per unit`` is for the value before scaling. It is the weight divided by the
    divisor of the scaling, or None for a feature that was not scaled. The scaling is known for models that were trained
    on files with ``scale``. It is also known for pipelines whose last step before the learner is a ``StandardScaler``,
    ``MaxAbsScaler``, ``RobustScaler``, `ExactScaler`, or a ``ColumnTransformer`` that contains one of these.

    For `AROW` the column ``confidence`` is 1 / variance of the final weight. It is 1 if the feature occurred in no
    update, and grows with each update in which the feature occurs.

    For a `KernelPerceptron` the table shows support rows instead of features. They are the support rows with the
    largest and the smallest coefficients, by their indices in the training data.

    Parameters
    ----------
    model : fitted linear estimator, KernelPerceptron, or pipeline that ends in one
        A linear estimator has ``coef_`` and ``intercept_``. For a model that predicts by a vote, the averaged weights
        are shown.
    feature_names : sequence of str, default=None
        A name for each weight. None uses ``model.feature_names_in_``, the output names of the earlier pipeline steps,
        or x0, x1, ... It must be None for a KernelPerceptron.
    top : int, default=10
        Number of largest weights to show, and number of smallest weights to show. If this covers all features, each is
        shown once.
    label : label or list of labels, default=None
        Classes to show if there are more than two. None shows all.

    Returns
    -------
    table : Table
        A row for each feature shown, with notes on the bias and the units.

    See Also
    --------
    contributions : Explain a single prediction.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[0, 1, 1], [1, 0, 1]], ["praise", "blame"])
    >>> explain(model, ["bad", "good", "film"], top=1)
    Weights: positive for 'praise', negative for 'blame'
    feature  weight
    ---------------
    good          1
    bad          -1
    Bias: 0
    >>> from rosenblatt import AROW
    >>> model = AROW(r=1, shuffle=False).fit([[0, 1, 1, 0], [1, 0, 1, 0]] * 3, ["praise", "blame"] * 3)
    >>> explain(model, ["bad", "good", "film", "rare"])
    Weights: positive for 'praise', negative for 'blame'
    feature   weight  confidence
    ----------------------------
    good      0.8982       12.25
    film     0.02382       22.44
    rare           0           1
    bad           -1       12.56
    Bias: 0.02382; confidence 22.44
    Confidence is 1 / variance of a weight: 1 if no update used the feature, with no upper limit.
    """
    table, warning = explanation(model, feature_names, top, label, Words())
    if warning:
        warnings.warn(warning, UserWarning, stacklevel=2)
    return table


def explanation(
    model: Classifier, feature_names: Sequence[str] | None, top: int, label: object, words: Words
) -> tuple[Table, str]:
    """Return (table, warning) for `explain`, with advice worded by ``words``; the warning is "" if there is none."""
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
        notes += ["Weights are for the scaled features."] * (units is not None)
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


def _confidence(learner: object, rule: LinearRule) -> Confidence | None:
    """Return 1 / variance of each weight and each bias, or None for learners without variances."""
    if not (hasattr(learner, "variance_") and hasattr(learner, "intercept_variance_")):
        return None
    of_weights, of_biases = np.asarray(learner.variance_), np.asarray(learner.intercept_variance_)
    if of_weights.shape != rule.w.shape:
        return None
    with np.errstate(divide="ignore", over="ignore"):
        return 1.0 / of_weights, 1.0 / of_biases


def _bias_notes(rule: LinearRule, places: list[int], units: Units | None, confidence: Confidence | None) -> list[str]:
    """Return notes on the biases of the classes with indices ``places``, their confidence, and the unscaled biases."""
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


def _scale_warning(learner: object, names: list[str], words: Words) -> str:
    """Return a warning if the features' ranges in training differ so much that weights mislead, otherwise ""."""
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
        f"These weights do not show importance, because {names[wide]!r} has a range of {spread[wide]:.4g} and "
        f"{names[narrow]!r} one of {spread[narrow]:.4g}: {words.scale}"
    )


def _n_not_hashed(learner: object, d: int) -> int:
    """Return the number of features before the hashed words, which come last.

    Hashed words are left out of the comparison because rare words have small ranges.
    """
    preparation = getattr(learner, "preparation_", None)
    if not isinstance(preparation, dict) or not is_preparation(preparation) or "bits" not in preparation:
        return d
    plain = [column for column in preparation.get("columns", []) if not is_hashed(column)]
    return sum(len(column["categories"]) if "categories" in column else 1 for column in plain)
