"""Sources of the state with which the lab opens: a table of points, an exported state, or an address of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rosenblatt.lab.points import points_of
from rosenblatt.lab.state import LabState, view_of
from rosenblatt.lab.state_fields import MOST_POINTS
from rosenblatt.messages import shorten

_MOST_BYTES = 100_000_000
_TABLES = (".csv", ".tsv", ".txt")


def read_source(source: str) -> tuple[LabState, str]:
    """Read a state from a file or an address; return the state and notes for the user, or "" if there are none.

    >>> address = "http://127.0.0.1:8000/token/#" + LabState(seed=7).to_fragment()
    >>> read_source(address) == (LabState(seed=7), "")
    True
    """
    if source.lower().startswith(("http://", "https://")):
        fragment = source.partition("#")[2]
        if not fragment:
            raise ValueError("the address has no state after a #: copy the whole address of the page, in quotes.")
        return LabState.from_fragment(fragment), ""
    path = Path(source)
    if path.suffix.lower() not in (".json", *_TABLES):
        raise ValueError(f"{source} must end in .csv, .tsv, .txt or .json, or be the address of a lab page.")
    with open(path, "rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(
            f"{source} is larger than {_MOST_BYTES // 1_000_000} MB: save fewer rows, as the lab shows at most "
            f"{MOST_POINTS:,} points."
        )
    try:
        if path.suffix.lower() == ".json":
            return LabState.from_json(content), ""
        X, y, held_out, note = points_of(_decoded(content))
    except ValueError as fault:
        raise ValueError(f"{source}: {fault}") from None
    return LabState().with_points(X, y, held_out), note


def csv_message(body: object) -> dict[str, Any]:
    """Return the points of a table, a view that shows all of them, and notes for the user.

    >>> csv_message({"text": "x,y,label\\n1,2,1\\n0,0,-1\\n"})
    {'points': [[1.0, 2.0, 1], [0.0, 0.0, -1]], 'view': [0.5, 1.0, 1.25], 'note': ''}
    """
    if type(body) is not dict or set(body) != {"text"} or type(body["text"]) is not str:
        raise ValueError(f"a csv request must be a dictionary with 'text', got {shorten(body)}.")
    X, y, held_out, note = points_of(body["text"])
    state = LabState().with_points(X, y, held_out)
    return {"points": state.to_plain()["points"], "view": list(view_of(X)), "note": note}


def _decoded(content: bytes) -> str:
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        raise ValueError("the text is not UTF-8: save the table as CSV UTF-8.") from None
