"""Averages that forget: what an update counts in the mean of the weights after each visit.

With ``decay`` the weights after visit s count ``(1 - decay)**(T - s)`` at visit T. An update made after n visits is
part of all weights from then on, so the mean is the last weights less ``(l**(T - n) - l**T) / (1 - l**T)`` times each
update, for ``l = 1 - decay``; without decay that factor is ``n / T``. The sum of these is kept as ``u``, without what
all of them share: in epoch e, which begins after e periods of visits, an update counts ``g**(n - e period) -
l**(e period)`` in it, for ``g = 1 / l``, and when the next one begins ``u`` is divided by ``g**period``.

All powers come from products of floats, so they are the same on every machine.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.compiler import by_layout, plain

_LARGEST_EXPONENT = 32.0  # of e: how far the factors of one epoch lie apart
_LONGEST = 2.0**53  # visits that are counted one by one


def _compound(rate, n):
    """Return ``(1 + rate)**n - 1`` for a rate above 0 and an integer n from 0 on, accurate for small rates."""
    grown = 0.0
    while n > 0:
        if rate == math.inf:  # infinity times zero is no number
            return math.inf
        if n & 1:
            grown = grown + rate + grown * rate
        rate = rate * (2.0 + rate)
        n >>= 1
    return grown


def _period(growth):
    """Return how many visits an epoch has."""
    return max(1.0, math.floor(min(_LARGEST_EXPONENT / growth, _LONGEST)))


compound, period_of = plain(_compound), plain(_period)


@plain
def late_factor(decay, before, epoch):
    """Return what an update after ``before`` visits counts in ``u``, which is scaled for ``epoch``.

    Also the epoch that ``u`` is to be scaled for from then on, and what to multiply it by.
    """
    if decay == 0.0:
        return before, 0.0, 1.0
    growth = decay / (1.0 - decay)
    period = period_of(growth)
    now = max(epoch, math.floor(before / period))
    begun = compound(growth, np.int64(now * period))
    factor = 1.0 / (1.0 + compound(growth, np.int64((now - epoch) * period)))
    before_now = begun / (1.0 + begun) if begun < math.inf else 1.0
    return compound(growth, np.int64(before - now * period)) + before_now, now, factor


def share_of_late(decay: float, visits: float, epoch: float) -> float:
    """Return what ``u`` is to be multiplied by, so that the last weights less that are the mean after ``visits``."""
    if decay == 0.0:
        return 1.0 / max(visits, 1.0)
    growth = decay / (1.0 - decay)
    all_grown = _compound(growth, int(max(visits, 1.0)))
    here = 1.0 + _compound(growth, max(0, int(visits - epoch * _period(growth))))
    return (1.0 + 1.0 / all_grown) / here


def _dense_scale(rows, u, k, factor):
    for j in range(u.shape[0]):
        u[j] *= factor


def _csr_scale(rows, u, k, factor):
    for j in range(u.shape[0]):
        u[j, k] *= factor


scale_class = by_layout(_dense_scale, _csr_scale)
"""``scale_class(rows, u, k, factor)``: multiply ``u``, as ``class_weights`` gives it, of class ``k`` by a factor."""
