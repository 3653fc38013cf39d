"""A sample of what ``make test-cluster`` does: workers and a driver are killed, and the bits are the same."""

import pytest

from cluster.trials import fill_memory, kill_driver, kill_workers, lose_shards, restart_scheduler

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("engine", "mode", "seed"), [("dask", "exact", 1), ("dask", "mix", 2), ("ray", "exact", 3)])
def test_a_killed_worker_changes_no_bit(engine, mode, seed):
    (record,) = kill_workers(engine, mode, 1, seed)
    assert record["same"]


@pytest.mark.parametrize(("engine", "mode"), [("dask", "exact"), ("ray", "mix")])
def test_a_shard_that_has_changed_when_it_is_loaded_again_is_an_error(engine, mode):
    (record,) = lose_shards(engine, mode, "changed", 1, 5)
    assert record["right"]


def test_a_killed_driver_goes_on_with_other_workers_and_the_same_bits():
    kill_driver("dask", "exact", seed=4)


def test_workers_whose_memory_is_full_change_no_bit_or_are_an_error():
    records = fill_memory("mix", 3, 2)
    assert len({record["kind"] for record in records}) == 3


def test_a_scheduler_that_restarts_changes_no_bit():
    restart_scheduler("mix", 1, 0)
