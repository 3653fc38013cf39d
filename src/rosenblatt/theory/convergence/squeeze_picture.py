"""The squeeze of a convergence proof as a small picture, for notebooks; ``plots.plot_proof`` shows more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.plurals import count_of
from rosenblatt.small_pictures import BLUE, GREEN, RED, Curve, chart
from rosenblatt.theory.words import bound_text

if TYPE_CHECKING:
    from rosenblatt.theory.convergence.proof import Proof

EVEN_UP_TO = 5
"""A bound of up to so many times the updates fits on even scales; beyond, they are logarithmic."""


def draw_squeeze(proof: Proof) -> str:
    """Draw k gamma <= w*.w <= |w| <= sqrt(k) R over the updates k, up to where the two bounds meet."""
    log = proof.bound > EVEN_UP_TO * proof.updates
    k = np.geomspace(1.0, proof.bound, 40) if log else np.linspace(0.0, proof.bound, 40)
    curves = [
        Curve(k, np.sqrt(k) * proof.R, "√k·R: |w| is at most this", RED, "6 3"),
        Curve(proof.k, proof.norm, "|w|", BLUE),
        Curve(proof.k, proof.projection, "w*·w", GREEN),
        Curve(k, k * proof.gamma, "k·γ: w*·w is at least this", RED, "2 3"),
    ]
    end = bound_text(proof.bound)
    words = (
        f"The squeeze k·γ ≤ w*·w ≤ |w| ≤ √k·R over {count_of(proof.updates, 'update')}: "
        f"the two bounds meet at (R/γ)² = {end}."
    )
    return chart(curves, words, "update k", log, (proof.bound, math.sqrt(proof.bound) * proof.R, f"(R/γ)² = {end}"))
