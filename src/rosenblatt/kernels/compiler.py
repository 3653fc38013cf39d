"""The compiler: numba with a cache on disk, and two instructions that numba does not offer.

Compiled code is kept in the user's cache folder under a name made from the sources of this folder, so
that an edit in any kernel file is seen (numba by itself looks only at the file that holds the function).
Where nothing can be written, kernels are compiled anew in each process and all else works as usual.

What this package relies on of numba beyond its public names is in this file: the option ``_nrt``, and the parts of the
cache on disk that ``KernelCache`` uses. ``tests/kernels/test_compiler.py`` states it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.extending import intrinsic, overload

from rosenblatt.messages import warn_user

REORDERED = {"reassoc", "contract", "nsz"}
"""Fast-math flags for sums whose order does not matter because their rounding is bounded afterwards."""

# Kernels make no arrays, so they do without numba's runtime (``_nrt``), which counts references: an atomic instruction
# for each array of each tuple at each call. Sparse passes take two thirds of the time without it.
_ALWAYS = {"nogil": True, "no_cfunc_wrapper": True, "_nrt": False}
_INSIDE = {**_ALWAYS, "no_cpython_wrapper": True}  # no wrapper: half the time of compiling

RETURNS_ARRAY = {"_nrt": True}
"""An option of functions that return a view of an array, which numba does not allow without its runtime.

It finds nothing to count there: the arrays of a kernel come without counts.
"""


def cache_folder() -> Path:
    """Return the folder for compiled kernels: below ``NUMBA_CACHE_DIR`` or the user's cache folder."""
    here = Path(__file__).parent
    sources = b"".join(path.read_bytes() for path in sorted(here.rglob("*.py")))
    chosen = numba.config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(chosen).expanduser() / "rosenblatt" / hashlib.sha256(sources).hexdigest()[:16]


_FOLDER = cache_folder()


class _SyncedFiles(IndexDataCacheFile):
    """Files that are on the disk before they get their names: no power cut leaves machine code with holes in it."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BinaryIO]:
        with super()._open_for_write(filepath) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())


class KernelCache(FunctionCache):
    """Compiled code on disk; what cannot be read is compiled anew, what cannot be written is not kept."""

    has_warned = False

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _SyncedFiles(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, sig, target_context):
        """Return the compiled code for a signature, None where there is none that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as fault:  # damaged files raise whatever they make pickle do
            self._warn("read", fault)
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig, data):
        """Keep the compiled code for a signature, where that can be done."""
        try:
            super().save_overload(sig, data)
        except Exception as fault:  # an index that is damaged, on a disk where no other can be written
            self._warn("written", fault)

    def _warn(self, what: str, fault: Exception) -> None:
        if not KernelCache.has_warned:
            KernelCache.has_warned = True
            warn_user(
                f"compiled kernels in {_FOLDER} could not be {what} ({type(fault).__name__}), so they are compiled "
                "again, which takes some seconds: make room there, or delete that folder.",
                RuntimeWarning,
            )


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` on its first call, without the GIL, and keep the result for other processes."""
    if numba.config.DISABLE_JIT:
        return np.errstate(all="ignore")(function)  # compiled code is silent about overflow, too
    compiled = numba.njit(function, **_ALWAYS)
    theirs = numba.config.CACHE_DIR
    with suppress(OSError):
        _FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        numba.config.CACHE_DIR = str(_FOLDER)
        compiled._cache = KernelCache(function)
    except RuntimeError:  # numba found no folder that it can write to
        pass
    finally:
        numba.config.CACHE_DIR = theirs
    return compiled


def inlined(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile ``function`` into each kernel that calls it."""
    return numba.njit(function, forceinline=True, **_INSIDE, **options)


def reordered(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` as ``inlined`` does, its sums in whatever order is fastest."""
    return inlined(function, fastmath=REORDERED)


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` as a function of its own, for kernels to call where speed does not matter."""
    return numba.njit(function, **_INSIDE)


def chosen(choose: Callable[[Any], Callable[..., Any]], **options: Any) -> Callable[..., Any]:
    """Return one function for kernels to call, which is another one for each type of its first argument.

    ``choose`` is given numba's type of that argument when a kernel is compiled; without the JIT, the argument itself.
    """

    def function(first, *arguments):
        return choose(first)(first, *arguments)

    settings = {**_INSIDE, "forceinline": True, **options}
    overload(function, jit_options=settings, strict=False)(lambda first, *arguments: choose(first))
    return function


def by_layout(dense: Callable[..., Any], csr: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Return one function of ``rows`` and more for kernels to call: ``dense`` or ``csr``."""
    return chosen(lambda rows: dense if len(rows) == 2 else csr, **options)


if numba.config.DISABLE_JIT:

    def at(array, i):
        """Return ``array[i]``."""
        return array[i]

    def prefetch(array, i):
        """Do nothing: plain Python has no way to warm the cache."""

else:

    @intrinsic
    def at(typing_context, array, i):
        """``array[i]`` for a contiguous array and ``i >= 0``, without the test for a negative index."""

        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            index = arguments[1]
            if index.type.width < 64:
                widen = builder.sext if signature.args[1].signed else builder.zext
                index = widen(index, ir.IntType(64))
            return builder.load(builder.gep(data, [index]))

        return array.dtype(array, i), generate

    @intrinsic
    def prefetch(typing_context, array, i):
        """Ask for the cache line of ``array[i]``; the address may lie outside, nothing is read."""

        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            byte_pointer, word = ir.IntType(8).as_pointer(), ir.IntType(32)
            address = builder.bitcast(builder.gep(data, [arguments[1]]), byte_pointer)
            function_type = ir.FunctionType(ir.VoidType(), [byte_pointer, word, word, word])
            instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte_pointer], function_type)
            builder.call(instruction, [address, word(0), word(3), word(1)])
            return context.get_dummy_value()

        return types.void(array, i), generate
