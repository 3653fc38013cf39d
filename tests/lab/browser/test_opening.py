"""Opening the page."""

import pytest

from helpers.lab_page import state_with
from helpers.lab_states import FOUR
from rosenblatt.lab.presets import START


def test_a_state_in_the_address_is_shown(lab):
    state = state_with(FOUR, order="fixed", at=3)
    lab.open(state)
    assert lab.state == state
    assert lab.moment["w"] == [2, 1]
    assert lab.text("#sentence").startswith("Point 3, orange triangle: y·a = 0 ≤ 0, a mistake.")


def test_without_a_state_it_opens_already_moving(new_lab):
    lab = new_lab(reduced_motion="no-preference").open()
    assert lab.state.points == START.points
    lab.until("lab.playing && lab.at > 0")
    lab.page.keyboard.press("Space")
    assert not lab.get("lab.playing")


def test_it_waits_where_motion_is_to_be_left_out(lab):
    lab.open()
    assert lab.get("[lab.playing, lab.at]") == [False, 0]
    for _ in range(3):
        lab.get("lab.step(1)")
        assert lab.get("lab.scene().beat") is None


def test_an_update_has_three_beats_where_motion_is_welcome(new_lab):
    lab = new_lab(reduced_motion="no-preference").open(state_with(FOUR, at=0))
    beats = lab.get(
        """() => {
          const seen = [];
          lab.speed = "slow";
          let now = performance.now();
          lab.step(1);
          for (; lab.scene(now).beat !== null; now += 10) seen.push(lab.scene(now).beat);
          return seen;
        }"""
    )
    assert {int(beat) for beat in beats} == {0, 1, 2}
    assert beats == sorted(beats)
    lab.until("lab.scene().beat === null")


@pytest.mark.parametrize("fragment", ["nonsense", "eyJ2ZXJzaW9uIjoyfQ"])
def test_an_address_that_is_no_state_opens_the_start(lab, fragment):
    lab.page.goto(f"{lab.address}#{fragment}")
    lab.until("window.lab && lab.runs > 0")
    assert lab.state.points == START.points


def test_a_state_that_the_server_refuses_is_told_in_one_sentence(lab):
    lab.open(state_with(FOUR))
    lab.faults.clear()
    lab.change(seed=-1)
    assert lab.text("#notice").startswith("'seed' must be an integer from 0 to 2147483647")
    assert all("400" in fault for fault in lab.faults), "the browser itself notes the refusal"
    lab.faults.clear()
    lab.change(seed=1)
    assert lab.get("lab.replay.agrees")
