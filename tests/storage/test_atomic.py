"""Files are replaced as a whole or not at all, with other writers at work and on a full disk."""

import errno
import os
import resource
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from rosenblatt.storage import container as atomic
from rosenblatt.storage.container import Replacement, read_container, write_atomically, write_container


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.safetensors"


def full_after(limit):
    written = 0
    write = os.write

    def stingy(file, data):
        nonlocal written
        if written + len(data) > limit:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written += len(data)
        return write(file, data)

    return stingy


@pytest.mark.parametrize("limit", [0, 10, 1000])
def test_a_full_disk_leaves_the_old_file(path, monkeypatch, limit):
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "write", full_after(limit))
    with pytest.raises(OSError, match=r"could not save, no space left on device \(the old file is unchanged") as fault:
        write_container(path, {}, {"w": np.zeros(1000)})
    assert fault.value.errno == errno.ENOSPC
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("fault", [OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)), KeyboardInterrupt()])
@pytest.mark.parametrize("old", [None, b"old"])
def test_a_disk_that_is_found_full_at_the_end_or_an_interrupt_leaves_the_old_file(path, monkeypatch, fault, old):
    def fail(file):
        raise fault

    if old is not None:
        path.write_bytes(old)
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(type(fault)) as caught:
        write_container(path, {}, {})
    if fault.args:
        assert ("nothing was written" if old is None else "the old file is unchanged") in str(caught.value)
    assert os.listdir(path.parent) == [path.name] * (old is not None)
    assert old is None or path.read_bytes() == old


def test_a_limit_of_the_system_leaves_the_old_file(path):
    write_container(path, {}, {"w": np.ones(10)})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
    try:
        with pytest.raises(OSError, match="the old file is unchanged"):
            write_container(path, {}, {"w": np.zeros(100_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert read_container(path)[1]["w"].tolist() == [1.0] * 10
    assert os.listdir(path.parent) == [path.name]


def test_only_what_a_killed_process_left_is_deleted(path):
    old, other = (path.parent / f".{path.name}.{end}" for end in ("0" * 16 + ".tmp", "tmp"))
    for file in (old, other):
        file.write_bytes(b"half of a mod")
    at_work = Replacement(str(path))
    assert not old.exists()
    write_container(path, {"a": 1}, {})
    assert len(list(path.parent.iterdir())) == 3, "one of them is being written"
    os.write(at_work.descriptor, b"new")
    at_work.keep()
    assert path.read_bytes() == b"new"
    assert set(path.parent.iterdir()) == {path, other}


def test_where_files_cannot_be_locked_only_old_ones_are_deleted(path, monkeypatch):
    monkeypatch.setattr(atomic, "_lock", lambda file: None)
    old, young = (path.parent / f".{path.name}.{digit * 16}.tmp" for digit in "0f")
    for file in (old, young):
        file.write_bytes(b"half of a mod")
    os.utime(old, (time.time() - 4000,) * 2)
    write_container(path, {}, {})
    assert set(path.parent.iterdir()) == {path, young}


def test_a_file_that_another_process_takes_for_abandoned_is_made_again(path, monkeypatch):
    lock, taken = atomic._lock, []

    def late(file):
        if len(taken) < 2:
            (left,) = path.parent.iterdir()
            left.unlink()
            taken.append(left)
            return len(taken) == 1 and None
        return lock(file)

    monkeypatch.setattr(atomic, "_lock", late)
    write_atomically(path, [b"new"])
    assert path.read_bytes() == b"new"
    assert len(taken) == 2


_WRITES_FOR_EVER = """
import sys
from rosenblatt.storage.container import Replacement, write_atomically
def parts():
    yield b"half of a mod"
    print("writing", flush=True)
    sys.stdin.read()
write_atomically(sys.argv[1], parts())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_what_kill_9_leaves_is_deleted_by_the_next_that_writes(path):
    child = [sys.executable, "-c", _WRITES_FOR_EVER, path]
    both = [subprocess.Popen(child, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    for process in both:
        assert process.stdout.readline() == b"writing\n"
    both[0].kill()
    both[0].communicate()
    assert len(list(path.parent.iterdir())) == 2
    write_atomically(path, [b"new"])
    assert len(list(path.parent.iterdir())) == 2, "the file, and that of the process at work"
    both[1].communicate(b"")
    assert both[1].returncode == 0
    assert path.read_bytes() == b"half of a mod"
    assert list(path.parent.iterdir()) == [path]


def test_the_longest_names_can_be_written(tmp_path):
    names = ["a" * 255, "é" * 127, "a" + "世" * 84, "x" * 99 + "é" * 78, "[*]" * 85, "." + "b" * 254]
    for name in names:
        for turn in range(2):
            write_container(tmp_path / name, {"turn": turn}, {})
            assert read_container(tmp_path / name)[0] == {"turn": turn}
    assert sorted(os.listdir(tmp_path)) == sorted(names)


def test_many_at_once_leave_one_whole_file(path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)
    faults = []

    def work(number):
        try:
            for turn in range(40):
                write_container(path, {"who": number, "turn": turn}, {"w": np.full(2000, number)})
                header, arrays = read_container(path)
                assert (arrays["w"] == header["who"]).all()
        except BaseException as fault:
            faults.append(fault)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert faults == []
    assert os.listdir(path.parent) == [path.name]


def test_links_and_permissions_stay(path):
    write_container(path, {}, {})
    assert stat.S_IMODE(path.stat().st_mode) & 0o400
    path.chmod(0o640)
    link = path.parent / "link"
    link.symlink_to(path.name)
    write_container(link, {"a": 2}, {})
    assert link.is_symlink()
    assert read_container(path)[0] == {"a": 2}
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_trap_in_place_of_the_temporary_file_is_not_followed(path, monkeypatch):
    monkeypatch.setattr(atomic.secrets, "token_hex", lambda size: "ab" * size)
    victim, trap = path.parent / "victim", path.parent / f".{path.name}.{'ab' * 8}.tmp"
    victim.write_bytes(b"precious")
    trap.symlink_to(victim)
    with pytest.raises(OSError, match="could not save"):
        write_atomically(path, [b"new"])
    assert victim.read_bytes() == b"precious"
    assert trap.is_symlink()
    assert not path.exists()


def test_a_disk_that_cannot_flush_the_name_says_so(path, monkeypatch):
    fsync = os.fsync

    def worn(file):
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        fsync(file)

    monkeypatch.setattr(os, "fsync", worn)
    with pytest.raises(OSError, match=r"input/output error \(the new file is there, but might not outlast a power cut"):
        write_atomically(path, [b"new"])
    assert path.read_bytes() == b"new"
