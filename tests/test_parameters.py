"""Errors that know the parameters they name."""

import pickle

import numpy as np
import pytest

from rosenblatt.messages import (
    IfAvailable,
    ParameterError,
    Setting,
    check_boolean,
    check_choice,
    check_integer,
    check_share,
    shorten,
)


def test_a_sentence_is_spelled_as_its_reader_spells():
    fault = ParameterError(
        Setting("column_types", {"a": "text"}),
        " is too much",
        IfAvailable("labels", "; or ", Setting("labels", False)),
        ".",
    )
    assert str(fault) == "column_types={'a': 'text'} is too much; or labels=False."
    options = {"column_types": "--kind a=text"}
    assert fault.sentence(lambda setting: options.get(setting.name)) == "--kind a=text is too much."
    assert fault.sentence(lambda setting: None) == "column_types={'a': 'text'} is too much."


def test_an_error_crosses_processes():
    fault = pickle.loads(pickle.dumps(ParameterError(Setting("bits", 3), " is too few.")))
    assert str(fault) == "bits=3 is too few."
    assert fault.sentence(lambda setting: f"--{setting.name}") == "--bits is too few."
    assert isinstance(fault, ValueError)


@pytest.mark.parametrize("value", [1, np.int64(7), np.uint8(3)])
def test_integers(value):
    assert check_integer("n", value, 1) == int(value)
    assert type(check_integer("n", value, 1)) is int


@pytest.mark.parametrize("value", [0, True, 1.0, "1", None, np.float64(2.0), np.bool_(True), -(10**30)])
def test_what_is_no_integer_of_at_least_one(value):
    with pytest.raises(ParameterError, match="n must be an integer of at least 1, got"):
        check_integer("n", value, 1)
    with pytest.raises(ParameterError, match="n must be an integer from 1 to 5"):
        check_integer("n", value, 1, most=5)


def test_an_integer_that_is_too_large():
    with pytest.raises(ParameterError, match="from 1 to 30 or None, got 31"):
        check_integer("bits", 31, 1, most=30, or_none=True)


@pytest.mark.parametrize("value", [1, 0, "True", None, np.nan, [True]])
def test_what_is_no_boolean(value):
    with pytest.raises(ParameterError, match="flag must be True or False, got"):
        check_boolean("flag", value)


def test_choices():
    check_choice("shuffle", np.bool_(True), (True, False, "once"))
    check_choice("shuffle", "once", (True, False, "once"))
    with pytest.raises(ParameterError, match="must be True or False or 'once', got 'twice'"):
        check_choice("shuffle", "twice", (True, False, "once"))


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, np.nan, np.inf, True, "0.5", None])
def test_what_is_no_share(value):
    with pytest.raises(ParameterError, match="must be a number between 0 and 1"):
        check_share("validation_fraction", value)


def test_long_values_are_cut():
    assert len(shorten("a" * 1000)) == 60
    assert shorten([1, 2]) == "[1, 2]"
    assert len(shorten(10**10_000)) <= 60
