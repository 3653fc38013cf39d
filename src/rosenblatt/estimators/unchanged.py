"""Training that fails leaves a model as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def unchanged_on_error(model: Any) -> Iterator[None]:
    """Leave ``model`` as it was where training fails, but not where it is interrupted."""
    before = dict(model.__dict__)
    try:
        yield
    except Exception:
        model.__dict__.clear()
        model.__dict__.update(before)
        raise
