"""Full disks, at every byte: the old file stays, nothing else is left, and the sentence says what to do."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba import int64

from attack import full_disk
from attack.full_disk import WRITERS, failing_call, find_fault, room_for
from helpers.commands import AND, command, written
from rosenblatt.kernels.jit import KernelCache

FULL = "Error: standard output could not be written, no space left on device: free some space or write elsewhere.\n"
needs_a_full_device = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")


@pytest.fixture
def path(tmp_path):
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk" / "file"


def old_and_new(kind, path, there_before):
    """Return a writer and the size of its file, in whose place there is another file or none."""
    prepare, _ = WRITERS[kind]
    write = prepare(path.parents[1], 2)
    write(path)
    size = path.stat().st_size
    path.unlink()
    if there_before:
        prepare(path.parents[1], 1)(path)
    return write, size


@pytest.mark.slow
@pytest.mark.parametrize("there_before", [False, True])
@pytest.mark.parametrize("kind", WRITERS)
def test_a_disk_that_is_full_after_so_many_bytes(kind, there_before, path):
    write, size = old_and_new(kind, path, there_before)
    every = there_before and kind in ("model", "certificate", "JSON")  # the others are not made so quickly
    for room in range(size) if every else {0, 1, size - 1, *random.Random(0).sample(range(size), 40)}:
        assert find_fault(kind, write, path, room_for(room)) is None, room
        assert path.exists() == there_before
    assert find_fault(kind, write, path, room_for(size)) is None
    assert path.stat().st_size == size


@pytest.mark.parametrize("there_before", [False, True])
@pytest.mark.parametrize("kind", WRITERS)
def test_a_call_that_finds_the_disk_full(kind, there_before, path):
    write, _ = old_and_new(kind, path, there_before)
    old = path.read_bytes() if there_before else None
    for number in range(12):
        assert find_fault(kind, write, path, failing_call(number)) is None, number
        path.unlink(missing_ok=True)
        if old is not None:
            path.write_bytes(old)


def test_compiled_kernels_that_cannot_be_kept(path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(path.parent))
    function = numba.njit(lambda number: number + 1)
    cache = KernelCache(function.py_func)
    compiled = function.compile((int64,)) and function.overloads[(int64,)]
    folder = Path(cache.cache_path)

    def save(room):
        monkeypatch.setattr(KernelCache, "has_warned", False)
        with room_for(room):
            cache.save_overload(compiled.signature, compiled)
        return {file.name: file.read_bytes() for file in folder.iterdir()}

    whole = save(10**9)
    sizes = sorted(map(len, whole.values()))
    for room in {0, 1, *(size - 1 for size in sizes), *random.Random(0).sample(range(sizes[1]), 100)}:
        with pytest.warns(RuntimeWarning, match="could not be written .*: (make room|free disk space) there"):
            assert save(room) == whole, room
    for damaged in (b"", b"\0" * 100):  # of a power cut, say
        next(folder.glob("*.nbi")).write_bytes(damaged)
        with pytest.warns(RuntimeWarning, match="could not be written"):
            assert len(save(0)) == 2
    assert numba.njit(function.py_func)(1) == 2


def test_the_picture_of_the_demo(tmp_path, monkeypatch):
    (tmp_path / "demo.png").write_bytes(b"old")
    with room_for(5000):
        result = command("demo", "--out", tmp_path)
    assert result.exit_code == 2
    assert f"{tmp_path / 'demo.png'}: could not save" in result.stderr
    assert (tmp_path / "demo.png").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["demo.png"]
    assert command("demo", "--out", tmp_path).exit_code == 0


@pytest.fixture
def model(tmp_path):
    table = written(tmp_path, "and.csv", AND)
    assert command("train", table, "-t", "label", "-o", tmp_path / "m").exit_code == 0
    written(tmp_path, "big.csv", "a,b\n" + "0,1\n" * 50_000)
    return tmp_path / "m"


def run(*words, redirected, unbuffered=False, input=None):
    """Run the command in a shell, its output redirected somehow; return its status and what it said."""
    line = f'set -o pipefail; "$0" -m rosenblatt.cli.main "$@" {redirected}'
    child = subprocess.run(
        ["bash", "-c", line, sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        input=input,
        env=os.environ | {"PYTHONUNBUFFERED": "1" if unbuffered else ""},
        check=False,
    )
    return child.returncode, child.stderr


@needs_a_full_device
@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize("table", ["and.csv", "big.csv"])
def test_a_standard_output_that_is_full_or_gone(model, tmp_path, table, unbuffered):
    words = ["predict", model, tmp_path / table]
    status, said = run(*words, redirected=">/dev/full", unbuffered=unbuffered)
    assert status == 2
    assert said == FULL
    assert run(*words, redirected="| true", unbuffered=unbuffered) in ((1, ""), (0, ""))
    assert run(*words, redirected=">&-", unbuffered=unbuffered) == (0, "")


@needs_a_full_device
@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [["train", "and.csv", "-t", "label"], ["test", "m", "and.csv"], ["--help"], ["--version"]]
)
def test_other_answers_that_cannot_be_written(model, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    status, said = run(*words, redirected=">/dev/full")
    assert status == 2
    assert said == FULL
    assert run(*words, redirected="| true") in ((1, ""), (0, ""))
    assert run(*words, redirected=">&-") == (0, "")
    assert run(*words, redirected="2>&- >/dev/full")[0] == 2
    assert run(*words, redirected="2>&-")[0] == 0


@needs_a_full_device
@pytest.mark.slow
def test_what_was_watched_is_kept_when_the_reader_goes(model, tmp_path):
    rows = "a,b,label\n" + "0,1,no\n1,1,yes\n" * 50
    for redirected, status in (("| true", 0), (">/dev/full", 2)):
        out = tmp_path / "watched"
        found, said = run("watch", "-t", "label", "--every", "5", "-o", out, redirected=redirected, input=rows)
        assert found == status
        assert "Traceback" not in said
        assert out.exists()
        out.unlink()


def test_predictions_that_end_early_leave_the_old_ones(model, tmp_path):
    out = written(tmp_path, "out", "old")
    bad = written(tmp_path, "bad.csv", "a,b\n" + "0,1\n" * 20_000 + "0,1,2,3\n")
    result = command("predict", model, bad, "-o", out)
    assert result.exit_code == 2
    assert "bad.csv" in result.stderr
    assert out.read_text() == "old"


def test_random_trials():
    for seed in range(20):
        assert full_disk.attack(random.Random(seed)) is None, seed
