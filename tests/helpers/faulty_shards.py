"""Shards that do something in a visit: they note it, raise an error, wait, or interrupt the driver."""

from __future__ import annotations

import _thread
import threading
from pathlib import Path

from cluster.training import rows_of
from rosenblatt.distributed.shards import Shard, make_shard

released: dict[str, threading.Event] = {}
"""For each file of notes, the event for which its shards wait, in the process of the test.

It is not shared by the tests: a visit of the test before may begin late.
"""
interrupted = threading.Event()
"""Whether a shard has interrupted the driver, which it does once."""


class FaultyShard(Shard):
    """A shard that notes each visit in a file, and from visit ``after`` on does what is asked for."""

    what, after, number, notes = "", 0, 0, None

    def block(self, classes, first):
        with Path(self.notes).open("a") as notes:
            notes.write(f"{self.number}\n")
        if visits_of(self.notes, self.number) > self.after:
            self.fail()
        return super().block(classes, first)

    def fail(self):
        if self.what == "error":
            raise FileNotFoundError(2, "gone", "rows.csv")
        if self.what == "hold":
            released[self.notes].wait(60)
        elif self.what == "interrupt" and not interrupted.is_set():
            interrupted.set()
            _thread.interrupt_main()
            released[self.notes].wait(60)


class FaultyLoader:
    """Loads a shard of `cluster.training`."""

    def __init__(self, number, notes, what="", after=0):
        self.number, self.notes, self.what, self.after = number, str(notes), what, after

    def __call__(self):
        shard = make_shard(*rows_of(self.number))
        faulty = FaultyShard(shard.X, shard.classes, shard.numbers)
        faulty.number, faulty.notes, faulty.what, faulty.after = self.number, self.notes, self.what, self.after
        return faulty


class BrokenLoader:
    """A loader that notes that it was called, and raises an error."""

    def __init__(self, notes, error):
        self.notes, self.error = str(notes), error

    def __call__(self):
        with Path(self.notes).open("a") as notes:
            notes.write("load\n")
        raise self.error


def faulty_shards(notes, **faults):
    """Return loaders of eight shards; ``faults`` names some, as ``at_3="error"``, with ``after`` for all."""
    after = faults.pop("after", 0)
    released[str(notes)] = threading.Event()
    return [FaultyLoader(number, notes, faults.get(f"at_{number}", ""), after) for number in range(8)]


def visits_of(notes, number=None):
    """Return how many visits were noted, of one shard or of all."""
    path = Path(notes)
    lines = path.read_text().split() if path.exists() else []
    return len([line for line in lines if number is None or line == str(number)])
