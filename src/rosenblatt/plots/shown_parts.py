"""The parts of one prediction that a picture has room for: the largest, and all others as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.inspection.contributions import LinearParts, linear_parts
from rosenblatt.inspection.predictions import label_words
from rosenblatt.plots.axes import shown_name
from rosenblatt.theory.words import shown_number

MOST = 8
"""The features that are shown; of more, those that add the most."""


class Part(NamedTuple):
    """A feature with its value and weight, which are None for all others taken together, and their product."""

    name: str
    value: float | None
    weight: float | None
    product: float


class OnePrediction(NamedTuple):
    """What a picture shows of one prediction."""

    parts: list[Part]
    bias: float
    activation: float
    answer: str
    """What is predicted, in words; on the boundary, the label is undefined."""
    rule: str
    """What decides, in a few words: the sign of the activation or, of more than two classes, the largest score."""
    title: str
    """What is predicted, and by which rule."""


def shown_parts(model: Any, x: Any, feature_names: Sequence[str] | None = None) -> OnePrediction:
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
    activation = 0.0 if found.tied and found.scores == 1 else found.activation
    answer = "undefined" if found.tied else _label(found)
    return OnePrediction(parts, found.bias, activation, answer, *_rule(found, activation))


def _label(found: LinearParts) -> str:
    return shown_name(label_words(found.answer), 20)


def _rule(found: LinearParts, activation: float) -> tuple[str, str]:
    """Return what decides, in a few words, and the title: the sign for two classes, otherwise the largest score."""
    number = shown_number(activation)
    if found.scores > 1:
        if found.tied:
            return "tied", f"On the boundary: another class has the same score, {number}"
        largest = f"largest of {found.scores:,}"
        return largest, f"Predicted {_label(found)}: its score is {number}, the {largest}"
    if found.tied:
        return "= 0", "On the boundary: the activation is 0"
    side, sign = ("above", ">") if activation > 0 else ("below", "<")
    return f"{sign} 0", f"Predicted {_label(found)}: the activation is {number}, {side} 0"
