"""Published sets with known answers (R's detectseparation), where the files are, and made-up sets like them."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rosenblatt import separation

FOLDER = Path(os.environ.get("ROSENBLATT_DATA", "no such folder")) / "tables" / "separation"
needs_files = pytest.mark.skipif(not FOLDER.exists(), reason="ROSENBLATT_DATA names no folder with these files")


def read(name):
    return pd.read_csv(FOLDER / f"{name}.csv")


@needs_files
def test_endometrial():
    data = read("endometrial")
    X, y = data[["NV", "PI", "EH"]], data["HG"]
    answer = separation(X, y)
    assert answer.kind == "quasi-complete"
    assert answer.coefficients == {"intercept": "finite", "NV": "+inf", "PI": "finite", "EH": "finite"}
    assert answer.direction == {"intercept": 0, "NV": 1, "PI": 0, "EH": 0}
    assert len(answer.on_hyperplane) == 66
    assert answer.check(X, y)
    assert str(answer).startswith(
        "Quasi-complete separation: NV tends to +infinity; intercept, PI, EH are finite. 66 of 79 rows lie on the "
        "hyperplane; the other 13 are predicted perfectly. Wald errors for NV are meaningless."
    )
    assert separation(X.assign(NV=-X["NV"]), y).coefficients["NV"] == "-inf"
    X.insert(1, "NV2", 2 * X["NV"])
    assert separation(X, y).coefficients == {**answer.coefficients, "NV2": "aliased"}


@needs_files
def test_lizards():
    data = read("lizards")
    answer = separation(data[["height", "diameter", "light", "time"]], data[["grahami", "opalinus"]])
    assert answer.kind == "overlap"
    assert set(answer.coefficients.values()) == {"finite"}
    assert list(answer.coefficients)[-2:] == ["time=late", "time=midday"]


@needs_files
def test_silvapulle():
    data = read("silvapulle1981")
    answer = separation(data[["ghqs"]], data["y"])
    assert answer.coefficients == {"intercept": "-inf", "ghqs": "+inf"}
    assert answer.direction == {"intercept": -2, "ghqs": 1}
    assert answer.kind == "quasi-complete"


@needs_files
def test_murder_rates():
    data = read("murder")
    answer = separation(data[["time", "income", "noncauc", "lfp", "southern"]], data["e"])
    assert answer.kind == "quasi-complete"
    assert {name for name, status in answer.coefficients.items() if status != "finite"} == {"southern=yes"}
    assert answer.coefficients["southern=yes"] == "+inf"
    assert len(answer.on_hyperplane) == 29


def test_a_rare_level_that_only_one_class_has():
    rng = np.random.default_rng(0)
    n = 80
    y = rng.integers(0, 2, n)
    site = np.where((rng.random(n) < 0.3) & (y == 1), "north", rng.choice(["east", "south"], n))
    X = pd.DataFrame({"age": rng.integers(20, 90, n), "site": site, "smokes": rng.random(n) < 0.5})
    answer = separation(X, y)
    assert answer.kind == "quasi-complete"
    assert answer.coefficients == {
        "intercept": "finite",
        "age": "finite",
        "site=north": "+inf",
        "site=south": "finite",
        "smokes": "finite",
    }
    assert answer.direction["site=north"] == 1
    assert answer.on_hyperplane.tolist() == np.flatnonzero(site != "north").tolist()


def test_two_classes_that_touch_in_one_value():
    x = np.array([0, 0, 1, 2, 2, 4, 5])[:, None]
    answer = separation(x, [0, 0, 0, 0, 1, 1, 1])
    assert answer.direction == {"intercept": -2, "x0": 1}
    assert answer.coefficients == {"intercept": "-inf", "x0": "+inf"}
    assert answer.on_hyperplane.tolist() == [3, 4]


def test_counts_of_a_balanced_table_overlap():
    X = pd.DataFrame({"height": ["low", "low", "high", "high"], "light": ["sun", "shade"] * 2})
    answer = separation(X, [[20, 2], [8, 1], [13, 0], [8, 3]])
    assert answer.kind == "overlap"
    assert list(answer.coefficients) == ["intercept", "height=low", "light=sun"]
