"""Constants of float64 arithmetic for rounding error bounds.

The bounds themselves are where they are used: `kernels.row_ops.sign_threshold` for activations that a pass computes,
`theory.scores` and `theory.enclosures` for proofs. Kernels and proofs share these constants and nothing else.
"""

HALF_ULP = 2.0**-53
"""The unit roundoff u: the relative error of an operation is at most u, unless its result underflows."""
TINY = 2.0**-1020
"""An upper bound on what a product loses to underflow."""
