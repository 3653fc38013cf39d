"""Validation of preparations: a preparation is plain data that defines how rows are made from files."""

from __future__ import annotations

import math
from collections.abc import Container
from typing import Annotated, Any

from rosenblatt.data.io.bytes import FORMATS, LABEL_MARK, TABLES
from rosenblatt.data.source import FILLS, VERSION, ColumnEntry, Preparation
from rosenblatt.messages import ParameterError, Setting, shorten
from rosenblatt.scaling import METHODS
from rosenblatt.storage.schema import Place, codec_of, integer, list_of, number, read_fields, record, size, string

KINDS = ("number", "boolean", "category", "text", "date", "decimal-comma", "thousands-comma")
"""The kinds of columns of a table."""
DATE_ORDERS = ("dmy", "mdy")
"""Day-month-year and month-day-year; dates that begin with the year need no order."""
LABEL_KINDS = ("integer", "number", "boolean", "text", "category")
"""The kinds of labels. A word such as NA is a missing label for the kind "text", and a class for "category"."""
MOST_BITS = 30
MOST_NGRAMS = 5
MOST_CHARACTERS = 10
"""The largest number of characters in an n-gram."""
_MOST_FEATURES = 2**31 - 1


def is_preparation(data: object) -> bool:
    """Return whether ``data`` looks like the preparation of a stream and not like other data of the user."""
    return type(data) is dict and data.get("format") in FORMATS and "version" in data


def number_of_feature(preparation: Preparation, feature: int) -> str:
    """Return a name for an unnamed feature: its index in svmlight text, or else its column, counted from 0.

    >>> number_of_feature({"format": "svmlight", "zero_based": False}, 6), number_of_feature({"format": "npz"}, 6)
    ('feature 7', '#6')
    """
    if preparation["format"] != "svmlight":
        return f"#{feature}"
    return f"feature {feature + (not preparation['zero_based'])}"


def is_hashed(column: ColumnEntry) -> bool:
    """Return whether a column of a preparation is hashed: it holds text, or categories that are not listed.

    >>> is_hashed({"name": "note", "kind": "text"})
    True
    >>> is_hashed({"name": "sex", "kind": "category", "categories": ["female", "male"]})
    False
    """
    return column["kind"] == "text" or (column["kind"] == "category" and column.get("categories") is None)


def has_only_texts(preparation: Preparation) -> bool:
    """Return whether all features are words of texts.

    >>> has_only_texts({"columns": [{"name": "note", "kind": "text"}]}), has_only_texts({"format": "vw"})
    (True, False)
    """
    columns = preparation.get("columns")
    return bool(columns) and all(column["kind"] == "text" for column in columns or ())


def hashed_columns(preparation: Preparation) -> int:
    """Return the number of features into which words and categories are hashed; they come after all others.

    >>> hashed_columns({"columns": [{"name": "note", "kind": "text"}], "bits": 10}), hashed_columns({"format": "npz"})
    (1024, 0)
    """
    return 2 ** preparation["bits"] if any(map(is_hashed, preparation.get("columns") or ())) else 0


# The schemas of preparations, one for each format or group of formats.


_MissingNumbers = Annotated[str, string(*FILLS)]
_Features = Annotated[int, integer(1, _MOST_FEATURES)]


class _Scale:
    method: Annotated[str, string(*METHODS[1:])]
    features: Annotated[list[int], list_of(integer(0, _MOST_FEATURES), "scaled")]
    centre: Annotated[list[float], list_of(number(), "scaled")]
    spread: Annotated[list[float], list_of(number(math.ulp(0.0)), "scaled")]


class _Any:
    format: Annotated[str, string(*FORMATS)]
    version: Annotated[int, integer(VERSION, VERSION)]
    scale: Annotated[dict[str, Any], record(_Scale, dict)] | None = None


class _Svmlight(_Any):
    zero_based: bool
    n_features: _Features | None


class _Vw(_Any):
    bits: Annotated[int, integer(1, MOST_BITS)]
    n_features: _Features | None


class _Npz(_Any):
    target: str
    missing: _MissingNumbers
    n_features: Annotated[int, size("features", 0, _MOST_FEATURES)]
    fill: Annotated[list[float], list_of(number(), "features")] | None


class _Dialect:
    header: bool | None = None
    delimiter: str | None = None
    quote: str | None = None
    mark: Annotated[str, string("", LABEL_MARK.decode())] | None = None


class _Target:
    name: str
    kind: Annotated[str, string(*LABEL_KINDS)]


class _Column:
    name: str
    kind: Annotated[str, string(*KINDS)]
    categories: list[str] | None = None
    order: Annotated[str, string(*DATE_ORDERS)] | None = None
    unit: str | None = None
    fill: float | None = None


class _Table(_Any):
    dialect: Annotated[dict[str, Any], record(_Dialect, dict)]
    order: list[str]
    ignored: list[str]
    missing_values: list[str]
    target: Annotated[dict[str, Any], record(_Target, dict)] | None
    weight: str | None
    others: bool
    sparse: bool
    missing: _MissingNumbers
    bits: Annotated[int, integer(1, MOST_BITS)]
    ngrams: Annotated[int, integer(1, MOST_NGRAMS)]
    characters: Annotated[list[int], list_of(integer(1, MOST_CHARACTERS), 2)] | None = None
    columns: Annotated[list[dict[str, Any]], list_of(record(_Column, dict))]
    lists: bool | None = None
    n_features: _Features | None = None


def check_preparation(data: object) -> int | None:
    """Return the number of features that a preparation defines, or None if the preparation does not define it.

    Raise a ValueError unless ``data`` is a valid ``stream.preparation``.

    >>> check_preparation({"format": "svmlight", "version": 1, "zero_based": True, "n_features": 3})
    3
    >>> check_preparation({"format": "svmlight", "version": 1, "zero_based": 1, "n_features": 3})
    Traceback (most recent call last):
    ValueError: the preparation: 'zero_based' must be true or false, got 1.
    """
    place = Place("the preparation")
    if type(data) is not dict:
        raise place.error("a dictionary", data)
    format = string(*FORMATS).read(data.get("format"), place.at("format"))
    schema: type = _Table if format in TABLES else {"svmlight": _Svmlight, "vw": _Vw, "npz": _Npz}[format]
    found = read_fields(schema, data, place)
    features: int | None = found["n_features"]
    centred: Container[int] = range(features or 0) if schema is _Npz else ()
    if schema is _Table:
        features, centred = _table_features(found, place)
    if found["scale"] is not None:
        _check_scale(found["scale"], features, centred, place.at("scale"))
    return features


def _check_scale(scale: dict[str, Any], width: int | None, centred: Container[int], place: Place) -> None:
    features, centre = scale["features"], scale["centre"]
    if sorted(set(features)) != features:
        raise place.at("features").error("a list of distinct integers in ascending order", features)
    if features and features[-1] >= (_MOST_FEATURES if width is None else width):
        raise place.at("features").error("a list of existing features", features)
    if scale["method"] == "maxabs" and any(centre):
        raise place.at("centre").error("0 in all places for maxabs", centre)
    if any(number and j not in centred for j, number in zip(features, centre, strict=True)):
        raise place.at("centre").error("0 for features that are not columns of numbers", centre)


def _table_features(table: Preparation, place: Place) -> tuple[int | None, Container[int]]:
    """Return the number of features of a table, and the indices of the features that are columns of numbers.

    Raise a ValueError if parts of the preparation contradict each other.
    """
    dialect, columns = table["dialect"], table["columns"]
    if dialect["delimiter"] is not None:
        codec_of(bool).read(dialect["header"], place.at("dialect.header"))
        for name in ("delimiter", "quote"):
            check_character(name, string().read(dialect[name], place.at(f"dialect.{name}")))
    if bool(table["lists"]) == bool(columns):
        raise place.at("columns").error("a list of columns, which is empty if the rows are sparse lists", columns)
    if table["lists"]:
        return table["n_features"], ()
    if table["characters"] is not None and table["characters"] != sorted(table["characters"]):
        raise place.at("characters").error("the smallest and the largest number", table["characters"])
    fixed, numbers, hashed = 0, set(), 0
    for column in columns:  # hashed columns come after all others
        kind = column["kind"]
        if column["categories"] is not None and kind != "category":
            raise place.at("columns").error(f"columns of kind {kind} without categories", column)
        if kind in ("category", "text"):
            hashed = hashed if column["categories"] is not None else 2 ** table["bits"]
            fixed += len(column["categories"] or ())
        else:
            numbers |= {fixed} if kind != "boolean" else set()
            fixed += 1
    return fixed + hashed, numbers


def check_character(name: str, character: str) -> None:
    """Raise a ParameterError unless ``character`` is a valid delimiter or quote; "" means that there is no quote."""
    allowed = len(character) == 1 and character.isascii() and character not in "\r\n"
    if not allowed and not (name == "quote" and character == ""):
        what = "{setting} must be one ASCII character, got {got}."
        raise ParameterError(what, setting=Setting(name), got=shorten(character))
