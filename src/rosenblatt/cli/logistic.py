"""What ``rosenblatt separate`` says of a logistic regression on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rosenblatt.cli.output import as_text

MOST_COEFFICIENTS = 128
"""Beyond so many nothing is said of a logistic regression: exact answers for each may take long."""


def separation_of(X: Any, y: Any, names: Sequence[str] | None) -> Any:
    """Return which estimates of a logistic regression are finite; a sentence where there are too many of them.

    None for a single class.
    """
    import numpy as np

    from rosenblatt import separation

    classes = len(np.unique(y))
    if classes < 2:
        return None
    coefficients = (X.shape[1] + 1) * (classes - 1)
    if coefficients > MOST_COEFFICIENTS:
        return (
            f"A logistic regression has {coefficients:,} coefficients on these rows: more than {MOST_COEFFICIENTS} "
            "are left to rosenblatt.separation in Python."
        )
    return separation(design(X, names), y)


def design(X: Any, names: Sequence[str] | None) -> Any:
    """Return the columns with their names; of the columns for the levels of a factor the first is left out."""
    import numpy as np

    if names is None or len(set(names)) < X.shape[1] or "intercept" in names:
        return X
    import pyarrow as pa

    columns = dict(zip(names, X.toarray().T if hasattr(X, "toarray") else np.asarray(X).T, strict=True))
    factors: dict[str, list[str]] = {}
    for name in names:
        factors.setdefault(name.partition("=")[0], []).append(name)
    for levels in factors.values():
        values = np.array([columns[name] for name in levels])
        if "=" in levels[0] and np.isin(values, (0.0, 1.0)).all() and (values.sum(axis=0) == 1.0).all():
            del columns[levels[0]]
    return pa.table(columns) if columns else X[:, :0]


def plain_separation(found: Any) -> dict[str, Any] | None:
    """Return what was found as data that JSON can hold; of several classes each has its coefficients."""
    if not hasattr(found, "coefficients"):
        return None
    if len(found.classes) == 2:
        return {"kind": found.kind, "coefficients": found.coefficients}
    by_class: dict[str, dict[str, str]] = {}
    for (label, name), status in found.coefficients.items():
        by_class.setdefault(as_text(label), {})[name] = status
    return {"kind": found.kind, "baseline": as_text(found.baseline), "coefficients": by_class}
