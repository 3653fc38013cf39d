"""The same bytes by every way into the library: compressed, in several streams, through FIFOs and standard input."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from attack.mutated_files import JSON, SVMLIGHT, VW, zstd
from attack.parsers import number
from helpers.mutating import mutated_bytes
from rosenblatt import data

COMPRESSORS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}
JUNK = (b"\0", b"x", b"1,2,3\n", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"\xff" * 40)


def attack(rng: random.Random) -> str | None:
    """Read a text by another way than a plain file: the same rows, or a sentence if the bytes are damaged."""
    folder = Path(tempfile.mkdtemp())
    name, text, options = _text(rng)
    plain = folder / name
    plain.write_bytes(text)
    expected = _read(plain, options)
    compression = rng.choice([None, *COMPRESSORS])
    stored, truth = (text, text) if compression is None else _stored(rng, compression, text)
    name = name if compression is None else f"{name}.{compression}"
    way = rng.choice([_by_name, _by_fifo, _by_stdin, _by_object])
    what = f"{way.__name__[4:]}, {name}, {options}, {len(text)} bytes of text, {len(stored)} stored"
    try:
        found = way(rng, folder / "in" / name, stored, options)
    except (ValueError, OSError) as refusal:
        if truth == text:
            return f"{what}: refused: {refusal}"
        told = str(refusal)
        named = name in told or way is not _by_name
        return None if named and told.endswith(".") and len(told) < 1500 else f"{what}: no sentence: {told[:1500]!r}"
    if truth is None:
        return f"{what}: damage was not noticed: {stored[-300:]!r}"
    return None if truth != text or found == expected else f"{what}: other rows"


def _stored(rng: random.Random, compression: str, text: bytes) -> tuple[bytes, bytes | None]:
    """Return a text as one or several streams of compressed bytes, damaged perhaps, and the text that they hold.

    The text is None if the bytes have to be refused.
    """
    places = sorted(rng.randrange(len(text) + 1) for _ in range(rng.choice([0, 0, 1, 3])))
    parts = [text[i:j] for i, j in pairwise([0, *places, len(text)])]  # one is empty now and then
    streams = [COMPRESSORS[compression](part) for part in parts]
    whole = b"".join(streams)
    damage = rng.randrange(6)
    if damage == 0:
        end = rng.randrange(12, len(whole))
        ends = dict(zip(accumulate(map(len, streams)), accumulate(map(len, parts)), strict=True))
        return whole[:end], text[: ends[end]] if end in ends else None
    if damage == 1:
        junk = rng.choice(JUNK)
        return whole + junk, None if junk.strip(b"\0") or compression == "zst" else text  # zero bytes are padding
    if damage == 2:
        changed = mutated_bytes(rng, whole)
        if compression == "zst" or not changed.startswith(whole[:10]):  # without a checksum, or read as text
            return changed, b""
        return changed, _decompressed(compression, changed)
    return whole, text


def _decompressed(compression: str, stored: bytes) -> bytes | None:
    """Return what a strict decompressor makes of bytes, or None if it refuses them."""
    if compression == "gz":
        with suppress(Exception):
            return gzip.decompress(stored)
        return None
    out = b""
    while stored:
        one: Any = bz2.BZ2Decompressor() if compression == "bz2" else lzma.LZMADecompressor(lzma.FORMAT_XZ)
        try:
            out += one.decompress(stored)
        except (OSError, lzma.LZMAError):
            return None
        if not one.eof:
            return None
        stored = one.unused_data.lstrip(b"\0")  # zero bytes are padding
    return out


def _text(rng: random.Random) -> tuple[str, bytes, dict[str, Any]]:
    kind = rng.choice(["csv", "jsonl", "svm", "vw"])
    options: dict[str, Any] = {"threads": rng.choice([0, 2]), "block_rows": rng.choice([1, 7, 65536])}
    if kind == "csv":
        n = rng.choice([3, 30, 3000])
        lines = [f"{number(rng)},{rng.randrange(9)},{rng.choice(['yes', 'no'])}" for _ in range(n)]
        head = "a,b,y\n0,1,yes\n1,0,no\n"
        kinds = {"a": "number", "b": "number"}
        return (
            "a.csv",
            (head + "\n".join(lines) + rng.choice(["\n", ""])).encode(),
            {**options, "target": "y", "column_types": kinds, "first_rows": rng.choice([2, 1000])},
        )
    times = rng.choice([1, 1, 400])
    if kind == "jsonl":
        return "a.jsonl", JSON.encode() * times, {**options, "target": "y", "missing": "zero"}
    if kind == "svm":
        options |= {"format": "svmlight", "zero_based": False, "n_features": 9}
        return "a.svm", SVMLIGHT.encode() * times, options
    return "a.vw", VW.encode() * times, {**options, "format": "vw", "bits": 8}


def _read(source: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    X, y = data.open(source, **options).read()
    X = X if isinstance(X, np.ndarray) else X.toarray()
    return X.shape, (X + 0.0).tobytes(), y.tolist()


def _by_name(rng: random.Random, path: Path, stored: bytes, options: dict[str, Any]) -> tuple[Any, ...]:
    path.parent.mkdir()
    path.write_bytes(stored)
    cache = path.with_name("cache") if rng.random() < 0.3 else rng.random() < 0.5
    return _read(path, {**options, "cache": cache})


def _by_fifo(rng: random.Random, path: Path, stored: bytes, options: dict[str, Any]) -> tuple[Any, ...]:
    path.parent.mkdir()
    os.mkfifo(path)
    with _written(rng, stored, lambda: os.open(path, os.O_WRONLY)):
        try:
            return _read(path, options)
        finally:
            with suppress(OSError):  # a writer that still waits for a reader
                os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))


def _by_stdin(rng: random.Random, path: Path, stored: bytes, options: dict[str, Any]) -> tuple[Any, ...]:
    reading, writing = os.pipe()
    given = io.TextIOWrapper(io.BufferedReader(io.FileIO(reading)))
    if "format" not in options:
        options = {**options, "format": path.name.split(".")[1]}
    with mock.patch.object(sys, "stdin", given), _written(rng, stored, lambda: writing), given:
        return _read("-", options)


def _by_object(rng: random.Random, path: Path, stored: bytes, options: dict[str, Any]) -> tuple[Any, ...]:
    if "format" not in options:
        options = {**options, "format": path.name.split(".")[1]}
    return _read(Trickle(rng, stored) if rng.random() < 0.5 else io.BytesIO(stored), options)


class Trickle:
    """A file object that gives few bytes at a time."""

    def __init__(self, rng: random.Random, content: bytes) -> None:
        self.rng, self.left = rng, io.BytesIO(content)

    def read(self, size: int) -> bytes:
        return self.left.read(min(size, self.rng.choice([1, 7, 1000, 10**6])))


@contextmanager
def _written(rng: random.Random, content: bytes, opened: Any) -> Any:
    """Write bytes in pieces from another thread, with pauses, to a descriptor."""
    sizes = [rng.choice([1, 10, 1000, 10**5]) for _ in range(50)]

    def write() -> None:
        with suppress(BrokenPipeError), open(opened(), "wb", buffering=0) as pipe:
            begin = 0
            for size in [*sizes, 10**9]:
                pipe.write(content[begin : begin + size])
                begin += size
                if size == 1:
                    time.sleep(0.001)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        writer.join()
