"""``rosenblatt test``: the accuracy of a saved model on labelled rows, and its precision and recall for each class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from rosenblatt.cli.imbalance import advice, weighs_mistakes
from rosenblatt.cli.inputs import Predictor, best_classes, model_and_rows
from rosenblatt.cli.options import AS_JSON, FILES, MODEL, FileOptions, Group, command, option
from rosenblatt.cli.output import (
    JsonObject,
    ProgressBar,
    enable_gc,
    note_counts,
    note_extra_columns,
    note_preparation,
    print_json,
    print_note,
    print_table,
    print_text,
)
from rosenblatt.messages import check_integer, count_of, label_text, name_some, plain_label

if TYPE_CHECKING:
    from rosenblatt.blocks import Block
    from rosenblatt.tables import Table
    from rosenblatt.training.calibration import RatedRows

Pairs: TypeAlias = Mapping[tuple[Any, Any], int]
"""A confusion matrix, as the number of rows for each pair (true label, predicted label); missing pairs have 0 rows."""
_MOST_CLASSES = 8
"""The largest confusion matrix that fits a terminal; for more classes, the most common confusions are listed."""
NO_ROWS = "expected rows to test on, got none."
"""The message if there are no rows."""
_MOST_LETTERS = 30
"""Class names in tables are truncated to this length, so that lines fit a terminal of 80 columns."""


class ResultOptions(Group):
    """What to measure, and how to print it."""

    top: int | None = option(None, "K", "Also count the rows whose label is among the K with the largest scores.")
    as_json: bool = AS_JSON


@command
def test(*, model: str = MODEL, data: list[str] = FILES, results: ResultOptions, files: FileOptions) -> None:  # noqa: PT028
    """Measure how well a model predicts labelled rows: accuracy, scores of each class, confusion matrix.

    \b
    Example:
      rosenblatt test adult.model a9a.t.bz2
    """
    top = None if results.top is None else check_integer("top", results.top, 1)
    predictor, rows = model_and_rows(model, data, labels=True, **files.to_open())
    names = ", ".join(data)
    if not rows.labelled:
        target = (predictor.preparation or {}).get("target")
        column = f" (the column {target['name']!r})" if isinstance(target, dict) else ""
        raise ValueError(f"there are no labels to test against in {names}{column}: use predict, which needs none.")
    note_preparation(rows)
    note_extra_columns(rows)
    with ProgressBar("testing", data) as bar:
        found = predictions_of(predictor, bar.track(rows), top=top)
    note_counts(rows)
    pairs = found.pairs
    classes = [plain_label(label) for label in predictor.classes.tolist()]
    error = unknown_labels(pairs, classes, names)
    if error is not None:
        raise error
    scores = found.scores(classes)
    remarks = advice(scores, classes, predictor.learner, weighs_mistakes(predictor))
    right = sum(count for (true, predicted), count in pairs.items() if true == predicted)
    if results.as_json:
        facts = {"rows": scores["rows"], "right": right} | scores
        del facts["commonest"]
        print_json(facts | {"skipped": rows.skipped.rows, "unlabelled": rows.unlabelled, "advice": remarks})
        return
    print_text(
        f"Accuracy {scores['accuracy']:.2%}: {right:,} of {count_of(scores['rows'], 'row')} predicted correctly. "
        f"Balanced accuracy (mean recall of the classes): {scores['balanced_accuracy']:.2%}."
    )
    print_text(*top_lines(scores), *ranking_lines(scores), *calibration_lines(scores))
    print_text("")
    print_table(scores_table(scores["by_class"]))
    print_text("")
    print_table(confusion(pairs))
    for remark in remarks:
        print_note(f"{remark}.")


class Predictions:
    """Counts of predictions for labelled rows, with the scores of two classes and the probabilities if they exist."""

    def __init__(self, n_classes: int, top: int | None = None) -> None:
        self.top, self.among_top = top, 0
        self.pairs: Counter[tuple[Any, Any]] = Counter()
        self.n_classes = n_classes
        self._rated: list[RatedRows] = []
        self._ranked: list[tuple[Any, Any]] = []
        """For two classes, the scores and the class numbers of the rows, block by block."""

    def add(self, model: Predictor, block: Block) -> None:
        """Predict the rows of a block, and count them."""
        if self.top is not None:
            best, _ = best_classes(model, block.X, self.top)
            self.among_top += int((model.classes[best] == block.y[:, None]).sum())
        pairs = zip(block.y.tolist(), model.predict(block.X).tolist(), strict=True)
        for (true, predicted), count in Counter(pairs).items():
            self.pairs[plain_label(true), plain_label(predicted)] += count
        if model.calibration is None and self.n_classes != 2:
            return
        from rosenblatt.training.rows import known_class_numbers

        numbers = known_class_numbers(block.y, model.classes)
        if self.n_classes == 2:
            self._ranked.append((model.rounded_scores(block.X)[:, 0], numbers))
        if model.calibration is not None:
            from rosenblatt.training.calibration import rate_rows

            self._rated.append(rate_rows(model.predict_proba(block.X), numbers))

    def update(self, other: Predictions) -> None:
        """Add the predictions of another model on other rows, but not its scores, which are not comparable."""
        self.pairs.update(other.pairs)
        self._rated += other._rated

    def scores(self, classes: Iterable[Any]) -> JsonObject:
        """Return the result of `class_scores`, the confusion matrix, and any measures of ranking and calibration."""
        import numpy as np

        found = class_scores(self.pairs, classes)
        found["confusion"] = [
            {"true": true, "predicted": predicted, "rows": count}
            for (true, predicted), count in sorted(self.pairs.items(), key=lambda pair: (-pair[1], str(pair[0])))
        ]
        if self.top is not None:
            recall = self.among_top / found["rows"]
            found["top"] = {"k": self.top, "recall": recall, "precision": recall / self.top}
        if self._ranked:
            from rosenblatt.training.ranking import average_precision, roc_auc

            scores, numbers = (np.concatenate(column) for column in zip(*self._ranked, strict=True))
            scores, numbers = scores[numbers >= 0], numbers[numbers >= 0]
            found["roc_auc"] = roc_auc(scores, numbers == 1)
            found["average_precision"] = average_precision(scores, numbers == 1)
            by_class = average_precision(-scores, numbers == 0), found["average_precision"]
            for entry, precision in zip(found["by_class"], by_class, strict=False):  # other labels follow the classes
                entry["average_precision"] = precision
        if self._rated:
            from rosenblatt.training.calibration import Reliability

            p, hit, squares = (np.concatenate(column) for column in zip(*self._rated, strict=True))
            found["calibration"] = vars(Reliability.of((p, hit, squares), self.n_classes))
        return found


def predictions_of(
    model: Predictor,
    rows: Iterable[Block],
    no_rows: str = NO_ROWS,
    top: int | None = None,
) -> Predictions:
    """Predict labelled rows, and count the predictions.

    Raises a ValueError with the message ``no_rows`` if there are no rows.
    """
    found = Predictions(len(model.classes), top)
    enable_gc()
    for block in rows:
        if len(block):
            found.add(model, block)
    pairs = found.pairs
    if not pairs:
        raise ValueError(no_rows)
    known = {plain_label(label) for label in model.classes.tolist()}
    strange = {true for true, _ in pairs if true not in known}
    if 0 < len(strange) < len({true for true, _ in pairs}):
        count = sum(count for (true, _), count in pairs.items() if true in strange)
        print_note(
            f"{count:,} of {count_of(sum(pairs.values()), 'row')} have a label that is not a class of the model: "
            f"{_texts(strange)}. Its classes are {_texts(known)}."
        )
    return found


def top_lines(scores: JsonObject) -> list[str]:
    """Return a line on the rows whose label is among the best classes; [] if that was not counted."""
    if "top" not in scores:
        return []
    k, recall, precision = (scores["top"][name] for name in ("k", "recall", "precision"))
    return [f"Recall at {k} (the label is among the {k} best): {recall:.2%}; precision at {k}: {precision:.2%}."]


def ranking_lines(scores: JsonObject) -> list[str]:
    """Return a line on how well the scores of two classes order the rows; [] if rows of one class are missing."""
    if scores.get("roc_auc") is None:
        return []
    precisions = [
        f"{entry['average_precision']:.4f} for {label_text(entry['class'])}" for entry in scores["by_class"][:2]
    ]
    return [f"ROC AUC {scores['roc_auc']:.4f}; average precision {', '.join(precisions)}."]


def calibration_lines(scores: JsonObject) -> list[str]:
    """Return a line on how well the probabilities agree with the labels; [] for a model that is not calibrated."""
    if "calibration" not in scores:
        return []
    found = scores["calibration"]
    return [
        f"Calibration error {found['error']:.2%}; perfect probabilities would have {found['chance']:.2%} on these rows "
        f"by chance. Brier score {found['brier']:.4f}."
    ]


def unknown_labels(pairs: Pairs, classes: Sequence[Any], files: str) -> ValueError | None:
    """Return an error if no true label in ``pairs`` is a class of the model, or None otherwise."""
    labels = {true for true, _ in pairs}
    if labels & set(classes):
        return None
    return ValueError(
        f"no label of {files} is a class of the model: the classes are {_texts(classes)}, and the labels are "
        f"{_texts(labels)}. Write them as in the training data, or train on rows labelled like these."
    )


def _texts(labels: Iterable[Any]) -> str:
    return name_some(sorted(map(label_text, labels)))


def confusion(pairs: Pairs) -> Table:
    """Return the confusion matrix as a table, or the most common confusions if there are more than 8 classes.

    >>> confusion({("ham", "ham"): 5, ("spam", "ham"): 2})
    Rows: true class; columns: predicted class
    class  ham  spam
    ----------------
    ham      5     0
    spam     2     0
    """
    from rosenblatt.tables import Table

    classes = sorted({label for pair in pairs for label in pair})
    if len(classes) > _MOST_CLASSES:
        wrong = sorted((-count, *pair) for pair, count in pairs.items() if pair[0] != pair[1])[:10]
        listed: dict[str, list[object]] = {
            "class": [label_text(true) for _, true, _ in wrong],
            "predicted as": [label_text(other) for _, _, other in wrong],
            "rows": [-count for count, _, _ in wrong],
        }
        return Table(listed, f"The most common confusions among {len(classes)} classes")
    table: dict[str, list[object]] = {"class": [label_text(label) for label in classes]}
    for predicted in classes:
        table[label_text(predicted)] = [pairs.get((true, predicted), 0) for true in classes]
    return Table(table, "Rows: true class; columns: predicted class")


def class_scores(pairs: Pairs, classes: Iterable[Any]) -> JsonObject:
    """Return the accuracy and the scores of each class, as ``--json`` prints them.

    The classes in ``classes`` come first, followed by any others that occur in ``pairs``. A ratio with denominator 0
    is None. The balanced accuracy is the mean recall of the classes that occur among the rows. ``commonest`` is the
    most common class, with the accuracy of always predicting this class.

    Examples
    --------
    >>> scores = class_scores({("ham", "ham"): 5, ("spam", "ham"): 1, ("spam", "spam"): 2}, ["ham", "spam", "eggs"])
    >>> scores_table(scores["by_class"])
    Scores of each class, in percent
    class  rows  precision  recall     F1
    -------------------------------------
    ham       5      83.33     100  90.91
    spam      3        100   66.67     80
    eggs      0          -       -      -
    >>> scores["accuracy"], scores["balanced_accuracy"], scores["commonest"]
    (0.875, 0.8333333333333333, {'class': 'ham', 'accuracy': 0.625})
    """
    rows, taken = Counter[Any](), Counter[Any]()
    for (true, predicted), count in pairs.items():
        rows[true] += count
        taken[predicted] += count
    by_class = []
    for label in dict.fromkeys([*classes, *rows, *taken]):
        right = pairs.get((label, label), 0)
        by_class.append(
            {
                "class": label,
                "rows": rows[label],
                "precision": _share(right, taken[label]),
                "recall": _share(right, rows[label]),
                "f1": _share(2 * right, rows[label] + taken[label]),
            }
        )
    recalls = [scores["recall"] for scores in by_class if scores["recall"] is not None]
    [(commonest, most)] = rows.most_common(1) or [(None, 0)]
    total, right = rows.total(), sum(pairs.get((label, label), 0) for label in rows)
    return {
        "rows": total,
        "accuracy": _share(right, total),
        "commonest": {"class": commonest, "accuracy": _share(most, total)},
        "balanced_accuracy": _share(sum(recalls), len(recalls)),
        "by_class": by_class,
    }


def scores_table(by_class: Iterable[JsonObject]) -> Table:
    """Return the scores of each class, as computed by `class_scores`, as a table in percent."""
    from rosenblatt.tables import Table

    entries = list(by_class)
    names = [label_text(entry["class"]) for entry in entries]
    columns: dict[str, list[object]] = {
        "class": [name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 3] + "..." for name in names],
        "rows": [entry["rows"] for entry in entries],
    }
    for title in ("precision", "recall", "F1"):
        shares = [entry[title.lower()] for entry in entries]
        columns[title] = [None if share is None else 100 * share for share in shares]
    return Table(columns, "Scores of each class, in percent")


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
