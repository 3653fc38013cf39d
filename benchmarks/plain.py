"""The kernel perceptron in plain NumPy, as one would write it without this package: row by row, and by blocks.

The kernel is K(x, x') = (1 + x . x')^d. There is a machine for each class against the rest, rows are visited in the
order that they are in, and a score that is 0 or on the wrong side is a mistake. Decisions are those of float64 as it
comes, so both programs may differ from exact ones where a score is within rounding of 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Learned(NamedTuple):
    """What a run keeps: row numbers in the order that they were added, and for each its steps by machine, summed."""

    rows: np.ndarray
    counts: np.ndarray
    mistakes: int


def signs_by_class(y: np.ndarray) -> np.ndarray:
    """Return 1 where a row is of a class and -1 elsewhere, a column for each class."""
    return np.where(y[:, None] == np.unique(y), 1.0, -1.0)


def polynomial(products: np.ndarray, degree: int) -> np.ndarray:
    """Return (1 + product)^degree by multiplication, many times faster than a power of floats; uses up ``products``."""
    products += 1.0
    if degree == 1:
        return products
    values = products * products
    for _ in range(degree - 2):
        values *= products
    return values


def row_by_row(X: np.ndarray, y: np.ndarray, degree: int, epochs: int) -> Learned:
    """Visit one row after another: its kernel values with all support rows, the scores of all machines, the updates."""
    signs = signs_by_class(y)
    supports, counts = np.empty_like(X), np.zeros_like(signs)
    place = np.full(len(X), -1)
    used = mistakes = 0
    for _ in range(epochs):
        for i, x in enumerate(X):
            scores = polynomial(supports[:used] @ x, degree) @ counts[:used]
            wrong = signs[i] * scores <= 0
            if not wrong.any():
                continue
            if place[i] < 0:
                place[i], supports[used] = used, x
                used += 1
            counts[place[i], wrong] += signs[i, wrong]
            mistakes += int(wrong.sum())
    return Learned(_rows_in_places(place, used), counts[:used], mistakes)


def by_blocks(X: np.ndarray, y: np.ndarray, degree: int, epochs: int, block: int = 1000) -> Learned:
    """Visit blocks of rows: scores by one product, then the first mistake of each machine until there is none.

    The kernel values of a block with the support rows are kept from epoch to epoch, so that only those with new support
    rows are computed. An update adds a column of the block's own kernel values to the scores of its machine.
    """
    signs = signs_by_class(y)
    machines = np.arange(signs.shape[1])
    supports, counts = np.empty_like(X), np.zeros_like(signs)
    place = np.full(len(X), -1)
    kept: dict[int, np.ndarray] = {}
    used = mistakes = 0
    for _ in range(epochs):
        for start in range(0, len(X), block):
            rows, aims = X[start : start + block], signs[start : start + block]
            values = kept.get(start, np.empty((len(rows), 0)))
            if values.shape[1] < used:
                new = polynomial(rows @ supports[values.shape[1] : used].T, degree)
                values = kept[start] = np.hstack([values, new]) if values.size else new
            scores = values @ counts[:used]
            within = None
            numbers, visited = np.arange(len(rows))[:, None], np.full(len(machines), -1)
            while True:
                wrong = (aims * scores <= 0) & (numbers > visited)
                active = wrong.any(axis=0)
                if not active.any():
                    break
                if within is None:
                    within = polynomial(rows @ rows.T, degree)
                first = wrong.argmax(axis=0)
                for k in machines[active]:
                    i, step = first[k], aims[first[k], k]
                    if place[start + i] < 0:
                        place[start + i], supports[used] = used, rows[i]
                        used += 1
                    counts[place[start + i], k] += step
                    scores[:, k] += step * within[i]
                    mistakes += 1
                visited = np.where(active, first, len(rows))
    return Learned(_rows_in_places(place, used), counts[:used], mistakes)


def _rows_in_places(place: np.ndarray, used: int) -> np.ndarray:
    """Return the row in each place, from the place of each row."""
    rows = np.empty(used, np.int64)
    found = np.flatnonzero(place >= 0)
    rows[place[found]] = found
    return rows
