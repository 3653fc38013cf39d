"""A pytest plugin that hides numba, as if it were not installed: ``python -m pytest -p helpers.without_numba``."""

import sys


def pytest_configure():
    sys.modules["numba"] = sys.modules["llvmlite"] = None
