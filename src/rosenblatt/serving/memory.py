"""What the server remembers besides the weights: counts, the ids of learned rows, and rows that wait for a label."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from rosenblatt.serving.limits import Limits
from rosenblatt.training.groups import Group


class Memory:
    """The rows learned so far by their number and id, and the predicted rows that wait for a label.

    Only the newest entries are kept, as many as the limits allow. `remember` and `line` may be called from any thread,
    the other methods only from the thread that learns.

    >>> memory = Memory(Limits(waiting=2))
    >>> for name in "abc":
    ...     memory.remember(name, b"{}")
    >>> memory.line("a"), memory.line("c")
    (None, b'{}')
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.rows, self.mistakes = 0, 0
        """The number of rows learned, and of those that were predicted wrongly before."""
        self._numbers: dict[str, int] = {}
        self._older: dict[str, int] = {}
        """The row number of each id. Those that are half as many as allowed become the older ones."""
        self._waiting: OrderedDict[str, bytes] = OrderedDict()
        self._waiting_bytes = 0
        self._unlogged: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    # learned rows

    def number(self, id: str) -> int | None:
        """Return the number of the learned row with an id, or None if there is none."""
        return self._numbers.get(id) or self._older.get(id)

    def add(self, group: Group) -> None:
        """Remember a group that was learned and logged."""
        first = self.rows + 1
        self.rows, self.mistakes = self.rows + len(group), self.mistakes + group.mistakes
        for number, id in enumerate(group.ids, first):
            if id:
                self._numbers[id] = number
                self._forget(id)
        if len(self._numbers) >= self._limits.ids // 2:
            self._older, self._numbers = self._numbers, {}

    # predicted rows

    @property
    def n_waiting(self) -> int:
        """The number of predicted rows that wait for a label."""
        return len(self._waiting)

    def remember(self, id: str, line: bytes, logged: bool = False) -> None:
        """Remember a predicted row until its label arrives. Unless it is ``logged``, `take_unlogged` returns it."""
        with self._lock:
            self._drop(id)
            self._waiting[id] = line
            self._waiting_bytes += len(line)
            if not logged:
                self._unlogged[id] = line
            while len(self._waiting) > self._limits.waiting or self._waiting_bytes > self._limits.waiting_bytes:
                self._drop(next(iter(self._waiting)))

    def line(self, id: str) -> bytes | None:
        """Return the predicted row with an id, or None if it is not remembered."""
        return self._waiting.get(id)

    def take_unlogged(self) -> list[tuple[str, str]]:
        """Return the predicted rows that are not in the log yet; they count as logged from now on."""
        with self._lock:
            taken, self._unlogged = self._unlogged, OrderedDict()
        return [(id, line.decode()) for id, line in taken.items()]

    @property
    def has_unlogged(self) -> bool:
        """Whether there are predicted rows that are not in the log yet."""
        return bool(self._unlogged)

    def _forget(self, id: str) -> None:
        with self._lock:
            self._drop(id)

    def _drop(self, id: str) -> None:
        self._waiting_bytes -= len(self._waiting.pop(id, b""))
        self._unlogged.pop(id, None)

    # snapshots

    def snapshot(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return everything as plain data and arrays, for `restore`."""
        with self._lock:
            numbers, waiting = [*self._older.items(), *self._numbers.items()], list(self._waiting.items())
        header = {"rows": self.rows, "mistakes": self.mistakes}
        ids, ends = _packed(id.encode() for id, _ in numbers)
        waiting_ids, waiting_ends = _packed(id.encode() for id, _ in waiting)
        lines, line_ends = _packed(line for _, line in waiting)
        return header, {
            "ids": ids,
            "id_ends": ends,
            "numbers": np.fromiter((number for _, number in numbers), np.int64, len(numbers)),
            "waiting": waiting_ids,
            "waiting_ends": waiting_ends,
            "lines": lines,
            "line_ends": line_ends,
        }

    def restore(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Restore what `snapshot` returned."""
        self.rows, self.mistakes = header["rows"], header["mistakes"]
        ids = (id.decode() for id in _unpacked(arrays["ids"], arrays["id_ends"]))
        self._older = dict(zip(ids, arrays["numbers"].tolist(), strict=True))
        waiting = _unpacked(arrays["waiting"], arrays["waiting_ends"])
        for id, line in zip(waiting, _unpacked(arrays["lines"], arrays["line_ends"]), strict=True):
            self.remember(id.decode(), line, logged=True)


def _packed(texts: Iterator[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return texts as one array of bytes, and where each of them ends."""
    parts = list(texts)
    ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
    return np.frombuffer(b"".join(parts), np.uint8), ends


def _unpacked(data: np.ndarray, ends: np.ndarray) -> list[bytes]:
    whole, starts = data.tobytes(), [0, *ends.tolist()]
    return [whole[start:stop] for start, stop in pairwise(starts)]
