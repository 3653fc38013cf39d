"""The file that readers race on: rows of sparse numbers as text, made in pieces so that memory stays small.

Each row has 50 columns of 100,000, frequent ones and rare ones, each with a number of three decimals from 0.001 to 1.
Labels come from a random linear rule with noise: some three percent are wrong, all of them near the boundary.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numba
import numpy as np

from benchmarks.workloads import NOISE

FEATURES = 50
COLUMNS = 100_000
PIECE = 1 << 16
_POWERS = 10 ** np.arange(6)


def pieces(rows: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield labels (-1 or 1), columns from 1 on, and thousandths, ``PIECE`` rows at a time.

    Column j of a row is drawn from the j-th of 50 ranges, which grow from 40 columns to 4,000.
    """
    rule = np.random.default_rng(0).standard_normal(COLUMNS + 1)
    rng = np.random.default_rng(seed)
    scale = np.sqrt(FEATURES / 3.0)
    for start in range(0, rows, PIECE):
        n = min(PIECE, rows - start)
        columns = 1 + (COLUMNS * ((np.arange(FEATURES) + rng.random((n, FEATURES))) / FEATURES) ** 2).astype(np.int32)
        thousandths = rng.integers(1, 1001, (n, FEATURES), np.int32)
        scores = np.einsum("ij,ij->i", rule[columns], thousandths / 1000.0) / scale
        yield np.where(scores + NOISE * rng.standard_normal(n) > 0, 1, -1), columns, thousandths


def write_text(path: Path, rows: int, seed: int, bar: bool) -> None:
    """Write rows as svmlight text, or as Vowpal Wabbit's, which has a bar after the label."""
    room = np.empty(PIECE * (8 + 13 * FEATURES), np.uint8)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        _write(file, rows, seed, bar, room)
    part.replace(path)


def _write(file: BinaryIO, rows: int, seed: int, bar: bool, room: np.ndarray) -> None:
    for labels, columns, thousandths in pieces(rows, seed):
        file.write(room[: _text(labels, columns, thousandths, bar, room)].data)


@numba.njit(cache=True)
def _text(labels, columns, thousandths, bar, room):
    """Write the rows into ``room`` and return how many bytes they take."""
    k = 0
    for i in range(len(labels)):
        if labels[i] < 0:
            room[k] = ord("-")
            k += 1
        room[k] = ord("1")
        k += 1
        if bar:
            room[k], room[k + 1] = ord(" "), ord("|")
            k += 2
        for j in range(columns.shape[1]):
            room[k] = ord(" ")
            k += 1
            column = columns[i, j]
            digits = 1
            while digits < 6 and column >= _POWERS[digits]:
                digits += 1
            for d in range(digits):
                room[k + d] = ord("0") + column // _POWERS[digits - 1 - d] % 10
            k += digits
            value = thousandths[i, j]
            room[k], room[k + 1], room[k + 2] = ord(":"), ord("0") + value // 1000, ord(".")
            room[k + 3], room[k + 4], room[k + 5] = (
                ord("0") + value // 100 % 10,
                ord("0") + value // 10 % 10,
                ord("0") + value % 10,
            )
            k += 6
        room[k] = ord("\n")
        k += 1
    return k
