"""``rosenblatt test``: how well a saved model predicts labelled rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rosenblatt.cli.inputs import score
from rosenblatt.cli.notes import say_counts, say_extra_columns
from rosenblatt.cli.output import as_text, emit, print_table, say
from rosenblatt.cli.predict import model_and_rows
from rosenblatt.cli.progress_bar import ProgressBar
from rosenblatt.cli.scores import class_scores
from rosenblatt.messages import count_of, name_some, plain_label

_MOST_CLASSES = 8
"""A table of more classes than this does not fit a terminal; then the commonest confusions are listed."""


def tell_accuracy(path: str, paths: Sequence[str], options: Mapping[str, Any], as_json: bool) -> None:
    """Print the accuracy, how well each class is predicted, and the confusion table."""
    model, rows = model_and_rows(path, paths, labels=True, **options)
    files = ", ".join(paths)
    if not rows.labelled:
        raise ValueError(f"{files} has no labels to test against{_named(model.preparation)}: predict needs none.")
    say_extra_columns(rows)
    with ProgressBar("testing", paths) as bar:
        found = score(model, bar.track(rows))
    say_counts(rows)
    classes = [plain_label(label) for label in model.classes.tolist()]
    pairs = {(plain_label(true), plain_label(predicted)): count for (true, predicted), count in found["pairs"].items()}
    fault = unknown_labels(pairs, classes, files)
    if fault is not None:
        raise fault
    scores = class_scores(pairs, classes)
    if as_json:
        confused = [
            {"true": true, "predicted": predicted, "rows": count}
            for (true, predicted), count in sorted(pairs.items(), key=lambda pair: (-pair[1], str(pair[0])))
        ]
        facts = {name: found[name] for name in ("rows", "right", "accuracy")}
        emit(facts | scores.to_plain() | {"confusion": confused, "skipped": rows.skipped.rows})
        return
    right = f"{found['right']:,} of {count_of(found['rows'], 'row')} {'is' if found['rows'] == 1 else 'are'}"
    say(
        f"Accuracy {found['accuracy']:.2%}: {right} predicted right. "
        f"Balanced accuracy, the mean recall of the classes: {scores.balanced_accuracy:.2%}."
    )
    say("")
    print_table(scores.to_table())
    say("")
    print_table(confusion(pairs))


def unknown_labels(pairs: Mapping[tuple[Any, Any], int], classes: Sequence[Any], files: str) -> ValueError | None:
    """Return the error for rows none of whose labels is a class of the model, None where some are."""
    labels = list(dict.fromkeys(true for true, _ in pairs))
    if set(labels) & set(classes):
        return None
    return ValueError(
        f"no label of {files} is a class of the model: the model knows {_texts(classes)}, and the labels there are "
        f"{_texts(labels)}. Write them as the model knows them, or train on rows labelled like these."
    )


def _named(preparation: Mapping[str, Any] | None) -> str:
    """Return which column the labels would be in, for a sentence."""
    target = (preparation or {}).get("target")
    return f" (the column {target['name']!r})" if isinstance(target, dict) else ""


def _texts(labels: Sequence[Any]) -> str:
    return name_some(sorted(map(as_text, labels)))


def confusion(pairs: dict[tuple[Any, Any], int]) -> Any:
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
