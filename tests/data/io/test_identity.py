"""Whether files are still the same: what is noted while they are read, and fingerprints."""

import itertools
import os

import numpy as np
import pytest

from rosenblatt import data
from rosenblatt.data.io import identity as fingerprints
from rosenblatt.data.io import identity as module
from rosenblatt.data.io.identity import PART, PARTS, Contents, RunningDigest, digest_of, fingerprint

NOISE = np.random.default_rng(0).bytes(1000)


def test_digests_do_not_depend_on_how_bytes_are_cut():
    rng = np.random.default_rng(1)
    for size in (0, 1, 63, 64, 65, 128, 1000):
        whole = RunningDigest()
        whole.update(NOISE[:size])
        for _ in range(20):
            cuts = [0, *sorted(rng.integers(0, size + 1, 5).tolist()), size]
            parts = RunningDigest()
            for start, stop in itertools.pairwise(cuts):
                parts.update(memoryview(NOISE)[start:stop])
            assert (parts.digest(), parts.count) == (whole.digest(), size)


def test_every_prefix_and_every_flip_has_a_digest_of_its_own():
    seen = set()
    for size in range(300):
        running = RunningDigest()
        running.update(NOISE[:size])
        seen.add(running.digest())
    for place in range(300):
        changed = bytearray(NOISE[:300])
        changed[place] ^= 1
        running = RunningDigest()
        running.update(bytes(changed))
        seen.add(running.digest())
    running = RunningDigest()
    running.update(bytes(64))
    seen.add(running.digest())
    assert len(seen) == 601


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    paths[0].write_bytes(NOISE)
    paths[1].write_bytes(NOISE[::-1])
    return paths


def read_some(contents, files, counts):
    for k, count in enumerate(counts):
        take = contents.reader(k)
        for start in range(0, count, 100):
            take(memoryview(files[k].read_bytes()[start : min(start + 100, count)]))


def changes(files, records):
    shares = []
    now = Contents(files)
    return now.changed_size(records) or now.changed_bytes(records, shares.append), shares


def test_only_what_was_read_counts(files):
    contents = Contents(files)
    read_some(contents, files, (1000, 300))
    records = contents.records()
    assert [record["read"] for record in records] == [1000, 300]
    assert changes(files, records) == ("", []), "the times are the same, and nothing is read"
    for path in files:
        os.utime(path, (1, 1))
    assert changes(files, records) == ("", [1000 / 1300, 1.0])
    for place, changed in ((0, True), (299, True), (300, False), (999, False)):
        text = bytearray(NOISE[::-1])
        text[place] ^= 1
        files[1].write_bytes(text)
        os.utime(files[1], (2, 2))
        told = f"{files[1]} has changed in the 300 bytes that were read from it" if changed else ""
        assert changes(files, records)[0] == told
    files[1].write_bytes(NOISE + b"x")
    assert changes(files, records)[0] == f"{files[1]} had 1,000 bytes then, and has 1,001 now"
    assert changes(files[:1], records)[0] == "files read: 2 then, 1 now"


def test_files_that_are_not_read_from_start_to_end_are_read_once_for_it(files, monkeypatch):
    calls = []
    monkeypatch.setattr(module, "digest_of", lambda *given: calls.append(given[0]) or digest_of(*given))
    contents = Contents(files)
    read_some(contents, files, (1000, 0))
    contents.add_whole()
    records = contents.records()
    assert records == contents.records()
    assert calls == [files[1]], "of the other all is known"
    assert records[1] == {**records[1], "read": 1000, "digest": digest_of(files[1], 1000)}
    later = Contents(files)
    later.restore(records)
    later.add_whole()
    assert later.records() == records
    later = Contents(files)
    later.restore(None)
    assert later.records() == records
    assert calls == [files[1], *files]


def test_a_file_that_changes_before_it_is_read_for_it_has_no_digest(files):
    contents = Contents(files)
    contents.add_whole([0, 1])
    os.utime(files[0], (1, 1))
    records = contents.records()
    assert [record["digest"] is None for record in records] == [True, False]
    assert changes(files, records)[0] == f"{files[0]} was changed while that run read it"
    files[0].unlink()
    contents = Contents(files[1:])
    contents.add_whole()
    files[1].unlink()
    assert contents.records()[0]["digest"] is None


def test_streams_note_what_is_stored(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.data.io.lines.CHUNK_BYTES", 512)
    rows = np.random.default_rng(0).integers(0, 9, (400, 4))
    np.savetxt(tmp_path / "a.csv.gz", rows, "%d", ",")
    np.savetxt(tmp_path / "b.csv", rows, "%d", ",")
    names = [tmp_path / "a.csv.gz", tmp_path / "b.csv"]
    stream = data.open(names, -1, threads=0)
    contents = stream.watch_contents()
    assert [record["read"] for record in contents.records()] == [0, 0]
    for block in stream:
        a, b = contents.records()
        for name, record in zip(names, (a, b), strict=True):
            assert record["digest"] == digest_of(name, record["read"])
        assert a["read"] > 0
        assert block is not None
    assert [a["read"], b["read"]] == [name.stat().st_size for name in names]
    assert contents.reader(0) is None


def test_input_that_can_be_read_once_is_not_watched(tmp_path):
    (tmp_path / "a.csv").write_text("1,0\n2,1\n")
    with open(tmp_path / "a.csv", "rb") as file:
        assert data.open(file, -1, format="csv").watch_contents() is None


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

    ways = [
        {"missing": "zero"},
        {"missing": "mean"},
        {"drop": ["z"]},
        {"missing": "zero", "column_types": {"x": "category"}},
    ]
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
