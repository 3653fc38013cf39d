"""Decimal text becomes the nearest float64, however hard it is to round."""

import random

import pytest

from helpers.text_twins import svmlight, vw


def tokens(source, n):
    """Decimal numbers that are hard to round, as text."""
    for _ in range(n):
        digits = source.choice((1, 7, 8, 15, 16, 17, 18, 19, 20, 25))
        mantissa = str(source.randrange(10**digits)).zfill(source.randrange(digits + 4))
        point = source.randrange(len(mantissa) + 1)
        sign = source.choice(("", "", "-", "+"))
        exponent = source.choice(("", "", "e%d", "E+%d", "e-%d"))
        size = source.choice((3, 30, 400))
        yield (
            sign
            + mantissa[:point]
            + source.choice((".", ""))
            + mantissa[point:]
            + (exponent % source.randrange(size) if exponent else "")
        )


def halfway(source, n):
    """Numbers at, just below and just above the middle between two floats, subnormal ones too."""
    for _ in range(n):
        exponent = source.choice((-1080, -1075, -1074, -1060, -1022, -60, -1, 0, 3, 60))
        middle = 2 * source.randrange(2**52, 2**53) + 1
        shift = exponent - 1
        digits = str(middle << shift if shift >= 0 else middle * 5**-shift)
        power = min(shift, 0)
        cut = source.choice((17, 18, 19, 19, 19, len(digits)))
        if cut < len(digits):
            yield f"{int(digits[:cut]) + source.choice((0, 1))}e{power + len(digits) - cut}"
        else:
            yield f"{10 * int(digits) + source.choice((-1, 0, 0, 1))}e{power - 1}"


@pytest.mark.parametrize("make", [tokens, halfway])
def test_numbers_become_the_nearest_float(make):
    source = random.Random(7)
    numbers = [number.encode() for number in make(source, 4000)]
    lines = b"".join(b"1 1:%b\n" % number for number in numbers)
    rows = svmlight(lines, room=5000)
    assert len(rows) > 3000
    vw(b"".join(b"1 |f a:%b\n" % number for number in numbers[:500]), room=1000)
