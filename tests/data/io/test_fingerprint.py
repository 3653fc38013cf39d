"""What tells the rows of files from others: sizes, contents and how rows are made; neither names nor times."""

import os

import numpy as np
import pytest

from rosenblatt import data
from rosenblatt.data.io import identity as fingerprints
from rosenblatt.data.io.identity import PART, PARTS, fingerprint


def test_any_byte_of_a_small_file_counts(tmp_path):
    path, content = tmp_path / "a", np.random.default_rng(0).bytes(3 * PART + 17)
    seen = set()
    for place in (None, 0, 1, PART - 1, PART, len(content) // 2, 3 * PART, len(content) - 1):
        changed = bytearray(content)
        if place is not None:
            changed[place] ^= 1
        path.write_bytes(changed)
        seen.add(fingerprint([path], {}))
    path.write_bytes(content[:-1])
    seen.add(fingerprint([path], {}))
    path.write_bytes(b"")
    seen.add(fingerprint([path], {}))
    assert len(seen) == 10


@pytest.mark.slow
def test_parts_of_a_large_file_count(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprints, "PART", 8)
    size = 8 * PARTS + 1000
    path = tmp_path / "a"
    path.write_bytes(bytes(size))
    before, seen = fingerprint([path], {}), []
    for place in range(size):
        path.write_bytes(bytes(place) + b"1" + bytes(size - place - 1))
        seen.append(fingerprint([path], {}) != before)
    assert seen[:8] == seen[-8:] == [True] * 8
    assert sum(seen) == 8 * PARTS
    gaps = np.diff(np.flatnonzero(seen)) - 1
    assert gaps.max() == 1000 // (PARTS - 1) + 1, "evenly spread"
    path.write_bytes(bytes(size + 1))
    assert fingerprint([path], {}) != before


@pytest.mark.parametrize("size", [0, 1, PART, PARTS * PART - 1, PARTS * PART, PARTS * PART + 1, 10**12])
def test_the_first_and_the_last_byte_are_looked_at(size):
    starts = fingerprints._starts(size)
    assert len(starts) <= PARTS
    assert starts == sorted(set(starts))
    if size:
        assert starts[0] == 0
        assert starts[-1] < size <= starts[-1] + PART


def test_files_and_their_order_and_how_rows_are_made(tmp_path):
    names = [tmp_path / name for name in "abc"]
    for name, content in zip(names, (b"12", b"3", b"123"), strict=True):
        name.write_bytes(content)
    a, b, c = names
    lists = [[a], [b], [c], [a, b], [b, a], [a, b, c], [a, a], [a, c], []]
    assert len({fingerprint(files, {}) for files in lists}) == len(lists)
    assert len({fingerprint([a], made) for made in ({}, {"x": 1}, {"x": 2}, [{}], {"x": [1]})}) == 5
    assert fingerprint([a], {"x": 1, "y": 2}) == fingerprint([a], {"y": 2, "x": 1})


def test_times_count_only_where_asked_for(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    seen = []
    for time in (1, 2):
        os.utime(path, (time, time))
        seen.append((fingerprint([path], {}), fingerprint([path], {}, dated=True)))
    assert seen[0][0] == seen[1][0]
    assert len({*seen[0], *seen[1]}) == 3


def test_of_streams(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,z,y\n1,,1\n2,0,0\n")

    def of(**options):
        return data.open(path, "y", **options).fingerprint

    ways = [{"missing": "zero"}, {"missing": "mean"}, {"drop": ["z"]}, {"missing": "zero", "kinds": {"x": "category"}}]
    assert len({of(**way) for way in ways}) == len(ways)
    same = [{}, {"block_rows": 1}, {"threads": 0}, {"cache": True}, {"cache": tmp_path / "rows"}]
    assert len({of(missing="zero", **way) for way in same}) == 1
    stream = data.open(path, "y", missing="zero", cache=tmp_path / "rows")
    before = stream.fingerprint
    stream.read()
    assert stream.fingerprint == before
    assert data.open(path, "y", missing="zero", cache=tmp_path / "rows").fingerprint == before


def test_columns_that_are_met_late_do_not_count(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:1\n-1 70:1\n")
    stream = data.open(path)
    before = stream.fingerprint
    stream.read()
    assert stream.n_features == 70
    assert stream.fingerprint == before
