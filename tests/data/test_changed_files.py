"""Files that change while they are in use: all passes read the same rows, or an error names the file and the change."""

import json
import os
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from pyarrow import feather

from rosenblatt import AveragedPerceptron, KernelPerceptron, data
from rosenblatt.data.cache import RowFile
from rosenblatt.splits import Split

X = np.arange(20.0).reshape(10, 2) % 7
Y = np.array(list("abbabbabba"))
HEAD = "x,z,y\n"
ROWS = "".join(f"{x:g},{z:g},{y}\n" for (x, z), y in zip(X, Y, strict=True))


def write(path):
    """Write ten rows in the format that the name of the file shows."""
    kind = path.suffix[1:]
    if kind == "csv":
        path.write_text(HEAD + ROWS)
    elif kind == "jsonl":
        rows = ({"x": x, "z": z, "y": y} for (x, z), y in zip(X.tolist(), Y.tolist(), strict=True))
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind in ("svm", "vw"):
        bar = "| " if kind == "vw" else ""
        path.write_text("".join(f"{'ab'.index(y)} {bar}1:{x} 2:{z}\n" for (x, z), y in zip(X, Y, strict=True)))
    elif kind == "npz":
        np.savez(path, X=X, y=Y)
    else:
        table = pa.table({"x": X[:, 0], "z": X[:, 1], "y": Y})
        (pyarrow.parquet.write_table if kind == "parquet" else feather.write_feather)(table, path)


def grow(path):
    path.write_bytes(path.read_bytes() + b"\n")


def write_later(path):
    os.utime(path, ns=(0, time.time_ns() + 10**9))


CHANGES = {grow: "had .* bytes then, and has .* now", write_later: "was last written at", os.unlink: "can no longer be"}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "svm", "vw", "npz", "parquet", "feather"])
def test_a_file_that_changed_between_two_passes_is_refused(tmp_path, kind):
    paths = [tmp_path / f"one.{kind}", tmp_path / f"two.{kind}"]
    target = {} if kind in ("svm", "vw", "npz") else {"target": "y"}
    for changed in paths:
        for change, what in CHANGES.items():
            for path in paths:
                write(path)
            stream = data.open(paths, **target)
            assert [sum(map(len, stream)) for _ in range(3)] == [20] * 3
            change(changed)
            model = AveragedPerceptron(max_iter=2)
            for read in (list, data.Stream.read, model.fit_stream):
                with pytest.raises(data.DataError, match=rf"^{changed} .*{what}"):
                    read(stream)
            assert not hasattr(model, "state_")
            if change is write_later:  # the cure: start again
                assert sum(map(len, data.open(paths, **target))) == 20


class Changing:
    """A stream of a file that changes after the first block of one of the passes."""

    def __init__(self, stream, change, in_pass):
        self.stream, self.change, self.in_pass, self.passes, self.ended = stream, change, in_pass, 0, 0

    def __iter__(self):
        self.passes += 1
        for k, block in enumerate(self.stream):
            yield block
            if k == 0 and self.passes == self.in_pass:
                self.change()
        self.ended += 1


@pytest.mark.parametrize("learner", [AveragedPerceptron, lambda **options: KernelPerceptron(gamma=1.0, **options)])
def test_a_change_during_a_pass_is_found_when_the_pass_ends(tmp_path, learner):
    path = tmp_path / "rows.csv"
    for in_pass in (1, 2, 3):
        write(path)
        stream = Changing(data.open(path, target="y", block_rows=4), lambda: grow(path), in_pass)
        with pytest.raises(data.DataError, match=r"rows\.csv has changed"):
            learner(max_iter=3, shuffle=False).fit_stream(stream)
        # The first pass may end, because a single pass over a file that grows is no mistake. The next one is refused.
        assert (stream.passes, stream.ended) == {1: (2, 1), 2: (2, 1), 3: (3, 2)}[in_pass]


def test_one_pass_reads_what_arrives_meanwhile(tmp_path):
    path = tmp_path / "rows.svm"
    n = 1_000_000
    path.write_text("1 1:1\n0 1:2\n" * (n // 2))  # more than the reader has in memory at once
    stream = data.open(path, threads=0)
    blocks = iter(stream)
    found = len(next(blocks))
    assert 0 < found < n
    with path.open("a") as file:
        file.write("1 1:3\n" * 10)
    assert found + sum(map(len, blocks)) == n + 10
    with pytest.raises(data.DataError, match="had 6,000,000 bytes then, and has 6,000,060 now"):
        next(iter(stream))


@pytest.mark.parametrize("named", [False, True])
def test_a_cache_keeps_the_rows_of_the_first_pass(tmp_path, monkeypatch, named):
    path, cache = tmp_path / "rows.csv", tmp_path / "cache" if named else True
    write(path)
    stream = data.open(path, target="y", cache=cache, block_rows=4)
    rows = stream.read()[0]
    path.write_text(HEAD + ROWS + ROWS)
    assert np.array_equal(stream.read()[0], rows)
    if not named:
        return
    write(path)
    assert len(list(data.open(path, target="y", cache=cache))) == 1
    stream = data.open(path, target="y", cache=cache)  # this run has not read the file itself
    assert stream._cache.complete
    grow(path)
    monkeypatch.setattr(RowFile, "block", lambda self, k: (_ for _ in ()).throw(ValueError("bad")))
    with pytest.warns(UserWarning, match="are damaged"), pytest.raises(data.DataError, match=r"rows\.csv has changed"):
        list(stream)


def test_a_file_may_change_before_its_first_pass(tmp_path):
    path = tmp_path / "rows.csv"
    write(path)
    stream = data.open(path, target="y")
    path.write_text(HEAD + ROWS + ROWS)
    assert [sum(map(len, stream)) for _ in range(2)] == [20] * 2


def test_scales_and_parts_are_of_the_same_rows(tmp_path):
    path = tmp_path / "rows.csv"
    write(path)
    stream = data.open(path, target="y", scale="standard")
    stream.fit_scale()
    grow(path)
    with pytest.raises(data.DataError, match=r"rows\.csv has changed"):
        next(iter(stream))
    with pytest.raises(data.DataError, match=r"rows\.csv has changed"):
        list(stream.rescaled())
    write(path)
    stream = data.open(path, target="y")
    split = Split.of_share(0.3, 0)
    held, rest = stream.part(split, True), stream.part(split, False)
    list(rest)
    grow(path)
    with pytest.raises(data.DataError, match=r"rows\.csv has changed"):
        list(held)
