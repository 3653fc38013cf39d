"""Settings of all tests: where runs that stop at ``max_iter`` are no failure; Ray listens on 127.0.0.1 only.

Of the cases of a test with ``@pytest.mark.quick_cases(n)``, n are run by ``make test``, spread evenly; the others are
slow tests.
"""

import os
from collections import defaultdict
from pathlib import Path

import pytest

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # before Ray is imported: see cli/train_cluster.py
TESTS = Path(__file__).parent
STOP_EARLY = ("data/cache", "estimators", "kernels", "persistence", "storage", "theory/convergence", "training")
"""Folders whose tests stop many runs before these converge, to compare their weights."""
CHECKED = ("estimators/test_fit.py",)
"""Files in these folders where an unexpected ConvergenceWarning is an error, as it is elsewhere."""


@pytest.fixture(autouse=True, scope="session")
def threads_for_small_sets():
    """Let several threads train small sets, too, so that tests of threads need no large ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rosenblatt.training.linear.FEWEST_NUMBERS", 0)
        yield


@pytest.hookimpl(tryfirst=True)  # before ``-m "not slow"`` leaves out what is slow
def pytest_collection_modifyitems(items):
    cases = defaultdict(list)
    for item in items:
        if TESTS in item.path.parents:
            name = item.path.relative_to(TESTS).as_posix()
            if name.startswith(tuple(f"{folder}/" for folder in STOP_EARLY)) and name not in CHECKED:
                item.add_marker(pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"), False)
        if item.get_closest_marker("quick_cases"):
            cases[item.path, item.originalname].append(item)
    for of_test in cases.values():
        quick = of_test[0].get_closest_marker("quick_cases").args[0]
        chosen = {len(of_test) * k // quick for k in range(quick)}
        for k, item in enumerate(of_test):
            if k not in chosen:
                item.add_marker(pytest.mark.slow)
