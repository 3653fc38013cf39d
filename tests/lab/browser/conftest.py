"""The page that ``rosenblatt lab`` writes, opened from its file by all tests; pages report what went wrong."""

import pytest

from helpers.browser import find_chromium
from helpers.commands import ran
from helpers.lab_page import WIDE, Lab


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """Write the page as a user does, and return its address."""
    find_chromium()
    path = tmp_path_factory.mktemp("lab") / "lab.html"
    ran("lab", "-o", path, "--no-browser")
    return path.as_uri()


OPTIONS = {"viewport": WIDE, "reduced_motion": "reduce"}


def open_page(browser, to, **options):
    """Open a page in a context of its own, not yet loaded."""
    context = browser.new_context(**(OPTIONS | options))
    context.set_default_timeout(30_000)
    return Lab(context.new_page(), to)


@pytest.fixture
def new_lab(browser, address):
    """Return a function that opens a page in a context of its own; each must end without faults."""
    pages = []

    def make(to=address, **options):
        pages.append(open_page(browser, to, **options))
        return pages[-1]

    yield make
    for page in pages:
        page.page.context.close()
    assert not [fault for page in pages for fault in page.faults]


@pytest.fixture(scope="module")
def page_of_file(browser, address):
    """Open a page for the tests of a file, each of which loads it again."""
    return open_page(browser, address)


@pytest.fixture
def lab(page_of_file):
    """Return a page that is not yet loaded; it must end without faults."""
    page_of_file.page.goto("about:blank")
    page_of_file.faults.clear()
    yield page_of_file
    assert not page_of_file.faults


def pytest_collection_modifyitems(items):
    """Leave the browser to ``make test-all``, but for one flow."""
    for item in items:
        if "lab/browser" in item.path.as_posix() and item.path.name != "test_opening.py":
            item.add_marker(pytest.mark.slow)
