"""Long enumerations say how far they are, on standard error, and only if asked."""

import re

import numpy as np
import pytest

from rosenblatt import vc
from rosenblatt.progress import Progress
from rosenblatt.theory.vc import counting
from rosenblatt.theory.vc import families as arrangements
from rosenblatt.theory.vc.families import cut, read_points, to_integers

POINTS = np.random.default_rng(0).integers(-20, 20, (11, 2))
FAMILIES = [("halfspaces", None), ("discs", None), ("rectangles", None), ("convex-k-gons", 3)]


@pytest.mark.parametrize(("family", "k"), FAMILIES)
def test_shares_rise_to_one_and_change_nothing(monkeypatch, family, k):
    monkeypatch.setattr(arrangements, "BLOCK", 7)
    rows, shares = to_integers(read_points(POINTS)), []
    assert cut(rows, family, k or 0, shares.append) == cut(rows, family, k or 0)
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
    if family in ("halfspaces", "discs"):
        assert len(shares) > 5
        assert shares[-1] == 1


@pytest.mark.parametrize(("family", "k"), FAMILIES)
def test_the_work_and_what_is_left_of_it_are_shown_if_asked(monkeypatch, capsys, family, k):
    monkeypatch.setattr(Progress, "_due", lambda self, *_: 3.0 if self.active else None)
    answers = {}
    for verbose in (0, 1):
        for ask in (vc.dichotomies, vc.shatters, vc.vc_dimension, vc.largest_shattered):
            answers.setdefault(ask, set()).add(ask(POINTS, family, k, verbose=verbose))
        shown = capsys.readouterr()
        assert shown.out == ""
        assert bool(shown.err) == bool(verbose)
    assert all(len(same) == 1 for same in answers.values())
    line = re.compile(r"(subsets of 11 points|shattered subsets): \d+\.\d% in 3 s, about [\d,]+:\d\d left")
    assert all(line.fullmatch(text) for text in shown.err.splitlines())


def test_the_search_for_a_shattered_subset_counts_the_sets_behind_it():
    """Nothing is shattered, so all pairs are tried: the share is that of the sets of three before the pair."""
    shares = []
    counting._deepest([0b11] * 6, 2, 3, shares.append)
    assert shares == sorted(shares)
    assert shares[0] == 0
    shares = []
    counting._deepest([0b0101, 0b0011, 0b0000, 0b1111, 0b0110], 4, 3, shares.append)
    assert shares == sorted(shares)
    assert 0.5 < shares[-1] < 1
