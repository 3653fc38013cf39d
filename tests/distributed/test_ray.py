"""Perceptrons on Ray: shards and files give what one machine gives; without a cluster, none is started."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.clusters import (
    ProcessAveragedPerceptron,
    ProcessPerceptron,
    assert_same_bits,
    cut,
    filled,
    integer_rows,
    quietly,
)
from rosenblatt import AveragedPerceptron, Perceptron, data

ray = pytest.importorskip("ray")

from rosenblatt.distributed import RayAveragedPerceptron, RayPerceptron  # noqa: E402

SLOW = pytest.mark.slow  # Ray takes seconds to start: one case of one test is the witness of `make test`


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def shards_of(classes, form=np.asarray):
    """Return shards of rows, one of them empty."""
    X, y = integer_rows(60, 4, classes, noise=2)
    return cut([20, 20, 53], form(X), y)


@pytest.mark.parametrize("form", [pytest.param(np.asarray, marks=SLOW), sp.csr_array], ids=["numpy", "csr"])
@pytest.mark.parametrize("classes", [2, pytest.param(4, marks=SLOW)])
def test_exact_training_gives_the_bits_of_one_machine(classes, form):
    shards = shards_of(classes, form)
    given = {"random_state": 0, "max_iter": 4}
    model = quietly(RayPerceptron(**given).fit_shards, shards)
    assert_same_bits(model, quietly(Perceptron(**given).fit_stream, filled(shards)))


@SLOW
def test_averages_in_given_order():
    shards, given = shards_of(4), {"random_state": 0, "max_iter": 3, "shuffle": False}
    model = quietly(RayAveragedPerceptron(**given).fit_shards, shards)
    assert_same_bits(model, quietly(AveragedPerceptron(**given).fit_stream, filled(shards)))


@SLOW
@pytest.mark.parametrize("classes", [2, 4])
def test_mixing_gives_the_bits_of_one_process(classes):
    given = {"random_state": 0, "max_iter": 4, "mode": "mix", "n_shards": 3}
    for theirs, ours in ((RayPerceptron, ProcessPerceptron), (RayAveragedPerceptron, ProcessAveragedPerceptron)):
        mixed = quietly(theirs(**given).fit_shards, shards_of(classes))
        assert_same_bits(mixed, quietly(ours(**given).fit_shards, shards_of(classes)))


@SLOW
def test_functions_are_called_on_the_cluster():
    parts, given = shards_of(2), {"random_state": 0, "max_iter": 4}
    made = quietly(RayPerceptron(**given).fit_shards, [lambda part=part: part for part in parts])
    assert_same_bits(made, quietly(RayPerceptron(**given).fit_shards, parts))


@SLOW
def test_files(tmp_path):
    for number, (X, y) in enumerate(shards_of(3)):
        lines = [",".join(map(str, [*row, f"class {label}"])) for row, label in zip(X, y, strict=True)]
        (tmp_path / f"part-{number}.csv").write_text("\n".join(["a,b,c,d,label", *lines]) + "\n")
    path, given = tmp_path / "part-*.csv", {"random_state": 0, "max_iter": 4}
    model = quietly(RayPerceptron(**given).fit_files, path, target="label")
    local = quietly(Perceptron(**given).fit_stream, data.open(path, target="label"))
    assert_same_bits(model, local)
    assert model.preparation_ == local.preparation_


@SLOW
def test_a_checkpoint_of_one_cluster_is_gone_on_from_on_another(tmp_path):
    shards, given = shards_of(4), {"random_state": 0, "max_iter": 5}
    whole = quietly(RayPerceptron(**given).fit_shards, shards)
    path = tmp_path / "run"
    quietly(ProcessPerceptron(**given).fit_shards, shards, checkpoint=path, every=0, on_pass=two_passes)
    assert_same_bits(quietly(RayPerceptron(**given).fit_shards, shards, checkpoint=path, resume=True), whole)


def two_passes(model):
    """Return whether two passes have been made."""
    return model.n_iter_ == 2


@SLOW
def test_what_is_wrong_with_rows_is_said_in_a_sentence():
    X, y = integer_rows(20, 2, 2)
    with pytest.raises(TypeError, match="on Ray, rows are given as shards or as files"):
        RayPerceptron().fit(X, y)
    with pytest.raises(ValueError, match="expected a label for each of the 20 rows, got 19 labels"):
        RayPerceptron().fit_shards([(X, y[1:])])
    with pytest.raises(ValueError, match="expected rows to train on, got only empty shards"):
        RayPerceptron().fit_shards([(X[:0], y[:0])])
    with pytest.raises(ValueError, match="shard 1: there are missing or infinite numbers"):
        RayPerceptron().fit_shards([(X, y), (np.full((20, 2), np.nan), y)])


ALONE = """
import psutil, ray
from rosenblatt.distributed import RayAveragedPerceptron
from rosenblatt.distributed.engines import ClusterError
for address in (None, "local"):
    try:
        RayAveragedPerceptron(address=address).fit_shards([([[1.0], [-1.0]], [0, 1])])
    except ClusterError as error:
        print(error)
    assert not ray.is_initialized()
assert not psutil.Process().children(recursive=True)
"""


@SLOW
def test_no_cluster_is_started():
    ran = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    expected = "there is no Ray cluster: start one first with ray.init(), or give address=."
    assert ran.stdout.splitlines() == [expected] * 2
