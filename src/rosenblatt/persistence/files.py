"""Models as files: `save` writes all of a model, `load` reads it back and runs no code."""

from __future__ import annotations

import functools
import math
import os
from typing import Any

from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.preparation import check_preparation, is_preparation
from rosenblatt.estimators.rescaled import RescaledPerceptron
from rosenblatt.inspection.explain import searched
from rosenblatt.messages import check_integer, shorten
from rosenblatt.persistence.codecs import (
    LEARNERS,
    TRAINED,
    from_trained_model,
    rescaled_from_plain,
    rescaled_to_plain,
    to_trained_model,
)
from rosenblatt.persistence.pipelines import KIND, learner_of, pipeline_from_plain, pipeline_to_plain
from rosenblatt.storage.columns import MOST_FEATURES
from rosenblatt.storage.container import read_container, write_container
from rosenblatt.storage.schema import StrictArrays, StrictFields
from rosenblatt.theory.certificates import MOST_ROWS
from rosenblatt.training.model_file import ModelInfo, TrainedModel, model_to_plain, read_model


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a trained model or pipeline to a file, from which `load` brings it back to predict and to go on training.

    The file is in the safetensors format. It holds the weights of every hypothesis that was kept (of a
    KernelPerceptron, its support rows, which are training data, and every update), classes, feature names, parameters
    and counters, the report, the state of early stopping, the version of this library, a checksum, and what was
    attached to the model as ``preparation_`` (a dictionary that says how rows are prepared) and ``fingerprint_`` (what
    identifies the data), both plain data as JSON has it. It takes the place of ``path`` as a whole: where that fails,
    on a full disk for instance, an OSError says so and the old file is as it was.

    Parameters
    ----------
    model : any learner of this package, such as AveragedPerceptron or AROW, or a Pipeline
        After ``fit`` or ``partial_fit``. A pipeline ends in one of these, after steps that are known: StandardScaler,
        MaxAbsScaler, SimpleImputer, OneHotEncoder, ColumnTransformer and Pipeline of these, ExactScaler, SphereLift,
        Combinations. They are stored as data; columns that a function selected, as those that it found. Labels must be
        integers, floats, booleans or words. A kernel that is a function cannot be saved, as files hold no code. A
        ``random_state`` that is neither None nor an integer is saved as ``seed_``, the seed in use. Of a search over
        parameters, such as a GridSearchCV, its ``best_estimator_`` is saved.
    path : str or path
        Where to, for instance "model.safetensors".

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[1, 1], [2, 0], [-1, 0], [0, -2]], ["yes", "yes", "no", "no"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, folder + "/model.safetensors")
    ...     again = load(folder + "/model.safetensors")
    >>> again.predict([[3, 1], [-1, -1]]), again.n_updates_
    (array(['yes', 'no'], dtype='<U3'), 2)
    """
    model = searched(model)
    model = model.to_local() if hasattr(model, "to_local") else model
    learner = learner_of(model)
    check_is_fitted(learner)
    _check_attached(getattr(learner, "preparation_", None))
    read = functools.partial(_from_plain, max_rows=math.inf)
    if isinstance(learner, RescaledPerceptron):
        header, arrays = model_to_plain(*rescaled_to_plain(learner), read)
    else:
        header, arrays = to_trained_model(learner).to_plain()
    if learner is not model:
        header, arrays = pipeline_to_plain(model, header, arrays)
    write_container(path, header, arrays)


def load(path: str | os.PathLike[str], *, max_rows: float = MOST_ROWS, max_features: int | None = MOST_FEATURES) -> Any:
    """Return the model or pipeline that `save` wrote to a file; it predicts and goes on training with the same bits.

    No code is run, so a file from a stranger can do no harm. One that is cut short, altered, not valid, or written by
    a newer version of this library is refused with a ValueError that says so; one that cannot be read, with an
    OSError. Memory and time are in proportion to the size of the file and the number of features.

    Parameters
    ----------
    path : str or path
        The file.
    max_rows : int
        The verdict of a RescaledPerceptron has a weight, 8 bytes, for each row that it was trained on and each class,
        and a small file can claim any number of them: beyond this one it is refused.
    max_features : int or None
        Columns whose weights are zero are not stored, so that a small file can claim any number of them: beyond this
        one, 2^24, a ParameterError asks you to allow them. None allows as many as the size of the file vouches for,
        those of all models that `save` wrote among them: beyond 2^24 it stores one column in 64 in any case. The steps
        of a pipeline claim columns too, all of them together no more than this; those that a ColumnTransformer has
        beyond the ones with a name or in a list count 64 times.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rosenblatt import Perceptron
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> save(Perceptron(shuffle=False).fit([[1.0], [-1.0]], ["yes", "no"]), path)
    >>> load(path).predict([[2.0]])
    array(['yes'], dtype='<U3')
    >>> _ = path.write_bytes(path.read_bytes()[:-1])
    >>> load(path)
    Traceback (most recent call last):
    ValueError: ... is cut short: 161 bytes of arrays should follow its head, and 160 do.
    """
    if max_features is not None:
        check_integer("max_features", max_features, 1)
    header, arrays = read_container(path)
    read = functools.partial(_from_plain, max_rows=max_rows)
    if header.get("kind") == KIND:
        return pipeline_from_plain(path, header, arrays, read, max_features)
    return read_model(path, header, arrays, read, max_features)


def _from_plain(info: ModelInfo, fields: StrictFields, arrays: StrictArrays, max_rows: float) -> Any:
    _check_attached(info.preparation)
    if info.learner == RescaledPerceptron.__name__:
        return rescaled_from_plain(info, fields, arrays, max_rows)
    if info.learner not in TRAINED:
        raise ValueError(f"'learner' must be one of {', '.join(LEARNERS)}, got {shorten(info.learner)}.")
    return from_trained_model(TrainedModel.from_plain(info, fields, arrays))


def _check_attached(preparation: object) -> None:
    """Raise a ValueError where a preparation looks like that of a stream and is none; other plain data may be."""
    if is_preparation(preparation):
        check_preparation(preparation)
