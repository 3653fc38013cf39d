"""Checkpoints of a run on a stream: after a crash it goes on, and ends with the same bits.

A checkpoint is written between two windows, and writing it changes nothing about the run. It holds the machines, how
far the pass under way has come, and what tells whether it is the same run on the same data.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.storage.array_fields import StrictArrays
from rosenblatt.storage.container import check_version, read_container, write_container
from rosenblatt.storage.json_fields import StrictFields, labels_from_plain, labels_to_plain
from rosenblatt.training.batches import parts
from rosenblatt.training.early_stopping import Best
from rosenblatt.training.passes import Under
from rosenblatt.training.serialization import machines_from_state, machines_to_state
from rosenblatt.training.state import Machines

__all__ = ["Checkpoints", "Resumed"]

VERSION = 1
_FREE = ("verbose", "n_jobs")  # parameters that may differ when a run goes on
_UNDER = {"active": "i8", "was_done": "b1", "visits": "f8", "mistakes": "i8", "lowest": "f8", "lowest_step": "f8"}


@dataclass(frozen=True)
class Resumed:
    """What a checkpoint holds."""

    machines: Machines
    classes: np.ndarray
    names: np.ndarray | None
    under: Under
    best: Best


class Checkpoints:
    """Writes a checkpoint to ``path`` every so many seconds, and reads it back."""

    def __init__(self, path: str | os.PathLike[str], every: float, model: Any, blocks: Iterable[Any]) -> None:
        if not every >= 0:
            raise ValueError(f"every must be a number of seconds, at least 0, got {every!r}.")
        self.path, self.every, self.model = path, every, model
        self.data = fingerprint(blocks)
        self.written = time.monotonic()

    def offer(self, machines: Machines, classes: np.ndarray, under: Under, best: Best | None) -> None:
        """Write a checkpoint if it is time for one."""
        if time.monotonic() - self.written < self.every:
            return
        model = self.model
        state, arrays = machines_to_state(machines)
        names = getattr(model, "feature_names_in_", None)
        header: dict[str, Any] = {
            "kind": "checkpoint",
            "version": VERSION,
            "run": self._run(machines),
            "classes": labels_to_plain(classes),
            "feature_names": None if names is None else [str(name) for name in names],
            "row": under.row,
            "made": under.made,
            "state": state,
            "best": None,
        }
        arrays |= {f"under.{name}": getattr(under, name) for name in (*_UNDER, "changed")}
        if best is not None and best.machines is not None:
            known, more = machines_to_state(best.machines)
            header["best"] = {"state": known, "error": float(best.error), "passes_since": int(best.passes_since)}
            arrays |= {f"best.{name}": array for name, array in more.items()}
        write_container(self.path, header, arrays)
        self.written = time.monotonic()

    def read(self) -> Resumed | None:
        """Return what the checkpoint holds, None if there is none; a ValueError if it is broken or of another run."""
        if not os.path.exists(self.path):
            return None
        header, arrays = read_container(self.path)
        name = os.fspath(self.path)
        if header.get("kind") != "checkpoint":
            raise ValueError(f"{name} is no checkpoint: it says {str(header.get('kind'))[:60]!r}.")
        check_version(self.path, header.get("version"), VERSION)
        try:
            found, run = self._read(header, StrictArrays(arrays))
        except (ValueError, KeyError, TypeError) as fault:
            raise ValueError(f"{name} holds no sound checkpoint: {fault}") from None
        mine = self._run(found.machines)
        for what in mine:
            if run.get(what) != mine[what]:
                raise ValueError(
                    f"{name} is of a run with another {what}, so this one cannot go on from it: "
                    "give the same data and parameters, or start from the beginning without resume."
                )
        return found

    def _run(self, machines: Machines) -> dict[str, Any]:
        """Return what tells one run from another."""
        from rosenblatt.persistence.codecs import parameters_to_plain  # it knows the learners, and they know this

        fitted = copy(self.model)
        fitted.machines_ = machines
        parameters = {name: value for name, value in parameters_to_plain(fitted).items() if name not in _FREE}
        return {"data": self.data, "learner": type(self.model).__name__, **parameters}

    def _read(self, header: dict[str, Any], arrays: StrictArrays) -> tuple[Resumed, dict[str, Any]]:
        fields = StrictFields(header, "the header")
        fields.word("kind", ("checkpoint",))
        fields.whole("version", 1, VERSION)
        run = fields.take("run")
        if type(run) is not dict:
            raise ValueError("it does not say of which run it is.")
        classes = labels_from_plain(fields.take("classes"))
        machines = machines_from_state(fields.take("state"), arrays, len(classes))
        names = fields.words("feature_names", machines.w.shape[1])
        under = Under(row=fields.whole("row"), made=fields.whole("made"))
        count: int | None = None
        for name, kind in (*_UNDER.items(), ("changed", "f8")):
            value = arrays.take(f"under.{name}", kind, (count,))
            count = len(value)
            setattr(under, name, value)
        known = len(machines.counters)
        if len(set(under.active.tolist())) != count or not ((under.active >= 0) & (under.active < known)).all():
            raise ValueError("the machines that take part are not sound.")
        best = Best()
        told = fields.take("best")
        if told is not None:
            more = StrictFields(told, "the header: 'best'")
            best.machines = machines_from_state(more.take("state"), arrays.under("best."), len(classes))
            best.error, best.passes_since = more.number("error", 0.0, 1.0), more.whole("passes_since")
            more.end()
        fields.end()
        arrays.end()
        return Resumed(machines, classes, None if names is None else np.array(names, object), under, best), run


def fingerprint(blocks: Iterable[Any]) -> str:
    """Return what tells these blocks from others: their own word for it, or a digest of their first rows."""
    told = getattr(blocks, "fingerprint", None)
    if told is not None:
        return str(told)
    digest = hashlib.sha256()
    rows = 0
    for part in parts(blocks):
        few = min(part.X.shape[0], 1000 - rows)
        X = part.X[:few]
        X = sp.csr_array(X) if sp.issparse(X) else sp.csr_array(np.asarray(X, dtype=np.float64))
        X.sum_duplicates()
        X.eliminate_zeros()
        labels = part.y[:few].tolist()
        for i in range(few):
            row = slice(X.indptr[i], X.indptr[i + 1])
            digest.update(X.indices[row].astype(np.int64).tobytes() + X.data[row].astype(np.float64).tobytes())
            digest.update(repr(labels[i]).encode())
        rows += few
        if rows >= 1000:
            break
    return digest.hexdigest()
