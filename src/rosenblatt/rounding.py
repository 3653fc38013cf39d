"""Constants of float64 arithmetic for rounding error bounds."""

HALF_ULP = 2.0**-53
"""The unit roundoff u: the relative error of an operation is at most u, unless its result underflows."""
TINY = 2.0**-1020
"""An upper bound on what a product loses to underflow."""
