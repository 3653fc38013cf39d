"""Which classes an explanation is about, and the short table where there are many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.label_text import label_text, plain_label
from rosenblatt.parameters import ParameterError, Setting, shorten

FULL_UP_TO = 3
"""So many classes are shown in full; more, in one line each."""
_SHORT_TOP = 3  # the features on each side in a line of the short table
_WIDTH = 80
_SHORTEST = 12  # a name that does not fit is cut to so many letters or more


@dataclass(frozen=True)
class Words:
    """What a reader of an explanation can do, as they would write it: in Python here, and otherwise at a command."""

    scale: str = "scale the features first, for instance with StandardScaler or ExactScaler in a pipeline."
    one_class: Callable[[Any], str] = lambda label: f"label={label!r}"


def find_classes(label: Any, classes: Sequence[Any]) -> list[int]:
    """Return the places of the classes that are asked for: one label or a list of them; all where it is None.

    A label may also be given as people write it: "7" is the class 7.0.

    Examples
    --------
    >>> find_classes("7", [3.0, 7.0]), find_classes([7, 3], [3.0, 7.0])
    ([1], [1, 0])
    >>> find_classes("hamm", ["ham", "spam"])
    Traceback (most recent call last):
    rosenblatt.parameters.ParameterError: label must be one of the classes 'ham', 'spam', got 'hamm'.
    """
    if label is None:
        return list(range(len(classes)))
    asked = list(label) if isinstance(label, list | tuple | set | np.ndarray) else [label]
    texts = [label_text(one) for one in classes]
    places = []
    for one in asked:
        one = one.item() if hasattr(one, "item") else one
        if one in classes:
            places.append(list(classes).index(one))
        elif isinstance(one, str) and one in texts:
            places.append(texts.index(one))
        else:
            known = ", ".join(repr(name) if isinstance(name, str) else label_text(name) for name in classes[:20])
            more = ", ..." if len(classes) > 20 else ""
            raise ParameterError(Setting("label"), f" must be one of the classes {known}{more}, got {shorten(one)}.")
    return list(dict.fromkeys(places))


def short_columns(labels: Sequence[Any], names: Sequence[str], numbers: np.ndarray, top: int) -> dict[str, list[Any]]:
    """Return a line for each class: the names with the largest numbers, and those with the smallest below zero.

    Lines fit in 80 columns, and have up to three names on each side.

    >>> short_columns([0, 1], ["a", "b", "c"], np.array([[2.0, 0.0, -1.0], [0.5, 3.0, 0.0]]), top=10)
    {'class': [0, 1], 'for it': ['a: 2', 'b: 3, a: 0.5'], 'against it': ['c: -1', None]}
    """
    shown = [plain_label(label) for label in labels]
    room = (_WIDTH - 4 - max(len("class"), *(len(str(label)) for label in shown))) // 2
    columns: dict[str, list[Any]] = {"class": shown, "for it": [], "against it": []}
    for line in numbers:
        order = np.argsort(-line, kind="stable")
        for column, places in (("for it", order), ("against it", order[::-1])):
            sign = 1 if column == "for it" else -1
            chosen = [place for place in places[: min(top, _SHORT_TOP)] if sign * line[place] > 0]
            columns[column].append(_in_room([(names[place], f"{line[place]:.4g}") for place in chosen], room))
    return columns


def _in_room(pairs: list[tuple[str, str]], room: int) -> str | None:
    """Return as many pairs as there is room for, the first with its name cut where it must be; None for none."""
    if not pairs:
        return None
    (name, number), *others = pairs
    most = max(_SHORTEST, room - len(number) - 2)
    words = f"{name if len(name) <= most else name[: most - 3] + '...'}: {number}"
    for name, number in others:
        longer = f"{words}, {name}: {number}"
        if len(longer) > room:
            break
        words = longer
    return words
