"""Compile kernels with numba, and cache the compiled code on disk. ``compiler.py`` imports this file when needed.

Compiled code is kept in the user's cache folder under a hash of all sources of this folder. So an edit to any kernel
file causes recompilation; numba's own cache checks only the file that defines the function. Loading these files runs
code, since numba unpickles them, so nobody but the user may be able to write them. If that is not so, or the folder
cannot be written, each process compiles its kernels anew.

All uses of numba's private names are in this file: the option ``_nrt``, the method ``_compile_for_args`` of
dispatchers, the code library that ``_PartLibrary`` extends, and the parts of the cache on disk that ``KernelCache``
extends. ``tests/kernels/test_jit.py`` tests them.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import RLock
from types import FunctionType
from typing import Any, BinaryIO

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.runtime.nrt import rtsys
from numba.extending import overload

from rosenblatt.interrupts import interrupts_deferred
from rosenblatt.kernels.instructions import INSTRUCTIONS
from rosenblatt.kernels.parts import ALWAYS, PARTS, Function, cache_folder
from rosenblatt.messages import warn_user

_FOLDER = cache_folder()

# Compiled copies of functions. Each is made from a copy of the function whose global names are those of its module,
# with compiled copies in place of the functions that it calls.

_lock = RLock()  # no thread may compile with names that another has not replaced yet
_namespaces: dict[str, dict[str, Any]] = {}
_compiled: dict[Function, Any] = {}


def compiled_kernel(function: Function) -> Any:
    """Return the compiled form of a function that Python calls."""
    with _lock:
        copied = _copy(_to_compile(function))
        copied.__qualname__ = function.__qualname__
        compiled = numba.njit(copied, **ALWAYS)
        compiled._compile_for_args = _undisturbed(compiled._compile_for_args)
        return _with_cache(compiled)


def _compiled_part(function: Function) -> Any:
    """Return the compiled form of a function that kernels call."""
    if function not in _compiled:
        part = PARTS[function]
        options = {**part.options, "pipeline_class": _PartCompiler}
        if part.choose is None:
            _compiled[function] = numba.njit(_copy(_to_compile(function)), **options)
        else:
            choose = part.choose
            overload(function, jit_options=options, strict=False)(lambda first, *_: _copy(choose(first)))
            _compiled[function] = function
    return _compiled[function]


def _to_compile(function: Function) -> Function:
    """Return the function to compile when Python calls ``function``."""
    return PARTS[function].loop or function if function in PARTS else function


@cache
def _copy(function: Function) -> Function:
    """Return a copy of a function that calls compiled functions."""
    with _lock:
        names = _namespace(function.__module__)
    copied = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    copied.__qualname__ = function.__qualname__
    return copied


def _namespace(module: str) -> dict[str, Any]:
    """Return the global names of a module. Functions that kernels call are replaced by their compiled forms."""
    if module not in _namespaces:
        names = _namespaces[module] = dict(vars(sys.modules[module]))
        for name, value in vars(sys.modules[module]).items():
            if isinstance(value, FunctionType) and value in PARTS:
                names[name] = _compiled_part(value)
            elif isinstance(value, FunctionType):
                names[name] = INSTRUCTIONS.get(f"{value.__module__}.{value.__qualname__}", value)
    return _namespaces[module]


# Parts of kernels are compiled up to LLVM's intermediate code. It is linked into a kernel, and only then optimized as a
# whole and translated to machine code. By default numba does both for each part as well, which takes a third longer.


class _PartLibrary(JITCodeLibrary):
    """The intermediate code of one part, without machine code."""

    def _optimize_final_module(self):
        """Do nothing: the kernel is optimized as a whole."""

    def _finalize_final_module(self):
        self._finalized = True

    def get_pointer_to_function(self, name):
        """Return 0, as for a function that Python cannot call."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self):
        """An object to which numba passes a part's constants by ``set_env``. Only machine code needs them."""
        return self

    def set_env(self, name, environment):
        """Do nothing: see ``codegen``."""


class _PartCompiler(Compiler):
    def __init__(self, typing_context, target_context, library, *arguments):
        library = _PartLibrary(target_context.codegen(), "part")
        library.enable_object_caching()
        super().__init__(typing_context, target_context, library, *arguments)


def _undisturbed(compile_for: Function) -> Function:
    """Return a function that compiles as ``compile_for`` does, without interrupts and without garbage collection.

    An interrupt between LLVM and its callbacks in Python could end the process, so it is raised afterwards. The garbage
    collector would visit all objects dozens of times.
    """

    def compile_undisturbed(*arguments: Any) -> Any:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            with interrupts_deferred():
                return compile_for(*arguments)
        finally:
            if was_enabled:
                gc.enable()

    return compile_undisturbed


# The cache on disk


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
        """Return the compiled code for a signature, or None if no readable file contains the code.

        Unlike numba's own method, this does not import all that numba needs to compile functions of NumPy and SciPy,
        which takes a fifth of a second. Numba imports it before it compiles a function.
        """
        try:
            rtsys.initialize(target_context)
            return self._load_overload(sig, target_context)
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


def _with_cache(compiled: Any) -> Any:
    """Give a compiled function a cache on disk, if only the user can write to its folder; return the function."""
    if not _is_safe(_FOLDER):
        return compiled
    configured = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = str(_FOLDER)
        compiled._cache = KernelCache(compiled.py_func)
    except (OSError, RuntimeError) as fault:  # numba cannot write to the folder
        _warn(f"could not be written ({type(fault).__name__})")
    finally:
        numba.config.CACHE_DIR = configured
    return compiled
