"""States and questions from strangers get an answer or one sentence."""

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.lab_engine import ask, needs_node
from helpers.lab_state import MOST_POINTS, LabState
from helpers.lab_states import FOUR
from rosenblatt.lab.sources import read_source

pytestmark = needs_node

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
STATE = LabState(points=FOUR, order="fixed").to_plain()


def answer_or_refuse(question, body):
    said = "."
    try:
        assert "waiting" in ask(question, body)
    except ValueError as fault:
        said = str(fault)
    assert said.endswith(".")
    assert "\n" not in said
    assert len(said) < 500


@settings(deadline=None)
@given(JSON)
def test_any_data_is_a_state_or_one_sentence(data):
    answer_or_refuse("run", data)


@settings(deadline=None)
@given(st.sampled_from(sorted(STATE)), JSON)
def test_a_state_with_one_odd_field_is_a_state_or_one_sentence(name, value):
    answer_or_refuse("run", STATE | {name: value})
    answer_or_refuse("run", STATE | {"points": [[1, 2, 1], value]})


@given(st.text() | st.binary().map(lambda content: base64.urlsafe_b64encode(content).decode()))
def test_any_fragment_is_a_state_or_one_sentence(text):
    said = "."
    try:
        assert read_source(f"http://localhost/#{text}")["state"]["version"] == 1
    except ValueError as fault:
        said = str(fault)
    assert said.endswith(".")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"version":' * 100_000, "9" * 5000, '{"version": 1, "seed": NaN}'])
def test_texts_that_break_parsers_are_one_sentence(text):
    with pytest.raises(ValueError, match=r"\.$"):
        read_source("http://localhost/#" + base64.urlsafe_b64encode(text.encode()).decode())


@pytest.mark.parametrize(
    "field",
    [
        {"points": [[0, 0, 1]] * (MOST_POINTS + 1)},
        {"points": [[10**400, 0, 1]]},
        {"points": [[0, 0, True]]},
        {"points": [[True, 0, 1]]},
        {"points": [[0, 0, 1, 1]]},
        {"updates": 2001},
        {"picks": [0]},
        {"features": ["x", "x"]},
        {"learner": ["perceptron"]},
        {"colour": 1},
        {"__proto__": {"points": []}},
        {"version": 2},
        {"lesson": "a" * 41},
    ],
)
def test_limits_are_kept(field):
    with pytest.raises(ValueError, match=r"\.$"):
        ask("run", {"version": 1} | field)


def test_the_most_points_are_allowed():
    assert ask("run", {"version": 1, "points": [[0, 0, 1]] * MOST_POINTS})["waiting"]
