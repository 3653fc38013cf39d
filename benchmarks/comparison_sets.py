"""The data of the comparison with other classifiers: sets that ship with scikit-learn, made ones, and real ones."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from benchmarks.workloads import MNIST, libsvm, mnist, real_data
from rosenblatt.data import make_separable, make_xor

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
