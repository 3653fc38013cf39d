"""A digest of bytes that takes little time beside reading them.

Each of eight lanes takes one word of every 64 bytes, by an exclusive or, a product with an odd number and a rotation.
All three can be undone, so a change of one word always shows in its lane, whatever follows. Where several words of a
lane change, it is the same again only by chance, once in 2**64. This finds changes; it does not stop forgers.
"""

from __future__ import annotations

import numpy as np

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.parsing.bytes import address_of, word

LANES = 8
STRIPE = 8 * LANES
"""Bytes that the lanes take at a time."""
_ODD = np.uint64(0x9E3779B97F4A7C15)
_LEFT, _RIGHT = np.uint64(29), np.uint64(35)


@kernel
def mix_stripes(lanes, data, stripes):
    """Mix the first ``stripes`` times 64 bytes of ``data`` into ``lanes``, in place."""
    place = address_of(data)
    for _ in range(stripes):
        for k in range(LANES):
            mixed = (lanes[k] ^ word(place + 8 * k)) * _ODD
            lanes[k] = (mixed << _LEFT) | (mixed >> _RIGHT)
        place += STRIPE
