"""Probabilities of `calibrated` beside those of scikit-learn's `CalibratedClassifierCV`, out of fold over all rows.

``ROSENBLATT_DATA=folder python -m benchmarks.calibration --write docs/when_not.md`` puts the table into the page.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold, train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.comparison import REAL, SHIPPED, DataSet, markdown, placed
from benchmarks.measure import Figure
from rosenblatt import AveragedPerceptron, calibrated
from rosenblatt.training.calibration import Reliability, rate_rows

FOLDS = 5
UNSEEN_SHARE = 0.2
"""The share of the rows of a fold's training part to which probabilities are fitted, as by ``train --calibrate``."""
ALLOWED = 0.005
"""By how much our Brier score and calibration error may be above those of scikit-learn on the same rows."""
MARKS = "<!-- the probabilities start -->", "<!-- the probabilities end -->"


def ours(X: Any, y: np.ndarray, X_unseen: Any, y_unseen: np.ndarray) -> Any:
    """Return a model calibrated on unseen rows."""
    return calibrated(AveragedPerceptron(random_state=0).fit(X, y), X_unseen, y_unseen)


def theirs(X: Any, y: np.ndarray, X_unseen: Any, y_unseen: np.ndarray) -> Any:
    """Return the same model, calibrated by scikit-learn on the same rows."""
    model = AveragedPerceptron(random_state=0).fit(X, y)
    return CalibratedClassifierCV(FrozenEstimator(model)).fit(X_unseen, y_unseen)


def refitted(X: Any, y: np.ndarray, X_unseen: Any, y_unseen: np.ndarray) -> Any:
    """Return scikit-learn's default: five models of 80 % of all rows each, whose probabilities are averaged."""
    rows = sp.vstack([X, X_unseen], format="csr") if sp.issparse(X) else np.vstack([X, X_unseen])
    labels = np.concatenate([y, y_unseen])
    return CalibratedClassifierCV(AveragedPerceptron(random_state=0), cv=5).fit(rows, labels)


ARMS: dict[str, Callable[..., Any]] = {"ours": ours, "scikit-learn": theirs, "refitted": refitted}


@dataclass(frozen=True)
class Result:
    """What was measured on one set, by arm."""

    name: str
    shape: tuple[int, int]
    """Rows and classes."""
    reliability: dict[str, Reliability]

    @property
    def met(self) -> bool:
        """Whether ours is not worse than scikit-learn on the same rows by more than is allowed."""
        own, other = self.reliability["ours"], self.reliability["scikit-learn"]
        return own.brier <= other.brier + ALLOWED and own.error <= other.error + ALLOWED


def measure(data: DataSet) -> Result:
    """Predict every row by models of the other folds, and measure the probabilities over all rows."""
    X, y = data.load()
    classes = np.unique(y)
    found = {name: np.zeros((len(y), len(classes))) for name in ARMS}
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
        preparation = data.prepare()
        rows, tested = preparation.fit_transform(X[train]), preparation.transform(X[test])
        places = np.arange(len(train))
        seen, unseen = train_test_split(places, test_size=UNSEEN_SHARE, stratify=y[train], random_state=0)
        parts = rows[seen], y[train][seen], rows[unseen], y[train][unseen]
        for name, make in ARMS.items():
            found[name][test] = make(*parts).predict_proba(tested)
    labels = np.searchsorted(classes, y)
    measured = {name: Reliability.of(rate_rows(p, labels), len(classes)) for name, p in found.items()}
    return Result(data.name, (len(y), len(classes)), measured)


def compare(quick: bool) -> list[Result]:
    """Return what was measured on all real sets that are here; if ``quick``, on one small set."""
    sets = [data for data in (*SHIPPED, *REAL) if data.here]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [measure(data) for data in (sets[:1] if quick else sets)]


def probabilities(quick: bool) -> list[Figure]:
    """Return a line for each set: our Brier score and calibration error, beside scikit-learn's on the same rows."""
    found = []
    for result in compare(quick):
        own, other = result.reliability["ours"], result.reliability["scikit-learn"]
        shown = f"Brier {own.brier:.4f}, error {own.error:.4f}"
        target = f"<= {other.brier + ALLOWED:.4f}, {other.error + ALLOWED:.4f}"
        found.append(Figure(f"probabilities: {result.name}", shown, target, result.met))
    return found


def table(results: list[Result]) -> str:
    """Return the Brier scores and the calibration errors, in percent."""
    head = ["data", "rows, classes", *(f"Brier, {name}" for name in ARMS), *(f"error, {name}" for name in ARMS)]
    rows = [[*head, "error, perfect"]]
    for result in results:
        n, classes = result.shape
        briers = [f"{100 * result.reliability[name].brier:.2f}" for name in ARMS]
        errors = [f"{100 * result.reliability[name].error:.2f}" for name in ARMS]
        rows.append(
            [result.name, f"{n:,}, {classes}", *briers, *errors, f"{100 * result.reliability['ours'].chance:.2f}"]
        )
    return markdown(rows)


def text(results: list[Result]) -> str:
    """Return the text that goes between the marks of the page."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("rosenblatt", "scikit-learn", "numpy"))
    return f"{table(results)}\n\nMeasured with {packages}."


def main() -> None:
    """Measure, and print the table or write it into a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one small set")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page whose table is replaced")
    arguments = parser.parse_args()
    found = text(compare(arguments.quick))
    if arguments.write is None:
        print(found)
    else:
        arguments.write.write_text(placed(arguments.write.read_text(), found, MARKS))
        print(f"Written to {arguments.write}.")


if __name__ == "__main__":
    main()
