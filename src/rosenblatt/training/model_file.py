"""What the file of every model says, whatever the learner, and how it is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.parameters import ParameterError, shorten
from rosenblatt.storage.array_fields import StrictArrays
from rosenblatt.storage.columns import names_from_plain, names_to_plain, pack_columns, unpack_columns
from rosenblatt.storage.container import check_version, read_container
from rosenblatt.storage.json_fields import StrictFields, labels_from_plain, labels_to_plain, to_canonical_json
from rosenblatt.training.labels import Labels, Names
from rosenblatt.version import __version__

FORMAT = 2
"""Version of what a model file says; one more for every change that an older `load` would not understand.

In 2 only the columns that are not zero are stored (`storage.columns`); a file that stores them all is still in 1.
"""

Model = TypeVar("Model")


@dataclass
class ModelInfo:
    """What every model file says, whatever the learner."""

    learner: str
    parameters: dict[str, Any]
    """Plain data."""
    classes: Labels
    feature_names: Any = None
    """A list of strings, or what `names_to_plain` makes of it."""
    preparation: dict[str, Any] | None = None
    """How rows of files become features."""
    fingerprint: Any = None
    """Identifies the data that it was trained on."""
    max_features: int | None = None
    """Features that it may have without storing them, None for as many as the file vouches for."""

    def names(self, n_features: int) -> Names | None:
        """Return the names of features as an array; a ValueError where they are not that many words."""
        names = names_from_plain(self.feature_names, n_features, self.max_features)
        return None if names is None else np.array(names, object)


Reader = Callable[[ModelInfo, StrictFields, StrictArrays], Model]
"""Makes a model of what every file says and of the fields and arrays of its learner, or raises a ValueError."""


def model_to_plain(
    info: ModelInfo, learned: dict[str, Any], arrays: dict[str, NDArray[Any]], read: Reader[Any]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a model's file, which hold all that ``read`` takes; nothing is written."""
    width, stored = pack_columns(arrays)
    names = names_to_plain(info.feature_names)
    packed = width is not None or type(names) is dict
    header: dict[str, Any] = {
        "kind": "model",
        "version": 2 if packed else 1,
        "library": __version__,
        "learner": info.learner,
        "parameters": info.parameters,
        "classes": labels_to_plain(info.classes),
        "feature_names": names,
    }
    if packed:
        header["width"] = width
    for name in ("preparation", "fingerprint"):
        header[name] = getattr(info, name)
        to_canonical_json(header[name], f"{name}_")
    header |= learned
    try:
        model_from_plain(header, stored, read, None)  # nothing is written that could not be read
    except ValueError as fault:
        raise ValueError(f"this model cannot be saved: {fault}") from fault
    return header, stored


def read_file(path: str | os.PathLike[str], read: Reader[Model], max_features: int | None = None) -> Model:
    """Return what ``read`` makes of a model file; a ValueError where the file is not valid.

    ``max_features`` is the most columns that a file may have without storing them, None for as many as its size
    vouches for.
    """
    return read_model(path, *read_container(path), read, max_features)


def read_model(
    path: str | os.PathLike[str],
    header: dict[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    read: Reader[Model],
    max_features: int | None,
) -> Model:
    """Return what ``read`` makes of the header and the arrays of a file; errors name the file."""
    if header.get("kind") == "pipeline":
        raise ValueError(f"{os.fspath(path)} holds a pipeline: use it from Python, with rosenblatt.load.")
    if header.get("kind") != "model":
        raise ValueError(f"{os.fspath(path)} holds no model: it says {shorten(header.get('kind'))}.")
    check_version(path, header.get("version"), FORMAT)
    try:
        return model_from_plain(header, arrays, read, max_features)
    except ValueError as fault:
        raise invalid_file(path, "model", fault) from fault


def invalid_file(path: str | os.PathLike[str], what: str, fault: ValueError) -> ValueError:
    """Return the error for a file that holds none, or one that asks for more than is allowed."""
    start = f"{os.fspath(path)} holds no valid {what}: "
    if isinstance(fault, ParameterError):
        return ParameterError(start, *fault.pieces)
    return ValueError(f"{start}{fault}")


def model_from_plain(
    header: dict[str, Any], arrays: Mapping[str, NDArray[Any]], read: Reader[Model], max_features: int | None
) -> Model:
    """Return what ``read`` makes of the header and the arrays of a model's file, or raise a ValueError."""
    fields = StrictFields(header, "the header")
    fields.word("kind", ("model",))
    version = fields.whole("version", 1, FORMAT)
    width = fields.optional("width", lambda name: fields.whole(name, 1)) if version > 1 else None
    source = StrictArrays(unpack_columns(width, arrays, max_features))
    fields.word("library")
    info = ModelInfo(
        learner=fields.word("learner"),
        parameters=fields.take("parameters"),
        classes=labels_from_plain(fields.take("classes")),
        feature_names=fields.take("feature_names") if version > 1 else fields.optional("feature_names", fields.words),
        preparation=fields.take("preparation"),
        fingerprint=fields.take("fingerprint"),
        max_features=max_features,
    )
    if info.preparation is not None and type(info.preparation) is not dict:
        raise ValueError(f"preparation_ must be a dictionary, got {shorten(info.preparation)}.")
    model = read(info, fields, source)
    fields.end()
    source.end()
    return model
