"""Which kernel a run uses, as plain data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from rosenblatt.parameters import ParameterError, Setting, check_choice, check_integer, shorten

KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed")
"""Kernels that have a name; any function of two matrices is one, too."""
PARAMETERS: dict[str, tuple[str, ...]] = {
    "linear": (),
    "poly": ("degree", "gamma", "coef0"),
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
}
"""The parameters that kernels use; those that are not listed use none."""
SCALED = tuple(name for name, parameters in PARAMETERS.items() if "gamma" in parameters)
"""Kernels that have a gamma."""
MOST_DEGREE = 1000
"""Powers of dot products beyond this would take long to be decided exactly."""
FUNCTION = "function"
"""What a kernel that the user wrote is called."""
NO_FILE = (
    'a model whose kernel is a function cannot be saved, as files hold no code: train with kernel="precomputed" on the '
    "values of the function, or keep the function in a module and pickle the model."
)
"""Why there is no file of such a kernel, and what to do."""


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters; those that it does not use are as they were given.

    ======================  =====================================================================
    ``linear``              x . z
    ``poly``                (gamma x . z + coef0) ** degree
    ``rbf``                 exp(-gamma |x - z|^2)
    ``laplacian``           exp(-gamma |x - z|_1)
    ``sigmoid``             tanh(gamma x . z + coef0)
    ``precomputed``         rows are kernel values, a column for each training row
    ``function``            what ``function(X, Z)`` returns, a line for each row of X
    ======================  =====================================================================
    """

    name: str = "poly"
    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0
    function: Callable[[Any, Any], Any] | None = None

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters that it uses."""
        return {name: getattr(self, name) for name in PARAMETERS.get(self.name, ())}

    @property
    def is_exact(self) -> bool:
        """Whether the sign of every sum of its values can be settled exactly."""
        return self.name in ("linear", "poly", "rbf", "laplacian")

    @property
    def has_space(self) -> bool:
        """Whether its values are known to be dot products in some space, so that the convergence theorem holds."""
        return self.name in ("linear", "rbf", "laplacian") or (self.name == "poly" and self.coef0 >= 0)

    @property
    def polynomial(self) -> tuple[float, float, int] | None:
        """``gamma``, ``coef0`` and ``degree`` where it is a polynomial of the dot product."""
        if self.name == "linear":
            return 1.0, 0.0, 1
        return (self.gamma, self.coef0, self.degree) if self.name == "poly" else None


def check_kernel(kernel: Any, degree: Any, gamma: Any, coef0: Any) -> None:
    """Raise a ParameterError where a kernel or a parameter of it is not valid."""
    if not callable(kernel):
        if not isinstance(kernel, str):
            raise ParameterError(
                Setting("kernel"), f" must be one of {', '.join(KERNELS)} or a function, got {shorten(kernel)}."
            )
        check_choice("kernel", kernel, KERNELS)
    check_integer("degree", degree, 0, most=MOST_DEGREE)
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale", "auto"))
    elif not _is_finite(gamma) or gamma < 0:
        raise ParameterError(Setting("gamma"), f' must be "scale", "auto" or a number from 0 on, got {shorten(gamma)}.')
    if not _is_finite(coef0):
        raise ParameterError(Setting("coef0"), f" must be a number, got {shorten(coef0)}.")


def _is_finite(value: Any) -> bool:
    """Return whether a value is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False
