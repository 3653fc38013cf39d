"""The margin: how much room there is between two classes, how much a perceptron leaves, and what it bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np

from rosenblatt.cli.demo.telling import draw, end, heading, say, show_lines
from rosenblatt.data.generators import make_separable
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.tables import Table
from rosenblatt.theory.certificates import DEFINITIONS
from rosenblatt.theory.convergence.bounds import mistake_bound
from rosenblatt.theory.inputs import bound_text
from rosenblatt.theory.separability import dataset_margin, margin, separability
from rosenblatt.theory.verdicts import Separable

_CODE = (
    "from rosenblatt import data, dataset_margin\n"
    "X, y = data.make_separable(40, 2, margin=0.15, random_state=0)\n"
    'dataset_margin(2 * X + [0.6, 0.3], y, kind="geometric")'
)


def show(out: Path) -> None:
    """Compare the margin of a perceptron with the largest there is, in three definitions, and with the bound."""
    heading("The margin: the room between two classes")
    X, y = make_separable(40, 2, margin=0.15, random_state=0)
    X = 2.0 * X + [0.6, 0.3]  # off the origin, where the three definitions differ
    model = Perceptron(random_state=0).fit(X, y)
    found, verdict = margin(X, y, model.coef_, model.intercept_[0]), cast(Separable, separability(X, y))
    best = verdict.margin_low
    say(
        f"{len(X)} points of two classes. The margin of a line is the distance of the point that is nearest to it; "
        "that of the data is the margin of the best line."
    )
    say(
        f"1. A perceptron stops at the first line that is right on all points. After {model.n_updates_} updates its "
        f"margin was {found:.4g}.",
        f"2. The largest is {best:.4g}, {best / found:.3g} times as much. The distance of the {len(verdict.support)} "
        "points marked in the picture proves that no line has more.",
    )
    say("3. There are three definitions, and a bound needs its own:")
    brackets = {kind: dataset_margin(X, y, kind=kind) for kind in DEFINITIONS}
    lows = [bracket.low if bracket.low > 0 else None for bracket in brackets.values()]
    show_lines(Table({"kind": list(DEFINITIONS), "margin": lows, "which is": list(DEFINITIONS.values())}).to_text())
    bound = mistake_bound(X, y)
    longest = float(np.sqrt((X * X).sum(axis=1).max()))
    say(
        "4. The wider the margin, the fewer the mistakes. The perceptron with a bias learns the points (x, 1), "
        f"of length up to √(R² + 1) = {np.hypot(longest, 1.0):.4g}, so it is the augmented margin that counts: no run "
        f"makes more than (R² + 1) / margin² = {bound_text(bound)} updates. R² / margin² is for a "
        "perceptron without a bias, and for the homogeneous margin; with the geometric one it is no bound."
    )
    picture = draw(out / "demo-margin.png", (10, 4.8), lambda figure: _draw(figure, model, verdict, X, y))
    end(picture, _CODE, "Thin margin")


def _draw(figure: Any, model: Any, verdict: Any, X: np.ndarray, y: np.ndarray) -> None:
    from rosenblatt.plots import plot_plane, plot_verdict

    left, right = figure.subplots(1, 2)
    plot_plane(model, X, y, left)
    plot_verdict(verdict, X, y, right)
    for ax in (left, right):
        ax.set(xlim=left.get_xlim(), ylim=left.get_ylim(), xlabel="x₁", ylabel="x₂")
