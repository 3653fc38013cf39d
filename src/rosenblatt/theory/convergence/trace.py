"""Trace of a training run of the perceptron: the row, label, activation and weights of every update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.html import MOST_ROWS, described
from rosenblatt.messages import check_integer, count_of, evenly_spaced
from rosenblatt.rounding import TINY
from rosenblatt.tables import Table
from rosenblatt.theory.convergence.bounds import replay_updates, rounding
from rosenblatt.theory.exact import rounded_product
from rosenblatt.theory.inputs import (
    Floats,
    Labels,
    Matrix,
    MatrixLike,
    Signs,
    check_labels,
    check_rows,
    dense_rows,
    number_text,
    two_classes,
    vector_text,
)
from rosenblatt.training.batches import InMemory, make_batch
from rosenblatt.training.linear import LinearState
from rosenblatt.training.observers import UpdateTrace
from rosenblatt.training.options import RunOptions
from rosenblatt.training.report import draw_mistakes
from rosenblatt.training.run import TrainingRun


class TracedUpdate(NamedTuple):
    """One update: the misclassified row, its activation before the update, and the weights after it."""

    k: int
    pass_number: int
    row: int
    label: Any
    activation: float
    w: Floats
    b: float


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """The updates of a training run of the perceptron that starts from zero weights; returned by `trace`.

    ``len`` is the number of updates, and iteration yields a `TracedUpdate` for each, with k, pass_number, row, label,
    activation, w and b. Weights are recomputed from the rows on demand, so a trace takes no more memory than the data.

    Attributes
    ----------
    row, pass_number, label : arrays
        For each update, the index of the misclassified row, the number of the pass (counted from 1), and the label of
        the row.
    activation : array
        w.x + b of that row before the update, up to rounding. Its sign is exact, and never the sign of the label.
    w, b : array and float
        The final weights; ``weights(k)`` returns the weights after k updates.
    mistakes_by_pass : array of int
        The number of updates in each pass.
    passes, converged, fit_intercept, seed
        As for ``Perceptron``. ``seed`` is None if the rows are processed in the given order.
    classes : tuple
        The sorted labels: the last counts as +1, the first as -1.
    """

    row: NDArray[np.int64]
    pass_number: NDArray[np.int64]
    label: Labels
    w: Floats
    b: float
    classes: tuple[object, ...]
    passes: int
    converged: bool
    fit_intercept: bool
    seed: int | None
    _signs: Signs = field(kw_only=True)
    """The sign of the label of each update."""
    _rows: Matrix = field(kw_only=True)
    """The distinct rows that were misclassified."""
    _places: NDArray[np.intp] = field(kw_only=True)
    """For each update, the index of its row in ``_rows``."""

    @property
    def updates(self) -> int:
        """The number of updates in the training run."""
        return len(self.row)

    @cached_property
    def activation(self) -> Floats:
        """w.x + b of each misclassified row before its update, in floats with an exact sign."""
        parts = [np.empty(0)]
        for moves, W in self._walk():
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                near = np.einsum("ij,ij->i", W[:-1], moves)  # y a
                error = rounding(moves.shape[1]) * np.einsum("ij,ij->i", np.abs(W[:-1]), np.abs(moves))
            for i in np.flatnonzero(~(np.abs(near) > error + TINY)).tolist():
                near[i] = rounded_product(W[i], moves[i])
            parts.append(near)
        return np.concatenate(parts) * self._signs + 0.0  # no -0

    @property
    def mistakes_by_pass(self) -> NDArray[np.int64]:
        """The number of updates in each pass."""
        return np.bincount(self.pass_number - 1, minlength=self.passes)

    def __len__(self) -> int:
        return self.updates

    def __iter__(self) -> Iterator[TracedUpdate]:
        k = 0
        for _, W in self._walk():
            for long in W[1:]:
                yield self._step(k, *self._split(long.copy()))
                k += 1

    def weights(self, k: int) -> tuple[Floats, float]:
        """Return w and b after ``k`` updates; both are zero for k = 0."""
        k = check_integer("k", k, 0, most=self.updates)
        long = np.zeros(len(self.w) + int(self.fit_intercept))
        for _, W in self._walk(k):
            long = W[-1]
        return self._split(long.copy())

    def step(self, k: int) -> TracedUpdate:
        """Return update number ``k``, counted from 1."""
        k = check_integer("k", k, 1, most=self.updates)
        return self._step(k - 1, *self.weights(k))

    def is_of(self, X: MatrixLike, y: ArrayLike) -> bool:
        """Return whether ``X`` and ``y`` have, at each misclassified row's index, the same row and label."""
        matrix, labels = check_rows(X, y)
        if matrix.shape[1] != len(self.w) or self.row.max(initial=-1) >= len(labels):
            return False
        numbers = self.row[np.unique(self._places, return_index=True)[1]]
        same = dense_rows(matrix, numbers) == dense_rows(self._rows, np.arange(len(numbers)))
        return bool(same.all() and (labels[self.row] == self.label).all())

    def table(self, most: int | None = None) -> Table:
        """Return a table of the updates, or of ``most`` evenly spaced updates."""
        if most is not None:
            check_integer("most", most, 1, or_none=True)
        shown = set(evenly_spaced(self.updates, most))
        steps = [step for step in self if step.k - 1 in shown]
        columns: dict[str, list[object]] = {
            "k": [step.k for step in steps],
            "pass": [step.pass_number for step in steps],
            "row": [step.row for step in steps],
            "label": [step.label for step in steps],
            "activation before": [step.activation for step in steps],
            "w after": [vector_text(step.w, 4) for step in steps],
        }
        if self.fit_intercept:
            columns["b after"] = [step.b for step in steps]
        notes = [f"{len(shown):,} of {self.updates:,} updates"] if len(shown) < self.updates else []
        return Table(columns, title=str(self).splitlines()[0], notes=notes)

    def __str__(self) -> str:
        end = "the last without a mistake" if self.converged else "with mistakes left"
        bias = f", b = {number_text(self.b)}" if self.fit_intercept else ""
        return (
            f"{count_of(self.updates, 'update')} in {count_of(self.passes, 'pass')}, {end}.\n"
            f"At the end w = {vector_text(self.w)}{bias}."
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = self.table(MOST_ROWS)
        updates = Table(table.to_dict(), notes=table.notes)._repr_html_() if self.updates else ""
        return described(str(self).splitlines(), draw_mistakes(self.mistakes_by_pass.tolist()), updates)

    def _step(self, i: int, w: Floats, b: float) -> TracedUpdate:
        label = self.label[i : i + 1].tolist()[0]
        return TracedUpdate(i + 1, int(self.pass_number[i]), int(self.row[i]), label, float(self.activation[i]), w, b)

    def _split(self, long: Floats) -> tuple[Floats, float]:
        return (long[:-1], float(long[-1])) if self.fit_intercept else (long, 0.0)

    def _walk(self, k: int | None = None) -> Iterator[tuple[Floats, Floats]]:
        """Yield, in blocks, y z of the first ``k`` updates, and the weights before the first and after each update."""
        return replay_updates(self._rows, self._places[:k], self._signs[:k], self.fit_intercept)


def trace(
    X: MatrixLike,
    y: ArrayLike,
    fit_intercept: bool = True,
    shuffle: bool | str = False,
    random_state: int | None = None,
    max_iter: int = 100,
    max_updates: int | None = 100_000,
) -> Trace:
    """Train the perceptron from zero weights and return every update.

    The training run is the same as that of a ``Perceptron`` with these parameters, bit for bit. It stops after a pass
    without a mistake, after ``max_iter`` passes or after ``max_updates`` updates, so data that is not linearly
    separable can be traced, too.

    Parameters
    ----------
    X, y : rows and labels of two classes
    fit_intercept, shuffle, max_iter, max_updates
        As for ``Perceptron``. The defaults are True, False (rows are processed in the given order), 100 and 100,000.
    random_state : int, default=None
        The seed of the random row orders, such as ``random_state`` or ``seed_`` of a ``Perceptron``. None draws a
        random seed.

    Returns
    -------
    Trace
        It prints as a summary, ``table()`` returns the updates, ``plots.plot_update`` draws one of them, and
        ``plots.animate`` animates all. Computing the weights takes time proportional to the number of updates times the
        number of features.

    See Also
    --------
    proof : Check the inequalities of the convergence proof at every update, for separable data.

    Examples
    --------
    >>> run = trace([[1.0], [0.0]], [1, -1])
    >>> run
    5 updates in 4 passes, the last without a mistake.
    At the end w = (2), b = -1.
    >>> run.table(most=3)
    5 updates in 4 passes, the last without a mistake.
    k  pass  row  label  activation before  w after  b after
    --------------------------------------------------------
    1     1    0      1                  0  (1)            1
    3     2    1     -1                  0  (1)           -1
    5     3    1     -1                  0  (2)           -1
    3 of 5 updates
    >>> [step.row for step in run], run.mistakes_by_pass.tolist()
    ([0, 1, 1, 0, 1], [2, 1, 2, 0])
    """
    options = run_options(fit_intercept, shuffle, random_state, max_iter, max_updates)
    matrix, signs, _ = two_classes(X, y)
    return run_traced(matrix, signs, check_labels(y, len(signs)), options)


def run_options(
    fit_intercept: bool, shuffle: bool | str, random_state: int | None, max_iter: int, max_updates: int | None
) -> RunOptions:
    """Return the validated options of a training run."""
    return RunOptions(
        max_iter=max_iter,
        max_updates=max_updates,
        shuffle=shuffle,
        random_state=random_state,
        fit_intercept=bool(fit_intercept),
    ).check()


def run_traced(X: Matrix, signs: Signs, labels: Labels, options: RunOptions) -> Trace:
    """Train as ``Perceptron`` does, on rows that have been validated, and return the trace."""
    n, d = X.shape
    state, updates = LinearState.initial(options, 2, d), UpdateTrace()
    batch = make_batch(X, (signs > 0).astype(np.int32), np.array([-1, 1]), None, None)
    TrainingRun(state, InMemory(batch), options, [updates]).run()
    made = updates.updates()
    wrong, places = np.unique(made.rows, return_inverse=True)
    return Trace(
        row=made.rows,
        pass_number=made.visits.astype(np.int64) // n + 1,
        label=labels[made.rows],
        w=state.w[0],
        b=float(state.b[0]),
        classes=tuple(np.unique(labels).tolist()),
        passes=state.passes,
        converged=bool(state.done[0]),
        fit_intercept=options.fit_intercept,
        seed=state.seed if options.shuffle else None,
        _signs=signs[made.rows],
        _rows=X[wrong],
        _places=places,
    )
