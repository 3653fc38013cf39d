"""``rosenblatt predict``: what a saved model says about files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rosenblatt.cli.errors import cli_message
from rosenblatt.cli.inputs import Predictor, check_out, opened
from rosenblatt.cli.notes import say_counts, say_extra_columns
from rosenblatt.cli.output import as_text, emit, on_terminal
from rosenblatt.cli.predictions import Columns, form_of, is_standard_output, write
from rosenblatt.cli.progress_bar import ProgressBar
from rosenblatt.cli.startup import enable_gc
from rosenblatt.messages import plain_label


def model_and_rows(path: str, paths: Sequence[str], labels: bool, **options: Any) -> tuple[Predictor, Any]:
    """Return the model of a file and the rows of others, prepared as those it was trained on."""
    model = loaded(path)
    return model, opened(paths, None, {**options, "preparation": model.preparation, "labels": labels})


def loaded(path: str) -> Predictor:
    """Return the model of a file, which has to say how rows are prepared."""
    from rosenblatt.data.preparation import check_preparation
    from rosenblatt.training.model_file import ModelInfo, TrainedModel, read_file
    from rosenblatt.training.options import LEARNERS

    def read(info: ModelInfo, fields: Any, arrays: Any) -> Predictor:
        if info.learner in LEARNERS:
            return TrainedModel.from_plain(info, fields, arrays)
        from rosenblatt.persistence.files import rescaled_from_plain
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


def predict(
    path: str,
    paths: Sequence[str],
    out: Path | None,
    ids: Sequence[str],
    scores: bool,
    options: Mapping[str, Any],
    as_json: bool,
) -> None:
    """Write one label a line, in the order of the rows; with ids, scores or rows left out, a table."""
    to_terminal = is_standard_output(out) and on_terminal()
    skip = options.get("on_error") == "skip"
    form = form_of(out, bool(ids) or scores or skip, as_json)
    if not is_standard_output(out):
        check_out(out, [path, *paths], replaced=form == "parquet")
    model, rows = model_and_rows(path, paths, labels=False, carry=list(dict.fromkeys(ids)), **options)
    say_extra_columns(rows, used=ids)
    enable_gc()
    counts: Counter[str] = Counter()
    with ProgressBar("predicting", paths, shown=not to_terminal) as bar:
        write(out, form, _answers(model, bar.track(rows), ids, scores, skip, counts))
    say_counts(rows)
    if as_json and not is_standard_output(out):
        known = {as_text(label): counts[as_text(label)] for label in model.classes.tolist()}
        facts = {"rows": sum(counts.values()), "classes": known, "out": str(out)}
        emit(facts | {"skipped": rows.skipped.rows, "unseen": rows.unseen})


def _answers(
    model: Predictor, rows: Iterable[Any], ids: Sequence[str], scores: bool, skip: bool, counts: Counter[str]
) -> Iterator[Columns]:
    """Yield the columns of the answers, first without rows, then block by block, and count the labels."""
    names = ["score"] if len(model.classes) < 3 else [f"score {as_text(label)}" for label in model.classes.tolist()]
    row_name, label_name, *score_names = [_free(name, ids) for name in ("row", "label", *names)]
    columns = [*([row_name] if skip else []), *dict.fromkeys(ids), label_name, *(score_names if scores else [])]
    headed = False
    try:
        for block in rows:
            if not len(block):
                continue
            if not headed:
                yield {name: [] for name in columns}
                headed = True
            answers: Columns = {row_name: block.numbers.tolist()} if skip else {}
            answers |= block.carried or {}
            answers[label_name] = [plain_label(label) for label in model.predict(block.X).tolist()]
            counts.update(map(as_text, answers[label_name]))
            if scores:
                values = model.decision_function(block.X).reshape(len(block), -1).T.tolist()
                answers |= dict(zip(score_names, values, strict=True))
            yield answers
        if not headed:
            yield {name: [] for name in columns}
    except OSError as fault:  # about what is read: who writes these answers takes every OSError for its own
        raise ValueError(cli_message(fault)) from fault


def _free(name: str, taken: Sequence[str]) -> str:
    """Return a name for a column of answers that no column which comes along has.

    >>> _free("label", ["id"]), _free("label", ["label"])
    ('label', 'predicted label')
    """
    return f"predicted {name}" if name in taken else name
