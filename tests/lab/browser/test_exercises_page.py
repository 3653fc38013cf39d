"""Exercises as a student does them, and what is handed in as the lecturer opens it."""

import base64
import json
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from helpers.lab_page import PHONE
from rosenblatt.exercises import grade
from rosenblatt.exercises.table import table

ANSWERS = json.loads((Path(__file__).parents[2] / "exercises" / "answers.json").read_text(encoding="utf-8"))
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
NAMES = {"w1": "w₁ =", "w2": "w₂ =", "w3": "w₃ =", "x1": "x₁ =", "x2": "x₂ =", "r": "r =", "b": "b ="}


def start(lab, name):
    """Choose an exercise at the top of the page."""
    lab.page.locator("#opener").select_option(f"exercise {name}")
    return lab.wait()


def check(lab):
    """Press Check, and return what the page says."""
    lab.page.get_by_role("button", name="Check", exact=True).click()
    lab.wait()
    return lab.text(".result")


def group(lab, field):
    """Return the fieldset of a field."""
    return lab.page.locator("fieldset").filter(has=lab.page.locator("> legend", has_text=field["label"]))


def numbers(part, names, values):
    for name, value in zip(names, values, strict=True):
        part.get_by_label(NAMES[name], exact=True).fill(str(value))


def enter(lab, exercise, field, value):
    """Enter the value of a field by typing, choosing and pressing."""
    page = lab.page
    match field["kind"]:
        case "number" | "formula":
            page.locator(".answer label", has_text=field["label"]).locator("input").fill(str(value))
        case "weights":
            numbers(group(lab, field), field["names"], value)
        case "place":
            numbers(group(lab, field), ["x1", "x2"], value)
        case "line":
            for name, place in zip(("First", "Second"), value, strict=True):
                numbers(group(lab, {"label": name}).last, ["x1", "x2"], place)
        case "choice" if "program" in exercise.given:
            page.get_by_label(field["label"], exact=True).select_option(value)
        case "choice":
            page.locator(f"input[name=answer-{field['name']}][value='{value}']").check()
        case "order":
            for step in value:
                group(lab, field).locator(f"[data-step={step}] button").click()
        case "subset":
            for row in value:
                group(lab, field).locator("input").nth(row).check()
        case "points":
            for x1, x2, y in value:
                page.get_by_label("x₁ of a new point").fill(str(x1))
                page.get_by_label("x₂ of a new point").fill(str(x2))
                page.get_by_label("y of a new point").select_option(str(y))
                page.get_by_role("button", name="Add", exact=True).click()
                lab.wait()


def enter_all(lab, name, answer):
    """Open an exercise and enter an answer to it."""
    start(lab, name)
    exercise = table()[name]
    for field in exercise.fields:
        enter(lab, exercise, field, answer[field["name"]] if len(exercise.fields) > 1 else answer)


@pytest.mark.slow
def test_a_student_does_all_eighteen_and_hands_them_in(new_lab, tmp_path):
    lab = new_lab().open()
    for name, answers in ANSWERS.items():
        wrong = answers["wrong"][0]
        enter_all(lab, name, wrong["answer"])
        before = lab.page.locator("#plane").screenshot()
        assert check(lab).startswith("Not yet."), name
        assert lab.page.locator("#plane").screenshot() != before, f"{name}: the counterexample is drawn"
        lab.page.get_by_role("button", name="Start over").click()
        assert lab.text(".result") == ""
        enter_all(lab, name, answers["right"][-1])
        said = check(lab)
        assert said.startswith("Right."), (name, said)
    lab.page.get_by_role("button", name="All exercises").click()
    assert lab.text("#panel-exercise .headline") == "18 of 18 right"
    lab.page.get_by_label("Your name").fill("Ada")
    with lab.page.expect_download() as download:
        lab.page.get_by_role("button", name="Save a file").click()
    download.value.save_as(tmp_path / "ada.json")
    student, results = grade(json.loads((tmp_path / "ada.json").read_text(encoding="utf-8")))
    assert student == "Ada"
    assert len(results) == 18
    assert all(results)
    lab.page.reload()
    lab.until("window.lab && lab.runs > 0")
    lab.change(panel="exercise", exercise="")
    assert lab.text("#panel-exercise .headline") == "18 of 18 right", "the browser has kept it"


def test_the_lecturers_page_checks_again_what_was_handed_in(new_lab, address, tmp_path):
    lab = new_lab().open()
    lab.change(panel="exercise")
    files = []
    for student, answer in (("Ada", [1, 1, -2, 0]), ("Bob", [1, 1, 0, 0])):
        files.append(tmp_path / f"{student}.json")
        handed_in = {"version": 1, "student": student, "results": [{"exercise": "4.12", "answer": answer}]}
        files[-1].write_text(json.dumps(handed_in))
    lab.page.get_by_label("Files that students handed in").set_input_files(files)
    lab.until("document.querySelectorAll('.handed').length === 2")
    first, second = lab.page.locator(".handed").all_inner_texts()
    assert "Ada: 1 of 1 answer right" in first
    assert "Bob: 0 of 1 answer right" in second
    assert "x₁ = 1, x₂ = 1, x₃ = 1: w·x + b = 2 predicts +1, expected −1." in second
    lab.page.locator(".handed button").nth(1).click()
    lab.wait()
    assert lab.text(".result").startswith("Not yet.")
    assert lab.page.get_by_label("w₃ =").input_value() == "0"
    fragment = base64.urlsafe_b64encode(files[1].read_bytes()).decode().rstrip("=")
    linked = new_lab(f"{address}#{fragment}").open()
    linked.until("document.querySelectorAll('.handed').length === 1")
    assert "Bob" in linked.text(".handed")
    files[0].write_text('{"version": 1, "results": [{"exercise": "4.99", "answer": 1}]}')
    lab.change(exercise="")
    lab.page.get_by_role("button", name="All exercises").click()
    lab.page.get_by_label("Files that students handed in").set_input_files(files)
    lab.until("!document.getElementById('notice').hidden")
    assert lab.text("#notice").startswith("Ada.json: There is no exercise '4.99'.")
    lab.until("document.querySelectorAll('.handed').length === 1")  # the other file is judged


def drag(lab, start, end):
    lab.page.mouse.move(*lab.pixel(*start))
    lab.page.mouse.down()
    lab.page.mouse.move(*lab.pixel(*end), steps=5)
    lab.page.mouse.up()
    lab.wait()


def test_weights_and_circles_are_dragged_and_points_pressed(new_lab, address):
    lab = new_lab(f"{address}?exercise=4.3-unit").open()
    lab.until("lab.state.exercise === '4.3-unit'")
    lab.wait()
    drag(lab, (3, -4), (0.6, -0.8))
    assert [lab.page.get_by_label(name, exact=True).input_value() for name in ("w₁ =", "w₂ =")] == ["0.6", "-0.8"]
    lab.page.get_by_label("b =", exact=True).fill("2")
    assert check(lab).startswith("Right.")
    start(lab, "30.2")
    drag(lab, (1, 0), (2, 0))
    drag(lab, (0, 0), (1, 1))
    assert lab.page.get_by_label("r =").input_value() == "2"
    assert [lab.page.get_by_label(name, exact=True).input_value() for name in ("x₁ =", "x₂ =")] == ["1", "1"]
    assert "is outside the circle, and w·z + b is 0.5 there" in check(lab)
    start(lab, "3.3")
    lab.page.locator("fieldset", has_text="A line that separates").get_by_label("w₂ =").fill("0")
    drag(lab, (1, 0), (2, 1))  # the tips of both arrows are there: the first is taken
    drag(lab, (1, 0), (1, 2))
    texts = lab.page.locator(".answer .short")
    assert [texts.nth(i).input_value() for i in range(1, 7)] == ["2", "1", "0", "1", "2", "0"]
    drag(lab, (2, 1), (1, 1))
    rows = group(lab, {"label": "Points that no line through the origin separates"}).locator("input")
    assert not any(row.is_checked() for row in rows.all()), "a drag that ends at a point does not press it"
    lab.click(1, 1)
    assert [row.is_checked() for row in rows.all()] == [False, False, True, False]
    start(lab, "4.3-line")
    drag(lab, (-2, -2), (0, 2))
    drag(lab, (2, -2), (4, 0))
    drag(lab, (2, -3), (4, 4))
    drag(lab, (1, 1), (2, -1))
    drag(lab, (1, 2), (0, 4))  # the line, which b shifts
    assert check(lab).startswith("Right.")
    start(lab, "30.3")
    lab.click(0, 0)
    lab.page.get_by_label("s (3, 3)").check()
    lab.wait()
    assert [point[2] for point in lab.state.points] == [-1, -1, 1, 1]
    assert len(lab.state.points) == 4, "nothing was placed"
    lab.page.get_by_label("VC dimension of discs").fill("3")
    lab.page.get_by_label("VC dimension of rectangles").fill("4")
    lab.page.get_by_label("VC dimension of convex polygons").fill("2*k + 1")
    assert check(lab).startswith("Right.")


def test_points_are_placed_on_the_plane_and_put_in_order(new_lab, address):
    lab = new_lab(f"{address}?exercise=4.5-order").open()
    lab.until("lab.state.exercise === '4.5-order'")
    lab.wait()
    lab.click(-3.03, 0.04)
    lab.page.get_by_role("button", name="Place orange triangles, y = −1 (2)").click()
    lab.click(1, 4)
    lab.page.get_by_role("button", name="Place blue discs, y = +1 (1)").click()
    lab.click(0, 4)
    lab.wait()
    assert [point[:3] for point in lab.state.points] == [(-3, 0, 1), (1, 4, -1), (0, 4, 1)], "on a grid of eighths"
    assert "In the order of the list: 1 update. In reverse: 37 updates." in lab.text("#panel-exercise")
    lab.page.get_by_role("button", name="Reverse the list").click()
    lab.page.locator("input[value=updates]").check()
    assert check(lab).startswith("Right.")
    lab.page.keyboard.press("Control+z")
    lab.wait()
    assert lab.text(".result") == "", "the points are others"
    assert lab.state.points[0][:2] == (-3, 0)
    lab.page.get_by_role("button", name="Move point 3 up").click()
    lab.wait()
    assert [point[:2] for point in lab.state.points] == [(-3, 0), (0, 4), (1, 4)]
    assert lab.get("document.activeElement.ariaLabel") == "Move point 2 up", "the focus stays with the point"
    lab.page.get_by_role("button", name="Remove point 1").click()
    lab.wait()
    assert [point[:2] for point in lab.state.points] == [(0, 4), (1, 4)]


def test_only_the_fields_that_are_wrong_are_marked_and_progress_is_kept_without_storage(new_lab, address):
    lab = new_lab(f"{address}?exercise=4.5-margin")
    lab.page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('refused'); } })")
    lab.open()
    lab.until("lab.state.exercise === '4.5-margin'")
    assert "it is still empty" in check(lab)
    for label, value in (("Margin of w, b", "3"), ("Distance to the nearest point", "3/5"), ("Margin of v, 0", "0")):
        lab.page.get_by_label(label).fill(value)
    assert "expected −∞, got 0" in check(lab)
    assert lab.page.locator(".wrong-field").all_inner_texts() == ["Margin of v, 0"]
    lab.page.get_by_label("Margin of v, 0").fill("-inf")
    assert lab.page.locator(".wrong-field").count() == 0
    lab.page.keyboard.press("Enter")
    lab.wait()
    assert lab.text(".result").startswith("Right."), "Enter checks"
    lab.page.get_by_role("button", name="All exercises").click()
    lab.wait()
    assert lab.text("#panel-exercise .headline") == "1 of 18 right"


def test_while_a_weight_is_not_a_number_nothing_is_drawn_by_it(new_lab, address):
    lab = new_lab(f"{address}?exercise=4.12").open()
    lab.until("lab.state.exercise === '4.12'")
    lab.page.get_by_label("w₁ =").fill("-")
    lab.frame()
    assert "expected a number, but" in check(lab)
    texts = lab.get(
        """() => {
          const { Picture } = labModule("picture.js");
          const { Frame } = labModule("frame.js");
          const picture = new Picture(400, 400);
          lab.shown.overlay(picture, new Frame(lab.state.view, 400), lab.scene());
          return picture.labels.map(({ text }) => text);
        }"""
    )
    assert texts == ["a = ?"] * 4


def test_hostile_progress_and_names_open_the_page(new_lab, address):
    for kept in (
        '"x"',
        "[1]",
        '{"drafts": {"4.5-positive": {"steps": 3}, "30.3": {"subset": "x"}}, "results": 4}',
        '{"results": {"4.12": null}}',
    ):
        lab = new_lab(f"{address}?exercise=4.5-positive")
        keep = f"localStorage.setItem('perceptron-lab-exercises', {json.dumps(kept)})"
        lab.page.add_init_script(f"if (location.protocol === 'file:') {keep}")
        lab.open()
        lab.until("lab.state.exercise === '4.5-positive'")
        assert "A step is missing" in check(lab)
    lab = new_lab(f"{address}?exercise=__proto__").open()
    assert lab.state.exercise == ""
    lab.change(panel="exercise", exercise="__proto__")
    assert lab.page.locator(".exercises li").count() == 18


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_exercise_has_a_violation_and_none_scrolls_sideways(new_lab, scheme):
    lab = new_lab(color_scheme=scheme, viewport=PHONE).open()
    for name, answers in ANSWERS.items():
        answer = {"exercise": name, "answer": answers["wrong"][0]["answer"]}
        lab.page.evaluate("data => lab.grade([data])", answer)
        lab.page.locator(".handed button").click()
        lab.wait()
        found = Axe().run(lab.page).response["violations"]
        assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == [], name
        assert lab.get(SIDEWAYS) <= 0, name
        widths = "Array.from(document.querySelectorAll('.answer *')).map(part => part.getBoundingClientRect().right)"
        assert max(lab.get(widths)) <= PHONE["width"], name
