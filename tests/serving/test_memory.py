"""What the server remembers: the newest ids and waiting rows, also after a snapshot, within the limits."""

import numpy as np

from rosenblatt.serving.limits import Limits
from rosenblatt.serving.memory import Memory
from rosenblatt.training.groups import Group, LabelledRows, from_bytes, joined, to_bytes


def group(*ids):
    one = np.ones(len(ids), np.int32)
    return Group(LabelledRows(0 * one, 1.0 * one, one, np.array(["a"] * len(ids)), None, 1), list(ids), [], [])


def test_the_newest_ids_are_remembered_and_old_ones_go():
    memory = Memory(Limits(ids=20))
    for number in range(1, 101):
        memory.add(group(str(number)))
        for back in range(10):
            assert number - back < 1 or memory.number(str(number - back)) == number - back
    assert memory.number("50") is None
    again = Memory(Limits(ids=20))
    again.restore(*memory.snapshot())
    assert (again.rows, again.number("95"), again.number("50")) == (100, 95, None)


def test_waiting_rows_are_limited_by_number_and_bytes():
    memory = Memory(Limits(waiting=3, waiting_bytes=10))
    for name in "abcd":
        memory.remember(name, b"12")
    assert [memory.line(name) for name in "abcd"] == [None, b"12", b"12", b"12"]
    memory.remember("e", b"1234567")
    assert [memory.line(name) for name in "cde"] == [None, b"12", b"1234567"]
    memory.add(group("d"))
    assert memory.line("d") is None
    assert memory.take_unlogged() == [("e", "1234567")]
    again = Memory(Limits())
    again.restore(*memory.snapshot())
    assert again.line("e") == b"1234567"
    assert not again.has_unlogged


def test_many_small_groups_are_learned_together():
    groups = [group(str(number)) for number in range(25)]
    parts = list(joined(iter(groups), most_rows=10))
    assert [sum(map(len, part)) for part in parts] == [10, 10, 5]
    assert from_bytes(to_bytes(groups[3])).ids == ["3"]
