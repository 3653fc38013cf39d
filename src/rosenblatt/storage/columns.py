"""Weights in files without the columns that are zero, and names without those that only count: wide tables stay small.

Hashed features are many and mostly unused. So a file may store, of all arrays that have a column for each feature, only
the columns in which one of them is not zero, to the bit (-0.0 is not), and their indices in the array ``columns``; its
header then states the ``width``. Variances of weights are 1 in such columns. A small file can claim any width, which is
checked before memory is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.messages import IfAvailable, ParameterError, Setting
from rosenblatt.storage.schema import Place, integer, list_of, read_fields, size, word

MOST_FEATURES = 1 << 24
"""Columns that a file may claim without storing them, unless more are allowed."""
LEAST_SHARE = 64
"""A file with more columns stores at least one in so many, so that its size vouches for its width."""
_NUMBERS_PER_FEATURE = 16
"""Numbers that may be claimed for each column: there are several arrays, with a line for each class."""
_NUMBERS_PER_NAME = 8
"""A name takes the memory of so many numbers."""
_WIDE = re.compile(r"([a-z_.]+\.)?(w|u|s|candidate_w|coef|feature_ranges)")
"""Names of the arrays that have a column for each feature."""
_NUMBERED = re.compile(r"#(0|[1-9][0-9]{0,17})")
Arrays = Mapping[str, NDArray[Any]]


def pack_columns(arrays: Arrays) -> tuple[int | None, dict[str, NDArray[Any]]]:
    """Return the number of columns and the arrays without those that are zero; None and all, where that is no smaller.

    >>> width, packed = pack_columns({"w": np.array([[0.0, 0.0, 5.0, 0.0]])})
    >>> width, packed["columns"].tolist(), packed["w"].tolist()
    (4, [2], [[5.0]])
    """
    out = dict(arrays)
    wide = [name for name in arrays if _WIDE.fullmatch(name)]
    width = arrays[wide[0]].shape[-1] if wide else None
    if width is None or any(arrays[name].shape[-1] != width for name in wide):
        return None, out
    used = np.zeros(width, bool)
    for name in wide:
        for line in np.atleast_2d(arrays[name]):
            used |= np.ascontiguousarray(line).view(np.int64) != np.float64(_unused(name)).view(np.int64)
    if width > MOST_FEATURES and LEAST_SHARE * np.count_nonzero(used) < width:
        used[::LEAST_SHARE] = True
    columns = np.flatnonzero(used).astype(np.int32 if width <= 2**31 else np.int64)
    lines = sum(arrays[name].size // width for name in wide)
    if columns.nbytes + 8 * lines * len(columns) >= 8 * lines * width:
        return None, out
    out |= {name: np.ascontiguousarray(arrays[name][..., columns]) for name in wide}
    out["columns"] = columns
    return width, out


def unpack_columns(width: int | None, arrays: Arrays, max_features: int | None) -> dict[str, NDArray[Any]]:
    """Return the arrays with all their columns; a ValueError where they are not what `pack_columns` returns.

    More than ``max_features`` columns are a ParameterError; None allows as many as the stored ones vouch for.

    >>> unpack_columns(4, {"columns": np.array([2], np.int32), "w": np.array([[5.0]])}, 4)["w"]
    array([[0., 0., 5., 0.]])
    """
    out = dict(arrays)
    if width is None:
        return out
    columns = out.pop("columns", np.zeros((0, 0)))
    if columns.dtype.kind + str(columns.dtype.itemsize) not in ("i4", "i8") or columns.ndim != 1:
        raise ValueError("there is no array 'columns' of indices, as there should be where a width is stated.")
    if len(columns) and not (columns[0] >= 0 and columns[-1] < width and (columns[1:] > columns[:-1]).all()):
        raise ValueError(f"the indices in 'columns' must rise, from 0 to below {width:,}.")
    wide = [name for name in out if _WIDE.fullmatch(name)]
    for name in wide:
        array = out[name]
        if array.dtype != np.float64 or array.ndim not in (1, 2) or array.shape[-1] != len(columns):
            raise ValueError(f"the array {name!r} must have {len(columns):,} columns of floats.")
    lines = sum(len(out[name]) if out[name].ndim == 2 else 1 for name in wide)
    check_width(width, len(columns), lines, max_features)
    for name in wide:
        array = np.full((*out[name].shape[:-1], width), _unused(name))
        array[..., columns] = out[name]
        out[name] = array
    return out


def _unused(name: str) -> float:
    """Return what an array has in columns that nothing was learned of."""
    return 1.0 if name.rpartition(".")[2] == "s" else 0.0


def check_width(width: int, stored: int, lines: int, max_features: int | None) -> None:
    """Raise a ParameterError for more columns than allowed, of which so many are stored in so many lines."""
    most = MOST_FEATURES if max_features is None else max_features
    vouched = LEAST_SHARE * stored
    if width > most and (max_features is not None or width > vouched):
        advice = IfAvailable("max_features", ": if you trust it, allow them by ", Setting("max_features", width))
        raise ParameterError(f"it has {width:,} columns, and at most {most:,} are expected", advice, ".")
    if lines * width > max(_NUMBERS_PER_FEATURE * most, vouched * lines):
        needed = -(-lines * width // _NUMBERS_PER_FEATURE)
        advice = IfAvailable("max_features", ": if you trust it, allow them by ", Setting("max_features", needed))
        raise ParameterError(f"its {width:,} columns take {8 * lines * width:,} bytes of memory", advice, ".")


# names


def names_to_plain(names: list[str] | None) -> list[str] | dict[str, Any] | None:
    """Return names of features as a file has them: where most only count (#0, #1, ...), the others by their index.

    >>> names_to_plain(["age", "#0", "#1", "#2", "word", "#4"])
    {'count': 6, 'first': 1, 'columns': [0, 4], 'names': ['age', 'word']}
    """
    last = max((j for j, name in enumerate(names or ()) if _NUMBERED.fullmatch(name)), default=None)
    if names is None or last is None:
        return names
    first = last - int(names[last][1:])
    others = [j for j, name in enumerate(names) if name != f"#{j - first}"]
    if first < 0 or 2 * len(others) > len(names):
        return names
    return {"count": len(names), "first": first, "columns": others, "names": [names[j] for j in others]}


class _NameFields:
    count: Annotated[int, size("features")]
    first: int
    columns: Annotated[list[int], list_of(integer(), "others")]
    names: Annotated[list[str], list_of(word(), "others")]


def names_from_plain(data: object, n_features: int, max_features: int | None) -> list[str] | None:
    """Return the names of so many features that a file states; a ValueError where they are not that many words."""
    if data is None:
        return None
    place = Place("the header").at("feature_names")
    if type(data) is not dict:
        return list_of(word(), n_features).read(data, place)
    found = read_fields(_NameFields, data, place.alone(features=n_features))
    first, columns, words = found["first"], found["columns"], found["names"]
    check_width(n_features, len(words), 1, max_features)
    if max_features is not None and _NUMBERS_PER_NAME * n_features > max(max_features, MOST_FEATURES):
        allowed = Setting("max_features", _NUMBERS_PER_NAME * n_features)
        advice = IfAvailable("max_features", ": if you trust it, allow them by ", allowed)
        raise ParameterError(f"the names of its {n_features:,} columns take {64 * n_features:,} bytes", advice, ".")
    if first > n_features or max(columns, default=0) >= n_features:
        raise place.at("columns").error(f"a list of indices below {n_features:,}", columns)
    names = [f"#{j - first}" for j in range(n_features)]
    for j, name in zip(columns, words, strict=True):
        names[j] = name
    return names
