"""Results over a wide grid, recorded so that a change of structure can be told from a change of bits.

``python tests/recorded/record.py`` writes ``results.json``, and with ``--files`` the model files and checkpoints that
later versions have to read. With ``--names`` it writes the public names and the help of every command instead.
``test_recorded.py`` makes all of it again and compares. Only public names are used; what a case is, ``cases.py`` says.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import rosenblatt
from recorded import learner_cases, snapshots, stored_cases, verdict_cases

RESULTS = Path(__file__).with_name("results.json")
GROUPS_OF_CASES = (learner_cases.CASES, stored_cases.CASES, verdict_cases.CASES)
CASES = {name: run for cases in GROUPS_OF_CASES for name, run in cases.items()}
assert len(CASES) == sum(map(len, GROUPS_OF_CASES)), "two cases have one name"


def results(only=""):
    """Return the results of all cases whose names begin with ``only``."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, run in CASES.items():
            if name.startswith(only):
                found[name] = run().result()
    return found


def write_files():
    """Write the model files and checkpoints that are kept."""
    stored_cases.FILES.mkdir(exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in stored_cases.CHECKPOINTS:
            stored_cases.write_checkpoint(name, stored_cases.FILES / f"{name}.checkpoint")
        for name in stored_cases.SAVED:
            rosenblatt.save(stored_cases.saved_model(name)[0], stored_cases.FILES / f"{name}.model")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", action="store_true", help="write the model files and checkpoints too")
    parser.add_argument("--names", action="store_true", help="write only the public names and the help of the command")
    given = parser.parse_args()
    if given.names:
        for path, make in snapshots.SNAPSHOTS.items():
            path.write_text(make(), encoding="utf-8")
        return
    if given.files:
        write_files()
    RESULTS.write_text(json.dumps(results(), indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
