"""Column scaling for streams, fitted in one pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks import Block, DataError, Features, is_sparse, take_rows
from rosenblatt.messages import Message
from rosenblatt.scaling import ColumnScale, ColumnSums
from rosenblatt.splits import Split

SCALES = ("none", "standard", "maxabs", "auto")
"""The values of ``scale`` in ``data.open``."""
_MUCH = 3.0
"""Scales differ if one column is more than this many times as large as another, or as the bias feature 1."""


class StreamScale:
    """The column scale of a stream, which is given by a preparation or fitted in one pass over the rows.

    Parameters
    ----------
    method : str
        One of ``SCALES``.
    fitted : ColumnScale, optional
        The scale that a preparation stores; by default the scale is fitted to the rows.
    """

    def __init__(self, method: str = "none", fitted: ColumnScale | None = None) -> None:
        self.method = method if fitted is None else fitted.method
        self.fitted, self._stored = fitted, fitted is not None
        self.pending = fitted is None and method != "none"

    def for_other_rows(self) -> StreamScale:
        """Return the scale for other rows: this scale if it comes from a preparation, else an unfitted scale."""
        return self if self._stored else StreamScale(self.method)

    @property
    def recipe(self) -> dict[str, Any]:
        """Plain data that identifies the scale: its numbers if they come from a preparation, else the method."""
        if self._stored and self.fitted is not None:
            return {"scale": self.fitted.to_plain()}
        return {} if self.method == "none" else {"scaled": self.method}

    def fit(self, blocks: Iterable[Block], numbers: NDArray[np.int64] | None, split: Split | None = None) -> None:
        """Fit the scale to all rows, or only to the rows that ``split`` does not hold out.

        ``numbers`` holds the indices of the columns of numbers in a table; only these are scaled. None means that the
        rows do not come from a table and all columns are scaled. Columns of dense rows can be centred. Columns of
        sparse rows are centred only if they belong to a table and most of their values are nonzero.
        """
        sums = ColumnSums("maxabs" if self.method == "maxabs" else "standard")
        sparse = False
        for block in blocks if split is None else split.mark(blocks):
            X = block.X if numbers is None else block.X[:, numbers]
            sparse |= is_sparse(X)
            sums.add(X if block.held_out is None else X[~block.held_out])
        self.fit_sums(sums, numbers, sparse)

    def fit_sums(self, sums: ColumnSums, numbers: NDArray[np.int64] | None, sparse: bool) -> None:
        """Fit the scale to rows, given the exact sums of their columns ``numbers``; see `fit` for this parameter.

        ``sparse`` is True if the rows are sparse.
        """
        self.pending, sums.method = False, "maxabs" if self.method == "maxabs" else "standard"
        if not sums.rows:
            return
        most = 2 * sums.nonzero > sums.rows if numbers is not None else np.zeros(sums.width, bool)
        scale = sums.scale(centred=most if sparse else None)
        if numbers is not None:
            scale = replace(scale, features=numbers[: sums.width])
        if len(scale.features) and (self.method != "auto" or scales_differ(sums.means(), sums.deviations())):
            self.fitted = scale

    def apply(
        self, blocks: Iterable[Block], table: bool, skipped: Callable[[str], None] | None = None
    ) -> Iterator[Block]:
        """Yield the blocks with their rows scaled.

        A row with a number that becomes too large for float64 raises a DataError. If ``skipped`` is given, such a row
        is left out instead, and ``skipped`` is called with the reason. Sparse rows that are not from a ``table`` raise
        a DataError if the scale would centre them.
        """
        left_out = 0
        for block in blocks:
            if self.fitted is None:
                yield block
                continue
            if is_sparse(block.X) and not table and self.fitted.centre.any():
                what = "row {row:,} (counted from 0) is sparse, expected dense rows, because the scale centres them: "
                raise DataError(what + "save the rows as a dense array.", row=block.first)
            scaled = replace(block, X=self.fitted.apply(block.X), first=block.first - left_out)
            bad = _infinite_rows(scaled.X)
            for row in bad.tolist():
                what = "row {row:,} (counted from 0) holds a number that is too large for float64 once it is scaled"
                reason = Message(what, row=block.first + row)
                if skipped is None:
                    raise DataError("{reason}; {on_error='skip'} leaves such rows out.", reason=reason)
                skipped(f"{reason}.")
            if len(bad):
                scaled = take_rows(scaled, np.delete(np.arange(len(block)), bad), scaled.first)
                left_out += len(bad)
            yield scaled


def _infinite_rows(X: Features) -> NDArray[np.intp]:
    """Return the indices of the rows with a number that is not finite."""
    places = np.flatnonzero(~np.isfinite(X.data if is_sparse(X) else X))
    rows = np.searchsorted(X.indptr, places, side="right") - 1 if is_sparse(X) else places // max(1, X.shape[1])
    return np.unique(rows)


def scales_differ(centre: NDArray[np.float64], spread: NDArray[np.float64]) -> bool:
    """Return whether some columns are much larger than others or than the bias feature 1.

    Such columns would dominate the activations. ``centre`` and ``spread`` are the means and standard deviations.

    Examples
    --------
    >>> scales_differ(np.array([30.0, 2.0]), np.array([14.0, 0.8]))
    True
    >>> scales_differ(np.array([0.5, 0.6]), np.array([0.5, 0.4]))
    False
    """
    largest = max(1.0, spread.max(initial=0.0), np.abs(centre).max(initial=0.0))
    return bool(largest > _MUCH * spread[spread > 0.0].min(initial=1.0))
