"""Linear learners: `Perceptron`, `AveragedPerceptron` and `VotedPerceptron`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self, cast

from sklearn.utils.validation import check_is_fitted

from rosenblatt.estimators.base import BasePerceptron, Floats, complete_docstring, refuse_stream, set_parameters
from rosenblatt.estimators.online import Label, RecordColumns, label_array, record_row
from rosenblatt.estimators.validation import MatrixLike, as_numpy
from rosenblatt.training.batches import labelled_batch
from rosenblatt.training.linear import GivenWeights, LinearState
from rosenblatt.training.options import RandomSource, RunOptions
from rosenblatt.training.rows import ClassWeight, Names, VectorLike, check_label_types
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.train import WarmStart, online_run


class LinearPerceptron(BasePerceptron):
    """Base class of the learners with a weight for each feature."""

    fit_intercept: bool
    decay: float
    state_: LinearState
    _columns: tuple[Names, RecordColumns] | None = None
    """``feature_names_in_``, and the columns made from it; stale if ``feature_names_in_`` is another object."""
    _learns_by_name = False
    _online: tuple[TrainingRun, RunOptions, int] | None = None
    """The run that ``learn_one`` continues, its options, and the passes made before it."""

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

        Training stops after the first pass without an update, or when ``max_iter`` or ``max_updates`` is reached.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Training rows. C-ordered and CSR matrices of float32 or float64 are used without a copy.
        y : array-like of shape (n,)
            Labels of any type, from at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Factors that multiply the step of an update, applied after `PassiveAggressive` has limited the step to
            ``C``. `AROW` divides ``r`` by them instead. Rows of weight 0 are skipped.
        coef_init : array-like of shape (d,), (1, d) or (n_classes, d), default=None
            Initial weights, for instance ``coef_`` of another model; zero by default. Two classes need a single row,
            more classes one row each. Averages and votes start from these weights too. The bounds of ``report_`` then
            hold for all runs that start from weights of this norm. Such a fit always starts from scratch, even with
            ``warm_start=True``.
        intercept_init : float or array-like of shape (1,) or (n_classes,), default=None
            Initial biases; zero by default.

        Returns
        -------
        self : estimator
            The fitted model.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> X, y = [[1, 1], [2, 0], [-1, 0], [0, -2]], ["yes", "yes", "no", "no"]
        >>> Perceptron().fit(X, y, coef_init=[2, 1]).n_updates_  # these weights separate the rows already
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

    # the weights, by hypothesis

    @property
    def _trained(self) -> LinearState:
        check_is_fitted(self)
        return self.state_

    @property
    def coef_(self) -> Floats:
        """Weights used for prediction: a row for each class, or a single row for two classes."""
        return self._weights(self.hypothesis)[0]

    @property
    def intercept_(self) -> Floats:
        """Biases used for prediction: one for each class, or a single one for two classes."""
        return self._weights(self.hypothesis)[1]

    @property
    def last_coef_(self) -> Floats:
        """Weights after the last visit."""
        return self._weights("last")[0]

    @property
    def last_intercept_(self) -> Floats:
        """Biases after the last visit."""
        return self._weights("last")[1]

    @property
    def average_coef_(self) -> Floats:
        """Average of the weights over all visits."""
        return self._weights("average")[0]

    @property
    def average_intercept_(self) -> Floats:
        """Average of the biases over all visits."""
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

    # records one by one, with the methods of online libraries such as river

    def learn_one(self, x: Mapping[str, object], y: object) -> Self:
        """Learn from one record, continuing from the current weights.

        The weights are bit-for-bit identical to those that ``partial_fit`` learns from the same rows. A new name adds a
        column to ``feature_names_in_``. Features missing from a record count as 0. The time of a call depends on the
        size of the record, not on the number of columns. Consecutive calls count as one pass.

        Parameters
        ----------
        x : dict
            Values by feature name. Numbers are used as they are, booleans as 0 and 1. A string is one-hot encoded:
            ``{"colour": "red"}`` is the feature ``colour=red`` with the value 1. None and NaN raise a ValueError: leave
            out missing values.
        y : str, int or bool
            The label. A new class may appear at any time.

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
        options = self._options()
        options.check_for_stream("learn_one")
        columns, label = self._record_columns(), label_array(y)
        if hasattr(self, "state_"):
            check_label_types(self.classes_, label)
        run = self._row_run(options)
        if run is None and hasattr(self, "state_"):
            self._check_unchanged()
        row = record_row(columns.learn(x), len(columns))
        batch = labelled_batch(row, label, None, self.class_weight, None if run is None else run.classes)
        continues = run is not None
        if run is None:
            start = WarmStart(self.state_, self.classes_) if hasattr(self, "state_") else None
            run = online_run(batch, options, start, one_by_one=True)
        try:
            run.visit(batch, continues)
        finally:
            self.state_, self.classes_, self._early_stopping_state = cast(LinearState, run.state), run.classes, None
            self.n_features_in_, self.feature_names_in_ = run.state.n_features, columns.names
            self._columns, self._learns_by_name = (self.feature_names_in_, columns), True
            self._online = run, options, run.state.passes
        return self

    def _row_run(self, options: RunOptions) -> TrainingRun | None:
        """Return the run that ``learn_one`` continues, or None if the model has been trained in another way since."""
        if self._online is None:
            return None
        run, then, passes = self._online
        unchanged = run.state is getattr(self, "state_", None) and run.state.passes == passes and then == options
        return run if unchanged else None

    def predict_one(self, x: Mapping[str, object]) -> Label | None:
        """Predict the class of one record.

        Parameters
        ----------
        x : dict
            Values by feature name, as for `learn_one`. Unknown names are ignored.

        Returns
        -------
        label : str, int, bool or None
            The predicted class, or None if the model has not learned anything yet.

        Examples
        --------
        >>> from rosenblatt import AveragedPerceptron
        >>> model = AveragedPerceptron().learn_one({"a": 1}, True).learn_one({"b": 1}, False)
        >>> model.predict_one({"a": 2, "c": 5})
        True
        """
        if not hasattr(self, "state_"):
            return None
        entries = self._record_columns().look_up(x)
        labels = self.classes_.tolist()
        if len(labels) == 1:
            return labels[0]
        return labels[self.state_.decide_one(self.hypothesis, record_row(entries, self.state_.n_features))]

    def _record_columns(self) -> RecordColumns:
        """Return the columns by name; raise a ValueError if the model was trained on columns without names."""
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
        """Return the attributes to pickle: all but the run of ``learn_one``."""
        state = dict(super().__getstate__())
        state.pop("_online", None)
        return state


class Perceptron(LinearPerceptron):
    """The perceptron: a linear classifier that adjusts its weights whenever it misclassifies a row.

    Training stops after the first pass without a mistake. This happens if and only if the classes are linearly
    separable and ``max_iter`` and ``max_updates`` are large enough. Otherwise a ``ConvergenceWarning`` reports the
    number of remaining mistakes. In training, a row on the decision boundary counts as a mistake.

    Decisions are exact: rounding never changes the sign of a score. The same rows in the same order give the same
    weights, bit for bit: dense or sparse, at once or in chunks, on every machine.

    Parameters
    ----------
    hypothesis : {"last", "average", "pocket", "vote"}, default="last"
        Weights used for prediction. "last" uses the weights after the last visit to a row, and "average" their average
        over all visits. "pocket" uses the weights with the fewest training mistakes; the candidates in each pass are
        its final weights and those that survived the most visits. "vote" lets all weight vectors vote, each weighted by
        the number of visits that it survived. Only "last" issues a warning about remaining mistakes, because the others
        also suit data that is not separable.
    max_iter : int, default=100
        Maximum number of passes over the data.
    fit_intercept : bool, default=True
        Whether to learn a bias.
    shuffle : bool or "once", default=True
        Visiting order. True draws a new order for each pass, "once" reuses that of the first pass, and False visits the
        rows in the given order.
    random_state : int, RandomState, Generator or None, default=None
        Source of the visiting orders. ``visiting_order(n, model.seed_, p)`` reproduces the order of pass p.
    max_updates : int or None, default=None
        Maximum number of updates of each one-vs-rest classifier, in one call of ``fit`` or in all calls of
        ``partial_fit``.
    warm_start : bool, default=False
        Whether ``fit`` continues from the previous one, including passes, orders and averages. k fits of one pass
        then equal one fit of k passes.
    early_stopping : bool, default=False
        Whether to hold out ``validation_fraction`` of the rows and to stop when their error has not improved for
        ``n_iter_no_change`` passes. The weights of the best pass are kept.
    validation_fraction : float, default=0.1
        Proportion of the rows that early stopping holds out.
    n_iter_no_change : int, default=5
        Number of passes without improvement after which early stopping stops.
    class_weight : dict, "balanced" or None, default=None
        Factor for each class that multiplies the update step, in addition to the sample weights. "balanced" weights
        classes inversely to their frequencies.
    multi_class : {"ovr", "direct"}, default="ovr"
        Method for more than two classes. "ovr" trains a one-vs-rest classifier for each class, and each stops
        separately. "direct" trains all classes jointly: a mistake moves the weights of the true class and of the
        class with the highest other score.
    n_jobs : int or None, default=None
        Number of threads for one-vs-rest classifiers. It does not change the result.
    verbose : int, default=0
        With 1, progress is shown on standard error: a bar on a terminal, otherwise a line for each pass.
    decay : float, default=0.0
        Forgetting rate of the average, for streams that drift. Each visit reduces the influence of all earlier weights
        by this fraction; 0.001 averages over about the last thousand visits. Not available for votes.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (m, d) and (m,)
        Weights and biases used for prediction; m is 1 for two classes, otherwise the number of classes. Not available
        for votes.
    last_coef_, last_intercept_ : arrays of shape (m, d) and (m,)
        Weights and biases after the last visit.
    average_coef_, average_intercept_ : arrays of shape (m, d) and (m,)
        Averages of the weights and biases over all visits.
    classes_ : array of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen in training.
    feature_names_in_ : array of shape (d,)
        Feature names, if the training data had names.
    n_iter_, n_updates_ : int
        Number of passes, and number of updates of all classifiers.
    best_iter_ : int
        Number of the pass whose weights are kept: the best one with early stopping, otherwise the last one.
    converged_ : bool
        Whether every classifier has made a whole pass without an update.
    history_ : structured array
        A row for each pass with its ``mistakes`` and, with early stopping, the ``validation_error`` after it. After an
        interrupt it also has the ``share`` of the rows that each pass visited.
    report_ : Report
        Radius of the data, bounds on the margin and on the number of updates, and the results of early stopping.
    preparation_ : dict
        Settings that turn files into rows, after ``fit_stream`` on a stream of ``data.open``.
    seed_ : int
        Seed from which the visiting orders are drawn.

    See Also
    --------
    AveragedPerceptron : Predicts with averaged weights, for noisy data.
    VotedPerceptron : Predicts with a vote of all weight vectors.
    KernelPerceptron : Nonlinear perceptron.
    separability : Decide whether data is linearly separable, with proof.

    References
    ----------
    F. Rosenblatt (1958). The perceptron: a probabilistic model for information storage and organization in the brain.
    Psychological Review 65, 386-408.

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
    ) -> None:
        set_parameters(self, locals())


@complete_docstring(Perceptron)
class AveragedPerceptron(LinearPerceptron):
    """The averaged perceptron: it predicts with the average of its weights over all visits.

    Training is the same as for `Perceptron`. The average is more stable than the last weights, so start with this
    learner on noisy data. Averaging adds work only to updates, not to every visit (CIML algorithm 7).

    See Also
    --------
    Perceptron : Predicts with the last weights by default.
    VotedPerceptron : Predicts with a vote of all weight vectors.
    AROW : Also adapts the step of each feature; good for text.

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
    """The voted perceptron: all weight vectors of the run vote, each weighted by the visits that it survived.

    Training is the same as for `Perceptron`. The model keeps the rows of its mistakes and predicts from dot products
    with them, so prediction is much slower than with averaged weights. There is no ``coef_``. ``decision_function``
    returns the share of votes for a class minus the share against it. A voter with an activation of exactly 0 abstains.

    Attributes
    ----------
    coef_, intercept_ : not available
        A vote has no single weight vector: reading them raises an AttributeError.

    See Also
    --------
    AveragedPerceptron : Faster to predict with, and usually as accurate.

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
