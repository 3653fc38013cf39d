"""Models as files: `save` writes all that a model knows, `load` reads it back and runs no code."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rosenblatt.parameters import shorten
from rosenblatt.persistence.codecs import (
    LEARNERS,
    learned_to_plain,
    parameters_from_plain,
    parameters_to_plain,
    read_learned,
)
from rosenblatt.storage.array_fields import StrictArrays
from rosenblatt.storage.container import check_version, read_container, write_container
from rosenblatt.storage.json_fields import StrictFields, labels_from_plain, labels_to_plain, to_canonical_json

__all__ = ["FORMAT", "load", "save"]

FORMAT = 1
"""Version of what a model file says; one more for every change that an older `load` would not understand."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a trained model to a file, from which `load` brings it back to predict and to go on training.

    The file is in the safetensors format. It holds the weights of every hypothesis that was kept, classes, feature
    names, parameters and counters, the report, the state of early stopping, the version of this library, a checksum,
    and what was attached to the model as ``preparation_`` (a dictionary that says how rows are prepared) and
    ``fingerprint_`` (what tells the data), both plain data as JSON has it. It takes the place of ``path`` as a whole:
    where that fails, on a full disk for instance, an OSError says so and the old file is as it was.

    Parameters
    ----------
    model : Perceptron, AveragedPerceptron, VotedPerceptron or RescaledPerceptron
        After ``fit`` or ``partial_fit``. Labels must be whole numbers, floats, truth values or words. A
        ``random_state`` that is neither None nor a whole number is saved as ``seed_``, the seed in use.
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
    if LEARNERS.get(type(model).__name__) is not type(model):
        raise TypeError(
            f"only {', '.join(LEARNERS)} can be saved, got {type(model).__name__}: of a pipeline, save the last step."
        )
    check_is_fitted(model)
    header, arrays = _to_plain(model)
    try:
        _from_plain(header, arrays)  # nothing is written that could not be read
    except ValueError as fault:
        raise ValueError(f"this model cannot be saved: {fault}") from fault
    write_container(path, header, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model that `save` wrote to a file; it predicts and goes on training with the same bits.

    No code is run, so a file from a stranger can do no harm. One that is cut short, altered, not sound, or written by
    a newer version of this library is refused with a ValueError that says so; one that cannot be read, with an
    OSError.

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
    header, arrays = read_container(path)
    if header.get("kind") != "model":
        raise ValueError(f"{os.fspath(path)} holds no model: it says {shorten(header.get('kind'))}.")
    check_version(path, header.get("version"), FORMAT)
    try:
        return _from_plain(header, arrays)
    except ValueError as fault:
        raise ValueError(f"{os.fspath(path)} holds no sound model: {fault}") from fault


def library_version() -> str:
    """Return the version of this library."""
    return importlib.import_module("rosenblatt").__version__


def _to_plain(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a model's file."""
    names = getattr(model, "feature_names_in_", None)
    header: dict[str, Any] = {
        "kind": "model",
        "version": FORMAT,
        "library": library_version(),
        "learner": type(model).__name__,
        "parameters": parameters_to_plain(model),
        "classes": labels_to_plain(model.classes_),
        "feature_names": None if names is None else [str(name) for name in names],
    }
    for name in ("preparation", "fingerprint"):
        header[name] = getattr(model, name + "_", None)
        to_canonical_json(header[name], f"{name}_")
    learned, arrays = learned_to_plain(model)
    return header | learned, arrays


def _from_plain(header: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> Any:
    """Return the model that ``_to_plain`` described, or raise a ValueError."""
    fields = StrictFields(header, "the header")
    fields.word("kind", ("model",))
    fields.whole("version", 1, FORMAT)
    fields.word("library")
    learner = LEARNERS[fields.word("learner", tuple(LEARNERS))]
    parameters = parameters_from_plain(fields.part("parameters"), learner)
    model = learner(**parameters)
    model.classes_ = labels_from_plain(fields.take("classes"))
    source = StrictArrays(arrays)
    d = read_learned(model, fields, source)
    model.n_features_in_ = d
    names = fields.words("feature_names", d)
    if names is not None:
        model.feature_names_in_ = np.array(names, object)
    for name in ("preparation", "fingerprint"):
        value = fields.take(name)
        if name == "preparation" and value is not None and type(value) is not dict:
            raise ValueError(f"preparation_ must be a dictionary, got {shorten(value)}.")
        if value is not None:
            setattr(model, name + "_", value)
    fields.end()
    source.end()
    return model
