"""The same rows, read by rosenblatt and by other parsers."""

from __future__ import annotations

import csv
import io
import json
import random
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from helpers.text_twins import svmlight, vw
from rosenblatt import data
from rosenblatt.blocks import DataError
from rosenblatt.data.io import lines as line_reader

LARGEST = 2.0**53
"""Numbers from here on are refused as labels: float64 may have rounded them."""
LETTERS = "abcz é漢_-|:'#,\";"


def attack(rng: random.Random) -> str | None:
    """Write random rows in some format, and compare what is read."""
    kept = line_reader.CHUNK_BYTES
    line_reader.CHUNK_BYTES = rng.choice([7, 64, 1000, kept])
    try:
        return rng.choice([_svmlight, _csv, _json, _kernels])(rng, Path(tempfile.mkdtemp()))
    finally:
        line_reader.CHUNK_BYTES = kept


def number(rng: random.Random) -> str:
    """Return a number as people and programs write them."""
    choice = rng.randrange(7)
    if choice == 0:
        return str(rng.randrange(-1000, 1000))
    if choice == 1:
        return repr(rng.gauss(0, 1))
    if choice == 2:
        return f"{rng.uniform(-9, 9):.{rng.randrange(1, 30)}e}"
    if choice == 3:
        return f"{rng.randrange(10 ** rng.randrange(1, 40))}e{rng.randrange(-340, 260)}"
    if choice == 4:
        return rng.choice(["+", "-", ""]) + rng.choice(["0", ".5", "5.", "00012", "1E5", "0.1e-300", "4.9e-324"])
    if choice == 5:
        return f"{float.fromhex(f'0x1.{rng.getrandbits(52):013x}p{rng.randrange(-1070, 1000)}')!r}"
    return f"{rng.getrandbits(53) / 2 ** rng.randrange(60):.{rng.randrange(40)}f}"


def _svmlight(rng: random.Random, folder: Path) -> str | None:
    lines = []
    for _ in range(rng.randrange(1, 30)):
        columns = sorted(rng.sample(range(1, 40), rng.randrange(8)))
        comment = rng.choice(["", "", " # words: 3:4", "\t"])
        while abs(float(label := number(rng))) >= LARGEST and rng.random() < 0.99:
            pass
        lines.append(f"{label} {' '.join(f'{j}:{number(rng)}' for j in columns)}{comment}")
    path = folder / "a.svm"
    path.write_text("\n".join(lines) + rng.choice(["", "\n"]))
    large = any(abs(float(line.split()[0])) >= LARGEST for line in lines)
    try:
        X, y = data.open(path, format="svmlight", zero_based=False, block_rows=rng.randrange(1, 40)).read()
    except DataError as refusal:
        return None if large and "expected labels below 2^53" in str(refusal) else f"{refusal}: {path.read_text()!r}"
    if large:
        return f"a label was read that float64 may have rounded: {path.read_text()!r}"
    other, labels = load_svmlight_file(str(path), zero_based=False, n_features=X.shape[1] or 1)
    if y.tolist() != labels.tolist() or X.toarray().tobytes() != (other[:, : X.shape[1]].toarray() + 0.0).tobytes():
        return f"scikit-learn reads other numbers: {path.read_text()!r}"
    return None


def _csv(rng: random.Random, folder: Path) -> str | None:
    d = rng.randrange(1, 6)
    delimiter = rng.choice(",;\t|")
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=rng.choice(["\n", "\r\n"]))
    writer.writerow([*(f"x{j}" for j in range(d)), "word", "y"])
    rows = []
    for i in range(rng.randrange(2, 40)):
        word = "".join(rng.choices(LETTERS + "\n", k=rng.randrange(5))) if i % 3 else "red"
        rows.append([*(number(rng) for _ in range(d)), f"w{word}", rng.choice(["yes", "no, never", 'a "b"'])])
    writer.writerows(rows)
    path = folder / "a.csv"
    path.write_bytes(text.getvalue().encode())
    words = sorted({row[d] for row in rows})
    kinds = {f"x{j}": "number" for j in range(d)} | {"word": words}
    X, y = data.open(path, "y", column_types=kinds, delimiter=delimiter, threads=rng.choice([0, 2])).read()
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    expected = [[float(v) for v in row[:d]] + _one_hot(row[d], words) for row in rows]
    if y.tolist() != [row[-1] for row in rows] or (dense + 0.0).tolist() != (np.array(expected) + 0.0).tolist():
        return f"csv reads other rows: {path.read_bytes()!r}"
    return None


def _one_hot(value: str, words: list[str]) -> list[float]:
    """Return 1 for the word that a cell holds and 0 for the others; blanks around words do not count."""
    return [float(value.strip() == word) for word in dict.fromkeys(word.strip() for word in words)]


def _json(rng: random.Random, folder: Path) -> str | None:
    rows = [
        {"a": rng.gauss(0, 1), "word": "".join(rng.choices(LETTERS, k=3)), "b": rng.randrange(9), "y": rng.randrange(2)}
        for _ in range(rng.randrange(2, 40))
    ]
    text = "".join(json.dumps(row, ensure_ascii=rng.random() < 0.5) + "\n" for row in rows)
    path = folder / "a.jsonl"
    path.write_text(text, "utf-8")
    words = sorted({row["word"] for row in rows if row["word"].strip()})
    X, y = data.open(path, "y", column_types={"a": "number", "b": "number", "word": words}, missing="zero").read()
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    expected = [[row["a"], *_one_hot(row["word"], words), float(row["b"])] for row in rows]
    if y.tolist() != [row["y"] for row in rows] or dense.tolist() != expected:
        return f"json reads other rows: {text!r}"
    return None


def _kernels(rng: random.Random, folder: Path) -> str | None:
    """The compiled parsers against their slow twins, on lines that are right or wrong."""
    pieces = ["1", "-1 ", " 2:3", " 1:", ":", "|", " |a", " x:2", " y", "'t ", "#", "\t", " 3:1e5", "\n", "\n", " 1:1"]
    text = "".join(rng.choices(pieces, k=rng.randrange(1, 60))).encode() + b"\n"
    try:
        (vw if rng.random() < 0.5 else svmlight)(text)
    except AssertionError as difference:
        return f"the twin reads {text!r} otherwise: {difference}"
    return None
