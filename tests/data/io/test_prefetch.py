"""Work ahead: its order, its bounds, and how it ends."""

import os
import subprocess
import sys
import threading
import time

import pytest

from rosenblatt.data.io.prefetch import ordered_map


def test_work_ahead_keeps_order_and_bounds():
    taken = []

    def items():
        for k in range(50):
            taken.append(k)
            yield k

    results = []
    for result in ordered_map(items(), lambda k: time.sleep(0.001 * (k % 3)) or k, threads=3):
        assert len(taken) <= len(results) + 1 + 3 + 2 + 3
        results.append(result)
    assert results == list(range(50))


def test_work_ahead_keeps_order_when_threads_change_places_often():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        assert list(ordered_map((k for k in range(3000)), lambda k: k, threads=4)) == list(range(3000))
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_errors_and_early_ends_stop_the_threads(threads):
    closed = []

    def items(limit):
        try:
            yield from range(limit)
            raise OSError("the disk is gone")
        finally:
            closed.append(limit)

    def work(k):
        if k == 7:
            raise ValueError("seven")
        return k

    before = threading.active_count()
    results = []
    with pytest.raises(ValueError, match="seven"):
        results.extend(ordered_map(items(100), work, threads))
    with pytest.raises(OSError, match="gone"):
        list(ordered_map(items(3), work, threads))
    early = ordered_map(items(50), work, threads)
    assert next(early) == 0
    early.close()
    assert sorted(closed) == [3, 50, 100]
    assert threading.active_count() == before


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_an_interrupt_ends_a_program_that_waits_for_input():
    code = (
        "import sys\nfrom rosenblatt import data\n"
        "try:\n    for block in data.open('-', format='svmlight'):\n        print(len(block), flush=True)\n"
        "except KeyboardInterrupt:\n    print('stopped', flush=True)\n"
    )
    program = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    program.stdin.write(b"1 1:2\n-1 2:3\n")
    program.stdin.flush()
    assert program.stdout.readline() == b"2\n"
    program.send_signal(2)
    try:
        assert program.stdout.readline() == b"stopped\n"
        assert program.wait(timeout=20) == 0
    finally:
        program.kill()
        program.communicate()
