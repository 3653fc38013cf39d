"""Checkpoints of a run on a stream: after a crash it goes on, and ends with the same bits.

A checkpoint is written between two batches or at an interrupt, and writing it changes nothing about the run. It holds
the state, how far the pass in progress has come, and what identifies the run and its data.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.blocks import Contents, Records, as_file_stream
from rosenblatt.messages import ParameterError, Phrase, Setting, shorten, warn_user
from rosenblatt.progress import Progress
from rosenblatt.storage.container import check_version, is_container, read_container, write_container
from rosenblatt.storage.schema import (
    LABELS,
    LARGEST,
    Arrays,
    Place,
    array,
    integer,
    labels_to_plain,
    list_of,
    read_fields,
    record,
    word,
    write_fields,
)
from rosenblatt.training.batches import Batch, as_blocks
from rosenblatt.training.early_stopping import BestPass
from rosenblatt.training.observers import Observer
from rosenblatt.training.options import LEARNERS, RunOptions
from rosenblatt.training.rows import Labels, Names
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.serialization import State, read_best, read_state, write_best, write_state
from rosenblatt.training.state import PassState

# What identifies the data of a run, so that it goes on with no other.


class RunData:
    """The fingerprint of blocks and, where they come from files that are watched, what has been read of these."""

    def __init__(self, blocks: Iterable[Any], contents: Contents | None = None) -> None:
        self.fingerprint, self._contents = fingerprint(blocks), contents

    def records(self) -> Records | None:
        """Return what has been read of the files, None if that is not known."""
        return None if self._contents is None else self._contents.records()

    def changed(self, then: Any, records: Records | None, progress: Callable[[float], None]) -> str | None:
        """Return what has changed since a run knew its data by this fingerprint and these records, None if nothing has.

        It is "" where nothing more is known. Without records the fingerprint decides alone.
        """
        contents, same = self._contents, self.fingerprint == then
        if contents is None or records is None:
            changed = None if same else ""
        else:
            changed = contents.changed_bytes(records, progress) or None if same else contents.changed_size(records)
        if contents is not None and changed is None:
            contents.restore(records)
        return changed


def fingerprint(blocks: Iterable[Any]) -> str:
    """Return what identifies these blocks: their own fingerprint, or a digest of their first rows."""
    known = getattr(blocks, "fingerprint", None)  # files have one, and so have shards
    if known is not None:
        return str(known)
    digest = hashlib.sha256()
    rows = 0
    for block in as_blocks(blocks):
        few = min(block.X.shape[0], 1000 - rows)
        X = block.X[:few]
        X = sp.csr_array(X) if sp.issparse(X) else sp.csr_array(np.asarray(X, dtype=np.float64))
        X.sum_duplicates()
        X.eliminate_zeros()
        labels = block.y[:few].tolist()
        for i in range(few):
            row = slice(X.indptr[i], X.indptr[i + 1])
            digest.update(X.indices[row].astype(np.int64).tobytes() + X.data[row].astype(np.float64).tobytes())
            digest.update(repr(labels[i]).encode())
        rows += few
        if rows >= 1000:
            break
    return digest.hexdigest()


VERSION = 3
_FREE = ("verbose", "n_jobs", "cache_size", "device")  # parameters that may differ when a run goes on


class _FileRecord:
    size: Annotated[int, integer(0, 2**63)]
    modified: Annotated[int, integer(-(2**63), 2**63)]
    read: Annotated[int, integer(0, 2**63)]
    digest: str | None


class _PassFields:
    """The pass in progress: the attributes of `PassState` under their names."""

    row: int
    visited: int
    passes_done: int
    rows: int
    active: Annotated[NDArray[np.int64], array("i8", "active", least=0, below="judged")]
    was_done: Annotated[NDArray[np.bool_], array("b1", "active")]
    visits: Annotated[NDArray[np.float64], array("f8", "active", least=0, most=LARGEST, whole=True)]
    ranges: Annotated[NDArray[np.float64], array("f8", "features", least=0, finite=False)] | None = None


class _CheckpointFields:
    """The header of a checkpoint."""

    kind: Annotated[str, word("checkpoint")]
    version: Annotated[int, integer(VERSION, VERSION)]
    run: dict[str, Any]
    files: Annotated[Records, list_of(record(_FileRecord, dict))] | None
    classes: Annotated[Labels, LABELS]
    feature_names: list[str] | None
    state: Any
    current: Any
    best: Any = None


class Checkpoint(NamedTuple):
    """What a run that died goes on from."""

    state: State
    classes: Labels
    names: Names | None
    current: PassState
    best: BestPass


class CheckpointWriter(Observer):
    """Writes a checkpoint to ``path`` every so many seconds, and reads it back.

    The data are known again by their fingerprint, and by their ``contents`` where they come from files.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        every: float,
        learner: str,
        options: RunOptions,
        blocks: Iterable[Any],
        feature_names: Callable[[], Any] = lambda: None,
        contents: Contents | None = None,
    ) -> None:
        if not every >= 0:
            raise ParameterError(Setting("every"), f" must be a number of seconds, at least 0, got {every!r}.")
        files = as_file_stream(blocks)
        if files is not None and files.reads(path):
            raise ParameterError(Setting("checkpoint"), f" must be another file than those that are read, got {path}.")
        if os.path.isfile(path) and os.path.getsize(path) and not is_container(path):
            other = f" must be a checkpoint or a new file, got {os.fspath(path)}, another kind of file"
            raise ParameterError(Setting("checkpoint"), f"{other}: delete it, or name another.")
        options.to_plain(learner, 0)  # what no file can hold is refused before the run
        self.path, self.every, self.learner, self.options = path, every, learner, options
        self.data, self.feature_names = RunData(blocks, contents), feature_names
        self.written, self.has_written, self.has_failed = time.monotonic(), False, False

    def on_batch(self, run: TrainingRun, batch: Batch) -> None:
        """Write a checkpoint if it is time for one; where that fails, warn once, go on and try again later."""
        if time.monotonic() - self.written >= self.every:
            self._try_to_write(run)

    def on_interrupt(self, run: TrainingRun) -> None:
        """Write a checkpoint of what has been learned until now, where something has."""
        between = run.current.row == run.current.visited == 0  # passes; then it is the next pass that begins
        if run.is_resumable and run.has_visited and not (between and run.current.was_done.any()):
            self._try_to_write(run)

    def _try_to_write(self, run: TrainingRun) -> None:
        try:
            self.write(run)
            self.has_written, self.has_failed = True, False
        except OSError as fault:
            if not self.has_failed:
                reason = str(getattr(fault.__cause__, "strerror", None) or fault.strerror or fault).lower()
                what = f"no checkpoint could be written to {os.fspath(self.path)}, {reason}"
                warn_user(f"{what}: training goes on, and the next one is written when it is time.", RuntimeWarning)
            self.has_failed = True
        self.written = time.monotonic()

    def write(self, run: TrainingRun) -> None:
        """Write a checkpoint of a run between two batches, or two slices of one."""
        state, names = run.state, self.feature_names()
        current = replace(run.current, visited=run.current.visited if self.options.shuffle else 0)
        current.ranges = run.last_ranges() if state.feature_ranges is None else None
        best = None if run.early_stopping is None else run.early_stopping.best
        place = Place("the header")
        out = {
            "kind": "checkpoint",
            "version": VERSION,
            "run": self._identity(state.seed),
            "files": self.data.records(),
            "classes": labels_to_plain(run.classes),
            "feature_names": None if names is None else [str(name) for name in names],
            "state": write_state(state, place.at("state")),
            "current": write_fields(_PassFields, current, place.at("current")),
        }
        if best is not None and best.state is not None:
            out["best"] = write_best(best, place.at("best"))
        write_container(self.path, out, place.arrays.arrays)

    def read(self, progress: Callable[[float], None] | None = None) -> Checkpoint | None:
        """Return the checkpoint, None if there is none; a ValueError if it is broken or of another run.

        ``progress`` is called with a share from 0 to 1 where files have to be read for that.
        """
        if not os.path.exists(self.path):
            return None
        try:
            found, run, files = self._read()
        except ParameterError:
            raise
        except ValueError as fault:
            raise ParameterError(f"{fault} To start from the beginning, leave out ", Setting("resume"), ".") from None
        mine = self._identity(found.state.seed)
        for what in {**mine, **run}:
            then, now = run.get(what), mine.get(what)
            if what != "data" and then != now:
                raise self._other(Setting(what), f" {shorten(then)} and not {shorten(now)}")
        line = Progress(self.options.verbose)
        changed = self.data.changed(run.get("data"), files, progress or line.comparing)
        line.close()
        if changed is not None:
            what = "other data" if changed else "other data, or rows that are prepared or held out otherwise"
            raise self._other(what, reason=f" ({changed})" if changed else "")
        return found

    def _read(self) -> tuple[Checkpoint, dict[str, Any], Records | None]:
        """Return what the file holds; a ValueError where that is no checkpoint."""
        header, arrays = read_container(self.path)
        name = os.fspath(self.path)
        if header.get("kind") != "checkpoint":
            raise ValueError(f"{name} is no checkpoint: it says {str(header.get('kind'))[:60]!r}.")
        check_version(self.path, header.get("version"), VERSION)
        run = header.get("run")
        learner = run.get("learner") if type(run) is dict else None
        if isinstance(learner, str) and learner in LEARNERS and learner != self.learner:
            raise self._other(Setting("learner"), f" {learner!r} and not {self.learner!r}")
        try:
            return _from_plain(header, Arrays(arrays), self.options)
        except ValueError as fault:
            raise ValueError(f"{name} holds no valid checkpoint: {fault}") from None

    def _other(self, *what: Phrase, reason: str = "") -> ParameterError:
        """Return the error for a checkpoint of another run, one with ``what``."""
        other = f"{os.fspath(self.path)} is a checkpoint of a run with "
        so = f", so this one cannot go on from it{reason}: give the same data and parameters, or start from the "
        return ParameterError(other, *what, f"{so}beginning without ", Setting("resume"), ".")

    def _identity(self, seed: int) -> dict[str, Any]:
        """Return what identifies a run."""
        parameters = self.options.to_plain(self.learner, seed)
        return {
            "data": self.data.fingerprint,
            "learner": self.learner,
            **{name: value for name, value in parameters.items() if name not in _FREE},
        }


def _from_plain(
    header: dict[str, Any], arrays: Arrays, options: RunOptions
) -> tuple[Checkpoint, dict[str, Any], Records | None]:
    """Return the checkpoint, what identifies its run, and what was known of the files."""
    place = Place("the header", arrays)
    found = read_fields(_CheckpointFields, header, place)
    run, classes = found["run"], found["classes"]
    about = len(classes), str(run.get("learner")), options
    state = read_state(found["state"], place.at("state"), *about)
    names = found["feature_names"]
    if names is not None and len(names) != state.n_features:
        raise place.at("feature_names").error(f"a list of {state.n_features:,} names", names)
    sizes = {"judged": len(state.counters), "features": state.n_features}
    current = PassState(**read_fields(_PassFields, found["current"], place.at("current").alone(**sizes)))
    if len(set(current.active.tolist())) < len(current.active):
        raise place.at("current.active").error("different classifiers", current.active.tolist())
    best = BestPass()
    if found["best"] is not None:
        best = read_best(found["best"], place.at("best"), state, *about)
    arrays.finish()
    return (
        Checkpoint(state, classes, None if names is None else np.array(names, object), current, best),
        run,
        found["files"],
    )
