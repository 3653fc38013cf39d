"""One server for all tests of the page, a browser for each file of them, and pages that report what went wrong."""

import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from urllib.request import Request, urlopen

import pytest

from helpers.browser import chromium, find_chromium
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


@pytest.fixture(scope="module")
def browser():
    """Start a browser. It ends with the file: while it runs, nothing else in this process may use asyncio."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def new_lab(browser, address):
    """Return a function that opens a page in a context of its own; each must end without faults."""
    with ExitStack() as closing:
        pages = []

        def make(to=address, **options):
            context = browser.new_context(**({"viewport": WIDE, "reduced_motion": "reduce"} | options))
            closing.callback(context.close)
            context.set_default_timeout(30_000)
            pages.append(Lab(context.new_page(), to))
            return pages[-1]

        yield make
        assert not [fault for page in pages for fault in page.faults]


@pytest.fixture
def lab(new_lab):
    """Return a page of its own, not yet loaded."""
    return new_lab()
