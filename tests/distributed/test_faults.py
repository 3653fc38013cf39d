"""Clusters without workers, a scheduler that goes away, errors in visits, and Ctrl-C: nothing hangs or is left."""

import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest

import distributed
from cluster.clusters import start_dask
from cluster.training import SHARDS, HereLearner, digest, quietly, rows_of
from helpers import faulty_shards as faults
from helpers.faulty_shards import BrokenLoader, faulty_shards, visits_of
from rosenblatt.distributed import DaskAveragedPerceptron
from rosenblatt.distributed import dask as dask_engine
from rosenblatt.distributed.dask import DaskEngine
from rosenblatt.distributed.engines import ClusterError, LocalEngine, WorkLost
from rosenblatt.distributed.shards import MAX_LOSSES, ShardSet

MODES = pytest.mark.parametrize("mode", ["exact", "mix"])
OPTIONS = {"max_iter": 4, "random_state": 0, "shuffle": False}


def start(workers):
    return start_dask(workers, processes=False)


@pytest.fixture(scope="module")
def two_workers():
    with start(2) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(autouse=True)
def _release_those_who_wait():
    faults.interrupted.clear()
    yield
    for event in faults.released.values():
        event.set()


def learner(client, mode="exact", **options):
    return DaskAveragedPerceptron(mode=mode, client=client, **OPTIONS, **options)


def expected(mode):
    with quietly():
        return digest(HereLearner(mode=mode, **OPTIONS).fit_shards([rows_of(k) for k in range(SHARDS)]))


def fit(model, shards, **options):
    with quietly():
        return model.fit_shards(shards, **options)


def released(folder):
    return faults.released[str(folder / "notes")]


def eventually(condition):
    until = time.monotonic() + 30
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


def has_nothing_of_ours(client):
    return eventually(lambda: not [key for key in client.cluster.scheduler.tasks if "rosenblatt" in str(key)])


# no workers, no scheduler


def test_a_cluster_without_workers_is_an_error_after_the_timeout():
    with start(0) as cluster, distributed.Client(cluster) as client:
        model = learner(client, timeout=0.5)
        with pytest.raises(ClusterError, match=r"^the cluster has had no worker for 0.5 seconds: start one, .*\.$"):
            fit(model, [rows_of(0), rows_of(1)])
        assert not hasattr(model, "state_")
        assert has_nothing_of_ours(client)


@MODES
def test_workers_that_come_late_are_waited_for(mode):
    with start(0) as cluster, distributed.Client(cluster) as client:
        threading.Timer(1.0, cluster.scale, [1]).start()
        assert digest(fit(learner(client, mode), [rows_of(k) for k in range(SHARDS)])) == expected(mode)


@MODES
def test_workers_that_leave_and_come_back_change_no_bit(tmp_path, mode):
    def replace_workers():
        assert eventually(lambda: visits_of(tmp_path / "notes") > 10)
        client.retire_workers(list(client.scheduler_info()["workers"]), close_workers=True)
        cluster.scale(0)
        cluster.scale(2)

    with start(2) as cluster, distributed.Client(cluster) as client:
        thread = threading.Thread(target=replace_workers)
        thread.start()
        model = fit(learner(client, mode), faulty_shards(tmp_path / "notes"))
        thread.join()
    assert digest(model) == expected(mode)


def test_a_cluster_that_is_closed_meanwhile_is_an_error(tmp_path):
    def close():
        assert eventually(lambda: visits_of(tmp_path / "notes", 3))
        threading.Timer(0.5, released(tmp_path).set).start()
        cluster.close()

    with start(2) as cluster, distributed.Client(cluster) as client:
        thread = threading.Thread(target=close)
        thread.start()
        with pytest.raises(ClusterError, match=r"^the scheduler of the Dask cluster can no longer be reached: .*\.$"):
            fit(learner(client), faulty_shards(tmp_path / "notes", at_3="hold"))
        thread.join()


@pytest.mark.slow
def test_a_scheduler_that_dies_is_an_error(tmp_path):
    words = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    file = tmp_path / "scheduler.json"
    scheduler = subprocess.Popen(
        [*words, "--no-dashboard", "--scheduler-file", str(file)], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        assert eventually(file.exists)
        with distributed.Client(scheduler_file=str(file), timeout=30) as client:
            client._timeout = 1  # how long it tries to find the scheduler again
            threading.Timer(1.0, scheduler.kill).start()
            with pytest.raises(ClusterError, match="the scheduler of the Dask cluster can no longer be reached"):
                fit(learner(client, timeout=20), [rows_of(0), rows_of(1)])
    finally:
        scheduler.kill()
        scheduler.wait()


# workers whose memory is nearly full


def pause(dask_worker):
    dask_worker.status = distributed.core.Status.paused


def fail_to_finish(monkeypatch, notes, paused):
    """Train on two workers, and pause some of them while one is at work; return the model, which was trained on."""
    monkeypatch.setattr(dask_engine, "_IDLE", 1.0)

    def pause_workers(client):
        assert eventually(lambda: visits_of(notes, 3))
        holder = next(worker for worker, keys in client.processing().items() if keys)
        others = [worker for worker in client.processing() if worker != holder]
        client.run(pause, workers=[holder, *others][:paused])
        faults.released[str(notes)].set()

    with start_dask(2, processes=False, memory_limit=0) as cluster, distributed.Client(cluster) as client:
        thread = threading.Thread(target=pause_workers, args=[client])
        thread.start()
        try:
            return fit(learner(client, timeout=1.0), faulty_shards(notes, at_3="hold"))
        finally:
            thread.join()


def test_workers_that_are_all_paused_are_an_error_after_the_timeout(monkeypatch, tmp_path):
    sentence = r"^all workers of the cluster have been paused for [1-9]\d* seconds, because their memory is .*\.$"
    with pytest.raises(ClusterError, match=sentence):
        fail_to_finish(monkeypatch, tmp_path / "notes", paused=2)


def test_what_a_paused_worker_does_not_begin_is_done_by_another(monkeypatch, tmp_path):
    assert digest(fail_to_finish(monkeypatch, tmp_path / "notes", paused=1)) == expected("exact")


# errors of users


@MODES
@pytest.mark.parametrize("error", [ValueError("no such column"), FileNotFoundError("rows.csv"), TimeoutError("slow")])
def test_an_error_of_a_loader_arrives_as_it_is_and_is_not_tried_again(two_workers, tmp_path, mode, error):
    shards = [*map(rows_of, range(3)), BrokenLoader(tmp_path / "notes", error)]
    with pytest.raises(type(error), match=f"^{error}$") as caught:
        fit(learner(two_workers, mode), shards)
    assert type(caught.value) is type(error)
    assert visits_of(tmp_path / "notes") == 1
    assert has_nothing_of_ours(two_workers)


@MODES
def test_an_error_of_a_visit_arrives_as_it_is_and_leaves_the_model_alone(two_workers, tmp_path, mode):
    model = fit(learner(two_workers, mode), [rows_of(k) for k in range(SHARDS)])
    before = digest(model)
    with pytest.raises(FileNotFoundError, match="gone") as caught:
        fit(model, faulty_shards(tmp_path / "notes", at_3="error", after=1))
    assert caught.value.filename == "rows.csv"
    assert visits_of(tmp_path / "notes", 3) == 2
    assert digest(model) == before
    assert has_nothing_of_ours(two_workers)


def test_an_error_is_not_held_up_by_visits_that_have_not_ended(two_workers, tmp_path):
    with pytest.raises(FileNotFoundError):
        fit(learner(two_workers, "mix"), faulty_shards(tmp_path / "notes", at_0="hold", at_1="error"))
    assert not released(tmp_path).is_set()


# nothing is left on the cluster


@MODES
def test_nothing_is_left_on_the_cluster_after_training(two_workers, mode):
    assert digest(fit(learner(two_workers, mode), [rows_of(k) for k in range(SHARDS)])) == expected(mode)
    assert has_nothing_of_ours(two_workers)


def test_rows_that_a_user_keeps_on_the_cluster_stay_there(two_workers):
    import dask.array as da

    X, y = rows_of(0)
    rows, labels = two_workers.persist([da.from_array(X, chunks=(20, -1)), da.from_array(y, chunks=20)])
    with quietly():
        learner(two_workers).fit(rows, labels)
    assert eventually(lambda: len(two_workers.who_has([rows, labels])) == 6)
    assert np.array_equal(rows.compute(), X)
    assert all(two_workers.who_has([rows, labels]).values())


# Ctrl-C


@MODES
def test_an_interrupt_in_the_first_pass_leaves_the_model_as_it_was(two_workers, tmp_path, mode):
    model = learner(two_workers, mode)
    with pytest.raises(KeyboardInterrupt):
        fit(model, faulty_shards(tmp_path / "notes", at_3="interrupt"), checkpoint=tmp_path / "checkpoint")
    assert not hasattr(model, "state_") or mode == "exact"  # which may have visited some shards
    released(tmp_path).set()
    assert has_nothing_of_ours(two_workers)


@MODES
def test_an_interrupted_run_keeps_what_it_learned_and_goes_on_from_its_checkpoint(two_workers, tmp_path, mode):
    model, checkpoint = learner(two_workers, mode), tmp_path / "checkpoint"
    after = {"exact": 4, "mix": 2}[mode]  # in exact mode two groups of classes visit each shard
    with pytest.raises(KeyboardInterrupt):
        fit(model, faulty_shards(tmp_path / "notes", at_3="interrupt", after=after), checkpoint=checkpoint)
    after_two = fit(HereLearner(mode=mode, **OPTIONS | {"max_iter": 2}), [rows_of(k) for k in range(SHARDS)])
    assert np.array_equal(model.coef_, after_two.coef_)
    released(tmp_path).set()
    assert has_nothing_of_ours(two_workers)
    again = fit(learner(two_workers, mode), faulty_shards(tmp_path / "again"), checkpoint=checkpoint, resume=True)
    assert digest(again) == expected(mode)


# checkpoints


class Crash(Exception):
    """What a run dies of."""


@MODES
def test_a_run_that_died_between_two_passes_ends_with_the_same_bits(tmp_path, mode):
    def crash(model):
        if model.n_iter_ == 2:
            raise Crash

    shards, checkpoint = [rows_of(k) for k in range(SHARDS)], tmp_path / "checkpoint"
    with pytest.raises(Crash):
        fit(HereLearner(mode=mode, **OPTIONS), shards, on_pass=crash, checkpoint=checkpoint, every=0)
    again = fit(HereLearner(mode=mode, **OPTIONS), shards, checkpoint=checkpoint, every=0, resume=True)
    assert digest(again) == expected(mode)


def test_checkpoints_of_an_exact_run_are_written_between_shards(tmp_path):
    checkpoint, notes, options = tmp_path / "checkpoint", tmp_path / "notes", {"every": 0}
    with pytest.raises(FileNotFoundError):
        fit(HereLearner(**OPTIONS), faulty_shards(notes, at_5="error", after=1), checkpoint=checkpoint, **options)
    again = fit(HereLearner(**OPTIONS), faulty_shards(notes), checkpoint=checkpoint, resume=True, **options)
    assert digest(again) == expected("exact")
    assert visits_of(notes, 2) == 4
    assert visits_of(notes, 5) == 5  # the visit that failed was made again


# work that is lost again and again


class Forgetful(LocalEngine):
    """An engine that loses the results of some fetches."""

    def __init__(self, losses):
        super().__init__()
        self.losses, self.recovered = losses, 0

    def fetch(self, handles, progress=None):
        if self.losses:
            self.losses -= 1
            raise WorkLost("a worker died")
        return super().fetch(handles, progress)

    def recover(self):
        self.recovered += 1


def test_work_that_is_lost_is_done_again():
    engine = Forgetful(MAX_LOSSES - 1)
    engine.load([faults.FaultyLoader(0, "unused")])
    assert ShardSet(engine).rows == 60
    assert engine.recovered == MAX_LOSSES - 1


def test_work_that_is_always_lost_is_an_error():
    engine = Forgetful(10**6)
    engine.load([faults.FaultyLoader(0, "unused")])
    with pytest.raises(ClusterError, match=r"lost 10 times in a row \(a worker died\): they may not fit into"):
        ShardSet(engine)


def test_calls_that_no_worker_ever_takes_are_lost(two_workers, monkeypatch):
    monkeypatch.setattr(dask_engine, "_IDLE", 0.5)
    call = two_workers.submit(sum, [1, 2], workers=["tcp://127.0.0.1:9"])
    with pytest.raises(WorkLost, match="all workers were idle"):
        DaskEngine(two_workers, 0.5).fetch([call])


def test_shards_that_were_cancelled_are_loaded_again(two_workers):
    engine = DaskEngine(two_workers, 30)
    engine.load([partial(faults.FaultyLoader(k, "unused")) for k in range(2)])
    before = ShardSet(engine).fingerprint
    two_workers.cancel(engine._shards[:1])
    assert ShardSet(engine).fingerprint == before
    engine.close()
    assert has_nothing_of_ours(two_workers)
