"""Constants of float64 arithmetic that error bounds are made of."""

HALF_ULP = 2.0**-53
"""The unit roundoff u: an operation on floats is off by at most u times its result, unless that underflows."""
TINY = 2.0**-1020
"""More than a product loses where it underflows."""
