"""One server for all tests of the page, and pages that report what went wrong."""

import subprocess
import sys
from dataclasses import replace
from urllib.request import Request, urlopen

import pytest

from helpers.browser import find_chromium
from helpers.lab_page import WIDE, Lab
from rosenblatt.lab.presets import START
from rosenblatt.lab.state_fields import LEARNERS


@pytest.fixture(scope="session")
def address():
    """Start the lab as a user does, and return the address that it prints."""
    find_chromium()
    command = [sys.executable, "-m", "rosenblatt.cli.main", "lab", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            printed = server.stdout.readline().strip()
            assert printed.startswith("http://127.0.0.1:"), printed
            for learner in LEARNERS:  # the first run of each may have to compile
                question = replace(START, learner=learner).to_json().encode()
                headers = {"Content-Type": "application/json"}
                with urlopen(Request(printed + "run", question, headers), timeout=300) as answer:
                    assert answer.status == 200
            yield printed
        finally:
            server.terminate()
        assert server.wait(timeout=20) == 0


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
