"""One clear sentence for every parameter that cannot be meant."""

from __future__ import annotations

import math
import secrets
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

HYPOTHESES = ("last", "average", "pocket", "vote")


def check_parameters(model: Any) -> None:
    """Raise a ValueError that names the first parameter of ``model`` that is out of its range."""
    _one_of("hypothesis", model.hypothesis, HYPOTHESES)
    _whole("max_iter", model.max_iter, 1)
    if model.max_updates is not None:
        _whole("max_updates", model.max_updates, 1, or_none=True)
    _one_of("shuffle", model.shuffle, (True, False, "once"))
    _one_of("multi_class", model.multi_class, ("ovr", "direct"))
    _whole("n_iter_no_change", model.n_iter_no_change, 1)
    if not (_is_real(model.validation_fraction) and 0.0 < model.validation_fraction < 1.0):
        raise ValueError(f"validation_fraction must be a number between 0 and 1, got {model.validation_fraction!r}.")
    for name in ("fit_intercept", "warm_start", "early_stopping"):
        _one_of(name, getattr(model, name), (True, False))


def _one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    kind = (str, bool, np.bool_)
    if not any(
        isinstance(value, kind) and isinstance(value, str) == isinstance(c, str) and value == c for c in allowed
    ):
        raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {value!r}.")


def _whole(name: str, value: Any, least: int, or_none: bool = False) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        none = " or None" if or_none else ""
        raise ValueError(f"{name} must be a whole number of at least {least}{none}, got {value!r}.")


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def seed_from(random_state: Any) -> int:
    """Return the seed of the visiting orders: a whole number is taken as it is, None draws one."""
    if random_state is None:
        return secrets.randbits(63)
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state must not be negative, got {random_state!r}.")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return int(check_random_state(random_state).randint(2**31 - 1))
