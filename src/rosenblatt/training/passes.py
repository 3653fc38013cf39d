"""Leading machines through passes: slices, threads, the pocket, the log of voters, interrupts."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np
from sklearn.utils import assert_all_finite

from rosenblatt.kernels.exact import LIMBS
from rosenblatt.kernels.passes import direct_pass, one_vs_rest_pass
from rosenblatt.training.rows import CACHE_BYTES, SLICE_BYTES, Rows
from rosenblatt.training.scoring import activations, best_classes
from rosenblatt.training.state import Machines
from rosenblatt.training.updates import Updates, join


@dataclass
class Under:
    """The pass under way: who takes part, how they stood before, and what was counted so far."""

    row: int = 0
    """The rows before this one have been visited."""
    made: int = 0
    """Passes of this run before this one."""
    active: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    was_done: np.ndarray = field(default_factory=lambda: np.empty(0, bool))
    visits: np.ndarray = field(default_factory=lambda: np.empty(0))
    mistakes: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    lowest: np.ndarray = field(default_factory=lambda: np.empty(0))
    lowest_step: np.ndarray = field(default_factory=lambda: np.empty(0))
    changed: np.ndarray = field(default_factory=lambda: np.empty(0))


class Trainer:
    """Leads ``machines`` over one data set, a pass at a time.

    The rows are visited in slices, so that an interrupt is heard between two of them; what was learned
    until then stays.
    """

    def __init__(
        self,
        machines: Machines,
        rows: Rows,
        labels: np.ndarray,
        steps: np.ndarray,
        *,
        jobs: int = 1,
        on_slice: Callable[[float, int], None] = lambda part, mistakes: None,
    ) -> None:
        self.machines, self.rows, self.labels, self.steps = machines, rows, labels, steps
        self.on_slice = on_slice
        self.jobs = 1 if machines.direct else max(1, min(jobs, len(machines.w)))
        self.seen = False
        self.under = Under()
        self.updates: list[list[Updates]] = [[] for _ in machines.counters]

    def run_pass(self, order: np.ndarray, shuffled: bool, active: np.ndarray) -> np.ndarray:
        """Visit the rows in ``order`` once with the machines numbered ``active``; return each one's mistakes."""
        machines = self.machines
        started = machines.tally[active]
        started["mistakes"], started["longest"] = 0, 0.0
        started["lowest"] = started["lowest_step"] = math.inf
        started["last_change"] = started["visits"]
        machines.tally[active] = started
        log = self._room_for_log(len(order))
        slice_rows = max(1024, SLICE_BYTES // self.rows.row_bytes)
        try:
            with ThreadPoolExecutor(self.jobs) if self.jobs > 1 else nullcontext() as threads:
                for start in range(0, len(order), slice_rows):
                    stop = min(start + slice_rows, len(order))
                    self._visit(threads, order, start, stop, shuffled, active, log)
                    if not self.seen:
                        self._check_finite()
                    counts = machines.tally[active]
                    self.on_slice(stop / len(order), int(counts["mistakes"].sum()))
                    if np.all(counts["updates"] == counts["limit"]):
                        break
        finally:
            self._keep_log(log, active)
        if not self.seen:
            self._measure(order)
            self.seen = True
        return machines.tally["mistakes"][active].copy()

    def _visit(
        self,
        threads: ThreadPoolExecutor | None,
        order: np.ndarray,
        start: int,
        stop: int,
        shuffled: bool,
        active: np.ndarray,
        log: tuple[np.ndarray, np.ndarray],
    ) -> None:
        machines, rows = self.machines, self.rows
        examples = (rows.parts, self.labels, self.steps)
        one, first = float(machines.fit_intercept), not self.seen
        ahead = rows.ahead if shuffled else 0
        pocket = (np.empty((0, 0)), np.empty(0))
        if machines.pocket is not None:
            pocket = (machines.pocket.candidate_w, machines.pocket.candidate_b)
        arrays = (machines.w, machines.u, machines.tally)
        if machines.direct:
            state, scores = (*arrays, np.zeros(LIMBS, np.int64)), np.empty(len(machines.w))
            direct_pass(examples, order, start, stop, state, scores, one, rows.terms, ahead, first, log, pocket)
            return
        groups = [group for group in np.array_split(active, self.jobs) if len(group)] if threads else [active]

        def visit(group: np.ndarray) -> None:
            alone = len(group) == 1
            block = stop - start if alone else max(1, CACHE_BYTES // rows.row_bytes)
            scores = None if alone else np.empty((block, len(group)))
            state = (*arrays, np.zeros(LIMBS, np.int64))
            what = (examples, order, start, stop, state, group, scores)
            one_vs_rest_pass(*what, one, rows.terms, ahead, block, first, log, pocket)

        others: list[Future[None]] = [threads.submit(visit, group) for group in groups[1:]] if threads else []
        visit(groups[0])
        for other in others:
            other.result()

    def _check_finite(self) -> None:
        """Raise scikit-learn's error if a number that has been visited is not finite."""
        if not np.isfinite(self.machines.counters["radius2"]).all():
            assert_all_finite(self.rows.matrix, input_name="X")

    def _measure(self, order: np.ndarray) -> None:
        """Note the length of the longest example; the squares that kernels see may have left the range of floats."""
        machines = self.machines
        radius2 = float(machines.counters["radius2"].max())
        if 1e-280 < radius2 < 1e300:
            radius = math.sqrt(radius2)
        else:
            visited = order[self.steps[order] > 0] if len(self.steps) else order
            radius = math.hypot(self.rows.longest(visited), float(machines.fit_intercept))
        machines.radius = max(machines.radius, radius)

    # the pocket

    def judge_again(self, visited: np.ndarray) -> None:
        """Count the mistakes of the weights in the pocket on the rows ``visited``, which may be new ones."""
        pocket = self.machines.pocket
        if pocket is not None and np.isfinite(pocket.mistakes).all():
            pocket.mistakes[:] = self._training_mistakes(pocket.w, pocket.b, visited)

    def judge(self, visited: np.ndarray) -> None:
        """Put the weights with the fewest mistakes on the rows ``visited`` into the pocket.

        They are chosen among those at the end of this pass, those that survived the most visits in it, and those in the
        pocket so far.
        """
        machines = self.machines
        pocket = machines.pocket
        if pocket is None:
            return
        for w, b in ((pocket.candidate_w, pocket.candidate_b), (machines.w, machines.b)):
            mistakes = self._training_mistakes(w, b, visited)
            better = mistakes < pocket.mistakes
            pocket.mistakes[better] = mistakes[better]
            if machines.direct:
                better = np.broadcast_to(better, len(w))
            pocket.w[better], pocket.b[better] = w[better], b[better]

    def _training_mistakes(self, w: np.ndarray, b: np.ndarray, visited: np.ndarray) -> np.ndarray:
        """Return the weight of the rows ``visited`` that each machine gets wrong."""
        machines, rows = self.machines, self.rows
        weights = np.zeros(rows.n)
        weights[visited] = 1.0 if len(self.steps) == 0 else self.steps[visited]
        wrong = np.zeros(len(machines.counters))
        for start in range(0, rows.n, 65536):
            stop = min(start + 65536, rows.n)
            labels = self.labels[start:stop]
            if machines.direct:
                best, tied = best_classes(rows, w, b, start, stop)
                wrong += weights[start:stop] @ ((best != labels) | tied)
            else:
                a = activations(rows, w, b, start, stop)
                positive = labels[:, None] == machines.tally["target"]
                wrong += weights[start:stop] @ ~np.where(positive, a > 0, a < 0)
        return wrong

    # the log of voters

    def _room_for_log(self, visits: int) -> tuple[np.ndarray, np.ndarray]:
        if self.machines.ballots is None:
            return np.empty((0, 0), np.uint32), np.empty((0, 0))
        lines = 2 if self.machines.direct else len(self.machines.tally)
        return np.empty((lines, visits), np.uint32), np.empty((lines, visits))

    def _keep_log(self, log: tuple[np.ndarray, np.ndarray], active: np.ndarray) -> None:
        machines = self.machines
        if machines.ballots is None:
            return
        rows, visits = log
        for k in [0] if machines.direct else active:
            made = int(machines.tally["mistakes"][k])
            members = rows[k, :made].astype(np.int64)
            steps = np.ones(made) if len(self.steps) == 0 else self.steps[members]
            classes = self.labels[members].astype(np.int64)
            rivals = np.zeros(made, np.int64)
            if machines.direct:
                rivals = rows[1, :made].astype(np.int64)
            else:
                steps = np.where(classes == machines.tally["target"][k], steps, -steps)
            self.updates[k].append(Updates(members, steps, visits[k, :made].copy(), classes, rivals))

    def store_voters(self) -> None:
        """Hand the mistakes that made the machines what they are over to the ballots, with their rows."""
        machines = self.machines
        if machines.ballots is None:
            return
        joined = []
        for k, chunks in enumerate(self.updates):
            made = join(chunks)
            kept = made.visits < machines.tally["visits"][k]  # a later pass may have been given up
            joined.append(Updates(*(part[kept] for part in made)))
        machines.ballots.extend(self.rows.matrix, joined)
        self.updates = [[] for _ in self.updates]
