"""What holds for all tests, and for the examples of docstrings and pages.

A suite in the background, where shells ignore Ctrl-C, can still test what it does; pictures are closed after each test.
"""

import signal
import sys
from contextlib import suppress

import pytest


def pytest_configure(config):
    """Let Ctrl-C interrupt where the tests were started in the background, which ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
