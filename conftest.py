"""What holds for all tests, and for the examples of docstrings and pages.

A suite in the background, where shells ignore Ctrl-C, can still test what it does; pictures are closed after each test;
examples leave no temporary files.
"""

import signal
import sys
import tempfile
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


@pytest.fixture(autouse=True)
def _temporary_files(request, monkeypatch):
    """Give each docstring and each page a temporary folder of its own, which is deleted after its last example."""
    if not isinstance(request.node, pytest.DoctestItem):
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)  # for commands that an example starts
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield
