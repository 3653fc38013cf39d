"""Files as the commands read them: what options say about them, and how well a model predicts them."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rosenblatt.cli.output import as_text, note
from rosenblatt.cli.startup import enable_gc
from rosenblatt.messages import count_of, name_some

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Predictor(Protocol):
    """A model as the commands use it."""

    learner: str
    classes: NDArray[Any]
    preparation: dict[str, Any] | None

    @property
    def n_features(self) -> int:
        """Columns of the rows that it predicts."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of each row."""


NO_ROWS = "expected rows to test on, got none."
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def opened(paths: Sequence[str], target: str | None, options: Mapping[str, Any]) -> Any:
    """Open files with the options that were given, the target by its name or its number."""
    from rosenblatt import data

    given = {name: value for name, value in options.items() if value not in (None, [], {})}
    return data.open(list(paths), target=target_of(target), **given)


def forgiving(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with those by which an everyday table can be read as it is, where nothing else was said.

    Columns of which it is unclear what they are, and those that look like ids, are left out; a missing number is the
    mean of its column. Other formats than tables are read as they always are.

    >>> forgiving({"missing": "zero"})
    {'unclear': 'drop', 'missing': 'zero'}
    """
    given = {name: value for name, value in options.items() if value is not None}
    return {"unclear": "drop", "missing": "auto", **given}


def check_out(out: Path | None, read: Sequence[str], replaced: bool = True, needed: bool = True) -> None:
    """Refuse, before any work, to write where that cannot be done, or over a file that is read.

    What is ``replaced`` as a whole has to be a plain file; the rest may be a device. Where a file is not ``needed``,
    a run does without if there is no place for it.
    """
    from rosenblatt.data.io.lines import file_names

    if out is None:
        return
    folder = out.parent
    if needed and not folder.is_dir():
        raise ValueError(f"There is no folder {folder} to write {out.name} to: make it first.")
    if os.path.islink(os.path.realpath(out)):
        raise ValueError(f"{out} is a link that leads nowhere but to itself: name another file.")
    if out.is_dir() or (replaced and out.exists() and not out.is_file()):
        raise ValueError(f"{out} is no file that can be written: name another.")
    if needed and not os.access(out if out.exists() else folder, os.W_OK):
        raise ValueError(f"{out} cannot be written: its place is read-only, or not yours. Write elsewhere.")
    for name in file_names(list(read)) if out.exists() else ():
        if os.path.exists(name) and os.path.samefile(out, name):
            raise ValueError(f"{out} is read, so it cannot be written as well: write to another file.")


def target_of(text: str | None) -> str | int | None:
    """Return a column as `data.open` takes it: a number is its place.

    >>> target_of("-1"), target_of("class")
    (-1, 'class')
    """
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else text


def kinds_of(pairs: Sequence[str] | None) -> dict[str, str]:
    """Return what columns are, from texts such as ``zip=category``.

    >>> kinds_of(["zip=category"])
    {'zip': 'category'}
    """
    found = {}
    for pair in pairs or ():
        name, equals, kind = pair.rpartition("=")
        if not equals or not name:
            raise ValueError(f"--kind expects COLUMN=KIND, such as zip=category, got {pair!r}.")
        found[name] = kind
    return found


def seconds(text: str) -> float:
    """Return a length of time such as ``30s``, ``5m`` or ``1h`` in seconds.

    >>> seconds("30s"), seconds("1.5m")
    (30.0, 90.0)
    """
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)", text.strip())
    if not match or match[2] not in _UNITS:
        raise ValueError(f"--every expects a length of time such as 30s, 5m or 1h, got {text!r}.")
    return float(match[1]) * _UNITS[match[2]]


def score(model: Predictor, stream: Iterable[Any], no_rows: str = NO_ROWS) -> dict[str, Any]:
    """Predict all rows of a stream and return how many are right, and every pair (true, predicted) with its count.

    Where there are no rows, the error says ``no_rows``.
    """
    from collections import Counter

    started = time.perf_counter()
    pairs: Counter[tuple[Any, Any]] = Counter()
    enable_gc()
    for block in stream:
        if len(block):
            pairs.update(zip(block.y.tolist(), model.predict(block.X).tolist(), strict=True))
    rows = sum(pairs.values())
    if not rows:
        raise ValueError(no_rows)
    known = set(model.classes.tolist())
    strange = {true: 0 for true, _ in pairs if true not in known}
    if 0 < len(strange) < len({true for true, _ in pairs}):
        count = sum(count for (true, _), count in pairs.items() if true in strange)
        labels, classes = (name_some(sorted(map(as_text, some))) for some in (strange, known))
        note(
            f"{count:,} of {count_of(rows, 'row')} have a label that is no class of the model: {labels}. "
            f"Its classes are {classes}."
        )
    right = sum(count for (true, predicted), count in pairs.items() if true == predicted)
    took = time.perf_counter() - started
    return {"rows": rows, "right": right, "accuracy": right / rows, "pairs": dict(pairs), "seconds": took}
