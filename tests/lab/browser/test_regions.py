"""What is drawn behind the points agrees with ``predict``, for what no straight line bounds."""

import numpy as np
import pytest

from helpers.lab_library import run
from helpers.lab_page import state_with
from helpers.lab_state import feature_columns

SIZE = 41
DRAWN = 97
POINTS = [
    (*np.round(2.2 * np.array([np.cos(turn), np.sin(turn)]) * (0.4 + 0.06 * i), 3).tolist(), 1 if i % 3 else -1)
    for i, turn in enumerate(np.linspace(0, 11, 24))
]
CASES = [
    {"learner": "kernel", "kernel": "rbf", "gamma": 1.5},
    {"learner": "kernel", "kernel": "poly", "degree": 3, "gamma": 0.5, "coef0": 1.0},
    {"learner": "voted", "passes": 8},
    {"learner": "voted", "bias": False, "order": "fixed", "passes": 3, "features": ("x", "y", "xy")},
    {"learner": "averaged", "features": ("x", "y", "x2", "xy"), "passes": 5},
]
SCORES = """async (size) => {
  const { Boundary } = labModule("boundary.js");
  const { predicting } = labModule("hypothesis.js");
  const scene = lab.scene();
  return Array.from(new Boundary().scores(scene, predicting(scene), size));
}"""


def name(fields):
    return "-".join(map(str, fields.values()))


def grid(view, size):
    """Return the points of a grid over a square, row by row from the top."""
    x, y, half = view
    steps = np.linspace(-half, half, size)
    return np.column_stack([np.tile(x + steps, size), np.repeat(y - steps, size)])


def predictions(state, X):
    return run(state).model.predict(feature_columns(X, state.feature_names))


@pytest.mark.slow
def test_scores_over_the_plane_have_the_signs_of_predict(lab):
    lab.open(state_with(POINTS))
    for fields in CASES:
        state = state_with(POINTS, at=None, **({"updates": 300} | fields))
        lab.show(state)
        scores = np.array(lab.page.evaluate(SCORES, SIZE))
        predicted = predictions(state, grid(state.view, SIZE))
        clear = np.abs(scores) > 1e-9
        assert clear.sum() > 0.95 * len(scores), "few votes are tied"
        assert set(predicted[clear]) == {-1, 1}
        np.testing.assert_array_equal(np.sign(scores[clear]), predicted[clear], str(fields))


@pytest.mark.slow
@pytest.mark.parametrize("fields", CASES[:3], ids=name)
def test_the_tint_of_the_plane_is_that_of_predict(lab, fields):
    state = state_with(POINTS, at=None, show=("regions",), **({"updates": 300} | fields))
    lab.open(state)
    drawn = lab.page.evaluate(
        """async ([size, cells]) => {
          const { colors } = labModule("theme.js");
          const canvas = document.querySelector("#plane canvas");
          const context = canvas.getContext("2d");
          const rgb = (color) => color.match(/\\d+/g).join();
          const tints = [rgb(colors()["positive-tint"]), rgb(colors()["negative-tint"])];
          const { data, width } = context.getImageData(0, 0, canvas.width, canvas.height);
          return cells.map((cell) => {
            const [x, y] = cell.map((share) => Math.min(width - 1, Math.round(share * width)));
            return [0, 1, -1][1 + tints.indexOf(data.slice(4 * (y * width + x), 4 * (y * width + x) + 3).join())];
          });
        }""",
        [SIZE, [[i / (SIZE - 1), j / (SIZE - 1)] for j in range(SIZE) for i in range(SIZE)]],
    )
    X, cell = grid(state.view, SIZE), 2 * state.view[2] / (DRAWN - 1)
    around = [predictions(state, X + cell * np.array(step)) for step in [(0, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)]]
    clear = (np.abs(np.sum(around, axis=0)) == len(around)) & (np.array(drawn) != 0)
    assert clear.sum() > 800, "most of the plane is tinted"
    np.testing.assert_array_equal(np.array(drawn)[clear], around[0][clear])
