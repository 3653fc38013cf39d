"""Decide when kernels, which are plain Python functions, are compiled.

A kernel is interpreted while that is faster than loading numba and compiling, and compiled from then on. Both give the
same bits. Numba is imported only when a kernel is compiled or loaded from the cache on disk (``jit.py``).

The environment variable ``ROSENBLATT_COMPILE`` chooses: "auto" (the default), "always" or "never". Where numba cannot
be imported, kernels are always interpreted, and large work warns that this is slow.
"""

from __future__ import annotations

import math
import os
import sys
import time
from functools import cache, update_wrapper
from importlib.util import find_spec
from typing import Any

import numpy as np

from rosenblatt.interrupts import interrupts_deferred
from rosenblatt.kernels.parts import Function, cache_folder
from rosenblatt.messages import warn_user

_INTERPRETED_NUMBER = 2e-6
"""The approximate time in seconds that interpreted code takes for one number of an argument."""
_IMPORT, _LOAD, _COMPILE = 0.3, 0.04, 1.0
"""The approximate times in seconds for importing numba, for loading a compiled kernel from disk, and for compiling it.

These three numbers and ``_INTERPRETED_NUMBER`` affect only the time of a call, not its result.
"""
_SLOW = 2.0
"""If numba cannot be imported, the seconds of interpretation after which a warning says that work is slow."""


def _setting() -> str:
    """Return the value of ``ROSENBLATT_COMPILE``, or raise a ValueError if the value is not valid."""
    setting = os.environ.get("ROSENBLATT_COMPILE") or "auto"
    if setting not in ("auto", "always", "never"):
        raise ValueError(f'ROSENBLATT_COMPILE must be "auto", "always" or "never", got {setting!r}.')
    if os.environ.get("NUMBA_DISABLE_JIT", "0").strip() not in ("", "0"):
        return "never"
    return setting


SETTING = _setting()
"""When kernels are compiled: "auto", "always" or "never"."""


@cache
def _stored() -> frozenset[str]:
    """Return the names of the kernels that this or an earlier process has stored on disk."""
    return frozenset(path.name.split("-")[0] for path in cache_folder().rglob("*.nbi"))


@cache
def has_numba() -> bool:
    """Return whether numba can be imported, as far as this can be told without importing it."""
    try:
        return find_spec("numba") is not None
    except (ImportError, ValueError):  # what stands in for it has no specification
        return False


def _numbers(argument: Any) -> int:
    """Return how many numbers an argument of a kernel has."""
    if isinstance(argument, np.ndarray):
        return argument.size
    return sum(map(_numbers, argument)) if isinstance(argument, tuple) else 1


class Kernel:
    """A function that is interpreted at first, and compiled when this saves time.

    This is the problem of renting or buying skis. The function is compiled when interpreting it has taken, or would
    take, about as long as compiling it. (If an earlier process has stored the compiled function: as long as loading
    it.) So at most twice the shortest possible time is spent.
    """

    interpreted_only = SETTING == "never"
    """Whether kernels are never compiled in this process, by the setting or because numba cannot be imported."""
    compiled_at_once = SETTING == "always"
    """Whether kernels are compiled at their first call, as a server wants it, however little work there is."""
    spent_without_numba = 0.0
    """The seconds that this process has spent interpreting for lack of numba; infinity after the warning."""

    def __init__(self, function: Function) -> None:
        update_wrapper(self, function)
        self.function = function
        self.compiled: Function | None = None
        self._spent = 0.0

    def __call__(self, *arguments: Any) -> Any:
        """Call the function, interpreted or compiled, and return its result. The bits are the same either way."""
        if self.compiled is None and not Kernel.interpreted_only and self._is_worth_compiling(arguments):
            self.compile()
        return self._interpret(arguments) if self.compiled is None else self.compiled(*arguments)

    def compile(self) -> bool:
        """Compile the function if it is not compiled yet; return False if it can only be interpreted."""
        if self.compiled is None and not Kernel.interpreted_only:
            try:
                with interrupts_deferred():  # numba cannot be imported again if its import is interrupted
                    from rosenblatt.kernels.jit import compiled_kernel

                self.compiled = compiled_kernel(self.function)
            except ImportError:
                Kernel.interpreted_only = True
        return self.compiled is not None

    def _interpret(self, arguments: tuple[Any, ...]) -> Any:
        began = time.thread_time()
        # as with compiled code: no warnings about overflow, and no interrupt in the middle of an update
        with np.errstate(all="ignore"), interrupts_deferred():
            result = self.function(*arguments)
        taken = time.thread_time() - began
        self._spent += taken
        if Kernel.interpreted_only and SETTING != "never":
            Kernel.spent_without_numba += taken
            if _SLOW < Kernel.spent_without_numba < math.inf:
                Kernel.spent_without_numba = math.inf
                warn_user(
                    "numba cannot be imported, so rosenblatt's loops run as plain Python. The results are the same, "
                    "but the loops are about a hundred times slower: install numba, or set ROSENBLATT_COMPILE=never to "
                    "hide this warning.",
                    RuntimeWarning,
                )
        return result

    def _is_worth_compiling(self, arguments: tuple[Any, ...]) -> bool:
        """Return whether, with this call, interpreting would have taken more time than compiling takes."""
        expected = self._spent + _INTERPRETED_NUMBER * sum(map(_numbers, arguments))
        return Kernel.compiled_at_once or expected > self._price()

    def _price(self) -> float:
        """Return the approximate time in seconds for loading or compiling the function."""
        price = 0.0 if "numba" in sys.modules else _IMPORT
        name = f"{self.function.__module__.rpartition('.')[2]}.{self.function.__qualname__}"
        return price + (_LOAD if name in _stored() else _COMPILE)


def kernel(function: Function) -> Kernel:
    """Return ``function`` as a kernel, to be called from Python."""
    return Kernel(function)
