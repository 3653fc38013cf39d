"""Verdicts, circles and the VC game as the page shows them."""

import math

import pytest
from helpers.lab_page import state_of

from rosenblatt.lab.presets import preset_message
from rosenblatt.lab.state import LabState

XOR = [(1, 1, 1), (-1, -1, 1), (1, -1, -1), (-1, 1, -1)]
SQUARE = [(1, 1, 1), (-1, 1, 1), (-1, -1, 1), (1, -1, 1)]


def test_xor_is_inseparable_and_the_hulls_cross(lab):
    lab.open(state_of(XOR, panel="bound", show=()))
    before = lab.pixels()
    lab.change(panel="verdict")
    text = lab.text("#panel-verdict")
    assert "inseparable" in text.lower() or "no line" in text.lower(), text
    assert lab.get("lab.run.theory.verdict.kind") == "inseparable"
    assert lab.get("lab.run.theory.verdict.common") == [0, 0]
    assert not lab.get("lab.run.converged")
    assert lab.pixels() != before, "the crossing hulls are drawn on the plane"


def test_ticking_xy_mends_xor(lab):
    lab.open(state_of(XOR, panel="verdict"))
    assert not lab.get("lab.run.converged")
    box = lab.page.get_by_role("checkbox", name="xy", exact=True)
    if not box.is_visible():
        lab.page.locator("summary, button", has_text="More").first.click()
    box.check()
    lab.wait()
    assert lab.state.features == ("x", "y", "xy")
    assert lab.get("[lab.run.converged, lab.run.theory.verdict.kind]") == [True, "separable"]
    assert "Done:" in (lab.page.keyboard.press("End") or lab.frame() or lab.text("#sentence"))
    box.uncheck()
    lab.wait()
    assert lab.get("lab.run.theory.verdict.kind") == "inseparable"


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_circle_drawn_holds_every_positive_point(lab, seed):
    found = preset_message({"name": "circle", "seed": seed})
    state = LabState.from_plain({"version": 1, "seed": seed} | found | {"panel": "lift", "at": None})
    lab.open(state)
    assert lab.get("lab.run.converged")
    (x, y), radius = lab.numbers("#lift-center"), lab.numbers("#lift-radius")[0]
    distances = [(math.hypot(px - x, py - y), sign) for px, py, sign, _ in state.points]
    slack = 1e-3 * radius  # the numbers are shown with four digits
    assert all(distance < radius + slack for distance, sign in distances if sign > 0)
    assert all(distance > radius - slack for distance, sign in distances if sign < 0)
