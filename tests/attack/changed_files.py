"""Files that change between two passes over them: an error that names the file, or the same rows again."""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path

import numpy as np

from rosenblatt import Perceptron, data


def attack(rng: random.Random) -> str | None:
    """Change a file during a pass, or between two of them, and read on."""
    folder = Path(tempfile.mkdtemp())
    n = rng.choice([20, 300, 3000])
    kind = rng.choice(["csv", "svm", "npz"])
    files = [folder / f"{k}.{kind}" for k in range(rng.choice([1, 1, 2]))]
    for file in files:
        _write(rng, file, n)
    options = {"cache": rng.choice([False, False, True]), "threads": rng.choice([0, 2])}
    options["block_rows"] = rng.choice([7, 100, 65536])
    if kind == "svm":
        options |= {"format": "svmlight", "zero_based": False, "n_features": 3}
    else:
        options["target"] = "y"
    stream = data.open([str(file) for file in files], **options)
    changed, changes = rng.choice(files), rng.choice(["nothing", "touched", "grown", "other", "replaced"])
    passes, at = rng.randrange(2, 5), rng.randrange(1, 4)
    seen: list[object] = []

    def change(model: Perceptron) -> None:
        seen.append(model.n_iter_)
        if len(seen) == at:
            _change(rng, changed, changes)

    model = Perceptron(max_iter=passes, random_state=0, shuffle=False)
    before = Perceptron(max_iter=passes, random_state=0, shuffle=False).fit_stream(
        data.open([*map(str, files)], **options)
    )
    try:
        model.fit_stream(stream, on_pass=change)
    except (ValueError, OSError) as refusal:
        told = str(refusal)
        if changes == "nothing" or len(seen) < at:
            return f"{kind}, {options}: refused though nothing had changed: {told}"
        return None if changed.name in told and told.endswith(".") else f"{kind}, {changes}: no sentence: {told}"
    if model.last_coef_.tobytes() == before.last_coef_.tobytes() and model.n_updates_ == before.n_updates_:
        return None
    return f"{kind}, {options}, {changes} after pass {at} of {len(seen)}: trained on other rows in silence"


def _rows(rng: random.Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.random.default_rng(rng.randrange(2**32))
    return numbers.integers(1, 10, (n, 3)), numbers.integers(0, 2, n)


def _write(rng: random.Random, file: Path, n: int) -> None:
    X, y = _rows(rng, n)
    y[:2] = 0, 1
    if file.suffix == ".npz":
        np.savez(file, X=X.astype(float), y=y)
    elif file.suffix == ".csv":
        np.savetxt(file, np.column_stack([X, y]), "%d", ",", header="a,b,c,y", comments="")
    else:
        lines = [f"{label} 1:{a} 2:{b} 3:{c}\n" for label, (a, b, c) in zip(y.tolist(), X.tolist(), strict=True)]
        file.write_text("".join(lines))


def _change(rng: random.Random, file: Path, how: str) -> None:
    if how == "touched":
        os.utime(file)
    elif how == "grown" and file.suffix != ".npz":
        with file.open("a") as out:
            out.write("1,2,3,1\n" if file.suffix == ".csv" else "1 1:1 2:2 3:3\n")
    elif how == "other":
        _write(rng, file, rng.choice([20, 300]))
    elif how == "replaced":
        _write(rng, file.with_name(f"new{file.suffix}"), rng.choice([20, 300]))
        file.with_name(f"new{file.suffix}").replace(file)
