"""The perceptron, averaged and voted: CIML chapter 4 as scikit-learn estimators."""

from __future__ import annotations

from typing import Any, Self, cast

from rosenblatt.estimators.base import BasePerceptron, Floats, refuse_stream, set_parameters
from rosenblatt.estimators.online import RecordColumns, label_array, record_row
from rosenblatt.estimators.validation import MatrixLike, as_numpy
from rosenblatt.training.batches import labelled_batch
from rosenblatt.training.linear import GivenWeights, LinearState
from rosenblatt.training.options import RandomSource, RunOptions
from rosenblatt.training.rows import ClassWeight, Names, VectorLike, check_label_types
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.train import WarmStart, online_run


class LinearPerceptron(BasePerceptron):
    """The common part of learners that have weights; use `Perceptron` or another of them."""

    fit_intercept: bool
    decay: float
    state_: LinearState
    _columns: tuple[Names, RecordColumns] | None = None
    """The columns of names, and the ``feature_names_in_`` that they are about."""
    _learns_by_name = False
    _online: tuple[TrainingRun, RunOptions, int] | None = None
    """The run that learns row by row, its options, and the passes made until then."""

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
        """Learn from the rows of ``X`` and their labels, pass by pass, until one is clean or the limit is reached.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            Used as it is if it is C-ordered or CSR and holds float32 or float64; otherwise a copy is made.
        y : array of shape (n,)
            Labels of any type, at least two different ones.
        sample_weight : array of shape (n,), optional
            Scales the step that an update makes, after ``C`` has limited it; for AROW it divides ``r`` instead. Rows of
            weight 0 are not visited.
        coef_init : array of shape (d,) or (1, d) for two classes, (k, d) for k classes, optional
            Weights to begin with instead of zero, for instance ``coef_`` of another model. Averages and
            votes begin with them, the bounds of ``report_`` are for runs from weights of their length, and a fit that
            has them never goes on from an earlier one, whatever ``warm_start`` says.
        intercept_init : number or array of shape (1,) for two classes, (k,) for k classes, optional
            Biases to begin with. Where only one of the two is given, the other is zero.

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

    def _fixed_parameters(self) -> list[tuple[str, Any, Any]]:
        return [
            ("fit_intercept", self.state_.fit_intercept, bool(self.fit_intercept)),
            ("decay", self.state_.decay, float(self.decay)),
            *super()._fixed_parameters(),
        ]

    # the weights, by hypothesis

    @property
    def coef_(self) -> Floats:
        """The weights that predict, one line a class (one line in all for two classes)."""
        return self._weights(self.hypothesis)[0]

    @property
    def intercept_(self) -> Floats:
        """The bias that predicts, one a class (one in all for two classes)."""
        return self._weights(self.hypothesis)[1]

    @property
    def last_coef_(self) -> Floats:
        """The weights after the last visit."""
        return self._weights("last")[0]

    @property
    def last_intercept_(self) -> Floats:
        """The bias after the last visit."""
        return self._weights("last")[1]

    @property
    def average_coef_(self) -> Floats:
        """The mean of the weights after each visit."""
        return self._weights("average")[0]

    @property
    def average_intercept_(self) -> Floats:
        """The mean of the bias after each visit."""
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

    # records one by one: the verbs of online libraries such as river

    def learn_one(self, x: Any, y: VectorLike) -> Self:
        """Visit one record, and go on from what was learned before; the twin of ``partial_fit`` for dictionaries.

        The weights are those of ``partial_fit`` on the same rows as a matrix, bit for bit. A name that is new gets a
        new column, so ``feature_names_in_`` grows; what a record does not name is 0 there. A call takes time for what
        the record has, however many columns there are. Rows that are learned one after the other count as one pass.

        Parameters
        ----------
        x : dict
            From names to values: numbers, booleans (0 and 1), or words: ``{"colour": "red"}`` is a feature
            ``colour=red`` that is 1. None and NaN are refused: leave out what is missing.
        y : label
            A word, an integer or a boolean. A class that is new is welcome at any time, as for ``partial_fit``.

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
        goes_on = run is not None
        if run is None:
            start = WarmStart(self.state_, self.classes_) if hasattr(self, "state_") else None
            run = online_run(batch, options, start, one_by_one=True)
        try:
            run.visit(batch, goes_on)
        finally:
            self.state_, self.classes_, self._early_stopping_state = cast(LinearState, run.state), run.classes, None
            self.n_features_in_, self.feature_names_in_ = run.state.n_features, columns.names
            self._columns, self._learns_by_name = (self.feature_names_in_, columns), True
            self._online = run, options, run.state.passes
        return self

    def _row_run(self, options: RunOptions) -> TrainingRun | None:
        """Return the run that goes on row by row; None where something else has trained this model since."""
        if self._online is None:
            return None
        run, then, passes = self._online
        state: Any = getattr(self, "state_", None)
        return run if run.state is state and state.passes == passes and then == options else None

    def predict_one(self, x: Any) -> Any:
        """Return the class of one record, a dictionary as ``learn_one`` takes it; None before anything was learned.

        Names that are new count for nothing.

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
        """Return the columns of names; a ValueError where this model was trained on columns that have none."""
        if not hasattr(self, "state_"):
            return RecordColumns()
        names = getattr(self, "feature_names_in_", None)
        if self._columns is not None and self._columns[0] is names:
            return self._columns[1]
        if hasattr(self, "preparation_"):
            raise ValueError(
                "this model was trained on files, whose rows are prepared as preparation_ says: read more of them with "
                "data.open(..., preparation=model.preparation_)."
            )
        if names is None:
            raise ValueError(
                "this model was trained on columns without names, which a record cannot be matched with: train it on a "
                "data frame, or with learn_one from the start."
            )
        self._columns = names, RecordColumns(names.tolist())
        return self._columns[1]

    def _lacks_names(self, X: MatrixLike) -> str:
        known = self._columns is not None and self._columns[0] is getattr(self, "feature_names_in_", None)
        if not (self._learns_by_name and known) or hasattr(X, "columns"):
            return ""
        return (
            "this model learns from records by name, and these rows have no names: give a data frame whose columns are "
            "model.feature_names_in_, or use learn_one."
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but the run that learns row by row."""
        state = dict(super().__getstate__())
        state.pop("_online", None)
        return state


class Perceptron(LinearPerceptron):
    """The perceptron: it visits example after example and moves its weights whenever it is wrong.

    Training stops after the first pass without a mistake, which comes if and only if the data is separable and
    ``max_iter`` and ``max_updates`` allow; where mistakes remain a ``ConvergenceWarning`` says how many. A point on the
    boundary counts as a mistake. Decisions are exact: the same numbers in the same order give the same bits,
    dense or sparse, in one piece or in chunks, on every machine. (Rosenblatt 1958; CIML algorithm 5.)

    Parameters
    ----------
    hypothesis : "last", "average", "pocket" or "vote"
        Which weights predict: those after the last visit; their mean over all visits (CIML algorithm 7); the ones
        with the fewest training mistakes, among those at the end of each pass and those that survived the most
        visits in it; or a vote of all weights by the visits that each survived (CIML equation 4.17). Only "last"
        warns about mistakes left, as the others are for data that may not separate.
    max_iter : int
        The most passes.
    fit_intercept : bool
        Whether to learn a bias.
    shuffle : bool or "once"
        True draws a new order for each pass, "once" keeps the first, False visits the rows as they come.
    random_state : int, RandomState, Generator or None
        Where orders come from; ``visiting_order(n, model.seed_, p)`` gives that of pass p again.
    max_updates : int or None
        The most updates in one fit, for each classifier where there are several; for ``partial_fit`` those of all calls
        together.
    warm_start : bool
        Whether ``fit`` goes on from the last one: passes, orders and averages continue, so that k fits of one pass
        equal one fit of k.
    early_stopping : bool
        Whether to hold out ``validation_fraction`` of the rows, to stop once ``n_iter_no_change`` passes have not
        predicted them better, and to keep all weights of the best pass.
    validation_fraction : float
        Share of the rows that early stopping holds out.
    n_iter_no_change : int
        Passes without improvement before early stopping ends the run.
    class_weight : dict, "balanced" or None
        Step sizes by class; they multiply sample weights.
    multi_class : "ovr" or "direct"
        For more than two classes: a classifier for each class against the rest, which stops by itself; or all in one,
        where a mistake moves the true class and its best rival. Which errs less is in the table of docs/family.md.
    n_jobs : int or None
        Threads for one-vs-rest classifiers.
    verbose : int
        1 shows progress on standard error: a bar on a terminal, a line for each pass elsewhere.
    decay : float
        What the average forgets, for streams that drift: with every visit, all weights before it count less by this
        share. 0, the default, forgets nothing; 0.001 remembers about the last thousand visits. Not for votes.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (m, d) and (m,)
        The weights that predict; m is 1 for two classes, else their number. (Not for votes.)
    last_coef_, last_intercept_, average_coef_, average_intercept_ : arrays
        Those after the last visit and their mean, whichever hypothesis predicts.
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    n_iter_, n_updates_ : int
        Passes and updates made.
    best_iter_ : int
        The pass whose weights are kept, counted as ``n_iter_`` is: the last one without early stopping.
    converged_ : bool
        Whether a whole pass was made without a mistake, by each classifier.
    history_ : structured array
        For each pass the ``mistakes`` made during it and, with early stopping, the ``validation_error`` after it; where
        an interrupt cut the last one short, the ``share`` of the rows that each visited.
    report_ : Report
        What the run proves: radius, margin bracket, bound on the updates of any run; and what early stopping kept.
    preparation_ : dict
        How rows are made of files, after ``fit_stream`` on what ``data.open`` returns.
    seed_ : int
        What the visiting orders are drawn from.

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


class AveragedPerceptron(LinearPerceptron):
    """The perceptron that predicts by the mean of its weights over all visits; the one to use for data with noise.

    Runs as `Perceptron` does and has its parameters but ``hypothesis``; ``max_iter`` is 10. The mean costs work only on
    mistakes (CIML algorithm 7), and reading it never disturbs training. For more than two classes see the table of
    docs/family.md, which compares the values of ``multi_class``.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron
    >>> model = AveragedPerceptron(max_iter=4, shuffle=False).fit([[1], [0]], [1, -1])
    >>> model.average_coef_, model.last_coef_  # the weight was 1, 1, 1, 1, 2, 2, 2, 2
    (array([[1.5]]), array([[2.]]))
    """

    hypothesis = "average"


class VotedPerceptron(LinearPerceptron):
    """The perceptron that predicts by a vote of all its weight vectors, each with the visits that it survived.

    Runs as `Perceptron` does and has its parameters but ``hypothesis``; ``max_iter`` is 10. It keeps the rows of its
    mistakes, and answers for a row from its products with them (CIML equation 4.17; Freund and Schapire 1999).
    There is no ``coef_``; ``decision_function`` gives votes for less votes against, as a share of all. For more than
    two classes see the table of docs/family.md, which compares the values of ``multi_class``.

    Examples
    --------
    >>> from rosenblatt import VotedPerceptron
    >>> model = VotedPerceptron(max_iter=1, shuffle=False).fit([[2], [-1], [0], [1]], [1, -1, -1, 1])
    >>> model.decision_function([[4], [0], [-2]])  # x + 1 > 0 for 2 visits, then x > 0 for 2
    array([ 1. ,  0.5, -1. ])
    """

    hypothesis = "vote"
