"""Learners on streams that drift: each row is predicted, then learned, and the errors are counted.

``python -m benchmarks.drift --write docs/drift.md`` puts the tables into the page, between their marks. Real streams
are in a wheel that is not installed, only read (``--wheel FILE``); without it their table stays as it is.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from benchmarks.comparison import markdown, placed
from benchmarks.drift_learners import CommonestLabel, LabelBefore, Online, Ours, Theirs, wrong_rows
from benchmarks.drift_streams import MADE, ROWS, Stream, make_stream, real_streams

SEEDS, QUICK_ROWS = 3, 2_000

Errors = dict[str, dict[str, list[float]]]
"""Shares of rows, by the name of the stream and that of the learner."""


def _ours(learner: str, **parameters: Any) -> Callable[[Stream], Online]:
    return lambda stream: Ours(stream, learner, **parameters)


LEARNERS: dict[str, Callable[[Stream], Online]] = {
    "the commonest label so far": CommonestLabel,
    "the label before": LabelBefore,
    "`Perceptron()`": _ours("Perceptron"),
    "`AveragedPerceptron()`": _ours("AveragedPerceptron"),
    "`AveragedPerceptron(decay=0.001)`": _ours("AveragedPerceptron", decay=0.001),
    "`AveragedPerceptron(decay=0.01)`": _ours("AveragedPerceptron", decay=0.01),
    "`AveragedPerceptron(decay=0.1)`": _ours("AveragedPerceptron", decay=0.1),
    "`MarginPerceptron(margin=10)`": _ours("MarginPerceptron", margin=10.0),
    "`PassiveAggressive(C=1)`": _ours("PassiveAggressive", C=1.0),
    "`PassiveAggressive(C=0.1)`": _ours("PassiveAggressive", C=0.1),
    '`PassiveAggressive(C=0.1, hypothesis="average", decay=0.01)`': _ours(
        "PassiveAggressive", C=0.1, hypothesis="average", decay=0.01
    ),
    "`AROW(r=1)`": _ours("AROW", r=1.0),
    "scikit-learn's `SGDClassifier()`": lambda stream: Theirs(stream, SGDClassifier(random_state=0)),
}
"""What learns, by the name that it has in the tables."""
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
