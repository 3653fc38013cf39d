"""A real Chromium, where there is one."""

import shutil
from contextlib import contextmanager

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]


def find_chromium():
    """Return the path of Chromium; the test is skipped where it is missing."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no Chromium on the path: install it (apt install chromium), and the lab's page is tested")
    return program


_running = []
"""The browser of this process, of which Playwright allows only one at a time."""


@contextmanager
def chromium():
    """Start Chromium without a window, or take the one that runs; the value is its Playwright browser.

    The test is skipped where it is missing.
    """
    if _running:
        yield _running[0]
        return
    program = find_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        _running.append(playwright.chromium.launch(executable_path=program, args=FLAGS))
        try:
            yield _running[0]
        finally:
            _running.pop().close()
