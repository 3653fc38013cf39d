"""Compute kernel values between rows, on a CPU or a GPU, with bounds on their rounding errors."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.messages import ParameterError, shorten
from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.options import Kernel
from rosenblatt.training.rows import Matrix, pad_columns

# Array libraries: NumPy, or a library of the array API standard, such as PyTorch on a GPU.


Array: TypeAlias = Any
"""An array of the library in use."""


@dataclass(frozen=True)
class ArrayLibrary:
    """An array library (a module that implements the array API standard), and a device on which it computes."""

    xp: ModuleType
    device: object = None
    """A device of the library; None means its default device."""

    @property
    def is_numpy(self) -> bool:
        """Whether the library is NumPy."""
        return self.xp is np

    @property
    def scatters(self) -> bool:
        """Whether the library can assign to rows selected by an index array, which is not in the standard."""
        return self.is_numpy or self.xp.__name__ == "array_api_compat.torch"

    @property
    def is_remote(self) -> bool:
        """Whether the device is not the CPU, so that reading a number has to wait for the device."""
        return getattr(self.device, "type", "cpu") != "cpu"

    def put(self, array: NDArray[Any], dtype: str | None = None) -> Array:
        """Convert a NumPy array to an array of this library, with the given ``dtype`` unless it is None."""
        array = np.ascontiguousarray(array, dtype)
        return array if self.is_numpy else self.xp.asarray(array, device=self.device)

    def fetch(self, array: Array) -> NDArray[Any]:
        """Convert an array of this library to a NumPy array."""
        if self.is_numpy:
            return np.asarray(array)
        return np.asarray(array.cpu() if hasattr(array, "cpu") else array)

    def empty(self, shape: tuple[int, ...], dtype: str) -> Array:
        """Return an uninitialised array."""
        kind = getattr(self.xp, dtype)
        return np.empty(shape, kind) if self.is_numpy else self.xp.empty(shape, dtype=kind, device=self.device)

    def astype(self, array: Array, dtype: str) -> Array:
        """Convert an array to ``dtype``; return the array itself if it already has that type."""
        kind = getattr(self.xp, dtype)
        if array.dtype == kind:
            return array
        return array.astype(kind) if self.is_numpy else self.xp.astype(array, kind)

    def running_sums(self, array: Array) -> Array:
        """Return the cumulative sums along each row of a two-dimensional array."""
        if self.is_numpy:
            return np.cumsum(array, axis=1)
        return self.xp.cumulative_sum(array, axis=1)

    def recorded(self, function: Callable[[], None]) -> Callable[[], None]:
        """Return a function that replays ``function`` as a CUDA graph; on other devices, ``function`` itself.

        Recording the graph calls ``function`` a few times. ``function`` must not read from the device.
        """
        if getattr(self.device, "type", None) != "cuda":
            return function
        cuda = importlib.import_module("torch").cuda
        stream = cuda.Stream()
        stream.wait_stream(cuda.current_stream())
        with cuda.stream(stream):
            for _ in range(3):  # PyTorch asks for a few calls before a capture, for memory and libraries
                function()
        cuda.current_stream().wait_stream(stream)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            function()
        return graph.replay


NUMPY = ArrayLibrary(np)


def open_library(device: str | None, namespace: str | None = None) -> ArrayLibrary:
    """Return PyTorch with the given device, or NumPy if ``device`` is None.

    If ``namespace`` is given, it is the name of a module to use instead. Raise a ParameterError if PyTorch or the
    device is not available.
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
            "{device=asked} needs PyTorch and array-api-compat, and {missing} is not installed: "
            "pip install 'rosenblatt[gpu]', or leave out {device}.",
            asked=device,
            missing=missing.name,
        ) from None
    try:
        found = torch.device(device)
        torch.empty(0, dtype=torch.float64, device=found)
    except (RuntimeError, AssertionError, TypeError) as fault:
        reason = " ".join(str(fault).split(".")[0].split())
        raise ParameterError(
            "{device=asked} is not available. PyTorch says: {reason}. Leave out {device} to compute on the CPU.",
            asked=device,
            reason=reason,
        ) from None
    return ArrayLibrary(xp, found)


Floats = NDArray[np.float64]
_UNIT = {"float64": HALF_ULP, "float32": 2.0**-24}
_SPARSE_ROWS = 128
"""The number of sparse rows whose distances are computed together, from dense copies of the rows."""
_DISTANCE_BYTES = 16 * 1024 * 1024
"""The size in bytes of the array of differences between rows, from which L1 distances are computed."""


@dataclass(frozen=True)
class DeviceRows:
    """Rows on a device, in the dtype of matrix products, with their norms and other data for error bounds."""

    matrix: Array | Matrix
    """The rows: a dense array on the device, or a CSR matrix of SciPy.

    If the kernel is a function or precomputed, the matrix is the one that was given.
    """
    squares: Array
    """The squared norms of the rows, on the device, if the kernel depends on Euclidean distances; else None."""
    lengths: Floats
    """An upper bound on the norm of each row; 0 if `Kernel.is_exact` is False, since no bounds are needed then."""
    is_integer: bool
    """Whether the kernel is a polynomial and all entries are integers that this dtype represents exactly."""
    terms: int
    """The largest number of stored entries in a row."""

    def __getitem__(self, part: slice) -> DeviceRows:
        dense = not sp.issparse(self.matrix)
        squares = self.squares[part] if self.squares is not None else None
        matrix = self.matrix[part, :] if dense else self.matrix[part]
        return replace(self, matrix=matrix, squares=squares, lengths=self.lengths[part])

    def take(self, library: ArrayLibrary, index: NDArray[np.int64]) -> DeviceRows:
        """Return the rows with the indices ``index``."""
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
    """Return an upper bound on the norm of each row, without intermediate overflow or underflow.

    The computed norm is multiplied by 1 + 1e-9, which covers the rounding of up to 10**7 squares and their sum.
    """
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


def padded(X: Matrix, width: int) -> Matrix:
    """Return a matrix of NumPy or SciPy with at least ``width`` columns; additional columns are 0."""
    if sp.issparse(X):
        return pad_columns(X, width)
    return X if X.shape[1] >= width else np.pad(X, ((0, 0), (0, width - X.shape[1])))


class KernelValues:
    """Compute the values of a kernel on a device, in the type ``dtype``, and bounds on their rounding errors."""

    def __init__(self, kernel: Kernel, library: ArrayLibrary = NUMPY, dtype: str = "float64") -> None:
        self.kernel, self.library, self.dtype = kernel, library, dtype

    @property
    def is_distance(self) -> bool:
        """Whether the kernel is computed from squared norms and dot products."""
        return self.kernel.name == "rbf"

    def rows(self, X: Matrix) -> DeviceRows:
        """Return the rows of ``X`` on the device."""
        values = X.data if sp.issparse(X) else X
        is_integer = bool(self.kernel.polynomial) and bool(np.all(values == np.rint(values)))
        is_integer = is_integer and bool(np.all(np.abs(values) <= self.largest_integer))  # in this type, too
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
            matrix: Array | Matrix = sp.csr_array(X, dtype=np.float64)
        else:
            with np.errstate(over="ignore"):
                matrix = self.library.put(X, self.dtype)
        return DeviceRows(matrix, squares, lengths, is_integer, terms)

    def __call__(self, A: DeviceRows, B: DeviceRows) -> Array:
        """Return the matrix of kernel values with a row for each row of ``A`` and a column for each row of ``B``."""
        kernel, xp = self.kernel, self.library.xp
        rows, others = A.matrix, B.matrix
        if rows.shape[1] != others.shape[1]:  # later rows of a stream may have more columns
            width = max(rows.shape[1], others.shape[1])
            rows, others = padded(rows, width), padded(others, width)
        if kernel.name == "function" and kernel.function is not None:
            return self._by_function(rows, others)
        if kernel.name == "laplacian":
            with np.errstate(over="ignore", invalid="ignore"):
                return xp.exp(-kernel.gamma * self._distances(rows, others))
        with np.errstate(over="ignore", invalid="ignore"):
            products = self._products(rows, others)
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
        """Write the matrix of kernel values of ``A`` and ``B`` to the array ``out``, without a copy if possible."""
        if self.kernel.polynomial is None or sp.issparse(A.matrix) or sp.issparse(B.matrix):
            out[:] = self(A, B)
            return
        with np.errstate(over="ignore", invalid="ignore"):
            np.matmul(A.matrix, B.matrix.T, out=out)
            self._powers(out)

    def _powers(self, values: Array) -> Array:
        """Apply the polynomial of the kernel to an array of dot products, in place, and return the array.

        Powers are computed by repeated squaring, from the highest bit of the degree. So the result is the same on all
        machines.
        """
        gamma, coef0, degree = self.kernel.polynomial or (1.0, 0.0, 1)
        if gamma != 1.0:
            values *= gamma
        if coef0 != 0.0:
            values += coef0
        if degree == 0:
            values[...] = 1.0
        elif degree > 1:
            base = values + 0.0 if "1" in bin(degree)[3:] else values
            for bit in bin(degree)[3:]:  # invariant: ``values`` is base to the power of the bits read so far
                values *= values
                if bit == "1":
                    values *= base
        return values

    def _products(self, A: Array | Matrix, B: Array | Matrix) -> Array:
        products = A @ B.T
        return products.toarray() if sp.issparse(products) else products

    def _distances(self, A: Array | Matrix, B: Array | Matrix) -> Array:
        """Return the L1 distances between the rows of ``A`` and of ``B``, computed for some rows of ``A`` at a time."""
        if sp.issparse(A) or sp.issparse(B):
            return _sparse_distances(sp.csr_array(A), sp.csr_array(B))
        xp, (n, d) = self.library.xp, A.shape
        if self.library.is_numpy and self.dtype == "float64":
            return _l1_distances(A, B)
        out = self.library.empty((n, B.shape[0]), self.dtype)
        step = max(1, _DISTANCE_BYTES // max(1, 8 * d * B.shape[0]))
        for start in range(0, n, step):
            stop = min(start + step, n)
            with np.errstate(over="ignore", invalid="ignore"):
                part = A[start:stop, None, :] - B[None, :, :]
                out[start:stop, :] = xp.sum(xp.abs(part), axis=2)
        return out

    def _by_function(self, A: Array | Matrix, B: Array | Matrix) -> Array:
        name = getattr(self.kernel.function, "__name__", "the function")
        found = self.kernel.function(A, B)  # type: ignore[misc]
        try:
            found = np.asarray(found.toarray() if sp.issparse(found) else found)
            found = found.astype(np.float64, casting="unsafe" if found.dtype.kind in "biuO" else "same_kind")
        except (TypeError, ValueError):
            raise ValueError(f"expected kernel values from {name}, got {shorten(found)}.") from None
        if found.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"expected kernel values of shape {(A.shape[0], B.shape[0])} from {name}, a row for each row of its "
                f"first argument and a column for each row of its second, got {found.shape}."
            )
        if not np.isfinite(found).all():
            raise ValueError(f"expected finite kernel values, got NaN or infinity from {name}.")
        return self.library.put(found)

    def diagonal(self, X: Matrix) -> Floats:
        """Return the kernel value of each row of a NumPy or SciPy matrix with itself, in float64."""
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

    def error_bounds(self, lengths: Floats, longest: float, terms: int) -> tuple[Floats, Floats]:
        """Return bounds on the kernel values between rows and support rows.

        The rows have the norms ``lengths``, and the support rows have norms of at most ``longest``. ``terms`` is the
        largest number of stored entries in a row. The first array bounds the absolute values of a row's kernel values.
        The second bounds their rounding errors, and is infinite if there is no bound.
        """
        # With u the unit roundoff, n = ``terms``, and |x|, |z| at most the lengths:
        #
        #   (g x.z + c)^d     x.z is off by n u |x| |z| (Higham 2002, section 3.1), g and c add 2 roundings, and the
        #                     power multiplies relative errors by d and adds d: d u (n + 8) (g |x| |z| + |c|)^d.
        #   exp(-g |x - z|^2)  |x|^2 - 2 x.z + |z|^2 is off by (n + 8) u (|x| + |z|)^2. An error e of the exponent is a
        #                     relative error of exp(e) - 1 of the value, which is at most 1; exp itself has a relative
        #                     error of at most 8 u.
        #   exp(-g |x - z|_1)  the sum t has up to 2 n terms, as sparse rows may share no column, so its relative error
        #                     is (2 n + 6) u. As t exp(-t) <= 1 / e < 0.4, the error of the value is 0.4 (2 n + 6) u for
        #                     any t, plus 8 u for exp. Rounding rows to float32 changes t by up to u (|x|_1 + |z|_1)
        #                     more, where |x|_1 <= sqrt(n) |x|.
        #
        # The factor 1.05 at the end covers terms of higher order, because relative errors are below 0.05, or are those
        # of an exponent that is never positive.
        #
        # Beyond ``smallest`` and ``largest`` numbers may underflow or overflow, so there is no bound.
        kernel, unit = self.kernel, _UNIT[self.dtype]
        if not kernel.is_exact:
            return np.ones_like(lengths), np.zeros_like(lengths)
        wide = self.dtype == "float64"
        smallest, largest, longest_row = (1e-250, 1e250, 1e150) if wide else (1e-20, 1e30, 1e15)
        with np.errstate(over="ignore", invalid="ignore"):
            if kernel.name == "laplacian":
                sizes, relative = np.ones_like(lengths), np.full_like(lengths, unit * (0.4 * (2 * terms + 6) + 8.0))
                if not wide:  # rows are rounded to float32 before they are subtracted
                    relative = relative + 2.0 * unit * kernel.gamma * math.sqrt(terms) * (lengths + longest)
                certain = (lengths + longest < longest_row) & (relative < 0.05)
                certain &= wide or kernel.gamma < largest  # entries below the smallest float32 become 0
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

    def is_integer(self, *rows: DeviceRows) -> bool:
        """Return whether the kernel values between such rows are integers. Small integers have no rounding errors."""
        kernel = self.kernel.polynomial
        if kernel is None or not all(part.is_integer for part in rows):
            return False
        return kernel[0] == math.floor(kernel[0]) and kernel[1] == math.floor(kernel[1])

    @property
    def largest_integer(self) -> float:
        """The number up to whose absolute value ``dtype`` represents all integers exactly."""
        return 2.0**53 if self.dtype == "float64" else 2.0**24


def _l1_distances(A: Floats, B: Floats) -> Floats:
    """Return the L1 distances between dense rows."""
    from scipy.spatial.distance import cdist  # here, because this import would double the time to import the engine

    return cdist(A, B, "cityblock")


def _sparse_distances(A: sp.csr_array, B: sp.csr_array) -> Floats:
    """Return the L1 distances between sparse rows.

    They are computed for some rows at a time, from dense copies that have only the columns in which a row is not 0.
    """
    out = np.empty((A.shape[0], B.shape[0]))
    for i in range(0, A.shape[0], _SPARSE_ROWS):
        for j in range(0, B.shape[0], _SPARSE_ROWS):
            some, others = A[i : i + _SPARSE_ROWS], B[j : j + _SPARSE_ROWS]
            columns, places = np.unique(np.concatenate([some.indices, others.indices]), return_inverse=True)
            dense = []
            for rows, indices in ((some, places[: some.nnz]), (others, places[some.nnz :])):
                narrow = sp.csr_array((rows.data, indices, rows.indptr), shape=(rows.shape[0], max(1, len(columns))))
                dense.append(narrow.toarray())
            out[i : i + _SPARSE_ROWS, j : j + _SPARSE_ROWS] = _l1_distances(*dense)
    return out
