"""The lifts of this library as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.features import Combinations, SphereLift, n_combinations
from rosenblatt.persistence.steps.codec import (
    Codec,
    Parameter,
    Plain,
    StepReader,
    StepWriter,
    parameters_from_plain,
    parameters_to_plain,
)
from rosenblatt.storage.schema import StrictFields

_MOST_DEGREE = 64


def _is_degree(value: Any) -> bool:
    least, most = value if type(value) is list and len(value) == 2 else (1, value)
    return type(least) is int and type(most) is int and 1 <= least <= most <= _MOST_DEGREE


_DEGREE = Parameter(
    2,
    _is_degree,
    f"an integer or (least, most), at most {_MOST_DEGREE}",
    lambda value: int(value) if np.ndim(value) == 0 else list(map(int, value)),
    lambda value: tuple(value) if type(value) is list else value,
)


def _write(step: Any, writer: StepWriter) -> Plain:
    return {}


def _read_sphere(fields: StrictFields, reader: StepReader, d: int) -> SphereLift:
    return SphereLift()


def _write_combinations(step: Combinations, writer: StepWriter) -> Plain:
    return {"parameters": parameters_to_plain(step, {"degree": _DEGREE})}


def _read_combinations(fields: StrictFields, reader: StepReader, d: int) -> Combinations:
    step = Combinations(**parameters_from_plain(fields.part("parameters"), Combinations, {"degree": _DEGREE}))
    degree = (1, step.degree) if isinstance(step.degree, int) else step.degree
    reader.claims.add(d + n_combinations(d, degree))
    return step.fit(np.zeros((1, d)))


CODECS = (
    Codec(SphereLift, _write, _read_sphere, lambda step: int(step.n_features_in_) + 1),
    Codec(Combinations, _write_combinations, _read_combinations, lambda step: int(step.n_output_features_)),
)
