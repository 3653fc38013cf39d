"""Perceptrons beside other classifiers: accuracy and time, where they win and where they lose.

``python -m benchmarks.comparison --write docs/when_not.md`` puts the tables into the page, between its two marks.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import rosenblatt
from benchmarks.measure import Figure, alternate, seconds
from benchmarks.workloads import MNIST, libsvm, missing_data, mnist, real_data
from rosenblatt.data import make_separable, make_xor

# The data of the comparison with other classifiers: sets that ship with scikit-learn, made ones, and real ones.


SMS, POSITIVE, NEGATIVE = "text/SMSSpamCollection.gz", "text/rt-polarity.pos.gz", "text/rt-polarity.neg.gz"
ADULT, IONOSPHERE, SONAR = "tables/adult-train.csv.gz", "tables/ionosphere.csv", "tables/sonar.csv"
ADULT_NUMBERS = (0, 2, 4, 10, 11, 12)
"""The columns of numbers: age, weight of the row, years of education, capital gain and loss, hours a week."""

Rows = tuple[Any, np.ndarray]


@dataclass(frozen=True)
class DataSet:
    """Rows and labels, and what is done with the rows before anything learns; it is fitted to the training part."""

    name: str
    load: Callable[[], Rows]
    prepare: Callable[[], Any] = StandardScaler
    files: tuple[str, ...] = ()
    """What has to be in the folder that ROSENBLATT_DATA names."""

    @property
    def here(self) -> bool:
        """Whether its files are here, if it has any."""
        return not self.files or real_data(*self.files) is not None


def data_sets(quick: bool) -> list[DataSet]:
    """Return the sets that can be loaded here; if ``quick``, two small ones."""
    found = [data for data in (*SHIPPED, *MADE, *REAL) if data.here]
    return [data for data in found if data.name in ("iris", "moons")] if quick else found


def _shipped(load: Callable[..., Rows]) -> Callable[[], Rows]:
    return lambda: load(return_X_y=True)


def _few_noisy() -> Rows:
    return datasets.make_classification(120, 30, n_informative=5, flip_y=0.1, random_state=0)


def _noisy() -> Rows:
    return datasets.make_classification(2000, 20, n_informative=6, flip_y=0.1, random_state=0)


def _some(rows: Rows, n: int) -> Rows:
    """Return ``n`` of the rows, by class."""
    X, y = rows
    some, _ = train_test_split(np.arange(len(y)), train_size=n, stratify=y, random_state=0)
    return X[some], y[some]


def _folder() -> Path:
    folder = real_data()
    assert folder is not None
    return folder


def _table(name: str) -> Rows:
    """Return a file of numbers with the class in the last column."""
    with (_folder() / name).open() as file:
        lines = list(csv.reader(file))
    return np.array([line[:-1] for line in lines], dtype=float), np.array([line[-1] for line in lines])


def _adult() -> Rows:
    with gzip.open(_folder() / ADULT, "rt") as file:
        lines = [[cell.strip() for cell in line] for line in csv.reader(file) if len(line) == 15]
    rows = np.array(lines, dtype=object)
    rows[:, ADULT_NUMBERS] = rows[:, ADULT_NUMBERS].astype(float)
    return _some((rows[:, :-1], rows[:, -1].astype(str)), 8000)


def _adult_columns() -> Any:
    words = [i for i in range(14) if i not in ADULT_NUMBERS]
    return make_column_transformer(
        (StandardScaler(), list(ADULT_NUMBERS)),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
        sparse_threshold=0,
    )


def _mnist() -> Rows:
    found = mnist("train")
    assert found is not None
    return _some(found, 4000)


def _mushrooms() -> Rows:
    found = libsvm("mushrooms", 112)
    assert found is not None
    X, y = found
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def _heart() -> Rows:
    found = libsvm("heart_scale", 13)
    assert found is not None
    return found[0].toarray(), found[1]


def _lines(name: str, encoding: str) -> list[str]:
    with gzip.open(_folder() / name, "rt", encoding=encoding) as file:
        return file.read().strip().split("\n")


def _sms() -> Rows:
    labels, texts = zip(*(line.split("\t", 1) for line in _lines(SMS, "utf-8")), strict=True)
    return np.array(texts, dtype=object), np.array(labels)


def _polarity() -> Rows:
    sides = [_lines(name, "latin-1") for name in (NEGATIVE, POSITIVE)]
    return np.array([*sides[0], *sides[1]], dtype=object), np.repeat([0, 1], [len(side) for side in sides])


SHIPPED = (
    DataSet("iris", _shipped(datasets.load_iris)),
    DataSet("wine", _shipped(datasets.load_wine)),
    DataSet("breast cancer", _shipped(datasets.load_breast_cancer)),
    DataSet("digits", _shipped(datasets.load_digits)),
)
MADE = (
    DataSet("a line with a gap", lambda: make_separable(1000, 20, 0.02, random_state=0)),
    DataSet("noisy clusters", _noisy),
    DataSet("few noisy rows", _few_noisy),
    DataSet("moons", lambda: datasets.make_moons(1000, noise=0.2, random_state=0)),
    DataSet("circles", lambda: datasets.make_circles(1000, noise=0.1, factor=0.5, random_state=0)),
    DataSet("XOR", lambda: make_xor(1000, noise=0.4, random_state=0)),
)
REAL = (
    DataSet("sonar", lambda: _table(SONAR), files=(SONAR,)),
    DataSet("ionosphere", lambda: _table(IONOSPHERE), files=(IONOSPHERE,)),
    DataSet("heart", _heart, files=("libsvm/heart_scale.bz2",)),
    DataSet("mushrooms", _mushrooms, FunctionTransformer, ("libsvm/mushrooms.bz2",)),
    DataSet("adult, 8,000 rows", _adult, _adult_columns, (ADULT,)),
    DataSet("MNIST, 4,000 rows", _mnist, FunctionTransformer, MNIST),
    DataSet("SMS spam", _sms, TfidfVectorizer, (SMS,)),
    DataSet("film reviews", _polarity, TfidfVectorizer, (POSITIVE, NEGATIVE)),
)


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


# Figures on real data: accuracy, and what a vote costs. Where files are missing, a sentence says which.


def accuracy(quick: bool) -> list[Figure]:
    """Return test accuracies of ten averaged passes, and whether the perceptron separates mushrooms."""
    found = []
    sets = [
        ("MNIST", mnist("train"), mnist("t10k"), 0.917, "mnist/*-ubyte.gz"),
        ("a9a", libsvm("a9a", 123), libsvm("a9a.t", 123), 0.845, "libsvm/a9a.bz2 and libsvm/a9a.t.bz2"),
    ]
    for name, train, test, target, files in sets:
        some = 5000 if quick else None
        title = f"{name} test accuracy, averaged, 10 passes" + (f" over {some} rows" if quick else "")
        if train is None or test is None:
            found.append(Figure(title, missing_data(files)))
            continue
        model = rosenblatt.AveragedPerceptron(max_iter=10, random_state=0).fit(train[0][:some], train[1][:some])
        score = model.score(*test)
        found.append(Figure(title, f"{score:.2%}", f">= {target:.1%}", score >= target))
    mushrooms = libsvm("mushrooms", 112)
    if mushrooms is None:
        found.append(Figure("mushrooms, perceptron", missing_data("libsvm/mushrooms.bz2")))
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = rosenblatt.Perceptron(random_state=0).fit(*mushrooms)
        shown = f"{'separated' if model.converged_ else 'mistakes left'} after {model.n_iter_} passes"
        found.append(Figure("mushrooms, perceptron", shown, "separated", model.converged_))
    return found


def voted(quick: bool) -> list[Figure]:
    """Return the time of a voted prediction, and of a naive one that asks each weight vector in turn.

    The naive time is an estimate: a sample of voters is timed (an update, a product with all test rows,
    their signs) and taken times the number of voters.
    """
    train, test = mnist("train"), mnist("t10k")
    if train is None or test is None:
        return [Figure("voted prediction, MNIST", missing_data("mnist/*-ubyte.gz"))]
    n, rows = (2000, 200) if quick else (10_000, 1000)
    X, y = train[0][:n], train[1][:n]
    T = test[0][:rows]
    model = rosenblatt.VotedPerceptron(max_iter=1, random_state=0).fit(X, y)
    model.predict(T[:10])  # compiles
    taken = min(seconds(lambda: model.predict(T)) for _ in range(3))
    w, votes, sample = np.zeros(784), np.zeros(rows), 200

    def ask() -> None:
        for x in X[:sample]:
            w[:] += x
            votes[:] += np.sign(T @ w + 1.0)

    naive = min(seconds(ask) for _ in range(3)) / sample * model.n_updates_
    shown = f"{taken:.2f} s; naive loop about {naive:.2f} s, estimated from {sample} voters"
    return [Figure(f"voted prediction, MNIST, {rows} rows, {model.n_updates_} voters", shown)]
