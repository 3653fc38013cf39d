"""What the compiled passes take: examples, visits, weights and counters, a rule, and where updates are written."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

COUNTERS = np.dtype(
    [
        ("target", "i8"),  # the class that this classifier answers yes to
        ("visits", "f8"),  # examples visited
        ("updates", "i8"),
        ("limit", "i8"),  # stop when there are this many updates; -1 for never
        ("step_sum", "f8"),  # sum of step sizes
        ("step_square_sum", "f8"),  # sum of their squares
        ("radius2", "f8"),  # largest |x|^2 seen, the bias coordinate included
        ("max_step_norm2", "f8"),  # largest (step |x|)^2 seen
        ("mistakes", "i8"),  # in this pass: visits with y a <= 0
        ("lowest", "f8"),  # smallest y a in this pass
        ("lowest_step", "f8"),  # smallest step y a in this pass
        ("last_change", "f8"),  # visits when the weights last changed in this pass
        ("longest", "f8"),  # most visits that weights survived in this pass
        ("pass_updates", "i8"),  # updates in this pass
        ("start2", "f8"),  # |w|^2 at the start of the run
        ("excess2", "f8"),  # |w|^2 <= step_square_sum * radius2 + excess2
        ("max_step", "f8"),  # largest weight of a row, where the threshold is not 0
        ("epoch", "f8"),  # the period of a decaying average that u and beta are scaled for
    ]
)


class Examples(NamedTuple):
    """What is learned from."""

    rows: Any
    """See ``rows``."""
    labels: Any
    """A class number for each row."""
    steps: Any
    """A step size for each row; empty where all are 1. A row whose step is 0 is not visited."""
    one: float
    """The constant feature of the bias, 1.0 or 0.0."""
    terms: int
    """The most entries in a row."""


class Visits(NamedTuple):
    """Which rows a call visits: ``order[start:stop]``."""

    order: Any
    start: int
    stop: int
    ahead: int
    """How many visits ahead to ask for a row; 0 for never."""
    block: int
    """Rows that classifiers visit in turn, so that a row is read once for all of them."""
    first: bool
    """Whether these rows are new, so that their lengths must be looked at."""


class Weights(NamedTuple):
    """What a pass changes: weights and biases, what Algorithm 7 of CIML caches for their averages, and counters."""

    w: Any
    """See ``multiclass``."""
    u: Any
    b: Any
    beta: Any
    s: Any
    """The variance of each weight, laid out as ``w`` is; empty where none are kept."""
    s_b: Any
    """The variance of each bias."""
    decay: float
    """How much their averages forget with each visit; see ``averages``."""
    counters: Any
    """A record of type ``COUNTERS`` for each classifier; one where classes compete directly."""
    total: Any
    """Space for an exact sum."""


class Log(NamedTuple):
    """Where the updates of a call are written down, a line for each classifier; without columns, none are."""

    rows: Any
    """The row of each update. Where classes compete directly the second line has the rivals."""
    visits: Any
    """The visits before each update."""
    steps: Any
    """The size of each update's step."""
    counts: Any
    """How many updates there are in each line."""


class Candidate(NamedTuple):
    """Where the weights that survived longest in this pass are kept; ``b`` is empty where that is not wanted."""

    w: Any
    b: Any


# update rules: a rule's type chooses the functions of ``rules`` when a pass is compiled


class PerceptronRule(NamedTuple):
    """Update on a mistake, by the step of the row (Rosenblatt 1958)."""

    threshold: float = 0.0


class MarginRule(NamedTuple):
    """Update unless the activation exceeds a margin, by the step of the row."""

    threshold: float


class PassiveAggressiveRule(NamedTuple):
    """Update unless the activation is at least 1, by no more than makes it 1 (Crammer et al. 2006)."""

    threshold: float
    cap: float
    """The largest step: C for PA-I, else infinite."""
    ridge: float
    """What is added to the squared length: 1 / (2 C) for PA-II, else 0."""


class ArowRule(NamedTuple):
    """Update unless the activation is at least 1, each weight by its variance (Crammer, Kulesza and Dredze 2009)."""

    threshold: float
    r: float


Rule: TypeAlias = PerceptronRule | MarginRule | PassiveAggressiveRule | ArowRule
