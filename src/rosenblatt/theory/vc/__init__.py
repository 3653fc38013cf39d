"""Which subsets of given points a family of shapes can cut out, counted exactly: shattering and VC dimension.

Families: ``"halfspaces"`` in any dimension, ``"discs"`` (balls, in any dimension), ``"rectangles"``
(axis-parallel boxes, in any dimension) and ``"convex-k-gons"`` with ``k=`` in the plane. Points are ints, Fractions or
floats, and a float stands for the number it stores: nothing is rounded, not in data frames either, so collinear,
cocircular and equal points get the right answer.
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
