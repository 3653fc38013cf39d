"""Updates by variance: a weight moves the more the less is known of it, and then more is known."""

from __future__ import annotations

import numpy as np

from rosenblatt.kernels.compiler import at, by_layout, inline


@inline
def shrunk(s, t, x, v, r, inverse):
    """Return the variance ``s`` after an update of a row of variance ``v`` with the feature ``x``; ``t`` is ``s x``.

    That is ``s - t^2 / (v + r)``, as ``s (v - t x + r) / (v + r)``, which stays above zero however large ``x`` is.
    ``inverse`` is ``1 / (v + r)``, whose product with ``v + r`` may be less than 1; a feature of 0, which sparse rows
    do not have, keeps its variance all the same, and all do where ``v + r`` is infinite.
    """
    others = v - t * x
    share = ((0.0 if others < 0.0 else others) + r) * inverse
    share = 1.0 if share > 1.0 else share
    share = 1.0 if x == 0.0 else share  # values are chosen one by one: no branch, which would be slow
    return s * (1.0 if inverse == 0.0 else share)


def _dense_add(rows, w, u, s, k, i, step, late_step, v, r):
    values = rows[0]
    d = w.shape[0]
    first = i * d
    inverse = 1.0 / (v + r)
    for j in range(d):
        x = np.float64(at(values, first + j))
        t = s[j] * x
        w[j] += step * t
        u[j] += late_step * t
        s[j] = shrunk(s[j], t, x, v, r, inverse)


def _csr_add(rows, w, u, s, k, i, step, late_step, v, r):
    values, indices, indptr = rows
    inverse = 1.0 / (v + r)
    for p in range(at(indptr, i), at(indptr, i + 1)):
        j = np.uint64(at(indices, p))  # no test for negative indices
        x = np.float64(at(values, p))
        t = s[j, k] * x
        w[j, k] += step * t
        u[j, k] += late_step * t
        s[j, k] = shrunk(s[j, k], t, x, v, r, inverse)


class_add_by_variance = by_layout(_dense_add, _csr_add)
"""``class_add_by_variance(rows, w, u, s, k, i, step, late_step, v, r)``: ``class_add`` with each feature times its
variance, which then shrinks; ``v`` is the variance of the row. Never fused, never reordered: these bits are
promised."""
