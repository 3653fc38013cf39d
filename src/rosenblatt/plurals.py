"""Counts, shares and lists in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rosenblatt.label_text import label_text


def count_of(n: int, one: str) -> str:
    """Return a count with its noun, in the plural unless it is 1.

    >>> count_of(1, "update"), count_of(1200, "update"), count_of(2, "pass"), count_of(0, "class")
    ('1 update', '1,200 updates', '2 passes', '0 classes')
    """
    return f"{n:,} {one}{'' if n == 1 else 'es' if one.endswith('s') else 's'}"


def percent(share: float) -> str:
    """Return a share as people write it, never rounded to all or nothing.

    >>> percent(0.2249), percent(0.9999), percent(0.0001), percent(0.0)
    ('22%', '99.99%', '0.01%', '0%')
    """
    number = 100.0 * share
    if 1.0 <= number <= 99.0 or number == 0.0:
        return f"{number:.0f}%"
    return f"{number:{'.1g' if number < 1.0 else '.4g'}}%"


def list_some(things: Sequence[Any], most: int = 6) -> str:
    """Return things by name as a sentence lists them, the first few where there are many.

    >>> list_some([0]), list_some([0, 1, 2]), list_some(range(10), 3)
    ('0', '0, 1 and 2', '0, 1 and 8 more')
    """
    if len(things) > most or len(things) < 2:
        return name_some(things, most)
    return f"{name_some(things[:-1], most)} and {label_text(things[-1])}"


def name_some(things: Sequence[Any], most: int = 6) -> str:
    """Return things by name, the first few where there are many.

    >>> name_some([0, 1, 2]), name_some(range(10), 3)
    ('0, 1, 2', '0, 1 and 8 more')
    """
    shown = things if len(things) <= most else things[: most - 1]
    return ", ".join(map(label_text, shown)) + (
        f" and {len(things) - len(shown):,} more" if len(things) > len(shown) else ""
    )
