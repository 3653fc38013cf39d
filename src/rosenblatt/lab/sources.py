"""Sources of the points with which the lab opens: a table, a state that the page exported, or a link to the page."""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from typing import Any, NoReturn

from rosenblatt.lab.points import MOST_POINTS, points_of, state_points
from rosenblatt.messages import shorten

_MOST_BYTES = 100_000_000
_TABLES = (".csv", ".tsv", ".txt")
_LINKS = ("http://", "https://", "file:")


def read_source(source: str) -> tuple[dict[str, Any], str]:
    """Read the state in a file or a link; return its fields, and notes for the user, or "" if there are none.

    The page checks the fields.
    """
    if source.lower().startswith(_LINKS):
        fragment = source.partition("#")[2]
        if not fragment:
            raise ValueError("the link has no state after a #: copy the whole address of the page, in quotes.")
        return _from_fragment(fragment), ""
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
        if path.suffix.lower() == ".json":
            return _from_json(content), ""
        X, y, held_out, note = points_of(_decoded(content))
    except ValueError as fault:
        raise ValueError(f"{source}: {fault}") from None
    return {"version": 1, "points": state_points(X, y, held_out)}, note


def _from_json(text: str | bytes) -> dict[str, Any]:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(constant)

    try:
        state = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise ValueError("a state of the lab must be JSON, as the page's menu File writes it.") from None
    if type(state) is not dict or state.get("version") != 1:
        raise ValueError(f"a state of the lab must be a dictionary with 'version': 1, got {shorten(state)}.")
    return state


def _from_fragment(fragment: str) -> dict[str, Any]:
    try:
        text = base64.urlsafe_b64decode(fragment + "=" * (-len(fragment) % 4))
    except (ValueError, binascii.Error):
        raise ValueError("the part of the link after # is not a state of the lab: copy the whole address.") from None
    return _from_json(text)


def _decoded(content: bytes) -> str:
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        raise ValueError("the text is not UTF-8: save the table as CSV UTF-8.") from None
