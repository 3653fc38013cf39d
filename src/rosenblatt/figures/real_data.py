"""The measurements that most figures are drawn from: Fisher's irises, and wines of three cultivars."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_iris, load_wine


def flowers(first: str, second: str, *measures: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the irises of two kinds, 50 of each, as rows of some measures in cm, and the kind of each.

    >>> X, y = flowers("setosa", "versicolor", "petal length", "petal width")
    >>> X[0], y[0], y[-1], X.shape
    (array([1.4, 0.2]), 'setosa', 'versicolor', (100, 2))
    """
    iris = load_iris()
    kinds = iris.target_names[iris.target].astype(object)
    columns = [iris.feature_names.index(f"{measure} (cm)") for measure in measures]
    wanted = np.isin(iris.target, [list(iris.target_names).index(kind) for kind in (first, second)])
    return iris.data[wanted][:, columns], kinds[wanted]


def wines(first: int, second: int, *measures: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the wines of two of the cultivars 1, 2 and 3 as rows of some measures, and the cultivar of each.

    >>> X, y = wines(1, 3, "alcohol", "flavanoids")
    >>> X[0], y[0], X.shape
    (array([14.23,  3.06]), 'cultivar 1', (107, 2))
    """
    wine = load_wine()
    columns = [wine.feature_names.index(measure) for measure in measures]
    wanted = np.isin(wine.target, [first - 1, second - 1])
    names = np.array([f"cultivar {number + 1}" for number in wine.target[wanted]], dtype=object)
    return wine.data[wanted][:, columns], names
