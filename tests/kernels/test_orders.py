from itertools import product

import numpy as np
import pytest

from rosenblatt import visiting_order
from rosenblatt.kernels import orders
from rosenblatt.kernels.compiler import SETTING, Kernel

needs_a_compiler = pytest.mark.skipif(SETTING == "never", reason="nothing is compiled")


def mix(z):
    """splitmix64's output, in Python's whole numbers."""
    mask = 2**64 - 1
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def naive_order(n, seed, pass_number):
    golden, mask = 0x9E3779B97F4A7C15, 2**64 - 1
    state = mix((mix(seed) + pass_number * golden) & mask)
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        state = (state + golden) & mask
        j = ((mix(state) >> 32) * (i + 1)) >> 32
        order[i], order[j] = order[j], order[i]
    return order


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_a_compiler)])
def test_equals_its_definition(compiled, monkeypatch):
    monkeypatch.setattr(Kernel, "_is_worth_compiling", lambda *_: compiled)
    monkeypatch.setattr(orders._shuffle, "compiled", None)
    for case in product([0, 1, 2, 3, 100], [0, 1, 2**63, 2**64 - 1], [0, 1, 99]):
        assert visiting_order(*case).tolist() == naive_order(*case)


def test_splitmix64_is_the_published_one():
    # the first outputs for seed 1234567 in the authors' test vector
    state, out = 1234567, []
    for _ in range(3):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        out.append(mix(state))
    assert out == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_is_a_permutation_and_uniform():
    counts = np.zeros((4, 4))
    for seed in range(2000):
        order = visiting_order(4, seed)
        assert sorted(order.tolist()) == [0, 1, 2, 3]
        counts[np.arange(4), order] += 1
    assert np.abs(counts - 500).max() < 5 * np.sqrt(500)


def test_passes_differ_and_seeds_may_be_numpys():
    assert visiting_order(50, 7, 1).tolist() != visiting_order(50, 7, 2).tolist()
    assert visiting_order(9, np.int64(3)).tolist() == visiting_order(9, 3).tolist()


def test_refuses_what_it_cannot_order():
    for n in (-1, 2**32):
        with pytest.raises(ValueError, match="rows to put in order"):
            visiting_order(n, 0)
    with pytest.raises(ValueError, match="counted from 0"):
        visiting_order(9, 3, -1)
