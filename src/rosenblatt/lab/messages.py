"""Messages between the page and the server: strict parsing of JSON requests, and responses."""

from __future__ import annotations

import json
import math
from typing import Any

from starlette.responses import PlainTextResponse, Response

from rosenblatt.messages import shorten

_DEEPEST = 50


def parse(body: bytes) -> Any:
    """Parse a JSON request. Raise a ValueError if it is invalid, nested too deeply, or has NaN or too large numbers.

    >>> parse(b'{"seed": 7}')
    {'seed': 7}
    >>> parse(b"[NaN]")
    Traceback (most recent call last):
    ValueError: A request must be JSON of finite numbers, got NaN.
    """
    try:
        data = json.loads(body.decode("utf-8"), parse_constant=_number, parse_float=_number, parse_int=_integer)
    except (json.JSONDecodeError, UnicodeDecodeError) as fault:
        where = f": {fault.msg} at character {fault.pos}" if isinstance(fault, json.JSONDecodeError) else ""
        raise ValueError(f"A request must be JSON in UTF-8{where}.") from None
    except RecursionError:
        data = None
        deep = True
    else:
        deep = _deeper(data, _DEEPEST)
    if deep:
        raise ValueError(f"A request must be JSON with at most {_DEEPEST} levels of brackets.")
    return data


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"A request must be JSON of finite numbers, got {text[:20]}.")
    return value


def _integer(text: str) -> int:
    if len(text) > 16:
        raise ValueError(f"A request must be JSON with integers of at most 15 digits, got {shorten(text)}.")
    return int(text)


def _deeper(data: Any, most: int) -> bool:
    """Return whether lists and dictionaries are nested more than ``most`` levels deep."""
    level = [data]
    for _ in range(most + 1):
        inner = [value.values() if isinstance(value, dict) else value for value in level if type(value) in (dict, list)]
        level = [item for values in inner for item in values]
        if not level:
            return False
    return True


def to_json(data: Any) -> bytes:
    """Return an answer as JSON; raise a ValueError if a number is not finite."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).encode("ascii")


def error(status: int, sentence: str) -> Response:
    """Return the response to a request that cannot be answered."""
    return Response(to_json({"error": sentence}), status, media_type="application/json")


def refusal(method: str, status: int, sentence: str) -> Response:
    """Return the response to a request that is refused: JSON for POST, otherwise plain text."""
    return error(status, sentence) if method == "POST" else PlainTextResponse(sentence, status)
