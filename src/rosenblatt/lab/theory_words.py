"""Separators, counts and numbers in the words of the page."""

from __future__ import annotations

from rosenblatt.lab.state import LabState

SIGNS = {"x": "x", "y": "y", "xy": "xy", "x2": "x²", "y2": "y²", "r2": "r²"}


def separators_words(state: LabState) -> str:
    """Return what separates points in the space that is trained in, after "no".

    >>> separators_words(LabState()), separators_words(LabState(features=("x", "y", "r2")))
    ('line', 'plane in the space of (x, y, r²)')
    """
    names = state.feature_names
    if set(names) == {"x", "y"}:
        return "line"
    if len(names) == 1:
        return f"threshold on {SIGNS[names[0]]}"
    kind = {2: "line", 3: "plane"}.get(len(names), "hyperplane")
    return f"{kind} in the space of ({', '.join(SIGNS[name] for name in names)})"


def separator_words(state: LabState) -> str:
    """Return the same at the beginning of a sentence.

    >>> separator_words(LabState(features=("xy",)))
    'A threshold on xy'
    """
    return f"A {separators_words(state)}"


def counted(n: int, word: str) -> str:
    """Return a count with its word.

    >>> counted(1, "point"), counted(1000, "point")
    ('1 point', '1,000 points')
    """
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def short(value: float) -> str:
    """Return four digits of a number, with a real minus sign.

    >>> short(0.353553), short(-2.0)
    ('0.3536', '−2')
    """
    return f"{value:.4g}".replace("-", "−")
