"""Names and labels of a stranger with control characters: no command writes one to the terminal."""

from __future__ import annotations

import json
import random
import tempfile
import unicodedata
from pathlib import Path

import numpy as np

from helpers.commands import command
from rosenblatt import Perceptron, save

TRICKS = ("\x1b]0;x\x07", "\x1b[2J", "\u202e", "\x9b2J", "\r", "\x08\x08", "\u2066", "\x7f", "\x1bP", "\u200f", "\x85")
SHOWN = {"\n", "\t"}
HIDDEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
"""Categories of characters that move the cursor, change the terminal, or reorder what is read."""


def attack(rng: random.Random) -> str | None:
    """Run commands on a table and a model full of tricks, and look for them in what is shown."""
    folder = Path(tempfile.mkdtemp())

    def word() -> str:
        return rng.choice(["a", "b", "größe ", ""]) + rng.choice(TRICKS) + rng.choice(["", "z", rng.choice(TRICKS)])

    names = [word() for _ in range(3)]
    labels, categories = [word(), f"{word()}b", "plain"][: rng.choice([2, 3])], [word(), "red", word()]
    target = rng.choice(["y", f"y{rng.choice(TRICKS)}"])
    bad = rng.random() < 0.3
    rows = [
        [f"{rng.randrange(9)}", f"{rng.random():.3f}", rng.choice(categories), rng.choice(labels)] for _ in range(40)
    ]
    rows += [["1", "2", "red", label] for label in labels]
    if bad:
        rows.append([word(), word(), word(), labels[0]])
    data = folder / rng.choice(["rows.csv", "rows.jsonl", f"r{rng.choice(TRICKS)}.csv"])
    header = [*names, target]
    if data.suffix == ".csv":
        lines = [header, *rows]
        data.write_text("".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in lines), "utf-8", newline="")
    else:
        numbers = [[*(_number(cell) for cell in row[:2]), *row[2:]] for row in rows]
        data.write_text("".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in numbers))
    model = folder / rng.choice(["model", f"m{rng.choice(TRICKS)}"])
    given = ["--target", target, *(["--on-error", "skip"] if bad and rng.random() < 0.7 else [])]
    runs: list[list[object]] = [
        ["train", data, *given, "-p", "2", "-o", model, *rng.choice([[], ["--holdout", "0.3"], ["--verbose"]])],
        ["describe", data, *given],
        ["separate", data, *given, "-o", folder / f"c{rng.choice(TRICKS)}"],
        ["watch", *given, "--format", "csv"],
        ["train", data, "--target", word(), "--drop", word()],
        ["train", folder / word(), "-t", "y"],
    ]
    if rng.random() < 0.2:
        rng_rows = np.random.default_rng(rng.randrange(2**32))
        stranger = Perceptron(max_iter=2, random_state=0).fit(rng_rows.normal(size=(20, 2)), np.resize(labels[:2], 20))
        stranger.feature_names_in_ = np.array(names[:2], object)
        stranger.fingerprint_ = {"files": [word()], "rows": 20}
        save(stranger, model)
    else:
        command(*runs[0])
    if model.exists():
        runs += [
            ["test", model, data],
            ["explain", model, *rng.choice([[], ["--row", "1", data]])],
            ["predict", model, data, "-o", folder / "out.csv"],
            ["export", model, folder / f"e{rng.choice(TRICKS)}.json"],
            ["describe", model],
        ]
    words = rng.choice(runs)
    if words[0] != "predict" and rng.random() < 0.2:
        words = [*words, "--json"]
    result = command(*words, input=data.read_text("utf-8") if words[0] == "watch" else None)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return f"{words} raised {result.exception!r}"
    told = result.stdout + result.stderr
    found = {c for c in told if unicodedata.category(c) in HIDDEN and c not in SHOWN}
    return f"{words} shows {sorted(found)}: {told[:1500]!r}" if found else None


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell
