"""Every preset is what it says it is."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.lab_engine import ask, needs_node, preset, run, start
from helpers.lab_state import LabState

pytestmark = needs_node

SEEDS = (0, 1, 2, 3)
PRESETS = (
    "separable",
    "thin",
    "xor",
    "rings",
    "circle",
    "moons",
    "spiral",
    "noisy",
    "sorted",
    "worst",
    "iris",
    "digits",
)
PARTS = {"points", "view", "learner", "features", "bias", "order", "picks", "at", "panel"}


def theory(state):
    return run(state).message["theory"]


def test_the_start_is_worth_watching():
    made = run(start())
    assert start().at == 0
    assert start().order == "each"
    assert len(start().points) == 24
    assert made.converged
    assert len(made.updates) == 16
    assert len(made.passes) == 8
    assert theory(start())["verdict"]["kind"] == "separable"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_opened(name, seed):
    message = ask("preset", {"name": name, "seed": seed})
    assert set(message) >= PARTS
    state = preset(name, seed)
    assert run(state).visits.size
    assert LabState.from_fragment(state.to_fragment()) == state
    assert preset(name, seed) == state  # the same seed gives the same points
    X = state.coordinates(np.arange(len(state.points)))
    unit = 1000 if name in ("iris", "digits") else 64 if name in ("thin", "spiral", "sorted") else 8
    assert np.array_equal(X, (X * unit).round() / unit)
    assert np.abs(X).max() <= (7 if name == "iris" else 5.5)
    x, y, half = state.view
    assert (np.abs(X - [x, y]) <= half).all()


@pytest.mark.parametrize("name", ["separable", "thin", "rings", "circle", "sorted", "worst"])
@pytest.mark.parametrize("seed", SEEDS)
def test_these_separate_as_they_are(name, seed):
    assert theory(preset(name, seed))["verdict"]["kind"] == "separable"


@pytest.mark.parametrize("name", ["xor", "noisy", "iris", "digits"])
@pytest.mark.parametrize("seed", SEEDS)
def test_these_do_not(name, seed):
    assert theory(preset(name, seed))["verdict"]["kind"] == "inseparable"


@pytest.mark.parametrize("name", ["xor", "rings", "circle", "moons", "spiral"])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_line_separates_these(name, seed):
    state = replace(preset(name, seed), learner="perceptron", features=("x", "y"))
    assert theory(state)["verdict"]["kind"] == "inseparable"


@pytest.mark.parametrize("seed", SEEDS)
def test_what_solves_them(seed):
    assert run(preset("separable", seed)).converged
    assert run(preset("thin", seed)).converged
    assert run(replace(preset("xor", seed), features=("x", "y", "xy"))).converged
    assert run(replace(preset("xor", seed), features=("xy",))).converged
    for name in ("rings", "circle", "moons", "spiral"):
        assert run(preset(name, seed)).converged
    assert run(replace(preset("rings", seed), learner="circle")).converged
    assert run(replace(preset("rings", seed), features=("r2",))).converged


@pytest.mark.parametrize("seed", SEEDS)
def test_margins_are_wide_and_thin(seed):
    assert theory(preset("separable", seed))["verdict"]["margin"] >= 0.299
    assert theory(preset("thin", seed))["verdict"]["margin"] < 0.17


@pytest.mark.parametrize("seed", SEEDS)
def test_the_inner_ring_and_the_disc_are_positive(seed):
    for name, center in (("rings", [0, 0]), ("circle", [0.5, -0.5])):
        state = preset(name, seed)
        far = np.linalg.norm(state.coordinates(state.rows) - center, axis=1)
        labels = state.labels(state.rows)
        assert far[labels > 0].max() < far[labels < 0].min()


@pytest.mark.parametrize("seed", SEEDS)
def test_fifty_passes_over_sorted_points_do_not_do_what_seven_in_a_random_order_do(seed):
    state = preset("sorted", seed)
    assert state.labels(state.rows).tolist() == [1] * 500 + [-1] * 500
    as_they_come, shuffled = run(state), run(replace(state, order="each"))
    assert not as_they_come.converged
    assert len(as_they_come.passes) == 50
    assert shuffled.converged
    assert len(shuffled.passes) <= 7


def test_the_worst_case_reaches_half_the_bound_and_another_order_does_not():
    state = preset("worst")
    made, bound = run(state), theory(state)["bound"]["bound"]
    assert made.converged
    assert len(made.updates) == 57
    assert round(bound) == 115
    assert all(len(run(replace(state, order="each", seed=seed)).updates) < 20 for seed in range(5))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_noisy_clouds_have_points_held_out_for_the_error_panel(seed):
    state = preset("noisy", seed)
    assert len(state.held_out) == 40
    assert len(state.rows) == 80
    found = ask("errors", state.to_plain())
    assert len(found["test"]["average"]) == 30
    assert found["test"]["average"][-1] < 0.35
    assert max(found["train"]["last"]) > max(found["train"]["average"][5:])


def test_three_flowers_and_one_digit_stand_in_the_way():
    assert len(ask("fewest", preset("iris").to_plain())["rows"]) == 3
    assert len(ask("fewest", preset("digits").to_plain())["rows"]) == 1
    assert len(preset("iris").points) == 100
    assert len(preset("digits").points) == 120


def test_the_list_has_a_title_for_each():
    assert tuple(ask("start", {})["presets"]) == PRESETS
