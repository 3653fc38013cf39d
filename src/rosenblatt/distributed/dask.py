"""Perceptrons on Dask: the parameters and the answers of the local ones, for rows that lie on a cluster."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from threading import Lock
from time import monotonic, sleep
from typing import Any, Self
from uuid import uuid4
from weakref import WeakSet

import numpy as np

from rosenblatt.distributed.engines import ClusterError, Handle, WorkLost
from rosenblatt.distributed.learners import ClusterLearner, with_parameters, without
from rosenblatt.distributed.shards import Shard, join_shards, make_shard, number_errors
from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron
from rosenblatt.messages import ParameterError, Setting, shorten

# Dask as an engine: shards are futures that hold rows, calls are tasks on them.


_SUBMITTING = Lock()
_POLL = 0.5
"""Seconds between two looks at the workers."""
_IDLE = 10.0
"""For how many seconds, at least, all workers may have nothing to do before calls that have not ended are lost."""


class DaskEngine:
    """A Dask cluster. Nothing is pinned to a worker: a task only says where its shard lies.

    Parameters
    ----------
    client : distributed.Client
    timeout : float
        The most seconds without any worker.
    """

    def __init__(self, client: Any, timeout: float) -> None:
        self.client, self.timeout = client, timeout
        self._loaders: list[Any] = []
        self._rows: list[Any] = []
        self._calls: WeakSet[Any] = WeakSet()
        self._places: dict[Any, Any] = {}
        self._run, self._made = uuid4().hex[:12], 0

    @property
    def shards(self) -> int:
        """How many shards are loaded."""
        return len(self._loaders)

    @property
    def workers(self) -> int:
        """How many workers there are, at least 1."""
        return max(1, len(self._at_work() or ()))

    def _at_work(self) -> dict[str, Any] | None:
        """Return what each worker has to do; None where the scheduler does not answer."""
        if self.client.status != "running":
            return None
        try:
            return self.client.processing()
        except Exception:
            return None

    def load(self, loaders: Sequence[Any]) -> None:
        """Have each shard loaded; a loader is a function, or a delayed shard of Dask's."""
        self._loaders = list(loaders)
        self._rows = [self._load(loader) for loader in loaders]

    def _load(self, loader: Any) -> Any:
        """Return a future of a shard; without a place to prefer, which would be waited for if it died."""
        self._check_client()
        with _large_arguments():
            if hasattr(loader, "__dask_graph__"):
                return self.client.compute(loader)
            return self.client.submit(loader, key=self._key("load"))

    def _key(self, what: str) -> str:
        self._made += 1
        return f"rosenblatt-{what}-{self._run}-{self._made}"

    def share(self, value: Any) -> Handle:
        """Return the future of a task that returns the value: other than scattered data, it can be had again."""
        self._check_client()
        with _large_arguments():
            future = self.client.submit(_itself, value, key=self._key("share"))
        self._calls.add(future)
        return future

    def call(self, function: Callable[..., Any], shard: int, *arguments: Any) -> Handle:
        """Have a function called where its shard lies, or elsewhere if that worker is gone."""
        self._check_client()
        rows = self._rows[shard]
        at = sorted(self._places.get(rows.key, ()))
        hint = {"workers": at, "allow_other_workers": True} if at else {}
        with _large_arguments():
            future = self.client.submit(function, rows, *arguments, key=self._key(function.__name__), **hint)
        self._calls.add(future)
        return future

    def fetch(self, handles: Sequence[Handle], progress: Callable[[int], None] | None = None) -> list[Any]:
        """Return the results in order."""
        self._check_client()
        gathering = asyncio.run_coroutine_threadsafe(
            self.client.gather(list(handles), asynchronous=True), self.client.loop.asyncio_loop
        )
        seen = busy = monotonic()
        while not wait([gathering], timeout=_POLL).done:
            ended = sum(future.done() for future in handles)
            if progress is not None:
                progress(ended)
            self._check_client()
            at_work, now = self._at_work(), monotonic()
            seen = now if at_work else seen
            # where all calls have ended, their results are on the way
            busy = now if ended == len(handles) or (at_work and any(at_work.values())) else busy
            if now - seen > self.timeout:
                raise self._no_scheduler() if at_work is None else self._no_worker()
            if now - busy > max(self.timeout, _IDLE):
                raise WorkLost("no worker had anything to do, and calls had not ended")
        try:
            found = gathering.result()
        except Exception as fault:
            raise self._meaning(fault, handles) from None
        self._places = self._find_shards()
        return found

    def ended(self, handles: Sequence[Handle]) -> list[bool]:
        """Return for each of these calls whether it has ended."""
        return [future.done() for future in handles]

    def _find_shards(self) -> dict[Any, Any]:
        """Return the workers of each shard: a hint, so none will do."""
        try:
            return self.client.who_has(self._rows)
        except Exception:
            return {}

    def _meaning(self, fault: Exception, handles: Sequence[Handle]) -> Exception:
        """Return the error of a call, as it was raised there; `WorkLost` for all that befalls workers."""
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
            "the scheduler of the Dask cluster cannot be reached any more: start it again, make a new Client, and "
            "train again (with a checkpoint, resume=True goes on from it)."
        )

    def _no_worker(self) -> ClusterError:
        return ClusterError(
            f"the cluster has had no worker for {self.timeout:g} seconds: start some, and train again (with a "
            "checkpoint, resume=True goes on from it)."
        )

    def recover(self) -> None:
        """Let go of all calls, and have shards loaded again whose futures have failed or were cancelled."""
        self._release(self._calls)
        until = monotonic() + self.timeout
        while self.client.status == "connecting" and monotonic() < until:
            sleep(_POLL)
        if self.client.status != "running":
            raise self._no_scheduler()
        self._places = {}
        gone = [place for place, future in enumerate(self._rows) if future.status in ("error", "cancelled", "lost")]
        self._release([self._rows[place] for place in gone])
        self.client.sync(asyncio.sleep, 0)  # what is released is forgotten before the same is asked for again
        for place in gone:
            self._rows[place] = self._load(self._loaders[place])

    def _release(self, futures: Any) -> None:
        """Have the scheduler forget results, also where a traceback still refers to them."""
        for future in list(futures):
            future.release()

    def fork(self) -> DaskEngine:
        """Return an engine with the same shards, whose calls are its own."""
        other = DaskEngine(self.client, self.timeout)
        other._loaders, other._rows, other._places = self._loaders, list(self._rows), self._places
        return other

    def close(self) -> None:
        """Let the shards and all calls go."""
        self._release([*self._rows, *self._calls])
        self._rows = []


def _itself(value: Any) -> Any:
    return value


@contextmanager
def _large_arguments() -> Iterator[None]:
    """Keep Dask from warning of large arguments: states travel as such on purpose. One thread at a time."""
    import dask

    with _SUBMITTING, dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        yield


# Dask arrays and data frames as partitions of rows, and as what predictions come back in.


def is_collection(X: Any) -> bool:
    """Return whether this is a collection of Dask's."""
    return hasattr(X, "__dask_graph__") and type(X).__name__ != "Delayed"


def _is_frame(X: Any) -> bool:
    """Return whether this is a data frame or a series of Dask's."""
    return hasattr(X, "map_partitions") and hasattr(X, "dtypes")


def _blocks(X: Any, what: str) -> list[Any]:
    """Return the partitions of a collection as delayed objects, one after the other."""
    if _is_frame(X):
        return list(X.to_delayed(optimize_graph=False))  # optimized, columns of one table may be cut in other ways
    if not hasattr(X, "chunks"):
        raise ValueError(f"expected {what} as a Dask array or data frame, got a {type(X).__name__} of Dask's.")
    if what == "X":
        if X.ndim != 2:
            raise ValueError(f"expected X with rows and columns, got a Dask array of shape {X.shape}.")
        if X.dtype.kind not in "biufO":
            raise ValueError(f"expected X with numbers, got a Dask array of {X.dtype}: make numbers of them first.")
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
    elif X.ndim == 2 and X.shape[1] == 1:
        X = X[:, 0]
    elif X.ndim != 1:
        raise ValueError(f"expected {what} with one number a row, got a Dask array of shape {X.shape}.")
    return list(X.to_delayed().ravel())


def partitions(X: Any, y: Any, sample_weight: Any = None) -> list[tuple[int, Any, Any, Any]]:
    """Return the number, the rows, the labels and the weights of each partition."""
    if not is_collection(X):
        raise TypeError(
            f"expected X as a Dask array or data frame, got a {type(X).__name__}: use the local learner for rows in "
            "memory, fit_files for files, or make one with dask.array.from_array."
        )
    if y is None:
        raise TypeError("training needs labels, got none: use fit(X, y).")
    if _is_frame(X):
        _check_columns(X)
    rows = _blocks(X, "X")
    labels = _like(X, rows, y, "y")
    weights = [None] * len(rows) if sample_weight is None else _like(X, rows, sample_weight, "sample_weight")
    return list(zip(range(len(rows)), rows, labels, weights, strict=True))


def _like(X: Any, rows: Sequence[Any], other: Any, what: str) -> list[Any]:
    """Return labels or weights cut as the rows are."""
    if is_collection(other):
        parts = _blocks(other, what)
        if len(parts) != len(rows):
            raise ValueError(
                f"expected {what} cut into the {len(rows)} partitions that X has, got {len(parts)}: rechunk or "
                "repartition one like the other."
            )
        return parts
    lengths = None if _is_frame(X) else X.chunks[0]
    if lengths is None or np.isnan(lengths).any():
        raise ValueError(
            f"expected {what} as a Dask collection, as the partitions of X do not know their lengths, got a "
            f"{type(other).__name__}: give a Dask array or series, or call X.compute_chunk_sizes() first."
        )
    values = np.asarray(other)
    if values.ndim == 0:
        raise ValueError(f"expected {what} as an array or a Dask collection, got {shorten(other)}.")
    if len(values) != sum(lengths):
        raise ValueError(f"expected {what} for each of the {sum(lengths):,} rows, got {len(values):,}.")
    return np.split(values, np.cumsum(lengths)[:-1])


def _check_columns(X: Any) -> None:
    """Raise a ValueError for columns that are no numbers, and for a series."""
    if X.ndim == 1:
        raise ValueError("expected X with rows and columns, got a Dask series: use X.to_frame().")
    wrong = [f"{name} ({kind})" for name, kind in X.dtypes.items() if getattr(kind, "kind", "O") not in "biuf"]
    if wrong:
        some = ", ".join(wrong[:5]) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "")
        raise ValueError(
            f"expected columns of numbers, got {some}: make numbers of them first, for instance with "
            "dask.dataframe.get_dummies after categorize(), leave them out, or train from the files with fit_files, "
            "which makes features of categories and words."
        )


class PairShard:
    """Makes a shard of a partition of rows and the partition of labels that goes with it."""

    def __init__(self, number: int, X: Any, y: Any, weight: Any) -> None:
        self.number, self.parts = number, (X, y, weight)

    def delayed(self) -> Any:
        """Return the shard as a delayed object."""
        import dask

        return dask.delayed(_make, pure=False)(self.number, *self.parts)

    def counted(self, model: Any) -> Any:
        """Return how many rows a model gets right, and how many there are, by weight, as a delayed object."""
        import dask

        return dask.delayed(_count, pure=False)(model, self.number, *self.parts)


def _make(number: int, X: Any, y: Any, weight: Any) -> Shard:
    with number_errors(f"partition {number}"):
        return make_shard(X, y, weight)


def _count(model: Any, number: int, X: Any, y: Any, weight: Any) -> tuple[float, float]:
    shard = _make(number, X, y, weight)
    if not len(shard.numbers):
        return 0.0, 0.0
    right = model.predict(X) == shard.classes[shard.numbers]
    weights = np.ones(len(right)) if shard.weight is None else shard.weight
    return float(weights @ right), float(weights.sum())


def lazily(model: Any, method: str, X: Any, meta: Any) -> Any:
    """Return what a method of a model answers for a collection, as a collection that is not computed yet."""
    if _is_frame(X):
        answer = _Answer(model, method, frame=True)
        one = np.zeros((1, *meta.shape[1:])) if method != "predict" else model.classes_[:1]
        meta = _frame_of(one, X._meta_nonempty.index[:1]).iloc[:0]  # pandas has types of its own for words
        return X.map_partitions(answer, meta=meta, enforce_metadata=False)
    if X.ndim != 2:
        raise ValueError(f"expected X with rows and columns, got a Dask array of shape {X.shape}.")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    answer = _Answer(model, method)
    if meta.ndim == 1:
        return X.map_blocks(answer, dtype=meta.dtype, drop_axis=1, meta=meta)
    return X.map_blocks(answer, dtype=meta.dtype, chunks=(X.chunks[0], (meta.shape[1],)), meta=meta)


def _frame_of(values: Any, index: Any) -> Any:
    import pandas

    return pandas.Series(values, index=index) if values.ndim == 1 else pandas.DataFrame(values, index=index)


class _Answer:
    """Calls a method of a model on a partition."""

    def __init__(self, model: Any, method: str, frame: bool = False) -> None:
        self.model, self.method, self.frame = model, method, frame

    def __call__(self, X: Any) -> Any:
        if not X.shape[0]:
            columns = len(self.model.classes_)
            several = self.method != "predict" and columns > 2
            kind = self.model.classes_.dtype if self.method == "predict" else np.float64
            found = np.empty((0, columns) if several else 0, kind)
        else:
            found = getattr(self.model, self.method)(X)
        return _frame_of(found, X.index) if self.frame else found


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
