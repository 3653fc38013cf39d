"""Counts in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rosenblatt.label_text import label_text


def count_of(n: int, one: str, many: str = "") -> str:
    """Return a count with its noun, which is ``one`` with an "s" for many things unless ``many`` is given.

    >>> count_of(1, "update"), count_of(1200, "update"), count_of(2, "pass", "passes")
    ('1 update', '1,200 updates', '2 passes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def name_some(things: Sequence[Any], most: int = 6) -> str:
    """Return things by name, the first few where there are many.

    >>> name_some([0, 1, 2]), name_some(range(10), 3)
    ('0, 1, 2', '0, 1 and 8 more')
    """
    shown = things if len(things) <= most else things[: most - 1]
    return ", ".join(map(label_text, shown)) + (
        f" and {len(things) - len(shown):,} more" if len(things) > len(shown) else ""
    )
