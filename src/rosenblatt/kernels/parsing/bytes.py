"""Read bytes and decimal numbers from memory, eight bytes at a time where possible.

In this folder a place is the address of a byte of the text. Functions of a place cost less to call than functions of an
array and an index, because numba counts references to arrays. The text must stay alive and be followed by ``PAD``
readable bytes, since a word of eight bytes may reach beyond its end.
"""

from __future__ import annotations

import ctypes

import numpy as np

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.parts import helper, inlined

PAD = 16
"""The number of readable bytes that must follow a text."""

_ZEROS = np.uint64(0x3030303030303030)
_BEYOND_NINE = np.uint64(0x7676767676767676)
_HIGH_BITS = np.uint64(0x8080808080808080)
_PAIRS, _FOURS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_10, _100, _10000 = np.uint64(10), np.uint64(100), np.uint64(10000)
_8, _16, _32, _64 = np.uint64(8), np.uint64(16), np.uint64(32), np.uint64(64)


def address_of(array):
    """Return the address of the first byte of ``array``."""
    return array.ctypes.data


def byte(place):
    """Return the byte at ``place``, from 0 to 255, as a signed integer."""
    return ctypes.c_ubyte.from_address(int(place)).value


def word(place):
    """Return the eight bytes from ``place`` on as an unsigned integer whose lowest byte is the first."""
    return np.uint64(int.from_bytes(ctypes.string_at(int(place), 8), "little"))


def trailing_zeros(bits):
    """Return the number of 0 bits below the lowest 1 of ``bits``; 64 if there is no 1."""
    return (int(bits) & -int(bits)).bit_length() - 1 if bits else 64


def leading_zeros(bits):
    """Return the number of 0 bits above the highest 1 of ``bits``, which is not 0."""
    return 64 - int(bits).bit_length()


def float_of(bits):
    """Return the float64 whose bits are ``bits``."""
    return np.uint64(bits).view(np.float64)


@inlined
def leading_digits(place):
    """Return the word at ``place`` with its digit bytes as 0 to 9, and the number of digits that it starts with."""
    # SIMD within a register: "0" is 0x30, so the exclusive or maps digits to 0..9. For other bytes the result is above
    # 9, and its highest bit is set already or is set by adding 0x76. A carry reaches only later bytes, which do not
    # matter any more.
    digits = word(place) ^ _ZEROS
    others = ((digits + _BEYOND_NINE) | digits) & _HIGH_BITS
    return digits, trailing_zeros(others) >> 3


@inlined
def number_of(digits, n):
    """Return the number spelled by the first ``n`` >= 1 bytes of ``digits``, a word from ``leading_digits``."""
    # Eight digits take three steps (Lemire 2021). Each step joins all pairs of neighbours in the word by one
    # multiplication: first digits, then numbers of two digits, then numbers of four. The shift pads fewer than eight
    # digits with leading zeros.
    digits = digits << (_64 - np.uint64(8 * n))
    digits = (digits * _10 + (digits >> _8)) & _PAIRS
    digits = (digits * _100 + (digits >> _16)) & _FOURS
    return (digits * _10000 + (digits >> _32)) & _LOW_HALF


# Decimal numbers in text: each is read as the nearest float64, or left undecided.
#
#     number   = [sign] (digits ["." [digits]] | "." digits) [("e" | "E") [sign] digits]
#     sign     = "+" | "-"
#     digits   = digit {digit}
#
# The digits without the point form an integer, the mantissa m, and the number is m 10**k. A mantissa of 19 digits
# always fits into 64 bits, as 10**19 < 2**64. The value is found in one of two ways, and both round correctly.
#
#  1. Clinger's fast path (1990): m <= 2**53 and 10**|k| with |k| <= 22 are float64 numbers without rounding, so their
#     product or quotient rounds once.
#  2. Eisel and Lemire's algorithm (Lemire 2021): the first 128 bits of m 5**k, from a table of 5**k, determine the
#     result, unless they are too close to the middle between two float64 numbers.
#
# Numbers near the middle, subnormal results, overflow and more than 19 digits are ``UNDECIDED``: the caller reads them
# with Python's float.


FINE, UNDECIDED, MALFORMED = 0, 1, 2
"""Results of reading a number: it was read; it is valid, but its value could not be computed; it is malformed."""

_MINUS, _PLUS, _POINT, _ZERO, _NINE, _E, _BLANK = b"-+.09e "
_TENS = np.array([10**k for k in range(20)], np.uint64)
_EXACT_TENS = np.array([float(10**k) for k in range(23)])
_EXACT = np.uint64(2**53)
_LOWEST, _HIGHEST = -326, 308
_1, _11, _63 = (np.uint64(n) for n in (1, 11, 63))
_REST, _MIDDLE = np.uint64(2**11 - 1), np.uint64(2**10)
_NEARLY = np.uint64(2**64 - 4)
_FRACTION = np.uint64(2**52 - 1)


def _first_bits(power: int) -> tuple[int, int]:
    """Return the first 128 bits of ``5**power``, truncated, and the exponent of the power of 2 that scales them."""
    if power < 0:
        exponent = -127 - (5**-power).bit_length()
        return 2**-exponent // 5**-power, exponent
    exponent = (5**power).bit_length() - 128
    return (5**power << -exponent if exponent < 0 else 5**power >> exponent), exponent


_FIVES = [_first_bits(power) for power in range(_LOWEST, _HIGHEST + 1)]
_FIVES_HIGH = np.array([bits >> 64 for bits, _ in _FIVES], np.uint64)
_FIVES_LOW = np.array([bits % 2**64 for bits, _ in _FIVES], np.uint64)
_FIVES_EXPONENT = np.array([exponent for _, exponent in _FIVES], np.int64)


@inlined
def _product(a, b):
    """Return the high and the low 64 bits of ``a * b``."""
    low_a, high_a, low_b, high_b = a & _LOW_HALF, a >> _32, b & _LOW_HALF, b >> _32
    one = high_a * low_b + ((low_a * low_b) >> _32)
    other = low_a * high_b + (one & _LOW_HALF)
    return high_a * high_b + (one >> _32) + (other >> _32), a * b


@helper
def _nearest(mantissa, power):
    """Return the float64 nearest to ``mantissa * 10**power`` and FINE, or 0.0 and UNDECIDED."""
    # The mantissa is shifted up to 64 bits and multiplied by the 128 bits of 5**power. ``high`` and ``low`` keep the
    # upper 128 of the 192 bits of the product. They are at most the true bits, and less than 4 units below them: one
    # unit for each of the two truncated numbers, and twice that if the product is shifted up by a bit.
    #
    # ``high`` has 53 bits for the result and 11 for the rest. The result rounds up if the rest is at least half a unit.
    # It is undecided if the rest is exactly half (a tie, or slightly above), or below half by at most 4 units of
    # ``low``.
    if power < _LOWEST or power > _HIGHEST:
        return 0.0, UNDECIDED
    zeros = leading_zeros(mantissa)
    k = power - _LOWEST
    high, low = _product(mantissa << np.uint64(zeros), _FIVES_HIGH[k])
    carried, _ = _product(mantissa << np.uint64(zeros), _FIVES_LOW[k])
    low = low + carried
    if low < carried:
        high = high + _1
    exponent = _FIVES_EXPONENT[k] + power - zeros + 64 + 75 + 52 + 1023
    if high >> _63 == np.uint64(0):
        high, low = (high << _1) | (low >> _63), low << _1
        exponent -= 1
    bits, rest = high >> _11, high & _REST
    if exponent < 1 or (rest == _MIDDLE and low == np.uint64(0)) or (rest == _MIDDLE - _1 and low >= _NEARLY):
        return 0.0, UNDECIDED
    if rest >= _MIDDLE:
        bits = bits + _1
        if bits > _EXACT - _1:
            bits, exponent = bits >> _1, exponent + 1
    if exponent > 2046:
        return 0.0, UNDECIDED
    return float_of((bits & _FRACTION) | (np.uint64(exponent) << np.uint64(52))), FINE


@inlined
def _more_digits(place, mantissa):
    """Append the digits at ``place`` to ``mantissa``, modulo 2**64; return the result and the place after them."""
    while True:  # invariant: ``mantissa`` has all digits before ``place``
        digits, n = leading_digits(place)
        if n > 0:
            mantissa = mantissa * _TENS[n] + number_of(digits, n)
        place += n
        if n < 8:
            return mantissa, place


@helper
def any_number(place):
    """Read the number at ``place``; return its value, the place after it, and FINE, UNDECIDED or MALFORMED.

    The value is 0 unless the result is FINE. For a MALFORMED number, ``place`` itself is returned as its end.
    """
    sign = byte(place)
    first = place if sign != _MINUS and sign != _PLUS else place + 1
    mantissa, end = _more_digits(first, np.uint64(0))
    count, power = end - first, 0
    if byte(end) == _POINT:
        mantissa, after = _more_digits(end + 1, mantissa)
        power = end + 1 - after
        count -= power
        end = after
    if count == 0:
        return 0.0, place, MALFORMED
    while count > 19 and (byte(first) == _ZERO or byte(first) == _POINT):  # leading zeros are not counted
        if byte(first) == _ZERO:
            count -= 1
        first += 1
    if byte(end) | 32 == _E:
        turn = byte(end + 1)
        end += 1 if turn != _MINUS and turn != _PLUS else 2
        before, exponent = end, 0
        while _ZERO <= byte(end) <= _NINE:
            if exponent < 100_000_000:
                exponent = 10 * exponent + byte(end) - _ZERO
            end += 1
        if end == before:
            return 0.0, place, MALFORMED
        power += -exponent if turn == _MINUS else exponent
    value, kind = 0.0, FINE
    if count > 19:
        kind = UNDECIDED
    elif mantissa <= _EXACT and -22 <= power <= 22:
        value = np.float64(np.int64(mantissa))
        value = value * _EXACT_TENS[power] if power >= 0 else value / _EXACT_TENS[-power]
    elif mantissa > np.uint64(0):
        value, kind = _nearest(mantissa, power)
    return -value if sign == _MINUS else value, end, kind


@inlined
def number(place):
    """Read the number at ``place``. The result is that of ``any_number``, but is computed faster for short numbers."""
    # The most common forms, such as 7 and 0.1234567, are read here without a call, by Clinger's fast path: at most
    # eight digits, divided by at most 10**7.
    negative = byte(place) == _MINUS
    first = place + 1 if negative else place
    value = np.float64(byte(first) - _ZERO)
    if 0.0 <= value <= 9.0:
        end = first + 1
        if byte(end) <= _BLANK:
            return -value if negative else value, end, FINE
        if byte(end) == _POINT:
            digits, n = leading_digits(end + 1)
            end += 1 + n
            if 0 < n < 8 and byte(end) <= _BLANK:
                value = (value * _EXACT_TENS[n] + np.float64(np.int64(number_of(digits, n)))) / _EXACT_TENS[n]
                return -value if negative else value, end, FINE
    return any_number(place)


# Checks of CSR rows that were built from lists of column numbers and values.


MAX_COLUMNS = 2**31 - 1
VALID, OUT_OF_RANGE, UNSORTED, NOT_FINITE = range(4)
"""Results of a check: valid; a column number is out of range; columns do not ascend; a value is not finite."""


@kernel
def check_rows(indptr, indices, values, results):
    """Write a result for each row of a CSR matrix; return the largest column number in valid rows, or -1.

    The result for an invalid row is the first error in it.
    """
    highest = -1
    for i in range(results.shape[0]):
        found, last = VALID, -1
        for p in range(indptr[i], indptr[i + 1]):
            j, v = indices[p], values[p]
            if j < 0 or j >= MAX_COLUMNS:
                found = OUT_OF_RANGE
                break
            if j <= last:
                found = UNSORTED
                break
            if v - v != 0.0:
                found = NOT_FINITE
                break
            last = j
        results[i] = found
        if found == VALID and last > highest:
            highest = last
    return highest
