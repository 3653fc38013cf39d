"""Some of many things, evenly chosen: for tables and pictures that have no room for all."""

from __future__ import annotations


def evenly_chosen(n: int, most: int | None = None) -> list[int]:
    """Return the places of ``n`` things, or of ``most`` of them: the first, the last, and others evenly in between.

    One alone is the last.

    >>> evenly_chosen(3), evenly_chosen(101, 3), evenly_chosen(101, 1)
    ([0, 1, 2], [0, 50, 100], [100])
    """
    if most is None or most >= n:
        return list(range(n))
    return [i * (n - 1) // (most - 1) for i in range(most)] if most > 1 else [n - 1] * most
