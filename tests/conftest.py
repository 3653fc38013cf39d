"""What holds for all tests: a suite in the background, where shells ignore Ctrl-C, can still test what it does."""

import signal
from contextlib import suppress


def pytest_configure(config):
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGINT, signal.default_int_handler)
