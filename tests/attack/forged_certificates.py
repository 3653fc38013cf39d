"""Certificates that were changed: refused, or not true, or true by arithmetic of our own."""

from __future__ import annotations

import json
import random
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from helpers.commands import command
from helpers.examples import KINDS, small_set
from helpers.mutating import mutated_bytes, mutated_plain
from rosenblatt import (
    Certificate,
    FewestMistakes,
    Inseparable,
    Optimum,
    Separable,
    Separation,
    Unbounded,
    dataset_margin,
    detect_separation,
    fewest_mistakes,
    maximize,
    separability,
    strict_feasibility,
)
from rosenblatt.theory.search import hyperplane


def attack(rng: random.Random) -> str | None:
    """Change a certificate, load it, check it against the data."""
    X, labels = small_set(rng.choice(KINDS), n=rng.randrange(4, 14), d=rng.randrange(1, 4), seed=rng.randrange(2**32))
    choice = rng.randrange(7)
    try:
        honest, data = _honest(rng, choice, X, labels)
    except ValueError:
        return None  # an answer beyond the range of floats
    if hasattr(honest, "check") and not honest.check(*data):
        return f"an honest certificate does not hold: {honest.to_json()}"
    text = json.dumps(mutated_plain(rng, honest.to_dict()), ensure_ascii=True).encode()
    if rng.random() < 0.3:
        text = mutated_bytes(rng, text, b'0123456789abcdefxp-+.,"[]{} ')
    try:
        forged = Certificate.from_json(text)
    except ValueError as refusal:
        return None if len(str(refusal)) < 1500 else f"a refusal of {len(str(refusal)):,} letters"
    str(forged), forged.to_json()
    if not hasattr(forged, "check"):
        return None
    try:
        holds = forged.check(*data)
    except ValueError:
        return None  # it is about other data
    if holds and isinstance(forged, Separable | Inseparable) and not _is_true(forged, *data):
        return f"a false certificate holds: {forged.to_json()}"
    if holds and isinstance(forged, Separation) and _claims(forged) != _claims(honest):
        return f"a false certificate holds: {forged.to_json()}"
    if holds and isinstance(forged, FewestMistakes) and not (forged.low <= honest.high and honest.low <= forged.high):
        return f"a false certificate holds: {forged.to_json()}"
    return _at_the_command(forged, holds, *data) if choice == 0 and rng.random() < 0.05 else None


def _honest(rng: random.Random, choice: int, X: np.ndarray, labels: np.ndarray) -> tuple[Any, tuple[np.ndarray, ...]]:
    """Return a certificate, and the data that it is about."""
    if choice == 0:
        return separability(X, labels), (X, labels)
    if choice == 1 and separability(X, labels):
        return dataset_margin(X, labels), (X, labels)
    if choice == 4:
        return detect_separation(X, labels), (X, labels)
    if choice == 5:
        return fewest_mistakes(X, labels == labels[0], max_seconds=5.0), (X, labels == labels[0])
    if choice == 6:  # as for many columns, of which one depends on others
        wide = np.column_stack([X, X[:, 0] + X[:, -1], np.zeros(len(X))])
        with mock.patch.object(hyperplane, "NARROW", -1):
            return separability(wide, labels), (wide, labels)
    b = np.array([rng.randrange(-1, 3) for _ in X], float)
    c = np.array([rng.randrange(-2, 3) for _ in range(X.shape[1])], float)
    answer = strict_feasibility(X, b) if choice == 2 else maximize(c, X, b)
    return answer, ((c, X, b) if isinstance(answer, Optimum | Unbounded) else (X, b))


def _claims(certificate: Separation) -> tuple[Any, ...]:
    return certificate.kind, certificate.coefficients, certificate.on_hyperplane.tolist(), certificate.baseline


def _is_true(certificate: Separable | Inseparable, X: np.ndarray, labels: np.ndarray) -> bool:
    signs = [1 if label == certificate.positive else -1 for label in labels.tolist()]
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    if isinstance(certificate, Separable):
        w, b = [Fraction(v) for v in certificate.w], Fraction(certificate.b)
        return all(s * (sum(map(Fraction.__mul__, w, row), b)) > 0 for s, row in zip(signs, rows, strict=True))
    if certificate.weights is None:
        return not separability(X, labels)
    weights = [Fraction(int(v)) for v in certificate.weights]
    some = [(a * signs[i], rows[i]) for a, i in zip(weights, certificate.support.tolist(), strict=True)]
    zero = all(sum(a * row[j] for a, row in some) == 0 for j in range(X.shape[1])) and sum(a for a, _ in some) == 0
    return min(weights) >= 0 and max(weights) > 0 and zero


def _at_the_command(certificate: Certificate, holds: bool, X: np.ndarray, labels: np.ndarray) -> str | None:
    folder = Path(tempfile.mkdtemp())
    lines = [",".join(map(repr, row)) + f",{y}\n" for row, y in zip(X.tolist(), labels.tolist(), strict=True)]
    names = ",".join(f"x{j}" for j in range(X.shape[1]))
    (folder / "a.csv").write_text(f"{names},y\n{''.join(lines)}")
    certificate.save(folder / "c.json")
    result = command("check", folder / "c.json", folder / "a.csv", "--target", "y")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return f"the command raised {result.exception!r}"
    if holds != (result.exit_code == 0):
        return f"check says {holds}, the command ended with {result.exit_code}: {result.stdout}{result.stderr}"
    return None
