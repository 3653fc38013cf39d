"""Dask arrays and data frames as partitions of rows, and as what predictions come back in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.distributed.shards import Shard, make_shard, number_errors
from rosenblatt.parameters import shorten


def is_collection(X: Any) -> bool:
    """Return whether this is a collection of Dask's."""
    return hasattr(X, "__dask_graph__") and type(X).__name__ != "Delayed"


def _is_frame(X: Any) -> bool:
    """Return whether this is a data frame or a series of Dask's."""
    return hasattr(X, "map_partitions") and hasattr(X, "dtypes")


def _blocks(X: Any, what: str) -> list[Any]:
    """Return the partitions of a collection as delayed objects, one after the other."""
    if _is_frame(X):
        return list(X.to_delayed(optimize_graph=False))  # optimized, columns of one table may be cut in other ways
    if not hasattr(X, "chunks"):
        raise ValueError(f"expected {what} as a Dask array or data frame, got a {type(X).__name__} of Dask's.")
    if what == "X":
        if X.ndim != 2:
            raise ValueError(f"expected X with rows and columns, got a Dask array of shape {X.shape}.")
        if X.dtype.kind not in "biufO":
            raise ValueError(f"expected X with numbers, got a Dask array of {X.dtype}: make numbers of them first.")
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
    elif X.ndim == 2 and X.shape[1] == 1:
        X = X[:, 0]
    elif X.ndim != 1:
        raise ValueError(f"expected {what} with one number a row, got a Dask array of shape {X.shape}.")
    return list(X.to_delayed().ravel())


def partitions(X: Any, y: Any, sample_weight: Any = None) -> list[tuple[int, Any, Any, Any]]:
    """Return the number, the rows, the labels and the weights of each partition."""
    if not is_collection(X):
        raise TypeError(
            f"expected X as a Dask array or data frame, got a {type(X).__name__}: use the local learner for rows in "
            "memory, fit_files for files, or make one with dask.array.from_array."
        )
    if y is None:
        raise TypeError("training needs labels, got none: use fit(X, y).")
    if _is_frame(X):
        _check_columns(X)
    rows = _blocks(X, "X")
    labels = _like(X, rows, y, "y")
    weights = [None] * len(rows) if sample_weight is None else _like(X, rows, sample_weight, "sample_weight")
    return list(zip(range(len(rows)), rows, labels, weights, strict=True))


def _like(X: Any, rows: Sequence[Any], other: Any, what: str) -> list[Any]:
    """Return labels or weights cut as the rows are."""
    if is_collection(other):
        parts = _blocks(other, what)
        if len(parts) != len(rows):
            raise ValueError(
                f"expected {what} cut into the {len(rows)} partitions that X has, got {len(parts)}: rechunk or "
                "repartition one like the other."
            )
        return parts
    lengths = None if _is_frame(X) else X.chunks[0]
    if lengths is None or np.isnan(lengths).any():
        raise ValueError(
            f"expected {what} as a Dask collection, as the partitions of X do not know their lengths, got a "
            f"{type(other).__name__}: give a Dask array or series, or call X.compute_chunk_sizes() first."
        )
    values = np.asarray(other)
    if values.ndim == 0:
        raise ValueError(f"expected {what} as an array or a Dask collection, got {shorten(other)}.")
    if len(values) != sum(lengths):
        raise ValueError(f"expected {what} for each of the {sum(lengths):,} rows, got {len(values):,}.")
    return np.split(values, np.cumsum(lengths)[:-1])


def _check_columns(X: Any) -> None:
    """Raise a ValueError for columns that are no numbers, and for a series."""
    if X.ndim == 1:
        raise ValueError("expected X with rows and columns, got a Dask series: use X.to_frame().")
    wrong = [f"{name} ({kind})" for name, kind in X.dtypes.items() if getattr(kind, "kind", "O") not in "biuf"]
    if wrong:
        some = ", ".join(wrong[:5]) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "")
        raise ValueError(
            f"expected columns of numbers, got {some}: make numbers of them first, for instance with "
            "dask.dataframe.get_dummies after categorize(), leave them out, or train from the files with fit_files, "
            "which makes features of categories and words."
        )


class PairShard:
    """Makes a shard of a partition of rows and the partition of labels that goes with it."""

    def __init__(self, number: int, X: Any, y: Any, weight: Any) -> None:
        self.number, self.parts = number, (X, y, weight)

    def delayed(self) -> Any:
        """Return the shard as a delayed object."""
        import dask

        return dask.delayed(_make, pure=False)(self.number, *self.parts)

    def counted(self, model: Any) -> Any:
        """Return how many rows a model gets right, and how many there are, by weight, as a delayed object."""
        import dask

        return dask.delayed(_count, pure=False)(model, self.number, *self.parts)


def _make(number: int, X: Any, y: Any, weight: Any) -> Shard:
    with number_errors(f"partition {number}"):
        return make_shard(X, y, weight)


def _count(model: Any, number: int, X: Any, y: Any, weight: Any) -> tuple[float, float]:
    shard = _make(number, X, y, weight)
    if not len(shard.numbers):
        return 0.0, 0.0
    right = model.predict(X) == shard.classes[shard.numbers]
    weights = np.ones(len(right)) if shard.weight is None else shard.weight
    return float(weights @ right), float(weights.sum())


def lazily(model: Any, method: str, X: Any, meta: Any) -> Any:
    """Return what a method of a model answers for a collection, as a collection that is not computed yet."""
    if _is_frame(X):
        answer = _Answer(model, method, frame=True)
        one = np.zeros((1, *meta.shape[1:])) if method != "predict" else model.classes_[:1]
        meta = _frame_of(one, X._meta_nonempty.index[:1]).iloc[:0]  # pandas has types of its own for words
        return X.map_partitions(answer, meta=meta, enforce_metadata=False)
    if X.ndim != 2:
        raise ValueError(f"expected X with rows and columns, got a Dask array of shape {X.shape}.")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    answer = _Answer(model, method)
    if meta.ndim == 1:
        return X.map_blocks(answer, dtype=meta.dtype, drop_axis=1, meta=meta)
    return X.map_blocks(answer, dtype=meta.dtype, chunks=(X.chunks[0], (meta.shape[1],)), meta=meta)


def _frame_of(values: Any, index: Any) -> Any:
    import pandas

    return pandas.Series(values, index=index) if values.ndim == 1 else pandas.DataFrame(values, index=index)


class _Answer:
    """Calls a method of a model on a partition."""

    def __init__(self, model: Any, method: str, frame: bool = False) -> None:
        self.model, self.method, self.frame = model, method, frame

    def __call__(self, X: Any) -> Any:
        if not X.shape[0]:
            columns = len(self.model.classes_)
            several = self.method != "predict" and columns > 2
            kind = self.model.classes_.dtype if self.method == "predict" else np.float64
            found = np.empty((0, columns) if several else 0, kind)
        else:
            found = getattr(self.model, self.method)(X)
        return _frame_of(found, X.index) if self.frame else found
