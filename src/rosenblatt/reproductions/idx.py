"""MNIST from its four files, in the format that they come in (IDX): big-endian numbers, then bytes."""

from __future__ import annotations

import gzip
import io
import math
import os
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rosenblatt.parameters import ParameterError, Phrase, Setting, shorten

Bytes = NDArray[np.uint8]
_File = io.BufferedReader | gzip.GzipFile

FILES = {"train": ("train-images", "train-labels"), "test": ("t10k-images", "t10k-labels")}
"""How the names of the four files begin: images and labels of each part."""
WHERE: tuple[Phrase, ...] = (
    " Get MNIST's four files (train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
    "t10k-labels-idx1-ubyte, .gz or not) from any mirror and name their folder with ",
    Setting("data"),
    ', or leave that out where there is a network (scikit-learn\'s fetch_openml("mnist_784") gets them); ',
    Setting("small", True),
    " needs neither.",
)
"""Where to get MNIST, for the end of a sentence about what is missing."""
_MOST_BYTES = 2**30
_GZIP = b"\x1f\x8b"
_UNSIGNED_BYTES = 8  # the code of their type


def read_mnist(folder: str | os.PathLike[str]) -> dict[str, tuple[Bytes, Bytes]]:
    """Return images, a row of pixels each, and labels of the parts "train" and "test" from a folder's four files.

    A file that is missing or damaged is a ParameterError that says which, and where to get MNIST.
    """
    place = Path(folder)
    if not place.is_dir():
        raise ParameterError(Setting("data"), f" must be a folder, and there is none called {place}.", *WHERE)
    parts = {}
    for part, (images, labels) in FILES.items():
        image_file, label_file = _find(place, images, 3), _find(place, labels, 1)
        pixels, answers = read_idx(image_file, 3), read_idx(label_file, 1)
        if len(pixels) != len(answers):
            raise ParameterError(
                f"{image_file} has {len(pixels):,} images and {label_file} {len(answers):,} labels, which must be "
                "equally many.",
                *WHERE,
            )
        parts[part] = pixels.reshape(len(pixels), math.prod(pixels.shape[1:])), answers
    widths = {part: pixels.shape[1] for part, (pixels, _) in parts.items()}
    if widths["train"] != widths["test"]:
        raise ParameterError(
            f"the images of {place} must all have as many pixels, got {widths['train']:,} in those to train on and "
            f"{widths['test']:,} in those to test on.",
            *WHERE,
        )
    return parts


def read_idx(path: str | os.PathLike[str], dimensions: int) -> Bytes:
    """Return the array of bytes that an IDX file holds, compressed by gzip or not; it has so many dimensions.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels")
    ...     _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
    ...     read_idx(path, 1)
    array([7, 2, 1], dtype=uint8)
    """
    try:
        with _opened(path) as file:
            return _array(file, path, dimensions)
    except (EOFError, zlib.error, gzip.BadGzipFile) as fault:
        raise _damaged(path, f"gzip cannot unpack it ({fault})") from fault


def _find(folder: Path, start: str, dimensions: int) -> Path:
    """Return the file whose name begins so: mirrors differ in a dot for a dash, and in .gz."""
    names = [f"{start}{dot}idx{dimensions}-ubyte{end}" for dot in "-." for end in ("", ".gz")]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise ParameterError(f"there is no file {names[0]} or {names[1]} in {folder}.", *WHERE)


def _opened(path: str | os.PathLike[str]) -> _File:
    with open(path, "rb") as file:
        packed = file.read(2) == _GZIP
    return gzip.open(path, "rb") if packed else open(path, "rb")


def _array(file: _File, path: str | os.PathLike[str], dimensions: int) -> Bytes:
    head = file.read(4)
    if head != bytes([0, 0, _UNSIGNED_BYTES, dimensions]):
        expected = bytes([0, 0, _UNSIGNED_BYTES, dimensions]).hex(" ")
        raise _damaged(path, f"it must begin with the bytes {expected}, got {head.hex(' ') or 'an empty file'}")
    sizes = file.read(4 * dimensions)
    if len(sizes) < 4 * dimensions:
        raise _damaged(path, "it ends before its sizes")
    shape = [int(size) for size in np.frombuffer(sizes, ">u4")]
    count = math.prod(shape)
    if count == 0 or count > _MOST_BYTES:
        raise _damaged(path, f"its sizes are {shorten(shape)}, which make {count:,} bytes")
    content = file.read(count)
    if len(content) < count or file.read(1):
        found = f"{len(content):,}" if len(content) < count else "more"
        raise _damaged(path, f"its sizes make {count:,} bytes, and it has {found}")
    return np.frombuffer(content, np.uint8).reshape(shape)


def _damaged(path: str | os.PathLike[str], why: str) -> ParameterError:
    return ParameterError(f"{os.fspath(path)} is no such file of MNIST, or damaged: {why}.", *WHERE)
