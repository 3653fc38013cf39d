"""A quick start changes nothing that anybody can see."""

import subprocess
import sys

import numpy as np
import scipy.stats

CODE = """
import sys
from rosenblatt.cli import startup as starting
starting.hurry()
import rosenblatt, sklearn
import pyarrow as pa
assert pa.array([1.0, 2.0]).to_numpy().tolist() == [1.0, 2.0]
model = rosenblatt.Perceptron().fit([[1.0], [2.0], [-1.0]], [1, 1, 0])
assert "scipy.stats._stats_py" not in sys.modules and "pandas" not in sys.modules
{}
assert "scipy.stats._stats_py" in sys.modules
"""


def run(line):
    return subprocess.run([sys.executable, "-c", CODE.format(line)], capture_output=True, text=True, check=False)


def test_what_comes_later_is_there_when_it_is_used():
    largest = float(scipy.stats.norm.cdf(1.0))
    for line in (
        f"import scipy; assert scipy.stats.norm.cdf(1.0) == {largest}",
        f"from scipy.stats import norm; assert norm.cdf(1.0) == {largest}",
        f"import scipy.stats.distributions as d; assert d.norm.cdf(1.0) == {largest}",
        "from sklearn.utils.fixes import _mode; assert _mode([1, 2, 2], axis=0)[0] == 2",
    ):
        ran = run(line)
        assert ran.returncode == 0, ran.stderr


def test_what_is_imported_already_stays():
    code = "import pandas, scipy.stats as s\nfrom rosenblatt.cli import startup as starting\nstarting.hurry()\n"
    code += "import sys; assert sys.modules['scipy.stats'] is s and sys.modules['pandas'] is pandas"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert np.isfinite(scipy.stats.norm.cdf(0.0))
