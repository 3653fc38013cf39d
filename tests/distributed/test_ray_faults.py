"""Errors in loaders and visits, and work that is lost, on Ray."""

import pytest

from cluster.clusters import cluster
from cluster.training import SHARDS, HereLearner, digest, quietly, rows_of
from helpers.faulty_shards import BrokenLoader, faulty_shards, visits_of
from rosenblatt.distributed import RayAveragedPerceptron
from rosenblatt.distributed import ray as ray_engine
from rosenblatt.distributed.engines import ClusterError, WorkLost
from rosenblatt.distributed.ray import RayEngine

pytestmark = pytest.mark.slow
MODES = pytest.mark.parametrize("mode", ["exact", "mix"])
OPTIONS = {"max_iter": 3, "random_state": 0, "shuffle": False}


@pytest.fixture(scope="module", autouse=True)
def _two_processors():
    with cluster("ray", 2):
        yield


def fit(mode, shards, **options):
    with quietly():
        return RayAveragedPerceptron(mode=mode, **OPTIONS).fit_shards(shards, **options)


@MODES
@pytest.mark.parametrize("error", [ValueError("no such column"), FileNotFoundError("rows.csv")])
def test_an_error_of_a_loader_arrives_as_it_is_and_is_not_tried_again(tmp_path, mode, error):
    with pytest.raises(type(error), match=f"^{error}$") as caught:
        fit(mode, [*map(rows_of, range(3)), BrokenLoader(tmp_path / "notes", error)])
    assert type(caught.value) is type(error)
    assert visits_of(tmp_path / "notes") == 1


@MODES
def test_an_error_after_some_passes_can_be_gone_on_from(tmp_path, mode):
    checkpoint, notes = tmp_path / "checkpoint", tmp_path / "notes"
    with pytest.raises(FileNotFoundError, match="gone"):
        fit(mode, faulty_shards(notes, at_5="error", after=2), checkpoint=checkpoint, every=0)
    again = fit(mode, faulty_shards(tmp_path / "again"), checkpoint=checkpoint, every=0, resume=True)
    with quietly():
        whole = HereLearner(mode=mode, **OPTIONS).fit_shards([rows_of(k) for k in range(SHARDS)])
    assert digest(again) == digest(whole)
    assert visits_of(tmp_path / "again", 7) < visits_of(tmp_path / "again", 6) + 2


def _die(rows, *more):
    import os
    import signal

    os.kill(os.getpid(), signal.SIGKILL)


def test_work_that_kills_its_worker_is_lost_and_not_an_error_of_the_user(monkeypatch):
    monkeypatch.setattr(ray_engine, "_RETRIES", 0)
    engine = RayEngine(60)
    engine.load([faulty_shards("unused")[0]])
    with pytest.raises(WorkLost, match="WorkerCrashedError"):
        engine.fetch([engine.call(len_of, 0, engine.call(_die, 0))])
    engine.recover()
    assert engine.fetch([engine.call(len_of, 0)]) == [60]
    engine.close()


def len_of(rows, *more):
    return len(rows.numbers)


def _missing():
    raise ImportError("expected")


class Unknown:
    """What workers cannot make again of its bytes."""

    def __reduce__(self):
        return _missing, ()


def test_what_workers_cannot_import_is_an_error_and_not_tried_again():
    engine = RayEngine(60)
    engine.load([faulty_shards("unused")[0]])
    with pytest.raises(ClusterError, match=r"^a worker could not load its task \(.*expected.*\): "):
        engine.fetch([engine.call(len_of, 0, Unknown())])
    engine.close()


def test_a_cluster_that_was_shut_down_is_an_error(monkeypatch):
    engine = RayEngine(60)
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    with pytest.raises(ClusterError, match=r"^the Ray cluster is gone: start it again with ray.init\(\), .*\.$"):
        engine.load([faulty_shards("unused")[0]])
    engine.close()
