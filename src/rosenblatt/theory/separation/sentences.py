"""Separation in words: what tends where, how many rows lie on the hyperplane, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rosenblatt.parameters import show_text

_MOST = 12  # more names than this are counted
_REMEDY = (
    "What to do: Firth's method or a penalty (regularisation) gives finite estimates; profile likelihoods give tests."
)
_CAUSES = {
    "complete": "Either these columns tell the classes apart for certain, "
    "or there are too few rows for so many columns.",
    "quasi-complete": "Where a rare level or a single column is the cause, merge the level or drop the column.",
}
_INFINITE = ("+inf", "-inf", "either")


def describe(kind: str, coefficients: Mapping[Any, str], n: int, on: int, baseline: Any) -> str:
    """Return the sentences of an answer about ``n`` rows, ``on`` of them on the hyperplane.

    >>> print(describe("overlap", {"intercept": "finite", "x0": "finite"}, 10, 10, 0))
    Overlap: no combination of the columns separates the classes, so every maximum-likelihood estimate is finite.
    If a fit does not converge all the same, it needs more steps, or columns of like scale.
    """
    several = any(isinstance(key, tuple) for key in coefficients)
    by_status = {
        status: [coefficient_name(key) for key, found in coefficients.items() if found == status]
        for status in (*_INFINITE, "finite", "aliased")
    }
    infinite = [coefficient_name(key) for key, found in coefficients.items() if found in _INFINITE]
    lines = [_verdict(kind, by_status, infinite, n, on)]
    if by_status["aliased"]:
        do = _verb(by_status["aliased"], "is aliased: it is a combination", "are aliased: each is a combination")
        lines.append(f"{_list(by_status['aliased'])} {do} of columns before it and has no coefficient of its own.")
    if several:
        lines.append(f"Coefficients compare each class with the baseline {baseline!r}.")
    if infinite:
        lines.append(f"{_REMEDY} {_CAUSES[kind]}")
    else:
        lines.append("If a fit does not converge all the same, it needs more steps, or columns of like scale.")
    return "\n".join(lines)


def _verdict(kind: str, by_status: Mapping[str, list[str]], infinite: list[str], n: int, on: int) -> str:
    if kind == "overlap":
        return (
            "Overlap: no combination of the columns separates the classes, "
            "so every maximum-likelihood estimate is finite."
        )
    parts = []
    for status, end in (("+inf", "+infinity"), ("-inf", "-infinity")):
        if by_status[status]:
            parts.append(f"{_list(by_status[status])} {_verb(by_status[status], 'tends', 'tend')} to {end}")
    if by_status["either"]:
        parts.append(
            f"{_list(by_status['either'])} {_verb(by_status['either'], 'is', 'are')} not determined, "
            "not even whether towards +infinity or -infinity"
        )
    if by_status["finite"]:
        parts.append(f"{_list(by_status['finite'])} {_verb(by_status['finite'], 'is', 'are')} finite")
    what = "; ".join(parts)
    if kind == "complete":
        rows = "the only row is" if n == 1 else f"all {n:,} rows are"
        return (
            f"Complete separation: {what}. A combination of the columns has every row strictly on its side: {rows} "
            "predicted perfectly. No maximum-likelihood estimate is finite, and Wald errors are meaningless."
        )
    rest = n - on
    rows = f"{on:,} of {n:,} rows {'lies' if on == 1 else 'lie'} on the hyperplane"
    if rest:
        rows += (
            "; the other one is predicted perfectly" if rest == 1 else f"; the other {rest:,} are predicted perfectly"
        )
    errors = f"Wald errors for {_list(infinite)}" if by_status["finite"] else "Wald errors"
    return f"Quasi-complete separation: {what}. {rows}. {errors} are meaningless."


def coefficient_name(key: Any) -> str:
    """Return a coefficient by name, with its class where there are several."""
    if isinstance(key, tuple):
        return f"{show_text(key[1])} of {key[0]!r}"
    return show_text(key)


def _list(names: list[str]) -> str:
    if len(names) > _MOST:
        return f"{', '.join(names[:_MOST])} and {len(names) - _MOST:,} more"
    return ", ".join(names)


def _verb(names: list[str], one: str, many: str) -> str:
    return one if len(names) == 1 else many
