"""Errors that name parameters, and checks of parameters."""

import ast
import contextlib
import inspect
import pickle
import re
import types
from pathlib import Path

import numpy as np
import pytest

import rosenblatt
from rosenblatt import messages
from rosenblatt.messages import Hint, ParameterError, check_boolean, check_choice, check_integer, check_share, shorten


def test_a_message_spells_parameters_for_its_reader():
    hint = Hint("; or {labels=False}")
    error = ParameterError("{column_types=types} is too much{hint}.", types={"a": "text"}, hint=hint)
    assert str(error) == "column_types={'a': 'text'} is too much; or labels=False."
    options = {"column_types": "--kind a=text"}
    assert error.message.render(lambda setting: options.get(setting.name)) == "--kind a=text is too much."
    assert error.message.render(lambda setting: None) == "column_types={'a': 'text'} is too much."


def test_values_are_never_read_as_templates():
    assert str(ParameterError("{bits} is too few, got {got}.", got="{max_iter}")) == "bits is too few, got {max_iter}."


def test_an_error_crosses_processes():
    error = pickle.loads(pickle.dumps(ParameterError("{bits=3} is too few, got {got}.", got=[1])))
    assert str(error) == "bits=3 is too few, got [1]."
    assert error.message.render(lambda setting: f"--{setting.name}") == "--bits is too few, got [1]."
    assert isinstance(error, ValueError)


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


def parameters_of_users():
    """Return the names of all parameters that users can give: of public names, their methods, and what they hold."""
    names = set()
    waiting = [getattr(rosenblatt, name) for name in rosenblatt.__all__]
    for thing in waiting:
        if isinstance(thing, types.ModuleType):
            waiting += [getattr(thing, name) for name in thing.__all__]  # some are imported by that
        elif isinstance(thing, type):
            waiting += [
                value for name in dir(thing) if not name.startswith("_") if callable(value := getattr(thing, name))
            ]
        if callable(thing):
            with contextlib.suppress(ValueError):  # a builtin without a signature
                names |= set(inspect.signature(thing).parameters)
    help_texts = (Path(__file__).parent / "recorded" / "help.txt").read_text()
    return names | {option.replace("-", "_") for option in re.findall(r"--([a-z][a-z-]*)", help_texts)}


def test_every_name_in_a_template_has_a_value_or_is_a_parameter():
    known, seen = parameters_of_users(), 0
    for path in sorted(Path(rosenblatt.__file__).parent.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call) or not call.args or not isinstance(call.args[0], ast.Constant):
                continue
            if ast.unparse(call.func).rpartition(".")[2] not in ("ParameterError", "DataError", "Message", "Hint"):
                continue
            given = {keyword.arg for keyword in call.keywords}
            if None in given:  # values by ** are not known here
                continue
            for name, value, _ in messages._PLACE.findall(call.args[0].value):
                seen += 1
                assert name in given or name in known, f"{path}, line {call.lineno}: {{{name}}} has no value"
                literal = value and not value.isidentifier()
                assert not value or literal or value in given | {"True", "False", "None"}, f"{path}, line {call.lineno}"
                if literal:
                    ast.literal_eval(value)
    assert seen > 100
