"""The lanes of the digest are those of its definition, and every single change shows."""

from itertools import product

import numpy as np

from rosenblatt.kernels.digests import LANES, STRIPE, mix_stripes


def naive_lanes(data):
    mask, lanes = 2**64 - 1, list(range(LANES))
    for start in range(0, len(data), 8):
        k = start // 8 % LANES
        mixed = (lanes[k] ^ int.from_bytes(data[start : start + 8], "little")) * 0x9E3779B97F4A7C15 & mask
        lanes[k] = (mixed << 29 | mixed >> 35) & mask
    return lanes


def lanes_of(data, offset=0):
    lanes = np.arange(LANES, dtype=np.uint64)
    mix_stripes(lanes, np.frombuffer(bytes(offset) + data, np.uint8)[offset:], len(data) // STRIPE)
    return lanes.tolist()


def test_equals_its_definition():
    for stripes, offset in product([0, 1, 2, 7], [0, 3]):
        data = np.random.default_rng(stripes).bytes(STRIPE * stripes)
        assert lanes_of(data, offset) == naive_lanes(data)


def test_every_change_of_a_byte_and_every_swap_of_stripes_shows():
    data = np.random.default_rng(0).bytes(STRIPE * 4)
    seen = {tuple(lanes_of(data))}
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        seen.add(tuple(lanes_of(bytes(changed))))
    stripes = [data[k : k + STRIPE] for k in range(0, len(data), STRIPE)]
    for j in range(4):
        for k in range(j):
            order = [*stripes]
            order[j], order[k] = order[k], order[j]
            seen.add(tuple(lanes_of(b"".join(order))))
    assert len(seen) == 1 + len(data) + 6
