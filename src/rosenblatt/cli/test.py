"""``rosenblatt test``: how well a saved model predicts labelled rows, in scores that ``train`` prints as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from rosenblatt.cli.inputs import Predictor, model_and_rows
from rosenblatt.cli.options import AS_JSON, FILES, MODEL, FileOptions, command
from rosenblatt.cli.output import (
    ProgressBar,
    as_text,
    emit,
    enable_gc,
    note,
    print_table,
    say,
    say_counts,
    say_extra_columns,
)
from rosenblatt.messages import count_of, name_some, plain_label

Pairs: TypeAlias = Mapping[tuple[Any, Any], int]
"""How many rows of each class were predicted as each: counts by (true, predicted); pairs that are left out count 0."""
_MOST_CLASSES = 8
"""A table of more classes than this does not fit a terminal; then the commonest confusions are listed."""
_MOST_LETTERS = 30
"""A longer name of a class is cut in the table, so that a line fits a terminal of 80 columns."""


@command
def test(*, model: str = MODEL, data: list[str] = FILES, as_json: bool = AS_JSON, files: FileOptions) -> None:  # noqa: PT028
    """Print how many labelled rows a model predicts right, how well each class, and which it takes for which.

    \b
    Example:
      rosenblatt test adult.model a9a.t.bz2
    """
    predictor, rows = model_and_rows(model, data, labels=True, **files.to_open())
    names = ", ".join(data)
    if not rows.labelled:
        target = (predictor.preparation or {}).get("target")
        column = f" (the column {target['name']!r})" if isinstance(target, dict) else ""
        raise ValueError(f"{names} has no labels to test against{column}: predict needs none.")
    say_extra_columns(rows)
    with ProgressBar("testing", data) as bar:
        pairs = predicted_pairs(predictor, bar.track(rows))
    say_counts(rows)
    classes = [plain_label(label) for label in predictor.classes.tolist()]
    fault = unknown_labels(pairs, classes, names)
    if fault is not None:
        raise fault
    scores = class_scores(pairs, classes)
    if as_json:
        confused = [
            {"true": true, "predicted": predicted, "rows": count}
            for (true, predicted), count in sorted(pairs.items(), key=lambda pair: (-pair[1], str(pair[0])))
        ]
        del scores["commonest"]
        emit(scores | {"confusion": confused, "skipped": rows.skipped.rows})
        return
    right = f"{scores['right']:,} of {count_of(scores['rows'], 'row')} {'is' if scores['rows'] == 1 else 'are'}"
    say(
        f"Accuracy {scores['accuracy']:.2%}: {right} predicted right. "
        f"Balanced accuracy, the mean recall of the classes: {scores['balanced_accuracy']:.2%}."
    )
    say("")
    print_table(scores_table(scores["by_class"]))
    say("")
    print_table(confusion(pairs))


def predicted_pairs(
    model: Predictor, rows: Iterable[Any], no_rows: str = "expected rows to test on, got none."
) -> Pairs:
    """Predict labelled rows; a ValueError that says ``no_rows`` where there are none."""
    found: Counter[tuple[Any, Any]] = Counter()
    enable_gc()
    for block in rows:
        if len(block):
            found.update(zip(block.y.tolist(), model.predict(block.X).tolist(), strict=True))
    pairs = {(plain_label(true), plain_label(predicted)): count for (true, predicted), count in found.items()}
    if not pairs:
        raise ValueError(no_rows)
    known = {plain_label(label) for label in model.classes.tolist()}
    strange = {true for true, _ in pairs if true not in known}
    if 0 < len(strange) < len({true for true, _ in pairs}):
        count = sum(count for (true, _), count in pairs.items() if true in strange)
        note(
            f"{count:,} of {count_of(sum(pairs.values()), 'row')} have a label that is no class of the model: "
            f"{_texts(strange)}. Its classes are {_texts(known)}."
        )
    return pairs


def unknown_labels(pairs: Pairs, classes: Sequence[Any], files: str) -> ValueError | None:
    """Return the error for rows none of whose labels is a class of the model, None where some are."""
    labels = {true for true, _ in pairs}
    if labels & set(classes):
        return None
    return ValueError(
        f"no label of {files} is a class of the model: the model knows {_texts(classes)}, and the labels there are "
        f"{_texts(labels)}. Write them as the model knows them, or train on rows labelled like these."
    )


def _texts(labels: Iterable[Any]) -> str:
    return name_some(sorted(map(as_text, labels)))


def confusion(pairs: Pairs) -> Any:
    """Return how often each class was taken for each; of many classes, the commonest confusions.

    >>> confusion({("ham", "ham"): 5, ("spam", "ham"): 2})
    Rows by their class, columns by what was predicted
    class  ham  spam
    ----------------
    ham      5     0
    spam     2     0
    """
    from rosenblatt.tables import Table

    classes = sorted({label for pair in pairs for label in pair})
    if len(classes) > _MOST_CLASSES:
        wrong = sorted((-count, *pair) for pair, count in pairs.items() if pair[0] != pair[1])[:10]
        listed: dict[str, list[Any]] = {
            "class": [as_text(true) for _, true, _ in wrong],
            "taken for": [as_text(other) for _, _, other in wrong],
            "rows": [-count for count, _, _ in wrong],
        }
        return Table(listed, f"The commonest confusions among {len(classes)} classes")
    table: dict[str, list[Any]] = {"class": [as_text(label) for label in classes]}
    for predicted in classes:
        table[as_text(predicted)] = [pairs.get((true, predicted), 0) for true in classes]
    return Table(table, "Rows by their class, columns by what was predicted")


def class_scores(pairs: Pairs, classes: Iterable[Any]) -> dict[str, Any]:
    """Return how well rows are predicted, and how well each class, as ``--json`` prints it.

    Classes are listed in the order of ``classes``; others that occur in ``pairs`` come after them. A share of no rows
    at all is None. The balanced accuracy is the mean recall of the classes that occur among the rows, and
    ``commonest`` says how often the answer that is right most often would be.

    Examples
    --------
    >>> scores = class_scores({("ham", "ham"): 5, ("spam", "ham"): 1, ("spam", "spam"): 2}, ["ham", "spam", "eggs"])
    >>> scores_table(scores["by_class"])
    How well each class is predicted, in percent
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
    recalls = [one["recall"] for one in by_class if one["recall"] is not None]
    [(commonest, most)] = rows.most_common(1) or [(None, 0)]
    total, right = rows.total(), sum(pairs.get((label, label), 0) for label in rows)
    return {
        "rows": total,
        "right": right,
        "accuracy": _share(right, total),
        "commonest": {"class": commonest, "accuracy": _share(most, total)},
        "balanced_accuracy": _share(sum(recalls), len(recalls)),
        "by_class": by_class,
    }


def scores_table(by_class: Iterable[Mapping[str, Any]]) -> Any:
    """Return the scores of classes as `class_scores` has them in a table for people: shares in percent."""
    from rosenblatt.tables import Table

    entries = list(by_class)
    names = [as_text(entry["class"]) for entry in entries]
    columns: dict[str, list[Any]] = {
        "class": [name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 3] + "..." for name in names],
        "rows": [entry["rows"] for entry in entries],
    }
    for title in ("precision", "recall", "F1"):
        shares = [entry[title.lower()] for entry in entries]
        columns[title] = [None if share is None else 100 * share for share in shares]
    return Table(columns, "How well each class is predicted, in percent")


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
