"""Data that ``train --report`` adds to the results of a run: scores, weights, and rows with the smallest margins."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from rosenblatt.cli.output import JsonObject
from rosenblatt.cli.train_run import Training, predict_with_bar
from rosenblatt.messages import count_of, plain_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.blocks import Block, Features
    from rosenblatt.data import Stream
    from rosenblatt.data.describe import ColumnTable
    from rosenblatt.data.source import Preparation
    from rosenblatt.training.model_file import TrainedModel

_MOST_WEIGHTS, _MOST_WEIGHTS_OF_CLASS = 20, 8
"""Maximum number of weights shown for a model of two classes, and for each class of a model of more classes."""
_MOST_ROWS, _MOST_REASONS = 10, 5


_OF_OUTPUT = ("--json", "--report")
_COLUMNS = ("column", "kind", "becomes", "missing", "distinct", "range", "looks")


def report_facts(
    training: Training,
    answer: JsonObject,
    rows_to_test_on: Callable[[Stream], Stream],
    tested: tuple[str, JsonObject, str] | None,
    columns: ColumnTable | None,
) -> JsonObject:
    """Return the data that the report adds to ``answer``, the results of a training run.

    ``tested`` contains the kind of the test, its scores, and a description of the test rows. If ``tested`` is None, the
    model is tested on the rows held out for probabilities or for the threshold, or else on its training rows.
    """
    from rosenblatt import __version__

    model, options, stream = training.model, training.options, training.stream
    unseen = training.unseen
    learned = f"the {count_of(answer['rows'], 'training row')}"
    rows, worst_on = (stream, learned) if unseen is None else (unseen, "")
    if tested is not None:
        kind, scores, on = tested
        rows, worst_on = (stream, learned) if kind == "folds" else (rows_to_test_on(stream), on)
    else:
        kind = "training" if unseen is None else "unseen"
        classes = [plain_label(label) for label in model.classes.tolist()]
        scores = predict_with_bar(model, rows, training.paths, held_out=unseen is not None).scores(classes)
        on = learned if unseen is None else f"{count_of(scores['rows'], 'row')} held out of training"
        worst_on = on
    target = (model.preparation or {}).get("target")
    return {
        "target": target.get("name") if isinstance(target, dict) else None,
        "measured_on": kind,
        "on": on,
        "scores": scores,
        "weights": weight_facts(model),
        "votes": model.options.hypothesis == "vote",
        "worst_on": worst_on,
        "worst": worst_rows(model, rows.uncached()),
        "columns": None if columns is None or model.preparation is None else _column_facts(columns, model.preparation),
        "options": {name: _plain(value) for name, value in options.changed.items() if name not in _OF_OUTPUT},
        "parameters": model.options.to_plain(model.learner, model.state.seed),
        "summary": str(training.report),
        "version": __version__,
    }


def _column_facts(columns: ColumnTable, preparation: Preparation) -> JsonObject:
    """Return the description of the columns; what they become is that of the model, whatever the first rows say."""
    from rosenblatt.data.describe import what_becomes

    rows = [{name: row[name] for name in _COLUMNS} for row in columns]
    becomes = what_becomes([row["column"] for row in rows], preparation)
    return {"title": columns.title, "rows": [row | {"becomes": each} for row, each in zip(rows, becomes, strict=True)]}


def _plain(value: object) -> object:
    return value if isinstance(value, int | float | list | None) else str(value)


class Linear(NamedTuple):
    """The weights of a linear model, with the names and the scaling of its features.

    ``w`` has one row for two classes, and otherwise one row for each class. For a model that votes, ``w`` contains the
    averaged weights.
    """

    w: NDArray[Any]
    b: NDArray[Any]
    names: list[str]
    centre: NDArray[Any]
    spread: NDArray[Any]

    @classmethod
    def of(cls, model: TrainedModel) -> Linear | None:
        """Return the weights of a model, or None for a kernel model, which has no feature weights."""
        from rosenblatt.data.preparation import number_of_feature
        from rosenblatt.scaling import ColumnScale
        from rosenblatt.training.linear import LinearState

        if not isinstance(model.state, LinearState):
            return None
        hypothesis, preparation = model.options.hypothesis, model.preparation or {}
        w, b = model.state.weights("average" if hypothesis == "vote" else hypothesis)
        if model.feature_names is None:
            names = [number_of_feature(preparation, feature) for feature in range(w.shape[1])]
        else:
            names = [str(name) for name in model.feature_names]
        scale = ColumnScale.from_plain(preparation.get("scale") or {"method": "none"} | _NO_SCALE)
        return cls(w, b, names, *scale.full(w.shape[1]))

    def raw(self, feature: int, value: float) -> float:
        """Return the value of a feature before scaling, rounded so that rounding errors do not show."""
        return float(f"{value * self.spread[feature] + self.centre[feature]:.12g}")


_NO_SCALE: JsonObject = {"features": [], "centre": [], "spread": []}


def weight_facts(model: TrainedModel) -> list[JsonObject] | None:
    """Return the largest weights of each class, or None for a kernel model.

    With two classes there is a single entry. Its positive weights favour the second class, and its negative weights the
    first class.
    """
    import numpy as np

    linear = Linear.of(model)
    if linear is None:
        return None
    two = len(linear.w) == 1
    entries = []
    for k, label in enumerate(model.classes[-1:] if two else model.classes):
        w = linear.w[k]
        largest = np.argsort(-np.abs(w), kind="stable")[: _MOST_WEIGHTS if two else _MOST_WEIGHTS_OF_CLASS].tolist()
        shown = [{"feature": linear.names[i], "weight": float(w[i])} for i in largest if w[i]]
        others = int(np.count_nonzero(w)) - len(shown)
        entries.append({"class": plain_label(label), "weights": shown, "others": others, "bias": float(linear.b[k])})
    return entries


def worst_rows(model: TrainedModel, rows: Iterable[Block]) -> list[JsonObject]:
    """Return the rows with the smallest margins, at most ten, and the features that lowered each margin most.

    The margin of a row is the score of its true class minus the score of a rival class. The rival is the predicted
    class, or the class with the next best score if the prediction is correct. With two classes, the margin is the
    score, negated for rows of the first class. A feature contributes the product of its weight and value. For a kernel
    model no features are returned. Rows whose label is not a class of the model are left out.
    """
    import numpy as np

    linear = Linear.of(model)
    worst: list[tuple[float, int, int, int, int, Features]] = []
    for block in rows:
        if not len(block):
            continue
        numbers = np.arange(block.first, block.first + len(block)) if block.numbers is None else block.numbers
        margins, true, predicted, rival = _margins(model, block)
        for i in np.argsort(margins, kind="stable")[:_MOST_ROWS].tolist():
            if true[i] >= 0:
                facts = float(margins[i]), int(numbers[i]), int(true[i]), int(predicted[i]), int(rival[i])
                worst.append((*facts, block.X[i : i + 1]))
        worst = sorted(worst, key=lambda row: row[:2])[:_MOST_ROWS]
    classes = [plain_label(label) for label in model.classes.tolist()]
    return [
        {
            "row": number,
            "true": classes[true],
            "predicted": classes[predicted],
            "margin": margin,
            "reasons": [] if linear is None else _reasons(linear, X, true, rival),
        }
        for margin, number, true, predicted, rival, X in worst
    ]


def _margins(model: TrainedModel, block: Block) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return margins, infinite for unknown labels, and the numbers of the true, the predicted and the rival classes."""
    import numpy as np

    from rosenblatt.training.rows import known_class_numbers

    true = known_class_numbers(block.y, model.classes)
    predicted = known_class_numbers(model.predict(block.X), model.classes)
    scores, rows = model.rounded_scores(block.X), np.arange(len(block))
    if scores.shape[1] == 1:
        margins, rival = np.where(true == 1, scores[:, 0], -scores[:, 0]) + 0.0, 1 - true
    else:
        others = scores.copy()
        others[rows, true] = -np.inf
        rival = np.where(predicted == true, others.argmax(axis=1), predicted)
        margins = scores[rows, true] - scores[rows, rival]
    return np.where(true >= 0, margins, np.inf), true, predicted, rival


def _reasons(linear: Linear, X: Features, true: int, rival: int) -> list[JsonObject]:
    """Return the features that contribute most to the score of the rival class minus that of the true class."""
    import numpy as np

    from rosenblatt.blocks import is_sparse

    if len(linear.w) == 1:
        side = 1.0 if rival == 1 else -1.0
        w, b = side * linear.w[0], side * float(linear.b[0])
    else:
        w, b = linear.w[rival] - linear.w[true], float(linear.b[rival] - linear.b[true])
    x = (X.toarray() if is_sparse(X) else X)[0].astype(np.float64)
    x = np.pad(x, (0, len(w) - len(x)))
    pushes = w * x
    largest = np.argsort(-pushes, kind="stable")[:_MOST_REASONS].tolist()
    found: list[JsonObject] = [
        {"feature": linear.names[i], "value": linear.raw(i, x[i]), "contribution": float(pushes[i])} for i in largest
    ]
    found.append({"feature": "(bias)", "value": None, "contribution": b})
    found = [reason for reason in found if reason["contribution"] > 0 and math.isfinite(reason["contribution"])]
    return sorted(found, key=lambda reason: -reason["contribution"])[:_MOST_REASONS]
