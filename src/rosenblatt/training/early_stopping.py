"""Early stopping: rows held out of training, and the pass that predicts them best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.training.rows import Rows, as_rows
from rosenblatt.training.scoring import chosen_classes
from rosenblatt.training.state import Machines


@dataclass
class Best:
    """The best pass so far, and how many have not been better since."""

    machines: Machines | None = None
    error: float = np.inf
    passes_since: int = 0


@dataclass
class Held:
    """Rows kept out of training, how they are judged, and the pass that predicts them best."""

    rows: Rows
    numbers: np.ndarray
    weights: np.ndarray | None
    hypothesis: str
    patience: int
    best: Best

    @property
    def stalled(self) -> bool:
        """Whether it has been long enough since the best pass."""
        return self.best.passes_since >= self.patience

    def error(self, machines: Machines) -> float:
        """Return the share of these rows that the hypothesis gets wrong."""
        predicted, _ = chosen_classes(machines, self.hypothesis, self.rows)
        return float(np.average(predicted != self.numbers, weights=self.weights))

    def judge(self, machines: Machines) -> float:
        """Return the error after the pass just made, and remember the machines if it is the least so far.

        A clean pass that is as good as the best takes its place: it changes no weights, but is known to be clean.
        """
        error, best = self.error(machines), self.best
        if error < best.error or (machines.done.all() and error == best.error):
            best.machines, best.error, best.passes_since = machines.snapshot(), error, 0
        else:
            best.passes_since += 1
        return error


def hold_out(
    model: Any, rows: Rows, numbers: np.ndarray, steps: np.ndarray, seed: int, resumed: Best | None
) -> tuple[np.ndarray, Held]:
    """Return the rows to train on, in ascending order, and those that ``model`` is to be judged by."""
    from sklearn.model_selection import train_test_split  # takes longer to import than all of this package

    try:
        kept, held = train_test_split(
            np.arange(rows.n, dtype=np.uint32),
            test_size=model.validation_fraction,
            stratify=numbers,
            random_state=seed % 2**32,
        )
    except ValueError as fault:
        raise ValueError(
            f"early stopping cannot hold out {model.validation_fraction} of these {rows.n} rows with every class in "
            "both parts: give more rows, or another validation_fraction."
        ) from fault
    held.sort()
    out = Held(
        rows=as_rows(rows.matrix[held]),
        numbers=numbers[held],
        weights=steps[held] if len(steps) and steps[held].any() else None,
        hypothesis=model.hypothesis,
        patience=model.n_iter_no_change,
        best=Best() if resumed is None else resumed,
    )
    if out.best.machines is not None:
        out.best.error = out.error(out.best.machines)  # the rows may be other ones
    return np.sort(kept), out
