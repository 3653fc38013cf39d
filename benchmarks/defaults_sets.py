"""The sets on which the defaults of the family were chosen: real ones, each with a test part that no choice sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from gzip import open as open_gzip
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import FunctionTransformer

from benchmarks import comparison_sets as others
from benchmarks.one_pass_sets import NEWS, RCV1, news_texts
from benchmarks.workloads import MNIST, libsvm, mnist, real_data
from rosenblatt import ExactScaler

TEST_SHARE = 0.3
Rows = tuple[Any, np.ndarray]


@dataclass(frozen=True)
class Parts:
    """Rows to learn from and rows to test on, prepared by what the former say."""

    train: Rows
    test: Rows


@dataclass(frozen=True)
class FamilySet:
    """``load`` returns all rows, of which a part is drawn to test on, or those to learn from and those to test on."""

    name: str
    load: Callable[[], tuple[Rows, ...]]
    files: tuple[str, ...] = ()
    prepare: Callable[[], Any] = FunctionTransformer
    chosen_on: bool = True
    """Whether parameters are chosen on it."""

    @property
    def here(self) -> bool:
        """Whether its files are here, if it has any."""
        return not self.files or real_data(*self.files) is not None

    def parts(self) -> tuple[Rows, Rows]:
        """Return rows to learn from and rows to test on, not yet prepared; a drawn part is the same in every run."""
        loaded = self.load()
        if len(loaded) == 2:
            return loaded[0], loaded[1]
        X, y = loaded[0]
        learned, tested = train_test_split(np.arange(len(y)), test_size=TEST_SHARE, stratify=y, random_state=0)
        return (X[learned], y[learned]), (X[tested], y[tested])

    def prepared(self, learned: Rows, tested: Rows) -> Parts:
        """Return both parts after the preparation that the first one fits."""
        preparation = self.prepare()
        X = preparation.fit_transform(learned[0])
        return Parts((_plain(X), learned[1]), (_plain(preparation.transform(tested[0])), tested[1]))


def cut(rows: Rows, most: int, seed: int) -> Rows:
    """Return at most ``most`` of the rows, drawn by class."""
    X, y = rows
    if len(y) <= most:
        return rows
    some, _ = train_test_split(np.arange(len(y)), train_size=most, stratify=y, random_state=seed)
    return X[some], y[some]


def family_sets() -> Iterator[FamilySet]:
    """Yield the sets that are here."""
    yield from (data for data in SETS if data.here)


def _plain(X: Any) -> Any:
    """Return sparse rows as floats with indices of 32 bits, others as they are."""
    if not sp.issparse(X):
        return X
    X = sp.csr_matrix(X, dtype=np.float64)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def _libsvm(*names: str, columns: int) -> tuple[Rows, ...]:
    return tuple(rows for rows in (libsvm(name, columns) for name in names) if rows is not None)


def _dense(name: str, columns: int) -> tuple[Rows, ...]:
    return tuple((X.toarray(), y) for X, y in _libsvm(name, columns=columns))


def _compared(name: str) -> tuple[Rows, ...]:
    """Return a set of the comparison with other classifiers, not prepared."""
    sets = {data.name: data for data in (*others.SHIPPED, *others.REAL)}
    return (sets[name].load(),)


def _mnist() -> tuple[Rows, ...]:
    return tuple(rows for rows in map(mnist, ("train", "t10k")) if rows is not None)


def _rcv1() -> tuple[Rows, ...]:
    folder = real_data()
    assert folder is not None
    parts = []
    for name in RCV1:
        with open_gzip(folder / name, "rt", encoding="utf-8") as file:
            rows = [line.split("|f ", 1) for line in file]
        parts.append((np.array([text for _, text in rows], dtype=object), np.array([int(label) for label, _ in rows])))
    return tuple(parts)


def _news() -> tuple[Rows, ...]:
    return tuple((np.array(texts, dtype=object), np.array(groups)) for texts, groups in news_texts())


def _words() -> CountVectorizer:
    return CountVectorizer(token_pattern=r"\w+")


class _UsedColumns:
    """A preparation that leaves out the columns that no row to learn from has."""

    def fit_transform(self, X: Any) -> Any:
        self.columns = np.unique(X.indices)
        return self.transform(X)

    def transform(self, X: Any) -> Any:
        return X[:, self.columns]


class _Pairs:
    """A preparation of texts such as ``13:0.5 96:1``."""

    def fit_transform(self, texts: np.ndarray) -> Any:
        self.places = {name: i for i, name in enumerate(sorted({name for text in texts for name, _ in _pairs(text)}))}
        return self.transform(texts)

    def transform(self, texts: np.ndarray) -> Any:
        values, columns, starts = [], [], [0]
        for text in texts:
            for name, value in _pairs(text):
                if name in self.places:
                    columns.append(self.places[name])
                    values.append(value)
            starts.append(len(values))
        X = sp.csr_matrix((values, columns, starts), shape=(len(texts), len(self.places)))
        X.sum_duplicates()
        return X


def _pairs(text: str) -> list[tuple[str, float]]:
    split = (pair.rpartition(":") for pair in text.split())
    return [(name, float(value)) for name, _, value in split]


def _libsvm_set(name: str, columns: int, *parts: str, chosen_on: bool = True) -> FamilySet:
    names = parts or (name,)
    files = tuple(f"libsvm/{part}.bz2" for part in names)
    return FamilySet(name, partial(_libsvm, *names, columns=columns), files, _UsedColumns, chosen_on)


def _table(name: str, file: str, load: Callable[[], tuple[Rows, ...]] | None = None) -> FamilySet:
    return FamilySet(name, load or partial(_compared, name), (file,) if file else (), ExactScaler)


SETS = (
    _libsvm_set("a9a", 123, "a9a", "a9a.t"),
    _libsvm_set("w8a", 300),
    _libsvm_set("mushrooms", 112),
    _libsvm_set("splice", 60),
    FamilySet("rcv1, 1,000 rows", _rcv1, RCV1, _Pairs),
    FamilySet("SMS spam", partial(_compared, "SMS spam"), (others.SMS,), _words),
    FamilySet("film reviews", partial(_compared, "film reviews"), (others.POSITIVE, others.NEGATIVE), _words),
    _table("breast cancer", ""),
    _table("heart", "libsvm/heart_scale.bz2"),
    _table("australian", "libsvm/australian.bz2", partial(_dense, "australian", 14)),
    _table("ionosphere", others.IONOSPHERE),
    _table("sonar", others.SONAR),
    _table("iris", ""),
    _table("wine", ""),
    _table("digits", ""),
    FamilySet("MNIST", _mnist, MNIST),
    _libsvm_set("news20", 62_061),
    FamilySet("20 newsgroups", _news, NEWS, _words, chosen_on=False),
    _libsvm_set("sector", 55_197, "sector.scale", "sector.t.scale", chosen_on=False),
)
"""Text is counts of words, as in `benchmarks.one_pass_sets`; tables are scaled as ``rosenblatt train`` scales them."""
