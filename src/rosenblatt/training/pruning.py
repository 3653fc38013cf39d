"""Removal of the smallest weights of a trained linear model, which makes its file small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rosenblatt.training.linear import LinearState
from rosenblatt.training.predict import predicted
from rosenblatt.training.rows import Names, RowMatrix
from rosenblatt.training.state import RunState

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Removal:
    """The number of weights that were removed, and the number of weights before."""

    removed: int
    weights: int
    """The number of weights that were not 0."""


class Pruner:
    """The weights with which a linear model predicts, ordered by magnitude, so that the smallest can be removed.

    Equal magnitudes are removed in the order of the classes and columns. The remaining weights are rounded to float32,
    which halves their size in a file. They are not rounded if that overflows.
    """

    def __init__(self, state: RunState, hypothesis: str) -> None:
        if not isinstance(state, LinearState) or hypothesis == "vote":
            raise ValueError(
                "pruning removes weights, so it needs a linear model that predicts with one weight vector for each "
                "class, got a vote or a kernel: train with hypothesis='average' or 'last', or without a kernel."
            )
        self.state, self.hypothesis = state, hypothesis
        w, self._b = state.weights(hypothesis)
        self._w = np.ascontiguousarray(w)
        with np.errstate(over="ignore"):
            rounded = self._w.astype(np.float32).astype(np.float64)
        self._rounded = rounded if np.isfinite(rounded).all() else self._w
        sizes = np.abs(self._w.ravel())
        places = np.flatnonzero(sizes)
        self._places = places[np.argsort(sizes[places], kind="stable")]
        """The places of the weights that are not 0 in the flattened array, by ascending magnitude."""

    def removal(self, share: float) -> Removal:
        """Return the removal of a share of the weights."""
        return Removal(int(share * len(self._places)), len(self._places))

    def harmless_removal(self, blocks: Sequence[RowMatrix]) -> Removal:
        """Return a removal that changes no prediction for the rows of ``blocks``, though removing one more does.

        It is found by bisection. Other removals, of more weights, may exist that change no prediction. If rounding
        alone changes a prediction, the weights are not rounded.
        """
        expected = [predicted(rows, self._w, self._b) for rows in blocks]

        def is_harmless(removed: int) -> bool:
            w = self._without(removed)
            pairs = zip(blocks, expected, strict=True)
            return all((predicted(rows, w, self._b) == labels).all() for rows, labels in pairs)

        if not is_harmless(0):
            self._rounded = self._w
        harmless, harmful = 0, len(self._places) + 1
        while harmful - harmless > 1:  # invariant: removing ``harmless`` weights changes no prediction
            middle = (harmless + harmful) // 2
            if is_harmless(middle):
                harmless = middle
            else:
                harmful = middle
        return Removal(harmless, len(self._places))

    def _without(self, removed: int) -> Floats:
        """Return the weights without the ``removed`` smallest ones."""
        w = self._rounded.copy()
        w.ravel()[self._places[:removed]] = 0.0
        return w

    def names_after(self, removal: Removal, names: Names | None, hashed: int) -> Names | None:
        """Return the names of the features, where the last ``hashed`` of them lose their words if no weight is left.

        Such a name is ``#`` and a number, which is not stored.
        """
        first = self.state.n_features - hashed
        if names is None or not hashed:
            return names
        names = names.copy()
        for place in (np.flatnonzero(~self._without(removal.removed)[:, first:].any(axis=0))).tolist():
            names[first + place] = f"#{place}"
        return names

    def state_after(self, removal: Removal) -> LinearState:
        """Return a state that predicts with the remaining weights, and keeps the history of the run.

        All hypotheses are equal in it. If training continues, it starts from these weights, without the averages and
        variances of the run.
        """
        old = self.state
        new = LinearState.zeros(
            max(2, old.n_scores),
            old.n_features,
            direct=old.direct,
            fit_intercept=old.fit_intercept,
            hypothesis=self.hypothesis,
            seed=old.seed,
            rule=old.rule,
            decay=old.decay,
        )
        new.start_from(self._without(removal.removed), self._b)
        new.radius, new.passes, new.cut, new.held_out_rows = old.radius, old.passes, old.cut, old.held_out_rows
        new.mistakes, new.pass_updates = list(old.mistakes), list(old.pass_updates)
        new.validation_error = list(old.validation_error)
        return new
