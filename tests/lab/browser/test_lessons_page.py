"""The lessons on the page: what their buttons do, and the numbers beside them."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.lab_library import run
from helpers.lab_page import state_with
from helpers.lab_state import LabState


def choose(lab, lesson):
    lab.page.locator("#opener").select_option(f"lesson {lesson}")
    lab.wait()


def press(lab, name):
    lab.page.get_by_role("button", name=name, exact=True).click()
    lab.wait()


def outcomes(lab):
    """What is written beside the buttons of a lesson."""
    return lab.page.locator(".tries li .note").all_inner_texts()


def pressed(lab):
    """Which buttons of a lesson are shown as pressed."""
    return lab.page.locator(".tries button[aria-pressed=true]").all_inner_texts()


def last_step(lab):
    """Go on to the last step of the lesson."""
    while not lab.page.locator(".tries").is_visible():
        press(lab, "Next")


@pytest.mark.slow
def test_every_lesson_is_chosen_by_its_title_and_ends_with_a_question(lab):
    lab.open()
    titles = lab.page.locator("#opener optgroup[label=Lessons] option").all_inner_texts()
    assert len(titles) == 9
    for title in titles:
        lab.page.locator("#opener").select_option(label=title)
        lab.until("lab.state.lesson !== ''")
        lab.wait()
        assert lab.text("#lesson-title") == title
        assert lab.get("lab.replay !== null"), title
        while lab.page.get_by_role("button", name="Next", exact=True).is_visible():
            press(lab, "Next")
        assert not lab.page.locator("#lesson-answer p").is_visible(), "the answer waits to be asked for"
        lab.page.get_by_text("The answer").click()
        assert lab.page.locator("#lesson-answer p").is_visible()
    press(lab, "Done")
    assert lab.state.lesson == ""


def test_a_link_opens_a_lesson_at_its_first_step(new_lab, address):
    lab = new_lab(f"{address}?lesson=order").open()
    lab.until("lab.state.lesson === 'order'")
    assert lab.text("#lesson-title") == "Order matters"
    assert len(lab.state.points) == 26
    shared = new_lab(f"{address}?lesson=order").open(state_with([(1, 2, 1), (0, 0, -1)], at=1))
    assert (shared.state.lesson, len(shared.state.points)) == ("", 2), "a state in the address comes first"


@pytest.mark.slow
def test_every_step_shows_a_boundary_and_plays_where_motion_is_welcome(new_lab):
    lab = new_lab(reduced_motion="no-preference").open()
    lab.get("lab.speed = 'fast'")
    for lesson in ("one-update", "averaging", "xor", "kernels"):
        choose(lab, lesson)
        lab.until("lab.at > 0")
        while lab.page.get_by_role("button", name="Next", exact=True).is_visible():
            press(lab, "Next")
            starts = lab.text("#lesson-step").startswith("It starts")
            lab.until("lab.at === 0" if starts else "lab.scene().moment.k > 0")
    lab.page.locator("#opener").select_option("preset separable")
    lab.until("lab.state.lesson === '' && lab.scene().moment?.k > 0")


def turn(vectors):
    """The largest angle in degrees between two of some vectors."""
    units = [np.array(vector) / np.linalg.norm(vector) for vector in vectors]
    return max(np.degrees(np.arccos(np.clip(u @ v, -1, 1))) for u in units for v in units)


def test_every_lesson_is_reached_by_next_and_left(lab):
    lab.open()
    choose(lab, "one-update")
    titles, steps = [lab.text("#lesson-title")], 1
    while not lab.page.get_by_role("button", name="Done", exact=True).is_visible():
        lab.page.locator("#lesson .primary").click()
        lab.wait()
        steps += 1
        assert lab.get("document.activeElement.id") == "lesson-step"
        assert lab.get("lab.waiting") == ""
        if lab.text("#lesson-title") != titles[-1]:
            titles.append(lab.text("#lesson-title"))
    assert len(titles) == len(set(titles)) == 9
    assert steps == 53
    before = lab.text("#lesson-step")
    press(lab, "Back")
    assert lab.text("#lesson-step") != before
    press(lab, "Leave the lesson")
    assert lab.state.lesson == ""
    assert not lab.page.locator("#lesson").is_visible()


def test_counts_beside_the_orders_are_those_of_the_library(lab):
    lab.open()
    choose(lab, "order")
    last_step(lab)
    for button, order in (("As listed", "fixed"), ("Shuffled once", "once"), ("Shuffled each pass", "each")):
        press(lab, button)
        made = run(replace(lab.state, order=order))
        row = lab.page.locator(".tries li").filter(has_text=button)
        seed = "" if order == "fixed" else ", seed 0"
        counts = f"done after {len(made.updates)} updates, {len(made.passes)} passes"
        assert row.locator("span").inner_text() == counts + seed
        assert pressed(lab) == [button]
    assert len(set(outcomes(lab))) == 3
    lab.change(seed=4)
    told = outcomes(lab)
    assert (told[1][-6:], told[2][-6:]) == ("seed 0", "seed 4")
    assert f"after {lab.get('lab.run.updates.length')} updates" in told[2]


def test_outcomes_come_only_from_runs_of_the_lessons_own_points(lab):
    lab.open()
    assert lab.state.order == "each"
    choose(lab, "order")
    last_step(lab)
    assert [bool(told) for told in outcomes(lab)] == [True, True, True], "the steps made these runs"
    press(lab, "Shuffled once")
    lab.get("lab.change({ points: [...lab.state.points, [9, 9, 1]], order: 'each' })")
    lab.wait()
    assert outcomes(lab) == ["", "", ""]
    assert pressed(lab) == ["Shuffled each pass"]


def test_nothing_of_before_is_left_when_a_lesson_begins(lab):
    lab.open()
    choose(lab, "kernels")
    whole = lab.state
    busy = state_with(
        [(1, 1, 1), (0, -1, -1)], learner="averaged", features=("x", "xy"), seed=8, passes=3, bias=False, own=(2, 0, 1)
    )
    busy = replace(busy, own=(2, 0, 1))
    lab.show(replace(busy, family="discs", at=1, order="pick", picks=(0, 1), show=("hulls",), hide=("share",)))
    lab.get("Object.assign(lab, { stepBy: 'pass', selected: 1, brush: -1 })")
    choose(lab, "kernels")
    assert lab.state == replace(whole, hide=("share",), own=busy.own)
    assert lab.get("[lab.stepBy, lab.selected, lab.brush]") == ["update", -1, 1]


def test_leaving_keeps_the_points_and_is_undone_in_one_step(lab):
    lab.open()
    choose(lab, "xor")
    before = lab.state
    press(lab, "Leave the lesson")
    assert lab.state == replace(before, lesson="", show=LabState().show)
    assert lab.state.show != before.show
    lab.page.keyboard.press("Control+z")
    assert lab.wait().state == before


def test_four_points_of_shattering_are_cut_by_lines_again(lab):
    lab.open()
    choose(lab, "shattering")
    assert not lab.page.locator("#play").is_visible(), "the game has no run to play"
    last_step(lab)
    press(lab, "Three points")
    assert pressed(lab) == ["Three points"]
    lab.page.get_by_label("Discs", exact=True).check()
    assert pressed(lab.wait()) == []
    press(lab, "Four, one inside")
    assert lab.state.family == "halfspaces"
    assert pressed(lab) == ["Four, one inside"]
    lab.click(0, -0.2)
    lab.wait()
    assert lab.state.points[3][2] == 1, "a press gives the point the other class"
    assert pressed(lab) == ["Four, one inside"], "the places are the same"


def test_a_lesson_chosen_by_keyboard_has_the_focus_and_arrows_step(lab):
    lab.open()
    lab.page.locator("#opener").focus()
    for lesson in ("order", "bound"):
        choose(lab, lesson)
        assert lab.get("document.activeElement.id") == "lesson-step"
    lab.page.keyboard.press("Home")
    lab.page.keyboard.press("ArrowRight")
    lab.frame()
    assert lab.moment["k"] == 1
    lab.page.keyboard.press("ArrowLeft")
    lab.frame()
    assert lab.moment["k"] == 0


def test_averaging_steps_back_by_its_own_words(lab):
    lab.open()
    choose(lab, "averaging")
    lab.page.keyboard.press("End")
    lines = []
    for _ in range(4):
        lab.page.keyboard.press("ArrowLeft")
        lab.frame()
        lines.append([lab.moment["w"], lab.moment["average"]["w"]])
    last, average = ([pair[i] for pair in lines] for i in (0, 1))
    assert turn(last) > 60
    assert turn(average) < 2


def test_xor_is_mended_by_the_box_as_by_the_button(lab):
    lab.open()
    choose(lab, "xor")
    last_step(lab)
    press(lab, "Features x₁, x₂")
    assert not lab.get("lab.run.converged")
    lab.more().page.get_by_role("checkbox", name="x₁x₂", exact=True).check()
    lab.page.keyboard.press("Escape")
    lab.wait()
    mended = lab.page.locator(".tries li").nth(1)
    assert mended.locator("span").inner_text() == "done after 25 updates, 10 passes"
    assert pressed(lab) == ["Features x₁, x₂, x₁ ∧ x₂"]
    press(lab, "Features x₁, x₂")
    assert lab.page.locator(".tries li").first.locator("span").inner_text().startswith("stopped after")


def test_an_address_with_a_lesson_shows_its_text_and_teachers_can_hide_the_others(lab):
    lab.open(LabState(lesson="xor", points=((1.0, 1.0, 1, False), (-1.0, 0.0, -1, False))))
    assert lab.text("#lesson-title") == "XOR"
    assert len(lab.state.points) == 2, "the points of the address, not those of the lesson"
    lab.change(hide=["lessons"])
    assert lab.text("#lesson-title") == "XOR"
    while lab.page.get_by_role("button", name="Next", exact=True).is_visible():
        press(lab, "Next")
    assert lab.text("#lesson-title") == "XOR"
    assert not lab.page.get_by_role("button", name="Next lesson").is_visible()
    assert not lab.page.get_by_role("button", name="Leave the lesson").is_visible()
    assert not lab.page.locator("#opener").is_visible()
    lab.change(hide=[], lesson="no such lesson")
    assert not lab.page.locator("#lesson").is_visible()


def test_an_address_put_in_is_opened_or_refused_with_a_sentence(lab):
    lab.open()
    choose(lab, "xor")
    other = replace(lab.state, lesson="circle", seed=5)
    lab.get(f"location.hash = '{other.to_fragment()}'")
    lab.until("lab.state.seed === 5")
    assert lab.wait().text("#lesson-title") == "The circle"
    lab.get("location.hash = 'nonsense'")
    lab.until("!document.getElementById('notice').hidden")
    assert lab.text("#notice").startswith("What follows # in the address is not a state of the lab")
    assert lab.state == other
    lab.until(f"location.hash === '#' + '{lab.get('location.hash')[1:]}'")
    assert LabState.from_fragment(lab.get("location.hash")[1:]) == other
