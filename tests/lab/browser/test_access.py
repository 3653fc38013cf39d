"""Access: axe-core finds nothing in light and dark, nothing scrolls sideways on a phone, pictures have words."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from helpers.lab_page import PHONE
from helpers.lab_state import LEARNERS, PANELS

SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def violations(lab):
    found = Axe().run(lab.page).response["violations"]
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_panel_has_a_violation(new_lab, scheme):
    lab = new_lab(color_scheme=scheme).open()
    lab.change(at=None)
    for panel in PANELS:
        lab.change(panel=panel)
        lab.frame()
        assert violations(lab) == [], panel


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_dialog_and_no_lesson_has_a_violation(new_lab, scheme):
    lab = new_lab(color_scheme=scheme).open()
    lab.more()
    lab.frame()
    assert violations(lab) == [], "More"
    lab.page.keyboard.press("Escape")
    lab.page.locator("#opener").select_option(index=2)
    lab.wait()
    assert lab.state.lesson != ""
    assert violations(lab) == [], "a lesson"
    while not lab.page.get_by_role("button", name="Done", exact=True).is_visible():
        if lab.page.locator("#lesson-answer").is_visible():
            lab.page.get_by_text("The answer").click()
            assert violations(lab) == [], lab.text("#lesson-title")
        lab.page.locator("#lesson .primary").click()
        lab.wait()
    for name, dialog in (("Share a link …", "share"), ("Help and keys (?)", "help")):
        lab.page.get_by_role("button", name="File", exact=True).click()
        assert violations(lab) == [], "File"
        lab.page.get_by_role("button", name=name, exact=True).click()
        assert violations(lab) == [], dialog
        lab.page.keyboard.press("Escape")


@pytest.mark.slow
def test_nothing_scrolls_sideways_on_a_phone(new_lab):
    lab = new_lab(viewport=PHONE).open()
    assert violations(lab) == []
    for fields in (
        *({"panel": panel} for panel in PANELS),
        *({"learner": learner, "panel": "algorithm"} for learner in LEARNERS),
        {"learner": "kernel", "panel": "weights"},
        {"learner": "circle", "panel": "lift"},
        {"learner": "pocket", "panel": "error"},
        {"order": "pick", "picks": [0, 1, 2]},
        {"points": [], "picks": []},
    ):
        lab.change(**fields)
        assert lab.get(SIDEWAYS) <= 0, fields
    lab.page.locator("#opener").select_option("lesson order")
    lab.wait()
    assert lab.get(SIDEWAYS) <= 0, "a lesson"
    parts = [lab.page.locator(part).bounding_box() for part in ("#lesson", "#plane", "#panels")]
    assert all(part["width"] > 300 for part in parts), "each has the width to itself"
    assert parts[0]["y"] + parts[0]["height"] <= parts[1]["y"] < parts[2]["y"]
    assert lab.more().page.locator("#more").evaluate("menu => menu.scrollWidth - menu.clientWidth") <= 0
    lab.page.keyboard.press("Escape")
    for name in ("Share a link …", "Help and keys (?)"):
        lab.page.get_by_role("button", name="File", exact=True).click()
        lab.page.get_by_role("button", name=name, exact=True).click()
        assert lab.get(SIDEWAYS) <= 0, name
        assert lab.page.locator("dialog[open]").evaluate("element => element.scrollWidth - element.clientWidth") <= 0
        lab.page.keyboard.press("Escape")


def test_every_picture_has_words(lab):
    lab.open()
    for panel in PANELS:
        lab.change(panel=panel)
        silent = lab.get(
            """Array.from(document.querySelectorAll("canvas, svg")).filter((picture) =>
              picture.checkVisibility() && !picture.closest("[aria-hidden=true]") &&
              !picture.closest("button") && !picture.getAttribute("aria-label")).map((picture) => picture.outerHTML)"""
        )
        assert silent == [], panel


def test_both_palettes_differ_and_motion_is_left_out(new_lab):
    colors = []
    for scheme in ("light", "dark"):
        lab = new_lab(color_scheme=scheme).open()
        colors.append(lab.get("getComputedStyle(document.body).backgroundColor"))
        lab.get("lab.step(1)")
        assert lab.get("lab.scene().beat") is None
    assert colors[0] != colors[1]


def test_targets_on_a_phone_are_large_enough_for_a_finger(new_lab):
    lab = new_lab(viewport=PHONE, has_touch=True, is_mobile=True).open()
    small = lab.get(
        """Array.from(document.querySelectorAll("button, select, input:not([type=checkbox])"))
          .filter((target) => target.checkVisibility())
          .map((target) => [target.id || target.ariaLabel || target.textContent, target.getBoundingClientRect().height])
          .filter(([, height]) => height < 43.5)"""
    )
    assert small == []
