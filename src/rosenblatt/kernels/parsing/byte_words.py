"""Bytes of text by their address, one or eight at a time.

A place in a text is an address. Functions that take a place instead of an array and an index cost nothing to
call (numba counts references to arrays). The text must stay alive and be followed by ``PAD`` readable bytes,
since a word of eight bytes may reach beyond its end.
"""

from __future__ import annotations

import ctypes
import sys

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rosenblatt.kernels.compiler import inline

PAD = 16
"""Readable bytes after a text."""

_ZEROS = np.uint64(0x3030303030303030)
_BEYOND_NINE = np.uint64(0x7676767676767676)
_HIGH_BITS = np.uint64(0x8080808080808080)
_PAIRS, _FOURS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_10, _100, _10000 = np.uint64(10), np.uint64(100), np.uint64(10000)
_8, _16, _32, _64 = np.uint64(8), np.uint64(16), np.uint64(32), np.uint64(64)


if numba.config.DISABLE_JIT:

    def address_of(array):
        """Return where ``array`` begins."""
        return array.ctypes.data

    def byte(place):
        """Return the byte at ``place``, as a signed integer, for arithmetic."""
        return ctypes.c_ubyte.from_address(int(place)).value

    def word(place):
        """Return the eight bytes from ``place`` on as a number, the first byte lowest."""
        return np.uint64(int.from_bytes(ctypes.string_at(int(place), 8), "little"))

    def trailing_zeros(bits):
        """Return how many bits below the lowest 1 of ``bits`` are 0: 64 where there is none."""
        return (int(bits) & -int(bits)).bit_length() - 1 if bits else 64

    def leading_zeros(bits):
        """Return how many bits above the highest 1 of ``bits`` are 0; ``bits`` is not 0."""
        return 64 - int(bits).bit_length()

    def float_of(bits):
        """Return the float64 that is stored as ``bits``."""
        return np.uint64(bits).view(np.float64)

else:  # the same, compiled

    def _loaded(builder, place, bits):
        pointer = builder.inttoptr(place, ir.IntType(bits).as_pointer())
        return builder.load(pointer, align=1)

    @intrinsic
    def address_of(typing_context, array):
        """Return where ``array`` begins."""

        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            return builder.ptrtoint(data, ir.IntType(64))

        return types.int64(array), generate

    def _instruction(result, argument, build):
        """Return the function of one number whose code ``build(builder, number)`` makes."""

        @intrinsic
        def instruction(typing_context, number):
            def generate(context, builder, signature, arguments):
                return build(builder, arguments[0])

            return result(argument), generate

        return instruction

    def _load_word(builder, place):
        loaded = _loaded(builder, place, 64)
        return loaded if sys.byteorder == "little" else builder.bswap(loaded)

    byte = _instruction(types.int64, types.int64, lambda b, place: b.zext(_loaded(b, place, 8), ir.IntType(64)))
    word = _instruction(types.uint64, types.int64, _load_word)
    trailing_zeros = _instruction(types.int64, types.uint64, lambda b, bits: b.cttz(bits, ir.IntType(1)(0)))
    leading_zeros = _instruction(types.int64, types.uint64, lambda b, bits: b.ctlz(bits, ir.IntType(1)(1)))
    float_of = _instruction(types.float64, types.uint64, lambda b, bits: b.bitcast(bits, ir.DoubleType()))


@inline
def leading_digits(place):
    """Return the word at ``place`` with its digits as 0 to 9, and the number of leading bytes that are digits.

    A byte that is no digit has its highest bit set after the sum; its carry into later bytes does not matter.
    """
    digits = word(place) ^ _ZEROS
    others = ((digits + _BEYOND_NINE) | digits) & _HIGH_BITS
    return digits, trailing_zeros(others) >> 3


@inline
def number_of(digits, n):
    """Return the number that the first ``n`` >= 1 bytes of ``digits`` spell: neighbours are joined in pairs, thrice."""
    digits = digits << (_64 - np.uint64(8 * n))
    digits = (digits * _10 + (digits >> _8)) & _PAIRS
    digits = (digits * _100 + (digits >> _16)) & _FOURS
    return (digits * _10000 + (digits >> _32)) & _LOW_HALF
