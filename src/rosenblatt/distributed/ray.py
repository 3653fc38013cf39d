"""Perceptrons that train on the workers of a Ray cluster, with the parameters of the local learners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from rosenblatt.distributed.engines import ClusterError, Function, Progress, WorkLost
from rosenblatt.distributed.learners import ClusterLearner, with_parameters
from rosenblatt.distributed.shards import Shard, load_shard
from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron

if TYPE_CHECKING:
    from ray import ObjectRef

# The Ray engine: a shard is a Ray object that holds rows, a call is a task on it, and Ray repeats lost tasks.


_POLL = 0.5
"""The time in seconds between two checks of the cluster."""
_RETRIES = 3
"""The number of times that Ray repeats a task whose worker has died."""


class RayEngine:
    """An `Engine` on the Ray cluster to which this process is connected.

    Parameters
    ----------
    timeout : float
        The number of seconds for which the cluster may have no processor before an error is raised.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self._loaders: list[Callable[[], Shard]] = []
        self._shards: list[ObjectRef] = []
        self._tasks: dict[Function, Any] = {}

    @property
    def shards(self) -> int:
        """The number of shards that have been loaded."""
        return len(self._loaders)

    @property
    def workers(self) -> int:
        """The number of tasks that can run at the same time, at least 1."""
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
                "resume=True continues from it)."
            )

    def _task(self, function: Function) -> Any:
        import ray

        if function not in self._tasks:
            self._tasks[function] = ray.remote(num_cpus=1, max_retries=_RETRIES)(function)
        return self._tasks[function]

    def load(self, loaders: Sequence[Callable[[], Shard]]) -> None:
        """Load each shard."""
        self._loaders = list(loaders)
        self.recover()

    def share(self, value: object) -> ObjectRef:
        """Return a reference to the value, which stays in this process."""
        import ray

        self._check_cluster()
        return ray.put(value)

    def call(self, function: Function, shard: int, *arguments: object) -> ObjectRef:
        """Submit a call. Ray prefers to run it on the node that holds the shard."""
        return self._submit(function, self._shards[shard], *arguments)

    def _submit(self, function: Function, *arguments: object) -> ObjectRef:
        self._check_cluster()
        return self._task(function).remote(*arguments)

    def fetch(self, handles: Sequence[ObjectRef], progress: Progress | None = None) -> list[Any]:
        """Wait for the results and return them in order.

        Raises a ClusterError if the cluster has no processor for ``timeout`` seconds.
        """
        import ray

        found: dict[ObjectRef, Any] = {}
        left, last_seen = list(handles), monotonic()
        while left:
            self._check_cluster()
            done, left = ray.wait(left, num_returns=len(left), timeout=_POLL)
            found |= zip(done, self._results(done), strict=True)
            if progress is not None:
                progress(len(found))
            if done or self._processors():
                last_seen = monotonic()
            elif monotonic() - last_seen > self.timeout:
                raise ClusterError(
                    f"the cluster has had no processor for {self.timeout:g} seconds: add a node, and train again (with "
                    "a checkpoint, resume=True continues from it)."
                )
        return [found[handle] for handle in handles]

    def _results(self, handles: Sequence[ObjectRef]) -> list[Any]:
        """Return the results of finished calls."""
        import ray

        try:
            return ray.get(list(handles), timeout=self.timeout)
        except ray.exceptions.RayError as fault:
            raise _cause(fault) from None

    def finished(self, handles: Sequence[ObjectRef]) -> list[bool]:
        """Return, for each of these calls, whether it has finished."""
        import ray

        if not handles:
            return []
        done = set(ray.wait(list(handles), num_returns=len(handles), timeout=0, fetch_local=False)[0])
        return [handle in done for handle in handles]

    def recover(self) -> None:
        """Load all shards again, after Ray has given up repeating lost tasks."""
        self._shards = [self._submit(load_shard, loader) for loader in self._loaders]

    def fork(self) -> RayEngine:
        """Return an engine with the same shards, for a concurrent run."""
        other = RayEngine(self.timeout)
        other._loaders, other._shards = self._loaders, list(self._shards)
        return other

    def close(self) -> None:
        """Release the shards. Calls that are still running continue until they finish.

        Calls are not cancelled, because Ray 2.60 terminates the driver if a cancelled call has just finished.
        """
        self._shards = []


def _cause(fault: Exception) -> Exception:
    """Return the error that a call raised, `WorkLost` if its worker died, or a ClusterError if it could not start."""
    from ray.exceptions import RayError, RaySystemError, RayTaskError

    while isinstance(fault, RayTaskError) and isinstance(fault.cause, Exception):
        fault = fault.cause
    if isinstance(fault, RayTaskError) or not isinstance(fault, RayError):
        return fault
    first_line = str(fault).strip().partition("\n")[0]
    if isinstance(fault, RaySystemError):
        return ClusterError(
            f"a worker could not load its task ({first_line}): every node needs the packages that this process "
            "imports, in the same versions."
        )
    return WorkLost(f"{type(fault).__name__}: {first_line}")


class RayLearner(ClusterLearner):
    """The base class of learners on a Ray cluster."""

    address: str | None

    def fit(self, X: object, y: object = None, *arguments: object, **options: object) -> Self:
        """Raise a TypeError: use ``fit_shards`` or ``fit_files`` on a Ray cluster."""
        raise TypeError(
            "on Ray, rows are given as shards or as files: use fit_shards([(X, y), ...]), with pairs or functions that "
            "return them, or fit_files(...)."
        )

    def _engine(self) -> RayEngine:
        try:
            import ray
        except ImportError:
            raise ImportError("training on Ray needs the package ray: pip install 'rosenblatt[ray]'.") from None
        if not ray.is_initialized():
            if self.address in (None, "local"):  # Ray would start a cluster that listens on all network interfaces
                raise ClusterError("there is no Ray cluster: start one first with ray.init(), or give address=.")
            ray.init(address=self.address, log_to_driver=False)
        return RayEngine(self.timeout)


class RayPerceptron(RayLearner, Perceptron):
    """`Perceptron` for rows on a Ray cluster: the same parameters and, in exact mode, the same weights bit for bit.

    Use ``fit_shards`` or ``fit_files`` to train; ``fit`` raises a TypeError. Training stops under the same
    conditions as for `Perceptron`.

    Parameters
    ----------
    mode, n_shards, timeout
        As for `DaskPerceptron`.
    address : str, optional
        The running cluster to connect to if ``ray.init`` has not been called. ``"auto"`` connects to a cluster on this
        machine. No cluster is started: if none is running, training raises an error.

    The other parameters are those of `Perceptron`.

    See Also
    --------
    DaskPerceptron : The same learner on a Dask cluster, with an example.
    """

    __init__ = with_parameters(Perceptron, address=None)


class RayAveragedPerceptron(RayLearner, AveragedPerceptron):
    """`AveragedPerceptron` for rows on a Ray cluster: the same parameters and, in exact mode, the same weights.

    It has the parameters of `RayPerceptron` except ``hypothesis``.

    See Also
    --------
    RayPerceptron : The perceptron that predicts with the last weights by default.
    DaskAveragedPerceptron : The same learner on a Dask cluster.
    """

    __init__ = with_parameters(AveragedPerceptron, address=None)
