"""Training runs of the command: on which rows, with a bar, checkpoints and Ctrl-C, and the model that came of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.options import LEARNERS
from rosenblatt.cli.output import ProgressBar, cli_message, enable_gc, note
from rosenblatt.cli.test import Pairs, class_scores, predicted_pairs
from rosenblatt.messages import ParameterError, Setting, plain_label

if TYPE_CHECKING:
    from rosenblatt.cli.train import TrainOptions
    from rosenblatt.data import Stream
    from rosenblatt.data.scaling import TrainedRows
    from rosenblatt.training.model_file import TrainedModel
    from rosenblatt.training.options import RunOptions
    from rosenblatt.training.train import Checkpointing

_TOO_FEW = "there are too few rows to hold some of each class out: add rows, or train without holding any out."


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
        learner, seconds = LEARNERS[asked.learner], asked.checkpoint_seconds
        return Checkpointing.asked(asked.checkpoint, learner, seconds, asked.resume, rows)

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
        from rosenblatt.training.options import draw_seed

        return trained_rows(draw_seed(self.options.random_state), self.options.validation_fraction)

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


def needs_data(options: RunOptions) -> bool:
    """Return whether the kernel depends on all rows, so that they are read before the first pass."""
    return bool(getattr(options, "needs_data", False))


def check_read_once(options: RunOptions) -> None:
    """Raise a ParameterError where the kernel depends on rows that can be read only once."""
    if needs_data(options):
        gamma = getattr(options, "gamma")  # noqa: B009
        raise ParameterError(
            Setting("gamma", gamma),
            " depends on all rows, and what can be read only once, such as standard input, is learned from before they "
            "are known: give a number, such as ",
            Setting("gamma", 0.5),
            ".",
        )


def kernel_facts(model: TrainedModel) -> dict[str, Any]:
    """Return the kernel, the parameters that it uses, and the number of support rows; nothing for other learners."""
    from rosenblatt.training.dual.state import DualState

    if not isinstance(model.state, DualState):
        return {}
    kernel = model.state.kernel
    return {
        "kernel": {"name": kernel.name, **kernel.parameters},
        "hypothesis": model.options.hypothesis,
        "support_rows": len(model.state.supports),
    }


# How well what was trained predicts: on other files, on rows held out, on the folds of a cross-validation.


def tested(model: TrainedModel, rows: Stream, paths: Sequence[str], held_out: bool) -> Pairs:
    """Return what a model predicts for labelled rows, those of files or some held out, with a bar on a terminal."""
    with ProgressBar("testing", paths) as bar:
        return predicted_pairs(model, bar.track(rows), **({"no_rows": _TOO_FEW} if held_out else {}))


def more_seeds(first: float, training: Training, test: Callable[[Stream], Stream]) -> list[float]:
    """Train again with the seeds that follow, and return the accuracies of all.

    ``test`` returns the rows to test on, scaled as those that it is given.
    """
    found, asked = [first], training.asked
    for seed in range(asked.seed + 1, asked.seed + asked.seeds):
        rows = training.stream.rescaled()  # early stopping holds out other rows
        again = Training(rows, asked, replace(training.options, random_state=seed), training.paths)
        if not again.fit(f"seed {seed}, pass"):
            raise KeyboardInterrupt
        pairs = predicted_pairs(again.model, test(rows))
        found.append(class_scores(pairs, ())["accuracy"])
    return found


def cross_validated(stream: Stream, training: Training) -> dict[str, Any]:
    """Train once for each fold on the rows of the others, and return how well its own are predicted.

    After Ctrl-C, the scores are those of the folds that were made.
    """
    from rosenblatt.data.splits import Split

    asked, by_fold = training.asked, []
    pairs: Counter[tuple[Any, Any]] = Counter()
    folds = Split.of_folds(asked.folds or 2, asked.seed)
    interrupted = False
    for number, split in enumerate(folds, 1):
        rows = stream.part(split, held=False)
        again = Training(rows, replace(asked, checkpoint=None, resume=False), training.options, training.paths)
        try:
            if not again.fit(f"fold {number} of {len(folds)}, pass"):
                raise KeyboardInterrupt
            found = tested(again.model, stream.part(split, held=True, scaled_as=rows), training.paths, held_out=True)
        except ValueError as fault:  # a class that the other folds do not have, for instance
            note(f"fold {number} of {len(folds)} is left out: {cli_message(fault)}")
            continue
        except KeyboardInterrupt:
            interrupted = True
            note(f"{number - 1} of {len(folds)} folds were made.")
            break
        pairs.update(found)
        by_fold.append(class_scores(found, ())["accuracy"])
    scores = class_scores(pairs, map(plain_label, training.model.classes.tolist())) if pairs else {}
    return {"folds": len(folds), "by_fold": by_fold, "interrupted": interrupted, **scores}
