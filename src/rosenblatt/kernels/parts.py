"""The functions that kernels call, and how numba compiles them.

The decorators store the options for numba, and return each function unchanged, so that Python can call it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

Function: TypeAlias = Callable[..., Any]
"""A function to compile. Numba infers the types of its arguments."""

REORDERED = {"reassoc", "contract", "nsz"}
"""Fast-math flags for sums that may be computed in any order, because their rounding error is bounded afterwards."""

# Kernels allocate no arrays, so they need no reference counts. Numba's runtime (``_nrt``) would update a count
# atomically at each call for each array of each tuple. Without it sparse passes take two thirds of the time.
ALWAYS = {"nogil": True, "no_cfunc_wrapper": True, "_nrt": False}
_INSIDE = {**ALWAYS, "no_cpython_wrapper": True}  # compiling takes half the time without the wrapper

RETURNS_ARRAY = {"_nrt": True}
"""The option for functions that return a view of an array: numba requires its runtime for them.

The runtime has nothing to count in them, because arrays inside a kernel carry no reference counts.
"""


class Part(NamedTuple):
    """How numba compiles a function that kernels call."""

    options: dict[str, Any]
    choose: Callable[[Any], Function] | None = None
    """For a function that dispatches on the type of its first argument: what returns the function to call."""
    loop: Function | None = None
    """The function to compile, if Python calls another one; see `instead_of`."""


PARTS: dict[Function, Part] = {}
"""All functions that kernels call, with the options by which numba compiles them."""


def inlined(function: Function, **options: Any) -> Function:
    """Compile ``function`` into each kernel that calls it."""
    PARTS[function] = Part({"forceinline": True, **_INSIDE, **options})
    return function


def reordered(function: Function) -> Function:
    """Compile ``function`` as ``inlined`` does, and let the compiler reorder its sums."""
    return inlined(function, fastmath=REORDERED)


def helper(function: Function) -> Function:
    """Compile ``function`` separately, to be called from kernels where speed does not matter."""
    PARTS[function] = Part(_INSIDE)
    return function


def chosen(choose: Callable[[Any], Function], **options: Any) -> Function:
    """Return a function that kernels can call and that dispatches on the type of its first argument.

    ``choose`` maps that type to the function to call. When a kernel is compiled, ``choose`` receives numba's type;
    when it is interpreted, the argument itself.
    """

    def function(first, *arguments):
        return choose(first)(first, *arguments)

    PARTS[function] = Part({**_INSIDE, "forceinline": True, **options}, choose)
    return function


def chosen_for(function: Function, first: Any) -> Function:
    """Return the function that a function made by `chosen` calls if ``first`` is its first argument."""
    choose = PARTS[function].choose
    assert choose is not None
    return choose(first)


def instead_of(loop: Function) -> Callable[[Function], Function]:
    """Return a decorator for a function in whose place ``loop`` is compiled.

    Interpreted, the function does the same as ``loop`` with operations on whole arrays, because loops in Python are
    slow. Sums may be computed in another order only if their rounding is bounded afterwards.
    """

    def decorate(function: Function) -> Function:
        PARTS[function] = PARTS.get(loop, Part(_INSIDE))._replace(loop=loop)
        return function

    return decorate


def by_layout(dense: Function, csr: Function, **options: Any) -> Function:
    """Return a function that calls ``dense`` or ``csr``, according to the layout of its first argument, ``rows``."""
    return chosen(lambda rows: dense if len(rows) == 2 else csr, **options)


def at(array, i):
    """Return ``array[i]`` for a contiguous array and ``i >= 0``; compiled without a test for a negative index."""
    return array[i]


def prefetch(array, i):
    """Prefetch the cache line of ``array[i]``, which may lie outside the array; do nothing if interpreted."""


def cache_folder() -> Path:
    """Return the folder for compiled kernels: below ``NUMBA_CACHE_DIR`` or the user's cache folder."""
    here = Path(__file__).parent
    sources = b"".join(path.read_bytes() for path in sorted(here.rglob("*.py")))
    given = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    below = Path(given).expanduser() / "rosenblatt" / hashlib.sha256(sources).hexdigest()[:16]
    return Path(os.path.realpath(below))  # a link is followed once, so that it cannot lead elsewhere later
