"""Warnings that point at the user's line, however deep in the library they come up."""

from __future__ import annotations

import os
import sys
import warnings

_HERE = os.path.dirname(__file__) + os.sep
_BETWEEN = tuple(f"{os.sep}{package}{os.sep}" for package in ("sklearn", "joblib"))
"""Packages that call the library on behalf of the user, such as pipelines and grid searches."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning at the nearest line outside this library and scikit-learn."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and _is_inside(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inside(file: str) -> bool:
    return file.startswith(_HERE) or any(part in file for part in _BETWEEN)
