"""Make the updates in a block of rows for all classifiers at once, with the same result as visiting row after row.

At the start the scores of all rows in the block are known. In each round, every classifier looks for its first
undecided row that may be a mistake. If that row is a mistake, the classifier is updated: the scores of all rows change
by multiples of their kernel values with that row. The rounds end when no classifier finds a row. So there are only as
many rounds as the largest number of rows that a classifier finds. These are its mistakes, and the rows whose sign was
uncertain but that turn out to be correctly classified.

Why this is the same as visiting row after row: after each round, a classifier's margins are those of its weights after
all its updates so far. Take the rows between the last decided row and the row that was found. Their margins are above
the bounds on rounding errors, so they are classified correctly, and visiting them would not change the weights. Hence
the row that was found is the next one that can cause an update. The scores of rows before it are not read again.
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
"""The number of rounds that a GPU computes before their results are read, because reading waits for the device.

Eight is a guess. Any number gives the same updates. With fewer rounds the host waits more often. With more rounds, the
last rounds often find no row.
"""
_GRAM_SHARE = 8
"""If more than 1 / 8 of the lines of a Gram matrix are missing, the whole matrix is computed in one product.

Eight is a guess: computing all lines at once is faster per line than computing a few. If `Kernel.is_exact`, any number
gives the same updates. With other kernels, a matrix product of another shape may round differently.
"""


class Gram:
    """The Gram matrix of a block: the kernel values between each two rows of the block.

    The rows of the Gram matrix are called lines, to distinguish them from the rows of the block. On a GPU the whole
    matrix is computed at once, on a CPU only the lines that are needed.

    Parameters
    ----------
    n : int
        The number of rows.
    library : ArrayLibrary
    lines : callable
        Called with indices of rows in the block; returns their lines.
    cached_line : callable
        Called with the index of a row in the block; returns its line if it is in the cache, else None.
    """

    def __init__(
        self,
        n: int,
        library: ArrayLibrary,
        lines: Callable[[Integers], Array],
        cached_line: Callable[[int], Array | None],
    ) -> None:
        self._lines, self._cached_line = lines, cached_line
        self._ready = np.zeros(n, bool)
        self.values: Array = None
        if not library.is_numpy:
            self.values = library.astype(lines(np.arange(n)), "float64")
            self._ready[:] = True

    def prepare(self, needed: Integers, likely: NDArray[np.bool_]) -> None:
        """Make sure that the lines with indices ``needed`` have been computed.

        If one of them is missing, the lines in the mask ``likely``, which may soon be needed, are computed as well. If
        many lines are missing, all lines are computed (``_GRAM_SHARE``).
        """
        if self._ready[needed].all():
            return
        if self.values is None:
            self.values = np.empty((len(self._ready), len(self._ready)))
        likely = likely & ~self._ready
        likely[needed] = ~self._ready[needed]
        missing = []
        for row in np.flatnonzero(likely).tolist():
            line = self._cached_line(row)
            if line is None:
                missing.append(row)
            else:
                self.values[row] = line
        if _GRAM_SHARE * len(missing) > len(likely):
            self.values = np.asarray(self._lines(np.arange(len(likely))), np.float64)
            likely[:] = True
        elif missing:
            self.values[missing] = self._lines(np.array(missing))
        self._ready |= likely


@dataclass
class BlockUpdate:
    """An update on a row of a block."""

    place: int
    """The index of the row in the block."""
    margin: float
    """The margin of the true class before the update. It is above 0 only if it has a rounding error."""
    true: int = 0
    """If classes compete directly, the number of the true class."""
    rival: int = 0
    """If classes compete directly, the number of the class whose weights are moved away from the row."""
    evicted: bool = False
    """Whether the row has been evicted since, because of the limit on support rows."""


@dataclass
class BlockResult:
    """The updates of one classifier in a block, and lower bounds on its margins if there were no updates."""

    updates: list[BlockUpdate] = field(default_factory=list)
    visited: int = 0
    """The number of rows visited."""
    lowest: float = math.inf
    """A lower bound on the smallest margin in the block if there was no update, else infinity."""
    lowest_step: float = math.inf
    """A lower bound on the product of each row's margin and step size if there was no update, else infinity."""


def least_margins(margins: Floats, bounds: Floats) -> Floats:
    """Return lower bounds on margins that are known to be above 0, given bounds on their rounding errors.

    If the margin minus its bound is not above 0, the result is 1e-300. This is not a lower bound, but means "above 0 by
    an unknown amount". `DualState.margins` does not use numbers below ``TINY_SQUARE`` as margins.
    """
    with np.errstate(invalid="ignore"):
        least = margins - bounds
    return np.where(np.isfinite(margins) & (least > 1e-300), least, 1e-300)


Evict = Callable[[int, BlockUpdate], Floats | None]


def evict_nothing(k: int, update: BlockUpdate) -> None:
    """Evict no support row. This is used if there is no limit on support rows."""


class OneVsRestBlockUpdates:
    """The updates of ``k`` independent classifiers in blocks of ``n`` rows.

    On a GPU several rounds are recorded once as a CUDA graph, and replayed for every block. Launching each of these
    small operations separately would take longer than running it.
    """

    def __init__(self, library: ArrayLibrary, k: int, n: int) -> None:
        self.library, self.xp, self.k, self.n = library, library.xp, k, n
        self._margins, self._bounds, self._signs = (library.put(np.zeros((k, n))) for _ in range(3))
        self._moves, self._decided = library.put(np.zeros(k * n)), library.put(np.zeros(k, np.int64))
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
        margins: Array,
        bounds: Floats,
        gram: Gram,
        max_updates: Integers,
        is_mistake: Callable[[int, int, list[BlockUpdate]], bool],
        evict: Evict = evict_nothing,
    ) -> list[BlockResult]:
        """Make all updates in a block, and return the result of each classifier.

        Parameters
        ----------
        signs : array of shape (classifiers, rows)
            1 if a row belongs to the classifier's class, else -1.
        steps : array of shape (rows,)
            The step size of each row.
        margins : device array of shape (classifiers, rows)
            The margins, ``signs`` times scores, before the updates of this block.
        bounds : array of shape (classifiers, rows)
            Bounds on the rounding errors of the margins throughout the block; 0 if the margins are exact.
        gram : Gram
            The kernel values between the rows of the block.
        max_updates : array of shape (classifiers,)
            The largest number of updates that each classifier may make.
        is_mistake : callable
            Computes exactly whether a classifier misclassifies a row, given its updates in the block so far.
        evict : callable
            Called after each update of a classifier. If this evicts another row, the callable returns the change of the
            scores of the block's rows, as an array of shape (scores of the classifier, rows). Otherwise it returns
            None. By default no row is evicted.
        """
        library = self.library
        self.results = [BlockResult() for _ in range(self.k)]
        self.signs, self.steps, self.bounds, self.max_updates = signs, steps, bounds, max_updates
        self.gram, self.is_mistake, self.evict = gram, is_mistake, evict
        self._margins[:, :], self._bounds[:, :], self._signs[:, :] = margins, library.put(bounds), library.put(signs)
        self._moves[:] = library.put((signs * steps).ravel())
        self._decided[:] = library.put(np.where(max_updates > 0, -1, self.n))
        if self._replay is None:
            self._gram = gram.values
        else:
            self._gram[:, :] = gram.values
        limited = bool((max_updates < self.n).any()) or evict is not evict_nothing
        # Invariant: ``_decided[k]`` is the last row that classifier k has decided, or n if it may make no more updates,
        # and ``_margins[k]`` are those of its weights after the updates on rows up to there.
        while True:
            records = self._rounds(limited)
            if records is None:
                return self._finish()
            for firsts, margins_there, sure in records:
                for k in np.flatnonzero(sure):
                    self._enter(int(k), BlockUpdate(int(firsts[k]), float(margins_there[k])))
            firsts, margins_there, sure = records[-1]
            found = np.flatnonzero(firsts < self.n)
            if not len(found):
                return self._finish()
            # An uncertain row is in the last round, as a classifier finds the same row until it is decided.
            for k in found[sure[found] == 0]:
                self._decide(int(k), int(firsts[k]), float(margins_there[k]))
            if limited:
                self._stop_at_limits()

    def _rounds(self, limited: bool) -> Floats | None:
        """Run one or several rounds, and return their results in one array; return None if no row was found."""
        if self._replay is not None and not limited:
            self._replay()
            return self.library.fetch(self._records)
        first, candidates = self._find()
        if self.library.is_numpy:
            if not (first < self.n).any():
                return None
            self.gram.prepare(first[first < self.n], candidates.any(axis=0))
            self._gram = self.gram.values
        return self.library.fetch(self._update(first))[None]

    def _burst(self) -> None:
        """Run several rounds on the device without reading their results.

        A classifier stops at a row whose sign is uncertain: later rounds find the same row, until the host decides it.
        """
        for number in range(_UNREAD_ROUNDS):
            self._records[number, :, :] = self._update(self._find()[0])

    def _find(self) -> tuple[Array, Array]:
        """Return, for each classifier, the first undecided row that may be a mistake, and a mask of all such rows.

        If there is no such row, the first is n. A row whose margin is NaN may be a mistake.
        """
        xp = self.xp
        candidates = ~(self._margins > self._bounds) & (self._places > self._decided[:, None])
        return xp.min(xp.where(candidates, self._places, self._none), axis=1), candidates

    def _update(self, first: Array) -> Array:
        """Update each classifier on its row in ``first``, if that row is a mistake in spite of rounding errors.

        Return one array with three lines: the rows, their margins, and whether each row was such a mistake.
        """
        xp, library = self.xp, self.library
        found = first < self.n
        place = xp.where(found, first, self._zero)
        flat = place + self._lines
        margin = xp.take(xp.reshape(self._margins, (-1,)), flat, axis=0)
        bound = xp.take(xp.reshape(self._bounds, (-1,)), flat, axis=0)
        sure = found & ((margin < -bound) | (bound == 0.0))
        move = xp.where(sure, xp.take(self._moves, flat, axis=0), self._no_move)
        self._margins += self._signs * (xp.take(self._gram, place, axis=0) * move[:, None])
        self._decided[:] = xp.where(sure, first, self._decided)
        return xp.stack([library.astype(part, "float64") for part in (first, margin, sure)])

    def _decide(self, k: int, place: int, margin: float) -> None:
        """Compute exactly whether an uncertain row is a mistake. If it is, update classifier ``k``."""
        if self.is_mistake(k, place, self.results[k].updates):
            line = self._gram[place, :] * float(self.signs[k, place] * self.steps[place])
            self._margins[k, :] += self._signs[k, :] * line
            self._enter(k, BlockUpdate(place, margin))
        self._decided[k] = place

    def _enter(self, k: int, update: BlockUpdate) -> None:
        self.results[k].updates.append(update)
        change = self.evict(k, update)
        if change is not None:
            self._margins[k, :] += self._signs[k, :] * self.library.put(change[0])

    def _stop_at_limits(self) -> None:
        for k, result in enumerate(self.results):
            if len(result.updates) >= self.max_updates[k]:
                self._decided[k] = self.n

    def _finish(self) -> list[BlockResult]:
        """Complete the results and return them.

        The number of visited rows is added to each result, and the smallest margins to results without updates.
        """
        clean = [k for k, result in enumerate(self.results) if not result.updates]
        margins = self.library.fetch(self._margins) if clean else np.empty(0)
        for k, result in enumerate(self.results):
            full = len(result.updates) >= self.max_updates[k]
            result.visited = self.n if not full else result.updates[-1].place + 1 if result.updates else 0
        for k in clean:
            lowest = least_margins(margins[k], self.bounds[k])
            self.results[k].lowest = float(lowest.min())
            self.results[k].lowest_step = float((lowest * self.steps).min())
        return self.results


# Classes that compete directly: mistakes are found one at a time, by the argument above, with an update after each.


class DirectBlockUpdates:
    """The updates of directly competing classes in one block; the counterpart of `OneVsRestBlockUpdates`.

    Parameters
    ----------
    labels : array of shape (rows,)
        The class number of each row.
    steps : array of shape (rows,)
        The step size of each row.
    scores : device array of shape (classes, rows)
        The scores before the updates of this block.
    bounds : array of shape (rows,)
        Bounds on the rounding errors of the scores throughout the block; 0 if the scores are exact.
    gram : Gram
        The kernel values between the rows of the block.
    max_updates : int
        The largest number of updates that may be made.
    compare : callable
        Returns the exact sign of one class's score minus another's on a row, given the updates so far.
    evict : callable
        As in `OneVsRestBlockUpdates.run`.
    """

    def __init__(
        self,
        library: ArrayLibrary,
        labels: Integers,
        steps: Floats,
        scores: Array,
        bounds: Floats,
        gram: Gram,
        max_updates: int,
        compare: Callable[[int, int, int, list[BlockUpdate]], int],
        evict: Evict = evict_nothing,
    ) -> None:
        self.library, self.xp, self.gram, self.compare, self.evict = library, library.xp, gram, compare, evict
        self.labels, self.steps, self.bounds, self.max_updates, self.scores = labels, steps, bounds, max_updates, scores
        k, self.n = scores.shape
        own = labels[None, :] == np.arange(k)[:, None]
        self._own = library.put(own)
        self._hidden = library.put(np.where(own, -np.inf, 0.0))
        self._zero = library.put(np.zeros(1))
        self._margin_bounds = library.put(2.0 * bounds)
        self._places = library.put(np.arange(self.n))
        self._none = library.put(np.full(1, self.n))
        self.result = BlockResult()

    def run(self) -> list[BlockResult]:
        """Make all updates in the block, and return a list that contains the only result."""
        decided, found = -1, self.result.updates
        # Invariant: ``scores`` are those after the updates ``found``, and rows up to ``decided`` have been visited.
        while len(found) < self.max_updates:
            margins = self._margins()
            candidates = ~(margins > self._margin_bounds) & (self._places > decided)
            first = int(self.xp.min(self.xp.where(candidates, self._places, self._none)))
            if first == self.n:
                break
            column = self.library.fetch(self.scores[:, first])
            update = self._decide(first, column)
            if update is not None:
                self.gram.prepare(np.array([first]), self.library.fetch(candidates))
                moves = np.zeros((len(column), 1))
                moves[update.true], moves[update.rival] = self.steps[first], -self.steps[first]
                self.scores = self.scores + self.library.put(moves) * self.gram.values[first, :][None, :]
                found.append(update)
                change = self.evict(0, update)
                if change is not None:
                    self.scores = self.scores + self.library.put(change)
            decided = first
        self.result.visited = self.n if len(found) < self.max_updates else found[-1].place + 1 if found else 0
        if not found and self.result.visited:
            lowest = least_margins(self.library.fetch(self._margins()), 2.0 * self.bounds)
            self.result.lowest = float(lowest.min())
            self.result.lowest_step = float((lowest * self.steps).min())
        return [self.result]

    def _margins(self) -> Array:
        """Return the margin of each row: the score of its true class minus the largest score of another class."""
        xp = self.xp
        own = xp.sum(xp.where(self._own, self.scores, self._zero), axis=0)
        return own - xp.max(self.scores + self._hidden, axis=0)

    def _decide(self, place: int, scores: Floats) -> BlockUpdate | None:
        """Return the update that a row triggers, or None if exact arithmetic shows that it is classified correctly."""
        true, found = int(self.labels[place]), self.result.updates
        # Two scores are each off by at most their bound. Rounding their difference does no harm, because rounding is
        # monotone.
        limit = 2.0 * float(self.bounds[place])
        others = [k for k in range(len(scores)) if k != true]
        best = max(scores[k] for k in others)
        # Every class that may be the best is compared exactly; that is all of them if there is NaN or infinity, because
        # the bounds are then infinite.
        close = [k for k in others if not (scores[k] < best - limit)]
        rival = close[0] if limit > 0 else next((k for k in others if scores[k] == best), others[0])
        for k in close[1:] if limit > 0 else []:  # invariant: ``rival`` is the first of the largest classes so far
            if self.compare(k, rival, place, found) > 0:
                rival = k
        margin = float(scores[true] - scores[rival])
        if limit == 0 or margin < -limit:
            wrong = not (margin > 0)  # not margin <= 0, as kernel values without exact values may be NaN
        else:
            wrong = not (margin > limit) and self.compare(true, rival, place, found) <= 0
        return BlockUpdate(place, margin, true, rival) if wrong else None
