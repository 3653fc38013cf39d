"""How every linear perceptron learns from a data set: the loop over passes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.estimators.feeding import fit_from_stream
from rosenblatt.estimators.parameters import check_parameters
from rosenblatt.estimators.streams import StreamLearner
from rosenblatt.estimators.validation import (
    checked_pair,
    class_numbers,
    feature_spread,
    leading_run,
    step_sizes,
    warn_if_sorted,
)
from rosenblatt.kernels.orders import visiting_order
from rosenblatt.progress import Progress
from rosenblatt.tables import Table
from rosenblatt.training.early_stopping import Held, hold_out
from rosenblatt.training.passes import Trainer
from rosenblatt.training.rows import as_rows
from rosenblatt.training.state import Machines


class LinearPerceptron(StreamLearner):
    """The family's common part; use `Perceptron`, `AveragedPerceptron` or `VotedPerceptron`."""

    def __init__(
        self,
        max_iter: int = 10,
        fit_intercept: bool = True,
        shuffle: bool | str = True,
        random_state: Any = None,
        max_updates: int | None = None,
        warm_start: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        multi_class: str = "ovr",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state
        self.max_updates = max_updates
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.n_jobs = n_jobs
        self.verbose = verbose

    # learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows of ``X`` and their labels, pass by pass, until one is clean or the limit is reached.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            Used as it is if it is C-ordered or CSR and holds float32 or float64; otherwise a copy is made.
        y : array of shape (n,)
            Labels of any type, at least two different ones.
        sample_weight : array of shape (n,), optional
            Scales the step that an update makes; rows of weight 0 are not visited.
        """
        return self._fit(X, y, sample_weight)

    def fit_stream(
        self,
        blocks: Iterable[Any],
        classes: Any = None,
        on_pass: Callable[[Self], None] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: float = 30.0,
        resume: bool = False,
    ) -> Self:
        """Learn from blocks of rows, pass by pass as ``fit`` does, with one window of them in memory at a time.

        With ``shuffle=False`` the run is that of ``fit`` on all rows, bit for bit, however they are cut into blocks.
        Otherwise rows are shuffled within windows of 65,536 that follow each other, so the order does not depend on
        the blocks either; a stream of one window is visited as ``fit`` visits it. Early stopping holds out rows by
        their numbers and keeps them in memory.

        Parameters
        ----------
        blocks : iterable of (X, y), (X, y, sample_weight), or what ``data.open`` returns
            Read once for each pass, so more than one pass needs what can be iterated again: a list, a file, but
            not a generator. Sparse blocks may have ever more columns; those that came up late count as 0 before.
        classes : array, optional
            All classes. Without them a class that is not in the first block makes the run start again, after a look at
            all labels; a generator cannot start again, so there a third class starts from zero at its first row.
        on_pass : callable, optional
            Called with the model after each pass, for instance to score it on a test set.
        checkpoint : path, optional
            A file to write all that the run needs to go on to, ``every`` so many seconds, replaced as a whole.
        resume : bool
            Whether to go on from ``checkpoint``, if it is there; the run ends with the bits of one that was never
            interrupted. Refused if the data or a parameter is not what it was.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> blocks = [([[1, 1], [2, 0]], ["yes", "yes"]), ([[-1, 0], [0, -2]], ["no", "no"])]
        >>> model = Perceptron(shuffle=False).fit_stream(blocks)
        >>> model.coef_, model.converged_
        (array([[2., 1.]]), True)
        """
        check_parameters(self)
        fit_from_stream(self, blocks, classes, on_pass, checkpoint, every, resume)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, watch: Callable[[Machines], None] | None = None) -> Self:
        """Do the work of ``fit``, and let ``watch`` see the machines after each pass."""
        check_parameters(self)
        going_on = self.warm_start and hasattr(self, "machines_")
        if going_on:
            self._check_unchanged()
        X, y = checked_pair(self, X, y, reset=not going_on, finite=going_on or self.early_stopping)
        classes, numbers = class_numbers(y)
        if len(classes) < 2 and not going_on:
            raise ValueError(
                f"fit needs at least two classes, got one class: every label is {classes.tolist()[0]!r}. "
                "Add rows of another class, or use partial_fit where they may come later."
            )
        if isinstance(self.class_weight, Mapping) and not going_on:
            unknown = [label for label in self.class_weight if label not in classes.tolist()]
            if unknown:
                raise ValueError(f"class_weight names {unknown[0]!r}, which is none of the classes {classes.tolist()}.")
        steps = step_sizes(len(y), sample_weight, self.class_weight, classes, numbers)
        if len(steps) and not (steps > 0).any():
            raise ValueError("every row has weight zero, so there is nothing to learn: give some a positive weight.")
        if len(steps) and not going_on and np.ptp(numbers[steps > 0]) == 0:
            raise ValueError("fit needs at least two classes, got one class among the rows whose weight is not 0.")
        resumed = None
        if going_on:
            machines, resumed = self._resume if self._resume is not None else (self.machines_, None)
            machines, known = self._admit(machines, self.classes_, classes)
            numbers = np.searchsorted(known, classes).astype(np.int32)[numbers]
            resumed = resumed if len(known) == len(self.classes_) else None  # the best pass knew fewer classes
            classes = known
        else:
            machines = self._new_machines(len(classes), X.shape[1])
        if not self.shuffle:
            warn_if_sorted(leading_run(numbers), len(numbers), stacklevel=4)
        rows = as_rows(X)
        visited = np.arange(rows.n, dtype=np.uint32)
        held: Held | None = None
        if self.early_stopping:
            visited, held = hold_out(self, rows, numbers, steps, machines.seed, resumed)
        trainer = Trainer(machines, rows, numbers, steps, jobs=effective_n_jobs(self.n_jobs))
        if going_on:
            trainer.judge_again(visited)
        self._run(trainer, classes, visited, held, going_on, watch)
        return self

    def _run(
        self,
        trainer: Trainer,
        classes: np.ndarray,
        visited: np.ndarray,
        held: Held | None,
        going_on: bool,
        watch: Callable[[Machines], None] | None,
    ) -> None:
        """Make up to ``max_iter`` passes and keep what came of them, after an interrupt too."""
        machines = trainer.machines
        progress = Progress(self.verbose, self.max_iter)
        made = 0
        trainer.on_slice = lambda part, mistakes: progress.within(made, part, mistakes)
        counters, done = machines.counters, machines.done
        counters["limit"] = -1 if self.max_updates is None else counters["updates"] + self.max_updates
        active = np.arange(len(counters)) if going_on else np.flatnonzero(~done)
        passes = machines.passes
        under = trainer.under
        if under.row:  # a pass goes on that was interrupted
            made, active = under.made, under.active
        try:
            while len(active) and made < self.max_iter and not (held and held.stalled):
                passes = machines.passes
                if not under.row:
                    under.made, under.active = made, active
                    under.was_done, under.visits = done[active], counters["visits"][active]
                    done[active] = False
                was_done, visits = under.was_done, under.visits
                trainer.run_pass(self._order(visited, machines), bool(self.shuffle), active)
                done[active] = counters["mistakes"][active] == 0
                idle = was_done & done[active]  # separated before and still: as if this pass had not been
                counters["visits"][active[idle]] = visits[idle]
                if not idle.all():
                    made += 1
                    self._end_pass(trainer, active[~idle], visited, held, progress)
                    if watch is not None:
                        trainer.store_voters()
                        watch(machines)
                active = np.flatnonzero(~(done | (counters["updates"] == counters["limit"])))
        except KeyboardInterrupt:
            if machines.passes == passes:
                self._note_pass(machines, active)
            self._keep(trainer, classes, held)
            progress.close("interrupted; the model keeps what it has learned")
            raise
        self._keep(trainer, classes, held)
        outcome = f"stopped after {made} pass{'' if made == 1 else 'es'}"
        outcome += ", as the rows held out are predicted no better" if held and held.stalled else ", with mistakes left"
        progress.close("separated" if done.all() else outcome)
        if self.hypothesis == "last" and not done.all() and not (held and held.stalled):
            self._warn_about_mistakes(machines)

    def _keep(self, trainer: Trainer, classes: np.ndarray, held: Held | None) -> None:
        """Make what was learned this model's own: the best pass's where rows were held out."""
        machines = trainer.machines
        self._resume = None
        if held is not None and held.best.machines is not None:
            self._resume = (machines, held.best)
            trainer.machines = held.best.machines.snapshot()
            trainer.machines.passes, trainer.machines.mistakes = machines.passes, list(machines.mistakes)
            trainer.machines.validation_error = list(machines.validation_error)
        trainer.store_voters()
        if trainer.machines.spread is None and trainer.rows is not None:
            trainer.machines.spread = feature_spread(trainer.rows.matrix)
        self.machines_, self.classes_ = trainer.machines, classes

    def _order(self, visited: np.ndarray, machines: Machines) -> np.ndarray:
        """Return the row numbers that the next pass visits, in order."""
        if not self.shuffle:
            return visited
        pass_number = 0 if self.shuffle == "once" else machines.passes
        order = visiting_order(len(visited), machines.seed, pass_number)
        return visited[order] if self.early_stopping else order

    def _note_pass(self, machines: Machines, active: np.ndarray) -> None:
        """Enter the mistakes of the pass just made into the history."""
        mistakes = np.full(len(machines.counters), -1)
        mistakes[active] = machines.counters["mistakes"][active]
        machines.mistakes.append(mistakes)
        machines.passes += 1

    def _end_pass(
        self,
        trainer: Trainer,
        active: np.ndarray,
        visited: np.ndarray,
        held: Held | None,
        progress: Progress,
    ) -> None:
        """Judge the pass just made: the history, the pocket, the rows held out."""
        machines = trainer.machines
        self._note_pass(machines, active)
        machines.check_finite()
        trainer.judge(visited)
        error = None
        if held is not None:
            trainer.store_voters()
            error = held.judge(machines)
            machines.validation_error.append(error)
        progress.after(machines.passes, int(machines.counters["mistakes"][active].sum()), error)

    def _warn_about_mistakes(self, machines: Machines) -> None:
        counters = machines.counters
        history = np.array(machines.mistakes)
        last = [history[history[:, k] >= 0, k][-1] for k in np.flatnonzero(~machines.done)]
        mistakes = int(np.sum(last))
        limit = "max_updates" if (counters["updates"] == counters["limit"]).any() else "max_iter"
        warnings.warn(
            f"{mistakes} mistake{'' if mistakes == 1 else 's'} in pass {machines.passes}, the last that {limit} "
            f"allows: the data is not separated, as no pass was without a mistake. Raise {limit}; if the data may "
            'not be separable, use hypothesis="average" or AveragedPerceptron; if its features differ in scale, '
            "scale them.",
            ConvergenceWarning,
            stacklevel=5,
        )

    def score_by_pass(self, X: Any, y: Any, X_test: Any = None, y_test: Any = None) -> Table:
        """Train a copy from scratch and return its errors after each pass: CIML figure 4.3.

        Columns: ``pass``, ``mistakes`` made during it, ``training_error`` after it, and ``test_error`` on the rows
        ``X_test`` if they are given, all by the hypothesis that predicts. This model is left as it is.
        """
        if (X_test is None) != (y_test is None):
            raise ValueError("X_test and y_test come together: give both, or neither.")
        model = clone(self).set_params(warm_start=False, verbose=0)
        columns: dict[str, list[Any]] = {"pass": [], "mistakes": [], "training_error": []}
        sets = [("training_error", X, y)]
        if X_test is not None:
            columns["test_error"] = []
            sets.append(("test_error", X_test, y_test))

        def watch(machines: Machines) -> None:
            model.machines_, model.classes_ = machines, np.unique(np.asarray(y))
            columns["pass"].append(machines.passes)
            columns["mistakes"].append(int(model.history_["mistakes"][-1]))
            for name, rows, labels in sets:
                columns[name].append(1.0 - model.score(rows, labels))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model._fit(X, y, watch=watch)
        return Table(columns, title=f"{type(self).__name__}: errors by pass")
