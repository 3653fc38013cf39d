"""How every perceptron learns: from arrays, from a stream, and from chunks as they come."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any, Self

from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite

from rosenblatt.estimators.array_inputs import as_numpy
from rosenblatt.estimators.errors_by_pass import ErrorsByPass
from rosenblatt.estimators.prediction import TrainedClassifier
from rosenblatt.estimators.stream_inputs import refuse_stream
from rosenblatt.estimators.training_warnings import warn_about_mistakes, warn_about_scales, warn_if_sorted
from rosenblatt.estimators.unavailable import AvailableUnless
from rosenblatt.estimators.unchanged import unchanged_on_error
from rosenblatt.estimators.validation import attach_preparation, block_validator, validate_pair
from rosenblatt.parameters import ParameterError, Setting
from rosenblatt.tables import Table
from rosenblatt.training.batches import InMemory, Streamed, make_batch
from rosenblatt.training.checkpoint import Checkpoint, CheckpointWriter
from rosenblatt.training.labels import encode_labels
from rosenblatt.training.model import trained_state
from rosenblatt.training.observers import Callback, Observer
from rosenblatt.training.options import OPTIONS, KernelOptions, RunOptions
from rosenblatt.training.outcome import Outcome
from rosenblatt.training.rows import NotFinite
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.run_data import watch_contents
from rosenblatt.training.scoring import stored_hypothesis
from rosenblatt.training.starting_weights import GivenWeights, Weights
from rosenblatt.training.train import MakeRun, Start, online_run, train
from rosenblatt.user_warnings import warn_user

KEPT = (
    "The model keeps what it has learned, where it has a name: after model = Perceptron(), an interrupt of "
    "model.fit(X, y) leaves it, and report_ says how far it came."
)
"""What an interrupt says to people."""


class EngineLearner(TrainedClassifier):
    """The common part of learners that the engine trains; a subclass says what their parameters are."""

    hypothesis: str
    max_iter: int
    warm_start: bool
    early_stopping: bool
    class_weight: Any
    multi_class: str
    n_jobs: int | None

    n_features_in_: int

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
        X: Any,
        y: Any,
        sample_weight: Any = None,
        observers: Sequence[Observer] = (),
        given: GivenWeights | None = None,
    ) -> Self:
        options = self._options(X)
        with unchanged_on_error(self):
            warm = given is None and self._is_warm()
            finite = warm or options.early_stopping or isinstance(options, KernelOptions)
            X, y = validate_pair(self, X, y, reset=not warm, finite=finite)
            classes, numbers = encode_labels(y)
            source = InMemory(make_batch(X, numbers, classes, as_numpy(sample_weight), self.class_weight))
            first = None if given is None else given.as_arrays(len(classes), X.shape[1], options.fit_intercept)
            try:
                return self._train(source, options, observers, None, first)
            except NotFinite:
                assert_all_finite(X, input_name="X")  # raises scikit-learn's error
                raise

    def fit_stream(
        self,
        blocks: Iterable[Any],
        classes: Any = None,
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
        if resume and checkpoint is None:
            raise ParameterError(Setting("resume", True), " needs ", Setting("checkpoint"), ", the file to go on from.")
        contents = None if checkpoint is None else watch_contents(blocks)
        with unchanged_on_error(self):
            warm = self._is_warm()
            width = self.n_features_in_ if warm else 0
            validate = block_validator(self, reset=not warm)
            source = Streamed(blocks, classes, class_weight=options.class_weight, validate=validate, width=width)
            observers: list[Observer] = [] if on_pass is None else [Callback(self._caller(on_pass))]
            resumed = None
            if not source.rereadable:
                options.check_read_once(checkpoint is not None)
            elif checkpoint is not None:
                names = lambda: getattr(self, "feature_names_in_", None)  # noqa: E731
                writer = CheckpointWriter(checkpoint, every, type(self).__name__, options, blocks, names, contents)
                observers.append(writer)
                resumed = writer.read() if resume else None
            if resumed is not None:
                self.n_features_in_ = source.width = resumed.state.n_features
                if resumed.names is not None:
                    self.feature_names_in_ = resumed.names
            return self._train(source, options, observers, resumed)

    @AvailableUnless.decorator(lambda model: model._needs_all_rows())
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
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
            start = Start(self.state_, self.classes_)
        elif options.early_stopping:
            warn_user(
                "partial_fit holds out no rows, so early_stopping=True has no effect on it: use fit or fit_stream.",
                UserWarning,
            )
        if self._lacks_names(X):
            raise ValueError(self._lacks_names(X))
        with unchanged_on_error(self):
            X, y = validate_pair(self, X, y, reset=start is None)
            labels, numbers = encode_labels(y)
            batch = make_batch(X, numbers, labels, as_numpy(sample_weight), self.class_weight)
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

    def _options(self, X: Any = None) -> RunOptions:
        """Return the parameters for training on ``X``, checked."""
        kind = OPTIONS[type(self)._learner_name()]
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

    def _lacks_names(self, X: Any) -> str:
        """Return why rows without names cannot be learned from, as a sentence; "" if they can."""
        return ""

    def _more_options(self, X: Any) -> dict[str, Any]:
        """Return options that are no parameters."""
        return {}

    @classmethod
    def _learner_name(cls) -> str:
        """Return the name of the library's learner that this class is or is derived from."""
        return next((base.__name__ for base in cls.__mro__ if base.__name__ in OPTIONS), "Perceptron")

    def _is_warm(self) -> bool:
        """Return whether training goes on from what was learned before; a ValueError where that cannot be."""
        warm = bool(self.warm_start) and hasattr(self, "state_")
        if warm:
            self._check_unchanged()
        return warm

    def _check_unchanged(self) -> None:
        """Raise a ValueError where a parameter that decides what the state is has changed since it was made."""
        state = self.state_
        if self.hypothesis in ("pocket", "vote"):
            stored_hypothesis(state, self.hypothesis)
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
        resumed: Checkpoint | None = None,
        given: Weights | None = None,
        make_run: MakeRun = TrainingRun,
    ) -> Self:
        """Make the passes, keep what came of them, and warn where mistakes are left."""
        start = None
        if given is None and self._is_warm():
            state, best = self._early_stopping_state or (self.state_, None)
            start = Start(state, self.classes_, best)
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
                resumed=resumed,
                given=given,
                threads=threads,
                make_run=make_run,
            )
        except KeyboardInterrupt as interrupt:
            if hasattr(self, "state_"):
                interrupt.add_note(KEPT)
            raise
        run = runs[-1]
        if not options.shuffle and not run.resumed and run.labels.is_sorted:
            warn_if_sorted(run.labels.leading_run)
        ended = outcome in (Outcome.MAX_PASSES, Outcome.MAX_UPDATES)
        if options.hypothesis == "last" and ended and options.expects_no_mistakes and run.state.mistakes_left():
            warn_about_mistakes(run)
        elif outcome is not Outcome.CLEAN_PASS and not isinstance(options, KernelOptions):
            warn_about_scales(run)
        return self

    def _caller(self, function: Callable[[Self], Any]) -> Callable[[TrainingRun], Any]:
        """Return what calls ``function`` with this model as it is after a pass."""

        def call(run: TrainingRun) -> Any:
            self.state_, self.classes_, self._early_stopping_state = run.state, run.classes, None
            return function(self)

        return call

    def score_by_pass(self, X: Any, y: Any, X_test: Any = None, y_test: Any = None) -> Table:
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
