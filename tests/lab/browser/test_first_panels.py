"""The algorithm with a visit's numbers, a line of one's own, how many points are wrong, and pages that show less."""

import numpy as np
import pytest

from helpers.lab_library import run
from helpers.lab_page import PHONE, state_with
from helpers.lab_state import LEARNERS, PANELS
from helpers.lab_states import FOUR

RNG = np.random.default_rng(3)
CLOUDS = [(*(RNG.normal(size=2) + sign).round(1).tolist(), sign, i % 5 == 4) for i in range(15) for sign in (1, -1)]


def lit(lab):
    """The lines that have run at this visit, with what they did."""
    texts = "(line) => [...line.children].map((part) => part.textContent)"
    return [tuple(line) for line in lab.get(f"[...document.querySelectorAll('.program .ran')].map({texts})")]


def test_the_lines_of_a_visit_are_lit_with_its_numbers(lab):
    lab.open(state_with(FOUR, order="fixed", at=0))
    assert lab.text("#algorithm-title").startswith("Algorithm 5")
    assert lit(lab) == [("w←0, b←0", "")]
    lab.page.keyboard.press("ArrowRight")
    lab.frame()
    told = [line[-1] for line in lit(lab)]
    assert told[1:] == [
        "point 1: x = (1, 1), y = +1",
        "= 0",
        "= 0: a mistake",
        "= (0, 0) + (1, 1) = (1, 1)",
        "= 0 + 1 = 1",
    ]
    assert lab.get("document.querySelector('.tells b').textContent") == "x", "a vector is bold"
    lab.get("lab.go(2)")
    lab.frame()
    assert lit(lab)[-1][-1] == "= 3: right, nothing changes"
    lab.page.keyboard.press("End")
    lab.frame()
    assert lit(lab)[-1] == ("return w, b", "= (2, 1), 0")
    lab.page.locator(".program [data-symbol=w]").first.hover()
    assert lab.get("lab.symbol") == "w", "which is lit on the plane"
    for learner, title in (("averaged", "Algorithm 7"), ("restart", "Algorithm 1"), ("circle", "Figure 30.2")):
        lab.change(learner=learner)
        assert lab.text("#algorithm-title").startswith(title)
    lab.change(learner="perceptron", bias=False)
    assert lab.text("#algorithm-title").startswith("Figure 30.2")


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_has_its_algorithm_and_its_wrong_points(lab, learner):
    state = state_with(CLOUDS, learner=learner, at=None, passes=5, order="fixed")
    lab.open(state)
    made = run(state)
    wrong = made.model.predict(made.X) != made.y if made.model else made.y * (made.X @ made.w + made.b) <= 0
    assert lab.text("#wrong") == f"{wrong.sum()} of {len(made.y)} wrong"
    assert lit(lab)
    lab.get(f"lab.go({made.updates[1] + 1})")
    lab.frame()
    assert any("mistake" in line[-1] or "too little" in line[-1] for line in lit(lab))
    assert lab.page.locator(".program .now").count() == 1


def test_newcomers_are_invited_to_the_first_lesson(lab):
    lab.open()
    invitation = lab.page.get_by_role("button", name="New here?")
    invitation.click()
    lab.wait()
    assert (lab.state.lesson, lab.text("#lesson-title")) == ("one-update", "One update")
    assert not invitation.is_visible()
    lab.open(state_with(FOUR, hide=("lessons",)))
    assert not invitation.is_visible()


def wrong_by(points, w1, w2, b):
    return sum(y * (w1 * x1 + w2 * x2 + b) <= 0 for x1, x2, y, *held in points if not any(held))


def drag(lab, start, end):
    lab.page.mouse.move(*lab.pixel(*start))
    lab.page.mouse.down()
    for share in (0.3, 0.6, 1):
        lab.page.mouse.move(*lab.pixel(*(a + share * (b - a) for a, b in zip(start, end, strict=True))))
    lab.page.mouse.up()
    lab.frame()


def test_a_line_of_ones_own_is_dragged_and_typed_and_compared(lab):
    lab.open(state_with(CLOUDS, panel="own", at=None))
    assert lab.text("#own-wrong") == str(wrong_by(CLOUDS, 1, 1, 0))
    assert lab.text("#wrong") == f"{wrong_by(CLOUDS, 1, 1, 0)} of 24 wrong"
    drag(lab, (1, 1), (2, -0.5))
    assert lab.state.own == (2, -0.5, 0)
    assert len(lab.state.points) == len(CLOUDS), "no point is placed while the line is there to be dragged"
    drag(lab, (0, 0), (1, 0))
    assert lab.state.own == (2, -0.5, -2)
    assert lab.text("#own-wrong") == str(wrong_by(CLOUDS, 2, -0.5, -2))
    assert lab.numbers("#own-length") == [np.hypot(2, 0.5).round(3)]
    lab.page.fill("#own-b", "0.25")
    lab.page.keyboard.press("Enter")
    lab.frame()
    assert lab.state.own == (2, -0.5, 0.25)
    lab.page.get_by_role("button", name="Take the run's line").click()
    lab.frame()
    assert lab.text("#own-wrong") == lab.text("#run-wrong")
    assert lab.state.own == (*lab.moment["w"], lab.moment["b"])
    for _ in range(4):
        lab.page.keyboard.press("Control+z")
    lab.click(0.2, 2.8)
    assert len(lab.wait().state.points) == len(CLOUDS)


def test_the_margin_of_a_line_of_ones_own_is_the_distance_of_the_nearest_point(lab):
    lab.open(state_with([(2, 0, 1), (0, 3, 1), (-1, -1, -1)], panel="own", own=(3.0, 4.0, 0.0)))
    assert lab.numbers("#own-margin") == [1.2]
    lab.change(own=[3, 4, -7])
    assert lab.text("#own-margin") == "−∞"


def test_every_panel_says_what_it_shows(lab):
    lab.open(state_with(FOUR))
    seen = set()
    for panel in PANELS:
        lab.change(panel=panel)
        lab.page.get_by_role("button", name="About this panel").click()
        seen.add(lab.text("#about"))
        lab.page.keyboard.press("Escape")
        assert not lab.page.locator("#about").is_visible()
    assert len(seen) == len(PANELS)


def test_on_a_phone_the_plane_stays_in_sight(new_lab):
    lab = new_lab(viewport=PHONE).open(state_with(CLOUDS, panel="table"))
    lab.get("scrollTo(0, document.body.scrollHeight)")
    lab.frame()
    plane = lab.page.locator("#plane").bounding_box()
    assert lab.get("scrollY") > 0
    assert plane["y"] >= 0
    assert plane["height"] <= PHONE["height"] / 2


def test_on_a_phone_the_tab_of_the_panel_is_in_sight(new_lab):
    lab = new_lab(viewport=PHONE).open(state_with(FOUR, panel="bound"))
    for panel in ("bound", "algorithm"):
        lab.change(panel=panel)
        tab, tabs = (lab.page.locator(place).bounding_box() for place in (f"#tab-{panel}", ".tabs"))
        assert tabs["x"] <= tab["x"]
        assert tab["x"] + tab["width"] <= tabs["x"] + tabs["width"] + 1


def test_pages_that_show_less(new_lab, address):
    seen = {}
    for query in ("?present", "?embed=plane", "?embed=bound", "?embed=%3Cb%3E", "?embed=own"):
        lab = new_lab(address + query).open(state_with(FOUR, order="fixed", at=1))
        parts = ("#controls", "#plane", "#sentence", "#play", "#panel-bound", "#panel-algorithm")
        seen[query] = [part for part in parts if lab.page.locator(part).is_visible()]
        lab.page.keyboard.press("ArrowRight")
        assert lab.get("lab.at") == 3
    assert seen == {
        "?present": ["#plane", "#sentence"],
        "?embed=plane": ["#plane", "#sentence", "#play"],
        "?embed=bound": ["#play", "#panel-bound"],
        "?embed=%3Cb%3E": ["#controls", "#plane", "#sentence", "#play", "#panel-algorithm"],
        "?embed=own": ["#plane", "#sentence", "#play"],
    }


def test_the_large_view_for_a_lecture_is_in_the_menu_and_ends_with_escape(lab):
    lab.open(state_with(FOUR, order="fixed", at=1))
    lab.page.get_by_role("button", name="File", exact=True).click()
    lab.page.get_by_role("button", name="For a lecture").click()
    lab.frame()
    assert not lab.page.locator("#controls").is_visible()
    lab.page.keyboard.press("ArrowRight")
    assert lab.get("lab.at") == 3
    lab.page.keyboard.press("Escape")
    assert lab.page.locator("#controls").is_visible()


def test_regions_are_those_of_ones_own_line_while_it_is_moved(lab):
    lab.open(state_with(FOUR, panel="own", own=(0.0, 1.0, 0.0)))
    before = lab.pixels(-2.5, 2.5)
    lab.change(own=[0, -1, 0])
    assert lab.pixels(-2.5, 2.5) != before
    assert lab.text("#sentence").startswith("Regions and rings are those of your line")


def test_labels_keep_off_lines(lab):
    lab.open(state_with(FOUR))
    found = lab.get(
        """[[], [[100, 100], [200, 0]]].map((line) => {
          const picture = new (labModule("picture.js").Picture)(200, 200);
          picture.path(line, { stroke: "black" });
          picture.label([100, 100], "a label");
          picture.settle([]);
          const { x, y } = picture.things.at(-1);
          return [x > 100, y < 100];
        })"""
    )
    assert found[0] == [True, True], "above it, to the right"
    assert found[1] != [True, True], "where the line is"
