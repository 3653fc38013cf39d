"""Linear machines side by side: all that a run has learned, and all it needs to go on."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field

import numpy as np

from rosenblatt.kernels.passes import TALLY
from rosenblatt.training.updates import Ballots


@dataclass
class Pocket:
    """The weights with the fewest training mistakes so far, and what the pass under way puts forward."""

    w: np.ndarray
    b: np.ndarray
    mistakes: np.ndarray
    candidate_w: np.ndarray
    candidate_b: np.ndarray

    @classmethod
    def empty(cls, k: int, d: int, judged: int) -> Pocket:
        """Return a pocket for ``k`` machines, of which ``judged`` are judged by themselves."""
        worst = np.full(judged, np.inf)
        return cls(np.zeros((k, d)), np.zeros(k), worst, np.zeros((k, d)), np.zeros(k))


@dataclass
class Machines:
    """The weights and counters of a run.

    Two classes are one machine that answers yes to the second; more classes are a machine each. With
    ``direct`` the classes compete in one update and ``tally[0]`` counts for all of them.
    """

    w: np.ndarray
    u: np.ndarray
    tally: np.ndarray
    direct: bool
    fit_intercept: bool
    done: np.ndarray
    """Whether each machine (or the one for all) has made a whole pass without a mistake."""
    seed: int = 0
    radius: float = 0.0
    """Length of the longest example seen, the bias coordinate included."""
    lead: int = 0
    """How many rows at the start of a stream carried one label, as long as no other has come."""
    lead_label: object = None
    spread: np.ndarray | None = None
    """Range of each feature over a sample of the rows."""
    passes: int = 0
    mistakes: list[np.ndarray] = field(default_factory=list)
    """For each pass, the mistakes of each machine; -1 where a machine took no part."""
    validation_error: list[float] = field(default_factory=list)
    pocket: Pocket | None = None
    ballots: Ballots | None = None

    @classmethod
    def zeros(cls, n_classes: int, d: int, *, direct: bool, fit_intercept: bool) -> Machines:
        """Return machines that have seen nothing, for ``n_classes`` classes and ``d`` features."""
        k = n_classes if n_classes > 2 else 1
        machines = cls(
            w=np.zeros((k, d)),
            u=np.zeros((k, d)),
            tally=np.zeros(k, TALLY),
            direct=direct and n_classes > 2,
            fit_intercept=fit_intercept,
            done=np.zeros(0, bool),
        )
        machines.done = np.zeros(len(machines.counters), bool)
        machines.tally["target"] = np.arange(k) if n_classes != 2 else 1
        machines.tally["limit"] = -1
        return machines

    @property
    def b(self) -> np.ndarray:
        """The bias of each machine."""
        return self.tally["b"].copy()

    @property
    def counters(self) -> np.ndarray:
        """The records that count: one a machine, or one for all where classes compete directly."""
        return self.tally[:1] if self.direct else self.tally

    @property
    def visits(self) -> np.ndarray:
        """Visits that each machine's average covers."""
        return np.broadcast_to(self.counters["visits"], len(self.tally))

    def average(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean of the weights after each visit, and of the biases.

        CIML's algorithm 7 with its counter started at 0 instead of 1: the zero vector that precedes the first
        visit is not part of the mean. (Either way every sign is the same.)
        """
        visits = np.maximum(self.visits, 1.0)
        return self.w - self.u / visits[:, None], self.tally["b"] - self.tally["beta"] / visits

    def check_finite(self) -> None:
        """Raise a ValueError if weights have outgrown the floats; look only where they may have."""
        counters = self.counters
        with np.errstate(over="ignore"):
            longest = self.radius * np.sqrt(counters["energy"].max()) * (counters["visits"].max() + 1.0)
        if not longest < 1e300 and not (np.isfinite(self.w).all() and np.isfinite(self.u).all()):
            raise ValueError(
                "the weights have grown beyond the range of floats: scale the features, "
                "for instance with sklearn.preprocessing.MaxAbsScaler, and train from the start."
            )

    def widen(self, d: int) -> None:
        """Give the machines ``d`` features, if they have fewer: weights of 0, as if they had been there all along."""
        more = d - self.w.shape[1]
        if more > 0:
            self.w, self.u = (np.pad(weights, ((0, 0), (0, more))) for weights in (self.w, self.u))
            self.spread = None

    def snapshot(self) -> Machines:
        """Return a copy that further training leaves alone."""
        other = copy(self)
        other.w, other.u, other.tally = self.w.copy(), self.u.copy(), self.tally.copy()
        other.done, other.mistakes = self.done.copy(), list(self.mistakes)
        other.validation_error = list(self.validation_error)
        if self.pocket is not None:
            other.pocket = Pocket(**{name: array.copy() for name, array in vars(self.pocket).items()})
        if self.ballots is not None:
            other.ballots = self.ballots.snapshot()
        return other

    def admit(self, places: np.ndarray, direct: bool) -> Machines:
        """Return these machines with one more class, which starts from zero.

        ``places`` gives the number that each class known so far has from now on. Two classes share one machine, since
        the first's is the mirror image of the second's; from the third on each has its own.
        """
        n_classes = len(places) + 1
        d = self.w.shape[1]
        new = Machines.zeros(n_classes, d, direct=direct, fit_intercept=self.fit_intercept)
        new.seed, new.radius, new.passes = self.seed, self.radius, self.passes
        new.spread, new.lead, new.lead_label = self.spread, self.lead, self.lead_label
        new.validation_error = list(self.validation_error)
        new.mistakes = [np.full(len(new.counters), -1) for _ in self.mistakes]
        if self.ballots is not None:
            new.ballots = Ballots.empty(len(new.counters), n_classes if new.direct else 0)
            new.ballots.blocks = list(self.ballots.blocks)
        if n_classes == 2:
            moves = [(0, 0, 1 if places[0] == 1 else -1)]
        elif n_classes == 3:
            moves = [(0, places[0], -1), (0, places[1], 1)]
        else:
            moves = [(k, place, 1) for k, place in enumerate(places)]
        for source, target, sign in moves:
            new._take_over(target, self, source, sign)
        if new.direct:
            new._share_counters(self)
            if new.ballots is not None and self.ballots is not None:
                new.ballots.chunks[0] = self.ballots.competing(places)
        return new

    def _take_over(self, target: int, old: Machines, source: int, sign: int) -> None:
        """Let machine ``target`` go on as ``old``'s machine ``source``, or as its mirror image for ``sign`` -1."""
        number = self.tally["target"][target]
        self.tally[target] = old.tally[source]
        self.tally["target"][target] = number
        for name in ("b", "beta"):
            self.tally[name][target] = _mirrored(old.tally[name][source], sign)
        self.w[target] = _mirrored(old.w[source], sign)
        self.u[target] = _mirrored(old.u[source], sign)
        if not self.direct:
            for now, then in zip(self.mistakes, old.mistakes, strict=True):
                now[target] = then[source]
            if self.ballots is not None and old.ballots is not None:
                self.ballots.chunks[target] = old.ballots.mirrored(source, sign)

    def _share_counters(self, old: Machines) -> None:
        """Take over ``old``'s counters for the whole, keeping each class's own number and bias."""
        own = {name: self.tally[name].copy() for name in ("target", "b", "beta")}
        self.tally[:] = old.tally[0]
        for name, values in own.items():
            self.tally[name] = values
        self.mistakes = list(old.mistakes)


def _mirrored(values: np.ndarray, sign: int) -> np.ndarray:
    """Return ``sign * values`` without negative zeros, which a run from zero never makes."""
    return values if sign > 0 else 0.0 - values
