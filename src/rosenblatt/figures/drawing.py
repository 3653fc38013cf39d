"""What a figure is: a picture, a caption with the numbers filled in, and these numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from rosenblatt.plots.axes import import_matplotlib
from rosenblatt.theory.words import true_minus

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
