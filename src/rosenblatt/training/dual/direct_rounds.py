"""A block of rows, visited by classes that compete: the mistakes of one visit after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rosenblatt.training.dual.arrays import Array, ArrayLibrary
from rosenblatt.training.dual.rounds import (
    BlockResult,
    Correction,
    Floats,
    Forget,
    Gram,
    Integers,
    keep_all,
    least_leads,
)


class DirectRounds:
    """The rounds of directly competing classes over one block, as `OneVsRestRounds` makes those of classifiers.

    Parameters
    ----------
    labels : array of shape (rows,)
        The true classes.
    steps : array of shape (rows,)
        Step sizes.
    scores : device array of shape (classes, rows)
        Scores before the block.
    bounds : array of shape (rows,)
        Rounding errors of the scores, at any moment of the block; 0 where they have none.
    gram : Gram
    room : int
        The most corrections that may be made.
    compare : callable
        Returns the sign of the lead of one class over another on a row, exactly, after the corrections so far.
    forget : callable
        See `OneVsRestRounds`.
    """

    def __init__(
        self,
        library: ArrayLibrary,
        labels: Integers,
        steps: Floats,
        scores: Array,
        bounds: Floats,
        gram: Gram,
        room: int,
        compare: Callable[[int, int, int, list[Correction]], int],
        forget: Forget = keep_all,
    ) -> None:
        self.library, self.xp, self.gram, self.compare, self.forget = library, library.xp, gram, compare, forget
        self.labels, self.steps, self.bounds, self.room, self.scores = labels, steps, bounds, room, scores
        k, self.n = scores.shape
        own = labels[None, :] == np.arange(k)[:, None]
        self._own = library.put(own)
        self._hidden = library.put(np.where(own, -np.inf, 0.0))
        self._zero = library.put(np.zeros(1))
        self._limits = library.put(2.0 * bounds)
        self._places = library.put(np.arange(self.n))
        self._none = library.put(np.full(1, self.n))
        self.result = BlockResult()

    def run(self) -> list[BlockResult]:
        """Make the rounds and return what they did."""
        settled, found = -1, self.result.corrections
        while len(found) < self.room:
            leads = self._leads()
            candidates = ~(leads > self._limits) & (self._places > settled)
            first = int(self.xp.min(self.xp.where(candidates, self._places, self._none)))
            if first == self.n:
                break
            column = self.library.fetch(self.scores[:, first])
            correction = self._decide(first, column)
            if correction is not None:
                self.gram.prepare(np.array([first]), self.library.fetch(candidates))
                moves = np.zeros((len(column), 1))
                moves[correction.true], moves[correction.rival] = self.steps[first], -self.steps[first]
                self.scores = self.scores + self.library.put(moves) * self.gram.values[first, :][None, :]
                found.append(correction)
                change = self.forget(0, correction)
                if change is not None:
                    self.scores = self.scores + self.library.put(change)
            settled = first
        self.result.visited = self.n if len(found) < self.room else found[-1].place + 1 if found else 0
        if not found and self.result.visited:
            lowest = least_leads(self.library.fetch(self._leads()), 2.0 * self.bounds)
            self.result.lowest = float(lowest.min())
            self.result.lowest_step = float((lowest * self.steps).min())
        return [self.result]

    def _leads(self) -> Array:
        """Return how far the true class of each row is ahead of its best rival."""
        xp = self.xp
        own = xp.sum(xp.where(self._own, self.scores, self._zero), axis=0)
        return own - xp.max(self.scores + self._hidden, axis=0)

    def _decide(self, place: int, scores: Floats) -> Correction | None:
        """Return the correction of a row, None if it is no mistake, decided exactly."""
        true, found = int(self.labels[place]), self.result.corrections
        limit = 2.0 * float(self.bounds[place])
        others = [k for k in range(len(scores)) if k != true]
        best = max(scores[k] for k in others)
        # with NaN or infinity the limit is infinite, and all of them are compared
        close = [k for k in others if not (scores[k] < best - limit)]
        rival = close[0] if limit > 0 else next((k for k in others if scores[k] == best), others[0])
        for k in close[1:] if limit > 0 else []:
            if self.compare(k, rival, place, found) > 0:
                rival = k
        lead = float(scores[true] - scores[rival])
        if limit == 0 or lead < -limit:
            wrong = not (lead > 0)  # numbers as computed may be NaN
        else:
            wrong = not (lead > limit) and self.compare(true, rival, place, found) <= 0
        return Correction(place, lead, true, rival) if wrong else None
