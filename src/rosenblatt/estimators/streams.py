"""Learning from a stream: chunks in any cut, and classes that turn up on the way."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.metaestimators import available_if

from rosenblatt.estimators.parameters import check_parameters, seed_from
from rosenblatt.estimators.prediction import Learned
from rosenblatt.estimators.validation import (
    checked_pair,
    class_numbers,
    feature_spread,
    leading_run,
    step_sizes,
    warn_if_sorted,
)
from rosenblatt.training.passes import Trainer
from rosenblatt.training.rows import Rows, as_rows
from rosenblatt.training.scoring import kept
from rosenblatt.training.state import Machines, Pocket
from rosenblatt.training.updates import Ballots


def _learns_from_chunks(model: StreamLearner) -> bool:
    if model.hypothesis == "pocket":
        raise AttributeError(
            'hypothesis="pocket" compares weights on the whole training set, which partial_fit never sees: '
            'use fit, or hypothesis="average".'
        )
    return True


class StreamLearner(Learned):
    """A perceptron that can go on from what it knows: new rows, and new classes."""

    fit_intercept: bool
    multi_class: str
    class_weight: Any
    random_state: Any
    n_jobs: int | None
    _resume: Any

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
        elif classes is not None:
            self.machines_, self.classes_ = self._admit(self.machines_, self.classes_, np.unique(classes))
        self._resume = None
        self._watch_for_a_sorted_stream(y)
        self._visit_once(as_rows(X), labels, numbers, steps)
        return self

    def _watch_for_a_sorted_stream(self, y: np.ndarray) -> None:
        """Warn, once, when the first hundred or more rows of a stream have all carried one label."""
        machines = self.machines_
        seen = int(machines.visits.max())
        if machines.lead != seen or (seen and machines.lead_label != y[0]):
            return  # another label has come already
        run = leading_run(y)
        machines.lead, machines.lead_label = machines.lead + run, y[0]
        if warn_if_sorted(machines.lead, len(y), stacklevel=4):
            machines.lead = -1

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
                arrived = np.array([arrivals[part - 1][1]])
                self.machines_, self.classes_ = self._admit(self.machines_, self.classes_, arrived)
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
            machines.check_finite()

    def _admit(self, machines: Machines, known: np.ndarray, labels: np.ndarray) -> tuple[Machines, np.ndarray]:
        """Return machines that know the classes ``labels`` too, and all classes, sorted."""
        if (known.dtype.kind in "US") != (labels.dtype.kind in "US"):
            raise ValueError(
                f"the labels so far are {known.tolist()}, now came {labels.tolist()[0]!r}: "
                "labels must be all words or all numbers."
            )
        for label in np.setdiff1d(labels, known):
            classes = np.union1d(known, [label])
            machines = machines.admit(np.searchsorted(classes, known), self.multi_class == "direct")
            known = classes
        if self.hypothesis == "pocket" and machines.pocket is None:
            machines.pocket = Pocket.empty(len(machines.w), machines.w.shape[1], len(machines.counters))
        return machines, known

    def _new_machines(self, n_classes: int, d: int) -> Machines:
        direct = self.multi_class == "direct"
        machines = Machines.zeros(n_classes, d, direct=direct, fit_intercept=self.fit_intercept)
        machines.seed = seed_from(self.random_state)
        if self.hypothesis == "pocket":
            machines.pocket = Pocket.empty(len(machines.w), d, len(machines.counters))
        if self.hypothesis == "vote":
            machines.ballots = Ballots.empty(len(machines.counters), n_classes if machines.direct else 0)
        return machines
