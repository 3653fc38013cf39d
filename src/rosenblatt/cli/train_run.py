"""Training runs of the command, with progress bar, checkpoints and interrupts, and evaluation of their models."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from rosenblatt.cli.output import JsonObject, ProgressBar, enable_gc, error_text, print_note
from rosenblatt.cli.test import NO_ROWS, Predictions, class_scores, predictions_of
from rosenblatt.messages import Message, ParameterError, Setting, count_of, label_text, name_some, plain_label

if TYPE_CHECKING:
    from rosenblatt.cli.train import TrainOptions
    from rosenblatt.data import Stream
    from rosenblatt.splits import Rule, Split
    from rosenblatt.training.batches import TrainingSource
    from rosenblatt.training.model_file import TrainedModel
    from rosenblatt.training.options import RunOptions
    from rosenblatt.training.report import Report
    from rosenblatt.training.train import Checkpointing, MakeRun

UNSEEN_SHARE = 0.2
"""The fraction of the rows of each class that ``--calibrate``, ``--cost`` and ``--prune auto`` hold out of training."""
_MOST_COMPARED = 100_000
"""``--prune auto`` compares the predictions of about this many rows at most, which are kept in memory."""
_TOO_FEW = "there are too few rows to hold out some of each class: add rows, or train without --holdout or --folds."


class _RunFactory(TypedDict, total=False):
    """The keyword argument that training on a cluster passes on to `training.train.train`."""

    make_run: MakeRun


class Training:
    """A training run of the command: a stream of rows, the options of the run, and the resulting model."""

    model: TrainedModel
    report: Report
    """The report of the run, before weights were removed."""

    def __init__(
        self,
        rows: Stream,
        options: TrainOptions,
        run_options: RunOptions,
        paths: Sequence[str],
        split: Rule | None = None,
    ) -> None:
        self.rows_given, self.options, self.run_options, self.paths = rows, options, run_options, paths
        self.split = split
        """The rule that holds out the rows to test on, or None. ``rows`` are the others."""
        self.stream = rows
        """The training rows."""
        self._unseen: Rule | None = None
        """The rule that holds out rows for probabilities, the threshold and pruning, or None if none is needed."""
        self._costs: dict[Any, float] = {}
        self._threshold: JsonObject = {}
        self._pruned: JsonObject = {}
        self.rows, self.ranges_differ = 0, 0.0
        self.small_classes: Message | None = None
        if options.calibrate or options.imbalance.cost or options.prune == "auto":
            from rosenblatt.splits import Split

            self._unseen = (
                Split.of_share(UNSEEN_SHARE, options.seed)
                if split is None
                else split.of_rest(UNSEEN_SHARE, options.seed)
            )
            self.stream = rows.part(self._unseen, held=False)

    def fit(self, label: str = "pass") -> bool:
        """Train, with a progress bar on a terminal.

        Returns True if the run was completed, and False if Ctrl-C ended it early. If nothing was learned before
        Ctrl-C, the KeyboardInterrupt is raised.
        """
        from rosenblatt.training.batches import Streamed

        checkpoints = self._checkpoints(self.stream)
        with ProgressBar("reading", self.paths) as reading:
            self.stream.fit_scale(self._validation_split(), reading.set_share)
        self._weigh_classes()
        source = Streamed(self.stream, class_weight=self.run_options.class_weight)
        bar = ProgressBar(label, self.paths, self.run_options.max_iter)
        completed = self._learn(source, bar, checkpoints)
        unseen = self.unseen
        if self.options.prune is not None:
            self._prune(unseen)
        if unseen is not None:
            if self._costs:
                self._find_threshold(unseen)
            if self.options.calibrate:
                self._calibrate(unseen)
        return completed

    @property
    def unseen(self) -> Stream | None:
        """The rows held out for probabilities, the threshold and pruning, or None if none are."""
        if self._unseen is None:
            return None
        return self.rows_given.part(self._unseen, held=True, scaled_as=self.stream)

    def _unseen_scores(self, unseen: Stream, label: str) -> tuple[Any, Any, Any]:
        """Return the class numbers, scores and weights of the held-out rows ``unseen``."""
        import numpy as np

        from rosenblatt.training.rows import known_class_numbers

        found = []
        with ProgressBar(label, self.paths) as bar:
            for block in bar.track(unseen):
                if len(block):
                    weight = np.ones(len(block)) if block.weight is None else block.weight
                    numbers = known_class_numbers(block.y, self.model.classes)
                    found.append((numbers, self.model.rounded_scores(block.X), weight))
        if not found or len(np.unique(np.concatenate([numbers for numbers, _, _ in found]))) < 2:
            options = " and ".join(["--calibrate"] * self.options.calibrate + ["--cost"] * bool(self._costs))
            raise ValueError(
                f"there are too few rows to hold out some of each class: add rows, or train without {options}."
            )
        numbers, scores, weight = (np.concatenate(column) for column in zip(*found, strict=True))
        return numbers, scores, weight

    def _prune(self, unseen: Stream | None) -> None:
        """Remove the share of the weights that is asked for, or as many as change no label of the rows ``unseen``."""
        from rosenblatt.data.preparation import hashed_columns
        from rosenblatt.training.pruning import Pruner
        from rosenblatt.training.rows import as_rows

        model, share, rows = self.model, prune_share(self.options.prune or "auto"), 0
        pruner = Pruner(model.state, model.options.hypothesis)
        if share is not None:
            removal = pruner.removal(share)
        else:
            assert unseen is not None
            blocks = []
            with ProgressBar("pruning", self.paths) as bar:
                for block in bar.track(unseen):
                    blocks.append(as_rows(block.X))
                    rows += len(block)
                    if rows >= _MOST_COMPARED:
                        break
            removal = pruner.harmless_removal(blocks)
        model.feature_names = pruner.names_after(removal, model.feature_names, hashed_columns(model.preparation or {}))
        model.state, model.early_stopping_state = pruner.state_after(removal), None
        self._pruned = {"weights": removal.weights, "removed": removal.removed, "rows": rows or None}

    def _find_threshold(self, unseen: Stream) -> None:
        """Set the threshold that minimises the total cost of mistakes on the held-out rows ``unseen``."""
        from rosenblatt.training.ranking import least_cost

        numbers, scores, weight = self._unseen_scores(unseen, "finding the threshold")
        first, second = (self._costs[label] for label in self.model.classes.tolist())
        found = least_cost(scores[:, 0], numbers == 1, (first, second), weight)
        self.model.set_threshold(found.value)
        self._threshold = {
            "threshold": found.value,
            "rows": len(numbers),
            "costs": [first, second],
            "cost": found.cost,
            "cost_at_zero": found.cost_at_zero,
        }

    def _calibrate(self, unseen: Stream) -> None:
        """Fit the probabilities of the model to the held-out rows ``unseen``."""
        import numpy as np

        from rosenblatt.training.calibration import fit_calibration

        model = self.model
        numbers, scores, weight = self._unseen_scores(unseen, "calibrating")
        missing = np.setdiff1d(np.arange(len(model.classes)), numbers)
        if len(missing):
            names = name_some([label_text(label) for label in model.classes[missing].tolist()])
            print_note(f"no rows of {names} are left to calibrate on, so their probabilities are close to 0.")
        model.calibration = fit_calibration(
            scores, numbers, len(model.classes), hypothesis=model.options.hypothesis, weight=weight
        )

    def _checkpoints(self, rows: Stream | None = None) -> Checkpointing | None:
        """Return the checkpointing that the options ask for, or None; ``rows`` must not have been read yet."""
        from rosenblatt.training.train import Checkpointing

        options = self.options
        return Checkpointing.asked(
            options.checkpoint, options.learner_class, options.checkpoint_seconds, options.resume, rows
        )

    def _learn(
        self,
        source: TrainingSource,
        bar: ProgressBar,
        checkpoints: Checkpointing | None,
        **factory: Unpack[_RunFactory],
    ) -> bool:
        """Train on a source; return whether the run was completed, as `fit` does."""
        from rosenblatt.training.early_stopping import small_classes_note
        from rosenblatt.training.model_file import TrainedModel, trained_state
        from rosenblatt.training.rows import differ_in_scale
        from rosenblatt.training.run import TrainingRun
        from rosenblatt.training.train import train as train_on

        learner = self.options.learner_class
        kept: list[TrainedModel] = []

        def keep(run: TrainingRun) -> None:
            if not run.has_visited:
                return  # interrupted before the first row
            state, more = trained_state(run)
            kept.append(TrainedModel(learner, self.run_options, run.classes, state, more))
            self.rows = max(self.rows, run.labels.rows, self.stream.rows_read, run.current.rows)
            self.ranges_differ = differ_in_scale(run)
            self.small_classes = small_classes_note(run)

        if checkpoints is not None and source.rereadable:
            self._open_checkpoints(checkpoints, source)
        enable_gc()
        interrupted = False
        try:
            with bar:
                train_on(source, self.run_options, keep, [bar.observer()], checkpoints=checkpoints, **factory)
        except KeyboardInterrupt:
            _note_how_to_resume(checkpoints)
            if not kept:
                raise  # no row was visited
            interrupted = True
        self.model = kept[-1]
        self.report = self.model.report
        threshold = self.options.imbalance.threshold
        if threshold is not None:
            self.model.set_threshold(threshold)
            self._threshold = {"threshold": threshold}
        self._describe()
        return not interrupted

    def _open_checkpoints(self, checkpoints: Checkpointing, source: TrainingSource) -> None:
        """Open the checkpoint file, and print whether training resumes from this file or replaces it."""
        path = Path(checkpoints.path)
        if not checkpoints.resume:
            if path.exists():
                print_note(
                    f"the checkpoint {path} of an earlier run will be replaced; to continue from it, use --resume."
                )
            checkpoints.open(source, self.run_options)
            return
        with ProgressBar("comparing with the checkpoint", self.paths) as compared:
            checkpoints.progress = compared.set_share
            checkpoints.open(source, self.run_options)
        if checkpoints.resumed is not None:
            print_note(f"resuming from {path}, in pass {checkpoints.resumed.current.passes_done + 1}.")
        else:
            print_note(f"there is no checkpoint {path} to resume from, so training starts from the beginning.")

    def _validation_split(self) -> Split | None:
        """Return the split by which early stopping holds out rows, or None without early stopping."""
        from rosenblatt.training.options import draw_seed

        return self.run_options.validation_split(draw_seed(self.run_options.random_state))

    def _weigh_classes(self) -> None:
        """Count the rows of each class, and set the class weights and the costs of mistakes, if any are given."""
        if not self.options.imbalance.given:
            return
        counts: Counter[Any] = Counter()
        split = self._validation_split()
        with ProgressBar("counting classes", self.paths) as bar:
            blocks = bar.track(self.stream.unscaled())
            for block in blocks if split is None else split.mark(blocks):
                counts.update((block.y if block.held_out is None else block.y[~block.held_out]).tolist())
        self._set_weights(counts)

    def _set_weights(self, counts: Counter[Any]) -> None:
        """Set the class weights and the costs of mistakes; ``counts`` are the training rows by class."""
        given = self.options.imbalance
        given.check_classes(list(counts))
        self.run_options = replace(self.run_options, class_weight=given.weights(counts))
        self._costs = given.costs(counts) if given.cost else {}

    def _describe(self) -> None:
        """Store the preparation, the feature names and the fingerprint of the training data in the model."""
        model, stream = self.model, self.stream
        model.preparation = stream.preparation
        model.fingerprint = {"files": [Path(path).name for path in self.paths], "rows": self.rows}
        if iter(stream) is not stream:
            model.fingerprint["sha256"] = stream.fingerprint
        if stream.has_named_features:
            name_features(model, stream.feature_names)

    def answer(self, seconds: float) -> JsonObject:
        """Return the results of the run for the report."""
        model, report = self.model, self.report
        scale, stopped, cut = self.stream.scale, report.early_stopping, report.last_pass_cut
        return {
            "learner": model.learner,
            "rows": self.rows,
            "skipped": self.stream.skipped.rows,
            "unlabelled": self.stream.unlabelled,
            "features": model.state.n_features,
            "classes": [plain_label(label) for label in model.classes.tolist()],
            "scale": None if scale is None else {"method": scale.method, "features": len(scale.features)},
            "ranges_differ": round(self.ranges_differ) or None,
            **({"class_weight": self._weights()} if self.run_options.class_weight else {}),
            **kernel_facts(model),
            **({} if (r := getattr(model.state, "r", None)) is None else {"r": r}),
            **calibration_facts(model),
            **({"pruned": self._pruned} if self._pruned else {}),
            **({"threshold": self._threshold} if self._threshold else {}),
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
            "seconds": round(seconds, 3),
        }

    def _weights(self) -> list[Any]:
        """Return the weight of each class."""
        weights: Any = self.run_options.class_weight
        return [weights[label] for label in self.model.classes.tolist()]


def _note_how_to_resume(checkpoints: Checkpointing | None) -> None:
    writer = None if checkpoints is None else checkpoints.writer
    if checkpoints is None or writer is None:
        print_note("to make runs resumable, add --checkpoint FILE; the same command with --resume then continues.")
    elif checkpoints.resumed is not None or writer.has_written:
        older = ", an earlier checkpoint, because the last one could not be written" if writer.has_failed else ""
        print_note(f"the same command with --resume continues from {writer.path}{older}.")
    else:
        print_note(f"this run has written no checkpoint to {writer.path}, so it cannot be resumed.")


def name_features(model: TrainedModel, names: list[str] | None) -> None:
    """Store the feature names in the model, unless there are none or all are placeholders such as "#17"."""
    import numpy as np

    if names is not None and len(names) == model.state.n_features and not all(name.startswith("#") for name in names):
        model.feature_names = np.array(names, object)


def needs_data(options: RunOptions) -> bool:
    """Return whether a parameter depends on all rows, so that they must be read before the first pass."""
    return bool(getattr(options, "needs_data", False))


def check_read_once(options: RunOptions) -> None:
    """Raise a ParameterError if a parameter depends on all rows, although they can be read only once."""
    if needs_data(options):
        name, number = ("r", 3) if options.is_linear else ("gamma", 0.5)
        raise ParameterError(
            "{given} depends on all rows, but with input that can be read only once, such as standard input, training "
            "starts before all rows are known: give a number, such as {number}.",
            given=Setting(name, getattr(options, name)),
            number=Setting(name, number),
        )


def kernel_facts(model: TrainedModel) -> JsonObject:
    """Return the kernel, its parameters and the number of support vectors, or {} for learners without a kernel."""
    from rosenblatt.training.dual.state import DualState

    if not isinstance(model.state, DualState):
        return {}
    kernel = model.state.kernel
    return {
        "kernel": {"name": kernel.name, **kernel.parameters},
        "hypothesis": model.options.hypothesis,
        "support_rows": len(model.state.supports),
    }


def calibration_facts(model: TrainedModel) -> JsonObject:
    """Return the number of calibration rows and the kinds of calibration maps, or {} if the model is not calibrated."""
    if model.calibration is None:
        return {}
    kinds = sorted({type(each).__name__.lower() for each in model.calibration.maps})
    return {"calibration": {"rows": model.calibration.rows, "kinds": kinds}}


def calibration_line(facts: JsonObject) -> str:
    """Return a line that says how probabilities were fitted.

    >>> calibration_line({"rows": 180, "kinds": ["sigmoid"]})
    'Probabilities: fitted to 180 more rows held out of training, by a sigmoid.'
    """
    kinds = " and ".join({"sigmoid": "a sigmoid", "isotonic": "isotonic regression"}[kind] for kind in facts["kinds"])
    return f"Probabilities: fitted to {facts['rows']:,} more rows held out of training, by {kinds}."


def prune_share(text: str) -> float | None:
    """Return the fraction of the weights that ``--prune`` removes, or None for ``auto``.

    >>> prune_share("95%"), prune_share("auto")
    (0.95, None)
    """
    share = fraction_of(text)
    if text != "auto" and not 0.0 < share < 1.0:
        raise ValueError(f"--prune expects auto or a fraction of the weights, such as 90%, got {text!r}.")
    return share or None


def fraction_of(text: str) -> float:
    """Return a fraction such as ``20%`` or ``0.2``; 0 for other texts.

    >>> fraction_of("20%"), fraction_of("0.2"), fraction_of("some")
    (0.2, 0.2, 0.0)
    """
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(%?)\s*", text)
    return float(match[1]) / (100 if match[2] else 1) if match else 0.0


def pruned_line(facts: JsonObject) -> str:
    """Return a line that says how many weights were removed.

    >>> pruned_line({"weights": 2000, "removed": 1900, "rows": None})
    'Pruned: 1,900 of 2,000 weights (95.0%) were removed.'
    """
    share = facts["removed"] / max(1, facts["weights"])
    line = f"Pruned: {facts['removed']:,} of {facts['weights']:,} weights ({share:.1%}) were removed"
    return line + (f", which changes no label of {count_of(facts['rows'], 'row')}." if facts["rows"] else ".")


# Testing a model: on other files, on held-out rows, or on the folds of a cross-validation.


def predict_with_bar(model: TrainedModel, rows: Stream, paths: Sequence[str], held_out: bool) -> Predictions:
    """Predict labelled rows, with a progress bar on a terminal, and count the predictions."""
    with ProgressBar("testing", paths) as bar:
        return predictions_of(model, bar.track(rows), no_rows=_TOO_FEW if held_out else NO_ROWS)


def more_seeds(first: float, training: Training, test: Callable[[Stream], Stream]) -> list[float]:
    """Train again with each of the remaining seeds, and return the accuracies for all seeds.

    ``first`` is the accuracy for the first seed. ``test`` maps training rows to the rows to test on, scaled in the
    same way.
    """
    found, options = [first], training.options
    for seed in range(options.seed + 1, options.seed + options.seeds):
        rows = training.rows_given.rescaled()  # the rows held out for early stopping depend on the seed
        again = Training(
            rows, options, replace(training.run_options, random_state=seed), training.paths, training.split
        )
        if not again.fit(f"seed {seed}, pass"):
            raise KeyboardInterrupt
        tested = predictions_of(again.model, test(again.stream))
        found.append(class_scores(tested.pairs, ())["accuracy"])
    return found


def cross_validate(stream: Stream, training: Training) -> JsonObject:
    """Train once for each fold, on the rows of the other folds, and return the scores over all folds together.

    After Ctrl-C, the scores cover only the folds completed before it.
    """
    from rosenblatt.splits import Split

    options, by_fold = training.options, []
    every = Predictions(len(training.model.classes))
    folds = Split.of_folds(options.folds or 2, options.seed)
    interrupted = False
    for number, split in enumerate(folds, 1):
        rows = stream.part(split, held=False)
        without_checkpoint = replace(options, checkpoint=None, resume=False)
        again = Training(rows, without_checkpoint, training.run_options, training.paths)
        try:
            if not again.fit(f"fold {number} of {len(folds)}, pass"):
                raise KeyboardInterrupt
            held = stream.part(split, held=True, scaled_as=again.stream)
            found = predict_with_bar(again.model, held, training.paths, held_out=True)
        except ValueError as error:  # such as a class that occurs in this fold only
            print_note(f"fold {number} of {len(folds)} is left out: {error_text(error)}")
            continue
        except KeyboardInterrupt:
            interrupted = True
            print_note(f"{number - 1} of {len(folds)} folds are complete.")
            break
        every.update(found)
        by_fold.append(class_scores(found.pairs, ())["accuracy"])
    scores = every.scores(map(plain_label, training.model.classes.tolist())) if every.pairs else {}
    return {"folds": len(folds), "by_fold": by_fold, "interrupted": interrupted, **scores}
