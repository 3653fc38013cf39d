"""A run of ``rosenblatt watch``: rows are predicted, learned, logged and answered, and the model is saved meanwhile."""

from __future__ import annotations

import csv
import json
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from rosenblatt.blocks import is_sparse
from rosenblatt.cli.output import error_text, print_note
from rosenblatt.cli.train_run import name_features
from rosenblatt.data.source import Growth
from rosenblatt.interrupts import interrupts_deferred
from rosenblatt.messages import plain_label
from rosenblatt.training.durable import StateFolder
from rosenblatt.training.groups import Group, LabelledRows, join_rows, joined, to_bytes
from rosenblatt.training.linear import LinearState
from rosenblatt.training.prequential import Answers, OnlineLearner, RunningScores

if TYPE_CHECKING:
    from rosenblatt.blocks import Block
    from rosenblatt.data import Stream
    from rosenblatt.scaling import RunningScale
    from rosenblatt.training.model_file import TrainedModel
    from rosenblatt.training.options import RunOptions


class WatchRun:
    """A model that learns from a stream, with its scores, its files, and the number of rows that were read.

    Parameters
    ----------
    online : OnlineLearner
        The learner.
    scores : RunningScores
        The scores, empty unless the run is resumed.
    scale : RunningScale or None
        The scale that is learned on the way, if any.
    out : Path or None
        The file for the model.
    folder : StateFolder or None
        The folder for snapshots and the log.
    most_features : int
        The largest number of features of a table.
    """

    def __init__(
        self,
        online: OnlineLearner,
        scores: RunningScores,
        scale: RunningScale | None,
        out: Path | None,
        folder: StateFolder | None,
        most_features: int,
    ) -> None:
        self.online, self.scores, self.scale, self.out, self._folder = online, scores, scale, out, folder
        self.growth: Growth | None = None
        """The features that are added for new categories and columns, if the learner can have them."""
        if online.options.is_linear and online.options.hypothesis in ("last", "average"):
            self.growth = Growth(most_features)
        self._logged_features = 0
        self.stream: Stream | None = None
        """The rows, once they are open."""
        self.preparation = None if online.model is None else online.model.preparation
        """How rows are prepared, if a model says so."""
        self.read = 0
        """The number of rows of the input that were read."""
        self.unsaved = 0
        """The number of rows learned since the model was saved."""
        self._read_before = 0
        self._earlier = _seen_before(None if online.model is None else online.model.fingerprint)
        self._is_busy = self._is_asked_to_save = self._is_torn = self._is_sparse = False

    # rows

    def learn(self, part: Block) -> Answers:
        """Predict rows and learn from those with a label. When they are returned, they are on the disk.

        An interrupt waits until the rows that were learned are counted and logged.
        """
        self._is_busy = True
        try:
            with interrupts_deferred() as interrupts:
                answers = self._learn(part, interrupts)
        finally:
            self._is_busy = False
        if self._is_asked_to_save:
            self.save_meanwhile()
        return answers

    def _learn(self, part: Block, interrupts: list[Any]) -> Answers:
        self._is_sparse = is_sparse(part.X)
        X = part.X if self.scale is None else self.scale.scaled(part.X, part.has_label)
        self._is_torn = True  # until all rows of this part are learned and counted
        answers = self.online.learn(X, part.y, part.weight, part.has_label, interrupts)
        n = len(answers)
        learned = np.arange(n) if part.has_label is None else np.flatnonzero(part.has_label[:n])
        self.scores.add(part.y[learned].tolist(), [answers.labels[i] for i in learned.tolist()])
        last = part.first + n - 1 if part.numbers is None else int(part.numbers[n - 1])
        self.read, self._is_torn = self._read_before + last + 1, False
        if len(learned):
            self.unsaved += len(learned)
            self._keep(part, learned)
        return answers

    def _keep(self, part: Block, learned: np.ndarray) -> None:
        """Write the rows that were learned to the disk, if there is a state folder."""
        if self._folder is None:
            return
        if self._folder.is_new:  # the first snapshot has the first rows
            self._folder.begin(self._snapshot(), self._memory())
            self.unsaved = 0
            return
        weight = None if part.weight is None else part.weight[learned]
        rows = LabelledRows.of_matrix(part.X[learned], part.y[learned], weight)
        group = Group(rows, [], self._added_after(self._logged_features), [], read=self.read)
        try:
            self._folder.log.append(to_bytes(group))
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._folder.path)) from error
        self._logged_features = len(self._features)

    @property
    def _features(self) -> list[tuple[str, str | None]]:
        """The features that were added."""
        return [] if self.growth is None else self.growth.features

    def _added_after(self, n: int) -> list[str]:
        """Return the features that were added after the first n of them, each as JSON."""
        return list(map(json.dumps, self._features[n:]))

    # saving

    def save_meanwhile(self) -> None:
        """Save the model if it has learned something, as soon as no row is being learned; a failure is only noted."""
        if self._is_busy:
            self._is_asked_to_save = True
            return
        self._is_asked_to_save = False
        if not self.unsaved or self.stream is None:
            return
        try:
            self.save()
        except (OSError, ValueError, MemoryError) as error:
            print_note(f"the model was not saved, and is saved later: {error_text(error)}")

    def save(self) -> None:
        """Write the model, and a snapshot from which the run can be resumed."""
        if self.online.model is None or self._is_torn:
            return
        self._is_busy = True  # a signal to save waits
        try:
            if self._folder is not None and not self._folder.is_new and self.unsaved:
                self._folder.start_log()
                self._folder.write_snapshot(self._snapshot(), self._memory())
            if self.out is not None:
                self._model_to_save().save(self.out)
            self.unsaved = 0
        finally:
            self._is_busy = False

    def _snapshot(self) -> TrainedModel:
        """Return a copy of the model from which the run can be resumed."""
        model = self.online.model
        assert model is not None
        copied = replace(model, state=model.state.snapshot(), early_stopping_state=None)
        copied.state.finish()
        copied.preparation = self.preparation if self.stream is None else self.stream.preparation
        return copied

    def _memory(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what a snapshot has besides the model."""
        scale, arrays = ({}, {}) if self.scale is None else self.scale.to_plain()
        files, rows = self._earlier
        counts = {"scores": self.scores.to_plain(), "read": self.read, "files": files, "rows": rows}
        self._logged_features = len(self._features)
        return counts | {"sparse": self._is_sparse, "added": self._added_after(0)} | scale, arrays

    def _model_to_save(self) -> TrainedModel:
        """Return a copy of the model for users."""
        model = self._snapshot()
        assert model.preparation is not None
        if model.preparation["format"] == "svmlight":
            model.preparation["n_features"] = model.state.n_features
        if self.scale is not None and self.scale.fitted is not None:
            model.preparation["scale"] = self.scale.fitted.to_plain()
        names = None if self.stream is None else self.stream.feature_names
        if self.growth is not None and self.growth.features:
            names = _settle(model, self.growth)
        name_features(model, names)
        files, rows = self._earlier
        model.fingerprint = {"files": [*files, "-"], "rows": rows + self.scores.rows}
        return model

    # resuming

    @classmethod
    def resumed(
        cls,
        folder: StateFolder,
        scores: RunningScores,
        scale: RunningScale | None,
        out: Path | None,
        options_of: Callable[[TrainedModel], RunOptions],
        most_features: int,
    ) -> WatchRun:
        """Return the run that a folder keeps, with the rows in its log; ``options_of`` returns a model's options."""
        model, header, arrays = folder.read_snapshot()
        run = cls(OnlineLearner(model.learner, options_of(model), model), scores, scale, out, folder, most_features)
        run._add_features(header["added"])
        scores.restore(header["scores"])
        run._earlier, run.read, run._is_sparse = (header["files"], header["rows"]), header["read"], header["sparse"]
        if scale is not None:
            scale.restore(header, arrays)
        for groups in joined(folder.read_logs()):
            rows = join_rows([group.rows for group in groups if group.rows is not None])
            X = rows.matrix() if run._is_sparse else rows.matrix().toarray()
            answers = run.online.learn(X if scale is None else scale.scaled(X), rows.labels, rows.weights)
            scores.add(rows.labels.tolist(), answers.labels)
            for group in groups:
                run._add_features(group.names)
            run.read, run.unsaved = groups[-1].read, run.unsaved + len(rows)
        run._read_before = run.read
        return run

    def _add_features(self, texts: list[str]) -> None:
        """Add features that were written as JSON."""
        self._features.extend((name, category) for name, category in map(json.loads, texts))
        self._logged_features = len(self._features)

    def expect_from_start(self) -> None:
        """Expect that the input starts again at its first row."""
        self._read_before = 0

    def open(self, stream: Stream) -> None:
        """Take the rows from a stream."""
        self.stream = stream
        if self.scale is not None and not self.read:
            self.scale.features = stream.number_columns

    def close(self) -> None:
        """Close the state folder."""
        if self._folder is not None:
            self._folder.close()


def _settle(model: TrainedModel, growth: Growth) -> list[str]:
    """Put the features that were added to a model beside those of their columns; return the names of all features."""
    from rosenblatt.data.preparation import is_hashed
    from rosenblatt.data.tables.encoder import names_of_features, settled

    assert model.preparation is not None
    model.preparation, places = settled(model.preparation, growth)
    assert isinstance(model.state, LinearState)
    if model.state.n_features < len(places):  # no row with the newest features was learned yet
        model.state.widen(len(places))
    model.state = model.state.reordered(places)
    columns = model.preparation["columns"]
    names = [name for column in columns if not is_hashed(column) for name in names_of_features(column)]
    return names + [f"#{j}" for j in range(len(places) - len(names))]


def _seen_before(fingerprint: object) -> tuple[list[str], int]:
    """Return the file names and the number of rows in the fingerprint of a model, or [] and 0 if it has none."""
    known = fingerprint if isinstance(fingerprint, dict) else {}
    files, rows = known.get("files"), known.get("rows")
    return files if isinstance(files, list) else [], rows if isinstance(rows, int) else 0


@contextmanager
def handled_signals(save: Callable[[], None], seconds: float) -> Iterator[list[object]]:
    """Within this context, call ``save`` on SIGHUP and every so many seconds, also while the input is idle.

    Yield a list to which SIGTERM adds an entry before it interrupts. Where the system has no such signals, or in
    another thread than the main one, nothing happens.
    """
    stopped: list[object] = []
    if not hasattr(signal, "SIGHUP") or threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.append(number)
        interrupt = before[signal.SIGTERM]
        if callable(interrupt):
            interrupt(number, frame)
        else:
            signal.raise_signal(signal.SIGINT)

    def save_now(number: int, frame: FrameType | None) -> None:
        save()

    handlers: dict[int, Callable[[int, FrameType | None], None]] = {
        signal.SIGHUP: save_now,
        signal.SIGALRM: save_now,
        signal.SIGTERM: stop,
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield stopped
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in before.items():
            signal.signal(number, handler)


class AnswerWriter:
    """Writes a line for each row: the predicted label, its score or probability, and whether it was right.

    The lines are CSV with a header, or JSON. They are appended to the file; "-" is standard output.
    """

    def __init__(self, path: str, as_json: bool, id: str | None, has_probabilities: bool) -> None:
        is_new = path == "-" or not os.path.exists(path) or not os.path.getsize(path)
        self._file: TextIO = sys.stdout if path == "-" else open(path, "a", encoding="utf-8")  # noqa: SIM115
        self._as_json, self._id = as_json, id
        self._names = ["row", "label", "score", "right"]
        if id is not None:
            self._names.insert(1, "id")
        if has_probabilities:
            self._names.insert(-1, "probability")
        self._csv = csv.writer(self._file, lineterminator="\n")
        if is_new and not as_json:
            self._csv.writerow(self._names)

    def write(self, part: Block, answers: Answers, read: int) -> None:
        """Write the answers to rows, of which the last one is number ``read`` of the input."""
        n = len(answers)
        labels: list[Any] = part.y[:n].tolist()
        if part.has_label is not None:
            labels = [label if has else None for label, has in zip(labels, part.has_label[:n].tolist(), strict=True)]
        places = np.arange(part.first, part.first + n) if part.numbers is None else part.numbers[:n]
        columns: dict[str, Any] = {
            "row": (places - places[-1] + read).tolist(),
            "label": [None if label is None else plain_label(label) for label in answers.labels],
            "score": map(_six_digits, answers.scores),
            "probability": map(_six_digits, answers.probabilities),
            "right": [None if y is None else y == found for y, found in zip(labels, answers.labels, strict=True)],
        }
        if self._id is not None:
            columns["id"] = islice((part.passthrough or {})[self._id], n)
        rows = zip(*(columns[name] for name in self._names), strict=True)
        if self._as_json:
            self._file.writelines(f"{json.dumps(dict(zip(self._names, row, strict=True)))}\n" for row in rows)
        else:
            words = {True: "true", False: "false", None: ""}
            self._csv.writerows((*row[:-1], words[row[-1]]) for row in rows)
        self._file.flush()

    def close(self) -> None:
        """Close the file, unless it is standard output."""
        if self._file is not sys.stdout:
            self._file.close()


def _six_digits(number: float) -> float | None:
    """Return a number rounded to six digits, or None for NaN."""
    return None if math.isnan(number) else float(f"{number:.6g}")
