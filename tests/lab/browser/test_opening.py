"""Opening the page."""

from helpers.lab_page import state_of

POINTS = [(1, 1, 1), (2, 0, 1), (-1, 0, -1), (0, -2, -1)]


def test_a_state_in_the_address_is_shown(lab):
    state = state_of(POINTS, order="fixed", at=3)
    lab.open(state)
    assert lab.state == state
    assert lab.moment["w"] == [2, 1]
    assert lab.text("#sentence").startswith("Point 3, orange triangle: y·a = −1 ≤ 0, a mistake.")
