"""One update without a bias, before and after (CIML figure 4.9)."""

from __future__ import annotations

import numpy as np

from rosenblatt.figures.boundaries import sepals
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.plots.update import plot_update
from rosenblatt.theory.convergence.trace import trace

UPDATE = 7


def figure_4_9() -> Shown:
    """Draw the last update of the run that found the boundary of figure 4.6."""
    X, y = sepals()
    run = trace(X, y, fit_intercept=False, shuffle=True, random_state=2)
    picture = blank(5, 6.6)
    panels = picture.subplots(2)
    plot_update(run, UPDATE, X, y, panels)
    for ax in panels:
        ax.set(xlabel="sepal length − mean (cm)", ylabel="sepal width − mean (cm)")
    step, (before, _) = run.step(UPDATE), run.weights(UPDATE - 1)
    x = X[step.row]
    turned = before @ step.w / np.linalg.norm(before) / np.linalg.norm(step.w)
    numbers = {
        "update": UPDATE,
        "updates": len(run),
        "kind": step.label,
        "x": x.tolist(),
        "w_before": before.tolist(),
        "w_after": step.w.tolist(),
        "activation_before": float(before @ x),
        "activation_after": float(step.w @ x),
        "squared_length": float(x @ x),
        "degrees": float(np.degrees(np.arccos(turned))),
    }
    caption = (
        "Update {update} of the {updates} that led to figure 4.6. A {kind}, the positive class, lies on the wrong "
        "side: with w = ({w_before[0]:.2f}, {w_before[1]:.2f}) its activation is {activation_before:.2f}. Adding the "
        "flower x = ({x[0]:.2f}, {x[1]:.2f}) gives w = ({w_after[0]:.2f}, {w_after[1]:.2f}), turned by {degrees:.0f} "
        "degrees. The activation rises by |x|² = {squared_length:.2f} to {activation_after:.2f}: this flower is right "
        "now, as it need not be after one update."
    )
    return Shown(picture, caption, numbers)
