"""Counts in sentences."""

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


def name_some(things: Sequence[Any], most: int = 6) -> str:
    """Return things by name, the first few where there are many.

    >>> name_some([0, 1, 2]), name_some(range(10), 3)
    ('0, 1, 2', '0, 1 and 8 more')
    """
    shown = things if len(things) <= most else things[: most - 1]
    return ", ".join(map(label_text, shown)) + (
        f" and {len(things) - len(shown):,} more" if len(things) > len(shown) else ""
    )
