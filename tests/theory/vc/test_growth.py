"""The growth of the number of dichotomies, beside Sauer's bound and Cover's count."""

import numpy as np
import pytest

from helpers.point_sets import EVERY_FAMILY, curve
from rosenblatt.theory import vc


@pytest.mark.parametrize(("name", "k"), EVERY_FAMILY)
def test_every_row_counts_the_dichotomies_of_the_first_points(name, k):
    for seed in range(5):
        points = np.random.default_rng(seed).integers(0, 4, (8, 2)).tolist()  # some of them equal
        table = vc.growth(points, name, k=k)
        assert table["n"] == list(range(1, 9))
        assert table["count"] == [len(vc.dichotomies(points[:n], name, k=k)) for n in range(1, 9)]
        assert all(count <= sauer for count, sauer in zip(table["count"], table["sauer"], strict=True))
        assert ("cover" in table.columns) == (name == "halfspaces")


@pytest.mark.parametrize("d", [1, 2, 3])
def test_points_in_general_position_grow_as_cover_says(d):
    table = vc.growth(curve(9, d), "halfspaces")
    assert table.columns == ["n", "count", "sauer", "cover"]
    assert table["count"] == table["cover"] == [vc.cover_count(n, d) for n in range(1, 10)]
    assert table["sauer"] == [vc.sauer_bound(n, d + 1) for n in range(1, 10)]


def test_discs_grow_as_sauer_says():
    table = vc.growth(np.random.default_rng(0).standard_normal((12, 2)), "discs")
    assert table["count"] == table["sauer"]


def test_bad_input_is_that_of_dichotomies():
    with pytest.raises(ValueError, match="points must hold at least one point"):
        vc.growth(np.empty((0, 2)), "halfspaces")
    with pytest.raises(ValueError, match="family must be"):
        vc.growth([[0, 1]], "squares")
