"""`BasePerceptron`: how every perceptron learns, from arrays, streams and chunks, and what it answers afterwards."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import update_wrapper
from types import MethodType
from typing import Any, Self, cast

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted

from rosenblatt.estimators.parameter_hints import HINTS, unknown_parameter
from rosenblatt.estimators.validation import (
    MatrixLike,
    as_numpy,
    attach_preparation,
    block_validator,
    like_input,
    validate_matrix,
    validate_pair,
)
from rosenblatt.messages import ParameterError, Setting, count_of, warn_user
from rosenblatt.tables import Table
from rosenblatt.training.batches import InMemory, Streamed, labelled_batch
from rosenblatt.training.checkpoint import Checkpoint
from rosenblatt.training.early_stopping import EarlyStoppingFacts, early_stopping_facts
from rosenblatt.training.linear import GivenWeights
from rosenblatt.training.linear import InitialWeights as Weights
from rosenblatt.training.model_file import EarlyStoppingState, history, trained_state
from rosenblatt.training.observers import Callback, Observer
from rosenblatt.training.options import LEARNERS, RunOptions
from rosenblatt.training.report import Report, report
from rosenblatt.training.rows import ClassWeight, Labels, NotFinite, RowMatrix, VectorLike, as_rows, differ_in_scale
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.state import Outcome, RunState
from rosenblatt.training.train import Checkpointing, MakeRun, WarmStart, online_run, train

# Methods that a model has only under some parameters, or not at all, and that say why.


class AvailableUnless:
    """A method that is there unless ``reason(model)`` returns a sentence, which is then the AttributeError's.

    scikit-learn's ``available_if`` says only that there is no such attribute.

    >>> class Door:
    ...     locked = True
    ...     @AvailableUnless.decorator(lambda door: "the door is locked: unlock it." if door.locked else "")
    ...     def open(self):
    ...         return "open"
    >>> hasattr(Door(), "open")
    False
    >>> Door().open()
    Traceback (most recent call last):
    AttributeError: the door is locked: unlock it.
    """

    def __init__(self, method: Callable[..., Any], reason: Callable[[Any], str]) -> None:
        self.method, self.reason = method, reason
        update_wrapper(cast(Any, self), method)

    @classmethod
    def decorator(cls, reason: Callable[[Any], str]) -> Callable[[Callable[..., Any]], Any]:
        """Return what makes a method such a one."""
        return lambda method: cls(method, reason)

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        """Return the method of a model, or the function of the class."""
        if model is None:
            return self.method
        sentence = self.reason(model)
        if sentence:
            raise AttributeError(sentence)
        return MethodType(self.method, model)


def never(sentence: str) -> AvailableUnless:
    """Return a method that no model of a class has, for the sentence ``sentence``."""

    def method(self: Any, *arguments: Any) -> Any:
        """Raise an AttributeError that says what to use instead."""
        raise AttributeError(sentence)

    return AvailableUnless(method, lambda model: sentence)


def set_parameters(model: Any, given: dict[str, Any]) -> None:
    """Set what a constructor is given (its ``locals()``) under the names of its parameters, as scikit-learn asks."""
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(model, name, value)


# Streams where arrays are expected: one sentence each on what to do instead.


def refuse_stream(X: MatrixLike, method: str, learner: Any) -> None:
    """Raise a TypeError where ``X`` is a stream of ``data.open``, which this method of a learner does not take.

    >>> refuse_stream([[1.0]], "fit", None)
    """
    module = sys.modules.get("rosenblatt.data.stream")  # whoever has a stream has imported it
    if module is None or not isinstance(X, module.Stream):
        return
    if method in ("fit", "partial_fit") and hasattr(learner, "fit_stream"):
        raise TypeError(f"{method} takes rows and labels as arrays, got a stream: use fit_stream(stream).")
    labels = "" if method == "predict" else ", y"
    raise TypeError(
        f"{method} takes {'rows' if method == 'predict' else 'rows and labels'} as arrays, got a stream: read it with "
        f"X, y = stream.read(), then {method}(X{labels})."
    )


# What all classifiers of the library answer, and what they say of themselves.


Floats = NDArray[np.float64]


class ExactClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose decisions are exact; a subclass says what the scores and the winning classes of rows are.

    Its constructor and ``set_params`` say what to do instead of parameters that it does not have. Constructors keep
    their signatures, which scikit-learn reads; the names are looked at before they are called.
    """

    classes_: Labels

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Return a new object; a TypeError where a keyword is not a parameter."""
        if kwargs:
            own = inspect.signature(cls.__init__).parameters
            if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in own.values()):
                for name in kwargs:
                    if name not in own:
                        raise TypeError(unknown_parameter(cls.__name__, name, list(own)[1:]))
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of scikit-learn's ``get_params``; a ValueError where one is another library's."""
        own = inspect.signature(type(self).__init__).parameters
        for name in params:
            if name in HINTS and name not in own:
                raise ValueError(unknown_parameter(type(self).__name__, name, list(own)[1:]))
        return super().set_params(**params)

    def _scores(self, rows: RowMatrix) -> Floats:
        """Return the score of each row for each classifier."""
        raise NotImplementedError

    def _decisions(self, rows: RowMatrix) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the class number of each row, and whether it is tied."""
        raise NotImplementedError

    def _rows(self, X: MatrixLike) -> RowMatrix:
        refuse_stream(X, "predict", self)
        check_is_fitted(self)
        return as_rows(validate_matrix(self, X, reset=False))

    def predict(self, X: MatrixLike) -> Labels:
        """Return the class of each row. On the boundary, where no class is right, it is the first of those tied."""
        numbers, _ = self._decisions(self._rows(X))
        return like_input(self.classes_[numbers], X)

    def score(self, X: MatrixLike, y: VectorLike = None, sample_weight: VectorLike = None) -> float:
        """Return the share of rows whose class is predicted, each counted with its weight if there are weights."""
        refuse_stream(X, "score", self)
        if y is None:
            raise TypeError("score compares predictions with labels, got none: use score(X, y).")
        return float(super().score(X, y, sample_weight))

    predict_proba = never(
        "a perceptron has no probabilities: wrap it in sklearn.calibration.CalibratedClassifierCV, which makes them of "
        "decision_function."
    )

    def on_boundary(self, X: MatrixLike) -> NDArray[np.bool_]:
        """Return, for each row, whether it lies exactly on the boundary, so that its label is undefined."""
        return self._decisions(self._rows(X))[1]

    def decision_function(self, X: MatrixLike) -> Floats:
        """Return the activation of each row, for each class if there are more than two; signs are exact.

        For votes it is the share of all visits by which those in favour outnumber those against. Where two
        classes are within rounding of each other, ``predict`` compares them exactly and these numbers may not.
        """
        scores = self._scores(self._rows(X))
        return like_input(scores[:, 0] if scores.shape[1] == 1 else scores, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # in a notebook: scikit-learn's diagram, and below it what was found in training

    def _html_card(self) -> str:
        """Return what training has found, as HTML; "" before it."""
        return ""

    # scikit-learn 1.6 to 1.9 have both; notebooks prefer the second

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._html_card()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._html_card()
        return bundle


# Training that fails leaves a model as it was.


@contextmanager
def restored_on_error(model: Any) -> Iterator[None]:
    """Leave ``model`` as it was where training fails, but not where it is interrupted."""
    before = dict(model.__dict__)
    try:
        yield
    except Exception:
        model.__dict__.clear()
        model.__dict__.update(before)
        raise


# Warnings about a run: mistakes that are left, features that hardly count beside others, rows sorted by label.


def warn_about_mistakes(run: TrainingRun) -> None:
    """Warn that the last weights leave mistakes."""
    state = run.state
    mistakes = state.mistakes_left()
    limit = "max_updates" if state.at_limit.any() else "max_iter"
    kernel = not run.options.is_linear
    ratio = 0.0 if kernel else differ_in_scale(run)
    other = "another kernel, a higher degree or a larger gamma" if kernel else "AveragedPerceptron"
    scale = f"; {_scale_advice(ratio)}" if ratio else ""
    warn_user(
        f"{_mistakes_in_pass(mistakes, run)}, the last that {limit} allows: the data is not "
        f'separated; raise {limit}, or use hypothesis="average" or {other} if it may not be separable{scale}.',
        ConvergenceWarning,
    )


def warn_about_scales(run: TrainingRun) -> None:
    """Warn that some features hardly count beside others, where that may be why there are many mistakes."""
    ratio = differ_in_scale(run)
    if ratio:
        mistakes = int(np.maximum(run.state.mistakes[-1], 0).sum())
        warn_user(
            f"{_mistakes_in_pass(mistakes, run)}, and {_scale_advice(ratio)}.",
            ConvergenceWarning,
        )


def _mistakes_in_pass(mistakes: int, run: TrainingRun) -> str:
    several = len(run.state.counters)
    summed = f" (summed over {several} one-vs-rest classifiers)" if several > 1 else ""
    return f"{count_of(mistakes, 'mistake')} in pass {run.state.passes}{summed}"


def _scale_advice(ratio: float) -> str:
    return (
        f"some features range over {ratio:,.0f} times as much as others, which hardly count beside them: scale them, "
        "for instance with sklearn.preprocessing.StandardScaler"
    )


def warn_if_sorted(leading_run: int) -> None:
    """Warn that rows visited as they come start with a long run of one label (CIML section 4.2)."""
    warn_user(
        f"the first {leading_run} rows all carry one label and are visited in the given order: after a few of them "
        "the perceptron gives that label to everything, and the others teach it nothing. "
        'Shuffle the rows, or use fit with shuffle=True or shuffle="once".',
        UserWarning,
    )


# The errors of a model after each pass of its training.


class ErrorsByPass:
    """Collects, pass by pass, the mistakes made and the share of given rows that are predicted wrongly afterwards.

    Parameters
    ----------
    given : dict
        The rows and labels to predict, by the name of the column that gets their error.
    """

    def __init__(self, given: dict[str, tuple[Any, Any]]) -> None:
        self.columns: dict[str, list[Any]] = {"pass": [], "mistakes": [], **{name: [] for name in given}}
        self._given = given
        self._checked: dict[str, tuple[RowMatrix, Labels]] = {}

    def add(self, model: BasePerceptron) -> None:
        """Add the pass that ``model`` has just made."""
        self.columns["pass"].append(model.n_iter_)
        self.columns["mistakes"].append(int(model.history_["mistakes"][-1]))
        for name, (X, y) in self._given.items():
            if name not in self._checked:
                model.score(X, y)  # it refuses rows and labels that do not fit; once is enough
                self._checked[name] = model._rows(X), np.ravel(as_numpy(y))
            rows, labels = self._checked[name]
            right = model.classes_[model._decisions(rows)[0]] == labels
            self.columns[name].append(1.0 - float(np.mean(right)))


INTERRUPT_NOTE = (
    "The model keeps what it has learned, where it has a name: after model = Perceptron(), an interrupt of "
    "model.fit(X, y) leaves it, and report_ says how far it came."
)
"""What an interrupt says to people."""


class BasePerceptron(ExactClassifier):
    """A learner that the engine trains: it knows the state of a run. A subclass says what its parameters are."""

    hypothesis: str
    max_iter: int
    warm_start: bool
    early_stopping: bool
    class_weight: ClassWeight
    multi_class: str
    n_jobs: int | None

    n_features_in_: int
    state_: Any
    _early_stopping_state: EarlyStoppingState | None = None

    def fit(self, X: MatrixLike, y: VectorLike = None, sample_weight: VectorLike = None) -> Self:
        """Learn from the rows of ``X`` and their labels, pass by pass, until one is clean or the limit is reached.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            Used as it is if it is C-ordered or CSR and holds float32 or float64; otherwise a copy is made.
        y : array of shape (n,)
            Labels of any type, at least two different ones.
        sample_weight : array of shape (n,), optional
            Scales the step that an update makes; rows of weight 0 are not visited.
        """
        refuse_stream(X, "fit", self)
        return self._fit(X, y, sample_weight)

    def _fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        sample_weight: VectorLike = None,
        observers: Sequence[Observer] = (),
        given: GivenWeights | None = None,
    ) -> Self:
        options = self._options(X)
        with restored_on_error(self):
            warm = given is None and self._is_warm()
            finite = warm or options.early_stopping or not options.is_linear
            X, y = validate_pair(self, X, y, reset=not warm, finite=finite)
            source = InMemory(labelled_batch(X, y, as_numpy(sample_weight), self.class_weight))
            first = None if given is None else given.as_arrays(len(source.classes), X.shape[1], options.fit_intercept)
            try:
                return self._train(source, options, observers, given=first)
            except NotFinite:
                assert_all_finite(X, input_name="X")  # raises scikit-learn's error
                raise

    def fit_stream(
        self,
        blocks: Iterable[object],
        classes: VectorLike = None,
        on_pass: Callable[[Self], Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: float = 30.0,
        resume: bool = False,
    ) -> Self:
        """Learn from blocks of rows, pass by pass as ``fit`` does, with one window of them in memory at a time.

        With ``shuffle=False`` the run is that of ``fit`` on all rows, bit for bit, however they are cut into blocks.
        Otherwise rows are shuffled within windows of 65,536 that follow each other, so the order does not depend on
        the blocks either; a stream of one window is visited as ``fit`` visits it. Early stopping holds out rows by
        their numbers and keeps them in memory.

        Parameters
        ----------
        blocks : iterable of (X, y), (X, y, sample_weight), or what ``data.open`` returns
            Read once for each pass, so more than one pass needs what can be iterated again: a list, a file, but
            not a generator. Sparse blocks may have ever more columns; those that came up late count as 0 before.
        classes : array, optional
            All classes. Without them a class that is not in the first block makes the run start again, after a look at
            all labels; a generator cannot start again, so there a third class starts from zero at its first row.
        on_pass : callable, optional
            Called with the model after each pass, for instance to score it on a test set; the run ends where it returns
            True.
        checkpoint : path, optional
            A file to write all that the run needs to go on to, from time to time and when it is interrupted by Ctrl-C,
            replaced as a whole.
        every : float
            Seconds between two checkpoints, 0 or more; without ``checkpoint`` it has no effect. A run that ends
            sooner leaves none.
        resume : bool
            Whether to go on from ``checkpoint``, if it is there; the run ends with the bits of one that was never
            interrupted. Refused if the data or a parameter (but ``verbose`` and ``n_jobs``) is not what it was, so
            ``max_iter`` cannot be raised. Files of ``data.open`` are taken for the same if size, modification time and
            sampled parts are, or size and all bytes that were read; other blocks if their first rows are.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> blocks = [([[1, 1], [2, 0]], ["yes", "yes"]), ([[-1, 0], [0, -2]], ["no", "no"])]
        >>> model = Perceptron(shuffle=False).fit_stream(blocks)
        >>> model.coef_, model.converged_
        (array([[2., 1.]]), True)
        """
        options = self._options()
        options.check_for_stream("fit_stream")
        checkpoints = Checkpointing.asked(
            checkpoint,
            type(self).__name__,
            every,
            resume,
            blocks,
            feature_names=lambda: getattr(self, "feature_names_in_", None),
            on_resume=self._note_checkpoint,
        )
        with restored_on_error(self):
            warm = self._is_warm()
            width = self.n_features_in_ if warm else 0
            validate = block_validator(self, reset=not warm)
            source = Streamed(blocks, classes, class_weight=options.class_weight, validate=validate, width=width)
            observers = [] if on_pass is None else [Callback(self._caller(on_pass))]
            return self._train(source, options, observers, checkpoints=checkpoints)

    def _note_checkpoint(self, found: Checkpoint) -> None:
        """Take over the features that a run knew, before it continues."""
        self.n_features_in_ = found.state.n_features
        if found.names is not None:
            self.feature_names_in_ = found.names

    @AvailableUnless.decorator(lambda model: model._needs_all_rows())
    def partial_fit(
        self, X: MatrixLike, y: VectorLike = None, classes: VectorLike = None, sample_weight: VectorLike = None
    ) -> Self:
        """Visit each row of ``X`` once, in the given order, and go on from what was learned before.

        Any chunking of a data set gives the same bits as one pass of ``fit`` with ``shuffle=False``, as long as
        ``classes`` is given at first or at most two occur. A class that turns up later is welcome: from the third on
        it starts from zero at its first row. ``n_iter_`` counts the calls; ``max_updates`` limits the updates of all of
        them together. Rows are not held out, whatever ``early_stopping`` says. What needs all rows at once is refused:
        ``hypothesis="pocket"``, and a kernel's ``gamma="scale"``.

        Parameters
        ----------
        X, y : as for ``fit``; one class is enough.
        classes : array, optional
            All classes that may occur. Those in ``y`` need not be among them.
        sample_weight : array of shape (n,), optional
            As for ``fit``.
        """
        refuse_stream(X, "partial_fit", self)
        options = self._options(X)
        options.check_for_stream("partial_fit")
        start = None
        if hasattr(self, "state_"):
            self._check_unchanged()
            start = WarmStart(self.state_, self.classes_)
        elif options.early_stopping:
            warn_user(
                "partial_fit holds out no rows, so early_stopping=True has no effect on it: use fit or fit_stream.",
                UserWarning,
            )
        if self._lacks_names(X):
            raise ValueError(self._lacks_names(X))
        with restored_on_error(self):
            X, y = validate_pair(self, X, y, reset=start is None)
            batch = labelled_batch(X, y, as_numpy(sample_weight), self.class_weight)
            run = online_run(batch, options, start, as_numpy(classes), effective_n_jobs(self.n_jobs))
        if run.state.note_leading_run(y):
            warn_if_sorted(run.state.leading_run)
            run.state.leading_run = -1
        try:
            run.visit(batch)
        finally:
            self.state_, self.classes_, self._early_stopping_state = run.state, run.classes, None
        return self

    # the run

    def _options(self, X: MatrixLike = None) -> RunOptions:
        """Return the parameters for training on ``X``, checked."""
        kind = LEARNERS[type(self)._learner_name()].options
        given = {field.name: getattr(self, field.name) for field in fields(kind) if hasattr(self, field.name)}
        return kind(**given, **self._more_options(X)).check()

    def _needs_all_rows(self) -> str:
        """Return what needs all rows at once, which ``partial_fit`` never has, as a sentence; "" if nothing does."""
        if self.hypothesis != "pocket":
            return ""
        return (
            'hypothesis="pocket" compares weights on the whole training set, which partial_fit never sees: '
            'use fit, or hypothesis="average".'
        )

    def _lacks_names(self, X: MatrixLike) -> str:
        """Return why rows without names cannot be learned from, as a sentence; "" if they can."""
        return ""

    def _more_options(self, X: MatrixLike) -> dict[str, Any]:
        """Return options that are no parameters."""
        return {}

    @classmethod
    def _learner_name(cls) -> str:
        """Return the name of the library's learner that this class is or is derived from."""
        return next((base.__name__ for base in cls.__mro__ if base.__name__ in LEARNERS), "Perceptron")

    def _is_warm(self) -> bool:
        """Return whether training goes on from what was learned before; a ValueError where that cannot be."""
        warm = bool(self.warm_start) and hasattr(self, "state_")
        if warm:
            self._check_unchanged()
        return warm

    def _check_unchanged(self) -> None:
        """Raise a ValueError where a parameter that decides what the state is has changed since it was made."""
        self.state_.check_keeps(self.hypothesis)
        for name, then, now in self._fixed_parameters():
            if then != now:
                raise ParameterError(
                    Setting(name),
                    " has changed since this model was trained, so it cannot go on: set it back, or fit from the "
                    "start (warm_start=False).",
                )

    def _fixed_parameters(self) -> list[tuple[str, Any, Any]]:
        """Return the parameters that decide what a state is: name, the value it was made with, the value now."""
        direct = len(self.classes_) > 2 and self.multi_class == "direct"
        return [("multi_class", self.state_.direct, direct)]

    def _train(
        self,
        source: Any,
        options: RunOptions,
        observers: Sequence[Observer] = (),
        *,
        given: Weights | None = None,
        checkpoints: Checkpointing | None = None,
        make_run: MakeRun = TrainingRun,
    ) -> Self:
        """Make the passes, keep what came of them, and warn where mistakes are left."""
        start = None
        if given is None and self._is_warm():
            state, best = self._early_stopping_state or (self.state_, None)
            start = WarmStart(state, self.classes_, best)
        runs: list[TrainingRun] = []

        def keep(run: TrainingRun) -> None:
            runs.append(run)
            if not run.has_visited:
                return  # interrupted before the first row
            self.state_, self._early_stopping_state = trained_state(run)
            self.classes_, self.n_features_in_ = run.classes, self.state_.n_features
            self.__dict__.pop("preparation_", None)
            if isinstance(source, Streamed):
                attach_preparation(self, source.blocks)

        threads = effective_n_jobs(self.n_jobs)
        try:
            outcome = train(
                source,
                options,
                keep,
                observers,
                start=start,
                given=given,
                checkpoints=checkpoints,
                threads=threads,
                make_run=make_run,
            )
        except KeyboardInterrupt as interrupt:
            if hasattr(self, "state_"):
                interrupt.add_note(INTERRUPT_NOTE)
            raise
        run = runs[-1]
        if not options.shuffle and not run.resumed and run.labels.is_sorted:
            warn_if_sorted(run.labels.leading_run)
        ended = outcome in (Outcome.MAX_PASSES, Outcome.MAX_UPDATES)
        if options.hypothesis == "last" and ended and options.expects_no_mistakes and run.state.mistakes_left():
            warn_about_mistakes(run)
        elif outcome is not Outcome.CLEAN_PASS and options.is_linear:
            warn_about_scales(run)
        return self

    def _caller(self, function: Callable[[Self], Any]) -> Callable[[TrainingRun], Any]:
        """Return what calls ``function`` with this model as it is after a pass."""

        def call(run: TrainingRun) -> Any:
            self.state_, self.classes_, self._early_stopping_state = run.state, run.classes, None
            return function(self)

        return call

    def score_by_pass(
        self, X: MatrixLike, y: VectorLike, X_test: MatrixLike = None, y_test: VectorLike = None
    ) -> Table:
        """Train a copy from scratch and return its errors after each pass: CIML figure 4.3.

        Columns: ``pass``, ``mistakes`` made during it, ``training_error`` after it, and ``test_error`` on the rows
        ``X_test`` if they are given, all by the hypothesis that predicts. This model is left as it is.
        """
        if (X_test is None) != (y_test is None):
            raise ValueError("X_test and y_test come together: give both, or neither.")
        model = clone(self).set_params(warm_start=False, verbose=0)
        tests = {} if X_test is None else {"test_error": (X_test, y_test)}
        errors = ErrorsByPass({"training_error": (X, y), **tests})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model._fit(X, y, observers=[Callback(model._caller(errors.add))])
        return Table(errors.columns, title=f"{type(self).__name__}: errors by pass")

    # what was learned

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "state_")

    @property
    def _trained(self) -> Any:
        """The state, or scikit-learn's error if there is none yet."""
        check_is_fitted(self)
        return self.state_

    def _scores(self, rows: RowMatrix) -> Floats:
        return self._predictor().scores(self.hypothesis, rows)

    def _decisions(self, rows: RowMatrix) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        if len(self.classes_) == 1:
            return np.zeros(rows.n, np.int64), np.zeros(rows.n, bool)
        return self._predictor().decide(self.hypothesis, rows)

    def _predictor(self) -> RunState:
        """Return the state that answers for rows."""
        return self.state_

    @property
    def n_iter_(self) -> int:
        """Passes made in all; each call of ``partial_fit`` counts as one."""
        return self._trained.passes

    @property
    def n_updates_(self) -> int:
        """Updates made in all, over all classifiers."""
        return int(sum(np.maximum(counts, 0).sum() for counts in self._trained.updates_by_pass))

    @property
    def seed_(self) -> int:
        """What the visiting orders are drawn from."""
        return self._trained.seed

    @property
    def converged_(self) -> bool:
        """Whether each classifier made a whole pass without a mistake."""
        return bool(self._trained.done.all())

    @property
    def history_(self) -> NDArray[np.void]:
        """For each pass the ``mistakes`` made during it, and the ``validation_error`` after it if there is one.

        Where an interrupt cut the last pass short, there is the ``share`` of the rows that each pass visited too: 1 for
        the others, and NaN where it is not known.
        """
        return history(self._trained)

    @property
    def report_(self) -> Report:
        """What the run proves about the data: see `Report`."""
        return report(self._trained, self.classes_, self._early_stopping)

    def _html_card(self) -> str:
        return self.report_._repr_html_() if hasattr(self, "state_") else ""

    @property
    def best_iter_(self) -> int:
        """The pass whose weights are kept, counted as ``n_iter_`` counts; the last one without early stopping."""
        facts = self._early_stopping
        return self._trained.passes if facts is None else facts.best_pass

    @property
    def _early_stopping(self) -> EarlyStoppingFacts | None:
        """What early stopping held out and kept, None where no rows were held out."""
        kept = self._early_stopping_state
        return early_stopping_facts(self._trained, kept and kept[1])
