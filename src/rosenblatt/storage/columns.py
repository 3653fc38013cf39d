"""Compression of wide weight arrays and feature names: unused columns and numbered names are not stored.

A model with hashed features has many columns, most of them unused. A column is unused if every array with one column
per feature holds +0.0 there (not -0.0). Variances of weights must be 1 there instead. A file may leave out unused
columns. It then stores the indices of the other columns in the array ``columns``. An array with few used entries is
stored by these entries, as a CSR matrix: with the arrays ``NAME.columns`` and ``NAME.ends``. The header states the
total number of columns as ``width``. A small file can state any width, so it is checked before memory is allocated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.messages import Hint, ParameterError, shorten
from rosenblatt.storage.schema import Place, integer, list_of, read_fields, size, string

MOST_FEATURES = 1 << 24
"""The default limit on the stated width of a file that stores few of its columns."""
LEAST_SHARE = 64
"""A file wider than `MOST_FEATURES` stores at least one column in this many, so that its size justifies its width."""
_NUMBERS_PER_FEATURE = 16
"""The maximum number of floats per column in memory. Several arrays have columns, with a row for each class."""
_NUMBERS_PER_NAME = 8
"""The memory that a feature name takes, counted in floats of 8 bytes."""
_HEAD = 100
"""Entries are stored alone if there are so many less than half of them; their two arrays take space in the head."""
_WIDE = re.compile(r"([a-z_.]+\.)?(w|u|s|candidate_w|coef|feature_ranges)")
"""The names of the arrays that have one column per feature."""
_NUMBERED = re.compile(r"#(0|[1-9][0-9]{0,17})")
Arrays = Mapping[str, NDArray[Any]]


def pack_columns(arrays: Arrays) -> tuple[int | None, dict[str, NDArray[Any]]]:
    """Leave out the unused columns and entries of arrays; return the total number of columns and what remains.

    If that saves no space, the number is None and the arrays are unchanged.

    >>> width, packed = pack_columns({"w": np.array([[0.0, 0.0, 5.0, 0.0]])})
    >>> width, packed["columns"].tolist(), packed["w"].tolist()
    (4, [2], [[5.0]])
    """
    out = dict(arrays)
    wide = [name for name in arrays if _WIDE.fullmatch(name)]
    width = arrays[wide[0]].shape[-1] if wide else None
    if not width or any(arrays[name].shape[-1] != width for name in wide):
        return None, out
    n_rows = sum(arrays[name].size // width for name in wide)
    masks = {name: _are_used(name, arrays[name]) for name in wide}
    n_used = np.count_nonzero(_in_any_row(masks, width))
    if width <= MOST_FEATURES and n_rows * width <= _NUMBERS_PER_FEATURE * MOST_FEATURES:
        for name in wide:
            entries, dense = np.count_nonzero(masks[name]), arrays[name].size // width * n_used
            if arrays[name].ndim == 2 and 2 * entries + _HEAD < dense:
                out |= _entries(name, arrays[name], masks.pop(name))
    if masks:
        used = _in_any_row(masks, width)
        if width > MOST_FEATURES and LEAST_SHARE * np.count_nonzero(used) < width:
            used[::LEAST_SHARE] = True
        out["columns"] = np.flatnonzero(used).astype(np.int32 if width <= 2**31 else np.int64)
        out |= {name: np.ascontiguousarray(arrays[name][..., out["columns"]]) for name in masks}
    if sum(array.nbytes for array in out.values()) >= sum(array.nbytes for array in arrays.values()):
        return None, dict(arrays)
    return width, out


def _are_used(name: str, array: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a mask of the entries whose bits differ from those of an unused column."""
    mask: NDArray[np.bool_] = np.ascontiguousarray(array).view(np.int64) != np.float64(_unused(name)).view(np.int64)
    return mask


def _in_any_row(masks: Mapping[str, NDArray[np.bool_]], width: int) -> NDArray[np.bool_]:
    """Return whether each column is used in any row of any array."""
    used = np.zeros(width, bool)
    for mask in masks.values():
        used |= np.atleast_2d(mask).any(axis=0)
    return used


def _entries(name: str, array: NDArray[np.float64], mask: NDArray[np.bool_]) -> Arrays:
    """Return the used entries of an array, row by row, with their columns and the end of each row.

    Values that float32 can represent exactly are stored in 4 bytes.
    """
    values: NDArray[Any] = array[mask]
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    if (short.astype(np.float64) == values).all():
        values = short
    columns = np.nonzero(mask)[1].astype(np.int32)
    return {name: values, f"{name}.columns": columns, f"{name}.ends": np.cumsum(mask.sum(axis=1), dtype=np.int64)}


def unpack_columns(width: int | None, arrays: Arrays, max_features: int | None) -> dict[str, NDArray[Any]]:
    """Restore the columns and entries that `pack_columns` left out; raise a ValueError if the arrays are not valid.

    More than ``max_features`` columns raise a ParameterError. If it is None, the limit is `MOST_FEATURES`, or
    `LEAST_SHARE` times the number of stored columns if that is larger.

    >>> unpack_columns(4, {"columns": np.array([2], np.int32), "w": np.array([[5.0]])}, 4)["w"]
    array([[0., 0., 5., 0.]])
    """
    out = dict(arrays)
    if width is None:
        return out
    wide = [name for name in out if _WIDE.fullmatch(name)]
    rows = {name: _ends(name, out.pop(f"{name}.ends")) for name in wide if f"{name}.ends" in out}
    dense = [name for name in wide if name not in rows]
    columns = out.pop("columns", np.zeros(0 if rows and not dense else (0, 0), np.int32))
    if columns.dtype.kind + str(columns.dtype.itemsize) not in ("i4", "i8") or columns.ndim != 1:
        raise ValueError("a width is declared, so 'columns' must be a one-dimensional array of int32 or int64 indices.")
    if len(columns) and not (columns[0] >= 0 and columns[-1] < width and (columns[1:] > columns[:-1]).all()):
        raise ValueError(f"the indices in 'columns' must be strictly increasing, at least 0 and below {width:,}.")
    for name in dense:
        array = out[name]
        if array.dtype != np.float64 or array.ndim not in (1, 2) or array.shape[-1] != len(columns):
            raise ValueError(f"the array {name!r} must have {len(columns):,} columns of floats.")
    n_rows = sum(len(out[name]) if out[name].ndim == 2 else 1 for name in dense) + sum(map(len, rows.values()))
    check_width(width, len(columns), n_rows, max_features)
    for name in dense:
        array = np.full((*out[name].shape[:-1], width), _unused(name))
        array[..., columns] = out[name]
        out[name] = array
    for name, ends in rows.items():
        out[name] = _from_entries(name, out[name], out.pop(f"{name}.columns", None), ends, width)
    return out


def _ends(name: str, ends: NDArray[Any]) -> NDArray[np.int64]:
    """Return the ends of the rows of an array that is stored by its entries; raise a ValueError if they do not rise."""
    if ends.dtype != np.int64 or ends.ndim != 1 or not len(ends) or ends[0] < 0 or (ends[1:] < ends[:-1]).any():
        raise ValueError(f"the array '{name}.ends' must hold the ends of rows, which are integers in ascending order.")
    return ends


def _from_entries(
    name: str, values: NDArray[Any], columns: NDArray[Any] | None, ends: NDArray[np.int64], width: int
) -> NDArray[np.float64]:
    """Return the array whose used entries `_entries` returned; raise a ValueError if they are not valid."""
    expected = f"the array {name!r} must have {ends[-1]:,} entries, each with a column"
    if columns is None or columns.dtype != np.int32 or values.dtype not in (np.float32, np.float64):
        raise ValueError(f"{expected}, of type int32 and float.")
    if not values.shape == columns.shape == (ends[-1],):
        raise ValueError(f"{expected}, got {shorten(values.shape)} and {shorten(columns.shape)}.")
    lines = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    places = lines * width + columns
    if len(columns) and not (columns.min() >= 0 and columns.max() < width and (places[1:] > places[:-1]).all()):
        raise ValueError(f"{expected} below {width:,} that rises within its row.")
    array = np.full(len(ends) * width, _unused(name))
    array[places] = values
    return array.reshape(len(ends), width)


def _unused(name: str) -> float:
    """Return the value that the array ``name`` has in unused columns."""
    return 1.0 if name.rpartition(".")[2] == "s" else 0.0


def check_width(width: int, stored: int, n_rows: int, max_features: int | None) -> None:
    """Raise a ParameterError if ``width``, or the memory for ``n_rows`` rows of this width, exceeds the limit.

    `unpack_columns` defines the limit on the width; ``stored`` is the number of columns that the file stores.
    """
    most = MOST_FEATURES if max_features is None else max_features
    vouched = LEAST_SHARE * stored
    if width > most and (max_features is not None or width > vouched):
        hint = Hint(": if you trust it, allow them with {max_features=width}", width=width)
        raise ParameterError(
            "it has {width:,} columns, but at most {most:,} are allowed{hint}.", width=width, most=most, hint=hint
        )
    if n_rows * width > max(_NUMBERS_PER_FEATURE * most, vouched * n_rows):
        hint = Hint(": if you trust it, allow them with {max_features=n}", n=-(-n_rows * width // _NUMBERS_PER_FEATURE))
        raise ParameterError(
            "its {width:,} columns take {size:,} bytes of memory{hint}.",
            width=width,
            size=8 * n_rows * width,
            hint=hint,
        )


# Names of features.


def names_to_plain(names: list[str] | None) -> list[str] | dict[str, Any] | None:
    """Return feature names as plain data for a file.

    If at least half of them are numbered (#0, #1, ..., starting in column ``first``), only the other names are stored,
    with their indices.

    >>> names_to_plain(["age", "#0", "#1", "#2", "word", "#4"])
    {'count': 6, 'first': 1, 'columns': [0, 4], 'names': ['age', 'word']}
    """
    if names is None:
        return None
    last = next((j for j in range(len(names) - 1, -1, -1) if _NUMBERED.fullmatch(names[j])), None)
    if last is None:
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
    names: Annotated[list[str], list_of(string(), "others")]


def names_from_plain(data: object, n_features: int, max_features: int | None) -> list[str] | None:
    """Return the feature names that `names_to_plain` stored, or None if it stored none.

    Raise a ValueError unless there are ``n_features`` strings, and a ParameterError if they take more memory than
    ``max_features`` allows.
    """
    if data is None:
        return None
    place = Place("the header").at("feature_names")
    if type(data) is not dict:
        return list_of(string(), n_features).read(data, place)
    found = read_fields(_NameFields, data, place.alone(features=n_features))
    first, columns, words = found["first"], found["columns"], found["names"]
    check_width(n_features, len(words), 1, max_features)
    if max_features is not None and _NUMBERS_PER_NAME * n_features > max(max_features, MOST_FEATURES):
        raise ParameterError(
            "the names of its {n:,} columns take {size:,} bytes{hint}.",
            n=n_features,
            size=64 * n_features,
            hint=Hint(": if you trust it, allow them with {max_features=n}", n=_NUMBERS_PER_NAME * n_features),
        )
    if first > n_features or max(columns, default=0) >= n_features:
        raise place.at("columns").error(f"a list of indices below {n_features:,}", columns)
    names = [f"#{j - first}" for j in range(n_features)]
    for j, name in zip(columns, words, strict=True):
        names[j] = name
    return names
