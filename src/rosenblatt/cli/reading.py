"""Files as the commands read them: a stream that shows how far it is and stays in memory where it is small."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rosenblatt.cli.output import note

__all__ = ["Watched", "kinds_of", "opened", "score", "seconds", "target_of"]

KEPT_BYTES = 1 << 28
"""Blocks are kept for the next pass while all of them take no more than this."""
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class Watched:
    """A stream of `data.open` that can be read again and tells of each block; rows are those of the stream.

    Files that are small once read are kept in memory, so that only the first pass parses them.
    """

    def __init__(self, stream: Any, tell: Callable[[float, int], None] = lambda share, rows: None) -> None:
        self.stream, self.tell = stream, tell
        self.rows = 0
        """Rows of the stream, known after one pass."""
        self.share_read = 0.0
        self._kept: list[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        """Read all blocks from the start."""
        if self._kept is not None:
            yield from self._again(self._kept)
            return
        kept: list[Any] | None = []
        room, rows = KEPT_BYTES, 0
        for block in self.stream:
            rows += len(block)
            self.share_read = self.stream.share_read
            self.tell(self.share_read, rows)
            room -= _size(block)
            if room < 0:
                kept = None
            if kept is not None:
                kept.append(block)
            yield block
        self.rows, self._kept = rows, kept

    def _again(self, blocks: list[Any]) -> Iterator[Any]:
        rows = 0
        for block in blocks:
            rows += len(block)
            self.share_read = rows / self.rows
            self.tell(self.share_read, rows)
            yield block


def _size(block: Any) -> int:
    X = block.X
    numbers = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if hasattr(X, "indptr") else X.nbytes
    return int(numbers + block.y.nbytes)


def opened(paths: Sequence[str], target: str | None, options: Mapping[str, Any]) -> Any:
    """Open files with the options that were given, the target by its name or its number."""
    from rosenblatt import data

    given = {name: value for name, value in options.items() if value not in (None, [], {})}
    return data.open(list(paths), target=target_of(target), **given)


def target_of(text: str | None) -> str | int | None:
    """Return a column as `data.open` takes it: a number is its place.

    >>> target_of("-1"), target_of("class")
    (-1, 'class')
    """
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else text


def kinds_of(pairs: Sequence[str] | None) -> dict[str, str]:
    """Return what columns are, from texts such as ``zip=category``.

    >>> kinds_of(["zip=category"])
    {'zip': 'category'}
    """
    found = {}
    for pair in pairs or ():
        name, equals, kind = pair.rpartition("=")
        if not equals or not name:
            raise ValueError(f"--kind expects COLUMN=KIND, such as zip=category, got {pair!r}.")
        found[name] = kind
    return found


def seconds(text: str) -> float:
    """Return a length of time such as ``30s``, ``5m`` or ``1h`` in seconds.

    >>> seconds("30s"), seconds("1.5m")
    (30.0, 90.0)
    """
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)", text.strip())
    if not match or match[2] not in _UNITS:
        raise ValueError(f"--every expects a length of time such as 30s, 5m or 1h, got {text!r}.")
    return float(match[1]) * _UNITS[match[2]]


def score(model: Any, stream: Any) -> dict[str, Any]:
    """Predict all rows of a stream and return how many are right, and every pair (true, predicted) with its count."""
    from collections import Counter

    started = time.perf_counter()
    pairs: Counter[tuple[Any, Any]] = Counter()
    for block in stream:
        if len(block):
            pairs.update(zip(block.y.tolist(), model.predict(block.X).tolist(), strict=True))
    rows = sum(pairs.values())
    if not rows:
        raise ValueError("expected rows to test on, got none.")
    known = set(model.classes_.tolist())
    strange = [true for true, _ in pairs if true not in known]
    if strange:
        count = sum(count for (true, _), count in pairs.items() if true not in known)
        note(f"{count:,} of {rows:,} rows have a label that is no class of the model, such as {strange[0]!r}.")
    right = sum(count for (true, predicted), count in pairs.items() if true == predicted)
    took = time.perf_counter() - started
    return {"rows": rows, "right": right, "accuracy": right / rows, "pairs": dict(pairs), "seconds": took}
