"""Full disks: whatever the package writes, the old file stays whole where the new one does not fit, and nothing else.

    with room_for(100):  # no file grows beyond 100 bytes: the system itself refuses, so code in C fails, too
        save(model, path)

`WRITERS` has everything that writes a file: what makes a writer from a seed, and what reads the file back.
"""

from __future__ import annotations

import errno
import json
import os
import random
import resource
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import onnx

from helpers.commands import command
from rosenblatt import AveragedPerceptron, Certificate, data, export_json, export_onnx, load, save, separability
from rosenblatt.data.cache import RowFile
from rosenblatt.storage.container import read_container

_CALLS = ("open", "write", "fsync", "close", "replace")
Writer = Callable[[Path], object]


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Let no file grow beyond so many bytes; what is longer already stays so."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextmanager
def failing_call(number: int) -> Iterator[None]:
    """Let one call fail for want of space, the first if ``number`` is 0, of those that `os` offers to write files."""
    left = number

    def failing(real: Callable[..., Any], what: str) -> Callable[..., Any]:
        def function(*args: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == -1 and what != "close":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            result = real(*args, **options)
            if left == -1:  # a descriptor is closed even where the system reports a fault
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return result

        return function

    with mock.patch.multiple(os, **{name: failing(getattr(os, name), name) for name in _CALLS}):
        yield


def _rows(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (rng.integers(4, 30), rng.integers(1, 60)))
    return X, np.where(np.arange(len(X)) % 2, "odd", "even")


def _learner(seed: int) -> AveragedPerceptron:
    return AveragedPerceptron(max_iter=1, random_state=seed)


def _table(folder: Path, seed: int) -> Path:
    X, y = _rows(seed)
    path = folder / f"{seed}.csv"
    np.savetxt(path, np.column_stack([X.astype(str), y]), "%s", ",")
    return path


def _model(folder: Path, seed: int) -> Writer:
    model = _learner(seed).fit(*_rows(seed))
    return lambda path: save(model, path)


def _certificate(folder: Path, seed: int) -> Writer:
    return separability(*_rows(seed)).save


def _json(folder: Path, seed: int) -> Writer:
    model = _learner(seed).fit(*_rows(seed))
    return lambda path: export_json(model, path)


def _onnx(folder: Path, seed: int) -> Writer:
    model = _learner(seed).fit(*_rows(seed))
    return lambda path: export_onnx(model, path)


def _checkpoint(folder: Path, seed: int) -> Writer:
    rows = [_rows(seed)]
    return lambda path: _learner(seed).fit_stream(rows, checkpoint=path, every=0)


def _kept_rows(folder: Path, seed: int) -> Writer:
    table = _table(folder, seed)
    return lambda path: sum(len(block) for block in data.open(table, -1, header=False, cache=path, threads=0))


def _predictions(folder: Path, seed: int) -> Writer:
    table, model = _table(folder, seed), folder / f"{seed}.model"
    assert command("train", table, "-t", "-1", "--no-header", "--passes", "1", "-o", model).exit_code == 0

    def predict(path: Path) -> None:
        result = command("predict", model, table, "-o", path, *(["--scores"] if seed % 2 else []))
        if result.exit_code and not isinstance(result.exception, SystemExit):
            raise RuntimeError("a traceback") from result.exception
        if result.exit_code:
            raise OSError(result.stderr)

    return predict


def _read_rows(path: Path) -> None:
    with open(path, "rb") as file:
        rows = RowFile(file)
        assert sum(len(rows.block(k)) for k in range(len(rows))) == rows.facts["rows"]


WRITERS: dict[str, tuple[Callable[[Path, int], Writer], Callable[[Path], Any]]] = {
    "model": (_model, load),
    "certificate": (_certificate, Certificate.load),
    "JSON": (_json, lambda path: json.loads(path.read_text())),
    "ONNX": (_onnx, onnx.load),
    "checkpoint": (_checkpoint, read_container),
    "rows": (_kept_rows, _read_rows),
    "predictions": (_predictions, lambda path: path.read_text().splitlines()),
}


def outcome(write: Writer, path: Path) -> str:
    """Write, and return what the user is told of it: the error, the warnings, or nothing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            write(path)
        except OSError as fault:
            return f"Error: {fault}"
    return " ".join(str(one.message) for one in caught if not one.category.__name__.startswith("Convergence"))


def find_fault(kind: str, write: Writer, path: Path, failing: Any) -> str | None:
    """Write over a file (or to a new name) while something fails; return what is not as it should be, None if all is.

    The folder has to hold nothing else.
    """
    old = path.read_bytes() if path.exists() else None
    with failing:
        said = outcome(write, path)
    litter = [name for name in os.listdir(path.parent) if name != path.name]
    left = path.read_bytes() if path.exists() else None
    if litter:
        return f"{kind}: left {litter[0]} behind"
    if said and left != old and "the new file is there" not in said:
        return f"{kind}: the old file is not as it was, and the user is told: {said}"
    if said.startswith("Error") and kind in ("checkpoint", "rows"):
        return f"{kind}: a run ended for want of space: {said}"
    if said and (str(path) not in said or ("make room" not in said and kind not in ("rows", "checkpoint"))):
        return f"{kind}: the sentence does not name the file, or what to do: {said}"
    if not said and left is None:
        return f"{kind}: nothing was written, and nothing was said"
    return None


def attack(rng: random.Random) -> str | None:
    """Let one of the package's writers run out of space at a random byte or call; return what broke."""
    kind = rng.choice(sorted(WRITERS))
    prepare, read = WRITERS[kind]
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        write, write_first = prepare(Path(scratch), rng.randrange(10**6)), prepare(Path(scratch), rng.randrange(10**6))
        write(path)
        size = path.stat().st_size
        path.unlink()
        if rng.random() < 0.7:
            write_first(path)
        failing = room_for(rng.randrange(size)) if rng.random() < 0.7 else failing_call(rng.randrange(12))
        fault = find_fault(kind, write, path, failing)
        if fault is None and path.exists():
            read(path)
    return fault
