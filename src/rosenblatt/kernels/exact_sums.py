"""Exact sums over many entries: of products, one sum for each row, and of all entries and their squares."""

from __future__ import annotations

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.exact import LIMBS, add_product

EXPONENTS, PARTS = 2048, 8
"""Shape of the table that ``add_moments`` fills: an int64 array of zeros that the caller brings."""
MOST_ENTRIES = 1 << 24
"""Entries that a table has room for."""
_LOW_18, _LOW_52, _TOP_BIT = (1 << 18) - 1, (1 << 52) - 1, 1 << 52
_LOW_32 = 0xFFFFFFFF


@kernel
def add_row_products(totals, u, v, pointers):
    """Add to ``totals[i]`` the sum of ``u[k] * v[k]`` over the entries k of row i, from ``pointers[i]`` on.

    Each total has ``LIMBS`` limbs as ``exact.py`` describes them.
    """
    for i in range(totals.shape[0]):
        total = totals[i]
        for k in range(pointers[i], pointers[i + 1]):
            if u[k] != 0.0 and v[k] != 0.0:
                add_product(total, u[k], v[k])


@kernel
def carry_limbs(totals):
    """Bring every limb into [0, 2**32) in place: each total becomes its two's complement."""
    for i in range(totals.shape[0]):
        left = 0
        for k in range(LIMBS):
            limb = totals[i, k] + left
            left = limb >> 32
            totals[i, k] = limb & _LOW_32


@kernel
def add_moments(table, bits):
    """Add float64 numbers, given as the int64 that have the same bits, and their squares to ``table``.

    Line e is about numbers +-m 2**(e - 1075). With m = a 2**36 + b 2**18 + c, its parts are the sums of +-a, +-b, +-c,
    a a, a b, 2 a c + b b, b c and c c: at most 2**38 each time, so that ``MOST_ENTRIES`` of them cannot overflow.
    """
    for k in range(bits.shape[0]):
        m = bits[k] & _LOW_52
        e = (bits[k] >> 52) & 2047
        if e > 0:
            m |= _TOP_BIT
        elif m == 0:
            continue
        else:
            e = 1
        a, b, c = m >> 36, (m >> 18) & _LOW_18, m & _LOW_18
        sign = 1 if bits[k] >= 0 else -1
        table[e, 0] += sign * a
        table[e, 1] += sign * b
        table[e, 2] += sign * c
        table[e, 3] += a * a
        table[e, 4] += a * b
        table[e, 5] += 2 * a * c + b * b
        table[e, 6] += b * c
        table[e, 7] += c * c
