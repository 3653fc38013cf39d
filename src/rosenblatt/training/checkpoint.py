"""Checkpoints of a run on a stream: after a crash the run can be resumed, with the same result as without the crash.

A checkpoint is written between two batches or at an interrupt. Writing a checkpoint does not influence the run. The
checkpoint holds the state, the position in the pass in progress, and the identity of the run and of its data.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Annotated, Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.blocks import Contents, Records, as_file_stream
from rosenblatt.messages import Message, ParameterError, Setting, shorten, warn_user
from rosenblatt.progress import Progress
from rosenblatt.storage.container import check_version, is_container, read_container, write_container
from rosenblatt.storage.schema import (
    LABELS,
    LARGEST,
    PLAIN,
    Arrays,
    Place,
    array,
    integer,
    labels_to_plain,
    list_of,
    read_fields,
    record,
    string,
    write_fields,
)
from rosenblatt.training.batches import Batch, as_blocks
from rosenblatt.training.early_stopping import BestPass
from rosenblatt.training.losses import Losses
from rosenblatt.training.observers import Observer
from rosenblatt.training.options import LEARNERS, RunOptions
from rosenblatt.training.rows import Labels, Names
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.serialization import read_best, read_state, write_best, write_state
from rosenblatt.training.state import PassState, RunState

# The identity of a run's data, so that it is not resumed with other data.


class DataIdentity:
    """The identity of a run's data: a fingerprint and, for files, records of the bytes that have been read.

    ``contents`` makes these records while the files are read; without it there are none.
    """

    def __init__(self, blocks: object, contents: Contents | None = None) -> None:
        self.fingerprint, self._contents = fingerprint(blocks), contents

    def records(self) -> Records | None:
        """Return records of what has been read of each file, or None if reading is not recorded."""
        return None if self._contents is None else self._contents.records()

    def changed(self, then: object, records: Records | None, progress: Callable[[float], None]) -> str | None:
        """Describe how the data differs from the data with the fingerprint ``then`` and the ``records``.

        Return None if the data has not changed, and "" if it has changed but no details are known. Without records,
        only the fingerprints are compared. ``progress`` is called with the share of the comparison that is done.
        """
        contents, same = self._contents, self.fingerprint == then
        if contents is None or records is None:
            changed = None if same else ""
        else:
            changed = contents.changed_bytes(records, progress) or None if same else contents.changed_size(records)
        if contents is not None and changed is None:
            contents.restore(records)
        return changed


def fingerprint(blocks: object) -> str:
    """Return the attribute ``fingerprint`` of blocks, or if there is none a digest of their first 1,000 rows.

    The digest is that of sparse float64 rows. So it does not depend on the rows' format, or on how they are divided
    into blocks.
    """
    known = getattr(blocks, "fingerprint", None)
    if known is not None:
        return str(known)
    digest = hashlib.sha256()
    rows = 0
    for block in as_blocks(cast("Iterable[object]", blocks)):
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
_MAY_DIFFER = ("verbose", "n_jobs", "cache_size", "device")
"""Parameters whose values may differ in a resumed run, because they do not influence the trained model."""


class _FileRecord:
    size: Annotated[int, integer(0, 2**63)]
    modified: Annotated[int, integer(-(2**63), 2**63)]
    read: Annotated[int, integer(0, 2**63)]
    digest: str | None


class _LossFields:
    sums: Annotated[NDArray[np.float64], array("f8", "judged", None, finite=False)]
    least: Annotated[NDArray[np.float64], array("f8", "judged", least=0, finite=False)]
    stalled: Annotated[NDArray[np.int64], array("i8", "judged", least=0)]


class _PassFields:
    """The fields in files of the pass in progress, named like the attributes of `PassState`."""

    row: int
    visited: int
    passes_done: int
    rows: int
    active: Annotated[NDArray[np.int64], array("i8", "active", least=0, below="judged")]
    was_done: Annotated[NDArray[np.bool_], array("b1", "active")]
    visits: Annotated[NDArray[np.float64], array("f8", "active", least=0, most=LARGEST, integral=True)]
    ranges: Annotated[NDArray[np.float64], array("f8", "features", least=0, finite=False)] | None = None
    losses: Annotated[Losses, record(_LossFields, Losses)] | None = None


class _CheckpointFields:
    """The header of a checkpoint."""

    kind: Annotated[str, string("checkpoint")]
    version: Annotated[int, integer(VERSION, VERSION)]
    run: dict[str, Any]
    files: Annotated[Records, list_of(record(_FileRecord, dict))] | None
    classes: Annotated[Labels, LABELS]
    feature_names: list[str] | None
    state: Annotated[object, PLAIN]
    current: Annotated[object, PLAIN]
    best: Annotated[object, PLAIN] = None


class Checkpoint(NamedTuple):
    """The contents of a checkpoint, from which a run is resumed."""

    state: RunState
    classes: Labels
    names: Names | None
    current: PassState
    best: BestPass


class CheckpointWriter(Observer):
    """An observer that writes a checkpoint to ``path`` every ``every`` seconds, and can read it back.

    The data is identified by its fingerprint and, if it comes from files, by the records in ``contents``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        every: float,
        learner: str,
        options: RunOptions,
        blocks: object,
        feature_names: Callable[[], Iterable[object] | None] = lambda: None,
        contents: Contents | None = None,
    ) -> None:
        if not every >= 0:
            raise ParameterError("{every} must be a number of seconds, at least 0, got {got}.", got=repr(every))
        files = as_file_stream(blocks)
        if files is not None and files.reads(path):
            raise ParameterError("{checkpoint} must not be one of the files that are read, got {path}.", path=path)
        if os.path.isfile(path) and os.path.getsize(path) and not is_container(path):
            raise ParameterError(
                "{checkpoint} must be a checkpoint or a new file, got {path}, another kind of file: delete it, or "
                "choose another name.",
                path=os.fspath(path),
            )
        options.to_plain(learner, 0)  # raises an error now, not during the run, for parameters that no file can hold
        self.path, self.every, self.learner, self.options = path, every, learner, options
        self.data, self.feature_names = DataIdentity(blocks, contents), feature_names
        self.written, self.has_written, self.has_failed = time.monotonic(), False, False

    def on_batch(self, run: TrainingRun, batch: Batch) -> None:
        """Write a checkpoint if ``every`` seconds have passed. On failure, warn once, continue and try again later."""
        if time.monotonic() - self.written >= self.every:
            self._try_to_write(run)

    def on_interrupt(self, run: TrainingRun) -> None:
        """Write a checkpoint if the run has visited a row and can be resumed from its current position."""
        between_passes = run.current.row == run.current.visited == 0  # the next pass is about to begin
        if run.is_resumable and run.has_visited and not (between_passes and run.current.was_done.any()):
            self._try_to_write(run)

    def _try_to_write(self, run: TrainingRun) -> None:
        try:
            self.write(run)
            self.has_written, self.has_failed = True, False
        except OSError as fault:
            if not self.has_failed:
                reason = str(getattr(fault.__cause__, "strerror", None) or fault.strerror or fault).lower()
                what = f"no checkpoint could be written to {os.fspath(self.path)}, {reason}"
                warn_user(f"{what}: training continues and will try again at the next checkpoint.", RuntimeWarning)
            self.has_failed = True
        self.written = time.monotonic()

    def write(self, run: TrainingRun) -> None:
        """Write a checkpoint. Call this only between two batches, or between two slices of a batch."""
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
        """Return the checkpoint in the file, or None if the file does not exist.

        A ValueError is raised if the checkpoint is not valid or belongs to another run. The training files are compared
        with the checkpoint's records; meanwhile ``progress`` is called with the share that is done, from 0 to 1.
        """
        if not os.path.exists(self.path):
            return None
        try:
            found, run, files = self._read()
        except ParameterError:
            raise
        except ValueError as fault:
            raise ParameterError("{fault} To start from the beginning, leave out {resume}.", fault=fault) from None
        mine = self._identity(found.state.seed)
        for name in {**mine, **run}:
            then, now = run.get(name), mine.get(name)
            if name != "data" and then != now:
                raise self._other_run(_differs(name, then, now))
        line = Progress(self.options.verbose)
        changed = self.data.changed(run.get("data"), files, progress or line.comparing)
        line.close()
        if changed is not None:
            what = "other data" if changed else "other data, or rows that are prepared or held out differently"
            raise self._other_run(what, reason=f" ({changed})" if changed else "")
        return found

    def _read(self) -> tuple[Checkpoint, dict[str, object], Records | None]:
        """Return the checkpoint, the identity of its run and the records of its files, or raise a ValueError."""
        header, arrays = read_container(self.path)
        name = os.fspath(self.path)
        if header.get("kind") != "checkpoint":
            raise ValueError(f"{name} is not a checkpoint: its kind is {str(header.get('kind'))[:60]!r}.")
        check_version(self.path, header.get("version"), VERSION)
        run = header.get("run")
        learner = run.get("learner") if type(run) is dict else None
        if isinstance(learner, str) and learner in LEARNERS and learner != self.learner:
            raise self._other_run(_differs("learner", learner, self.learner))
        try:
            return _from_plain(header, Arrays(arrays), self.options)
        except ValueError as fault:
            raise ValueError(f"{name} holds no valid checkpoint: {fault}") from None

    def _other_run(self, what: str | Message, reason: str = "") -> ParameterError:
        """Return the error for a checkpoint of another run; ``what`` names the difference to this run."""
        return ParameterError(
            "{path} is a checkpoint of a run with {what}, so this run cannot be resumed from it{reason}: give the same "
            "data and parameters, or start from the beginning without {resume}.",
            path=os.fspath(self.path),
            what=what,
            reason=reason,
        )

    def _identity(self, seed: int) -> dict[str, object]:
        """Return the identity of a run: the fingerprint of its data, its learner and its parameters."""
        parameters = self.options.to_plain(self.learner, seed)
        return {
            "data": self.data.fingerprint,
            "learner": self.learner,
            **{name: value for name, value in parameters.items() if name not in _MAY_DIFFER},
        }


def _differs(name: str, then: object, now: object) -> Message:
    return Message("{name} {then} instead of {now}", name=Setting(name), then=shorten(then), now=shorten(now))


def _from_plain(
    header: dict[str, object], arrays: Arrays, options: RunOptions
) -> tuple[Checkpoint, dict[str, object], Records | None]:
    """Return the checkpoint of this header and these arrays, the identity of its run, and the records of its files."""
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
        raise place.at("current.active").error("distinct classifiers", current.active.tolist())
    best = BestPass()
    if found["best"] is not None:
        best = read_best(found["best"], place.at("best"), state, *about)
    arrays.finish()
    return (
        Checkpoint(state, classes, None if names is None else np.array(names, object), current, best),
        run,
        found["files"],
    )
