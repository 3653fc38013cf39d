"""Groups of rows that were learned together, and their form in the log.

A group is the content of one frame: a head in JSON, then arrays, little-endian and without gaps. The rows are stored as
the model takes them, so that reading them again does not depend on how rows are prepared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import as_labels
from rosenblatt.training.rows import Labels, Matrix

Floats: TypeAlias = np.ndarray
_HEAD = 4
_TYPES = {"lengths": "<u4", "columns": "<i4", "values": "<f8", "numbers": "<u4", "weights": "<f8"}


@dataclass(frozen=True)
class LabelledRows:
    """Rows with labels and weights, stored one after the other."""

    columns: np.ndarray
    values: Floats
    lengths: np.ndarray
    """The number of entries of each row."""
    labels: Labels
    weights: Floats | None
    """The weight of each row; None if all are 1."""
    width: int
    """The number of columns that the model has with these rows."""

    def __len__(self) -> int:
        return len(self.lengths)

    @classmethod
    def of_matrix(cls, X: Matrix, labels: Labels, weights: Floats | None) -> LabelledRows:
        """Return the rows of a dense or canonical CSR matrix with their labels and weights."""
        rows = sp.csr_array(X)
        return cls(rows.indices, rows.data, np.diff(rows.indptr), labels, weights, rows.shape[1])

    def matrix(self, width: int | None = None) -> sp.csr_array:
        """Return the rows as a CSR matrix with ``width`` columns, by default those of the model with these rows."""
        return csr(self.values, self.columns, self.lengths, self.width if width is None else width)


def csr(values: np.ndarray, columns: np.ndarray, lengths: np.ndarray, width: int) -> sp.csr_array:
    """Return the CSR matrix of rows that are stored one after the other, with these numbers of entries."""
    ends = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=ends[1:])
    X = sp.csr_array((values, columns.astype(np.int32, copy=False), ends), shape=(len(lengths), width))
    X.has_canonical_format = True
    return X


def join_rows(groups: list[LabelledRows]) -> LabelledRows:
    """Return several groups of rows as one."""
    if len(groups) == 1:
        return groups[0]
    weights = None
    if any(group.weights is not None for group in groups):
        weights = np.concatenate([np.ones(len(group)) if group.weights is None else group.weights for group in groups])
    return LabelledRows(
        np.concatenate([group.columns for group in groups]),
        np.concatenate([group.values for group in groups]),
        np.concatenate([group.lengths for group in groups]),
        np.concatenate([group.labels for group in groups]),
        weights,
        groups[-1].width,
    )


@dataclass(frozen=True)
class Group:
    """Rows that were learned together."""

    rows: LabelledRows | None
    """The rows; None if only predicted rows are remembered."""
    ids: list[str]
    """The id of each row as JSON text, or ""; an empty list if no row has one."""
    names: list[str]
    """The names of columns that are new in these rows."""
    waiting: list[tuple[str, str]]
    """Predicted rows that wait for their label: the id and the row, as JSON texts."""
    mistakes: int = 0
    """The number of these rows that the model predicted wrongly before it learned them."""
    read: int = 0
    """The number of rows of the input that were read up to the end of this group; 0 if the rows come from clients."""

    def __len__(self) -> int:
        return 0 if self.rows is None else len(self.rows)


def to_bytes(group: Group) -> bytes:
    """Return a group as bytes, which `from_bytes` reads.

    >>> one = np.ones(1, np.int32)
    >>> rows = LabelledRows(one, np.array([0.5]), one, np.array(["spam"]), None, 3)
    >>> from_bytes(to_bytes(Group(rows, ['"a"'], ["x", "y"], [("7", '{"x": 1}')]))).rows.labels
    array(['spam'], dtype='<U4')
    """
    head: dict[str, Any] = {"names": group.names, "ids": group.ids, "waiting": group.waiting, "read": group.read}
    parts: list[bytes] = []
    if group.rows is not None:
        rows = group.rows
        numbers: dict[Any, int] = {}
        of_rows = [numbers.setdefault(label, len(numbers)) for label in rows.labels.tolist()]
        arrays = {"lengths": rows.lengths, "columns": rows.columns, "values": rows.values, "numbers": np.array(of_rows)}
        if rows.weights is not None:
            arrays["weights"] = rows.weights
        parts = [np.ascontiguousarray(array, _TYPES[name]).tobytes() for name, array in arrays.items()]
        sizes = {name: len(array) for name, array in arrays.items()}
        head |= {"labels": list(numbers), "width": rows.width, "mistakes": group.mistakes, "sizes": sizes}
    words = json.dumps(head, separators=(",", ":")).encode()
    return b"".join([len(words).to_bytes(_HEAD, "little"), words, *parts])


def from_bytes(content: bytes) -> Group:
    """Return the group that `to_bytes` wrote."""
    start = _HEAD + int.from_bytes(content[:_HEAD], "little")
    head = json.loads(content[_HEAD:start])
    waiting = [(key, line) for key, line in head["waiting"]]
    if "sizes" not in head:
        return Group(None, head["ids"], head["names"], waiting)
    arrays = {}
    for name, size in head["sizes"].items():
        arrays[name] = np.frombuffer(content, _TYPES[name], size, start)
        start += arrays[name].nbytes
    labels = as_labels(head["labels"])[arrays["numbers"]]
    rows = LabelledRows(
        arrays["columns"], arrays["values"], arrays["lengths"], labels, arrays.get("weights"), head["width"]
    )
    return Group(rows, head["ids"], head["names"], waiting, head["mistakes"], head["read"])


def joined(groups: Iterator[Group], most_rows: int = 20_000) -> Iterator[list[Group]]:
    """Yield consecutive groups in lists of at least ``most_rows`` rows, to learn each list at once."""
    some: list[Group] = []
    rows = 0
    for group in groups:
        some.append(group)
        rows += len(group)
        if rows >= most_rows:
            yield some
            some, rows = [], 0
    if some:
        yield some
