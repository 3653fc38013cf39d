"""What the page has a copy of, as Python has it: the default state, limits, and how numbers are written."""

import json
import math
import shutil
import subprocess
from pathlib import Path

import pytest

import rosenblatt.lab
from rosenblatt.lab.state import LabState
from rosenblatt.lab.state_fields import FEATURES, LARGEST, LEARNERS, MOST_PICKS, MOST_POINTS, ORDERS
from rosenblatt.lab.words import SIGNS, short
from rosenblatt.messages import count_of

PAGE = Path(rosenblatt.lab.__file__).parent / "page"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="no Node on the path: install it, and both sides are compared")

NUMBERS = [0.0, -0.0, 1.0, -2.0, 0.5, 0.353553, 1 / 3, 1.0625, -1.0625, 2.00005, 12.345, 999.94, 999.96, 999.99]
NUMBERS += [1000.0, 1000.5, -1000.5, 1001.5, 1234.4, -12345.6, 9_999_999.4, 9_999_999.6, 1e7, 11_250_000.0, -1.235e7]
NUMBERS += [1e-3, 0.00099999, 0.0009996, -1.2345e-5, 2.0**-20, 1e-160, 5e-324, 1.7e308]


def in_node(module, expression, given=None):
    """Return the value of an expression about a module of the page, ``m``, and about what is ``given``."""
    script = (
        f"const m = await import({json.dumps((PAGE / module).as_uri())}); const given = {json.dumps(given)};"
        f"console.log(JSON.stringify({expression}));"
    )
    command = [NODE, "--input-type=module", "--eval", script]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_default_state_is_the_same():
    defaults = in_node("state.js", "m.DEFAULTS")
    assert defaults == LabState().to_plain()
    assert list(defaults) == list(LabState().to_plain())


def test_limits_are_the_same():
    assert in_node("state.js", "[m.MOST_POINTS, m.MOST_PICKS, m.LARGEST]") == [MOST_POINTS, MOST_PICKS, LARGEST]


def test_numbers_are_written_alike():
    assert in_node("words.js", "given.map((value) => m.number(value))", NUMBERS) == [short(value) for value in NUMBERS]
    beyond = in_node("words.js", "[Infinity, -Infinity, NaN].map((value) => m.number(value))")
    assert beyond == [short(value) for value in (math.inf, -math.inf, math.nan)]


def test_counts_are_written_alike():
    counts = [0, 1, 2, 1000, 1_234_567]
    assert in_node("words.js", "given.map((n) => m.counted(n, 'pass', 'passes') + m.counted(n, 'row'))", counts) == [
        count_of(n, "pass") + count_of(n, "row") for n in counts
    ]


def test_features_learners_and_orders_have_names():
    assert in_node("words.js", "m.FEATURE_NAMES") == SIGNS
    assert list(SIGNS) == list(FEATURES)
    assert in_node("words.js", "[Object.keys(m.LEARNER_NAMES), Object.keys(m.ORDER_NAMES)]") == [
        list(LEARNERS),
        list(ORDERS),
    ]
