"""Python code that reproduces the run of a lab state, bit for bit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from rosenblatt.circles.shapes import circle_from_plane
from rosenblatt.lab.learning import Run, make_learner, run, waiting
from rosenblatt.lab.state import LabState
from rosenblatt.messages import count_of
from rosenblatt.training.rows import ratio_with_mistakes

WIDTH = 100
"""Maximum length of a line of code that lists points."""

_FORMULAS = {"x": "x", "y": "y", "xy": "x * y", "x2": "x * x", "y2": "y * y", "r2": "x * x + y * y"}
_MISTAKES_LEFT = "# warns that no pass was without a mistake"
_SCALES = "# warns that features differ widely in size"
_SORTED = "# warns that the points of one class all come first"


def python_code(state: LabState, made: Run | None = None) -> str:
    """Return a Python program that repeats the training run of a state and prints the resulting model.

    The program imports only NumPy and the library. ``made`` is the run if it was computed already, otherwise None.

    >>> points = ((1.0, 1.0, 1, False), (-1.0, 0.0, -1, False))
    >>> print(python_code(LabState(points=points, order="fixed")))
    import numpy as np
    from rosenblatt import Perceptron
    <BLANKLINE>
    X = np.array([[1.0, 1.0], [-1.0, 0.0]])
    y = np.array([1, -1])
    <BLANKLINE>
    model = Perceptron(shuffle=False)
    model.fit(X, y)
    <BLANKLINE>
    print("weights:", model.coef_[0], "bias:", model.intercept_[0])
    print("updates:", model.n_updates_, "converged:", model.converged_)
    <BLANKLINE>
    """
    missing = waiting(state)
    if missing:
        return f"# {missing}\n"
    made = run(state) if made is None else made
    restart = state.learner == "restart"
    parts = [_data(state), *([_restart_lines(state, made)] if restart else _model_lines(state, made))]
    return "\n\n".join(["\n".join(_imports(state, made)), *("\n".join(part) for part in parts)]) + "\n"


def _imports(state: LabState, made: Run) -> list[str]:
    if state.learner == "restart":
        names = ["perceptron_restart", *(["with_dummy_feature"] if state.bias else [])]
        return ["import numpy as np", f"from rosenblatt.textbook import {', '.join(names)}"]
    names = [type(make_learner(state)).__name__, *(["circle_from_plane"] if _has_shape(state, made) else [])]
    return ["import numpy as np", f"from rosenblatt import {', '.join(sorted(names))}"]


# points


def _data(state: LabState) -> list[str]:
    """Return lines of code that define X and y, and also X_test and y_test if points are held out for testing."""
    lines, plain = [], state.feature_names == ("x", "y")
    if not plain:
        columns = ", ".join(_FORMULAS[name] for name in state.feature_names)
        lines = [
            "def features(points):",
            "    x, y = points[:, 0], points[:, 1]",
            f"    return np.column_stack([{columns}])",
            "",
            "",
        ]
    for ending, rows in (("", state.rows), ("_test", state.held_out)):
        if not len(rows):
            continue
        pairs = [f"[{x!r}, {y!r}]" for x, y in state.coordinates(rows).tolist()]
        lines += _array(f"X{ending}" if plain else f"points{ending}", pairs)
        if not plain:
            lines.append(f"X{ending} = features(points{ending})")
        lines += _array(f"y{ending}", map(str, state.labels(rows).tolist()))
    return lines


def _array(name: str, items: Iterable[str]) -> list[str]:
    """Return lines of code that assign an array to ``name``, each at most `WIDTH` characters long."""
    texts = list(items)
    line = f"{name} = np.array([{', '.join(texts)}])"
    if len(line) <= WIDTH:
        return [line]
    lines, current = [f"{name} = np.array(["], "   "
    for text in texts:
        if len(current) + len(text) + 2 > WIDTH:
            lines.append(current)
            current = "   "
        current += f" {text},"
    return [*lines, current, "])"]


# learners


def _model_lines(state: LabState, made: Run) -> list[list[str]]:
    learner = [f"model = {type(make_learner(state)).__name__}({_parameters(state, made)})"]
    if state.order == "pick":
        places = {row: place for place, row in enumerate(state.rows.tolist())}
        picks = [places[row] for row in state.picks if row in places]
        learner += [f"picks = {picks}", "model.partial_fit(X[picks], y[picks], classes=[-1, 1])" + _note(state, made)]
    else:
        learner.append("model.fit(X, y)" + _note(state, made))
    return [learner, _results(state, made)]


def _parameters(state: LabState, made: Run) -> str:
    """Return the learner's arguments as Python, mostly without defaults and arguments that do not affect this run."""
    model = make_learner(state)
    given, default = model.get_params(), type(model)().get_params()
    always = {"kernel", "gamma"} | ({"degree", "coef0"} if state.kernel == "poly" else set())
    ignored: set[str] = set()
    if not model.shuffle:
        ignored.add("random_state")
    if state.order == "pick":
        ignored |= {"max_iter", "shuffle"}
    if len(made.updates) < state.updates:
        ignored.add("max_updates")  # the limit was never met
    chosen = {
        name: value
        for name, value in given.items()
        if name not in ignored and (value != default[name] or name in always)
    }
    own = ["margin", "C", "loss", "r", "hypothesis", "kernel", "degree", "gamma", "coef0"]
    order = [*own, "max_iter", "fit_intercept", "shuffle", "random_state"]
    names = sorted(chosen, key=lambda name: order.index(name) if name in order else len(order))
    return ", ".join(f"{name}={_literal(chosen[name])}" for name in names)


def _literal(value: Any) -> str:
    if value == math.inf:
        return "np.inf"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _note(state: LabState, made: Run) -> str:
    """Return a code comment about the warning that the program will cause, or "" if it causes none."""
    visited = made.y if state.order == "fixed" else made.y[made.visits] if state.order == "pick" else made.y[:0]
    if len(visited) >= 100 and abs(int(visited[:100].sum())) == 100:
        return f"  {_SORTED}"
    if state.order == "pick" or made.converged:
        return ""
    options = made.model._options(made.X)
    if options.hypothesis == "last" and options.expects_no_mistakes and made.model.state_.mistakes_left():
        return f"  {_MISTAKES_LEFT}"
    if state.learner != "kernel":
        return f"  {_SCALES}" if ratio_with_mistakes(made.model.state_, made.X, len(made.X)) else ""
    return ""


def _results(state: LabState, made: Run) -> list[str]:
    if state.learner == "kernel":
        lines = ['print("support points:", model.support_)', 'print("their factors:", model.dual_coef_[0])']
    else:
        last = "last_" if state.learner == "voted" else ""
        lines = [f'print("weights:", model.{last}coef_[0], "bias:", model.{last}intercept_[0])']
    if state.learner == "arow":
        lines.append('print("their variances:", model.variance_[0], model.intercept_variance_[0])')
    if state.order == "pick":
        lines += [
            "right = y * model.decision_function(X) > 0",
            'print("updates:", model.n_updates_, "every point on its side:", right.all())',
        ]
    else:
        lines.append('print("updates:", model.n_updates_, "converged:", model.converged_)')
    if _has_shape(state, made):
        lines.append("print(circle_from_plane(model.coef_[0], model.intercept_[0]))")
    if len(state.held_out):
        lines.append('print("right on the points held out:", model.score(X_test, y_test))')
    return lines


def _has_shape(state: LabState, made: Run) -> bool:
    """Return whether the final plane of the circle learner defines a shape: a circle, its outside or a half-plane."""
    if state.learner != "circle":
        return False
    try:
        circle_from_plane(made.w, made.b)
    except ValueError:
        return False
    return True


def _restart_lines(state: LabState, made: Run) -> list[str]:
    """Return lines of code that run the textbook's restart algorithm up to the update at which this run ended."""
    limit = state.updates if made.converged else len(made.updates)
    examples = "list(zip(X.tolist(), y.tolist()))"
    lines = [
        f"D = with_dummy_feature({examples})  # the first weight is the bias" if state.bias else f"D = {examples}",
        f"w = perceptron_restart(D, max_updates={limit})  # makes {count_of(len(made.updates), 'update')}",
        "b, w = w[0], w[1:]" if state.bias else "b = 0.0",
        'print("weights:", w, "bias:", b)',
        'print("every point on its side:", (y * (X @ w + b) > 0).all())',
    ]
    if len(state.held_out):
        lines.append('print("right on the points held out:", np.mean(y_test * (X_test @ w + b) > 0))')
    return lines
