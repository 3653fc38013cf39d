"""Verdicts, circles and the VC game as the page shows them."""

import math

import pytest

from helpers.lab_engine import ask
from helpers.lab_page import state_with
from helpers.lab_state import LabState

XOR = [(1, 1, 1), (-1, -1, 1), (1, -1, -1), (-1, 1, -1)]
SQUARE = [(1, 1, 1), (-1, 1, 1), (-1, -1, 1), (1, -1, 1)]


def test_xor_is_inseparable_and_the_hulls_cross(lab):
    lab.open(state_with(XOR, panel="bound", show=()))
    before = [lab.pixels(0, 0), lab.pixels(0.5, 0.5)]
    lab.change(panel="verdict")
    assert lab.text("#verdict-headline") == "Not separable"
    assert "cross" in lab.text("#verdict-why")
    assert lab.page.locator(".certificate tbody tr").count() == 4, "each point is named, with its share"
    assert lab.get("lab.run.theory.verdict.kind") == "inseparable"
    assert lab.get("lab.run.theory.verdict.common") == [0, 0]
    assert not lab.get("lab.run.converged")
    assert lab.pixels(0, 0) != before[0], "the common point of both hulls is marked on the plane"
    assert lab.pixels(0.5, 0.5) != before[1], "and so are the hulls"


def test_ticking_xy_mends_xor(lab):
    lab.open(state_with(XOR, panel="verdict"))
    assert not lab.get("lab.run.converged")
    assert lab.text("#verdict-headline") == "Not separable"
    box = lab.more().page.get_by_role("checkbox", name="x₁x₂", exact=True)
    box.check()
    lab.wait()
    assert lab.state.features == ("x", "y", "xy")
    assert lab.get("[lab.run.converged, lab.run.theory.verdict.kind]") == [True, "separable"]
    assert lab.text("#verdict-headline") == "Separable"
    lab.page.keyboard.press("End")
    lab.frame()
    assert "Done: a pass without a mistake" in lab.text("#sentence")
    box.uncheck()
    lab.wait()
    assert lab.get("lab.run.theory.verdict.kind") == "inseparable"


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_circle_drawn_holds_every_positive_point(lab, seed):
    found = ask("preset", {"name": "circle", "seed": seed})
    state = LabState.from_plain({"version": 1, "seed": seed} | found | {"panel": "lift", "at": None})
    lab.open(state)
    assert lab.get("lab.run.converged")
    (x, y), radius = lab.numbers("#lift-center"), lab.numbers("#lift-radius")[0]
    distances = [(math.hypot(px - x, py - y), sign) for px, py, sign, _ in state.points]
    slack = 1e-3 * radius  # the numbers are shown with four digits
    assert all(distance < radius + slack for distance, sign in distances if sign > 0)
    assert all(distance > radius - slack for distance, sign in distances if sign < 0)


def test_the_vc_game_refuses_the_labelling_that_no_line_cuts(lab):
    lab.open(state_with([(x, y, sign) for (x, y, _), sign in zip(SQUARE, [1, -1, 1, -1], strict=True)], panel="vc"))
    lab.until("document.getElementById('vc-headline').textContent !== ''")
    assert lab.text("#vc-headline") == "No half-plane can"
    text = lab.text("#vc-text")
    assert "1 and 3" in text, text
    assert "2 and 4" in text, text
    assert lab.text("#vc-score").startswith("14 of 16 labellings: not shattered.")


@pytest.mark.slow
def test_the_vc_game_accepts_all_labellings_but_two(lab):
    lab.open(state_with(SQUARE, panel="vc"))
    buttons = lab.page.locator("#panel-vc .labellings button")
    buttons.first.wait_for()
    assert buttons.count() == 16
    refused = []
    for i in range(16):
        buttons.nth(i).click()
        lab.until(f"document.querySelectorAll('.labellings button')[{i}].ariaPressed === 'true'")
        numbers = [number for number, point in enumerate(lab.wait().state.points, 1) if point[2] > 0]
        can = lab.text("#vc-headline") == "A half-plane can"
        assert buttons.nth(i).get_attribute("aria-label").endswith(": can be cut" if can else ": cannot be cut")
        if not can:
            refused.append(numbers)
    assert sorted(refused) == [[1, 3], [2, 4]]


def test_rectangles_shatter_four_points_of_a_diamond(lab):
    lab.open(state_with([(2, 0, 1), (0, 2, -1), (-2, 0, 1), (0, -2, -1)], panel="vc", family="rectangles"))
    lab.until("document.getElementById('vc-score').textContent.startsWith('16 of 16')")
    assert lab.text("#vc-headline") == "A rectangle can"
    lab.page.get_by_role("radio", name="Half-planes").check()
    lab.until("document.getElementById('vc-headline').textContent === 'No half-plane can'")
