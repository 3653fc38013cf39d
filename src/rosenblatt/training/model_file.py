"""Model files, and `TrainedModel`: a trained learner that the command line and the estimators save to such files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from types import NoneType, SimpleNamespace
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt import __version__
from rosenblatt.messages import Message, ParameterError, shorten
from rosenblatt.storage.columns import names_from_plain, names_to_plain, pack_columns, unpack_columns
from rosenblatt.storage.container import check_version, read_container, write_container
from rosenblatt.storage.schema import (
    LABELS,
    PLAIN,
    Arrays,
    Place,
    integer,
    read_fields,
    string,
    to_canonical_json,
    write_fields,
)
from rosenblatt.training.calibration import CALIBRATION, Calibration
from rosenblatt.training.early_stopping import BestPass, EarlyStoppingFacts, early_stopping_facts
from rosenblatt.training.linear import LinearState
from rosenblatt.training.options import LEARNERS, RunOptions
from rosenblatt.training.report import Report, report
from rosenblatt.training.rows import Labels, Matrix, Names, RowMatrix, as_rows
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.serialization import check_alike, read_best, read_state, write_best, write_state
from rosenblatt.training.state import RunState

# The header of model files, the same for all learners.


FORMAT = 4
"""The version of model files. It increases with every change that an older `load` could not read."""
_OLDEST = 3
"""The oldest version of model files that can be read."""

Model = TypeVar("Model")


class _ModelFields:
    """The fields in the header of a model file. Columns whose weights are all 0 are not stored (`storage.columns`)."""

    kind: Annotated[str, string("model")]
    version: Annotated[int, integer(_OLDEST, FORMAT)]
    library: str
    learner: str
    parameters: dict[str, Any]
    classes: Annotated[Labels, LABELS]
    feature_names: Annotated[object, PLAIN] = None
    width: Annotated[int, integer(1)] | None = None
    preparation: dict[str, Any] | None = None
    fingerprint: Annotated[object, PLAIN] = None
    calibration: Annotated[Calibration, CALIBRATION] | None = None
    learned: dict[str, Any]


@dataclass
class ModelInfo:
    """The header of a model file, without the trained state of the learner."""

    learner: str
    parameters: dict[str, object]
    """The learner's parameters as plain data."""
    classes: Labels
    feature_names: Any = None
    """A list of strings, or the plain data into which `names_to_plain` converts this list."""
    preparation: dict[str, Any] | None = None
    """Plain data that defines how rows of files are converted to features."""
    fingerprint: object = None
    """A fingerprint of the training data, as plain data."""
    calibration: Calibration | None = None
    max_features: int | None = None
    """The largest number of features allowed, including features whose weights are all 0 and are not stored.

    If None, the largest number depends on the number of features that are stored.
    """

    def names(self, n_features: int) -> Names | None:
        """Return the feature names as an array, or None if the model has no feature names.

        A ValueError is raised unless there are ``n_features`` names and all of them are strings.
        """
        names = names_from_plain(self.feature_names, n_features, self.max_features)
        return None if names is None else np.array(names, object)


Reader = Callable[[ModelInfo, dict[str, object], Place], Model]
"""A function that returns a model, given its header and trained state as plain data, or raises a ValueError."""


def model_to_plain(
    info: ModelInfo, learned: dict[str, object], arrays: Mapping[str, np.ndarray], read: Reader[object]
) -> tuple[dict[str, object], dict[str, np.ndarray]]:
    """Return the header and the arrays of a model file. With these, ``read`` must be able to restore the model.

    ``learned`` is the trained state as plain data, and ``arrays`` are its arrays. A ValueError is raised if the model
    cannot be saved.
    """
    for name in ("preparation", "fingerprint"):
        to_canonical_json(getattr(info, name), f"{name}_")
    if type(info.preparation) not in (dict, NoneType):
        raise ValueError(f"preparation_ must be a dictionary, got {shorten(info.preparation)}.")
    width, stored = pack_columns(arrays)
    values = vars(info) | {"feature_names": names_to_plain(info.feature_names), "width": width, "learned": learned}
    values |= {"kind": "model", "version": FORMAT, "library": __version__}
    header = write_fields(_ModelFields, SimpleNamespace(**values), Place("the header"))
    try:
        model_from_plain(header, stored, read, None)  # no file is written that could not be read
    except ValueError as fault:
        raise ValueError(f"this model cannot be saved: {fault}") from fault
    return header, stored


def read_file(path: str | os.PathLike[str], read: Reader[Model], max_features: int | None = None) -> Model:
    """Return the model in a file; raise a ValueError if the file is not valid.

    ``read`` makes the model from its parts; ``max_features`` is described in `ModelInfo`.
    """
    return read_model(path, *read_container(path), read, max_features)


def read_model(
    path: str | os.PathLike[str],
    header: dict[str, object],
    arrays: Mapping[str, np.ndarray],
    read: Reader[Model],
    max_features: int | None,
) -> Model:
    """Return the model with this header and these arrays, made by ``read``. Error messages name the file ``path``."""
    if header.get("kind") == "pipeline":
        raise ValueError(f"{os.fspath(path)} holds a pipeline: use it from Python, with rosenblatt.load.")
    if header.get("kind") != "model":
        raise ValueError(f"{os.fspath(path)} holds no model: its kind is {shorten(header.get('kind'))}.")
    check_version(path, header.get("version"), FORMAT)
    try:
        return model_from_plain(header, arrays, read, max_features)
    except ValueError as fault:
        raise invalid_file(path, "model", fault) from fault


def invalid_file(path: str | os.PathLike[str], what: str, fault: ValueError) -> ValueError:
    """Return the error for a file that holds no valid ``what``. Its message has the file name and that of ``fault``."""
    message = fault.message if isinstance(fault, ParameterError) else str(fault)
    error = Message("{path} holds no valid {what}: {message}", path=os.fspath(path), what=what, message=message)
    return ParameterError(error) if isinstance(fault, ParameterError) else ValueError(str(error))


def model_from_plain(
    header: object, arrays: Mapping[str, np.ndarray], read: Reader[Model], max_features: int | None
) -> Model:
    """Return the model with this header and these arrays, made by ``read``; raise a ValueError if they are invalid."""
    found = read_fields(_ModelFields, header, Place("the header"))
    place = Place("the header", Arrays(unpack_columns(found["width"], arrays, max_features)), "learned")
    names = ("learner", "parameters", "classes", "feature_names", "preparation", "fingerprint", "calibration")
    info = ModelInfo(**{name: found[name] for name in names}, max_features=max_features)
    if info.calibration is not None:
        info.calibration.check(len(info.classes))
    model = read(info, found["learned"], place)
    place.arrays.finish()
    return model


def _checked_name(name: object) -> str:
    """Return a feature name; raise a ValueError if it is not a string, as names in records may be."""
    if not isinstance(name, str):
        raise ValueError(
            f"this model cannot be saved: expected feature names that are strings, got {shorten(name)}: write "
            f"{str(name)!r} in records."
        )
    return str(name)


EarlyStoppingState = tuple[RunState, BestPass]
"""The last state and the best pass of a run with early stopping, from which the run can be continued."""


@dataclass
class TrainedModel:
    """A trained learner, with everything that is saved in its model file."""

    learner: str
    options: RunOptions
    classes: Labels
    state: RunState
    early_stopping_state: EarlyStoppingState | None = None
    feature_names: Names | None = None
    preparation: dict[str, Any] | None = None
    fingerprint: object = None
    calibration: Calibration | None = None

    @property
    def n_features(self) -> int:
        """The number of columns that rows must have for prediction."""
        return self.state.n_features

    def _rows(self, X: Matrix) -> RowMatrix:
        if X.shape[1] != self.n_features:
            raise ValueError(f"expected rows of {self.n_features} features, got {X.shape[1]}.")
        return as_rows(X)

    def predict(self, X: Matrix) -> Labels:
        """Predict the class of each row of a valid matrix. If classes tie, the first of them is predicted."""
        rows = self._rows(X)
        if len(self.classes) == 1:
            return self.classes[np.zeros(rows.n, np.int64)]
        return self.classes[self.state.decide(self.options.hypothesis, rows)[0]]

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Return the scores of each row of a valid matrix, with a column for each classifier."""
        return self.state.scores(self.options.hypothesis, self._rows(X))

    def rounded_scores(self, X: Matrix) -> NDArray[np.float64]:
        """Return the scores of each row of a valid matrix for calibration; see `RunState.rounded_scores`."""
        return self.state.rounded_scores(self.options.hypothesis, self._rows(X))

    def predict_proba(self, X: Matrix) -> NDArray[np.float64]:
        """Return the probability of each class for each row of a valid matrix; the model must be calibrated."""
        if self.calibration is None:
            raise ValueError("this model is not calibrated, so it cannot predict probabilities: calibrate it first.")
        self.calibration.check_hypothesis(self.options.hypothesis)
        return self.calibration.probabilities(self.rounded_scores(X))

    def set_threshold(self, threshold: float) -> None:
        """Set the threshold above which an activation predicts the second of two classes; the model must be linear.

        After this, scores are activations minus the threshold.
        """
        states = [self.state]
        if self.early_stopping_state is not None:
            last, best = self.early_stopping_state
            states += [last] if best.state is None else [last, best.state]
        for state in states:
            assert isinstance(state, LinearState)
            state.threshold = threshold

    @property
    def report(self) -> Report:
        """The report of the training run."""
        return report(self.state, self.classes, self.early_stopping)

    @property
    def early_stopping(self) -> EarlyStoppingFacts | None:
        """The held-out rows and the best pass of early stopping; None if no rows were held out."""
        return early_stopping_facts(self.state, self.early_stopping_state and self.early_stopping_state[1])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, for `load` and `TrainedModel.load`."""
        write_container(path, *self.to_plain())

    def to_plain(self) -> tuple[dict[str, object], dict[str, np.ndarray]]:
        """Return the header and the arrays of the model's file."""
        parameters = self.options.to_plain(self.learner, self.state.seed)
        names = None if self.feature_names is None else [_checked_name(name) for name in self.feature_names]
        about = names, self.preparation, self.fingerprint, self.calibration
        info = ModelInfo(self.learner, parameters, self.classes, *about)
        place = Place("the header", path="learned")
        learned: dict[str, object] = {"state": write_state(self.state, place.at("state"))}
        if self.early_stopping_state is not None:
            last, best = self.early_stopping_state
            place = place.at("early_stopping")
            learned["early_stopping"] = {
                "last": write_state(last, place.at("last")),
                "best": write_best(best, place.at("best")),
            }
        return model_to_plain(info, learned, place.arrays.arrays, TrainedModel.from_plain)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_features: int | None = None) -> TrainedModel:
        """Return the model in a file; raise a ValueError if the file is not valid or its learner is not in `LEARNERS`.

        ``max_features`` is described in `ModelInfo`.
        """
        return read_file(path, cls.from_plain, max_features)

    @classmethod
    def from_plain(cls, info: ModelInfo, learned: dict[str, object], place: Place) -> TrainedModel:
        """Return the model with this header and trained state, or raise a ValueError if they are not valid."""
        if info.learner not in LEARNERS:
            raise ValueError(f"'learner' must be one of {', '.join(LEARNERS)}, got {shorten(info.learner)}.")
        options = RunOptions.from_plain(info.parameters, info.learner)
        about = len(info.classes), info.learner, options
        found = read_fields(_LearnedFields, learned, place)
        state = read_state(found["state"], place.at("state"), *about)
        model = cls(info.learner, options, info.classes, state, None, info.names(state.n_features))
        model.preparation, model.fingerprint, model.calibration = info.preparation, info.fingerprint, info.calibration
        if found["early_stopping"] is not None:
            place = place.at("early_stopping")
            stopping = read_fields(_EarlyStoppingFields, found["early_stopping"], place)
            last = read_state(stopping["last"], place.at("last"), *about)
            best = read_best(stopping["best"], place.at("best"), last, *about)
            model.early_stopping_state = check_alike(state, last, place), best
        state.check_keeps(options.hypothesis)
        return model


class _LearnedFields:
    state: Annotated[object, PLAIN]
    early_stopping: Annotated[object, PLAIN] = None


class _EarlyStoppingFields:
    last: Annotated[object, PLAIN]
    best: Annotated[object, PLAIN]


def trained_state(run: TrainingRun) -> tuple[RunState, EarlyStoppingState | None]:
    """Return the state that predicts, and the `EarlyStoppingState` from which training can be continued.

    The second element is None if early stopping has kept no pass. Then training continues from the first element.
    """
    state, more = run.state, None
    best = None if run.early_stopping is None else run.early_stopping.best
    if best is not None and best.state is not None:
        best.widen(state.n_features)
        more = (state, best)
        state = best.state.snapshot()
        state.finish()
        state.passes, state.mistakes = run.state.passes, list(run.state.mistakes)
        state.pass_updates = list(run.state.pass_updates)
        state.validation_error, state.cut = list(run.state.validation_error), run.state.cut
        if run.early_stopping is not None and not run.early_stopping.validation.pending:
            state.held_out_rows = len(run.early_stopping.validation.labels)
    if state.feature_ranges is None:
        state.feature_ranges = run.last_ranges()
    return state, more


def history(state: RunState) -> NDArray[np.void]:
    """Return the history of a run as a record array, with the number of ``mistakes`` in each pass.

    If correctly classified rows can cause updates, there is a column with the ``updates`` of each pass. If rows were
    held out, there is a column with the ``validation_error`` after each pass. If an interrupt cut the last pass short,
    there is a column with the ``share`` of all rows that each pass visited. It is 1 for all passes but the last, and
    NaN for the last pass if its share is not known.
    """
    columns: dict[str, tuple[str, Sequence[float | None]]] = {
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


# Parts of a state: one-vs-rest classifiers are independent, so they can be trained separately.


Numbers = NDArray[np.int64]


def is_divisible(state: LinearState) -> bool:
    """Return whether the classifiers of a state can be trained separately.

    There must be several classifiers. They must not compete directly, and the state must not have a log or a pocket.
    """
    return len(state.counters) > 1 and not state.direct and state.log is None and state.pocket is None


def take_classifiers(state: LinearState, members: Numbers) -> LinearState:
    """Return a state with only the classifiers ``members``, whose training gives the same weights as in ``state``.

    The history of the new state is empty.
    """
    part = copy(state)
    part.buffers, part.mistakes, part.pass_updates, part.validation_error = None, [], [], []
    part.counters, part.done = state.counters[members], state.done[members]
    part.set_weight_arrays([array[members] for array in state.weight_arrays()])
    part.b, part.beta = state.b[members], state.beta[members]
    part.s_b = None if state.s_b is None else state.s_b[members]
    return part


def put_classifiers(state: LinearState, members: Numbers, part: LinearState) -> None:
    """Replace the classifiers ``members`` of ``state`` by those of ``part``, a state from `take_classifiers`."""
    state.widen(part.n_features)
    part.widen(state.n_features)
    state.counters[members], state.done[members] = part.counters, part.done
    for array, trained in zip(state.weight_arrays(), part.weight_arrays(), strict=True):
        array[members] = trained
    state.b[members], state.beta[members] = part.b, part.beta
    if state.s_b is not None and part.s_b is not None:
        state.s_b[members] = part.s_b
    state.radius = max(state.radius, part.radius)
