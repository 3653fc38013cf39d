"""Demos of the library on two small data sets, or on a single idea, with explanations and a picture.

Each demo is a function that calls the library, prints explanations of the results, and writes a picture to a folder.
Printed lines fit a terminal of 80 columns. If matplotlib is missing, no picture is drawn, and a message says what to
install.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import plots
from rosenblatt.circles.shapes import circle_from_plane
from rosenblatt.data.generators import make_circle, make_separable, make_sorted
from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron
from rosenblatt.features import Combinations, SphereLift
from rosenblatt.figures.drawing import Picture, blank
from rosenblatt.inspection.explain import explain
from rosenblatt.messages import count_of, evenly_spaced
from rosenblatt.storage.container import write_atomically
from rosenblatt.tables import Table
from rosenblatt.theory.certificates import DEFINITIONS
from rosenblatt.theory.convergence.bounds import mistake_bound
from rosenblatt.theory.convergence.proof import proof
from rosenblatt.theory.inputs import bound_text, number_text, vector_text
from rosenblatt.theory.separability import dataset_margin, margin, separability
from rosenblatt.theory.verdicts import Separable

_WIDTH = 78
_SPLITS, _SEEDS = 10, 10  # numbers of random splits of the tumours, and of seeds for the visiting orders


def heading(words: str) -> None:
    """Print a title, underlined."""
    print(f"{words}\n{'=' * len(words)}\n")


def say(*paragraphs: str) -> None:
    """Print paragraphs, wrapped to fit a terminal of 80 columns, then an empty line."""
    for words in paragraphs:
        print(textwrap.fill(words, _WIDTH, break_on_hyphens=False))
    print()


def show_lines(lines: str) -> None:
    """Print a table or code, indented by two columns, then an empty line."""
    print(textwrap.indent(lines, "  ") + "\n")


def draw(
    path: Path, size: tuple[float, float], fill: Callable[[Picture], None], layout: str | None = "constrained"
) -> Path | None:
    """Create a picture, draw on it with ``fill`` and write it; return its path, or None if matplotlib is missing."""
    try:
        picture = blank(*size, layout=layout)
    except ImportError:
        say("No picture is drawn, since matplotlib is missing: pip install 'rosenblatt[plots]'.")
        return None
    fill(picture)
    path.parent.mkdir(parents=True, exist_ok=True)
    written = io.BytesIO()
    picture.savefig(written, dpi=100)
    write_atomically(path, [written.getvalue()])
    return path


def end(picture: Path | None, code: str, lab: str) -> None:
    """Print the path of the picture, if any, and what to try next: Python ``code``, and a point set of the lab."""
    if picture is not None:
        print(f"Picture: {picture}")
    print(f"In Python:\n{textwrap.indent(code, '  ')}")
    print(textwrap.fill(f"Step by step in the browser: rosenblatt lab, and there the points {lab!r}.", _WIDTH))


# Demos of a single idea.


def xor(out: Path) -> None:
    """Show that a perceptron fails at XOR, prove that it must, and add the feature with which it succeeds."""
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array(["no", "yes", "yes", "no"])
    heading("XOR: what one line cannot do")
    say("Four points, the corners of a square. XOR says yes if x1 or x2 is 1, but not both.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # this failure is what the demo shows
        alone = Perceptron(shuffle=False, max_iter=1000).fit(X, y).report_
    say(
        f"1. A perceptron made {alone.updates:,} mistakes in {alone.passes:,} passes, {alone.mistakes_by_pass[-1]} of "
        "them in the last. It would go on for ever: its weights came back to exactly zero, where they began."
    )
    verdict = separability(X, y)
    say(
        "2. The library proves it, and the proof is checked exactly: "
        f"{'it holds' if verdict.check(X, y) else 'it does not hold'}.",
        *str(verdict).splitlines(),
        "Here both means are (0.5, 0.5), where the line from no to no crosses that from yes to yes. A line with "
        "all four corners on their correct sides would have this one point on both sides.",
    )
    pipeline = make_pipeline(Combinations(), Perceptron(shuffle=False)).fit(X, y)
    rows, model = pipeline[0].transform(X), pipeline[1]
    (w1, w2, w3), (b,) = model.coef_[0], model.intercept_
    say(
        f"3. One more feature, x1 AND x2, which is 1 in the last corner alone: now the points are separated, after "
        f"{model.n_iter_} passes and {model.n_updates_} updates. The activation is {w1:g} x1 {w2:+g} x2 {w3:+g} (x1 "
        f"AND x2) {b:+g}, and the answer is yes where that is above 0:"
    )
    x1, x2, both = rows.astype(int).T.tolist()
    activations, answers = model.decision_function(rows).tolist(), model.predict(rows).tolist()
    table = Table({"x1": x1, "x2": x2, "x1 AND x2": both, "activation": activations, "answer": answers})
    show_lines(table.to_text())

    def fill(picture: Picture) -> None:
        left, right = picture.subplots(1, 2)
        plots.plot_verdict(verdict, X, y, left)
        plots.plot_plane(pipeline, X, y, right)
        title = "With x₁ AND x₂ as a third feature:\na plane in space, a curve down here"
        right.set_title(title, fontsize="medium")
        for ax in (left, right):
            ax.set(xlim=right.get_xlim(), ylim=right.get_ylim(), xlabel="x₁", ylabel="x₂")

    code = "from rosenblatt import separability\nprint(separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]))"
    end(draw(out / "demo-xor.png", (10.5, 5.4), fill), code, "XOR of four clusters")


def circle(out: Path) -> None:
    """Learn points inside a circle, which no line separates from the others, as a plane in the lifted space."""
    center, radius, gap = (2.0, 1.0), 1.5, 0.15
    heading("A circle, learned as a plane")
    X, y = make_circle(120, radius=radius, center=center, gap=gap, random_state=0)
    say(
        f"{len(X)} points of the plane. The {np.count_nonzero(y == 1)} inside a circle are positive, the others "
        f"negative; none is within {gap:g} of it. The learner sees points and labels, not the circle."
    )
    say("1. No line separates them, as this proof shows:", str(separability(X, y)).splitlines()[-1])
    lifted = SphereLift().fit_transform(X)
    say(
        "2. Each point gets a third coordinate, x1² + x2². This lifts the points onto a bowl; the farthest rise "
        "highest. Up there a plane has the disc below it and all else above."
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
        "3. The curve where the plane cuts the bowl, seen from straight above, is a circle. Write a for the first two "
        "weights, -c for the third and b for the bias. Then its centre is a / 2c, and its squared radius |centre|² + "
        "b / c:"
    )
    table = {
        "": ["learned", "the points were drawn with"],
        "centre": [vector_text(shape.center, 3), vector_text(center, 3)],
        "radius": [number_text(shape.radius, 3), number_text(radius, 3)],
    }
    show_lines(Table(table).to_text())
    right = int((shape.contains(X) == (y == 1)).sum())
    say(f"It has {right} of {len(X)} points on the correct side, as exact arithmetic confirms.")

    def fill(picture: Picture) -> None:
        plots.plot_circle(shape, X, y, picture.add_subplot(1, 2, 1))
        plots.plot_lift(shape, X, y, picture.add_subplot(1, 2, 2, projection="3d"))

    code = f"""\
from rosenblatt import Perceptron, SphereLift, circle_from_plane, data
X, y = data.make_circle(120, radius={radius}, center={center},
                        gap={gap}, random_state=0)
lifted = SphereLift().fit_transform(X)
model = Perceptron(random_state=0, max_iter=100_000).fit(lifted, y)
print(circle_from_plane(model.coef_[0], model.intercept_[0]))"""
    end(draw(out / "demo-circle.png", (10, 5), fill), code, "Inside a circle")


def convergence(out: Path) -> None:
    """Compare a run with the inequalities of the convergence proof, in a table and a picture."""
    heading("Why the mistakes must end")
    # updates on the second and third points cancel except for a step upwards, so this run makes half of the mistakes
    # that the bound allows
    X, y = [[2.0, 0.4], [4.0, -0.4], [4.0, 0.4]], [1, -1, 1]
    run = proof(X, y)
    say(
        f"{len(X)} points, each taken as z = (x, 1), so that the bias is a weight like the others. The longest z "
        f"has the length R = {run.R:.4g}. The best separator of length 1, w*, leaves every z a margin of at least "
        f"γ = {run.gamma:.4g}. A mistake turns the weights w into w + z, or w - z for a negative. So with each mistake"
    )
    show_lines(
        "the part of w along w* grows by γ or more:    w*·w ≥ k·γ after k mistakes;\n"
        "the length of w grows slowly, as z was wrong: |w| ≤ √k·R.\n"
        "A part is no longer than the whole, so  k·γ ≤ w*·w ≤ |w| ≤ √k·R."
    )
    say(
        f"But k·γ outgrows √k·R: they meet at k = (R/γ)², which is {bound_text(run.bound)} here. No order of these "
        f"points leads to more mistakes. This run made {count_of(run.updates, 'mistake')} in "
        f"{count_of(run.passes, 'pass')}:"
    )
    shown = evenly_spaced(run.updates, 9)
    k = run.k[shown]
    table = {
        "k": k,
        "k·γ": run.projection_low[shown],
        "w*·w": run.projection[shown],
        "|w|": run.norm[shown],
        "√k·R": np.sqrt(k) * run.R,
        "cosine": run.cosine[shown],
        "√k·γ/R": run.cosine_low[shown],
    }
    show_lines(Table(table).to_text())
    fell = count_of(len(run.fell), "update")
    say(
        f"{'Every inequality holds at every update.' if run.holds else 'An inequality is broken!'} The cosine of the "
        f"angle between w and w* fell at {fell}, so the angle may grow on the way; only the lower bound on the "
        "cosine, √k·γ/R, must rise."
    )

    def fill(picture: Picture) -> None:
        left, right = picture.subplots(1, 2)
        plots.plot_proof(run, left)
        plots.plot_cosine(run, right)

    code = (
        "from rosenblatt import proof\n"
        "run = proof([[2, 0.4], [4, -0.4], [4, 0.4]], [1, -1, 1])\n"
        "print(run); print(run.table())"
    )
    end(draw(out / "demo-proof.png", (10.5, 4.8), fill), code, "Worst case: half the bound is reached")


def room(out: Path) -> None:
    """Compare the margin of a perceptron with the largest margin for three definitions, and show the mistake bound."""
    heading("The margin: the room between two classes")
    X, y = make_separable(40, 2, margin=0.15, random_state=0)
    X = 2.0 * X + [0.6, 0.3]  # away from the origin, where the three definitions differ
    model = Perceptron(random_state=0).fit(X, y)
    found, verdict = margin(X, y, model.coef_, model.intercept_[0]), cast(Separable, separability(X, y))
    best = verdict.margin_low
    say(
        f"{len(X)} points of two classes. The margin of a line is its distance from the nearest point; the margin of "
        "the data is that of the best line."
    )
    say(
        f"1. A perceptron stops at the first line that is right on all points. After {model.n_updates_} updates its "
        f"margin was {found:.4g}.",
        f"2. The largest margin is {best:.4g}, {best / found:.3g} times as large. The {len(verdict.support)} points "
        "marked in the picture prove that no line has a larger one.",
    )
    say("3. There are three definitions of the margin, and each bound needs a particular one:")
    lows = [dataset_margin(X, y, kind=kind).low for kind in DEFINITIONS]
    show_lines(Table({"kind": list(DEFINITIONS), "margin": lows, "which is": list(DEFINITIONS.values())}).to_text())
    longest = float(np.sqrt((X * X).sum(axis=1).max()))
    say(
        "4. The wider the margin, the smaller the bound on the mistakes. The perceptron with a bias learns the points "
        f"(x, 1), of length up to √(R² + 1) = {np.hypot(longest, 1.0):.4g}, so the augmented margin counts: no run "
        f"makes more than (R² + 1) / margin² = {bound_text(mistake_bound(X, y))} updates. R² / margin² is for a "
        "perceptron without a bias, and for the homogeneous margin; with the geometric one it is no bound."
    )

    def fill(picture: Picture) -> None:
        left, right = picture.subplots(1, 2)
        plots.plot_plane(model, X, y, left)
        plots.plot_verdict(verdict, X, y, right)
        for ax in (left, right):
            ax.set(xlim=left.get_xlim(), ylim=left.get_ylim(), xlabel="x₁", ylabel="x₂")

    code = (
        "from rosenblatt import data, dataset_margin\n"
        "X, y = data.make_separable(40, 2, margin=0.15, random_state=0)\n"
        'dataset_margin(2 * X + [0.6, 0.3], y, kind="geometric")'
    )
    end(draw(out / "demo-margin.png", (10, 4.8), fill), code, "Thin margin")


def order(out: Path) -> None:
    """Train on sorted rows: unshuffled, shuffled once, or reshuffled in each pass; compare passes and mistakes."""
    heading("Why rows are shuffled")
    X, y = make_sorted(1000, random_state=0)
    say(
        f"{len(X):,} points that a hyperplane separates: first 500 positives, then 500 negatives. A perceptron that "
        "visits them in this order learns within a few rows to say yes, is right on the rest of the positives and "
        "learns nothing from them; then it learns within a few rows to say no. So a pass over a thousand rows makes "
        "only a handful of updates."
    )
    orders: dict[str, Any] = {"as sorted": False, "shuffled once": "once", "anew each pass": True}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the first .* one label")  # the effect is what the demo shows
        models = {
            name: [
                Perceptron(shuffle=shuffle, max_iter=10_000, random_state=seed).fit(X, y)
                for seed in range(_SEEDS if shuffle else 1)  # without shuffling, all seeds give the same run
            ]
            for name, shuffle in orders.items()
        }
    passes = {name: sum(model.n_iter_ for model in runs) / len(runs) for name, runs in models.items()}
    mistakes = {name: sum(model.n_updates_ for model in runs) / len(runs) for name, runs in models.items()}
    table: dict[str, list[Any]] = {
        "order": list(models),
        "runs": [len(runs) for runs in models.values()],
        "passes": list(passes.values()),
        "mistakes": list(mistakes.values()),
        "mistakes in a pass": [mistakes[name] / passes[name] for name in models],
    }
    show_lines(Table(table).to_text())
    say(
        f"All of them end with every point right, as the data is separable. In sorted order it took "
        f"{passes['as sorted'] / passes['anew each pass']:.3g} times as many passes as in new orders (means over "
        f"{_SEEDS} seeds). The mistakes differ less: the bound on them, {bound_text(mistake_bound(X, y))} here, holds "
        "for every order, and says nothing of how many passes they are spread over."
    )
    say("So Perceptron shuffles anew for each pass unless told otherwise, and warns of sorted rows in a fixed order.")
    code = (
        "from rosenblatt import Perceptron, data\n"
        "X, y = data.make_sorted(1000, random_state=0)\n"
        "Perceptron(shuffle=False, max_iter=10_000).fit(X, y).n_iter_"
    )
    picture = draw(out / "demo-order.png", (7, 4.6), lambda picture: plots.plot_orders(models, picture.subplots()))
    end(picture, code, "500 of one class, then 500 of the other")


# The default demo: runs on two data sets that ship with scikit-learn.


def two_data_sets(out: Path) -> None:
    """Train on digits and on tumours, print the results, and write ``demo.png`` to the folder ``out``."""
    picture = zeros(out / "demo.png")
    tumours()
    heading("What to try next")
    if picture is not None:
        say(f"Look at the picture: {picture}")
    say(
        "In Python (after make demo: .venv/bin/python), on your own table of numbers X and labels y:",
        "from rosenblatt import Perceptron; model = Perceptron().fit(X, y); print(model.report_)",
    )
    say("At the command line, on your own file: rosenblatt train my.csv --target COLUMN")


def zeros(path: Path) -> Path | None:
    """Run part 1, on linearly separable digits; return the path of the picture, or None if none was drawn."""
    digits = load_digits()
    X, y = digits.data, np.where(digits.target == 0, "zero", "other")
    heading("1. Is it a zero?")
    say(
        f"{len(X):,} handwritten digits, each a grid of 8 x 8 pixels from 0 (white) to 16 (black). A perceptron "
        "keeps one weight for each pixel and a bias. It adds up weight times pixel and the bias; this sum is its "
        "activation, and it answers 'zero' if that is above 0. It looks at one digit after the other. When its "
        "answer is wrong, it adds the pixels to the weights (for a zero) or subtracts them. That is all."
    )
    model = Perceptron(random_state=0).fit(X, y)
    report = model.report_
    say(f"Mistakes by pass over the data: {', '.join(map(str, report.mistakes_by_pass))}.")
    say(*str(report).splitlines())
    say(
        "Separated: the weights now classify all of these digits correctly.",
        f"Margin: how far the nearest digit is from the best boundary; from this one it is {report.margin_low:.4g}.",
        "No run can make more: a theorem, for every order of the digits.",
    )
    pixels = [f"row {row}, col {column}" for row in range(8) for column in range(8)]
    _two_columns(explain(model, feature_names=pixels), "zero", "other")
    say("Ink in the middle (rows 3 and 4, column 4) speaks against a zero: a zero is hollow.")

    def fill(picture: Picture) -> None:
        history, weights, projection = picture.subplots(1, 3, width_ratios=[1, 1, 1.3])
        picture.subplots_adjust(0.04, 0.2, 0.985, 0.8, wspace=0.22)  # an automatic layout would draw everything twice
        plots.plot_history(model, history)
        plots.plot_weights(model, (8, 8), weights)
        plots.plot_projection(model, X, y, projection)
        picture.suptitle("Is it a zero? A perceptron on 8 x 8 pixels", fontsize=15)

    return draw(path, (16, 5.2), fill, layout=None)


def tumours() -> None:
    """Run part 2, on noisy measurements of tumours, where averaged weights predict more accurately."""
    data = load_breast_cancer()
    X, y = data.data, data.target_names[data.target]
    heading("2. Benign or malignant?")
    say(
        f"{len(X)} tumours, {X.shape[1]} measurements each. The measurements are brought to one scale first "
        "(mean 0, spread 1), or the small ones among them would hardly count. 70 in 100 tumours are for training; "
        "the accuracy is the share of right answers on the rest, which the model has never seen."
    )
    last, average, warning = _train_both(X, y, 0)
    if warning:
        say(f"Perceptron, after {last[0].n_iter_} passes, warns: {warning}")
    else:
        say(f"Perceptron separated the training data in {last[0].n_iter_} passes.")
    say(
        "Its weights still jump about when training ends. AveragedPerceptron predicts with the mean of all the "
        "weights that it went through, which is steadier."
    )
    runs = [(last, average)] + [_train_both(X, y, seed)[:2] for seed in range(1, _SPLITS)]
    scores = np.array([[run[0][1], run[1][1]] for run in runs]) * 100
    print(f"  {'accuracy on unseen tumours':<34}{'Perceptron':>12}{'AveragedPerceptron':>22}")
    rows = (
        ("this split", scores[0]),
        (f"mean of {_SPLITS} random splits", scores.mean(axis=0)),
        (f"worst of {_SPLITS} random splits", scores.min(axis=0)),
    )
    for name, (one, other) in rows:
        print(f"  {name:<34}{one:>11.1f}%{other:>21.1f}%")
    ahead, behind = (scores[:, 1] > scores[:, 0]).sum(), (scores[:, 1] < scores[:, 0]).sum()
    print()
    say(
        f"One split may favour either by luck. Over {_SPLITS}, the average was ahead {count_of(ahead, 'time')}, behind "
        f"{count_of(behind, 'time')}, and level otherwise."
    )
    _two_columns(explain(average[0], feature_names=data.feature_names), "malignant", "benign")
    say(
        "Read such weights with care: many of these measurements say nearly the same thing (radius, perimeter, "
        "area), and then the perceptron may give the weight to any of them."
    )


def _train_both(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[Any, Any, str]:
    """Return (model, test accuracy) for Perceptron and AveragedPerceptron, and the warning of Perceptron, or ""."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X_train)
    X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        last = Perceptron(random_state=0).fit(X_train, y_train)
    average = AveragedPerceptron(random_state=0).fit(X_train, y_train)
    words = [str(one.message) for one in caught if issubclass(one.category, ConvergenceWarning)]
    return (last, last.score(X_test, y_test)), (average, average.score(X_test, y_test)), "".join(words)


def _two_columns(table: Any, positive: str, negative: str) -> None:
    """Print the ten largest and the ten smallest weights side by side."""
    names, values = table["feature"], table["weight"]
    half = len(names) // 2
    print(f"  {'ten largest weights':<39}ten smallest weights")
    for i in range(half):
        j = len(names) - 1 - i
        print(f"  {names[i]:<25}{values[i]:>9.4g}     {names[j]:<25}{values[j]:>9.4g}")
    print(f"  Above 0 speaks for {positive}, below 0 for {negative}.\n")


DEMOS: dict[str | None, Callable[[Path], None]] = {
    None: two_data_sets,
    "xor": xor,
    "circle": circle,
    "proof": convergence,
    "margin": room,
    "order": order,
}
"""The demos by name; None is the key of the default demo."""
