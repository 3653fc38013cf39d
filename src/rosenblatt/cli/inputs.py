"""Files as the commands read them: rows, and models that say how rows are prepared; and where a file may be written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rosenblatt.cli.options import column_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def open_data(paths: Sequence[str], target: str | None, options: Mapping[str, Any]) -> Any:
    """Open files with the options that were given, the target by its name or its number."""
    from rosenblatt import data

    given = {name: value for name, value in options.items() if value not in (None, [])}
    return data.open(list(paths), target=column_of(target), **given)


def lenient_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with those by which an everyday table can be read as it is, where nothing else was said.

    Columns of which it is unclear what they are, and those that look like ids, are left out; a missing number is the
    mean of its column. Other formats than tables are read as they always are.

    >>> lenient_defaults({"missing": "zero"})
    {'on_ambiguous': 'drop', 'missing': 'zero'}
    """
    given = {name: value for name, value in options.items() if value is not None}
    return {"on_ambiguous": "drop", "missing": "auto", **given}


def check_out(out: Path | None, read: Sequence[str], replaced: bool = True, needed: bool = True) -> None:
    """Refuse, before any work, to write where that cannot be done, or over a file that is read.

    What is ``replaced`` as a whole has to be a plain file; the rest may be a device. Where a file is not ``needed``,
    a run does without if there is no place for it.
    """
    from rosenblatt.data.io.lines import file_names

    if out is None:
        return
    folder = out.parent
    if needed and not folder.is_dir():
        raise ValueError(f"There is no folder {folder} to write {out.name} to: make it first.")
    if os.path.islink(os.path.realpath(out)):
        raise ValueError(f"{out} is a link that leads nowhere but to itself: name another file.")
    if out.is_dir() or (replaced and out.exists() and not out.is_file()):
        raise ValueError(f"{out} is no file that can be written: name another.")
    if needed and not os.access(out if out.exists() else folder, os.W_OK):
        raise ValueError(f"{out} cannot be written: its place is read-only, or not yours. Write elsewhere.")
    for name in file_names(list(read)) if out.exists() else ():
        if os.path.exists(name) and os.path.samefile(out, name):
            raise ValueError(f"{out} is read, so it cannot be written as well: write to another file.")


class Predictor(Protocol):
    """A model as the commands use it."""

    learner: str
    classes: NDArray[Any]
    preparation: dict[str, Any] | None

    @property
    def n_features(self) -> int:
        """Columns of the rows that it predicts."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of each row."""


def model_and_rows(path: str, paths: Sequence[str], labels: bool, **options: Any) -> tuple[Predictor, Any]:
    """Return the model of a file and the rows of others, prepared as those it was trained on."""
    model = load_model(path)
    return model, open_data(paths, None, {**options, "preparation": model.preparation, "labels": labels})


def load_model(path: str) -> Predictor:
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
