"""The thread that learns: it writes groups of rows to the log, then acknowledges them, and publishes new weights.

A group has the rows of all requests that wait, up to a limit, so the time of one flush to the disk is shared by all of
them. The group is learned first, because only then is it certain that its rows can be learned. Then it is logged, and
only then are its rows acknowledged and published. If the log cannot be written, the group is undone.
"""

from __future__ import annotations

import errno
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rosenblatt.blocks import as_labels
from rosenblatt.serving.limits import Limits
from rosenblatt.serving.memory import Memory
from rosenblatt.serving.metrics import Metrics
from rosenblatt.serving.model import Replica, ServedModel, duplicate
from rosenblatt.serving.rows import RowError, RowReader, SparseRow, fault_of_row, id_of, parse_line, sentence, stacked
from rosenblatt.training.durable import StateFolder
from rosenblatt.training.groups import Group, LabelledRows, join_rows, joined, to_bytes
from rosenblatt.training.model_file import TrainedModel

Answer = dict[str, Any]
PUBLISH_EVERY = 0.04
"""Seconds after which predictions see learned rows; a promise of 100 ms leaves time for the rows themselves."""
_RETRY_SNAPSHOT = 60.0
"""Seconds until a snapshot that failed, for instance on a full disk, is tried again."""
_NOTE_EVERY = 1.0
"""Seconds after which predicted rows that wait for a label are logged, if no labelled row is."""
_STOPPING = "the server is stopping"
_OUT_OF_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass
class _Request:
    """A request to learn: its lines, and the answers to them."""

    lines: list[bytes]
    done: Future[list[Answer]] = field(default_factory=Future)
    answers: list[Answer] = field(default_factory=list)
    next: int = 0
    """The number of lines that have been read."""

    def finish(self) -> None:
        """Hand over the answers if there is one for each line."""
        if self.next == len(self.lines):
            self.done.set_result([answer.get("same", answer) for answer in self.answers])


@dataclass
class _Row:
    """A row that is about to be learned."""

    answer: Answer
    """The place for its answer."""
    record: dict[str, Any]
    row: SparseRow
    """The row, empty until the records of the group are encoded."""
    label: Any
    weight: float
    id: str


class Learner:
    """Learns the rows of requests in a thread of its own, and keeps the state folder.

    Parameters
    ----------
    served : ServedModel
        The model.
    reader : RowReader
        Makes rows of records.
    memory : Memory
        The counts, and the ids of rows.
    folder : StateFolder
        The folder with logs and snapshots, whose log is open.
    limits : Limits
        The limits on the size of groups.
    metrics : Metrics
        Counts what is done.
    snapshot_rows : int
        The number of rows in the log after which a snapshot is written.
    """

    def __init__(
        self,
        served: ServedModel,
        reader: RowReader,
        memory: Memory,
        folder: StateFolder,
        limits: Limits,
        metrics: Metrics,
        snapshot_rows: int = 100_000,
    ) -> None:
        self.served, self.reader, self.memory, self.folder = served, reader, memory, folder
        self._limits, self._metrics, self._snapshot_rows = limits, metrics, snapshot_rows
        self._requests: deque[_Request] = deque()
        self._current: list[_Request] = []
        """The requests with lines in the group that is being learned."""
        self._logged_names = reader.n_names
        self._calls: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._wake = threading.Condition()
        self._stopping = False
        self._published_at = self._noted_at = 0.0
        self.rows_in_log = 0
        """Rows learned since the last snapshot was begun."""
        self._writer: threading.Thread | None = None
        self._snapshot_after = 0.0
        self._problems = {"thread": "", "log": "", "snapshot": ""}
        self._thread = threading.Thread(target=self._work, name="learner", daemon=True)

    # for other threads

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def problem(self) -> str:
        """Why rows cannot be learned, or rows or snapshots not be written, at present; or ""."""
        return "; ".join(filter(None, self._problems.values()))

    def submit(self, lines: list[bytes]) -> Future[list[Answer]]:
        """Return a future with the answers to rows with labels: one answer for each line."""
        request = _Request(lines)
        request.done.set_running_or_notify_cancel()  # from here on it cannot be cancelled
        with self._wake:
            if self._stopping:
                raise RuntimeError(_STOPPING)
            self._requests.append(request)
            self._wake.notify()
        return request.done

    def copy_model(self) -> Future[TrainedModel]:
        """Return a future with a copy of the model with all acknowledged rows."""
        return self._call(self._model_to_save)

    def _call(self, function: Callable[[], Any]) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_running_or_notify_cancel()
        with self._wake:
            if self._stopping:
                raise RuntimeError(_STOPPING)
            self._calls.append((function, done))
            self._wake.notify()
        return done

    def stop(self) -> None:
        """Learn the rows of all requests, write a snapshot, and end the thread."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self._thread.join()

    # the thread

    def _work(self) -> None:
        try:
            while self._wait():
                if self._requests:
                    self._learn_group()
                self._make_calls()
                now = time.monotonic()
                if not self.served.is_published and now - self._published_at >= PUBLISH_EVERY:
                    self._publish(now)
                if self.memory.has_unlogged and now - self._noted_at >= _NOTE_EVERY:
                    self._log_waiting()
                if self.rows_in_log >= self._snapshot_rows:
                    self._begin_snapshot()
            self._publish(time.monotonic())
            self._end()
        except BaseException as fault:
            self._problems["thread"] = f"learning has stopped: {sentence(fault)}"
            with self._wake:
                self._stopping = True
            requests = {id(request): request for request in [*self._current, *self._requests]}.values()
            for done in [*(request.done for request in requests), *(done for _, done in self._calls)]:
                done.set_exception(RuntimeError(self.problem))
            raise

    def _wait(self) -> bool:
        """Wait until there is something to do; return False if the thread should end."""
        with self._wake:
            while not (self._requests or self._calls):
                if self._stopping:
                    return False
                times = [] if self.served.is_published else [self._published_at + PUBLISH_EVERY]
                times += [self._noted_at + _NOTE_EVERY] if self.memory.has_unlogged else []
                left = min(times) - time.monotonic() if times else None
                if left is not None and left <= 0:
                    break
                # a prediction does not wake this thread, so it looks now and then for rows to log
                self._wake.wait(_NOTE_EVERY if left is None else left)
            return True

    def _make_calls(self) -> None:
        while self._calls:
            function, done = self._calls.popleft()
            try:
                done.set_result(function())
            except Exception as fault:
                done.set_exception(fault)

    def _publish(self, now: float) -> None:
        self.served.publish()
        self._published_at = now

    # groups

    def _learn_group(self) -> None:
        self._learn(self._encoded(self._read_rows()))
        self.reader.forget_names(self._logged_names)
        self.reader.set_classes(self.served.model.classes)
        for request in self._current:
            request.finish()
        self._current = []

    def _read_rows(self) -> list[_Row]:
        """Read lines of the requests that wait, until the group is full."""
        rows: list[_Row] = []
        size, ids = 0, dict[str, _Row]()
        while self._requests and len(rows) < self._limits.group_rows and size < self._limits.group_bytes:
            request = self._requests[0]
            self._current.append(request)
            while request.next < len(request.lines):
                if len(rows) >= self._limits.group_rows or size >= self._limits.group_bytes:
                    break
                line = request.lines[request.next]
                request.lines[request.next] = b""
                request.next += 1
                size += len(line)
                answer: Answer = {}
                request.answers.append(answer)
                try:
                    row = self._read_row(line, answer)
                except Exception as fault:
                    answer["error"] = fault_of_row(fault)
                    continue
                if row is None:
                    continue
                if row.id in ids:
                    answer["same"] = ids[row.id].answer
                    continue
                rows.append(row)
                if row.id:
                    ids[row.id] = row
            else:
                self._requests.popleft()
        return rows

    def _read_row(self, line: bytes, answer: Answer) -> _Row | None:
        """Return the row in a line; None if it was learned before, which its answer says."""
        record = parse_line(line, self._limits)
        id = id_of(record, self._limits)
        if id:
            answer["id"] = record["id"]
            number = self.memory.number(id)
            if number is not None:
                answer |= {"row": number, "already": True}
                return None
        label, weight = self.reader.label_of(record), self.reader.weight_of(record)
        if id and self.reader.is_label_alone(record):
            earlier = self.memory.line(id)
            if earlier is None:
                raise RowError(
                    "expected the id of a row that was predicted before, got one that is not remembered: send the "
                    "row again with its label."
                )
            record = parse_line(earlier, self._limits)
        self.reader.add_class(label)
        return _Row(answer, record, SparseRow([], []), label, weight, id)

    def _encoded(self, rows: list[_Row]) -> list[_Row]:
        """Encode the records of a group, at once if possible; return the rows whose records are valid."""
        found = self.reader.rows([row.record for row in rows])
        if found is not None:
            for row, encoded in zip(rows, found, strict=True):
                row.row = encoded
            return rows
        for row in rows:
            try:
                row.row = self.reader.row(row.record, learning=True)
            except Exception as fault:
                row.answer["error"] = fault_of_row(fault)
        return [row for row in rows if "error" not in row.answer]

    def _learn(self, rows: list[_Row]) -> None:
        """Learn rows as one group and log it, then fill in their answers."""
        if not rows:
            return
        group = self._group(rows)
        learned = group.rows
        assert learned is not None
        begun = time.monotonic()
        try:
            mistakes = self.served.count_mistakes(learned)
            self.served.learn(learned)
        except (ValueError, MemoryError) as fault:
            self.served.undo(learned)
            if len(rows) > 1:  # learn each half, and so on, to find out which rows cannot be learned
                half = len(rows) // 2
                self._learn(rows[:half])
                self._learn(rows[half:])
                return
            rows[0].answer["error"] = sentence(fault)
            return
        group = replace(group, mistakes=mistakes, waiting=self.memory.take_unlogged())
        logged = time.monotonic()
        self._metrics.learning.add(logged - begun)
        try:
            self.folder.log.append(to_bytes(group))
        except OSError as fault:
            self.served.undo(learned)
            for id, line in group.waiting:
                self.memory.remember(id, line.encode())
            for row in rows:
                row.answer["error"] = self._problems["log"] = _not_written(fault)
                row.answer["retry"] = True
            return
        self._problems["log"] = ""
        self._logged_names = self.reader.n_names
        self._metrics.flush.add(time.monotonic() - logged)
        first = self.memory.rows + 1
        self.memory.add(group)
        self.rows_in_log += len(rows)
        for number, row in enumerate(rows, first):
            row.answer["row"] = number

    def _group(self, rows: list[_Row]) -> Group:
        weights = np.array([row.weight for row in rows])
        return Group(
            LabelledRows(
                *stacked([row.row for row in rows]),
                as_labels([row.label for row in rows]),
                None if (weights == 1.0).all() else weights,
                max(self.served.model.n_features, self.reader.n_names),
            ),
            [row.id for row in rows] if any(row.id for row in rows) else [],
            self.reader.names_from(self._logged_names),
            [],
        )

    def _log_waiting(self) -> None:
        """Log predicted rows that wait for a label; if this fails, they are remembered in memory only."""
        self._noted_at = time.monotonic()
        group = Group(None, [], [], self.memory.take_unlogged())
        try:
            self.folder.log.append(to_bytes(group))
        except OSError as fault:
            self._problems["log"] = _not_written(fault)

    # snapshots

    def _model_to_save(self) -> TrainedModel:
        model = duplicate(self.served.model)
        model.state.finish()
        if self.reader.grows:
            model.feature_names = np.array(self.reader.names_from(0), object)
        return model

    def _begin_snapshot(self) -> None:
        """Start a new log, and write the snapshot with which it begins in another thread."""
        if (self._writer is not None and self._writer.is_alive()) or time.monotonic() < self._snapshot_after:
            return
        try:
            self.folder.start_log()
        except OSError as fault:
            self._snapshot_failed(fault)
            return
        model, memory = self._model_to_save(), self.memory.snapshot()
        self.rows_in_log = 0
        self._writer = threading.Thread(target=self._write_snapshot, args=(model, memory), name="snapshot", daemon=True)
        self._writer.start()

    def _write_snapshot(self, model: TrainedModel, memory: Any) -> None:
        try:
            self.folder.write_snapshot(model, memory)
            self._metrics.snapshots += 1
            self._problems["snapshot"] = ""
        except (OSError, ValueError, MemoryError) as fault:
            self._snapshot_failed(fault)

    def _snapshot_failed(self, fault: BaseException) -> None:
        self._snapshot_after = time.monotonic() + _RETRY_SNAPSHOT
        self.rows_in_log = max(self.rows_in_log, self._snapshot_rows)
        self._problems["snapshot"] = f"no snapshot was written, so the log grows: {sentence(fault)}"

    def _end(self) -> None:
        if self._writer is not None:
            self._writer.join()
        if self.memory.has_unlogged:
            self._log_waiting()
        if self.rows_in_log:
            self._snapshot_after = 0.0
            self._begin_snapshot()
            if self._writer is not None:
                self._writer.join()
        self.folder.close()


def _not_written(fault: OSError) -> str:
    if fault.errno in _OUT_OF_SPACE:
        return "the disk of the server is full, so this row was not learned: make room there, and send it again."
    return f"the server could not write its log ({sentence(fault)}), so this row was not learned: send it again later."


def restore(folder: StateFolder, memory: Memory, reader: RowReader, model: TrainedModel) -> int:
    """Let a model learn the rows in the logs of a folder, and return their number."""
    replica, n = Replica(model), 0
    for groups in joined(folder.read_logs()):
        for group in groups:
            reader.add_names(group.names)
            memory.add(group)
            for id, line in group.waiting:
                memory.remember(id, line.encode(), logged=True)
        rows = [group.rows for group in groups if group.rows is not None]
        if rows:
            replica.learn(join_rows(rows), reader.is_sparse)
            n += sum(map(len, rows))
    reader.set_classes(model.classes)
    return n
