"""Perceptrons that train on the workers of a Dask cluster, with the parameters of the local learners."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias
from uuid import uuid4
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks import Block
from rosenblatt.distributed.engines import ClusterError, Function, Progress, WorkLost
from rosenblatt.distributed.learners import ClusterLearner, state_without, with_parameters
from rosenblatt.distributed.shards import (
    Shard,
    all_classes,
    errors_named,
    identified,
    join_shards,
    load_shard,
    make_shard,
)
from rosenblatt.estimators.base import BasePerceptron
from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron
from rosenblatt.estimators.prepared import check_label_counts, prepare_labelled, rows_of_tables
from rosenblatt.estimators.validation import MatrixLike
from rosenblatt.messages import ParameterError, shorten
from rosenblatt.training.rows import VectorLike

if TYPE_CHECKING:
    from dask.delayed import Delayed

    from distributed import Client, Future

Collection: TypeAlias = Any
"""A Dask array, data frame or series."""

# The Dask engine: a shard is a future that holds rows, and a call is a task on it.


_SUBMITTING = Lock()
_POLL = 0.5
"""The time in seconds between two checks of the workers."""
_IDLE = 10.0
"""The least time in seconds for which all workers must be idle or paused before unfinished calls count as lost."""


Loader: TypeAlias = "Callable[[], Shard] | Delayed"


class DaskEngine:
    """An `Engine` on a Dask cluster. A call prefers the workers that hold its shard, but may run on others.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster.
    timeout : float
        The number of seconds for which the cluster may have no worker before an error is raised.
    """

    def __init__(self, client: Client, timeout: float) -> None:
        self.client, self.timeout = client, timeout
        self._loaders: list[Loader] = []
        self._shards: list[Future] = []
        self._calls: WeakSet[Future] = WeakSet()
        self._holders: dict[str, Sequence[str]] = {}
        self._run, self._submitted = uuid4().hex[:12], 0

    @property
    def shards(self) -> int:
        """The number of shards that have been loaded."""
        return len(self._loaders)

    @property
    def workers(self) -> int:
        """The number of workers, at least 1."""
        return max(1, len(self._processing() or ()))

    def _processing(self) -> dict[str, Sequence[str]] | None:
        """Return the tasks in progress on each worker, or None if the scheduler does not respond."""
        if self.client.status != "running":
            return None
        try:
            return self.client.processing()
        except Exception:
            return None

    def _has_work(self, tasks: dict[str, Sequence[str]]) -> bool:
        """Return whether any worker is working on its tasks. A paused worker only finishes tasks that it has begun."""
        paused = self._paused_workers()
        return any(keys and paused.get(worker, True) for worker, keys in tasks.items())

    def _paused_workers(self) -> dict[str, bool]:
        """Return the workers that Dask has paused because of full memory, and whether each is running a task.

        Dask assigns no more tasks to a paused worker. But tasks that were assigned before stay on the worker.
        """
        try:
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
            return {
                address: bool(worker["metrics"]["task_counts"].get("executing"))
                for address, worker in workers.items()
                if worker["status"] == "paused"
            }
        except Exception:
            return {}

    def load(self, loaders: Sequence[Loader]) -> None:
        """Load each shard. A loader is a function that returns a shard, or a delayed shard."""
        self._loaders = list(loaders)
        self._shards = [self._load(loader) for loader in loaders]

    def _load(self, loader: Loader) -> Future:
        """Return the future of a shard.

        The task that loads the shard prefers no worker, because Dask would keep waiting for a preferred worker that
        has died.
        """
        self._check_client()
        with _large_arguments():
            if hasattr(loader, "__dask_graph__"):
                import dask

                return self.client.compute(dask.delayed(identified, pure=False)(loader))
            return self.client.submit(load_shard, loader, key=self._key("load"))

    def _key(self, what: str) -> str:
        self._submitted += 1
        return f"rosenblatt-{what}-{self._run}-{self._submitted}"

    def share(self, value: object) -> Future:
        """Return the future of a task that returns the value. The task can be repeated, unlike scattering the value."""
        self._check_client()
        with _large_arguments():
            future = self.client.submit(_shared, value, key=self._key("share"))
        self._calls.add(future)
        return future

    def call(self, function: Function, shard: int, *arguments: object) -> Future:
        """Submit a call to a worker that holds the shard, or to another worker if no such worker is left."""
        self._check_client()
        rows = self._shards[shard]
        workers = sorted(self._holders.get(rows.key, ()))
        hint = {"workers": workers, "allow_other_workers": True} if workers else {}
        with _large_arguments():
            future = self.client.submit(function, rows, *arguments, key=self._key(function.__name__), **hint)
        self._calls.add(future)
        return future

    def fetch(self, handles: Sequence[Future], progress: Progress | None = None) -> list[Any]:
        """Wait for the results and return them in order.

        Raises the error that a call raised, and `WorkLost` if a worker failed or stopped working. Raises a ClusterError
        if the scheduler or all workers are gone for ``timeout`` seconds, or if all workers are paused for this time.
        """
        self._check_client()
        gathering = asyncio.run_coroutine_threadsafe(
            self.client.gather(list(handles), asynchronous=True), self.client.loop.asyncio_loop
        )
        last_seen = last_busy = monotonic()
        while not wait([gathering], timeout=_POLL).done:
            finished = sum(future.done() for future in handles)
            if progress is not None:
                progress(finished)
            self._check_client()
            tasks, now = self._processing(), monotonic()
            last_seen = now if tasks else last_seen
            # once all calls have finished, workers may be idle while the results are being sent
            last_busy = now if finished == len(handles) or (tasks and self._has_work(tasks)) else last_busy
            if now - last_seen > self.timeout:
                raise self._no_scheduler() if tasks is None else self._no_worker()
            if now - last_busy > max(self.timeout, _IDLE):
                if tasks and len(self._paused_workers()) == len(tasks):
                    raise self._no_memory(now - last_busy)
                raise WorkLost("all workers were idle or paused, and calls had not finished")
        try:
            found = gathering.result()
        except Exception as fault:
            raise self._cause(fault, handles) from None
        self._holders = self._find_shards()
        return found

    def finished(self, handles: Sequence[Future]) -> list[bool]:
        """Return, for each of these calls, whether it has finished."""
        return [future.done() for future in handles]

    def _find_shards(self) -> dict[str, Sequence[str]]:
        """Return the workers that hold each shard, or {} if they are not known. The result is used only as a hint."""
        try:
            return self.client.who_has(self._shards)
        except Exception:
            return {}

    def _cause(self, fault: Exception, handles: Sequence[Future]) -> Exception:
        """Return the error that a call raised, or `WorkLost` if its worker failed."""
        from distributed import KilledWorker

        for future in handles:
            if future.status == "error":
                error = future.exception()
                return WorkLost(f"KilledWorker: {error}") if isinstance(error, KilledWorker) else error
        return WorkLost(f"{type(fault).__name__}: {fault}")

    def _check_client(self) -> None:
        if self.client.status in ("closing", "closed"):
            raise self._no_scheduler()

    def _no_scheduler(self) -> ClusterError:
        return ClusterError(
            "the scheduler of the Dask cluster can no longer be reached: start it again, create a new Client, and "
            "train again (with a checkpoint, resume=True continues from it)."
        )

    def _no_worker(self) -> ClusterError:
        return ClusterError(
            f"the cluster has had no worker for {self.timeout:g} seconds: start one, and train again (with a "
            "checkpoint, resume=True continues from it)."
        )

    def _no_memory(self, seconds: float) -> ClusterError:
        return ClusterError(
            f"all workers of the cluster have been paused for {seconds:.0f} seconds, because their memory is nearly "
            "full: split the data into more shards, or give workers more memory, and train again (with a checkpoint, "
            "resume=True continues from it)."
        )

    def recover(self) -> None:
        """Release all calls, and reload the shards whose futures have failed or were cancelled."""
        self._release(self._calls)
        until = monotonic() + self.timeout
        while self.client.status == "connecting" and monotonic() < until:
            sleep(_POLL)
        if self.client.status != "running":
            raise self._no_scheduler()
        self._holders = {}
        lost = [k for k, future in enumerate(self._shards) if future.status in ("error", "cancelled", "lost")]
        self._release([self._shards[k] for k in lost])
        self.client.sync(asyncio.sleep, 0)  # the scheduler must forget released futures before they are resubmitted
        for k in lost:
            self._shards[k] = self._load(self._loaders[k])

    def _release(self, futures: Iterable[Future]) -> None:
        """Make the scheduler forget results, even if a traceback still refers to them."""
        for future in list(futures):
            future.release()

    def fork(self) -> DaskEngine:
        """Return an engine with the same shards, for a concurrent run."""
        other = DaskEngine(self.client, self.timeout)
        other._loaders, other._shards, other._holders = self._loaders, list(self._shards), self._holders
        return other

    def close(self) -> None:
        """Release the shards and all calls."""
        self._release([*self._shards, *self._calls])
        self._shards = []


def _shared(value: object) -> object:
    return value


@contextmanager
def _large_arguments() -> Iterator[None]:
    """Suppress Dask's warning about large arguments, because states are sent as arguments on purpose.

    Only one thread at a time can be in this context, because Dask's configuration is global.
    """
    import dask

    with _SUBMITTING, dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        yield


# Dask collections (arrays and data frames): their partitions as shards, and predictions as lazy collections.


def is_collection(X: object) -> bool:
    """Return whether ``X`` is a Dask collection: an array, a data frame or a series."""
    return hasattr(X, "__dask_graph__") and type(X).__name__ != "Delayed"


def _is_frame(X: object) -> bool:
    """Return whether ``X`` is a Dask data frame or series."""
    return hasattr(X, "map_partitions") and hasattr(X, "dtypes")


def _blocks(X: Collection, what: str) -> list[Delayed]:
    """Return the partitions of a collection as delayed objects, in order.

    ``what`` is "X", "y" or "sample_weight". A ValueError is raised if the collection cannot be used as such.
    """
    if _is_frame(X):
        return list(X.to_delayed(optimize_graph=False))  # optimization may partition columns of a table differently
    if not hasattr(X, "chunks"):
        raise ValueError(f"expected {what} as a Dask array or data frame, got a Dask {type(X).__name__}.")
    if what == "X":
        if X.ndim != 2:
            raise ValueError(f"expected a two-dimensional X, got a Dask array of shape {X.shape}.")
        if X.dtype.kind not in "biufO":
            raise ValueError(f"expected X with numbers, got a Dask array of {X.dtype}: convert it to numbers first.")
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
    elif X.ndim == 2 and X.shape[1] == 1:
        X = X[:, 0]
    elif X.ndim != 1:
        raise ValueError(f"expected {what} with one value per row, got a Dask array of shape {X.shape}.")
    return list(X.to_delayed().ravel())


def partitions(X: Collection, y: Any, sample_weight: Any = None, of_table: bool = False) -> list[PartitionShard]:
    """Return a shard for each partition of a Dask collection, with its rows, labels and weights.

    The columns of a data frame must be numeric, unless ``of_table`` is True. Then the model itself prepares the rows of
    the table.
    """
    if not is_collection(X):
        raise TypeError(
            f"expected X as a Dask array or data frame, got a {type(X).__name__}: use the local learner for rows in "
            "memory, fit_files for files, or dask.array.from_array to make a collection."
        )
    if y is None:
        raise TypeError("training needs labels, got none: use fit(X, y).")
    if _is_frame(X) and not of_table:
        _check_columns(X)
    rows = _blocks(X, "X")
    labels = _cut_like(X, rows, y, "y")
    weights = [None] * len(rows) if sample_weight is None else _cut_like(X, rows, sample_weight, "sample_weight")
    return [PartitionShard(k, *parts) for k, parts in enumerate(zip(rows, labels, weights, strict=True))]


def _cut_like(X: Collection, rows: Sequence[Delayed], other: Any, what: str) -> Sequence[Delayed | NDArray[Any]]:
    """Return labels or weights divided into the same partitions as the rows."""
    if is_collection(other):
        parts = _blocks(other, what)
        if len(parts) != len(rows):
            raise ValueError(
                f"expected {what} with {len(rows)} partitions, as X has, got {len(parts)}: rechunk or repartition one "
                "to match the other."
            )
        return parts
    lengths = None if _is_frame(X) else X.chunks[0]
    if lengths is None or np.isnan(lengths).any():
        raise ValueError(
            f"expected {what} as a Dask collection, because the lengths of the partitions of X are unknown, got a "
            f"{type(other).__name__}: give a Dask array or series, or call X.compute_chunk_sizes() first."
        )
    values = np.asarray(other)
    if values.ndim == 0:
        raise ValueError(f"expected {what} as an array or a Dask collection, got {shorten(other)}.")
    if len(values) != sum(lengths):
        raise ValueError(f"expected {what} for each of the {sum(lengths):,} rows, got {len(values):,}.")
    return np.split(values, np.cumsum(lengths)[:-1])


def _check_columns(X: Collection) -> None:
    """Raise a ValueError if a data frame has a column that is not numeric, or if ``X`` is a series."""
    if X.ndim == 1:
        raise ValueError("expected a two-dimensional X, got a Dask series: use X.to_frame().")
    wrong = [f"{name} ({kind})" for name, kind in X.dtypes.items() if getattr(kind, "kind", "O") not in "biuf"]
    if wrong:
        some = ", ".join(wrong[:5]) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "")
        raise ValueError(
            f"expected columns of numbers, got {some}: encode them first, for instance with "
            "dask.dataframe.get_dummies after categorize(), drop them, or train from the files with fit_files, which "
            "encodes categories and words."
        )


class PartitionShard:
    """A partition of rows with its labels and weights."""

    def __init__(self, number: int, *parts: Delayed | NDArray[Any] | None) -> None:
        self.number, self.parts = number, parts

    def delayed(self) -> Delayed:
        """Return the shard as a delayed object."""
        import dask

        return dask.delayed(_make, pure=False)(self.number, *self.parts)

    def count_right(self, model: BasePerceptron) -> Delayed:
        """Return, as a delayed object, a `ScoredPartition`."""
        import dask

        return dask.delayed(_count, pure=False)(model, self.number, *self.parts)


def _make(number: int, X: MatrixLike, y: VectorLike, weight: VectorLike) -> Shard:
    with errors_named(f"partition {number}"):
        return make_shard(X, y, weight)


class ScoredPartition(NamedTuple):
    """The weight of the correctly predicted rows of a partition, that of all rows, and the rows of each label."""

    right: float
    total: float
    labels: NDArray[Any]
    counts: NDArray[np.int64]


def _count(model: BasePerceptron, number: int, X: MatrixLike, y: VectorLike, weight: VectorLike) -> ScoredPartition:
    with errors_named(f"partition {number}"):
        X, y, weight = prepare_labelled(model, X, y, weight, weighted=False)
    shard = _make(number, X.X if isinstance(X, Block) else X, y, weight)
    counts = np.bincount(shard.numbers, minlength=len(shard.classes))
    if not len(shard.numbers):
        return ScoredPartition(0.0, 0.0, shard.classes, counts)
    right = model.predict(X) == shard.classes[shard.numbers]
    weights = np.ones(len(right)) if shard.weight is None else shard.weight
    return ScoredPartition(float(weights @ right), float(weights.sum()), shard.classes, counts)


def map_collection(model: BasePerceptron, method: str, X: Collection, meta: NDArray[Any]) -> Collection:
    """Call a method of a model on each partition, and return the results as a lazy collection.

    ``meta`` is an empty array with the type and the number of columns of the results.
    """
    if _is_frame(X):
        call = _MethodCall(model, method, frame=True)
        row = np.zeros((1, *meta.shape[1:])) if method != "predict" else model.classes_[:1]
        frame = _frame_of(row, X._meta_nonempty.index[:1]).iloc[:0]  # pandas may use its own string type
        return X.map_partitions(call, meta=frame, enforce_metadata=False)
    if X.ndim != 2:
        raise ValueError(f"expected a two-dimensional X, got a Dask array of shape {X.shape}.")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    call = _MethodCall(model, method)
    if meta.ndim == 1:
        return X.map_blocks(call, dtype=meta.dtype, drop_axis=1, meta=meta)
    return X.map_blocks(call, dtype=meta.dtype, chunks=(X.chunks[0], (meta.shape[1],)), meta=meta)


def _frame_of(values: NDArray[Any], index: Any) -> Any:
    import pandas

    return pandas.Series(values, index=index) if values.ndim == 1 else pandas.DataFrame(values, index=index)


class _MethodCall:
    """A function that calls a method of a model on a partition, which may be empty."""

    def __init__(self, model: BasePerceptron, method: str, frame: bool = False) -> None:
        self.model, self.method, self.frame = model, method, frame

    def __call__(self, X: MatrixLike) -> Any:
        if not X.shape[0]:
            n_classes = len(self.model.classes_)
            several = self.method != "predict" and n_classes > 2
            dtype = self.model.classes_.dtype if self.method == "predict" else np.float64
            found = np.empty((0, n_classes) if several else 0, dtype)
        else:
            found = getattr(self.model, self.method)(X)
        return _frame_of(found, X.index) if self.frame else found


class DaskLearner(ClusterLearner):
    """The base class of learners on a Dask cluster."""

    client: Client | None

    def fit(
        self,
        X: Collection,
        y: Any = None,
        sample_weight: Any = None,
        classes: VectorLike = None,
        on_pass: Callable[[Self], Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: float = 30.0,
        resume: bool = False,
        seeds: Sequence[int] | None = None,
    ) -> Self:
        """Train on a Dask array or data frame, and return this model. Each partition is a shard.

        Training stops under the same conditions as ``fit`` of the local learner.

        Parameters
        ----------
        X : Dask array with blocks of NumPy or of SciPy's CSR, or Dask data frame of numbers
            Blocks may have unknown lengths. If the columns are split into blocks, the blocks are joined.
        y : Dask array or series, or an array
            A label for each row, in the same partitions as the rows. An array is partitioned to match.
        sample_weight : Dask array or series, or an array, optional
            The weight of each row, in the same form as ``y``. The step of an update is multiplied by the weight of its
            row. Rows of weight 0 are not used. By default all weights are 1.
        classes : array, optional
            All classes; needed only if the rows do not contain every class.
        on_pass, checkpoint, every, resume, seeds
            As for ``fit_shards``.
        """
        settings = classes, on_pass, checkpoint, every, resume, seeds
        return self._fit_loaders([part.delayed() for part in partitions(X, y, sample_weight)], *settings)

    def _engine(self) -> DaskEngine:
        return DaskEngine(find_client(self.client), self.timeout)

    def _join(self, loaders: Sequence[Loader]) -> Loader:
        if len(loaders) > 1 and hasattr(loaders[0], "__dask_graph__"):
            import dask

            return dask.delayed(join_shards)(list(loaders))
        return super()._join(loaders)

    def predict(self, X: MatrixLike) -> Any:
        """Return the predicted class of each row. For a Dask collection the result is a lazy collection."""
        if not is_collection(X):
            return super().predict(X)
        return map_collection(self.to_local(), "predict", X, self.classes_[:0])

    def decision_function(self, X: MatrixLike) -> Any:
        """Return the activation of each row; with more than two classes, the activation for each class.

        For a Dask collection the result is a lazy collection.
        """
        if not is_collection(X):
            return super().decision_function(X)
        shape = (0,) if self.state_.n_scores == 1 else (0, self.state_.n_scores)
        return map_collection(self.to_local(), "decision_function", X, np.empty(shape))

    def score(self, X: MatrixLike, y: VectorLike = None, sample_weight: VectorLike = None) -> float:
        """Return the accuracy: the fraction of rows that are predicted correctly, weighted by ``sample_weight``."""
        if not is_collection(X):
            return super().score(X, y, sample_weight)
        import dask

        model = self.to_local()
        of_table = rows_of_tables(model) is not None
        parts = [part.count_right(model) for part in partitions(X, y, sample_weight, of_table)]
        counted = dask.compute(*parts) if self.client is None else self.client.compute(parts, sync=True)
        right, total = np.sum([(part.right, part.total) for part in counted], axis=0)
        if not total > 0:
            raise ValueError("expected rows to score, got none, or only rows of weight 0.")
        if of_table:
            labels = all_classes([part.labels for part in counted])
            counts = np.zeros(len(labels), np.int64)
            for part in counted:
                counts[np.searchsorted(labels, part.labels)] += part.counts
            check_label_counts(model, labels, counts)
        return float(right / total)

    def __getstate__(self) -> dict[str, Any]:
        return state_without(self, "client")

    def __sklearn_clone__(self) -> Self:
        parameters = self.get_params(deep=False)
        return type(self)(**parameters)


class DaskPerceptron(DaskLearner, Perceptron):
    """`Perceptron` for rows on a Dask cluster: the same parameters and, in exact mode, the same weights bit for bit.

    Training stops under the same conditions as for `Perceptron`.

    Parameters
    ----------
    mode : "exact" or "mix"
        In "exact" mode, the default, the weights are passed from shard to shard. This gives the same model as
        ``fit_stream`` on one machine. In "mix" mode all shards are trained at once, starting from the same weights. The
        next round starts from the mean of the trained weights (iterative parameter mixing).
    n_shards : int
        The number of shards for ``mode="mix"``, by default 8. More shards reduce the accuracy. The number of workers
        does not affect the result.
    timeout : float
        The largest number of seconds to wait while the cluster has no worker, by default 60.
    client : distributed.Client, optional
        The client of the cluster; by default the client that was created last. It is not pickled with the model.

    The other parameters are those of `Perceptron`.

    See Also
    --------
    RayPerceptron : The same learner on a Ray cluster.
    DaskAveragedPerceptron : The learner for noisy data, which predicts with the averaged weights.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> X, y = np.array([[1.0, 1.0], [2.0, 0.0], [-1.0, 0.0], [0.0, -2.0]]), np.array(["yes", "yes", "no", "no"])
    >>> with Client(processes=False, dashboard_address="127.0.0.1:0") as client:
    ...     model = DaskPerceptron(client=client, random_state=0).fit(da.from_array(X, chunks=(2, 2)), y)
    >>> model.predict(X).tolist(), model.converged_
    (['yes', 'yes', 'no', 'no'], True)
    """

    __init__ = with_parameters(Perceptron, client=None)


class DaskAveragedPerceptron(DaskLearner, AveragedPerceptron):
    """`AveragedPerceptron` for rows on a Dask cluster: the same parameters and, in exact mode, the same weights.

    It has the parameters of `DaskPerceptron` except ``hypothesis``.

    See Also
    --------
    DaskPerceptron : The perceptron that predicts with the last weights by default, with an example.
    RayAveragedPerceptron : The same learner on a Ray cluster.
    """

    __init__ = with_parameters(AveragedPerceptron, client=None)


def find_client(client: Client | None) -> Client:
    """Return ``client``, or if it is None the client created last; raise a ClusterError if there is no client."""
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
                "there is no Dask client: create one first, for instance with distributed.Client(), or give client=."
            ) from None
    if not isinstance(client, distributed.Client):
        raise ParameterError("{client} must be a distributed.Client, got a {kind}.", kind=type(client).__name__)
    if client.asynchronous:
        raise ParameterError(
            "{client} must not be asynchronous: create it with distributed.Client(), and train in a thread."
        )
    return client
