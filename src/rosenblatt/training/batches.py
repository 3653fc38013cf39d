"""A stream of blocks as the windows that training visits: they do not depend on how the stream was cut.

Rows are counted from 0 as they come. A window is ``WINDOW`` rows whose numbers follow each other, the last one perhaps
fewer; shuffling happens inside a window, by an order drawn from the seed, the pass and the window's number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import stack
from rosenblatt.kernels.orders import visiting_order

__all__ = [
    "WINDOW",
    "Part",
    "after",
    "can_be_read_again",
    "held_out",
    "joined",
    "parts",
    "widened",
    "window_order",
    "windows",
]

WINDOW = 1 << 16
_GOLDEN, _FIRST, _SECOND = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


class Part(NamedTuple):
    """Rows that follow each other in a stream."""

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    first: int
    """The number of the first row."""
    checked: bool = False
    """Whether it is as a reader of `data` made it, so that there is nothing to check."""


def can_be_read_again(blocks: Any) -> bool:
    """Say whether the blocks can be iterated more than once: a list or a file, not a generator."""
    return iter(blocks) is not blocks


def parts(blocks: Iterable[Any]) -> Iterator[Part]:
    """Yield the blocks that are not empty, each of which is (X, y), (X, y, weights) or a Block of `data`."""
    first = 0
    for block in blocks:
        if hasattr(block, "X"):
            X, y, weights = block.X, block.y, getattr(block, "weight", None)
            checked = getattr(block, "checked", False)
        elif isinstance(block, tuple | list) and len(block) in (2, 3):
            X, y, weights = (*block, None)[:3]
            checked = False
        else:
            raise ValueError(
                f"expected blocks of the form (X, y) or (X, y, sample_weight), got {type(block).__name__}: "
                "give an iterable of such pairs, or what data.open returns."
            )
        X, y = X if hasattr(X, "shape") else np.asarray(X), np.asarray(y)
        if X.shape[0]:
            yield Part(X, y, weights, first, checked)
        first += X.shape[0]


def after(stream: Iterable[Part], row: int) -> Iterator[Part]:
    """Yield the rows from number ``row`` on."""
    for part in stream:
        n = part.X.shape[0]
        if part.first + n > row:
            yield _cut(part, max(0, row - part.first), n)


def windows(stream: Iterable[Part], size: int) -> Iterator[Part]:
    """Yield the same rows in parts of ``size``, the last perhaps smaller."""
    waiting: list[Part] = []
    count = 0
    for part in stream:
        start = 0
        n = part.X.shape[0]
        while count + n - start >= size:
            stop = start + size - count
            yield joined([*waiting, _cut(part, start, stop)])
            waiting, count, start = [], 0, stop
        if start < n:
            waiting.append(_cut(part, start, n))
            count += n - start
    if waiting:
        yield joined(waiting)


def window_order(n: int, seed: int, pass_number: int, window: int) -> np.ndarray:
    """Return the order in which a shuffled pass visits the n rows of a window.

    That of window 0 is the order of ``fit``: a stream of one window is visited as if it were in memory.
    """
    return visiting_order(n, seed + window * 0x632BE59BD9B4E019, pass_number)


def held_out(first: int, n: int, seed: int, share: float) -> np.ndarray:
    """Say which of n rows, from number ``first`` on, are held out: each with the chance ``share``, by its number."""
    with np.errstate(over="ignore"):
        z = (np.arange(first, first + n, dtype=np.uint64) + np.uint64(seed % 2**64)) * _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * _FIRST
        z = (z ^ (z >> np.uint64(27))) * _SECOND
        return (z ^ (z >> np.uint64(31))) < np.uint64(int(share * 2.0**64))


def _cut(part: Part, start: int, stop: int) -> Part:
    if start == 0 and stop == part.X.shape[0]:
        return part
    weights = None if part.weights is None else part.weights[start:stop]
    return Part(part.X[start:stop], part.y[start:stop], weights, part.first + start, part.checked)


def joined(pieces: list[Part]) -> Part:
    """Return parts that follow each other as one."""
    if len(pieces) == 1:
        return pieces[0]
    matrices = [piece.X for piece in pieces]
    if any(sp.issparse(X) for X in matrices):
        X = stack([sp.csr_array(X) for X in matrices])
    else:
        widths = [X.shape[1:] for X in matrices]
        for width in widths:
            if width != widths[0]:
                raise ValueError(
                    f"expected blocks of the same width, got {width[0]} features after {widths[0][0]}: "
                    "only sparse blocks may get more columns on the way."
                )
        X = np.concatenate(matrices)
    weights = None
    if any(piece.weights is not None for piece in pieces):
        weights = np.concatenate(
            [np.ones(len(piece.y)) if piece.weights is None else piece.weights for piece in pieces]
        )
    y = np.concatenate([piece.y for piece in pieces])
    return Part(X, y, weights, pieces[0].first, all(piece.checked for piece in pieces))


def widened(X: Any, width: int) -> Any:
    """Return a CSR matrix with at least ``width`` columns, without a copy of its numbers."""
    if X.shape[1] >= width:
        return X
    wider = type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], width), copy=False)
    wider.has_canonical_format = X.has_canonical_format
    return wider
