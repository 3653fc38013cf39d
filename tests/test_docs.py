"""The pages speak of files and tests that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/rosenblatt/*/README.md")]


def test_every_file_that_a_page_names_is_there():
    for page in PAGES:
        text = page.read_text()
        for name in re.findall(r"`((?:tests|src|docs|benchmarks)/[\w./]+)`", text):
            assert (ROOT / name).exists(), f"{page.name} names {name}"
        for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_every_test_that_a_page_names_is_there():
    known = set(re.findall(r"def (test_\w+)", "".join(path.read_text() for path in ROOT.glob("tests/**/*.py"))))
    for page in ROOT.glob("docs/*.md"):
        assert set(re.findall(r"`(test_\w+)`", page.read_text())) <= known, page.name
