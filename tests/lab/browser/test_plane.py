"""The plane: points by click and drag, and what undo takes back."""

import pytest

from helpers.lab_page import PHONE, state_with
from helpers.lab_state import LabState
from helpers.lab_states import FOUR


@pytest.mark.slow
def test_twenty_fast_clicks_give_twenty_points(lab):
    lab.open(LabState(view=(0.0, 0.0, 3.0)))
    spots = [(-2.5 + i, -2 + j) for i in range(5) for j in range(4)]
    for x, y in spots:
        lab.page.mouse.click(*lab.pixel(x, y))
    lab.wait()
    points = lab.state.points
    assert len(points) == 20
    for (x, y), (px, py, sign, held_out) in zip(spots, points, strict=True):
        assert abs(px - x) < 0.02, (x, px)
        assert abs(py - y) < 0.02, (y, py)
        assert (sign, held_out) == (1, False)


def test_the_brush_decides_the_class(lab):
    lab.open(LabState(view=(0.0, 0.0, 3.0)))
    lab.click(-1, 0)
    lab.page.keyboard.press("2")
    lab.click(1, 0)
    lab.page.keyboard.press("1")
    lab.click(2, 1)
    lab.wait()
    assert [point[2] for point in lab.state.points] == [1, -1, 1]
    assert lab.get("lab.learned.points === lab.state.points")


def test_undo_and_redo_restore_every_state(lab):
    lab.open(state_with(FOUR, order="fixed", at=None))
    states = [lab.state]
    changes = [{"bias": False}, {"points": FOUR[:3]}, {"learner": "averaged"}, {"seed": 5}, {"features": ["x", "xy"]}]
    for change in changes:
        lab.change(**change)
        states.append(lab.state)
    for state in reversed(states[:-1]):
        lab.page.keyboard.press("Control+z")
        assert lab.wait().state == state
    lab.page.keyboard.press("Control+z")  # nothing is left to take back
    assert lab.wait().state == states[0]
    for state in states[1:]:
        lab.page.keyboard.press("Control+Shift+Z")
        assert lab.wait().state == state
    assert lab.get("lab.run.names") == ["x", "xy"]


def test_a_click_and_a_drag_are_taken_back(lab):
    lab.open(state_with(FOUR))
    lab.click(0.5, 2)
    lab.wait()
    assert len(lab.state.points) == 5
    lab.page.mouse.move(*lab.pixel(2, 0))
    lab.page.mouse.down()
    for step in range(1, 6):
        lab.page.mouse.move(*lab.pixel(2 - 0.1 * step, 0.2 * step))
    lab.page.mouse.up()
    x, y, sign, _ = lab.wait().state.points[1]
    assert abs(x - 1.5) < 0.05
    assert abs(y - 1) < 0.05
    assert sign == 1
    assert lab.get("lab.run.features[1]") == [x, y], "the run is that of the last place"
    assert lab.get("lab.state.at") is None, "and its end is in sight"
    lab.page.keyboard.press("Control+z")
    points = lab.wait().state.points
    assert (len(points), points[1][:2]) == (5, (2.0, 0.0)), "a drag is one step"
    lab.page.keyboard.press("Control+z")
    assert len(lab.wait().state.points) == 4


def test_an_answer_that_comes_late_is_replayed_as_it_was_asked_for(lab):
    lab.open(state_with(FOUR))
    lab.page.evaluate("for (let i = 0; i < 9; i++) lab.change({bias: i % 2 === 0})")
    lab.wait()
    assert lab.get("[lab.learned === lab.state, lab.replay.bias]") == [True, True]
    assert lab.get("document.getElementById('notice').hidden")


def test_an_answer_to_a_state_that_was_left_is_dropped(lab):
    lab.open(state_with(FOUR))
    lab.page.evaluate(
        """async (other) => {
          const fetch = window.fetch;
          let release, asked = 0;
          const held = new Promise((done) => { release = done; });
          window.fetch = async (...given) => {
            const first = asked++ === 0;
            const answer = await fetch(...given);
            if (first) await held;
            return answer;
          };
          lab.change({ learner: "kernel" });
          await lab.open(other);
          release();
        }""",
        state_with(FOUR, learner="averaged", order="fixed").to_plain(),
    )
    lab.wait()
    assert lab.get("[lab.state.learner, lab.run.kind, lab.learned === lab.state]") == ["averaged", "linear", True]


def test_a_change_made_while_a_state_is_opened_is_left_with_its_answer(lab):
    lab.open(state_with(FOUR))
    lab.page.evaluate(
        """async (other) => {
          const fetch = window.fetch;
          const [releases, held] = [[], []];
          for (let i = 0; i < 2; i++) held.push(new Promise((done) => releases.push(done)));
          let asked = 0;
          window.fetch = async (...given) => {
            const number = asked++;
            const answer = await fetch(...given);
            await held[number];
            return answer;
          };
          const opened = lab.open(other);
          lab.change({ learner: "kernel" });
          releases[0]();
          await opened;
          releases[1]();
        }""",
        state_with(FOUR, learner="averaged", order="fixed").to_plain(),
    )
    lab.wait()
    assert lab.get("[lab.state.learner, lab.run.kind, lab.learned === lab.state]") == ["averaged", "linear", True]


def test_a_state_that_cannot_be_opened_takes_no_run_away(lab):
    lab.open(state_with(FOUR))
    lab.page.evaluate(
        """async () => {
          lab.change({ learner: "kernel" });
          await lab.open({ seed: -1 }).catch(() => {});
        }"""
    )
    lab.wait()
    assert lab.get("[lab.state.learner, lab.run.kind]") == ["kernel", "kernel"]


def test_a_drag_ends_where_its_point_goes(lab):
    lab.open(state_with(FOUR))
    lab.page.mouse.move(*lab.pixel(2, 0))
    lab.page.mouse.down()
    lab.page.mouse.move(*lab.pixel(2.2, 0.4))
    lab.page.evaluate("lab.change({points: lab.state.points.slice(0, 1), picks: []})")
    for step in range(4):
        lab.page.mouse.move(*lab.pixel(1.5 - step / 4, 1))
    lab.page.mouse.up()
    assert len(lab.wait().state.points) == 1


def test_points_are_placed_and_moved_by_touch(new_lab):
    lab = new_lab(viewport=PHONE, has_touch=True).open(state_with(FOUR))
    lab.page.touchscreen.tap(*lab.pixel(-2, 2))
    x, y, sign, _ = lab.wait().state.points[-1]
    assert len(lab.state.points) == 5
    assert (abs(x + 2) < 0.05, abs(y - 2) < 0.05, sign) == (True, True, 1)
    assert lab.get("getComputedStyle(document.querySelector('#plane canvas')).touchAction") == "none"


def test_the_table_edits_points(lab):
    lab.open(state_with(FOUR, panel="table"))
    lab.page.get_by_label("x₁ of point 2", exact=True).fill("2.5")
    lab.page.get_by_label("x₁ of point 2", exact=True).press("Enter")
    assert lab.wait().state.points[1] == (2.5, 0.0, 1, False)
    lab.page.get_by_label("label of point 2", exact=True).select_option("-1")
    assert lab.wait().state.points[1][2] == -1
    lab.page.get_by_role("button", name="remove point 1", exact=True).click()
    assert len(lab.wait().state.points) == 3
    lab.page.get_by_role("button", name="Clear all").click()
    assert lab.wait().state.points == ()
    for _ in range(4):
        lab.get("lab.undo()")
    assert lab.wait().state.points == state_with(FOUR).points


def test_the_nearest_neighbour_and_a_tree_are_drawn_to_compare(lab):
    lab.open(state_with([(-1, -1, 1), (1, 1, -1), (-1, 1, 1), (2, -1, -1)], at=None, show=()))
    plane = lab.page.locator("#plane")
    pictures = [plane.screenshot()]
    for label in ("boundary of the nearest neighbour", "boundary of a decision tree"):
        lab.more().page.get_by_label(label).check()
        lab.page.keyboard.press("Escape")
        lab.frame()
        pictures.append(plane.screenshot())
    assert len(set(pictures)) == 3
