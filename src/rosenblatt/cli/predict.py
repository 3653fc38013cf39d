"""``rosenblatt predict`` and ``rosenblatt test``: what a saved model says about files."""

from __future__ import annotations

import contextlib
import csv
import errno
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from rosenblatt.cli.inputs import check_out, opened, score
from rosenblatt.cli.output import as_text, columns, emit, on_terminal, say
from rosenblatt.cli.progress_bar import Bar
from rosenblatt.cli.startup import begin

__all__ = ["confusion", "loaded", "model_and_rows", "predict", "tell_accuracy"]

_MOST_CLASSES = 8
"""A table of more classes than this does not fit a terminal; then the commonest confusions are listed."""


def model_and_rows(path: str, paths: Sequence[str], labels: bool, **options: Any) -> tuple[Any, Any]:
    """Return the model of a file and the rows of others, prepared as those it was trained on."""
    model = loaded(path)
    return model, opened(paths, None, {**options, "preparation": model.preparation_, "labels": labels})


def loaded(path: str) -> Any:
    """Return the model of a file, which has to know how rows are prepared."""
    import rosenblatt

    model = rosenblatt.load(path)
    if getattr(model, "preparation_", None) is None:
        raise ValueError(
            f"{path} does not say how rows of files are made into features, as it was not trained by this command: "
            "use it from Python, with rosenblatt.load."
        )
    return model


def predict(path: str, paths: Sequence[str], out: Path | None, scores: bool, format: str | None) -> None:
    """Write one label a line, in the order of the rows; with scores, CSV."""
    alone = not (_is_standard_output(out) and on_terminal())
    if not _is_standard_output(out):
        check_out(out, [path, *paths], replaced=False)
    model, rows = model_and_rows(path, paths, labels=False, format=format)
    if scores and not hasattr(model, "decision_function"):
        raise ValueError(f"{path} holds a {type(model).__name__}, which has no scores.")
    begin()
    with _open_out(out) as file, Bar("predicting", paths, shown=alone) as bar:
        writer = csv.writer(file, lineterminator="\n")
        if scores:
            writer.writerow(["label", *_score_names(model)])
        for block in bar.watching(rows):
            if not len(block):
                continue
            labels = map(as_text, model.predict(block.X).tolist())
            if scores:
                values = model.decision_function(block.X)
                values = values.reshape(len(block), -1).tolist()
                writer.writerows([label, *map(repr, row)] for label, row in zip(labels, values, strict=True))
            else:
                file.writelines(f"{label}\n" for label in labels)


def _score_names(model: Any) -> list[str]:
    return ["score"] if len(model.classes_) < 3 else [f"score {as_text(label)}" for label in model.classes_.tolist()]


def _is_standard_output(out: Path | None) -> bool:
    return out is None or str(out) == "-"


@contextlib.contextmanager
def _open_out(out: Path | None) -> Iterator[TextIO]:
    if out is None or _is_standard_output(out):
        yield sys.stdout
        sys.stdout.flush()
    else:
        try:
            with out.open("w", encoding="utf-8", newline="") as file:
                yield file
        except OSError as fault:
            if fault.errno == errno.ENOSPC and fault.filename is None:
                raise OSError(fault.errno, fault.strerror, str(out)) from None
            raise


def tell_accuracy(path: str, paths: Sequence[str], format: str | None, as_json: bool) -> None:
    """Print the accuracy and the confusion table."""
    model, rows = model_and_rows(path, paths, labels=True, format=format)
    if not rows.labelled:
        raise ValueError(f"{', '.join(paths)} has no labels to test against: predict needs none.")
    with Bar("testing", paths) as bar:
        found = score(model, bar.watching(rows))
    if as_json:
        pairs = [
            {"true": true, "predicted": predicted, "rows": count}
            for (true, predicted), count in sorted(found["pairs"].items(), key=lambda pair: (-pair[1], str(pair[0])))
        ]
        emit({name: found[name] for name in ("rows", "right", "accuracy")} | {"confusion": pairs})
        return
    say(f"Accuracy {found['accuracy']:.2%}: {found['right']:,} of {found['rows']:,} rows are predicted right.")
    say("")
    columns(confusion(found["pairs"]))


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
