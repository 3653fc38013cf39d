"""Perceptrons beside other classifiers: accuracy and time, where they win and where they lose.

``python -m benchmarks.comparison --write docs/when_not.md`` puts the tables into the page, between its two marks.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import rosenblatt
from benchmarks.comparison_sets import DataSet, Rows, data_sets
from benchmarks.measure import Figure, alternate

SEEDS, QUICK_SEEDS = 5, 2
TEST_SHARE = 0.25
LEARNERS: dict[str, Callable[[int], Any]] = {
    "Perceptron": lambda seed: rosenblatt.Perceptron(random_state=seed),
    "Averaged": lambda seed: rosenblatt.AveragedPerceptron(random_state=seed),
    "Voted": lambda seed: rosenblatt.VotedPerceptron(random_state=seed),
    "Kernel": lambda seed: rosenblatt.KernelPerceptron(kernel="rbf", random_state=seed),
    "Logistic": lambda seed: LogisticRegression(max_iter=1000),
    "Linear SVC": lambda seed: LinearSVC(random_state=seed),
    "SGD": lambda seed: SGDClassifier(random_state=seed),
    "Tree": lambda seed: DecisionTreeClassifier(random_state=seed),
    "Neighbours": lambda seed: KNeighborsClassifier(),
}
SEVERAL_CLASSES: dict[str, Callable[[int], Any]] = {
    "Direct": lambda seed: rosenblatt.AveragedPerceptron(multi_class="direct", random_state=seed),
}
"""Learners of sets of more than two classes only: there is nothing to choose between two."""
OURS = ("Perceptron", "Averaged", "Voted", "Kernel")
UNIT = "Logistic"
"""Times are shown as multiples of this learner's."""
START, END = "<!-- the tables start -->", "<!-- the tables end -->"


@dataclass(frozen=True)
class Result:
    """What was measured on one set: an entry for each split, by learner."""

    name: str
    shape: tuple[int, int, int]
    """Rows, columns after preparation, classes."""
    guess: float
    """The share of the commonest class, which is what guessing gets."""
    accuracy: dict[str, list[float]]
    fit: dict[str, list[float]]
    predict: dict[str, list[float]]

    def mean(self, learner: str) -> float:
        """Return the mean accuracy."""
        return float(np.mean(self.accuracy[learner]))

    def best(self, kind: str, learner: str) -> float:
        """Return the fewest seconds to "fit" or "predict" that any split took: it was held up least."""
        return min(getattr(self, kind)[learner])


def measure(data: DataSet, seeds: int) -> Result:
    """Fit every learner to the same training parts, in turn, and test it on the rows left out."""
    X, y = data.load()
    labels, counts = np.unique(y, return_counts=True)
    learners = LEARNERS if len(labels) == 2 else {**LEARNERS, **SEVERAL_CLASSES}
    found: dict[str, dict[str, list[float]]] = {
        kind: {name: [] for name in learners} for kind in ("accuracy", "fit", "predict")
    }
    columns = 0
    splits = StratifiedShuffleSplit(seeds, test_size=TEST_SHARE, random_state=0).split(np.zeros(len(y)), y)
    for seed, (train, test) in enumerate(splits):
        preparation = data.prepare()
        training = preparation.fit_transform(X[train]), y[train]
        held_out = preparation.transform(X[test]), y[test]
        columns = held_out[0].shape[1]
        models = {name: make(seed) for name, make in learners.items()}
        for kind, values in _measure_split(models, training, held_out).items():
            for name, value in values.items():
                found[kind][name].append(value)
    return Result(data.name, (len(y), columns, len(labels)), float(counts.max() / len(y)), **found)


def _measure_split(models: dict[str, Any], training: Rows, held_out: Rows) -> dict[str, dict[str, float]]:
    """Return the accuracy of each model on the rows held out, and the seconds to fit and to predict, by name."""
    answers: dict[str, np.ndarray] = {}

    def predict(name: str) -> None:
        answers[name] = models[name].predict(held_out[0])

    _compile(*training)
    fits = alternate({name: partial(model.fit, *training) for name, model in models.items()}, 1)
    predictions = alternate({name: partial(predict, name) for name in models}, 2)  # the first reads the rows anew
    return {
        "accuracy": {name: float((answer == held_out[1]).mean()) for name, answer in answers.items()},
        "fit": {name: seconds for name, (seconds,) in fits.items()},
        "predict": {name: min(seconds) for name, seconds in predictions.items()},
    }


def _compile(X: Any, y: np.ndarray) -> None:
    """Let each of our learners compile what it needs for rows of this kind, before the clock starts."""
    few = np.concatenate([np.flatnonzero(y == label)[:3] for label in np.unique(y)])
    for make in (*(LEARNERS[name] for name in OURS), *SEVERAL_CLASSES.values()):
        make(0).fit(X[few], y[few]).predict(X[few])


def compare(quick: bool) -> list[Result]:
    """Return what was measured on all sets that are here."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # mistakes left, iterations spent: the accuracy tells
        return [measure(data, QUICK_SEEDS if quick else SEEDS) for data in data_sets(quick)]


def against_others(quick: bool) -> list[Figure]:
    """Return a line for each set: our accuracies, and the best of the others."""
    found = []
    for result in compare(quick):
        best = max((name for name in LEARNERS if name not in OURS), key=result.mean)
        shown = ", ".join(f"{name} {result.mean(name):.1%}" for name in (*OURS, best))
        found.append(Figure(f"accuracy: {result.name}", shown))
    return found


def accuracy_table(results: list[Result]) -> str:
    """Return the accuracies in percent, mean and standard deviation over the splits; the best mean is bold."""
    rows = [["data", "rows x columns, classes", "guess", *LEARNERS]]
    for result in results:
        n, d, classes = result.shape
        cells = _accuracies(result, list(LEARNERS))
        rows.append([result.name, f"{n:,} x {d:,}, {classes}", f"{100 * result.guess:.1f}", *cells])
    return markdown(rows)


def several_classes_table(results: list[Result]) -> str:
    """Return the accuracies where classes compete directly, beside one against the rest."""
    names = ["Averaged", *SEVERAL_CLASSES, "Linear SVC", UNIT]
    rows = [["data", *names]]
    rows += [[result.name, *_accuracies(result, names)] for result in results if "Direct" in result.accuracy]
    return markdown(rows)


def _accuracies(result: Result, names: list[str]) -> list[str]:
    """Return the cells of a row; the best mean, as far as it is shown, is bold."""
    means = {name: f"{100 * result.mean(name):.1f}" for name in names}
    best = max(means.values(), key=float)
    bold = {name: "**" if mean == best else "" for name, mean in means.items()}
    spread = {name: f"{100 * np.std(result.accuracy[name]):.1f}" for name in names}
    return [f"{bold[name]}{means[name]}{bold[name]} ± {spread[name]}" for name in names]


def time_table(results: list[Result], kind: str) -> str:
    """Return the times to "fit" or "predict" as multiples of `UNIT`'s, which comes first in milliseconds."""
    others = [name for name in LEARNERS if name != UNIT]
    rows = [["data", f"{UNIT}, ms", *others]]
    for result in results:
        unit = result.best(kind, UNIT)
        rows.append([result.name, _short(1000 * unit), *(_short(result.best(kind, name) / unit) for name in others)])
    return markdown(rows)


def _short(number: float) -> str:
    """Return two significant digits, and all digits before the point."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def markdown(rows: list[list[str]]) -> str:
    """Return a table whose first row is its head; all columns but the first are set to the right."""
    head, *body = rows
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] + ["---:"] * (len(head) - 1), *body))


def tables(results: list[Result]) -> str:
    """Return the text that goes between the marks of the page."""
    splits = len(next(iter(results[0].accuracy.values())))
    packages = ", ".join(f"{name} {version(name)}" for name in ("rosenblatt", "scikit-learn", "numpy", "numba"))
    return "\n\n".join(
        [
            f"Accuracy in percent on the quarter of the rows left out of training: mean ± standard deviation over "
            f"{splits} stratified splits. Bold: the best mean of a row.",
            accuracy_table(results),
            "Where there are more than two classes: each against the rest, as above, or all at once "
            '(`AveragedPerceptron(multi_class="direct")`), beside two others.',
            several_classes_table(results),
            f"Time of `fit`, over that of {UNIT} (best of {splits} splits; below 1 is faster):",
            time_table(results, "fit"),
            "Time of `predict` for the rows left out, likewise:",
            time_table(results, "predict"),
            f"Measured with {packages}, one thread: times are indications.",
        ]
    )


def placed(page: str, text: str, marks: tuple[str, str] = (START, END)) -> str:
    """Return the page with ``text`` between two marks, in place of what was there."""
    start, end = marks
    if page.count(start) != 1 or page.count(end) != 1:
        raise ValueError(f"the page must have the marks {start} and {end}, once each: add them where the tables go.")
    before, rest = page.split(start)
    return f"{before}{start}\n\n{text}\n\n{end}{rest.split(end)[1]}"


def main() -> None:
    """Measure, and print the tables or write them into a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparison", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two small sets, two splits")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page whose tables are replaced")
    arguments = parser.parse_args()
    text = tables(compare(arguments.quick))
    if arguments.write is None:
        print(text)
    else:
        arguments.write.write_text(placed(arguments.write.read_text(), text))
        print(f"Written to {arguments.write}.")


if __name__ == "__main__":
    main()
