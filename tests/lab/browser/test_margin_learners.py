"""Learners that also update where a point is right by too little: controls, sentences and panels of the page."""

import pytest

from helpers.lab_library import run
from helpers.lab_page import PHONE, read_numbers, state_with
from helpers.lab_states import FOUR
from rosenblatt import AROW

FIELDS = {"margin": ["margin"], "pa": ["C"], "arow": ["r"], "perceptron": [], "kernel": ["gamma"]}


def parameters(lab):
    """Return the names of the number fields of a learner that are in sight."""
    names = {name for all_names in FIELDS.values() for name in all_names}
    return sorted(name for name in names if lab.page.locator(f"#set-{name}").is_visible())


def test_each_learner_has_its_own_controls(lab):
    lab.open(state_with(FOUR))
    for learner, names in FIELDS.items():
        lab.page.select_option("#learner", learner)
        lab.wait().more()
        assert parameters(lab) == names
        assert lab.page.locator("#set-loss").is_visible() == (learner == "pa")


def test_a_parameter_changes_the_run_and_the_address_keeps_it(lab):
    lab.open(state_with(FOUR, learner="margin", order="fixed", at=None))
    assert lab.get("lab.run.updates.length") == len(run(lab.state).updates)
    before = lab.more().get("lab.run.updates.length")
    lab.page.fill("#set-margin", "5")
    lab.page.keyboard.press("Enter")
    lab.wait()
    assert lab.state.margin == 5.0
    assert lab.get("lab.run.updates.length") == 5 > before
    assert lab.open(lab.state).more().state.margin == 5.0
    lab.page.fill("#set-margin", "-3")
    lab.page.keyboard.press("Enter")
    lab.wait()
    assert lab.page.input_value("#set-margin") == "5", "what is out of range is put back"
    assert lab.text("#notice-words") == "The margin must be a number from 0 to 1,000."


def test_plain_steps_have_no_limit_to_set(lab):
    lab.open(state_with(FOUR, learner="pa")).more()
    lab.page.select_option("#set-loss", "plain")
    lab.wait()
    assert lab.state.loss == "plain"
    assert parameters(lab) == []
    lab.change(panel="code")
    assert "C=np.inf" in lab.page.locator("#panel-code pre").text_content()


def test_steps_say_that_a_point_was_right_by_too_little(lab):
    lab.open(state_with(FOUR, learner="margin", margin=5.0, order="fixed", at=0, panel="bound"))
    said = [lab.text("#sentence")]
    for _ in range(6):
        lab.page.keyboard.press("ArrowRight")
        lab.frame()
        said.append(lab.text("#sentence"))
    assert "right, but by no more than 5" in said[0]
    assert said[1].startswith("Point 1, blue disc: y·a = 0 ≤ 0, a mistake. w ← (0, 0) + (1, 1) = (1, 1)")
    assert said[2].startswith("Point 2, blue disc: y·a = 3, right, but by no more than 5. w ← (1, 1) + (2, 0) = (3, 1)")
    assert said[6].endswith("Done: a pass without an update, after 5 updates.")
    assert lab.text("#bound-headline").startswith("5 updates (1 mistake) of at most ")
    assert lab.text("#bound-chain").endswith("holds")


def test_steps_of_other_sizes_have_no_bound_and_no_vote(lab):
    lab.open(state_with(FOUR, learner="pa", order="fixed", at=1, panel="bound"))
    assert "Step (1 − y·a) / ‖x‖² = 0.5: w ← (0, 0) + 0.5 (1, 1) = (0.5, 0.5)" in lab.text("#sentence")
    assert "no finite bound" in lab.text("#bound-headline")
    assert lab.text("#bound-why").startswith("No bound on the updates")
    lab.change(panel="table")
    assert "Updates" in lab.text("#panel-table thead")
    lab.change(panel="error")
    lab.until("document.querySelector('#error-train-last')?.textContent")
    assert lab.page.locator("#error-train-average").is_visible()
    assert not lab.page.locator("#error-train-vote").is_visible()
    lab.change(learner="perceptron")
    lab.until("document.querySelector('#error-train-vote')?.checkVisibility()")
    lab.change(panel="table")
    assert "Times wrong" in lab.text("#panel-table thead")


@pytest.mark.slow
def test_the_variances_of_arow_are_those_of_the_library(lab):
    state = state_with(FOUR, learner="arow", r=0.5, order="fixed", at=None, panel="weights", passes=7)
    lab.open(state)
    model = AROW(r=0.5, shuffle=False, max_iter=7).fit([point[:2] for point in FOUR], [1, 1, -1, -1])
    titles = [lab.page.get_attribute(f"#weights-variance-{name}", "title") for name in ("w-x", "w-y", "b")]
    told = [read_numbers(title)[0] for title in titles]
    assert told == [*model.variance_[0], *model.intercept_variance_]
    assert "standard deviation" in lab.text("#panel-weights .note")


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["margin", "pa", "arow"])
def test_a_phone_needs_no_sideways_scrolling(new_lab, learner):
    lab = new_lab(viewport=PHONE)
    for panel in ("bound", "weights", "error"):
        lab.open(state_with(FOUR, learner=learner, at=3, panel=panel))
        lab.more().frame()
        assert lab.get("document.documentElement.scrollWidth") <= PHONE["width"]
