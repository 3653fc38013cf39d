"""Constants of float64 arithmetic for bounds on rounding errors.

`kernels.row_ops.sign_threshold` bounds the errors of the activations that a training pass computes. `theory.scores` and
`theory.enclosures` bound the errors in proofs. Apart from these constants, kernels and proofs share no error analysis.
"""

HALF_ULP = 2.0**-53
"""The unit roundoff u. One operation has a relative error of at most u, unless its result underflows or overflows."""
SMALLEST_NORMAL = 2.0**-1022
"""The smallest normal float. Below it, the absolute rounding error is up to 2**-1075, however small the number."""
TINY = 2.0**-1020
"""An upper bound on the absolute error of a product that underflows."""
