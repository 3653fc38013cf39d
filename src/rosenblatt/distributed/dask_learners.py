"""Perceptrons on Dask: the parameters and the answers of the local ones, for rows that lie on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from rosenblatt.distributed.dask_collections import PairShard, is_collection, lazily, partitions
from rosenblatt.distributed.dask_engine import DaskEngine
from rosenblatt.distributed.engines import ClusterError
from rosenblatt.distributed.learners import ClusterLearner, with_parameters, without
from rosenblatt.distributed.shards import join_shards
from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron
from rosenblatt.parameters import ParameterError, Setting


class DaskLearner(ClusterLearner):
    """A learner on a Dask cluster."""

    client: Any

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        classes: Any = None,
        on_pass: Callable[[Self], Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: float = 30.0,
        resume: bool = False,
        seeds: Sequence[int] | None = None,
    ) -> Self:
        """Learn from a Dask array or data frame; each of its partitions is a shard, in their order.

        Parameters
        ----------
        X : Dask array with blocks of NumPy or of SciPy's CSR, or Dask data frame of numbers
            Blocks need not know their lengths. Columns that are cut are put together again.
        y : Dask array or series, or an array
            A label for each row, cut as the rows are; an array is cut so.
        sample_weight : the same, optional
            Scales the step that an update makes; rows of weight 0 are not visited.
        classes : array, optional
            Classes that may not occur.
        on_pass, checkpoint, every, resume, seeds
            As for ``fit_shards``.
        """
        loaders = [PairShard(*parts) for parts in partitions(X, y, sample_weight)]
        settings = classes, on_pass, checkpoint, every, resume, seeds
        return self._fit_loaders([loader.delayed() for loader in loaders], *settings)

    def _engine(self) -> DaskEngine:
        return DaskEngine(find_client(self.client), self.timeout)

    def _joined(self, loaders: Sequence[Any]) -> Any:
        if len(loaders) > 1 and hasattr(loaders[0], "__dask_graph__"):
            import dask

            return dask.delayed(join_shards)(list(loaders))
        return super()._joined(loaders)

    def predict(self, X: Any) -> Any:
        """Return the class of each row: at once for arrays, as a lazy Dask collection for Dask's."""
        if not is_collection(X):
            return super().predict(X)
        return lazily(self.to_local(), "predict", X, self.classes_[:0])

    def decision_function(self, X: Any) -> Any:
        """Return the activation of each row: at once for arrays, as a lazy Dask collection for Dask's."""
        if not is_collection(X):
            return super().decision_function(X)
        shape = (0,) if len(self.state_.w) == 1 else (0, len(self.state_.w))
        return lazily(self.to_local(), "decision_function", X, np.empty(shape))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of rows whose class is predicted, each counted with its weight if there are weights."""
        if not is_collection(X):
            return super().score(X, y, sample_weight)
        import dask

        model = self.to_local()
        parts = [PairShard(*pair).counted(model) for pair in partitions(X, y, sample_weight)]
        counted = dask.compute(*parts) if self.client is None else self.client.compute(parts, sync=True)
        right, all_rows = np.sum(counted, axis=0)
        if not all_rows > 0:
            raise ValueError("expected rows to score, got none, or only rows of weight 0.")
        return float(right / all_rows)

    def __getstate__(self) -> dict[str, Any]:
        return without(self, "client")

    def __sklearn_clone__(self) -> Self:
        parameters = self.get_params(deep=False)
        return type(self)(**parameters)


class DaskPerceptron(DaskLearner, Perceptron):
    """`Perceptron` for rows on a Dask cluster: the same parameters, and in exact mode the same bits.

    Parameters
    ----------
    mode : "exact" or "mix"
        Whether the weights visit one shard after the other, so that the model is that of ``fit_stream`` on one machine;
        or all shards are trained at once from the same weights, and the mean of theirs starts the next round.
    n_shards : int
        For ``mode="mix"``: how many shards there are. More of them cost accuracy; the number of workers does not
        matter.
    timeout : float
        The most seconds to wait while the cluster has no worker.
    client : distributed.Client, optional
        By default the client made last. It is not pickled with the model.

    All others are those of `Perceptron`.
    """

    __init__ = with_parameters(Perceptron, client=None)


class DaskAveragedPerceptron(DaskLearner, AveragedPerceptron):
    """`AveragedPerceptron` for rows on a Dask cluster; parameters as for `DaskPerceptron`, without ``hypothesis``."""

    __init__ = with_parameters(AveragedPerceptron, client=None)


def find_client(client: Any) -> Any:
    """Return the client, or the default one; a ClusterError where there is none that can be used."""
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "training on Dask needs the packages dask and distributed: pip install 'rosenblatt[dask]'."
        ) from None
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError:
            raise ClusterError(
                "there is no Dask client: make one first, for instance with distributed.Client(), or give client=."
            ) from None
    if not isinstance(client, distributed.Client):
        raise ParameterError(Setting("client"), f" must be a distributed.Client, got a {type(client).__name__}.")
    if client.asynchronous:
        raise ParameterError(
            Setting("client"), " must not be asynchronous: make it with distributed.Client(), and train in a thread."
        )
    return client
