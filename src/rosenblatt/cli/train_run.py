"""One training run of the command: on which rows, with a bar, checkpoints and Ctrl-C, and the model that came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.kernel_choice import kernel_facts
from rosenblatt.cli.output import note
from rosenblatt.cli.progress_bar import ProgressBar
from rosenblatt.cli.startup import enable_gc
from rosenblatt.cli.train_options import LEARNERS, TrainOptions
from rosenblatt.messages import plain_label

if TYPE_CHECKING:
    from rosenblatt.data import Stream
    from rosenblatt.data.scaling import TrainedRows
    from rosenblatt.training.model_file import TrainedModel
    from rosenblatt.training.options import RunOptions
    from rosenblatt.training.train import Checkpointing


class Training:
    """A stream, how it is learned from, and the model that came of it."""

    model: TrainedModel

    def __init__(self, stream: Stream, asked: TrainOptions, options: RunOptions, paths: Sequence[str]) -> None:
        self.stream, self.asked, self.options, self.paths = stream, asked, options, paths
        self.rows, self.ranges_differ = 0, 0.0

    def fit(self, label: str = "pass") -> bool:
        """Train, with a bar on a terminal; return False where Ctrl-C cut it short after something was learned."""
        from rosenblatt.training.batches import Streamed

        checkpoints = self._checkpoints(self.stream)
        with ProgressBar("reading", self.paths) as reading:
            self.stream.fit_scale(self._trained_rows(), reading.set_share)
        self._balance()
        source = Streamed(self.stream, class_weight=self.options.class_weight)
        bar = ProgressBar(label, self.paths, self.options.max_iter)
        return self._learn(source, bar, checkpoints)

    def _checkpoints(self, rows: Stream | None = None) -> Checkpointing | None:
        """Return where checkpoints are kept, if they are; ``rows`` have not been read yet."""
        from rosenblatt.training.train import Checkpointing

        asked = self.asked
        return Checkpointing.asked(asked.checkpoint, LEARNERS[asked.learner], asked.every, asked.resume, rows)

    def _learn(self, source: Any, bar: ProgressBar, checkpoints: Checkpointing | None, **how: Any) -> bool:
        """Train on a source; ``how`` is for `training.train.train`."""
        from rosenblatt.training.model_file import TrainedModel, trained_state
        from rosenblatt.training.rows import differ_in_scale
        from rosenblatt.training.run import TrainingRun
        from rosenblatt.training.train import train as train_on

        learner = LEARNERS[self.asked.learner]
        kept: list[TrainedModel] = []

        def keep(run: TrainingRun) -> None:
            if not run.has_visited:
                return  # interrupted before the first row
            state, more = trained_state(run)
            kept.append(TrainedModel(learner, self.options, run.classes, state, more))
            self.rows = max(self.rows, run.labels.rows, self.stream.rows_read, run.current.rows)
            self.ranges_differ = differ_in_scale(run)

        if checkpoints is not None and source.rereadable:
            self._open_checkpoints(checkpoints, source)
        enable_gc()
        interrupted = False
        try:
            with bar:
                train_on(source, self.options, keep, [bar.observer()], checkpoints=checkpoints, **how)
        except KeyboardInterrupt:
            _say_how_to_go_on(checkpoints)
            if not kept:
                raise  # not one row was visited
            interrupted = True
        self.model = kept[-1]
        self._describe()
        return not interrupted

    def _open_checkpoints(self, checkpoints: Checkpointing, source: Any) -> None:
        """Open the checkpoints, and say which one the run resumes from, or replaces."""
        path = Path(checkpoints.path)
        if not checkpoints.resume:
            if path.exists():
                note(f"{path}, of an earlier run, is going to be replaced: --resume would go on from it.")
            checkpoints.open(source, self.options)
            return
        with ProgressBar("comparing with the checkpoint", self.paths) as compared:
            checkpoints.progress = compared.set_share
            checkpoints.open(source, self.options)
        if checkpoints.resumed is not None:
            note(f"going on from {path}, in pass {checkpoints.resumed.current.passes_done + 1}.")
        else:
            note(f"there is no checkpoint {path} to go on from, so training starts from the beginning.")

    def _trained_rows(self) -> TrainedRows | None:
        """Return which rows are learned from, None for all: early stopping holds some out."""
        if not self.options.early_stopping:
            return None
        from rosenblatt.training.batches import trained_rows

        return trained_rows(self.options.random_state, self.options.validation_fraction)

    def _balance(self) -> None:
        """Set the weights of classes, where they are to be balanced: rows / (classes * rows of the class)."""
        if self.asked.class_weight is None:
            return
        counts: Counter[Any] = Counter()
        trained = self._trained_rows()
        with ProgressBar("counting classes", self.paths) as bar:
            for block in bar.track(self.stream.unscaled()):
                y = block.y if trained is None else block.y[trained(block.first, len(block))]
                counts.update(y.tolist())
        self._set_class_weight(counts)

    def _set_class_weight(self, counts: Counter[Any]) -> None:
        """Let each class count as much as the others, given the rows of each."""
        rows = sum(counts.values())
        weights = {label: rows / (len(counts) * count) for label, count in sorted(counts.items())}
        self.options = replace(self.options, class_weight=weights)

    def _describe(self) -> None:
        """Tell the model how its rows are prepared, what features are called, and what it was trained on."""
        model, stream = self.model, self.stream
        model.preparation = stream.preparation
        model.fingerprint = {"files": [Path(path).name for path in self.paths], "rows": self.rows}
        if iter(stream) is not stream:
            model.fingerprint["sha256"] = stream.fingerprint
        name_features(model, stream.feature_names)

    def answer(self, took: float) -> dict[str, Any]:
        """Return the facts of the run for the report."""
        model, report = self.model, self.model.report
        scale, stopped, cut = self.stream.scale, report.early_stopping, report.last_pass_cut
        return {
            "learner": model.learner,
            "rows": self.rows,
            "skipped": self.stream.skipped.rows,
            "features": model.state.n_features,
            "classes": [plain_label(label) for label in model.classes.tolist()],
            "scale": None if scale is None else {"method": scale.method, "features": len(scale.features)},
            "ranges_differ": round(self.ranges_differ) or None,
            **({} if self.asked.class_weight is None else {"class_weight": self._weights()}),
            **kernel_facts(model),
            "passes": report.passes,
            "updates": report.updates,
            "mistakes_by_pass": list(report.mistakes_by_pass),
            **({"updates_by_pass": list(report.updates_by_pass)} if model.state.updates_right_rows else {}),
            "last_pass_cut": cut is not None,
            "last_pass_share": 1.0 if cut is None else cut.share,
            "early_stopping": None if stopped is None else vars(stopped),
            "separated": bool(report.converged),
            "radius": report.radius,
            "margin_low": report.margin_low,
            "margin_high": report.margin_high,
            "bound": report.bound,
            "seconds": round(took, 3),
        }

    def _weights(self) -> list[Any]:
        """Return the weight of each class."""
        weights: Any = self.options.class_weight
        return [weights[label] for label in self.model.classes.tolist()]


def _say_how_to_go_on(checkpoints: Checkpointing | None) -> None:
    writer = None if checkpoints is None else checkpoints.writer
    if checkpoints is None or writer is None:
        note("a run with --checkpoint FILE can be continued later, by the same command with --resume.")
    elif checkpoints.resumed is not None or writer.has_written:
        older = ", an earlier one, as the last could not be written" if writer.has_failed else ""
        note(f"the same command with --resume goes on from {writer.path}{older}.")
    else:
        note(f"this run has written no checkpoint to {writer.path}, so it cannot be continued.")


def name_features(model: TrainedModel, names: list[str] | None) -> None:
    """Tell the model what its features are called, where they have names."""
    import numpy as np

    if names is not None and len(names) == model.state.n_features and not all(name.startswith("#") for name in names):
        model.feature_names = np.array(names, object)
