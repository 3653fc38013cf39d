"""What a figure is: a picture, a caption with the numbers filled in, and these numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.datasets import load_iris, load_wine

from rosenblatt.plots.axes import import_matplotlib
from rosenblatt.theory.inputs import shown_number, true_minus

Picture: TypeAlias = Any  # a matplotlib Figure, which may not be installed

CIML = "A Course in Machine Learning, chapter 4"
HAR_PELED = "Har-Peled, chapter 30"
NOTES = "Parametric learning and perceptrons, chapter 3"


class Shown(NamedTuple):
    """What the function of a figure returns; the caption names numbers, as in ``"{updates} updates"``."""

    picture: Picture
    caption: str
    numbers: dict[str, Any]


@dataclass(frozen=True)
class Drawing:
    """A figure as it was drawn: what ``figures.draw`` returns.

    Attributes
    ----------
    id, title : str
        As in ``figures.catalogue``.
    picture : matplotlib Figure
        To be shown or saved; it belongs to no window.
    caption : str
        One paragraph, with the numbers filled in.
    numbers : dict
        What the picture shows, by name.
    """

    id: str
    title: str
    picture: Picture
    caption: str
    numbers: dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """A figure in the catalogue: its id and title, the text that it is from, and the function that draws it."""

    id: str
    title: str
    text: str
    function: Callable[[], Shown]

    def draw(self) -> Drawing:
        """Draw the figure, from its data and a run with a fixed seed."""
        with import_matplotlib("style").context("default"):  # not that of the session
            picture, caption, numbers = self.function()
        return Drawing(self.id, self.title, picture, true_minus(caption.format(**numbers)), numbers)


def blank(width: float, height: float, layout: str | None = "constrained") -> Picture:
    """Return an empty picture of so many inches, without a window; by its layout all that is drawn finds room."""
    return import_matplotlib("figure").Figure(figsize=(width, height), layout=layout)


# The numbers of a drawing as people read them: on the page of figures, and in the gallery of the documentation.


def number_words(value: Any) -> str:
    """Return a value of a drawing in words: six digits of a number, lists and dictionaries with all that they hold.

    >>> number_words([0.123456789, -2, [1.0, "a"]]), number_words({"least": 1234, "proved": True})
    ('0.123457, −2, (1, a)', 'least: 1,234; proved: yes')
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return "; ".join(f"{name}: {number_words(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(
            f"({number_words(item)})" if isinstance(item, list | tuple) else number_words(item) for item in value
        )
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return true_minus(f"{value:,}")
    return shown_number(value, 6) if isinstance(value, float) else str(value)


# The measurements that most figures are drawn from: Fisher's irises, and wines of three cultivars.


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
