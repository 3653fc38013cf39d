"""A block of rows, visited by all classifiers at once: exactly the mistakes of one visit after the other.

The scores of all rows are those before the block. In each round every classifier finds its first row, after the last
one it settled, that may be a mistake; if it is one, it is corrected, which changes the scores of the rows after it by
their kernel values with that row. The rounds end when no classifier finds a row. There are as many as the most
mistakes that one classifier makes in the block, not as many as rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rosenblatt.training.dual.kernel_values import Array, ArrayLibrary

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_UNREAD_ROUNDS = 8
"""Rounds made on a GPU before their results are read."""
_MANY = 8
"""One in so many lines of a block's kernel values make it worth to compute all of them."""


class Gram:
    """Kernel values among the rows of a block: all of them on a GPU, on a CPU only lines that are asked for.

    Parameters
    ----------
    n : int
        The number of rows.
    library : ArrayLibrary
    lines : callable
        Computes the lines of some rows.
    kept_line : callable
        Returns the line of a row if it is kept already, else None.
    """

    def __init__(
        self,
        n: int,
        library: ArrayLibrary,
        lines: Callable[[Integers], Array],
        kept_line: Callable[[int], Array | None],
    ) -> None:
        self._lines, self._kept_line = lines, kept_line
        self._ready = np.zeros(n, bool)
        self.values: Array = None
        if not library.is_numpy:
            self.values = library.astype(lines(np.arange(n)), "float64")
            self._ready[:] = True

    def prepare(self, needed: Integers, likely: NDArray[np.bool_]) -> None:
        """Compute the lines ``needed``; if one of them is not there yet, those that are ``likely`` to be too.

        All of them are computed if that is hardly more work, as the whole is symmetric.
        """
        if self._ready[needed].all():
            return
        if self.values is None:
            self.values = np.empty((len(self._ready), len(self._ready)))
        likely = likely & ~self._ready
        likely[needed] = ~self._ready[needed]
        missing = []
        for row in np.flatnonzero(likely).tolist():
            line = self._kept_line(row)
            if line is None:
                missing.append(row)
            else:
                self.values[row] = line
        if _MANY * len(missing) > len(likely):
            self.values = np.asarray(self._lines(np.arange(len(likely))), np.float64)
            likely[:] = True
        elif missing:
            self.values[missing] = self._lines(np.array(missing))
        self._ready |= likely


@dataclass
class Correction:
    """An update found in a block: where, by which score margin, and what it moved."""

    place: int
    lead: float
    """How far the true side was ahead before, which is not above 0 but for rounding."""
    true: int = 0
    rival: int = 0
    forgotten: bool = False
    """Whether a limit of support rows has dropped its row since."""


@dataclass
class BlockResult:
    """What one classifier did in a block."""

    corrections: list[Correction] = field(default_factory=list)
    visited: int = 0
    lowest: float = math.inf
    """The smallest lead in the block, less its rounding error, where there was no correction."""
    lowest_step: float = math.inf


def least_leads(leads: Floats, bounds: Floats) -> Floats:
    """Return what leads that are known to be above 0 are at least, given what they may be off by."""
    with np.errstate(invalid="ignore"):
        least = leads - bounds
    return np.where(np.isfinite(leads) & (least > 1e-300), least, 1e-300)


Forget = Callable[[int, Correction], Floats | None]


def keep_all(k: int, correction: Correction) -> None:
    """Forget nothing."""


class OneVsRestRounds:
    """The rounds of ``k`` independent classifiers over blocks of ``n`` rows.

    On a GPU a burst of rounds is recorded once and replayed for every block, since starting so many small operations
    one by one would take longer than they do.
    """

    def __init__(self, library: ArrayLibrary, k: int, n: int) -> None:
        self.library, self.xp, self.k, self.n = library, library.xp, k, n
        self._leads, self._bounds, self._signs = (library.put(np.zeros((k, n))) for _ in range(3))
        self._moves, self._settled = library.put(np.zeros(k * n)), library.put(np.zeros(k, np.int64))
        self._gram: Array = None
        self._places, self._lines = library.put(np.arange(n)[None, :]), library.put(np.arange(k) * n)
        self._none, self._zero = library.put(np.full(1, n)), library.put(np.zeros(1, np.int64))
        self._no_move = library.put(np.zeros(1))
        self._replay: Callable[[], None] | None = None
        if library.is_remote:
            self._gram = library.put(np.zeros((n, n)))
            self._records = library.put(np.zeros((_UNREAD_ROUNDS, 3, k)))
            self._replay = library.recorded(self._burst)

    def run(
        self,
        signs: Floats,
        steps: Floats,
        leads: Array,
        bounds: Floats,
        gram: Gram,
        room: Integers,
        is_mistake: Callable[[int, int, list[Correction]], bool],
        forget: Forget = keep_all,
    ) -> list[BlockResult]:
        """Make the rounds of a block and return what each classifier did.

        Parameters
        ----------
        signs : array of shape (classifiers, rows)
            1 where a row belongs to the class, else -1.
        steps : array of shape (rows,)
            Step sizes.
        leads : device array of shape (classifiers, rows)
            Signs times scores before the block.
        bounds : array of shape (classifiers, rows)
            Rounding errors of the leads, at any moment of the block; 0 where they have none.
        gram : Gram
        room : array of shape (classifiers,)
            The most corrections that each classifier may make.
        is_mistake : callable
            Settles whether a classifier, with its corrections in the block so far, is wrong on a row.
        forget : callable
            Called after each correction of a classifier; returns by how much the scores of the rows change (a line for
            each score of the classifier) because another row was dropped for it, or None.
        """
        library = self.library
        self.results = [BlockResult() for _ in range(self.k)]
        self.signs, self.steps, self.bounds, self.room = signs, steps, bounds, room
        self.gram, self.is_mistake, self.forget = gram, is_mistake, forget
        self._leads[:, :], self._bounds[:, :], self._signs[:, :] = leads, library.put(bounds), library.put(signs)
        self._moves[:] = library.put((signs * steps).ravel())
        self._settled[:] = library.put(np.where(room > 0, -1, self.n))
        if self._replay is None:
            self._gram = gram.values
        else:
            self._gram[:, :] = gram.values
        limited = bool((room < self.n).any()) or forget is not keep_all
        while True:
            records = self._rounds(limited)
            if records is None:
                return self._finish()
            for firsts, leads_there, sure in records:
                for k in np.flatnonzero(sure):
                    self._enter(int(k), Correction(int(firsts[k]), float(leads_there[k])))
            firsts, leads_there, sure = records[-1]
            found = np.flatnonzero(firsts < self.n)
            if not len(found):
                return self._finish()
            for k in found[sure[found] == 0]:
                self._decide(int(k), int(firsts[k]), float(leads_there[k]))
            if limited:
                self._stop_at_limits()

    def _rounds(self, limited: bool) -> Floats | None:
        """Make a round, or several where they need not be read at once; return what they found, None for nothing."""
        if self._replay is not None and not limited:
            self._replay()
            return self.library.fetch(self._records)
        first, candidates = self._find()
        if self.library.is_numpy:
            if not (first < self.n).any():
                return None
            self.gram.prepare(first[first < self.n], candidates.any(axis=0))
            self._gram = self.gram.values
        return self.library.fetch(self._correct(first))[None]

    def _burst(self) -> None:
        """Make rounds without a look at what they find."""
        for number in range(_UNREAD_ROUNDS):
            self._records[number, :, :] = self._correct(self._find()[0])

    def _find(self) -> tuple[Array, Array]:
        """Return for each classifier its first row that may be a mistake, or the number of rows."""
        xp = self.xp
        candidates = ~(self._leads > self._bounds) & (self._places > self._settled[:, None])
        return xp.min(xp.where(candidates, self._places, self._none), axis=1), candidates

    def _correct(self, first: Array) -> Array:
        """Correct the rows ``first`` that are mistakes for certain; return these rows, their leads and which are."""
        xp, library = self.xp, self.library
        found = first < self.n
        place = xp.where(found, first, self._zero)
        flat = place + self._lines
        lead = xp.take(xp.reshape(self._leads, (-1,)), flat, axis=0)
        bound = xp.take(xp.reshape(self._bounds, (-1,)), flat, axis=0)
        sure = found & ((lead < -bound) | (bound == 0.0))
        move = xp.where(sure, xp.take(self._moves, flat, axis=0), self._no_move)
        self._leads += self._signs * (xp.take(self._gram, place, axis=0) * move[:, None])
        self._settled[:] = xp.where(sure, first, self._settled)
        return xp.stack([library.astype(part, "float64") for part in (first, lead, sure)])

    def _decide(self, k: int, place: int, lead: float) -> None:
        """Settle a row in doubt exactly, and correct it if it is a mistake."""
        if self.is_mistake(k, place, self.results[k].corrections):
            line = self._gram[place, :] * float(self.signs[k, place] * self.steps[place])
            self._leads[k, :] += self._signs[k, :] * line
            self._enter(k, Correction(place, lead))
        self._settled[k] = place

    def _enter(self, k: int, correction: Correction) -> None:
        self.results[k].corrections.append(correction)
        change = self.forget(k, correction)
        if change is not None:
            self._leads[k, :] += self._signs[k, :] * self.library.put(change[0])

    def _stop_at_limits(self) -> None:
        for k, result in enumerate(self.results):
            if len(result.corrections) >= self.room[k]:
                self._settled[k] = self.n

    def _finish(self) -> list[BlockResult]:
        """Enter how many rows were visited, and the smallest leads of classifiers that made no correction."""
        clean = [k for k, result in enumerate(self.results) if not result.corrections]
        leads = self.library.fetch(self._leads) if clean else np.empty(0)
        for k, result in enumerate(self.results):
            full = len(result.corrections) >= self.room[k]
            result.visited = self.n if not full else result.corrections[-1].place + 1 if result.corrections else 0
        for k in clean:
            lowest = least_leads(leads[k], self.bounds[k])
            self.results[k].lowest = float(lowest.min())
            self.results[k].lowest_step = float((lowest * self.steps).min())
        return self.results


# A block of rows, visited by classes that compete: the mistakes of one visit after the other.


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
