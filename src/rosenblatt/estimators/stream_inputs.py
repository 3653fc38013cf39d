"""Streams where arrays are expected: one sentence each on what to do instead."""

from __future__ import annotations

import sys
from typing import Any


def refuse_stream(X: Any, method: str, learner: Any) -> None:
    """Raise a TypeError where ``X`` is a stream of ``data.open``, which this method of a learner does not take.

    >>> refuse_stream([[1.0]], "fit", None)
    """
    module = sys.modules.get("rosenblatt.data.stream")  # whoever has a stream has imported it
    if module is None or not isinstance(X, module.Stream):
        return
    if method in ("fit", "partial_fit") and hasattr(learner, "fit_stream"):
        raise TypeError(f"{method} takes rows and labels as arrays, got a stream: use fit_stream(stream).")
    labels = "" if method == "predict" else ", y"
    raise TypeError(
        f"{method} takes {'rows' if method == 'predict' else 'rows and labels'} as arrays, got a stream: read it with "
        f"X, y = stream.read(), then {method}(X{labels})."
    )
