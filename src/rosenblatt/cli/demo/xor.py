"""XOR: what one line cannot do, and how it can."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from rosenblatt.cli.demo.telling import draw, end, heading, say, show_lines
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.features import Combinations
from rosenblatt.tables import Table
from rosenblatt.theory.separability import separability

CORNERS, XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array(["no", "yes", "yes", "no"])
_PASSES = 1000
_CODE = "from rosenblatt import separability\nprint(separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]))"


def show(out: Path) -> None:
    """Let a perceptron fail at XOR, prove that it must, and add the feature with which it succeeds."""
    heading("XOR: what one line cannot do")
    say("Four points, the corners of a square. XOR says yes if x1 or x2 is 1, but not both.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is what the demo shows
        alone = Perceptron(shuffle=False, max_iter=_PASSES).fit(CORNERS, XOR).report_
    say(
        f"1. A perceptron made {alone.updates:,} mistakes in {alone.passes:,} passes, {alone.mistakes_by_pass[-1]} of "
        f"them in the last. It would go on for ever: {_no_separator(alone)}"
    )
    verdict = separability(CORNERS, XOR)
    say(
        "2. The library proves it, and the proof is checked exactly: "
        f"{'it holds' if verdict.check(CORNERS, XOR) else 'it does not hold'}.",
        *str(verdict).splitlines(),
        "Here both means are (0.5, 0.5), where the line from no to no crosses that from yes to yes. A line with "
        "all four corners on their sides would have this one point on both.",
    )
    pipeline = make_pipeline(Combinations(), Perceptron(shuffle=False)).fit(CORNERS, XOR)
    both, model = pipeline[0].transform(CORNERS), pipeline[1]
    (w1, w2, w3), (b,) = model.coef_[0], model.intercept_
    say(
        f"3. One more feature, x1 AND x2, which is 1 in the last corner alone: now it is separated, after "
        f"{model.n_iter_} passes and {model.n_updates_} updates. The activation is {w1:g} x1 {w2:+g} x2 {w3:+g} (x1 "
        f"AND x2) {b:+g}, and the answer is yes where that is above 0:"
    )
    show_lines(_answers(model, both).to_text())
    picture = draw(out / "demo-xor.png", (10.5, 5.4), lambda figure: _draw(figure, verdict, pipeline))
    end(picture, _CODE, "XOR of four clusters")


def _no_separator(report: Any) -> str:
    if not report.proved_inseparable:
        return "no weights are right on all four."
    return "its weights came back to exactly zero, where they began."


def _answers(model: Any, rows: np.ndarray) -> Table:
    x1, x2, both = rows.astype(int).T.tolist()
    activations, answers = model.decision_function(rows).tolist(), model.predict(rows).tolist()
    return Table({"x1": x1, "x2": x2, "x1 AND x2": both, "activation": activations, "answer": answers})


def _draw(figure: Any, verdict: Any, pipeline: Any) -> None:
    from rosenblatt.plots import plot_plane, plot_verdict

    left, right = figure.subplots(1, 2)
    plot_verdict(verdict, CORNERS, XOR, left)
    plot_plane(pipeline, CORNERS, XOR, right)
    right.set_title("With x₁ AND x₂ as a third feature:\na plane in space, a curve down here", fontsize="medium")
    for ax in (left, right):
        ax.set(xlim=right.get_xlim(), ylim=right.get_ylim(), xlabel="x₁", ylabel="x₂")
