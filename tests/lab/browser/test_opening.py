"""Opening the page."""

import html

import pytest

import rosenblatt.lab
from helpers.lab_engine import start
from helpers.lab_page import state_with
from helpers.lab_states import FOUR
from rosenblatt.lab import page
from rosenblatt.lab.bundle import bundle


def test_a_state_in_the_address_is_shown(lab):
    state = state_with(FOUR, order="fixed", at=3)
    lab.open(state)
    assert lab.state == state
    assert lab.moment["w"] == [2, 1]
    assert lab.text("#sentence").startswith("Point 3, orange triangle: y·a = 0 ≤ 0, a mistake.")


def test_without_a_state_it_opens_already_moving(new_lab):
    lab = new_lab(reduced_motion="no-preference").open()
    assert lab.state.points == start().points
    lab.until("lab.playing && lab.at > 0")
    lab.page.keyboard.press("Space")
    assert not lab.get("lab.playing")


def test_where_motion_is_to_be_left_out_it_opens_at_the_end(lab):
    lab.open()
    assert lab.get("[lab.playing, lab.at]") == [False, lab.get("lab.replay.visits")]
    assert lab.text("#wrong") == "0 of 24 wrong"
    lab.page.keyboard.press("Home")
    lab.frame()
    assert lab.text("#wrong") == "24 of 24 wrong", "an activation of 0 is a mistake"
    for _ in range(3):
        lab.get("lab.step(1)")
        assert lab.get("lab.scene().beat") is None


def test_points_that_were_put_into_the_page_play_as_well(new_lab, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(rosenblatt.lab.page([point[:2] for point in FOUR], [point[2] for point in FOUR]))
    lab = new_lab(path.as_uri()).open()
    assert lab.get("[lab.state.points.length, lab.state.at]") == [4, None]
    assert lab.text("#wrong") == "0 of 4 wrong"


@pytest.mark.parametrize(
    ("text", "count", "said"),
    [
        ("x1,x2,label\n1,2,b\n3,4,a\n", 2, "Class a is drawn as orange triangles, class b as blue discs."),
        ("1,2,1\n3,4,-1\n", 2, ""),
        ("x1,x2,label\n1,2,b\n3,red,a\n", 24, "This table cannot be opened. Expected a number in line 3, got red."),
    ],
)
def test_a_table_that_was_put_into_the_page_is_read_there(new_lab, tmp_path, text, count, said):
    path = tmp_path / "page.html"
    path.write_text(bundle({"table": text}))
    lab = new_lab(path.as_uri()).open()
    lab.until(f"document.getElementById('notice-words').textContent === {said!r}")
    assert len(lab.state.points) == count
    assert lab.page.locator("#notice").is_visible() == bool(said)


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
    assert lab.state.points == start().points


def test_a_state_that_the_engine_refuses_is_told_in_one_sentence(lab):
    lab.open(state_with(FOUR))
    lab.change(seed=-1)
    assert lab.text("#notice").startswith("'seed' must be an integer from 0 to 2147483647")
    lab.change(seed=1)
    assert lab.get("lab.learned === lab.state")


def test_a_notebook_holds_several_pages(new_lab, tmp_path):
    source = [html.escape(page([point[:2] for point in FOUR], [1, 1, -1, -1], seed=seed)) for seed in (1, 2)]
    frames = [f'<iframe srcdoc="{text}"></iframe>' for text in source]
    (tmp_path / "notebook.html").write_text(f"<!doctype html>{''.join(frames)}", encoding="utf-8")
    notebook = new_lab((tmp_path / "notebook.html").as_uri())
    notebook.page.goto(notebook.address)
    for seed, frame in enumerate(notebook.page.frames[1:], 1):
        frame.wait_for_load_state()
        frame.evaluate("async () => { while (!lab.runs) await new Promise((done) => setTimeout(done, 5)); }")
        frame.evaluate("lab.change({ passes: 7 })")
        frame.evaluate("async () => { while (lab.busy) await new Promise((done) => setTimeout(done, 5)); }")
        assert frame.evaluate("[lab.state.seed, lab.runs, lab.learned.passes]") == [seed, 2, 7]
    notebook.page.wait_for_timeout(400)  # after a moment an address would be written
