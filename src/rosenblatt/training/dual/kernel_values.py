"""Kernel values between rows, on any device, and bounds on their rounding errors."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from rosenblatt.messages import ParameterError, Setting, shorten
from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.options import Kernel
from rosenblatt.training.rows import Matrix, pad_columns

# Where arrays live: NumPy, or a library that follows the array API standard, such as PyTorch on a GPU.


Array = Any
"""An array of whichever library is in use."""


@dataclass(frozen=True)
class ArrayLibrary:
    """A namespace of the array API standard and a device of it."""

    xp: Any
    device: Any = None
    """None for the default one of the library."""

    @property
    def is_numpy(self) -> bool:
        """Whether arrays are those of NumPy."""
        return self.xp is np

    @property
    def scatters(self) -> bool:
        """Whether rows of an array can be set by their numbers, which the standard leaves out."""
        return self.is_numpy or self.xp.__name__ == "array_api_compat.torch"

    @property
    def is_remote(self) -> bool:
        """Whether reading a number means to wait for a device."""
        return getattr(self.device, "type", "cpu") != "cpu"

    def put(self, array: NDArray[Any], dtype: str | None = None) -> Array:
        """Return an array of NumPy as one of this library, of type ``dtype`` if given."""
        array = np.ascontiguousarray(array, dtype)
        return array if self.is_numpy else self.xp.asarray(array, device=self.device)

    def fetch(self, array: Array) -> NDArray[Any]:
        """Return an array of this library as one of NumPy."""
        if self.is_numpy:
            return np.asarray(array)
        return np.asarray(array.cpu() if hasattr(array, "cpu") else array)

    def empty(self, shape: tuple[int, ...], dtype: str) -> Array:
        """Return an array whose numbers are not set."""
        kind = getattr(self.xp, dtype)
        return np.empty(shape, kind) if self.is_numpy else self.xp.empty(shape, dtype=kind, device=self.device)

    def astype(self, array: Array, dtype: str) -> Array:
        """Return an array with numbers of type ``dtype``, itself if they are."""
        kind = getattr(self.xp, dtype)
        if array.dtype == kind:
            return array
        return array.astype(kind) if self.is_numpy else self.xp.astype(array, kind)

    def running_sums(self, array: Array) -> Array:
        """Return the running sums along each line."""
        if self.is_numpy:
            return np.cumsum(array, axis=1)
        return self.xp.cumulative_sum(array, axis=1)

    def recorded(self, function: Callable[[], None]) -> Callable[[], None]:
        """Return what does the same as ``function`` to the same arrays, recorded once if the device can do that.

        The function is called some times on the way, and must not read from the device.
        """
        if getattr(self.device, "type", None) != "cuda":
            return function
        cuda = importlib.import_module("torch").cuda
        stream = cuda.Stream()
        stream.wait_stream(cuda.current_stream())
        with cuda.stream(stream):
            for _ in range(3):
                function()
        cuda.current_stream().wait_stream(stream)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            function()
        return graph.replay


NUMPY = ArrayLibrary(np)


def open_library(device: str | None, namespace: str | None = None) -> ArrayLibrary:
    """Return the library for a device of PyTorch, NumPy where that is None; ``namespace`` names another module.

    A ParameterError says what is missing.
    """
    if namespace is not None:
        return ArrayLibrary(importlib.import_module(namespace))
    if device is None:
        return NUMPY
    try:
        torch = importlib.import_module("torch")
        xp = importlib.import_module("array_api_compat.torch")
    except ImportError as missing:
        raise ParameterError(
            Setting("device", device),
            f" needs PyTorch and array-api-compat, and {missing.name} is not installed: "
            "pip install 'rosenblatt[gpu]', or leave out ",
            Setting("device"),
            ".",
        ) from None
    try:
        found = torch.device(device)
        torch.empty(0, dtype=torch.float64, device=found)
    except (RuntimeError, AssertionError, TypeError) as fault:
        reason = " ".join(str(fault).split(".")[0].split())
        raise ParameterError(
            Setting("device", device),
            f" is not to be had here, PyTorch says: {reason}; leave out ",
            Setting("device"),
            " to compute on the CPU.",
        ) from None
    return ArrayLibrary(xp, found)


Floats = NDArray[np.float64]
_UNIT = {"float64": HALF_ULP, "float32": 2.0**-24}
_SPARSE_ROWS = 128
"""Sparse rows whose distances are computed at once, as dense rows of the columns that they have."""
_DISTANCE_BYTES = 16 * 1024 * 1024
"""Differences of rows that are held at once for distances in the L1 norm."""


@dataclass(frozen=True)
class DeviceRows:
    """Rows on a device, in the type of products, with what their kernel values and rounding errors need."""

    matrix: Any
    """Dense on the device, or CSR; for a kernel that is a function as they came."""
    squares: Array
    """Squared lengths on the device, where the kernel is of distances."""
    lengths: Floats
    """At least the length of each row."""
    whole: bool
    """Whether all numbers are integers."""
    terms: int
    """The most numbers in a row that are not 0."""

    def __getitem__(self, part: slice) -> DeviceRows:
        dense = not sp.issparse(self.matrix)
        squares = self.squares[part] if self.squares is not None else None
        matrix = self.matrix[part, :] if dense else self.matrix[part]
        return replace(self, matrix=matrix, squares=squares, lengths=self.lengths[part])

    def take(self, library: ArrayLibrary, index: NDArray[np.int64]) -> DeviceRows:
        """Return the rows with these numbers."""
        squares = self.squares
        if isinstance(self.matrix, np.ndarray) or sp.issparse(self.matrix):
            matrix = self.matrix[index]
            squares = None if squares is None else squares[index]
        else:
            places = library.put(index)
            matrix = library.xp.take(self.matrix, places, axis=0)
            squares = None if squares is None else library.xp.take(squares, places, axis=0)
        return replace(self, matrix=matrix, squares=squares, lengths=self.lengths[index])


def row_lengths(X: Matrix) -> Floats:
    """Return a little more than the length of each row, without overflow or underflow on the way."""
    largest = abs(X).max(axis=1)
    largest = np.asarray(largest.toarray() if sp.issparse(largest) else largest, np.float64).ravel()
    scale = np.where(largest > 0, largest, 1.0)
    if sp.issparse(X):
        scaled = sp.csr_array(X, dtype=np.float64, copy=True)
        scaled.data /= np.repeat(scale, np.diff(X.indptr))
        squares = np.asarray(scaled.power(2).sum(axis=1)).ravel()
    else:
        squares = np.zeros(len(scale))
        for start in range(0, len(scale), 4096):
            part = X[start : start + 4096] / scale[start : start + 4096, None]
            squares[start : start + 4096] = np.einsum("ij,ij->i", part, part)
    with np.errstate(over="ignore"):
        return np.where(largest > 0, np.sqrt(squares) * scale * (1 + 1e-9), 0.0)


class KernelValues:
    """Computes kernel values in the type ``dtype``, and says how far off sums of them may be."""

    def __init__(self, kernel: Kernel, library: ArrayLibrary = NUMPY, dtype: str = "float64") -> None:
        self.kernel, self.library, self.dtype = kernel, library, dtype

    @property
    def is_distance(self) -> bool:
        """Whether the kernel is made of squared lengths and dot products."""
        return self.kernel.name == "rbf"

    def rows(self, X: Matrix) -> DeviceRows:
        """Return rows for this device."""
        values = X.data if sp.issparse(X) else X
        whole = bool(self.kernel.polynomial) and bool(np.all(values == np.rint(values)))
        whole = whole and bool(np.all(np.abs(values) <= self.largest_whole))  # in this type, too
        terms = int(np.max(np.diff(X.indptr), initial=0)) if sp.issparse(X) else X.shape[1]
        lengths = row_lengths(X) if self.kernel.is_exact and X.shape[1] else np.zeros(X.shape[0])
        if self.kernel.name in ("function", "precomputed"):
            return DeviceRows(X, None, lengths, False, terms)
        squares = None
        if self.is_distance:
            exact = X.astype(np.float64)
            with np.errstate(over="ignore"):
                squares = exact.power(2).sum(axis=1) if sp.issparse(exact) else np.einsum("ij,ij->i", exact, exact)
            squares = self.library.put(np.asarray(squares).ravel(), self.dtype)
        if sp.issparse(X):
            matrix: Any = sp.csr_array(X, dtype=np.float64)
        else:
            with np.errstate(over="ignore"):
                matrix = self.library.put(X, self.dtype)
        return DeviceRows(matrix, squares, lengths, whole, terms)

    def __call__(self, A: DeviceRows, B: DeviceRows) -> Array:
        """Return the values of the kernel between the rows of ``A`` (lines) and those of ``B`` (columns)."""
        kernel, xp = self.kernel, self.library.xp
        if kernel.name == "function" and kernel.function is not None:
            return self._by_function(A.matrix, B.matrix)
        if kernel.name == "laplacian":
            with np.errstate(over="ignore", invalid="ignore"):
                return xp.exp(-kernel.gamma * self._distances(A.matrix, B.matrix))
        with np.errstate(over="ignore", invalid="ignore"):
            products = self._products(A.matrix, B.matrix)
            if self.is_distance:
                products *= -2.0
                products += A.squares[:, None]
                products += B.squares[None, :]
                products *= -kernel.gamma
                return xp.exp(xp.where(products < 0.0, products, xp.zeros_like(products)))
            if kernel.name == "sigmoid":
                return xp.tanh(products * kernel.gamma + kernel.coef0)
            return self._powers(products)

    def write(self, A: DeviceRows, B: DeviceRows, out: Floats) -> None:
        """Write the values of the kernel into an array of NumPy, without a copy where that can be."""
        if self.kernel.polynomial is None or sp.issparse(A.matrix) or sp.issparse(B.matrix):
            out[:] = self(A, B)
            return
        with np.errstate(over="ignore", invalid="ignore"):
            np.matmul(A.matrix, B.matrix.T, out=out)
            self._powers(out)

    def _powers(self, values: Array) -> Array:
        """Make dot products their polynomial, in place; by repeated products, the same everywhere."""
        gamma, coef0, degree = self.kernel.polynomial or (1.0, 0.0, 1)
        if gamma != 1.0:
            values *= gamma
        if coef0 != 0.0:
            values += coef0
        if degree == 0:
            values[...] = 1.0
        elif degree > 1:
            base = values + 0.0 if "1" in bin(degree)[3:] else values
            for bit in bin(degree)[3:]:
                values *= values
                if bit == "1":
                    values *= base
        return values

    def _products(self, A: Any, B: Any) -> Array:
        if sp.issparse(A) and sp.issparse(B):
            width = max(A.shape[1], B.shape[1])  # columns may come up on the way
            return (pad_columns(A, width) @ pad_columns(B, width).T).toarray()
        return A @ B.T

    def _distances(self, A: Any, B: Any) -> Array:
        """Return the L1 distances; a part of the lines at a time."""
        if sp.issparse(A) or sp.issparse(B):
            return _sparse_distances(sp.csr_array(A), sp.csr_array(B))
        xp, (n, d) = self.library.xp, A.shape
        if self.library.is_numpy and self.dtype == "float64":
            return cdist(A, B, "cityblock")
        out = self.library.empty((n, B.shape[0]), self.dtype)
        step = max(1, _DISTANCE_BYTES // max(1, 8 * d * B.shape[0]))
        for start in range(0, n, step):
            stop = min(start + step, n)
            with np.errstate(over="ignore", invalid="ignore"):
                part = A[start:stop, None, :] - B[None, :, :]
                out[start:stop, :] = xp.sum(xp.abs(part), axis=2)
        return out

    def _by_function(self, A: Any, B: Any) -> Array:
        name = getattr(self.kernel.function, "__name__", "the function")
        found = self.kernel.function(A, B)  # type: ignore[misc]
        try:
            found = np.asarray(found.toarray() if sp.issparse(found) else found)
            found = found.astype(np.float64, casting="unsafe" if found.dtype.kind in "biuO" else "same_kind")
        except (TypeError, ValueError):
            raise ValueError(f"expected kernel values from {name}, got {shorten(found)}.") from None
        if found.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"expected kernel values of shape {(A.shape[0], B.shape[0])} from {name}, a line for each row of its "
                f"first argument and a column for each of its second, got {found.shape}."
            )
        if not np.isfinite(found).all():
            raise ValueError(f"expected finite kernel values, got NaN or infinity from {name}.")
        return self.library.put(found)

    def diagonal(self, X: Matrix) -> Floats:
        """Return the kernel value of each row of NumPy or SciPy with itself, in float64."""
        kernel = self.kernel
        if kernel.name in ("rbf", "laplacian"):
            return np.ones(X.shape[0])
        if kernel.name == "function":
            return np.array([float(KernelValues(kernel)._by_function(X[[i]], X[[i]])[0, 0]) for i in range(X.shape[0])])
        exact = X.astype(np.float64)
        with np.errstate(over="ignore"):
            squares = exact.power(2).sum(axis=1) if sp.issparse(exact) else np.einsum("ij,ij->i", exact, exact)
            squares = np.asarray(squares).ravel()
            if kernel.name == "sigmoid":
                return np.tanh(kernel.gamma * squares + kernel.coef0)
            return KernelValues(kernel)._powers(squares)

    def doubt(self, lengths: Floats, longest: float, terms: int) -> tuple[Floats, Floats]:
        """Return ``sizes`` and ``errors``: bounds for rows of these lengths and supports up to ``longest``.

        A kernel value is at most ``sizes`` in absolute value, and its rounding error at most ``errors``, infinite
        where nothing is known.
        """
        kernel, unit = self.kernel, _UNIT[self.dtype]
        if not kernel.is_exact:
            return np.ones_like(lengths), np.zeros_like(lengths)
        wide = self.dtype == "float64"
        smallest, largest, longest_row = (1e-250, 1e250, 1e150) if wide else (1e-20, 1e30, 1e15)
        with np.errstate(over="ignore", invalid="ignore"):
            if kernel.name == "laplacian":
                sizes, relative = np.ones_like(lengths), np.full_like(lengths, unit * (0.4 * (terms + 6) + 8.0))
                if not wide:  # rows have been rounded before they are subtracted
                    relative = relative + 2.0 * unit * kernel.gamma * math.sqrt(terms) * (lengths + longest)
                certain = (lengths + longest < longest_row) & (relative < 0.05)
            elif kernel.name == "rbf":
                exponents = kernel.gamma * unit * (terms + 8) * (lengths + longest) ** 2
                sizes, relative = np.ones_like(lengths), np.expm1(exponents) + 8.0 * unit
                certain = (exponents < 0.5) & (lengths + longest < longest_row) & (kernel.gamma < largest)
            else:
                gamma, coef0, degree = kernel.polynomial or (1.0, 0.0, 1)
                dots = longest * lengths
                bases = (gamma * dots + abs(coef0)) * (1 + 1e-9)
                sizes = bases ** float(degree)
                relative = np.full_like(lengths, unit * degree * (terms + 8.0))
                zero = (lengths == 0.0) | (longest == 0.0)
                certain = (zero | (dots > smallest)) & (sizes > smallest) & (sizes < largest)
                certain &= (bases < largest) & (bases > smallest) & (relative < 0.05) & (longest < longest_row)
                certain &= lengths < longest_row
                if degree == 0:
                    certain = np.ones_like(certain)
            return sizes, np.where(certain, 1.05 * relative * sizes, math.inf)

    def is_whole(self, *rows: DeviceRows) -> bool:
        """Return whether values between such rows are integers, computed without rounding as long as they are small."""
        kernel = self.kernel.polynomial
        if kernel is None or not all(part.whole for part in rows):
            return False
        return kernel[0] == math.floor(kernel[0]) and kernel[1] == math.floor(kernel[1])

    @property
    def largest_whole(self) -> float:
        """The largest size of kernel values up to which integers are exact."""
        return 2.0**53 if self.dtype == "float64" else 2.0**24


def _sparse_distances(A: sp.csr_array, B: sp.csr_array) -> Floats:
    """Return the L1 distances between sparse rows; some at a time, by the columns that these have."""
    out = np.empty((A.shape[0], B.shape[0]))
    for i in range(0, A.shape[0], _SPARSE_ROWS):
        for j in range(0, B.shape[0], _SPARSE_ROWS):
            some, others = A[i : i + _SPARSE_ROWS], B[j : j + _SPARSE_ROWS]
            columns, places = np.unique(np.concatenate([some.indices, others.indices]), return_inverse=True)
            dense = []
            for rows, indices in ((some, places[: some.nnz]), (others, places[some.nnz :])):
                narrow = sp.csr_array((rows.data, indices, rows.indptr), shape=(rows.shape[0], max(1, len(columns))))
                dense.append(narrow.toarray())
            out[i : i + _SPARSE_ROWS, j : j + _SPARSE_ROWS] = cdist(*dense, "cityblock")
    return out
