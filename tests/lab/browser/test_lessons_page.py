"""The lessons on the page: what their buttons do, and the numbers beside them."""

from dataclasses import replace

from rosenblatt.lab.learning import run
from rosenblatt.lab.state import LabState


def choose(lab, lesson):
    lab.page.locator("#opener").select_option(f"lesson {lesson}")
    lab.wait()


def press(lab, name):
    lab.page.get_by_role("button", name=name, exact=True).click()
    lab.wait()


def test_every_lesson_is_reached_by_next_and_left(lab):
    lab.open()
    choose(lab, "one-update")
    titles = [lab.text("#lesson-title")]
    while lab.page.get_by_role("button", name="Next", exact=True).is_enabled():
        press(lab, "Next")
        titles.append(lab.text("#lesson-title"))
        assert lab.get("document.activeElement.id") == "lesson-title"
        assert lab.get("[lab.at, lab.waiting]") == [0, ""]
    assert len(titles) == len(set(titles)) == 9
    press(lab, "Previous")
    assert lab.text("#lesson-title") == titles[-2]
    press(lab, "Leave the lesson")
    assert lab.state.lesson == ""
    assert not lab.page.locator("#lesson").is_visible()


def test_counts_beside_the_orders_are_those_of_the_library(lab):
    lab.open()
    choose(lab, "order")
    for button, order in (("As listed", "fixed"), ("Shuffled once", "once"), ("Shuffled each pass", "each")):
        press(lab, button)
        made = run(replace(lab.state, order=order))
        row = lab.page.locator(".tries li").filter(has_text=button)
        assert row.locator("span").inner_text() == f"done after {len(made.updates)} updates, {len(made.passes)} passes"
        assert row.get_by_role("button").get_attribute("aria-pressed") == "true"


def test_xor_is_mended_by_the_box_as_by_the_button(lab):
    lab.open()
    choose(lab, "xor")
    assert not lab.get("lab.run.converged")
    lab.page.get_by_role("checkbox", name="xy", exact=True).check()
    lab.wait()
    mended = lab.page.locator(".tries li").nth(1)
    assert mended.locator("span").inner_text() == "done after 4 updates, 2 passes"
    press(lab, "Features x, y")
    assert lab.page.locator(".tries li").first.locator("span").inner_text().startswith("stopped after")


def test_the_answer_waits_for_its_button(lab):
    lab.open()
    choose(lab, "bound")
    answer = lab.page.locator("#lesson-answer")
    assert not answer.is_visible()
    press(lab, "Show the answer")
    assert answer.is_visible()
    press(lab, "Hide the answer")
    assert not answer.is_visible()


def test_an_address_with_a_lesson_shows_its_text_and_teachers_can_hide_it(lab):
    lab.open(LabState(lesson="xor", points=((1.0, 1.0, 1, False), (-1.0, 0.0, -1, False))))
    assert lab.text("#lesson-title") == "XOR"
    assert len(lab.state.points) == 2, "the points of the address, not those of the lesson"
    lab.change(hide=["lessons"])
    assert not lab.page.locator("#lesson").is_visible()
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
    assert lab.text("#notice").startswith("The part of the address after # is no state of the lab")
    assert lab.state == other
    lab.until(f"location.hash === '#' + '{lab.get('location.hash')[1:]}'")
    assert LabState.from_fragment(lab.get("location.hash")[1:]) == other
