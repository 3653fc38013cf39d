"""The points as a table: everything on the plane can be done there, too."""

import pytest

from helpers.lab_page import PHONE, WIDE, state_with

POINTS = [(1.25, 1, 1), (2, 0.5, 1), (-1, 0, -1), (0, -2, -1), (0.5, 0.5, 1, True)]


@pytest.fixture
def table(lab):
    """The page with five points, one of them held out, and the table in sight."""
    return lab.open(state_with(POINTS, order="fixed", panel="table"))


def field(lab, name):
    return lab.page.get_by_label(name, exact=True)


def focused(lab):
    return lab.get("document.activeElement.ariaLabel")


def test_fields_change_points_and_undo_takes_it_back(table):
    field(table, "x₁ of point 3").fill("-2.5")
    field(table, "x₁ of point 3").press("Tab")
    assert focused(table) == "x₂ of point 3"
    field(table, "label of point 4").select_option(label="+1, disc")
    field(table, "hold out point 1").check()
    field(table, "hold out point 5").uncheck()
    points = list(table.wait().state.points)
    assert points == [
        (1.25, 1, 1, True),
        (2, 0.5, 1, False),
        (-2.5, 0, -1, False),
        (0, -2, 1, False),
        (0.5, 0.5, 1, False),
    ]
    for _ in range(4):
        table.get("lab.undo()")
    assert table.wait().state.points == state_with(POINTS).points
    assert field(table, "x₁ of point 3").input_value() == "-1"
    assert field(table, "hold out point 5").is_checked()


@pytest.mark.parametrize("typed", ["", "2e6"])
def test_what_is_no_coordinate_is_told_and_taken_back(table, typed):
    field(table, "x₂ of point 2").fill(typed)
    field(table, "x₂ of point 2").press("Tab")
    assert table.text("#notice").startswith("The x₂ of point 2 must be a number from")
    assert field(table, "x₂ of point 2").input_value() == "0.5"
    assert table.state.points == state_with(POINTS).points


def test_times_wrong_are_the_updates_so_far(table):
    table.show(state_with([*POINTS, (-0.5, 0.2, -1)], order="fixed", panel="table"))
    for t in range(table.get("lab.replay.visits") + 1):
        table.get(f"lab.go({t})")
        table.frame()
        shown = table.page.locator("#panel-table td.figure").all_inner_texts()
        assert shown[4] == "–", "nobody trains on it"
        wrong = [table.get(f"lab.replay.counts(lab.scene().moment.k)[{place}]") for place in range(5)]
        assert [*map(int, shown[:4]), int(shown[5])] == wrong
        assert sum(wrong) == table.moment["k"]
    assert table.moment["k"] > 1


def test_points_are_added_and_removed_by_keyboard_and_focus_stays(table):
    field(table, "x₁ of the new point").fill("3")
    field(table, "x₂ of the new point").fill("-0.75")
    field(table, "label of the new point").select_option(label="−1, triangle")
    field(table, "x₂ of the new point").press("Enter")
    assert table.wait().state.points[-1] == (3, -0.75, -1, False)
    assert focused(table) == "x₁ of the new point"
    for number in (6, 1):
        field(table, f"remove point {number}").focus()
        table.page.keyboard.press("Enter")
        table.wait()
    assert table.state.points == state_with(POINTS[1:]).points
    assert focused(table) == "remove point 1"


def test_a_field_in_use_keeps_what_is_being_typed(table):
    field(table, "x₁ of point 1").fill("7")
    table.get("lab.go(3)")
    table.change(seed=3)
    assert field(table, "x₁ of point 1").input_value() == "7"
    assert focused(table) == "x₁ of point 1"


def test_many_points_are_shown_on_demand_and_cleared_at_once(table):
    table.change(points=[[i % 17, i % 23, 1 if i % 2 else -1] for i in range(150)])
    rows = table.page.locator("#panel-table tbody tr")
    assert table.text("#panel-table .note") == "The first 100 of 150 points"
    assert rows.count() == 100
    table.page.get_by_role("button", name="Show all").click()
    table.frame()
    assert rows.count() == 150
    table.page.get_by_role("button", name="Clear all").click()
    assert table.wait().state.points == ()
    assert rows.count() == 0


@pytest.mark.parametrize(("size", "count"), [(WIDE, 5), (PHONE, 5), (PHONE, 30)])
def test_nothing_of_the_table_is_cut(new_lab, size, count):
    points = [(-12.345, -0.351, -1), *POINTS, *[(i / 10, i / 7, 1) for i in range(count - 5)]]
    lab = new_lab(viewport=size).open(state_with(points, panel="table"))
    box = "document.querySelector('#panel-table .scroll')"
    assert lab.get(f"{box}.scrollWidth <= {box}.clientWidth")
    for name in ("x₁ of point 1", "x₂ of point 1"):
        assert field(lab, name).evaluate("field => field.scrollWidth <= field.clientWidth"), name
    for name in ("hold out point 1", "remove point 1"):
        place = field(lab, name).bounding_box()
        assert place["x"] + place["width"] <= size["width"], name
