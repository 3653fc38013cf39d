"""A plugin for pytest that hides numba: ``python -m pytest -p helpers.without_numba``."""

import sys

sys.modules["numba"] = sys.modules["llvmlite"] = None
