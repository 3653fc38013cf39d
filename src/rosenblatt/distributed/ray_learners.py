"""Perceptrons on Ray: the parameters and the answers of the local ones, for rows that lie on a cluster."""

from __future__ import annotations

from typing import Any, Self

from rosenblatt.distributed.learners import ClusterLearner, with_parameters
from rosenblatt.distributed.ray_engine import RayEngine
from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron


class RayLearner(ClusterLearner):
    """A learner on a Ray cluster."""

    address: str | None

    def fit(self, X: Any, y: Any = None, *arguments: Any, **options: Any) -> Self:
        """Raise a TypeError: rows of a Ray cluster come as shards or as files."""
        raise TypeError(
            "on Ray, rows come as shards or as files: use fit_shards([(X, y), ...]), with pairs or functions that "
            "return them, or fit_files(...)."
        )

    def _engine(self) -> RayEngine:
        try:
            import ray
        except ImportError:
            raise ImportError("training on Ray needs the package ray: pip install 'rosenblatt[ray]'.") from None
        if not ray.is_initialized():
            ray.init(address=self.address, include_dashboard=False, log_to_driver=False)
        return RayEngine(self.timeout)


class RayPerceptron(RayLearner, Perceptron):
    """`Perceptron` for rows on a Ray cluster: the same parameters, and in exact mode the same bits.

    Parameters
    ----------
    mode, n_shards, timeout
        As for `DaskPerceptron`.
    address : str, optional
        The cluster to connect to where ``ray.init`` has not been called; by default one on this machine is started.

    All others are those of `Perceptron`.
    """

    __init__ = with_parameters(Perceptron, address=None)


class RayAveragedPerceptron(RayLearner, AveragedPerceptron):
    """`AveragedPerceptron` for rows on a Ray cluster; parameters as for `RayPerceptron`, without ``hypothesis``."""

    __init__ = with_parameters(AveragedPerceptron, address=None)
