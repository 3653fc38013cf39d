"""Everything by keyboard alone: no test here moves or presses a mouse."""

import pytest

from helpers.lab_state import PANELS, LabState

EMPTY = LabState(view=(0.0, 0.0, 3.0))
FOCUSED = "(document.activeElement?.id || document.activeElement?.textContent || '').trim()"


def tab_to(lab, wanted, key="Tab"):
    """Press Tab until the element with an id, or with a text, has the focus."""
    for _ in range(120):
        lab.page.keyboard.press(key)
        if lab.get(FOCUSED) == wanted:
            return
    raise AssertionError(f"Tab does not lead to {wanted}")


def place(lab, *keys):
    for key in keys:
        lab.page.keyboard.press(key)


@pytest.mark.slow
def test_points_are_placed_trained_on_and_taken_back(lab):
    lab.open(EMPTY)
    tab_to(lab, "plane-canvas")
    lab.frame()
    assert "Enter places a point" in lab.text("#mode")
    place(lab, "Shift+ArrowRight", "Shift+ArrowUp", "Enter", "2", "Shift+ArrowLeft", "Shift+ArrowLeft", "Enter")
    place(lab, "1", "Shift+ArrowUp", "Enter")
    lab.wait()
    points = lab.state.points
    assert [point[2] for point in points] == [1, -1, 1]
    assert len({point[:2] for point in points}) == 3
    assert lab.get("lab.learned.points === lab.state.points")
    place(lab, "n", "f")
    assert lab.wait().state.points[0][2] == -1
    place(lab, "t")
    assert lab.wait().state.points[0][3] is True
    place(lab, "Delete")
    assert lab.wait().state.points == points[1:]
    for _ in range(3):
        lab.page.keyboard.press("Control+z")
    assert lab.wait().state.points == points
    lab.page.keyboard.press("Control+Shift+Z")
    assert lab.wait().state.points[0][2] == -1
    assert lab.get("document.getElementById('announcements').textContent") != ""


@pytest.mark.slow
def test_runs_are_played_and_stepped_through(lab):
    lab.open()
    tab_to(lab, "play")
    lab.page.keyboard.press("Enter")
    assert lab.get("lab.playing")
    lab.page.keyboard.press("Space")
    assert not lab.get("lab.playing")
    lab.page.keyboard.press("Home")
    assert lab.get("lab.at") == 0
    lab.page.keyboard.press("ArrowRight")
    assert lab.get("lab.at") > 0
    tab_to(lab, "scrub")
    before = lab.get("lab.at")
    lab.page.keyboard.press("ArrowRight")
    assert lab.get("lab.at") == before + 1
    tab_to(lab, "More")
    lab.page.keyboard.press("Enter")
    tab_to(lab, "set-step")
    lab.page.keyboard.press("End")
    lab.frame()
    assert lab.page.locator("#set-step").input_value() == lab.get("lab.stepBy") == "pass"


@pytest.mark.slow
def test_learner_order_and_presets_are_chosen(lab):
    lab.open()
    tab_to(lab, "learner")
    lab.page.keyboard.press("ArrowDown")
    assert lab.wait().state.learner == "averaged"
    tab_to(lab, "More")
    lab.page.keyboard.press("Enter")
    tab_to(lab, "set-order")
    lab.page.keyboard.press("ArrowDown")
    lab.page.keyboard.press("ArrowUp")
    lab.page.keyboard.press("ArrowUp")
    assert lab.wait().state.order != "each"
    tab_to(lab, "features-xy", "Shift+Tab")
    lab.page.keyboard.press("Space")
    assert "xy" in lab.wait().state.features
    lab.page.keyboard.press("Escape")
    tab_to(lab, "opener", "Shift+Tab")
    lab.page.keyboard.press("End")
    lab.until("lab.state.points.length === 120")  # the digits
    assert lab.wait().state.learner == "averaged"


@pytest.mark.slow
def test_each_panel_is_opened(lab):
    lab.open()
    tab_to(lab, "tab-algorithm")
    for panel in (*PANELS[1:], PANELS[0]):
        lab.page.keyboard.press("ArrowRight")
        lab.frame()
        assert lab.state.panel == panel
        assert lab.get(FOCUSED) == f"tab-{panel}"
        assert lab.page.locator(f"#panel-{panel}").is_visible()


@pytest.mark.slow
def test_help_and_dialogs_open_and_close(lab):
    lab.open()
    tab_to(lab, "plane-canvas")
    lab.page.keyboard.press("?")
    assert lab.page.locator("dialog#help").is_visible()
    lab.page.keyboard.press("Escape")
    assert not lab.page.locator("dialog#help").is_visible()
    assert lab.get(FOCUSED) == "plane-canvas", "focus goes back to where it was"
    for menu in ("More", "File"):
        tab_to(lab, menu, "Shift+Tab")
        lab.page.keyboard.press("Enter")
        assert lab.page.locator(f"#{menu.lower()}").is_visible()
        lab.page.keyboard.press("Escape")
        assert lab.get(FOCUSED) == menu
    lab.page.keyboard.press("Enter")
    tab_to(lab, "Share a link …")
    lab.page.keyboard.press("Enter")
    assert lab.page.locator("dialog#share").is_visible()
    lab.page.keyboard.press("Escape")
    assert not lab.page.locator("dialog#share").is_visible()
