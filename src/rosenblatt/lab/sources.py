"""What the lab opens with: arrays, a table, a state that the page exported, or a link to the page."""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.messages import count_of, shorten

MOST_POINTS = 1000
LARGEST = 1e6
"""The largest coordinate of a point."""
_MOST_BYTES = 20_000_000
_TABLES = (".csv", ".tsv", ".txt")
_LINKS = ("http://", "https://", "file:")


def state_points(X: ArrayLike, y: ArrayLike, held_out: ArrayLike | None = None) -> list[list[Any]]:
    """Return points as the page's state has them: lists of x, y, the label (1 or -1), and True if held out for testing.

    >>> state_points([[0, 0], [1, 2]], ["a", "b"], [False, True])
    [[0.0, 0.0, -1], [1.0, 2.0, 1, True]]
    """
    points, labels = np.asarray(X, dtype=np.float64) + 0.0, np.asarray(y)  # no -0
    tests = np.zeros(len(labels), bool) if held_out is None else np.asarray(held_out, dtype=bool)
    if points.ndim != 2 or points.shape[1] != 2 or not len(points) <= MOST_POINTS:
        raise ValueError(f"X must have two columns and at most {MOST_POINTS:,} rows, got the shape {points.shape}.")
    if labels.shape != (len(points),) or tests.shape != labels.shape:
        raise ValueError(f"y and held_out must have an entry for each of the {count_of(len(points), 'point')} of X.")
    if not (np.abs(points) <= LARGEST).all():
        raise ValueError(f"X must have coordinates from -{LARGEST:,.0f} to {LARGEST:,.0f}: scale them first.")
    classes = np.unique(labels).tolist()
    if not set(classes) <= {-1, 1}:
        if len(classes) < 2:
            raise ValueError(f"y must have labels of two classes, got only {classes[0]!r}.")
        labels = np.where(labels == classes[0], -1, 1)
    return [
        [*point, int(label), *([True] if test else [])]
        for point, label, test in zip(points.tolist(), labels.tolist(), tests.tolist(), strict=True)
    ]


def read_source(source: str) -> dict[str, Any]:
    """Return the text of a table (``table``), or the fields of the state in a file or a link (``state``).

    The page reads the table and checks the fields.
    """
    if is_link(source):
        return {"state": _state(text_of_link(source))}
    path = Path(source)
    if path.suffix.lower() not in (".json", *_TABLES):
        raise ValueError(f"{source} must end in .csv, .tsv, .txt or .json, or be a link to a lab page.")
    with open(path, "rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(
            f"{source} is larger than {_MOST_BYTES // 1_000_000} MB: save fewer rows, as the lab shows at most "
            f"{MOST_POINTS:,} points."
        )
    try:
        return {"state": _state(content)} if path.suffix.lower() == ".json" else {"table": _decoded(content)}
    except ValueError as fault:
        raise ValueError(f"{source}: {fault}") from None


def is_link(source: str) -> bool:
    """Return whether a source is a link to a page, and not a file."""
    return source.lower().startswith(_LINKS)


def text_of_link(link: str) -> bytes:
    """Return the JSON that the part of a link after # stands for."""
    fragment = link.partition("#")[2]
    if not fragment:
        raise ValueError("the link has nothing after a #: copy the whole address of the page, in quotes.")
    try:
        return base64.urlsafe_b64decode(fragment + "=" * (-len(fragment) % 4))
    except (ValueError, binascii.Error):
        raise ValueError("the part of the link after # is not from the lab: copy the whole address.") from None


def parsed(text: str | bytes) -> Any:
    """Return the value of a JSON text; raise a ValueError for other text, NaN and infinity, and too many brackets."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(constant)

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise ValueError("the text must be JSON, as the page writes it.") from None


def _state(text: str | bytes) -> dict[str, Any]:
    state = parsed(text)
    if type(state) is not dict or state.get("version") != 1:
        raise ValueError(f"a state of the lab must be a dictionary with 'version': 1, got {shorten(state)}.")
    return state


def _decoded(content: bytes) -> str:
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        raise ValueError("the text is not UTF-8: save the table as CSV UTF-8.") from None
