"""Results are what they were: bit for bit where bits are promised, else to rounding. ``record.py`` says how."""

import difflib
import json
import warnings

import numpy as np
import pytest

from recorded.record import CASES, RESULTS
from recorded.snapshots import SNAPSHOTS

BEFORE = json.loads(RESULTS.read_text())
GROUPS = sorted({name.split("/")[0] for name in CASES})


def test_every_case_is_recorded():
    assert sorted(CASES) == sorted(BEFORE)


@pytest.mark.parametrize("group", GROUPS)
def test_results_are_what_they_were(group):
    changed = []
    for name in (name for name in CASES if name.split("/")[0] == group):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            now, before = CASES[name]().result(), BEFORE[name]
        if now["sha"] != before["sha"]:
            changed.append(name)
        np.testing.assert_allclose(now.get("near", []), before.get("near", []), rtol=1e-9, err_msg=name)
    assert not changed, f"{len(changed)} changed: {changed[:10]}"


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.stem)
def test_names_and_help_are_what_they_were(path):
    before, now = path.read_text(encoding="utf-8").splitlines(), SNAPSHOTS[path]().splitlines()
    changes = list(difflib.unified_diff(before, now, "recorded", "now", n=1, lineterm=""))
    if changes:
        pytest.fail("\n".join([*changes, "If that is meant: python tests/recorded/record.py --names"]), pytrace=False)
