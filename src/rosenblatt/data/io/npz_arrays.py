"""The arrays of an .npz file, read a few values at a time, whatever they say of their size."""

from __future__ import annotations

import io
import math
import struct
import warnings
import zipfile
import zlib
from collections import Counter
from contextlib import ExitStack

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.parameters import show_text

ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    KeyError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
"""What reading a damaged archive may raise."""
_HEADER_BYTES = 1 << 16


class NpzArchive:
    """An .npz file that is open for reading, to be closed by ``with``.

    Attributes
    ----------
    name : str
        How messages name the file.
    arrays : set of str
        The names of its arrays.
    """

    def __init__(self, path: str, name: str) -> None:
        self.name, self._opened = name, ExitStack()
        self._zip = self._opened.enter_context(zipfile.ZipFile(path))
        entries = [entry for entry in self._zip.namelist() if entry.endswith(".npy")]
        self.arrays = {entry.removesuffix(".npy") for entry in entries}
        if len(self.arrays) < len(entries):
            twice = show_text(Counter(entries).most_common(1)[0][0])
            raise DataError(f"{name} holds {twice} twice, expected each array once: save it again by np.savez.")

    def __enter__(self) -> NpzArchive:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def array(self, name: str) -> StoredArray:
        """Return an array from its start."""
        if name not in self.arrays:
            raise DataError(f"{self.name} has no array {name}, which its other arrays need: save it again.")
        array = StoredArray(self._zip, name, self.name)
        self._opened.callback(array.close)
        return array


class StoredArray:
    """An array in an archive, whose values are read one after the other. Its header is checked, its size too.

    Attributes
    ----------
    where : str
        The file and the array, as messages name them.
    shape : tuple of int
        As the header says.
    by_columns : bool
        Whether the values are in Fortran's order.
    dtype : numpy.dtype
        The type of the values: one of objects cannot be read.
    """

    def __init__(self, archive: zipfile.ZipFile, name: str, file: str) -> None:
        entry = archive.getinfo(name + ".npy")
        self.where = f"{file}: {name}"
        plain = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if entry.flag_bits & 1 or not plain:
            what = "is encrypted" if plain else "is compressed by another method"
            raise DataError(f"{self.where} {what}, expected an archive as np.savez writes it: save it again by that.")
        with archive.open(entry) as stored:
            head = io.BytesIO(stored.read(_HEADER_BYTES))
        self.shape, self.by_columns, self.dtype = self._header(head)
        told, found = self.size * self.dtype.itemsize, entry.file_size - head.tell()
        if not self.dtype.hasobject and (told != found or not self.dtype.itemsize):
            what = f"{self.where} has {found} bytes, expected {told} for shape {self.shape} of {self.dtype}"
            raise DataError(f"{what}: copy it again.")
        self._values = archive.open(entry)
        self._values.read(head.tell())

    def _header(self, head: io.BytesIO) -> tuple[tuple[int, ...], bool, np.dtype]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # headers of Python 2
                version = np.lib.format.read_magic(head)
                old = version == (1, 0)
                read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
                shape, by_columns, dtype = read(head)
        except Exception as error:  # NumPy evaluates the header: what it raises for a damaged one is not documented
            reason = show_text(str(error).strip().partition("\n")[0], 200)
            raise DataError(f"{self.where} has a damaged header ({reason}): copy it again.") from None
        if min(shape, default=0) < 0:
            raise DataError(f"{self.where} has a damaged header (its shape is {shape}): copy it again.")
        return shape, by_columns, dtype

    @property
    def size(self) -> int:
        """How many values there are."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes all values take."""
        return self.size * self.dtype.itemsize

    def read(self, n: int) -> np.ndarray:
        """Return the next ``n`` values, in the byte order of the machine."""
        data = self._values.read(n * self.dtype.itemsize)
        if len(data) < n * self.dtype.itemsize:
            raise EOFError(f"{self.where} ends too early")
        if self.dtype.kind == "b":
            return np.frombuffer(data, np.uint8) != 0
        return np.frombuffer(data, self.dtype).astype(self.dtype.newbyteorder("="))

    def close(self) -> None:
        """End reading."""
        self._values.close()

    def read_all(self) -> np.ndarray:
        """Return the whole array."""
        return self.read(self.size).reshape(self.shape, order="F" if self.by_columns else "C")
