"""Why the mistakes must end: the two sides of the convergence proof, update by update."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from rosenblatt.cli.demo.telling import draw, end, heading, say, show_lines
from rosenblatt.messages import count_of, evenly_chosen
from rosenblatt.tables import Table
from rosenblatt.theory.convergence.proof import Proof, proof
from rosenblatt.theory.inputs import bound_text

_POINTS, _LABELS = [[2.0, 0.4], [4.0, -0.4], [4.0, 0.4]], [1, -1, 1]
"""The second and the third undo each other's update, but for a step upwards: half the mistakes that can be."""
_SHOWN = 9
_CODE = (
    "from rosenblatt import proof\n"
    "run = proof([[2, 0.4], [4, -0.4], [4, 0.4]], [1, -1, 1])\n"
    "print(run); print(run.table())"
)


def show(out: Path) -> None:
    """Run the perceptron beside the inequalities that bound it, as a table and as a picture."""
    heading("Why the mistakes must end")
    run = proof(_POINTS, _LABELS)
    say(
        f"{len(_POINTS)} points, each taken as z = (x, 1), so that the bias is a weight like the others. The longest z "
        f"has the length R = {run.R:.4g}. The best separator of length 1, w*, leaves every z a room of "
        f"γ = {run.gamma:.4g}. A mistake turns the weights w into w + z, or w - z for a negative. So with each mistake"
    )
    show_lines(
        "the part of w along w* grows by γ or more:    w*·w ≥ k·γ after k mistakes;\n"
        "the length of w grows slowly, as z was wrong: |w| ≤ √k·R.\n"
        "A part is no longer than the whole, so  k·γ ≤ w*·w ≤ |w| ≤ √k·R."
    )
    say(
        f"But k·γ outgrows √k·R: they meet at k = (R/γ)², which is {bound_text(run.bound)} here. No order of these "
        f"points makes more mistakes. This run made {count_of(run.updates, 'mistake')} in "
        f"{count_of(run.passes, 'pass')}:"
    )
    show_lines(_table(run).to_text())
    fell = count_of(len(run.fell), "update")
    say(
        f"{'Every inequality holds at every update.' if run.holds else 'An inequality is broken!'} The cosine of the "
        f"angle between w and w* fell at {fell}, so the angle may grow on the way; only its lower bound "
        "√k·γ/R must rise."
    )
    picture = draw(out / "demo-proof.png", (10.5, 4.8), lambda figure: _draw(figure, run))
    end(picture, _CODE, "Worst case: half the bound is reached")


def _table(run: Proof) -> Table:
    shown = evenly_chosen(run.updates, _SHOWN)
    k = run.k[shown]
    return Table(
        {
            "k": k,
            "k·γ": run.projection_low[shown],
            "w*·w": run.projection[shown],
            "|w|": run.norm[shown],
            "√k·R": [math.sqrt(i) * run.R for i in k.tolist()],
            "cosine": run.cosine[shown],
            "√k·γ/R": run.cosine_low[shown],
        }
    )


def _draw(figure: Any, run: Proof) -> None:
    from rosenblatt.plots import plot_cosine, plot_proof

    left, right = figure.subplots(1, 2)
    plot_proof(run, left)
    plot_cosine(run, right)
