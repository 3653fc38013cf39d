"""Perceptrons on Ray: the parameters and the answers of the local ones, for rows that lie on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, Self

from rosenblatt.distributed.engines import ClusterError, Handle, WorkLost
from rosenblatt.distributed.learners import ClusterLearner, with_parameters
from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron

# Ray as an engine: shards are objects that hold rows, calls are tasks on them, and Ray repeats those that are lost.


_POLL = 0.5
"""Seconds between two looks at the cluster."""
_RETRIES = 3
"""How often Ray itself repeats a call whose worker has died, each time that it is made."""


class RayEngine:
    """A Ray cluster.

    Parameters
    ----------
    timeout : float
        The most seconds without any processor to work on.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self._loaders: list[Any] = []
        self._rows: list[Any] = []
        self._tasks: dict[Callable[..., Any], Any] = {}

    @property
    def shards(self) -> int:
        """How many shards are loaded."""
        return len(self._loaders)

    @property
    def workers(self) -> int:
        """How many tasks run at a time, at least 1."""
        return max(1, self._processors())

    def _processors(self) -> int:
        import ray

        self._check_cluster()
        return int(ray.cluster_resources().get("CPU", 0))

    def _check_cluster(self) -> None:
        import ray

        if not ray.is_initialized():
            raise ClusterError(
                "the Ray cluster is gone: start it again with ray.init(), and train again (with a checkpoint, "
                "resume=True goes on from it)."
            )

    def _task(self, function: Callable[..., Any]) -> Any:
        import ray

        if function not in self._tasks:
            self._tasks[function] = ray.remote(num_cpus=1, max_retries=_RETRIES)(function)
        return self._tasks[function]

    def load(self, loaders: Sequence[Any]) -> None:
        """Have each shard loaded."""
        self._loaders = list(loaders)
        self._rows = [self._load(loader) for loader in loaders]

    def _load(self, loader: Any) -> Any:
        return self._submit(_called, loader)

    def share(self, value: Any) -> Handle:
        """Return a reference to the value, which this process keeps."""
        import ray

        self._check_cluster()
        return ray.put(value)

    def call(self, function: Callable[..., Any], shard: int, *arguments: Any) -> Handle:
        """Have a function called; Ray prefers the node where the shard lies."""
        return self._submit(function, self._rows[shard], *arguments)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        self._check_cluster()
        return self._task(function).remote(*arguments)

    def fetch(self, handles: Sequence[Handle], progress: Callable[[int], None] | None = None) -> list[Any]:
        """Return the results in order."""
        import ray

        found: dict[Any, Any] = {}
        left, seen = list(handles), monotonic()
        while left:
            self._check_cluster()
            done, left = ray.wait(left, num_returns=len(left), timeout=_POLL)
            found |= zip(done, self._results(done), strict=True)
            if progress is not None:
                progress(len(found))
            if done or self._processors():
                seen = monotonic()
            elif monotonic() - seen > self.timeout:
                raise ClusterError(
                    f"the cluster has had no processor to work on for {self.timeout:g} seconds: add a node, and train "
                    "again (with a checkpoint, resume=True goes on from it)."
                )
        return [found[handle] for handle in handles]

    def _results(self, handles: Sequence[Handle]) -> list[Any]:
        """Return the results of calls that have ended."""
        import ray

        try:
            return ray.get(list(handles), timeout=self.timeout)
        except ray.exceptions.RayError as fault:
            raise _meaning(fault) from None

    def ended(self, handles: Sequence[Handle]) -> list[bool]:
        """Return for each of these calls whether it has ended."""
        import ray

        if not handles:
            return []
        done = set(ray.wait(list(handles), num_returns=len(handles), timeout=0, fetch_local=False)[0])
        return [handle in done for handle in handles]

    def recover(self) -> None:
        """Have all shards loaded again: Ray gave up to repeat what was lost."""
        self._rows = [self._load(loader) for loader in self._loaders]

    def fork(self) -> RayEngine:
        """Return an engine with the same shards, whose calls are its own."""
        other = RayEngine(self.timeout)
        other._loaders, other._rows = self._loaders, list(self._rows)
        return other

    def close(self) -> None:
        """Let the shards go; calls that no one waits for any more run to their end.

        They are not cancelled: in Ray 2.60 that ends the driver where one of them is just done.
        """
        self._rows = []


def _called(loader: Callable[[], Any]) -> Any:
    return loader()


def _meaning(fault: Any) -> Exception:
    """Return the error of a call, as it was raised there; `WorkLost` for all that befalls workers."""
    from ray.exceptions import RayError, RaySystemError, RayTaskError

    while isinstance(fault, RayTaskError) and isinstance(fault.cause, Exception):
        fault = fault.cause
    if isinstance(fault, RayTaskError) or not isinstance(fault, RayError):
        return fault
    first_line = str(fault).strip().partition("\n")[0]
    if isinstance(fault, RaySystemError):
        return ClusterError(
            f"a worker could not read what it was sent ({first_line}): what this process imports has to be there on "
            "all nodes, in the same versions."
        )
    return WorkLost(f"{type(fault).__name__}: {first_line}")


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
