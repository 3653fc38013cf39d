"""Input files of the commands (rows and models), and checks of their output files.

A model trained on files has a *preparation*, a dictionary that describes how features are made from rows of files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rosenblatt.cli.options import column_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rosenblatt.blocks import Block, Features
    from rosenblatt.data import Stream
    from rosenblatt.storage.schema import Place
    from rosenblatt.training.calibration import Calibration
    from rosenblatt.training.model_file import ModelInfo


def open_data(paths: Sequence[str], target: str | None, options: Mapping[str, Any]) -> Stream:
    """Open files with the options that are neither None nor []; ``target`` is the name or position of the labels."""
    from rosenblatt import data

    given = {name: value for name, value in options.items() if value not in (None, [])}
    return data.open(list(paths), target=column_of(target), **given)


def lenient_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options, with defaults that allow tables to have unclear columns and missing values.

    Columns of unclear type and columns that look like ids are left out. Missing numbers are replaced with the mean of
    the column. These defaults affect only tables, such as CSV and Parquet.

    >>> lenient_defaults({"missing": "zero"})
    {'on_ambiguous': 'drop', 'missing': 'zero'}
    """
    given = {name: value for name, value in options.items() if value is not None}
    return {"on_ambiguous": "drop", "missing": "auto", **given}


def check_out(out: Path | None, read: Sequence[str], replaced: bool = True, needed: bool = True) -> None:
    """Raise a ValueError if ``out`` cannot be written, or if it is also one of the input files ``read``.

    Commands call this function before they do any work. If ``replaced``, the output replaces a whole file, so ``out``
    must not be a device or a pipe. If not ``needed``, as for a cache, the folder may be missing or read-only.
    """
    from rosenblatt.data.io.lines import file_names

    if out is None:
        return
    folder = out.parent
    if needed and not folder.is_dir():
        raise ValueError(f"There is no folder {folder} to write {out.name} to: create it first.")
    if os.path.islink(os.path.realpath(out)):
        raise ValueError(f"{out} is a symbolic link to itself: choose another file.")
    if out.is_dir() or (replaced and out.exists() and not out.is_file()):
        raise ValueError(f"{out} is not a regular file, so it cannot be written: choose another file.")
    if needed and not os.access(out if out.exists() else folder, os.W_OK):
        raise ValueError(f"{out} cannot be written (permission denied): choose another place.")
    for name in file_names(list(read)) if out.exists() else ():
        if os.path.exists(name) and os.path.samefile(out, name):
            raise ValueError(f"{out} is also an input, so it cannot be the output: choose another file.")


class Predictor(Protocol):
    """The interface that the commands require of a model."""

    learner: str
    classes: NDArray[Any]
    preparation: dict[str, Any] | None
    calibration: Calibration | None

    @property
    def n_features(self) -> int:
        """The number of features."""

    def predict(self, X: Features) -> NDArray[Any]:
        """Return the class of each row."""

    def decision_function(self, X: Features) -> NDArray[np.float64]:
        """Return the score of each row, or one score per class if there are more than two classes."""

    def rounded_scores(self, X: Features) -> NDArray[np.float64]:
        """Return the score of each row for each classifier, bit for bit equal for dense and sparse rows."""

    def predict_proba(self, X: Features) -> NDArray[np.float64]:
        """Return the probability of each class for each row; the model must be calibrated."""


def model_and_rows(path: str, paths: Sequence[str], labels: bool, **options: object) -> tuple[Predictor, Stream]:
    """Return the pair (model, rows): the model in the file ``path``, and the rows of ``paths``, prepared for it."""
    model = load_model(path)
    return model, open_data(paths, None, {**options, "preparation": model.preparation, "labels": labels})


def load_model(path: str) -> Predictor:
    """Return the model in a file; raise a ValueError if it has no valid preparation."""
    from rosenblatt.data.preparation import check_preparation
    from rosenblatt.training.model_file import TrainedModel, read_file
    from rosenblatt.training.options import LEARNERS

    def read(info: ModelInfo, fields: Any, arrays: Place) -> Predictor:
        if info.learner in LEARNERS:
            return TrainedModel.from_plain(info, fields, arrays)
        from rosenblatt.persistence.files import rescaled_from_plain
        from rosenblatt.theory.certificates import MOST_ROWS

        found = rescaled_from_plain(info, fields, arrays, MOST_ROWS)
        return _Estimator(info.learner, info.classes, info.preparation, info.calibration, found)

    model = read_file(path, read)
    unprepared = f"{path} does not describe how features are made from rows of files"
    if model.preparation is None:
        raise ValueError(f"{unprepared}, because it was not trained on files: load it in Python with rosenblatt.load.")
    try:
        width = check_preparation(model.preparation)
    except ValueError as error:
        raise ValueError(f"{unprepared}: {error}") from None
    if width not in (None, model.n_features):
        raise ValueError(
            f"{path} is inconsistent: its model has {model.n_features:,} features, but its preparation of rows "
            f"makes {width:,}. Train it again."
        )
    return model


def best_classes(model: Predictor, X: Features, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the numbers of the ``k`` best classes of each row, and the scores of all classes.

    The label that the model predicts comes first. The others follow by their scores; of equal ones, the first class.
    With two classes, the score of the first is minus that of the second.
    """
    import numpy as np

    scores = model.decision_function(X).reshape(X.shape[0], -1)
    if scores.shape[1] == 1 and len(model.classes) == 2:
        scores = np.column_stack([-scores, scores])
    ranked = np.where(model.classes[None, :] == model.predict(X)[:, None], np.inf, scores)
    return np.argsort(-ranked, axis=1, kind="stable")[:, :k], scores


@dataclass
class _Estimator:
    """A `Predictor` that wraps an estimator with scikit-learn's interface."""

    learner: str
    classes: NDArray[Any]
    preparation: dict[str, Any] | None
    calibration: Calibration | None
    estimator: Any

    @property
    def n_features(self) -> int:
        return int(self.estimator.n_features_in_)

    def predict(self, X: Features) -> Any:
        return self.estimator.predict(_block(X))

    def decision_function(self, X: Features) -> Any:
        return self.estimator.decision_function(_block(X))

    def rounded_scores(self, X: Features) -> Any:
        return self.estimator._rounded_scores(self.estimator._rows(_block(X)))

    def predict_proba(self, X: Features) -> Any:
        return self.estimator.predict_proba(_block(X))


def _block(X: Features) -> Block:
    """Return prepared rows as a block, because estimators treat other rows as tables to prepare."""
    from rosenblatt.blocks import Block

    return Block(X)
