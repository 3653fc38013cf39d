"""Lessons as the page shows them."""

import pytest


@pytest.mark.slow
def test_every_lesson_opens_with_its_text_and_its_question(lab):
    lab.open()
    titles = lab.page.locator("#opener optgroup[label=Lessons] option").all_inner_texts()
    assert len(titles) >= 8
    for title in titles:
        lab.page.locator("#opener").select_option(label=title)
        lab.until("lab.state.lesson !== ''")
        lab.wait()
        assert lab.text("#lesson-title") == title
        assert lab.get("lab.replay !== null"), title
        lab.page.get_by_role("button", name="Show the answer").click()
        assert lab.page.locator("#lesson-answer").is_visible()
    assert lab.page.get_by_role("button", name="Next", exact=True).is_disabled()


def test_the_orders_of_a_lesson_are_counted_side_by_side(lab):
    lab.open()
    lab.page.locator("#opener").select_option(label="Order matters")
    lab.wait()
    counts = []
    for name in ("As listed", "Shuffled once", "Shuffled each pass"):
        button = lab.page.get_by_role("button", name=name)
        button.click()
        lab.wait()
        assert button.get_attribute("aria-pressed") == "true"
        counts.append(lab.numbers(f"#lesson li:has(button:text-is('{name}')) .note")[0])
        assert counts[-1] == lab.get("lab.run.updates.length")
    assert len(set(counts)) == 3
    lab.page.get_by_role("button", name="Leave the lesson").click()
    lab.wait()
    assert not lab.page.locator("#lesson").is_visible()
