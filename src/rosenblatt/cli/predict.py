"""``rosenblatt predict`` and ``rosenblatt test``: what a saved model says about files."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rosenblatt.cli.errors import cli_message
from rosenblatt.cli.inputs import Predictor, check_out, opened, score
from rosenblatt.cli.output import as_text, emit, on_terminal, print_table, say
from rosenblatt.cli.progress_bar import ProgressBar
from rosenblatt.cli.startup import enable_gc
from rosenblatt.storage.atomic import write_atomically

_MOST_CLASSES = 8
"""A table of more classes than this does not fit a terminal; then the commonest confusions are listed."""


def model_and_rows(path: str, paths: Sequence[str], labels: bool, **options: Any) -> tuple[Predictor, Any]:
    """Return the model of a file and the rows of others, prepared as those it was trained on."""
    model = loaded(path)
    return model, opened(paths, None, {**options, "preparation": model.preparation, "labels": labels})


def loaded(path: str) -> Predictor:
    """Return the model of a file, which has to say how rows are prepared."""
    from rosenblatt.data.preparations import check_preparation
    from rosenblatt.training.model import TrainedModel
    from rosenblatt.training.model_file import ModelInfo, read_file
    from rosenblatt.training.options import LEARNERS

    def read(info: ModelInfo, fields: Any, arrays: Any) -> Predictor:
        if info.learner in LEARNERS:
            return TrainedModel.from_plain(info, fields, arrays)
        from rosenblatt.persistence.codecs import rescaled_from_plain
        from rosenblatt.theory.certificates import MOST_ROWS

        found = rescaled_from_plain(info, fields, arrays, MOST_ROWS)
        return _Estimator(info.learner, info.classes, info.preparation, found)

    model = read_file(path, read)
    if model.preparation is None:
        raise ValueError(
            f"{path} does not say how rows of files are made into features, as it was not trained by this command: "
            "use it from Python, with rosenblatt.load."
        )
    try:
        made = check_preparation(model.preparation)
    except ValueError as fault:
        raise ValueError(f"{path} does not say how rows of files are made into features: {fault}") from None
    if made not in (None, model.n_features):
        raise ValueError(f"{path} holds a model of {model.n_features:,} features, and makes {made:,} of each row.")
    return model


@dataclass
class _Estimator:
    """A model that only scikit-learn's classes know how to use."""

    learner: str
    classes: Any
    preparation: dict[str, Any] | None
    estimator: Any

    @property
    def n_features(self) -> int:
        return int(self.estimator.n_features_in_)

    def predict(self, X: Any) -> Any:
        return self.estimator.predict(X)

    def decision_function(self, X: Any) -> Any:
        return self.estimator.decision_function(X)


def predict(path: str, paths: Sequence[str], out: Path | None, scores: bool, options: Mapping[str, Any]) -> None:
    """Write one label a line, in the order of the rows; with scores, CSV."""
    alone = not (_is_standard_output(out) and on_terminal())
    if not _is_standard_output(out):
        check_out(out, [path, *paths], replaced=False)
    model, rows = model_and_rows(path, paths, labels=False, **options)
    enable_gc()
    with ProgressBar("predicting", paths, shown=alone) as bar:
        _write(out, _texts(model, bar.track(rows), scores))


def _texts(model: Predictor, rows: Iterable[Any], scores: bool) -> Iterator[str]:
    """Yield the lines of one block of rows after the other."""
    try:
        if scores:
            yield _csv([["label", *_score_names(model)]])
        for block in rows:
            if not len(block):
                continue
            labels = map(as_text, model.predict(block.X).tolist())
            if scores:
                values = model.decision_function(block.X).reshape(len(block), -1).tolist()
                yield _csv([label, *map(repr, row)] for label, row in zip(labels, values, strict=True))
            else:
                yield "".join(f"{label}\n" for label in labels)
    except OSError as fault:  # about what is read: who writes these lines takes every OSError for its own
        raise ValueError(cli_message(fault)) from fault


def _csv(rows: Iterable[Sequence[str]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def _score_names(model: Predictor) -> list[str]:
    return ["score"] if len(model.classes) < 3 else [f"score {as_text(label)}" for label in model.classes.tolist()]


def _is_standard_output(out: Path | None) -> bool:
    return out is None or str(out) == "-"


def _write(out: Path | None, texts: Iterable[str]) -> None:
    """Write texts: a file is replaced as a whole or not at all, a device or standard output gets them as they come."""
    if out is None or _is_standard_output(out):
        sys.stdout.writelines(texts)
        sys.stdout.flush()
    elif out.is_file() or not out.exists():
        write_atomically(out, (text.encode() for text in texts))
    else:
        try:
            with out.open("w", encoding="utf-8", newline="") as file:
                file.writelines(texts)
        except BrokenPipeError:
            raise
        except OSError as fault:
            words = f"could not be written, {str(fault.strerror).lower()}: write elsewhere"
            raise OSError(fault.errno, words, str(out)) from None


def tell_accuracy(path: str, paths: Sequence[str], options: Mapping[str, Any], as_json: bool) -> None:
    """Print the accuracy and the confusion table."""
    model, rows = model_and_rows(path, paths, labels=True, **options)
    if not rows.labelled:
        raise ValueError(f"{', '.join(paths)} has no labels to test against: predict needs none.")
    with ProgressBar("testing", paths) as bar:
        found = score(model, bar.track(rows))
    if as_json:
        pairs = [
            {"true": true, "predicted": predicted, "rows": count}
            for (true, predicted), count in sorted(found["pairs"].items(), key=lambda pair: (-pair[1], str(pair[0])))
        ]
        emit({name: found[name] for name in ("rows", "right", "accuracy")} | {"confusion": pairs})
        return
    say(f"Accuracy {found['accuracy']:.2%}: {found['right']:,} of {found['rows']:,} rows are predicted right.")
    say("")
    print_table(confusion(found["pairs"]))


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
