"""The compiler: numba with a cache on disk, and two instructions that numba does not offer.

Compiled code is kept in the user's cache folder under a hash of all sources of this folder. So an edit to any kernel
file causes recompilation; numba's own cache checks only the file that defines the function. Loading these files runs
code, since numba unpickles them, so nobody but the user may be able to write them. If that is not so, or the folder
cannot be written, each process compiles its kernels anew.

All uses of numba's private names are in this file: the option ``_nrt``, and the parts of the cache on disk that
``KernelCache`` extends. ``tests/kernels/test_compiler.py`` tests them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.extending import intrinsic, overload

from rosenblatt.messages import warn_user

Function: TypeAlias = Callable[..., Any]
"""A function to compile; numba infers the types of its arguments."""

REORDERED = {"reassoc", "contract", "nsz"}
"""Fast-math flags for sums that may be computed in any order, because their rounding error is bounded afterwards."""

# Kernels allocate no arrays, so they need no reference counts. Numba's runtime (``_nrt``) would update a count
# atomically at each call for each array of each tuple. Without it sparse passes take two thirds of the time.
_ALWAYS = {"nogil": True, "no_cfunc_wrapper": True, "_nrt": False}
_INSIDE = {**_ALWAYS, "no_cpython_wrapper": True}  # compiling takes half the time without the wrapper

RETURNS_ARRAY = {"_nrt": True}
"""The option for functions that return a view of an array: numba requires its runtime for them.

The runtime has nothing to count in them, because arrays inside a kernel carry no reference counts.
"""


def cache_folder() -> Path:
    """Return the folder for compiled kernels: below ``NUMBA_CACHE_DIR`` or the user's cache folder."""
    here = Path(__file__).parent
    sources = b"".join(path.read_bytes() for path in sorted(here.rglob("*.py")))
    chosen = numba.config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    below = Path(chosen).expanduser() / "rosenblatt" / hashlib.sha256(sources).hexdigest()[:16]
    return Path(os.path.realpath(below))  # a link is followed once, so that it cannot lead elsewhere later


_FOLDER = cache_folder()


@cache
def _is_safe(folder: Path) -> bool:
    """Create the folder if it does not exist, and return whether its files can be loaded and written; if not, warn.

    The folder, its parent and all files in it must belong to the user, and nobody else may be able to write to them.
    """
    try:
        folder.parent.parent.mkdir(parents=True, exist_ok=True)
        for ours in (folder.parent, folder):
            with suppress(FileExistsError):
                ours.mkdir(0o700)
                ours.chmod(0o700)  # whatever the umask
    except OSError as fault:
        _warn(f"could not be written ({type(fault).__name__})")
        return False
    if not hasattr(os, "geteuid"):  # a system without owners of files
        return True
    inside = [Path(place, name) for place, folders, files in os.walk(folder) for name in folders + files]
    for path in [folder.parent, folder, *inside]:
        with suppress(FileNotFoundError):  # another process has renamed it
            found = os.lstat(path)
            if found.st_uid != os.geteuid() or found.st_mode & 0o022:
                why = "belongs to another user" if found.st_uid != os.geteuid() else "can be written by other users"
                _warn(f"are not used, because {path} {why}")
                return False
    return True


def _warn(problem: str) -> None:
    """Warn once in this process that kernels are compiled again."""
    if not KernelCache.has_warned:
        KernelCache.has_warned = True
        warn_user(
            f"compiled kernels in {_FOLDER} {problem}, so they are compiled again, which takes a few seconds: free "
            "disk space there, delete that folder, or choose another one by NUMBA_CACHE_DIR.",
            RuntimeWarning,
        )


class _SyncedFiles(IndexDataCacheFile):
    """Cache files that only the user can read or write.

    They are synced to disk before they are renamed, so that a power cut leaves no damaged code.
    """

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BinaryIO]:
        with super()._open_for_write(filepath) as file:
            os.chmod(file.name, 0o600)  # whatever the umask
            yield file
            file.flush()
            os.fsync(file.fileno())


class KernelCache(FunctionCache):
    """The compiled code of one function on disk.

    If a file cannot be read, the function is compiled again. If a file cannot be written, nothing is stored.
    """

    has_warned = False

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        if not Path(self._cache_path).is_relative_to(numba.config.CACHE_DIR):
            # Numba falls back to folders such as __pycache__, where the hash of all sources is missing.
            raise OSError(f"numba chose {self._cache_path}")
        os.chmod(self._cache_path, 0o700)
        self._cache_file = _SyncedFiles(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, sig, target_context):
        """Return the compiled code for a signature, or None if no readable file has it."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as fault:  # unpickling a damaged file may raise anything
            _warn(f"could not be read ({type(fault).__name__})")
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig, data):
        """Store the compiled code for a signature, if the disk allows it."""
        try:
            super().save_overload(sig, data)
        except Exception as fault:  # a damaged index on a disk that cannot be written
            _warn(f"could not be written ({type(fault).__name__})")


def kernel(function: Function) -> Function:
    """Compile ``function`` on its first call, to run without the GIL, and cache the result for other processes."""
    if numba.config.DISABLE_JIT:
        return np.errstate(all="ignore")(function)  # compiled code does not warn about overflow either
    compiled = numba.njit(function, **_ALWAYS)
    if not _is_safe(_FOLDER):
        return compiled
    configured = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = str(_FOLDER)
        compiled._cache = KernelCache(function)
    except (OSError, RuntimeError) as fault:  # numba cannot write to the folder
        _warn(f"could not be written ({type(fault).__name__})")
    finally:
        numba.config.CACHE_DIR = configured
    return compiled


def inlined(function: Function, **options: Any) -> Function:
    """Compile ``function`` into each kernel that calls it."""
    return numba.njit(function, forceinline=True, **_INSIDE, **options)


def reordered(function: Function) -> Function:
    """Compile ``function`` as ``inlined`` does, and let the compiler reorder its sums."""
    return inlined(function, fastmath=REORDERED)


def helper(function: Function) -> Function:
    """Compile ``function`` separately, to be called from kernels where speed does not matter."""
    return numba.njit(function, **_INSIDE)


def chosen(choose: Callable[[Any], Function], **options: Any) -> Function:
    """Return a function that kernels can call and that dispatches on the type of its first argument.

    ``choose`` maps that type to the function to call. When a kernel is compiled, ``choose`` receives numba's type;
    without the JIT, it receives the argument itself.
    """

    def function(first, *arguments):
        return choose(first)(first, *arguments)

    settings = {**_INSIDE, "forceinline": True, **options}
    overload(function, jit_options=settings, strict=False)(lambda first, *arguments: choose(first))
    return function


def by_layout(dense: Function, csr: Function, **options: Any) -> Function:
    """Return a function that calls ``dense`` or ``csr``, according to the layout of its first argument, ``rows``."""
    return chosen(lambda rows: dense if len(rows) == 2 else csr, **options)


if numba.config.DISABLE_JIT:

    def at(array, i):
        """Return ``array[i]``."""
        return array[i]

    def prefetch(array, i):
        """Do nothing: Python has no prefetch instruction."""

else:

    @intrinsic
    def at(typing_context, array, i):
        """Return ``array[i]`` for a contiguous array and ``i >= 0``, without numba's test for a negative index."""

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
        """Prefetch the cache line of ``array[i]``. The address may be outside the array: a prefetch never fails."""

        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            byte_pointer, word = ir.IntType(8).as_pointer(), ir.IntType(32)
            address = builder.bitcast(builder.gep(data, [arguments[1]]), byte_pointer)
            function_type = ir.FunctionType(ir.VoidType(), [byte_pointer, word, word, word])
            instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte_pointer], function_type)
            builder.call(instruction, [address, word(0), word(3), word(1)])
            return context.get_dummy_value()

        return types.void(array, i), generate
