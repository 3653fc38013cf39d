"""Verdicts in notebooks: the weights that prove that nothing separates, and a line for each class of several."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.label_text import label_text
from rosenblatt.plurals import count_of
from rosenblatt.small_pictures import MOST_ROWS, bars, described, short_name
from rosenblatt.tables import Table
from rosenblatt.theory.inputs import Floats
from rosenblatt.theory.words import rows_text


def draw_weights(alpha: Floats, support: NDArray[np.intp], bias: bool = True) -> str:
    """Draw the weights of the rows that prove that nothing separates.

    With a bias those of both classes have the same sum: each is drawn as its row's share in the mean of its class.
    """
    rows, weights = support.tolist(), alpha[support]
    words = f"The weights of {rows_text(rows, most=12)}, by which they and their labels add up to zero."
    if bias:
        weights = 2.0 * weights / weights.sum()
        words = f"The shares of {rows_text(rows, most=12)} in the mean of their class: both means are the same point."
    return bars(dict(zip((f"row {row}" for row in rows), weights.tolist(), strict=True)), words)


def show_verdicts(verdicts: Mapping[Any, tuple[str, float, float, int]]) -> str:
    """Return a table of verdicts by class: the kind, the two ends of the margin, and how many rows prove it.

    >>> "1 of 2 classes" in show_verdicts({"a": ("Separable", 1.0, 2.0, 3), "b": ("Inseparable", -math.inf, 0.0, 4)})
    True
    """
    yes = sum(low > 0 for _, low, _, _ in verdicts.values())
    sentence = f"{yes:,} of {count_of(len(verdicts), 'class')} can be separated from the rest by a hyperplane."
    shown = [(short_name(label_text(label)), *verdict) for label, verdict in [*verdicts.items()][:MOST_ROWS]]
    names, kinds, lows, highs, rows = zip(*shown, strict=True) if shown else ((), (), (), (), ())
    table = Table(
        {
            "class": names,
            "verdict": kinds,
            "margin at least": [low if math.isfinite(low) else None for low in lows],
            "margin at most": [high if math.isfinite(high) else None for high in highs],
            "rows that prove it": rows,
        },
        notes=[f"{len(shown)} of {len(verdicts):,} classes"] if len(verdicts) > len(shown) else [],
    )
    margins = {name: low for name, low in zip(names, lows, strict=True) if 0 < low < math.inf}
    words = "Margins by class: " + ", ".join(f"{name} {low:.4g}" for name, low in margins.items())
    return described([sentence], table._repr_html_(), bars(margins, words) if margins else "")
