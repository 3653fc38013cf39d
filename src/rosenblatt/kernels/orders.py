"""The orders in which passes visit rows: shuffles that are the same on every machine and with every version of numpy.

Pass p of a run visits the rows in the order of a Fisher-Yates shuffle of 0, 1, ..., n-1, with random numbers from
splitmix64. If f is the output function of splitmix64, the generator starts in the state f(f(seed) + p * GOLDEN). So the
order of any pass can be computed without the orders before it. A random index below m is ``z * m >> 32`` for the upper
32 bits z of a random number (Lemire 2019, without the rejection step).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.parts import helper, inlined, instead_of

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@inlined
def _splitmix64(z):
    """Return splitmix64's output for the state ``z`` (Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


def mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a hash of each number: splitmix64's output for the number times ``GOLDEN``."""
    return _splitmix64(numbers * GOLDEN)


@helper
def _shuffle_loop(order, seed, pass_number):
    for i in range(order.shape[0]):
        order[i] = i
    # Fisher-Yates shuffle in place (Durstenfeld 1964). Invariant: order[i + 1 :] is final, and order[: i + 1] holds the
    # numbers still to be drawn.
    state = _splitmix64(_splitmix64(seed) + pass_number * GOLDEN)
    for i in range(order.shape[0] - 1, 0, -1):
        state = state + GOLDEN
        j = np.int64(((_splitmix64(state) >> np.uint64(32)) * np.uint64(i + 1)) >> np.uint64(32))
        order[i], order[j] = order[j], order[i]


@instead_of(_shuffle_loop)
def shuffle(order, seed, pass_number):
    """Write the order in which a pass visits rows to ``order``. The seed and the pass number are of type uint64."""
    n = order.shape[0]
    numbers = np.arange(n, 1, -1, dtype=np.uint64)
    state = _splitmix64(_splitmix64(seed) + pass_number * GOLDEN)
    random = _splitmix64(state + np.arange(1, n, dtype=np.uint64) * GOLDEN)
    places = (((random >> np.uint64(32)) * numbers) >> np.uint64(32)).tolist()
    shuffled = list(range(n))
    for i, j in zip(range(n - 1, 0, -1), places, strict=True):
        shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
    order[:] = shuffled


_shuffle = kernel(shuffle)


def visiting_order(n: int, seed: int, pass_number: int = 0) -> np.ndarray:
    """Return the order in which a shuffled pass over ``n`` rows visits them.

    ``Perceptron(shuffle=True)`` visits ``visiting_order(n, model.seed_, p)`` in its pass p = 0, 1, ...;
    ``shuffle="once"`` keeps the order of pass 0.

    Parameters
    ----------
    n : int
        The number of rows, from 0 to 2**32 - 1; other numbers raise a ValueError.
    seed : int
        The seed of the run, taken modulo 2**64.
    pass_number : int
        The number of the pass, counted from 0; by default 0. A negative number raises a ValueError.

    Returns
    -------
    uint32 array of shape (n,)
        The row numbers from 0 to n - 1, shuffled.

    See Also
    --------
    Perceptron : Visits rows in this order.
    trace : The weights after each visit of such a run.

    Examples
    --------
    >>> from rosenblatt import visiting_order
    >>> visiting_order(6, seed=0).tolist()
    [1, 3, 4, 0, 2, 5]
    >>> visiting_order(6, seed=0, pass_number=1).tolist()
    [0, 2, 4, 1, 5, 3]
    """
    if not 0 <= n < 2**32:
        raise ValueError(f"expected between 0 and 2**32 - 1 rows to put in order, got {n}")
    if pass_number < 0:
        raise ValueError(f"passes are counted from 0, got pass_number={pass_number}")
    order = np.empty(n, dtype=np.uint32)
    _shuffle(order, np.uint64(int(seed) % 2**64), np.uint64(pass_number))
    return order
