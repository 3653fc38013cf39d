"""The points of the lab, from arrays or from a text table."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.messages import count_of, name_some, show_text

MOST_POINTS = 1000
LARGEST = 1e6
"""The largest coordinate of a point."""
_LABELS = ("label", "class", "target", "species")
_PAIRS = (("x", "y"), ("x0", "x1"), ("x1", "x2"))
_HELD_OUT = ("held_out", "held out", "test", "split")
_NO_MEASURES = ("", "id", "index", "unnamed: 0")
_MISSING = ("", "na", "n/a", "nan", "null", "none", "?")
_FLAGS = {"0": False, "false": False, "no": False, "train": False, "1": True, "true": True, "yes": True, "test": True}
_MOST_CLASSES = 50


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


class Columns(NamedTuple):
    """The indices of the columns with coordinates, labels and, if there is one, held-out flags."""

    x: int
    y: int
    label: int
    held_out: int | None


def points_of(text: str) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_], str]:
    """Parse a text table; return its coordinates, labels, a mask of the held-out rows, and notes for the user.

    Cells are separated by commas, semicolons or tabs. The first line may be a header. The label is the column named
    label, class, target, species or y, otherwise the last column. The coordinates are the columns x and y, x0 and
    x1, or x1 and x2 if the table has them, otherwise the first two numeric columns. The first label in sorted order
    becomes -1, all others become 1.

    >>> X, y, held_out, note = points_of("1;2;-1\\n3;4;1\\n;5;1\\n")
    >>> X.tolist(), y.tolist(), note
    ([[1.0, 2.0], [3.0, 4.0]], [-1, 1], '1 row with missing values was left out.')
    """
    rows, comma = _rows(text)
    names = [cell.strip().lower() for cell in rows[0][1]] if _is_header(rows[0][1], comma) else None
    rows = rows[1:] if names is not None else rows
    width = len(names) if names is not None else len(rows[0][1])
    for line, cells in rows:
        if any(cells[width:]):
            raise ValueError(f"line {line} has {len(cells)} cells where the first has {width}.")
    cells_of = [(line, [cell.strip() for cell in cells[:width]] + [""] * (width - len(cells))) for line, cells in rows]
    columns = _columns(names, [cells for _, cells in cells_of], width, comma)
    used = [i for i in columns if i is not None]
    whole = [(line, cells) for line, cells in cells_of if not any(_missing(cells[i]) for i in used)]
    notes = []
    left_out = len(rows) - len(whole)
    if left_out:
        were = "was" if left_out == 1 else "were"
        notes.append(f"{count_of(left_out, 'row')} with missing values {were} left out.")
    X = np.array([[_coordinate(line, cells[i], comma) for i in columns[:2]] for line, cells in whole]).reshape(-1, 2)
    y, note = _signs([cells[columns.label] for _, cells in whole], comma)
    notes += [note] if note else []
    held_out = np.zeros(len(X), dtype=bool)
    if columns.held_out is not None:
        held_out[:] = [_flag(line, cells[columns.held_out]) for line, cells in whole]
    if len(X) > MOST_POINTS:
        notes.append(f"{MOST_POINTS:,} of {len(X):,} rows were drawn, as the lab shows no more.")
        drawn = np.sort(np.random.default_rng(0).choice(len(X), MOST_POINTS, replace=False))
        X, y, held_out = X[drawn], y[drawn], held_out[drawn]
    return X, y, held_out, " ".join(notes)


def _rows(text: str) -> tuple[list[tuple[int, list[str]]], bool]:
    """Return (line number, cells) for each non-empty line, and whether numbers may have a decimal comma."""
    text = text.removeprefix("\ufeff")
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = "\t" if "\t" in first else ";" if ";" in first else ","
    reader = csv.reader(io.StringIO(text, newline=None), delimiter=delimiter, skipinitialspace=True)
    try:
        rows = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as fault:
        raise ValueError(f"line {reader.line_num} is not valid CSV: {fault}.") from None
    if not rows:
        raise ValueError("the table is empty: it needs two columns of numbers and one of labels.")
    return rows, delimiter == ";"


def _is_header(cells: list[str], comma: bool) -> bool:
    names = {cell.strip().lower() for cell in cells}
    return not any(_number(cell, comma) is not None for cell in cells) or not names.isdisjoint((*_LABELS, "held_out"))


def _columns(names: list[str] | None, rows: list[list[str]], width: int, comma: bool) -> Columns:
    """Find the columns of coordinates, labels and held-out flags by their names, or else by their values."""
    place = {name: i for i, name in reversed(list(enumerate(names or [])))}
    held_out = next((place[name] for name in _HELD_OUT if name in place), None)
    label = next((place[name] for name in _LABELS if name in place), None)
    rest = [i for i in range(width) if i not in (held_out, label)]
    pair = next(
        ([place[a], place[b]] for a, b in _PAIRS if {a, b} <= place.keys() and len(rest) > (2 if label is None else 1)),
        [],
    )
    if label is None:
        others = [i for i in rest if i not in pair]
        label = place["y"] if place.get("y") in others else others[-1] if others else None
    if not pair:
        unfit = {i for i, name in enumerate(names or []) if name in _NO_MEASURES}
        pair = [i for i in rest if i != label and i not in unfit and _is_numeric((row[i] for row in rows), comma)][:2]
    if label is None or len(pair) < 2:
        found = name_some(list(map(show_text, names))) if names else count_of(width, "column") + " without names"
        raise ValueError(f"the table needs two columns of numbers and one of labels, such as x1,x2,label, got {found}.")
    return Columns(pair[0], pair[1], label, held_out)


def _is_numeric(cells: Iterable[str], comma: bool) -> bool:
    numbers = [_number(cell, comma) for cell in cells if not _missing(cell)]
    return bool(numbers) and None not in numbers


def _missing(cell: str) -> bool:
    return cell.lower() in _MISSING


def _number(cell: str, comma: bool) -> float | None:
    text = cell.strip().replace("\u2212", "-")
    try:
        return float(text.replace(",", ".") if comma else text)
    except ValueError:
        return None


def _coordinate(line: int, cell: str, comma: bool) -> float:
    value = _number(cell, comma)
    if value is None:
        raise ValueError(f"expected a number in line {line}, got {show_text(cell)}.")
    if not abs(value) <= LARGEST:
        raise ValueError(f"line {line} has {show_text(cell)}, and coordinates go to {LARGEST:,.0f}: scale them first.")
    return value


def _flag(line: int, cell: str) -> bool:
    if cell.lower() not in _FLAGS:
        raise ValueError(f"expected test or train, or 1 or 0, in line {line}, got {show_text(cell)}.")
    return _FLAGS[cell.lower()]


def _signs(cells: list[str], comma: bool) -> tuple[NDArray[np.int64], str]:
    """Return each label as 1 or -1, and a note on the marks of the classes, or "" if the labels are 1 and -1."""
    numbers = [_number(cell, comma) for cell in cells]
    numeric = all(value is not None and math.isfinite(value) for value in numbers)
    labels: list[float] | list[str] = [value or 0.0 for value in numbers] if numeric else cells
    classes = sorted(set(labels))  # type: ignore[type-var]
    if len(classes) < 2:
        have = f"only {show_text(cells[0])}" if cells else "no row without missing values"
        raise ValueError(f"the table needs labels of two classes, and there is {have}.")
    if len(classes) > _MOST_CLASSES:
        raise ValueError(f"the labels have {len(classes):,} values, too many for classes: name their column label.")
    first, second = (show_text(cells[labels.index(name)]) for name in classes[:2])  # type: ignore[arg-type]
    note = f"Class {first} is drawn as orange triangles, class {second} as blue discs."
    if len(classes) > 2:
        note = f"Class {first} is drawn as orange triangles, the other {len(classes) - 1} classes as blue discs."
    elif classes == [-1.0, 1.0]:
        note = ""
    return np.where([label == classes[0] for label in labels], -1, 1).astype(np.int64), note
