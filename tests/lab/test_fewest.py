"""Points to remove, by their numbers."""

import numpy as np
import pytest

from helpers.lab_engine import ask, needs_node
from helpers.lab_random import random_state
from helpers.lab_state import feature_columns
from helpers.lab_states import DATA, cloud, state_of
from rosenblatt import fewest_mistakes, separability

pytestmark = needs_node

XOR = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]


def fewest_message(state):
    return ask("fewest", state.to_plain())


@pytest.mark.parametrize("name", ["noisy", "duplicates", "zero", "collinear"])
@pytest.mark.parametrize("features", [("x", "y"), ("x",), ("x", "y", "xy")])
def test_the_rest_separates(name, features):
    X, y = DATA[name]
    held = [i % 3 == 1 for i in range(len(y))] if name == "noisy" else None
    state = state_of(X, y, held, features=features)
    found = fewest_message(state)
    rest = np.setdiff1d(state.rows, found["rows"])
    assert set(found["rows"]) <= set(state.rows.tolist())
    assert separability(feature_columns(state.coordinates(rest), features), state.labels(rest))
    if found["rows"]:
        every = feature_columns(state.coordinates(state.rows), features)
        assert not separability(every, state.labels(state.rows))


def test_the_numbers_are_those_of_points_where_some_are_held_out():
    X = [[9.0, 9.0], *XOR]
    found = fewest_message(state_of(X, [1, -1, 1, 1, -1], [True, False, False, False, False]))
    assert len(found["rows"]) == 1
    assert found["rows"][0] in (1, 2, 3, 4)
    assert found["text"] == "Without this point, a line has each of the others on its side. No fewer will do."


def test_the_words_name_the_space():
    state = state_of(XOR, [-1, 1, 1, -1], features=("x", "y", "xy"))
    assert fewest_message(state)["text"].startswith("No point has to go: a plane in the space of (x₁, x₂, x₁x₂) has")


def test_without_a_bias_it_says_that_one_may_be_needed():
    assert fewest_message(state_of(XOR, [-1, 1, 1, -1], bias=False))["text"].endswith("That may take a bias.")


@pytest.mark.parametrize("state", [state_of(np.empty((0, 2)), []), state_of(*cloud(4), features=())])
def test_without_points_or_features_there_is_nothing_to_do(state):
    assert fewest_message(state) == {"rows": [], "text": "There is nothing to separate yet."}


def test_their_number_is_the_librarys():
    rng = np.random.default_rng(0)
    for _ in range(40):
        state = random_state(rng)
        if len(state.rows) == 0:
            continue
        X = feature_columns(state.coordinates(state.rows), state.feature_names)
        theirs = fewest_mistakes(X, state.labels(state.rows), max_seconds=2.0)
        found = fewest_message(state)
        assert theirs.low <= len(found["rows"])
        if "not settled" not in found["text"]:
            assert len(found["rows"]) <= theirs.high, state
