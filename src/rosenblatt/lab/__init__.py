"""The lab: a web page that shows a perceptron learning step by step, as one HTML file that needs nothing else.

``rosenblatt lab`` writes the file and opens it. `page` returns it as a string, and `show` shows it in a notebook.
"""

from __future__ import annotations

import html
from importlib import import_module
from typing import Any

from numpy.typing import ArrayLike

from rosenblatt.lab.bundle import bundle
from rosenblatt.lab.sources import state_points

__all__ = ["page", "show"]

_SETTINGS = (
    *("learner", "features", "bias", "order", "seed", "picks", "kernel", "degree", "gamma", "coef0", "margin", "C"),
    *("loss", "r", "passes", "updates", "view", "at", "panel", "own", "family", "lesson", "exercise", "show", "hide"),
)
"""The fields of the page's state, but for its version and its points."""


def page(
    X: ArrayLike | None = None, y: ArrayLike | None = None, held_out: ArrayLike | None = None, **settings: Any
) -> str:
    """Return the lab as HTML: a page with everything in it, which opens with these points.

    Parameters
    ----------
    X : array-like of shape (n, 2), default=None
        At most 1,000 points of the plane. Without points, the page opens with an example of its own.
    y : array-like of shape (n,), default=None
        The label of each point. The first in sorted order is drawn as orange triangles (-1), all others as blue discs
        (1).
    held_out : array-like of shape (n,), default=None
        For each point, whether it is only for testing.
    **settings
        What the page's controls set, under the names of the JSON that File saves: ``learner``, ``features``,
        ``bias``, ``order``, ``seed``, ``passes``, ``panel`` and so on. The page checks their values.

    See Also
    --------
    show : Show the page in a notebook.

    Examples
    --------
    >>> from rosenblatt import lab
    >>> text = lab.page([[0, 0], [1, 0], [0, 1]], [-1, 1, 1], learner="averaged", bias=False)
    >>> text.startswith("<!doctype html>"), '"learner":"averaged"' in text
    (True, True)
    """
    unknown = next((name for name in settings if name not in _SETTINGS), None)
    if unknown is not None:
        raise TypeError(f"the lab has no setting {unknown!r}: it has {', '.join(_SETTINGS)}.")
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together, got only one of them: give a label for each point.")
    given: dict[str, Any] = {"version": 1, **settings}
    if X is not None and y is not None:
        given["points"] = state_points(X, y, held_out)
    return bundle({"state": given} if len(given) > 1 else {})


def show(
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    held_out: ArrayLike | None = None,
    height: int = 800,
    **settings: Any,
) -> None:
    """Show the lab in a notebook, with these points; it needs no network, and each call shows a page of its own.

    Parameters
    ----------
    X, y, held_out, **settings
        As for `page`.
    height : int, default=800
        The height of the page, in pixels.

    See Also
    --------
    page : The page as a string.

    Examples
    --------
    >>> from rosenblatt import lab
    >>> lab.show([[0, 0], [1, 0], [0, 1]], [-1, 1, 1])  # doctest: +SKIP
    """
    try:
        notebook = import_module("IPython.display")
    except ImportError:
        raise ImportError("lab.show needs a notebook with IPython: lab.page(X, y) is the page as a string.") from None
    source = html.escape(page(X, y, held_out, **settings))
    style = f"width: 100%; height: {int(height)}px; border: 0"
    notebook.display(
        notebook.HTML(f'<div><iframe title="Perceptron lab" style="{style}" srcdoc="{source}"></iframe></div>')
    )
