"""Base classes of the estimators: `ExactClassifier` for prediction, `BasePerceptron` for training in passes."""

from __future__ import annotations

import inspect
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial, update_wrapper
from types import MethodType
from typing import Any, Self, TypeVar, cast

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.validation import check_is_fitted

from rosenblatt.blocks import as_labels
from rosenblatt.estimators.parameter_hints import HINTS, check_unused, unknown_parameter
from rosenblatt.estimators.prepared import (
    check_known_labels,
    check_prepared_alike,
    prepare_labelled,
    rows_of_tables,
    warn_of_new_classes,
)
from rosenblatt.estimators.validation import (
    MatrixLike,
    as_numpy,
    attach_preparation,
    block_validator,
    like_input,
    validate_matrix,
    validate_pair,
)
from rosenblatt.messages import ParameterError, Setting, warn_user
from rosenblatt.tables import Table
from rosenblatt.training.batches import InMemory, Streamed, TrainingSource, labelled_batch
from rosenblatt.training.calibration import Calibration
from rosenblatt.training.checkpoint import Checkpoint
from rosenblatt.training.early_stopping import EarlyStoppingFacts, early_stopping_facts, small_classes_note
from rosenblatt.training.linear import GivenWeights
from rosenblatt.training.linear import InitialWeights as Weights
from rosenblatt.training.model_file import EarlyStoppingState, history, trained_state
from rosenblatt.training.observers import Callback, Observer
from rosenblatt.training.options import LEARNERS, RunOptions
from rosenblatt.training.report import Report, report
from rosenblatt.training.rows import (
    LARGE_RATIO,
    ClassWeight,
    Labels,
    NotFinite,
    RowMatrix,
    VectorLike,
    as_rows,
    differ_in_scale,
)
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.state import Outcome, RunState
from rosenblatt.training.train import Checkpointing, MakeRun, WarmStart, online_run, train

Floats = NDArray[np.float64]

# Methods that are available only for some parameter values, or never. The AttributeError they raise gives the reason.


class AvailableUnless:
    """Descriptor that makes a method unavailable while ``reason(model)`` returns a nonempty text.

    Access then raises an AttributeError with this text.

    The message of scikit-learn's ``available_if`` gives no reason; it states only that the attribute does not exist.

    >>> class Door:
    ...     locked = True
    ...     @partial(AvailableUnless, reason=lambda door: "the door is locked: unlock it." if door.locked else "")
    ...     def open(self):
    ...         return "open"
    >>> hasattr(Door(), "open")
    False
    >>> Door().open()
    Traceback (most recent call last):
    AttributeError: the door is locked: unlock it.
    """

    def __init__(self, method: Callable[..., object], reason: Callable[[Any], str]) -> None:
        self.method, self.reason = method, reason
        update_wrapper(cast(Callable[..., object], self), method)

    def __get__(self, model: object, owner: type | None = None) -> Callable[..., Any]:
        """Return the bound method, or the plain function on access through the class."""
        if model is None:
            return self.method
        reason = self.reason(model)
        if reason:
            raise AttributeError(reason)
        return MethodType(self.method, model)


def unavailable(reason: str) -> AvailableUnless:
    """Return a descriptor that raises an AttributeError with the text ``reason`` on access through an instance."""

    def method(self: object, *arguments: object) -> None:
        """Not available: access raises an AttributeError that names an alternative."""
        raise AttributeError(reason)

    return AvailableUnless(method, lambda model: reason)


# Constructors: setting their parameters, and sharing their documentation.


def set_parameters(model: object, given: Mapping[str, Any]) -> None:
    """Store the arguments of a constructor as attributes of ``model``; ``given`` is the constructor's ``locals()``."""
    for name, value in {**given, **given.get("others", {})}.items():
        if name not in ("self", "__class__", "others"):
            setattr(model, name, value)


Class = TypeVar("Class", bound=type)


def complete_docstring(source: type) -> Callable[[Class], Class]:
    """Return a class decorator that completes a docstring with the parameters and attributes of ``source``.

    Parameters are listed in the order of the signature, with the defaults of the decorated class. A property of
    ``source`` is added only if the decorated class has it too. The docstring must have a section "See Also"; the
    sections of parameters and attributes are placed before it.
    """

    def complete(cls: Class) -> Class:
        if cls.__doc__ is None or source.__doc__ is None:  # python -OO
            return cls
        own, shared = inspect.cleandoc(cls.__doc__), inspect.cleandoc(source.__doc__)
        parameters = _entries(shared, "Parameters") | _entries(own, "Parameters")
        signature = inspect.signature(cls).parameters
        described = [
            re.sub(r"default=\S+", "default=" + repr(p.default).replace("'", '"'), parameters[p.name], count=1)
            for p in signature.values()
            if p.name in parameters
        ]
        described += [entry for names, entry in parameters.items() if "," in names and names.split(",")[0] in signature]
        attributes = _entries(own, "Attributes")
        for names, entry in _entries(shared, "Attributes").items():
            first = names.split(",")[0]
            if hasattr(cls, first) or not hasattr(source, first):
                attributes.setdefault(names, entry)
        summary = re.split(r"\n\n(?:Parameters|Attributes|See Also)\n---", own)[0]
        sections = {"Parameters": described, "Attributes": attributes.values()}
        written = [f"{name}\n{'-' * len(name)}\n" + "\n".join(entries) for name, entries in sections.items()]
        cls.__doc__ = "\n\n".join([summary, *written, own[own.index("See Also\n---") :]])
        return cls

    return complete


def _entries(docstring: str, section: str) -> dict[str, str]:
    """Return a numpydoc section as a dictionary of entries, keyed by name. Entries must not contain blank lines."""
    body = docstring.partition(f"\n{section}\n{'-' * len(section)}\n")[2].partition("\n\n")[0]
    return {entry.partition(" : ")[0]: entry for entry in re.split(r"\n(?=\S)", body) if entry}


def refuse_stream(X: MatrixLike, method: str, learner: object) -> None:
    """Raise a TypeError if ``X`` is a stream returned by ``data.open``, since ``method`` takes arrays.

    >>> refuse_stream([[1.0]], "fit", None)
    """
    module = sys.modules.get("rosenblatt.data.stream")  # unless this module is imported, there are no streams
    if module is None or not isinstance(X, module.Stream):
        return
    if method in ("fit", "partial_fit") and hasattr(learner, "fit_stream"):
        raise TypeError(f"{method} takes rows and labels as arrays, got a stream: use fit_stream(stream).")
    if method == "fit":
        raise TypeError(
            "fit takes rows and labels as arrays, got a stream: read it with X, y = stream.read(), then fit(X, y)."
        )
    raise TypeError(
        f"{method} takes {'rows' if method == 'predict' else 'rows and labels'} as arrays, got a stream: "
        f"call {method}(block) for each block in the stream."
    )


class ExactClassifier(ClassifierMixin, BaseEstimator):
    """Base class of classifiers with exact decisions; subclasses define ``_scores`` and ``_decisions``.

    If the constructor or ``set_params`` gets a parameter name that only other libraries use, the error message names an
    alternative. The constructor's check is in ``__new__``, because scikit-learn reads the parameter names from the
    signature of ``__init__``.
    """

    classes_: Labels
    calibration_: Calibration
    _is_copy_of_table_model = False
    _lost_calibration = False
    """Whether this is an unfitted copy of a model that was trained from a table."""

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Create the object; raise a TypeError if a keyword is not a parameter name."""
        own = inspect.signature(cls.__init__).parameters
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in own.values()):
            for name in kwargs:
                if name not in own:
                    raise TypeError(unknown_parameter(cls.__name__, name, list(own)[1:]))
        return super().__new__(cls)

    def set_params(self, **params: object) -> Self:
        """Set the parameters of this estimator.

        Parameters
        ----------
        **params : dict
            Parameter names and values, as ``get_params`` returns them. Unknown names raise a ValueError.

        Returns
        -------
        self : estimator
            This estimator.
        """
        own = inspect.signature(type(self).__init__).parameters
        for name in params:
            if name in HINTS and name not in own:
                raise ValueError(unknown_parameter(type(self).__name__, name, list(own)[1:]))
        return super().set_params(**params)

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy, which remembers whether this model was trained from a table, for its messages."""
        copied = super().__sklearn_clone__()
        if rows_of_tables(self) is not None or self._is_copy_of_table_model:
            copied._is_copy_of_table_model = True
        return copied

    def _scores(self, rows: RowMatrix) -> Floats:
        """Return the scores of rows, with one column for each class, or a single column for two classes."""
        raise NotImplementedError

    def _decisions(self, rows: RowMatrix) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return (indices, tied): each row's predicted class as an index, and whether the row is on the boundary."""
        raise NotImplementedError

    def _rounded_scores(self, rows: RowMatrix) -> Floats:
        """Return the scores of rows from which probabilities are computed, with a column as for `_scores`."""
        raise NotImplementedError

    def _class_numbers(self, X: MatrixLike) -> NDArray[np.int64]:
        """Return the predicted class of each row as an index."""
        return self._decisions(self._rows(X))[0]

    def _rows(self, X: MatrixLike) -> RowMatrix:
        refuse_stream(X, "predict", self)
        check_is_fitted(self)
        return as_rows(validate_matrix(self, X, reset=False))

    def predict(self, X: MatrixLike) -> Labels:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Rows to classify. A model that was trained from a table takes tables with the columns ``columns_``, and
            prepares them as in training. A table is a data frame, an Arrow table, a dictionary or a list of
            dictionaries. To pass rows that are already prepared, use a ``data.Block``. This applies to all methods that
            take rows.

        Returns
        -------
        y : array of shape (n,)
            Predicted labels. A row exactly on the decision boundary gets the first of the tied classes; see
            `on_boundary`.
        """
        refuse_stream(X, "predict", self)
        check_is_fitted(self)
        return like_input(self.classes_[self._class_numbers(X)], X)

    def score(self, X: MatrixLike, y: VectorLike = None, sample_weight: VectorLike = None) -> float:
        """Return the accuracy on test rows and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Test rows.
        y : array-like of shape (n,)
            True labels of the test rows. For a table or a ``data.Block`` they are read from it by default.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows. None gives all rows the same weight.

        Returns
        -------
        score : float
            The share of correctly classified rows, weighted by ``sample_weight``.
        """
        refuse_stream(X, "score", self)
        X, y, sample_weight = prepare_labelled(self, X, y, sample_weight, weighted=False)
        if y is None:
            raise TypeError("score compares predictions with labels, got none: use score(X, y).")
        check_known_labels(self, as_numpy(y))
        return float(super().score(X, as_labels(as_numpy(y)), sample_weight))

    @partial(AvailableUnless, reason=lambda model: model._why_no_probabilities())
    def predict_proba(self, X: MatrixLike) -> Floats:
        """Return the probability of each class, for a model that `rosenblatt.calibrated` returned.

        The prediction of ``predict`` is the model's exact decision, which need not be the most probable class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Rows to classify.

        Returns
        -------
        probabilities : array of shape (n, n_classes)
            A column for each of ``classes_``. The probabilities of a row add up to 1, up to rounding. They are
            bit-identical for dense and sparse rows and on every machine, except with kernels.
        """
        self.calibration_.check_hypothesis(getattr(self, "hypothesis", "last"))
        return like_input(self.calibration_.probabilities(self._rounded_scores(self._rows(X))), X)

    def _why_no_probabilities(self) -> str:
        """Return a sentence that explains why there is no ``predict_proba``, or "" if the model is calibrated."""
        if hasattr(self, "calibration_"):
            return ""
        if self._lost_calibration:
            return (
                "the probabilities of this model were removed when it was trained further, because they belong to its "
                "former scores: calibrate it again with rosenblatt.calibrated(model, X, y)."
            )
        return (
            "a perceptron has scores but no probabilities: rosenblatt.calibrated(model, X, y) returns a copy with "
            "predict_proba, fitted to rows that the model has not seen."
        )

    def on_boundary(self, X: MatrixLike) -> NDArray[np.bool_]:
        """Return whether each row lies exactly on the decision boundary.

        For two classes, a row is on the boundary if its score is exactly 0. For more classes, it is on the boundary if
        several classes tie exactly for the highest score. Rounding does not affect this test.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Rows to test.

        Returns
        -------
        tied : array of bool of shape (n,)
            True for each row on the boundary.
        """
        return self._decisions(self._rows(X))[1]

    def decision_function(self, X: MatrixLike) -> Floats:
        """Return the score of each row as a float, whose sign is exact although its value is rounded.

        The score of a linear model is the activation ``w @ x + b``. The score of a vote is the share of votes for a
        class minus the share against it. With more than two classes, ``predict`` compares the exact scores, so it may
        find a difference that the rounded scores do not show.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Rows to score.

        Returns
        -------
        scores : array of shape (n,) or (n, n_classes)
            For two classes a score for each row, positive if ``classes_[1]`` is predicted. For more classes a column
            for each class.
        """
        scores = self._scores(self._rows(X))
        return like_input(scores[:, 0] if scores.shape[1] == 1 else scores, X)

    @property
    def columns_(self) -> NDArray[np.object_]:
        """Names of the columns of the training table that the model uses, without the target."""
        rows = rows_of_tables(self)
        if rows is None:
            raise AttributeError("only a model that was trained from a table has columns_: use feature_names_in_.")
        return np.array(rows.columns, object)

    def __getstate__(self) -> dict[str, object]:
        """Return the attributes to pickle, without those that can be recomputed from the others."""
        state = dict(super().__getstate__())
        state.pop("_rows_of_tables", None)
        return state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # The notebook view: scikit-learn's diagram, followed by the results of training.

    def _html_card(self) -> str:
        """Return the results of training as HTML, or "" before training."""
        return ""

    # scikit-learn 1.6 to 1.9 define both methods below; notebooks prefer _repr_mimebundle_

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._html_card()

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._html_card()
        return bundle


@contextmanager
def restored_on_error(model: object) -> Iterator[None]:
    """Restore the attributes of ``model`` if the ``with`` block raises an error other than a KeyboardInterrupt."""
    before = dict(vars(model))
    try:
        yield
    except Exception:
        vars(model).clear()
        vars(model).update(before)
        raise


# Warnings about a run: remaining mistakes, features of very different ranges, rows sorted by label.


_SCALE_ADVICE = (
    f"some features have ranges more than {LARGE_RATIO:g} times as large as others, which therefore have little "
    "effect: scale them, for instance with sklearn.preprocessing.StandardScaler"
)


# The texts below contain no numbers, so that the filter "once" shows a warning once for many fits, as in a grid search.


def warn_about_mistakes(run: TrainingRun) -> None:
    """Warn that training reached ``max_iter`` or ``max_updates`` with mistakes in its last pass."""
    limit = "max_updates" if run.state.at_limit.any() else "max_iter"
    kernel = not run.options.is_linear
    other = "another kernel, a higher degree or a larger gamma" if kernel else "AveragedPerceptron"
    scale = "" if kernel or not differ_in_scale(run) else f"; {_SCALE_ADVICE}"
    warn_user(
        f"the last pass that {limit} allows still made mistakes (see history_), so training has not converged: raise "
        f'{limit}, or use hypothesis="average" or {other} if it may not be separable{scale}.',
        ConvergenceWarning,
    )


def warn_about_scales(run: TrainingRun) -> None:
    """Warn if the ranges of the features differ so much that scaling may reduce the remaining mistakes."""
    if differ_in_scale(run):
        warn_user(f"the last pass made many mistakes, and {_SCALE_ADVICE}.", ConvergenceWarning)


def warn_about_order(leading_run: int) -> None:
    """Warn that the first ``leading_run`` rows that training processes all have the same label (CIML section 4.2)."""
    warn_user(
        f"the first {leading_run} rows all have one label and are visited in the given order: after a few of them "
        "the perceptron predicts that label for every row and learns nothing from the rest. "
        'Shuffle the rows, or use fit with shuffle=True or shuffle="once".',
        UserWarning,
    )


INTERRUPT_NOTE = (
    "The model keeps what it has learned if it is assigned to a variable: after model = Perceptron(), an interrupted "
    "model.fit(X, y) leaves a usable model, and model.report_ tells how far it got."
)
"""Note added to the KeyboardInterrupt that interrupts ``fit``."""


class BasePerceptron(ExactClassifier):
    """Base class of the estimators that a `TrainingRun` trains; subclasses define the parameters."""

    hypothesis: str
    max_iter: int
    warm_start: bool
    early_stopping: bool
    class_weight: ClassWeight
    multi_class: str
    n_jobs: int | None

    n_features_in_: int
    state_: RunState
    _early_stopping_state: EarlyStoppingState | None = None

    def fit(self, X: MatrixLike, y: VectorLike = None, sample_weight: VectorLike = None) -> Self:
        """Fit the model to labelled rows.

        Training stops after the first pass without an update. It stops earlier if ``max_iter`` or ``max_updates`` is
        reached, or if ``tol`` or early stopping ends it.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Training rows. C-ordered and CSR matrices of float32 or float64 are used without a copy.
        y : array-like of shape (n,)
            Labels of any type, from at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row, which multiplies the step size of its updates. Rows of weight 0 are skipped. None means
            1 for all rows.

        Returns
        -------
        self : estimator
            The fitted model.
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
            X, y, sample_weight = prepare_labelled(self, X, y, sample_weight, fresh=not warm)
            # A linear run that starts from zero detects NaN in its first pass; a separate check would read X again.
            finite = warm or options.early_stopping or not options.is_linear
            X, y = validate_pair(self, X, y, reset=not warm, finite=finite)
            weight = as_numpy(sample_weight)
            source = InMemory(labelled_batch(X, y, weight, self.class_weight, entries=options.entries))
            if warm:
                warn_of_new_classes(self, source.classes)
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
        on_pass: Callable[[Self], object] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: float = 30.0,
        resume: bool = False,
    ) -> Self:
        """Fit the model to a stream of blocks of rows, with only a limited number of rows in memory at a time.

        Training makes passes over the rows as ``fit`` does, and stops under the same conditions. With ``shuffle=False``
        the result is bit-for-bit identical to the result of ``fit`` on all rows. Otherwise rows are shuffled within
        consecutive windows of 65,536 rows, so the result is also identical if there are at most 65,536 rows. How the
        rows are divided into blocks never changes the result. Early stopping holds out the same rows as ``fit``, and
        keeps these rows in memory.

        Parameters
        ----------
        blocks : iterable of (X, y) or (X, y, sample_weight), or a stream returned by ``data.open``
            Blocks of rows with their labels, which are read once in each pass. More than one pass requires an iterable
            that can be read repeatedly, such as a list or a file; a generator can be read only once. Later sparse
            blocks may have more columns; earlier rows have the value 0 in the additional columns.
        classes : array-like, default=None
            All classes. None uses the classes of the first block. If a later block contains a new class, all labels are
            read and training restarts. If the blocks can be read only once, training continues instead. The weights of
            the third and each later class then start from zero at the first row of that class.
        on_pass : callable, default=None
            Function that is called with the model after each pass, for instance to score it on a test set. Training
            stops if the function returns True.
        checkpoint : str or path-like, default=None
            File to which a checkpoint of the training run is written periodically and on Ctrl-C. The file is replaced
            atomically. None writes no checkpoints.
        every : float, default=30.0
            Seconds between two checkpoints, at least 0. A training run that takes less time writes no checkpoint.
        resume : bool, default=False
            Whether to resume from ``checkpoint`` if that file exists. The result is identical to that of an
            uninterrupted training run, bit for bit. A ValueError is raised if the data or a parameter has changed; only
            ``verbose``, ``n_jobs``, ``cache_size`` and ``device`` may differ. Data files must have the same size and
            content; the content is compared on samples. If the modification time of a file differs, all bytes that
            training had read are compared. Blocks from other sources are compared by their first 1,000 rows.

        Returns
        -------
        self : estimator
            The fitted model.

        See Also
        --------
        partial_fit : Learn from a chunk of rows in a single pass.
        rosenblatt.data.open : Open files as a stream of blocks.

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
            on_resume=self._restore_features,
        )
        with restored_on_error(self):
            warm = self._is_warm()
            if warm:
                check_prepared_alike(self, blocks, options.validation_split(int(self.state_.seed)))
            width = self.n_features_in_ if warm else 0
            validate = block_validator(self, reset=not warm)
            source = Streamed(blocks, classes, class_weight=options.class_weight, validate=validate, width=width)
            observers = [] if on_pass is None else [Callback(self._callback(on_pass, blocks, warm))]
            return self._train(source, options, observers, checkpoints=checkpoints)

    def _restore_features(self, found: Checkpoint) -> None:
        self.n_features_in_ = found.state.n_features
        if found.names is not None:
            self.feature_names_in_ = found.names

    @partial(AvailableUnless, reason=lambda model: model._why_no_partial_fit())
    def partial_fit(
        self, X: MatrixLike, y: VectorLike = None, classes: VectorLike = None, sample_weight: VectorLike = None
    ) -> Self:
        """Learn from a chunk of rows, continuing from the current weights.

        Each row is processed once, in the given order. Calls on consecutive chunks of a data set give the same result
        as one pass of ``fit`` with ``shuffle=False``, bit for bit. With more than two classes, pass ``classes`` in the
        first call. Otherwise the weights of a class that appears later start from zero at the first row of that class.
        ``n_iter_`` counts the calls, and ``max_updates`` limits the updates of all calls together.
        ``early_stopping=True`` has no effect.

        The method is not available with ``hypothesis="pocket"``, or with ``gamma="scale"`` if the kernel has a gamma,
        because both settings need all rows at once.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Rows to learn from.
        y : array-like of shape (n,)
            Labels of these rows. They may all be of one class.
        classes : array-like, default=None
            All classes that may occur. A label in ``y`` that is not listed becomes a class too.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row, which multiplies the step size of its updates. Rows of weight 0 are skipped. None means
            1 for all rows.

        Returns
        -------
        self : estimator
            The updated model.

        See Also
        --------
        fit_stream : Make several passes over blocks of rows.

        Examples
        --------
        >>> from rosenblatt import AveragedPerceptron
        >>> model = AveragedPerceptron().partial_fit([[1, 1], [-1, 0]], ["yes", "no"])
        >>> model = model.partial_fit([[2, 0], [0, -2]], ["yes", "no"])
        >>> model.n_iter_, model.predict([[3, 1]]).tolist()
        (2, ['yes'])
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
        refusal = self._why_names_needed(X)
        if refusal:
            raise ValueError(refusal)
        with restored_on_error(self):
            X, y, sample_weight = prepare_labelled(self, X, y, sample_weight, fresh=start is None)
            X, y = validate_pair(self, X, y, reset=start is None)
            known, weight = None if start is None else start.classes, as_numpy(sample_weight)
            batch = labelled_batch(X, y, weight, self.class_weight, known, options.entries)
            run = online_run(batch, options, start, as_numpy(classes), effective_n_jobs(self.n_jobs))
        if start is not None and classes is None:
            warn_of_new_classes(self, batch.classes)
        if run.state.note_leading_run(y):
            warn_about_order(run.state.leading_run)
            run.state.leading_run = -1
        try:
            run.visit(batch)
        finally:
            self._set_trained(run.state, run.classes)
        return self

    # the run

    def _set_trained(self, state: RunState, classes: Labels, more: EarlyStoppingState | None = None) -> None:
        """Store a state of a training run and its classes; remove the calibration, which was fitted to other scores."""
        self.state_, self.classes_, self._early_stopping_state = state, classes, more
        if self.__dict__.pop("calibration_", None) is not None:
            self._lost_calibration = True

    def _options(self, X: MatrixLike = None) -> RunOptions:
        """Return the validated parameters for training on ``X``."""
        learner = type(self)._learner_name()
        check_unused(self, learner, self.hypothesis)
        kind = LEARNERS[learner].options
        names = [field.name for field in fields(kind) if hasattr(self, field.name)]
        given: dict[str, Any] = {name: getattr(self, name) for name in names} | self._more_options(X)
        return kind(**given).check()

    def _why_no_partial_fit(self) -> str:
        """Return a sentence that names the parameter that rules out ``partial_fit``, or "" if there is none."""
        if self.hypothesis != "pocket":
            return ""
        return (
            'hypothesis="pocket" compares weights on the whole training set, which partial_fit never sees: '
            'use fit, or hypothesis="average".'
        )

    def _why_names_needed(self, X: MatrixLike) -> str:
        """Return a sentence that explains why the columns of ``X`` must have names, or "" if names are optional."""
        return ""

    def _more_options(self, X: MatrixLike) -> dict[str, object]:
        """Return a dictionary of those `RunOptions` fields that are not parameters of the estimator."""
        return {}

    @classmethod
    def _learner_name(cls) -> str:
        """Return the name of the nearest class in the MRO that `LEARNERS` lists, or "Perceptron" if it lists none."""
        return next((base.__name__ for base in cls.__mro__ if base.__name__ in LEARNERS), "Perceptron")

    def _is_warm(self) -> bool:
        """Return whether to continue from the current weights; raise a ValueError if a fixed parameter has changed."""
        warm = bool(self.warm_start) and hasattr(self, "state_")
        if warm:
            self._check_unchanged()
        return warm

    def _check_unchanged(self) -> None:
        """Raise a ValueError if a parameter that must not change between calls has changed since training."""
        self.state_.check_keeps(self.hypothesis)
        for name, then, now in self._fixed_parameters():
            if then != now:
                raise ParameterError(
                    "{parameter} has changed since this model was trained, so training cannot continue: set it back, "
                    "or fit from the start (warm_start=False).",
                    parameter=Setting(name),
                )

    def _fixed_parameters(self) -> list[tuple[str, object, object]]:
        """Return (name, value during training, current value) for each parameter that must not change between calls."""
        direct = len(self.classes_) > 2 and self.multi_class == "direct"
        return [("multi_class", self.state_.direct, direct)]

    def _train(
        self,
        source: TrainingSource,
        options: RunOptions,
        observers: Sequence[Observer] = (),
        *,
        given: Weights | None = None,
        checkpoints: Checkpointing | None = None,
        make_run: MakeRun = TrainingRun,
    ) -> Self:
        """Train on ``source``, store the final model parameters in this model, and warn about remaining mistakes."""
        start = None
        if given is None and self._is_warm():
            state, best = self._early_stopping_state or (self.state_, None)
            start = WarmStart(state, self.classes_, best)
        runs: list[TrainingRun] = []

        def keep(run: TrainingRun) -> None:
            runs.append(run)
            if not run.has_visited:
                return  # the run was interrupted before its first row
            state, more = trained_state(run)
            self._set_trained(state, run.classes, more)
            self.n_features_in_ = state.n_features
            attach_preparation(self, source.blocks if isinstance(source, Streamed) else (), start is not None)

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
        small = small_classes_note(run)
        if small is not None:
            warn_user(str(small), UserWarning)
        if not options.shuffle and not run.resumed and run.labels.is_sorted:
            warn_about_order(run.labels.leading_run)
        ended = outcome in (Outcome.MAX_PASSES, Outcome.MAX_UPDATES)
        if options.hypothesis == "last" and ended and options.expects_no_mistakes and run.state.mistakes_left():
            warn_about_mistakes(run)
        elif outcome is not Outcome.CLEAN_PASS and options.is_linear:
            warn_about_scales(run)
        return self

    def _callback(
        self, function: Callable[[Self], object], blocks: Iterable[object] = (), warm: bool = False
    ) -> Callable[[TrainingRun], object]:
        """Return a callback that copies the state of a run on ``blocks`` to this model and then calls ``function``."""

        def call(run: TrainingRun) -> object:
            self._set_trained(run.state, run.classes)
            attach_preparation(self, blocks, warm)
            return function(self)

        return call

    def score_by_pass(
        self, X: MatrixLike, y: VectorLike, X_test: MatrixLike = None, y_test: VectorLike = None
    ) -> Table:
        """Train a copy of this model from scratch and return its error rates after each pass.

        This model itself is not changed. Figure 4.3 of CIML plots such errors.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Labels of the training rows.
        X_test : {array-like, sparse matrix, data frame} of shape (m, d), default=None
            Test rows. None computes training errors only.
        y_test : array-like of shape (m,), default=None
            Labels of the test rows; required if ``X_test`` is given.

        Returns
        -------
        errors : Table
            A row for each pass. The column ``pass`` is its number, and ``mistakes`` the number of mistakes during the
            pass. ``training_error`` and, if test rows are given, ``test_error`` are the errors after the pass. An error
            is the share of rows that the model's ``hypothesis`` misclassifies.

        See Also
        --------
        rosenblatt.plots.plot_errors : Draw these errors.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> X, y = [[1, 1], [2, 0], [-1, 0], [0, -2]], ["yes", "yes", "no", "no"]
        >>> Perceptron(shuffle=False).score_by_pass(X, y)
        Perceptron: errors by pass
        pass  mistakes  training_error
        ------------------------------
           1         2               0
           2         0               0
        """
        if (X_test is None) != (y_test is None):
            raise ValueError("X_test and y_test must be given together: give both, or neither.")
        X, y, _ = prepare_labelled(self, X, y)
        if X_test is not None:
            X_test, y_test, _ = prepare_labelled(self, X_test, y_test)
        model = clone(self).set_params(warm_start=False, verbose=0)
        given = {"training_error": (X, y)} | ({} if X_test is None else {"test_error": (X_test, y_test)})
        columns: dict[str, list[float]] = {name: [] for name in ("pass", "mistakes", *given)}
        validated: dict[str, tuple[RowMatrix, Labels]] = {}

        def add_pass(model: BasePerceptron) -> None:
            columns["pass"].append(model.n_iter_)
            columns["mistakes"].append(int(model.history_["mistakes"][-1]))
            for name, (rows, labels) in given.items():
                if name not in validated:
                    model.score(rows, labels)  # raises an error for rows or labels that do not fit the model
                    validated[name] = model._rows(rows), np.ravel(as_numpy(labels))
                right = model.classes_[model._decisions(validated[name][0])[0]] == validated[name][1]
                columns[name].append(1.0 - float(np.mean(right)))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model._fit(X, y, observers=[Callback(model._callback(add_pass))])
        return Table(columns, title=f"{type(self).__name__}: errors by pass")

    # what was learned

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "state_")

    @property
    def _trained(self) -> RunState:
        """The parameters of the fitted model. Before ``fit``, access raises scikit-learn's NotFittedError."""
        check_is_fitted(self)
        return self.state_

    def _scores(self, rows: RowMatrix) -> Floats:
        return self._predictor().scores(self.hypothesis, rows)

    def _rounded_scores(self, rows: RowMatrix) -> Floats:
        return self._predictor().rounded_scores(self.hypothesis, rows)

    def _decisions(self, rows: RowMatrix) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        if len(self.classes_) == 1:
            return np.zeros(rows.n, np.int64), np.zeros(rows.n, bool)
        return self._predictor().decide(self.hypothesis, rows)

    def _class_numbers(self, X: MatrixLike) -> NDArray[np.int64]:
        if len(self.classes_) == 1:
            return super()._class_numbers(X)
        try:  # prediction detects NaN by itself; a separate check would read X again
            return self._predictor().predict(self.hypothesis, validate_matrix(self, X, reset=False, finite=False))
        except NotFinite:
            validate_matrix(self, X, reset=False)  # raises scikit-learn's error
            raise

    def _predictor(self) -> RunState:
        """Return the model parameters from which scores and decisions are computed."""
        return self.state_

    @property
    def n_iter_(self) -> int:
        """Number of passes made; each call of ``partial_fit`` counts as one pass."""
        return self._trained.passes

    @property
    def n_updates_(self) -> int:
        """Number of updates made, summed over all one-vs-rest classifiers."""
        return int(sum(np.maximum(counts, 0).sum() for counts in self._trained.updates_by_pass))

    @property
    def seed_(self) -> int:
        """Seed of the random orders in which training processes the rows."""
        return self._trained.seed

    @property
    def converged_(self) -> bool:
        """Whether every one-vs-rest classifier has made a whole pass without an update."""
        return bool(self._trained.done.all())

    @property
    def history_(self) -> NDArray[np.void]:
        """Structured array with a row for each pass.

        The field ``mistakes`` is the number of mistakes made during the pass. Learners that also update on correctly
        classified rows have a field ``updates``. With early stopping, ``validation_error`` is the error after the pass.
        If the last pass was interrupted, the field ``share`` is the fraction of the rows that each pass processed. It
        is 1 for complete passes, and NaN if the fraction is unknown.
        """
        return history(self._trained)

    @property
    def report_(self) -> Report:
        """Summary of training, with bounds on the margin and on the number of updates, as a `Report`."""
        return report(self._trained, self.classes_, self._early_stopping)

    def _html_card(self) -> str:
        return self.report_._repr_html_() if hasattr(self, "state_") else ""

    @property
    def best_iter_(self) -> int:
        """Number of the pass whose weights are kept: the best pass with early stopping, otherwise the last one."""
        facts = self._early_stopping
        return self._trained.passes if facts is None else facts.best_pass

    @property
    def _early_stopping(self) -> EarlyStoppingFacts | None:
        """The results of early stopping, or None if no rows were held out."""
        kept = self._early_stopping_state
        return early_stopping_facts(self._trained, kept and kept[1])
