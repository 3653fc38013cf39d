"""How every linear perceptron learns: the loop over passes, early stopping, streams."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from rosenblatt.kernels.orders import visiting_order
from rosenblatt.learners.answers import chosen_classes, kept
from rosenblatt.learners.inputs import (
    Rows,
    as_rows,
    checked_pair,
    class_numbers,
    feature_spread,
    step_sizes,
    warn_if_sorted,
)
from rosenblatt.learners.learned import Learned
from rosenblatt.learners.parameters import check_parameters, seed_from
from rosenblatt.learners.progress import Progress
from rosenblatt.learners.training import Trainer
from rosenblatt.models.ballots import Ballots
from rosenblatt.models.machines import Machines, Pocket
from rosenblatt.tables import Table


@dataclass
class Best:
    """The best pass so far, and how many have not been better since."""

    machines: Machines | None = None
    error: float = np.inf
    stalled: int = 0


@dataclass
class Held:
    """Rows kept out of training for early stopping, and the pass that predicts them best."""

    rows: Rows
    numbers: np.ndarray
    weights: np.ndarray | None
    best: Best


def _learns_from_chunks(model: LinearPerceptron) -> bool:
    if model.hypothesis == "pocket":
        raise AttributeError(
            'hypothesis="pocket" compares weights on the whole training set, which partial_fit never sees: '
            'use fit, or hypothesis="average".'
        )
    return True


class LinearPerceptron(Learned):
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
            for label in np.setdiff1d(classes, self.classes_):
                machines = self._admit(machines, label)
            numbers = np.searchsorted(self.classes_, classes).astype(np.int32)[numbers]
            classes = self.classes_
        else:
            machines = self._new_machines(len(classes), X.shape[1])
        if not self.shuffle:
            warn_if_sorted(numbers, stacklevel=4)
        self._run(machines, classes, as_rows(X), numbers, steps, going_on, resumed, watch)
        return self

    def _run(
        self,
        machines: Machines,
        classes: np.ndarray,
        rows: Rows,
        numbers: np.ndarray,
        steps: np.ndarray,
        going_on: bool,
        resumed: Best | None,
        watch: Callable[[Machines], None] | None,
    ) -> None:
        """Make up to ``max_iter`` passes and keep what came of them, after an interrupt too."""
        visited, held = self._hold_out(machines.seed, rows, numbers, steps, resumed)
        progress = Progress(self.verbose, self.max_iter)
        made = 0
        trainer = Trainer(
            machines,
            rows,
            numbers,
            steps,
            jobs=effective_n_jobs(self.n_jobs),
            on_slice=lambda part, mistakes: progress.within(made, part, mistakes),
        )
        counters, done = machines.counters, machines.done
        counters["limit"] = -1 if self.max_updates is None else counters["updates"] + self.max_updates
        active = np.arange(len(counters)) if going_on else np.flatnonzero(~done)
        try:
            while len(active) and made < self.max_iter and not self._stalled(held):
                passes = machines.passes
                was_done, visits = done[active], counters["visits"][active]
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
        progress.close("separated" if done.all() else f"stopped after {made} passes, with mistakes left")
        if self.hypothesis == "last" and not done.all() and not self._stalled(held):
            self._warn_about_mistakes(machines)

    def _stalled(self, held: Held | None) -> bool:
        return held is not None and held.best.stalled >= self.n_iter_no_change

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
        if trainer.machines.spread is None:
            trainer.machines.spread = feature_spread(trainer.rows.matrix)
        self.machines_, self.classes_ = trainer.machines, classes

    def _hold_out(
        self, seed: int, rows: Rows, numbers: np.ndarray, steps: np.ndarray, resumed: Best | None
    ) -> tuple[np.ndarray, Held | None]:
        """Return the rows to train on, and those that early stopping holds out."""
        everything = np.arange(rows.n, dtype=np.uint32)
        if not self.early_stopping:
            return everything, None
        from sklearn.model_selection import train_test_split  # takes longer to import than all of this package

        try:
            kept, held = train_test_split(
                everything, test_size=self.validation_fraction, stratify=numbers, random_state=seed % 2**32
            )
        except ValueError as fault:
            raise ValueError(
                f"early stopping cannot hold out {self.validation_fraction} of these {rows.n} rows with every class in "
                "both parts: give more rows, or another validation_fraction."
            ) from fault
        held.sort()
        weights = steps[held] if len(steps) and steps[held].any() else None
        best = Best() if resumed is None else resumed
        return np.sort(kept), Held(as_rows(rows.matrix[held]), numbers[held], weights, best)

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
        if not (np.isfinite(machines.w).all() and np.isfinite(machines.u).all()):
            raise ValueError(
                "the weights have grown beyond the range of floats: scale the features, "
                "for instance with sklearn.preprocessing.MaxAbsScaler."
            )
        trainer.judge(visited)
        error = None
        if held is not None:
            trainer.store_voters()
            predicted, _ = chosen_classes(machines, self.hypothesis, held.rows)
            error = float(np.average(predicted != held.numbers, weights=held.weights))
            machines.validation_error.append(error)
            best = held.best
            if error < best.error or (machines.done.all() and error == best.error):
                best.machines, best.error, best.stalled = machines.snapshot(), error, 0
            else:
                best.stalled += 1
        progress.after(machines.passes, int(machines.counters["mistakes"][active].sum()), error)

    def _new_machines(self, n_classes: int, d: int) -> Machines:
        direct = self.multi_class == "direct"
        machines = Machines.zeros(n_classes, d, direct=direct, fit_intercept=self.fit_intercept)
        machines.seed = seed_from(self.random_state)
        n_machines, judged = len(machines.w), len(machines.counters)
        if self.hypothesis == "pocket":
            machines.pocket = Pocket.empty(n_machines, d, judged)
        if self.hypothesis == "vote":
            machines.ballots = Ballots.empty(judged, n_classes if machines.direct else 0)
        return machines

    def _warn_about_mistakes(self, machines: Machines) -> None:
        mistakes = int(np.maximum(machines.mistakes[-1], 0).sum())
        counters = machines.counters
        limit = "max_updates" if (counters["updates"] == counters["limit"]).any() else "max_iter"
        warnings.warn(
            f"{mistakes} mistake{'' if mistakes == 1 else 's'} in pass {machines.passes}, the last that {limit} "
            f"allows: these weights do not separate the data. Raise {limit}; if the data may not be separable, "
            'use hypothesis="average" or AveragedPerceptron; if its features differ in scale, scale them.',
            ConvergenceWarning,
            stacklevel=5,
        )

    @available_if(_learns_from_chunks)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Visit each row of ``X`` once, in the given order, and go on from what was learned before.

        Any chunking of a data set gives the same bits as one pass of ``fit`` with ``shuffle=False``, as long as
        ``classes`` is given at first or at most two occur. A class that turns up later is welcome: from the third on
        it starts from zero at its first row. ``n_iter_`` counts the calls.

        Parameters
        ----------
        X, y : as for ``fit``; one class is enough.
        classes : array, optional
            All classes that may occur. Those in ``y`` need not be among them.
        sample_weight : array of shape (n,), optional
            As for ``fit``.
        """
        check_parameters(self)
        if self.class_weight == "balanced":
            raise ValueError(
                'class_weight="balanced" needs the counts of all classes, which partial_fit does not know: '
                "give the weights as a dictionary, or sample_weight."
            )
        first = not hasattr(self, "machines_")
        if not first:
            self._check_unchanged()
        X, y = checked_pair(self, X, y, reset=first)
        labels, numbers = class_numbers(y)
        steps = step_sizes(len(y), sample_weight, self.class_weight, labels, numbers)
        if first:
            self.classes_ = labels if classes is None else np.union1d(classes, labels)
            self.machines_ = self._new_machines(len(self.classes_), X.shape[1])
            warn_if_sorted(numbers, stacklevel=3)
        elif classes is not None:
            for label in np.setdiff1d(classes, self.classes_):
                self.machines_ = self._admit(self.machines_, label)
        self._resume = None
        self._visit_once(as_rows(X), labels, numbers, steps)
        return self

    def _check_unchanged(self) -> None:
        """Raise a ValueError where a parameter that decides what the machines are has changed since they were made."""
        machines = self.machines_
        if self.hypothesis in ("pocket", "vote"):
            kept(machines, self.hypothesis)
        direct = len(self.classes_) > 2 and self.multi_class == "direct"
        for name, then, now in (
            ("fit_intercept", machines.fit_intercept, bool(self.fit_intercept)),
            ("multi_class", machines.direct, direct),
        ):
            if then != now:
                raise ValueError(
                    f"{name} has changed since this model was trained, so it cannot go on: "
                    "set it back, or fit from the start (warm_start=False)."
                )

    def _visit_once(self, rows: Rows, labels: np.ndarray, numbers: np.ndarray, steps: np.ndarray) -> None:
        """Visit all rows in order, letting each new class in at its first row."""
        if self.machines_.spread is None:
            self.machines_.spread = feature_spread(rows.matrix)
        new = np.setdiff1d(labels, self.classes_)
        arrivals = sorted((int(np.argmax(numbers == np.searchsorted(labels, label))), label) for label in new)
        starts = [0] + [row for row, _ in arrivals]
        stops = [row for row, _ in arrivals] + [rows.n]
        order = np.arange(rows.n, dtype=np.uint32)
        for part, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            if part > 0:
                self.machines_ = self._admit(self.machines_, arrivals[part - 1][1])
            machines = self.machines_
            if part == 0:
                machines.passes += 1
                machines.mistakes.append(np.zeros(len(machines.counters), np.int64))
            if start == stop:
                continue
            places = np.searchsorted(self.classes_, labels).astype(np.int32)
            machines.counters["limit"] = -1
            machines.done[:] = False
            trainer = Trainer(machines, rows, places[numbers], steps, jobs=effective_n_jobs(self.n_jobs))
            everyone = np.arange(len(machines.counters))
            made = trainer.run_pass(order[start:stop], False, everyone)
            machines.mistakes[-1] = np.maximum(machines.mistakes[-1], 0) + made
            trainer.store_voters()

    def _admit(self, machines: Machines, label: Any) -> Machines:
        """Return machines that know one more class; ``classes_`` stays sorted."""
        old = self.classes_
        self.classes_ = np.union1d(old, [label])
        return machines.admit(np.searchsorted(self.classes_, old), self.multi_class == "direct")

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
