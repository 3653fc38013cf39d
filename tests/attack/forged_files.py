"""Models, states of kernel perceptrons, checkpoints and caches that were changed, with checksums made right."""

from __future__ import annotations

import functools
import random
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.forging import alike, compact, forge, state_from_plain, state_to_plain
from helpers.mutating import mutated_arrays, mutated_bytes, mutated_plain
from helpers.naive_dual import dual_run
from helpers.stored_files import TABLE, files
from rosenblatt import data
from rosenblatt.training.options import Kernel

Parts = tuple[dict[str, Any], dict[str, np.ndarray]]


def attack(rng: random.Random) -> str | None:
    """Change a file and use it: it is refused in a sentence, or works."""
    folder = Path(tempfile.mkdtemp())
    return rng.choice([_file, _file, _file, _file, _cache, _kernel_state])(rng, folder)


@functools.cache
def stored() -> dict[str, tuple[dict[str, Any], dict[str, np.ndarray], Callable[[Path], None]]]:
    """Return header, arrays and use of files of every kind that have arrays."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = files(Path(tempfile.mkdtemp(dir="/tmp")))
    return {name: parts for name, parts in made.items() if parts[1] is not None}


def _changed_parts(rng: random.Random, parts: Parts) -> Parts:
    header, arrays = parts
    for _ in range(rng.choice([1, 1, 2])):
        if rng.random() < 0.6:
            header = mutated_plain(rng, header)
        else:
            arrays = mutated_arrays(rng, arrays)
    return header, arrays


def _changed(rng: random.Random, parts: Parts) -> bytes:
    header, arrays = _changed_parts(rng, parts)
    whole = forge(compact(header), arrays)
    return mutated_bytes(rng, whole) if rng.random() < 0.1 else whole


def _file(rng: random.Random, folder: Path) -> str | None:
    """A model, a pipeline or a checkpoint is refused, or works as a whole one does."""
    header, arrays, use = rng.choice(list(stored().values()))
    path = folder / "file"
    path.write_bytes(_changed(rng, (header, arrays)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            use(path)
        except ValueError as refusal:
            return _fault_of(refusal, path)
    return None


@functools.cache
def kernel_states() -> list[Parts]:
    """Return header and arrays of small states of kernel perceptrons, of three classes each."""
    X, y = small_set("integers", n=20, classes=3, seed=5)
    steps = np.arange(20) % 3 / 2
    made = [dual_run(X, y, Kernel(name), 3) for name in ("linear", "sigmoid")]
    made.append(dual_run(sp.csr_array(X), y, Kernel("rbf", gamma=0.5), 3, hypothesis="pocket", steps=steps))
    made.append(dual_run(X.astype(np.float32), y, Kernel(), 3, direct=True))
    made.append(dual_run(X @ X.T, y, Kernel("precomputed"), 3))
    return [state_to_plain(state) for state in made]


def _kernel_state(rng: random.Random, folder: Path) -> str | None:
    """A state is refused, or says just what it was read from, and has a coefficient for each score and row."""
    header, arrays = _changed_parts(rng, rng.choice(kernel_states()))
    try:
        state = state_from_plain(header, arrays, 3, "KernelPerceptron")
    except ValueError as refusal:
        text = str(refusal)
        return None if text.endswith(".") and len(text) < 1500 and "\n" not in text else f"no sentence: {text[:2000]!r}"
    try:
        alike(state_from_plain(*state_to_plain(state), 3, "KernelPerceptron"), state)
    except AssertionError as difference:
        return f"a state comes back as another: {difference}"
    shapes = {state.coefficients(hypothesis).shape for hypothesis in ("last", "average", "pocket")}
    return None if shapes == {(3, len(state.supports))} else f"coefficients of shapes {shapes}"


def _cache(rng: random.Random, folder: Path) -> str | None:
    """A damaged cache is made anew, or refused: rows are never others than those of the file."""
    (folder / "a.csv").write_text(TABLE)
    path, options = folder / "rows", {"column_types": {"c": "text"}, "bits": 6}
    expected = data.open(folder / "a.csv", "y", cache=path, **options).read()
    path.write_bytes(mutated_bytes(rng, path.read_bytes()))
    try:
        found = data.open(folder / "a.csv", "y", cache=path, **options).read()
    except ValueError as refusal:
        return _fault_of(refusal, path)
    same = (found[0] != expected[0]).nnz == 0 and found[1].tolist() == expected[1].tolist()
    return None if same else "other rows from a damaged cache"


def _fault_of(refusal: ValueError, path: Path) -> str | None:
    """Return what is wrong with the sentence that refuses a file: it names the file, and is one."""
    text = str(refusal)
    if path.name not in text or not text.rstrip().endswith(".") or len(text) > 1500 or "\n" in text:
        return f"no sentence that names the file: {text[:2000]!r}"
    return None
