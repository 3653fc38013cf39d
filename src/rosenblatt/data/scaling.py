"""How the columns of a stream are scaled: as asked for, once its rows have been summed up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks import Block, DataError, Features, is_sparse, take_rows
from rosenblatt.messages import Setting
from rosenblatt.scaling import ColumnScale, ColumnSums

SCALES = ("none", "standard", "maxabs", "auto")
"""What ``data.open`` takes."""
_MUCH = 3.0
"""Columns differ much in size if one is more than this many times another, or 1, the size of the bias."""

TrainedRows = Callable[[int, int], NDArray[np.bool_]]
"""Returns, for so many rows from a number on, which of them are learned from."""


class StreamScale:
    """The scale of a stream, known from the start or after one pass over its rows.

    Parameters
    ----------
    method : str
        One of ``SCALES``.
    fitted : ColumnScale, optional
        The scale that a preparation stores.
    """

    def __init__(self, method: str = "none", fitted: ColumnScale | None = None) -> None:
        self.method = method if fitted is None else fitted.method
        self.fitted, self._stored = fitted, fitted is not None
        self.pending = fitted is None and method != "none"

    def for_other_rows(self) -> StreamScale:
        """Return the scale of other rows: one that a preparation stores is theirs too, others are found from them."""
        return self if self._stored else StreamScale(self.method)

    @property
    def recipe(self) -> dict[str, Any]:
        """What identifies it, as plain data: the numbers where they were given, else how they are found."""
        if self._stored and self.fitted is not None:
            return {"scale": self.fitted.to_plain()}
        return {} if self.method == "none" else {"scaled": self.method}

    def fit(self, blocks: Iterable[Block], numbers: NDArray[np.int64] | None, trained: TrainedRows | None) -> None:
        """Sum up the columns of all rows, or of those that are trained on, and find the scale.

        ``numbers`` are the columns of numbers of a table; None where all columns are alike: then sparse ones are
        never centred. In the sparse rows of a table, columns of numbers are centred if most of these are not 0.
        """
        sums = ColumnSums("maxabs" if self.method == "maxabs" else "standard")
        sparse = False
        for block in blocks:
            X = block.X if numbers is None else block.X[:, numbers]
            sparse |= is_sparse(X)
            sums.add(X if trained is None else X[trained(block.first, len(block))])
        self.pending = False
        if not sums.rows:
            return
        most = 2 * sums.nonzero > sums.rows if numbers is not None else np.zeros(sums.width, bool)
        scale = sums.scale(centred=most if sparse else None)
        if numbers is not None:
            scale = replace(scale, features=numbers[: sums.width])
        if len(scale.features) and (self.method != "auto" or differ_much(sums.means(), sums.deviations())):
            self.fitted = scale

    def apply(
        self, blocks: Iterable[Block], table: bool, skipped: Callable[[str], None] | None = None
    ) -> Iterator[Block]:
        """Yield blocks on this scale.

        A row whose numbers become too large for float64 is a DataError, or left out where ``skipped`` is given, which
        gets the sentence. So are sparse rows that are not those of a table, whose columns would have to be centred.
        """
        left_out = 0
        for block in blocks:
            if self.fitted is None:
                yield block
                continue
            if is_sparse(block.X) and not table and self.fitted.centre.any():
                what = f"row {block.first:,} (counted from 0) is sparse, expected dense rows, as the scale centres them"
                raise DataError(f"{what}: save the rows as a dense array.")
            scaled = replace(block, X=self.fitted.apply(block.X), first=block.first - left_out)
            bad = _infinite_rows(scaled.X)
            for row in bad.tolist():
                what = f"row {block.first + row:,} (counted from 0) holds a number"
                words = f"{what} that is too large for float64 once it is scaled"
                if skipped is None:
                    raise DataError(f"{words}; ", Setting("on_error", "skip"), " leaves such rows out.")
                skipped(f"{words}.")
            if len(bad):
                scaled = take_rows(scaled, np.delete(np.arange(len(block)), bad), scaled.first)
                left_out += len(bad)
            yield scaled


def _infinite_rows(X: Features) -> NDArray[np.intp]:
    """Return the rows that hold a number which is not finite."""
    places = np.flatnonzero(~np.isfinite(X.data if is_sparse(X) else X))
    rows = np.searchsorted(X.indptr, places, side="right") - 1 if is_sparse(X) else places // max(1, X.shape[1])
    return np.unique(rows)


def differ_much(centre: NDArray[np.float64], spread: NDArray[np.float64]) -> bool:
    """Return whether some columns are so much larger than others, or than the bias, that they hide them.

    Examples
    --------
    >>> differ_much(np.array([30.0, 2.0]), np.array([14.0, 0.8]))
    True
    >>> differ_much(np.array([0.5, 0.6]), np.array([0.5, 0.4]))
    False
    """
    largest = max(1.0, spread.max(initial=0.0), np.abs(centre).max(initial=0.0))
    return bool(largest > _MUCH * spread[spread > 0.0].min(initial=1.0))
