"""The log: whole frames come back whatever was torn behind them, and damage before acknowledged rows is an error."""

import errno
import os
import random
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.storage.log import Log, find_frames, read_log

CONTENTS = [b"first", b"", b"third, which is longer"]


def write(path, contents=CONTENTS):
    with Log.create(path) as log:
        for content in contents:
            log.append(content)
    return path.read_bytes()


def ends(path):
    """Return where the header and each frame end."""
    found = find_frames(path)
    return [found.contents[0][0] - 20, *(start + length for start, length in found.contents)]


def test_every_length_of_a_torn_log_gives_the_frames_that_are_whole(tmp_path):
    path = tmp_path / "log"
    whole = write(path)
    places = ends(path)
    assert places[-1] == len(whole)
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        n = sum(end <= length for end in places[1:])
        assert list(read_log(path)) == CONTENTS[:n]
        with Log.open(path) as log:
            log.append(b"next")
        assert list(read_log(path)) == [*CONTENTS[:n], b"next"]


@pytest.mark.parametrize("filler", [b"\0", b"\xff", b"log "])
def test_a_torn_tail_of_other_bytes_is_cut_off(tmp_path, filler):
    path = tmp_path / "log"
    whole = write(path)
    for start in range(ends(path)[-2], len(whole)):  # the system had made the file longer, but not written all of it
        path.write_bytes(whole[:start] + (filler * len(whole))[: len(whole) - start])
        if path.read_bytes() != whole:
            assert list(read_log(path)) == CONTENTS[:-1]
            Log.open(path).close()
            assert path.read_bytes() == whole[: ends(path)[-1]]


def test_a_flipped_bit_before_acknowledged_rows_is_an_error_and_never_other_rows(tmp_path):
    path = tmp_path / "log"
    whole = write(path)
    last = ends(path)[-2]
    for place in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        if place // 8 >= last:
            assert list(read_log(path)) == CONTENTS[:-1]
        else:
            with pytest.raises(ValueError, match=r"damaged at byte|of another version"):
                list(read_log(path))
            with pytest.raises(ValueError, match=r"restore it from a copy|version of rosenblatt"):
                Log.open(path)
            assert path.read_bytes() == bytes(damaged)


@given(st.lists(st.binary(max_size=60), max_size=8), st.randoms(use_true_random=False))
def test_any_contents_come_back_and_removed_or_doubled_frames_are_noticed(tmp_path_factory, contents, rng):
    path = tmp_path_factory.mktemp("log") / "log"
    whole = write(path, contents)
    assert list(read_log(path)) == contents
    if len(contents) > 1:
        places = ends(path)
        start, stop = sorted(rng.sample(range(places[0], places[-2] + 1), 2))
        path.write_bytes(whole[:start] + bytes(stop - start) + whole[stop:])  # a hole, as a lost block of the disk
        if path.read_bytes() != whole:
            with pytest.raises(ValueError, match="damaged"):
                list(read_log(path))


@pytest.mark.parametrize("name", ["write", "fsync"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_failed_write_leaves_the_log_as_it_was(tmp_path, name, code):
    path = tmp_path / "log"
    real = getattr(os, name)
    with Log.create(path) as log:
        log.append(b"one")
        before = path.read_bytes()

        def failing(file, *arguments):
            if name == "write":
                real(file, bytes(arguments[0])[:5])
            raise OSError(code, "no")

        with mock.patch.object(os, name, failing), pytest.raises(OSError, match="no"):
            log.append(b"two")
        if name == "write":
            assert path.read_bytes() == before
            log.append(b"three")
            assert list(read_log(path)) == [b"one", b"three"]
        else:  # what cannot be flushed may be undone in vain
            assert not log.is_usable
            with pytest.raises(OSError, match="could not be written before"):
                log.append(b"three")
    assert next(read_log(path)) == b"one"


def test_marks_of_frames_differ_from_log_to_log(tmp_path):
    one, other = write(tmp_path / "one"), write(tmp_path / "other")
    (tmp_path / "one").write_bytes(one + other[ends(tmp_path / "other")[0] :])  # frames of another log are not ours
    assert list(read_log(tmp_path / "one")) == CONTENTS


def test_random_damage_in_the_middle_is_never_cut_off(tmp_path):
    path = tmp_path / "log"
    whole = write(path, [bytes(random.Random(0).randrange(256) for _ in range(300)) for _ in range(20)])
    last, rng = ends(path)[-2], random.Random(1)
    for _ in range(200):
        start = rng.randrange(28, last)
        length = min(rng.randrange(1, 400), last - start)
        path.write_bytes(whole[:start] + rng.randbytes(length) + whole[start + length :])
        with pytest.raises(ValueError, match="damaged"):
            list(read_log(path))
