"""The code panel: its program, run in Python, gives the numbers on the page."""

import json
import re
import warnings

import numpy as np
import pytest

from helpers.lab_page import read_numbers, state_with

RNG = np.random.default_rng(11)
POINTS = [
    (*xy, sign, i % 7 == 6)
    for i, (xy, sign) in enumerate(zip(RNG.normal(size=(20, 2)).round(2).tolist(), [1, -1] * 10, strict=True))
]
CASES = [
    {"learner": "perceptron", "order": "fixed"},
    {"learner": "perceptron", "order": "each", "seed": 7, "features": ("x", "y", "xy", "x2")},
    {"learner": "averaged", "order": "once", "seed": 2},
    {"learner": "voted", "order": "each", "bias": False},
    {"learner": "pocket", "order": "each", "seed": 4},
    {"learner": "restart"},
    {"learner": "margin", "margin": 2.0, "order": "fixed"},
    {"learner": "pa", "C": 0.1},
    {"learner": "pa", "loss": "squared_hinge", "features": ("x", "y", "xy")},
    {"learner": "pa", "loss": "plain", "order": "once"},
    {"learner": "arow", "r": 0.5, "bias": False},
    {"learner": "arow", "order": "pick", "picks": (0, 1, 2, 5, 0)},
    {"learner": "circle", "order": "fixed"},
    {"learner": "kernel", "kernel": "rbf", "gamma": 2.0},
    {"learner": "kernel", "kernel": "poly", "degree": 3},
    {"learner": "perceptron", "order": "pick", "picks": (0, 1, 2, 5, 0)},
]


def ran(code):
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mistakes that are left; the page says so itself
        exec(compile(code, "<the code panel>", "exec"), names)
    return names


@pytest.mark.slow
def test_the_code_gives_the_numbers_on_the_page(lab, capsys):
    lab.open(state_with(POINTS, passes=5, panel="code"))
    lab.page.get_by_role("button", name="All digits").click()
    for fields in CASES:
        state = state_with(POINTS, panel="code", **({"passes": 5} | fields))
        lab.show(state)
        names = ran(lab.page.locator("#panel-code pre").text_content())
        shown = lab.text("#code-weights")
        if state.learner == "kernel":
            model = names["model"]
            places, factors = map(read_numbers, re.findall(r"\(([^)]*)\)", shown))
            assert places == model.support_.tolist(), fields
            assert factors == model.last_dual_coef_.ravel().tolist(), fields
            continue
        model = names.get("model")
        if model is None:
            w, b = names["w"], names["b"]
        elif state.learner in ("averaged", "pocket"):
            w, b = model.coef_[0], model.intercept_[0]
        else:
            w, b = model.last_coef_[0], model.last_intercept_[0]
        told = json.loads(lab.get("document.getElementById('code-weights').dataset.weights"))
        assert [value.hex() for value in map(float, told)] == [float(value).hex() for value in (*w, b)], fields
        assert read_numbers(shown)[-len(told) :] == told, fields
        names_of_w = {"averaged": "the average of w", "pocket": "the pocket's w", "voted": "the last w"}
        whose = names_of_w.get(state.learner, "w")
        assert shown.startswith(f"At the end of the run {whose} = "), fields
    capsys.readouterr()
