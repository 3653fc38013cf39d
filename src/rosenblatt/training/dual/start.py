"""The state that a kernel perceptron starts from: its kernel with all parameters known, and how it computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rosenblatt.parameters import ParameterError, Setting
from rosenblatt.training.dual.arrays import open_library
from rosenblatt.training.dual.gamma import scale_gamma
from rosenblatt.training.dual.state import Computing, DualState
from rosenblatt.training.dual.table import check_cache_size
from rosenblatt.training.kernel import FUNCTION, Kernel
from rosenblatt.training.options import KernelOptions, draw_seed
from rosenblatt.training.rows import Matrix


def new_dual_state(
    options: KernelOptions, n_classes: int, d: int, matrices: Callable[[], Iterable[Matrix]] | None = None
) -> DualState:
    """Return a state that has seen nothing; ``matrices`` gives all rows, for a gamma that depends on them."""
    return DualState.zeros(
        n_classes,
        d,
        kernel=_kernel(options, d, matrices),
        direct=options.direct,
        hypothesis=options.hypothesis,
        seed=draw_seed(options.random_state),
    )


def computing(options: KernelOptions) -> Computing:
    """Return how a run computes."""
    open_library(options.device)  # an error is better now than after some rows
    asked = {"device": options.device, "cache_bytes": int(options.cache_size * 1e6), "max_support": options.max_support}
    return Computing(**(asked | dict(options.overrides)))


def check_rows(options: KernelOptions, n: int, d: int) -> None:
    """Raise a ValueError where n rows of d columns cannot be learned from in this way."""
    if options.kernel == "precomputed" and n != d:
        raise ValueError(
            'kernel="precomputed" expects a square matrix of kernel values, one for each two training rows, got '
            f"one of shape {(n, d)}: give kernel values, or name a kernel."
        )
    if options.kernel not in ("precomputed", "linear"):
        check_cache_size(options.cache_size, n)


def _kernel(options: KernelOptions, d: int, matrices: Callable[[], Iterable[Matrix]] | None) -> Kernel:
    gamma = options.gamma
    if callable(options.kernel) or options.kernel in ("linear", "precomputed"):
        gamma = 1.0
    elif gamma == "scale":
        if matrices is None:
            raise ParameterError(
                Setting("gamma", "scale"),
                " depends on all rows, which are not known beforehand here: give ",
                Setting("gamma"),
                " as a number.",
            )
        gamma = scale_gamma(matrices(), d)
    elif gamma == "auto":
        gamma = 1.0 / max(1, d)
    name, function = (FUNCTION, options.kernel) if callable(options.kernel) else (options.kernel, None)
    return Kernel(name, int(options.degree), float(gamma), float(options.coef0), function)
