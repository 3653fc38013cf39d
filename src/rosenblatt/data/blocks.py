"""What every reader hands over: some rows with their labels, and an error that names file and line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


class DataError(ValueError):
    """Data that cannot be read as what they were taken for: one sentence that names the file, and the line if any."""


class Place(NamedTuple):
    """A place between two lines of the files being read: where reading can go on."""

    file: int
    """Number of the file, from 0, in the order of reading."""
    offset: int
    """Bytes of that file before this place, counted after decompression."""
    line: int
    """Lines of that file before this place."""


@dataclass(frozen=True)
class Block:
    """Some rows that follow one another in a stream. Where one block ends and the next begins carries no meaning.

    Examples
    --------
    >>> block = Block(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([1.0, -1.0]), first=10)
    >>> len(block), block.first
    (2, 10)
    """

    X: Any
    """The features: a CSR array in canonical form, or a C-ordered array; float32 or float64."""
    y: np.ndarray
    """A label for each row; NaN where the text has none and none was asked for."""
    first: int
    """The number of the first row in the stream, from 0."""
    weight: np.ndarray | None = None
    """How much each row counts, or None where each counts 1."""
    after: Place | None = None
    """Where the rows after these begin, for readers that can go on from there."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.y)
