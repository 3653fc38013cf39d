"""States survive their way to the page, to files and to addresses; anything else is a ValueError."""

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rosenblatt.lab import state_fields as fields
from rosenblatt.lab.state import LabState

NUMBERS = st.floats(-fields.LARGEST, fields.LARGEST)
COUNTS = st.integers(0, 2**31 - 1)


def subsets(words):
    return st.lists(st.sampled_from(words), unique=True).map(tuple)


@st.composite
def states(draw):
    points = draw(st.lists(st.tuples(NUMBERS, NUMBERS, st.sampled_from([1, -1]), st.booleans()), max_size=8))
    picks = st.lists(st.integers(0, len(points) - 1), max_size=5) if points else st.just([])
    return LabState(
        points=tuple(points),
        learner=draw(st.sampled_from(fields.LEARNERS)),
        features=draw(subsets(fields.FEATURES)),
        bias=draw(st.booleans()),
        order=draw(st.sampled_from(fields.ORDERS)),
        seed=draw(COUNTS),
        picks=tuple(draw(picks)),
        kernel=draw(st.sampled_from(fields.KERNELS)),
        degree=draw(st.integers(1, 9)),
        gamma=draw(st.floats(1e-6, 1e6)),
        coef0=draw(st.floats(0, 1e6)),
        margin=draw(st.floats(0, 1e6)),
        C=draw(st.floats(1e-6, 1e6)),
        loss=draw(st.sampled_from(fields.LOSSES)),
        r=draw(st.floats(1e-6, 1e6)),
        passes=draw(st.integers(1, 10_000)),
        updates=draw(st.integers(1, fields.MOST_UPDATES)),
        view=(draw(NUMBERS), draw(NUMBERS), draw(st.floats(1e-6, 4e6))),
        at=draw(st.none() | st.integers(0, fields.MOST_VISITS)),
        panel=draw(st.sampled_from(fields.PANELS)),
        lower=draw(st.sampled_from(fields.LOWER_PANELS)),
        family=draw(st.sampled_from(fields.FAMILIES)),
        lesson=draw(st.text(max_size=40)),
        show=draw(subsets(fields.SHOWN)),
        hide=draw(subsets(fields.HIDDEN)),
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.slow
@given(states())
def test_a_state_comes_back_as_it_was(state):
    assert LabState.from_plain(state.to_plain()) == state
    assert LabState.from_json(state.to_json()) == state
    assert LabState.from_fragment(state.to_fragment()) == state


def read_or_refuse(read, data):
    refused, state = "", LabState()
    try:
        state = read(data)
    except ValueError as fault:
        refused = str(fault)
    assert refused == "" or refused.endswith(".")
    assert LabState.from_plain(state.to_plain()) == state


@given(JSON)
def test_any_data_is_a_state_or_a_value_error(data):
    read_or_refuse(LabState.from_plain, data)


@given(states(), st.sampled_from(sorted(LabState().to_plain())), JSON)
def test_a_state_with_one_odd_field_is_a_state_or_a_value_error(state, name, value):
    read_or_refuse(LabState.from_plain, state.to_plain() | {name: value})
    read_or_refuse(LabState.from_plain, state.to_plain() | {"points": [[1, 2, 1], value]})


@given(st.text() | states().map(LabState.to_fragment).map(lambda text: text[:-3]))
def test_any_fragment_is_a_state_or_a_value_error(text):
    read_or_refuse(LabState.from_fragment, text)


@given(st.binary() | st.text())
def test_any_text_is_a_state_or_a_value_error(text):
    read_or_refuse(LabState.from_json, text)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"version":' * 100_000, "9" * 5000, '{"version": 1, "seed": 1e999}'])
def test_texts_that_break_parsers_are_value_errors(text):
    with pytest.raises(ValueError, match=r"\.$"):
        LabState.from_json(text)


def test_limits_are_kept():
    point = [0, 0, 1]
    LabState.from_plain({"version": 1, "points": [point] * fields.MOST_POINTS})
    for field in (
        {"points": [point] * (fields.MOST_POINTS + 1)},
        {"points": [[10**400, 0, 1]]},
        {"points": [[float("nan"), 0, 1]]},
        {"points": [[0, 0, True]]},
        {"points": [[True, 0, 1]]},
        {"points": [[0, 0, 1.0]]},
        {"updates": fields.MOST_UPDATES + 1},
        {"picks": [0]},
        {"features": ["x", "x"]},
        {"colour": 1},
    ):
        with pytest.raises(ValueError, match=r"\.$"):
            LabState.from_plain({"version": 1} | field)


def test_the_version_is_needed():
    for version in (None, 0, 2, True, 1.0, "1"):
        with pytest.raises(ValueError, match="'version': 1"):
            LabState.from_plain(json.loads(json.dumps({"version": version})))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=4))
@example([(0.0, 0.0), (1e-6, 0.0)])
@example([(1e6, 1e6), (-1e6, -1e6)])
def test_points_however_close_or_far_give_a_state_that_can_be_read(points):
    state = LabState().with_points(np.array(points), np.ones(len(points), dtype=int))
    assert LabState.from_plain(state.to_plain()) == state
    x, y, half = state.view
    assert all(abs(px - x) <= half and abs(py - y) <= half for px, py in points)
