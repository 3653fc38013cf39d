"""Search for the fewest points whose removal makes the other points linearly separable."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.lab.state import LabState, feature_columns
from rosenblatt.lab.words import separators_words
from rosenblatt.messages import count_of
from rosenblatt.theory.min_mistakes.search import fewest_mistakes

SECONDS = 2.0


def fewest_message(state: LabState) -> dict[str, Any]:
    """Return indices of points whose removal makes the other points linearly separable, and a text about them.

    The separator is a hyperplane with a bias in feature space. The search stops after about two seconds. The text
    states whether this number of points is proved to be the smallest.

    >>> points = ((0.0, 0.0, -1, False), (1.0, 0.0, 1, False), (2.0, 0.0, -1, False))
    >>> fewest_message(LabState(points=points))
    {'rows': [1], 'text': 'Without this point, a line has each of the others on its side. No fewer will do.'}
    """
    rows = state.rows
    if not len(rows) or not state.feature_names:
        return {"rows": [], "text": "There is nothing to separate yet."}
    X = feature_columns(state.coordinates(rows), state.feature_names)
    found = fewest_mistakes(X, state.labels(rows), max_seconds=SECONDS)
    what = f"a {separators_words(state)}"
    bias = "" if state.bias else " That may take a bias."
    if not found.high:
        text = f"No point has to go: {what} has each of the {count_of(len(rows), 'point')} on its side.{bias}"
        return {"rows": [], "text": text}
    removed = rows[np.asarray(found.rows)].tolist()
    if found.low == found.high:
        proof = "No fewer will do."
    elif found.low:
        proof = f"At least {found.low:,} must go; whether fewer than {found.high:,} will do was not settled."
    else:
        proof = "Whether fewer will do was not settled."
    these = "this point" if len(removed) == 1 else f"these {count_of(len(removed), 'point')}"
    text = f"Without {these}, {what} has each of the others on its side. {proof}{bias}"
    return {"rows": removed, "text": text}
