"""Power cuts at every step of writing: the old file or the new one is there, whole; afterwards the new one."""

import os
import random
from pathlib import Path

import numba
import pytest
from numba import int64

from attack import power_loss
from attack.full_disk import WRITERS
from attack.power_loss import Recorder, find_fault
from rosenblatt import AveragedPerceptron
from rosenblatt.kernels.jit import KernelCache
from rosenblatt.storage.container import read_container, write_atomically
from rosenblatt.training.checkpoint import CheckpointWriter


@pytest.fixture
def path(tmp_path):
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk" / "file"


@pytest.mark.parametrize("there_before", [False, True])
@pytest.mark.parametrize("kind", WRITERS)
def test_the_old_file_or_the_new_one_is_there(kind, there_before, path):
    prepare, read = WRITERS[kind]
    if there_before:
        prepare(path.parents[1], 1)(path)
    write = prepare(path.parents[1], 2)
    with Recorder(path.parent) as recorder:
        write(path)
        recorder.returned()
    # rows can be parsed again, so nothing is promised but that what is there is whole
    assert find_fault(recorder, path.name, read, random.Random(0), samples=50, lasting=kind != "rows") is None
    read(path)


def test_checkpoints_over_several_passes(path, monkeypatch):
    write = CheckpointWriter.write
    rng = random.Random(0)
    rows = [[rng.randrange(-9, 10) for _ in range(150)] for _ in range(20)]
    blocks = [(rows[k : k + 10], [k % 2 for k in range(10)]) for k in (0, 10)]
    with Recorder(path.parent) as recorder:
        monkeypatch.setattr(CheckpointWriter, "write", lambda *args: (write(*args), recorder.returned()))
        AveragedPerceptron(max_iter=3, random_state=0).fit_stream(blocks, checkpoint=path, every=0)
    assert recorder.steps.count(("returned",)) == 3
    assert find_fault(recorder, path.name, read_container, rng) is None


def test_compiled_kernels(path, monkeypatch):
    """Half a file of machine code could be loaded and run: no checksum would stop it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(path.parent.parent))
    function = numba.njit(lambda number: number + 1)
    cache = KernelCache(function.py_func)
    compiled = function.compile((int64,)) and function.overloads[(int64,)]
    Path(cache.cache_path).mkdir(exist_ok=True)
    with Recorder(Path(cache.cache_path)) as recorder:
        cache.save_overload(compiled.signature, compiled)
        recorder.returned()
    names = os.listdir(cache.cache_path)
    assert len(names) == 2
    for name in names:
        assert find_fault(recorder, name, Path.read_bytes, random.Random(0), samples=50, lasting=False) is None


def in_place(path, data):
    path.write_bytes(data)


def without_synchronising(path, data):
    path.with_suffix(".tmp").write_bytes(data)
    os.replace(path.with_suffix(".tmp"), path)


def renamed_too_soon(path, data):
    with open(path.with_suffix(".tmp"), "wb", buffering=0) as file:
        file.write(data)
        os.replace(path.with_suffix(".tmp"), path)
        os.fsync(file.fileno())


def renamed_but_not_for_good(path, data):
    with open(path.with_suffix(".tmp"), "wb", buffering=0) as file:
        file.write(data)
        os.fsync(file.fileno())
    os.replace(path.with_suffix(".tmp"), path)


def deleted_first(path, data):
    path.unlink()
    write_atomically(path, [data])


def synchronised_before_the_end(path, data):
    with open(path.with_suffix(".tmp"), "wb", buffering=0) as file:
        file.write(data[:600])
        os.fsync(file.fileno())
        file.write(data[600:])
    os.replace(path.with_suffix(".tmp"), path)


UNSAFE = in_place, without_synchronising, renamed_too_soon, renamed_but_not_for_good, deleted_first


@pytest.mark.parametrize("write", [*UNSAFE, synchronised_before_the_end])
def test_a_writer_that_is_not_safe_is_found_out(write, path):
    path.write_bytes(b"old" * 400)
    with Recorder(path.parent) as recorder:
        write(path, b"new!" * 300)
        recorder.returned()
    assert find_fault(recorder, path.name, Path.read_bytes, random.Random(0)) is not None


def test_a_reader_that_fails_is_heard(path):
    path.write_bytes(b"old")
    with Recorder(path.parent) as recorder:
        write_atomically(path, [b"new"])
        recorder.returned()

    def read(path):
        assert path.read_bytes() == b"old"

    with pytest.raises(AssertionError):
        find_fault(recorder, path.name, read, random.Random(0))


def test_random_trials():
    for seed in range(20):
        assert power_loss.attack(random.Random(seed)) is None, seed
