"""Detecting the format of a file from its name and its first bytes."""

from __future__ import annotations

import re
from pathlib import PurePath

from rosenblatt.blocks import DataError
from rosenblatt.data.io.byte_stream import COMPRESSIONS
from rosenblatt.parameters import ParameterError, Setting, shorten

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
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"PK\x03\x04": "npz"}
_NUMBER = rb"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?"  # "++" gives nothing back: time is linear
_VW = re.compile(rb"\s*+(?:%b\s++){0,3}(?:'?[^\s|]*+\s*+)?\|" % _NUMBER)
_SVMLIGHT = re.compile(rb"\s*+%b(?:\s++qid:\d++)?(?:\s++\d++:%b)+\s*+(?:#.*)?" % (_NUMBER, _NUMBER))


def detect_format(name: str, head: bytes, given: str | None = None) -> str:
    """Return the format of a file: the given one, else that of its first bytes, its name or its first lines.

    Examples
    --------
    >>> detect_format("a9a.t", b"-1 5:1 7:1 14:1\\n")
    'svmlight'
    >>> detect_format("numbers.csv.gz", b"x,y\\n")
    'csv'
    """
    if given is not None:
        kind = ALIASES.get(given, given)
        if kind not in FORMATS:
            raise ParameterError(Setting("format"), f" must be one of {', '.join(FORMATS)}, got {shorten(given)}.")
        return kind
    if head.startswith(b"FEA1"):
        raise DataError(f"{name} is a Feather file of version 1, expected version 2: write it again.")
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            return kind
    found = format_of_name(name) or _from_lines(head)
    if found is None:
        raise DataError(
            f"the format of {name} cannot be detected from its name or its first line: give ",
            Setting("format"),
            f", one of {', '.join(FORMATS)}.",
        )
    return found


def format_of_name(name: str) -> str | None:
    """Return the format that the name of a file ends in, None if it says nothing.

    Examples
    --------
    >>> format_of_name("part-1.csv.gz"), format_of_name("a9a.t")
    ('csv', None)
    """
    path = PurePath(name.lower())
    ending = (path.with_suffix("") if path.suffix in COMPRESSIONS else path).suffix
    return next((kind for kind, endings in _ENDINGS.items() if ending in endings), None)


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
