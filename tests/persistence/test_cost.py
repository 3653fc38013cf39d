"""What files from strangers cost, as SECURITY.md says: memory and time in proportion to their size."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest

from helpers.forging import compact, forge
from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, VotedPerceptron, save
from rosenblatt.blocks import Block
from rosenblatt.data.cache import RowFileWriter
from rosenblatt.storage.container import read_container
from rosenblatt.theory.certificates import MOST_BITS

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="memory is measured by /proc")]

TIMES, MORE = 64, 128 << 20
"""A file of n bytes takes at most TIMES n + MORE bytes of memory."""

MEASURE = """
import io, json, os, resource, sys, time
import rosenblatt
from rosenblatt.data.cache import RowFile
from rosenblatt.training.checkpoint import CheckpointWriter
from rosenblatt.training.options import RunOptions


def rows(path):
    file = RowFile(open(path, "rb"))
    for k in range(len(file)):
        file.block(k)


def memory(name):
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1])


readers = {
    "model": rosenblatt.load,
    "checkpoint": lambda path: CheckpointWriter(path, 0, "AveragedPerceptron", RunOptions(), []).read(),
    "certificate": rosenblatt.Certificate.load,
    "verdicts": rosenblatt.Verdicts.load,
    "rows": rows,
}
kind, small, *paths = sys.argv[1:]


def read(path):
    try:
        readers[kind](path)
    except ValueError:
        pass


read(small)  # imports are not counted
for path in paths:
    if os.fork() == 0:
        before, start = memory("VmRSS"), time.process_time()
        read(path)
        print(json.dumps([memory("VmHWM") - before, time.process_time() - start]), flush=True)
        os._exit(0)
    os.wait()
"""


def cost(folder, kind, contents):
    """Return memory and time that reading each of the files takes, in a process of its own."""
    paths = [folder / f"{kind}{k}" for k in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    run = subprocess.run([sys.executable, "-c", MEASURE, kind, *paths], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def fitted(learner, n=40, d=3, **options):
    X = np.random.default_rng(0).standard_normal((n, d))
    return learner(max_iter=2, random_state=0, **options).fit(X, np.arange(n) % 2)


def parts(folder, model):
    save(model, folder / "model")
    return read_container(folder / "model")


def dense_model(folder, size):
    return forge_model(*parts(folder, fitted(Perceptron, n=4, d=size // 24)))


def forge_model(header, arrays):
    return forge(compact(header), arrays)


def votes(folder, size):
    return forge_model(*parts(folder, fitted(VotedPerceptron, n=size // 64)))


def supports(folder, size):
    return forge_model(*parts(folder, fitted(KernelPerceptron, n=100, d=size // 800, kernel="rbf", gamma=1e3)))


def long_history(folder, size):
    """Return a model that claims to have made a million passes, twice: it has a best one."""
    header, arrays = parts(folder, fitted(Perceptron, early_stopping=True, validation_fraction=0.4))
    passes = size // 10
    history = {name for name in arrays if name.endswith(".mistakes") and "counters" not in name}
    arrays |= {name: np.zeros((passes, 1), np.int64) for name in history}
    return forge_model(header, arrays)


def deep_header(folder, size):
    header, arrays = parts(folder, fitted(Perceptron))
    return forge_model(header | {"fingerprint": [[]] * (size // 3)}, arrays)


def wide_labels(folder, size):
    header, arrays = parts(folder, fitted(Perceptron))
    values = [f"{k:07}" for k in range(size // 20)] + ["z" * (size // 2)]
    return forge_model(header | {"classes": {"type": f"U{size // 2}", "values": values}}, arrays)


def many_arrays(folder, size):
    header, arrays = parts(folder, fitted(Perceptron))
    return forge_model(header, arrays | {f"x{k}": np.zeros(0) for k in range(size // 70)})


def checkpoint(folder, size):
    X, y = np.random.default_rng(0).standard_normal((4, size // 24)), np.arange(4) % 2
    AveragedPerceptron(max_iter=1).fit_stream([(X, y)], checkpoint=folder / "checkpoint", every=0)
    return (folder / "checkpoint").read_bytes()


def nothing_but_lists(folder, size):
    return (b"[" + b"[]," * (size // 3))[:-1] + b"]"


def long_integers(folder, size):
    record = {"rosenblatt": "Feasible", "format": 1, "x": []}
    rng = np.random.default_rng(0)
    below = "0x1" + rng.bytes(MOST_BITS // 8 - 4).hex() + "1"
    for _ in range(size // (MOST_BITS // 2)):
        record["x"].append(["0x1" + rng.bytes(MOST_BITS // 8 - 4).hex(), below])
    return json.dumps(record).encode()


def short_integers(folder, size):
    record = {"rosenblatt": "Inseparable", "format": 1, "positive": 1, "support": []}
    record |= {"alpha": {"length": 9, "rows": [], "values": []}, "weights": ["0x1"] * (size // 7)}
    return json.dumps(record, separators=(",", ":")).encode()


def rows(folder, size):
    X = np.random.default_rng(0).standard_normal((size // 80, 8))
    writer = RowFileWriter(file := io.BytesIO())
    for start in range(0, len(X), 10_000):
        part = X[start : start + 10_000]
        writer.write(Block(part, np.ones(len(part)), 0))
    writer.finish({"n_features": 8, "rows": len(X)})
    return file.getvalue()


FILES = {
    "model": (dense_model, votes, supports, long_history, deep_header, wide_labels, many_arrays),
    "checkpoint": (checkpoint,),
    "certificate": (long_integers, short_integers),
    "verdicts": (nothing_but_lists,),
    "rows": (rows,),
}


@pytest.mark.parametrize("kind", FILES)
def test_memory_and_time_are_in_proportion_to_the_file(tmp_path, kind):
    first = FILES[kind][0]
    sizes = [1_000_000, 4_000_000]
    contents = [first(tmp_path, 20_000)]  # a small one before the others
    contents += [make(tmp_path, size) for make in FILES[kind] for size in sizes]
    found = cost(tmp_path, kind, contents)
    assert len(found) == len(contents) - 1
    for content, (memory, _) in zip(contents[1:], found, strict=True):
        assert 500_000 < len(content) < 10_000_000
        assert memory <= TIMES * len(content) + MORE
    for (_, short), (_, long) in zip(found[::2], found[1::2], strict=True):
        assert long < 10 * max(short, 0.5)  # not 16 times, as for the square
