"""The pages speak of files, tests and headings that are there, and the map has every part of the texts."""

import re
from pathlib import Path

import pytest

from rosenblatt.exercises import list_exercises

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/rosenblatt/*/README.md")]
MAP = ROOT / "docs/seeds.md"
PARTS = [
    *(f"A{k}" for k in range(1, 13)),
    *(f"G{k}" for k in range(1, 5)),
    *(f"T{k}" for k in range(1, 8)),
    *(f"F{k}" for k in range(1, 5)),
    *("V1", "V2", "P1", "P2"),
]


def read_map():
    """Return the cells of each row of the map by the part's id."""
    lines = [line for line in MAP.read_text().splitlines() if re.match(r"\| [A-Z]\d", line)]
    rows = [re.split(r" \| ", line.strip("| ")) for line in lines]
    return {cells[0]: cells[1:] for cells in rows}


def anchors(page):
    """Return what the headings of a page are called in links to them."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.S), flags=re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_and_heading_that_a_page_names_is_there(page):
    text = page.read_text()
    for name in re.findall(r"`((?:tests|src|docs|benchmarks)/[\w./]+)`", text):
        assert (ROOT / name).exists(), name
    for link, heading in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", text):
        target = page.parent / link if link else page
        if link.startswith("gallery/"):  # pages that a build of the site makes, and whose links it follows
            continue
        assert target.exists(), link
        assert not heading or heading in anchors(target), f"{link}#{heading}"


def test_every_test_that_a_page_names_is_there():
    known = set(re.findall(r"def (test_\w+)", "".join(path.read_text() for path in ROOT.glob("tests/**/*.py"))))
    for page in ROOT.glob("docs/*.md"):
        assert set(re.findall(r"`(test_\w+)`", page.read_text())) <= known, page.name


def test_every_question_of_the_texts_is_on_the_map_and_every_exercise_on_its_page():
    questions = MAP.read_text().partition("## The questions")[2]
    page = (ROOT / "docs/exercises.md").read_text()
    for exercise in list_exercises():
        assert f"`{exercise.name}`" in questions
        assert f"| {exercise.number} | `{exercise.name}`: {exercise.title} |" in page
    named = set(re.findall(r"`((?:\d|algorithm)[\w.-]*)`", questions))
    functions = {name for exercise in list_exercises() for name in exercise.functions}
    assert named == {exercise.name for exercise in list_exercises()} | functions


def test_links_to_lessons_and_exercises_lead_to_them():
    opened = re.findall(r"exercise=([\w.-]+)", "".join(path.read_text() for path in ROOT.glob("docs/*.md")))
    assert set(opened) == {exercise.name for exercise in list_exercises()}

    lessons = re.findall(r'^    id: "([\w-]+)"', (ROOT / "src/rosenblatt/lab/page/lesson_texts.js").read_text(), re.M)
    linked = re.findall(r"lesson=([\w-]+)", "".join(path.read_text() for path in ROOT.glob("docs/*.md")))
    assert len(set(linked)) >= 6
    assert set(linked) <= set(lessons)


def test_the_map_has_every_part_once():
    assert list(read_map()) == PARTS


@pytest.mark.parametrize("part", PARTS)
def test_each_part_has_code_tests_and_a_page(part):
    _, code, tests, pages = read_map()[part]
    assert "](../src/" in code
    assert "](../tests/" in tests
    assert re.search(r"\]\(\w+\.md", pages)
    for name, path in re.findall(r"\[`(test_\w+)`\]\(([^)]+)\)", tests):
        assert f"def {name}(" in (MAP.parent / path).read_text()
    for names, path in re.findall(r"\[`([^`]+)`\]\(([^)]+)\)", code):
        last = re.findall(r"[a-z_A-Z]+", names.split("(")[0])[-1]
        assert last.rstrip("_") in (MAP.parent / path).read_text(), f"{last} in {path}"
