"""MurmurHash3 (Appleby, 32 bits) of bytes in memory, by which names and words are hashed to columns."""

from __future__ import annotations

import numpy as np

from rosenblatt.kernels.parsing.bytes import word
from rosenblatt.kernels.parts import helper, inlined

_LOW_HALF = np.uint64(0xFFFFFFFF)
_C1, _C2, _C3 = np.uint64(0xCC9E2D51), np.uint64(0x1B873593), np.uint64(0xE6546B64)
_MIX1, _MIX2 = np.uint64(0x85EBCA6B), np.uint64(0xC2B2AE35)
_1, _5, _13, _16, _32 = (np.uint64(n) for n in (1, 5, 13, 16, 32))


@inlined
def _rotate(x, bits):
    """Return the 32-bit number ``x`` rotated left by ``bits``."""
    return ((x << np.uint64(bits)) | (x >> np.uint64(32 - bits))) & _LOW_HALF


@inlined
def _scrambled(x):
    return (_rotate((x * _C1) & _LOW_HALF, 15) * _C2) & _LOW_HALF


@inlined
def mixed(h, block):
    """Return the state after a block of four bytes."""
    h = _rotate(h ^ _scrambled(block & _LOW_HALF), 13)
    return (h * _5 + _C3) & _LOW_HALF


@inlined
def murmur_after(before, place, end):
    """Return the hash of some bytes followed by those from ``place`` up to ``end``.

    before: ``(h, tail, size)`` for the ``size`` bytes that come first. ``h`` is the state after their whole blocks of
    four, and ``tail`` has the other bytes, at most three, the first one lowest. For no bytes it is ``(seed, 0, 0)``.
    """
    h, tail, size = before
    held = np.uint64(8) * (size & np.uint64(3))
    size += np.uint64(end - place)
    while end - place >= 4:  # invariant: ``tail`` has the held bytes, which are not yet mixed into ``h``
        tail |= (word(place) & _LOW_HALF) << held
        h = mixed(h, tail)
        tail >>= _32
        place += 4
    rest = np.uint64(8 * (end - place))
    tail |= (word(place) & ((_1 << rest) - _1)) << held
    if held + rest >= _32:
        h = mixed(h, tail)
        tail >>= _32
    h ^= _scrambled(tail) ^ size
    h = ((h ^ (h >> _16)) * _MIX1) & _LOW_HALF
    h = ((h ^ (h >> _13)) * _MIX2) & _LOW_HALF
    return h ^ (h >> _16)


@helper
def murmur(place, end, seed):
    """Return the hash, with a seed, of the bytes from ``place`` up to ``end``."""
    return murmur_after((seed & _LOW_HALF, np.uint64(0), np.uint64(0)), place, end)
