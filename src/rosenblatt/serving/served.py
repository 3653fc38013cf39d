"""One served model with all that belongs to it: its rows, what it remembers, its thread, and its counts."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from rosenblatt.messages import plain_label
from rosenblatt.serving.learner import Learner, restore
from rosenblatt.serving.limits import Limits
from rosenblatt.serving.memory import Memory
from rosenblatt.serving.metrics import Metrics
from rosenblatt.serving.model import ServedModel
from rosenblatt.serving.rows import RowReader, SparseRow
from rosenblatt.training.durable import StateFolder, digest_of_file
from rosenblatt.training.model_file import TrainedModel


class Service:
    """A model that is served.

    Parameters
    ----------
    path : Path
        The model file, which is never changed.
    state : Path or None
        The folder for what the model learns; None if it learns nothing.
    limits : Limits
        Limits on rows.
    target, weight : str or None
        The fields of rows with the label and the weight; see `RowReader`.
    snapshot_rows : int
        The number of rows in the log after which a snapshot is written.
    """

    def __init__(
        self,
        path: Path,
        state: Path | None,
        limits: Limits,
        target: str | None = None,
        weight: str | None = None,
        snapshot_rows: int = 100_000,
    ) -> None:
        self.path, self.limits = path, limits
        self.metrics, self.memory = Metrics(), Memory(limits)
        self.learner: Learner | None = None
        self.replayed, self.torn = 0, 0
        """The number of rows that were learned again from the log, and the bytes at its end that were cut off."""
        model = TrainedModel.load(path)
        if state is None:
            self.reader = RowReader(model, limits, target, weight)
            self.served = ServedModel(model, self.reader.is_sparse, learns=False)
            return
        model.options.check_for_stream("serve")
        model.options.check_for_blocks("a server does")
        folder = StateFolder(state, digest_of_file(path))
        try:
            if not folder.is_new:
                if not folder.has_same_origin():
                    raise ValueError(
                        f"{path} is not the model with which {state} began: restore it, choose another folder with "
                        "--state, or remove this one to begin again from the new model."
                    )
                model, header, arrays = folder.read_snapshot()
                self.memory.restore(header, arrays)
            self.reader = RowReader(model, limits, target, weight)
            if folder.is_new:
                folder.begin(model, self.memory.snapshot())
            else:
                self.replayed = restore(folder, self.memory, self.reader, model)
                self.torn = folder.torn
            self.served = ServedModel(model, self.reader.is_sparse)
        except BaseException:
            folder.close()
            raise
        self.learner = Learner(self.served, self.reader, self.memory, folder, limits, self.metrics, snapshot_rows)
        self.learner.rows_in_log = self.replayed

    def start(self) -> None:
        """Start to learn; first predict and learn once on a copy, so that compiled code is there before requests."""
        self.served.warm_up()
        if self.learner is not None:
            self.learner.start()

    def stop(self) -> None:
        """Learn the rows of all requests that have arrived, and write a snapshot."""
        if self.learner is not None:
            self.learner.stop()

    def predict(self, rows: list[SparseRow]) -> list[dict[str, Any]]:
        """Return the prediction of each row; with probabilities, also how many rows their calibration predates."""
        served = self.served
        self.metrics.predicted += len(rows)
        found = served.predict(rows)
        if found.probabilities is not None and self.memory.rows:
            for answer in (plain := found.to_plain()):
                answer["calibration_predates"] = self.memory.rows
            return plain
        return found.to_plain()

    def status(self) -> dict[str, Any]:
        """Return what ``GET /`` tells of this model."""
        model = self.served.published
        found: dict[str, Any] = {
            "model": str(self.path),
            "learner": model.learner,
            "classes": [plain_label(label) for label in model.classes.tolist()[:100]],
            "features": model.n_features,
            "target": self.reader.target,
            "weight": self.reader.weight,
            "learns": self.learner is not None,
            "rows": self.memory.rows,
            "mistakes": self.memory.mistakes,
            "waiting": self.memory.n_waiting,
        }
        if model.calibration is not None:
            found["calibration_predates"] = self.memory.rows
        if self.learner is not None:
            found |= {"rows_in_log": self.learner.rows_in_log, "problem": self.learner.problem or None}
        return found

    def values(self) -> dict[str, float]:
        """Return the values of this model for Prometheus, by the names of their metrics."""
        return {
            "rosenblatt_rows_learned_total": self.memory.rows,
            "rosenblatt_mistakes_total": self.memory.mistakes,
            "rosenblatt_rows_predicted_total": self.metrics.predicted,
            "rosenblatt_rows_refused_total": self.metrics.refused,
            "rosenblatt_snapshots_total": self.metrics.snapshots,
            "rosenblatt_rows_waiting": self.memory.n_waiting,
            "rosenblatt_log_rows": 0 if self.learner is None else self.learner.rows_in_log,
            "rosenblatt_classes": len(self.served.published.classes),
            "rosenblatt_problem": int(bool(self.learner is not None and self.learner.problem)),
        }


def names_of(paths: list[Path]) -> dict[str, Path]:
    """Return the name under which each model is served: that of its file without the extension.

    >>> names_of([Path("a/spam.model"), Path("b/spam.model"), Path("ham.model")])
    {'spam': PosixPath('a/spam.model'), 'spam-...': PosixPath('b/spam.model'), 'ham': PosixPath('ham.model')}
    """
    found: dict[str, Path] = {}
    for path in paths:
        name = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in path.stem) or "model"
        if name in found:
            name += "-" + hashlib.sha256(str(path).encode()).hexdigest()[:8]
        found[name] = path
    return found
