"""Warnings point at the user's line, however the library was called."""

import functools
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import Perceptron, RescaledPerceptron, data, explain
from rosenblatt.messages import warn_user

X, Y = data.make_xor()


def place(function):
    """Return the file and line that the only warning of a call points at."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function()
    assert len({(warning.filename, warning.lineno) for warning in seen}) == 1
    return seen[0].filename, seen[0].lineno


@pytest.mark.parametrize(
    "call",
    [
        lambda: Perceptron(max_iter=2).fit(X, Y),
        lambda: Perceptron(max_iter=2).fit_stream([(X, Y)]),
        lambda: make_pipeline(StandardScaler(), Perceptron(max_iter=2)).fit(X, Y),
        lambda: cross_val_score(Perceptron(max_iter=2), np.tile(X, (5, 1)), np.tile(Y, 5), cv=2),
        lambda: RescaledPerceptron().fit(X, Y),
    ],
    ids=["fit", "fit_stream", "pipeline", "search", "rescaled"],
)
def test_a_warning_points_here(call):
    file, line = place(call)
    assert file == __file__
    assert line == call.__code__.co_firstlineno


def test_a_warning_of_a_function_points_here():
    model = Perceptron(shuffle=False).fit([[1.0, 1000.0], [-1.0, -1000.0]], [1, 0])
    assert place(functools.partial(explain, model))[0] in (__file__, functools.__file__)


def test_called_by_the_user_itself():
    with pytest.warns(ConvergenceWarning, match="words") as seen:
        warn_user("words", ConvergenceWarning)
    assert seen[0].filename == __file__
