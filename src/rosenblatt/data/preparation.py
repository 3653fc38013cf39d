"""Preparations from files: plain data that says how rows are made, checked before anything is done as it says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Mapping
from typing import Any, TypeAlias

from rosenblatt.data.io.bytes import FORMATS, TABLES
from rosenblatt.data.source import FILLS, VERSION
from rosenblatt.messages import ParameterError, Setting, shorten
from rosenblatt.scaling import METHODS
from rosenblatt.storage.schema import StrictFields

KINDS = ("number", "boolean", "category", "text", "date", "decimal-comma", "thousands-comma")
"""What a column of a table may hold."""
DATE_ORDERS = ("dmy", "mdy")
"""Day, month, year, or month, day, year; dates whose year comes first need no order."""
LABEL_KINDS = ("integer", "number", "boolean", "text")
MOST_BITS = 30
MOST_NGRAMS = 5
_MOST_FEATURES = 2**31 - 1
_Width: TypeAlias = tuple[int | None, Container[int]]
"""How many features rows have, None where that is unknown, and which of them may be centred."""


def is_preparation(data: object) -> bool:
    """Return whether this looks like the preparation of a stream, as nothing else does that users attach to a model."""
    return type(data) is dict and data.get("format") in FORMATS and "version" in data


def number_of_feature(preparation: Mapping[str, Any], feature: int) -> str:
    """Return what a feature without a name is called: its number in svmlight text, or its place in rows, from 0.

    >>> number_of_feature({"format": "svmlight", "zero_based": False}, 6), number_of_feature({"format": "npz"}, 6)
    ('feature 7', '#6')
    """
    if preparation["format"] != "svmlight":
        return f"#{feature}"
    return f"feature {feature + (not preparation['zero_based'])}"


def is_hashed(column: dict[str, Any]) -> bool:
    """Return whether a column of a preparation is hashed: words, and categories that are too many to list.

    >>> is_hashed({"name": "note", "kind": "text"})
    True
    >>> is_hashed({"name": "sex", "kind": "category", "categories": ["female", "male"]})
    False
    """
    return column["kind"] == "text" or (column["kind"] == "category" and "categories" not in column)


def check_preparation(data: object) -> int | None:
    """Return how many features rows have that are made as a preparation says, None where it does not say so.

    A ValueError, with one sentence, where it is not what ``stream.preparation`` returns.

    >>> check_preparation({"format": "svmlight", "version": 1, "zero_based": True, "n_features": 3})
    3
    >>> check_preparation({"format": "svmlight", "version": 1, "zero_based": 1, "n_features": 3})
    Traceback (most recent call last):
    ValueError: the preparation: 'zero_based' must be true or false, got 1.
    """
    fields = StrictFields(data, "the preparation")
    format = fields.word("format", FORMATS)
    fields.whole("version", VERSION, VERSION)
    read: Callable[[StrictFields], _Width] = _table if format in TABLES else _OTHERS[format]
    features, centred = read(fields)
    if fields.has("scale"):
        _scale(fields.part("scale"), features, centred)
    fields.end()
    return features


def _scale(fields: StrictFields, width: int | None, centred: Container[int]) -> None:
    method = fields.word("method", METHODS[1:])
    features = fields.values("features")
    if any(type(feature) is not int for feature in features) or sorted(set(features)) != features:
        raise fields.wrong("features", "a list of different integers in order", features)
    if features and not 0 <= features[0] <= features[-1] < (_MOST_FEATURES if width is None else width):
        raise fields.wrong("features", "a list of features that there are", features)
    for name, least in (("centre", -sys.float_info.max), ("spread", 0.0)):
        numbers = fields.values(name)
        if len(numbers) != len(features) or any(type(number) is not float for number in numbers):
            raise fields.wrong(name, f"a list of {len(features)} numbers", numbers)
        if not all(least <= number <= sys.float_info.max for number in numbers):
            raise fields.wrong(name, "a list of finite numbers", numbers)
        if name == "spread" and 0.0 in numbers:
            raise fields.wrong(name, "a list of numbers above 0", numbers)
        if name == "centre" and method == "maxabs" and any(numbers):
            raise fields.wrong(name, "0 in all places for maxabs", numbers)
        if name == "centre" and any(number and j not in centred for j, number in zip(features, numbers, strict=True)):
            raise fields.wrong(name, "0 for features that are not columns of numbers", numbers)
    fields.end()


def _sparse(fields: StrictFields) -> _Width:
    return fields.optional("n_features", lambda name: fields.whole(name, 1, _MOST_FEATURES)), ()


def _svmlight(fields: StrictFields) -> _Width:
    fields.flag("zero_based")
    return _sparse(fields)


def _vw(fields: StrictFields) -> _Width:
    fields.whole("bits", 1, MOST_BITS)
    return _sparse(fields)


def _npz(fields: StrictFields) -> _Width:
    fields.word("target")
    fields.word("missing", FILLS)
    features = fields.whole("n_features", 0, _MOST_FEATURES)
    fill = fields.take("fill")
    if fill is not None and (
        type(fill) is not list or len(fill) != features or any(type(value) is not float for value in fill)
    ):
        raise fields.wrong("fill", f"a list of {features} numbers", fill)
    return features, range(features)


_OTHERS = {"svmlight": _svmlight, "vw": _vw, "npz": _npz}


def _table(fields: StrictFields) -> _Width:
    _dialect(fields.part("dialect"))
    for name in ("order", "ignored", "missing_values"):
        fields.words(name)
    fields.optional("target", lambda name: _target(fields.part(name)))
    fields.optional("weight", fields.word)
    fields.flag("others")
    fields.flag("sparse")
    fields.word("missing", FILLS)
    hashed = 2 ** fields.whole("bits", 1, MOST_BITS)
    fields.whole("ngrams", 1, MOST_NGRAMS)
    columns = [_column(StrictFields(column, "a column of the preparation")) for column in fields.values("columns")]
    if fields.has("lists") and fields.flag("lists"):
        if columns:
            raise fields.wrong("columns", "empty where rows are lists", columns)
        return _sparse(fields)
    if not columns:
        raise fields.wrong("columns", "a list of columns", columns)
    fixed, numbers = 0, set()
    for kind, features in columns:  # hashed ones come after all others
        numbers |= {fixed} if kind not in ("boolean", "category", "text") else set()
        fixed += features or 0
    return fixed + (hashed if any(features is None for _, features in columns) else 0), numbers


def _dialect(fields: StrictFields) -> None:
    if fields.has("delimiter"):
        fields.flag("header")
        for name in ("delimiter", "quote"):
            check_character(name, fields.word(name))
    fields.end()


def check_character(name: str, character: str) -> None:
    """Raise a ParameterError unless this can stand between cells or around them; "" is no quote at all."""
    allowed = len(character) == 1 and character.isascii() and character not in "\r\n"
    if not allowed and not (name == "quote" and character == ""):
        raise ParameterError(Setting(name), f" must be one ASCII character, got {shorten(character)}.")


def _target(fields: StrictFields) -> None:
    fields.word("name")
    fields.word("kind", LABEL_KINDS)
    fields.end()


def _column(fields: StrictFields) -> tuple[str, int | None]:
    """Return the kind of a column and how many features it has, None if it is hashed."""
    fields.word("name")
    kind = fields.word("kind", KINDS)
    features: int | None = 1
    if kind in ("category", "text"):
        features = len(fields.words("categories")) if kind == "category" and fields.has("categories") else None
    if kind == "date" and fields.has("order"):
        fields.word("order", DATE_ORDERS)
    if kind not in ("category", "text") and fields.has("fill"):
        fields.number("fill", -sys.float_info.max, sys.float_info.max)
    fields.end()
    return kind, features
