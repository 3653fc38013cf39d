"""The browser that tests of the lab share."""

import pytest

from helpers.browser import chromium


@pytest.fixture(scope="session")
def browser():
    """Start a browser, once in each process; from then on nothing else in its main thread may use asyncio."""
    with chromium() as browser:
        yield browser
