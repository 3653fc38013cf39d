"""Digests that identify the rows of some files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence

PART = 1 << 16
PARTS = 64


def fingerprint(names: Sequence[str], recipe: object, dated: bool = False) -> str:
    """Return a digest of the contents of files and of the recipe, plain data, by which rows are made from them.

    Of files above ``PARTS * PART`` bytes only so many parts are read, the first and the last among them. With
    ``dated``, the time of the last change counts too.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "a.csv")
    >>> _ = file.write_text("1,2")
    >>> before = fingerprint([file], {"target": "y"})
    >>> _ = file.write_text("1,3")
    >>> fingerprint([file], {"target": "y"}) == before
    False
    """
    digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode())
    for name in names:
        with open(name, "rb") as file:
            about = os.fstat(file.fileno())
            digest.update(repr((about.st_size, about.st_mtime_ns if dated else None)).encode())
            for start in _starts(about.st_size):
                file.seek(start)
                digest.update(file.read(PART))
    return digest.hexdigest()


def _starts(size: int) -> list[int]:
    """Return where the parts of a file of this size begin."""
    if size <= PARTS * PART:
        return list(range(0, size, PART))
    return [k * (size - PART) // (PARTS - 1) for k in range(PARTS)]
