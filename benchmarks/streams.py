"""The files that readers race on: rows of sparse numbers, made in pieces so that memory stays small.

Each row of ``pieces`` has 50 columns of 100,000, frequent ones and rare ones, each with a number of three decimals from
0.001 to 1. Labels come from a random linear rule with noise: some three percent are wrong, all near the boundary. Rows
of ``zipf_pieces`` are like text: 30 draws from 200,000 columns by Zipf's law, and three percent of the labels are wrong
wherever they lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.workloads import NOISE

FEATURES = 50
COLUMNS = 100_000
PIECE = 1 << 16
ROW_GROUP = 1 << 15
ZIPF_DRAWS = 30
ZIPF_COLUMNS = 200_000
ZIPF_POWER = 1.05
"""The chance of the j-th most frequent column is as 1 / j**ZIPF_POWER."""
FLIPPED = 0.03
"""The share of labels that are wrong."""
_POWERS = 10 ** np.arange(6)

Pieces = Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Labels (-1 or 1), columns from 1 on, and thousandths, ``PIECE`` rows at a time; 0 thousandths are not written."""


def pieces(rows: int, seed: int) -> Pieces:
    """Yield rows whose j-th column is drawn from the j-th of 50 ranges, which grow from 40 columns to 4,000."""
    rule = np.random.default_rng(0).standard_normal(COLUMNS + 1)
    rng = np.random.default_rng(seed)
    scale = np.sqrt(FEATURES / 3.0)
    for start in range(0, rows, PIECE):
        n = min(PIECE, rows - start)
        columns = 1 + (COLUMNS * ((np.arange(FEATURES) + rng.random((n, FEATURES))) / FEATURES) ** 2).astype(np.int32)
        thousandths = rng.integers(1, 1001, (n, FEATURES), np.int32)
        scores = np.einsum("ij,ij->i", rule[columns], thousandths / 1000.0) / scale
        yield np.where(scores + NOISE * rng.standard_normal(n) > 0, 1, -1), columns, thousandths


def zipf_pieces(rows: int, seed: int) -> Pieces:
    """Yield rows of columns drawn by Zipf's law, in increasing order; a column that is drawn twice counts once.

    Frequent columns lie anywhere, as words do in an alphabetical vocabulary, and the rule weighs all columns alike.
    """
    fixed = np.random.default_rng(0)
    rule = fixed.standard_normal(ZIPF_COLUMNS + 1)
    place = 1 + fixed.permutation(ZIPF_COLUMNS).astype(np.int32)
    shares = np.cumsum(np.arange(1, ZIPF_COLUMNS + 1) ** -ZIPF_POWER)
    rng = np.random.default_rng(seed)
    for start in range(0, rows, PIECE):
        n = min(PIECE, rows - start)
        columns = np.sort(place[np.searchsorted(shares, rng.random((n, ZIPF_DRAWS)) * shares[-1])], axis=1)
        thousandths = rng.integers(1, 1001, (n, ZIPF_DRAWS), np.int32)
        thousandths[:, 1:][columns[:, 1:] == columns[:, :-1]] = 0
        labels = np.where(np.einsum("ij,ij->i", rule[columns], thousandths / 1000.0) > 0, 1, -1)
        yield np.where(rng.random(n) < FLIPPED, -labels, labels), columns, thousandths


def write(path: Path, rows: int, seed: int, made: Callable[[int, int], Pieces] = pieces) -> None:
    """Write rows as the ending of ``path`` says: .vw, .svm or .parquet. A file that is there already stays."""
    if path.exists():
        return
    part = path.with_suffix(".part")
    if path.suffix == ".parquet":
        write_parquet(part, rows, seed)
    else:
        write_text(part, made(rows, seed), bar=path.suffix == ".vw")
    part.replace(path)


def write_text(path: Path, made: Pieces, bar: bool) -> None:
    """Write svmlight text, or with a bar after the label Vowpal Wabbit's."""
    room = np.empty(PIECE * (8 + 13 * FEATURES), np.uint8)
    with path.open("wb") as file:
        for labels, columns, thousandths in made:
            file.write(room[: _text(labels, columns, thousandths, bar, room)].data)


def write_parquet(path: Path, rows: int, seed: int) -> None:
    """Write lists of column numbers and of values, none of them missing, compressed by lz4."""
    numbers = {"indices": pa.int32(), "values": pa.float64()}
    lists = {name: pa.list_(pa.field("item", kind, nullable=False)) for name, kind in numbers.items()}
    schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in {"label": pa.int8(), **lists}.items()])
    with pq.ParquetWriter(path, schema, compression="lz4", use_dictionary=False) as file:
        for labels, columns, thousandths in pieces(rows, seed):
            ends = pa.array(np.arange(0, columns.size + 1, FEATURES, dtype=np.int32))
            flat = {"indices": columns.ravel(), "values": thousandths.ravel() / 1000.0}
            arrays = [pa.array(labels.astype(np.int8))]
            arrays += [pa.ListArray.from_arrays(ends, pa.array(flat[name]), type=kind) for name, kind in lists.items()]
            file.write_batch(pa.record_batch(arrays, schema=schema), row_group_size=ROW_GROUP)


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
            column, value = columns[i, j], thousandths[i, j]
            if value == 0:
                continue
            room[k] = ord(" ")
            k += 1
            digits = 1
            while digits < 6 and column >= _POWERS[digits]:
                digits += 1
            for d in range(digits):
                room[k + d] = ord("0") + column // _POWERS[digits - 1 - d] % 10
            k += digits
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
