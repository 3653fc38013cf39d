"""A table that describes rows whose columns have no names: how many, how dense, their labels, the size of values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from typing import Any

import numpy as np

from rosenblatt.blocks import Block, is_sparse
from rosenblatt.data.preparation import number_of_feature
from rosenblatt.data.source import Preparation
from rosenblatt.messages import Sentence, Setting, label_text
from rosenblatt.tables import Table

_MOST_LABELS = 10
"""Labels that are shown with their counts."""
_FEW_COLUMNS = 1000
"""Columns that are few enough to compare their sizes."""
_MUCH = 100.0
"""How many times larger than another a column has to be to be worth a note."""


class _Sizes:
    """The largest value of each column, and how many rows have one."""

    def __init__(self) -> None:
        self.largest, self.there, self.rows = np.zeros(0), np.zeros(0), 0

    def add(self, X: Any) -> None:
        if X.shape[1] > _FEW_COLUMNS:
            return
        values = np.abs(X.toarray() if is_sparse(X) else X)
        more = max(0, X.shape[1] - len(self.largest))
        self.largest, self.there = np.pad(self.largest, (0, more)), np.pad(self.there, (0, more))
        self.largest[: X.shape[1]] = np.maximum(self.largest[: X.shape[1]], values.max(axis=0, initial=0.0))
        self.there[: X.shape[1]] += (values != 0.0).sum(axis=0)
        self.rows += len(values)

    def notes(self, preparation: Preparation) -> list[Sentence]:
        """Return a sentence that features which most rows have differ much in size, none if they do not."""
        dense = np.flatnonzero(2 * self.there > self.rows)
        sizes = self.largest[dense]
        if len(sizes) < 2 or sizes.max() <= _MUCH * sizes.min():
            return []
        small, large = (number_of_feature(preparation, int(dense[k])) for k in (sizes.argmin(), sizes.argmax()))
        sized = f"{small} reaches {sizes.min():.4g}, {large} {sizes.max():.4g}"
        scale = Setting("scale", "standard"), " brings them to one scale."
        return [Sentence(f"Features differ much in size ({sized}): for training, ", *scale)]


def describe_rows(blocks: Iterable[Block], most: int, title: str, preparation: Preparation) -> Table:
    """Return facts about the first ``most`` rows, none of which is read twice.

    Examples
    --------
    >>> describe_rows([Block(np.eye(3), np.array([1.0, -1.0, 1.0]), 0)], 10, "Three rows", {"format": "npz"})
    Three rows
    about                    value
    ----------------------------------
    rows looked at           3
    features                 3
    values not 0 in a row    1
    values                   0 to 1
    labels                   1: 2, -1: 1
    """
    rows, low, high = 0, np.inf, -np.inf
    counts: list[np.ndarray] = []
    labels: Counter[Any] = Counter()
    sizes = _Sizes()
    width = 0
    with closing(_iterate(blocks)) as some:
        for block in some:
            X = block.X[: most - rows]
            stored = X.data if is_sparse(X) else X
            low, high = min(low, stored.min(initial=np.inf)), max(high, stored.max(initial=-np.inf))
            counts.append(np.asarray((X != 0.0).sum(axis=1)).ravel())
            labels.update(block.y[: most - rows].tolist())
            sizes.add(X)
            width = max(width, X.shape[1])
            rows += X.shape[0]
            if rows >= most:
                break
    per_row = np.concatenate(counts) if counts else np.zeros(0)
    facts = {"rows looked at": f"{rows:,}", "features": f"{width:,}"}
    if rows:
        few, many = int(per_row.min()), int(per_row.max())
        spread = f"{few:,}" if few == many else f"{few:,} to {many:,}, {per_row.mean():.4g} on average"
        facts |= {"values not 0 in a row": spread, "values": f"{low:.6g} to {high:.6g}" if low <= high else "none"}
        known = Counter({label: n for label, n in labels.items() if label == label})
        facts |= {"labels": _labels(known)} if known else {}
    table = {"about": list(facts), "value": list(facts.values())}
    return Table(table, title, sizes.notes(preparation))


def _iterate(blocks: Iterable[Block]) -> Any:
    yield from blocks


def _labels(counts: Counter[Any]) -> str:
    shown = [f"{label_text(label)}: {n:,}" for label, n in counts.most_common()]
    more = len(shown) - _MOST_LABELS
    return ", ".join(shown[:_MOST_LABELS]) + (f" and {more:,} more" if more > 0 else "")
