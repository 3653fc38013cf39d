"""Linear learners: `Perceptron`, `AveragedPerceptron` and `VotedPerceptron`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Self, Unpack

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from rosenblatt.blocks import check_label_types
from rosenblatt.estimators.base import (
    AvailableUnless,
    BasePerceptron,
    Floats,
    complete_docstring,
    refuse_stream,
    set_parameters,
)
from rosenblatt.estimators.online import (
    Entries,
    Label,
    OneByOne,
    RecordColumns,
    check_record,
    label_array,
    record_features,
    record_row,
)
from rosenblatt.estimators.parameter_hints import PerceptronParameters, accepts
from rosenblatt.estimators.prepared import rows_of_tables, warn_of_new_classes
from rosenblatt.estimators.validation import MatrixLike, as_numpy
from rosenblatt.training.batches import labelled_batch
from rosenblatt.training.linear import GivenWeights, LinearState
from rosenblatt.training.options import RandomSource, RunOptions
from rosenblatt.training.records import RecordLearner
from rosenblatt.training.rows import ClassWeight, Names, VectorLike, as_rows
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.train import WarmStart, online_run


class LinearPerceptron(BasePerceptron):
    """Base class of the learners with a weight for each feature."""

    fit_intercept: bool
    decay: float
    _columns: tuple[Names, RecordColumns] | None = None
    """The array ``feature_names_in_`` and the columns made from it; outdated if the attribute is another array now."""
    _learns_by_name = False
    _online: tuple[TrainingRun, RunOptions, int] | None = None
    """The training run that ``learn_one`` continues, the options of that run, and its number of passes."""
    _records: OneByOne | None = None
    """The weights that records have changed are here, until ``state_`` is read."""

    @accepts(PerceptronParameters)
    def __init__(
        self,
        max_iter: int = 10,
        fit_intercept: bool = True,
        shuffle: bool | str = True,
        random_state: RandomSource = None,
        max_updates: int | None = None,
        warm_start: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: ClassWeight = None,
        multi_class: str = "ovr",
        n_jobs: int | None = None,
        verbose: int = 0,
        decay: float = 0.0,
        tol: float | None = None,
        **others: Unpack[PerceptronParameters],
    ) -> None:
        set_parameters(self, locals())

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike = None,
        sample_weight: VectorLike = None,
        coef_init: VectorLike = None,
        intercept_init: VectorLike = None,
    ) -> Self:
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
            Weight of each row, which multiplies the step size of its updates. `PassiveAggressive` applies the weight
            after it has limited the step to ``C``, and `AROW` divides ``r`` by the weight instead. Rows of weight 0 are
            skipped. None means 1 for all rows.
        coef_init : array-like of shape (d,), (1, d) or (n_classes, d), default=None
            Initial weights, for instance ``coef_`` of another model: a single row for two classes, one row for each
            class otherwise. None means zero. Averages and votes include these weights. Training starts from them even
            with ``warm_start=True``. The bounds in ``report_`` then hold for every training run that starts from
            weights of the same norm.
        intercept_init : float or array-like of shape (1,) or (n_classes,), default=None
            Initial biases. None means zero.

        Returns
        -------
        self : estimator
            The fitted model.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> X, y = [[1, 1], [2, 0], [-1, 0], [0, -2]], ["yes", "yes", "no", "no"]
        >>> Perceptron().fit(X, y, coef_init=[2, 1]).n_updates_  # these weights already separate the rows
        0
        """
        refuse_stream(X, "fit", self)
        given = None
        if coef_init is not None or intercept_init is not None:
            given = GivenWeights(as_numpy(coef_init), as_numpy(intercept_init))
        return self._fit(X, y, sample_weight, given=given)

    def _fixed_parameters(self) -> list[tuple[str, object, object]]:
        return [
            ("fit_intercept", self.state_.fit_intercept, bool(self.fit_intercept)),
            ("decay", self.state_.decay, float(self.decay)),
            *super()._fixed_parameters(),
        ]

    @property  # type: ignore[override]
    def state_(self) -> LinearState:
        """The state of training. What was learned from records is written to its arrays first."""
        if "state_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} has not been trained, so it has no state_: call fit.")
        if self._records is not None:
            self._records.learner.release()
        state: LinearState = vars(self)["state_"]
        return state

    @state_.setter
    def state_(self, state: LinearState) -> None:
        self.__dict__["state_"] = state
        self.__dict__.pop("_records", None)

    # the weights of each hypothesis

    @property
    def _trained(self) -> LinearState:
        check_is_fitted(self)
        return self.state_

    @property
    def coef_(self) -> Floats:
        """Weights used for prediction: one row for each class, or a single row for two classes."""
        return self._weights(self.hypothesis)[0]

    @property
    def intercept_(self) -> Floats:
        """Biases used for prediction: one for each class, or a single bias for two classes."""
        return self._weights(self.hypothesis)[1]

    @property
    def last_coef_(self) -> Floats:
        """The final weights."""
        return self._weights("last")[0]

    @property
    def last_intercept_(self) -> Floats:
        """The final biases."""
        return self._weights("last")[1]

    @property
    def average_coef_(self) -> Floats:
        """Average of the weights after each processed row."""
        return self._weights("average")[0]

    @property
    def average_intercept_(self) -> Floats:
        """Average of the biases after each processed row."""
        return self._weights("average")[1]

    def _weights(self, hypothesis: str) -> tuple[Floats, Floats]:
        if hypothesis == "vote":
            raise AttributeError(
                "a vote is cast by many weight vectors, so there is no single coef_ or intercept_: "
                "use average_coef_ or last_coef_."
            )
        state = self._trained
        try:
            w, b = state.weights(hypothesis)
        except ValueError as not_kept:
            raise AttributeError(str(not_kept)) from not_kept
        return w.copy(), b.copy()

    # learning from one record at a time, with the method names of river and other online libraries

    def learn_one(self, x: Mapping[Any, object], y: object, w: float = 1.0) -> Self:
        """Learn from one record, continuing from the current weights.

        The weights are bit-for-bit identical to those that ``partial_fit`` learns from the same rows. A new feature
        name is added to ``feature_names_in_``. Features missing from a record count as 0. The time of a call depends on
        the number of features in the record, not on the number of features in the model. Consecutive calls count as one
        pass.

        Parameters
        ----------
        x : dict
            Feature names and values. A name is a string, an integer, or any other hashable value but None. Numbers are
            used unchanged, booleans as 0 and 1. A string is one-hot encoded: ``{"colour": "red"}`` is the feature
            ``colour=red`` with the value 1. None and NaN raise a ValueError, so leave out missing values. If the model
            was trained from a table, pass a row with the columns of that table; it is prepared as in training.
        y : str, int or bool
            Class label. A new class may appear at any time.
        w : float, default=1.0
            Weight of the record, at least 0, like ``sample_weight`` in ``partial_fit``.

        Returns
        -------
        self : estimator
            The updated model.

        See Also
        --------
        predict_one : Predict the class of one record.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> model = Perceptron()
        >>> for x, y in [({"warm": 1, "sky": "blue"}, "walk"), ({"sky": "grey", "wind": 2.5}, "read")]:
        ...     print(model.predict_one(x), end=" ")
        ...     _ = model.learn_one(x, y)
        None walk
        >>> model.predict_one({"wind": 3, "cold": True})
        'read'
        >>> model.feature_names_in_.tolist()
        ['warm', 'sky=blue', 'sky=grey', 'wind']
        """
        records = self._records
        if records is None or not records.learn(x, y, w, self.__dict__):
            self._learn_row(x, y, w)
        elif self._columns is not None and records.learner.width > self.n_features_in_:
            self._set_columns(self._columns[1])
        return self

    def _learn_row(self, x: Mapping[Any, object], y: object, w: float) -> None:
        """Learn from one record as a sparse row."""
        options = self._options()
        options.check_for_stream("learn_one")
        rows = rows_of_tables(self)
        columns = self._record_columns() if rows is None else None
        label = label_array(y) if rows is None else rows.label(y)
        if hasattr(self, "state_"):
            check_label_types(self.classes_, label)
            if rows is not None:
                warn_of_new_classes(self, label)
        run = self._row_run(options)
        if run is None and hasattr(self, "state_"):
            self._check_unchanged()
        if columns is None:
            row = self._prepared_row(x)
        else:
            row = record_row(columns.learn(x), len(columns))
        weight, known = None if w == 1.0 else w, None if run is None else run.classes
        batch = labelled_batch(row, label, weight, self.class_weight, known)
        continues = run is not None
        if run is None:
            start = WarmStart(self.state_, self.classes_) if hasattr(self, "state_") else None
            run = online_run(batch, options, start)
        before = self._records
        try:
            run.visit(batch, continues)
        finally:
            self._set_trained(run.state, run.classes)
            if columns is not None:
                self._set_columns(columns)
                self._learns_by_name = True
            self._online = run, options, run.state.passes
        self._records = self._one_by_one(run)
        if self._records is not None:
            self._records.note_label(y, label.tolist()[0], before)

    def _set_columns(self, columns: RecordColumns) -> None:
        self.n_features_in_, self.feature_names_in_ = len(columns), columns.names
        self._columns = self.feature_names_in_, columns

    def _one_by_one(self, run: TrainingRun | None = None) -> OneByOne | None:
        """Return the fast way to predict records and, with a run, to learn from them; None if there is none."""
        state, rows = self.state_, rows_of_tables(self)
        if state.log is not None or state.pocket is not None:
            return None
        columns = None if rows is not None else self._record_columns()
        learner = RecordLearner(state, None if columns is None else columns.places, run)
        features = record_features if rows is None else rows.record_features
        return OneByOne(learner, self.classes_, features, rows is None, vars(self))

    def _row_run(self, options: RunOptions) -> TrainingRun | None:
        """Return the run that ``learn_one`` continues; None if there is none, or if its state or options changed."""
        if self._online is None:
            return None
        run, then, passes = self._online
        unchanged = run.state is getattr(self, "state_", None) and run.state.passes == passes and then == options
        return run if unchanged else None

    def predict_one(self, x: Mapping[Any, object]) -> Label | None:
        """Predict the class of one record.

        Parameters
        ----------
        x : dict
            Feature names and values, as for `learn_one`. Features without a weight in the model are ignored. If the
            model was trained from a table, pass a row with the columns of that table.

        Returns
        -------
        label : str, int, bool or None
            The predicted class, or None before training.

        See Also
        --------
        learn_one : Learn from one record.
        decision_one : Return the score of one record.

        Examples
        --------
        >>> from rosenblatt import AveragedPerceptron
        >>> model = AveragedPerceptron().learn_one({"a": 1}, True).learn_one({"b": 1}, False)
        >>> model.predict_one({"a": 2, "c": 5})
        True
        """
        if self._records is None:
            if not hasattr(self, "state_"):
                return None
            self._records = self._one_by_one()
        label = None if self._records is None else self._records.predict(x, self.hypothesis)
        return self._predict_row(x) if label is None else label

    def decision_one(self, x: Mapping[Any, object]) -> float | dict[Label, float] | None:
        """Return the score of one record, as ``decision_function`` computes it.

        Parameters
        ----------
        x : dict
            Feature names and values, as for `predict_one`.

        Returns
        -------
        score : float, dict or None
            For two classes, the score of the second one. For more classes, the score of each by its label. None if the
            model knows fewer than two classes.

        See Also
        --------
        predict_one : Predict the class of one record.
        predict_proba_one : Return the probabilities of the classes.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> model = Perceptron().learn_one({"a": 1}, "no").learn_one({"b": 2}, "yes")
        >>> model.decision_one({"b": 1.5})
        3.0
        """
        scores = self._scores_of_one(x, "scores")
        if scores is None or len(scores) > 1:
            return None if scores is None else dict(zip(self.classes_.tolist(), scores, strict=True))
        return scores[0]

    @partial(AvailableUnless, reason=lambda model: model._why_no_probabilities())
    def predict_proba_one(self, x: Mapping[Any, object]) -> dict[Label, float]:
        """Return the probability of each class for one record, for a model that `rosenblatt.calibrated` returned.

        Parameters
        ----------
        x : dict
            Feature names and values, as for `predict_one`.

        Returns
        -------
        probabilities : dict
            The probability of each class by its label, as ``predict_proba`` computes it.
        """
        self.calibration_.check_hypothesis(self.hypothesis)
        found = self.calibration_.probabilities(np.array([self._scores_of_one(x, "rounded_scores")]))
        return dict(zip(self.classes_.tolist(), found[0].tolist(), strict=True))

    def _scores_of_one(self, x: Mapping[Any, object], kind: str) -> list[float] | None:
        """Return the "scores" or the "rounded_scores" of a record; None if the model knows fewer than two classes."""
        if not hasattr(self, "state_") or len(self.classes_) < 2:
            return None
        row, state = self._record_row(x), self.state_
        if self.hypothesis != "vote":  # the time does not depend on the number of columns
            state, row = state.with_columns(row.indices), row.data[None].astype(np.float64)
        scores: list[float] = getattr(state, kind)(self.hypothesis, as_rows(row))[0].tolist()
        return scores

    def _record_row(self, x: Mapping[Any, object]) -> sp.csr_array:
        """Return a record as a sparse row, without features that the model does not have."""
        if rows_of_tables(self) is None:
            return record_row(self._record_columns().look_up(x), self.state_.n_features)
        return self._prepared_row(x)

    def _predict_row(self, x: Mapping[Any, object]) -> Label:
        """Predict the class of one record as a sparse row."""
        row = self._record_row(x)
        labels: list[Label] = self.classes_.tolist()
        return labels[0] if len(labels) == 1 else labels[self.state_.decide_one(self.hypothesis, row)]

    def _prepared_row(self, x: Mapping[Any, object]) -> sp.csr_array:
        """Return a record as a sparse row, prepared as the table that the model was trained from."""
        rows = rows_of_tables(self)
        assert rows is not None
        check_record(x)
        return record_row(Entries(*rows.record(x)), self.state_.n_features)

    def _record_columns(self) -> RecordColumns:
        """Return the map from feature names to columns; raise a ValueError if the columns have no usable names."""
        if not hasattr(self, "state_"):
            return RecordColumns()
        names = getattr(self, "feature_names_in_", None)
        if self._columns is not None and self._columns[0] is names:
            return self._columns[1]
        if hasattr(self, "preparation_"):
            raise ValueError(
                "this model was trained on files, whose rows are prepared as in preparation_: read more of them with "
                "data.open(..., preparation=model.preparation_)."
            )
        if names is None:
            raise ValueError(
                "this model was trained on columns without names, so the names in a record match none of them: train "
                "it on a data frame, or with learn_one from the start."
            )
        self._columns = names, RecordColumns(names.tolist())
        return self._columns[1]

    def _why_names_needed(self, X: MatrixLike) -> str:
        known = self._columns is not None and self._columns[0] is getattr(self, "feature_names_in_", None)
        if not (self._learns_by_name and known) or hasattr(X, "columns"):
            return ""
        return (
            "this model learns from records by name, and these rows have no names: give a data frame whose columns are "
            "model.feature_names_in_, or use learn_one."
        )

    def __getstate__(self) -> dict[str, object]:
        """Return the attributes to pickle, without the training run of ``learn_one``."""
        if self._records is not None:
            self._records.learner.release()
        state = dict(super().__getstate__())
        state.pop("_online", None)
        state.pop("_records", None)
        return state


class Perceptron(LinearPerceptron):
    """The perceptron: a linear classifier that adjusts its weights whenever it misclassifies a row.

    Training stops after the first pass without a mistake. It reaches such a pass if and only if the data is linearly
    separable and ``max_iter`` and ``max_updates`` are large enough. Otherwise a ``ConvergenceWarning`` is issued, and
    ``history_`` has the number of mistakes in each pass. During training, a row on the decision boundary counts as a
    mistake.

    Decisions are exact: rounding never changes the sign of a score. For a given ``random_state``, results are the same
    on every machine, bit for bit. Dense and sparse rows give the same weights.

    Parameters
    ----------
    hypothesis : {"last", "average", "pocket", "vote"}, default="last"
        Weights used for prediction. "last" uses the final weights, and "average" uses the average of the weights after
        each processed row. "pocket" uses the weights with the fewest training mistakes (Gallant's pocket algorithm with
        ratchet). Each pass contributes two candidates: its final weights, and the weights that stayed unchanged for the
        most rows. "vote" lets all weight vectors vote. Each has one vote for every processed row after which it was the
        current one. Only "last" warns about remaining mistakes, because the other three also suit data that is not
        linearly separable.
    max_iter : int, default=100
        Maximum number of passes over the data.
    fit_intercept : bool, default=True
        Whether to learn a bias.
    shuffle : bool or "once", default=True
        Order of the rows in a pass. True draws a new random order for each pass, "once" draws one random order for all
        passes, and False keeps the given order.
    random_state : int, RandomState, Generator or None, default=None
        Source of the seed for row orders and held-out rows. None draws it from NumPy's global generator, which
        ``np.random.seed`` seeds. ``visiting_order(n, model.seed_, p)`` returns the order of n rows in pass p + 1,
        where p counts from 0.
    max_updates : int or None, default=None
        Maximum number of updates of each one-vs-rest classifier, in one call of ``fit`` or in all calls of
        ``partial_fit`` together. None sets no limit.
    warm_start : bool, default=False
        Whether ``fit`` continues the previous training run, including its pass numbers, row orders and averages. For
        instance, three fits with ``max_iter=1`` then give the result of one fit with ``max_iter=3``.
    early_stopping : bool, default=False
        Whether to hold out ``validation_fraction`` of the rows of each class and to stop when the error on them has not
        improved for ``n_iter_no_change`` passes. The weights of the best pass are kept. The first row of a class is
        never held out. A warning names classes with too few rows to hold one out.
    validation_fraction : float, default=0.1
        Proportion of the rows that early stopping holds out.
    n_iter_no_change : int, default=5
        Number of passes without improvement after which early stopping ends the training.
    class_weight : dict, "balanced" or None, default=None
        Factors by class, which multiply the sample weights. "balanced" weights classes inversely to their frequencies
        and is available for ``fit`` only. None means 1 for all classes.
    multi_class : {"ovr", "direct"}, default="ovr"
        Method for more than two classes. "ovr" trains a one-vs-rest classifier for each class; each stops after its own
        first pass without a mistake. "direct" trains all classes jointly: a mistake changes the weights of the true
        class and of the class with the highest other score.
    n_jobs : int or None, default=None
        Number of threads that train one-vs-rest classifiers. None uses one thread, and -1 uses one thread for each
        core. The result does not depend on the number of threads.
    verbose : int, default=0
        With 1, progress is shown on standard error: as a bar on a terminal, otherwise as a line for each pass.
    decay : float, default=0.0
        Forgetting rate of the average, for streams whose distribution drifts. Each processed row reduces the influence
        of all earlier weights by this fraction. 0.001 averages over about the last thousand rows, and 0 averages over
        all rows. Not available for votes.
    tol : float or None, default=None
        Minimum improvement of the loss. Training of a one-vs-rest classifier also stops after ``n_iter_no_change``
        passes in a row whose loss is not at least ``tol`` below the lowest loss so far. ``converged_`` is then False,
        and no warning is given. The loss of a pass is the mean of ``max(0, t - y a)`` over its rows, for label y = +-1
        and activation a. The threshold t is 0 for perceptrons (the perceptron loss), ``margin`` for `MarginPerceptron`,
        and 1 for `PassiveAggressive` and `AROW` (the hinge loss). The sum is exact, and only the mean is rounded.
        Passes of an earlier ``fit`` do not count. With ``early_stopping=True``, ``tol`` is instead the minimum decrease
        of the error on the held-out rows. None sets no such limit.
    loss : {"perceptron"} or None, default=None
        The loss is fixed. The parameter exists for code that is written for scikit-learn's ``SGDClassifier``.
    penalty, alpha, l1_ratio, eta0, learning_rate, power_t, epsilon, average : default=None
        Parameters of scikit-learn's linear learners, which are not used here. None is accepted, and so are values that
        would have no effect, such as ``penalty=None`` and ``eta0=1.0``. For any other value ``fit`` raises an error
        that names an alternative.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (m, d) and (m,)
        Weights and biases used for prediction; m is 1 for two classes, otherwise the number of classes. Not available
        for votes.
    last_coef_, last_intercept_ : arrays of shape (m, d) and (m,)
        The final weights and biases.
    average_coef_, average_intercept_ : arrays of shape (m, d) and (m,)
        Averages of the weights and biases after each processed row.
    classes_ : array of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen during training.
    feature_names_in_ : array of shape (d,)
        Feature names, if the training data had names.
    n_iter_, n_updates_ : int
        Number of passes, and number of updates summed over all one-vs-rest classifiers.
    best_iter_ : int
        Number of the pass whose weights are kept, counted from 1: the best pass with early stopping, otherwise the last
        pass.
    converged_ : bool
        Whether every one-vs-rest classifier has made a whole pass without an update.
    history_ : structured array
        A row for each pass, with the number of ``mistakes`` during the pass, and the number of ``updates`` for learners
        that also update on correctly classified rows. Early stopping adds the field ``validation_error``, the error
        after the pass. An interrupt adds the field ``share``, the fraction of rows that the pass processed.
    report_ : Report
        Radius of the data, bounds on the margin and on the number of updates, and the results of early stopping.
    preparation_ : dict
        Settings with which files were converted to rows. They are set by ``fit_stream`` on a stream of ``data.open``.
        All methods that take rows prepare tables with these settings.
    columns_ : array of str
        Names of the columns of the training table. Only a model that was trained from a table has this attribute.
    seed_ : int
        Seed of the random orders in which training processes the rows.

    See Also
    --------
    AveragedPerceptron : Predicts with averaged weights; better on noisy data.
    VotedPerceptron : Predicts with a vote of all weight vectors.
    KernelPerceptron : Learns nonlinear boundaries.
    separability : Decide whether data is linearly separable, with proof.

    References
    ----------
    F. Rosenblatt (1958). The perceptron: a probabilistic model for information storage and organization in the brain.
    Psychological Review 65, 386-408.

    S. I. Gallant (1990). Perceptron-based learning algorithms. IEEE Transactions on Neural Networks 1, 179-191.

    H. Daumé III (2017). A Course in Machine Learning (CIML), chapter 4.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[1, 1], [2, 0], [-1, 0], [0, -2]], ["yes", "yes", "no", "no"])
    >>> model.predict([[3, 1], [-1, -1]])
    array(['yes', 'no'], dtype='<U3')
    >>> model.coef_, model.intercept_, model.n_updates_, model.converged_
    (array([[2., 1.]]), array([0.]), 2, True)
    """

    @accepts(PerceptronParameters)
    def __init__(
        self,
        hypothesis: str = "last",
        max_iter: int = 100,
        fit_intercept: bool = True,
        shuffle: bool | str = True,
        random_state: RandomSource = None,
        max_updates: int | None = None,
        warm_start: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: ClassWeight = None,
        multi_class: str = "ovr",
        n_jobs: int | None = None,
        verbose: int = 0,
        decay: float = 0.0,
        tol: float | None = None,
        **others: Unpack[PerceptronParameters],
    ) -> None:
        set_parameters(self, locals())


@complete_docstring(Perceptron)
class AveragedPerceptron(LinearPerceptron):
    """The averaged perceptron: a perceptron that predicts with the average of its weights during training.

    Training is the same as for `Perceptron`. The average is taken over the weights after each processed row. It is more
    stable than the final weights, so start with this learner on noisy data. Averaging takes extra time only at updates,
    not at every row (CIML algorithm 7).

    See Also
    --------
    Perceptron : Predicts with the last weights by default.
    VotedPerceptron : Predicts with a vote of all weight vectors.
    AROW : Adapts the step size of each weight; suits text.

    References
    ----------
    Y. Freund and R. E. Schapire (1999). Large margin classification using the perceptron algorithm. Machine Learning
    37, 277-296.

    H. Daumé III (2017). A Course in Machine Learning (CIML), section 4.6.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron
    >>> model = AveragedPerceptron(max_iter=4, shuffle=False).fit([[1], [0]], [1, -1])
    >>> model.average_coef_, model.last_coef_  # the weight was 1, 1, 1, 1, 2, 2, 2, 2
    (array([[1.5]]), array([[2.]]))
    """

    hypothesis = "average"


@complete_docstring(Perceptron)
class VotedPerceptron(LinearPerceptron):
    """The voted perceptron: all weight vectors of the training run vote, each weighted by how long it was in use.

    Training is the same as for `Perceptron`. A weight vector has one vote for every processed row after which it was
    the current one. The model stores the rows on which it made mistakes and predicts from dot products with them, so
    prediction is much slower than with averaged weights. There is no ``coef_``. The score that ``decision_function``
    returns is the share of votes for a class minus the share against it. A weight vector with an activation of exactly
    0 abstains.

    Attributes
    ----------
    coef_, intercept_ : not available
        Reading these attributes raises an AttributeError, because a vote has no single weight vector.

    See Also
    --------
    AveragedPerceptron : Predicts faster, and usually as accurately.

    References
    ----------
    Y. Freund and R. E. Schapire (1999). Large margin classification using the perceptron algorithm. Machine Learning
    37, 277-296.

    H. Daumé III (2017). A Course in Machine Learning (CIML), equation 4.17.

    Examples
    --------
    >>> from rosenblatt import VotedPerceptron
    >>> model = VotedPerceptron(max_iter=1, shuffle=False).fit([[2], [-1], [0], [1]], [1, -1, -1, 1])
    >>> model.decision_function([[4], [0], [-2]])  # x + 1 > 0 for 2 visits, then x > 0 for 2
    array([ 1. ,  0.5, -1. ])
    """

    hypothesis = "vote"
