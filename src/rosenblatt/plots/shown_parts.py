"""The parts of one prediction that a picture has room for: the largest, and all others as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.inspection.contributions import linear_parts
from rosenblatt.inspection.predictions import label_words
from rosenblatt.plots.axes import shown_name
from rosenblatt.theory.words import number_text

MOST = 8
"""The features that are shown; of more, those that add the most."""
MINUS = "\N{MINUS SIGN}"


class Part(NamedTuple):
    """A feature with its value and weight, which are None for all others taken together, and their product."""

    name: str
    value: float | None
    weight: float | None
    product: float


class Shown(NamedTuple):
    """What a picture shows of one prediction."""

    parts: list[Part]
    bias: float
    activation: float
    answer: str
    """What is predicted, in words; on the boundary, the label is undefined."""
    title: str
    """What is predicted, and the sign of the activation, which decides it."""


def shown_parts(model: Any, x: Any, feature_names: Sequence[str] | None = None) -> Shown:
    """Return the features of one row in their order, or those that add the most and the others as one.

    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[3, 4], [-3, -4]], [1, -1])
    >>> shown_parts(model, [1, 1]).parts
    [Part(name='x0', value=1.0, weight=3.0, product=3.0), Part(name='x1', value=1.0, weight=4.0, product=4.0)]
    """
    found = linear_parts(model, x, feature_names)
    n = len(found.names)
    order = np.argsort(-np.abs(found.products), kind="stable")
    chosen = np.sort(order[: MOST if n <= MOST else MOST - 1])
    parts = [
        Part(found.names[i], float(found.values[i]), float(found.weights[i]), float(found.products[i])) for i in chosen
    ]
    if n > MOST:
        parts.append(Part(f"{n - len(chosen):,} others", None, None, math.fsum(found.products[order[MOST - 1 :]])))
    answer = shown_name(label_words(found.answer), 20)
    tied = found.title.startswith("On the boundary")
    activation = 0.0 if tied else found.activation
    side = "0" if tied else f"{short(activation)}, {'above' if activation > 0 else 'below'} 0"
    title = f"{'On the boundary' if tied else f'Predicted {answer}'}: the activation is {side}"
    return Shown(parts, found.bias, activation, "undefined" if tied else answer, title)


def short(value: float) -> str:
    """Return three digits of a number, or all of thousands, with a true minus.

    >>> short(-0.12345), short(2.0), short(2994.1)
    ('−0.123', '2', '2,994')
    """
    text = f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else number_text(value, 3)
    return text.replace("-", MINUS)
