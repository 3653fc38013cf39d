"""The base class of learners on clusters, which train on shards and can be converted to local models."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from rosenblatt.distributed.engines import Engine
from rosenblatt.distributed.runs import checked_options, run_factory, train_together
from rosenblatt.distributed.shards import (
    GivenShard,
    ShardFacts,
    ShardSet,
    file_loaders,
    join_loaders,
    restore_counts,
    shard_loaders,
)
from rosenblatt.estimators.base import BasePerceptron, restored_on_error
from rosenblatt.estimators.validation import attach_preparation
from rosenblatt.messages import ParameterError, check_positive
from rosenblatt.splits import Split
from rosenblatt.training.observers import Callback, Observer
from rosenblatt.training.options import RunOptions, draw_seed
from rosenblatt.training.rows import VectorLike
from rosenblatt.training.train import Checkpointing

_COMMON = {"mode": "exact", "n_shards": 8, "timeout": 60.0}
"""The parameters, with defaults, that all learners on clusters have in addition to those of the local learner."""


def with_parameters(local: type, **more: object) -> Callable[..., None]:
    """Return an ``__init__`` with the parameters of a local learner, those of all cluster learners, and ``more``."""
    extra = _COMMON | more
    known = list(inspect.signature(local).parameters.values())
    keyword = inspect.Parameter.KEYWORD_ONLY
    added = [inspect.Parameter(name, keyword, default=default) for name, default in extra.items()]
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([own, *known, *added])

    def __init__(self: object, *arguments: object, **parameters: object) -> None:
        given = signature.bind(self, *arguments, **parameters)
        for name, default in extra.items():
            setattr(self, name, given.arguments.pop(name, default))
        local.__init__(*given.args, **given.kwargs)  # type: ignore[misc]

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


class ClusterLearner(BasePerceptron):
    """A learner that trains on rows in shards on a cluster. A subclass provides the engine.

    ``mode="exact"`` gives the same model as ``fit_stream`` on one machine, bit for bit. ``mode="mix"`` trains on all
    shards at once and averages the weights. Then the model depends on the division into shards, but not on the workers.
    """

    mode: str
    n_shards: int
    timeout: float

    def _engine(self) -> Engine:
        """Return the engine of the cluster to train on."""
        raise NotImplementedError

    def fit_shards(
        self,
        shards: Sequence[Any],
        classes: VectorLike = None,
        on_pass: Callable[[Self], object] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: float = 30.0,
        resume: bool = False,
        seeds: Sequence[int] | None = None,
    ) -> Self:
        """Train on shards, and return this model. Each shard is loaded on a worker and stays there.

        Training stops under the same conditions as ``fit`` of the local learner.

        Parameters
        ----------
        shards : list
            Each shard is (X, y) or (X, y, sample_weight), or a function without arguments that returns one of these.
            Functions are called on workers. Rows are numbered in the order of the shards.
        classes : array, optional
            All classes; needed only if the rows do not contain every class.
        on_pass : callable, optional
            A function that is called with the model after each pass. Training ends when it returns True.
        checkpoint, every, resume
            As for ``fit_stream``. Checkpoints are written between passes and, in exact mode, between shards.
        seeds : list of int, optional
            Train one model for each of these values of ``random_state``, all at the same time. This model becomes the
            model of the first seed. The attribute ``models_`` holds the models of all seeds, as local learners.
        """
        settings = classes, on_pass, checkpoint, every, resume, seeds
        return self._fit_loaders([GivenShard(shard, number) for number, shard in enumerate(shards)], *settings)

    def fit_files(
        self,
        path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        classes: VectorLike = None,
        on_pass: Callable[[Self], object] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: float = 30.0,
        resume: bool = False,
        seeds: Sequence[int] | None = None,
        **options: Any,
    ) -> Self:
        """Train on files, each of which is a shard, and return this model. All workers must be able to read the files.

        Parameters
        ----------
        path : str, path or list of them
            Files, or patterns such as ``part-*.parquet``, in any format that ``data.open`` reads. The names must be
            the same on all workers.
        classes, on_pass, checkpoint, every, resume, seeds
            As for ``fit_shards``.
        **options
            As for ``data.open``, such as ``target`` for tables. As in ``data.open``, the schema of tables is inferred
            from the first rows. It applies to all files.
        """
        stream, loaders = file_loaders(path, options, partial(self._validation_split, seeds))
        settings = classes, on_pass, checkpoint, every, resume, seeds
        self._fit_loaders(loaders, *settings, lambda facts: restore_counts(stream, facts))
        for model in (self, *getattr(self, "models_", ())):
            attach_preparation(model, stream)
        return self

    def _validation_split(self, seeds: Sequence[int] | None) -> Split | None:
        """Return the split that selects the held-out rows of early stopping, or None without early stopping.

        How rows are prepared must not depend on these rows.
        """
        options = self._cluster_options()
        if not options.early_stopping:
            return None
        if seeds is not None:
            raise ParameterError(
                "with {seeds}, early stopping holds out different rows for each seed, but how rows are prepared and "
                "scaled depends on the rows that remain: give the {preparation} of a stream, or train with one seed at "
                "a time."
            )
        if self._is_warm():
            return options.validation_split(int(self.state_.seed))
        if not isinstance(options.random_state, Integral):
            raise ParameterError(
                "how rows are prepared and scaled depends on the rows that early stopping will not hold out, so their "
                "choice must be reproducible: give an integer as {random_state}, got {got}.",
                got=repr(options.random_state),
            )
        return options.validation_split(draw_seed(options.random_state))

    def _fit_loaders(
        self,
        loaders: Sequence[Any],
        classes: VectorLike,
        on_pass: Callable[[Self], object] | None,
        checkpoint: str | os.PathLike[str] | None,
        every: float,
        resume: bool,
        seeds: Sequence[int] | None = None,
        on_loaded: Callable[[Sequence[ShardFacts]], None] | None = None,
    ) -> Self:
        """Load the shards and train on them."""
        options = self._cluster_options()
        checkpoints = Checkpointing.asked(checkpoint, type(self)._learner_name(), every, resume)
        if not len(loaders):
            raise ValueError("expected at least one shard to learn from, got none.")
        if seeds is not None and (
            np.ndim(seeds) != 1 or not len(seeds) or checkpoint is not None or on_pass is not None
        ):
            raise ParameterError(
                "{seeds} must hold at least one seed, and cannot be combined with checkpoint or on_pass."
            )
        engine = self._engine()
        try:
            engine.load(shard_loaders(loaders, self.mode, self.n_shards, self._join))
            with restored_on_error(self):
                self.__dict__.pop("models_", None)
                shards = ShardSet(engine, classes, self.mode, options.class_weight)
                if on_loaded is not None:
                    on_loaded(shards.facts)
                if seeds is not None:
                    return self._fit_seeds(shards, seeds)
                observers = [] if on_pass is None else [Callback(self._callback(on_pass))]
                if checkpoints is not None:
                    checkpoints.feature_names = lambda: shards.names
                self._note_features(shards)
                make_run = run_factory(self.mode, None if checkpoint is None else every)
                return self._train(shards, options, observers, checkpoints=checkpoints, make_run=make_run)
        finally:
            engine.close()

    def _fit_seeds(self, shards: ShardSet, seeds: Sequence[int]) -> Self:
        """Train a model for each seed, all at the same time. This model becomes the model of the first seed."""
        models = [clone(self).set_params(random_state=seed, warm_start=False, verbose=0) for seed in seeds]

        def train(model: Self, observer: Observer) -> None:
            own = shards.fork()
            model._note_features(own)
            model._train(own, model._cluster_options(), [observer], make_run=run_factory(self.mode, None))

        train_together(train, models)
        for name in [name for name in vars(self) if name.endswith("_")]:
            del self.__dict__[name]
        self.__dict__.update(_learned(models[0]))
        self.models_ = [model.to_local() for model in models]
        return self

    def _note_features(self, shards: ShardSet) -> None:
        """Store the names of the features.

        Raises a ValueError if a warm start would continue with other features or another number of shards.
        """
        if self._is_warm():
            if self.state_.mixed_shards not in (0, sum(facts.rows > 0 for facts in shards.facts)):
                raise ParameterError(
                    "the number of shards has changed since this model was trained, so mixing cannot continue: give "
                    "the same number of shards, or fit from the start ({warm_start=False})."
                )
            names = getattr(self, "feature_names_in_", None)
            shards.check_features(self.n_features_in_, None if names is None else names.tolist())
            return
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if shards.names is not None:
            self.feature_names_in_ = np.array(shards.names, object)

    def _fixed_parameters(self) -> list[tuple[str, object, object]]:
        then = "mix" if self.state_.mixed_shards else "exact"
        return [("mode", then, self.mode), *super()._fixed_parameters()]

    def _cluster_options(self) -> RunOptions:
        """Return the options of the training run; raise a ParameterError if a parameter is invalid."""
        check_positive("timeout", self.timeout)
        return checked_options(self._options(), self.mode, self.n_shards)

    def _join(self, loaders: Sequence[Any]) -> Any:
        """Combine several loaders into one, which loads all of their rows as one shard."""
        return join_loaders(loaders)

    def to_local(self) -> Any:
        """Return a local learner with the same parameters and fitted attributes, independent of any cluster."""
        local = next(base for base in type(self).__mro__ if base.__name__ == type(self)._learner_name())
        names = inspect.signature(local).parameters
        model = local(**{name: getattr(self, name) for name in names})
        vars(model).update(deepcopy(_learned(self)))
        return model


def _learned(model: BasePerceptron) -> dict[str, Any]:
    """Return the attributes that training sets."""
    getattr(model, "state_", None)  # writes what was learned from records to its arrays
    return {name: value for name, value in vars(model).items() if name.endswith("_") or name.startswith("_early")}


def state_without(model: BasePerceptron, *names: str) -> dict[str, Any]:
    """Return the attributes of a model for pickling. The parameters ``names`` are replaced by None."""
    return copy(model.__dict__) | dict.fromkeys(names)
