"""A circle learned as a plane: points lifted to (x, |x|^2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.circles.shapes import circle_from_plane
from rosenblatt.cli.demo.telling import draw, end, heading, say, show_lines
from rosenblatt.data.generators import make_circle
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.features import SphereLift
from rosenblatt.tables import Table
from rosenblatt.theory.inputs import number_text, vector_text
from rosenblatt.theory.separability import separability

_CENTRE, _RADIUS, _GAP = (2.0, 1.0), 1.5, 0.15
_POINTS, _SEED = 120, 0
_CODE = f"""\
from rosenblatt import Perceptron, SphereLift, circle_from_plane, data
X, y = data.make_circle({_POINTS}, radius={_RADIUS}, center={_CENTRE},
                        gap={_GAP}, random_state={_SEED})
lifted = SphereLift().fit_transform(X)
model = Perceptron(random_state=0, max_iter=100_000).fit(lifted, y)
print(circle_from_plane(model.coef_[0], model.intercept_[0]))"""


def show(out: Path) -> None:
    """Learn the disc in which the positives lie: no line does it, lifted a plane does, and below it is a circle."""
    heading("A circle, learned as a plane")
    X, y = make_circle(_POINTS, radius=_RADIUS, center=_CENTRE, gap=_GAP, random_state=_SEED)
    say(
        f"{len(X)} points of the plane. The {np.count_nonzero(y == 1)} inside a circle are positive, the others "
        f"negative; none is within {_GAP:g} of it. The learner sees points and labels, not the circle."
    )
    verdict = separability(X, y)
    say("1. No line separates them, which is proved:", str(verdict).splitlines()[-1])
    lifted = SphereLift().fit_transform(X)
    say(
        "2. Each point gets a third coordinate, x1² + x2². It lifts the point onto a bowl; those far out rise highest. "
        "Up there a plane has the disc below it and all else above."
    )
    model = Perceptron(random_state=0, max_iter=100_000).fit(lifted, y)
    (w1, w2, w3), (b,) = model.coef_[0], model.intercept_
    say(
        f"A perceptron found one, after {model.n_updates_:,} updates in {model.n_iter_:,} passes: "
        f"{w1:.4g} x1 {w2:+.4g} x2 {w3:+.4g} (x1² + x2²) {b:+.4g} is above 0 for every positive, below 0 for all "
        "others."
    )
    shape: Any = circle_from_plane(model.coef_[0], b)
    say(
        "3. Where the plane cuts the bowl, straight below, there is a circle. With a for the first two weights and -c "
        "for the third, its centre is a / 2c, and its squared radius |centre|² + b / c:"
    )
    show_lines(_numbers(shape).to_text())
    right = int((shape.contains(X) == (y == 1)).sum())
    say(f"It has {right} of {len(X)} points on the right side, decided exactly.")
    picture = draw(out / "demo-circle.png", (10, 5), lambda figure: _draw(figure, shape, X, y))
    end(picture, _CODE, "Inside a circle")


def _numbers(shape: Any) -> Table:
    return Table(
        {
            "": ["learned", "the points were drawn with"],
            "centre": [vector_text(shape.center, 3), vector_text(_CENTRE, 3)],
            "radius": [number_text(shape.radius, 3), number_text(_RADIUS, 3)],
        }
    )


def _draw(figure: Any, shape: Any, X: np.ndarray, y: np.ndarray) -> None:
    from rosenblatt.plots import plot_circle, plot_lift

    plot_circle(shape, X, y, figure.add_subplot(1, 2, 1))
    plot_lift(shape, X, y, figure.add_subplot(1, 2, 2, projection="3d"))
