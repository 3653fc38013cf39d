"""A trained perceptron as plain data, and its file: what the command works with, and estimators are wrapped around."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.parameters import shorten
from rosenblatt.storage.array_fields import StrictArrays
from rosenblatt.storage.container import write_container
from rosenblatt.storage.json_fields import StrictFields
from rosenblatt.training.early_stopping import BestPass, EarlyStoppingFacts, early_stopping_facts
from rosenblatt.training.labels import Labels, Names
from rosenblatt.training.model_file import ModelInfo, model_to_plain, read_file
from rosenblatt.training.options import LEARNERS, RunOptions
from rosenblatt.training.report import Report, report
from rosenblatt.training.report_fields import restore_facts, same_report
from rosenblatt.training.rows import Matrix, RowMatrix, as_rows
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.scoring import decision_scores, predicted_classes, stored_hypothesis
from rosenblatt.training.serialization import State, check_states, state_from_plain, state_to_plain
from rosenblatt.training.state import LinearState

EarlyStoppingState = tuple[State, BestPass]
"""Where a run with early stopping stands, to go on: its last state, and its best pass."""


@dataclass
class TrainedModel:
    """A learner that the engine has trained."""

    learner: str
    options: RunOptions
    classes: Labels
    state: State
    early_stopping_state: EarlyStoppingState | None = None
    feature_names: Names | None = None
    preparation: dict[str, Any] | None = None
    fingerprint: Any = None

    @property
    def n_features(self) -> int:
        """Columns of the rows that it predicts."""
        return self.state.n_features

    def _rows(self, X: Matrix) -> RowMatrix:
        if X.shape[1] != self.n_features:
            raise ValueError(f"expected rows of {self.n_features} features, got {X.shape[1]}.")
        return as_rows(X)

    def predict(self, X: Matrix) -> Labels:
        """Return the class of each row of a valid matrix; the first of those tied on a boundary."""
        rows = self._rows(X)
        if len(self.classes) == 1:
            return self.classes[np.zeros(rows.n, np.int64)]
        return self.classes[predicted_classes(self.state, self.options.hypothesis, rows)[0]]

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Return the scores of each row of a valid matrix, a column for each classifier."""
        return decision_scores(self.state, self.options.hypothesis, self._rows(X))

    @property
    def report(self) -> Report:
        """What the run proves about the data."""
        return report(self.state, self.classes, self.early_stopping)

    @property
    def early_stopping(self) -> EarlyStoppingFacts | None:
        """What early stopping held out and which pass it kept; None where no rows were held out."""
        return early_stopping_facts(self.state, self.early_stopping_state and self.early_stopping_state[1])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, from which `load` and `TrainedModel.load` bring it back."""
        write_container(path, *self.to_plain())

    def to_plain(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of the model's file."""
        parameters = self.options.to_plain(self.learner, self.state.seed)
        names = None if self.feature_names is None else [str(name) for name in self.feature_names]
        info = ModelInfo(self.learner, parameters, self.classes, names, self.preparation, self.fingerprint)
        return model_to_plain(info, *self._learned(), TrainedModel.from_plain)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_features: int | None = None) -> TrainedModel:
        """Return the model of a file; a ValueError where the file is not valid, or holds another learner."""
        return read_file(path, cls.from_plain, max_features)

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header, arrays = state_to_plain(self.state)
        out: dict[str, Any] = {"report": self.report.to_plain(), "state": header, "resume": None}
        if self.early_stopping_state is not None:
            last, best = self.early_stopping_state
            out["resume"] = {"error": float(best.error), "passes_since": int(best.passes_since)}
            for part, state in (("last", last), ("best", best.state)):
                if state is not None:
                    out["resume"][part], more = state_to_plain(state)
                    arrays |= {f"{part}.{name}": a for name, a in more.items() if not _same_bits(a, arrays.get(name))}
        return out, arrays

    @classmethod
    def from_plain(cls, info: ModelInfo, fields: StrictFields, arrays: StrictArrays) -> TrainedModel:
        """Return the model that a file describes, or raise a ValueError."""
        if info.learner not in LEARNERS:
            raise ValueError(f"'learner' must be one of {', '.join(LEARNERS)}, got {shorten(info.learner)}.")
        options = RunOptions.from_plain(StrictFields(info.parameters, "the header: 'parameters'"), info.learner)
        about = len(info.classes), info.learner, options
        state = state_from_plain(fields.take("state"), arrays, *about)
        model = cls(info.learner, options, info.classes, state, None, info.names(state.n_features))
        model.preparation, model.fingerprint = info.preparation, info.fingerprint
        states = [state]
        resume = fields.take("resume")
        if resume is not None:
            more = StrictFields(resume, "the header: 'resume'")
            last, best = (
                state_from_plain(more.take(part), arrays.under(part + "."), *about) for part in ("last", "best")
            )
            model.early_stopping_state = (
                last,
                BestPass(best, more.number("error", 0.0, 1.0), more.whole("passes_since")),
            )
            more.end()
            states += [last, best]
        check_states(states, info.classes.tolist())
        if options.hypothesis in (("pocket", "vote") if isinstance(state, LinearState) else ("pocket",)):
            stored_hypothesis(state, options.hypothesis)  # a kernel perceptron can always vote
        told = fields.take("report")
        restore_facts(state, told)
        if model.early_stopping_state is not None:
            model.early_stopping_state[0].cut = state.cut
        if not same_report(told, model.report.to_plain()):
            raise ValueError("its report is not that of its counters.")
        return model


def trained_state(run: TrainingRun) -> tuple[State, EarlyStoppingState | None]:
    """Return the state to predict with, that of the best pass where rows were held out, and what to go on from."""
    state, more = run.state, None
    best = None if run.early_stopping is None else run.early_stopping.best
    if best is not None and best.state is not None:
        best.widen(state.n_features)
        more = (state, best)
        state = best.state.snapshot()
        if isinstance(state, LinearState):
            state.set_layout("C")
        state.passes, state.mistakes = run.state.passes, list(run.state.mistakes)
        state.pass_updates = list(run.state.pass_updates)
        state.validation_error, state.cut = list(run.state.validation_error), run.state.cut
        if run.early_stopping is not None and not run.early_stopping.validation.pending:
            state.held_out_rows = len(run.early_stopping.validation.labels)
    if state.feature_ranges is None:
        state.feature_ranges = run.last_ranges()
    return state, more


def history(state: State) -> NDArray[np.void]:
    """Return for each pass the ``mistakes`` made in it, and the ``validation_error`` after it if there is one.

    Where rows that are right make updates too, there are the ``updates`` of each pass.

    Where an interrupt cut the last pass short, there is the ``share`` of its rows that each pass has visited too, which
    is 1 for the others and NaN where it is not known.
    """
    columns: dict[str, tuple[str, list[Any]]] = {
        "mistakes": ("i8", [int(np.maximum(counts, 0).sum()) for counts in state.mistakes])
    }
    if state.updates_right_rows:
        columns["updates"] = "i8", [int(np.maximum(counts, 0).sum()) for counts in state.pass_updates]
    if state.validation_error:
        columns["validation_error"] = "f8", state.errors_by_pass
    if state.cut is not None and state.cut.interrupted:
        columns["share"] = "f8", [1.0] * (state.passes - 1) + [np.nan if state.cut.share is None else state.cut.share]
    kinds = [(name, kind) for name, (kind, _) in columns.items()]
    return np.array(list(zip(*(values for _, values in columns.values()), strict=True)), dtype=kinds)


def _same_bits(one: NDArray[Any], other: NDArray[Any] | None) -> bool:
    """Return whether two arrays are the same bits, so that one of them need not be stored."""
    return (
        other is not None and one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()
    )
