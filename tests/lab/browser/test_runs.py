"""Runs in the page: they end where the library's learners end, and every moment can be gone back to."""

import numpy as np
import pytest

from helpers.lab_engine import ask
from helpers.lab_library import run
from helpers.lab_page import read_numbers, state_with
from helpers.lab_state import LabState
from helpers.lab_states import FOUR
from rosenblatt import Perceptron

STEPPED = [
    {"learner": "perceptron"},
    {"learner": "averaged", "order": "once"},
    {"learner": "voted", "bias": False},
    {"learner": "pocket", "order": "fixed", "passes": 4},
    {"learner": "restart"},
    {"learner": "margin", "margin": 3.0},
    {"learner": "pa", "order": "fixed"},
    {"learner": "pa", "loss": "plain", "features": ["x", "y", "xy", "r2"]},
    {"learner": "arow", "r": 1.0},
    {"learner": "arow", "order": "pick", "picks": [0, 3, 1, 2, 0, 3, 5, 4], "bias": False},
    {"learner": "circle", "order": "fixed"},
    {"learner": "kernel", "kernel": "rbf"},
    {"learner": "perceptron", "order": "pick", "picks": [0, 3, 1, 2, 0, 3, 5, 4]},
    {"learner": "perceptron", "features": ["x", "y", "xy", "r2"]},
]
THERE_AND_BACK = """() => {
  const seen = () => JSON.stringify([lab.scene().moment, lab.at]);
  return ["example", "update", "pass"].map((by) => {
    lab.go(0);
    const forward = [seen()];
    while (lab.at < lab.replay.visits) { lab.step(1, by); forward.push(seen()); }
    const back = [seen()];
    while (lab.at > 0) { lab.step(-1, by); back.push(seen()); }
    return [forward, back.reverse()];
  });
}"""


def preset(name, seed=0, **fields):
    """Return the state of a preset."""
    return LabState.from_plain({"version": 1, "seed": seed} | ask("preset", {"name": name, "seed": seed}) | fields)


def hexes(values):
    return [float(value).hex() for value in values]


@pytest.mark.slow
def test_playing_to_the_end_shows_the_weights_of_fit_bit_for_bit(lab):
    state = preset("separable", seed=3, panel="weights")
    lab.open(state)
    lab.get("lab.speed = 'fast'")
    lab.page.keyboard.press("Space")
    assert lab.get("lab.playing")
    lab.until("!lab.playing", seconds=30)
    lab.frame()
    X, y = state.coordinates(state.rows), state.labels(state.rows)
    model = Perceptron(random_state=3).fit(X, y)
    assert model.converged_
    assert lab.get("lab.at") == lab.get("lab.run.visits.length")
    shown = [read_numbers(lab.page.get_attribute(f"#weights-{name}", "title"))[0] for name in ("w-x", "w-y", "b")]
    assert hexes(shown) == hexes([*model.coef_[0], *model.intercept_])
    assert "Done: a pass without a mistake" in lab.text("#sentence")


@pytest.mark.slow
def test_stepping_back_from_the_end_restores_every_state(lab):
    rng = np.random.default_rng(5)
    points = [(*map(float, xy), sign) for xy, sign in zip(rng.normal(size=(12, 2)).round(3), [1, -1] * 6, strict=True)]
    lab.open(state_with(points))
    for fields in STEPPED:
        state = state_with(points, updates=40, at=0, **({"passes": 6} | fields))
        lab.show(state)
        recorded = lab.get(THERE_AND_BACK)
        assert len(recorded[0][0]) == len(run(state).visits) + 1
        for forward, back in recorded:
            assert forward == back, fields
        assert lab.get("lab.at") == 0


def test_arrows_step_and_the_sentence_says_what_happened(lab):
    lab.open(state_with(FOUR, order="fixed", at=0))
    said = [lab.text("#sentence")]
    for _ in range(3):
        lab.page.keyboard.press("ArrowRight")
        lab.frame()
        said.append(lab.text("#sentence"))
    assert said[0].startswith("Start: w = 0, b = 0.")
    assert said[1].startswith("Point 1, blue disc: y·a = 0 ≤ 0, a mistake. w ← (0, 0) + (1, 1) = (1, 1)")
    assert said[2].startswith("Point 3, orange triangle: y·a = 0 ≤ 0, a mistake.")
    assert said[3].endswith("Done: a pass without a mistake, after 2 updates.")
    assert lab.get("document.getElementById('announcements').textContent") == said[3]
    for words in reversed(said[:-1]):
        lab.page.keyboard.press("ArrowLeft")
        lab.frame()
        assert lab.text("#sentence") == words
    lab.page.keyboard.press("Shift+ArrowRight")
    assert lab.get("lab.at") == 4
    lab.page.keyboard.press("End")
    assert lab.get("lab.at") == 8


def test_a_step_from_the_end_is_the_first_of_the_run(lab):
    lab.open(state_with([(1, 1, 1), (2, 0, 1), (-1, 0, -1), (0, -2, -1)], order="fixed", at=None))
    step = lab.page.get_by_role("button", name="Step (→)")
    assert lab.get("lab.at === lab.replay.visits")
    step.click()
    lab.frame()
    assert lab.get("lab.at") == lab.get("lab.replay.updates[0]")
    assert lab.text("#sentence").startswith("Point 1, ")
