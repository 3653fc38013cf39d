"""Labels and names that look alike: those that differ stay different, or the file is refused in a sentence."""

from __future__ import annotations

import csv
import io
import json
import random
import tempfile
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet

from rosenblatt import Perceptron, data, load, save

NUMBERS = (0, 1, -1, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**62 + 1, 2**63 - 1, 2**63 - 512, 7)
WORDS = (
    "p",
    "p\x00",
    "P",
    "p ",
    "é",
    "e\u0301",
    "1",
    "01",
    "1.0",
    "1e0",
    "+1",
    "nan",
    "",
    "\x00",
    "\ufeffp",
    "ﬁ",
    "fi",
)
NAMES = ("c", "c=x", "c=y", "c=x=y", "=", "c=", "x0", "bias", "intercept", "#0", "C", "c ", "weight")


def attack(rng: random.Random) -> str | None:
    """Write labels or column names that look alike in some format, and read them."""
    return rng.choice([_labels, _labels, _names])(rng, Path(tempfile.mkdtemp()))


def _labels(rng: random.Random, folder: Path) -> str | None:
    known: tuple[Any, ...] = rng.choice([NUMBERS, WORDS])
    some = rng.sample(known, rng.randrange(2, 5))
    labels = [*some, *rng.choices(some, k=rng.randrange(2, 20))]
    path = folder / rng.choice(["a.csv", "a.jsonl", "a.parquet", "a.feather", "a.npz", "a.svm"])
    if path.suffix == ".svm" and known is WORDS:
        path = folder / "a.csv"
    if path.suffix == ".npz":
        labels = np.array(labels).tolist()  # NumPy drops a NUL at the end
    _write(path, {"x": [float(k) for k in range(len(labels))], "y": labels})
    options = {"format": "svmlight"} if path.suffix == ".svm" else {"target": "y"}
    try:
        y = data.open(path, **options, cache=rng.choice([False, folder / "cache"])).read()[1].tolist()
    except ValueError as refusal:
        return None if str(refusal).endswith(".") else f"{path.suffix}: no sentence for {labels!r}: {refusal}"
    told = f"{path.suffix} {labels!r} is read as {y!r}"
    if len(y) == len(labels):
        pairs = {(label, read) for label, read in zip(_meanings(labels, path), map(repr, y), strict=True)}
        if len({read for _, read in pairs}) < len({label for label, _ in pairs}) and not _are_blanks(labels, path):
            return f"labels became one: {told}"
        if known is NUMBERS and [int(one) for one in y] != labels:
            return f"other labels: {told}"
    elif not _are_blanks(labels, path):
        return f"{len(labels)} labels and {len(y)} rows: {told}"
    if len({*y}) < 2:
        return None
    model = Perceptron(max_iter=1, random_state=0).fit_stream(data.open(path, **options))
    save(model, folder / "model")
    classes = load(folder / "model").classes_.tolist()
    return None if classes == sorted({*y}) else f"{told}, and the model has the classes {classes!r}"


def _meanings(labels: list[Any], path: Path) -> list[Any]:
    """Return what labels stand for: numbers if all are, since a CSV file does not say whether 1e0 is a word."""
    try:
        return [Decimal(label) for label in labels] if path.suffix == ".csv" else [repr(label) for label in labels]
    except InvalidOperation:
        return [repr(label) for label in labels]


def _are_blanks(labels: list[Any], path: Path) -> bool:
    """Return whether blanks around words, and words for missing cells, may be why labels are the same or left out."""
    words = [label for label in labels if isinstance(label, str)]
    return any(not word.strip() or word != word.strip() or word in ("nan", "\ufeffp") for word in words)


def _names(rng: random.Random, folder: Path) -> str | None:
    """Every feature has a name of its own, or the table is refused."""
    names = rng.sample(NAMES, rng.randrange(2, 5))
    values = [["x", "y", "x=y", ""], ["1", "2", "3.5"]]
    columns: dict[str, list[Any]] = {}
    for name in names:
        own = rng.choice(values)
        columns[name] = [rng.choice(own) for _ in range(12)]
    columns["label"] = [k % 2 for k in range(12)]
    path = folder / rng.choice(["a.csv", "a.jsonl"])
    _write(path, columns)
    try:
        stream = data.open(path, "label", on_ambiguous="drop", missing="zero")
        model = Perceptron(max_iter=1, random_state=0).fit_stream(stream)
    except ValueError as refusal:
        return None if str(refusal).endswith(".") else f"no sentence for {names}: {refusal}"
    features = getattr(model, "feature_names_in_", np.array(stream.feature_names)).tolist()
    twice = sorted({name for name in features if features.count(name) > 1})
    return f"features of one name {twice} from the columns {columns}" if twice else None


def _write(path: Path, columns: dict[str, list[Any]]) -> None:
    rows = list(zip(*columns.values(), strict=True))
    if path.suffix == ".csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
        writer.writerows([list(columns), *rows])
        path.write_text(text.getvalue(), "utf-8", newline="")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows))
    elif path.suffix == ".svm":
        path.write_text("".join(f"{label} 1:{x!r}\n" for x, label in rows))
    elif path.suffix == ".npz":
        np.savez(path, X=np.array(columns["x"])[:, None], y=np.array(columns["y"]))
    else:
        table = pa.table(columns)
        parquet.write_table(table, path) if path.suffix == ".parquet" else feather.write_feather(table, path)
