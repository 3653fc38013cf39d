"""What the lessons of the lab claim is true: texts and states come from the page, facts from the library."""

import json
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import rosenblatt.lab
from helpers.lab_library import run, waiting
from helpers.lab_state import FEATURES, LabState, feature_columns
from rosenblatt import dataset_margin, mistake_bound, separability

PAGE = Path(rosenblatt.lab.__file__).parent / "page"
NODE = shutil.which("node")
SCRIPT = """
import { LESSONS } from "./lesson_texts.js";
import { stepState } from "./lessons.js";
const plain = (state) => ({ at: 0, ...JSON.parse(JSON.stringify(state)) });
const whole = (lesson) => lesson.steps.map((_, step) => plain(stepState(lesson, step)));
console.log(JSON.stringify(LESSONS.map((each) => ({ ...each, states: whole(each) }))));
"""
pytestmark = pytest.mark.skipif(NODE is None, reason="no Node on the path: it reads the lessons")


@pytest.fixture(scope="module")
def lessons():
    """The lessons by their id, read by Node."""
    command = [NODE, "--input-type=module", "-e", SCRIPT]
    done = subprocess.run(command, cwd=PAGE, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return {lesson["id"]: lesson for lesson in json.loads(done.stdout)}


def state_of(lesson, title=None, **changes):
    """The state that a lesson begins with, or that one of its buttons sets at the last step."""
    if title is None:
        return LabState.from_plain(lesson["states"][0] | changes)
    patch = next(each["patch"] for each in lesson["tries"] if each["title"] == title)
    return LabState.from_plain(lesson["states"][-1] | patch | changes)


def verdict(state, names=None):
    rows = state.rows
    X = feature_columns(state.coordinates(rows), names or state.feature_names)
    return type(separability(X, state.labels(rows))).__name__


def is_right(made, y):
    return y * (made.X @ made.w + made.b) > 0


# all of them


def test_steps_are_a_sentence_each_and_every_one_has_a_line_to_show(lessons):
    assert len(lessons) == 9
    for lesson in lessons.values():
        assert len(lesson["title"]) <= 22, "the list at the top cuts longer ones"
        assert lesson["question"].endswith(("?", "."))
        for step, plain in zip(lesson["steps"], lesson["states"], strict=True):
            assert len(step["say"]) <= 150, step["say"]
            assert step["say"].count("**") % 2 == 0
            assert not re.search(r"[a-z)]\. [A-Z]", step["say"]), "one sentence"
            state = LabState.from_plain(plain)
            assert waiting(state) == ""
            made = run(state)
            assert state.at is None or state.at <= len(made.visits)
            if state.panel != "vc" and "say" in step and not step["say"].startswith("It starts"):
                assert len(made.updates), "there is a boundary to see"


def test_the_points_of_lessons_are_few_and_in_sight(lessons):
    for lesson in lessons.values():
        for title in [None, *(each["title"] for each in lesson["tries"])]:
            state = state_of(lesson, title)
            assert waiting(state) == ""
            assert run(state).visits.size
            assert len(state.points) <= 30
            x, y, half = state.view
            for px, py, _, _ in state.points:
                assert abs(px - x) < half
                assert abs(py - y) < half


def test_the_last_step_is_one_of_the_buttons(lessons):
    for lesson in lessons.values():
        last = lesson["states"][-1]
        same = [each for each in lesson["tries"] if last | each["patch"] == last]
        assert len(same) == (1 if lesson["tries"] else 0), lesson["id"]


# one by one


def test_one_update(lessons):
    made = run(state_of(lessons["one-update"]))
    assert made.visits[:8].tolist() == [0, 1, 2, 3] * 2
    assert (made.X[:2].tolist(), made.y[:2].tolist()) == ([[4.0, 2.0], [1.0, 1.0]], [1, -1])
    triangle, before, after = made.X[1], [], []
    w, b = np.zeros(2), 0.0
    for visit, place in enumerate(made.visits):
        if place == 1:
            before.append(-(w @ triangle + b))
        if visit in made.updates:
            w, b = w + made.y[place] * made.X[place], b + made.y[place]
        if place == 1:
            after.append(-(w @ triangle + b))
        if visit == 1:
            assert w.tolist() == [3.0, 1.0]
    assert (before[:3], after[:3]) == ([-7.0, -4.0, -1.0], [-4.0, -1.0, 2.0])
    assert triangle @ triangle + 1 == 3
    assert made.updates[:3].tolist() == [0, 1, 5], "the two points between them are right"
    assert (len(made.updates), made.converged) == (7, True)


def test_order_matters(lessons):
    lesson = lessons["order"]
    listed = state_of(lesson, "As listed")
    made = run(listed)
    assert made.y.tolist() == [1] * 13 + [-1] * 13
    early = (made.updates < 13).sum()
    assert early < 13 / 2  # of the discs, most change nothing in the first pass
    w, b = made.X[made.visits[made.updates[:early]]].sum(axis=0), early
    assert (made.X @ w + b > 0).all()  # every point is called a disc
    assert len(made.updates) < len(made.visits) / 2
    shuffled = [
        run(state_of(lesson, title, seed=seed))
        for title, seed in product(("Shuffled once", "Shuffled each pass"), range(10))
    ]
    assert max(len(each.updates) for each in shuffled) < len(made.updates)
    assert max(len(each.passes) for each in shuffled) < len(made.passes)
    assert len({len(each.updates) for each in shuffled}) > 1
    assert all(each.converged for each in [made, *shuffled])
    assert len(made.updates) <= mistake_bound(made.X, made.y, True)
    again = run(state_of(lesson, "As listed", seed=5))
    assert np.array_equal(again.updates, made.updates)


def test_the_margin_and_the_bound(lessons):
    counts, bounds, margins = [], [], []
    for title in ("Thin", "Middle", "Wide"):
        made = run(state_of(lessons["bound"], title))
        margin = dataset_margin(made.X, made.y, kind="homogeneous")
        radius = np.linalg.norm(made.X, axis=1).max()
        u = margin.w / np.linalg.norm(margin.w)
        w = np.zeros(2)
        for k, visit in enumerate(made.updates, 1):
            place = made.visits[visit]
            assert made.y[place] * (w @ made.X[place]) <= 0
            w = w + made.y[place] * made.X[place]
            slack = 1e-9 * k
            assert k * margin.low - slack <= w @ u <= np.linalg.norm(w) + slack <= np.sqrt(k) * radius + 2 * slack
        assert (made.y * (made.X @ u) >= margin.low - 1e-9).all()  # what a margin means
        assert made.converged
        assert len(made.updates) <= (radius / margin.low) ** 2
        counts.append(len(made.updates))
        margins.append(margin.low)
        bounds.append((radius / margin.low) ** 2)
    assert sorted(counts, reverse=True) == counts
    assert len(set(counts)) == 3
    assert margins[0] < margins[1] < margins[2]
    assert bounds[0] / bounds[1] > margins[1] / margins[0]
    assert bounds[1] / bounds[2] > margins[2] / margins[1]


def test_the_bias(lessons):
    state = state_of(lessons["bias"], "Without bias")
    assert (1.0, 1.0, -1, False) in state.points
    assert (3.0, 3.0, 1, False) in state.points
    assert not run(state).converged
    made = run(state_of(lessons["bias"], "With bias"))
    assert made.converged
    assert made.b != 0


def test_averaging_and_voting(lessons):
    lesson = lessons["averaging"]
    begins = state_of(lesson)
    assert verdict(begins) == "Inseparable"
    off = [i for i, (x, y, label, _) in enumerate(begins.points) if (x + y) * label <= 0]
    assert off == [2, 3, 20]
    assert set(off) < set(begins.rows.tolist())
    wrong, updates = {}, set()
    for title in ("Perceptron (last)", "Averaged", "Voted"):
        state = state_of(lesson, title)
        made = run(state)
        tests = state.held_out
        assert (len(state.rows), len(tests), len(made.passes)) == (20, 10, 10)
        held = made.model.predict(state.coordinates(tests)) != state.labels(tests)
        wrong[title] = int((made.model.predict(made.X) != made.y).sum()), int(held.sum())
        updates.add(tuple(made.updates))
        if title == "Averaged":
            assert begins.rows[made.model.predict(made.X) != made.y].tolist() == off
    assert len(updates) == 1
    assert wrong["Perceptron (last)"] == (10, 5)
    assert wrong["Averaged"] == (3, 0)
    assert sum(wrong["Voted"]) < 15
    jumps, drifts = turns_of_late_updates(made, 8)
    assert drifts.max() < 2
    assert drifts.max() < jumps.max() / 20


def turns_of_late_updates(made, count):
    """The angles in degrees by which each of the last updates turned the last weights, and their average."""
    w, history = np.zeros(2), []
    for visit, place in enumerate(made.visits):
        if visit in made.updates:
            w = w + made.y[place] * made.X[place]
        history.append(w)
    means = np.cumsum(history, axis=0) / np.arange(1, len(history) + 1)[:, None]

    def turned(vectors):
        angles = np.arctan2(*vectors.T)
        return np.degrees(
            np.abs([(angles[t] - angles[t - 1] + np.pi) % (2 * np.pi) - np.pi for t in made.updates[-count:]])
        )

    return turned(np.array(history)), turned(means)


def test_xor_fails_because_the_hulls_cross_and_its_product_mends_it(lessons):
    lesson = lessons["xor"]
    without, mended = state_of(lesson, "Features x₁, x₂"), state_of(lesson, "Features x₁, x₂, x₁ ∧ x₂")
    assert verdict(without) == "Inseparable"
    made = run(without)
    assert made.y.tolist() == [int(x != y) * 2 - 1 for x, y in made.X]
    discs, triangles = made.X[made.y > 0], made.X[made.y < 0]
    assert np.array_equal(discs.mean(axis=0), triangles.mean(axis=0))
    assert not made.converged
    assert set((made.updates // 4).tolist()) == set(range(50)), "a mistake in every pass"
    for seed, order in product(range(5), ("once", "each")):
        assert not run(state_of(lesson, "Features x₁, x₂", order=order, seed=seed, passes=200)).converged
    made = run(mended)
    assert made.converged
    assert (made.w.tolist(), made.b) == ([2.0, 2.0, -4.0], -1.0)
    assert made.X[:, 2].tolist() == [int(x and y) for x, y in made.X[:, :2]]
    assert verdict(mended) == "Separable"


def test_the_circle(lessons):
    lesson = lessons["circle"]
    assert verdict(state_of(lesson, "Perceptron")) == "Inseparable"
    assert not run(state_of(lesson, "Perceptron")).converged
    made = run(state_of(lesson, "Lifted (circle)"))
    assert made.converged
    assert is_right(made, made.y).all()
    w1, w2, w3 = made.w
    assert w3 < 0  # discs lie below the cut, so inside
    center = np.array([-w1, -w2]) / (2 * w3)
    radius = np.sqrt(center @ center - made.b / w3)
    inside = np.linalg.norm(made.X[:, :2] - center, axis=1) < radius
    assert np.array_equal(inside, made.y > 0)


def test_kernels(lessons):
    lesson = lessons["kernels"]
    done = {each["title"]: run(state_of(lesson, each["title"])).converged for each in lesson["tries"]}
    assert done == {
        "rbf, wide bumps": True,
        "rbf, narrow bumps": True,
        "Polynomial, degree 2": False,
        "Polynomial, degree 3": True,
    }
    assert run(state_of(lesson)).converged
    conics = tuple(name for name in FEATURES if name != "r2")
    assert verdict(state_of(lesson), conics) == "Inseparable"


def test_shattering(lessons):
    counts = {}
    for each in lessons["shattering"]["tries"]:
        points = np.array([point[:2] for point in each["patch"]["points"]])
        labels = list(product((-1, 1), repeat=len(points)))
        cut = [len(set(y)) == 1 or type(separability(points, np.array(y))).__name__ == "Separable" for y in labels]
        counts[each["title"]] = sum(cut), len(cut)
        for y, is_cut in zip(labels, cut, strict=True):
            if not is_cut and each["title"] == "Four, a square":
                assert y[0] == y[1] != y[2] == y[3]  # the diagonals
            if not is_cut and each["title"] == "Four, one inside":
                assert y[0] == y[1] == y[2] != y[3]
    assert counts == {
        "Three points": (8, 8),
        "Three in a line": (6, 8),
        "Four, a square": (14, 16),
        "Four, one inside": (14, 16),
    }
