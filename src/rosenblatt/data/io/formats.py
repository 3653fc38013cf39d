"""Telling the format of a file from its name and its first bytes."""

from __future__ import annotations

import re
from pathlib import PurePath

from rosenblatt.blocks import DataError

__all__ = ["FORMATS", "TABLES", "told"]

FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl", "svmlight", "vw", "npz")
TABLES = ("csv", "tsv", "parquet", "arrow", "jsonl")
ALIASES = {"feather": "arrow", "ipc": "arrow", "libsvm": "svmlight", "ndjson": "jsonl", "json": "jsonl"}
_ENDINGS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".feather", ".arrow", ".arrows", ".ipc"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "vw": (".vw",),
    "npz": (".npz",),
}
_COMPRESSED = {".gz", ".gzip", ".bz2", ".xz", ".zst", ".zstd"}
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"PK\x03\x04": "npz"}
_NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_VW = re.compile(rb"\s*(?:%b\s+){0,3}(?:'?[^\s|]*\s*)?\|" % _NUMBER)
_SVMLIGHT = re.compile(rb"\s*%b(?:\s+qid:\d+)?(?:\s+\d+:%b)+\s*(?:#.*)?" % (_NUMBER, _NUMBER))


def told(name: str, head: bytes, given: str | None = None) -> str:
    """Return the format of a file: what is given, else what its content says, else its name, else its first line.

    Examples
    --------
    >>> told("a9a.t", b"-1 5:1 7:1 14:1\\n")
    'svmlight'
    >>> told("numbers.csv.gz", b"x,y\\n")
    'csv'
    """
    if given is not None:
        kind = ALIASES.get(given, given)
        if kind not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {given!r}.")
        return kind
    if head.startswith(b"FEA1"):
        raise DataError(f"{name} is a Feather file of version 1, expected version 2: write it again.")
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            return kind
    ending = _ending(name)
    for kind, endings in _ENDINGS.items():
        if ending in endings:
            return kind
    found = _from_lines(head)
    if found is None:
        raise DataError(
            f"the format of {name} cannot be told from its name or its first line: say format=, one of "
            f"{', '.join(FORMATS)}."
        )
    return found


def _ending(name: str) -> str:
    path = PurePath(name)
    if path.suffix.lower() in _COMPRESSED:
        path = path.with_suffix("")
    return path.suffix.lower()


def _from_lines(head: bytes) -> str | None:
    lines = [line for line in head.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip() and line[:1] != b"#"]
    if not lines or b"\0" in head:
        return None
    first = lines[0]
    if first.lstrip().startswith(b"{"):
        return "jsonl"
    if any(_SVMLIGHT.fullmatch(line) for line in lines[:10]):
        return "svmlight"
    if _VW.match(first):
        return "vw"
    if b"\t" in first:
        return "tsv"
    return "csv" if b"," in first or b";" in first else None
