"""The parameters of learners as data that JSON holds, and back; what no parameter can be is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from rosenblatt.parameters import shorten
from rosenblatt.storage.json_fields import label_to_json, to_canonical_json
from rosenblatt.training.kernel import NO_FILE


def parameters_to_plain(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return any parameters as data that JSON holds; a source of randomness becomes ``seed``."""
    out = {}
    for name, value in parameters.items():
        value = value.item() if isinstance(value, np.generic) else value
        if name == "random_state" and (isinstance(value, bool) or not isinstance(value, Integral | None)):
            value = seed
        if name == "kernel" and callable(value):
            raise ValueError(NO_FILE)
        if name == "class_weight" and isinstance(value, Mapping):
            value = [[label_to_json(label), float(weight)] for label, weight in value.items()]
        if name in NUMBERS:
            value = float(value) if value != math.inf else "inf"
        to_canonical_json(value, name)
        out[name] = value
    return out


NUMBERS = ("decay", "margin", "C", "r")
"""Parameters of the linear learners that are any numbers, perhaps infinite."""
_DEVICE = re.compile("[a-z]{1,20}(:[0-9]{1,4})?")
"""What a file may call a device."""


def valid_parameter(name: str, value: Any) -> Any:
    """Return the value of a parameter from a file; a ValueError where its type cannot be that of the parameter."""
    if name in ("random_state", "n_jobs"):
        wrong = type(value) is not int or (value < 0 if name == "random_state" else value == 0)
        if value is not None and wrong:
            raise ValueError(f"{name} must be an integer or None, got {shorten(value)}.")
    elif type(value) is int and abs(value) >= 2**62:
        raise ValueError(f"{name} must be below 2**62, got {shorten(value)}.")
    elif name == "class_weight":
        value = _class_weight(value)
    elif name in NUMBERS:
        if name == "C" and value == "inf":
            return math.inf
        if type(value) not in (int, float):
            raise ValueError(f"{name} must be a number, got {shorten(value)}.")
    elif name == "validation_fraction" and type(value) is not float:
        raise ValueError(f"validation_fraction must be a number between 0 and 1, got {shorten(value)}.")
    elif name == "verbose" and type(value) not in (int, bool):
        raise ValueError(f"verbose must be an integer, got {shorten(value)}.")
    elif name == "device" and value is not None and not (type(value) is str and _DEVICE.fullmatch(value)):
        raise ValueError(f'device must be a word such as "cuda" or "cuda:1" or None, got {shorten(value)}.')
    return value


def _class_weight(value: Any) -> Any:
    if value is None or value == "balanced":
        return value
    pairs: list[Any] = value if type(value) is list else [None]
    if not all(type(pair) is list and len(pair) == 2 for pair in pairs):
        raise ValueError(f"class_weight must be pairs of a label and a weight, got {shorten(value)}.")
    weights = {label_to_json(label): weight for label, weight in pairs}
    if len(weights) < len(pairs) or any(type(weight) is not float or weight < 0 for weight in weights.values()):
        raise ValueError(f"class_weight must be one weight from 0 on for each label, got {shorten(value)}.")
    return weights
