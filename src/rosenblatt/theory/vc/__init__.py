"""Dichotomies, shattering and VC dimension of finite point sets, counted exactly.

A shape cuts a subset of the points if it contains the points of the subset and no others. The families of shapes are
``"halfspaces"``, ``"discs"`` (balls) and ``"rectangles"`` (axis-parallel boxes), each in any dimension, and
``"convex-k-gons"`` with ``k=`` in the plane. Coordinates are integers, Fractions or floats, and a float is read as its
exact binary value. Nothing is rounded, so the results are correct for collinear, cocircular and equal points, too.
"""

from rosenblatt.theory.vc.counting import (
    cover_count,
    dichotomies,
    growth,
    largest_shattered,
    sauer_bound,
    shatters,
    vc_dimension,
)
from rosenblatt.theory.vc.obstructions import BallObstruction, RadonPartition, why_not

__all__ = [
    "BallObstruction",
    "RadonPartition",
    "cover_count",
    "dichotomies",
    "growth",
    "largest_shattered",
    "sauer_bound",
    "shatters",
    "vc_dimension",
    "why_not",
]
